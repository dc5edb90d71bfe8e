/* Fitted models: predictions recomputed from the stored tensors, files there and back,
 * scores, failing allocations. */
#define _XOPEN_SOURCE 700
#include "features/plain_ridge.h"
#include "features/task/sets.h"
#include "io/files.h"
#include "specs.h"
#include "wattle/fit.h"

static const wt_model_spec specs[] = {
    {MODEL(RFA), .heads = 9, .dim = 3, .keys = 4, .seed = 5},
    {MODEL(RFA), .activation = WT_ACTIVATION_SOFTMAX, .heads = 400, .dim = 3, .keys = 4, .seed = 5},
    {MODEL(BRFA), .heads = 9, .bias = 4, .dim = 3, .keys = 4, .seed = 5},
    {MODEL(RFMLP), .heads = 9, .dim = 3, .keys = 4, .seed = 5},
    {MODEL(RFMLP), .heads = 9, .width = 13, .dim = 3, .keys = 4, .seed = 5},
    {MODEL(RFA_INF), .dim = 3, .keys = 4},
    {MODEL(BRFA_INF), .bias = 4, .dim = 3, .keys = 4},
    {MODEL(RFMLP_INF), .dim = 3, .keys = 4},
};
enum { SPECS = sizeof specs / sizeof *specs, FINITE = 5, TRAIN = 25, TEST = 11 };

static wt_fitted *fit(wt_context *context, const wt_model_spec *spec, const wt_sets *train,
                      bool standardize) {
    wt_fitted *fitted;
    wt_fit_report report = WT_SIZED(wt_fit_report);
    wt_ridge_options ridge = {RIDGE(FIXED), .lambda = 1e-2, .standardize = standardize};
    CHECK_OK(context, wt_ridge_fit(context, &ridge, spec, train, NULL, &fitted, &report));
    return fitted;
}

/* Predictions by plain loops from nothing but the tensors of the file. */
static void predictions_follow_from_the_stored_tensors(void **state) {
    wt_context *context = *state;
    for (size_t s = 0; s < FINITE; s++)
        for (int standardize = 0; standardize < 2; standardize++) {
            const wt_model_spec *spec = &specs[s];
            const char *path = file_path("model.safetensors");
            wt_sets train = draw_sets(context, 1, TRAIN, 4, 3, 2, true);
            wt_sets test = draw_sets(context, 2, TEST, 4, 3, 2, true);
            wt_fitted *fitted = fit(context, spec, &train, standardize);
            CHECK_OK(context, wt_fitted_save(context, fitted, path));
            size_t units = (size_t)units_of(spec),
                   width = spec->kind == WT_MODEL_KIND_RFMLP ? 1 : 4;
            size_t inputs = spec->kind == WT_MODEL_KIND_RFMLP ? 5 * 3 + 1 : 16;
            double *w = stored(context, path, spec->kind == WT_MODEL_KIND_RFMLP ? "w" : "W",
                               units * inputs);
            double *v = stored(context, path, "v", units * width * 2);
            double *mean = standardize ? stored(context, path, "y_mean", 2) : doubles(context, 2);
            double *scale = standardize ? stored(context, path, "y_scale", 2) : doubles(context, 2);
            wt_features features = features_with(context, spec, w);
            double *phi = plain_features(context, &features, &test);
            double got[TEST * 2], wanted[TEST * 2];
            CHECK_OK(context, wt_fitted_predict(context, fitted, &test, got));
            for (size_t i = 0; i < TEST * 2; i++)
                wanted[i] = mean[i % 2] + (standardize ? scale[i % 2] : 1) *
                                              plain_predict(units * width, 2, phi, v, i / 2, i % 2);
            /* Sums of some hundred products of order 1. */
            CHECK_BELOW(relative_difference(TEST * 2, got, wanted), 1e-12, "model %zu", s);
            wt_release(w);
            wt_release(v);
            wt_release(mean);
            wt_release(scale);
            wt_release(phi);
            wt_features_free(&features);
            wt_fitted_free(fitted);
            wt_sets_close(&train);
            wt_sets_close(&test);
        }
}

static void files_give_the_same_bits_back(void **state) {
    wt_context *context = *state;
    for (size_t s = 0; s < SPECS; s++)
        for (int option = 0; option < 4; option++) {
            bool masked = option % 2, standardize = option / 2;
            const char *path = file_path("model.safetensors");
            wt_sets train = draw_sets(context, 1, TRAIN, 4, 3, 2, masked);
            wt_sets test = draw_sets(context, 2, TEST, 4, 3, 2, masked);
            wt_fitted *fitted = fit(context, &specs[s], &train, standardize), *loaded;
            double first[TEST * 2], second[TEST * 2];
            CHECK_OK(context, wt_fitted_predict(context, fitted, &test, first));
            CHECK_OK(context, wt_fitted_save(context, fitted, path));
            CHECK_OK(context, wt_fitted_load(context, path, &loaded));
            CHECK_OK(context, wt_fitted_predict(context, loaded, &test, second));
            assert_memory_equal(first, second, sizeof first);
            assert_int_equal(wt_fitted_outputs(loaded), 2);
            const wt_model_spec *spec = wt_fitted_get_spec(loaded);
            CHECK_OK(context, wt_model_spec_check(context, spec));
            assert_int_equal(spec->kind, specs[s].kind);
            assert_int_equal(spec->activation, specs[s].activation);
            assert_int_equal(spec->dim, specs[s].dim);
            assert_int_equal(spec->keys, specs[s].keys);
            assert_int_equal(spec->heads, specs[s].heads);
            assert_true(spec->bias == specs[s].bias);
            /* And a file of the loaded one is the same file. */
            const char *again = file_path("again.safetensors");
            CHECK_OK(context, wt_fitted_save(context, loaded, again));
            size_t bytes, other_bytes;
            uint8_t *content = file_bytes(path, &bytes), *other = file_bytes(again, &other_bytes);
            assert_int_equal(bytes, other_bytes);
            assert_memory_equal(content, other, bytes);
            free(content);
            free(other);
            wt_fitted_free(fitted);
            wt_fitted_free(loaded);
            wt_sets_close(&train);
            wt_sets_close(&test);
        }
}

static void scores_are_mean_squares(void **state) {
    wt_context *context = *state;
    for (size_t s = 0; s < SPECS; s++) {
        wt_sets train = draw_sets(context, 1, TRAIN, 4, 3, 2, true);
        wt_sets test = draw_sets(context, 2, TEST, 4, 3, 2, true);
        wt_fitted *fitted = fit(context, &specs[s], &train, false);
        double predicted[TEST * 2], square, error, sum = 0;
        CHECK_OK(context, wt_fitted_predict(context, fitted, &test, predicted));
        CHECK_OK(context, wt_fitted_score(context, fitted, &test, &square, &error));
        for (size_t i = 0; i < TEST * 2; i++)
            sum += pow(predicted[i] - test.y[i], 2) / (TEST * 2);
        CHECK_NEAR(square, sum, 1e-13);
        CHECK_NEAR(error, sum / plain_variance(TEST, 2, test.y), 1e-13);
        wt_fitted_free(fitted);
        wt_sets_close(&train);
        wt_sets_close(&test);
    }
}

/* The order of the keys is nothing to an attention model. */
static void permuted_keys_change_nothing_but_rounding(void **state) {
    wt_context *context = *state;
    for (size_t s = 0; s < SPECS; s++) {
        bool flat =
            specs[s].kind == WT_MODEL_KIND_RFMLP || specs[s].kind == WT_MODEL_KIND_RFMLP_INF;
        wt_sets train = draw_sets(context, 1, TRAIN, 4, 3, 1, true);
        wt_sets test = draw_sets(context, 2, TEST, 4, 3, 1, true);
        wt_fitted *fitted = fit(context, &specs[s], &train, false);
        double before[TEST], after[TEST];
        CHECK_OK(context, wt_fitted_predict(context, fitted, &test, before));
        for (size_t i = 0; i < TEST; i++)
            for (size_t k = 0; k < 2; k++) { /* from end to end */
                size_t a = i * 4 + k, b = i * 4 + 3 - k;
                uint8_t live = test.mask[a];
                test.mask[a] = test.mask[b];
                test.mask[b] = live;
                for (size_t j = 0; j < 3; j++) {
                    double swap = test.key[a * 3 + j];
                    test.key[a * 3 + j] = test.key[b * 3 + j];
                    test.key[b * 3 + j] = swap;
                }
            }
        CHECK_OK(context, wt_fitted_predict(context, fitted, &test, after));
        double difference = relative_difference(TEST, after, before);
        if (flat)
            assert_true(difference > 1e-3); /* a flat model does see the order */
        else
            CHECK_BELOW(difference, 1e-12, "model %zu", s);
        wt_fitted_free(fitted);
        wt_sets_close(&train);
        wt_sets_close(&test);
    }
}

/* An attention model takes sets of any number of keys; a flat one its own. */
static void data_that_does_not_fit_is_refused(void **state) {
    wt_context *context = *state;
    for (size_t s = 0; s < SPECS; s++) {
        bool flat =
            specs[s].kind == WT_MODEL_KIND_RFMLP || specs[s].kind == WT_MODEL_KIND_RFMLP_INF;
        wt_sets train = draw_sets(context, 1, TRAIN, 4, 3, 2, false);
        wt_sets longer = draw_sets(context, 2, TEST, 6, 3, 2, false);
        wt_sets other = draw_sets(context, 2, TEST, 4, 2, 2, false);
        wt_sets one_label = draw_sets(context, 2, TEST, 4, 3, 1, false);
        wt_sets unlabelled = draw_sets(context, 2, TEST, 4, 3, 0, false);
        wt_fitted *fitted = fit(context, &specs[s], &train, false);
        double out[TEST * 2], square, error;
        if (flat)
            CHECK_FAILS(context, wt_fitted_predict(context, fitted, &longer, out), WT_DATA,
                        "6 keys a sample");
        else
            CHECK_OK(context, wt_fitted_predict(context, fitted, &longer, out));
        CHECK_FAILS(context, wt_fitted_predict(context, fitted, &other, out), WT_DATA,
                    "tokens of 2 dimensions, the model wants 3");
        CHECK_FAILS(context, wt_fitted_score(context, fitted, &one_label, &square, &error), WT_DATA,
                    "1 labels a sample, the model 2");
        CHECK_FAILS(context, wt_fitted_score(context, fitted, &unlabelled, &square, &error),
                    WT_DATA, "0 labels a sample");
        unlabelled.key[5] = NAN;
        CHECK_FAILS(context, wt_fitted_predict(context, fitted, &unlabelled, out), WT_DATA,
                    "keys of sample 0, number 5, is nan");
        wt_fitted_free(fitted);
        wt_sets_close(&train);
        wt_sets_close(&longer);
        wt_sets_close(&other);
        wt_sets_close(&one_label);
        wt_sets_close(&unlabelled);
    }
}

/* Every allocation of saving, loading and predicting fails in its turn. */
static void failing_allocations_leave_nothing_behind(void **state) {
    wt_context *context = *state;
    static const size_t chosen[] = {0, 3, 5};
    for (size_t c = 0; c < sizeof chosen / sizeof *chosen; c++) {
        wt_sets train = draw_sets(context, 1, TRAIN, 4, 3, 2, true);
        wt_fitted *fitted = fit(context, &specs[chosen[c]], &train, true), *loaded;
        size_t held = wt_context_memory_used(context);
        const char *path = file_path("fault.safetensors");
        double out[TRAIN * 2], square, error;
        bool done = false;
        for (long k = 1; !done; k++) {
            assert_true(k < 1000);
            remove(path);
            atomic_store(&context->allocation_to_fail, k);
            wt_status status = wt_fitted_save(context, fitted, path);
            bool made = status == WT_OK;
            if (made)
                status = wt_fitted_load(context, path, &loaded);
            if (status == WT_OK) {
                status = wt_fitted_predict(context, loaded, &train, out);
                if (status == WT_OK)
                    status = wt_fitted_score(context, loaded, &train, &square, &error);
                wt_fitted_free(loaded);
            }
            done = status == WT_OK;
            if (!done) {
                assert_int_equal(status, WT_MEMORY);
                assert_true(wt_context_message(context)[0] != '\0');
            }
            if (!made)
                assert_int_equal(access(path, F_OK), -1); /* no file half-written */
            assert_int_equal(wt_context_memory_used(context), held);
        }
        atomic_store(&context->allocation_to_fail, 0);
        wt_fitted_free(fitted);
        wt_sets_close(&train);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_follow_from_the_stored_tensors),
        cmocka_unit_test(files_give_the_same_bits_back),
        cmocka_unit_test(scores_are_mean_squares),
        cmocka_unit_test(permuted_keys_change_nothing_but_rounding),
        cmocka_unit_test(data_that_does_not_fit_is_refused),
        cmocka_unit_test(failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, files_open, files_close);
}
