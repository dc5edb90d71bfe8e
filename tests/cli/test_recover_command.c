/* teacher, draw --layer, recover and compare, as a user runs them. */
#define _GNU_SOURCE
#include <jansson.h>
#include <sys/stat.h>

#include "cli/run.h"

static void a_layer_is_made_drawn_and_recovered(void **state) {
    (void)state;
    run_must("teacher --heads 2 --dim 6 --out-dim 5 --seed 1 -o teacher.safetensors");
    run_must(
        "draw --layer teacher.safetensors --tokens boolean --length 4 --n 60 --seed 2 -o d.npz");
    run_must("recover d.npz --heads 2 -o layer.safetensors");
    /* noise-free: rounding times a condition number of some tens */
    assert_true(run_number("compare teacher.safetensors layer.safetensors --json", "theta_error") <
                1e-9);
    /* the same on given sequences: outputs of size one, apart by rounding */
    const char *data = "compare teacher.safetensors layer.safetensors --data d.npz --json";
    assert_true(run_number(data, "data_output") > 0.1);
    assert_true(run_number(data, "data_difference") < 1e-9);
    assert_non_null(
        strstr(run_in_folder("compare teacher.safetensors teacher.safetensors --data d.npz")->out,
               "apart by 0"));
    run_must("recover d.npz -o found.safetensors --json");
    assert_int_equal((int)run_number("recover d.npz --heads auto --json", "heads"), 2);
    assert_true(run_number("recover d.npz --heads 2 --json", "holdout_error") < 1e-9);
    assert_non_null(
        strstr(run_in_folder("compare teacher.safetensors found.safetensors")->out, "theta error"));
    run_must("teacher --parity 3 --dim 5 -o parity.safetensors");
    run_must("draw --layer parity.safetensors --tokens boolean --length 2 --n 9 -o p.npz --json");
}

static void failure_is_exit_1_and_no_file(void **state) {
    (void)state;
    run_must("teacher --heads 3 --dim 6 --seed 1 -o teacher.safetensors");
    run_must(
        "draw --layer teacher.safetensors --tokens boolean --length 4 --n 60 --seed 2 -o d.npz");
    run_refuses("recover d.npz --heads 1 --restarts 2 -o no", 1, "not recovered");
    assert_non_null(strstr(run_in_folder("recover d.npz --heads 1 --restarts 2")->out, "NO"));
    run_refuses("recover d.npz --heads 3 --method adam --steps 20 --restarts 1 -o no", 1,
                "not recovered");
}

/* One head is too few for two: the verdict says so, no file appears, and --accept writes one that
 * carries the verdict. Noise is told from that. */
static void verdicts_are_told(void **state) {
    (void)state;
    run_must("teacher --heads 2 --dim 6 --seed 1 -o teacher.safetensors");
    run_must("draw --layer teacher.safetensors --tokens gaussian --length 4 --n 100 --seed 2 -o "
             "d.npz");
    run_must("draw --layer teacher.safetensors --tokens gaussian --length 4 --n 100 --seed 2 "
             "--noise 0.05 -o n.npz");
    const char *wrong = "recover d.npz --heads 1 --method refine";
    run_refuses("recover d.npz --heads 1 --method refine -o no", 1, "not of this class");
    assert_non_null(strstr(run_in_folder(wrong)->out, "ore heads?"));
    struct stat found;
    assert_int_not_equal(stat("no", &found), 0);
    const run_result *result =
        run_in_folder("recover d.npz --heads 1 --method refine --accept -o best.safetensors");
    assert_int_equal(result->code, 1);
    result = run_in_folder("info best.safetensors");
    assert_non_null(strstr(result->out, "not of this class"));
    assert_non_null(strstr(result->out, "accepted"));
    json_t *all = json_loads(
        run_in_folder("recover n.npz --heads 2 --json -o fine.safetensors")->out, 0, NULL);
    assert_non_null(all);
    assert_string_equal(json_string_value(json_object_get(all, "verdict")),
                        "to the floor of noise");
    assert_true(json_is_null(json_object_get(all, "reason")));
    assert_true(run_member(all, "misfit_visible") > 0);
    assert_true(json_is_false(json_object_get(all, "accepted")));
    json_decref(all);
    assert_null(strstr(run_in_folder("info fine.safetensors")->out, "accepted"));
    assert_non_null(strstr(run_in_folder("recover n.npz --heads 2")->out, "misfit seen from"));
}

static void bad_input_is_refused(void **state) {
    (void)state;
    run_must("teacher --heads 2 --dim 4 --seed 1 -o teacher.safetensors");
    run_must("draw --layer teacher.safetensors --tokens boolean --length 1 --n 60 -o one.npz");
    run_must("draw --layer teacher.safetensors --tokens boolean --length 3 --n 2 -o few.npz");
    run_must("draw --layer teacher.safetensors --tokens boolean --length 3 --n 60 -o d.npz");
    run_must("teacher --heads 2 --dim 5 --seed 1 -o other.safetensors");
    run_refuses("teacher --heads 0 -o no", 64, "--heads");
    run_refuses("teacher --rank 9 --dim 8 -o no", 64, "rank");
    run_refuses("teacher --parity 8 --dim 8 -o no", 64, "parity");
    run_refuses("teacher --parity 3 --heads 2 -o no", 64, "exclude");
    run_refuses("teacher --scale -1 -o no", 64, "scale");
    run_refuses("teacher", 64, "--output");
    run_refuses("draw --layer teacher.safetensors --target corr:1 -o no", 64, "exclude");
    run_refuses("draw --target corr:1 --length 3 -o no", 64, "--layer");
    run_refuses("draw --layer missing.safetensors -o no", 66, "missing.safetensors");
    run_refuses("draw --layer d.npz -o no", 65, "its 2 tensors: x, y");
    run_refuses("draw --layer teacher.safetensors --noise -1 -o no", 64, "noise");
    run_refuses("recover one.npz --heads 2 -o no", 65, "only the sum of all W");
    run_refuses("recover few.npz --heads 2 -o no", 65, "hopeless");
    run_refuses("recover d.npz --heads 0 -o no", 64, "--heads");
    run_refuses("recover d.npz --heads -2 -o no", 64, "--heads");
    run_refuses("recover d.npz --heads two -o no", 64, "two");
    run_refuses("recover d.npz --heads 2 --method magic -o no", 64, "magic");
    run_refuses("recover d.npz --heads 2 --holdout 1 -o no", 64,
                "--holdout: must be from 0 to below 1");
    run_refuses("recover d.npz --method adam -o no", 64, "heads");
    run_refuses("recover missing.npz --heads 2 -o no", 66, "missing.npz");
    run_refuses("recover " TEST_DATA "/fixtures/sets.npz --heads 2 -o no", 65, "'x'");
    run_refuses("recover d.npz --heads 2 --mem 1K -o no", 70, "memory budget");
    run_refuses("recover d.npz --heads 2 -o missing/no", 73, "cannot be created");
    run_refuses("recover d.npz --heads 2 --teacher other.safetensors --method sculpt -o no", 64,
                "dimension 5");
    run_refuses("teacher --heads 1 --zero-sum -o no", 64, "--zero-sum");
    run_refuses("teacher --parity 2 --zero-sum -o no", 64, "exclude");
    run_refuses("compare teacher.safetensors other.safetensors", 65, "compared");
    run_refuses("compare teacher.safetensors d.npz", 65, "no known scheme");
    run_refuses("compare other.safetensors other.safetensors --data d.npz", 65, "5");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layer_is_made_drawn_and_recovered),
        cmocka_unit_test(failure_is_exit_1_and_no_file),
        cmocka_unit_test(verdicts_are_told),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
