#include "base/memory.h"
#include "base/parallel.h"
#include "base/work.h"
#include "linalg/backend.h"
#include "linalg/tiles.h"

/* K = op(A) op(A)^T + beta K, with op(A) n x depth. */
typedef struct {
    wt_context *context;
    const wt_routines *routines;
    wt_trans trans;
    size_t n, depth, tile;
    const char *a;
    size_t a_stride;
    double beta, *k;
    size_t k_stride;
    float *scratch; /* a tile a worker when A is float, else NULL */
} gram;

/* Where rows `row`.. and terms `term`.. of op(A) start. */
static const char *block_of(const gram *job, size_t row, size_t term) {
    size_t offset =
        job->trans == WT_TRANSPOSED ? term * job->a_stride + row : row * job->a_stride + term;
    return job->a + job->routines->bytes * offset;
}

/* C = (rows i.. of op(A)) (rows j.. of op(A))^T over terms term.. + beta C. */
static void tile_product(const gram *job, size_t i, size_t j, size_t rows, size_t columns,
                         size_t term, size_t terms, double beta, void *c, size_t c_stride) {
    const wt_routines *routines = job->routines;
    const char *left = block_of(job, i, term), *right = block_of(job, j, term);
    wt_trans other = job->trans == WT_TRANSPOSED ? WT_PLAIN : WT_TRANSPOSED;
    if (i == j)
        routines->syrk(job->trans, rows, terms, 1, left, job->a_stride, beta, c, c_stride);
    else
        routines->gemm(job->trans, other, rows, columns, terms, 1, left, job->a_stride, right,
                       job->a_stride, beta, c, c_stride);
}

/* C = beta C + D, in the lower triangle only on the diagonal of K; D is a float tile. */
static void add_tile(bool diagonal, size_t rows, size_t columns, const float *d, size_t d_stride,
                     double beta, double *c, size_t c_stride) {
    for (size_t i = 0; i < rows; i++) {
        size_t length = diagonal ? i + 1 : columns;
        const float *from = d + i * d_stride;
        double *to = c + i * c_stride;
        for (size_t j = 0; j < length; j++)
            to[j] = (beta == 0 ? 0 : beta * to[j]) + (double)from[j];
    }
}

static wt_status one_tile(const gram *job, size_t index, int worker) {
    size_t row, column, tile = job->tile;
    wt_triangle_at(index, &row, &column);
    size_t i = row * tile, j = column * tile;
    size_t rows = wt_tile_length(job->n, tile, row);
    size_t columns = wt_tile_length(job->n, tile, column);
    double *c = job->k + i * job->k_stride + j;
    for (size_t term = 0; term < job->depth; term += WT_GRAM_DEPTH) {
        size_t terms = wt_tile_length(job->depth, WT_GRAM_DEPTH, term / WT_GRAM_DEPTH);
        double beta = term == 0 ? job->beta : 1;
        if (wt_context_check_cancelled(job->context) != WT_OK)
            return WT_INTERRUPTED;
        if (job->scratch == NULL) {
            tile_product(job, i, j, rows, columns, term, terms, beta, c, job->k_stride);
            continue;
        }
        float *scratch = job->scratch + (size_t)worker * tile * tile;
        tile_product(job, i, j, rows, columns, term, terms, 0, scratch, tile);
        add_tile(i == j, rows, columns, scratch, tile, beta, c, job->k_stride);
    }
    return WT_OK;
}

static wt_status some_tiles(void *argument, size_t begin, size_t end, int worker) {
    wt_status status = WT_OK;
    for (size_t index = begin; status == WT_OK && index < end; index++)
        status = one_tile(argument, index, worker);
    return status;
}

/* A sum of no terms: K = beta K. */
static void scale_lower(const gram *job) {
    for (size_t i = 0; i < job->n; i++)
        for (size_t j = 0; j <= i; j++) {
            double *entry = &job->k[i * job->k_stride + j];
            *entry = job->beta == 0 ? 0 : job->beta * *entry;
        }
}

static wt_status add_all(gram *job) {
    if (job->depth == 0) {
        scale_lower(job);
        return WT_OK;
    }
    return wt_parallel_for(job->context, wt_triangle_count(wt_tile_count(job->n, job->tile)), 1,
                           some_tiles, job);
}

/* Both faces: `single` says which type A is of. */
static wt_status run(wt_context *context, bool single, wt_trans trans, size_t rows, size_t columns,
                     const void *a, size_t a_stride, double beta, double *k, size_t k_stride) {
    const wt_backend *backend;
    size_t n = trans == WT_TRANSPOSED ? columns : rows, tile = wt_product_tile(n);
    float *scratch = NULL;
    wt_status status;
    WT_TRY(wt_backend_open(context, &backend));
    WT_TRY(wt_check_trans(context, trans));
    WT_TRY(wt_check_shape(context, "A", rows, columns, a_stride));
    WT_TRY(wt_check_shape(context, "K", n, n, k_stride));
    WT_TRY(single ? wt_check_matrix_float(context, "A", WT_WHOLE, rows, columns, a, a_stride)
                  : wt_check_matrix(context, "A", WT_WHOLE, rows, columns, a, a_stride));
    if (single)
        WT_TRY(WT_NEW3(context, &scratch, (size_t)wt_context_threads(context), tile, tile,
                       "tiles of the Gram matrix"));
    gram job = {.context = context,
                .routines = single ? &backend->real32 : &backend->real64,
                .trans = trans,
                .n = n,
                .tile = tile,
                .depth = trans == WT_TRANSPOSED ? rows : columns,
                .a = a,
                .a_stride = a_stride,
                .beta = beta,
                .k = k,
                .k_stride = k_stride,
                .scratch = scratch};
    wt_work_add(context, wt_work_product(n, n + 1, job.depth) / 2);
    WT_TRY(add_all(&job));
done:
    wt_release(scratch);
    return status;
}

wt_status wt_gram(wt_context *context, wt_trans trans, size_t rows, size_t columns, const double *a,
                  size_t a_stride, double beta, double *k, size_t k_stride) {
    return run(context, false, trans, rows, columns, a, a_stride, beta, k, k_stride);
}

wt_status wt_gram_float(wt_context *context, wt_trans trans, size_t rows, size_t columns,
                        const float *a, size_t a_stride, double beta, double *k, size_t k_stride) {
    return run(context, true, trans, rows, columns, a, a_stride, beta, k, k_stride);
}

typedef struct {
    double *a;
    size_t n, stride;
} mirror;

/* Rows of the upper triangle in tile row begin.., from the columns of the lower one. */
static wt_status mirror_tiles(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const mirror *job = argument;
    enum { SIDE = 32 }; /* a square of both triangles stays in the cache */
    size_t last = end * WT_TILE < job->n ? end * WT_TILE : job->n;
    for (size_t i0 = begin * WT_TILE; i0 < last; i0 += SIDE)
        for (size_t j0 = i0; j0 < job->n; j0 += SIDE)
            for (size_t i = i0; i < i0 + SIDE && i < last; i++)
                for (size_t j = j0 > i ? j0 : i + 1; j < j0 + SIDE && j < job->n; j++)
                    job->a[i * job->stride + j] = job->a[j * job->stride + i];
    return WT_OK;
}

wt_status wt_mirror_lower(wt_context *context, size_t n, double *a, size_t stride) {
    wt_status status = wt_check_shape(context, "A", n, n, stride);
    mirror job = {a, n, stride};
    return status != WT_OK
               ? status
               : wt_parallel_for(context, wt_tile_count(n, WT_TILE), 1, mirror_tiles, &job);
}
