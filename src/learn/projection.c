#include "learn/projection.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "wattle/linalg.h"

wt_status wt_projection_new(wt_context *context, const wt_rows *rows, size_t heads,
                            wt_projection *out) {
    size_t d = rows->in.dim, columns = heads * d, R = rows->rows, p = rows->outputs, total, numbers;
    wt_status status;
    *out = (wt_projection){.rows = rows, .heads = heads, .columns = columns};
    if (!wt_multiply(R, columns, &numbers))
        numbers = SIZE_MAX / sizeof(double);
    WT_TRY(WT_NEW(context, &out->theta, columns * d, "Theta"));
    WT_TRY(WT_NEW(context, &out->plain, columns * d, "Theta"));
    WT_TRY(WT_NEW(context, &out->starts, rows->in.sequences + 1, "starts of attention weights"));
    total = wt_attention_weight_starts(&rows->in, out->starts);
    WT_TRY(WT_NEW(context, &out->weights, total * heads, "attention weights"));
    WT_TRY(WT_NEW(context, &out->h, numbers, "attended tokens"));
    WT_TRY(WT_NEW(context, &out->qt, numbers, "a basis of the attended tokens"));
    WT_TRY(WT_NEW(context, &out->first, columns * columns, "a factor"));
    WT_TRY(WT_NEW(context, &out->again, columns * columns, "a factor"));
    WT_TRY(WT_NEW(context, &out->w, columns * p, "W"));
    WT_TRY(WT_NEW(context, &out->spare, columns * p, "W"));
    WT_TRY(WT_NEW(context, &out->e, R * p, "residuals"));
    double r = (double)R, c = (double)columns;
    out->flops = 2 * r * c * ((double)d + 2 * c + 4 * (double)p);
done:
    if (status != WT_OK)
        wt_projection_free(out);
    return status;
}

void wt_projection_free(wt_projection *projection) {
    wt_release(projection->theta);
    wt_release(projection->plain);
    wt_release(projection->starts);
    wt_release(projection->weights);
    wt_release(projection->h);
    wt_release(projection->qt);
    wt_release(projection->first);
    wt_release(projection->again);
    wt_release(projection->w);
    wt_release(projection->spare);
    wt_release(projection->e);
    *projection = (wt_projection){0};
}

void wt_theta_pack(size_t heads, size_t dim, const double *plain, double *packed) {
    for (size_t i = 0; i < heads; i++)
        for (size_t u = 0; u < dim; u++)
            memcpy(packed + (u * heads + i) * dim, plain + (i * dim + u) * dim,
                   dim * sizeof *plain);
}

void wt_theta_unpack(size_t heads, size_t dim, const double *packed, double *plain) {
    for (size_t i = 0; i < heads; i++)
        for (size_t u = 0; u < dim; u++)
            memcpy(plain + (i * dim + u) * dim, packed + (u * heads + i) * dim,
                   dim * sizeof *plain);
}

static void turn(size_t rows, size_t columns, const double *a, double *out) {
    enum { BLOCK = 32 };
    for (size_t i = 0; i < rows; i += BLOCK)
        for (size_t j = 0; j < columns; j += BLOCK)
            for (size_t r = i; r < rows && r < i + BLOCK; r++)
                for (size_t c = j; c < columns && c < j + BLOCK; c++)
                    out[c * rows + r] = a[r * columns + c];
}

/* The first Gram matrix is shifted by rounding, so that heads that are equal to working precision
 * do not break its factor. */
static void shift_diagonal(size_t n, double *gram) {
    double trace = 0;
    for (size_t i = 0; i < n; i++)
        trace += gram[i * n + i];
    for (size_t i = 0; i < n; i++)
        gram[i * n + i] += DBL_EPSILON * (trace > 0 ? trace : 1);
}

/* After the first pass rows of Q^T have length 1, unless they are made of the shift: those stand
 * for no direction of H and are dropped. */
static void drop_directions(wt_projection *at, double *gram) {
    size_t n = at->columns, R = at->rows->rows;
    for (size_t i = 0; i < n; i++) {
        if (gram[i * n + i] >= 0.5)
            continue;
        memset(at->qt + i * R, 0, R * sizeof *at->qt);
        for (size_t j = 0; j < i; j++)
            gram[i * n + j] = 0;
        for (size_t j = i + 1; j < n; j++)
            gram[j * n + i] = 0;
        gram[i * n + i] = 1;
    }
}

/* Q^T = L^-1 Q^T with L L^T its Gram matrix. */
static wt_status orthonormalise(wt_context *context, wt_projection *at, bool first,
                                double *factor) {
    size_t n = at->columns, R = at->rows->rows, failed;
    wt_status status;
    WT_TRY(wt_gram(context, WT_PLAIN, n, R, at->qt, R, 0, factor, n));
    if (first)
        shift_diagonal(n, factor);
    else
        drop_directions(at, factor);
    WT_TRY(wt_cholesky(context, n, factor, n, &failed));
    if (failed != 0)
        status = wt_fail(context, WT_INTERNAL,
                         "the Gram matrix of attended tokens has no factor at order %zu of %zu",
                         failed, n);
    else
        status = wt_solve_lower(context, WT_PLAIN, n, R, factor, n, at->qt, R);
done:
    return status;
}

/* W += H^+ (what is in e), e = Y - H W. */
static wt_status correct(wt_context *context, wt_projection *at) {
    size_t n = at->columns, R = at->rows->rows, p = at->rows->outputs;
    wt_status status;
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, n, p, R, 1, at->qt, R, at->e, p, 0, at->spare, p));
    WT_TRY(wt_solve_lower(context, WT_TURNED, n, p, at->again, n, at->spare, p));
    WT_TRY(wt_solve_lower(context, WT_TURNED, n, p, at->first, n, at->spare, p));
    for (size_t i = 0; i < n * p; i++)
        at->w[i] += at->spare[i];
    memcpy(at->e, at->rows->y, R * p * sizeof *at->e);
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, R, p, n, -1, at->h, n, at->w, p, 1, at->e, p));
done:
    return status;
}

wt_status wt_projection_evaluate(wt_context *context, wt_projection *at) {
    size_t n = at->columns, R = at->rows->rows, p = at->rows->outputs;
    double square = 0;
    wt_status status;
    wt_theta_unpack(at->heads, at->rows->in.dim, at->theta, at->plain);
    WT_TRY(wt_attention_run(context, &at->rows->in, at->heads, at->plain, at->weights, at->h));
    turn(R, n, at->h, at->qt);
    WT_TRY(orthonormalise(context, at, true, at->first));
    WT_TRY(orthonormalise(context, at, false, at->again));
    memset(at->w, 0, n * p * sizeof *at->w);
    memcpy(at->e, at->rows->y, R * p * sizeof *at->e);
    WT_TRY(correct(context, at));
    WT_TRY(correct(context, at));
    for (size_t i = 0; i < R * p; i++)
        square += at->e[i] * at->e[i];
    at->error = sqrt(square) / at->rows->norm;
done:
    return status;
}
