/* Fits of infinitely many heads: the limit of many, the dual problem, copies of samples. */
#include "features/fit_cases.h"
#include "features/model/kernel.h"
#include "features/task/sets.h"
#include "specs.h"
#include "wattle/fit.h"

/* K of M heads is an average of M independent terms: |K_M - K_inf| falls as M^-1/2. Six sizes over
 * a factor of 1024 and eight draws each leave the slope a standard error of about 0.03. */
static void many_heads_tend_to_the_kernel(void **state) {
    wt_context *context = *state;
    enum { N = 12, STEPS = 6, DRAWS = 8 };
    static const wt_model_kind kinds[][2] = {{WT_MODEL_KIND_RFA, WT_MODEL_KIND_RFA_INF},
                                             {WT_MODEL_KIND_BRFA, WT_MODEL_KIND_BRFA_INF},
                                             {WT_MODEL_KIND_RFMLP, WT_MODEL_KIND_RFMLP_INF}};
    for (size_t k = 0; k < 3; k++) {
        wt_sets sets = draw_sets(context, 9, N, 3, 4, 0, true);
        wt_model_spec spec = {
            .size = sizeof(wt_model_spec), .kind = kinds[k][1], .bias = 1, .dim = 4, .keys = 3};
        double *limit = doubles(context, N * N), *gram = doubles(context, N * N);
        CHECK_OK(context, wt_kernel_gram(context, &spec, &sets, limit, N));
        double sx = 0, sy = 0, sxx = 0, sxy = 0;
        for (size_t step = 0; step < STEPS; step++) {
            double square = 0;
            size_t heads = (size_t)16 << (2 * step);
            for (size_t d = 0; d < DRAWS; d++) {
                wt_model model;
                spec = (wt_model_spec){.size = sizeof(wt_model_spec),
                                       .kind = kinds[k][0],
                                       .heads = 1,
                                       .width = heads,
                                       .bias = 1,
                                       .dim = 4,
                                       .keys = 3,
                                       .seed = 100 * step + d};
                if (kinds[k][0] != WT_MODEL_KIND_RFMLP)
                    spec.heads = heads;
                CHECK_OK(context, wt_model_draw(context, &spec, &model));
                CHECK_OK(context, wt_model_gram(context, &model, &sets, gram, N));
                for (size_t i = 0; i < N; i++)
                    for (size_t j = 0; j <= i; j++)
                        square += pow(gram[i * N + j] - limit[i * N + j], 2);
                wt_model_free(&model);
            }
            double x = log((double)heads), y = log(square) / 2;
            sx += x / STEPS;
            sy += y / STEPS;
            sxx += x * x / STEPS;
            sxy += x * y / STEPS;
        }
        double slope = (sxy - sx * sy) / (sxx - sx * sx);
        CHECK_BELOW(fabs(slope + 0.5), 0.1, "kind %zu, slope %g", k, slope);
        wt_release(limit);
        wt_release(gram);
        wt_sets_close(&sets);
    }
}

/* Kernels have no Phi: ridge by elimination on K itself, with leave-one-out by refits. */
static void kernels_solve_the_dual(void **state) {
    wt_context *context = *state;
    enum { N = 25 };
    static const wt_model_kind kinds[] = {WT_MODEL_KIND_RFA_INF, WT_MODEL_KIND_BRFA_INF,
                                          WT_MODEL_KIND_RFMLP_INF};
    for (size_t k = 0; k < 3; k++) {
        wt_sets train = draw_sets(context, 11, N, 4, 3, 1, true);
        wt_sets test = draw_sets(context, 12, TEST, 4, 3, 1, true);
        wt_model_spec spec = {
            .size = sizeof(wt_model_spec), .kind = kinds[k], .bias = 2, .dim = 3, .keys = 4};
        double *gram = doubles(context, N * N), *cross = doubles(context, TEST * N), lambda = 1e-3;
        CHECK_OK(context, wt_kernel_matrix(context, &spec, &train, &train, gram, N));
        CHECK_OK(context, wt_kernel_matrix(context, &spec, &test, &train, cross, N));
        long double wanted = 0, norm = 0, train_square = 0;
        double predicted[TEST];
        for (size_t out = 0; out <= N; out++) { /* the last: nothing left out */
            long double a[N * N], b[N];
            for (size_t i = 0; i < N; i++) {
                for (size_t j = 0; j < N; j++)
                    a[i * N + j] =
                        i == out || j == out ? i == j : gram[i * N + j] + (i == j ? lambda : 0);
                b[i] = i == out ? 0 : train.y[i];
            }
            eliminate(N, 1, a, b);
            if (out < N) {
                long double at = 0;
                for (size_t j = 0; j < N; j++)
                    at += gram[out * N + j] * b[j];
                wanted += (train.y[out] - at) * (train.y[out] - at) / N;
                continue;
            }
            for (size_t i = 0; i < N; i++) {
                train_square += lambda * lambda * b[i] * b[i] / N;
                norm += b[i] * (train.y[i] - lambda * b[i]);
            }
            for (size_t i = 0; i < TEST; i++) {
                long double at = 0;
                for (size_t j = 0; j < N; j++)
                    at += cross[i * N + j] * b[j];
                predicted[i] = (double)at;
            }
        }
        double variance = plain_variance(N, 1, train.y);
        outcome out = fit_and_predict(context, &spec, &train, &test,
                                      &(wt_ridge_options){RIDGE(FIXED), .lambda = lambda});
        /* A condition of 1e5 at most. */
        CHECK_BELOW(relative_difference(TEST, out.predicted, predicted), 1e-10, "kind %zu", k);
        CHECK_NEAR(out.report.loo_error / ((double)wanted / variance), 1, 1e-9);
        CHECK_NEAR(out.report.train_error, (double)train_square / variance, 1e-9);
        CHECK_NEAR(out.report.m_sum_squares / (double)norm, 1, 1e-9);
        assert_string_equal(out.report.route, "dual");
        assert_int_equal(out.report.features, 0);
        wt_release(gram);
        wt_release(cross);
        wt_sets_close(&train);
        wt_sets_close(&test);
    }
}

/* A sample twice and lambda = 0: as if it were there once, with the mean of the two labels. */
static void kernels_of_copies_have_a_minimum_norm(void **state) {
    wt_context *context = *state;
    enum { N = 20 };
    static const wt_model_kind kinds[] = {WT_MODEL_KIND_RFA_INF, WT_MODEL_KIND_BRFA_INF,
                                          WT_MODEL_KIND_RFMLP_INF};
    for (size_t k = 0; k < 3; k++) {
        wt_sets once = draw_sets(context, 13, N, 4, 3, 1, false);
        wt_sets twice = draw_sets(context, 13, 2 * N, 4, 3, 1, false);
        wt_sets test = draw_sets(context, 14, TEST, 4, 3, 1, false);
        wt_model_spec spec = {
            .size = sizeof(wt_model_spec), .kind = kinds[k], .bias = 2, .dim = 3, .keys = 4};
        for (size_t i = 0; i < 2 * N; i++) {
            memcpy(twice.query + i * 3, once.query + i / 2 * 3, 3 * sizeof(double));
            memcpy(twice.key + i * 12, once.key + i / 2 * 12, 12 * sizeof(double));
            twice.y[i] = once.y[i / 2] + (i % 2 == 0 ? 0.5 : -0.5);
        }
        wt_ridge_options ridge = {RIDGE(MIN_NORM)};
        outcome first = fit_and_predict(context, &spec, &once, &test, &ridge);
        outcome second = fit_and_predict(context, &spec, &twice, &test, &ridge);
        assert_int_equal(first.report.rank, N);
        assert_int_equal(second.report.rank, N);
        /* The smallest eigenvalue is some 1e-5 of the largest. */
        CHECK_BELOW(relative_difference(TEST, second.predicted, first.predicted), 1e-8, "kind %zu",
                    k);
        CHECK_NEAR(second.report.train_error, 0.25 / plain_variance(2 * N, 1, twice.y), 1e-9);
        wt_sets_close(&once);
        wt_sets_close(&twice);
        wt_sets_close(&test);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_heads_tend_to_the_kernel),
        cmocka_unit_test(kernels_solve_the_dual),
        cmocka_unit_test(kernels_of_copies_have_a_minimum_norm),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
