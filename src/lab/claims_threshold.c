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
        if (count == 0 || out[count - 1].m != point->x)
            out[count++] = (wt_trials){.m = point->x};
        out[count - 1].count++;
        out[count - 1].successes += point->y == 1;
    }
    return count;
}

static double parameter(const wt_lines *lines, const wt_line *line, uint32_t name) {
    uint32_t value = wt_line_value(lines, line, name);
    double number = value == WT_NO_TEXT ? NAN : lines->results->texts[value].number;
    return isnan(number) ? 0 : number;
}

/* A line among others of the same setting, but for T. */
typedef struct {
    const wt_lines *lines;
    uint32_t x; /* name of T */
    size_t index;
} member;

static int by_setting(const void *left, const void *right) {
    const member *a = left, *b = right;
    int order =
        wt_line_order(a->lines, &a->lines->lines[a->index], &b->lines->lines[b->index], a->x);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

/* The lines of the setting that has the most trials, by T; of those with as many the first. */
static size_t largest_setting(member *members, size_t count) {
    size_t best = 0, most = 0, size = 0;
    for (size_t begin = 0, end; begin < count; begin = end) {
        const wt_line *lines = members->lines->lines;
        size_t trials = 0;
        for (end = begin; end < count && wt_line_order(members->lines, &lines[members[begin].index],
                                                       &lines[members[end].index], members->x) == 0;
             end++)
            trials += lines[members[end].index].count;
        if (trials > most || (trials == most && members[begin].index < members[best].index)) {
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
    double x = parameter(a->lines, &a->lines->lines[a->index], a->x);
    double y = parameter(b->lines, &b->lines->lines[b->index], b->x);
    int order = (x > y) - (x < y);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

wt_status wt_critical_sizes(wt_context *context, const wt_results *results,
                            const wt_claim_part *part, wt_critical **out, size_t *count,
                            size_t *failed) {
    wt_lines_query query = wt_part_query(part, part->size);
    wt_arena arena = wt_arena_start(context, "critical sizes");
    wt_lines lines;
    wt_status status;
    *out = NULL;
    *count = 0;
    query.failures = true;
    WT_TRY(wt_lines_find(context, results, &query, &lines));
    if (failed != NULL)
        *failed = lines.failed;
    wt_trials *trials = WT_TAKE(&arena, wt_trials, lines.point_count);
    member *members = WT_TAKE(&arena, member, lines.line_count);
    WT_TRY(arena.status);
    for (size_t i = 0; i < lines.line_count; i++)
        members[i] = (member){&lines, wt_results_name(results, part->x), i};
    size_t chosen = lines.line_count;
    if (chosen > 0) {
        qsort(members, chosen, sizeof *members, by_setting);
        chosen = largest_setting(members, chosen);
        qsort(members, chosen, sizeof *members, by_x);
    }
    WT_TRY(WT_NEW_ZERO(context, out, chosen, "critical sizes"));
    for (; *count < chosen; ++*count) {
        const wt_line *line = &lines.lines[members[*count].index];
        size_t sizes = trials_of(&lines, line, trials);
        WT_TRY(wt_context_check_cancelled(context));
        WT_TRY(wt_critical_fit(context, parameter(&lines, line, members->x), trials, sizes,
                               SUCCESS_RATE, *out + *count));
    }
done:
    wt_lines_free(&lines);
    wt_arena_free(&arena);
    return status;
}

static wt_status measure(wt_context *context, const wt_results *results, const wt_claim_part *part,
                         bool slope, wt_evidence *out) {
    wt_critical *sizes = NULL;
    size_t count;
    wt_status status;
    *out = (wt_evidence){.effect = {NAN, NAN, NAN}, .searched = !slope};
    WT_TRY(wt_critical_sizes(context, results, part, &sizes, &count, &out->failed));
    for (size_t i = 0; i < count; i++) {
        out->cells += sizes[i].trials;
        out->censored += sizes[i].below || sizes[i].above;
    }
    out->settings = count > 0;
    WT_TRY((slope ? wt_critical_slope : wt_critical_growth)(context, sizes, count, &out->effect));
done:
    wt_release(sizes);
    return status;
}

wt_status wt_effect_threshold(wt_context *context, const wt_results *results,
                              const wt_claim_part *part, wt_evidence *out) {
    return measure(context, results, part, false, out);
}

wt_status wt_effect_threshold_slope(wt_context *context, const wt_results *results,
                                    const wt_claim_part *part, wt_evidence *out) {
    return measure(context, results, part, true, out);
}
