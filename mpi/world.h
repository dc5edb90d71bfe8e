/* The ranks of the program: rank 0 runs it, and gives orders that all ranks carry out together.
 *
 * An order is a struct that rank 0 broadcasts; the arrays it is about are rank 0's, and are spread
 * by what carries it out. A failure on any rank is agreed upon before the next message, so that all
 * of them leave the order, and rank 0 alone says why. */
#ifndef WATTLE_MPI_WORLD_H
#define WATTLE_MPI_WORLD_H

#include <mpi.h>

#include "device/device.h"
#include "device/ridge.h"

#define MPI_BLOCK 128 /* lines of a matrix that are dealt out at a time */

typedef enum mpi_kind {
    MPI_ORDER_END, /* `number` is the exit code */
    MPI_ORDER_COUNT,
    MPI_ORDER_KERNEL,
    MPI_ORDER_NORMAL,
    MPI_ORDER_ADD,
    MPI_ORDER_END_ROWS,
    MPI_ORDER_CLOSE,
    MPI_ORDER_COPY,
    MPI_ORDER_FACTOR,
    MPI_ORDER_SOLVE,
    MPI_ORDER_INVERSE,
    MPI_ORDER_CONDITION,
    MPI_ORDER_EIGEN,
    MPI_ORDER_ALONG,
    MPI_ORDER_COMBINE,
    MPI_ORDER_SQUARES,
    MPI_ORDER_DROP,
    MPI_ORDER_JUDGE,
    MPI_ORDER_PROJECT,
    MPI_ORDER_PREDICT,
    MPI_ORDERS
} mpi_kind;

/* Shapes of wt_ridge_rows. */
typedef struct mpi_rows_shape {
    size_t samples, keys, dim;
    bool masked, side, means;
    size_t query_width, key_width;
} mpi_rows_shape;

/* The same on all ranks, once it was given. */
typedef struct mpi_order {
    mpi_kind kind;
    size_t slot; /* of the system it is about */
    size_t number, columns;
    bool more, last; /* what else is asked for */
    double shift;
    wt_model_spec spec;
    size_t units, width, inputs, block; /* of wt_ridge_model */
    double norm;
    mpi_rows_shape rows, train;
} mpi_order;

/* An order, and the arrays of rank 0: NULL on all others. */
typedef struct mpi_call {
    mpi_order order;
    const wt_ridge_model *model;
    const wt_ridge_rows *rows, *train;
    const double *in;
    const size_t *orders; /* (number) */
    double *out, *second, *third;
    size_t *failed_at;
} mpi_call;

typedef struct mpi_world {
    MPI_Comm all;
    int rank, ranks;
    int grid;                       /* BLACS's name of the process grid */
    int rows, columns, row, column; /* its shape, and where this rank is; row after row */
    wt_device *device;
} mpi_world;
extern mpi_world mpi_here;

/* In functions with nothing to free. */
#define MPI_PASS(call)                                                                             \
    do {                                                                                           \
        wt_status status_of_call = (call);                                                         \
        if (status_of_call != WT_OK)                                                               \
            return status_of_call;                                                                 \
    } while (0)

/* Opens the world; ranks other than 0 stay in it, and end with the program of rank 0. */
wt_status mpi_world_open(wt_context *context, wt_device *device);

/* Rank 0: has all ranks carry it out. One order at a time, whichever thread gives it. */
wt_status mpi_give(wt_context *context, mpi_call *call);
/* The status of the first rank that failed, with its sentence; all ranks call it. */
wt_status mpi_agree(wt_context *context, wt_status status);
/* Records the sentence. */
__attribute__((format(printf, 3, 4))) wt_status mpi_fail(wt_context *context, wt_status status,
                                                         const char *format, ...);

/* Arrays of any length from rank 0 to all, and sums on rank 0. */
void mpi_broadcast(void *data, size_t bytes);
void mpi_sum(double *values, size_t count);
/* The sums on every rank, the same bits on all. */
void mpi_sum_for_all(double *values, size_t count);

/* Arrays on the account of the device, given back together. Once one was not to be had, the status
 * says so and all that are taken are NULL. */
enum { MPI_BLOCKS = 24 };
typedef struct mpi_room {
    wt_context *context;
    wt_status status;
    size_t count;
    struct {
        void *data;
        size_t bytes;
    } blocks[MPI_BLOCKS];
} mpi_room;
mpi_room mpi_room_start(wt_context *context);
/* Zeros. */
void *mpi_take(mpi_room *room, size_t count, size_t size, const char *what);
#define MPI_TAKE(room, type, count, what) ((type *)mpi_take((room), (count), sizeof(type), (what)))
void mpi_room_free(mpi_room *room);

/* orders.c: what carries the orders out. */
typedef wt_status (*mpi_duty)(wt_context *context, mpi_call *call);
extern const mpi_duty mpi_duties[MPI_ORDERS];

/* counts.c: of this rank, since the start. */
extern wt_device_counts mpi_counts;
/* The BLAS that ScaLAPACK uses must be the library's. */
wt_status mpi_counts_open(wt_context *context);

#endif
