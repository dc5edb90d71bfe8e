/* `wattle query` with the real binary as its own oracle, and with oracles that misbehave; `wattle
 * serve-layer` line by line. */
#define _GNU_SOURCE
#include <jansson.h>

#include "cli/run.h"
#include "layer/layers.h"
#include "wattle/layer.h"

static char found[64];

static int open_folder(void **state) {
    if (mkdtemp(run_folder) == NULL || check_open(state) != 0)
        return -1;
    snprintf(found, sizeof found, "%s/found.safetensors", run_folder);
    return 0;
}

static int close_folder(void **state) {
    unlink(found);
    return rmdir(run_folder) != 0 ? -1 : check_close(state);
}

static void save_teacher(wt_context *context, const char *name, size_t heads, size_t d, size_t p) {
    wt_layer *layer;
    char path[128];
    snprintf(path, sizeof path, "%s/%s", run_folder, name);
    CHECK_OK(context, make_teacher(context, heads, d, p, 2, 0, 11, &layer));
    CHECK_OK(context, wt_layer_save(context, layer, path));
    wt_layer_free(layer);
}

static void remove_file(const char *name) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", run_folder, name);
    assert_int_equal(unlink(path), 0);
}

static json_int_t count_of(const json_t *all, const char *key) {
    assert_true(json_is_integer(json_object_get(all, key)));
    return json_integer_value(json_object_get(all, key));
}

#define SERVE WATTLE_COMMAND "${IFS}serve-layer${IFS}"

/* The numbers go through text both ways, and come back to the last bit but rounding. */
static void one_head_is_recovered(void **state) {
    wt_layer *teacher, *layer;
    save_teacher(*state, "one.safetensors", 1, 5, 1);
    const run_result *result = run(run_line("query --oracle " SERVE "{tmp}/one.safetensors --dim 5 "
                                            "--json -o {tmp}/found.safetensors"));
    assert_int_equal(result->code, 0);
    assert_string_equal(result->err, "");
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    assert_true(json_is_true(json_object_get(all, "recovered")));
    assert_int_equal(count_of(all, "heads"), 1);
    assert_int_equal(count_of(all, "start_queries"), 5 * 5 + 5);
    assert_int_equal(count_of(all, "queries"), 5 * 5 + 5 + 8);
    assert_string_equal(json_string_value(json_object_get(all, "output")), found);
    json_decref(all);
    CHECK_OK(*state, wt_layer_load(*state, run_line("{tmp}/one.safetensors"), &teacher));
    CHECK_OK(*state, wt_layer_load(*state, found, &layer));
    for (size_t i = 0; i < 25; i++) /* 1e-9 is asked; entries are below 2 */
        CHECK_NEAR(layer->theta[i], teacher->theta[i], 1e-9);
    for (size_t i = 0; i < 5; i++)
        CHECK_NEAR(layer->w[i], teacher->w[i], 1e-9);
    wt_layer_free(teacher);
    wt_layer_free(layer);
    remove_file("one.safetensors");
}

static void two_heads_are_recovered(void **state) {
    (void)state;
    const run_result *result =
        run(run_line("query --dim 4 --oracle " SERVE TEST_DATA "/fixtures/layer.safetensors "
                     "-o {tmp}/found.safetensors"));
    CHECK_PRINTS(result, "2 heads, d = 4, p = 3");
    assert_non_null(strstr(result->out, "recovered              yes"));
    assert_non_null(strstr(result->out, "to polish"));
    assert_int_equal(access(found, F_OK), 0);
}

static void unchecked_is_not_called_recovered(void **state) {
    (void)state;
    const run_result *result =
        run("query --dim 4 --heads 1 --check 0 --json --oracle " SERVE TEST_DATA
            "/fixtures/layer.safetensors");
    assert_int_equal(result->code, 0);
    json_t *all = json_loads(result->out, 0, NULL);
    assert_true(json_is_null(json_object_get(all, "recovered")));
    assert_int_equal(count_of(all, "queries"), 4 * 4 + 4);
    json_decref(all);
}

static void a_miss_writes_no_file(void **state) {
    (void)state;
    unlink(found);
    const run_result *result = run(run_line("query --dim 4 --heads 1 --oracle " SERVE TEST_DATA
                                            "/fixtures/layer.safetensors "
                                            "-o {tmp}/found.safetensors"));
    CHECK_SAYS(result, 1, "1 head does not explain the answers");
    assert_non_null(strstr(result->out, "recovered              no"));
    assert_int_equal(access(found, F_OK), -1);
}

/* A layer of another form answers as it is, and is found from what it answers. */
static void a_layer_of_another_form_is_recovered(void **state) {
    (void)state;
    CHECK_PRINTS(run(run_line("teacher --heads 2 --dim 4 --bias --residual --norm layer -o "
                              "{tmp}/formed.safetensors")),
                 "formed.safetensors");
    const run_result *result =
        run(run_line("query --dim 4 --bias --residual --norm layer --json --oracle " SERVE
                     "{tmp}/formed.safetensors -o {tmp}/found.safetensors"));
    assert_int_equal(result->code, 0);
    json_t *all = json_loads(result->out, 0, NULL);
    assert_true(json_is_true(json_object_get(all, "recovered")));
    assert_int_equal(count_of(all, "heads"), 2);
    assert_int_equal(count_of(all, "start_queries"), 0);
    assert_string_equal(json_string_value(json_object_get(all, "form")),
                        "bias, residual, layer norm");
    json_decref(all);
    CHECK_PRINTS(run(run_line("compare {tmp}/formed.safetensors {tmp}/found.safetensors")), "e-1");
    result = run(run_line("query --dim 4 --bias --residual --norm layer --heads 2 --questions 30 "
                          "--oracle " SERVE "{tmp}/formed.safetensors"));
    CHECK_SAYS(result, 1, "too few for 2 heads");
    assert_non_null(strstr(result->out, "recovered              no"));
    remove_file("formed.safetensors");
}

/* What `query` says of an oracle that is this script of a shell, for words are parted by spaces. */
static const run_result *run_oracle(const char *script, int timeout) {
    char path[128], line[256];
    snprintf(path, sizeof path, "%s/oracle.sh", run_folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", script);
    assert_int_equal(fclose(file), 0);
    snprintf(line, sizeof line,
             "query --dim 3 --timeout %d --oracle exec${IFS}sh${IFS}{tmp}/oracle.sh -o "
             "{tmp}/found.safetensors",
             timeout);
    const run_result *result = run(run_line(line));
    assert_string_equal(result->out, "");
    assert_int_equal(access(found, F_OK), -1);
    unlink(path);
    return result;
}

static void bad_oracles_get_a_sentence(void **state) {
    (void)state;
    static const struct {
        const char *script, *words;
    } cases[] = {
        {"exit 3", "ended with exit code 3 after 0 answers: it says nothing"},
        {"echo no disk >&2; exit 4", "exit code 4 after 0 answers: no disk"},
        {"read a; echo '[1,2]'; read a; exit 0", "exit code 0 after 1 answer:"},
        {"read a; echo '[1,2]'; read a; kill -9 $$", "died of signal 9 after 1 answer"},
        {"read a; echo '[1,2]'; exec >&-; exec sleep 1000", "closed its output after 1 answer"},
        {"while read a; do echo rubbish; done", "answer 1 is no list of numbers"},
        {"while read a; do echo; done", "answer 1 is no list of numbers"},
        {"while read a; do echo 3; done", "answer 1 is no list of numbers"},
        {"while read a; do echo '{}'; done", "no list"},
        {"while read a; do echo '[1,null]'; done", "item 1 of the list is no number"},
        {"while read a; do echo '[1,NaN]'; done", "answer 1 is no list of numbers"},
        {"while read a; do echo '[1e999]'; done", "answer 1 is no list of numbers"},
        {"while read a; do echo '[]'; done", "has no number"},
        {"read a; echo '[1,2]'; while read a; do echo '[1]'; done", "1 number, not 2"},
        {"printf '\\033[31m\\n'", "\\x1b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_SAYS(run_oracle(cases[i].script, 100000), 69, cases[i].words);
    CHECK_SAYS(run("query --dim 3 --oracle wattle-no-such-program"), 69, "exit code 127");
    CHECK_SAYS(run("query --dim 3 --oracle " SERVE TEST_DATA "/fixtures/layer.safetensors"), 69,
               "row 0 has 3 numbers, not 4");
}

/* A slow machine may not answer the first question in time either: it gets more. */
static void silent_oracles_are_given_up(void **state) {
    (void)state;
    CHECK_SAYS(run_oracle("exec <&-; exec sleep 1000", 1), 69,
               "no answer to question 1 within 1 s");
    CHECK_SAYS(run_oracle("sleep 1000 & wait", 1), 69, "no answer to question 1 within 1 s");
    for (int timeout = 1; timeout < 500; timeout *= 2) {
        const run_result *result = run_oracle("read a; echo '[1,2]'; exec sleep 1000", timeout);
        CHECK_SAYS(result, 69, "no answer to question ");
        if (strstr(result->err, "to question 2 within ") != NULL)
            return;
    }
    fail_msg("the oracle never answered");
}

/* An oracle that answers the d^2 + d questions of one head and no more: what was found was not
 * checked when the time is over, which grows until a machine under load comes so far. */
static void an_unchecked_layer_is_told(void **state) {
    save_teacher(*state, "one.safetensors", 1, 3, 1);
    for (int seconds = 1; seconds < 100; seconds *= 2) {
        char line[512];
        snprintf(line, sizeof line,
                 "query --dim 3 --heads 1 --time %d --oracle sed${IFS}-u${IFS}12q|" SERVE
                 "{tmp}/one.safetensors;sleep${IFS}1000 -o {tmp}/found.safetensors",
                 seconds);
        const run_result *result = run(run_line(line));
        assert_int_not_equal(result->code, 0);
        assert_non_null(strstr(result->err, "the time is over"));
        assert_null(strstr(result->err, "relative error"));
        assert_int_equal(access(found, F_OK), -1);
        if (strstr(result->err, "1 head was not checked by fresh questions") != NULL) {
            remove_file("one.safetensors");
            return;
        }
    }
    fail_msg("the oracle never answered");
}

static void bad_options_are_refused(void **state) {
    (void)state;
    /* an oracle that would leave a file if it were started */
    CHECK_SAYS(run(run_line("query --dim 4 --oracle touch${IFS}{tmp}/asked -o {tmp}/no/l")), 73,
               "cannot be created");
    assert_int_equal(access(run_line("{tmp}/asked"), F_OK), -1);
    CHECK_SAYS(run("query --dim 3"), 64, "--oracle");
    CHECK_SAYS(run("query --oracle cat"), 64, "--dim");
    CHECK_SAYS(run("query --oracle cat --dim 3 --heads 0"), 64, "'0' is neither auto nor 1 to 256");
    CHECK_SAYS(run("query --oracle cat --dim 3 --heads 999"), 64, "'999'");
    CHECK_SAYS(run("query --oracle cat --dim 3 --timeout 0"), 64, "--timeout");
    CHECK_SAYS(run("query --oracle " SERVE TEST_DATA "/fixtures/layer.safetensors --dim 4 "
                   "--heads 2 --check 0"),
               64, "checks");
    CHECK_SAYS(run("query --oracle cat --dim 3 more"), 64, "more");
}

/* Answers are those of the layer, to the last digit. */
static void a_layer_answers_lines(void **state) {
    static const double x[] = {0, 0, 0, 1e-3, 1, 2, 3, 4, -1, 0.5, 0, 0};
    double y[9];
    wt_layer *layer;
    const run_result *result = run("serve-layer " TEST_DATA "/fixtures/layer.safetensors " TEST_DATA
                                   "/fixtures/questions.txt");
    CHECK_PRINTS(result, "\n");
    CHECK_OK(*state, wt_layer_load(*state, TEST_DATA "/fixtures/layer.safetensors", &layer));
    CHECK_OK(*state, wt_layer_forward(*state, layer, 1, 3, x, y));
    const char *third = strchr(strchr(result->out, '\n') + 1, '\n') + 1;
    char wanted[256];
    snprintf(wanted, sizeof wanted, "[%.17g,%.17g,%.17g]\n", y[6], y[7], y[8]);
    assert_string_equal(third, wanted);
    wt_layer_free(layer);
}

/* A file with these bytes is served; the sentence must hold the words. */
static void serve_and_fail(const char *bytes, const char *words) {
    char path[128];
    snprintf(path, sizeof path, "%s/lines", run_folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(bytes, file);
    assert_int_equal(fclose(file), 0);
    CHECK_SAYS(run(run_line("serve-layer " TEST_DATA "/fixtures/layer.safetensors {tmp}/lines")),
               65, words);
    unlink(path);
}

static void bad_lines_are_refused(void **state) {
    (void)state;
    serve_and_fail("[[1,0,0,0]]\nrubbish\n", "line 2: no JSON");
    serve_and_fail("\n", "line 1: no JSON");
    serve_and_fail("[]", "line 1: a matrix without rows");
    serve_and_fail("{\"x\": 1}", "no list");
    serve_and_fail("[1,2,3,4]", "row 0 is no list");
    serve_and_fail("[[1,2,3,4],[1,2,3]]", "row 1 has 3 numbers, not 4");
    serve_and_fail("[[1,2,3,true]]", "item 3 of row 0 is no number");
    serve_and_fail("[[1,2,3,4]] [[1,2,3,4]]\n", "line 1: no JSON");
    serve_and_fail("[[1,2,3,1e400]]\n", "line 1: no JSON");
    serve_and_fail("[[0,0,0,1]]\n[[1e200,0,0,0],[1e200,1e200,0,0]]\n",
                   "line 2: number 0 of the answer is not finite");
    CHECK_SAYS(run("serve-layer"), 64, "needs LAYER");
    CHECK_SAYS(run("serve-layer /tmp/wattle-no-such-file"), 66, "/tmp/wattle-no-such-file");
    CHECK_SAYS(run("serve-layer " TEST_DATA "/fixtures/layer.safetensors /tmp/wattle-no-such-file"),
               66, "/tmp/wattle-no-such-file");
    CHECK_SAYS(run("serve-layer " TEST_DATA "/fixtures/layer.safetensors /tmp"), 74, "directory");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_head_is_recovered),
        cmocka_unit_test(two_heads_are_recovered),
        cmocka_unit_test(a_layer_of_another_form_is_recovered),
        cmocka_unit_test(unchecked_is_not_called_recovered),
        cmocka_unit_test(a_miss_writes_no_file),
        cmocka_unit_test(bad_oracles_get_a_sentence),
        cmocka_unit_test(silent_oracles_are_given_up),
        cmocka_unit_test(an_unchecked_layer_is_told),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(a_layer_answers_lines),
        cmocka_unit_test(bad_lines_are_refused),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
