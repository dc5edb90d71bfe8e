/* `wattle bench train` as the shell sees it. No time is judged here. */
#define _GNU_SOURCE
#include <jansson.h>

#include "cli/run.h"

static void reports_every_piece_of_work(void **state) {
    static const char *const works[] = {"step", "step_without_embedding_dropout", "evaluate",
                                        "evaluate_stopped"};
    (void)state;
    const run_result *result = run("bench train --n 9 --samples 5 --repeats 1 --threads 2 --json "
                                   "--peer echo${IFS}it${IFS}took${IFS}12.5${IFS}ms/step");
    json_t *json = json_loads(result->out, 0, NULL), *runs, *one_run;
    size_t i;
    assert_int_equal(result->code, 0);
    runs = json_object_get(json, "runs");
    assert_int_equal(json_array_size(runs), 2);
    CHECK_NEAR(run_member(json, "peer_ms"), 12.5, 0);
    CHECK_NEAR(run_member(json, "length"), 9, 0);
    assert_true(run_member(json, "trial_bytes") > 0);
    assert_true(run_member(json, "trial_bytes") < 1e8); /* at T = 1100, m = 200 */
    json_array_foreach(runs, i, one_run) {
        CHECK_NEAR(run_member(one_run, "threads"), (double)i + 1, 0);
        for (size_t w = 0; w < 4; w++) {
            const json_t *one = json_object_get(one_run, works[w]);
            assert_true(run_member(one, "best_ms") > 0);
            assert_true(run_member(one, "median_ms") >= run_member(one, "best_ms"));
            assert_true(run_member(one, "mean_ms") >= run_member(one, "best_ms"));
            CHECK_NEAR(run_member(one, "gflops"),
                       1e-6 * run_member(one, "flops") / run_member(one, "best_ms"), 1e-9);
        }
        CHECK_NEAR(run_member(json_object_get(one_run, "evaluate"), "judged"), 10000, 0);
        CHECK_NEAR(run_member(json_object_get(one_run, "step"), "judged"), 5, 0);
    }
    json_decref(json);
}

static void prints_a_table(void **state) {
    (void)state;
    const run_result *result = run("bench train --n 5 --samples 2 --repeats 1 --threads 1");
    CHECK_PRINTS(result, "all dropout");
    CHECK_PRINTS(result, "143 ms");
    assert_null(strstr(result->out, "peer"));
}

/* The peer prints its mean: the ratio is over ours, not over our best step. */
static void means_are_set_beside_means(void **state) {
    (void)state;
    const run_result *result = run("bench train --n 5 --samples 2 --repeats 2 --threads 1 --peer "
                                   "echo${IFS}100000000${IFS}ms/step");
    CHECK_PRINTS(result, "peer: 100000000.00 ms a step, the mean");
    double best, median, mean, ratio;
    const char *line = strstr(result->out, "step, all dropout");
    assert_non_null(line);
    assert_int_equal(sscanf(line, "step, all dropout 1 %lf %lf %lf %*f %*f%% %*f %*f %*s %lfx",
                            &best, &median, &mean, &ratio),
                     4);
    assert_true(mean >= best);
    /* The mean is printed to 5e-4 ms. */
    CHECK_NEAR(1e8 / ratio, mean, 6e-4);
}

static void refuses_nonsense(void **state) {
    (void)state;
    CHECK_SAYS(run("bench train --n 2 --samples 2"), 64, "3 relevant");
    CHECK_SAYS(run("bench train --n 5 --samples 0"), 64, "samples");
    CHECK_SAYS(run("bench train --n 5 --samples 2 --repeats 1 --threads 1 --peer echo"), 69,
               "ms/step");
    CHECK_SAYS(run("bench train --n 5 --samples 2 --repeats 1 --threads 1 --peer false"), 69,
               "failed");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_every_piece_of_work),
        cmocka_unit_test(prints_a_table),
        cmocka_unit_test(means_are_set_beside_means),
        cmocka_unit_test(refuses_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
