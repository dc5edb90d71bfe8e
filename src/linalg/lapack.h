/* LAPACK by the Fortran symbols that libopenblas exports. LAPACKE is left aside: it may load a
 * second BLAS. Matrices are column-major, so that a row-major one enters as its transpose; a
 * character argument is followed, at the end, by its length. */
#ifndef WT_LINALG_LAPACK_H
#define WT_LINALG_LAPACK_H

#include <stddef.h>

/* Cholesky of the triangle `uplo`; info > 0 is the order of the minor that is not positive. */
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info,
             size_t uplo_length);
void spotrf_(const char *uplo, const int *n, float *a, const int *lda, int *info,
             size_t uplo_length);

/* Eigenvalues w and, with jobz = V, eigenvectors in the columns of a (divide and conquer). With
 * lwork = liwork = -1 the sizes wanted come back in work[0] and iwork[0]. */
void dsyevd_(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
             double *work, const int *lwork, int *iwork, const int *liwork, int *info,
             size_t jobz_length, size_t uplo_length);

/* a = u diag(s) vt; jobz = S: min(m, n) vectors, N: none (divide and conquer). lwork = -1 asks. */
void dgesdd_(const char *jobz, const int *m, const int *n, double *a, const int *lda, double *s,
             double *u, const int *ldu, double *vt, const int *ldvt, double *work, const int *lwork,
             int *iwork, int *info, size_t jobz_length);

/* Least squares of least norm by the singular values, those up to rcond s[0] taken as zero.
 * lwork = -1 asks, for iwork too. */
void dgelsd_(const int *m, const int *n, const int *nrhs, double *a, const int *lda, double *b,
             const int *ldb, double *s, const double *rcond, int *rank, double *work,
             const int *lwork, int *iwork, int *info);

#endif
