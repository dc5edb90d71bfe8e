#include "linalg/thin.h"

#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "linalg/thin_loops.h"
#include "linalg/tiles.h"

/* A strip of P is small enough to be in the cache still when it is read again; a band of its
 * columns is one thread's, a slice of rows one visit to the sums. */
enum { STRIP = 512, BAND = 32, SLICE = 128, ROWS_A_CHUNK = 128 };

typedef struct {
    const wt_thin_loops *loops;
    size_t rows, width, columns, p_stride;
    double scale;
    const double *p, *a;
    const size_t *orders;
    double *v, *f;
    size_t first, count; /* columns of P in the strip */
    double *vt;          /* (columns, STRIP): V of the strip, transposed */
} product;

/* The first of the columns from `from` on that reaches below the row; *end: up to where the same
 * ones do. */
static size_t first_alive(const product *job, size_t row, size_t from, size_t *end) {
    size_t c = from;
    *end = job->rows;
    while (job->orders != NULL && c < job->columns && job->orders[c] <= row)
        c++;
    if (job->orders != NULL && c < job->columns)
        *end = job->orders[c];
    return c;
}

static size_t order_of(const product *job, size_t c) {
    return job->orders == NULL ? job->rows : job->orders[c];
}

/* Column j of P by plain sums, for the few that fill no group. */
static void gather_one(const product *job, size_t j, double *out) {
    memset(out, 0, job->columns * sizeof *out);
    for (size_t i = 0; i < job->rows; i++) {
        size_t end;
        for (size_t c = first_alive(job, i, 0, &end); c < job->columns; c++)
            out[c] += job->p[i * job->p_stride + j] * job->a[i * job->columns + c];
    }
}

/* Columns first .. first+count-1 of P, with columns `low` to `high` of A, into rows of V. */
static void gather_band(const product *job, size_t first, size_t count, size_t low, size_t high) {
    double sums[BAND / WT_THIN_GROUP][WT_THIN_COLUMNS * WT_THIN_GROUP] = {{0}};
    size_t groups = count / WT_THIN_GROUP, end;
    for (size_t i = 0; i < order_of(job, high - 1); i = end) {
        size_t c = first_alive(job, i, low, &end);
        end = end < i + SLICE ? end : i + SLICE;
        for (size_t g = 0; g < groups; g++)
            job->loops->gather(high - c, end - i,
                               job->p + i * job->p_stride + first + g * WT_THIN_GROUP,
                               job->p_stride, job->a + i * job->columns + c, job->columns,
                               sums[g] + (c - low) * WT_THIN_GROUP);
    }
    for (size_t j = 0; j < groups * WT_THIN_GROUP; j++)
        for (size_t k = 0; k < high - low; k++)
            job->v[(first + j) * job->columns + low + k] =
                job->scale * sums[j / WT_THIN_GROUP][k * WT_THIN_GROUP + j % WT_THIN_GROUP];
}

/* Items: the bands of the strip. The longest columns of A go together, so that the others need not
 * walk as far. */
static wt_status gather(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const product *job = argument;
    for (size_t band = begin; band < end; band++) {
        size_t first = job->first + band * BAND;
        size_t count = wt_tile_length(job->count, BAND, band);
        for (size_t high = job->columns; high > 0;) {
            size_t low = high > WT_THIN_COLUMNS ? high - WT_THIN_COLUMNS : 0;
            gather_band(job, first, count, low, high);
            high = low;
        }
        for (size_t j = count - count % WT_THIN_GROUP; j < count; j++) {
            double *out = job->v + (first + j) * job->columns;
            gather_one(job, first + j, out);
            for (size_t c = 0; c < job->columns; c++)
                out[c] *= job->scale;
        }
    }
    return WT_OK;
}

/* Rows begin .. end-1 of the columns of F from `alive` on. */
static void spread_rows(const product *job, size_t begin, size_t end, size_t alive) {
    const double *p = job->p + job->first;
    size_t even = job->count - job->count % 8;
    for (size_t c = alive; c < job->columns; c += WT_THIN_COLUMNS)
        job->loops->spread(
            wt_tile_length(job->columns - alive, WT_THIN_COLUMNS, (c - alive) / WT_THIN_COLUMNS),
            end - begin, even, p + begin * job->p_stride, job->p_stride, job->vt + c * STRIP, STRIP,
            job->f + begin * job->columns + c, job->columns);
    for (size_t i = begin; i < end; i++)
        for (size_t j = even; j < job->count; j++)
            for (size_t c = alive; c < job->columns; c++)
                job->f[i * job->columns + c] += p[i * job->p_stride + j] * job->vt[c * STRIP + j];
}

/* Items: rows of F. */
static wt_status spread(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const product *job = argument;
    for (size_t i = begin, stop; i < end; i = stop) {
        size_t alive = first_alive(job, i, 0, &stop);
        stop = stop < end ? stop : end;
        spread_rows(job, i, stop, alive);
    }
    return WT_OK;
}

static void transpose_strip(product *job) {
    for (size_t j = 0; j < job->count; j++)
        for (size_t c = 0; c < job->columns; c++)
            job->vt[c * STRIP + j] = job->v[(job->first + j) * job->columns + c];
}

wt_status wt_thin_project(wt_context *context, size_t rows, size_t width, size_t columns,
                          double scale, const double *p, size_t p_stride, const size_t *orders,
                          const double *a, double *v, double *f) {
    const wt_thin_loops *able[3] = {NULL};
    size_t versions = wt_thin_able(able, 3);
    product job = {.rows = rows,
                   .width = width,
                   .columns = columns,
                   .p_stride = p_stride,
                   .scale = scale,
                   .p = p,
                   .a = a,
                   .orders = orders,
                   .v = v,
                   .f = f};
    wt_status status;
    job.loops = able[versions - 1];
    WT_TRY(wt_check_shape(context, "P", rows, width, p_stride));
    WT_TRY(WT_NEW2(context, &job.vt, columns, STRIP, "thin products"));
    for (job.first = 0; job.first < width; job.first += STRIP) {
        job.count = wt_tile_length(width, STRIP, job.first / STRIP);
        WT_TRY(wt_parallel_for(context, wt_tile_count(job.count, BAND), 1, gather, &job));
        if (f == NULL)
            continue;
        transpose_strip(&job);
        WT_TRY(wt_parallel_for(context, rows, ROWS_A_CHUNK, spread, &job));
    }
done:
    wt_release(job.vt);
    return status;
}
