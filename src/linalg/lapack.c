/* The decompositions on LAPACK. A row-major matrix enters as its transpose by columns. */
#include <limits.h>

#include "base/memory.h"
#include "linalg/backend.h"
#include "linalg/openblas.h"

/* LAPACK tells the work space it wants as a double; past 2^31 it cannot take it. */
static wt_status size_of_work(wt_context *context, const char *what, double wanted, int *size) {
    if (!(wanted <= INT_MAX))
        return wt_fail(context, WT_USAGE, "%s: the matrix is larger than LAPACK can take", what);
    *size = wanted < 1 ? 1 : (int)wanted;
    return WT_OK;
}

static wt_status converged(wt_context *context, const char *what, size_t m, size_t n, int info) {
    if (info != 0)
        return wt_fail(context, WT_INTERNAL, "%s of a %zu x %zu matrix: LAPACK stopped with %d",
                       what, m, n, info);
    return WT_OK;
}

wt_status wt_lapack_eigen(wt_context *context, size_t n, double *a, size_t stride, bool vectors,
                          double *values) {
    const char *job = vectors ? "V" : "N";
    int order = (int)n, leading = (int)stride, work_size = -1, integer_size = -1, info;
    double wanted;
    int wanted_integers;
    wt_arena arena = wt_arena_start(context, "work space for eigenvalues");
    wt_status status;
    /* With vectors the work space is 1 + 6n + 2n^2, told in an int that may have wrapped. */
    if (vectors && 1 + 6.0 * (double)n + 2.0 * (double)n * (double)n > INT_MAX)
        return size_of_work(context, "eigenvectors", 1e300, &work_size);
    wt_openblas.dsyevd_(job, "U", &order, a, &leading, values, &wanted, &work_size,
                        &wanted_integers, &integer_size, &info, 1, 1);
    WT_TRY(size_of_work(context, "eigenvalues", wanted, &work_size));
    integer_size = wanted_integers < 1 ? 1 : wanted_integers;
    double *work = WT_TAKE(&arena, double, (size_t)work_size);
    int *integers = WT_TAKE(&arena, int, (size_t)integer_size);
    WT_TRY(arena.status);
    wt_openblas.dsyevd_(job, "U", &order, a, &leading, values, work, &work_size, integers,
                        &integer_size, &info, 1, 1);
    WT_TRY(converged(context, "eigenvalues", n, n, info));
done:
    wt_arena_free(&arena);
    return status;
}

/* By columns A is A^T = V diag(s) U^T: LAPACK's left vectors by columns are our Vt by rows, its
 * right ones transposed by columns our U by rows. */
wt_status wt_lapack_svd(wt_context *context, size_t m, size_t n, double *a, double *u, double *s,
                        double *vt) {
    const char *job = u != NULL ? "S" : "N";
    size_t least = m < n ? m : n;
    int rows = (int)n, columns = (int)m, rank = (int)least, work_size = -1, info;
    double wanted, unused;
    wt_arena arena = wt_arena_start(context, "work space for singular values");
    int *integers = WT_TAKE(&arena, int, 8, least);
    wt_status status;
    WT_TRY(arena.status);
    double *left = u != NULL ? vt : &unused, *right = u != NULL ? u : &unused;
    wt_openblas.dgesdd_(job, &rows, &columns, a, &rows, s, left, &rows, right, &rank, &wanted,
                        &work_size, integers, &info, 1);
    WT_TRY(size_of_work(context, "singular values", wanted, &work_size));
    double *work = WT_TAKE(&arena, double, (size_t)work_size);
    WT_TRY(arena.status);
    wt_openblas.dgesdd_(job, &rows, &columns, a, &rows, s, left, &rows, right, &rank, work,
                        &work_size, integers, &info, 1);
    WT_TRY(converged(context, "singular values", m, n, info));
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_lapack_least_squares(wt_context *context, size_t m, size_t n, size_t columns,
                                  double *a, double *b, double cutoff, size_t *rank) {
    size_t least = m < n ? m : n, most = m < n ? n : m;
    int rows = (int)m, order = (int)n, sides = (int)columns, room = (int)most;
    int work_size = -1, wanted_integers, found = 0, info;
    wt_arena arena = wt_arena_start(context, "work space for least squares");
    double *s = WT_TAKE(&arena, double, least), wanted;
    wt_status status;
    WT_TRY(arena.status);
    wt_openblas.dgelsd_(&rows, &order, &sides, a, &rows, b, &room, s, &cutoff, &found, &wanted,
                        &work_size, &wanted_integers, &info);
    WT_TRY(size_of_work(context, "least squares", wanted, &work_size));
    size_t integer_size = wanted_integers < 1 ? 1 : (size_t)wanted_integers;
    double *work = WT_TAKE(&arena, double, (size_t)work_size);
    int *integers = WT_TAKE(&arena, int, integer_size);
    WT_TRY(arena.status);
    wt_openblas.dgelsd_(&rows, &order, &sides, a, &rows, b, &room, s, &cutoff, &found, work,
                        &work_size, integers, &info);
    WT_TRY(converged(context, "least squares", m, n, info));
    *rank = (size_t)found;
done:
    wt_arena_free(&arena);
    return status;
}
