/* `wattle bench blas` and `bench workers` as the shell sees them. No time is judged here. */
#define _GNU_SOURCE
#include <jansson.h>

#include "cli/run.h"
#include "linalg/cores.h"

static void our_choice_is_set_beside_the_others(void **state) {
    (void)state;
    unsigned features = wt_cpu_features();
    const wt_core *best = wt_core_for(features);
    json_t *all = run_json("bench blas --repeats 1 --json"), *row;
    json_t *chosen = json_object_get(all, "chosen"), *by_hand = json_object_get(all, "by_hand");
    double largest = run_member(chosen, "of_best");
    size_t i;
    assert_true(run_member(chosen, "gemm_gflops") > 0);
    assert_true(run_member(chosen, "gemm_float_gflops") > 0);
    json_array_foreach(by_hand, i, row) {
        const wt_core *core = wt_core_named(json_string_value(json_object_get(row, "kernels")));
        assert_non_null(core);
        assert_true(wt_core_runs(core, features));
        largest = fmax(largest, run_member(row, "of_best"));
        CHECK_NEAR(run_member(row, "gemm_gflops") / run_member(row, "of_best"),
                   run_member(chosen, "gemm_gflops") / run_member(chosen, "of_best"), 1e-9);
    }
    CHECK_NEAR(largest, 1, 0);
    if (best != NULL) {
        assert_string_equal(json_string_value(json_object_get(chosen, "kernels")), best->name);
        assert_true(json_array_size(by_hand) >= 2);
    }
    json_decref(all);
}

static void workers_are_set_beside_one(void **state) {
    (void)state;
    json_t *all = run_json("bench workers --n 8 --repeats 1 --threads 3 --json"), *row;
    json_t *rows = json_object_get(all, "rows");
    double first = 0;
    size_t i;
    assert_int_equal(json_array_size(rows), 3); /* 1, 2 and all */
    json_array_foreach(rows, i, row) {
        double rate = run_member(row, "layers_per_second");
        first = i == 0 ? rate : first;
        CHECK_NEAR(run_member(row, "workers"), (double)i + 1, 0);
        CHECK_NEAR(run_member(row, "speed_up"), rate / first, 1e-9);
        assert_true(run_member(row, "processor_ms") > 0);
        if (i > 0)
            CHECK_NEAR(run_member(row, "of_extra_worker"), (rate / first - 1) / (double)i, 1e-9);
        assert_true(i == 0 || run_member(row, "gemm_of_extra_worker") > -1 / (double)i);
    }
    json_decref(all);
    const run_result *result = run("bench workers --n 7 --repeats 1 --threads 1");
    assert_int_equal(result->code, 0);
    assert_null(strstr(result->out, "\n  8 ")); /* nothing so small */
}

static void rates_and_checks_can_be_asked_for_alone(void **state) {
    (void)state;
    json_t *all = run_json("selfcheck --rates --threads 1 --json");
    assert_int_equal(json_array_size(json_object_get(all, "checks")), 0);
    assert_true(run_member(json_object_get(all, "gemm_gflops"), "one_thread") > 0);
    json_decref(all);
    CHECK_SAYS(run("selfcheck --rates --quick"), 64, "leave nothing to do");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_choice_is_set_beside_the_others),
        cmocka_unit_test(workers_are_set_beside_one),
        cmocka_unit_test(rates_and_checks_can_be_asked_for_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
