/* Matrices and samples that are dealt out to the ranks: block 0 to the first, block 1 to the next,
 * and around again. */
#ifndef WATTLE_MPI_MATRIX_H
#define WATTLE_MPI_MATRIX_H

#include "scalapack.h"
#include "world.h"

/* Who gets what of a line of things. */
typedef struct mpi_deal {
    size_t block; /* things at a time */
    size_t of, at;
} mpi_deal;
/* How many of the first n are dealt to this one. */
size_t mpi_deal_count(const mpi_deal *deal, size_t n);
/* The number that the i-th of these has in the line. */
size_t mpi_deal_index(const mpi_deal *deal, size_t i);

/* A matrix over the process grid. The part of this rank is column-major, without gaps. */
typedef struct mpi_matrix {
    size_t rows, columns;             /* of the whole */
    mpi_deal row, column;             /* what this rank has of it */
    size_t local_rows, local_columns; /* numbers of them */
    int about[9];                     /* ScaLAPACK's descriptor */
    double *data;
} mpi_matrix;
/* Zeros. WT_USAGE where a rank would have more numbers than ScaLAPACK can count. */
void mpi_matrix_take(mpi_room *room, size_t rows, size_t columns, size_t row_block,
                     size_t column_block, const char *what, mpi_matrix *out);
/* The same room for fewer columns. */
void mpi_matrix_narrow(mpi_matrix *matrix, size_t columns);

/* Between a row-major array (rows, columns) that every rank has a copy of, and the matrix: line
 * i of the matrix is line place[i] of the array; NULL = i. Added, for sums over the ranks. */
void mpi_matrix_load(mpi_matrix *matrix, const size_t *place, const double *from);
void mpi_matrix_add_to(const mpi_matrix *matrix, const size_t *place, double *to);

/* Samples of this rank, of all that rank 0 has. */
typedef struct mpi_rows {
    wt_ridge_rows rows;
    wt_ridge_side side;
} mpi_rows;
/* Those of `count` deals, one or two; all ranks call it. What they hold is in the room. rows is
 * NULL but on rank 0. */
wt_status mpi_rows_spread(mpi_room *room, const mpi_rows_shape *shape, const wt_ridge_rows *rows,
                          const mpi_deal *deals, size_t count, mpi_rows *out);
/* Samples begin .. end-1, borrowed. */
void mpi_rows_part(const mpi_rows *rows, size_t begin, size_t end, mpi_rows *out);
/* Rows of an array (samples, columns) of rank 0. */
wt_status mpi_numbers_spread(mpi_room *room, size_t samples, size_t columns, const double *from,
                             const mpi_deal *deal, double **out);

/* The model of an order, in the room. */
wt_status mpi_model_spread(mpi_room *room, const mpi_call *call, wt_ridge_model *out);

#endif
