/* `wattle bound` as a user meets it. */
#define _GNU_SOURCE
#include <jansson.h>

#include "cli/run.h"
#include "wattle/sets.h"

static char data[] = "/tmp/wattle-bound-XXXXXX";

/* 40 samples of a problem with noise. */
static int make_data(void **state) {
    int file = mkstemp(data);
    if (file < 0 || close(file) != 0 || check_open(state) != 0)
        return -1;
    wt_problem_spec spec = {.size = sizeof(wt_problem_spec),
                            .target = "mean-power:2",
                            .dim = 6,
                            .keys = 4,
                            .noise = 0.1,
                            .seed = 9};
    wt_problem *problem;
    wt_sets *sets = NULL;
    wt_status status = wt_problem_new(*state, &spec, &problem);
    if (status == WT_OK)
        status = wt_sets_new(*state, 40, 4, 6, 1, false, &sets);
    if (status == WT_OK)
        status = wt_problem_draw(*state, problem, 0, sets);
    if (status == WT_OK)
        status = wt_sets_save(*state, sets, data, NULL);
    wt_sets_free(sets);
    wt_problem_free(problem);
    return status == WT_OK ? 0 : -1;
}

static int remove_data(void **state) {
    unlink(data);
    return check_close(state);
}

static const char *with_data(const char *format) {
    static char line[256];
    snprintf(line, sizeof line, format, data);
    return line;
}

static double number(json_t *all, const char *a, const char *b, const char *c) {
    json_t *found = json_object_get(json_object_get(json_object_get(all, a), b), c);
    assert_true(json_is_number(found));
    return json_number_value(found);
}

static void attention_prints_all_its_terms(void **state) {
    (void)state;
    const run_result *result = run("bound rfa --target corr-power:3 --n 100");
    CHECK_PRINTS(result,
                 "rfa, target corr-power:3: d = 16, N = 16, M = 1000, n = 100, delta = 0.05");
    static const char *const words[] = {"5.3687e+08 = C_(q+1) d^q",
                                        "[reconstructed",
                                        "[published",
                                        "[derived]",
                                        "samples  ",
                                        "heads  ",
                                        "d^2 n = 25600 heads",
                                        "n = 25: ",
                                        "n = 50: ",
                                        "n = 100: ",
                                        "not specified by the theory: the constant",
                                        "a shape, not a prediction"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(result->out, words[i]) == NULL)
            fail_msg("no '%s' in %s", words[i], result->out);
}

static void json_holds_the_same(void **state) {
    (void)state;
    json_t *all = json_loads(run("bound rfa --target mean-power:2 --n 64 --json")->out,
                             JSON_REJECT_DUPLICATES, NULL);
    CHECK_NEAR(number(all, "bound", "complexity", "value"), 362.03867196751233, 1e-12);
    double sum =
        number(all, "bound", "sample_term", "value") + number(all, "bound", "head_term", "value");
    CHECK_NEAR(number(all, "bound", "risk", "value"), sum, 1e-12);
    json_t *points = json_object_get(json_object_get(all, "measured"), "points");
    assert_int_equal(json_array_size(points), 3);
    double before = 0;
    for (size_t i = 0; i < 3; i++) {
        json_t *value = json_object_get(json_array_get(points, i), "value");
        assert_true(json_real_value(value) > before);
        before = json_real_value(value);
    }
    assert_int_equal(json_array_size(json_object_get(json_object_get(all, "bound"), "unspecified")),
                     3);
    json_decref(all);
    /* Beyond any double: null beside a logarithm. */
    all = json_loads(run("bound rfa --target corr:64 --dim 1000000 --measure 0 --json")->out,
                     JSON_REJECT_DUPLICATES, NULL);
    json_t *b = json_object_get(json_object_get(all, "bound"), "complexity");
    assert_true(json_is_null(json_object_get(b, "value")));
    assert_true(json_is_real(json_object_get(b, "log10")));
    assert_null(json_object_get(all, "measured"));
    json_decref(all);
}

static void the_others_say_what_is_not_at_hand(void **state) {
    (void)state;
    const run_result *result = run("bound brfa --target corr-power:3 --n 32");
    CHECK_PRINTS(result, "the formula for brfa is not at hand");
    assert_non_null(strstr(result->out, "y^T K^-1 y of brfa-inf (c = 4), labels without noise"));
    result = run("bound rfmlp --target mean-power:2 --n 32");
    CHECK_PRINTS(result, "458.21 = C_p / N");
    assert_non_null(strstr(result->out, "it needs 1.2656 times the samples of rfa"));
    assert_non_null(strstr(result->out, "y^T K^-1 y of rfmlp-inf"));
}

static void labels_of_a_file_are_measured(void **state) {
    (void)state;
    const run_result *result = run(with_data("bound rfa --data %s"));
    CHECK_PRINTS(result, "d = 6, N = 4, M = 1000, n = 40");
    assert_non_null(strstr(result->out, "n = 10: "));
    assert_non_null(strstr(result->out, "noise in y"));
    assert_null(strstr(result->out, "B(f*)"));
    result = run(with_data("bound rfa --data %s --target mean-power:2 --model brfa-inf --bias 1"));
    CHECK_PRINTS(result, "y^T K^-1 y of brfa-inf (c = 1)");
    assert_non_null(strstr(result->out, "B(f*)     362.04"));
    CHECK_PRINTS(run(with_data("bound rfa --data %s --n 20 --measure 8")), "first 8 of 20 samples");
}

static void bad_words_are_refused(void **state) {
    (void)state;
    CHECK_SAYS(run("bound"), 64, "needs rfa|brfa|rfmlp");
    CHECK_SAYS(run("bound rfx --target corr:1"), 64, "did you mean 'rfa'?");
    CHECK_SAYS(run("bound everything --target corr:1"), 64, "'wattle help bound' lists them");
    CHECK_SAYS(run("bound rfa"), 64, "needs --target or --data");
    CHECK_SAYS(run("bound rfa --target corr"), 64, "corr:p");
    static const char *const of_capacity[] = {"--norms qk21=1", "--length 100", "--samples 9",
                                              "--depth 3",      "--residual",   "--epsilon 0",
                                              "--lipschitz 2",  "--loss-most 3"};
    for (size_t i = 0; i < sizeof of_capacity / sizeof *of_capacity; i++) {
        char line[96];
        snprintf(line, sizeof line, "bound %s --target corr:2 %s",
                 i % 3 == 0   ? "rfa"
                 : i % 3 == 1 ? "brfa"
                              : "rfmlp",
                 of_capacity[i]);
        CHECK_SAYS(run(line), 64, "makes no sense for a bound of");
    }
    CHECK_SAYS(run("bound rfa --target corr:1 --delta 1"), 64, "delta must be above 0");
    CHECK_SAYS(run("bound rfa --target corr:1 --heads 0"), 64, "--heads");
    CHECK_SAYS(run("bound rfa --target corr:1 --model rfa"), 64, "--model");
    CHECK_SAYS(run("bound rfa --target corr:1 --token-scale -1 --n 8"), 64, "token scale");
    CHECK_SAYS(run(with_data("bound rfa --data %s --dim 7")), 64, "--dim is 7");
    CHECK_SAYS(run(with_data("bound rfa --data %s --n 41")), 64, "has 40 samples");
    CHECK_SAYS(run("bound rfa --data /tmp/wattle-no-such-file"), 66, "no-such-file");
    CHECK_SAYS(run("bound rfa --data " TEST_DATA "/check.h"), 65, "check.h");
    CHECK_SAYS(run("bound rfa --target corr:1 --n 4000 --measure 4000 --mem 50M"), 70,
               "the kernel matrix needs");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_prints_all_its_terms),
        cmocka_unit_test(json_holds_the_same),
        cmocka_unit_test(the_others_say_what_is_not_at_hand),
        cmocka_unit_test(labels_of_a_file_are_measured),
        cmocka_unit_test(bad_words_are_refused),
    };
    return cmocka_run_group_tests(tests, make_data, remove_data);
}
