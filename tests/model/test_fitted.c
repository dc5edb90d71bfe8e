/* Fitted models: predictions recomputed from the stored tensors, files there and back, hostile
 * files, scores, failing allocations. */
#define _XOPEN_SOURCE 700
#include "io/files.h"
#include "learn/plain.h"
#include "wattle/learn.h"

static const wt_model_spec specs[] = {
    {.kind = WT_RFA, .heads = 9, .dim = 3, .keys = 4, .seed = 5},
    {.kind = WT_RFA, .activation = WT_SOFTMAX, .heads = 400, .dim = 3, .keys = 4, .seed = 5},
    {.kind = WT_BRFA, .heads = 9, .bias = 4, .dim = 3, .keys = 4, .seed = 5},
    {.kind = WT_RFMLP, .heads = 9, .dim = 3, .keys = 4, .seed = 5},
    {.kind = WT_RFMLP, .heads = 9, .width = 13, .dim = 3, .keys = 4, .seed = 5},
    {.kind = WT_RFA_INF, .dim = 3, .keys = 4},
    {.kind = WT_BRFA_INF, .bias = 4, .dim = 3, .keys = 4},
    {.kind = WT_RFMLP_INF, .dim = 3, .keys = 4},
};
enum { SPECS = sizeof specs / sizeof *specs, FINITE = 5, TRAIN = 25, TEST = 11 };

static wt_fitted *fit(wt_context *context, const wt_model_spec *spec, const wt_sets *train,
                      bool standardize) {
    wt_fitted *fitted;
    wt_fit_report report;
    wt_ridge ridge = {.lambda = 1e-2, .standardize = standardize};
    CHECK_OK(context, wt_fit_ridge(context, spec, train, NULL, &ridge, &fitted, &report));
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
            CHECK_OK(context, wt_fitted_save(context, path, fitted));
            size_t units = (size_t)units_of(spec), width = spec->kind == WT_RFMLP ? 1 : 4;
            size_t inputs = spec->kind == WT_RFMLP ? 5 * 3 + 1 : 16;
            double *w = stored(context, path, spec->kind == WT_RFMLP ? "w" : "W", units * inputs);
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
            wt_sets_free(&train);
            wt_sets_free(&test);
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
            CHECK_OK(context, wt_fitted_save(context, path, fitted));
            CHECK_OK(context, wt_fitted_load(context, path, &loaded));
            CHECK_OK(context, wt_fitted_predict(context, loaded, &test, second));
            assert_memory_equal(first, second, sizeof first);
            assert_int_equal(wt_fitted_outputs(loaded), 2);
            const wt_model_spec *spec = wt_fitted_spec(loaded);
            assert_int_equal(spec->kind, specs[s].kind);
            assert_int_equal(spec->activation, specs[s].activation);
            assert_int_equal(spec->dim, specs[s].dim);
            assert_int_equal(spec->keys, specs[s].keys);
            assert_int_equal(spec->heads, specs[s].heads);
            assert_true(spec->bias == specs[s].bias);
            /* And a file of the loaded one is the same file. */
            const char *again = file_path("again.safetensors");
            CHECK_OK(context, wt_fitted_save(context, again, loaded));
            size_t bytes, other_bytes;
            uint8_t *content = file_bytes(path, &bytes), *other = file_bytes(again, &other_bytes);
            assert_int_equal(bytes, other_bytes);
            assert_memory_equal(content, other, bytes);
            free(content);
            free(other);
            wt_fitted_free(fitted);
            wt_fitted_free(loaded);
            wt_sets_free(&train);
            wt_sets_free(&test);
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
        wt_sets_free(&train);
        wt_sets_free(&test);
    }
}

/* The order of the keys is nothing to an attention model. */
static void permuted_keys_change_nothing_but_rounding(void **state) {
    wt_context *context = *state;
    for (size_t s = 0; s < SPECS; s++) {
        bool flat = specs[s].kind == WT_RFMLP || specs[s].kind == WT_RFMLP_INF;
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
        wt_sets_free(&train);
        wt_sets_free(&test);
    }
}

/* An attention model takes sets of any number of keys; a flat one its own. */
static void data_that_does_not_fit_is_refused(void **state) {
    wt_context *context = *state;
    for (size_t s = 0; s < SPECS; s++) {
        bool flat = specs[s].kind == WT_RFMLP || specs[s].kind == WT_RFMLP_INF;
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
        wt_sets_free(&train);
        wt_sets_free(&longer);
        wt_sets_free(&other);
        wt_sets_free(&one_label);
        wt_sets_free(&unlabelled);
    }
}

/* One file of an attention model, with one thing changed. */
typedef struct {
    const char *key, *value; /* metadata; value NULL leaves the key out */
    const char *tensor;      /* replaced by zeros of this shape; rank 9 leaves it out */
    size_t rank, shape[3];
    double fill;
    const char *words; /* of the sentence */
} change;

static const change changes[] = {
    {"wattle", "2", NULL, 0, {0}, 0, "format version 2"},
    {"wattle", NULL, NULL, 0, {0}, 0, "is no fitted model"},
    {"wattle", "one", NULL, 0, {0}, 0, "is no fitted model"},
    {"kind", "transformer", NULL, 0, {0}, 0, "its kind is 'transformer'"},
    {"kind", NULL, NULL, 0, {0}, 0, "no fitted model"},
    {"kind", "rfmlp", NULL, 0, {0}, 0, "do not fit its metadata"},
    {"kind", "rfa-inf", NULL, 0, {0}, 0, "do not fit its metadata"},
    {"activation", "tanh", NULL, 0, {0}, 0, "activation"},
    {"activation", NULL, NULL, 0, {0}, 0, "activation"},
    {"bias", "nan", NULL, 0, {0}, 0, "bias"},
    {"bias", NULL, NULL, 0, {0}, 0, "bias"},
    {"dim", "4", NULL, 0, {0}, 0, "do not fit its metadata"},
    {"dim", "0", NULL, 0, {0}, 0, "dimension"},
    {"dim", NULL, NULL, 0, {0}, 0, "no number 'dim'"},
    {"dim", "18446744073709551615", NULL, 0, {0}, 0, ""},
    {"dim", "4294967295", NULL, 0, {0}, 0, ""},
    {"keys", "0", NULL, 0, {0}, 0, "key"},
    {"keys", "-1", NULL, 0, {0}, 0, "no number 'keys'"},
    {"heads", "8", NULL, 0, {0}, 0, "heads"},
    {"heads", "18446744073709551615", NULL, 0, {0}, 0, ""},
    {NULL, NULL, "W", 9, {0}, 0, "do not fit its metadata"},
    {NULL, NULL, "v", 9, {0}, 0, ""},
    {NULL, NULL, "W", 2, {9, 16}, 0, "'W'"},
    {NULL, NULL, "W", 3, {9, 8, 2}, 0, "'W'"},
    {NULL, NULL, "W", 3, {0, 4, 4}, 0, ""},
    {NULL, NULL, "W", 3, {9, 4, 4}, NAN, "W[0,0,0] is nan"},
    {NULL, NULL, "v", 3, {9, 4, 0}, 0, ""},
    {NULL, NULL, "v", 3, {9, 3, 2}, 0, "do not fit"},
    {NULL, NULL, "v", 2, {9, 4}, 0, ""},
    {NULL, NULL, "v", 3, {9, 4, 1}, INFINITY, "v[0,0,0] is inf"},
    {NULL, NULL, "y_scale", 1, {2}, 0, "y_scale"},
    {NULL, NULL, "y_scale", 1, {2}, -1, "y_scale"},
    {NULL, NULL, "y_scale", 9, {2}, 0, "y_scale"},
    {NULL, NULL, "y_mean", 9, {2}, 0, "y_mean"},
    {NULL, NULL, "y_mean", 1, {3}, 0, "y_mean"},
};

static void write_changed(wt_context *context, const char *path, const change *changed) {
    const char *const pairs[][2] = {{"wattle", "1"}, {"kind", "rfa"}, {"activation", "relu"},
                                    {"heads", "9"},  {"bias", "0"},   {"dim", "3"},
                                    {"keys", "4"}};
    double *values = doubles(context, 9 * 4 * 4);
    for (size_t i = 0; i < 9 * 4 * 4; i++)
        values[i] = 1;
    wt_tensor tensors[4] = {
        {.name = "W", .rank = 3, .shape = {9, 4, 4}, .values = values},
        {.name = "v", .rank = 3, .shape = {9, 4, 2}, .values = values},
        {.name = "y_mean", .rank = 1, .shape = {2}, .values = values},
        {.name = "y_scale", .rank = 1, .shape = {2}, .values = values},
    };
    double *filled = doubles(context, 9 * 4 * 4);
    for (size_t i = 0; i < 9 * 4 * 4; i++)
        filled[i] = changed == NULL ? 0 : changed->fill;
    wt_metadata metadata[7];
    size_t pair_count = 0, tensor_count = 0;
    for (size_t i = 0; i < 7; i++) {
        bool same =
            changed == NULL || changed->key == NULL || strcmp(changed->key, pairs[i][0]) != 0;
        const char *value = same ? pairs[i][1] : changed->value;
        if (value != NULL)
            metadata[pair_count++] = (wt_metadata){pairs[i][0], value};
    }
    for (size_t i = 0; i < 4; i++) {
        wt_tensor tensor = tensors[i];
        if (changed != NULL && changed->tensor != NULL &&
            strcmp(changed->tensor, tensor.name) == 0) {
            tensor.rank = changed->rank;
            memcpy(tensor.shape, changed->shape, sizeof changed->shape);
            tensor.values = filled;
        }
        if (tensor.rank != 9)
            tensors[tensor_count++] = tensor;
    }
    CHECK_OK(context,
             wt_safetensors_write(context, path, tensors, tensor_count, metadata, pair_count));
    wt_release(values);
    wt_release(filled);
}

static void hostile_files_get_a_sentence(void **state) {
    wt_context *context = *state;
    const char *path = file_path("changed.safetensors");
    wt_fitted *fitted;
    write_changed(context, path, NULL);
    CHECK_OK(context, wt_fitted_load(context, path, &fitted)); /* else the cases prove nothing */
    wt_fitted_free(fitted);
    for (size_t c = 0; c < sizeof changes / sizeof *changes; c++) {
        write_changed(context, path, &changes[c]);
        wt_status status = wt_fitted_load(context, path, &fitted);
        assert_null(fitted);
        if (status != WT_DATA || strstr(wt_context_message(context), changes[c].words) == NULL ||
            strstr(wt_context_message(context), path) == NULL)
            fail_msg("case %zu: status %d, '%s'", c, status, wt_context_message(context));
    }
    /* Shapes of nothing that would wrap: (M, 0, 0) with d + 1 = 0. */
    wt_tensor hollow[] = {{.name = "W", .rank = 3, .shape = {9, 0, 0}},
                          {.name = "v", .rank = 3, .shape = {9, 0, 2}}};
    wt_metadata metadata[] = {{"wattle", "1"}, {"kind", "rfa"}, {"activation", "relu"},
                              {"heads", "9"},  {"bias", "0"},   {"dim", "18446744073709551615"},
                              {"keys", "4"}};
    CHECK_OK(context, wt_safetensors_write(context, path, hollow, 2, metadata, 7));
    CHECK_FAILS(context, wt_fitted_load(context, path, &fitted), WT_DATA, path);
}

static void hostile_kernel_files_get_a_sentence(void **state) {
    wt_context *context = *state;
    const char *path = file_path("kernel.safetensors");
    static const struct {
        const char *activation, *keys;
        size_t n, slots, dim, alpha;
        double mask;
    } hostile[] = {
        {"relu", "4", 5, 4, 3, 5, 1}, /* as it should be */
        {"softmax", "4", 5, 4, 3, 5, 1}, {"relu", "0", 5, 4, 3, 5, 1},
        {"relu", "5", 5, 4, 3, 5, 1},    {"relu", "4", 0, 4, 3, 0, 1},
        {"relu", "4", 5, 0, 3, 5, 1},    {"relu", "4", 5, 4, 2, 5, 1},
        {"relu", "4", 5, 4, 3, 6, 1},    {"relu", "4", 5, 4, 3, 5, 0},
        {"relu", "4", 5, 4, 3, 5, NAN},
    };
    for (size_t c = 0; c < sizeof hostile / sizeof *hostile; c++) {
        double *values = doubles(context, 100), *mask = doubles(context, 20);
        for (size_t i = 0; i < 20; i++)
            mask[i] = hostile[c].mask;
        size_t n = hostile[c].n, slots = hostile[c].slots, dim = hostile[c].dim;
        wt_tensor tensors[] = {
            {.name = "query", .rank = 2, .shape = {n, dim}, .values = values},
            {.name = "keys", .rank = 3, .shape = {n, slots, dim}, .values = values},
            {.name = "mask", .rank = 2, .shape = {n, slots}, .values = mask},
            {.name = "alpha", .rank = 2, .shape = {hostile[c].alpha, 1}, .values = values}};
        wt_metadata metadata[] = {
            {"wattle", "1"},          {"kind", "rfmlp-inf"}, {"activation", hostile[c].activation},
            {"heads", "0"},           {"bias", "0"},         {"dim", "3"},
            {"keys", hostile[c].keys}};
        CHECK_OK(context, wt_safetensors_write(context, path, tensors, 4, metadata, 7));
        wt_fitted *fitted;
        wt_status status = wt_fitted_load(context, path, &fitted);
        if (status != (c == 0 ? WT_OK : WT_DATA))
            fail_msg("case %zu: status %d, '%s'", c, status, wt_context_message(context));
        if (c > 0)
            check_sentence(context, path);
        wt_fitted_free(fitted);
        wt_release(values);
        wt_release(mask);
    }
}

static void cut_and_foreign_files_are_refused(void **state) {
    wt_context *context = *state;
    const char *path = file_path("whole.safetensors");
    wt_fitted *fitted;
    write_changed(context, path, NULL);
    size_t bytes;
    uint8_t *content = file_bytes(path, &bytes);
    static const size_t cuts[] = {0, 4, 8, 100, 400};
    for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
        const char *cut = file_make("cut.safetensors", content, cuts[c]);
        CHECK_FAILS(context, wt_fitted_load(context, cut, &fitted), WT_DATA, cut);
    }
    const char *cut = file_make("cut.safetensors", content, bytes - 1);
    CHECK_FAILS(context, wt_fitted_load(context, cut, &fitted), WT_DATA, cut);
    free(content);
    CHECK_FAILS(context, wt_fitted_load(context, GOLDEN, &fitted), WT_DATA, "no fitted model");
    CHECK_FAILS(context, wt_fitted_load(context, file_path("none"), &fitted), WT_NO_INPUT, "none");
    CHECK_FAILS(context, wt_fitted_load(context, FIXTURE("types.safetensors"), &fitted), WT_DATA,
                "no fitted model");
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
            wt_status status = wt_fitted_save(context, path, fitted);
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
        wt_sets_free(&train);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_follow_from_the_stored_tensors),
        cmocka_unit_test(files_give_the_same_bits_back),
        cmocka_unit_test(scores_are_mean_squares),
        cmocka_unit_test(permuted_keys_change_nothing_but_rounding),
        cmocka_unit_test(data_that_does_not_fit_is_refused),
        cmocka_unit_test(hostile_files_get_a_sentence),
        cmocka_unit_test(hostile_kernel_files_get_a_sentence),
        cmocka_unit_test(cut_and_foreign_files_are_refused),
        cmocka_unit_test(failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, files_open, files_close);
}
