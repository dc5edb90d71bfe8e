/* Eigenvalues, singular values and least squares: checks and copies around the backend. */
#include <float.h>

#include "base/memory.h"
#include "base/work.h"
#include "linalg/backend.h"
#include "linalg/tiles.h"

/* The usual counts (Golub and Van Loan, Matrix Computations); what LAPACK does depends on the
 * values of a matrix, these on its shape alone. */
static double eigen_work(size_t n, bool vectors) {
    double cube = (double)n * (double)n * (double)n;
    return vectors ? 9 * cube : 4 * cube / 3;
}

static double svd_work(size_t m, size_t n, bool vectors) {
    double most = (double)(m < n ? n : m), least = (double)(m < n ? m : n);
    return vectors ? least * least * (6 * most + 11 * least) : 2 * least * least * (most + least);
}

static double least_squares_work(size_t m, size_t n, size_t columns) {
    double most = (double)(m < n ? n : m), least = (double)(m < n ? m : n);
    return least * least * (2 * most + 11 * least) + 2 * wt_work_product(m, columns, n);
}

wt_status wt_eigen_symmetric(wt_context *context, size_t n, double *a, size_t stride, bool vectors,
                             double *values) {
    const wt_backend *backend;
    WT_PASS(wt_backend_open(context, &backend));
    WT_PASS(wt_check_shape(context, "A", n, n, stride));
    WT_PASS(wt_check_matrix(context, "A", WT_LOWER, n, n, a, stride));
    WT_PASS(wt_context_check_cancelled(context));
    wt_work_add(context, eigen_work(n, vectors));
    if (n > 0)
        WT_PASS(backend->eigen(context, n, a, stride, vectors, values));
    return WT_OK;
}

wt_status wt_svd(wt_context *context, size_t m, size_t n, const double *a, size_t stride, double *u,
                 double *s, double *vt) {
    const wt_backend *backend;
    double *copy = NULL;
    wt_status status;
    WT_TRY(wt_backend_open(context, &backend));
    WT_TRY(wt_check_shape(context, "A", m, n, stride));
    if ((u == NULL) != (vt == NULL)) {
        status = wt_fail(context, WT_USAGE, "of u and vt both or none must be NULL");
        goto done;
    }
    WT_TRY(wt_check_matrix(context, "A", WT_WHOLE, m, n, a, stride));
    WT_TRY(wt_context_check_cancelled(context));
    if (m == 0 || n == 0)
        goto done;
    WT_TRY(WT_NEW2(context, &copy, m, n, "a matrix to decompose"));
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++)
            copy[i * n + j] = a[i * stride + j];
    wt_work_add(context, svd_work(m, n, u != NULL));
    WT_TRY(backend->svd(context, m, n, copy, u, s, vt));
done:
    wt_release(copy);
    return status;
}

/* Where no equation or no unknown is left, zero is the X of least norm. */
static void clear_rows(size_t n, size_t columns, double *x, size_t x_stride) {
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < columns; c++)
            x[i * x_stride + c] = 0;
}

wt_status wt_least_squares(wt_context *context, size_t m, size_t n, size_t columns, const double *a,
                           size_t a_stride, const double *b, size_t b_stride, double cutoff,
                           double *x, size_t x_stride, size_t *rank) {
    const wt_backend *backend;
    double *a_columns = NULL, *b_columns = NULL;
    size_t room = m < n ? n : m;
    size_t sides = columns == 0 ? 1 : columns; /* LAPACK refuses none, yet the rank is wanted */
    wt_status status;
    *rank = 0;
    WT_TRY(wt_backend_open(context, &backend));
    WT_TRY(wt_check_shape(context, "A", m, n, a_stride));
    WT_TRY(wt_check_shape(context, "B", m, columns, b_stride));
    WT_TRY(wt_check_shape(context, "X", n, columns, x_stride));
    WT_TRY(wt_check_matrix(context, "A", WT_WHOLE, m, n, a, a_stride));
    WT_TRY(wt_check_matrix(context, "B", WT_WHOLE, m, columns, b, b_stride));
    WT_TRY(wt_context_check_cancelled(context));
    if (m == 0 || n == 0) {
        clear_rows(n, columns, x, x_stride);
        goto done;
    }
    WT_TRY(WT_NEW2(context, &a_columns, m, n, "a matrix to solve with"));
    WT_TRY(WT_NEW2_ZERO(context, &b_columns, sides, room, "right-hand sides to solve for"));
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++)
            a_columns[j * m + i] = a[i * a_stride + j];
        for (size_t c = 0; c < columns; c++)
            b_columns[c * room + i] = b[i * b_stride + c];
    }
    wt_work_add(context, least_squares_work(m, n, sides));
    WT_TRY(backend->least_squares(context, m, n, sides, a_columns, b_columns,
                                  cutoff < 0 ? (double)room * DBL_EPSILON : cutoff, rank));
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < columns; c++)
            x[i * x_stride + c] = b_columns[c * room + i];
done:
    wt_release(a_columns);
    wt_release(b_columns);
    return status;
}
