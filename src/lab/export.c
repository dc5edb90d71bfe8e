/* `wattle sweep export` and `list`: the cells of a store, as CSV with a column a parameter and
 * metric, as JSON, or as lines. Rows go by one after the other, so that it does not matter how
 * large the store is, and are kept until the last was seen to be sound: nothing is printed of a
 * damaged store, and the store is closed before somebody reads what is printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/flat.h"
#include "io/script.h"
#include "sweep.h"
#include "wattle/memory.h"
#include "wattle/output.h"
#include "wattle/text.h"

/* ---- columns ------------------------------------------------------------------------------- */

typedef struct {
    char *name;
    size_t length;
} column;

/* In rising order of their names, each once. */
typedef struct {
    column *all;
    size_t count, room;
} columns;

typedef struct {
    cli_call *call;
    wt_store *store;
    const char *experiment; /* NULL = all */
    bool failed_only;
    /* The row of a record, or what ends the table for NULL. False when the record is not sound, or
     * has names that are no columns yet. */
    bool (*add_row)(wt_script *row, const wt_record *record, const columns *parameters,
                    const columns *metrics, bool first);
    columns parameters, metrics;
    bool late; /* there were columns that the rows before them do not have: they are written anew */
    const char *path; /* of the file; NULL = standard output */
    wt_output *out;
    wt_script row;
    size_t rows;
} table;

/* Where a name is or would be. */
static size_t place_of(const columns *names, const char *name, size_t length) {
    size_t low = 0, high = names->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strncmp(names->all[middle].name, name, length) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(const columns *names, size_t place, const char *name, size_t length) {
    return place < names->count && names->all[place].length == length &&
           memcmp(names->all[place].name, name, length) == 0;
}

static wt_status add_name(wt_context *context, columns *to, size_t place, const char *name,
                          size_t length) {
    char *copy = NULL;
    wt_status status;
    WT_TRY(WT_GROW(context, &to->all, to->count, &to->room, "columns"));
    WT_TRY(WT_NEW(context, &copy, length + 1, "a column"));
    memcpy(copy, name, length);
    copy[length] = '\0';
    memmove(to->all + place + 1, to->all + place, (to->count - place) * sizeof *to->all);
    to->all[place] = (column){copy, length};
    to->count++;
done:
    return status;
}

static void free_columns(columns *names) {
    for (size_t i = 0; i < names->count; i++)
        wt_release(names->all[i].name);
    wt_release(names->all);
}

/* The names of an object. Cells of one experiment have the same: the next one is mostly that after
 * the last. */
static wt_status note_names(table *all, const wt_record *record, const char *text, const char *what,
                            columns *to) {
    wt_flat walk = {.at = text};
    wt_flat_member member;
    size_t place = 0;
    wt_status status = WT_OK;
    while (wt_flat_next(&walk, &member)) {
        if (!is_at(to, place, member.name, member.name_length))
            place = place_of(to, member.name, member.name_length);
        if (!is_at(to, place, member.name, member.name_length))
            WT_TRY(add_name(all->call->context, to, place, member.name, member.name_length));
        place++;
    }
    if (walk.wrong)
        status = wt_fail(
            all->call->context, WT_DATA,
            "%s: is damaged: the %s of cell %.12s are no JSON object of plain values in order",
            wt_store_shown(all->store), what, record->hash);
done:
    return status;
}

/* Takes the columns of a record, or says what is wrong with it. */
static wt_status look_at(table *all, const wt_record *record) {
    wt_status status;
    WT_TRY(note_names(all, record, record->parameters, "parameters", &all->parameters));
    WT_TRY(note_names(all, record, record->metrics, "metrics", &all->metrics));
done:
    return status;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

static const char *const first_columns[] = {"hash", "experiment", "result_version", "seed",
                                            "state"};
static const char *const last_columns[] = {"message", "wall_seconds", "version", "machine",
                                           "finished_date"};
enum {
    FIRST = sizeof first_columns / sizeof *first_columns,
    LAST = sizeof last_columns / sizeof *last_columns
};

static void put(wt_script *row, const char *text) {
    wt_script_bytes(row, text, strlen(text));
}

/* printf would take most of the time of a row. */
static void put_whole(wt_script *row, int64_t number) {
    char digits[24];
    size_t at = sizeof digits;
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
    do
        digits[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (number < 0)
        digits[--at] = '-';
    wt_script_bytes(row, digits + at, sizeof digits - at);
}

/* A field, in quotes where it needs them. */
static void put_text(wt_script *row, const char *text) {
    const char *lead = wt_csv_lead(text);
    size_t plain = strcspn(text, ",\"\n\r");
    bool quoted = text[plain] != '\0';
    put(row, quoted ? "\"" : "");
    put(row, lead);
    for (; text[plain] != '\0'; plain = strcspn(text, "\"")) {
        bool quote = text[plain] == '"'; /* stands there twice */
        wt_script_bytes(row, text, plain + quote);
        put(row, quote ? "\"" : "");
        text += plain + quote;
    }
    wt_script_bytes(row, text, plain);
    put(row, quoted ? "\"" : "");
}

/* Words and names of an object may have escapes in them. */
static void put_spelled(wt_script *row, const char *text, size_t length) {
    char few[256], *many = NULL;
    if (length >= sizeof few && row->status == WT_OK)
        row->status = WT_NEW(row->context, &many, length + 1, "a field");
    if (row->status != WT_OK)
        return;
    wt_flat_spell(text, length, many == NULL ? few : many, length + 1);
    put_text(row, many == NULL ? few : many);
    wt_release(many);
}

/* As printf("%.17g") writes it, from the 17 digits that stand in the store: 2.0 is 2, and 1e-7 is
 * 1e-07. */
static void put_real(wt_script *row, const char *text, size_t length) {
    const char *power = memchr(text, 'e', length);
    size_t head = power == NULL ? length : (size_t)(power - text);
    if (power == NULL && length > 2 && memcmp(text + length - 2, ".0", 2) == 0)
        head = length - 2;
    wt_script_bytes(row, text, head);
    if (power == NULL)
        return;
    const char *digits = power + 1 + (power[1] == '-' || power[1] == '+');
    size_t count = length - (size_t)(digits - text);
    put(row, power[1] == '-' ? "e-" : "e+");
    put(row, count < 2 ? "0" : "");
    wt_script_bytes(row, digits, count);
}

/* Nothing where there is no value. */
static void put_value(wt_script *row, const wt_flat_member *member) {
    switch (member->kind) {
    case WT_FLAT_WORDS:
        put_spelled(row, member->value, member->value_length);
        break;
    case WT_FLAT_TRUE:
    case WT_FLAT_FALSE:
        put(row, member->kind == WT_FLAT_TRUE ? "yes" : "no");
        break;
    case WT_FLAT_WHOLE:
        wt_script_bytes(row, member->value, member->value_length);
        break;
    case WT_FLAT_REAL:
        put_real(row, member->value, member->value_length);
        break;
    default:
        break;
    }
}

/* The values of an object in their columns, a comma after each; whether all have one. */
static bool put_object(wt_script *row, const char *text, const columns *names) {
    wt_flat walk = {.at = text};
    wt_flat_member member;
    size_t place = 0;
    while (wt_flat_next(&walk, &member)) {
        for (; place < names->count && !is_at(names, place, member.name, member.name_length);
             place++)
            put(row, ",");
        if (place == names->count)
            return false;
        put_value(row, &member);
        put(row, ",");
        place++;
    }
    for (; place < names->count; place++)
        put(row, ",");
    return !walk.wrong;
}

static void add_heading(wt_script *row, const columns *parameters, const columns *metrics) {
    const columns *const both[] = {parameters, metrics};
    for (size_t i = 0; i < FIRST; i++)
        wt_script_add(row, "%s,", first_columns[i]);
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < both[k]->count; i++) {
            put_spelled(row, both[k]->all[i].name, both[k]->all[i].length);
            put(row, ",");
        }
    for (size_t i = 0; i < LAST; i++)
        wt_script_add(row, "%s%s", last_columns[i], i + 1 < LAST ? "," : "\n");
}

static bool add_fields(wt_script *row, const wt_record *record, const columns *parameters,
                       const columns *metrics, bool first) {
    if (first)
        add_heading(row, parameters, metrics);
    if (record == NULL) /* a store without cells has a heading */
        return true;
    put_text(row, record->hash);
    put(row, ",");
    put_text(row, record->experiment);
    put(row, ",");
    put_whole(row, record->result_version);
    put(row, ",");
    put_whole(row, record->seed);
    put(row, record->failed ? ",failed," : ",done,");
    if (!put_object(row, record->parameters, parameters) ||
        !put_object(row, record->metrics, metrics))
        return false;
    put_text(row, record->message);
    wt_script_add(row, ",%.17g,", record->wall_seconds);
    const char *const last[] = {record->version, record->machine, record->finished_date};
    for (size_t i = 0; i < 3; i++) {
        put_text(row, last[i]);
        put(row, i < 2 ? "," : "\n");
    }
    return true;
}

/* ---- JSON, as cli_emit_json would write it ---------------------------------------------------
 */

#define INDENT "      "

static void put_name(wt_script *row, const char *name) {
    put(row, ",\n" INDENT "\"");
    put(row, name);
    put(row, "\": ");
}

static void put_member(wt_script *row, const char *name, const char *text) {
    put_name(row, name);
    wt_script_json(row, text);
}

static bool put_json_object(wt_script *row, const char *name, const char *text) {
    wt_flat walk = {.at = text};
    wt_flat_member member;
    bool any = false;
    put_name(row, name);
    put(row, "{");
    for (; wt_flat_next(&walk, &member); any = true) {
        const char *quote = member.kind == WT_FLAT_WORDS ? "\"" : "";
        put(row, any ? ",\n" INDENT "  \"" : "\n" INDENT "  \"");
        wt_script_bytes(row, member.name, member.name_length);
        put(row, "\": ");
        put(row, quote);
        wt_script_bytes(row, member.value, member.value_length);
        put(row, quote);
    }
    put(row, any ? "\n" INDENT "}" : "}");
    return !walk.wrong;
}

/* A real number as Jansson spells it: always with a point or a power, and that without zeros. */
static void put_json_real(wt_script *row, const char *name, double value) {
    char text[40];
    int length = snprintf(text, sizeof text, "%.17g", value);
    char *power = strchr(text, 'e');
    put_name(row, name);
    wt_script_bytes(row, text, power == NULL ? (size_t)length : (size_t)(power - text));
    if (power == NULL) {
        put(row, strchr(text, '.') == NULL ? ".0" : "");
        return;
    }
    put(row, power[1] == '-' ? "e-" : "e");
    power += 2;
    put(row, power + strspn(power, "0"));
}

static void open_cell(wt_script *row, const wt_record *record, bool first) {
    put(row, first ? "{\n  \"cells\": [" : ",");
    put(row, "\n    {\n" INDENT "\"hash\": \"");
    put(row, record->hash);
    put(row, "\"");
    put_member(row, "experiment", record->experiment);
}

static bool close_cells(wt_script *row, bool first) {
    put(row, first ? "{\n  \"cells\": []\n}\n" : "\n  ]\n}\n");
    return true;
}

static bool add_json(wt_script *row, const wt_record *record, const columns *parameters,
                     const columns *metrics, bool first) {
    (void)parameters, (void)metrics;
    if (record == NULL)
        return close_cells(row, first);
    open_cell(row, record, first);
    put_name(row, "result_version");
    put_whole(row, record->result_version);
    put_name(row, "seed");
    put_whole(row, record->seed);
    put_member(row, "state", record->failed ? "failed" : "done");
    if (!put_json_object(row, "parameters", record->parameters) ||
        !put_json_object(row, "metrics", record->metrics))
        return false;
    put_member(row, "message", record->message);
    put_json_real(row, "wall_seconds", record->wall_seconds);
    put_member(row, "version", record->version);
    put_member(row, "machine", record->machine);
    put_member(row, "finished_date", record->finished_date);
    put(row, "\n    }");
    return true;
}

static bool add_json_short(wt_script *row, const wt_record *record, const columns *parameters,
                           const columns *metrics, bool first) {
    (void)parameters, (void)metrics;
    if (record == NULL)
        return close_cells(row, first);
    open_cell(row, record, first);
    put_member(row, "state", record->failed ? "failed" : "done");
    put_name(row, "seed");
    put_whole(row, record->seed);
    bool sound = put_json_object(row, "parameters", record->parameters);
    put_member(row, "message", record->message);
    put(row, "\n    }");
    return sound && wt_flat_check(record->metrics);
}

/* ---- lines, as cli_print would write them ---------------------------------------------------
 */

static void put_shown(wt_script *row, const char *text) {
    char shown[WT_SHOWN_CHARACTER];
    for (size_t left = strlen(text), taken; left > 0; text += taken, left -= taken) {
        taken = cli_print_plain(text);
        wt_script_bytes(row, text, taken);
        if (taken == 0) {
            taken = wt_show_character(text, left, shown);
            put(row, shown);
        }
    }
}

static void put_blanks(wt_script *row, size_t used, size_t width) {
    wt_script_bytes(row, "         ", used < width ? width - used : 0);
}

static bool add_line(wt_script *row, const wt_record *record, const columns *parameters,
                     const columns *metrics, bool first) {
    (void)parameters, (void)metrics, (void)first;
    if (record == NULL)
        return true;
    size_t length = strlen(record->hash);
    wt_script_bytes(row, record->hash, length < 12 ? length : 12);
    put(row, "  ");
    put_shown(row, record->experiment);
    put_blanks(row, strlen(record->experiment), 8);
    put(row, record->failed ? " failed  seed " : " done    seed ");
    put_whole(row, record->seed);
    put(row, "  ");
    put_shown(row, record->parameters);
    put(row, record->failed ? "  " : "");
    put_shown(row, record->message);
    put(row, "\n");
    return true;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* The row, or what ends the table for NULL, to where it goes; *fits when it could be made. */
static wt_status put_row(table *all, const wt_record *record, bool *fits) {
    wt_status status;
    all->row.length = 0;
    *fits = all->add_row(&all->row, record, &all->parameters, &all->metrics, all->rows == 0);
    WT_TRY(all->row.status);
    if (*fits && all->row.length > 0)
        WT_TRY(wt_output_write(all->out, all->row.text, all->row.length));
done:
    return status;
}

static wt_status take_row(void *user, const wt_record *record) {
    table *all = user;
    bool fits = true;
    wt_status status;
    WT_TRY(wt_check_cancelled(all->call->context));
    if (!record->failed && all->failed_only)
        goto done;
    if (all->rows == 0 || all->late)
        WT_TRY(look_at(all, record));
    if (!all->late)
        WT_TRY(put_row(all, record, &fits));
    if (!fits) {
        WT_TRY(look_at(all, record));
        all->late = true;
    }
    all->rows++;
done:
    return status;
}

/* All rows into a new file. */
static wt_status put_rows(table *all) {
    wt_context *context = all->call->context;
    const char *directory = getenv("TMPDIR");
    bool fits;
    wt_status status;
    wt_output_free(all->out);
    all->out = NULL;
    all->rows = 0;
    all->late = false;
    if (directory == NULL || *directory == '\0')
        directory = "/tmp";
    WT_TRY(all->path != NULL ? wt_output_open(context, all->path, &all->out)
                             : wt_output_spool(context, directory, &all->out));
    WT_TRY(wt_store_walk(context, all->store, all->experiment, take_row, all));
    if (!all->late)
        WT_TRY(put_row(all, NULL, &fits));
done:
    return status;
}

static wt_status print_block(void *user, const void *bytes, size_t count) {
    const table *all = user;
    return fwrite(bytes, 1, count, stdout) == count
               ? WT_OK
               : wt_fail(all->call->context, WT_IO, "standard output could not be written");
}

static wt_status print_table(table *all) {
    wt_context *context = all->call->context;
    wt_status status;
    WT_TRY(cli_sweep_experiment(all->call, all->experiment));
    WT_TRY(wt_store_open(context, all->call->operands[1], WT_STORE_MODE_READ, &all->store));
    WT_TRY(wt_store_hold(context, all->store));
    all->row.context = context;
    do /* once more where columns came late: all are known then */
        WT_TRY(put_rows(all));
    while (all->late);
    wt_store_free(all->store);
    all->store = NULL;
    cli_json_emitted = all->call->common.json;
    WT_TRY(all->path != NULL ? wt_output_commit(all->out)
                             : wt_output_pour(all->out, print_block, all));
done:
    wt_output_free(all->out);
    wt_script_free(&all->row);
    free_columns(&all->parameters);
    free_columns(&all->metrics);
    wt_store_free(all->store);
    return status;
}

wt_status cli_sweep_export(cli_call *call, const cli_sweep_values *given) {
    table all = {.call = call,
                 .experiment = given->experiment,
                 .path = given->output,
                 .add_row = call->common.json ? add_json : add_fields};
    if (call->common.json && (given->csv || given->output != NULL))
        return wt_fail(call->context, WT_USAGE, "--json and --%s exclude each other",
                       given->csv ? "csv" : "output");
    return print_table(&all);
}

wt_status cli_sweep_list(cli_call *call, const cli_sweep_values *given) {
    table all = {.call = call,
                 .experiment = given->experiment,
                 .failed_only = given->failed,
                 .add_row = call->common.json ? add_json_short : add_line};
    return print_table(&all);
}
