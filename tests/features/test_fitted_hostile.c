/* Files of fitted models that are none: one thing changed, cut short, or of another kind. */
#define _XOPEN_SOURCE 700
#include "features/plain_ridge.h"
#include "features/task/sets.h"
#include "io/files.h"
#include "wattle/fit.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_files_get_a_sentence),
        cmocka_unit_test(hostile_kernel_files_get_a_sentence),
        cmocka_unit_test(cut_and_foreign_files_are_refused),
    };
    return cmocka_run_group_tests(tests, files_open, files_close);
}
