/* How the samples needed to reach a level of error grow with another size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/claims.h"

/* The sample size at which one draw of one line falls to the level. */
typedef struct {
    const char *key;     /* of the line's setting but for x */
    uint32_t line, draw; /* draws are numbered over all lines */
    double x, size;
    int beyond; /* 1: above the level at every size, the largest of which is `size`; -1: below it at
                   every size, the least of which it is */
} crossing;

static int by_setting(const void *left, const void *right) {
    const crossing *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    if (order == 0)
        order = (a->draw > b->draw) - (a->draw < b->draw);
    if (order == 0)
        order = (a->x > b->x) - (a->x < b->x);
    return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

static bool same_group(const crossing *a, const crossing *b) {
    return a->draw == b->draw && strcmp(a->key, b->key) == 0;
}

/* Between two points by a straight line through their logs. */
static double between(double x0, double y0, double x1, double y1, double level) {
    if (!(y1 > 0))
        return x1;
    return exp(log(x0) + log(y0 / level) / log(y0 / y1) * log(x1 / x0));
}

/* The first crossing of every draw of a line, whose points rise in size. `last` is room for a point
 * of every draw. Returns how many were written. */
static size_t cross(const wt_lines *lines, size_t index, const uint32_t *draws, double level,
                    double x, const char *key, const wt_line_point **last, crossing **of,
                    crossing *out) {
    const wt_line *line = &lines->lines[index];
    size_t count = 0;
    for (size_t i = line->first; i < line->first + line->count; i++)
        of[draws[i]] = NULL;
    for (size_t i = line->first; i < line->first + line->count; i++) {
        const wt_line_point *point = &lines->points[i], *before = last[draws[i]];
        crossing *here = of[draws[i]];
        wt_shelf_pass(&lines->shelf, i);
        bool below = point->y <= level;
        if (here == NULL) {
            here = of[draws[i]] = &out[count++];
            *here = (crossing){.key = key,
                               .line = (uint32_t)index,
                               .draw = draws[i],
                               .x = x,
                               .size = point->x,
                               .beyond = below ? -1 : 1};
        } else if (here->beyond == 1) {
            here->size =
                below ? between(before->x, before->y, point->x, point->y, level) : point->x;
            here->beyond = below ? 0 : 1;
        }
        last[draws[i]] = point;
    }
    return count;
}

/* The slope of log size against log x over one group, NaN with one x, and whether what lies beyond
 * the sizes could take it lower or higher. */
static double slope_of(const crossing *group, size_t count, bool *lower, bool *higher) {
    double mean_x = 0, mean_size = 0, product = 0, square = 0;
    for (size_t i = 0; i < count; i++) {
        mean_x += log(group[i].x) / (double)count;
        mean_size += log(group[i].size) / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        double away = log(group[i].x) - mean_x;
        product += away * (log(group[i].size) - mean_size);
        square += away * away;
        *higher |= group[i].beyond * away > 0;
        *lower |= group[i].beyond * away < 0;
    }
    return square > 0 ? product / square : NAN;
}

/* The mean over repetitions of the mean slope over settings. */
static wt_status average(wt_sample *sample, crossing *all, size_t count, wt_evidence *out) {
    wt_arena *arena = &sample->arena;
    const size_t draws = sample->draws;
    double *sums = WT_TAKE_ZERO(arena, double, draws), *values = WT_TAKE(arena, double, draws);
    size_t *groups = WT_TAKE_ZERO(arena, size_t, draws);
    bool lower = false, higher = false;
    if (arena->status != WT_OK)
        return arena->status;
    if (count > 0)
        qsort(all, count, sizeof *all, by_setting);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && same_group(&all[begin], &all[end]);)
            end++;
        double slope = slope_of(all + begin, end - begin, &lower, &higher);
        if (isnan(slope)) {
            out->dropped++;
            continue;
        }
        sums[all[begin].draw] += slope;
        groups[all[begin].draw]++;
        for (size_t i = begin; i < end; i++)
            out->censored += all[i].beyond != 0;
    }
    for (size_t i = 0; i < draws; i++)
        if (groups[i] > 0)
            values[out->repetitions++] = sums[i] / (double)groups[i];
    out->effect = wt_mean_interval(values, out->repetitions);
    if (lower && !isnan(out->effect.low))
        out->effect.low = -INFINITY;
    if (higher && !isnan(out->effect.high))
        out->effect.high = INFINITY;
    return WT_OK;
}

static wt_status measure_reach(wt_sample *sample, wt_evidence *out) {
    const wt_lines *lines = &sample->lines;
    const wt_claim_part *part = sample->part;
    uint32_t name = wt_results_name(lines->results, part->x);
    crossing *all = WT_TAKE(&sample->arena, crossing, lines->point_count);
    const wt_line_point **last = WT_TAKE(&sample->arena, const wt_line_point *, sample->draws);
    crossing **of = WT_TAKE(&sample->arena, crossing *, sample->draws);
    size_t count = 0;
    WT_PASS(sample->arena.status);
    for (size_t i = 0; i < lines->line_count; i++) {
        uint32_t value = wt_line_value(lines, &lines->lines[i], name);
        double x = value == WT_NO_TEXT ? NAN : lines->results->texts[value].number;
        const char *key = wt_line_key(&sample->arena, lines, lines->lines[i].setting, name);
        WT_PASS(sample->arena.status);
        if (x > 0)
            count += cross(lines, i, sample->draw, part->level, x, key, last, of, all + count);
    }
    return average(sample, all, count, out);
}

const wt_effect wt_effect_reach = {"exponent", .measure = measure_reach};
