/* Eigenvectors over all ranks. */
#include <string.h>

#include "system.h"

wt_status mpi_drop(wt_context *context, mpi_call *call) {
    (void)context;
    mpi_room_free(&mpi_system_at(call->order.slot)->eigen_room);
    return WT_OK;
}

/* The leading block, on and above the diagonal. */
static void copy_upper(const wt_ridge_system *system, mpi_matrix *out) {
    for (size_t j = 0; j < out->local_columns; j++) {
        size_t column = mpi_deal_index(&out->column, j);
        for (size_t i = 0; i < out->local_rows; i++) {
            size_t row = mpi_deal_index(&out->row, i);
            double entry = system->a.data[j * system->a.local_rows + i];
            out->data[j * out->local_rows + i] = row == column ? system->diagonal[row] : entry;
        }
    }
}

/* Numbers of work space that the routine asks for, and what it forgets: that of turning the vectors
 * back (pdormtr). */
static void ask(const mpi_matrix *a, const mpi_matrix *u, int *work, int *integers) {
    const int one = 1, all = -1, order = (int)a->rows;
    double wanted[1] = {0}, e[1] = {0};
    int counts[1] = {0}, failed;
    pdsyevd_("V", "U", &order, a->data, &one, &one, a->about, e, u->data, &one, &one, u->about,
             wanted, &all, counts, &all, &failed);
    size_t turning = a->row.block * (a->local_rows + a->local_columns + 3 * a->row.block);
    *work = (int)(wanted[0] + (double)turning);
    *integers = counts[0];
}

static wt_status decompose(wt_context *context, wt_ridge_system *system, double *e) {
    const int one = 1, order = (int)system->eigen_order;
    mpi_room room = mpi_room_start(context);
    mpi_matrix copy;
    int work, integers, failed = 0;
    size_t block = system->a.row.block;
    mpi_matrix_take(&room, system->eigen_order, system->eigen_order, block, block, "eigenvectors",
                    &copy);
    wt_status status = mpi_agree(context, room.status);
    if (status != WT_OK)
        goto done;
    copy_upper(system, &copy);
    ask(&copy, &system->u, &work, &integers);
    double *numbers = MPI_TAKE(&room, double, (size_t)work, "eigenvectors");
    int *counts = MPI_TAKE(&room, int, (size_t)integers, "eigenvectors");
    status = mpi_agree(context, room.status);
    if (status == WT_OK) {
        pdsyevd_("V", "U", &order, copy.data, &one, &one, copy.about, e, system->u.data, &one, &one,
                 system->u.about, numbers, &work, counts, &integers, &failed);
        if (failed != 0)
            status =
                mpi_fail(context, WT_INTERNAL, "eigenvalues do not converge (pdsyevd: %d)", failed);
        status = mpi_agree(context, status);
    }
done:
    mpi_room_free(&room);
    return status;
}

wt_status mpi_eigen(wt_context *context, mpi_call *call) {
    wt_ridge_system *system = mpi_system_at(call->order.slot);
    size_t order = system->eigen_order = call->order.number, block = system->a.row.block;
    mpi_room *room = &system->eigen_room;
    mpi_room_free(room);
    *room = mpi_room_start(context);
    mpi_matrix_take(room, order, order, block, block, "eigenvectors", &system->u);
    double *e = MPI_TAKE(room, double, order, "eigenvectors");
    MPI_PASS(mpi_agree(context, room->status));
    MPI_PASS(decompose(context, system, e));
    if (call->out != NULL)
        memcpy(call->out, e, order * sizeof *e);
    return WT_OK;
}

/* out (order, columns) = U^T y or U y, on rank 0; y is its too. */
static wt_status turn(wt_context *context, mpi_call *call, bool transposed) {
    wt_ridge_system *system = mpi_system_at(call->order.slot);
    const mpi_matrix *u = &system->u;
    const mpi_deal *in = transposed ? &u->row : &u->column,
                   *out = transposed ? &u->column : &u->row;
    size_t order = u->rows, q = call->order.columns;
    size_t ins = transposed ? u->local_rows : u->local_columns;
    size_t outs = transposed ? u->local_columns : u->local_rows;
    const size_t *from = transposed ? system->place : NULL, *to = transposed ? NULL : system->place;
    mpi_room room = mpi_room_start(context);
    double *whole = MPI_TAKE(&room, double, order *q, "eigenvectors");
    double *some = MPI_TAKE(&room, double, ins *q, "eigenvectors");
    double *found = MPI_TAKE(&room, double, outs *q, "eigenvectors");
    wt_status status = mpi_agree(context, room.status);
    if (status != WT_OK)
        goto done;
    if (call->in != NULL)
        memcpy(whole, call->in, order * q * sizeof *whole);
    mpi_broadcast(whole, order * q * sizeof *whole);
    for (size_t i = 0; i < ins; i++) {
        size_t at = mpi_deal_index(in, i);
        memcpy(some + i * q, whole + (from == NULL ? at : from[at]) * q, q * sizeof *some);
    }
    if (ins > 0 && u->local_rows > 0) /* row-major (outs, q) is column-major (q, outs) */
        mpi_multiply(transposed ? "NN" : "NT", q, outs, ins, 1, some, q, u->data, u->local_rows, 0,
                     found, q);
    memset(whole, 0, order * q * sizeof *whole);
    for (size_t i = 0; i < outs; i++) {
        size_t at = mpi_deal_index(out, i);
        memcpy(whole + (to == NULL ? at : to[at]) * q, found + i * q, q * sizeof *found);
    }
    mpi_sum(whole, order * q);
    if (call->out != NULL)
        memcpy(call->out, whole, order * q * sizeof *whole);
done:
    mpi_room_free(&room);
    return status;
}

wt_status mpi_along(wt_context *context, mpi_call *call) {
    return turn(context, call, true);
}

wt_status mpi_combine(wt_context *context, mpi_call *call) {
    return turn(context, call, false);
}

wt_status mpi_squares(wt_context *context, mpi_call *call) {
    wt_ridge_system *system = mpi_system_at(call->order.slot);
    const mpi_matrix *u = &system->u;
    size_t order = u->rows;
    mpi_room room = mpi_room_start(context);
    double *weight = MPI_TAKE(&room, double, order, "eigenvectors");
    double *sums = MPI_TAKE(&room, double, order, "eigenvectors");
    wt_status status = mpi_agree(context, room.status);
    if (status == WT_OK) {
        if (call->in != NULL)
            memcpy(weight, call->in, order * sizeof *weight);
        mpi_broadcast(weight, order * sizeof *weight);
        for (size_t j = 0; j < u->local_columns; j++)
            for (size_t i = 0; i < u->local_rows; i++) {
                size_t row = mpi_deal_index(&u->row, i);
                double entry = u->data[j * u->local_rows + i];
                sums[system->place == NULL ? row : system->place[row]] +=
                    weight[mpi_deal_index(&u->column, j)] * entry * entry;
            }
        mpi_sum(sums, order);
        if (call->out != NULL)
            memcpy(call->out, sums, order * sizeof *sums);
    }
    mpi_room_free(&room);
    return status;
}
