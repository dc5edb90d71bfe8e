/* Curves through the float factor: exact where it can be had, and right by the exact factor where
 * it cannot. */
#include "features/learn/mixed.h"

#include "features/curve_cases.h"
#include "features/task/sets.h"
#include "specs.h"
#include "wattle/fit.h"

/* The float factor with double corrections, against the plain solver in long double. */
static void the_mixed_solver_is_exact(void **state) {
    wt_context *context = *state;
    enum { N = 300 };
    static const size_t two[] = {130, N};
    wt_model_spec spec = {MODEL(RFA), .heads = 100, .dim = 4, .keys = 5, .seed = 5};
    wt_sets sets = draw_sets(context, 37, N, 5, 4, 0, false);
    double *y = labels_of(context, &sets, 2), *phi;
    wt_features features;
    CHECK_OK(context, wt_features_draw(context, &spec, &features));
    size_t f = wt_features_count(&features);
    phi = plain_features(context, &features, &sets);
    static const double lambdas[] = {1e-3, 1e-4, 1e-5, 1e-6};
    for (size_t l = 0; l < 4; l++) {
        double *alpha = doubles(context, N * 4), *v = doubles(context, f * 4);
        double *got = doubles(context, f * 4), *column = doubles(context, f * 2);
        wt_mixed_result result;
        CHECK_OK(context, wt_mixed_solve(context, &features, &sets, lambdas[l], two, 2, 2, y, alpha,
                                         v, &result));
        assert_true(result.converged);
        wt_features_to_file_order(&features, v, 4, got);
        for (size_t s = 0; s < 2; s++) {
            double *wanted = plain_ridge(context, two[s], f, 2, phi, y, lambdas[l] * 100, two[s]);
            for (size_t i = 0; i < f * 2; i++)
                column[i] = got[i / 2 * 4 + s * 2 + i % 2];
            /* Residuals of 1e-9 of the labels: small eigenvalues multiply them in v, not in the
             * gradient, which is their product with Phi. */
            CHECK_BELOW(relative_difference(f * 2, column, wanted), 1e-8, "lambda %g, n = %zu",
                        lambdas[l], two[s]);
            CHECK_BELOW(gradient_ratio(two[s], f, 2, phi, y, lambdas[l] * 100, column), 1e-9,
                        "gradient: lambda %g, n = %zu", lambdas[l], two[s]);
            for (size_t i = two[s]; i < N; i++)
                assert_true(alpha[i * 4 + s * 2] == 0 && alpha[i * 4 + s * 2 + 1] == 0);
            wt_release(wanted);
        }
        wt_release(alpha);
        wt_release(v);
        wt_release(got);
        wt_release(column);
    }
    wt_release(y);
    wt_release(phi);
    wt_features_free(&features);
    wt_sets_close(&sets);
}

/* Where float cannot, it says so, and the curve is right all the same. */
static void without_a_float_factor_the_curve_is_right(void **state) {
    wt_context *context = *state;
    enum { N = 120 };
    static const size_t two[] = {50, N};
    static const struct {
        double lambda, tokens, labels;
        bool copies;
        const char *what;
    } cases[] = {
        {1e-9, 1, 1, true, "copies, lambda below float's rounding"},
        {1e-3, 1e7, 1, false, "features beyond float"},
        {1e-3, 1, 1e42, false, "labels beyond float"},
        {1e-3, 1, 1e-42, false, "labels below float"},
    };
    wt_model_spec spec = {MODEL(RFA), .heads = 50, .dim = 3, .keys = 4, .seed = 5};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        wt_sets train = draw_sets(context, 38, N, 4, 3, 0, false);
        wt_sets test = draw_sets(context, 39, TEST, 4, 3, 0, false);
        double *train_y = labels_of(context, &train, 1), *test_y = labels_of(context, &test, 1);
        for (size_t i = 0; i < N * 3; i++)
            train.query[i] =
                cases[c].tokens *
                (cases[c].copies && i >= N / 2 * 3 ? train.query[i - N / 2 * 3] : train.query[i]);
        for (size_t i = 0; i < TEST * 3; i++)
            test.query[i] *= cases[c].tokens;
        for (size_t i = 0; i < N * 4 * 3; i++)
            train.key[i] =
                cases[c].tokens *
                (cases[c].copies && i >= N / 2 * 12 ? train.key[i - N / 2 * 12] : train.key[i]);
        for (size_t i = 0; i < TEST * 12; i++)
            test.key[i] *= cases[c].tokens;
        for (size_t i = 0; i < N; i++)
            train_y[i] *= cases[c].labels;
        for (size_t i = 0; i < TEST; i++)
            test_y[i] *= cases[c].labels;
        wt_features features;
        wt_mixed_result result;
        CHECK_OK(context, wt_features_draw(context, &spec, &features));
        double *alpha = doubles(context, N * 2);
        double *v = doubles(context, wt_features_count(&features) * 2);
        CHECK_OK(context, wt_mixed_solve(context, &features, &train, cases[c].lambda, two, 2, 1,
                                         train_y, alpha, v, &result));
        if (c < 2)
            assert_false(result.converged); /* labels of any size can be scaled, though */
        wt_release(alpha);
        wt_release(v);
        wt_features_free(&features);
        wt_curve_point points[2];
        wt_ridge_options ridge = {RIDGE(FIXED), .lambda = cases[c].lambda};
        CHECK_OK(context, wt_ridge_curve(context, &ridge, &spec, &train, train_y, &test, test_y, 1,
                                         1, two, 2, points));
        for (size_t s = 0; s < 2; s++) {
            size_t f;
            double *phi = phi_of(context, &spec, &train, &f), error = 0;
            double *test_phi = phi_of(context, &spec, &test, &f);
            double *wanted =
                plain_ridge(context, two[s], f, 1, phi, train_y, cases[c].lambda * 50, two[s]);
            for (size_t i = 0; i < TEST; i++)
                error += pow(
                    (test_y[i] - plain_predict(f, 1, test_phi, wanted, i, 0)) / cases[c].labels, 2);
            double *scaled = doubles(context, TEST);
            for (size_t i = 0; i < TEST; i++)
                scaled[i] = test_y[i] / cases[c].labels;
            error /= TEST * plain_variance(TEST, 1, scaled);
            /* Conditions of up to 1e11 (the copies, and tokens of 1e7) leave five digits. */
            if (!(fabs(points[s].test_error / error - 1) <= (c < 2 ? 1e-4 : 1e-8)))
                fail_msg("%s, n = %zu: test error %.12g, not %.12g", cases[c].what, two[s],
                         points[s].test_error, error);
            wt_release(phi);
            wt_release(test_phi);
            wt_release(wanted);
            wt_release(scaled);
        }
        wt_release(train_y);
        wt_release(test_y);
        wt_sets_close(&train);
        wt_sets_close(&test);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mixed_solver_is_exact),
        cmocka_unit_test(without_a_float_factor_the_curve_is_right),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
