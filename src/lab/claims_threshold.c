/* Critical sizes from trials over a grid of (T, m), and how they grow with T. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "lab/claims.h"
#include "lab/statistics_threshold.h"
#include "wattle/random.h"

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

static double parameter(const wt_line *line, const char *name) {
    return json_number_value(json_object_get(line->parameters, name));
}

/* Whether two lines are of the same setting, but for T. */
static bool same_setting(const wt_lines *lines, size_t one, size_t other, const char *x) {
    json_t *a = json_copy(lines->lines[one].parameters),
           *b = json_copy(lines->lines[other].parameters);
    json_object_del(a, x);
    json_object_del(b, x);
    bool same = json_equal(a, b);
    json_decref(a);
    json_decref(b);
    return same;
}

/* A line of the setting that has the most trials. */
static size_t largest_setting(const wt_lines *lines, const char *x) {
    size_t best = 0, most = 0;
    for (size_t i = 0; i < lines->line_count; i++) {
        size_t trials = 0;
        for (size_t k = 0; k < lines->line_count; k++)
            trials += same_setting(lines, i, k, x) ? lines->lines[k].count : 0;
        best = trials > most ? i : best;
        most = trials > most ? trials : most;
    }
    return best;
}

static void sort_by_x(wt_critical *sizes, double *draws, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && sizes[k - 1].x > sizes[k].x; k--) {
            wt_critical swap = sizes[k];
            sizes[k] = sizes[k - 1];
            sizes[k - 1] = swap;
            for (size_t d = 0; d < WT_BOOTSTRAP_DRAWS; d++) {
                double *at = draws + k * WT_BOOTSTRAP_DRAWS + d, held = *at;
                *at = at[-WT_BOOTSTRAP_DRAWS];
                at[-WT_BOOTSTRAP_DRAWS] = held;
            }
        }
}

wt_status wt_critical_sizes(wt_context *context, const wt_results *results,
                            const wt_claim_part *part, wt_critical **out, size_t *count,
                            double **draws) {
    wt_lines_query query = {.experiment = part->experiment,
                            .where = part->where,
                            .x = part->size,
                            .y = part->y,
                            .apart = part->apart};
    wt_lines lines;
    wt_trials *trials = NULL;
    double *all = NULL;
    wt_status status;
    *out = NULL;
    *count = 0;
    WT_TRY(wt_lines_find(context, results, &query, &lines));
    WT_TRY(WT_NEW(context, &trials, lines.point_count, "trials"));
    WT_TRY(WT_NEW_ZERO(context, out, lines.line_count, "critical sizes"));
    WT_TRY(WT_NEW(context, &all, lines.line_count * WT_BOOTSTRAP_DRAWS, "critical sizes"));
    size_t setting = largest_setting(&lines, part->x);
    for (size_t i = 0; i < lines.line_count; i++) {
        wt_critical *one = *out + *count;
        if (!same_setting(&lines, setting, i, part->x))
            continue;
        size_t sizes = trials_of(&lines, &lines.lines[i], trials);
        WT_TRY(wt_critical_fit(context, parameter(&lines.lines[i], part->x), trials, sizes,
                               SUCCESS_RATE, WT_CLAIM_SEED, one,
                               all + *count * WT_BOOTSTRAP_DRAWS));
        ++*count;
    }
    sort_by_x(*out, all, *count);
    if (draws != NULL) {
        *draws = all;
        all = NULL;
    }
done:
    wt_lines_free(&lines);
    wt_release(trials);
    wt_release(all);
    return status;
}

wt_status wt_effect_threshold(wt_context *context, const wt_results *results,
                              const wt_claim_part *part, wt_evidence *out) {
    wt_critical *sizes = NULL;
    double *draws = NULL;
    size_t count;
    wt_status status;
    *out = (wt_evidence){.effect = {NAN, NAN, NAN}, .searched = true};
    WT_TRY(wt_critical_sizes(context, results, part, &sizes, &count, &draws));
    for (size_t i = 0; i < count; i++) {
        out->cells += sizes[i].trials;
        out->censored += sizes[i].below || sizes[i].above;
    }
    out->settings = count > 0;
    WT_TRY(wt_critical_growth(context, sizes, count, draws, &out->effect));
done:
    wt_release(sizes);
    wt_release(draws);
    return status;
}
