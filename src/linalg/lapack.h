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

#endif
