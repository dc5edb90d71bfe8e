/* A symmetric matrix over all ranks, and its factor in the same room: A is above the diagonal, the
 * factor L on and below it, and the diagonal of A is on every rank. */
#ifndef WATTLE_MPI_SYSTEM_H
#define WATTLE_MPI_SYSTEM_H

#include "matrix.h"

struct wt_ridge_system {
    size_t slot; /* its number on all ranks */
    mpi_room room;
    size_t n;
    mpi_matrix a;
    double *diagonal; /* (n) */
    double shift;     /* of the factor at hand */
    size_t factored;  /* its order */
    bool spent;       /* L^-1 is in its place, ... */
    size_t inverted;  /* of this leading block */
    mpi_room eigen_room;
    mpi_matrix u; /* eigenvectors as columns */
    size_t eigen_order;
    /* Of normal matrices alone. Features are in an order of their own, in which a block that is
     * dealt out is a run of units. */
    wt_ridge_model model;
    size_t columns;
    bool ended;      /* `diagonal` is that of A */
    size_t *place;   /* (f) the column of each in the order of others; NULL for kernels */
    double *moment;  /* (f, columns), of this rank's samples and features */
    mpi_matrix slab; /* (f, most) features of samples that came last */
};

/* Units of a model whose features are dealt out together. */
size_t mpi_units_of(const wt_ridge_model *model);
/* Features of so many units from `first` on, a multiple of mpi_units_of, of this rank's samples:
 * into phi (features, samples), whose rows are dealt out by it. */
wt_status mpi_features_make(wt_context *context, const wt_ridge_model *model, const mpi_rows *rows,
                            size_t first, size_t units, mpi_matrix *phi);

/* Reads the diagonal off A, which is there on and above it. */
void mpi_system_keep(wt_ridge_system *system);
/* The diagonal of A back in its place, where a factor may stand. */
void mpi_system_unfactor(wt_ridge_system *system);
/* Brings the factor back after it was spent. */
void mpi_system_restore(wt_ridge_system *system);
/* A system in a free slot, the same one on all ranks. */
wt_status mpi_system_open(wt_context *context, wt_ridge_system **out);
/* The end of an order that opens one: closes it where that failed. */
wt_status mpi_system_keep_if(wt_context *context, wt_status status, wt_ridge_system *system,
                             mpi_call *call);
/* The system of an order. */
wt_ridge_system *mpi_system_at(size_t slot);

wt_status mpi_open_kernel(wt_context *context, mpi_call *call);
wt_status mpi_open_normal(wt_context *context, mpi_call *call);
wt_status mpi_add_rows(wt_context *context, mpi_call *call);
wt_status mpi_end_rows(wt_context *context, mpi_call *call);
wt_status mpi_judge(wt_context *context, mpi_call *call);
wt_status mpi_close(wt_context *context, mpi_call *call);
wt_status mpi_copy(wt_context *context, mpi_call *call);
wt_status mpi_factor(wt_context *context, mpi_call *call);
wt_status mpi_solve(wt_context *context, mpi_call *call);
wt_status mpi_inverse(wt_context *context, mpi_call *call);
wt_status mpi_condition(wt_context *context, mpi_call *call);
wt_status mpi_eigen(wt_context *context, mpi_call *call);
wt_status mpi_along(wt_context *context, mpi_call *call);
wt_status mpi_combine(wt_context *context, mpi_call *call);
wt_status mpi_squares(wt_context *context, mpi_call *call);
wt_status mpi_drop(wt_context *context, mpi_call *call);
wt_status mpi_project(wt_context *context, mpi_call *call);
wt_status mpi_predict(wt_context *context, mpi_call *call);

/* A local product by BLAS, column-major: C = alpha op(A) op(B) + beta C. */
void mpi_multiply(const char *operations, size_t m, size_t n, size_t k, double alpha,
                  const double *a, size_t lda, const double *b, size_t ldb, double beta, double *c,
                  size_t ldc);

#endif
