/* `wattle construct` as a user meets it. */
#define _GNU_SOURCE
#include <jansson.h>

#include "cli/run.h"
#include "network/model/construction.h"

#define HEAD TEST_DATA "/fixtures/head.safetensors"

/* Errors by hand at T = 64, s = 3: 123 / 2366 (tests/network/test_construct.c says why); least
 * strengths log(w) and w - 1 for w = 246 - 62 / 3. */
static void the_promise_is_printed_and_kept(void **state) {
    (void)state;
    const run_result *result =
        run("construct --function symmetric:0001 --length 64 --relevant 5,20,30");
    static const char *const words[] = {
        "3 relevant of 64: 5,20,30",      "1 in 67 dimensions, tokens sum",
        "6.6438, overlap rho 0",          "5.4176 keeps the promise",
        "224.33 without the exponential", "widths 16 and 8",
        "|W_QK^T|_{2,1} 11.507",          "gamma / 4 = 0.16667",
        "0.051986 over all inputs",       "yes"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        CHECK_PRINTS(result, words[i]);
    json_t *all = run_json("construct --function table:01010011 --length 64 --positions random "
                           "--position-dim 200 --json");
    assert_int_equal(run_member(all, "heads"), 3);
    assert_int_equal(run_member(all, "dim"), 200);
    assert_true(run_member(all, "head_error") <= run_member(all, "promise"));
    assert_true(run_member(all, "function_error") <= 1e-9);
    assert_true(json_is_true(json_object_get(all, "kept")));
    assert_true(run_member(json_object_get(all, "norms"), "qk21") > 0);
    assert_true(run_member(all, "least_strength") < run_member(all, "strength"));
    assert_true(json_is_null(json_object_get(all, "least_linear")));
    json_decref(all);
    CHECK_PRINTS(run("construct --function and:2 --length 20 --tokens bag --positions trained "
                     "--heads s --draws 3"),
                 "2 in 3 dimensions, tokens bag");
}

static void files_are_written_and_checked(void **state) {
    (void)state;
    char path[] = "/tmp/wattle-construct-XXXXXX", line[256];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    unlink(path);
    snprintf(line, sizeof line, "construct --function majority:3 --length 30 -o %s", path);
    assert_int_equal(run(line)->code, 0);
    snprintf(line, sizeof line, "construct --check %s", path);
    CHECK_PRINTS(run(line), "3 relevant of 30");
    snprintf(line, sizeof line, "info %s", path);
    CHECK_PRINTS(run(line), "positions");
    snprintf(line, sizeof line, "inspect %s", path);
    CHECK_PRINTS(run(line), "1 head, d = 33");
    unlink(path);
    CHECK_PRINTS(run("construct --check " HEAD), "2 relevant of 6");
}

/* Weights at half their strength: the result is printed, and the code is 1. With keys that look
 * away no strength will do. */
static void a_missed_promise_is_exit_code_1(void **state) {
    char path[] = "/tmp/wattle-construct-XXXXXX", line[256];
    wt_construction_spec spec = {.size = sizeof spec,
                                 .function = "and:3",
                                 .length = 64,
                                 .heads = WT_CONSTRUCTION_HEADS_ONE,
                                 .seed = 1};
    wt_construction *built;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    CHECK_OK(*state, wt_construction_new(*state, &spec, &built));
    for (size_t i = 0; i < built->dim; i++)
        built->w_q[i] /= 2;
    CHECK_OK(*state, wt_construction_save(*state, built, path));
    snprintf(line, sizeof line, "construct --check %s", path);
    const run_result *result = run(line);
    CHECK_SAYS(result, 1, "the promise is missed");
    assert_non_null(strstr(result->out, "worst head error"));
    assert_non_null(strstr(result->out, "5.4176 keeps the promise"));
    for (size_t i = 0; i < built->dim; i++)
        built->w_k[i] = -built->w_k[i];
    CHECK_OK(*state, wt_construction_save(*state, built, path));
    wt_construction_free(built);
    result = run(line);
    CHECK_SAYS(result, 1, "the promise is missed");
    assert_non_null(strstr(result->out, "none keeps the promise"));
    unlink(path);
}

static void bad_words_are_refused(void **state) {
    (void)state;
    CHECK_SAYS(run("construct"), 64, "needs --function or --check");
    CHECK_SAYS(run("construct --function and:0"), 64, "no Boolean function");
    CHECK_SAYS(run("construct --function and:17"), 64, "no Boolean function");
    CHECK_SAYS(run("construct --function and:3 --length 2"), 64, "2 bits cannot hold");
    CHECK_SAYS(run("construct --function and:3 --relevant 1,2"), 64, "2 positions are given");
    CHECK_SAYS(run("construct --function and:2 --relevant 1,1"), 64, "given twice");
    CHECK_SAYS(run("construct --function and:2 --relevant 1,99 --length 9"), 64, "99 is not below");
    CHECK_SAYS(run("construct --function table:0010 --heads one"), 64, "not symmetric");
    CHECK_SAYS(run("construct --function and:9 --heads s"), 64, "8 at most");
    CHECK_SAYS(run("construct --function and:3 --position-dim 9"), 64, "random positions");
    CHECK_SAYS(run("construct --function and:5 --positions random --position-dim 16 --length 500"),
               64, "overlap too much");
    CHECK_SAYS(run("construct --check " HEAD " --length 9"), 64, "exclude each other");
    CHECK_SAYS(run("construct --check /tmp/wattle-no-such-file"), 66, "no-such-file");
    CHECK_SAYS(run("construct --check " TEST_DATA "/fixtures/rfa.safetensors"), 65,
               "is no construction");
    CHECK_SAYS(run("construct --function and:2 --length 9 -o /no/such/folder/a"), 73, "/no/such");
    CHECK_SAYS(run("construct --function and:2 --positions random --length 100000 --mem 10M"), 70,
               "a construction needs");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_promise_is_printed_and_kept),
        cmocka_unit_test(files_are_written_and_checked),
        cmocka_unit_test(a_missed_promise_is_exit_code_1),
        cmocka_unit_test(bad_words_are_refused),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
