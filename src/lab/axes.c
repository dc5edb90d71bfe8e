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

/* Room for `more` values after those there are. */
static wt_status grow(wt_arena *arena, wt_axis_values *axis, size_t more) {
    wt_value *larger = WT_TAKE(arena, wt_value, axis->count + more);
    if (larger != NULL && axis->count > 0)
        memcpy(larger, axis->values, axis->count * sizeof *larger);
    axis->values = larger;
    return arena->status;
}

static wt_status add_grid(wt_arena *arena, const wt_field *parameter, const char *text,
                          wt_axis_values *out) {
    bool whole = parameter->kind == WT_FIELD_KIND_COUNT || parameter->kind == WT_FIELD_KIND_NATURAL;
    double least = parameter->kind == WT_FIELD_KIND_COUNT ? 1 : 0;
    wt_grid grid = {0};
    wt_status status;
    WT_TRY((whole ? wt_grid_parse_integers : wt_grid_parse)(arena->context, text, &grid));
    WT_TRY(grow(arena, out, grid.count));
    for (size_t i = 0; i < grid.count; i++) {
        if (whole && grid.values[i] < least)
            WT_TRY(wt_fail(arena->context, WT_USAGE, "must be a whole number of %g or more, not %g",
                           least, grid.values[i]));
        out->values[out->count++] =
            (wt_value){.number = whole ? grid.values[i] : tidy(grid.values[i])};
    }
done:
    wt_grid_free(&grid);
    return status;
}

static wt_status add_word(wt_arena *arena, const wt_field *parameter, const char *word,
                          wt_axis_values *out) {
    wt_value value = {.text = word};
    if (parameter->kind == WT_FIELD_KIND_CHOICE && strchr("0123456789+-.", word[0]) != NULL)
        return add_grid(arena, parameter, word, out);
    if (parameter->kind == WT_FIELD_KIND_FLAG) {
        bool yes = strcmp(word, "yes") == 0;
        if (!yes && strcmp(word, "no") != 0)
            return wt_fail(arena->context, WT_USAGE, "'%s' is neither yes nor no", word);
        value = (wt_value){.number = yes};
    }
    WT_PASS(grow(arena, out, 1));
    out->values[out->count++] = value;
    return WT_OK;
}

/* Words with commas between them, blanks around them dropped; cuts the text into pieces. */
static wt_status add_words(wt_arena *arena, const wt_field *parameter, char *text,
                           wt_axis_values *out) {
    for (char *at = text; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma++ = '\0';
        at += strspn(at, " \t");
        for (size_t length = strlen(at); length > 0 && strchr(" \t", at[length - 1]) != NULL;)
            at[--length] = '\0';
        if (*at == '\0')
            return wt_fail(arena->context, WT_USAGE, "a value between commas is empty");
        WT_PASS(add_word(arena, parameter, at, out));
        at = comma;
    }
    return WT_OK;
}

static wt_status parse(wt_arena *arena, const wt_field *parameter, const char *text,
                       wt_axis_values *out) {
    char *copy = wt_arena_copy(arena, text);
    WT_PASS(arena->status);
    switch (parameter->kind) {
    case WT_FIELD_KIND_TEXT:
        return add_word(arena, parameter, copy, out);
    case WT_FIELD_KIND_WORD:
    case WT_FIELD_KIND_CHOICE:
    case WT_FIELD_KIND_FLAG:
        return add_words(arena, parameter, copy, out);
    default:
        return add_grid(arena, parameter, text, out);
    }
}

static int by_number(const void *a, const void *b) {
    double x = ((const wt_value *)a)->number, y = ((const wt_value *)b)->number;
    return (x > y) - (x < y);
}

static void sort_once(wt_axis_values *axis) {
    size_t kept = 0;
    qsort(axis->values, axis->count, sizeof *axis->values, by_number);
    for (size_t i = 0; i < axis->count; i++)
        if (kept == 0 || axis->values[i].number > axis->values[kept - 1].number)
            axis->values[kept++] = axis->values[i];
    axis->count = kept;
}

/* The values the specification gives, or the usual ones. */
static wt_status read_axis(wt_arena *arena, const wt_sweep_spec *spec, const wt_field *parameter,
                           wt_axis_values *out) {
    wt_context *context = arena->context;
    const wt_sweep_spec_entry *entry = wt_sweep_spec_find(spec, parameter->name);
    const wt_sweep_spec_entry *other = wt_sweep_spec_find(spec, wt_field_option(parameter));
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
    out->parameters = WT_TAKE_ZERO(&out->arena, wt_axis_values, experiment->parameter_count);
    WT_PASS(out->arena.status);
    for (size_t i = 0; i < experiment->parameter_count; i++)
        WT_PASS(read_axis(&out->arena, spec, &experiment->parameters[i], &out->parameters[i]));
    WT_PASS(read_axis(&out->arena, spec, &seed_parameter, &out->seeds));
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
