/* Critical sizes from trials over a grid of (T, m), and how they grow with T. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/claims.h"
#include "lab/statistics_threshold.h"

#define SUCCESS_RATE 0.8 /* the published rule */

/* The points of a line as trials by size; returns how many sizes. */
static size_t trials_of(const wt_lines *lines, const wt_line *line, wt_trials *out) {
    size_t count = 0;
    for (size_t i = line->first; i < line->first + line->count; i++) {
        const wt_line_point *point = &lines->points[i];
        wt_shelf_pass(&lines->shelf, i);
        if (count == 0 || out[count - 1].m != point->x)
            out[count++] = (wt_trials){.m = point->x};
        out[count - 1].count++;
        out[count - 1].successes += point->y == 1;
    }
    return count;
}

/* A line among others of the same setting, but for T. */
typedef struct {
    const wt_line *line;
    const char *key; /* of the setting */
    double x;        /* T */
} member;

static int by_setting(const void *left, const void *right) {
    const member *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

/* The lines of the setting that has the most trials, by T; of those with as many the first. */
static size_t largest_setting(member *members, size_t count) {
    size_t best = 0, most = 0, size = 0;
    for (size_t begin = 0, end; begin < count; begin = end) {
        size_t trials = 0;
        for (end = begin; end < count && strcmp(members[begin].key, members[end].key) == 0; end++)
            trials += members[end].line->count;
        if (trials > most || (trials == most && members[begin].line < members[best].line)) {
            best = begin;
            size = end - begin;
            most = trials;
        }
    }
    memmove(members, members + best, size * sizeof *members);
    return size;
}

static int by_x(const void *left, const void *right) {
    const member *a = left, *b = right;
    int order = (a->x > b->x) - (a->x < b->x);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

static wt_status find_sizes(wt_sample *sample, wt_critical **out, size_t *count) {
    const wt_lines *lines = &sample->lines;
    const uint32_t x = wt_results_name(lines->results, sample->part->x);
    wt_trials *trials = WT_TAKE(&sample->arena, wt_trials, lines->point_count);
    member *members = WT_TAKE(&sample->arena, member, lines->line_count);
    WT_PASS(sample->arena.status);
    for (size_t i = 0; i < lines->line_count; i++) {
        const wt_line *line = &lines->lines[i];
        uint32_t value = wt_line_value(lines, line, x);
        double number = value == WT_NO_TEXT ? NAN : lines->results->texts[value].number;
        members[i] = (member){line, wt_line_key(&sample->arena, lines, line->setting, x),
                              isnan(number) ? 0 : number};
    }
    WT_PASS(sample->arena.status);
    size_t chosen = lines->line_count;
    if (chosen > 0) {
        qsort(members, chosen, sizeof *members, by_setting);
        chosen = largest_setting(members, chosen);
        qsort(members, chosen, sizeof *members, by_x);
    }
    WT_PASS(WT_NEW_ZERO(sample->context, out, chosen, "critical sizes"));
    for (; *count < chosen; ++*count) {
        size_t sizes = trials_of(lines, members[*count].line, trials);
        WT_PASS(wt_context_check_cancelled(sample->context));
        WT_PASS(wt_critical_fit(sample->context, members[*count].x, trials, sizes, SUCCESS_RATE,
                                *out + *count));
    }
    return WT_OK;
}

wt_status wt_critical_sizes(wt_context *context, const wt_results *results,
                            const wt_claim_part *part, wt_critical **out, size_t *count) {
    wt_sample sample;
    wt_status status;
    *out = NULL;
    *count = 0;
    WT_TRY(wt_sample_open(context, results, part, &sample));
    WT_TRY(find_sizes(&sample, out, count));
done:
    wt_sample_close(&sample);
    return status;
}

static wt_status measure(wt_sample *sample, bool slope, wt_evidence *out) {
    wt_critical *sizes = NULL;
    size_t count = 0;
    wt_status status;
    out->searched = !slope;
    out->cells = out->dropped = 0;
    WT_TRY(find_sizes(sample, &sizes, &count));
    for (size_t i = 0; i < count; i++) {
        out->cells += sizes[i].trials;
        out->censored += sizes[i].below || sizes[i].above;
    }
    out->settings = count > 0;
    WT_TRY((slope ? wt_critical_slope : wt_critical_growth)(sample->context, sizes, count,
                                                            &out->effect));
done:
    wt_release(sizes);
    return status;
}

static wt_status measure_growth(wt_sample *sample, wt_evidence *out) {
    return measure(sample, false, out);
}

static wt_status measure_slope(wt_sample *sample, wt_evidence *out) {
    return measure(sample, true, out);
}

const wt_effect wt_effect_threshold = {"exponent", .failures = true, .measure = measure_growth};
const wt_effect wt_effect_threshold_slope = {"exponent", .failures = true,
                                             .measure = measure_slope};
