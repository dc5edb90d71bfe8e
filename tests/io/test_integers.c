/* Whole numbers of every width, as NumPy writes them. */
#define _DEFAULT_SOURCE /* mkstemps */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "wattle/io.h"

#define PATH "/tmp/wattle-integers-XXXXXX"

/* A file of version 1.0 with three numbers of the type. */
static void write_npy(const char *path, const char *descr, const void *values, size_t bytes) {
    char header[128];
    int length = snprintf(header, sizeof header,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (3,), }", descr);
    memset(header + length, ' ', sizeof header - (size_t)length);
    header[117] = '\n';
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file), 10);
    assert_int_equal(fwrite(header, 1, 118, file), 118);
    assert_int_equal(fwrite(values, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

static void every_width_is_read(void **state) {
    wt_context *context = *state;
    static const int16_t i2[] = {-32768, -1, 32767};
    static const int8_t i1[] = {-128, -1, 127};
    static const uint64_t u8[] = {0, 1, (uint64_t)1 << 53};
    static const uint32_t u4[] = {0, 1, UINT32_MAX};
    static const uint16_t u2[] = {0, 1, UINT16_MAX};
    static const struct {
        const char *descr, *name;
        const void *values;
        size_t bytes;
        double wanted[3];
    } cases[] = {
        {"<i2", "I16", i2, sizeof i2, {-32768, -1, 32767}},
        {"|i1", "I8", i1, sizeof i1, {-128, -1, 127}},
        {"<u8", "U64", u8, sizeof u8, {0, 1, 0x1p53}},
        {"<u4", "U32", u4, sizeof u4, {0, 1, 0x1p32 - 1}},
        {"<u2", "U16", u2, sizeof u2, {0, 1, 65535}},
    };
    char path[] = PATH ".npy";
    int made = mkstemps(path, 4);
    assert_true(made >= 0);
    close(made);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_file *file;
        double got[3];
        write_npy(path, cases[i].descr, cases[i].values, cases[i].bytes);
        CHECK_OK(context, wt_file_open(context, path, &file));
        const wt_array *array = wt_file_at(file, 0);
        assert_string_equal(wt_type_name(array->type), cases[i].name);
        assert_int_equal(array->count, 3);
        CHECK_OK(context, wt_file_read(context, file, array, got));
        for (size_t k = 0; k < 3; k++)
            assert_true(got[k] == cases[i].wanted[k]);
        wt_file_free(file);
    }
    unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_width_is_read)};
    return cmocka_run_group_tests(tests, check_open, check_close);
}
