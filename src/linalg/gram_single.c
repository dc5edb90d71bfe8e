/* K = alpha A A^T + beta K, all in float: bands of rows times bands of columns, each one product
 * over all terms, large enough that packing them costs little. */
#include "base/parallel.h"
#include "base/work.h"
#include "linalg/backend.h"
#include "linalg/tiles.h"

enum { BAND_ROWS = 512, BAND_COLUMNS = 1024 };

typedef struct {
    const wt_routines *routines;
    size_t n, depth, a_stride, k_stride;
    const float *a;
    float alpha, beta, *k;
} gram;

/* Products left of the diagonal in a band of rows; the diagonal block is one more. */
static size_t left_of(size_t band) {
    return wt_tile_count(band * BAND_ROWS, BAND_COLUMNS);
}

static void left_product(const gram *job, size_t band, size_t part) {
    size_t i = band * BAND_ROWS, rows = wt_tile_length(job->n, BAND_ROWS, band);
    size_t j = part * BAND_COLUMNS, columns = wt_tile_length(i, BAND_COLUMNS, part);
    job->routines->gemm(WT_PLAIN, WT_TRANSPOSED, rows, columns, job->depth, (double)job->alpha,
                        job->a + i * job->a_stride, job->a_stride, job->a + j * job->a_stride,
                        job->a_stride, (double)job->beta, job->k + i * job->k_stride + j,
                        job->k_stride);
}

static void diagonal_product(const gram *job, size_t band) {
    size_t i = band * BAND_ROWS, rows = wt_tile_length(job->n, BAND_ROWS, band);
    job->routines->syrk(WT_PLAIN, rows, job->depth, (double)job->alpha, job->a + i * job->a_stride,
                        job->a_stride, (double)job->beta, job->k + i * job->k_stride + i,
                        job->k_stride);
}

/* Items: the products left of the diagonal, then those on it: small ones last, so that many threads
 * end together. At n = 4096 sixteen are all at work till the end, where a band after the other with
 * its diagonal block left them idle a fifth of the time. */
static wt_status some_products(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const gram *job = argument;
    size_t bands = wt_tile_count(job->n, BAND_ROWS);
    for (size_t item = begin; item < end; item++) {
        size_t band = bands, part = item;
        while (band > 0 && part >= left_of(band - 1))
            part -= left_of(--band);
        if (band > 0)
            left_product(job, band - 1, part);
        else
            diagonal_product(job, bands - 1 - part);
    }
    return WT_OK;
}

wt_status wt_gram_single(wt_context *context, size_t rows, size_t columns, float alpha,
                         const float *a, size_t a_stride, float beta, float *k, size_t k_stride) {
    const wt_backend *backend;
    size_t products = 0;
    WT_PASS(wt_backend_open(context, &backend));
    WT_PASS(wt_check_shape(context, "A", rows, columns, a_stride));
    WT_PASS(wt_check_shape(context, "K", rows, rows, k_stride));
    gram job = {.routines = &backend->real32,
                .n = rows,
                .depth = columns,
                .a_stride = a_stride,
                .k_stride = k_stride,
                .a = a,
                .alpha = alpha,
                .beta = beta,
                .k = k};
    for (size_t band = 0; band < wt_tile_count(rows, BAND_ROWS); band++)
        products += left_of(band) + 1;
    wt_work_add(context, wt_work_product(rows, rows + 1, columns) / 2);
    return wt_parallel_for(context, products, 1, some_products, &job);
}
