/* The options of a call as JSON: what was asked for, as it would be written again. */
#include "command.h"

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
    case CLI_SECONDS:
        return cli_json_real(*(const double *)value);
    case CLI_COUNTS:
        return cli_json_counts(((const cli_counts *)value)->count,
                               ((const cli_counts *)value)->values);
    case CLI_TEXTS:
        return cli_json_texts(((const cli_texts *)value)->count, ((const cli_texts *)value)->items);
    default:
        return json_string(*(const char *const *)value);
    }
}

static json_t *json_value(wt_field_kind kind, wt_value value) {
    if (value.text != NULL)
        return json_string(value.text);
    if (kind == WT_FIELD_KIND_FLAG)
        return json_boolean(value.number != 0);
    return kind == WT_FIELD_KIND_COUNT || kind == WT_FIELD_KIND_NATURAL
               ? json_integer((json_int_t)value.number)
               : cli_json_real(value.number);
}

static json_t *json_list(wt_context *context, const wt_field *field, const char *text) {
    wt_arena arena = wt_arena_start(context, "a list");
    wt_list list;
    json_t *out = NULL;
    if (wt_field_list(&arena, field, text, &list) == WT_OK) {
        out = json_array();
        for (size_t i = 0; i < list.count; i++)
            cli_json_add(out, json_value(field->item, list.values[i]));
    }
    wt_arena_free(&arena);
    return out;
}

static json_t *json_field(wt_context *context, const wt_field *field, const void *object) {
    wt_value value = wt_field_get(field, object);
    if (wt_field_is_none(field, object))
        return json_null();
    return field->list ? json_list(context, field, value.text) : json_value(field->kind, value);
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
        json_t *value = field != NULL ? json_field(call->context, field,
                                                   (const char *)call->values + table->offset)
                        : said        ? json_option(option, cli_value_at(call, i, option))
                                      : json_null();
        cli_json_put(out, option->name, value);
    }
    cli_json_put(out, "seed", json_integer((json_int_t)call->common.seed));
    return out;
}
