/* Targets and problems: every formula by hand, laws by their moments, draws by index. */
#include "base/memory.h"
#include "check.h"
#include "features/task/samples.h"
#include "features/task/sets.h"
#include "features/task/target.h"
#include "wattle/random.h"

enum { KEYS = 5, DIM = 4, SAMPLES = 300 };

static wt_problem *open_problem(wt_context *context, const wt_problem_spec *spec) {
    wt_problem *problem;
    CHECK_OK(context, wt_problem_new(context, spec, &problem));
    return problem;
}

static wt_sets draw(wt_context *context, const wt_problem *problem, uint64_t first, size_t n) {
    const wt_problem_spec *spec = wt_problem_get_spec(problem);
    wt_sets sets;
    CHECK_OK(context, wt_sets_open(context, n, spec->keys, spec->dim, 1, false, &sets));
    CHECK_OK(context, wt_problem_draw(context, problem, first, &sets));
    return sets;
}

static long double product(const double *a, const double *b) {
    long double sum = 0;
    for (size_t j = 0; j < DIM; j++)
        sum += (long double)a[j] * b[j];
    return sum;
}

/* The formulas of the table by name, written out. */
static long double by_hand(size_t which, const wt_sets *sets, size_t sample, const double *beta) {
    const double *x0 = sets->query + sample * DIM;
    long double sum = 0;
    if (which == 0)
        return powl(product(beta, x0), 3);
    for (size_t i = 0; i < KEYS; i++) {
        const double *xi = sets->key + (sample * KEYS + i) * DIM;
        long double s = product(x0, xi), b = product(beta, xi);
        long double values[] = {0,
                                powl(b, 2),
                                powl(s, 3) * b,
                                powl(s, 4),
                                cosl(s) * b * b,
                                0.75L * powl(b, 2) + 0.25L * powl(s, 3) * b,
                                1,
                                i == 0 ? KEYS * powl(b, 3) : 0};
        sum += values[which];
    }
    return sum / KEYS;
}

static void targets_follow_their_formulas(void **state) {
    wt_context *context = *state;
    static const char *const names[] = {"query-power:3", "mean-power:2", "corr-power:3",
                                        "corr:4",        "corr-cos:2",   "mix:0.25:2:3",
                                        "mean-power:0",  "first-power:3"};
    for (size_t t = 0; t < sizeof names / sizeof *names; t++) {
        wt_problem_spec spec = {.size = sizeof(wt_problem_spec),
                                .target = names[t],
                                .law = WT_LAW_GAUSSIAN,
                                .dim = DIM,
                                .keys = KEYS,
                                .seed = 3};
        wt_problem *problem = open_problem(context, &spec);
        wt_sets sets = draw(context, problem, 0, SAMPLES);
        const double *beta = wt_problem_beta(problem);
        CHECK_NEAR((double)product(beta, beta), 1, 1e-15);
        /* Powers up to 4 of numbers of order 1: a dozen roundings. */
        for (size_t i = 0; i < SAMPLES; i++)
            CHECK_NEAR(sets.y[i], (double)by_hand(t, &sets, i, beta), 1e-14);
        wt_sets_close(&sets);
        wt_problem_free(problem);
    }
}

static void every_listed_target_can_be_opened(void **state) {
    wt_context *context = *state;
    size_t count = 0;
    for (const wt_target_info *info; (info = wt_target_at(count)) != NULL; count++) {
        char text[64];
        snprintf(text, sizeof text, "%s", info->form);
        for (char *at = strchr(text, ':'); at != NULL && *at != '\0'; at++)
            *at = *at == ':' ? ':' : '1';
        wt_target target;
        CHECK_OK(context, wt_target_parse(context, text, &target));
        assert_true(strlen(info->formula) > 5);
    }
    assert_int_equal(count, 7);
}

static void bad_targets_are_told_what_was_meant(void **state) {
    wt_context *context = *state;
    static const struct {
        const char *text, *words;
    } bad[] = {{"mean-pover:2", "did you mean mean-power:p?"},
               {"core:2", "did you mean corr:p?"},
               {"corr-powr:2", "did you mean corr-power:q?"},
               {"parity-of-everything:2", "the targets are"},
               {"", "no target ''"},
               {"mean-power", "needs its parameters: mean-power:p"},
               {"mean-power:", "p must be a whole number"},
               {"mean-power:2.5", "p must be a whole number"},
               {"mean-power:-1", "p must be a whole number"},
               {"mean-power:65", "p must be a whole number of 0 to 64"},
               {"mean-power:nan", "p must be"},
               {"mean-power:2:3", "too many parameters"},
               {"mix:1.5:2:3", "g must be in [0, 1]"},
               {"mix:0.5:2", "needs its parameters"},
               {"mix:0.5:2:3:4", "too many parameters"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        wt_target target;
        CHECK_FAILS(context, wt_target_parse(context, bad[i].text, &target), WT_USAGE,
                    bad[i].words);
    }
    char endless[4096];
    memset(endless, 'm', sizeof endless - 1);
    endless[sizeof endless - 1] = '\0';
    wt_target target;
    CHECK_FAILS(context, wt_target_parse(context, endless, &target), WT_USAGE, "too long");
}

static void bad_problems_are_refused(void **state) {
    wt_context *context = *state;
    const wt_problem_spec good = {
        .size = sizeof(wt_problem_spec), .target = "corr:2", .dim = 2, .keys = 2};
    wt_problem *problem;
    wt_problem_spec spec = good;
    spec.dim = 0;
    CHECK_FAILS(context, wt_problem_new(context, &spec, &problem), WT_USAGE, "not 0 and 2");
    spec = good;
    spec.keys = 0;
    CHECK_FAILS(context, wt_problem_new(context, &spec, &problem), WT_USAGE, "not 2 and 0");
    spec = good;
    spec.noise = -0.5;
    CHECK_FAILS(context, wt_problem_new(context, &spec, &problem), WT_USAGE, "not -0.5");
    spec.noise = NAN;
    CHECK_FAILS(context, wt_problem_new(context, &spec, &problem), WT_USAGE, "noise");
    spec = good;
    spec.token_scale = -1;
    CHECK_FAILS(context, wt_problem_new(context, &spec, &problem), WT_USAGE, "token scale");
    spec.token_scale = INFINITY;
    CHECK_FAILS(context, wt_problem_new(context, &spec, &problem), WT_USAGE, "token scale");
    wt_law law;
    CHECK_FAILS(context, wt_law_parse(context, "cube", &law), WT_USAGE, "'cube' is no law");
    CHECK_OK(context, wt_law_parse(context, "boolean", &law));
    assert_int_equal(law, WT_LAW_BOOLEAN);
    assert_string_equal(wt_law_name(WT_LAW_GAUSSIAN), "gaussian");
    problem = open_problem(context, &good);
    wt_sets sets;
    CHECK_OK(context, wt_sets_open(context, 3, 2, 3, 1, false, &sets));
    CHECK_FAILS(context, wt_problem_draw(context, problem, 0, &sets), WT_USAGE, "do not fit");
    wt_sets_close(&sets);
    CHECK_OK(context, wt_sets_open(context, 3, 2, 2, 2, false, &sets));
    CHECK_FAILS(context, wt_problem_draw(context, problem, 0, &sets), WT_USAGE, "do not fit");
    wt_sets_close(&sets);
    wt_problem_free(problem);
}

/* Second moments of a coordinate are scale^2 / d (sphere) or scale^2; with n tokens the mean of
 * squares is within 5 standard errors, at most sqrt(2 / n) each (the normal law has the widest). */
static void laws_have_their_moments(void **state) {
    wt_context *context = *state;
    enum { N = 4000 };
    static const struct {
        wt_law law;
        double scale;  /* as asked for */
        double square; /* of a coordinate */
    } cases[] = {{WT_LAW_SPHERE, 0, 0.25}, {WT_LAW_SPHERE, 3, 9 * 0.25}, {WT_LAW_GAUSSIAN, 0, 0.25},
                 {WT_LAW_GAUSSIAN, 2, 4},  {WT_LAW_BOOLEAN, 0, 0.25},    {WT_LAW_BOOLEAN, 2, 4}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        wt_problem_spec spec = {.size = sizeof(wt_problem_spec),
                                .target = "corr:1",
                                .law = cases[c].law,
                                .token_scale = cases[c].scale,
                                .dim = DIM,
                                .keys = 2,
                                .seed = 17};
        wt_problem *problem = open_problem(context, &spec);
        wt_sets sets = draw(context, problem, 0, N);
        const struct {
            const double *values;
            size_t tokens;
        } arrays[] = {{sets.query, N}, {sets.key, 2 * N}};
        for (size_t a = 0; a < 2; a++)
            for (size_t j = 0; j < DIM; j++) {
                double mean = 0, square = 0, cross = 0, n = (double)arrays[a].tokens;
                for (size_t i = 0; i < arrays[a].tokens; i++) {
                    const double *token = arrays[a].values + i * DIM;
                    mean += token[j] / n;
                    square += token[j] * token[j] / n;
                    cross += token[j] * token[(j + 1) % DIM] / n;
                    if (cases[c].law == WT_LAW_SPHERE)
                        CHECK_NEAR((double)product(token, token), cases[c].square * DIM, 1e-14);
                    if (cases[c].law == WT_LAW_BOOLEAN)
                        assert_true(token[j] * token[j] == cases[c].square);
                }
                assert_true(fabs(mean) <= 5 * sqrt(cases[c].square / n));
                assert_true(fabs(square / cases[c].square - 1) <= 5 * sqrt(2 / n));
                assert_true(fabs(cross) <= 5 * cases[c].square / sqrt(n));
            }
        wt_sets_close(&sets);
        wt_problem_free(problem);
    }
}

/* Sample i is the same whatever is drawn beside it: in parts, from any place, by any threads. */
static void samples_are_addressed_by_index(void **state) {
    wt_context *context = *state;
    int before = wt_context_threads(context);
    static const wt_law laws[] = {WT_LAW_SPHERE, WT_LAW_GAUSSIAN, WT_LAW_BOOLEAN};
    for (size_t l = 0; l < 3; l++) {
        enum { N = 700, D = 3, K = 5 }; /* odd sizes: pairs of normals straddle samples */
        wt_problem_spec spec = {.size = sizeof(wt_problem_spec),
                                .target = "corr-power:2",
                                .law = laws[l],
                                .noise = 0.3,
                                .dim = D,
                                .keys = K,
                                .seed = 9};
        wt_problem *problem = open_problem(context, &spec);
        CHECK_OK(context, wt_context_set_threads(context, 1));
        wt_sets whole = draw(context, problem, 0, N);
        for (int threads = 2; threads <= 4; threads++) {
            CHECK_OK(context, wt_context_set_threads(context, threads));
            wt_sets again = draw(context, problem, 0, N);
            assert_memory_equal(whole.query, again.query, N * D * sizeof(double));
            assert_memory_equal(whole.key, again.key, N * K * D * sizeof(double));
            assert_memory_equal(whole.y, again.y, N * sizeof(double));
            wt_sets_close(&again);
        }
        static const size_t cuts[] = {0, 1, 18, 275, 276, 699, N};
        for (size_t c = 0; c + 1 < sizeof cuts / sizeof *cuts; c++) {
            size_t first = cuts[c], n = cuts[c + 1] - first;
            wt_sets part = draw(context, problem, first, n);
            assert_memory_equal(whole.query + first * D, part.query, n * D * sizeof(double));
            assert_memory_equal(whole.key + first * K * D, part.key, n * K * D * sizeof(double));
            assert_memory_equal(whole.y + first, part.y, n * sizeof(double));
            wt_sets_close(&part);
        }
        wt_samples source;
        wt_sets part;
        CHECK_OK(context, wt_samples_of_problem(context, problem, N, 100, &source));
        CHECK_OK(context, wt_samples_read(context, &source, 600, N, &part));
        assert_int_equal(part.samples, 100);
        assert_memory_equal(whole.y + 600, part.y, 100 * sizeof(double));
        wt_samples_free(&source);
        wt_sets_close(&whole);
        wt_problem_free(problem);
    }
    CHECK_OK(context, wt_context_set_threads(context, before));
}

/* Targets of a seed share their tokens and nothing else. */
static void targets_share_tokens_alone(void **state) {
    wt_context *context = *state;
    wt_problem_spec spec = {.size = sizeof(wt_problem_spec),
                            .target = "mean-power:2",
                            .noise = 1,
                            .dim = DIM,
                            .keys = KEYS,
                            .seed = 9};
    wt_problem *first = open_problem(context, &spec);
    spec.target = "mean-power:4";
    wt_problem *second = open_problem(context, &spec);
    spec.seed = 10;
    wt_problem *third = open_problem(context, &spec);
    wt_sets a = draw(context, first, 0, SAMPLES), b = draw(context, second, 0, SAMPLES);
    wt_sets c = draw(context, third, 0, SAMPLES);
    assert_memory_equal(a.query, b.query, SAMPLES * DIM * sizeof(double));
    assert_memory_equal(a.key, b.key, SAMPLES * KEYS * DIM * sizeof(double));
    assert_memory_not_equal(b.query, c.query, SAMPLES * DIM * sizeof(double));
    assert_memory_not_equal(wt_problem_beta(first), wt_problem_beta(second), DIM * sizeof(double));
    assert_memory_not_equal(wt_problem_beta(second), wt_problem_beta(third), DIM * sizeof(double));
    /* Labels alone, for tokens of the other problem. */
    double kept[SAMPLES];
    memcpy(kept, b.y, sizeof kept);
    CHECK_OK(context, wt_problem_label(context, second, 0, &a));
    assert_memory_equal(a.y, kept, sizeof kept);
    wt_sets_close(&a);
    wt_sets_close(&b);
    wt_sets_close(&c);
    wt_problem_free(first);
    wt_problem_free(second);
    wt_problem_free(third);
}

/* y with noise minus y without is N(0, noise^2), and unrelated between targets and samples. */
static void noise_is_noise(void **state) {
    wt_context *context = *state;
    enum { N = 4000 };
    static const char *const targets[] = {"mean-power:2", "corr:2"};
    double noise[2][N];
    for (size_t t = 0; t < 2; t++) {
        wt_problem_spec spec = {.size = sizeof(wt_problem_spec),
                                .target = targets[t],
                                .dim = DIM,
                                .keys = KEYS,
                                .seed = 4};
        wt_problem *quiet = open_problem(context, &spec);
        spec.noise = 0.5;
        wt_problem *loud = open_problem(context, &spec);
        wt_sets a = draw(context, quiet, 0, N), b = draw(context, loud, 0, N);
        double mean = 0, square = 0, fourth = 0;
        for (size_t i = 0; i < N; i++) {
            noise[t][i] = (b.y[i] - a.y[i]) / 0.5;
            mean += noise[t][i] / N;
            square += pow(noise[t][i], 2) / N;
            fourth += pow(noise[t][i], 4) / N;
        }
        /* Five standard errors: 1, sqrt(2) and sqrt(96) over sqrt(n). */
        assert_true(fabs(mean) < 5 / sqrt(N));
        assert_true(fabs(square - 1) < 5 * sqrt(2.0 / N));
        assert_true(fabs(fourth - 3) < 5 * sqrt(96.0 / N));
        wt_sets_close(&a);
        wt_sets_close(&b);
        wt_problem_free(quiet);
        wt_problem_free(loud);
    }
    double between = 0, next = 0;
    for (size_t i = 0; i + 1 < N; i++) {
        between += noise[0][i] * noise[1][i] / N;
        next += noise[0][i] * noise[0][i + 1] / N;
    }
    assert_true(fabs(between) < 5 / sqrt(N));
    assert_true(fabs(next) < 5 / sqrt(N));
}

static void a_target_has_one_spelling(void **state) {
    wt_problem_spec spec = {
        .size = sizeof(wt_problem_spec), .target = "mix:0.50:2:03", .dim = 3, .keys = 2, .seed = 9};
    wt_problem *one, *other;
    CHECK_OK(*state, wt_problem_new(*state, &spec, &one));
    spec.target = "mix:0.5:2.0:3";
    CHECK_OK(*state, wt_problem_new(*state, &spec, &other));
    assert_string_equal(wt_problem_get_spec(one)->target, "mix:0.5:2:3");
    assert_memory_equal(wt_problem_beta(one), wt_problem_beta(other), 3 * sizeof(double));
    wt_problem_free(one);
    wt_problem_free(other);
}

static void failing_allocations_are_told(void **state) {
    wt_context *context = *state;
    wt_problem_spec spec = {
        .size = sizeof(wt_problem_spec), .target = "corr:2", .dim = 3, .keys = 2};
    size_t held = wt_context_memory_used(context);
    wt_problem *problem;
    long k = 1;
    for (;; k++) {
        atomic_store(&context->allocation_to_fail, k);
        wt_status status = wt_problem_new(context, &spec, &problem);
        if (status == WT_OK)
            break;
        assert_int_equal(status, WT_MEMORY);
        assert_null(problem);
        assert_int_equal(wt_context_memory_used(context), held);
    }
    atomic_store(&context->allocation_to_fail, 0);
    assert_int_equal(k, 3);
    wt_problem_free(problem);
    wt_problem_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(targets_follow_their_formulas),
        cmocka_unit_test(every_listed_target_can_be_opened),
        cmocka_unit_test(bad_targets_are_told_what_was_meant),
        cmocka_unit_test(bad_problems_are_refused),
        cmocka_unit_test(laws_have_their_moments),
        cmocka_unit_test(samples_are_addressed_by_index),
        cmocka_unit_test(targets_share_tokens_alone),
        cmocka_unit_test(noise_is_noise),
        cmocka_unit_test(a_target_has_one_spelling),
        cmocka_unit_test(failing_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
