/* The rows of an exported table: CSV, JSON as Jansson would write it, lines for a terminal. */
#include <stdio.h>

#include "base/memory.h"
#include "base/text.h"
#include "lab/export.h"

static void put(wt_script *row, const char *text) {
    wt_script_bytes(row, text, strlen(text));
}

static void put_whole(wt_script *row, int64_t number) {
    char digits[WT_WHOLE_DIGITS];
    put(row, number < 0 ? "-" : "");
    char *end = wt_whole_add(digits, number < 0 ? -(uint64_t)number : (uint64_t)number);
    wt_script_bytes(row, digits, (size_t)(end - digits));
}

/* Words and names of an object may have escapes in them. */
static void put_spelled(wt_script *row, const char *text, size_t length) {
    char few[256], *many = NULL;
    if (length >= sizeof few && row->status == WT_OK)
        row->status = WT_NEW(row->context, &many, length + 1, "a field");
    if (row->status != WT_OK)
        return;
    wt_flat_spell(text, length, many == NULL ? few : many, length + 1);
    wt_script_csv(row, many == NULL ? few : many);
    wt_release(many);
}

/* As the format %.17g writes it, from the 17 digits that stand in the store: 2.0 is 2, and 1e-7 is
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
static bool put_object(wt_script *row, const char *text, const wt_columns *names) {
    wt_flat walk = {.at = text};
    wt_flat_member member;
    size_t place = 0;
    while (wt_flat_next(&walk, &member)) {
        for (;
             place < names->count && !wt_columns_has(names, place, member.name, member.name_length);
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

static void add_heading(wt_script *row, const wt_columns names[2]) {
    put(row, "hash,experiment,result_version,seed,state,");
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < names[k].count; i++) {
            put_spelled(row, names[k].all[i].name, names[k].all[i].length);
            put(row, ",");
        }
    put(row, "message,wall_seconds,version,machine,finished_date\n");
}

static bool add_fields(wt_script *row, const wt_record *record, const wt_columns names[2],
                       bool first) {
    if (first)
        add_heading(row, names);
    if (record == NULL) /* a store without cells has a heading */
        return true;
    wt_script_csv(row, record->hash);
    put(row, ",");
    wt_script_csv(row, record->experiment);
    put(row, ",");
    put_whole(row, record->result_version);
    put(row, ",");
    put_whole(row, record->seed);
    put(row, record->failed ? ",failed," : ",done,");
    if (!put_object(row, record->parameters, &names[0]) ||
        !put_object(row, record->metrics, &names[1]))
        return false;
    wt_script_csv(row, record->message);
    wt_script_add(row, ",%.17g,", record->wall_seconds);
    const char *const last[] = {record->version, record->machine, record->finished_date};
    for (size_t i = 0; i < 3; i++) {
        wt_script_csv(row, last[i]);
        put(row, i < 2 ? "," : "\n");
    }
    return true;
}

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

static bool add_json(wt_script *row, const wt_record *record, const wt_columns names[2],
                     bool first) {
    (void)names;
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

static bool add_json_short(wt_script *row, const wt_record *record, const wt_columns names[2],
                           bool first) {
    (void)names;
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

/* What a terminal would obey is spelled. */
static void put_shown(wt_script *row, const char *text) {
    char shown[WT_SHOWN_CHARACTER];
    for (size_t left = strlen(text), taken; left > 0; text += taken, left -= taken) {
        for (taken = 0; (text[taken] >= ' ' && text[taken] <= '~') || text[taken] == '\n';)
            taken++;
        wt_script_bytes(row, text, taken);
        if (taken == 0) {
            taken = wt_show_character(text, left, shown);
            put(row, shown);
        }
    }
}

static bool add_line(wt_script *row, const wt_record *record, const wt_columns names[2],
                     bool first) {
    (void)names, (void)first;
    if (record == NULL)
        return true;
    size_t whole = strlen(record->hash), length = strlen(record->experiment);
    wt_script_bytes(row, record->hash, whole < 12 ? whole : 12);
    put(row, "  ");
    put_shown(row, record->experiment);
    wt_script_bytes(row, "        ", length < 8 ? 8 - length : 0);
    put(row, record->failed ? " failed  seed " : " done    seed ");
    put_whole(row, record->seed);
    put(row, "  ");
    put_shown(row, record->parameters);
    put(row, record->failed ? "  " : "");
    put_shown(row, record->message);
    put(row, "\n");
    return true;
}

const wt_row_fn wt_export_rows[] = {[WT_EXPORT_FORMAT_CSV] = add_fields,
                                    [WT_EXPORT_FORMAT_JSON] = add_json,
                                    [WT_EXPORT_FORMAT_LIST_JSON] = add_json_short,
                                    [WT_EXPORT_FORMAT_LIST] = add_line};
