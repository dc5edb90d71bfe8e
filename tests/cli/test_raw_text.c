/* Text of others on its way to the terminal: names of files and arrays, settings, answers of
 * programs. Whatever the command, no control character is among its words. */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "base/text.h"
#include "cli/sweep_cases.h"
#include "wattle/io.h"

/* Clears the screen, ends the line, turns letters round, and is no UTF-8 at its end. */
#define EVIL  "\x1b[2J\x07\xe2\x80\xae\xc2\x9b\xff"
#define SHOWN "\\x1b[2J\\x07\\xe2\\x80\\xae\\xc2\\x9b\\xff"
/* The same as UTF-8, for files that are refused otherwise. */
#define EVIL8  "\x1b[2J\x07\xe2\x80\xae\xc2\x9b"
#define SHOWN8 "\\x1b[2J\\x07\\xe2\\x80\\xae\\xc2\\x9b"

static void check_harmless(const char *line, const char *words) {
    char shown[RUN_WORDS * 128];
    for (const char *at = words; *at != '\0';) {
        size_t length = strcspn(at, "\n");
        snprintf(shown, sizeof shown, "%.*s", (int)length, at);
        char again[sizeof shown];
        wt_show(shown, again, sizeof again);
        if (strcmp(shown, again) != 0)
            fail_msg("wattle %s prints raw: %s", wt_quote(line, shown, sizeof shown), again);
        at += length + (at[length] == '\n');
    }
}

/* The text is among the words, spelled, and nothing raw is. */
static void check_spelled(const char *line, const char *spelled) {
    const run_result *result = run_in_folder(line);
    check_harmless(line, result->out);
    check_harmless(line, result->err);
    if (strstr(result->out, spelled) == NULL && strstr(result->err, spelled) == NULL)
        fail_msg("no '%s' in: %s%s", spelled, result->out, result->err);
}

static void words_of_the_command_line(void **state) {
    static const char *const lines[] = {
        EVIL,
        "fit --" EVIL,
        "fit x.npz --loss " EVIL,
        "fit x.npz --lambda " EVIL,
        "curve --target " EVIL,
        "train --task " EVIL " --length 8",
        "train --length 8 --ball " EVIL "=3",
        "search --task " EVIL,
        "construct --function " EVIL,
        "bound rfa --target " EVIL,
        "threshold --length 4 --samples " EVIL,
        "teacher --heads " EVIL,
        "draw --tokens " EVIL,
        "sweep " EVIL,
        "sweep experiments " EVIL,
        "reproduce --only " EVIL,
        "query --oracle cat --dim 2 --heads " EVIL,
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        check_spelled(lines[i], SHOWN);
}

static void names_of_files(void **state) {
    static const char *const lines[] = {
        "draw --target mean-power:2 --dim 2 --keys 2 --n 4 -o " EVIL ".npz",
        "teacher --dim 2 --heads 1 -o " EVIL ".safetensors",
        "info " EVIL ".npz",
        "info " EVIL ".npz " EVIL "-missing",
        "fit " EVIL ".npz --heads 3 -o " EVIL "-fit.safetensors",
        "predict " EVIL "-fit.safetensors " EVIL ".npz -o " EVIL ".npz",
        "compare " EVIL ".safetensors " EVIL ".safetensors",
        "inspect " EVIL ".safetensors",
        "bound rfa --data " EVIL ".npz --heads 3 --n 4",
        "curve " EVIL "-missing",
        "serve-layer " EVIL "-missing",
        "report " EVIL "-missing",
        "sweep status " EVIL "-missing",
        "sweep run spec.ini --store " EVIL ".db --set n=32 --set reps=1 --quiet",
        "sweep status " EVIL ".db", /* which has the command */
        "sweep merge " EVIL ".db --store " EVIL "-two.db",
        "report " EVIL ".db -o " EVIL ".html",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        check_spelled(lines[i], SHOWN);
}

/* Names and metadata are UTF-8, or the file is refused. */
static void names_in_files(void **state) {
    static const double values[] = {1, 2};
    const wt_tensor tensor = {
        .name = "\x1b[2J", .type = WT_TYPE_F64, .rank = 1, .shape = {2}, .values = values};
    const wt_metadata about[] = {
        {"\x1b]0;key\x07", "\u202evalue\x7f"}, {"kind", "\x1b[2J"}, {"wattle", "1"}};
    CHECK_OK(*state, wt_safetensors_write(*state, path_of("names"), &tensor, 1, about, 3));
    check_spelled("info names", "\\x1b]0;key\\x07: \\xe2\\x80\\xaevalue\\x7f");
    check_spelled("info names", "\\x1b[2J");
    check_spelled("predict names missing.npz", "\\x1b[2J");
    check_spelled("info spec.ini", "spec.ini");
}

static void settings_of_sweeps(void **state) {
    static const char *const texts[] = {
        "[sweep]\nexperiment = " EVIL8 "\n",
        "[sweep]\nexperiment = curve\ntarget = mean-power:2\nmodel = " EVIL8 "\n",
        "[sweep]\nexperiment = curve\n" EVIL8 " = 3\n",
        "[" EVIL8 "]\nexperiment = curve\n",
        "[sweep]\nexperiment = curve\ntarget = mean-power:2\nn = " EVIL8 "\n",
        "[sweep]\nexperiment = train\ntask = " EVIL8 "\nlength = 8\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_file("evil.ini", texts[i]);
        check_spelled("sweep run evil.ini --store no.db", SHOWN8);
    }
}

static void write_script(const char *name, const char *text) {
    write_file(name, text);
    assert_int_equal(chmod(path_of(name), 0755), 0);
}

static void words_of_programs(void **state) {
    (void)state;
    write_script("oracle", "#!/bin/sh\nread line\nprintf '\\033[2J\\n'\n");
    check_spelled("query --oracle ./oracle --dim 2", "'\\x1b[2J'");
    write_script("oracle", "#!/bin/sh\nprintf '[1,\"\\033[2J\\342\\200\\256\"]\\n'\n");
    check_spelled("query --oracle ./oracle --dim 2", "\\x1b[2J");
    write_script("oracle", "#!/bin/sh\nprintf '\\033[2J' >&2\nexit 3\n");
    check_spelled("query --oracle ./oracle --dim 2", "exit code 3 after 0 answers: \\x1b[2J");
    write_script("gnuplot", "#!/bin/sh\nprintf 'line 1: \\033[2J\\n' >&2\nexit 1\n");
    char variable[128];
    snprintf(variable, sizeof variable, "PATH=%s:/usr/bin:/bin", run_folder);
    const run_result *result =
        run_with("curve --dim 2 --keys 2 --heads 3 --n 4,8 --reps 2 --plot y.svg",
                 &(run_setting){.directory = run_folder, .variable = variable});
    CHECK_SAYS(result, 69, "line 1: \\x1b[2J");
    write_file("lines", "[[\"\x1b[2J\xe2\x80\xae\"]]\n\x1b[2J\n");
    check_spelled("serve-layer " TEST_DATA "/fixtures/layer.safetensors lines", "line 1");
    write_file("lines", "[\x1b[2J]\n");
    check_spelled("serve-layer " TEST_DATA "/fixtures/layer.safetensors lines", "no JSON");
}

/* Whatever the length, what is shown of a long text ends with a whole character. */
static void cuts_fall_between_characters(void **state) {
    (void)state;
    for (int lead = 1; lead <= 3; lead++) {
        char line[1024], text[600] = "";
        memset(text, 'x', (size_t)lead);
        for (size_t at = (size_t)lead; at + 3 < sizeof text; at += 3)
            memcpy(text + at, "\u20ac", 4);
        static const char *const starts[] = {"fit --", "curve --target ",
                                             "train --length 8 --ball ", "info ",
                                             "query --dim 2 --oracle echo${IFS}"};
        for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
            snprintf(line, sizeof line, "%s%s", starts[i], text);
            const run_result *result = run_in_folder(line);
            assert_true(result->code > 1);
            assert_non_null(strstr(result->err, "\u20ac"));
            if (strstr(result->err, "\\x") != NULL)
                fail_msg("half a character: %s", result->err);
        }
    }
}

/* Text of a store is no formula in the table that is made of it. */
static void exports_hold_no_formulas(void **state) {
    (void)state;
    run_must("sweep run spec.ini --store formulas.db --set n=32 --set reps=1 --quiet");
    execute("formulas.db", "UPDATE cell SET version = '=cmd|''/c calc''!A0', machine = '@a, b'");
    const run_result *result = run_in_folder("sweep export formulas.db");
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, ",'=cmd|'/c calc'!A0,\"'@a, b\","));
    assert_null(strstr(result->out, ",=cmd"));
}

/* JSON is data: text is in it as it was given, and its control characters in JSON's own way. */
static void json_keeps_the_text(void **state) {
    (void)state;
    run_must("draw --target mean-power:2 --dim 2 --keys 2 --n 4 -o \x1b.npz");
    const run_result *result = run_in_folder("info --json \x1b.npz");
    json_t *all = json_loads(result->out, 0, NULL);
    const char *path = json_string_value(
        json_object_get(json_array_get(json_object_get(all, "files"), 0), "path"));
    assert_string_equal(path, "\x1b.npz");
    json_decref(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_the_command_line),
        cmocka_unit_test(names_of_files),
        cmocka_unit_test(names_in_files),
        cmocka_unit_test(settings_of_sweeps),
        cmocka_unit_test(words_of_programs),
        cmocka_unit_test(cuts_fall_between_characters),
        cmocka_unit_test(exports_hold_no_formulas),
        cmocka_unit_test(json_keeps_the_text),
    };
    return cmocka_run_group_tests(tests, open_sweep, run_close_folder);
}
