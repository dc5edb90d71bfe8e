/* Finding commands and options by name, and the name that was probably meant. */
#include <string.h>

#include "command.h"
#include "wattle/text.h"

const cli_command *cli_find_command(const char *name) {
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

/* ---- options ---------------------------------------------------------------------------------
 */

enum { MOST_OPTIONS = 128 };

/* The options of the command that was asked for last. */
static struct {
    const cli_command *command;
    cli_option rows[MOST_OPTIONS];
    const wt_field *fields[MOST_OPTIONS];
    const cli_table *tables[MOST_OPTIONS];
    size_t count;
} made;

static bool is_word_of(const char *words, const char *word) {
    size_t length = strlen(word);
    for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
        size_t here = strcspn(at, " ");
        if (here == length && strncmp(at, word, length) == 0)
            return true;
        at += here;
    }
    return false;
}

static bool is_left_out(const cli_command *command, const cli_table *table, const wt_field *field) {
    for (size_t i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, wt_field_option(field)) == 0)
            return true;
    return is_word_of(table->except, field->name);
}

static cli_option option_of(const cli_table *table, const wt_field *field) {
    static const cli_kind kinds[] = {
        [WT_FIELD_KIND_WORD] = CLI_TEXT,   [WT_FIELD_KIND_TEXT] = CLI_TEXT,
        [WT_FIELD_KIND_COUNT] = CLI_COUNT, [WT_FIELD_KIND_NATURAL] = CLI_NATURAL,
        [WT_FIELD_KIND_REAL] = CLI_REAL,   [WT_FIELD_KIND_CHOICE] = CLI_TEXT,
        [WT_FIELD_KIND_FLAG] = CLI_FLAG};
    bool grid = field->list && field->item != WT_FIELD_KIND_WORD;
    bool choice = field->kind == WT_FIELD_KIND_WORD && field->value != NULL &&
                  strchr(field->value, '|') != NULL;
    bool told = field->fallback != NULL && field->kind != WT_FIELD_KIND_FLAG &&
                (field->none == NULL || strcmp(field->none, field->fallback) != 0);
    return (cli_option){.name = wt_field_option(field),
                        .letter = field->letter == NULL ? '\0' : field->letter[0],
                        .kind = choice                                   ? CLI_CHOICE
                                : grid && kinds[field->item] == CLI_REAL ? CLI_GRID
                                : grid                                   ? CLI_COUNTS
                                                                         : kinds[field->kind],
                        .offset = table->offset + field->offset,
                        .value = grid          ? "GRID"
                                 : field->list ? "LIST"
                                               : field->value,
                        .fallback = told ? field->fallback : NULL,
                        .help = field->help};
}

static void add_table(const cli_command *command, const cli_table *table) {
    size_t count;
    const wt_field *fields = table->fields(&count), *field;
    for (size_t i = 0; (field = wt_field_at(fields, count, i)) != NULL && made.count < MOST_OPTIONS;
         i++)
        if (!is_left_out(command, table, field)) {
            made.fields[made.count] = field;
            made.tables[made.count] = table;
            made.rows[made.count++] = option_of(table, field);
        }
}

const cli_option *cli_options_of(const cli_command *command, size_t *count) {
    if (command == NULL || command->tables == NULL) {
        *count = command == NULL ? 0 : command->option_count;
        return command == NULL ? NULL : command->options;
    }
    if (made.command != command) {
        made.command = command;
        made.count = 0;
        for (const cli_table *table = command->tables; table->fields != NULL; table++)
            add_table(command, table);
        for (size_t i = 0; i < command->option_count && made.count < MOST_OPTIONS; i++) {
            made.fields[made.count] = NULL;
            made.rows[made.count++] = command->options[i];
        }
    }
    *count = made.count;
    return made.rows;
}

const wt_field *cli_field_at(const cli_command *command, size_t index, const cli_table **table) {
    size_t count;
    cli_options_of(command, &count);
    if (command->tables == NULL || index >= count)
        return NULL;
    *table = made.tables[index];
    return made.fields[index];
}

const cli_option *cli_option_at(const cli_command *command, size_t index) {
    size_t own;
    const cli_option *options = cli_options_of(command, &own);
    if (index < own)
        return &options[index];
    return index - own < cli_common_option_count ? &cli_common_options[index - own] : NULL;
}

const char *cli_first_given(const cli_call *call, const char *names) {
    const cli_option *option;
    for (size_t i = 0; (option = cli_option_at(call->command, i)) != NULL; i++)
        if (call->given[i] && is_word_of(names, option->name))
            return option->name;
    return NULL;
}

bool cli_given(const cli_call *call, const char *name) {
    return cli_first_given(call, name) != NULL;
}

wt_status cli_exclude(const cli_call *call, const char *what, const char *names) {
    const char *other = cli_first_given(call, names);
    return other == NULL
               ? WT_OK
               : wt_fail(call->context, WT_USAGE, "%s and --%s exclude each other", what, other);
}

/* Slips between the word and the name; a beginning of the name counts as one. */
static size_t slips(const char *word, const char *name) {
    size_t length = strlen(word);
    return length >= 2 && strncmp(word, name, length) == 0 ? 1 : wt_edit_distance(word, name);
}

const char *cli_nearest(const char *word, cli_candidate_fn next, const void *from) {
    const char *best = NULL;
    size_t least = strlen(word) / 3 + 2; /* more slips than that make another word */
    const char *name;
    for (size_t i = 0; (name = next(from, i)) != NULL; i++) {
        size_t distance = slips(word, name);
        if (distance < least) {
            least = distance;
            best = name;
        }
    }
    return best;
}

static const char *command_name_at(const void *from, size_t index) {
    (void)from;
    return cli_commands[index] == NULL ? NULL : cli_commands[index]->name;
}

wt_status cli_unknown_command(wt_context *context, const char *name) {
    const char *nearest = cli_nearest(name, command_name_at, NULL);
    if (nearest != NULL)
        return wt_fail(context, WT_USAGE, "unknown command '%s'; did you mean '%s'?", name,
                       nearest);
    return wt_fail(context, WT_USAGE, "unknown command '%s'; 'wattle help' lists them", name);
}
