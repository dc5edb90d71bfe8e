/* `wattle search` as a user meets it. */
#define _GNU_SOURCE
#include <jansson.h>

#include "cli/run.h"

#define BITS TEST_DATA "/fixtures/bits.npz"

static json_int_t integer(json_t *object, const char *key) {
    json_t *found = json_object_get(object, key);
    assert_true(json_is_integer(found));
    return json_integer_value(found);
}

static void a_file_gives_its_positions(void **state) {
    (void)state;
    CHECK_PRINTS(run("search " BITS " --task parity:3"), "  2,5,7\n");
    json_t *all = run_json("search " BITS " --task parity:3 --json");
    json_t *answers = json_object_get(all, "answers");
    assert_int_equal(json_array_size(answers), 1);
    static const json_int_t wanted[] = {2, 5, 7};
    for (size_t j = 0; j < 3; j++)
        assert_int_equal(json_integer_value(json_array_get(json_array_get(answers, 0), j)),
                         wanted[j]);
    assert_int_equal(integer(all, "errors"), 0);
    assert_true(json_is_true(json_object_get(all, "complete")));
    json_decref(all);
    CHECK_PRINTS(run("search " BITS " --method elimination"), "2^0 are right");
    all = run_json("search " BITS " --method elimination --json");
    assert_int_equal(integer(all, "rank"), 10);
    assert_int_equal(integer(all, "least"), 3);
    json_decref(all);
}

/* The result is printed all the same, and the fewest errors are found where none is impossible. */
static void no_answer_is_exit_code_1(void **state) {
    (void)state;
    CHECK_SAYS(run("search " BITS " --task and:3"), 1, "no 3 positions explain all 60 labels");
    CHECK_SAYS(run("search " BITS " --task and:3 --json"), 1, "no 3 positions");
    json_t *all = run_json("search " BITS " --task and:3 --fewest --most 1 --json");
    assert_true(integer(all, "errors") > 0);
    assert_int_equal(json_array_size(json_object_get(all, "answers")), 1);
    json_decref(all);
}

/* The thresholds of the science note: about 30 samples at T = 100, 39 at T = 1100. A rate over 40
 * trials has a standard error of 0.06, which is 2 samples here; 22 and 55 are far outside. */
static void samples_that_suffice_are_found(void **state) {
    (void)state;
    json_t *all = run_json("search --task and:3 --length 100,1100 --samples 10:100:2 --json");
    json_t *least = json_object_get(all, "least"), *rows = json_object_get(all, "rows");
    json_int_t small = integer(json_array_get(least, 0), "samples");
    json_int_t large = integer(json_array_get(least, 1), "samples");
    assert_in_range(small, 24, 36);
    assert_in_range(large, 32, 46);
    assert_int_equal(json_array_size(rows), 2 * 46);
    /* samples are nested: what is unique with m of them stays so */
    for (size_t i = 1; i < 46; i++)
        assert_true(integer(json_array_get(rows, i), "successes") >=
                    integer(json_array_get(rows, i - 1), "successes"));
    assert_int_equal(integer(json_array_get(rows, 45), "successes"), 40);
    json_decref(all);
}

static void threads_do_not_change_the_table(void **state) {
    (void)state;
    char path[] = "/tmp/wattle-search-XXXXXX", line[256];
    static char kept[2][RUN_BYTES];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line,
                 "search --task majority:3 --length 20 --samples 5:40:5 --noise 0.1 --trials 9 "
                 "--threads %d -o %s",
                 1 + 3 * i, path);
        assert_int_equal(run(line)->code, 0);
        FILE *table = fopen(path, "r");
        assert_non_null(table);
        kept[i][fread(kept[i], 1, RUN_BYTES - 1, table)] = '\0';
        fclose(table);
    }
    unlink(path);
    assert_string_equal(kept[0], kept[1]);
    assert_non_null(strstr(kept[0], "task,method,noise,seed,length,trial,samples,unique,success,"
                                    "errors,looked\nmajority:3,search,0.1"));
}

/* A table of elimination has no column of positions tried. */
static void elimination_tries_no_positions(void **state) {
    (void)state;
    const char *const line = "search --task parity:2 --length 6 --samples 9 --trials 2";
    char longer[128];
    CHECK_PRINTS(run(line), "positions tried");
    snprintf(longer, sizeof longer, "%s --method elimination", line);
    const run_result *result = run(longer);
    CHECK_PRINTS(result, "found alone");
    assert_null(strstr(result->out, "tried"));
}

static void elimination_takes_as_many_samples_as_bits(void **state) {
    (void)state;
    json_t *all = run_json("search --task parity:3 --length 30 --samples 12,29,60 --method "
                           "elimination --trials 20 --json");
    json_t *rows = json_object_get(all, "rows");
    assert_int_equal(integer(json_array_get(rows, 1), "successes"), 0);
    assert_int_equal(integer(json_array_get(rows, 2), "successes"), 20);
    json_decref(all);
}

static void bad_words_are_refused(void **state) {
    (void)state;
    CHECK_SAYS(run("search"), 64, "needs --task");
    CHECK_SAYS(run("search --task nand:3"), 64, "no Boolean function: 'nand:3'");
    CHECK_SAYS(run("search --task and:3 --length 2"), 64, "2 bits cannot hold the 3");
    CHECK_SAYS(run("search --task and:3 --samples 0"), 64,
               "--samples: must be a whole number of 1 or more");
    CHECK_SAYS(run("search --task and:3 --samples 9,8"), 64, "number 2 is 8");
    CHECK_SAYS(run("search --task and:3 --noise 0.5"), 64,
               "--noise: must be from 0 to below 0.5, not 0.5");
    CHECK_SAYS(run("search --task and:3 --rate 0"), 64, "--rate: must be above 0 and at most 1");
    CHECK_SAYS(run("search --task table:0011"), 64, "bit 2 of table:0011 makes no difference");
    CHECK_SAYS(run("search --task and:3 --method elimination"), 64, "parities, not and:3");
    CHECK_SAYS(run("search --task and:3 --fewest"), 64, "need a data file");
    CHECK_SAYS(run("search " BITS), 64, "needs --task");
    CHECK_SAYS(run("search " BITS " --task and:3 --length 9"), 64, "exclude each other");
    CHECK_SAYS(run("search " BITS " --task and:3 --method elimination"), 64, "--task does not go");
    CHECK_SAYS(run("search " BITS " --fewest --method elimination"), 64, "--fewest does not go");
    CHECK_SAYS(run("search " BITS " --most 3 --method elimination"), 64, "--most does not go");
    CHECK_SAYS(run("search " BITS " --task and:11"), 64, "60 samples of 10 bits for 11");
    CHECK_SAYS(run("search /tmp/wattle-no-such-file --task and:3"), 66, "no-such-file");
    CHECK_SAYS(run("search " TEST_DATA "/fixtures/sets.npz --task and:3"), 65,
               "no array 'bits': bits (n,T) is expected");
    CHECK_SAYS(run("search --task and:3 --samples 5 -o /no/such/folder/a.csv"), 73, "/no/such");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_gives_its_positions),
        cmocka_unit_test(no_answer_is_exit_code_1),
        cmocka_unit_test(samples_that_suffice_are_found),
        cmocka_unit_test(threads_do_not_change_the_table),
        cmocka_unit_test(elimination_tries_no_positions),
        cmocka_unit_test(elimination_takes_as_many_samples_as_bits),
        cmocka_unit_test(bad_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
