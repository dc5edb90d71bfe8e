/* y^T K^-1 y against elimination in long double, and what it must obey. */
#include "base/memory.h"
#include "check.h"
#include "features/model/kernel.h"
#include "wattle/bounds.h"

enum { SAMPLES = 12, KEYS = 3, DIM = 4 };

static wt_sets drawn(void **state, const char *target, size_t samples) {
    wt_problem_spec spec = {
        .size = sizeof(wt_problem_spec), .target = target, .dim = DIM, .keys = KEYS, .seed = 5};
    wt_problem *problem;
    wt_sets sets;
    CHECK_OK(*state, wt_problem_new(*state, &spec, &problem));
    CHECK_OK(*state, wt_sets_open(*state, samples, KEYS, DIM, 1, false, &sets));
    CHECK_OK(*state, wt_problem_draw(*state, problem, 0, &sets));
    wt_problem_free(problem);
    return sets;
}

static wt_model_spec kernel_of(wt_model_kind kind) {
    return (wt_model_spec){
        .size = sizeof(wt_model_spec), .kind = kind, .bias = 2, .dim = DIM, .keys = KEYS};
}

/* By Gauss with pivots on the first n samples. */
static double eliminate(size_t n, const double *kernel, const double *y) {
    long double a[SAMPLES][SAMPLES + 1], sum = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            a[i][j] = kernel[i * SAMPLES + j];
        a[i][n] = y[i];
    }
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t i = k; i < n; i++)
            if (fabsl(a[i][k]) > fabsl(a[best][k]))
                best = i;
        for (size_t j = 0; j <= n; j++) {
            long double swap = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = swap;
        }
        for (size_t i = 0; i < n; i++) {
            long double factor = i == k ? 0 : a[i][k] / a[k][k];
            for (size_t j = k; j <= n; j++)
                a[i][j] -= factor * a[k][j];
        }
    }
    for (size_t i = 0; i < n; i++)
        sum += y[i] * a[i][n] / a[i][i];
    return (double)sum;
}

static void every_size_agrees_with_elimination(void **state) {
    static const wt_model_kind kinds[] = {WT_MODEL_KIND_RFA_INF, WT_MODEL_KIND_BRFA_INF,
                                          WT_MODEL_KIND_RFMLP_INF};
    const size_t sizes[] = {1, 3, 6, SAMPLES};
    wt_sets sets = drawn(state, "corr-power:1", SAMPLES);
    for (size_t k = 0; k < 3; k++) {
        wt_model_spec spec = kernel_of(kinds[k]);
        double kernel[SAMPLES * SAMPLES], got[4], trace = 0;
        wt_complexity about = WT_SIZED(wt_complexity);
        CHECK_OK(*state, wt_kernel_matrix(*state, &spec, &sets, &sets, kernel, SAMPLES));
        CHECK_OK(*state, wt_complexity_measure(*state, &spec, &sets, sizes, 4, got, &about));
        for (size_t i = 0; i < 4; i++)
            /* the kernels' condition, below 1e4 here, times rounding */
            CHECK_NEAR(got[i], eliminate(sizes[i], kernel, sets.y), 1e-11);
        for (size_t i = 0; i < SAMPLES; i++)
            trace += kernel[i * SAMPLES + i];
        CHECK_NEAR(about.diagonal, trace / SAMPLES, 1e-14);
        assert_true(about.jitter == 0);
    }
    wt_sets_close(&sets);
}

static void it_grows_and_is_a_square(void **state) {
    enum { MANY = 300 };
    const size_t sizes[] = {75, 150, 300};
    wt_sets sets = drawn(state, "mean-power:2", MANY);
    wt_model_spec spec = kernel_of(WT_MODEL_KIND_RFA_INF);
    double once[3], twice[3];
    wt_complexity about = WT_SIZED(wt_complexity);
    CHECK_OK(*state, wt_complexity_measure(*state, &spec, &sets, sizes, 3, once, &about));
    assert_true(0 < once[0] && once[0] < once[1] && once[1] < once[2]);
    for (size_t i = 0; i < MANY; i++)
        sets.y[i] *= 2;
    CHECK_OK(*state, wt_complexity_measure(*state, &spec, &sets, sizes, 3, twice, &about));
    for (size_t i = 0; i < 3; i++)
        assert_true(twice[i] == 4 * once[i]); /* by powers of two: exact */
    wt_context_set_threads(*state, 3);
    CHECK_OK(*state, wt_complexity_measure(*state, &spec, &sets, sizes, 3, once, &about));
    assert_memory_equal(once, twice, sizeof once);
    wt_sets_close(&sets);
}

/* Every sample twice makes K singular; the labels agree, so that the second one costs nothing
 * beyond what the jitter of at most 1e-6 changes. */
static void duplicates_take_a_jitter(void **state) {
    enum { HALF = 20 };
    wt_sets one = drawn(state, "mean-power:2", HALF), two;
    CHECK_OK(*state, wt_sets_open(*state, 2 * HALF, KEYS, DIM, 1, false, &two));
    for (size_t copy = 0; copy < 2; copy++) {
        memcpy(two.query + copy * HALF * DIM, one.query, HALF * DIM * sizeof *one.query);
        memcpy(two.key + copy * HALF * KEYS * DIM, one.key, HALF * KEYS * DIM * sizeof *one.key);
        memcpy(two.y + copy * HALF, one.y, HALF * sizeof *one.y);
    }
    wt_model_spec spec = kernel_of(WT_MODEL_KIND_RFA_INF);
    double single, both;
    wt_complexity about = WT_SIZED(wt_complexity);
    CHECK_OK(*state,
             wt_complexity_measure(*state, &spec, &one, (size_t[]){HALF}, 1, &single, &about));
    CHECK_OK(*state,
             wt_complexity_measure(*state, &spec, &two, (size_t[]){2 * HALF}, 1, &both, &about));
    assert_true(about.jitter <= 1e-6);
    CHECK_NEAR(both, single, 1e-3);
    wt_sets_close(&one);
    wt_sets_close(&two);
}

static void outputs_are_summed(void **state) {
    wt_sets one = drawn(state, "corr:2", SAMPLES), two;
    CHECK_OK(*state, wt_sets_open(*state, SAMPLES, KEYS, DIM, 2, false, &two));
    memcpy(two.query, one.query, SAMPLES * DIM * sizeof *one.query);
    memcpy(two.key, one.key, SAMPLES * KEYS * DIM * sizeof *one.key);
    for (size_t i = 0; i < SAMPLES; i++) {
        two.y[2 * i] = one.y[i];
        two.y[2 * i + 1] = 3 * one.y[i];
    }
    wt_model_spec spec = kernel_of(WT_MODEL_KIND_RFMLP_INF);
    const size_t sizes[] = {5, SAMPLES};
    double of_one[2], of_two[2];
    wt_complexity about = WT_SIZED(wt_complexity);
    CHECK_OK(*state, wt_complexity_measure(*state, &spec, &one, sizes, 2, of_one, &about));
    CHECK_OK(*state, wt_complexity_measure(*state, &spec, &two, sizes, 2, of_two, &about));
    for (size_t i = 0; i < 2; i++)
        CHECK_NEAR(of_two[i], 10 * of_one[i], 1e-12); /* rounding of a sum of 24 squares */
    wt_sets_close(&one);
    wt_sets_close(&two);
}

static void nonsense_is_refused(void **state) {
    wt_sets sets = drawn(state, "corr:2", SAMPLES);
    wt_model_spec spec = kernel_of(WT_MODEL_KIND_RFA);
    spec.heads = 1;
    double out[2];
    wt_complexity about = WT_SIZED(wt_complexity);
    CHECK_FAILS(*state, wt_complexity_measure(*state, &spec, &sets, (size_t[]){3}, 1, out, &about),
                WT_USAGE, "rfa has no kernel: take rfa-inf");
    spec.kind = WT_MODEL_KIND_RFA_INF;
    CHECK_FAILS(*state, wt_complexity_measure(*state, &spec, &sets, (size_t[]){13}, 1, out, &about),
                WT_USAGE, "size 13 does not fit 12 samples");
    CHECK_FAILS(*state,
                wt_complexity_measure(*state, &spec, &sets, (size_t[]){3, 3}, 2, out, &about),
                WT_USAGE, "size 3");
    double *y = sets.y;
    sets.y = NULL;
    CHECK_FAILS(*state, wt_complexity_measure(*state, &spec, &sets, (size_t[]){3}, 1, out, &about),
                WT_USAGE, "no labels");
    sets.y = y;
    wt_sets_close(&sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_agrees_with_elimination),
        cmocka_unit_test(it_grows_and_is_a_square),
        cmocka_unit_test(duplicates_take_a_jitter),
        cmocka_unit_test(outputs_are_summed),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
