/* `wattle sweep` as a user runs it: it resumes, spreads and joins without changing a bit, and tells
 * what is wrong. What ends a run is in test_sweep_ends.c. */
#define _GNU_SOURCE
#include "cli/sweep_cases.h"

/* ---- what is missing is done ------------------------------------------------------------- */

static void running_again_does_nothing(void **state) {
    wt_context *context = *state;
    whole(context);
    CHECK_PRINTS(run_in_folder("sweep run spec.ini --store whole.db"),
                 "done now               0\n");
    check_table(context, "whole.db", whole(context));
    CHECK_PRINTS(run_in_folder("sweep status whole.db"), "24 done, 0 failed");
}

static void workers_do_not_matter(void **state) {
    run_must("sweep run spec.ini --store four.db --workers 4");
    check_table(*state, "four.db", whole(*state));
}

static void shards_merge_to_the_whole(void **state) {
    run_must("sweep run spec.ini --store part-1.db --shard 1/3");
    const run_result *result =
        run_with("sweep run spec.ini --store part-2.db",
                 &(run_setting){.directory = run_folder,
                                .variable = "SLURM_ARRAY_TASK_ID=1",
                                .second_variable = "SLURM_ARRAY_TASK_COUNT=3"});
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->err, "shard 2/3"));
    run_must("sweep run spec.ini --store part-3.db --shard 3/3");
    CHECK_PRINTS(run_in_folder("sweep merge part-1.db part-2.db part-3.db --store all.db"),
                 "cells added            24\n");
    check_table(*state, "all.db", whole(*state));
    CHECK_PRINTS(run_in_folder("sweep merge part-2.db --store all.db"),
                 "cells added            0\n");
    check_table(*state, "all.db", whole(*state));
    CHECK_SAYS(run_in_folder("sweep merge all.db --store all.db"), 64, "all.db is read");
    CHECK_SAYS(run_in_folder("sweep merge all.db all.db"), 64, "into itself");
    CHECK_SAYS(run_in_folder("sweep merge all.db"), 64, "nothing to merge");
    CHECK_PRINTS(run_in_folder("sweep merge part-1.db part-2.db part-3.db"),
                 "store                  part-1.db\n");
    CHECK_SAYS(run_in_folder("sweep retry all part-1.db"), 64, "retry failed");
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store x.db --shard 4/3"), 64, "from 1 to N");
}

static void a_missing_n_comes_back_with_the_same_bits(void **state) {
    run_must("sweep run spec.ini --store holes.db");
    execute("holes.db", "DELETE FROM cell WHERE parameters LIKE '%\"n\":64,%'");
    CHECK_PRINTS(run_in_folder("sweep run spec.ini --store holes.db"),
                 "done now               8\n");
    check_table(*state, "holes.db", whole(*state));
}

static void a_widened_grid_adds_cells(void **state) {
    static table before, after;
    run_must("sweep run spec.ini --store wide.db --set n=32,64");
    read_table(*state, "wide.db", &before);
    CHECK_PRINTS(run_in_folder("sweep run spec.ini --store wide.db --set n=32:128:x2 --set reps=3"),
                 "done before            16\n");
    read_table(*state, "wide.db", &after);
    assert_int_equal(after.rows, 36);
    char *rest = NULL;
    for (char *row = strtok_r(before.text, "\n", &rest); row != NULL;
         row = strtok_r(NULL, "\n", &rest))
        assert_non_null(strstr(after.text, row));
}

/* A source that is none leaves no new store. */
static void sources_are_read_before_a_store_is_made(void **state) {
    whole(*state);
    CHECK_SAYS(run_in_folder("sweep merge whole.db none.db --store fresh.db"), 66, "none.db");
    CHECK_SAYS(run_in_folder("sweep merge whole.db spec.ini --store fresh.db"), 65, "spec.ini");
    assert_int_equal(access(path_of("fresh.db"), F_OK), -1);
}

/* A cell that one source has failed and the next done is added once. */
static void mended_cells_are_added_once(void **state) {
    whole(*state);
    const run_result *result = run_in_folder("sweep run spec.ini --store broken.db --mem 400K");
    assert_int_equal(result->code, 1);
    result = run_in_folder("sweep merge broken.db whole.db --store mended.db");
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "cells added            24\n"));
    assert_non_null(strstr(result->out, "cells known before     24\n"));
    assert_non_null(strstr(result->out, "failed, now done       24\n"));
    check_table(*state, "mended.db", whole(*state));
}

static void another_meaning_is_refused(void **state) {
    static table before;
    run_must("sweep run spec.ini --store meaning.db --set n=32");
    execute("meaning.db",
            "UPDATE about SET text = replace(text, 'curve 5', 'curve 0') WHERE kind = "
            "'experiment'");
    read_table(*state, "meaning.db", &before);
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store meaning.db"), 65,
               "another meaning of 'curve'");
    CHECK_SAYS(run_in_folder("sweep merge whole.db --store meaning.db"), 65,
               "another meaning of 'curve'");
    check_table(*state, "meaning.db", &before);
}

/* What `wattle sweep ACTION STORE` prints. */
static const char *say(const char *action, const char *store, const char *options) {
    char line[128];
    snprintf(line, sizeof line, "sweep %s %s%s", action, store, options);
    const run_result *result = run_in_folder(line);
    assert_int_equal(result->code, 0);
    return result->out;
}

/* 16 cells with an error of 0.75 that another machine found. */
static void both_sides_are_kept(const char *store) {
    json_error_t error;
    size_t i;
    json_t *one;
    json_t *said = json_loads(say("disputes", store, " --json"), 0, &error);
    json_t *disputes = json_object_get(said, "disputes");
    assert_int_equal(json_array_size(disputes), 16);
    json_array_foreach(disputes, i, one) {
        const json_t *kept = json_object_get(one, "kept"), *other = json_object_get(one, "other");
        assert_string_equal(json_string_value(json_object_get(other, "machine")), "another");
        assert_string_not_equal(json_string_value(json_object_get(kept, "machine")), "another");
        assert_true(json_real_value(
                        json_object_get(json_object_get(other, "metrics"), "test_error")) == 0.75);
        assert_true(json_real_value(
                        json_object_get(json_object_get(kept, "metrics"), "test_error")) != 0.75);
    }
    json_decref(said);
    assert_non_null(strstr(say("disputes", store, ""), "test_error"));
    assert_non_null(strstr(say("status", store, ""), "16 cells: wattle sweep disputes"));
}

static void a_merge_looks_at_the_numbers(void **state) {
    static table before;
    run_must("sweep run spec.ini --store first.db --set n=32,64");
    run_must("sweep run spec.ini --store second.db --set n=32,128"); /* 32 beside another n */
    read_table(*state, "first.db", &before);
    const run_result *result = run_in_folder("sweep merge second.db --store first.db");
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "cells added            8\n"));
    execute("second.db", "UPDATE cell SET metrics = json_set(metrics, '$.test_error', 0.75)");
    CHECK_SAYS(run_in_folder("sweep merge second.db --store first.db"), 65, "by the same program");
    execute("second.db", "UPDATE cell SET machine = 'another'");
    result = run_in_folder("sweep merge second.db --store first.db");
    assert_int_equal(result->code, 0);
    assert_non_null(
        strstr(result->err, "second.db: 16 cells differ from those of first.db by more than "));
    both_sides_are_kept("first.db");
    /* once more, and through a third store: the same evidence, once */
    run_must("sweep merge second.db --store first.db");
    run_must("sweep merge first.db --store third.db");
    both_sides_are_kept("first.db");
    both_sides_are_kept("third.db");
    execute("first.db", "DELETE FROM cell WHERE parameters LIKE '%\"n\":128,%'");
    check_table(*state, "first.db", &before);
}

/* ---- cells that fail --------------------------------------------------------------------- */

static void failures_are_kept_and_retried(void **state) {
    const run_result *result = run_in_folder("sweep run spec.ini --store failed.db --mem 400K");
    assert_int_equal(result->code, 1);
    assert_non_null(strstr(result->err, "24 cells failed"));
    CHECK_PRINTS(run_in_folder("sweep list failed.db --failed"), "a memory budget of");
    result =
        run_in_folder("sweep run spec.ini --store failed.db"); /* does not try again by itself */
    assert_int_equal(result->code, 1);
    CHECK_SAYS(run_in_folder("sweep retry failed failed.db --seed 7"), 64, "takes no --seed");
    CHECK_PRINTS(run_in_folder("sweep retry failed failed.db"), "done now               24\n");
    check_table(*state, "failed.db", whole(*state));
    CHECK_PRINTS(run_in_folder("sweep retry failed.db"), "done now               0\n");
}

static void the_rest_goes_on(void **state) {
    (void)state;
    /* one head has no kernel matrix of full rank, and the path no lambda to help */
    const run_result *result = run_in_folder(
        "sweep run spec.ini --store mixed.db --set lambda=1e-3,gcv --set heads=1 --set "
        "lambda-path=1e-30,1e-29 --json");
    assert_int_equal(result->code, 1);
    assert_non_null(strstr(result->out, "\"done\": 24,"));
    assert_non_null(strstr(result->out, "\"failed\": 24,"));
    CHECK_PRINTS(run_in_folder("sweep list mixed.db --failed --json"), "widen the path");
}

/* ---- bad input --------------------------------------------------------------------------- */

static void bad_stores_are_told(void **state) {
    (void)state;
    write_file("notes.db", "These are my notes, and no results of anything; they should stay.\n");
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store notes.db"), 65, "is no store of results");
    CHECK_SAYS(run_in_folder("sweep status notes.db"), 65, "is no store of results");
    CHECK_SAYS(run_in_folder("sweep status missing.db"), 66, "no such file");
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store no/such/folder.db"), 73,
               "cannot be written");
    run_must("sweep run spec.ini --store cut.db --set n=32");
    assert_int_equal(truncate(path_of("cut.db"), 5000), 0);
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store cut.db"), 65, "is damaged");
}

static void bad_specifications_are_told(void **state) {
    (void)state;
    static char long_line[400];
    int head = snprintf(long_line, sizeof long_line, "[sweep]\nn = ");
    memset(long_line + head, '1', sizeof long_line - 1 - (size_t)head);
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"[sweep]\nexperiment = curve\nhads = 3\n", "line 3: hads: 'curve' has no such parameter; "
                                                    "did you mean 'heads'?"},
        {"[sweep]\nexperiment = curve\ntarget = corr:1\nn = 3:2:1\n",
         "line 4: n: '3:2:1' is no grid"},
        {"[sweep]\nexperiment = curve\ntarget = corr:1\nn = 4,,8\n",
         "line 4: n: '4,,8' is no grid"},
        {"[sweep]\nexperiment = curve\ntarget = corr:1\nn = 0\n",
         "line 4: n: must be a whole number "
         "of 1 or more"},
        {long_line, "line 2: is longer than 198 characters"},
        {"experiment = curve\n", "line 1: 'experiment' stands before any section"},
        {"[swep]\nexperiment = curve\n", "line 2: unknown section [swep]"},
        {"# nothing\n", "has no section [sweep]"},
        {"[sweep]\nexperiment\n", "line 2: is neither a [section] nor 'key = value'"},
        {"[sweep]\nn = 4\nn = 8\n", "line 3: 'n' is given again, after line 2"},
        {"[sweep]\nn = 4\n  8\n", "line 3: 'n' is given again"},
        {"[sweep]\nn =\n", "line 2: 'n' has no value"},
        {"[sweep]\nn = 4\n", "'experiment' must be given: one of curve, recover"},
        {"[sweep]\nexperiment = curv\n", "line 2: experiment: 'curv' is none of curve, recover"},
        {"[sweep]\nexperiment = curve\n", "'target' must be given"},
        {"[sweep]\nexperiment = curve\ntarget = corr:1\nmodel = rfb\n",
         "line 4: model: 'rfb' is none of"},
        {"[sweep]\nexperiment = recover\nknown-heads = maybe\n", "neither yes nor no"},
        {"[sweep]\nexperiment = recover\nseed = 0:99999:1\nreps = 1000\n",
         "more than 1000000 cells"},
        {"[sweep]\nexperiment = curve\nt\xff = 1\n", "line 3: is not UTF-8 text"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file("bad.ini", bad[i].text);
        CHECK_SAYS(run_in_folder("sweep run bad.ini --store bad.db"), 78, bad[i].words);
        assert_int_not_equal(access(path_of("bad.db"), F_OK), 0);
    }
    CHECK_SAYS(run_in_folder("sweep run none.ini --store bad.db"), 66, "no such file");
    CHECK_SAYS(run_in_folder("sweep run spec.ini"), 64, "needs --store");
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store bad.db --set n"), 64,
               "not of the form key=grid");
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store bad.db --set n=x"), 64,
               "--set n: 'x' is no grid");
    /* What the experiment itself refuses is blamed on the option, or the line, it came from. */
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store bad.db --set model=rfb"), 64,
               "--set model: 'rfb' is none of");
    CHECK_SAYS(run_in_folder("sweep run spec.ini --store bad.db --set lambda=-1"), 64,
               "--set lambda: lambda must be 0 or more");
    CHECK_SAYS(run_in_folder("sweep rn spec.ini"), 64, "did you mean 'run'?");
    CHECK_SAYS(run_in_folder("sweep status"), 64, "write 'wattle sweep status STORE|FOLDER'");
}

/* ---- what is shown ----------------------------------------------------------------------- */

static void a_dry_run_changes_nothing(void **state) {
    (void)state;
    CHECK_PRINTS(run_in_folder("sweep run spec.ini --dry-run --store dry.db"),
                 "cells                  24 in 8 groups\n");
    assert_int_not_equal(access(path_of("dry.db"), F_OK), 0);
    CHECK_PRINTS(run_in_folder("sweep run spec.ini --dry-run --store whole.db --set reps=3"),
                 "to do                  12\n");
    CHECK_PRINTS(run_in_folder("sweep run spec.ini --dry-run --json"), "\"bytes\": ");
}

static void tables_are_exported(void **state) {
    whole(*state);
    const run_result *result = run_in_folder("sweep export whole.db --csv");
    CHECK_PRINTS(result, "hash,experiment,result_version,seed,state,activation,");
    size_t lines = 0;
    for (const char *at = result->out; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, 25);
    CHECK_PRINTS(run_in_folder("sweep export whole.db --json"), "\"test_error\": ");
    CHECK_PRINTS(run_in_folder("sweep export whole.db -o table.csv"), "");
    assert_int_equal(access(path_of("table.csv"), R_OK), 0);
    CHECK_SAYS(run_in_folder("sweep export whole.db --csv --json"), 64, "exclude each other");
    CHECK_PRINTS(run_in_folder("sweep experiments"), "samples-ratio");
    CHECK_SAYS(run_in_folder("sweep list whole.db --experiment curv"), 64,
               "--experiment: 'curv' is none of curve, recover");
    CHECK_SAYS(run_in_folder("sweep export whole.db --experiment curv"), 64,
               "'curv' is none of curve");
    CHECK_SAYS(run_in_folder("sweep experiments nothing"), 64, "no experiment 'nothing'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(running_again_does_nothing),
        cmocka_unit_test(workers_do_not_matter),
        cmocka_unit_test(shards_merge_to_the_whole),
        cmocka_unit_test(a_missing_n_comes_back_with_the_same_bits),
        cmocka_unit_test(a_widened_grid_adds_cells),
        cmocka_unit_test(sources_are_read_before_a_store_is_made),
        cmocka_unit_test(mended_cells_are_added_once),
        cmocka_unit_test(another_meaning_is_refused),
        cmocka_unit_test(a_merge_looks_at_the_numbers),
        cmocka_unit_test(failures_are_kept_and_retried),
        cmocka_unit_test(the_rest_goes_on),
        cmocka_unit_test(bad_stores_are_told),
        cmocka_unit_test(bad_specifications_are_told),
        cmocka_unit_test(a_dry_run_changes_nothing),
        cmocka_unit_test(tables_are_exported),
    };
    return cmocka_run_group_tests(tests, open_sweep, run_close_folder);
}
