/* What is written is read back, bit for bit; and what makes no sense is not written. */
#define _XOPEN_SOURCE 700
#include "files.h"

enum { MANY = 20000 }; /* more than two blocks */
static double many[MANY];

static const wt_tensor tensors[] = {
    {"single", WT_TYPE_F32, 2, {3, 2}, (const double[]){0.5, -0.25, 1e-45, NAN, INFINITY, 3e38}},
    {"query", WT_TYPE_F64, 3, {2, 1, 2}, (const double[]){0.1, -0.0, 5e-324, 1.7e308}},
    {"scalar", WT_TYPE_F64, 0, {0}, (const double[]){-7}},
    {"none", WT_TYPE_F32, 2, {0, 4}, NULL},
    {"m\u00e4ny/of \"them\"", WT_TYPE_F64, 1, {MANY}, many},
    {"many singles", WT_TYPE_F32, 4, {2, 5, 5, 400}, many},
};
enum { TENSORS = sizeof tensors / sizeof *tensors };
static const wt_metadata metadata[] = {{"kind", "head"}, {"quote", "\"\\\n\u00e9"}, {"", ""}};

static void check_same(wt_context *context, const wt_file *file, const wt_tensor *wanted,
                       const char *name) {
    const wt_array *array = wt_file_find(file, name);
    if (array == NULL)
        fail_msg("there is no '%s'", name);
    assert_int_equal(array->type, wanted->type);
    assert_int_equal(array->rank, wanted->rank);
    assert_memory_equal(array->shape, wanted->shape, wanted->rank * sizeof *array->shape);
    static double got[MANY];
    CHECK_OK(context, wt_file_read(context, file, array, got));
    for (size_t i = 0; i < array->count; i++) {
        double value = wanted->values[i];
        if (wanted->type == WT_TYPE_F32)
            value = (double)(float)value;
        bool same = got[i] == value && !signbit(got[i]) == !signbit(value);
        if (!same && !(isnan(value) && isnan(got[i])))
            fail_msg("%s: value %zu is %.17g, not %.17g", name, i, got[i], value);
    }
}

static int fill_many(void **state) {
    for (size_t i = 0; i < MANY; i++)
        many[i] = sin((double)i) * exp2((double)(i % 60) - 30);
    return files_open(state);
}

static void npy_round_trip(void **state) {
    for (size_t i = 0; i < TENSORS; i++) {
        const char *path = file_path("a.npy");
        CHECK_OK(*state, wt_npy_write(*state, path, &tensors[i]));
        wt_file *file;
        CHECK_OK(*state, wt_file_open(*state, path, &file));
        assert_string_equal(wt_file_format(file), "npy");
        assert_int_equal(wt_file_at(file, 0)->offset % 64, 0);
        check_same(*state, file, &tensors[i], "array");
        wt_file_free(file);
    }
}

static void npz_round_trip(void **state) {
    const char *path = file_path("a.npz");
    for (size_t count = 0; count <= TENSORS; count++) {
        CHECK_OK(*state, wt_npz_write(*state, path, tensors, count));
        wt_file *file;
        CHECK_OK(*state, wt_file_open(*state, path, &file));
        assert_string_equal(wt_file_format(file), "npz");
        assert_int_equal(wt_file_count(file), count);
        for (size_t i = 0; i < count; i++) {
            assert_string_equal(wt_file_at(file, i)->name, tensors[i].name);
            check_same(*state, file, &tensors[i], tensors[i].name);
        }
        wt_file_free(file);
    }
}

static void safetensors_round_trip(void **state) {
    const char *path = file_path("a.safetensors");
    for (size_t count = 0; count <= TENSORS; count++) {
        CHECK_OK(*state, wt_safetensors_write(*state, path, tensors, count, metadata, count % 4));
        wt_file *file;
        CHECK_OK(*state, wt_file_open(*state, path, &file));
        assert_string_equal(wt_file_format(file), "safetensors");
        assert_int_equal(wt_file_count(file), count);
        assert_int_equal(wt_file_metadata_count(file), count % 4);
        for (size_t i = 0; i < count % 4; i++)
            assert_string_equal(wt_file_metadata(file, metadata[i].key), metadata[i].value);
        for (size_t i = 0; i < count; i++) {
            check_same(*state, file, &tensors[i], tensors[i].name);
            const wt_array *array = wt_file_find(file, tensors[i].name);
            assert_int_equal(array->offset % wt_type_bytes(array->type), 0);
        }
        wt_file_free(file);
    }
}

static void the_same_bytes_every_time(void **state) {
    size_t bytes[2];
    uint8_t *content[2];
    for (int i = 0; i < 2; i++) {
        CHECK_OK(*state, wt_npz_write(*state, file_path("a.npz"), tensors, TENSORS));
        content[i] = file_bytes(file_path("a.npz"), &bytes[i]);
        if (i == 0)
            sleep(2); /* the clock of a zip archive counts in steps of two seconds */
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(content[0], content[1], bytes[0]);
    free(content[0]);
    free(content[1]);
}

/* The documented bound: two blocks and the names, whatever the size of the data. */
static void memory_while_writing_is_bounded(void **state) {
    (void)state;
    wt_context *context;
    assert_int_equal(wt_context_new(&context), WT_OK);
    wt_context_set_memory(context, 160 * 1024); /* the values alone have 240 KB */
    CHECK_OK(context, wt_npy_write(context, file_path("a.npy"), &tensors[4]));
    CHECK_OK(context, wt_npz_write(context, file_path("a.npz"), tensors, TENSORS));
    CHECK_OK(context, wt_safetensors_write(context, file_path("a"), tensors, TENSORS, NULL, 0));
    CHECK_OK(context, read_all(context, file_path("a.npz")));
    wt_context_free(context);
}

static void what_makes_no_sense(void **state) {
    const char *path = file_path("refused");
    wt_tensor two[2] = {tensors[2], tensors[2]};
    CHECK_FAILS(*state, wt_npz_write(*state, path, two, 2), WT_USAGE,
                "two arrays are named 'scalar'");
    CHECK_FAILS(*state, wt_safetensors_write(*state, path, two, 2, NULL, 0), WT_USAGE, "are named");
    wt_tensor bad = tensors[2];
    bad.type = WT_TYPE_I64;
    CHECK_FAILS(*state, wt_npy_write(*state, path, &bad), WT_USAGE, "not I64");
    bad = (wt_tensor){"x", WT_TYPE_F32, 2, {2, 2}, (const double[]){0, 0, 1e39, 0}};
    CHECK_FAILS(*state, wt_npy_write(*state, path, &bad), WT_USAGE,
                "x[1,0] is 1e+39, too large for F32");
    bad.rank = 9;
    CHECK_FAILS(*state, wt_npy_write(*state, path, &bad), WT_USAGE, "9 dimensions");
    bad = (wt_tensor){NULL, WT_TYPE_F64, 2, {SIZE_MAX, 2}, NULL};
    CHECK_FAILS(*state, wt_npy_write(*state, path, &bad), WT_USAGE, "the shape overflows");
    bad = tensors[2];
    bad.name = "";
    CHECK_FAILS(*state, wt_npz_write(*state, path, &bad, 1), WT_USAGE, "missing");
    bad.name = "\xff";
    CHECK_FAILS(*state, wt_npz_write(*state, path, &bad, 1), WT_USAGE, "not UTF-8");
    bad.name = "\x1b[2J";
    CHECK_FAILS(*state, wt_npz_write(*state, path, &bad, 1), WT_USAGE, "'\\x1b[2J' cannot be made");
    bad.name = "__metadata__";
    CHECK_FAILS(*state, wt_safetensors_write(*state, path, &bad, 1, NULL, 0), WT_USAGE,
                "__metadata__");
    const wt_metadata twice[] = {{"a", "1"}, {"a", "2"}}, raw[] = {{"a", "\xff"}};
    CHECK_FAILS(*state, wt_safetensors_write(*state, path, NULL, 0, twice, 2), WT_USAGE, "twice");
    CHECK_FAILS(*state, wt_safetensors_write(*state, path, NULL, 0, raw, 1), WT_USAGE, "UTF-8");
    assert_int_equal(access(path, F_OK), -1);
}

static void the_first_value_that_is_not_finite(void **state) {
    double values[24] = {0};
    const size_t shape[] = {4, 2, 3};
    CHECK_OK(*state, wt_values_check_finite(*state, "keys", values, 3, shape));
    values[23] = INFINITY;
    CHECK_FAILS(*state, wt_values_check_finite(*state, "keys", values, 3, shape), WT_DATA,
                "keys[3,1,2] is inf");
    values[20] = NAN;
    CHECK_FAILS(*state, wt_values_check_finite(*state, "keys", values, 3, shape), WT_DATA,
                "keys[3,0,2] is nan");
    values[0] = -INFINITY;
    CHECK_FAILS(*state, wt_values_check_finite(*state, "y", values, 0, NULL), WT_DATA, "y is -inf");
    CHECK_OK(*state, wt_values_check_finite(*state, "y", NULL, 2, (const size_t[]){3, 0}));
    CHECK_FAILS(*state, wt_values_check_finite(*state, "y", values, 9, shape), WT_USAGE,
                "9 dimensions");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(npy_round_trip),
        cmocka_unit_test(npz_round_trip),
        cmocka_unit_test(safetensors_round_trip),
        cmocka_unit_test(the_same_bytes_every_time),
        cmocka_unit_test(memory_while_writing_is_bounded),
        cmocka_unit_test(what_makes_no_sense),
        cmocka_unit_test(the_first_value_that_is_not_finite),
    };
    return cmocka_run_group_tests(tests, fill_many, files_close);
}
