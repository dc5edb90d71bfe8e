#include "lab/cell.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "base/memory.h"
#include "lab/sha256.h"

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

static json_t *json_of(const wt_parameter *parameter, wt_value value) {
    if (value.text != NULL)
        return json_string(value.text);
    if (parameter->kind == WT_PARAMETER_FLAG)
        return json_boolean(value.number != 0);
    if (parameter->kind == WT_PARAMETER_COUNT || parameter->kind == WT_PARAMETER_NATURAL)
        return json_integer((json_int_t)value.number);
    return json_real(value.number);
}

wt_status wt_cell_parameters(wt_context *context, const wt_experiment *experiment,
                             const wt_trial *trial, double size, wt_cell_part part, char **out) {
    json_t *object = json_object();
    bool failed = object == NULL;
    for (size_t i = 0; i < experiment->parameter_count; i++) {
        const wt_parameter *parameter = &experiment->parameters[i];
        bool grouped = experiment->group != NULL && strcmp(parameter->name, experiment->group) == 0;
        wt_value value = trial->values[i];
        if (grouped && part == WT_CELL_GROUP)
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

wt_status wt_cell_hash(wt_context *context, const wt_experiment *experiment, const char *parameters,
                       uint64_t seed, char out[WT_HASH_TEXT]) {
    size_t bytes = strlen(experiment->name) + strlen(parameters) + 64;
    char *text = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &text, bytes, "the name of a cell"));
    int length = snprintf(text, bytes, "%s\n%s\n%" PRIu64 "\n%" PRId64 "\n", experiment->name,
                          parameters, seed, experiment->result_version);
    wt_sha256(text, (size_t)length, out);
done:
    wt_release(text);
    return status;
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
    size_t bytes = strlen(experiment->name) + 32, count = experiment->parameter_count;
    wt_status status;
    WT_TRY(WT_NEW(context, &names, count, "names"));
    for (size_t i = 0; i < count; i++) {
        names[i] = experiment->parameters[i].name;
        bytes += strlen(names[i]) + 1;
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
static bool in_range(wt_parameter_kind kind, double number) {
    if (kind != WT_PARAMETER_COUNT && kind != WT_PARAMETER_NATURAL)
        return isfinite(number);
    return number >= (kind == WT_PARAMETER_COUNT) && number <= (double)WT_GRID_WHOLE &&
           number == floor(number);
}

static bool read_value(const wt_parameter *parameter, const json_t *json, wt_value *out) {
    bool words = parameter->kind == WT_PARAMETER_WORD || parameter->kind == WT_PARAMETER_TEXT;
    *out = (wt_value){.text = json_string_value(json)};
    if (out->text != NULL)
        return words || parameter->kind == WT_PARAMETER_CHOICE;
    if (parameter->kind == WT_PARAMETER_FLAG) {
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
        const wt_parameter *parameter = &experiment->parameters[i];
        if (!read_value(parameter, json_object_get(object, parameter->name), &values[i]))
            return wt_fail(context, WT_DATA, "a cell of '%s' has no sound value of '%s'",
                           experiment->name, parameter->name);
    }
    return WT_OK;
}
