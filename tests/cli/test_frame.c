/* The real binary: help, version, wrong words, exit codes, JSON. */
#define _GNU_SOURCE
#include <jansson.h>

#include "cli/run.h"

static void help_lists_and_explains(void **state) {
    (void)state;
    CHECK_PRINTS(run(""), "usage: wattle COMMAND");
    CHECK_PRINTS(run("--help"), "usage: wattle COMMAND");
    CHECK_PRINTS(run("-h"), "commands:");
    CHECK_PRINTS(run("help"), "explain a command");
    CHECK_PRINTS(run("help help"), "usage: wattle help [options] [COMMAND]");
    CHECK_PRINTS(run("help --help"), "usage: wattle help [options] [COMMAND]");
    CHECK_PRINTS(run("--help help"), "usage: wattle help [options] [COMMAND]");
    CHECK_PRINTS(run("help -- help"), "usage: wattle help [options] [COMMAND]");
    CHECK_PRINTS(run("help --format man help"), ".TH WATTLE-HELP 1");
    CHECK_PRINTS(run("help --format markdown"), "## wattle help");
}

static void every_command_has_all_its_words(void **state) {
    (void)state;
    const run_result *result = run("help --json");
    assert_int_equal(result->code, 0);
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(all);
    json_t *commands = json_object_get(all, "commands");
    assert_true(json_array_size(commands) >= 1);
    size_t i;
    json_t *command;
    json_array_foreach(commands, i, command) {
        char line[80];
        const char *name = json_string_value(json_object_get(command, "name"));
        const char *summary = json_string_value(json_object_get(command, "summary"));
        assert_true(summary[0] != '\0' && summary[strlen(summary) - 1] != '.');
        assert_true(*json_string_value(json_object_get(command, "description")) != '\0');
        assert_true(*json_string_value(json_object_get(command, "examples")) != '\0');
        snprintf(line, sizeof line, "help %s", name);
        CHECK_PRINTS(run(line), summary);
        snprintf(line, sizeof line, "help --json %s", name);
        json_t *alone = json_loads(run(line)->out, JSON_REJECT_DUPLICATES, NULL);
        assert_true(json_equal(alone, command));
        json_decref(alone);
    }
    json_decref(all);
}

static void version_says_what_is_built_in(void **state) {
    (void)state;
    CHECK_PRINTS(run("--version"), "built in: OpenBLAS");
    json_t *version = json_loads(run("--version --json")->out, JSON_REJECT_DUPLICATES, NULL);
    assert_string_equal(json_string_value(json_object_get(version, "version")), wt_version());
    json_decref(version);
    CHECK_SAYS(run("--version please"), 64, "'please'");
}

static void wrong_words_get_the_nearest(void **state) {
    (void)state;
    CHECK_SAYS(run("hlep"), 64, "unknown command 'hlep'; did you mean 'help'?");
    CHECK_SAYS(run("xyzzyplugh"), 64, "'wattle help' lists them");
    CHECK_SAYS(run("help hep"), 64, "did you mean 'help'?");
    CHECK_SAYS(run("help --sed 1"), 64, "unknown option --sed; did you mean --seed?");
    CHECK_SAYS(run("help --zzzzzzzz"), 64, "unknown option --zzzzzzzz; see 'wattle help help'");
    CHECK_SAYS(run("help -x"), 64, "unknown option -x");
    CHECK_SAYS(run("help one two"), 64, "'two' is one operand too many");
    CHECK_SAYS(run("--quiet help"), 64, "'--quiet' comes before any command");
    CHECK_SAYS(run("help --threads 0"), 64, "--threads: '0' is not a whole number of 1 or more");
    CHECK_SAYS(run("help --threads 5000"), 64, "--threads: at most 1024");
    CHECK_SAYS(run("help --completion csh"), 64, "'csh' is none of bash|zsh|fish");
    CHECK_SAYS(run("help --completion bash help"), 64, "no COMMAND");
}

/* What shells are told, which print it after the words of a line up to the cursor. */
static void offers_fit_the_place(void **state) {
    (void)state;
    static const struct {
        const char *words, *offers; /* names alone */
    } cases[] = {{"hel", "help "},
                 {"help --format m", "man markdown "},
                 {"help --format=m", "--format=man --format=markdown "},
                 {"help --format = m", "man markdown "},
                 {"help --format =", "text man markdown "},
                 {"help --form", "--format "},
                 {"help scor", "score "},
                 {"help --seed 1 scor", "score "},
                 {"sweep r", "run retry "},
                 {"sweep run ''", "files "},
                 {"sweep run --store ''", "files "},
                 {"fit d", "files "},
                 {"fit --n ''", ""},
                 {"draw ''", ""},
                 {"nothing ''", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[128], names[128] = "";
        snprintf(line, sizeof line, "--complete %s", cases[i].words);
        const run_result *result = run(line);
        assert_int_equal(result->code, 0);
        for (const char *at = result->out; *at != '\0'; at += strcspn(at, "\n") + 1) {
            strncat(names, at, strcspn(at, "\t\n"));
            strcat(names, " ");
        }
        assert_string_equal(names, cases[i].offers);
    }
}

static void errors_are_valid_json(void **state) {
    (void)state;
    static const char *const lines[] = {
        "hlep --json", "help --json --sed 1",    "help --json zzzz",
        "--json",      "help --seed 1.5 --json", "--version --json x"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        const run_result *result = run(lines[i]);
        assert_int_equal(result->code, 64);
        assert_true(run_is_sentence(result->err));
        json_t *error = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
        const char *sentence = json_string_value(json_object_get(error, "error"));
        assert_non_null(sentence);
        assert_non_null(strstr(result->err, sentence));
        assert_int_equal(json_integer_value(json_object_get(error, "exit")), 64);
        json_decref(error);
    }
    /* after -- it is an operand, which is then one too many */
    assert_string_equal(run("help help -- --json")->out, "");
}

static void unwritable_output_is_an_error(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    static const char *const lines[] = {"help", "help --json", "--version",
                                        "help --format markdown", "help --completion zsh"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK_SAYS(run_with(lines[i], &(run_setting){.stdout_path = "/dev/full"}), 74,
                   "standard output could not be written");
}

static void a_reader_that_leaves_is_no_error(void **state) {
    (void)state;
    /* the reader is gone before the writer starts: the signal ends it without a word */
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    char path[64];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    const run_result *result = run_with("help", &(run_setting){.stdout_path = path});
    close(ends[1]);
    assert_int_equal(result->signal, SIGPIPE);
    assert_string_equal(result->err, "");
}

static void color_is_for_terminals_or_by_order(void **state) {
    (void)state;
    assert_null(strchr(run("help")->out, '\033'));
    assert_non_null(strstr(run("help --color always")->out, "\033[1mcommands:\033[0m"));
    assert_null(strchr(run("help --color never")->out, '\033'));
    assert_non_null(strstr(run("help --color=always zzzz")->err, "\033[1;31mwattle:\033[0m "));
    CHECK_SAYS(run("help --color blue"), 64, "'blue' is none of auto|always|never");
    CHECK_SAYS(run("help --color auto|always"), 64, "is none of");
}

static void verbose_tells_time_and_memory(void **state) {
    (void)state;
    const run_result *result = run("help --verbose");
    assert_int_equal(result->code, 0);
    assert_true(run_is_sentence(result->err));
    assert_non_null(strstr(result->err, "took "));
    assert_non_null(strstr(result->err, "held at most "));
    CHECK_PRINTS(run("help --verbose --quiet"), "commands:");
}

static void the_budget_reaches_the_context(void **state) {
    (void)state;
    CHECK_PRINTS(run("help --mem 4G"), "commands:");
    CHECK_SAYS(run("help --mem 0.5"), 64, "--mem: '0.5' is not a size");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_lists_and_explains),
        cmocka_unit_test(every_command_has_all_its_words),
        cmocka_unit_test(version_says_what_is_built_in),
        cmocka_unit_test(wrong_words_get_the_nearest),
        cmocka_unit_test(offers_fit_the_place),
        cmocka_unit_test(errors_are_valid_json),
        cmocka_unit_test(unwritable_output_is_an_error),
        cmocka_unit_test(a_reader_that_leaves_is_no_error),
        cmocka_unit_test(color_is_for_terminals_or_by_order),
        cmocka_unit_test(verbose_tells_time_and_memory),
        cmocka_unit_test(the_budget_reaches_the_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
