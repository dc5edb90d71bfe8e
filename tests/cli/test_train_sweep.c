/* A cell `train` of a sweep and `wattle train` with the same words and seed print the same numbers,
 * to the last digit. */
#define _GNU_SOURCE
#include <inttypes.h>

#include "cli/sweep_cases.h"
#include "lab/experiment.h"

/* Words of both; "=" and "--" are put between them. */
static const struct {
    const char *model;
    const char *words[3][2];
    bool same_as_before; /* what stands there changes nothing */
} cases[] = {
    {"mlp", {{"hidden", "8"}}, false},
    {"mlp", {{"hidden", "8"}, {"dropout", "0"}}, true}, /* the default */
    {"mlp", {{"hidden", "8"}, {"dropout", "0.2"}}, false},
    {"mlp", {{"hidden", "8"}, {"dropout", "0.2"}, {"block-dropout", "0"}}, false},
    {"transformer", {{"dim", "8"}, {"heads", "2"}}, false},
    {"transformer", {{"dim", "8"}, {"heads", "2"}, {"dropout", "0.1"}}, true}, /* the default */
    {"transformer", {{"dim", "8"}, {"heads", "2"}, {"dropout", "0.3"}}, false},
    {"transformer", {{"dim", "8"}, {"heads", "2"}, {"attention-dropout", "0.3"}}, false},
    {"head", {{"dim", "8"}}, false},
    {"head", {{"dim", "8"}, {"dropout", "0"}}, true},
};
enum { CASES = sizeof cases / sizeof *cases };

static int open_spec(void **state) {
    int code = run_open_folder(state);
    if (code == 0)
        write_file("spec.ini", "[sweep]\nexperiment = train\ntask = and:2\nlength = 6\nm = 40\n"
                               "steps = 20\nvalidation-samples = 100\ntest-samples = 100\n"
                               "to-end = yes\nreps = 1\nseed = 5\n");
    return code;
}

static wt_status take_metrics(void *user, const wt_record *record) {
    json_t **metrics = user;
    assert_null(*metrics); /* one cell */
    assert_false(record->failed);
    *metrics = json_loads(record->metrics, 0, NULL);
    assert_non_null(*metrics);
    return WT_OK;
}

static json_t *run_cell(wt_context *context, size_t i) {
    wt_store *store;
    json_t *metrics = NULL;
    char line[512], name[32];
    int used = snprintf(line, sizeof line, "sweep run spec.ini --store %zu.db -q --set model=%s", i,
                        cases[i].model);
    for (size_t w = 0; w < 3 && cases[i].words[w][0] != NULL; w++)
        used += snprintf(line + used, sizeof line - (size_t)used, " --set %s=%s",
                         cases[i].words[w][0], cases[i].words[w][1]);
    run_must(line);
    snprintf(name, sizeof name, "%zu.db", i);
    CHECK_OK(context, wt_store_open(context, path_of(name), WT_STORE_MODE_READ, &store));
    CHECK_OK(context, wt_store_walk(context, store, NULL, take_metrics, &metrics));
    wt_store_free(store);
    return metrics;
}

static json_t *run_command(size_t i) {
    char line[512];
    uint64_t seed = wt_trial_seed(&(wt_trial){.seed = 5});
    int used = snprintf(line, sizeof line,
                        "train --task and:2 --length 6 --samples 40 --steps 20 "
                        "--validation-samples 100 --test-samples 100 --to-end --json -q "
                        "--seed %" PRIu64 " --model %s",
                        seed, cases[i].model);
    for (size_t w = 0; w < 3 && cases[i].words[w][0] != NULL; w++)
        used += snprintf(line + used, sizeof line - (size_t)used, " --%s %s", cases[i].words[w][0],
                         cases[i].words[w][1]);
    return run_json(line);
}

static void cells_and_commands_agree(void **state) {
    static const char *const numbers[] = {"loss", "best_accuracy", "train_loss", "test_loss",
                                          "test_accuracy"};
    double before = NAN;
    for (size_t i = 0; i < CASES; i++) {
        json_t *cell = run_cell(*state, i), *command = run_command(i);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            if (run_member(cell, numbers[k]) != run_member(command, numbers[k]))
                fail_msg("case %zu: %s is %.17g in the cell, %.17g by the command", i, numbers[k],
                         run_member(cell, numbers[k]), run_member(command, numbers[k]));
        double loss = run_member(cell, "loss");
        if ((loss == before) != cases[i].same_as_before)
            fail_msg("case %zu: the loss is %.17g, before it %.17g", i, loss, before);
        before = loss;
        json_decref(cell);
        json_decref(command);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells_and_commands_agree)};
    return cmocka_run_group_tests(tests, open_spec, run_close_folder);
}
