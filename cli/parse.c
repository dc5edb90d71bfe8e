#define _GNU_SOURCE /* getopt_long */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "help.h"
#include "wattle/memory.h"
#include "wattle/text.h"

const cli_option cli_common_options[] = {
    {"threads", 't', CLI_COUNT, offsetof(cli_common, threads), "T", NULL,
     "Threads to use; all processors by default. Results do not depend on it."},
    {"seed", 's', CLI_NATURAL, offsetof(cli_common, seed), "S", "0",
     "Seed of everything that is drawn."},
    {"mem", 0, CLI_BYTES, offsetof(cli_common, memory), "BYTES", "0",
     "Most memory to hold at a time, as 4G or 500M; 0 = no limit."},
    {"time", 0, CLI_SECONDS, offsetof(cli_common, time), "TIME", NULL,
     "Stop after so many seconds, or 10m or 2h, and keep the best so far; cells in hand are "
     "finished first."},
    {"json", 0, CLI_FLAG, offsetof(cli_common, json), NULL, NULL,
     "Print the result as one JSON object; errors too."},
    {"quiet", 'q', CLI_FLAG, offsetof(cli_common, quiet), NULL, NULL,
     "No progress and no remarks on stderr."},
    {"verbose", 'v', CLI_FLAG, offsetof(cli_common, verbose), NULL, NULL,
     "More remarks on stderr: memory and time."},
    {"color", 0, CLI_CHOICE, offsetof(cli_common, color), "auto|always|never", "auto",
     "Colour on the terminal. NO_COLOR in the environment turns auto off."},
    {"help", 'h', CLI_FLAG, offsetof(cli_common, help), NULL, NULL, "Show this help."},
};
const size_t cli_common_option_count = sizeof cli_common_options / sizeof *cli_common_options;

static const char *option_name_at(const void *command, size_t index) {
    const cli_option *option = cli_option_at(command, index);
    return option == NULL ? NULL : option->name;
}

void *cli_value_at(cli_call *call, size_t index, const cli_option *option) {
    size_t count;
    cli_options_of(call->command, &count);
    bool own = index < count;
    return (char *)(own ? call->values : (void *)&call->common) + option->offset;
}

static wt_status refuse(wt_context *context, const cli_option *option, const char *text,
                        const char *wanted) {
    return wt_fail(context, WT_USAGE, "--%s: '%s' is not %s", option->name, text, wanted);
}

/* In a LIST lo:hi counts by one. */
static wt_status parse_counts(wt_context *context, const cli_option *option, const char *text,
                              cli_counts *out) {
    wt_grid grid = {0};
    char stepped[64];
    const char *colon = strchr(text, ':');
    if (strcmp(option->value, "LIST") == 0 && colon != NULL && strpbrk(colon + 1, ":,") == NULL &&
        snprintf(stepped, sizeof stepped, "%s:1", text) < (int)sizeof stepped)
        text = stepped;
    wt_status status = wt_grid_parse_integers(context, text, &grid);
    if (status == WT_USAGE)
        status = wt_fail(context, WT_USAGE, "--%s: %s", option->name, wt_context_message(context));
    WT_TRY(status);
    wt_release(out->values);
    *out = (cli_counts){0};
    WT_TRY(WT_NEW(context, &out->values, grid.count, "whole numbers"));
    for (; out->count < grid.count; out->count++) {
        if (grid.values[out->count] < 0)
            WT_TRY(wt_fail(context, WT_USAGE, "--%s must be 0 or more, not %g", option->name,
                           grid.values[out->count]));
        out->values[out->count] = (size_t)grid.values[out->count];
    }
done:
    wt_grid_free(&grid);
    return status;
}

static wt_status add_text(wt_context *context, const cli_option *option, cli_texts *out,
                          const char *text) {
    if (*text == '\0')
        return wt_fail(context, WT_USAGE, "--%s: the value is empty", option->name);
    if (out->count == CLI_TEXTS_MOST)
        return wt_fail(context, WT_USAGE, "--%s: given more than %d times", option->name,
                       CLI_TEXTS_MOST);
    out->items[out->count++] = text;
    return WT_OK;
}

/* Parses the text into the field, whose type the option's kind tells. */
static wt_status set_value(wt_context *context, const cli_option *option, void *field,
                           const char *text) {
    uint64_t natural;
    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)field = true;
        return WT_OK;
    case CLI_CHOICE:
        if (!cli_is_alternative(option->value, text))
            return wt_fail(context, WT_USAGE, "--%s: '%s' is none of %s", option->name, text,
                           option->value);
        *(const char **)field = text;
        return WT_OK;
    case CLI_TEXT:
    case CLI_INPUT:
    case CLI_OUTPUT:
        if (*text == '\0')
            return wt_fail(context, WT_USAGE, "--%s: the value is empty", option->name);
        *(const char **)field = text;
        return WT_OK;
    case CLI_COUNT:
        if (!wt_unsigned_parse(text, &natural) || natural == 0 || natural > PTRDIFF_MAX)
            return refuse(context, option, text, "a whole number of 1 or more");
        *(size_t *)field = (size_t)natural;
        return WT_OK;
    case CLI_NATURAL:
        return wt_unsigned_parse(text, (uint64_t *)field)
                   ? WT_OK
                   : refuse(context, option, text, "a whole number of 0 or more");
    case CLI_REAL:
        return wt_real_parse(text, (double *)field)
                   ? WT_OK
                   : refuse(context, option, text, "a number that fits a double");
    case CLI_BYTES:
        return wt_bytes_parse(text, (size_t *)field)
                   ? WT_OK
                   : refuse(context, option, text, "a size (write 500M or 4G)");
    case CLI_SECONDS:
        return wt_seconds_parse(text, (double *)field)
                   ? WT_OK
                   : refuse(context, option, text, "a time above 0 (write 90, 10m or 2h)");
    case CLI_TEXTS:
        return add_text(context, option, (cli_texts *)field, text);
    case CLI_GRID:
        break;
    case CLI_COUNTS:
        return parse_counts(context, option, text, (cli_counts *)field);
    }
    return wt_fail(context, WT_INTERNAL, "--%s has no kind", option->name);
}

/* The same, by the table that the option is of. */
static wt_status set_option(cli_call *call, size_t index, const cli_option *option,
                            const char *text) {
    const cli_table *table;
    const wt_field *field = cli_field_at(call->command, index, &table);
    wt_value value = {.number = 1}; /* of a flag that is given */
    if (field == NULL)
        return set_value(call->context, option, cli_value_at(call, index, option), text);
    wt_status status = text == NULL ? WT_OK : wt_field_parse(call->context, field, text, &value);
    if (status == WT_USAGE)
        return wt_fail(call->context, WT_USAGE, "--%s: %s", option->name,
                       wt_context_message(call->context));
    if (status == WT_OK)
        wt_field_set(field, value, (char *)call->values + table->offset);
    return status;
}

/* The options that "--wo" could begin, as "--words or --workers", when there are several. */
static bool list_meanings(const cli_command *command, const char *start, char *out, size_t bytes) {
    size_t found = 0, used = 0, length = strlen(start);
    const cli_option *option;
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++) {
        if (strncmp(option->name, start, length) != 0 || used >= bytes)
            continue;
        int written =
            snprintf(out + used, bytes - used, "%s--%s", found == 0 ? "" : " or ", option->name);
        used += (size_t)written;
        found++;
    }
    return found > 1;
}

static wt_status unknown_option(cli_call *call, const char *word) {
    char name[128], meanings[512];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    wt_utf8_trim(name);
    bool is_long = strncmp(name, "--", 2) == 0;
    if (is_long && list_meanings(call->command, name + 2, meanings, sizeof meanings))
        return wt_fail(call->context, WT_USAGE, "%s could be %s", name, meanings);
    const char *nearest = is_long ? cli_nearest(name + 2, option_name_at, call->command) : NULL;
    if (nearest != NULL)
        return wt_fail(call->context, WT_USAGE, "unknown option %s; did you mean --%s?", name,
                       nearest);
    return wt_fail(call->context, WT_USAGE, "unknown option %s; see 'wattle help %s'", name,
                   call->command->name);
}

/* The long and short tables of getopt, made from ours; values of `long_options` are indexes. The
 * other spellings of fields come last. */
static void fill_getopt_tables(const cli_command *command, struct option *long_options,
                               char *short_options) {
    *short_options++ = ':';
    const cli_option *option;
    size_t i = 0;
    for (; (option = cli_option_at(command, i)) != NULL; i++) {
        bool flag = option->kind == CLI_FLAG;
        long_options[i] = (struct option){option->name, flag ? no_argument : required_argument,
                                          NULL, 256 + (int)i};
        if (option->letter != 0)
            *short_options++ = option->letter;
        if (option->letter != 0 && !flag)
            *short_options++ = ':';
    }
    size_t end = i;
    for (size_t j = 0; j < i; j++) {
        const cli_table *table;
        const wt_field *field = cli_field_at(command, j, &table);
        if (field != NULL && field->option != NULL) {
            long_options[end] = long_options[j];
            long_options[end++].name = field->name;
        }
    }
    long_options[end] = (struct option){0};
    *short_options = '\0';
}

static size_t index_of(const cli_command *command, int found) {
    if (found >= 256)
        return (size_t)found - 256;
    size_t i = 0;
    while (cli_option_at(command, i)->letter != found)
        i++;
    return i;
}

/* What getopt could not make sense of: found is '?' or ':', `word` the one it stopped at. */
static wt_status explain(cli_call *call, int found, const char *word) {
    if (optopt == 0)
        return unknown_option(call, word);
    bool known_short = found == ':' && optopt < 256;
    if (optopt < 256 && !known_short) {
        char letter[] = {'-', (char)optopt, '\0'};
        return unknown_option(call, letter);
    }
    const cli_option *option = cli_option_at(call->command, index_of(call->command, optopt));
    if (found == '?')
        return wt_fail(call->context, WT_USAGE, "--%s takes no value", option->name);
    return wt_fail(call->context, WT_USAGE, "--%s needs a value: %s", option->name, option->value);
}

/* "--out --json" is a forgotten value, not a file called --json; OPTIONS are another program's. */
static wt_status check_value(cli_call *call, const cli_option *option, const char *word) {
    if (optarg == NULL || optarg != word || strncmp(word, "--", 2) != 0 ||
        strcmp(option->value, "OPTIONS") == 0)
        return WT_OK;
    return wt_fail(call->context, WT_USAGE,
                   "--%s needs a value and '%s' looks like an option; write --%s=%s to mean it",
                   option->name, word, option->name, word);
}

static wt_status parse_words(cli_call *call, int argc, char **argv, struct option *long_options,
                             const char *short_options) {
    opterr = 0;
    optind = 0; /* GNU: start afresh */
    for (;;) {
        int found = getopt_long(argc, argv, short_options, long_options, NULL);
        if (found == -1)
            break;
        const char *word = argv[optind - 1];
        if (found == '?' || found == ':')
            return explain(call, found, word);
        size_t index = index_of(call->command, found);
        const cli_option *option = cli_option_at(call->command, index);
        call->given[index] = true;
        wt_status status = check_value(call, option, word);
        if (status == WT_OK)
            status = set_option(call, index, option, optarg);
        if (status != WT_OK)
            return status;
    }
    call->operands = argv + optind;
    call->operand_count = argc - optind;
    return WT_OK;
}

static wt_status set_fallbacks(cli_call *call) {
    const cli_option *option;
    const cli_table *table = call->command->tables;
    wt_status status = WT_OK;
    for (; table != NULL && table->fields != NULL; table++)
        memcpy((char *)call->values + table->offset, &table->bytes, sizeof table->bytes);
    for (size_t i = 0; status == WT_OK && (option = cli_option_at(call->command, i)) != NULL; i++) {
        const wt_field *field = cli_field_at(call->command, i, &table);
        const char *fallback = field != NULL ? field->fallback : option->fallback;
        if (fallback != NULL)
            status = set_option(call, i, option, fallback);
    }
    return status;
}

/* JSON is UTF-8: better told now than when the result is there and cannot be printed. */
static wt_status check_bytes(cli_call *call, int argc, char **argv) {
    char shown[WT_QUOTED_BYTES];
    for (int i = 0; i < argc; i++)
        if (call->common.json && !call->command->any_bytes && !wt_utf8_valid(argv[i]))
            return wt_fail(call->context, WT_USAGE,
                           "--json: '%s' is not UTF-8 text, which JSON cannot hold",
                           wt_quote(argv[i], shown, sizeof shown));
    return WT_OK;
}

wt_status cli_parse(cli_call *call, int argc, char **argv) {
    const cli_command *command = call->command;
    size_t count;
    cli_options_of(command, &count);
    count += cli_common_option_count;
    wt_arena arena = wt_arena_start(call->context, "options");
    struct option *long_options = WT_TAKE(&arena, struct option, 2 * count + 1);
    char *short_options = WT_TAKE(&arena, char, 2 * count + 2);
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(WT_NEW_ZERO(call->context, &call->given, count, "options"));
    WT_TRY(wt_allocate_zero(call->context, &call->values, command->values_bytes, 1, "options"));
    fill_getopt_tables(command, long_options, short_options);
    WT_TRY(set_fallbacks(call));
    WT_TRY(parse_words(call, argc, argv, long_options, short_options));
    if (!call->common.help) {
        WT_TRY(check_bytes(call, argc, argv));
        WT_TRY(cli_check_operands(call));
        WT_TRY(cli_check_files(call));
    }
done:
    wt_arena_free(&arena);
    return status;
}

void cli_call_free(cli_call *call) {
    size_t count;
    const cli_option *options = cli_options_of(call->command, &count);
    for (size_t i = 0; call->values != NULL && i < count; i++) {
        const cli_option *option = &options[i];
        const cli_table *table;
        if (cli_field_at(call->command, i, &table) == NULL && option->kind == CLI_COUNTS)
            wt_release(((cli_counts *)cli_value_at(call, i, option))->values);
    }
    wt_release(call->values);
    wt_release(call->given);
}
