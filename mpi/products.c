/* Products with features and kernels, which need no matrix: samples in equal shares. */
#include <string.h>

#include "system.h"

#define STEP 512 /* samples that are predicted from a kernel at a time */

static mpi_deal share_of(size_t samples) {
    size_t ranks = (size_t)mpi_here.ranks, share = (samples + ranks - 1) / ranks;
    return (mpi_deal){.block = share == 0 ? 1 : share, .of = ranks, .at = (size_t)mpi_here.rank};
}

/* Shares (samples, columns) of all ranks to rank 0. */
static void gather(const mpi_deal *deal, size_t samples, size_t columns, const double *mine,
                   double *whole) {
    size_t begin = deal->at * deal->block, count = mpi_deal_count(deal, samples);
    if (count > 0)
        memcpy(whole + begin * columns, mine, count * columns * sizeof *whole);
    mpi_sum(whole, samples * columns);
}

/* Units of block b, as others have them. */
static size_t units_at(const wt_ridge_model *model, size_t first) {
    return model->units - first < model->block ? model->units - first : model->block;
}

/* v (f, columns) = Phi^T a / norm of this rank's samples. */
static wt_status project_share(wt_context *context, const wt_ridge_model *model,
                               const mpi_rows *rows, size_t columns, const double *a, double *phi,
                               double *v) {
    const wt_ridge_maker *maker = mpi_here.device->services->maker;
    size_t n = rows->rows.samples;
    for (size_t first = 0; n > 0 && first < model->units; first += model->block) {
        size_t count = units_at(model, first), width = count * model->width;
        MPI_PASS(maker->features(context, model, &rows->rows, first, count, phi, width));
        mpi_multiply("NT", columns, width, n, 1 / model->norm, a, columns, phi, width, 0,
                     v + first * model->width * columns, columns);
    }
    return WT_OK;
}

/* fitted (n, columns) = Phi v of this rank's samples. */
static wt_status apply_share(wt_context *context, const wt_ridge_model *model, const mpi_rows *rows,
                             size_t columns, const double *v, double *phi, double *fitted) {
    const wt_ridge_maker *maker = mpi_here.device->services->maker;
    size_t n = rows->rows.samples;
    for (size_t first = 0; n > 0 && first < model->units; first += model->block) {
        size_t count = units_at(model, first), width = count * model->width;
        MPI_PASS(maker->features(context, model, &rows->rows, first, count, phi, width));
        mpi_multiply("NN", columns, n, width, 1, v + first * model->width * columns, columns, phi,
                     width, first == 0 ? 0 : 1, fitted, columns);
    }
    return WT_OK;
}

/* Phi v of all samples, from v (f, columns) on every rank to rank 0's `out`. */
static wt_status apply(wt_context *context, const wt_ridge_model *model, const mpi_rows *rows,
                       const mpi_deal *deal, const mpi_call *call, const double *v, double *phi,
                       double *out) {
    size_t samples = call->order.rows.samples, columns = call->order.columns;
    mpi_room room = mpi_room_start(context);
    double *mine = MPI_TAKE(&room, double, rows->rows.samples *columns, "predictions");
    double *whole = MPI_TAKE(&room, double, samples *columns, "predictions");
    wt_status status = mpi_agree(context, room.status);
    if (status == WT_OK)
        status = mpi_agree(context, apply_share(context, model, rows, columns, v, phi, mine));
    if (status == WT_OK) {
        gather(deal, samples, columns, mine, whole);
        if (out != NULL)
            memcpy(out, whole, samples * columns * sizeof *out);
    }
    mpi_room_free(&room);
    return status;
}

/* A block of features of the share. */
static double *take_block(mpi_room *room, const wt_ridge_model *model, const mpi_rows *rows) {
    size_t units = model->units < model->block ? model->units : model->block;
    return MPI_TAKE(room, double, rows->rows.samples *units * model->width, "a block of features");
}

wt_status mpi_project(wt_context *context, mpi_call *call) {
    size_t samples = call->order.rows.samples, columns = call->order.columns;
    mpi_deal deal = share_of(samples);
    mpi_room room = mpi_room_start(context);
    wt_ridge_model model;
    mpi_rows rows;
    double *a = NULL;
    wt_status status = mpi_model_spread(&room, call, &model);
    if (status == WT_OK)
        status = mpi_rows_spread(&room, &call->order.rows, call->rows, &deal, 1, &rows);
    if (status == WT_OK)
        status = mpi_numbers_spread(&room, samples, columns, call->in, &deal, &a);
    if (status != WT_OK)
        goto done;
    size_t f = model.units * model.width;
    double *phi = take_block(&room, &model, &rows);
    double *v = MPI_TAKE(&room, double, f *columns, "value vectors");
    status = mpi_agree(context, room.status);
    if (status == WT_OK)
        status = mpi_agree(context, project_share(context, &model, &rows, columns, a, phi, v));
    if (status != WT_OK)
        goto done;
    mpi_sum_for_all(v, f * columns);
    if (call->out != NULL)
        memcpy(call->out, v, f * columns * sizeof *v);
    if (call->order.more)
        status = apply(context, &model, &rows, &deal, call, v, phi, call->second);
done:
    mpi_room_free(&room);
    return status;
}

static wt_status predict_features(wt_context *context, mpi_call *call) {
    mpi_deal deal = share_of(call->order.rows.samples);
    mpi_room room = mpi_room_start(context);
    wt_ridge_model model;
    mpi_rows rows;
    wt_status status = mpi_model_spread(&room, call, &model);
    if (status == WT_OK)
        status = mpi_rows_spread(&room, &call->order.rows, call->rows, &deal, 1, &rows);
    if (status != WT_OK)
        goto done;
    size_t numbers = model.units * model.width * call->order.columns;
    double *phi = take_block(&room, &model, &rows);
    double *v = MPI_TAKE(&room, double, numbers, "value vectors");
    status = mpi_agree(context, room.status);
    if (status != WT_OK)
        goto done;
    if (call->in != NULL)
        memcpy(v, call->in, numbers * sizeof *v);
    mpi_broadcast(v, numbers * sizeof *v);
    status = apply(context, &model, &rows, &deal, call, v, phi, call->out);
done:
    mpi_room_free(&room);
    return status;
}

/* K(rows, train) alpha over this rank's share of the training samples. */
static wt_status predict_share(wt_context *context, const wt_model_spec *spec,
                               const mpi_rows *train, const mpi_rows *rows, size_t columns,
                               const double *alpha, double *k, double *out) {
    const wt_ridge_maker *maker = mpi_here.device->services->maker;
    size_t n = train->rows.samples, samples = rows->rows.samples;
    for (size_t begin = 0; n > 0 && begin < samples; begin += STEP) {
        size_t end = samples - begin < STEP ? samples : begin + STEP;
        mpi_rows part;
        mpi_rows_part(rows, begin, end, &part);
        MPI_PASS(maker->kernel(context, spec, &part.rows, &train->rows, k, n));
        mpi_multiply("NN", columns, end - begin, n, 1, alpha, columns, k, n, 0,
                     out + begin * columns, columns);
    }
    return WT_OK;
}

static wt_status predict_kernel(wt_context *context, mpi_call *call) {
    size_t samples = call->order.rows.samples, columns = call->order.columns;
    size_t trained = call->order.train.samples;
    mpi_deal deal = share_of(trained), whole = {.block = samples, .of = 1, .at = 0};
    mpi_room room = mpi_room_start(context);
    mpi_rows train, rows;
    double *alpha = NULL;
    wt_status status = mpi_rows_spread(&room, &call->order.train, call->train, &deal, 1, &train);
    if (status == WT_OK)
        status = mpi_rows_spread(&room, &call->order.rows, call->rows, &whole, 1, &rows);
    if (status == WT_OK)
        status = mpi_numbers_spread(&room, trained, columns, call->in, &deal, &alpha);
    if (status != WT_OK)
        goto done;
    double *k = MPI_TAKE(&room, double, STEP *train.rows.samples, "kernel rows");
    double *sums = MPI_TAKE(&room, double, samples *columns, "predictions");
    status = mpi_agree(context, room.status);
    if (status == WT_OK)
        status = mpi_agree(context, predict_share(context, &call->order.spec, &train, &rows,
                                                  columns, alpha, k, sums));
    if (status == WT_OK) {
        mpi_sum(sums, samples * columns);
        if (call->out != NULL)
            memcpy(call->out, sums, samples * columns * sizeof *sums);
    }
done:
    mpi_room_free(&room);
    return status;
}

wt_status mpi_predict(wt_context *context, mpi_call *call) {
    return call->order.rows.side ? predict_kernel(context, call) : predict_features(context, call);
}
