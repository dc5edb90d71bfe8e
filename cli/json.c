/* Results as JSON on stdout. */
#include <stdio.h>
#include <string.h>

#include "command.h"

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "a kind of JSON values for both");

static bool lost; /* a value, for want of memory */

void cli_json_add(json_t *list, json_t *value) {
    lost = json_array_append_new(list, value) != 0 || lost;
}

void cli_json_put(json_t *object, const char *key, json_t *value) {
    lost = json_object_set_new(object, key, value) != 0 || lost;
}

json_t *cli_json_real(double value) {
    json_t *number = json_real(value);
    return number == NULL ? json_null() : number;
}

static json_t *object_of(const char *format, va_list values) {
    json_t *object = json_object(), *value = NULL;
    for (; *format != '\0'; format += strspn(format, " ")) {
        char key[32];
        size_t length = strcspn(format, ":");
        snprintf(key, sizeof key, "%.*s", (int)length, format);
        format += length + 1;
        switch (*format++) {
        case 's': {
            const char *text = va_arg(values, const char *);
            value = text == NULL ? json_null() : json_string(text);
            break;
        }
        case 'u':
            value = json_integer((json_int_t)va_arg(values, uint64_t));
            break;
        case 'b':
            value = json_boolean(va_arg(values, int));
            break;
        case 'r':
            value = cli_json_real(va_arg(values, double));
            break;
        default: /* 'o' */
            value = va_arg(values, json_t *);
        }
        cli_json_put(object, key, value);
    }
    return object;
}

json_t *cli_json(const char *format, ...) {
    va_list values;
    va_start(values, format);
    json_t *object = object_of(format, values);
    va_end(values);
    return object;
}

json_t *cli_json_counts(size_t count, const size_t *values) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        cli_json_add(list, json_integer((json_int_t)values[i]));
    return list;
}

json_t *cli_json_reals(size_t count, const double *values) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        cli_json_add(list, cli_json_real(values[i]));
    return list;
}

json_t *cli_json_texts(size_t count, const char *const *texts) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        cli_json_add(list, json_string(texts[i]));
    return list;
}

bool cli_json_emitted;

wt_status cli_emit_json(cli_call *call, json_t *object) {
    if (call->command->tables != NULL)
        cli_json_put(object, "setting", cli_json_setting(call));
    if (lost) {
        json_decref(object);
        return wt_fail(call->context, WT_MEMORY, "no memory for the JSON result");
    }
    cli_json_emitted = true;
    int failed = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(object);
    putchar('\n');
    return failed ? wt_fail(call->context, WT_IO, "standard output could not be written") : WT_OK;
}

wt_status cli_emit(cli_call *call, const char *format, ...) {
    va_list values;
    va_start(values, format);
    json_t *object = object_of(format, values);
    va_end(values);
    return cli_emit_json(call, object);
}
