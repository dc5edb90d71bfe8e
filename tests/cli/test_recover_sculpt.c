/* recover --method sculpt, as a user runs it: stages, certificate, and exit 1 where it cannot. */
#define _GNU_SOURCE
#include <jansson.h>
#include <unistd.h>

#include "cli/run.h"

static const run_result *run_to(const char *line, int code) {
    const run_result *result = run_in_folder(line);
    if (result->code != code)
        fail_msg("wattle %s: exit %d, not %d: %s", line, result->code, code, result->err);
    return result;
}

static json_t *object_of(const run_result *result) {
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    if (all == NULL)
        fail_msg("no JSON: %s", result->out);
    return all;
}

static void stages_and_certificate(void **state) {
    (void)state;
    run_to("teacher --heads 2 --dim 5 --out-dim 12 --seed 3 -o t.safetensors", 0);
    run_to("draw --layer t.safetensors --tokens gaussian --length 2 --n 8000 --seed 4 -o d.npz", 0);
    json_t *all = object_of(run_to("recover d.npz --method sculpt --certificate --directions all "
                                   "--json -o l.safetensors",
                                   0));
    json_t *sculpt = json_object_get(all, "sculpt"), *body = json_object_get(all, "certificate");
    assert_string_equal(json_string_value(json_object_get(sculpt, "stage")), "net");
    assert_int_equal(json_integer_value(json_object_get(sculpt, "heads")), 2);
    /* the whole is sculpt's part and what refine did after it */
    double part = json_number_value(json_object_get(sculpt, "flops"));
    assert_true(part > 0 && json_number_value(json_object_get(all, "flops")) > part);
    assert_int_equal(json_integer_value(json_object_get(body, "directions")), 23);
    double eta = json_number_value(json_object_get(body, "eta"));
    assert_true(eta > 0 && eta <= 1);
    assert_true(json_number_value(json_object_get(body, "median_half_width")) > 0);
    json_decref(all);
    all = object_of(run_to("compare t.safetensors l.safetensors --json", 0));
    /* Noise-free, then refined: rounding times a condition number of some tens. */
    assert_true(json_number_value(json_object_get(all, "theta_error")) < 1e-9);
    json_decref(all);
    const run_result *words =
        run_to("recover d.npz --method sculpt --certificate --directions 2", 0);
    assert_non_null(strstr(words->out, "by an eigen-gap of"));
    assert_non_null(strstr(words->out, "per direction"));
    assert_non_null(strstr(words->out, "flops"));
}

/* One step from a random start gets nowhere, and so does not the one before: auto asks sculpt,
 * whose start is worth many steps. The certificate is of the heads, whoever found them. */
static void auto_asks_sculpt(void **state) {
    (void)state;
    run_to("teacher --heads 2 --dim 5 --out-dim 12 --seed 3 -o t.safetensors", 0);
    run_to("draw --layer t.safetensors --tokens gaussian --length 2 --n 8000 --seed 4 -o d.npz", 0);
    json_t *all = object_of(run_to("recover d.npz --heads 2 --steps 4 --restarts 2 --json "
                                   "--certificate --directions 1 --teacher t.safetensors",
                                   0));
    assert_string_equal(json_string_value(json_object_get(all, "method")), "sculpt");
    assert_string_equal(json_string_value(json_object_get(all, "start_from")), "sculpt");
    assert_int_equal(json_integer_value(json_object_get(all, "start")), 2);
    assert_non_null(json_object_get(all, "sculpt"));
    json_t *body = json_object_get(all, "certificate");
    assert_int_equal(json_integer_value(json_object_get(body, "teacher_inside")), 2);
    json_decref(all);
    all = object_of(run_to("recover d.npz --heads 2 --json", 0));
    assert_string_equal(json_string_value(json_object_get(all, "method")), "refine");
    assert_null(json_object_get(all, "sculpt"));
    json_decref(all);
}

/* Too few rows are left for a certificate: the layer is told, but not written. */
static void a_refused_certificate_is_exit_1(void **state) {
    (void)state;
    run_to("teacher --heads 2 --dim 5 --seed 3 -o t.safetensors", 0);
    run_to("draw --layer t.safetensors --length 2 --n 200 --seed 4 -o d.npz", 0);
    const run_result *result =
        run_refuses("recover d.npz --heads 2 --certificate --json -o no", 1, "no certificate");
    json_t *all = object_of(result);
    assert_true(json_is_true(json_object_get(all, "recovered")));
    assert_true(json_is_null(json_object_get(all, "output")));
    json_decref(all);
}

static void says_when_it_cannot(void **state) {
    (void)state;
    run_to("teacher --heads 4 --dim 5 --out-dim 12 --seed 3 -o t.safetensors", 0);
    run_to("draw --layer t.safetensors --tokens gaussian --length 4 --n 4000 --seed 4 -o d.npz", 0);
    const run_result *result = run_to("recover d.npz --heads 4 --method sculpt --json -o no", 1);
    json_t *all = object_of(result);
    assert_true(json_is_false(json_object_get(all, "recovered")));
    assert_non_null(strstr(json_string_value(json_object_get(all, "reason")), "eigen-gap"));
    assert_non_null(strstr(result->err, "eigen-gap"));
    json_decref(all);
    char path[96];
    snprintf(path, sizeof path, "%s/no", run_folder);
    assert_int_equal(access(path, F_OK), -1);
    run_to("recover d.npz --method sculpt --directions none", 64);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stages_and_certificate),
        cmocka_unit_test(auto_asks_sculpt),
        cmocka_unit_test(a_refused_certificate_is_exit_1),
        cmocka_unit_test(says_when_it_cannot),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
