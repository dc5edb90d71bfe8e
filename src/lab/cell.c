#include "lab/cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "lab/flat.h"
#include "lab/sha256.h"
#include "wattle/text.h"

static wt_status no_memory(wt_context *context) {
    return wt_fail(context, WT_MEMORY, "no memory for the text of a cell");
}

/* The object as canonical text; the object is released in any case. */
static wt_status dump(wt_context *context, json_t *object, char **out) {
    const size_t flags = JSON_SORT_KEYS | JSON_COMPACT | JSON_REAL_PRECISION(17);
    size_t bytes = object == NULL ? 0 : json_dumpb(object, NULL, 0, flags);
    wt_status status;
    *out = NULL;
    if (bytes == 0) {
        status = no_memory(context);
        goto done;
    }
    WT_TRY(WT_NEW(context, out, bytes + 1, "the text of a cell"));
    json_dumpb(object, *out, bytes, flags);
    (*out)[bytes] = '\0';
done:
    json_decref(object);
    return status;
}

static json_t *json_of(const wt_field *parameter, wt_value value) {
    if (value.text != NULL)
        return json_string(value.text);
    if (parameter->kind == WT_FIELD_KIND_FLAG)
        return json_boolean(value.number != 0);
    if (parameter->kind == WT_FIELD_KIND_COUNT || parameter->kind == WT_FIELD_KIND_NATURAL)
        return json_integer((json_int_t)value.number);
    return json_real(value.number);
}

/* Whether a parameter stands in the name of a cell. */
static bool is_named(const wt_field *parameter, wt_value value) {
    if (parameter->since == 0)
        return true;
    wt_value other = wt_field_usual(parameter);
    bool texts = value.text != NULL && other.text != NULL;
    return texts ? strcmp(value.text, other.text) != 0
                 : value.text != other.text || value.number != other.number;
}

wt_status wt_cell_parameters(wt_context *context, const wt_experiment *experiment,
                             const wt_trial *trial, double size, wt_cell_part part, char **out) {
    json_t *object = json_object();
    bool failed = object == NULL;
    for (size_t i = 0; i < experiment->parameter_count; i++) {
        const wt_field *parameter = &experiment->parameters[i];
        bool grouped = experiment->group != NULL && strcmp(parameter->name, experiment->group) == 0;
        wt_value value = trial->values[i];
        if (grouped && part != WT_CELL_WHOLE)
            continue;
        if (part == WT_CELL_TOGETHER && experiment->together != NULL &&
            strcmp(parameter->name, experiment->together) == 0)
            continue;
        if (!is_named(parameter, value))
            continue;
        if (grouped)
            value = (wt_value){.number = size};
        failed |= json_object_set_new(object, parameter->name, json_of(parameter, value)) != 0;
    }
    failed |= json_object_set_new(object, "rep", json_integer((json_int_t)trial->rep)) != 0;
    if (failed) {
        json_decref(object);
        return no_memory(context);
    }
    return dump(context, object, out);
}

static wt_status make_form(wt_context *context, wt_cell_form *form, const wt_experiment *experiment,
                           const wt_trial *trial, double size, const char *counted) {
    wt_flat_member member;
    wt_cell_part part = form->part;
    wt_cell_form_free(form);
    form->part = part;
    form->experiment = experiment;
    WT_PASS(wt_cell_parameters(context, experiment, trial, size, part, &form->text));
    WT_PASS(WT_NEW(context, &form->out, strlen(form->text) + 2 * WT_WHOLE_DIGITS,
                   "the text of a cell"));
    for (wt_flat walk = {.at = form->text}; wt_flat_next(&walk, &member);) {
        bool is_size =
            counted != NULL && form->part == WT_CELL_WHOLE && wt_flat_is(&member, counted);
        if (!is_size && !wt_flat_is(&member, "rep"))
            continue;
        form->holes[form->hole_count].at = (size_t)(member.value - form->text);
        form->holes[form->hole_count].length = member.value_length;
        form->holes[form->hole_count++].is_size = is_size;
    }
    form->values = trial->values;
    return WT_OK;
}

static char *add_bytes(char *out, const char *bytes, size_t count) {
    memcpy(out, bytes, count);
    return out + count;
}

wt_status wt_cell_form_fill(wt_context *context, wt_cell_form *form,
                            const wt_experiment *experiment, const wt_trial *trial, double size) {
    const char *group = experiment->group;
    bool counts = group == NULL || form->part != WT_CELL_WHOLE ||
                  experiment->parameters[wt_experiment_parameter(experiment, group)].kind ==
                      WT_FIELD_KIND_COUNT;
    if (form->values != trial->values || form->experiment != experiment || !counts)
        WT_PASS(make_form(context, form, experiment, trial, size, counts ? group : NULL));
    size_t at = 0;
    char *out = form->out;
    for (size_t i = 0; i < form->hole_count; i++) {
        out = add_bytes(out, form->text + at, form->holes[i].at - at);
        out = wt_whole_add(out, form->holes[i].is_size ? (uint64_t)size : trial->rep);
        at = form->holes[i].at + form->holes[i].length;
    }
    memcpy(out, form->text + at, strlen(form->text + at) + 1);
    return WT_OK;
}

void wt_cell_form_free(wt_cell_form *form) {
    wt_release(form->text);
    wt_release(form->out);
    *form = (wt_cell_form){0};
}

wt_status wt_cell_hash(wt_context *context, const wt_experiment *experiment, const char *parameters,
                       uint64_t seed, char out[WT_HASH_TEXT]) {
    size_t name = strlen(experiment->name), length = strlen(parameters);
    size_t bytes = name + length + 3 * WT_WHOLE_DIGITS;
    char few[1024], *many = NULL;
    wt_status status = WT_OK;
    if (bytes > sizeof few)
        WT_TRY(WT_NEW(context, &many, bytes, "the name of a cell"));
    char *text = many == NULL ? few : many;
    char *end = add_bytes(text, experiment->name, name);
    *end++ = '\n';
    end = add_bytes(end, parameters, length);
    *end++ = '\n';
    end = wt_whole_add(end, seed);
    end += snprintf(end, 2 * WT_WHOLE_DIGITS, "\n%" PRId64 "\n", experiment->result_version);
    wt_sha256(text, (size_t)(end - text), out);
done:
    wt_release(many);
    return status;
}

wt_status wt_record_hash(wt_context *context, const wt_record *given, char out[WT_HASH_TEXT]) {
    wt_record record = {0};
    WT_PASS(wt_sized_read(context, "wt_record", given, &record, sizeof record));
    if (record.experiment == NULL || record.parameters == NULL)
        return wt_fail(context, WT_USAGE, "a cell without experiment or parameters has no name");
    const wt_experiment experiment = {.name = record.experiment,
                                      .result_version = record.result_version};
    return wt_cell_hash(context, &experiment, record.parameters, (uint64_t)record.seed, out);
}

wt_status wt_cell_metrics(wt_context *context, const wt_experiment *experiment,
                          const double *metrics, char **out) {
    json_t *object = json_object();
    bool failed = object == NULL;
    for (size_t i = 0; i < experiment->metric_count; i++) {
        json_t *number = isfinite(metrics[i]) ? json_real(metrics[i]) : json_null();
        failed |= json_object_set_new(object, experiment->metrics[i], number) != 0;
    }
    if (failed) {
        json_decref(object);
        return no_memory(context);
    }
    return dump(context, object, out);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

wt_status wt_cell_meaning(wt_context *context, const wt_experiment *experiment, char **out) {
    const char **names = NULL;
    size_t bytes = strlen(experiment->name) + 32, count = 0;
    wt_status status;
    WT_TRY(WT_NEW(context, &names, experiment->parameter_count, "names"));
    for (size_t i = 0; i < experiment->parameter_count; i++) {
        if (experiment->parameters[i].since > 0)
            continue; /* stores were declared without it */
        names[count] = experiment->parameters[i].name;
        bytes += strlen(names[count++]) + 1;
    }
    qsort(names, count, sizeof *names, by_text);
    WT_TRY(WT_NEW(context, out, bytes, "the meaning of an experiment"));
    size_t used =
        (size_t)snprintf(*out, bytes, "%s %" PRId64, experiment->name, experiment->result_version);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(*out + used, bytes - used, "%c%s", i == 0 ? ' ' : ',', names[i]);
done:
    wt_release(names);
    return status;
}

/* Counts are whole and small enough to be told as such. */
static bool in_range(wt_field_kind kind, double number) {
    if (kind != WT_FIELD_KIND_COUNT && kind != WT_FIELD_KIND_NATURAL)
        return isfinite(number);
    return number >= (kind == WT_FIELD_KIND_COUNT) && number <= (double)WT_GRID_WHOLE &&
           number == floor(number);
}

static bool read_value(const wt_field *parameter, const json_t *json, wt_value *out) {
    bool words = parameter->kind == WT_FIELD_KIND_WORD || parameter->kind == WT_FIELD_KIND_TEXT;
    *out = (wt_value){.text = json_string_value(json)};
    if (out->text != NULL)
        return words || parameter->kind == WT_FIELD_KIND_CHOICE;
    if (parameter->kind == WT_FIELD_KIND_FLAG) {
        out->number = json_is_true(json);
        return json_is_boolean(json);
    }
    out->number = json_number_value(json);
    return !words && json_is_number(json) && in_range(parameter->kind, out->number);
}

wt_status wt_cell_read(wt_context *context, const wt_experiment *experiment, const json_t *object,
                       wt_value *values, uint64_t *rep) {
    const json_t *repetition = json_object_get(object, "rep");
    if (!json_is_integer(repetition) || json_integer_value(repetition) < 0)
        return wt_fail(context, WT_DATA, "a cell of '%s' has no repetition", experiment->name);
    *rep = (uint64_t)json_integer_value(repetition);
    for (size_t i = 0; i < experiment->parameter_count; i++) {
        const wt_field *parameter = &experiment->parameters[i];
        const json_t *value = json_object_get(object, parameter->name);
        if (value == NULL && parameter->since > 0)
            values[i] = wt_field_usual(parameter);
        else if (!read_value(parameter, value, &values[i]))
            return wt_fail(context, WT_DATA, "a cell of '%s' has no sound value of '%s'",
                           experiment->name, parameter->name);
    }
    return WT_OK;
}
