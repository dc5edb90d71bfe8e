#include "linalg/shifted.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "linalg/tiles.h"

wt_status wt_shifted_new(wt_context *context, size_t n, const char *what, wt_shifted *out) {
    *out = (wt_shifted){.n = n};
    WT_PASS(WT_NEW2(context, &out->values, n, n, what));
    return WT_NEW(context, &out->diagonal, n, what);
}

wt_status wt_shifted_keep(wt_context *context, wt_shifted *k) {
    for (size_t i = 0; i < k->n; i++)
        k->diagonal[i] = k->values[i * k->n + i];
    return wt_mirror_lower(context, k->n, k->values, k->n);
}

void wt_shifted_free(wt_shifted *k) {
    wt_release(k->values);
    wt_release(k->diagonal);
    *k = (wt_shifted){0};
}

double wt_shifted_trace(const wt_shifted *k, size_t order) {
    double trace = 0;
    for (size_t i = 0; i < order; i++)
        trace += k->diagonal[i];
    return trace;
}

typedef struct {
    const wt_shifted *k;
    double shift;
    size_t order;
} restoring;

/* Tiles of the lower triangle: K back from above, the shift on the diagonal. */
static wt_status restore_tiles(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const restoring *work = argument;
    const wt_shifted *k = work->k;
    size_t n = k->n;
    for (size_t t = begin; t < end; t++) {
        size_t row, column;
        wt_triangle_at(t, &row, &column);
        for (size_t r = 0; r < wt_tile_length(work->order, WT_TILE, row); r++) {
            size_t i = row * WT_TILE + r;
            for (size_t j = column * WT_TILE; j < (column + 1) * WT_TILE && j < i; j++)
                k->values[i * n + j] = k->values[j * n + i];
            if (row == column)
                k->values[i * n + i] = k->diagonal[i] + work->shift;
        }
    }
    return WT_OK;
}

wt_status wt_shifted_restore(wt_context *context, wt_shifted *k, double shift, size_t order) {
    restoring work = {.k = k, .shift = shift, .order = order};
    return wt_parallel_for(context, wt_triangle_count(wt_tile_count(order, WT_TILE)), 1,
                           restore_tiles, &work);
}

wt_status wt_shifted_factor(wt_context *context, wt_shifted *k, double shift, size_t order,
                            size_t *failed_at) {
    WT_PASS(wt_shifted_restore(context, k, shift, order));
    return wt_cholesky(context, order, k->values, k->n, failed_at);
}

wt_status wt_shifted_solve(wt_context *context, const wt_shifted *k, size_t order, size_t columns,
                           double *b, size_t stride) {
    WT_PASS(wt_solve_lower(context, WT_PLAIN, order, columns, k->values, k->n, b, stride));
    return wt_solve_lower(context, WT_TRANSPOSED, order, columns, k->values, k->n, b, stride);
}
