#include "features/learn/system.h"

#include <float.h>
#include <string.h>

#include "base/memory.h"

wt_status wt_system_open(wt_context *context, const wt_model *model, const wt_sets *sets,
                         wt_system *out) {
    wt_ridge_model view = wt_ridge_model_of(&model->spec, &model->features);
    wt_set_rows rows = {0};
    wt_status status;
    *out = (wt_system){.n = sets->samples};
    WT_TRY(wt_ridge_engine_of(context, &out->engine));
    WT_TRY(WT_NEW(context, &out->diagonal, out->n, "the kernel matrix"));
    WT_TRY(wt_set_rows_open(context, &model->spec, sets, &rows));
    WT_TRY(out->engine->open_kernel(context, wt_context_get_device(context), &view, &rows.rows,
                                    out->diagonal, &out->state));
done:
    wt_set_rows_free(&rows);
    if (status != WT_OK)
        wt_system_free(out);
    return status;
}

void wt_system_free(wt_system *system) {
    if (system->engine != NULL)
        system->engine->close(system->state);
    wt_release(system->diagonal);
    *system = (wt_system){0};
}

double wt_system_trace(const wt_system *system, size_t order) {
    double trace = 0;
    for (size_t i = 0; i < order; i++)
        trace += system->diagonal[i];
    return trace;
}

/* Lambdas up to this are lost in the rounding of the leading block of the order. */
static double lost_below(const wt_system *system, size_t order) {
    return 10 * DBL_EPSILON * wt_system_trace(system, order);
}

bool wt_system_counts(const wt_system *system, double lambda, size_t order) {
    return lambda > lost_below(system, order);
}

wt_status wt_system_factor(wt_context *context, wt_system *system, double lambda,
                           const size_t *sizes, size_t count, size_t *usable) {
    size_t failed_at;
    *usable = count;
    while (*usable > 0 && !wt_system_counts(system, lambda, sizes[*usable - 1]))
        --*usable;
    if (*usable > 0 && system->order == sizes[*usable - 1] && system->lambda == lambda)
        return WT_OK; /* at hand */
    system->order = 0;
    system->lambda = lambda;
    while (*usable > 0) {
        WT_PASS(
            system->engine->factor(context, system->state, lambda, sizes[*usable - 1], &failed_at));
        if (failed_at == 0) {
            system->order = sizes[*usable - 1];
            break;
        }
        while (*usable > 0 && sizes[*usable - 1] >= failed_at)
            --*usable;
    }
    return WT_OK;
}

wt_status wt_system_solve(wt_context *context, const wt_system *system, size_t s, size_t columns,
                          const double *y, double *alpha, size_t alpha_stride) {
    for (size_t i = 0; i < s; i++)
        memcpy(alpha + i * alpha_stride, y + i * columns, columns * sizeof *alpha);
    return system->engine->solve(context, system->state, s, columns, alpha, alpha_stride);
}

wt_status wt_system_inverse_diagonals(wt_context *context, const wt_system *system,
                                      const size_t *sizes, size_t count, double *out) {
    return system->engine->inverse_diagonals(context, system->state, sizes, count, out);
}

wt_status wt_system_condition(wt_context *context, const wt_system *system, double lambda,
                              double *out) {
    return system->engine->condition(context, system->state, lambda, out);
}
