/* What a claim's number is, from the cells that bear on it. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "lab/claims.h"
#include "lab/statistics_fit.h"
#include "wattle/random.h"

static const wt_interval nothing = {NAN, NAN, NAN};

static wt_lines_query query_of(const wt_claim_part *part, const char *where, const char *apart) {
    return (wt_lines_query){
        .experiment = part->experiment, .where = where, .x = part->x, .y = part->y, .apart = apart};
}

/* Whether two points of one line come from the same draws. */
static bool same_draw(const wt_line_point *a, const wt_line_point *b) {
    return a->seed == b->seed && a->rep == b->rep;
}

/* The first point of its line with these draws: there every repetition is met once. */
static bool opens_draw(const wt_lines *lines, size_t index) {
    const wt_line *line = &lines->lines[lines->points[index].line];
    for (size_t i = line->first; i < index; i++)
        if (same_draw(&lines->points[i], &lines->points[index]))
            return false;
    return true;
}

wt_status wt_effect_exponent(wt_context *context, const wt_results *results,
                             const wt_claim_part *part, wt_evidence *out) {
    wt_lines lines;
    wt_lines_query query = query_of(part, part->where, part->apart);
    double *x = NULL, *y = NULL, *slopes = NULL;
    size_t units = 0, used = 0;
    wt_status status;
    *out = (wt_evidence){.effect = nothing};
    WT_TRY(wt_lines_find(context, results, &query, &lines));
    WT_TRY(WT_NEW(context, &x, lines.point_count, "slopes"));
    WT_TRY(WT_NEW(context, &y, lines.point_count, "slopes"));
    WT_TRY(WT_NEW(context, &slopes, lines.point_count, "slopes"));
    for (size_t i = 0; i < lines.point_count; i++) {
        const wt_line *line = &lines.lines[lines.points[i].line];
        size_t count = 0;
        if (!opens_draw(&lines, i))
            continue;
        for (size_t k = line->first; k < line->first + line->count; k++)
            if (same_draw(&lines.points[k], &lines.points[i]) &&
                (part->ceiling == 0 || lines.points[k].y <= part->ceiling)) {
                x[count] = lines.points[k].x;
                y[count++] = lines.points[k].y;
            }
        slopes[units] = wt_log_slope(x, y, count);
        if (!isnan(slopes[units])) {
            units++;
            used += count;
        }
    }
    *out = (wt_evidence){wt_mean_interval(slopes, units), used};
done:
    wt_lines_free(&lines);
    wt_release(x);
    wt_release(y);
    wt_release(slopes);
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

/* The largest x at which both sides have the draws of the point; NaN when there is none. */
static double largest_shared(const wt_lines *ours, const wt_lines *theirs, size_t index) {
    const wt_line_point *point = &ours->points[index];
    const wt_line *line = &ours->lines[point->line];
    for (size_t k = line->first + line->count; k-- > line->first;)
        if (same_draw(&ours->points[k], point) &&
            wt_lines_at(theirs, line->key, ours->points[k].x, point->seed, point->rep) != NULL)
            return ours->points[k].x;
    return NAN;
}

wt_status wt_effect_log_ratio(wt_context *context, const wt_results *results,
                              const wt_claim_part *part, wt_evidence *out) {
    char apart[128];
    wt_lines ours = {0}, theirs = {0};
    double *a = NULL, *b = NULL;
    size_t pairs = 0;
    wt_status status;
    *out = (wt_evidence){.effect = nothing};
    sides_apart(part, apart, sizeof apart);
    wt_lines_query query = query_of(part, part->where, apart);
    query.every = true;
    WT_TRY(wt_lines_find(context, results, &query, &ours));
    query.where = part->versus;
    WT_TRY(wt_lines_find(context, results, &query, &theirs));
    WT_TRY(WT_NEW(context, &a, ours.point_count, "ratios"));
    WT_TRY(WT_NEW(context, &b, ours.point_count, "ratios"));
    for (size_t i = 0; i < ours.point_count; i++) {
        const wt_line_point *point = &ours.points[i];
        if (point->x != largest_shared(&ours, &theirs, i))
            continue;
        a[pairs] = point->y;
        b[pairs++] =
            wt_lines_at(&theirs, ours.lines[point->line].key, point->x, point->seed, point->rep)->y;
    }
    *out = (wt_evidence){wt_log_ratio_interval(a, b, pairs), 2 * pairs};
done:
    wt_lines_free(&ours);
    wt_lines_free(&theirs);
    wt_release(a);
    wt_release(b);
    return status;
}

wt_status wt_effect_mean(wt_context *context, const wt_results *results, const wt_claim_part *part,
                         wt_evidence *out) {
    wt_lines lines;
    wt_lines_query query = query_of(part, part->where, part->apart);
    double *values = NULL;
    wt_status status;
    *out = (wt_evidence){.effect = nothing};
    query.every = true;
    WT_TRY(wt_lines_find(context, results, &query, &lines));
    WT_TRY(WT_NEW(context, &values, lines.point_count, "values"));
    for (size_t i = 0; i < lines.point_count; i++)
        values[i] = lines.points[i].y;
    *out = (wt_evidence){wt_mean_interval(values, lines.point_count), lines.point_count};
done:
    wt_lines_free(&lines);
    wt_release(values);
    return status;
}

wt_status wt_effect_rate(wt_context *context, const wt_results *results, const wt_claim_part *part,
                         wt_evidence *out) {
    wt_lines lines;
    wt_lines_query query = query_of(part, part->where, part->apart);
    size_t successes = 0;
    wt_status status;
    *out = (wt_evidence){.effect = nothing};
    query.every = true;
    WT_TRY(wt_lines_find(context, results, &query, &lines));
    for (size_t i = 0; i < lines.point_count; i++)
        successes += lines.points[i].y == 1;
    *out = (wt_evidence){wt_rate_interval(successes, lines.point_count), lines.point_count};
done:
    wt_lines_free(&lines);
    return status;
}

/* Mean log y at each x of all points, or of a resample of them (draw > 0). Points are sorted by x.
 * Returns the number of different x. */
static size_t mean_logs(const wt_line_point *points, size_t count, size_t draw, double *x,
                        double *y) {
    size_t groups = 0;
    for (size_t begin = 0, end; begin < count; begin = end) {
        double sum = 0, uniform;
        for (end = begin + 1; end < count && points[end].x == points[begin].x;)
            end++;
        for (size_t i = begin; i < end; i++) {
            wt_random_uniform(wt_stream_for(WT_CLAIM_SEED, "resample", draw), i, 1, &uniform);
            size_t pick = draw == 0 ? i : begin + (size_t)(uniform * (double)(end - begin));
            sum += log(points[pick].y);
        }
        x[groups] = points[begin].x;
        y[groups++] = sum / (double)(end - begin);
    }
    return groups;
}

wt_status wt_effect_growth(wt_context *context, const wt_results *results,
                           const wt_claim_part *part, wt_evidence *out) {
    wt_lines lines;
    wt_lines_query query = query_of(part, part->where, part->apart);
    double *x = NULL, *y = NULL, *draws = NULL;
    size_t kept = 0;
    wt_status status;
    *out = (wt_evidence){.effect = nothing};
    WT_TRY(wt_lines_find(context, results, &query, &lines));
    if (lines.line_count == 0)
        goto done;
    /* One setting: costs of others are not to be mixed in. */
    const wt_line *line = &lines.lines[0];
    for (size_t i = 1; i < lines.line_count; i++)
        line = lines.lines[i].count > line->count ? &lines.lines[i] : line;
    const wt_line_point *points = lines.points + line->first;
    WT_TRY(WT_NEW(context, &x, line->count, "growth"));
    WT_TRY(WT_NEW(context, &y, line->count, "growth"));
    WT_TRY(WT_NEW(context, &draws, WT_BOOTSTRAP_DRAWS, "growth"));
    for (size_t draw = 1; draw <= WT_BOOTSTRAP_DRAWS; draw++) {
        size_t groups = mean_logs(points, line->count, draw, x, y);
        draws[kept] = wt_growth_exponent(x, y, groups);
        kept += isnan(draws[kept]) ? 0 : 1;
    }
    size_t groups = mean_logs(points, line->count, 0, x, y);
    *out = (wt_evidence){wt_draws_interval(wt_growth_exponent(x, y, groups), draws, kept),
                         line->count};
done:
    wt_lines_free(&lines);
    wt_release(x);
    wt_release(y);
    wt_release(draws);
    return status;
}
