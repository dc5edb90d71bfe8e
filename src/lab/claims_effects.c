/* What a claim's number is, from the cells that bear on it. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "lab/claims.h"

static const wt_interval nothing = {NAN, NAN, NAN};

static wt_lines_query query_of(const wt_claim_part *part, const char *where, const char *apart) {
    return (wt_lines_query){.experiment = part->experiment,
                            .where = where,
                            .x = part->x,
                            .y = part->y,
                            .apart = apart,
                            .demand = part->demand};
}

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
    uint32_t *of; /* draw of every point */
    size_t draws;
    unit *all; /* (draws) */
    size_t count, cells, dropped, failed;
    size_t settings;
    uint32_t line; /* lines met so far, and the last of them */
    uint32_t *met; /* (count) draws in the order they were met */
} units;

static wt_status units_open(wt_context *context, const wt_lines *lines, units *out) {
    wt_status status;
    *out = (units){.line = UINT32_MAX, .dropped = lines->left_out, .failed = lines->failed};
    WT_TRY(WT_NEW(context, &out->of, lines->point_count, "repetitions"));
    WT_TRY(wt_number_draws(context, lines->points, lines->point_count, out->of, &out->draws));
    WT_TRY(WT_NEW_ZERO(context, &out->all, out->draws, "repetitions"));
    WT_TRY(WT_NEW(context, &out->met, out->draws, "repetitions"));
done:
    return status;
}

static void units_close(units *all) {
    wt_release(all->of);
    wt_release(all->all);
    wt_release(all->met);
}

/* A number that `cells` cells gave, NaN for none; the points come by line. */
static void units_add(units *to, const wt_lines *lines, size_t index, double number, size_t cells) {
    const wt_line_point *point = &lines->points[index];
    uint32_t draw = to->of[index];
    if (!isfinite(number)) {
        to->dropped++;
        return;
    }
    if (to->all[draw].lines++ == 0)
        to->met[to->count++] = draw;
    to->all[draw].sum += number;
    to->cells += cells;
    to->settings += point->line != to->line;
    to->line = point->line;
}

static wt_status units_evidence(wt_context *context, const units *from, wt_evidence *out) {
    double *means = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &means, from->count, "repetitions"));
    for (size_t i = 0; i < from->count; i++)
        means[i] = from->all[from->met[i]].sum / (double)from->all[from->met[i]].lines;
    *out = (wt_evidence){.effect = wt_mean_interval(means, from->count),
                         .cells = from->cells,
                         .settings = from->settings,
                         .repetitions = from->count,
                         .dropped = from->dropped,
                         .failed = from->failed};
done:
    wt_release(means);
    return status;
}

#define LAST UINT32_MAX

/* Chains the points of every draw within a line, in their order: next[i] is the next point of the
 * draw of point i, LAST for the last, and opens[i] tells the first. */
static wt_status chain_draws(wt_context *context, const wt_lines *lines, const units *all,
                             uint32_t *next, bool *opens) {
    uint32_t *last = NULL; /* of every draw */
    wt_status status;
    WT_TRY(WT_NEW(context, &last, all->draws, "repetitions"));
    for (size_t i = 0; i < all->draws; i++)
        last[i] = LAST;
    for (uint32_t i = 0; i < lines->point_count; i++) {
        uint32_t before = last[all->of[i]];
        opens[i] = before == LAST || lines->points[before].line != lines->points[i].line;
        if (!opens[i])
            next[before] = i;
        next[i] = LAST;
        last[all->of[i]] = i;
    }
done:
    wt_release(last);
    return status;
}

wt_status wt_effect_exponent(wt_context *context, const wt_results *results,
                             const wt_claim_part *part, wt_evidence *out) {
    wt_lines lines;
    wt_lines_query query = query_of(part, part->where, part->apart);
    double *x = NULL, *y = NULL;
    uint32_t *next = NULL;
    bool *opens = NULL;
    size_t most = 0; /* points of a line */
    units slopes = {0};
    wt_status status;
    *out = (wt_evidence){.effect = nothing};
    WT_TRY(wt_lines_find(context, results, &query, &lines));
    for (size_t i = 0; i < lines.line_count; i++)
        most = lines.lines[i].count > most ? lines.lines[i].count : most;
    WT_TRY(WT_NEW(context, &x, most, "slopes"));
    WT_TRY(WT_NEW(context, &y, most, "slopes"));
    WT_TRY(WT_NEW(context, &next, lines.point_count, "slopes"));
    WT_TRY(WT_NEW(context, &opens, lines.point_count, "slopes"));
    WT_TRY(units_open(context, &lines, &slopes));
    WT_TRY(chain_draws(context, &lines, &slopes, next, opens));
    for (size_t i = 0; i < lines.point_count; i++) {
        size_t count = 0;
        if (!opens[i])
            continue;
        for (uint32_t k = (uint32_t)i; k != LAST; k = next[k]) {
            x[count] = lines.points[k].x;
            y[count++] = lines.points[k].y;
        }
        if (x[0] != x[count - 1]) /* else it has no slope to give */
            units_add(&slopes, &lines, i, wt_log_slope(x, y, count), count);
    }
    WT_TRY(units_evidence(context, &slopes, out));
done:
    wt_lines_free(&lines);
    wt_release(x);
    wt_release(y);
    wt_release(next);
    wt_release(opens);
    units_close(&slopes);
    return status;
}

/* Names in front of the "=" of the words, parted by blanks: these tell the two sides apart. */
static void names_in(const char *words, char *out, size_t size) {
    size_t length = 0;
    for (; words != NULL && *words != '\0'; words += *words == ' ') {
        size_t whole = strcspn(words, " "), left = strcspn(words, "!=");
        for (size_t i = 0; i < left && left < whole && length + 2 < size; i++)
            out[length++] = words[i];
        if (length + 2 < size)
            out[length++] = ' ';
        words += whole;
    }
    out[length] = '\0';
}

/* The parameters that the two sides of a comparison may differ in: those that are fixed to one
 * value on each side, and what belongs to a model alone. */
static void sides_apart(const wt_claim_part *part, char *out, size_t size) {
    /* Patterns ("mean-power:*") stand for several values, which have to be the same on both
     * sides. */
    bool open = strchr(part->where, '*') != NULL;
    if (open)
        names_in("model= bias= width= activation=", out, size);
    else
        names_in("model= target= bias= width= activation=", out, size);
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

wt_status wt_effect_log_ratio(wt_context *context, const wt_results *results,
                              const wt_claim_part *part, wt_evidence *out) {
    char apart[128];
    wt_lines ours = {0}, theirs = {0};
    units ratios = {0};
    wt_status status;
    *out = (wt_evidence){.effect = nothing};
    sides_apart(part, apart, sizeof apart);
    wt_lines_query query = query_of(part, part->where, apart);
    query.every = true;
    WT_TRY(wt_lines_find(context, results, &query, &ours));
    query.where = part->versus;
    WT_TRY(wt_lines_find(context, results, &query, &theirs));
    WT_TRY(units_open(context, &ours, &ratios));
    ratios.dropped += theirs.left_out;
    ratios.failed += theirs.failed;
    double largest = largest_shared(&ours, &theirs);
    const wt_line *alike = NULL;
    for (size_t i = 0; i < ours.point_count; i++) {
        const wt_line_point *point = &ours.points[i], *other = partner(&ours, &theirs, i, &alike);
        if (point->x == largest && other != NULL)
            units_add(&ratios, &ours, i, log_ratio(point->y, other->y), 2);
    }
    WT_TRY(units_evidence(context, &ratios, out));
done:
    wt_lines_free(&ours);
    wt_lines_free(&theirs);
    units_close(&ratios);
    return status;
}

wt_status wt_effect_mean(wt_context *context, const wt_results *results, const wt_claim_part *part,
                         wt_evidence *out) {
    wt_lines lines;
    wt_lines_query query = query_of(part, part->where, part->apart);
    units values = {0};
    wt_status status;
    *out = (wt_evidence){.effect = nothing};
    query.every = true;
    WT_TRY(wt_lines_find(context, results, &query, &lines));
    WT_TRY(units_open(context, &lines, &values));
    for (size_t i = 0; i < lines.point_count; i++)
        units_add(&values, &lines, i, lines.points[i].y, 1);
    WT_TRY(units_evidence(context, &values, out));
done:
    wt_lines_free(&lines);
    units_close(&values);
    return status;
}

wt_status wt_effect_rate(wt_context *context, const wt_results *results, const wt_claim_part *part,
                         wt_evidence *out) {
    wt_lines lines;
    wt_lines_query query = query_of(part, part->where, part->apart);
    units trials = {0};
    size_t successes = 0;
    wt_status status;
    *out = (wt_evidence){.effect = nothing};
    query.every = query.failures = true;
    WT_TRY(wt_lines_find(context, results, &query, &lines));
    WT_TRY(units_open(context, &lines, &trials));
    for (size_t i = 0; i < lines.point_count; i++)
        units_add(&trials, &lines, i, lines.points[i].y == 1, 1);
    for (size_t i = 0; i < trials.draws; i++)
        successes += trials.all[i].lines > 0 && trials.all[i].sum == (double)trials.all[i].lines;
    *out = (wt_evidence){.effect = wt_rate_interval(successes, trials.count),
                         .cells = trials.cells,
                         .settings = trials.settings,
                         .repetitions = trials.count,
                         .dropped = trials.dropped,
                         .failed = trials.failed};
done:
    wt_lines_free(&lines);
    units_close(&trials);
    return status;
}
