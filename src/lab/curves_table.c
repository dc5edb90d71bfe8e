/* What learning curves say. */
#include <math.h>
#include <string.h>

#include "lab/curves.h"
#include "lab/statistics.h"

/* The line of the first model on the same draws, with as many heads where both have any. */
static size_t first_model(const wt_curves *curves, size_t line) {
    const wt_curve_line *one = &curves->lines[line];
    for (size_t i = 0; i < curves->count; i++) {
        const wt_curve_line *other = &curves->lines[i];
        if (strcmp(other->model, curves->lines[0].model) == 0 &&
            strcmp(other->target, one->target) == 0 && other->dim == one->dim &&
            other->keys == one->keys &&
            (other->heads == one->heads || other->heads == 0 || one->heads == 0))
            return i;
    }
    return line;
}

/* values (reps); x and y (sizes): scratch. */
static void summarise_line(const wt_curves *curves, size_t line, double *values, double *x,
                           double *y) {
    size_t first = first_model(curves, line), reps = curves->reps;
    for (size_t s = 0; s < curves->size_count; s++) {
        wt_curve_summary *out = &curves->summaries[line * curves->size_count + s];
        out->n = wt_curves_at(curves, line, 0, s)->n;
        for (size_t r = 0; r < reps; r++)
            values[r] = wt_curves_at(curves, line, r, s)->test_error;
        out->error = wt_mean_interval(values, reps);
        for (size_t r = 0; r < reps; r++)
            values[r] = log(values[r] / wt_curves_at(curves, first, r, s)->test_error);
        wt_interval ratio = wt_mean_interval(values, reps);
        out->over_first = first == line
                              ? (wt_interval){NAN, NAN, NAN}
                              : (wt_interval){exp(ratio.value), exp(ratio.low), exp(ratio.high)};
    }
    for (size_t r = 0; r < reps; r++) {
        for (size_t s = 0; s < curves->size_count; s++) {
            x[s] = (double)wt_curves_at(curves, line, r, s)->n;
            y[s] = wt_curves_at(curves, line, r, s)->test_error;
        }
        values[r] = wt_log_slope(x, y, curves->size_count);
    }
    curves->lines[line].rate = wt_mean_interval(values, reps);
}

wt_status wt_curves_summarise(wt_context *context, const wt_curves *curves) {
    wt_arena arena = wt_arena_start(context, "rates");
    double *values = WT_TAKE(&arena, double, curves->reps);
    double *x = WT_TAKE(&arena, double, curves->size_count);
    double *y = WT_TAKE(&arena, double, curves->size_count);
    for (size_t i = 0; arena.status == WT_OK && i < curves->count; i++)
        summarise_line(curves, i, values, x, y);
    wt_status status = arena.status;
    wt_arena_free(&arena);
    return status;
}

void wt_curves_free(wt_curves *curves) {
    if (curves == NULL)
        return;
    wt_arena_free(&curves->arena);
    wt_release(curves);
}

size_t wt_curves_count(const wt_curves *curves) {
    return curves->count;
}

size_t wt_curves_reps(const wt_curves *curves) {
    return curves->reps;
}

size_t wt_curves_size_count(const wt_curves *curves) {
    return curves->size_count;
}

const wt_curve_line *wt_curves_line_at(const wt_curves *curves, size_t line) {
    return line < curves->count ? &curves->lines[line] : NULL;
}

const wt_curve_summary *wt_curves_summary_at(const wt_curves *curves, size_t line, size_t size) {
    return line < curves->count && size < curves->size_count
               ? &curves->summaries[line * curves->size_count + size]
               : NULL;
}

const wt_curve_point *wt_curves_point_at(const wt_curves *curves, size_t line, size_t rep,
                                         size_t size) {
    return line < curves->count && rep < curves->reps && size < curves->size_count
               ? wt_curves_at(curves, line, rep, size)
               : NULL;
}
