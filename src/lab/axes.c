#include "lab/axes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "wattle/text.h"

#define MOST_REPS 1000000

static const wt_field seed_parameter = {"seed", WT_FIELD_KIND_NATURAL, "0", .help = ""};

/* Reals of a grid to 12 digits: 0.1:0.5:0.1 and 0.1,0.2,0.3 must name the same cells. */
static double tidy(double value) {
    char text[40];
    snprintf(text, sizeof text, "%.12g", value);
    return strtod(text, NULL);
}

static wt_status parse(wt_arena *arena, const wt_field *parameter, const char *text, wt_list *out) {
    WT_PASS(wt_list_parse(arena, parameter, text, out));
    bool real = parameter->kind == WT_FIELD_KIND_REAL || parameter->kind == WT_FIELD_KIND_CHOICE;
    for (size_t i = 0; real && i < out->count; i++)
        out->values[i].number = tidy(out->values[i].number);
    return WT_OK;
}

static int by_number(const void *a, const void *b) {
    double x = ((const wt_value *)a)->number, y = ((const wt_value *)b)->number;
    return (x > y) - (x < y);
}

static void sort_once(wt_list *axis) {
    size_t kept = 0;
    qsort(axis->values, axis->count, sizeof *axis->values, by_number);
    for (size_t i = 0; i < axis->count; i++)
        if (kept == 0 || axis->values[i].number > axis->values[kept - 1].number)
            axis->values[kept++] = axis->values[i];
    axis->count = kept;
}

/* The values the specification gives, by the parameter's name or its option's, where that is not
 * the name of another; or the usual ones. */
static wt_status read_axis(wt_arena *arena, const wt_sweep_spec *spec,
                           const wt_experiment *experiment, const wt_field *parameter,
                           wt_list *out) {
    wt_context *context = arena->context;
    const char *option = wt_field_option(parameter);
    bool own =
        wt_field_find(experiment->parameters, experiment->parameter_count, option) == parameter;
    const wt_sweep_spec_entry *entry = wt_sweep_spec_find(spec, parameter->name);
    const wt_sweep_spec_entry *other = own ? wt_sweep_spec_find(spec, option) : NULL;
    if (entry != NULL && other != NULL && entry != other)
        return wt_sweep_spec_fail(context, spec, other, "is '%s', which is given too",
                                  parameter->name);
    entry = entry != NULL ? entry : other;
    const char *text = entry != NULL ? entry->text : parameter->fallback;
    if (text == NULL)
        return wt_sweep_spec_fail(context, spec, NULL, "'%s' must be given: %s", parameter->name,
                                  parameter->help);
    wt_status status = parse(arena, parameter, text, out);
    if (status != WT_USAGE)
        return status;
    return wt_sweep_spec_fail(context, spec, entry, "%s", wt_context_message(context));
}

static wt_status read_reps(wt_context *context, const wt_sweep_spec *spec, wt_axes *out) {
    const wt_sweep_spec_entry *entry = wt_sweep_spec_find(spec, "reps");
    uint64_t reps = out->experiment->reps;
    if (entry != NULL && (!wt_unsigned_parse(entry->text, &reps) || reps == 0 || reps > MOST_REPS))
        return wt_sweep_spec_fail(context, spec, entry, "'%s' is not a whole number of 1 to %d",
                                  entry->text, MOST_REPS);
    out->reps = (size_t)reps;
    return WT_OK;
}

/* Names of keys in turn: the parameters, then what every sweep has. */
static const char *key_at(const wt_experiment *experiment, size_t index) {
    static const char *const common[] = {"experiment", "seed", "reps"};
    size_t own = experiment->parameter_count;
    if (index < own)
        return experiment->parameters[index].name;
    return index - own < sizeof common / sizeof *common ? common[index - own] : NULL;
}

static wt_status check_key(wt_context *context, const wt_sweep_spec *spec,
                           const wt_sweep_spec_entry *entry, const wt_experiment *experiment) {
    const char *nearest = NULL, *name;
    if (wt_field_find(experiment->parameters, experiment->parameter_count, entry->key) != NULL)
        return WT_OK;
    size_t least = strlen(entry->key) / 3 + 2; /* more slips than that make another word */
    for (size_t i = 0; (name = key_at(experiment, i)) != NULL; i++) {
        size_t slips = wt_edit_distance(entry->key, name);
        if (slips == 0)
            return WT_OK;
        if (slips < least) {
            least = slips;
            nearest = name;
        }
    }
    if (nearest != NULL)
        return wt_sweep_spec_fail(context, spec, entry,
                                  "'%s' has no such parameter; did you mean '%s'?",
                                  experiment->name, nearest);
    return wt_sweep_spec_fail(context, spec, entry,
                              "'%s' has no such parameter; 'wattle sweep experiments' lists them",
                              experiment->name);
}

static wt_status find_experiment(wt_context *context, const wt_sweep_spec *spec,
                                 const wt_experiment **out) {
    const wt_sweep_spec_entry *entry = wt_sweep_spec_find(spec, "experiment");
    char names[512] = "";
    size_t used = 0;
    const wt_experiment *one;
    for (size_t i = 0; (one = wt_experiment_at(i)) != NULL && used < sizeof names; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ",
                                 one->name);
    if (entry == NULL)
        return wt_sweep_spec_fail(context, spec, NULL, "'experiment' must be given: one of %s",
                                  names);
    *out = wt_experiment_find(entry->text);
    if (*out == NULL)
        return wt_sweep_spec_fail(context, spec, entry, "'%s' is none of %s", entry->text, names);
    return WT_OK;
}

wt_status wt_axes_read(wt_context *context, const wt_sweep_spec *spec, wt_axes *out) {
    *out = (wt_axes){.arena = wt_arena_start(context, "values")};
    WT_PASS(find_experiment(context, spec, &out->experiment));
    const wt_experiment *experiment = out->experiment;
    for (size_t i = 0; i < spec->count; i++)
        WT_PASS(check_key(context, spec, &spec->entries[i], experiment));
    out->parameters = WT_TAKE_ZERO(&out->arena, wt_list, experiment->parameter_count);
    WT_PASS(out->arena.status);
    for (size_t i = 0; i < experiment->parameter_count; i++)
        WT_PASS(read_axis(&out->arena, spec, experiment, &experiment->parameters[i],
                          &out->parameters[i]));
    WT_PASS(read_axis(&out->arena, spec, experiment, &seed_parameter, &out->seeds));
    WT_PASS(read_reps(context, spec, out));
    sort_once(&out->seeds);
    if (experiment->group != NULL)
        sort_once(&out->parameters[wt_experiment_parameter(experiment, experiment->group)]);
    return WT_OK;
}

void wt_axes_free(wt_axes *axes) {
    wt_arena_free(&axes->arena);
    *axes = (wt_axes){0};
}
