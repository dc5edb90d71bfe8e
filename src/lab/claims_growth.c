/* How the cost of finding grows, where some runs were given up. */
#include <math.h>

#include "lab/claims.h"
#include "lab/statistics_growth.h"

#define LEAST_ERROR 0.01 /* of a mean price: runs that cost all the same are not all there are */

#define MOST_ATTEMPTS 1e9 /* of a run; a store may say anything */

/* What the runs at one x spent, and what they found. */
typedef struct {
    double spent, attempts;
    double squares; /* of what a run spent beyond what its attempts should */
    size_t runs, found;
} tally;

static double number(const wt_results *results, const wt_line_point *point, const char *name,
                     double otherwise) {
    double value = wt_result_number(results, wt_results_cell(results, point->cell), name);
    return isfinite(value) ? value : otherwise;
}

/* A run that ended before its first start was an attempt as well. */
static double attempts_of(const wt_results *results, const wt_claim_part *part,
                          const wt_line_point *point) {
    return fmin(fmax(1, number(results, point, part->attempts, 1)), MOST_ATTEMPTS);
}

static tally tally_of(const wt_results *results, const wt_claim_part *part,
                      const wt_line_point *points, size_t count) {
    tally all = {.runs = count};
    for (size_t i = 0; i < count; i++) {
        wt_results_pass(results, i);
        all.spent += points[i].y;
        all.attempts += attempts_of(results, part, &points[i]);
        all.found += number(results, &points[i], part->found, 0) == 1;
    }
    double price = all.spent / all.attempts;
    for (size_t i = 0; i < count; i++) {
        double off = points[i].y - price * attempts_of(results, part, &points[i]);
        all.squares += off * off;
    }
    return all;
}

/* The price of an attempt is a ratio of two sums over runs, with the error that ratios have. */
static wt_spent spent_of(const tally *all, double x) {
    double n = (double)all->runs;
    double error = n > 1 ? sqrt(all->squares * n / (n - 1)) / all->spent : 0;
    return (wt_spent){.x = x,
                      .found = all->found,
                      .in_vain = (size_t)all->attempts - all->found,
                      .log_price = log(all->spent / all->attempts),
                      .error = fmax(error, LEAST_ERROR)};
}

/* The line with most cells. */
static const wt_line *largest_line(const wt_lines *lines) {
    const wt_line *line = &lines->lines[0];
    for (size_t i = 1; i < lines->line_count; i++)
        line = lines->lines[i].count > line->count ? &lines->lines[i] : line;
    return line;
}

/* How many draws the points of a line have. */
static wt_status count_draws(wt_sample *sample, const wt_line *line, size_t *out) {
    bool *seen = WT_TAKE_ZERO(&sample->arena, bool, sample->draws);
    WT_PASS(sample->arena.status);
    for (size_t i = line->first; i < line->first + line->count; i++) {
        *out += !seen[sample->draw[i]];
        seen[sample->draw[i]] = true;
    }
    return WT_OK;
}

static wt_status measure_growth(wt_sample *sample, wt_evidence *out) {
    const wt_lines *lines = &sample->lines;
    size_t count = 0;
    out->searched = true;
    out->cells = out->settings = 0;
    if (lines->line_count == 0)
        return WT_OK;
    /* One setting: costs of others are not to be mixed in. */
    const wt_line *line = largest_line(lines);
    const wt_line_point *points = lines->points + line->first;
    wt_spent *sizes = WT_TAKE(&sample->arena, wt_spent, line->different_x);
    WT_PASS(sample->arena.status);
    for (size_t begin = 0, end; begin < line->count; begin = end) {
        for (end = begin + 1; end < line->count && points[end].x == points[begin].x;)
            end++;
        tally all = tally_of(lines->results, sample->part, points + begin, end - begin);
        out->censored += all.found == 0;
        sizes[count++] = spent_of(&all, points[begin].x);
    }
    out->cells = line->count;
    out->settings = 1;
    WT_PASS(count_draws(sample, line, &out->repetitions));
    WT_PASS(wt_spent_growth(sample->context, sizes, count, WT_CLAIM_SEED, &out->effect));
    if (out->repetitions < 2) /* one has no spread */
        out->effect.low = out->effect.high = NAN;
    return WT_OK;
}

const wt_effect wt_effect_growth = {"exponent", .measure = measure_growth};
