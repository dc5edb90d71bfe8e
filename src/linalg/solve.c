/* op(L) X = B by tiles of rows and of right-hand sides. With L plain, step k runs down from the
 * first tile row, with L^T up from the last:
 *     B_i = B_i - op(L)_ik X_k    for the tile rows i not yet solved, every column tile of B
 * The tile row solved next comes first, and whoever updates a tile of it solves it at once:
 *     X_i = op(L)_ii^-1 B_i */
#include <math.h>

#include "base/parallel.h"
#include "base/work.h"
#include "linalg/backend.h"
#include "linalg/tiles.h"

/* With few columns a tile is soon done, and larger ones keep the threads from meeting too often. */
enum { FEW_COLUMNS = 32, TALL_TILE = 256 };

typedef struct {
    const wt_routines *routines;
    wt_trans trans;
    size_t n, columns, tile; /* tile: rows of a tile row */
    size_t tiles, column_tiles;
    const char *l;
    size_t l_stride;
    char *b;
    size_t b_stride;
    size_t step; /* tile rows solved before the one at hand */
} solve;

/* The tile row that is solved in its `order`-th turn. */
static size_t row_in_order(const solve *job, size_t order) {
    return job->trans == WT_TRANSPOSED ? job->tiles - 1 - order : order;
}

static const char *tile_of_l(const solve *job, size_t row, size_t column) {
    return job->l + job->routines->bytes * job->tile * (row * job->l_stride + column);
}

static char *tile_of_b(const solve *job, size_t row, size_t column) {
    return job->b + job->routines->bytes * (row * job->tile * job->b_stride + column * WT_TILE);
}

static void solve_tile(const solve *job, size_t row, size_t column) {
    job->routines->trsm_left(job->trans, wt_tile_length(job->n, job->tile, row),
                             wt_tile_length(job->columns, WT_TILE, column),
                             tile_of_l(job, row, row), job->l_stride, tile_of_b(job, row, column),
                             job->b_stride);
}

/* Items: the column tiles of the tile row that comes first. */
static wt_status solve_first(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const solve *job = argument;
    for (size_t item = begin; item < end; item++)
        solve_tile(job, row_in_order(job, 0), item);
    return WT_OK;
}

/* Items: column tiles of the tile row solved next, then of the one after it, and so on. */
static wt_status update(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const solve *job = argument;
    size_t k = row_in_order(job, job->step);
    for (size_t item = begin; item < end; item++) {
        size_t ahead = item / job->column_tiles, column = item % job->column_tiles;
        size_t i = row_in_order(job, job->step + 1 + ahead);
        const char *l = job->trans == WT_TRANSPOSED ? tile_of_l(job, k, i) : tile_of_l(job, i, k);
        job->routines->gemm(job->trans, WT_PLAIN, wt_tile_length(job->n, job->tile, i),
                            wt_tile_length(job->columns, WT_TILE, column),
                            wt_tile_length(job->n, job->tile, k), -1, l, job->l_stride,
                            tile_of_b(job, k, column), job->b_stride, 1, tile_of_b(job, i, column),
                            job->b_stride);
        if (ahead == 0)
            solve_tile(job, i, column);
    }
    return WT_OK;
}

static wt_status solve_all(wt_context *context, solve *job) {
    job->tile = job->columns < FEW_COLUMNS ? TALL_TILE : WT_TILE;
    job->tiles = wt_tile_count(job->n, job->tile);
    job->column_tiles = wt_tile_count(job->columns, WT_TILE);
    if (job->tiles == 0 || job->column_tiles == 0)
        return WT_OK;
    WT_PASS(wt_parallel_for(context, job->column_tiles, 1, solve_first, job));
    for (job->step = 0; job->step + 1 < job->tiles; job->step++)
        WT_PASS(wt_parallel_for(context, (job->tiles - 1 - job->step) * job->column_tiles, 1,
                                update, job));
    return WT_OK;
}

/* A zero or infinite pivot; `l` is of the type `single` says. */
static wt_status check_pivots(wt_context *context, bool single, size_t n, const void *l,
                              size_t stride) {
    for (size_t i = 0; i < n; i++) {
        size_t at = i * stride + i;
        double pivot = single ? (double)((const float *)l)[at] : ((const double *)l)[at];
        if (pivot == 0 || !isfinite(pivot))
            return wt_fail(context, WT_DATA,
                           "L: the diagonal is %g in row %zu, and a solve divides by it", pivot, i);
    }
    return WT_OK;
}

/* Both faces: `single` says which type the pointers are of. */
static wt_status run(wt_context *context, bool single, wt_trans trans, size_t n, size_t columns,
                     const void *l, size_t l_stride, void *b, size_t b_stride) {
    const wt_backend *backend;
    WT_PASS(wt_backend_open(context, &backend));
    WT_PASS(wt_check_trans(context, trans));
    WT_PASS(wt_check_shape(context, "L", n, n, l_stride));
    WT_PASS(wt_check_shape(context, "B", n, columns, b_stride));
    WT_PASS(check_pivots(context, single, n, l, l_stride));
    WT_PASS(single ? wt_check_matrix_float(context, "B", WT_WHOLE, n, columns, b, b_stride)
                   : wt_check_matrix(context, "B", WT_WHOLE, n, columns, b, b_stride));
    solve job = {.routines = single ? &backend->real32 : &backend->real64,
                 .trans = trans,
                 .n = n,
                 .columns = columns,
                 .l = l,
                 .l_stride = l_stride,
                 .b = b,
                 .b_stride = b_stride};
    wt_work_add(context, wt_work_product(n, n, columns) / 2);
    return solve_all(context, &job);
}

wt_status wt_solve_lower(wt_context *context, wt_trans trans, size_t n, size_t columns,
                         const double *l, size_t l_stride, double *b, size_t b_stride) {
    return run(context, false, trans, n, columns, l, l_stride, b, b_stride);
}

wt_status wt_solve_lower_float(wt_context *context, wt_trans trans, size_t n, size_t columns,
                               const float *l, size_t l_stride, float *b, size_t b_stride) {
    return run(context, true, trans, n, columns, l, l_stride, b, b_stride);
}
