/* What a claim's number is, from the cells that bear on it. */
#include <math.h>
#include <string.h>

#include "lab/claims.h"

/* Numbers the (seed, repetition) of the points from 0: of[i]. Lines share draws at the same one. */
wt_status wt_number_draws(wt_context *context, const wt_line_point *points, size_t count,
                          uint32_t *of, size_t *draws) {
    wt_slots table = {0};
    uint32_t *first = NULL; /* point of every draw */
    wt_status status;
    *draws = 0;
    WT_TRY(WT_NEW(context, &first, count, "repetitions"));
    for (uint32_t i = 0; i < count; i++) {
        const int64_t draw[] = {points[i].seed, points[i].rep};
        uint32_t hash = wt_slots_hash(0, draw, sizeof draw), known;
        size_t cursor = wt_slots_start(&table, hash);
        bool found = false;
        while (!found && wt_slots_next(&table, hash, &cursor, &known))
            found = points[first[known]].seed == draw[0] && points[first[known]].rep == draw[1];
        if (!found) {
            known = (uint32_t)(*draws)++;
            first[known] = i;
            WT_TRY(wt_slots_add(context, &table, hash, known));
        }
        of[i] = known;
    }
done:
    wt_slots_free(&table);
    wt_release(first);
    return status;
}

/* Numbers of the same draw count once: as a mean over lines. */
typedef struct {
    double sum;
    size_t lines;
} unit;

typedef struct {
    wt_lines lines;
    wt_arena arena; /* holds what follows */
    uint32_t *of;   /* draw of every point */
    size_t draws;
    unit *all;     /* (draws) */
    uint32_t *met; /* (draws) in the order they were met */
    size_t met_count;
    wt_evidence seen; /* so far: cells, settings, dropped, failed */
    uint32_t line;    /* the last that gave a number */
} units;

static wt_status units_open(wt_context *context, const wt_results *results,
                            const wt_lines_query *query, units *out) {
    *out = (units){.line = UINT32_MAX, .arena = wt_arena_start(context, "repetitions")};
    WT_PASS(wt_lines_find(context, results, query, &out->lines));
    out->seen.dropped = out->lines.left_out;
    out->seen.failed = out->lines.failed;
    out->of = WT_TAKE(&out->arena, uint32_t, out->lines.point_count);
    WT_PASS(out->arena.status);
    WT_PASS(
        wt_number_draws(context, out->lines.points, out->lines.point_count, out->of, &out->draws));
    out->all = WT_TAKE_ZERO(&out->arena, unit, out->draws);
    out->met = WT_TAKE(&out->arena, uint32_t, out->draws);
    return out->arena.status;
}

static void units_close(units *all) {
    wt_lines_free(&all->lines);
    wt_arena_free(&all->arena);
}

/* A number that `cells` cells gave, NaN for none; the points come by line. */
static void units_add(units *to, size_t index, double number, size_t cells) {
    uint32_t draw = to->of[index], line = to->lines.points[index].line;
    if (!isfinite(number)) {
        to->seen.dropped++;
        return;
    }
    if (to->all[draw].lines++ == 0)
        to->met[to->met_count++] = draw;
    to->all[draw].sum += number;
    to->seen.cells += cells;
    to->seen.settings += line != to->line;
    to->line = line;
}

/* The mean over draws. */
static wt_status units_evidence(units *from, wt_evidence *out) {
    double *means = WT_TAKE(&from->arena, double, from->met_count);
    *out = from->seen;
    if (means == NULL)
        return from->arena.status;
    for (size_t i = 0; i < from->met_count; i++)
        means[i] = from->all[from->met[i]].sum / (double)from->all[from->met[i]].lines;
    out->effect = wt_mean_interval(means, from->met_count);
    out->repetitions = from->met_count;
    return WT_OK;
}

#define LAST UINT32_MAX

/* Chains the points of every draw within a line, in their order: next[i] is the next point of the
 * draw of point i, LAST for the last, and opens[i] tells the first. */
static wt_status chain_draws(units *all, uint32_t *next, bool *opens) {
    const wt_line_point *points = all->lines.points;
    uint32_t *last = WT_TAKE(&all->arena, uint32_t, all->draws); /* of every draw */
    if (all->arena.status != WT_OK)
        return all->arena.status;
    for (size_t i = 0; i < all->draws; i++)
        last[i] = LAST;
    for (uint32_t i = 0; i < all->lines.point_count; i++) {
        uint32_t before = last[all->of[i]];
        opens[i] = before == LAST || points[before].line != points[i].line;
        if (!opens[i])
            next[before] = i;
        next[i] = LAST;
        last[all->of[i]] = i;
    }
    return WT_OK;
}

wt_status wt_effect_exponent(wt_context *context, const wt_results *results,
                             const wt_claim_part *part, wt_evidence *out) {
    const wt_lines_query query = wt_part_query(part, part->x);
    size_t most = 0; /* points of a line */
    units slopes;
    wt_status status;
    *out = (wt_evidence){.effect = {NAN, NAN, NAN}};
    WT_TRY(units_open(context, results, &query, &slopes));
    const wt_lines *lines = &slopes.lines;
    for (size_t i = 0; i < lines->line_count; i++)
        most = lines->lines[i].count > most ? lines->lines[i].count : most;
    double *x = WT_TAKE(&slopes.arena, double, most), *y = WT_TAKE(&slopes.arena, double, most);
    uint32_t *next = WT_TAKE(&slopes.arena, uint32_t, lines->point_count);
    bool *opens = WT_TAKE(&slopes.arena, bool, lines->point_count);
    WT_TRY(chain_draws(&slopes, next, opens));
    for (size_t i = 0; i < lines->point_count; i++) {
        size_t count = 0;
        if (!opens[i])
            continue;
        for (uint32_t k = (uint32_t)i; k != LAST; k = next[k]) {
            x[count] = lines->points[k].x;
            y[count++] = lines->points[k].y;
        }
        WT_TRY(wt_context_check_cancelled(context));
        if (x[0] != x[count - 1]) /* else it has no slope to give */
            units_add(&slopes, i, wt_log_slope(x, y, count), count);
    }
    WT_TRY(units_evidence(&slopes, out));
done:
    units_close(&slopes);
    return status;
}

/* The point of the other side on the same draws, or NULL. *alike is the line of it, found when a
 * line of ours begins. */
static const wt_line_point *partner(const wt_lines *ours, const wt_lines *theirs, size_t index,
                                    const wt_line **alike) {
    const wt_line_point *point = &ours->points[index];
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

/* What belongs to a model alone may differ between the two sides of a comparison, and the target
 * where each side has one: a pattern ("mean-power:*") stands for several, which have to be the same
 * on both sides. */
static const char *sides_apart(const wt_claim_part *part) {
    return strchr(part->where, '*') != NULL ? "model bias width activation"
                                            : "model target bias width activation";
}

wt_status wt_effect_log_ratio(wt_context *context, const wt_results *results,
                              const wt_claim_part *part, wt_evidence *out) {
    wt_lines_query query = wt_part_query(part, part->x);
    wt_lines theirs = {0};
    units ratios;
    wt_status status;
    *out = (wt_evidence){.effect = {NAN, NAN, NAN}};
    query.apart = sides_apart(part);
    query.every = true;
    WT_TRY(units_open(context, results, &query, &ratios));
    query.where = part->versus;
    WT_TRY(wt_lines_find(context, results, &query, &theirs));
    ratios.seen.dropped += theirs.left_out;
    ratios.seen.failed += theirs.failed;
    const wt_lines *ours = &ratios.lines;
    double largest = largest_shared(ours, &theirs);
    const wt_line *alike = NULL;
    for (size_t i = 0; i < ours->point_count; i++) {
        const wt_line_point *point = &ours->points[i], *other = partner(ours, &theirs, i, &alike);
        if (point->x == largest && other != NULL)
            units_add(&ratios, i, log_ratio(point->y, other->y), 2);
    }
    WT_TRY(units_evidence(&ratios, out));
done:
    wt_lines_free(&theirs);
    units_close(&ratios);
    return status;
}

wt_status wt_effect_mean(wt_context *context, const wt_results *results, const wt_claim_part *part,
                         wt_evidence *out) {
    wt_lines_query query = wt_part_query(part, part->x);
    units values;
    wt_status status;
    *out = (wt_evidence){.effect = {NAN, NAN, NAN}};
    query.every = true;
    WT_TRY(units_open(context, results, &query, &values));
    for (size_t i = 0; i < values.lines.point_count; i++)
        units_add(&values, i, values.lines.points[i].y, 1);
    WT_TRY(units_evidence(&values, out));
done:
    units_close(&values);
    return status;
}

wt_status wt_effect_rate(wt_context *context, const wt_results *results, const wt_claim_part *part,
                         wt_evidence *out) {
    wt_lines_query query = wt_part_query(part, part->x);
    units trials;
    size_t successes = 0;
    wt_status status;
    *out = (wt_evidence){.effect = {NAN, NAN, NAN}};
    query.every = query.failures = true;
    WT_TRY(units_open(context, results, &query, &trials));
    for (size_t i = 0; i < trials.lines.point_count; i++)
        units_add(&trials, i, trials.lines.points[i].y == 1, 1);
    for (size_t i = 0; i < trials.draws; i++)
        successes += trials.all[i].lines > 0 && trials.all[i].sum == (double)trials.all[i].lines;
    *out = trials.seen;
    out->effect = wt_rate_interval(successes, trials.met_count);
    out->repetitions = trials.met_count;
done:
    units_close(&trials);
    return status;
}
