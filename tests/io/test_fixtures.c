/* Files made by NumPy (tests/fixtures/make_fixtures.py) and the numbers they hold. */
#define _XOPEN_SOURCE 700
#include "files.h"
#include "fixtures/halves.h"
#include "io/types.h"

/* Bit for bit, all NaN alike. */
static void check_values(const double *got, const double *wanted, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!(got[i] == wanted[i] || (isnan(got[i]) && isnan(wanted[i]))))
            fail_msg("value %zu is %.17g, not %.17g", i, got[i], wanted[i]);
}

static const wt_array *check_array(wt_context *context, const wt_file *file, const char *name,
                                   wt_type type, size_t rank, const size_t *shape,
                                   const double *wanted) {
    const wt_array *array = wt_file_find(file, name);
    if (array == NULL)
        fail_msg("there is no '%s'", name);
    assert_string_equal(array->name, name);
    assert_int_equal(array->type, type);
    assert_int_equal(array->rank, rank);
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) {
        assert_int_equal(array->shape[i], shape[i]);
        count *= shape[i];
    }
    assert_int_equal(array->count, count);
    assert_int_equal(array->bytes, count * wt_type_bytes(type));
    double got[256];
    assert_true(count <= 256);
    CHECK_OK(context, wt_file_read(context, file, array, got));
    check_values(got, wanted, count);
    return array;
}
#define SHAPE(...)                                                                                 \
    (sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t)), (size_t[]) {                               \
        __VA_ARGS__                                                                                \
    }
#define VALUES(...) ((double[]){__VA_ARGS__})

static const double *grid(void) {
    static double values[24];
    for (int i = 0; i < 24; i++)
        values[i] = i / 8.0 - 1;
    return values;
}

static void all_versions_of_npy(void **state) {
    static const char *const paths[] = {FIXTURE("version1.npy"), FIXTURE("version2.npy"),
                                        FIXTURE("version3.npy")};
    for (size_t i = 0; i < 3; i++) {
        wt_file *file;
        CHECK_OK(*state, wt_file_open(*state, paths[i], &file));
        assert_string_equal(wt_file_format(file), "npy");
        assert_string_equal(wt_file_path(file), paths[i]);
        assert_int_equal(wt_file_bytes(file), 320);
        assert_int_equal(wt_file_count(file), 1);
        assert_null(wt_file_at(file, 1));
        assert_null(wt_file_find(file, "other"));
        assert_null(wt_file_metadata(file, "kind"));
        check_array(*state, file, "array", WT_TYPE_F64, SHAPE(2, 3, 4), grid());
        wt_file_free(file);
    }
}

static void fortran_order_becomes_c_order(void **state) {
    wt_file *file;
    CHECK_OK(*state, wt_file_open(*state, FIXTURE("fortran.npy"), &file));
    assert_true(check_array(*state, file, "array", WT_TYPE_F32, SHAPE(2, 3, 4), grid())->fortran);
    wt_file_free(file);
}

static void fortran_order_over_many_blocks(void **state) {
    wt_file *file;
    static double values[100][200]; /* entry (i, j) is (i + 100 j) mod 251 */
    CHECK_OK(*state, wt_file_open(*state, FIXTURE("large.npy"), &file));
    CHECK_OK(*state, wt_file_read(*state, file, wt_file_at(file, 0), values[0]));
    for (size_t i = 0; i < 100; i++)
        for (size_t j = 0; j < 200; j++)
            assert_true(values[i][j] == (double)((i + 100 * j) % 251));
    wt_file_free(file);
}

static void scalars_and_empty_arrays(void **state) {
    wt_file *file;
    CHECK_OK(*state, wt_file_open(*state, FIXTURE("scalar.npy"), &file));
    check_array(*state, file, "array", WT_TYPE_F64, 0, NULL, VALUES(2.5));
    wt_file_free(file);
    CHECK_OK(*state, wt_file_open(*state, FIXTURE("empty.npy"), &file));
    check_array(*state, file, "array", WT_TYPE_F64, SHAPE(0, 3), NULL);
    wt_file_free(file);
    CHECK_OK(*state, wt_file_open(*state, FIXTURE("none.npz"), &file));
    assert_int_equal(wt_file_count(file), 0);
    assert_null(wt_file_find(file, "a"));
    wt_file_free(file);
    CHECK_OK(*state, wt_file_open(*state, FIXTURE("none.safetensors"), &file));
    assert_int_equal(wt_file_count(file), 0);
    wt_file_free(file);
}

/* The decimal constants are the nearest of their type; 5e-324 and 1e-45 are its smallest. */
static void check_types(wt_context *context, const wt_file *file) {
    check_array(context, file, "f8", WT_TYPE_F64, SHAPE(5),
                VALUES(0.1, -2.5e300, 5e-324, INFINITY, NAN));
    check_array(context, file, "f4", WT_TYPE_F32, SHAPE(4),
                VALUES((double)0.1f, (double)-2.5e30f, 0x1p-149, -INFINITY));
    check_array(context, file, "f2", WT_TYPE_F16, SHAPE(3), VALUES(0x1.998p-4, -65504, 0x1p-24));
    check_array(context, file, "i8", WT_TYPE_I64, SHAPE(1, 2), VALUES(-0x1p53, 0x1p40 + 1));
    check_array(context, file, "i4", WT_TYPE_I32, SHAPE(2), VALUES(-0x1p31, 0x1p31 - 1));
    check_array(context, file, "u1", WT_TYPE_U8, SHAPE(2, 1), VALUES(0, 255));
    check_array(context, file, "b1", WT_TYPE_BOOL, SHAPE(3), VALUES(1, 0, 1));
}

static void every_type_stored_and_deflated(void **state) {
    wt_file *file;
    CHECK_OK(*state, wt_file_open(*state, FIXTURE("types.npz"), &file));
    assert_string_equal(wt_file_format(file), "npz");
    assert_int_equal(wt_file_count(file), 7);
    assert_string_equal(wt_file_at(file, 0)->name, "f8"); /* in the order of the file */
    assert_string_equal(wt_file_at(file, 6)->name, "b1");
    check_types(*state, file);
    wt_file_free(file);
    CHECK_OK(*state, wt_file_open(*state, FIXTURE("deflated.npz"), &file));
    assert_int_equal(wt_file_count(file), 8);
    check_types(*state, file);
    wt_summary summary = WT_SIZED(wt_summary);
    CHECK_OK(*state, wt_file_summarise(*state, file, wt_file_find(file, "zeros"), &summary));
    assert_int_equal(summary.finite, 5000);
    assert_true(summary.min == 0 && summary.max == 0 && summary.mean == 0);
    wt_file_free(file);
}

static void zip64_members(void **state) {
    wt_file *file;
    CHECK_OK(*state, wt_file_open(*state, FIXTURE("zip64.npz"), &file));
    check_array(*state, file, "query", WT_TYPE_F64, SHAPE(3, 4), grid());
    check_array(*state, file, "y", WT_TYPE_F64, SHAPE(4), grid() + 12);
    wt_file_free(file);
}

static void names_with_anything_in_them(void **state) {
    wt_file *file;
    CHECK_OK(*state, wt_file_open(*state, FIXTURE("names.npz"), &file));
    check_array(*state, file, "gr\u00f6\u00dfe", WT_TYPE_F64, SHAPE(2), VALUES(1, 1));
    check_array(*state, file, "a/b", WT_TYPE_F64, SHAPE(1), VALUES(0));
    check_array(*state, file, "with space", WT_TYPE_F64, 0, NULL, VALUES(3));
    wt_file_free(file);
}

static void every_type_of_safetensors_at_odd_places(void **state) {
    wt_file *file;
    CHECK_OK(*state, wt_file_open(*state, FIXTURE("types.safetensors"), &file));
    assert_string_equal(wt_file_format(file), "safetensors");
    assert_int_equal(wt_file_count(file), 10);
    check_array(*state, file, "bool", WT_TYPE_BOOL, SHAPE(3), VALUES(1, 0, 1));
    check_array(*state, file, "f64", WT_TYPE_F64, SHAPE(2, 3, 4), grid());
    check_array(*state, file, "f32", WT_TYPE_F32, SHAPE(4),
                VALUES((double)0.1f, (double)-2.5e30f, 0x1p-149, -INFINITY));
    check_array(*state, file, "f16", WT_TYPE_F16, SHAPE(3), VALUES(0x1.998p-4, -65504, 0x1p-24));
    check_array(*state, file, "bf16", WT_TYPE_BF16, SHAPE(3), VALUES(1.5, -3, INFINITY));
    check_array(*state, file, "i64", WT_TYPE_I64, SHAPE(1, 2), VALUES(-0x1p53, 0x1p40 + 1));
    check_array(*state, file, "i32", WT_TYPE_I32, SHAPE(2), VALUES(-0x1p31, 0x1p31 - 1));
    check_array(*state, file, "u8", WT_TYPE_U8, SHAPE(2, 1), VALUES(0, 255));
    check_array(*state, file, "none", WT_TYPE_F32, SHAPE(4, 0), NULL);
    check_array(*state, file, "scalar", WT_TYPE_F64, 0, NULL, VALUES(-0.5));
    assert_int_equal(wt_file_metadata_count(file), 2);
    assert_string_equal(wt_file_metadata(file, "kind"), "layer");
    assert_string_equal(wt_file_metadata_at(file, 1)->key, "gr\u00f6\u00dfe");
    assert_string_equal(wt_file_metadata_at(file, 1)->value, "7 \u20ac");
    assert_null(wt_file_metadata_at(file, 2));
    assert_null(wt_file_metadata(file, "version"));
    wt_file_free(file);
}

static void what_summaries_say(void **state) {
    wt_file *file;
    wt_summary summary = WT_SIZED(wt_summary);
    CHECK_OK(*state, wt_file_open(*state, FIXTURE("types.npz"), &file));
    CHECK_OK(*state, wt_file_summarise(*state, file, wt_file_find(file, "f8"), &summary));
    assert_int_equal(summary.finite, 3);
    assert_int_equal(summary.nan, 1);
    assert_int_equal(summary.inf, 1);
    assert_true(summary.min == -2.5e300 && summary.max == 0.1);
    CHECK_NEAR(summary.mean / -2.5e300, 1.0 / 3, 4e-16); /* two roundings */
    wt_file_free(file);
    CHECK_OK(*state, wt_file_open(*state, FIXTURE("empty.npy"), &file));
    CHECK_OK(*state, wt_file_summarise(*state, file, wt_file_at(file, 0), &summary));
    assert_true(isnan(summary.min) && isnan(summary.max) && isnan(summary.mean));
    wt_file_free(file);
}

static void real_files_that_are_refused(void **state) {
    static const struct {
        const char *path, *words;
    } cases[] = {
        {FIXTURE("object.npy"), "object array"},   {FIXTURE("big_endian.npy"), "'>f8': big-endian"},
        {FIXTURE("structured.npy"), "structured"}, {FIXTURE("complex.npy"), "'<c16' is none of"},
        {FIXTURE("text.npy"), "'<U2' is none of"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_file *file;
        CHECK_FAILS(*state, wt_file_open(*state, cases[i].path, &file), WT_DATA, cases[i].words);
        assert_null(file);
        check_sentence(*state, cases[i].path);
    }
}

static uint64_t checksum(const double *values, size_t count) {
    uint64_t total = UINT64_C(0xCBF29CE484222325);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = UINT64_C(0x7FF8) << 48;
        if (!isnan(values[i]))
            memcpy(&bits, &values[i], sizeof bits);
        for (int k = 0; k < 64; k += 8)
            total = (total ^ (bits >> k & 255)) * UINT64_C(0x100000001B3);
    }
    return total;
}

/* value = (-1)^sign 2^(exponent - bias - digits) (fraction + 2^digits), IEEE 754, the plain way. */
static double plain(unsigned bits, int digits, int exponent_bits) {
    int exponent = (int)(bits >> digits) & ((1 << exponent_bits) - 1);
    int fraction = (int)bits & ((1 << digits) - 1), bias = (1 << (exponent_bits - 1)) - 1;
    double sign = bits >> 15 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction != 0 ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, 1 - bias - digits);
    return sign * ldexp(fraction + (1 << digits), exponent - bias - digits);
}

static void all_halves(void **state) {
    (void)state;
    static uint16_t patterns[65536];
    static double got[65536], wanted[65536];
    for (unsigned i = 0; i < 65536; i++)
        patterns[i] = (uint16_t)i;
    static const struct {
        wt_type type;
        int digits, exponent_bits;
        uint64_t checksum;
    } cases[] = {{WT_TYPE_F16, 10, 5, F16_CHECKSUM}, {WT_TYPE_BF16, 7, 8, BF16_CHECKSUM}};
    for (size_t k = 0; k < 2; k++) {
        for (unsigned i = 0; i < 65536; i++)
            wanted[i] = plain(i, cases[k].digits, cases[k].exponent_bits);
        wt_values_decode(cases[k].type, (const uint8_t *)patterns, 65536, got);
        check_values(got, wanted, 65536);
        assert_true(signbit(got[0x8000]));
        assert_true(checksum(got, 65536) == cases[k].checksum);
    }
}

static void types_have_names(void **state) {
    (void)state;
    static const char *const names[] = {"F64",  "F32", "F16", "BF16", "I64", "I32", "U8",
                                        "BOOL", "I16", "I8",  "U64",  "U32", "U16"};
    static const size_t bytes[] = {8, 4, 2, 2, 8, 4, 1, 1, 2, 1, 8, 4, 2};
    enum { TYPES = sizeof names / sizeof *names };
    for (size_t i = 0; i < TYPES; i++) {
        assert_string_equal(wt_type_name((wt_type)i), names[i]);
        assert_int_equal(wt_type_bytes((wt_type)i), bytes[i]);
    }
    assert_string_equal(wt_type_name((wt_type)TYPES), "?");
    assert_int_equal(wt_type_bytes((wt_type)TYPES), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_versions_of_npy),
        cmocka_unit_test(fortran_order_becomes_c_order),
        cmocka_unit_test(fortran_order_over_many_blocks),
        cmocka_unit_test(scalars_and_empty_arrays),
        cmocka_unit_test(every_type_stored_and_deflated),
        cmocka_unit_test(zip64_members),
        cmocka_unit_test(names_with_anything_in_them),
        cmocka_unit_test(every_type_of_safetensors_at_odd_places),
        cmocka_unit_test(what_summaries_say),
        cmocka_unit_test(real_files_that_are_refused),
        cmocka_unit_test(all_halves),
        cmocka_unit_test(types_have_names),
    };
    return cmocka_run_group_tests(tests, files_open, files_close);
}
