/* Kernel matrices, and systems as such. */
#include <stdlib.h>
#include <string.h>

#include "system.h"

#define SLOTS 256
#define PANEL ((size_t)64 << 20) /* bytes of features that a rank makes at a time, about */

static wt_ridge_system *slots[SLOTS];

wt_ridge_system *mpi_system_at(size_t slot) {
    return slots[slot];
}

wt_status mpi_system_open(wt_context *context, wt_ridge_system **out) {
    size_t slot = 0;
    while (slot < SLOTS && slots[slot] != NULL)
        slot++;
    *out = slot < SLOTS ? calloc(1, sizeof **out) : NULL;
    if (*out == NULL)
        return mpi_fail(context, WT_MEMORY, "no room for another matrix");
    (*out)->slot = slot;
    (*out)->room = mpi_room_start(context);
    (*out)->eigen_room = mpi_room_start(context);
    slots[slot] = *out;
    return WT_OK;
}

wt_status mpi_close(wt_context *context, mpi_call *call) {
    wt_ridge_system *system = slots[call->order.slot];
    (void)context;
    slots[call->order.slot] = NULL;
    mpi_room_free(&system->eigen_room);
    mpi_room_free(&system->room);
    free(system);
    return WT_OK;
}

wt_status mpi_system_keep_if(wt_context *context, wt_status status, wt_ridge_system *system,
                             mpi_call *call) {
    if (system != NULL) {
        call->order.slot = system->slot;
        system->room.context = NULL; /* its account outlives the call */
    }
    if (status != WT_OK && system != NULL)
        (void)mpi_close(context, call);
    return status;
}

void mpi_multiply(const char *operations, size_t m, size_t n, size_t k, double alpha,
                  const double *a, size_t lda, const double *b, size_t ldb, double beta, double *c,
                  size_t ldc) {
    const int sizes[] = {(int)m, (int)n, (int)k}, steps[] = {(int)lda, (int)ldb, (int)ldc};
    if (m > 0 && n > 0)
        dgemm_(operations, operations + 1, &sizes[0], &sizes[1], &sizes[2], &alpha, a, &steps[0], b,
               &steps[1], &beta, c, &steps[2]);
}

/* ---- features -------------------------------------------------------------------------------- */

size_t mpi_units_of(const wt_ridge_model *model) {
    return model->width >= MPI_BLOCK ? 1 : MPI_BLOCK / model->width;
}

wt_status mpi_features_make(wt_context *context, const wt_ridge_model *model, const mpi_rows *rows,
                            size_t first, size_t units, mpi_matrix *phi) {
    size_t step = mpi_units_of(model), end = first + units;
    for (size_t i = 0; i < phi->local_rows; i += phi->row.block) {
        size_t from = first + mpi_deal_index(&phi->row, i) / model->width;
        if (from >= end)
            break;
        size_t count = end - from < step ? end - from : step;
        if (rows->rows.samples > 0)
            MPI_PASS(mpi_here.device->services->maker->features(
                context, model, &rows->rows, from, count, phi->data + i, phi->local_rows));
    }
    return WT_OK;
}

/* K = Phi Phi^T / norm, above the diagonal: every rank makes the features of some of the samples
 * and some of the units, some units at a time. */
static wt_status fill_features(wt_context *context, mpi_call *call, wt_ridge_system *system) {
    mpi_room room = mpi_room_start(context);
    wt_ridge_model model;
    mpi_rows rows;
    mpi_matrix phi;
    wt_status status = mpi_model_spread(&room, call, &model);
    if (status == WT_OK)
        status = mpi_rows_spread(&room, &call->order.rows, call->rows, &system->a.column, 1, &rows);
    if (status != WT_OK)
        goto done;
    size_t n = system->n, step = mpi_units_of(&model), width = model.width;
    size_t round = step * (size_t)mpi_here.rows; /* units of a block for each row of the grid */
    size_t rounds = 1 + PANEL / sizeof(double) / (step * width * (n / system->a.column.of + 1));
    size_t units = rounds * round < model.units ? rounds * round : model.units;
    mpi_matrix_take(&room, units * width, n, step * width, MPI_BLOCK, "features", &phi);
    status = mpi_agree(context, room.status);
    for (size_t first = 0; status == WT_OK && first < model.units; first += units) {
        size_t count = model.units - first < units ? model.units - first : units;
        const int one = 1, order = (int)n, features = (int)(count * width);
        const double scale = 1 / model.norm, beta = first == 0 ? 0 : 1;
        status = mpi_features_make(context, &model, &rows, first, count, &phi);
        if (status == WT_OK && mpi_here.rank == 0)
            status = mpi_here.device->services->check_cancelled(context);
        status = mpi_agree(context, status);
        if (status == WT_OK)
            pdsyrk_("U", "T", &order, &features, &scale, phi.data, &one, &one, phi.about, &beta,
                    system->a.data, &one, &one, system->a.about);
    }
done:
    mpi_room_free(&room);
    return status;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* K in closed form, one block of columns of this rank after the other. */
static wt_status fill_kernel(wt_context *context, mpi_call *call, wt_ridge_system *system) {
    const mpi_matrix *a = &system->a;
    const mpi_deal deals[2] = {a->row, a->column};
    const wt_ridge_maker *maker = mpi_here.device->services->maker;
    mpi_room room = mpi_room_start(context);
    mpi_rows rows[2], above, block;
    wt_status status = mpi_rows_spread(&room, &call->order.rows, call->rows, deals, 2, rows);
    /* blocks of the rank with the most: all agree as often */
    size_t blocks = (system->n / MPI_BLOCK + a->column.of) / a->column.of;
    for (size_t b = 0; status == WT_OK && b < blocks; b++) {
        size_t begin = b * MPI_BLOCK, end = begin + MPI_BLOCK;
        end = end < a->local_columns ? end : a->local_columns;
        if (begin < end) {
            size_t last = mpi_deal_index(&a->column, end - 1) + 1;
            mpi_rows_part(&rows[0], 0, mpi_deal_count(&a->row, last), &above);
            mpi_rows_part(&rows[1], begin, end, &block);
            if (above.rows.samples > 0)
                status = maker->kernel(context, &call->order.spec, &block.rows, &above.rows,
                                       a->data + begin * a->local_rows, a->local_rows);
        }
        if (status == WT_OK && mpi_here.rank == 0)
            status = mpi_here.device->services->check_cancelled(context);
        status = mpi_agree(context, status);
    }
    mpi_room_free(&room);
    return status;
}

static wt_status take_kernel(wt_context *context, const mpi_call *call, wt_ridge_system *system) {
    system->n = call->order.rows.samples;
    mpi_matrix_take(&system->room, system->n, system->n, MPI_BLOCK, MPI_BLOCK, "the kernel matrix",
                    &system->a);
    system->diagonal = MPI_TAKE(&system->room, double, system->n, "the kernel matrix");
    return mpi_agree(context, system->room.status);
}

wt_status mpi_open_kernel(wt_context *context, mpi_call *call) {
    wt_ridge_system *system;
    wt_status status = mpi_agree(context, mpi_system_open(context, &system));
    if (status == WT_OK)
        status = take_kernel(context, call, system);
    if (status == WT_OK)
        status = call->order.rows.side ? fill_kernel(context, call, system)
                                       : fill_features(context, call, system);
    if (status == WT_OK) {
        mpi_system_keep(system);
        if (call->out != NULL)
            memcpy(call->out, system->diagonal, system->n * sizeof *call->out);
    }
    return mpi_system_keep_if(context, status, system, call);
}
