/* Files that lie: every one gives a sentence with the file, the place and the reason. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <sys/wait.h>

#include "files.h"

static void check_refused(wt_context *context, const char *path, const char *words) {
    wt_status status = read_all(context, path);
    if (status != WT_DATA)
        fail_msg("status %d, not %d, where '%s' is expected: %s", status, WT_DATA, words,
                 wt_context_message(context));
    if (strstr(wt_context_message(context), words) == NULL)
        fail_msg("'%s' does not say '%s'", wt_context_message(context), words);
    check_sentence(context, path);
}

/* ---- in place of a file ---------------------------------------------------------------------- */

static void missing_files(void **state) {
    CHECK_FAILS(*state, read_all(*state, file_path("none")), WT_NO_INPUT, "none: there is no such");
    file_make("plain", "x", 1);
    CHECK_FAILS(*state, read_all(*state, file_path("plain/below")), WT_NO_INPUT, "no such file");
    assert_int_equal(symlink("nowhere", file_path("dangling")), 0);
    CHECK_FAILS(*state, read_all(*state, file_path("dangling")), WT_NO_INPUT, "no such file");
}

static void directories_links_and_pipes(void **state) {
    assert_int_equal(mkdir(file_path("directory"), 0777), 0);
    check_refused(*state, file_path("directory"), "is a directory");
    assert_int_equal(symlink("directory", file_path("link")), 0);
    check_refused(*state, file_path("link"), "is a directory");
    assert_int_equal(mkfifo(file_path("pipe"), 0666), 0);
    check_refused(*state, file_path("pipe"), "is a pipe"); /* and does not wait for a writer */
    check_refused(*state, "/dev/null", "is a device");
    assert_int_equal(symlink("loop", file_path("loop")), 0);
    check_refused(*state, file_path("loop"), "cannot be opened");
    assert_int_equal(symlink(FIXTURE("types.npz"), file_path("good")), 0);
    CHECK_OK(*state, read_all(*state, file_path("good")));
}

/* Root may read anything, so that a child gives up its rights first. */
static void no_permission(void **state) {
    const char *path = file_make("secret.npy", "x", 1);
    assert_int_equal(chmod(path, 0), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        bool said = read_all(*state, path) == WT_DATA &&
                    strstr(wt_context_message(*state), "secret.npy: cannot be opened: ") != NULL;
        _exit(said ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == 2) {
        print_message("skipped: root here cannot give up its rights\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(result), 0);
}

static void nothing_and_nonsense(void **state) {
    check_refused(*state, file_make("empty.npz", "", 0), "is empty");
    check_refused(*state, file_make("text.npy", "hello, world\n", 13),
                  "is not npy, npz or safetensors (its first bytes are 68 65 6c");
    check_refused(*state, file_make("one.npy", "\x93", 1), "first bytes are 93)");
}

/* ---- cut short, and bits turned -------------------------------------------------------------- */

static const char *const whole_files[] = {FIXTURE("version1.npy"), FIXTURE("version2.npy"),
                                          FIXTURE("types.npz"),    FIXTURE("deflated.npz"),
                                          FIXTURE("zip64.npz"),    FIXTURE("types.safetensors")};
enum { WHOLE_FILES = sizeof whole_files / sizeof *whole_files };

static void cut_off_at_every_byte(void **state) {
    for (size_t k = 0; k < WHOLE_FILES; k++) {
        size_t bytes;
        uint8_t *content = file_bytes(whole_files[k], &bytes);
        const char *path = file_make("cut", content, bytes);
        CHECK_OK(*state, read_all(*state, path));
        for (size_t left = bytes; left-- > 0;) {
            assert_int_equal(truncate(path, (off_t)left), 0);
            check_refused(*state, path, left == 0 ? "is empty" : "cut: ");
        }
        free(content);
    }
}

static void one_byte_too_many(void **state) {
    for (size_t k = 0; k < WHOLE_FILES; k++) {
        size_t bytes;
        uint8_t *content = file_bytes(whole_files[k], &bytes);
        content[bytes] = 0;
        check_refused(*state, file_make("long", content, bytes + 1), "long: ");
        free(content);
    }
}

/* A turned bit may leave a good file, but never another status than these two. */
static void one_bit_of_every_byte_turned(void **state) {
    for (size_t k = 0; k < WHOLE_FILES; k++) {
        size_t bytes;
        uint8_t *content = file_bytes(whole_files[k], &bytes);
        for (size_t at = 0; at < bytes; at++) {
            uint8_t bit = (uint8_t)(1 << at % 8);
            content[at] ^= bit;
            wt_status status = read_all(*state, file_make("turned", content, bytes));
            if (status != WT_OK && status != WT_DATA)
                fail_msg("byte %zu of %s: %s", at, whole_files[k], wt_context_message(*state));
            content[at] ^= bit;
        }
        free(content);
    }
}

static void a_file_that_shrinks_while_it_is_read(void **state) {
    size_t bytes;
    uint8_t *content = file_bytes(FIXTURE("types.safetensors"), &bytes);
    const char *path = file_make("shrinks", content, bytes);
    wt_file *file;
    CHECK_OK(*state, wt_file_open(*state, path, &file));
    assert_int_equal(truncate(path, (off_t)bytes - 4), 0);
    double value;
    CHECK_FAILS(*state, wt_file_read(*state, file, wt_file_find(file, "scalar"), &value), WT_DATA,
                "ends at byte 1016, where 4 more are wanted");
    wt_file_free(file);
    free(content);
}

/* ---- npy headers ----------------------------------------------------------------------------- */

/* A file of version 1.0 with this literal and so many bytes of values. */
static const char *make_npy(const char *literal, size_t values) {
    char content[1024] = "\x93NUMPY\1";
    size_t length = strlen(literal);
    content[8] = (char)(length & 255);
    content[9] = (char)(length >> 8);
    snprintf(content + 10, sizeof content - 10, "%s", literal);
    return file_make("made.npy", content, 10 + length + values);
}

static void npy_headers_that_are_refused(void **state) {
    static const struct {
        const char *literal, *words;
    } cases[] = {
        {"", "byte 10: an opening brace"},
        {"{}", "the header has no 'descr'"},
        {"{'descr': '<f8'}", "the header has no 'fortran_order'"},
        {"{'descr': '<f8', 'fortran_order': False}", "the header has no 'shape'"},
        {"{'descr': '<f8', 'descr': '<f8', ", "each of 'descr'"},
        {"{'kind': 3}", "each of 'descr'"},
        {"{'shape': 3}", "byte 20: a shape like (3, 4) is expected"},
        {"{'shape': (-1,)}", "byte 21: a whole number of 0 or more"},
        {"{'shape': (1.5,)}", "a comma, as in (3,)"},
        {"{'shape': (3)}", "a comma, as in (3,)"},
        {"{'shape': (3, 4 5)}", "a comma or the end of the shape"},
        {"{'shape': (3, 4", "a comma or the end of the shape"},
        {"{'shape': (18446744073709551616,)}", "the shape overflows"},
        {"{'shape': (1,1,1,1,1,1,1,1,1)}", "more than 8 dimensions"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
         "the shape overflows"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808,)}",
         "the shape overflows"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 9, 0)}",
         "the shape overflows"},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (9223372036854775807,)}",
         "asks for 9223372036854775807 bytes of values, but 8 follow"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2,)}", "asks for 16 bytes"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': ()} x", "nothing more is expected"},
        {"{'descr': '<f8', 'fortran_order': 0, 'shape': ()}", "True or False"},
        {"{'descr': '<f8' 'shape': ()}", "a comma or the closing brace"},
        {"{'descr' '<f8'}", "a colon"},
        {"{'descr': '|O'}", "an object array"},
        {"{'descr': [('x', '<f8')]}", "structured"},
        {"{'descr': '>i4'}", "big-endian"},
        {"{'descr': '<f16'}", "'<f16' is none of <f8"},
        {"{'descr': '\x1b[2J\n'}", "a type like '<f8'"},
        {"{'descr': '\x1b[2J'}", "'\\x1b[2J' is none of"},
        {"{'descr': '<f\\x38'}", "a type like '<f8'"},
        {"{'descr': '<f8", "a type like '<f8'"},
        {"{'descr': 7}", "a type like '<f8'"},
        {"{'descr': '0123456789012345678901234567890123456789012345678901234567890123'}",
         "a type like '<f8'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(*state, make_npy(cases[i].literal, 8), cases[i].words);
}

static void npy_headers_that_are_odd_but_fine(void **state) {
    static const char *const cases[] = {
        "{\"shape\":(),\"descr\":\"<f8\",\"fortran_order\":True}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1L,), }   \n",
        "  {'descr':'|u1','fortran_order':False,'shape':(2,2,2,),}",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_OK(*state, read_all(*state, make_npy(cases[i], 8)));
}

static void npy_heads_that_lie(void **state) {
    check_refused(*state, file_make("a.npy", "\x93NUMPY\4\0\1\0{", 11), "npy version 4.0");
    check_refused(*state, file_make("a.npy", "\x93NUMPY\1\1\1\0{", 11), "npy version 1.1");
    check_refused(*state, file_make("a.npy", "\x93NUMPY\1\0\xff\xff{", 11),
                  "said to have 65535 bytes after byte 10");
    check_refused(*state, file_make("a.npy", "\x93NUMPY\2\0\xff\xff\xff\xff{", 13),
                  "said to have 4294967295 bytes, more than 65535");
}

/* ---- safetensors headers --------------------------------------------------------------------- */

static const char *make_safetensors(uint64_t length, const char *header, size_t values) {
    char content[1024] = {0};
    memcpy(content, &length, 8);
    snprintf(content + 8, sizeof content - 8, "%s", header);
    return file_make("made.safetensors", content, 8 + strlen(header) + values);
}

static void safetensors_lengths_that_lie(void **state) {
    static const struct {
        uint64_t length;
        const char *words;
    } cases[] = {
        {UINT64_C(1) << 63, "give the header 9223372036854775808 bytes, more than 100000000"},
        {UINT64_MAX, "give the header 18446744073709551615 bytes, more than"},
        {100000001, "more than 100000000"},
        {100000000, "but only 2 follow"},
        {3, "but only 2 follow"},
        {1, "header, byte "},
        {0, "header, byte "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(*state, make_safetensors(cases[i].length, "{}", 0), cases[i].words);
}

#define ENTRY(dtype, shape, offsets)                                                               \
    "{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
#define ONE(dtype, shape, offsets) "{\"x\":" ENTRY(dtype, shape, offsets) "}"

static void safetensors_headers_that_are_refused(void **state) {
    static const struct {
        const char *header, *words;
    } cases[] = {
        {"{", "header, byte "},
        {"{} x", "header, byte "},
        {"{\"x\":1,\"x\":2}", "duplicate object key"},
        {"{\"x\":{\"dtype\":\"F64\",\"dtype\":\"F32\"}}", "duplicate object key"},
        {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", "duplicate object key"},
        {"{\"a\\u0000b\":1}", "header, byte "},
        {"{\"\xff\":1}", "unable to decode byte 0xff"},
        {"{\"x\":1}", "tensor 'x': the entry is not made of"},
        {"{\"x\":{}}", "the entry is not made of"},
        {"{\"x\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[0,8],\"more\":1}}",
         "the entry is not made of"},
        {"{\"__metadata__\":[]}", "__metadata__ is no object"},
        {"{\"__metadata__\":{\"a\":1}}", "__metadata__: the value of 'a' is no string"},
        {ONE("F8_E4M3", "[8]", "[0,8]"), "type 'F8_E4M3' is none of"},
        {ONE("\\n\\u001b", "[8]", "[0,8]"), "type '\\x0a\\x1b' is none of"},
        {ONE("F64", "[-1]", "[0,8]"), "dimension 0 of the shape is no whole number"},
        {ONE("F64", "[1,1.0]", "[0,8]"), "dimension 1 of the shape is no whole number"},
        {ONE("F64", "[1,1,1,1,1,1,1,1,1]", "[0,8]"), "no list of at most 8"},
        {ONE("F64", "1", "[0,8]"), "no list of at most 8"},
        {ONE("F64", "[4294967296,4294967296]", "[0,8]"), "the shape overflows"},
        {ONE("F64", "[9223372036854775807]", "[0,8]"), "the shape overflows"},
        {ONE("F64", "[0,9223372036854775807,9]", "[0,0]"), "the shape overflows"},
        {ONE("F64", "[9223372036854775808]", "[0,8]"), "header, byte "},
        {ONE("F64", "[1]", "[0]"), "are not two whole numbers"},
        {ONE("F64", "[1]", "8"), "are not two whole numbers"},
        {ONE("F64", "[1]", "[0,\"8\"]"), "are not two whole numbers"},
        {ONE("F64", "[1]", "[-8,0]"), "do not lie within the 8 bytes"},
        {ONE("F64", "[1]", "[8,0]"), "do not lie within the 8 bytes"},
        {ONE("F64", "[1]", "[1,9]"), "do not lie within the 8 bytes"},
        {ONE("F64", "[1]", "[0,9223372036854775807]"), "do not lie within the 8 bytes"},
        {ONE("F64", "[1]", "[0,4]"), "give 4 bytes, but shape and type ask for 8"},
        {ONE("F32", "[1]", "[0,8]"), "give 8 bytes, but shape and type ask for 4"},
        {ONE("F32", "[1]", "[4,8]"), "leave a hole"},
        {ONE("F32", "[1]", "[0,4]"), "but the file goes on to"},
        {"{}", "but the file goes on to"},
        {"{\"x\":" ENTRY("F32", "[1]", "[0,4]") ",\"y\":" ENTRY("F32", "[1]", "[0,4]") "}",
         "overlap others"},
        {"{\"x\":" ENTRY("U8", "[5]", "[0,5]") ",\"y\":" ENTRY("U8", "[4]", "[4,8]") "}",
         "overlap others"},
        {"{\"x\":" ENTRY("U8", "[3]", "[0,3]") ",\"y\":" ENTRY("U8", "[4]", "[4,8]") "}",
         "tensor 'y': the values at byte"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_refused(*state, make_safetensors(strlen(cases[i].header), cases[i].header, 8),
                      cases[i].words);
}

/* A unit repeated up to a header of so many bytes, inside of {"x":[ ]}. */
static const char *make_repeated(const char *unit, size_t bytes) {
    char *content = malloc(bytes + 32);
    uint64_t length = bytes;
    memcpy(content, &length, 8);
    snprintf(content + 8, bytes, "{\"x\":[");
    for (size_t i = 6; i < bytes; i++)
        content[8 + i] = unit[(i - 6) % strlen(unit)];
    snprintf(content + 8 + bytes - 3, 4, "0]}");
    const char *path = file_make("repeated", content, 8 + bytes);
    free(content);
    return path;
}

/* What would cost the parser many times its bytes is found before it starts. */
static void safetensors_that_are_dense_or_deep(void **state) {
    static const char *const units[] = {"0,", "[],", "{},", "[", "\"\","};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        check_refused(*state, make_repeated(units[i], 100000), "more brackets or commas");
    check_refused(*state, make_repeated("[                ", 100000), "depth");
    /* Neither counts inside of strings: here it is the damaged end that is refused. */
    check_refused(*state, make_repeated("\"[[[[[[[[[[[,,,,,,,,,,,,,,,,\\\"\", ", 100000),
                  "header, byte ");
}

/* The densest headers there can be are read. */
static void many_small_tensors(void **state) {
    static const char *const shapes[] = {"[]", "[1,1,1,1,1,1,1,1]"};
    enum { TENSORS = 2000 };
    for (size_t k = 0; k < 2; k++) {
        char *content = malloc(TENSORS * 100);
        size_t used = 9;
        content[8] = '{';
        for (int i = 0; i < TENSORS; i++)
            used += (size_t)sprintf(content + used,
                                    "%s\"%x\":{\"dtype\":\"U8\",\"shape\":%s,"
                                    "\"data_offsets\":[%d,%d]}",
                                    i == 0 ? "" : ",", (unsigned)i, shapes[k], i, i + 1);
        content[used++] = '}';
        uint64_t length = used - 8;
        memcpy(content, &length, 8);
        memset(content + used, 1, TENSORS);
        CHECK_OK(*state, read_all(*state, file_make("many", content, used + TENSORS)));
        free(content);
    }
}

/* jansson's own memory is not counted; the budget is checked before it starts. */
static void a_header_over_the_budget(void **state) {
    size_t bytes;
    uint8_t *content = file_bytes(FIXTURE("types.safetensors"), &bytes);
    wt_context_set_memory(*state, 8192);
    CHECK_FAILS(*state, read_all(*state, file_make("big", content, bytes)), WT_MEMORY,
                "over the memory budget of 8.0 KiB");
    wt_context_set_memory(*state, 0);
    free(content);
}

static void cancelled_reading(void **state) {
    wt_context *context;
    (void)state;
    assert_int_equal(wt_context_new(&context), WT_OK);
    wt_context_cancel(context);
    CHECK_FAILS(context, read_all(context, FIXTURE("types.npz")), WT_INTERRUPTED, "interrupted");
    wt_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_files),
        cmocka_unit_test(directories_links_and_pipes),
        cmocka_unit_test(no_permission),
        cmocka_unit_test(nothing_and_nonsense),
        cmocka_unit_test(cut_off_at_every_byte),
        cmocka_unit_test(one_byte_too_many),
        cmocka_unit_test(one_bit_of_every_byte_turned),
        cmocka_unit_test(a_file_that_shrinks_while_it_is_read),
        cmocka_unit_test(npy_headers_that_are_refused),
        cmocka_unit_test(npy_headers_that_are_odd_but_fine),
        cmocka_unit_test(npy_heads_that_lie),
        cmocka_unit_test(safetensors_lengths_that_lie),
        cmocka_unit_test(safetensors_headers_that_are_refused),
        cmocka_unit_test(safetensors_that_are_dense_or_deep),
        cmocka_unit_test(many_small_tensors),
        cmocka_unit_test(a_header_over_the_budget),
        cmocka_unit_test(cancelled_reading),
    };
    return cmocka_run_group_tests(tests, files_open, files_close);
}
