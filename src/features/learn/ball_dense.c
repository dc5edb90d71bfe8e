#include "base/parallel.h"
#include "features/learn/ball.h"

enum { ROWS_A_TILE = 64, COLUMNS_A_TILE = 256 };

typedef struct {
    const wt_dense_features *features;
    const double *in;
    double *out;
} product;

/* Eight sums side by side, added in a fixed order: fast, and the same bits everywhere. */
static double dot(const double *a, const double *b, size_t count) {
    double sums[8] = {0};
    size_t j = 0;
    for (; j + 8 <= count; j += 8)
        for (size_t lane = 0; lane < 8; lane++)
            sums[lane] += a[j + lane] * b[j + lane];
    for (size_t lane = 0; j < count; j++, lane++)
        sums[lane] += a[j] * b[j];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
           ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

static wt_status some_rows(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const product *job = argument;
    size_t columns = job->features->columns;
    for (size_t i = begin; i < end; i++)
        job->out[i] = dot(job->features->phi + i * columns, job->in, columns);
    return WT_OK;
}

/* Four rows at a time: out is read and written once for the four. */
static wt_status some_columns(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const product *job = argument;
    size_t rows = job->features->rows, columns = job->features->columns, i = 0;
    double *restrict out = job->out + begin;
    size_t count = end - begin;
    for (size_t j = 0; j < count; j++)
        out[j] = 0;
    for (; i + 4 <= rows; i += 4) {
        const double *a = job->features->phi + i * columns + begin, *b = a + columns,
                     *c = b + columns, *d = c + columns;
        const double *u = job->in + i;
        double u0 = u[0], u1 = u[1], u2 = u[2], u3 = u[3];
        for (size_t j = 0; j < count; j++)
            out[j] += (u0 * a[j] + u1 * b[j]) + (u2 * c[j] + u3 * d[j]);
    }
    for (; i < rows; i++)
        for (size_t j = 0; j < count; j++)
            out[j] += job->in[i] * job->features->phi[i * columns + begin + j];
    return WT_OK;
}

/* A product with one column is bound by memory, where a general product would copy Phi first. */
static wt_status apply(const void *self, wt_context *context, const double *v, size_t q,
                       double *out) {
    const wt_dense_features *features = self;
    product job = {features, v, out};
    if (q == 1)
        return wt_parallel_for(context, features->rows, ROWS_A_TILE, some_rows, &job);
    return wt_gemm(context, WT_PLAIN, WT_PLAIN, features->rows, q, features->columns, 1,
                   features->phi, features->columns, v, q, 0, out, q);
}

static wt_status apply_transposed(const void *self, wt_context *context, const double *u, size_t q,
                                  double *out) {
    const wt_dense_features *features = self;
    product job = {features, u, out};
    if (q == 1)
        return wt_parallel_for(context, features->columns, COLUMNS_A_TILE, some_columns, &job);
    return wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, features->columns, q, features->rows, 1,
                   features->phi, features->columns, u, q, 0, out, q);
}

static wt_status gram(const void *self, wt_context *context, wt_trans trans, double *out) {
    const wt_dense_features *features = self;
    size_t order = trans == WT_PLAIN ? features->rows : features->columns;
    return wt_gram(context, trans, features->rows, features->columns, features->phi,
                   features->columns, 0, out, order);
}

wt_operator wt_operator_of_dense(const wt_dense_features *features, size_t heads) {
    return (wt_operator){.rows = features->rows,
                         .heads = heads,
                         .width = features->columns / heads,
                         .apply = apply,
                         .apply_transposed = apply_transposed,
                         .gram = gram,
                         .self = features};
}
