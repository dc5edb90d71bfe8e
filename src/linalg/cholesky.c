/* A = L L^T by tiles. Step k of the loop, with T tile rows in all:
 *   1. panel:  A_ik = A_ik L_kk^-T           for the tiles i = k+1 .. T-1 below the diagonal
 *   2. update: A_ij = A_ij - A_ik A_jk^T     for the tiles k < j <= i < T
 * The first tile of an update is (k+1, k+1); whoever updates it factors it at once, while the
 * others are at work, so that no thread waits for the one step that cannot be shared. */
#include "base/parallel.h"
#include "base/work.h"
#include "linalg/backend.h"
#include "linalg/tiles.h"

typedef struct {
    const wt_routines *routines;
    size_t n, tiles, stride;
    char *a;
    size_t step; /* k */
    size_t failed_at;
} factorisation;

static char *tile_at(const factorisation *job, size_t row, size_t column) {
    return job->a + job->routines->bytes * WT_TILE * (row * job->stride + column);
}

static size_t length_of(const factorisation *job, size_t tile) {
    return wt_tile_length(job->n, WT_TILE, tile);
}

static void factor_diagonal(factorisation *job, size_t tile) {
    size_t minor =
        job->routines->potrf(length_of(job, tile), tile_at(job, tile, tile), job->stride);
    job->failed_at = minor == 0 ? 0 : tile * WT_TILE + minor;
}

/* Items: the tile rows below the diagonal. */
static wt_status panel(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const factorisation *job = argument;
    size_t k = job->step;
    for (size_t item = begin; item < end; item++)
        job->routines->trsm_right(length_of(job, k + 1 + item), WT_TILE, tile_at(job, k, k),
                                  job->stride, tile_at(job, k + 1 + item, k), job->stride);
    return WT_OK;
}

/* Items: the tiles of the lower triangle right of column k. */
static wt_status update(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    factorisation *job = argument;
    size_t k = job->step;
    for (size_t item = begin; item < end; item++) {
        size_t i, j;
        wt_triangle_at(item, &i, &j);
        i += k + 1;
        j += k + 1;
        if (i == j)
            job->routines->syrk(WT_PLAIN, length_of(job, i), WT_TILE, -1, tile_at(job, i, k),
                                job->stride, 1, tile_at(job, i, i), job->stride);
        else
            job->routines->gemm(WT_PLAIN, WT_TRANSPOSED, length_of(job, i), WT_TILE, WT_TILE, -1,
                                tile_at(job, i, k), job->stride, tile_at(job, j, k), job->stride, 1,
                                tile_at(job, i, j), job->stride);
        if (item == 0)
            factor_diagonal(job, k + 1);
    }
    return WT_OK;
}

static wt_status factor(wt_context *context, factorisation *job, size_t *failed_at) {
    /* that of a whole factor, also where it breaks off */
    wt_work_add(context, wt_work_product(job->n, job->n, job->n) / 6);
    job->tiles = wt_tile_count(job->n, WT_TILE);
    if (job->tiles > 0)
        factor_diagonal(job, 0);
    for (; job->failed_at == 0 && job->step + 1 < job->tiles; job->step++) {
        size_t below = job->tiles - job->step - 1;
        WT_PASS(wt_parallel_for(context, below, 1, panel, job));
        WT_PASS(wt_parallel_for(context, wt_triangle_count(below), 1, update, job));
    }
    *failed_at = job->failed_at;
    return WT_OK;
}

/* Both faces: `single` says which type A is of. */
static wt_status run(wt_context *context, bool single, size_t n, void *a, size_t stride,
                     size_t *failed_at) {
    const wt_backend *backend;
    *failed_at = 0;
    WT_PASS(wt_backend_open(context, &backend));
    WT_PASS(wt_check_shape(context, "A", n, n, stride));
    WT_PASS(single ? wt_check_matrix_float(context, "A", WT_LOWER, n, n, a, stride)
                   : wt_check_matrix(context, "A", WT_LOWER, n, n, a, stride));
    factorisation job = {
        .routines = single ? &backend->real32 : &backend->real64, .n = n, .stride = stride, .a = a};
    return factor(context, &job, failed_at);
}

wt_status wt_cholesky(wt_context *context, size_t n, double *a, size_t stride, size_t *failed_at) {
    return run(context, false, n, a, stride, failed_at);
}

wt_status wt_cholesky_float(wt_context *context, size_t n, float *a, size_t stride,
                            size_t *failed_at) {
    return run(context, true, n, a, stride, failed_at);
}
