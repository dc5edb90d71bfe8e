/* The table of the ridge engine, which rank 0 calls, and the duties of all. */
#include <stdio.h>
#include <string.h>

#include "system.h"

static wt_status count_all(wt_context *context, mpi_call *call) {
    double mine[3] = {mpi_counts.flops, mpi_counts.bytes, mpi_counts.messages}, most[3];
    (void)context;
    MPI_Reduce(mine, most, 3, MPI_DOUBLE, MPI_MAX, 0, mpi_here.all);
    if (call->out != NULL)
        memcpy(call->out, most, sizeof most);
    return WT_OK;
}

const mpi_duty mpi_duties[MPI_ORDERS] = {
    [MPI_ORDER_COUNT] = count_all,         [MPI_ORDER_KERNEL] = mpi_open_kernel,
    [MPI_ORDER_NORMAL] = mpi_open_normal,  [MPI_ORDER_ADD] = mpi_add_rows,
    [MPI_ORDER_END_ROWS] = mpi_end_rows,   [MPI_ORDER_CLOSE] = mpi_close,
    [MPI_ORDER_COPY] = mpi_copy,           [MPI_ORDER_FACTOR] = mpi_factor,
    [MPI_ORDER_SOLVE] = mpi_solve,         [MPI_ORDER_INVERSE] = mpi_inverse,
    [MPI_ORDER_CONDITION] = mpi_condition, [MPI_ORDER_EIGEN] = mpi_eigen,
    [MPI_ORDER_ALONG] = mpi_along,         [MPI_ORDER_COMBINE] = mpi_combine,
    [MPI_ORDER_SQUARES] = mpi_squares,     [MPI_ORDER_DROP] = mpi_drop,
    [MPI_ORDER_JUDGE] = mpi_judge,         [MPI_ORDER_PROJECT] = mpi_project,
    [MPI_ORDER_PREDICT] = mpi_predict};

/* ---- orders ---------------------------------------------------------------------------------- */

static mpi_rows_shape shape_of(const wt_ridge_rows *rows) {
    mpi_rows_shape shape = {.samples = rows->samples,
                            .keys = rows->keys,
                            .dim = rows->dim,
                            .masked = rows->mask != NULL,
                            .side = rows->side != NULL};
    if (rows->side != NULL) {
        shape.query_width = rows->side->query_width;
        shape.key_width = rows->side->key_width;
        shape.means = rows->side->mean != NULL;
    }
    return shape;
}

static mpi_call call_of(mpi_kind kind, const wt_ridge_model *model, const wt_ridge_rows *rows) {
    mpi_call call = {.order = {.kind = kind}, .model = model, .rows = rows};
    if (model != NULL) {
        call.order.spec = *model->spec;
        call.order.units = model->units;
        call.order.width = model->width;
        call.order.inputs = model->inputs;
        call.order.block = model->block;
        call.order.norm = model->norm;
    }
    if (rows != NULL)
        call.order.rows = shape_of(rows);
    return call;
}

static mpi_call call_on(mpi_kind kind, const wt_ridge_system *system, const wt_ridge_rows *rows) {
    mpi_call call = call_of(kind, NULL, rows);
    call.order.slot = system->slot;
    return call;
}

/* Gives an order unless the work is cancelled. */
static wt_status give(wt_context *context, mpi_call *call) {
    MPI_PASS(mpi_here.device->services->check_cancelled(context));
    return mpi_give(context, call);
}

static wt_status give_new(wt_context *context, mpi_call *call, wt_ridge_system **out) {
    *out = NULL;
    MPI_PASS(give(context, call));
    *out = mpi_system_at(call->order.slot);
    return WT_OK;
}

static wt_status open_kernel(wt_context *context, wt_device *device, const wt_ridge_model *model,
                             const wt_ridge_rows *rows, double *diagonal, wt_ridge_system **out) {
    (void)device;
    mpi_call call = call_of(MPI_ORDER_KERNEL, model, rows);
    call.out = diagonal;
    return give_new(context, &call, out);
}

static wt_status open_normal(wt_context *context, wt_device *device, const wt_ridge_model *model,
                             size_t most, size_t columns, bool leave_one_out,
                             wt_ridge_system **out) {
    (void)device;
    (void)leave_one_out;
    mpi_call call = call_of(MPI_ORDER_NORMAL, model, NULL);
    call.order.number = most;
    call.order.columns = columns;
    return give_new(context, &call, out);
}

static wt_status add_rows(wt_context *context, wt_ridge_system *system, const wt_ridge_rows *rows,
                          const double *y) {
    mpi_call call = call_on(MPI_ORDER_ADD, system, rows);
    call.in = y;
    return give(context, &call);
}

static wt_status end_rows(wt_context *context, wt_ridge_system *system, double *moment,
                          double *diagonal) {
    mpi_call call = call_on(MPI_ORDER_END_ROWS, system, NULL);
    call.out = moment;
    call.second = diagonal;
    return give(context, &call);
}

static void close_system(wt_ridge_system *system) {
    if (system == NULL)
        return;
    mpi_call call = call_on(MPI_ORDER_CLOSE, system, NULL);
    (void)mpi_give(NULL, &call);
}

static wt_status copy(wt_context *context, wt_ridge_system *system, size_t order, double *out) {
    mpi_call call = call_on(MPI_ORDER_COPY, system, NULL);
    call.order.number = order;
    call.out = out;
    return give(context, &call);
}

static wt_status factor(wt_context *context, wt_ridge_system *system, double shift, size_t order,
                        size_t *failed_at) {
    mpi_call call = call_on(MPI_ORDER_FACTOR, system, NULL);
    call.order.number = order;
    call.order.shift = shift;
    call.failed_at = failed_at;
    return give(context, &call);
}

/* Rows of (rows, columns) from one stride to another. */
static void copy_rows(size_t rows, size_t columns, const double *from, size_t stride, double *to,
                      size_t to_stride) {
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * to_stride, from + i * stride, columns * sizeof *to);
}

static wt_status solve(wt_context *context, wt_ridge_system *system, size_t order, size_t columns,
                       double *b, size_t stride) {
    mpi_call call = call_on(MPI_ORDER_SOLVE, system, NULL);
    mpi_room room = mpi_room_start(context);
    double *dense = MPI_TAKE(&room, double, order *columns, "right-hand sides");
    wt_status status = room.status;
    if (status == WT_OK) {
        copy_rows(order, columns, b, stride, dense, columns);
        call.order.number = order;
        call.order.columns = columns;
        call.in = call.out = dense;
        status = give(context, &call);
    }
    if (status == WT_OK)
        copy_rows(order, columns, dense, columns, b, stride);
    mpi_room_free(&room);
    return status;
}

static wt_status inverse_diagonals(wt_context *context, wt_ridge_system *system,
                                   const size_t *orders, size_t count, double *out) {
    mpi_call call = call_on(MPI_ORDER_INVERSE, system, NULL);
    if (count == 0)
        return WT_OK;
    call.order.number = count;
    call.orders = orders;
    call.out = out;
    return give(context, &call);
}

static wt_status condition(wt_context *context, wt_ridge_system *system, double shift,
                           double *out) {
    mpi_call call = call_on(MPI_ORDER_CONDITION, system, NULL);
    call.order.shift = shift;
    call.out = out;
    return give(context, &call);
}

static wt_status eigen(wt_context *context, wt_ridge_system *system, size_t order, double *e) {
    mpi_call call = call_on(MPI_ORDER_EIGEN, system, NULL);
    call.order.number = order;
    call.out = e;
    return give(context, &call);
}

static wt_status turn(wt_context *context, mpi_kind kind, wt_ridge_system *system, size_t columns,
                      const double *in, double *out) {
    mpi_call call = call_on(kind, system, NULL);
    call.order.columns = columns;
    call.in = in;
    call.out = out;
    return give(context, &call);
}

static wt_status eigen_along(wt_context *context, wt_ridge_system *system, size_t columns,
                             const double *y, double *along) {
    return turn(context, MPI_ORDER_ALONG, system, columns, y, along);
}

static wt_status eigen_combine(wt_context *context, wt_ridge_system *system, size_t columns,
                               const double *scaled, double *combined) {
    return turn(context, MPI_ORDER_COMBINE, system, columns, scaled, combined);
}

static wt_status eigen_squares(wt_context *context, wt_ridge_system *system, const double *weight,
                               double *out) {
    return turn(context, MPI_ORDER_SQUARES, system, 1, weight, out);
}

static void drop_eigen(wt_ridge_system *system) {
    mpi_call call = call_on(MPI_ORDER_DROP, system, NULL);
    (void)mpi_give(NULL, &call);
}

static wt_status judge_rows(wt_context *context, wt_ridge_system *system, const wt_ridge_rows *rows,
                            const double *v, double *fitted, double *leverages, double *along) {
    mpi_call call = call_on(MPI_ORDER_JUDGE, system, rows);
    call.order.more = leverages != NULL;
    call.order.last = along != NULL;
    call.in = v;
    call.out = fitted;
    call.second = leverages;
    call.third = along;
    return give(context, &call);
}

static wt_status project(wt_context *context, wt_device *device, const wt_ridge_model *model,
                         const wt_ridge_rows *rows, size_t columns, const double *a, double *v,
                         double *fitted) {
    (void)device;
    mpi_call call = call_of(MPI_ORDER_PROJECT, model, rows);
    call.order.columns = columns;
    call.order.more = fitted != NULL;
    call.in = a;
    call.out = v;
    call.second = fitted;
    return give(context, &call);
}

static wt_status predict(wt_context *context, wt_device *device, const wt_ridge_model *model,
                         const wt_ridge_rows *train, size_t columns, const double *weights,
                         const wt_ridge_rows *rows, double *fitted) {
    (void)device;
    mpi_call call = call_of(MPI_ORDER_PREDICT, model, rows);
    call.order.columns = columns;
    call.train = train;
    if (train != NULL)
        call.order.train = shape_of(train);
    call.in = weights;
    call.out = fitted;
    return give(context, &call);
}

/* Column s * columns + c of alpha, zero from row orders[s] on. */
static wt_status solve_orders(wt_context *context, wt_ridge_system *system, const size_t *orders,
                              size_t count, size_t columns, const double *y, double *alpha) {
    size_t all = count * columns;
    memset(alpha, 0, orders[count - 1] * all * sizeof *alpha);
    for (size_t s = 0; s < count; s++) {
        copy_rows(orders[s], columns, y, columns, alpha + s * columns, all);
        MPI_PASS(solve(context, system, orders[s], columns, alpha + s * columns, all));
    }
    return WT_OK;
}

static wt_status curve(wt_context *context, wt_device *device, const wt_ridge_model *model,
                       const wt_ridge_rows *rows, double shift, const size_t *orders, size_t count,
                       size_t columns, const double *y, double *alpha, double *v, bool *solved) {
    size_t n = rows->samples, failed_at = 0;
    mpi_room room = mpi_room_start(context);
    wt_ridge_system *system = NULL;
    double *diagonal = MPI_TAKE(&room, double, n, "the kernel matrix");
    wt_status status = room.status;
    *solved = false;
    if (status == WT_OK)
        status = open_kernel(context, device, model, rows, diagonal, &system);
    if (status == WT_OK)
        status = factor(context, system, shift, n, &failed_at);
    if (status == WT_OK && failed_at == 0) {
        *solved = true;
        status = solve_orders(context, system, orders, count, columns, y, alpha);
    }
    close_system(system);
    if (status == WT_OK && *solved)
        status = project(context, device, model, rows, count * columns, alpha, v, NULL);
    mpi_room_free(&room);
    return status;
}

static const wt_ridge_engine engine = {.open_kernel = open_kernel,
                                       .open_normal = open_normal,
                                       .add_rows = add_rows,
                                       .end_rows = end_rows,
                                       .close = close_system,
                                       .copy = copy,
                                       .factor = factor,
                                       .solve = solve,
                                       .inverse_diagonals = inverse_diagonals,
                                       .condition = condition,
                                       .eigen = eigen,
                                       .eigen_along = eigen_along,
                                       .eigen_combine = eigen_combine,
                                       .eigen_squares = eigen_squares,
                                       .drop_eigen = drop_eigen,
                                       .judge_rows = judge_rows,
                                       .curve = curve,
                                       .project = project,
                                       .predict = predict};

/* ---- the plugin ------------------------------------------------------------------------------ */

static wt_status count(wt_context *context, wt_device *device, wt_device_counts *out) {
    (void)device;
    double most[3];
    mpi_call call = call_of(MPI_ORDER_COUNT, NULL, NULL);
    call.out = most;
    MPI_PASS(mpi_give(context, &call));
    *out = (wt_device_counts){.flops = most[0], .bytes = most[1], .messages = most[2]};
    return WT_OK;
}

static wt_status open_ranks(wt_context *context, int index, wt_device *out) {
    (void)index;
    MPI_PASS(mpi_world_open(context, out));
    snprintf(out->product, sizeof out->product, "%d rank%s as %d x %d", mpi_here.ranks,
             mpi_here.ranks == 1 ? "" : "s", mpi_here.rows, mpi_here.columns);
    out->ridge = &engine;
    out->ranks = (size_t)mpi_here.ranks;
    out->count = count;
    return WT_OK;
}

extern const wt_device_plugin wattle_device_plugin;
__attribute__((visibility("default")))
const wt_device_plugin wattle_device_plugin = {WT_DEVICE_VERSION, open_ranks};
