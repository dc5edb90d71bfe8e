/* The kernels of infinitely many heads against golden values, their definitions and many heads. */
#include "features/model/kernel.h"

#include "base/memory.h"
#include "check.h"
#include "features/kernel_cases.h"
#include "features/kernel_plain.h"
#include "features/model/kernel_rows.h"
#include "golden/random_features.h"

static wt_sets golden_sets(wt_context *context, size_t samples) {
    wt_sets sets;
    CHECK_OK(context, wt_sets_open(context, samples, GOLDEN_KEYS, GOLDEN_DIM, 0, false, &sets));
    memcpy(sets.query, golden_query, samples * GOLDEN_DIM * sizeof(double));
    memcpy(sets.key, golden_keys, samples * GOLDEN_KEYS * GOLDEN_DIM * sizeof(double));
    return sets;
}

static void golden_values_are_met(void **state) {
    const struct {
        wt_model_kind kind;
        double bias;
        const double *wanted;
        size_t samples;
        double tolerance; /* what the golden values were made to */
    } cases[] = {{WT_MODEL_KIND_RFA_INF, 0, golden_k_rfa, GOLDEN_SAMPLES, 1e-12},
                 {WT_MODEL_KIND_RFMLP_INF, 0, golden_k_rfmlp, GOLDEN_SAMPLES, 1e-12},
                 {WT_MODEL_KIND_BRFA_INF, 1, golden_k_brfa1, GOLDEN_BIASED, 1e-9},
                 {WT_MODEL_KIND_BRFA_INF, 4, golden_k_brfa4, GOLDEN_BIASED, 1e-9}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t n = cases[c].samples;
        wt_sets sets = golden_sets(*state, n);
        wt_model_spec spec = {.size = sizeof(wt_model_spec),
                              .kind = cases[c].kind,
                              .bias = cases[c].bias,
                              .dim = GOLDEN_DIM,
                              .keys = GOLDEN_KEYS};
        double got[GOLDEN_SAMPLES * GOLDEN_SAMPLES], worst = 0;
        CHECK_OK(*state, wt_kernel_matrix(*state, &spec, &sets, &sets, got, n));
        for (size_t i = 0; i < n * n; i++) {
            CHECK_NEAR(got[i], cases[c].wanted[i], cases[c].tolerance);
            worst = fmax(worst, fabs(got[i] - cases[c].wanted[i]));
        }
        print_message("%s, c = %g: off by %.1e at most\n", wt_model_kind_name(spec.kind), spec.bias,
                      worst);
        wt_sets_close(&sets);
    }
}

/* One kind on one case, against another side with more keys where the kind allows. 1e-12 relative
 * to the diagonal: the definitions lose digits of arccos near r = 1, where the fast form does not.
 */
static void check_case(wt_context *context, const kernel_case *shape, wt_model_kind kind,
                       double bias) {
    enum { OTHERS = 5, STRIDE = 6 };
    kernel_case other = *shape;
    other.samples = OTHERS;
    other.keys += kind == WT_MODEL_KIND_RFMLP_INF ? 0 : 2;
    wt_sets a = case_draw(context, shape, 1), b = case_draw(context, &other, 2);
    wt_model_spec spec = case_spec(shape, kind, bias);
    size_t n = a.samples;
    double *got, *left, right[OTHERS * OTHERS];
    CHECK_OK(context, WT_NEW(context, &got, n * STRIDE, "kernel"));
    CHECK_OK(context, WT_NEW(context, &left, n * n, "kernel"));
    CHECK_OK(context, wt_kernel_matrix(context, &spec, &a, &b, got, STRIDE));
    CHECK_OK(context, wt_kernel_gram(context, &spec, &a, left, n));
    CHECK_OK(context, wt_kernel_gram(context, &spec, &b, right, OTHERS));
    /* The oracle is slow: a few pairs of samples, and one where they have very many keys. */
    bool slow = shape->keys > 1000;
    for (size_t i = 0; i < n; i += slow ? n : n / 6 + 1)
        for (size_t j = 0; j < (slow ? 1 : OTHERS); j++) {
            double wanted = plain_kernel(&spec, &a, i, &b, j), value = got[i * STRIDE + j];
            double scale = sqrt(left[i * n + i] * right[j * OTHERS + j]);
            if (!(fabs(value - wanted) <= 1e-12 * scale))
                fail_msg("%s, %s, c = %g: K(%zu, %zu) = %.17g, not %.17g", shape->name,
                         wt_model_kind_name(kind), bias, i, j, value, wanted);
        }
    wt_release(got);
    wt_release(left);
    wt_sets_close(&a);
    wt_sets_close(&b);
}

static void the_definitions_are_met(void **state) {
    for (size_t c = 0; c < KERNEL_CASES; c++)
        for (size_t k = 0; k < KERNEL_KINDS; k++) {
            check_case(*state, &kernel_cases[c], kernel_kinds[k], 1.5);
            if (kernel_kinds[k] == WT_MODEL_KIND_BRFA_INF && kernel_cases[c].keys < 1000) {
                check_case(*state, &kernel_cases[c], WT_MODEL_KIND_BRFA_INF, -1);
                check_case(*state, &kernel_cases[c], WT_MODEL_KIND_BRFA_INF, 4);
            }
        }
}

static void no_bias_is_rfa(void **state) {
    wt_sets sets = case_draw(*state, &kernel_cases[5], 3);
    wt_model_spec spec = case_spec(&kernel_cases[5], WT_MODEL_KIND_RFA_INF, 0);
    double rfa[144], brfa[144];
    CHECK_OK(*state, wt_kernel_matrix(*state, &spec, &sets, &sets, rfa, 12));
    spec.kind = WT_MODEL_KIND_BRFA_INF;
    CHECK_OK(*state, wt_kernel_matrix(*state, &spec, &sets, &sets, brfa, 12));
    /* 1e-14: two ways to the same number. */
    for (size_t i = 0; i < 144; i++)
        CHECK_NEAR(brfa[i], rfa[i], 1e-14);
    wt_sets_close(&sets);
}

/* ---- many heads -------------------------------------------------------------------------------
 */

enum { HEADS = 40000, DIM = 3, WIDTH = DIM + 1, KEYS = 2, MLP = (KEYS + 1) * DIM + 1 };

/* One head's feature of a sample: (1/N) sum_i relu(x~0^T W x~i) x~i. Returns its length. */
static size_t attention_feature(const wt_sets *sets, size_t s, const double *normal, double bias,
                                double *out) {
    double query[WIDTH], key[WIDTH], live = 0;
    memcpy(query, sets->query + s * DIM, DIM * sizeof(double));
    query[DIM] = key[DIM] = 1;
    memset(out, 0, WIDTH * sizeof *out);
    for (size_t i = 0; i < KEYS; i++) {
        if (!plain_live(sets, s, i))
            continue;
        memcpy(key, sets->key + (s * KEYS + i) * DIM, DIM * sizeof(double));
        double score = bias * plain_dot(DIM, query, key);
        for (size_t r = 0; r < WIDTH; r++)
            score += query[r] * plain_dot(WIDTH, normal + r * WIDTH, key) / 2;
        for (size_t r = 0; r < WIDTH; r++)
            out[r] += fmax(score, 0) * key[r];
        live++;
    }
    for (size_t r = 0; r < WIDTH; r++)
        out[r] /= live;
    return WIDTH;
}

static size_t mlp_feature(const wt_sets *sets, size_t s, const double *normal, double *out) {
    double score = normal[MLP - 1] + plain_dot(DIM, normal, sets->query + s * DIM);
    for (size_t i = 0; i < KEYS; i++)
        if (plain_live(sets, s, i))
            score += plain_dot(DIM, normal + (i + 1) * DIM, sets->key + (s * KEYS + i) * DIM);
    out[0] = fmax(score / sqrt(KEYS + 2.0), 0);
    return 1;
}

/* The mean over heads of <phi(x), phi(x')> is within 5 standard errors of the kernel for all 45
 * entries; chance alone would break that once in 10^5 seeds, and the seed is fixed. */
static void many_heads_tend_to_the_kernel(void **state) {
    const kernel_case shape = {"heads", 5, KEYS, DIM, 1, true, true};
    wt_sets sets = case_draw(*state, &shape, 11);
    for (size_t k = 0; k < KERNEL_KINDS; k++) {
        wt_model_spec spec = case_spec(&shape, kernel_kinds[k], 1.5);
        double bias = spec.kind == WT_MODEL_KIND_BRFA_INF ? 1.5 : 0, kernel[25], sum[25] = {0},
               square[25] = {0};
        CHECK_OK(*state, wt_kernel_matrix(*state, &spec, &sets, &sets, kernel, 5));
        for (uint64_t m = 0; m < HEADS; m++) {
            double normal[WIDTH * WIDTH], phi[5][WIDTH];
            size_t width = 0;
            wt_random_normal(wt_stream_for(5, "head", k), m * WIDTH * WIDTH, WIDTH * WIDTH, normal);
            for (size_t s = 0; s < 5; s++)
                width = spec.kind == WT_MODEL_KIND_RFMLP_INF
                            ? mlp_feature(&sets, s, normal, phi[s])
                            : attention_feature(&sets, s, normal, bias, phi[s]);
            for (size_t e = 0; e < 25; e++) {
                double product = plain_dot(width, phi[e / 5], phi[e % 5]);
                sum[e] += product;
                square[e] += product * product;
            }
        }
        for (size_t e = 0; e < 25; e++) {
            double mean = sum[e] / HEADS;
            double error = sqrt((square[e] / HEADS - mean * mean) / HEADS);
            assert_true(error < 0.05 * kernel[0]);
            if (!(fabs(mean - kernel[e]) <= 5 * error))
                fail_msg("%s: %g from heads, %g in closed form, standard error %g",
                         wt_model_kind_name(spec.kind), mean, kernel[e], error);
        }
    }
    wt_sets_close(&sets);
}

/* ---- the innermost loops, in every version this processor can run -----------------------------
 */

static double arc(double r) {
    long double x = r > 1 ? 1 : r < -1 ? -1 : r, pi = 3.141592653589793238462643383279502884L;
    return (double)(sqrtl((1 - x) * (1 + x)) + x * (pi - acosl(x)));
}

/* 1e-15: two units in the last place of the largest value, pi. */
static void the_arc_is_exact(void **state) {
    (void)state;
    enum { GRID = 20001 };
    static double r[GRID + 4], got[GRID + 4];
    for (int i = 0; i < GRID; i++)
        r[i] = -1 + 2.0 * i / (GRID - 1);
    const double edges[] = {1 + 4e-16, -1 - 4e-16, 1 - 1e-16, sqrt(0.5)};
    memcpy(r + GRID, edges, sizeof edges);
    for (size_t v = 0; wt_kernel_loops_list(v) != NULL; v++) {
        double worst = 0;
        wt_kernel_loops_list(v)->arc(GRID + 4, r, got);
        for (int i = 0; i < GRID + 4; i++)
            worst = fmax(worst, fabs(got[i] - arc(r[i])));
        print_message("%s: off by %.1e at most\n", wt_kernel_loops_list(v)->processor, worst);
        assert_true(worst <= 1e-15);
    }
}

/* Sums over 9 rows of numbers of order 1, in lengths that leave all kinds of remainders. */
static void the_loops_agree_with_plain_sums(void **state) {
    (void)state;
    enum { ROWS = 9, MOST = 77 };
    static double t[ROWS * MOST], rho[MOST], sum[MOST], a[80 * ROWS], b[80 * MOST];
    const double largest[] = {0.5, 0.7071, 1, 0.7}; /* of the three ranges, and of the series */
    double weight[ROWS];
    wt_random_uniform(wt_stream_for(1, "t", 0), 0, ROWS * MOST, t);
    for (size_t v = 0; wt_kernel_loops_list(v) != NULL; v++)
        for (size_t range = 0; range < 4; range++)
            for (size_t columns = 1; columns <= MOST; columns += 4) {
                wt_random_uniform(wt_stream_for(1, "rho", range), 0, MOST, rho);
                wt_random_uniform(wt_stream_for(1, "weight", 0), 0, ROWS, weight);
                wt_random_normal(wt_stream_for(1, "a", 0), 0, 80 * ROWS, a);
                wt_random_normal(wt_stream_for(1, "b", 0), 0, 80 * MOST, b);
                for (size_t j = 0; j < MOST; j++) {
                    rho[j] = largest[range] * (2 * rho[j] - 1);
                    sum[j] = 1;
                }
                wt_kernel_rows work = {ROWS, columns, t,    MOST, rho, weight, sum,
                                       a,    b,       ROWS, MOST, 40,  0.3};
                if (range < 3)
                    wt_kernel_loops_list(v)->zero_mean[range](&work);
                else
                    wt_kernel_loops_list(v)->series(&work);
                for (size_t j = 0; j < MOST; j++) {
                    double wanted = 1;
                    for (size_t i = 0; i < ROWS && j < columns; i++) {
                        double r = rho[j] * t[i * MOST + j], value = range < 3 ? arc(r) : 0;
                        if (range == 3 && fabs(r) <= 0.3)
                            for (size_t n = 40; n-- > 0;)
                                value = value * r + a[n * ROWS + i] * b[n * MOST + j];
                        wanted += weight[i] * t[i * MOST + j] * value;
                    }
                    CHECK_NEAR(sum[j], wanted, 1e-14);
                }
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_values_are_met), cmocka_unit_test(the_definitions_are_met),
        cmocka_unit_test(no_bias_is_rfa),        cmocka_unit_test(many_heads_tend_to_the_kernel),
        cmocka_unit_test(the_arc_is_exact),      cmocka_unit_test(the_loops_agree_with_plain_sums),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
