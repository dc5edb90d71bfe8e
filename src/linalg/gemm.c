#include "base/parallel.h"
#include "base/work.h"
#include "linalg/backend.h"
#include "linalg/tiles.h"

typedef struct {
    const wt_routines *routines;
    wt_trans trans_a, trans_b;
    size_t m, n, k;
    double alpha, beta;
    const char *a, *b;
    char *c;
    size_t a_stride, b_stride, c_stride;
    size_t tile_m, tile_n; /* size of a tile of C */
    size_t across;         /* tiles of C a tile row */
} product;

/* One tile of C, over the whole of k: rows i.. of op(A) times columns j.. of op(B). */
static void one_tile(const product *job, size_t tile) {
    size_t row = tile / job->across, column = tile % job->across;
    size_t i = row * job->tile_m, j = column * job->tile_n, bytes = job->routines->bytes;
    const char *a = job->a + bytes * (job->trans_a == WT_TRANSPOSED ? i : i * job->a_stride);
    const char *b = job->b + bytes * (job->trans_b == WT_TRANSPOSED ? j * job->b_stride : j);
    job->routines->gemm(job->trans_a, job->trans_b, wt_tile_length(job->m, job->tile_m, row),
                        wt_tile_length(job->n, job->tile_n, column), job->k, job->alpha, a,
                        job->a_stride, b, job->b_stride, job->beta,
                        job->c + bytes * (i * job->c_stride + j), job->c_stride);
}

static wt_status some_tiles(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    for (size_t tile = begin; tile < end; tile++)
        one_tile(argument, tile);
    return WT_OK;
}

/* A product with few columns is bound by reading A: in tiles this low OpenBLAS multiplies without
 * packing A first, which halves its time. */
enum { FEW_COLUMNS = 12, LOW_TILE = 64 };

static wt_status multiply(wt_context *context, product *job) {
    size_t m = job->m, n = job->n, k = job->k;
    bool transposed_a = job->trans_a == WT_TRANSPOSED, transposed_b = job->trans_b == WT_TRANSPOSED;
    WT_PASS(wt_check_trans(context, job->trans_a));
    WT_PASS(wt_check_trans(context, job->trans_b));
    WT_PASS(
        wt_check_shape(context, "A", transposed_a ? k : m, transposed_a ? m : k, job->a_stride));
    WT_PASS(
        wt_check_shape(context, "B", transposed_b ? n : k, transposed_b ? k : n, job->b_stride));
    WT_PASS(wt_check_shape(context, "C", m, n, job->c_stride));
    if (m == 0 || n == 0)
        return WT_OK;
    wt_work_add(context, wt_work_product(m, n, k));
    job->tile_m = n <= FEW_COLUMNS ? LOW_TILE : wt_product_tile(m);
    job->tile_n = wt_product_tile(n);
    job->across = wt_tile_count(n, job->tile_n);
    return wt_parallel_for(context, wt_tile_count(m, job->tile_m) * job->across, 1, some_tiles,
                           job);
}

/* Both faces: `single` says which type the pointers are of. */
static wt_status run(wt_context *context, bool single, wt_trans trans_a, wt_trans trans_b, size_t m,
                     size_t n, size_t k, double alpha, const void *a, size_t a_stride,
                     const void *b, size_t b_stride, double beta, void *c, size_t c_stride) {
    const wt_backend *backend;
    WT_PASS(wt_backend_open(context, &backend));
    product job = {.routines = single ? &backend->real32 : &backend->real64,
                   .trans_a = trans_a,
                   .trans_b = trans_b,
                   .m = m,
                   .n = n,
                   .k = k,
                   .alpha = alpha,
                   .beta = beta,
                   .a = a,
                   .b = b,
                   .c = c,
                   .a_stride = a_stride,
                   .b_stride = b_stride,
                   .c_stride = c_stride};
    return multiply(context, &job);
}

wt_status wt_gemm(wt_context *context, wt_trans trans_a, wt_trans trans_b, size_t m, size_t n,
                  size_t k, double alpha, const double *a, size_t a_stride, const double *b,
                  size_t b_stride, double beta, double *c, size_t c_stride) {
    return run(context, false, trans_a, trans_b, m, n, k, alpha, a, a_stride, b, b_stride, beta, c,
               c_stride);
}

wt_status wt_gemm_float(wt_context *context, wt_trans trans_a, wt_trans trans_b, size_t m, size_t n,
                        size_t k, float alpha, const float *a, size_t a_stride, const float *b,
                        size_t b_stride, float beta, float *c, size_t c_stride) {
    return run(context, true, trans_a, trans_b, m, n, k, (double)alpha, a, a_stride, b, b_stride,
               (double)beta, c, c_stride);
}
