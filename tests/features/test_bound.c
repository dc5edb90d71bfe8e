/* Bounds against values worked out by hand, and the rules they must obey. */
#include "wattle/bounds.h"

#include "check.h"

/* Sums and logarithms of a handful of doubles: rounding alone. */
#define ROUNDING 1e-12

static const wt_bound_spec published = {.size = sizeof(wt_bound_spec),
                                        .kind = WT_MODEL_KIND_RFA,
                                        .target = "mean-power:2",
                                        .dim = 16,
                                        .keys = 16,
                                        .heads = 1000,
                                        .samples = 1024,
                                        .delta = 0.05};

static double complexity(void **state, wt_model_kind kind, const char *target, size_t dim,
                         size_t keys) {
    wt_bound_spec spec = published;
    spec.kind = kind;
    spec.target = target;
    spec.dim = dim;
    spec.keys = keys;
    wt_bound bound = WT_SIZED(wt_bound);
    CHECK_OK(*state, wt_bound_compute(*state, &spec, &bound));
    assert_true(bound.complexity_known && bound.formula[0] != '\0');
    return pow(10, bound.log10_complexity);
}

/* C_k = k^4.5 4^k: C_1 = 4, C_2 = 2^4.5 2^4 = 2^8.5, C_4 = 2^9 2^8 = 2^17. */
static void attention_by_hand(void **state) {
    static const struct {
        const char *target;
        size_t dim;
        double wanted;
    } cases[] = {
        {"query-power:0", 16, 1},
        {"query-power:1", 16, 4},
        {"mean-power:2", 16, 362.03867196751233},
        {"mean-power:4", 16, 131072},
        {"corr-power:0", 16, 4},
        {"corr-power:3", 16, 536870912},       /* C_4 16^3 = 2^29 */
        {"corr:1", 5, 20},                     /* C_1 5 */
        {"corr:2", 16, 92681.900023683157},    /* C_2 16^2 */
        {"mix:0:2:3", 16, 362.03867196751233}, /* its first part alone */
        {"mix:1:2:3", 16, 536870912},
        {"mix:0.25:2:3", 16, 33554635.646752982}, /* 9/16 2^8.5 + 2^29 / 16 */
        {"mix:0.5:1:0", 16, 4},                   /* both parts are the same function */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_NEAR(complexity(state, WT_MODEL_KIND_RFA, cases[i].target, cases[i].dim, 16),
                   cases[i].wanted, ROUNDING);
}

/* With C_k = k^4.5 18^k for N = 16: 2^4.5 18^2 = 7331.28. */
static void perceptron_by_hand(void **state) {
    double c2 = 7331.283107342125;
    CHECK_NEAR(complexity(state, WT_MODEL_KIND_RFMLP, "query-power:2", 16, 16), c2, ROUNDING);
    CHECK_NEAR(complexity(state, WT_MODEL_KIND_RFMLP, "mean-power:2", 16, 16), c2 / 16, ROUNDING);
    CHECK_NEAR(complexity(state, WT_MODEL_KIND_RFMLP, "mean-power:0", 16, 16), 1, ROUNDING);
    /* corr-power:1 has degree 3: 3^4.5 4^3 for N = 2, times d / N = 4/2. */
    CHECK_NEAR(complexity(state, WT_MODEL_KIND_RFMLP, "corr-power:1", 4, 2),
               2 * 64 * 140.29611541307906, ROUNDING);
    CHECK_NEAR(complexity(state, WT_MODEL_KIND_RFMLP, "mix:0.5:1:0", 4, 2), 2,
               ROUNDING); /* C_1 / N */
}

/* The series of the cosine, summed plainly as far as it can matter for d = 3. */
static void cosine_is_summed(void **state) {
    double attention = 0, perceptron = 0;
    for (int j = 0; j < 30; j++) {
        double square = pow(3, 2 * j) / pow(tgamma(2 * j + 1), 2);
        attention += pow(2 * j + 1, 4.5) * pow(4, 2 * j + 1) * square;
        perceptron += pow(4 * j + 1, 4.5) * pow(4, 4 * j + 1) * square / 2; /* N + 2 = 4 */
    }
    /* tgamma is good to a few units of the last place, pow too; their squares are summed */
    CHECK_NEAR(complexity(state, WT_MODEL_KIND_RFA, "corr-cos:1", 3, 2), attention, 1e-11);
    CHECK_NEAR(complexity(state, WT_MODEL_KIND_RFMLP, "corr-cos:1", 3, 2), perceptron, 1e-11);
    /* C_0 = 1, not 0: the constant costs something. */
    assert_true(complexity(state, WT_MODEL_KIND_RFA, "corr-cos:0", 1, 2) > 1 + 90);
}

static void terms_by_hand(void **state) {
    wt_bound bound = WT_SIZED(wt_bound);
    CHECK_OK(*state, wt_bound_compute(*state, &published, &bound));
    double b = 362.03867196751233, samples = sqrt(b * log(16000) / 1024),
           heads = sqrt(b * (256 + log(20)) / 1000);
    assert_true(bound.risk_known);
    CHECK_NEAR(pow(10, bound.log10_sample_term), samples, ROUNDING);
    CHECK_NEAR(pow(10, bound.log10_head_term), heads, ROUNDING);
    CHECK_NEAR(pow(10, bound.log10_risk), samples + heads, ROUNDING);
    assert_true(bound.heads_suffice == 256 * 1024);
    /* The least whole M with M log(d M) >= n (d^2 + log(1/delta)). */
    double m = bound.heads_balanced, wanted = 1024 * (256 + log(20));
    assert_true(m * log(16 * m) >= wanted * (1 - ROUNDING));
    assert_true((m - 1) * log(16 * (m - 1)) < wanted);
}

static void more_costs_more(void **state) {
    static const char *const targets[] = {"mean-power:1", "mean-power:2", "mean-power:3",
                                          "mean-power:8", "corr-power:8", "corr-power:9"};
    for (size_t i = 1; i < 6; i++)
        for (int kind = WT_MODEL_KIND_RFA; kind <= WT_MODEL_KIND_RFMLP;
             kind += WT_MODEL_KIND_RFMLP - WT_MODEL_KIND_RFA)
            assert_true(complexity(state, (wt_model_kind)kind, targets[i], 16, 16) >
                        complexity(state, (wt_model_kind)kind, targets[i - 1], 16, 16));
    /* Attention does not see the number of keys; correlations see the dimension, averages do not.
     */
    assert_true(complexity(state, WT_MODEL_KIND_RFA, "corr-power:3", 16, 4) ==
                complexity(state, WT_MODEL_KIND_RFA, "corr-power:3", 16, 400));
    assert_true(complexity(state, WT_MODEL_KIND_RFA, "corr-power:3", 17, 4) >
                complexity(state, WT_MODEL_KIND_RFA, "corr-power:3", 16, 4));
    assert_true(complexity(state, WT_MODEL_KIND_RFA, "mean-power:3", 17, 4) ==
                complexity(state, WT_MODEL_KIND_RFA, "mean-power:3", 16, 4));
    wt_bound few = WT_SIZED(wt_bound), many = WT_SIZED(wt_bound);
    wt_bound_spec spec = published;
    CHECK_OK(*state, wt_bound_compute(*state, &spec, &few));
    spec.samples *= 4;
    CHECK_OK(*state, wt_bound_compute(*state, &spec, &many));
    CHECK_NEAR(few.log10_sample_term - many.log10_sample_term, log10(2), ROUNDING);
    assert_true(many.log10_head_term == few.log10_head_term);
    assert_true(many.heads_balanced > few.heads_balanced);
}

/* 64^4.5 4^64 (10^6)^64: far beyond any double, and still a number here. */
static void no_number_is_too_large(void **state) {
    wt_bound_spec spec = published;
    spec.target = "corr:64";
    spec.dim = 1000000;
    wt_bound bound = WT_SIZED(wt_bound);
    CHECK_OK(*state, wt_bound_compute(*state, &spec, &bound));
    CHECK_NEAR(bound.log10_complexity, 4.5 * log10(64) + 64 * log10(4) + 64 * 6, ROUNDING);
    assert_true(isfinite(bound.log10_risk));
    spec.target = "corr-cos:2"; /* B is about exp(4 sqrt(d)) */
    CHECK_OK(*state, wt_bound_compute(*state, &spec, &bound));
    assert_true(bound.log10_complexity > 1000 && isfinite(bound.log10_complexity));
}

static void brfa_has_no_formula(void **state) {
    wt_bound_spec spec = published;
    spec.kind = WT_MODEL_KIND_BRFA;
    wt_bound bound = WT_SIZED(wt_bound);
    CHECK_OK(*state, wt_bound_compute(*state, &spec, &bound));
    assert_false(bound.complexity_known || bound.risk_known);
    spec.kind = WT_MODEL_KIND_RFMLP;
    CHECK_OK(*state, wt_bound_compute(*state, &spec, &bound));
    assert_true(bound.complexity_known && !bound.risk_known);
}

static void nonsense_is_refused(void **state) {
    wt_bound bound = WT_SIZED(wt_bound);
    wt_bound_spec spec = published;
    for (int i = 0; i < 3; i++) {
        spec.delta = (double[]){0, 1, NAN}[i];
        CHECK_FAILS(*state, wt_bound_compute(*state, &spec, &bound), WT_USAGE, "delta must be");
    }
    spec = published;
    spec.heads = 0;
    CHECK_FAILS(*state, wt_bound_compute(*state, &spec, &bound), WT_USAGE, "1 or more");
    spec = published;
    spec.kind = WT_MODEL_KIND_RFA_INF;
    CHECK_FAILS(*state, wt_bound_compute(*state, &spec, &bound), WT_USAGE, "rfa-inf");
    spec = published;
    spec.target = "mean-pow:2";
    CHECK_FAILS(*state, wt_bound_compute(*state, &spec, &bound), WT_USAGE, "did you mean");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_by_hand),   cmocka_unit_test(perceptron_by_hand),
        cmocka_unit_test(cosine_is_summed),    cmocka_unit_test(terms_by_hand),
        cmocka_unit_test(more_costs_more),     cmocka_unit_test(no_number_is_too_large),
        cmocka_unit_test(brfa_has_no_formula), cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
