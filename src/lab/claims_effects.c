/* What a claim's number is, from the cells that bear on it. */
#include <math.h>
#include <string.h>

#include "lab/claims.h"

/* Numbers of the same draw count once: as a mean over lines. */
typedef struct {
    double sum;
    size_t lines;
} unit;

typedef struct {
    wt_sample *of;
    unit *all;     /* (draws) */
    uint32_t *met; /* (draws) in the order they were met */
    size_t count;  /* of those */
    wt_evidence *seen;
    uint32_t line; /* the last that gave a number */
} units;

static wt_status units_start(wt_sample *sample, wt_evidence *seen, units *out) {
    seen->cells = seen->settings = 0;
    *out = (units){.of = sample,
                   .all = WT_TAKE_ZERO(&sample->arena, unit, sample->draws),
                   .met = WT_TAKE(&sample->arena, uint32_t, sample->draws),
                   .seen = seen,
                   .line = UINT32_MAX};
    return sample->arena.status;
}

/* A number that `cells` cells gave, NaN for none; the points come by line. */
static void units_add(units *to, size_t index, double number, size_t cells) {
    uint32_t draw = to->of->draw[index], line = to->of->lines.points[index].line;
    if (!isfinite(number)) {
        to->seen->dropped++;
        return;
    }
    if (to->all[draw].lines++ == 0)
        to->met[to->count++] = draw;
    to->all[draw].sum += number;
    to->seen->cells += cells;
    to->seen->settings += line != to->line;
    to->line = line;
}

/* The mean over draws. */
static wt_status units_mean(units *from) {
    double *means = WT_TAKE(&from->of->arena, double, from->count);
    WT_PASS(from->of->arena.status);
    for (size_t i = 0; i < from->count; i++)
        means[i] = from->all[from->met[i]].sum / (double)from->all[from->met[i]].lines;
    from->seen->effect = wt_mean_interval(means, from->count);
    from->seen->repetitions = from->count;
    return WT_OK;
}

#define LAST UINT32_MAX

/* Chains the points of every draw within a line, in their order: next[i] is the next point of the
 * draw of point i, LAST for the last, and opens[i] tells the first. */
static wt_status chain_draws(wt_sample *sample, uint32_t *next, bool *opens) {
    const wt_line_point *points = sample->lines.points;
    uint32_t *last = WT_TAKE(&sample->arena, uint32_t, sample->draws); /* of every draw */
    WT_PASS(sample->arena.status);
    for (size_t i = 0; i < sample->draws; i++)
        last[i] = LAST;
    for (uint32_t i = 0; i < sample->lines.point_count; i++) {
        uint32_t before = last[sample->draw[i]];
        wt_shelf_pass(&sample->lines.shelf, i);
        opens[i] = before == LAST || points[before].line != points[i].line;
        if (!opens[i])
            next[before] = i;
        next[i] = LAST;
        last[sample->draw[i]] = i;
    }
    return WT_OK;
}

static wt_status measure_exponent(wt_sample *sample, wt_evidence *out) {
    const wt_lines *lines = &sample->lines;
    size_t most = 0; /* points of a line */
    units slopes;
    WT_PASS(units_start(sample, out, &slopes));
    for (size_t i = 0; i < lines->line_count; i++)
        most = lines->lines[i].count > most ? lines->lines[i].count : most;
    double *x = WT_TAKE(&sample->arena, double, most), *y = WT_TAKE(&sample->arena, double, most);
    uint32_t *next = WT_TAKE(&sample->arena, uint32_t, lines->point_count);
    bool *opens = WT_TAKE(&sample->arena, bool, lines->point_count);
    WT_PASS(chain_draws(sample, next, opens));
    for (size_t i = 0; i < lines->point_count; i++) {
        size_t count = 0;
        wt_shelf_pass(&lines->shelf, i);
        if (!opens[i])
            continue;
        for (uint32_t k = (uint32_t)i; k != LAST; k = next[k]) {
            x[count] = lines->points[k].x;
            y[count++] = lines->points[k].y;
        }
        WT_PASS(wt_context_check_cancelled(sample->context));
        if (x[0] != x[count - 1]) /* else it has no slope to give */
            units_add(&slopes, i, wt_log_slope(x, y, count), count);
    }
    return units_mean(&slopes);
}

/* The point of the other side on the same draws, or NULL. *alike is the line of it, found when a
 * line of ours begins. */
static const wt_line_point *partner(const wt_lines *ours, const wt_lines *theirs, size_t index,
                                    const wt_line **alike) {
    const wt_line_point *point = &ours->points[index];
    wt_shelf_pass(&ours->shelf, index);
    wt_shelf_pass(&theirs->shelf, index);
    if (ours->lines[point->line].first == index)
        *alike = wt_lines_alike(theirs, ours, point->line);
    return *alike == NULL ? NULL : wt_lines_at(theirs, *alike, point->x, point->seed, point->rep);
}

/* The largest x that both sides have in any setting. */
static double largest_shared(const wt_lines *ours, const wt_lines *theirs) {
    double largest = -INFINITY;
    const wt_line *alike = NULL;
    for (size_t i = 0; i < ours->point_count; i++) {
        const wt_line_point *other = partner(ours, theirs, i, &alike);
        if (other != NULL && ours->points[i].x > largest)
            largest = ours->points[i].x;
    }
    return largest;
}

/* log(a / b); NaN unless both are above 0. */
static double log_ratio(double a, double b) {
    return a > 0 && b > 0 ? log(a / b) : NAN;
}

static wt_status measure_log_ratio(wt_sample *sample, wt_evidence *out) {
    const wt_lines *ours = &sample->lines;
    const wt_line *alike = NULL;
    wt_lines theirs;
    units ratios;
    wt_status status;
    WT_TRY(wt_sample_versus(sample, &theirs));
    WT_TRY(units_start(sample, out, &ratios));
    out->dropped += theirs.left_out;
    out->failed += theirs.failed;
    double largest = largest_shared(ours, &theirs);
    for (size_t i = 0; i < ours->point_count; i++) {
        const wt_line_point *point = &ours->points[i], *other = partner(ours, &theirs, i, &alike);
        if (point->x == largest && other != NULL)
            units_add(&ratios, i, log_ratio(point->y, other->y), 2);
    }
    WT_TRY(units_mean(&ratios));
done:
    wt_lines_free(&theirs);
    return status;
}

static wt_status measure_mean(wt_sample *sample, wt_evidence *out) {
    units values;
    WT_PASS(units_start(sample, out, &values));
    for (size_t i = 0; i < sample->lines.point_count; i++) {
        units_add(&values, i, sample->lines.points[i].y, 1);
        wt_shelf_pass(&sample->lines.shelf, i);
    }
    return units_mean(&values);
}

static wt_status measure_rate(wt_sample *sample, wt_evidence *out) {
    units trials;
    size_t successes = 0;
    WT_PASS(units_start(sample, out, &trials));
    for (size_t i = 0; i < sample->lines.point_count; i++) {
        units_add(&trials, i, sample->lines.points[i].y == 1, 1);
        wt_shelf_pass(&sample->lines.shelf, i);
    }
    for (size_t i = 0; i < sample->draws; i++)
        successes += trials.all[i].lines > 0 && trials.all[i].sum == (double)trials.all[i].lines;
    out->effect = wt_rate_interval(successes, trials.count);
    out->repetitions = trials.count;
    return WT_OK;
}

const wt_effect wt_effect_exponent = {"exponent", .measure = measure_exponent};
const wt_effect wt_effect_log_ratio = {"log ratio", .every = true, .measure = measure_log_ratio};
const wt_effect wt_effect_mean = {"log ratio", .every = true, .measure = measure_mean};
const wt_effect wt_effect_rate = {"rate", .every = true, .failures = true, .measure = measure_rate};
