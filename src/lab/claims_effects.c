/* What a claim's number is, from the cells that bear on it. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "lab/claims.h"

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

/* Lines share draws at the same (seed, repetition), so that their numbers count once: as a mean. */
typedef struct {
    int64_t seed, rep;
    double sum;
    size_t lines;
} unit;

typedef struct {
    unit *all;
    size_t count, cells, dropped;
    size_t settings, line; /* lines met so far, and the last of them */
} units;

/* Room for as many as there are points. */
static wt_status units_open(wt_context *context, const wt_lines *lines, units *out) {
    *out = (units){.line = SIZE_MAX, .dropped = lines->left_out};
    return WT_NEW(context, &out->all, lines->point_count, "repetitions");
}

/* A number that `cells` cells gave, NaN for none; the points come by line. */
static void units_add(units *to, const wt_line_point *point, double number, size_t cells) {
    size_t i = 0;
    if (!isfinite(number)) {
        to->dropped++;
        return;
    }
    while (i < to->count && (to->all[i].seed != point->seed || to->all[i].rep != point->rep))
        i++;
    if (i == to->count)
        to->all[to->count++] = (unit){.seed = point->seed, .rep = point->rep};
    to->all[i].sum += number;
    to->all[i].lines++;
    to->cells += cells;
    to->settings += point->line != to->line;
    to->line = point->line;
}

static wt_status units_evidence(wt_context *context, const units *from, wt_evidence *out) {
    double *means = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &means, from->count, "repetitions"));
    for (size_t i = 0; i < from->count; i++)
        means[i] = from->all[i].sum / (double)from->all[i].lines;
    *out = (wt_evidence){.effect = wt_mean_interval(means, from->count),
                         .cells = from->cells,
                         .settings = from->settings,
                         .repetitions = from->count,
                         .dropped = from->dropped};
done:
    wt_release(means);
    return status;
}

wt_status wt_effect_exponent(wt_context *context, const wt_results *results,
                             const wt_claim_part *part, wt_evidence *out) {
    wt_lines lines;
    wt_lines_query query = query_of(part, part->where, part->apart);
    double *x = NULL, *y = NULL;
    units slopes = {0};
    wt_status status;
    *out = (wt_evidence){.effect = nothing};
    WT_TRY(wt_lines_find(context, results, &query, &lines));
    WT_TRY(WT_NEW(context, &x, lines.point_count, "slopes"));
    WT_TRY(WT_NEW(context, &y, lines.point_count, "slopes"));
    WT_TRY(units_open(context, &lines, &slopes));
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
        units_add(&slopes, &lines.points[i], wt_log_slope(x, y, count), count);
    }
    WT_TRY(units_evidence(context, &slopes, out));
done:
    wt_lines_free(&lines);
    wt_release(x);
    wt_release(y);
    wt_release(slopes.all);
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

/* The point of the other side on the same draws, or NULL. */
static const wt_line_point *partner(const wt_lines *ours, const wt_lines *theirs, size_t index) {
    const wt_line_point *point = &ours->points[index];
    return wt_lines_at(theirs, ours->lines[point->line].key, point->x, point->seed, point->rep);
}

/* The largest x that both sides have in any setting. */
static double largest_shared(const wt_lines *ours, const wt_lines *theirs) {
    double largest = -INFINITY;
    for (size_t i = 0; i < ours->point_count; i++)
        if (ours->points[i].x > largest && partner(ours, theirs, i) != NULL)
            largest = ours->points[i].x;
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
    double largest = largest_shared(&ours, &theirs);
    for (size_t i = 0; i < ours.point_count; i++) {
        const wt_line_point *point = &ours.points[i], *other = partner(&ours, &theirs, i);
        if (point->x == largest && other != NULL)
            units_add(&ratios, point, log_ratio(point->y, other->y), 2);
    }
    WT_TRY(units_evidence(context, &ratios, out));
done:
    wt_lines_free(&ours);
    wt_lines_free(&theirs);
    wt_release(ratios.all);
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
        units_add(&values, &lines.points[i], lines.points[i].y, 1);
    WT_TRY(units_evidence(context, &values, out));
done:
    wt_lines_free(&lines);
    wt_release(values.all);
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
    query.every = true;
    WT_TRY(wt_lines_find(context, results, &query, &lines));
    WT_TRY(units_open(context, &lines, &trials));
    for (size_t i = 0; i < lines.point_count; i++)
        units_add(&trials, &lines.points[i], lines.points[i].y == 1, 1);
    for (size_t i = 0; i < trials.count; i++)
        successes += trials.all[i].sum == (double)trials.all[i].lines;
    *out = (wt_evidence){.effect = wt_rate_interval(successes, trials.count),
                         .cells = trials.cells,
                         .settings = trials.settings,
                         .repetitions = trials.count,
                         .dropped = trials.dropped};
done:
    wt_lines_free(&lines);
    wt_release(trials.all);
    return status;
}
