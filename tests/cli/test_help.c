/* Help in all dresses for a command with an option of every sort and awkward words. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdlib.h>

#include "check.h"
#include "help.h"

static const cli_option options[] = {
    {"data", 'd', CLI_INPUT, 0, "FILE", NULL, "What to read: it's 'quoted' [so]."},
    {"kind", 0, CLI_CHOICE, 0, "relu|softmax", "relu", "A\\B choice."},
    {"count", 0, CLI_COUNT, 0, "N", "0", "How many."},
};
static const cli_command awkward = {
    .name = "awkward",
    .summary = "try -- awkward: words",
    .operands = "linalg|io",
    .description = "First.\n\n.Second starts with a point.\n'And third with a quote.",
    .examples = "wattle awkward\nwattle awkward --kind relu",
    .options = options,
    .option_count = 3,
};

typedef void (*writer)(FILE *out, const cli_command *command);
static char *written(writer write, const cli_command *command) {
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    write(out, command);
    fclose(out);
    return text;
}

static void check_written(writer write, const cli_command *command, const char *const *wanted) {
    char *text = written(write, command);
    for (; *wanted != NULL; wanted++)
        if (strstr(text, *wanted) == NULL)
            fail_msg("no '%s' in: %s", *wanted, text);
    free(text);
}

static void the_man_page_escapes(void **state) {
    (void)state;
    check_written(cli_write_man, &awkward,
                  (const char *const[]){".TH WATTLE-AWKWARD 1 \"",
                                        "wattle\\-awkward \\- try \\-\\- awkward: words\n",
                                        "\nFirst.\n.PP\n\\&.Second starts", "\n\\&'And third",
                                        "\\fB\\-d\\fR, \\fB\\-\\-data\\fR \\fIFILE\\fR",
                                        "A\\eB choice. (default relu)", "How many.\n", NULL});
}

static void markdown_escapes_bars(void **state) {
    (void)state;
    check_written(
        cli_write_markdown, &awkward,
        (const char *const[]){"## wattle awkward\n\nTry -- awkward",
                              "| `--kind relu\\|softmax` | A\\B choice. Default `relu`. |",
                              "| `-d`, `--data FILE` |", NULL});
}

static void text_is_wrapped(void **state) {
    (void)state;
    char *text = written(cli_write_text, &awkward);
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1)
        assert_true(strcspn(at, "\n") <= 78);
    free(text);
}

static void json_describes_the_table(void **state) {
    (void)state;
    json_t *object = cli_describe(&awkward);
    json_t *kind = json_array_get(json_object_get(object, "options"), 1);
    assert_string_equal(json_string_value(json_object_get(kind, "value")), "relu|softmax");
    assert_true(json_is_null(json_object_get(kind, "letter")));
    json_decref(object);
}

static void alternatives_are_walked(void **state) {
    (void)state;
    char word[16];
    const char *at = cli_next_word("[one|two]", word, sizeof word);
    assert_string_equal(word, "one");
    at = cli_next_word(at, word, sizeof word);
    assert_string_equal(word, "two");
    assert_null(cli_next_word(at, word, sizeof word));
}

static void operands_tell_how_many(void **state) {
    (void)state;
    static const struct {
        const char *operands;
        int least, most;
    } cases[] = {{NULL, 0, 0},
                 {"[COMMAND]", 0, 1},
                 {"FILE...", 1, INT_MAX},
                 {"A B", 2, 2},
                 {"LAYER [LINES]", 1, 2},
                 {"one|two", 1, 1},
                 {"run|list [FILE...]", 1, INT_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int least, most;
        cli_operand_range(cases[i].operands, &least, &most);
        assert_int_equal(least, cases[i].least);
        assert_int_equal(most, cases[i].most);
    }
}

static size_t count_lines(const char *text, const char *start) {
    size_t found = 0;
    for (const char *at = text; (at = strstr(at, start)) != NULL; at++)
        found++;
    return found;
}

/* Every field of a command's tables is an option, once, unless the command has its own of that
 * name or leaves it out; no table is cut. */
static void every_field_is_listed_once(void **state) {
    (void)state;
    for (size_t c = 0; cli_commands[c] != NULL; c++) {
        const cli_command *command = cli_commands[c];
        size_t options_there;
        char *text = written(cli_write_markdown, command);
        const cli_option *all = cli_options_of(command, &options_there);
        for (size_t i = 0; i < options_there; i++) {
            char row[64];
            snprintf(row, sizeof row, all[i].value == NULL ? "--%s` |" : "--%s ", all[i].name);
            if (strstr(text, row) == NULL)
                fail_msg("%s has no line of --%s", command->name, all[i].name);
            for (size_t j = 0; j < i; j++) {
                assert_string_not_equal(all[i].name, all[j].name);
                assert_true(all[i].letter == 0 || all[i].letter != all[j].letter);
            }
        }
        assert_int_equal(count_lines(text, "\n| `"), options_there);
        for (const cli_table *table = command->tables; table != NULL && table->fields != NULL;
             table++) {
            size_t count, found;
            const wt_field *fields = table->fields(&count);
            for (size_t f = 0; f < count; f++) {
                char left_out[256], name[64];
                snprintf(left_out, sizeof left_out, " %s ", table->except);
                snprintf(name, sizeof name, " %s ", fields[f].name);
                found = 0;
                for (size_t i = 0; i < options_there; i++)
                    found += strcmp(all[i].name, wt_field_option(&fields[f])) == 0;
                assert_int_equal(found, strstr(left_out, name) == NULL);
            }
        }
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_listed_once), cmocka_unit_test(the_man_page_escapes),
        cmocka_unit_test(markdown_escapes_bars),      cmocka_unit_test(text_is_wrapped),
        cmocka_unit_test(json_describes_the_table),   cmocka_unit_test(alternatives_are_walked),
        cmocka_unit_test(operands_tell_how_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
