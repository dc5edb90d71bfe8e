/* The options of a call as JSON: what was asked for, as it would be written again. */
#include "command.h"

static json_t *json_grid(const wt_grid *grid, bool whole) {
    json_t *out = json_array();
    for (size_t i = 0; i < grid->count; i++)
        json_array_append_new(out, whole ? json_integer((json_int_t)grid->values[i])
                                         : cli_json_real(grid->values[i]));
    return out;
}

static json_t *json_texts(const cli_texts *texts) {
    json_t *out = json_array();
    for (size_t i = 0; i < texts->count; i++)
        json_array_append_new(out, json_string(texts->items[i]));
    return out;
}

static json_t *json_option(const cli_option *option, const void *value) {
    switch (option->kind) {
    case CLI_FLAG:
        return json_boolean(*(const bool *)value);
    case CLI_COUNT:
    case CLI_BYTES:
        return json_integer((json_int_t) * (const size_t *)value);
    case CLI_NATURAL:
        return json_integer((json_int_t) * (const uint64_t *)value);
    case CLI_REAL:
        return cli_json_real(*(const double *)value);
    case CLI_GRID:
    case CLI_INTEGERS:
        return json_grid(value, option->kind == CLI_INTEGERS);
    case CLI_TEXTS:
        return json_texts(value);
    default:
        return json_string(*(const char *const *)value);
    }
}

static json_t *json_field(const wt_field *field, const void *object) {
    wt_value value = wt_field_get(field, object);
    if (wt_field_is_none(field, object))
        return json_null();
    if (value.text != NULL)
        return json_string(value.text);
    if (field->kind == WT_FIELD_KIND_FLAG)
        return json_boolean(value.number != 0);
    return field->kind == WT_FIELD_KIND_COUNT || field->kind == WT_FIELD_KIND_NATURAL
               ? json_integer((json_int_t)value.number)
               : cli_json_real(value.number);
}

json_t *cli_json_setting(cli_call *call) {
    const cli_table *table;
    size_t count;
    const cli_option *options = cli_options_of(call->command, &count);
    json_t *out = json_object();
    for (size_t i = 0; i < count; i++) {
        const cli_option *option = &options[i];
        const wt_field *field = cli_field_at(call->command, i, &table);
        if (option->kind == CLI_INPUT || option->kind == CLI_OUTPUT)
            continue;
        bool said = call->given[i] || option->fallback != NULL || option->kind == CLI_FLAG;
        json_object_set_new(out, option->name,
                            field != NULL
                                ? json_field(field, (const char *)call->values + table->offset)
                            : said ? json_option(option, cli_value_at(call, i, option))
                                   : json_null());
    }
    json_object_set_new(out, "seed", json_integer((json_int_t)call->common.seed));
    return out;
}
