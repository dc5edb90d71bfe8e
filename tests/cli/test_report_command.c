/* `wattle report` and `wattle reproduce` as a user runs them. */
#define _GNU_SOURCE
#include "cli/sweep_cases.h"

static json_t *json_of(const run_result *result) {
    json_error_t error;
    json_t *object = json_loads(result->out, 0, &error);
    if (result->code != 0 || object == NULL)
        fail_msg("exit %d: %s%s", result->code, result->out, result->err);
    return object;
}

/* The file, whose length goes to *bytes; to be freed. */
static char *slurp(const char *name, size_t *bytes) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", run_folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*bytes + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *bytes, file), *bytes);
    fclose(file);
    text[*bytes] = '\0';
    return text;
}

static void a_store_becomes_a_page(void **state) {
    (void)state;
    const run_result *result = run_in_folder("report " TEST_DATA "/fixtures/sweep.db -o page.html");
    CHECK_PRINTS(result, "page.html: ");
    assert_null(strstr(result->out, "not measured")); /* no claim is about it */
    size_t bytes, csv_bytes;
    char *page = slurp("page.html", &bytes),
         *csv = slurp("page-figures/curve-samples.csv", &csv_bytes);
    assert_non_null(strstr(page, "<h1>"));
    assert_int_equal(strncmp(csv, "target,series,n,test_error,low,high,cells\n", 42), 0);
    free(page);
    free(csv);
}

/* Signs as in tests/cli/test_minilm.c. */
static void models_have_their_diagonals(void **state) {
    (void)state;
    size_t bytes;
    run_must("report " TEST_DATA "/fixtures/sweep.db -o models.html --checkpoint " TEST_DATA
             "/fixtures/minilm.safetensors --checkpoint " TEST_DATA "/fixtures/layer.safetensors");
    char *page = slurp("models.html", &bytes);
    assert_non_null(strstr(page, "<h3>minilm.safetensors</h3>"));
    assert_non_null(strstr(page, "<h3>layer.safetensors</h3>"));
    assert_non_null(strstr(page, "Above 0 in 1 of 3 heads"));
    assert_non_null(strstr(page, " --checkpoint "));
    free(page);
    CHECK_SAYS(
        run_in_folder("report " TEST_DATA "/fixtures/sweep.db -o no.html --checkpoint no.st"), 66,
        "no.st");
    CHECK_SAYS(run_in_folder("info no.html"), 66, "no.html"); /* and no page */
}

static void bad_stores_are_told(void **state) {
    (void)state;
    CHECK_SAYS(run_in_folder("report none.db"), 66, "none.db");
    CHECK_SAYS(run_in_folder("report " TEST_DATA "/fixtures/sweep.ini"), 65, "sweep.ini");
    CHECK_SAYS(run_in_folder("report " TEST_DATA "/fixtures/sweep.db -o none/page.html"), 73,
               "none");
    CHECK_SAYS(run_in_folder("report"), 64, "report");
}

/* A letter of a cell's parameters is another: the store opens, and the sentence names it. */
static void damaged_cells_are_told_with_their_file(void **state) {
    (void)state;
    static const char mark[] = "{\"activation\"";
    char path[256];
    FILE *file = fopen(TEST_DATA "/fixtures/sweep.db", "rb");
    assert_non_null(file);
    static char text[1 << 16];
    size_t bytes = fread(text, 1, sizeof text, file);
    fclose(file);
    char *found = memmem(text, bytes, mark, sizeof mark - 1);
    assert_true(bytes < sizeof text && found != NULL);
    *found = '[';
    snprintf(path, sizeof path, "%s/bad.db", run_folder);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
    CHECK_SAYS(run_in_folder("report bad.db -o page.html"), 65, "bad.db: is damaged: cell ");
    CHECK_SAYS(run_in_folder("sweep export bad.db"), 65, "bad.db: is damaged: the parameters");
}

/* The page of a run: one command, as it was given, and figures that cite their own sweeps alone. */
static void commands_are_those_that_were_run(void **state) {
    (void)state;
    json_decref(
        json_of(run_in_folder("reproduce --scale tiny --only rfa,recover -o two --json --quiet")));
    size_t bytes;
    char *page = slurp("two/report.html", &bytes);
    const char *command =
        strstr(page, "<pre>wattle reproduce --scale tiny --only rfa,recover --seed ");
    assert_non_null(command);
    command = strchr(command, '\n');
    assert_non_null(command);
    assert_int_equal(strncmp(command - 7, " -o two\n</pre>", 14), 0);
    /* sweeps 1 to 4 are curves, 5 and 6 random layers and hard instances */
    const char *figure = strstr(page, "<figure id=\"parity-found\"");
    assert_non_null(figure);
    const char *end = strstr(figure, "</figure>");
    const char *cited = strstr(figure, "sweep-6.ini");
    assert_true(cited != NULL && cited < end);
    assert_true(memmem(figure, (size_t)(end - figure), "sweep-5.ini", 11) == NULL);
    /* on paper, where the table is shut, the page says where its numbers are */
    cited = strstr(figure, "<div class=\"paper\">");
    assert_true(cited != NULL && cited < end);
    assert_true(strstr(cited, "report-figures/parity-found.csv") < end);
    free(page);
}

/* From nothing to verdicts; again, nothing is left to do and the page is the same. */
static void reproduce_runs_and_resumes(void **state) {
    (void)state;
    json_t *first =
        json_of(run_in_folder("reproduce --scale tiny --only recover -o all --json --quiet"));
    assert_int_equal(json_integer_value(json_object_get(first, "done_before")), 0);
    assert_int_equal(json_integer_value(json_object_get(first, "failed")), 0);
    json_int_t done = json_integer_value(json_object_get(first, "done"));
    assert_int_equal(done, json_integer_value(json_object_get(first, "cells")));
    assert_true(done > 0);
    size_t bytes, again_bytes, claims = 0, measured = 0, i;
    json_t *claim;
    json_array_foreach(json_object_get(first, "claims"), i, claim) {
        const char *verdict = json_string_value(json_object_get(claim, "verdict"));
        const char *id = json_string_value(json_object_get(claim, "claim"));
        claims++;
        measured += strcmp(verdict, "not measured") != 0;
        if (id[0] == '1')
            assert_string_equal(verdict, "not measured");
    }
    assert_int_equal(claims, 13);
    assert_true(measured >= 2);
    char *page = slurp("all/report.html", &bytes);
    json_t *second =
        json_of(run_in_folder("reproduce --scale tiny --only recover -o all --json --quiet"));
    assert_int_equal(json_integer_value(json_object_get(second, "done")), 0);
    assert_int_equal(json_integer_value(json_object_get(second, "done_before")), done);
    char *again = slurp("all/report.html", &again_bytes);
    assert_int_equal(bytes, again_bytes);
    assert_memory_equal(page, again, bytes);
    free(page);
    free(again);
    json_decref(first);
    json_decref(second);
}

/* Any seed will do; a small one is for exploring, which is said, and gives numbers without
 * verdicts.
 */
static void seeds_for_exploring_decide_nothing(void **state) {
    (void)state;
    for (int small = 0; small < 2; small++) {
        const run_result *result = run_in_folder(
            small ? "reproduce --scale tiny --only recover --seed 7 -o small --json"
                  : "reproduce --scale tiny --only recover --seed 7000 -o large --json");
        assert_true((strstr(result->err, "seed 7 is for exploring") != NULL) == (small == 1));
        json_t *object = json_of(result), *claim, *part;
        size_t i, k, explored = 0, measured = 0;
        json_array_foreach(json_object_get(object, "claims"), i, claim) {
            json_array_foreach(json_object_get(claim, "parts"), k, part) {
                const char *verdict = json_string_value(json_object_get(part, "verdict"));
                explored += strcmp(verdict, "explored") == 0;
                measured += strcmp(verdict, "not measured") != 0;
                assert_non_null(json_object_get(json_object_get(part, "rival"), "verdict"));
            }
        }
        assert_true(measured >= 2 && explored == (small ? measured : 0));
        assert_true(run_member(object, "rules") >= 2);
        assert_int_equal(run_member(object, "seed"), small ? 7 : 7000);
        assert_int_equal(run_member(object, "explored_cells") > 0, small);
        json_decref(object);
    }
}

/* Claims would pool the cells of two scales: the folder of one is refused to another, and
 * nothing changes. */
static void a_folder_holds_one_scale(void **state) {
    (void)state;
    size_t bytes, again_bytes;
    run_must("reproduce --scale tiny --only recover -o one --quiet");
    char *before = slurp("one/results.db", &bytes);
    CHECK_SAYS(run_in_folder("reproduce --scale quick --only recover -o one --quiet"), 64,
               "one holds scale tiny: give scale quick a folder of its own");
    char *after = slurp("one/results.db", &again_bytes);
    assert_int_equal(bytes, again_bytes);
    assert_memory_equal(before, after, bytes);
    free(before);
    free(after);
    run_must(
        "reproduce --scale tiny --only recover,sparse -o one --quiet"); /* lines may be added */
}

/* Ctrl-C while layers are recovered: what is done is kept, exit 75, and the sentence counts it.
 * A run that is over before the signal comes starts afresh. */
static void an_interrupted_reproduction_keeps_its_cells(void **state) {
    (void)state;
    char said[RUN_BYTES];
    int err[2], how = 0;
    for (int tries = 0; tries < 20 && !(WIFEXITED(how) && WEXITSTATUS(how) == 75); tries++) {
        unlink(path_of("stopped/results.db"));
        assert_int_equal(pipe(err), 0);
        pid_t child =
            run_start("reproduce --scale quick --only recover -o stopped --quiet", err[1]);
        close(err[1]);
        RUN_UNTIL(child, cells_in("stopped/results.db") > 0);
        how = run_end(child, SIGINT);
        run_read(err[0], said);
    }
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 75);
    size_t cells = 0;
    assert_int_equal(sscanf(said, "wattle: interrupted after %zu cells", &cells), 1);
    json_t *status = json_of(run_in_folder("sweep list stopped/results.db --json"));
    assert_int_equal(json_array_size(json_object_get(status, "cells")), cells);
    json_decref(status);
}

/* All sweeps of all scales are such that the laboratory takes them. */
static void every_scale_can_be_planned(void **state) {
    (void)state;
    static const char *const scales[] = {"tiny", "quick", "paper"};
    for (size_t s = 0; s < 3; s++) {
        char line[128];
        snprintf(line, sizeof line, "reproduce --scale %s --dry-run --json", scales[s]);
        json_t *object = json_of(run_in_folder(line)), *sweep;
        size_t i;
        assert_true(json_array_size(json_object_get(object, "sweeps")) >= 3);
        json_array_foreach(json_object_get(object, "sweeps"), i, sweep) {
            assert_true(json_integer_value(json_object_get(sweep, "cells")) > 0);
            assert_true(run_member(sweep, "seconds") > 0);
        }
        json_decref(object);
    }
    CHECK_PRINTS(run_in_folder("reproduce --dry-run --only rfa"), "learning curves");
}

static void wrong_words_are_told(void **state) {
    (void)state;
    CHECK_SAYS(run_in_folder("reproduce"), 64, "needs --output");
    CHECK_SAYS(run_in_folder("reproduce --only rfa,rfb -o all"), 64,
               "'rfb' is none of rfa, recover");
    CHECK_SAYS(run_in_folder("reproduce --scale tiny --seed 9223372036854775808 -o all"), 64,
               "the seed must be below 2^63");
    CHECK_SAYS(run_in_folder("reproduce --scale huge -o all"), 64, "huge");
    CHECK_SAYS(run_in_folder("reproduce --scale tiny --only recover -o none/all"), 73, "none/all");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_becomes_a_page),
        cmocka_unit_test(models_have_their_diagonals),
        cmocka_unit_test(bad_stores_are_told),
        cmocka_unit_test(damaged_cells_are_told_with_their_file),
        cmocka_unit_test(commands_are_those_that_were_run),
        cmocka_unit_test(reproduce_runs_and_resumes),
        cmocka_unit_test(seeds_for_exploring_decide_nothing),
        cmocka_unit_test(a_folder_holds_one_scale),
        cmocka_unit_test(an_interrupted_reproduction_keeps_its_cells),
        cmocka_unit_test(every_scale_can_be_planned),
        cmocka_unit_test(wrong_words_are_told),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
