/* Normal matrices of the host, from slabs of features. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "features/learn/host.h"
#include "linalg/linalg.h"

wt_status wt_host_open_normal(wt_context *context, wt_device *device, const wt_ridge_model *model,
                              size_t most, size_t columns, bool leave_one_out,
                              wt_ridge_system **out) {
    (void)device;
    wt_ridge_system *system = NULL;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &system, 1, "the normal matrix"));
    system->features = wt_host_features(model);
    system->norm = model->norm;
    system->most = most;
    system->columns = columns;
    size_t f = wt_features_count(&system->features);
    WT_TRY(wt_shifted_new(context, f, "the normal matrix", &system->k));
    system->arena = wt_arena_start(context, "a slab of features");
    system->moment = WT_TAKE(&system->arena, double, f, columns);
    system->slab = WT_TAKE(&system->arena, double, most, f);
    if (leave_one_out)
        system->other = WT_TAKE(&system->arena, double, most, f);
    WT_TRY(system->arena.status);
done:
    if (status != WT_OK)
        wt_ridge_host.close(system);
    *out = status == WT_OK ? system : NULL;
    return status;
}

static wt_status fill_slab(wt_context *context, wt_ridge_system *system,
                           const wt_ridge_rows *rows) {
    const wt_features *features = &system->features;
    wt_sets sets = wt_host_sets(rows);
    for (size_t b = 0; b < wt_features_blocks(features); b++) {
        size_t first, count;
        wt_features_block_at(features, b, &first, &count);
        WT_PASS(wt_features_block(context, features, &sets, first, count,
                                  system->slab + first * features->width, system->k.n));
    }
    return WT_OK;
}

wt_status wt_host_add_rows(wt_context *context, wt_ridge_system *system, const wt_ridge_rows *rows,
                           const double *y) {
    double beta = system->begun ? 1 : 0;
    size_t f = system->k.n, q = system->columns;
    WT_PASS(fill_slab(context, system, rows));
    if (system->ended) /* a factor may stand where rows are added */
        WT_PASS(wt_shifted_restore(context, &system->k, 0, f));
    WT_PASS(wt_gram(context, WT_TRANSPOSED, rows->samples, f, system->slab, f,
                    system->ended ? system->norm : beta, system->k.values, f));
    system->ended = false;
    WT_PASS(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, f, q, rows->samples, 1 / system->norm,
                    system->slab, f, y, q, beta, system->moment, q));
    system->begun = true;
    return WT_OK;
}

wt_status wt_host_end_rows(wt_context *context, wt_ridge_system *system, double *moment,
                           double *diagonal) {
    size_t f = system->k.n;
    double scale = 1 / system->norm;
    for (size_t i = 0; i < f; i++)
        for (size_t j = 0; j <= i; j++)
            system->k.values[i * f + j] *= scale;
    WT_PASS(wt_shifted_keep(context, &system->k));
    system->ended = true;
    memcpy(moment, system->moment, f * system->columns * sizeof *moment);
    memcpy(diagonal, system->k.diagonal, f * sizeof *diagonal);
    return WT_OK;
}

/* h_i = phi_i^T (Phi^T Phi + lambda M)^-1 phi_i for the slab. */
static wt_status take_leverages(wt_context *context, wt_ridge_system *system, size_t rows,
                                double *out) {
    size_t f = system->k.n, most = system->most;
    double *other = system->other;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < f; k++)
            other[k * most + i] = system->slab[i * f + k];
    WT_PASS(wt_solve_lower(context, WT_PLAIN, f, rows, system->k.values, f, other, most));
    for (size_t i = 0; i < rows; i++)
        out[i] = other[i] * other[i];
    for (size_t k = 1; k < f; k++)
        for (size_t i = 0; i < rows; i++)
            out[i] += pow(other[k * most + i], 2);
    for (size_t i = 0; i < rows; i++)
        out[i] *= 1 / system->norm;
    return WT_OK;
}

wt_status wt_host_judge_rows(wt_context *context, wt_ridge_system *system,
                             const wt_ridge_rows *rows, const double *v, double *fitted,
                             double *leverages, double *along) {
    size_t f = system->k.n, q = system->columns;
    WT_PASS(fill_slab(context, system, rows));
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, rows->samples, q, f, 1, system->slab, f, v, q, 0,
                    fitted, q));
    if (along != NULL)
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, rows->samples, f, f, 1, system->slab, f,
                        system->u, f, 0, along, f));
    return leverages == NULL ? WT_OK : take_leverages(context, system, rows->samples, leverages);
}
