#include "matrix.h"

#include <limits.h>
#include <string.h>

#define STREAM ((size_t)4 << 20) /* bytes of samples that are sent at a time */

size_t mpi_deal_count(const mpi_deal *deal, size_t n) {
    size_t whole = n / deal->block, rounds = whole / deal->of, over = whole % deal->of;
    size_t count = (rounds + (deal->at < over)) * deal->block;
    return deal->at == over ? count + n % deal->block : count;
}

size_t mpi_deal_index(const mpi_deal *deal, size_t i) {
    return (i / deal->block * deal->of + deal->at) * deal->block + i % deal->block;
}

/* ---- matrices -------------------------------------------------------------------------------- */

static void describe(mpi_matrix *matrix) {
    size_t lines = matrix->local_rows == 0 ? 1 : matrix->local_rows;
    const int about[9] = {1,
                          mpi_here.grid,
                          (int)matrix->rows,
                          (int)matrix->columns,
                          (int)matrix->row.block,
                          (int)matrix->column.block,
                          0,
                          0,
                          (int)lines};
    memcpy(matrix->about, about, sizeof about);
}

void mpi_matrix_take(mpi_room *room, size_t rows, size_t columns, size_t row_block,
                     size_t column_block, const char *what, mpi_matrix *out) {
    *out =
        (mpi_matrix){.rows = rows,
                     .columns = columns,
                     .row = {row_block, (size_t)mpi_here.rows, (size_t)mpi_here.row},
                     .column = {column_block, (size_t)mpi_here.columns, (size_t)mpi_here.column}};
    out->local_rows = mpi_deal_count(&out->row, rows);
    out->local_columns = mpi_deal_count(&out->column, columns);
    if (room->status == WT_OK &&
        (rows > INT_MAX || columns > INT_MAX ||
         (out->local_columns > 0 && out->local_rows > INT_MAX / out->local_columns)))
        room->status = mpi_fail(room->context, WT_USAGE,
                                "%s of %zu x %zu is more than 2^31 numbers a rank: take more ranks",
                                what, rows, columns);
    else
        describe(out);
    if (room->status == WT_OK)
        out->data = MPI_TAKE(room, double, out->local_rows * out->local_columns, what);
}

void mpi_matrix_narrow(mpi_matrix *matrix, size_t columns) {
    matrix->columns = columns;
    matrix->local_columns = mpi_deal_count(&matrix->column, columns);
    describe(matrix);
}

void mpi_matrix_load(mpi_matrix *matrix, const size_t *place, const double *from) {
    for (size_t j = 0; j < matrix->local_columns; j++)
        for (size_t i = 0; i < matrix->local_rows; i++) {
            size_t row = mpi_deal_index(&matrix->row, i);
            matrix->data[j * matrix->local_rows + i] =
                from[(place == NULL ? row : place[row]) * matrix->columns +
                     mpi_deal_index(&matrix->column, j)];
        }
}

void mpi_matrix_add_to(const mpi_matrix *matrix, const size_t *place, double *to) {
    for (size_t j = 0; j < matrix->local_columns; j++)
        for (size_t i = 0; i < matrix->local_rows; i++) {
            size_t row = mpi_deal_index(&matrix->row, i);
            to[(place == NULL ? row : place[row]) * matrix->columns +
               mpi_deal_index(&matrix->column, j)] += matrix->data[j * matrix->local_rows + i];
        }
}

/* ---- samples --------------------------------------------------------------------------------- */

/* An array of rank 0 with a thing of `bytes` bytes a sample, or start[s+1] - start[s] of them. */
typedef struct {
    size_t samples, bytes;
    const size_t *start;
    const void *from;
} line;

static size_t offset(const line *all, size_t sample) {
    return all->bytes * (all->start == NULL ? sample : all->start[sample]);
}

/* The samples of each deal to to[d], one after the other. `buffer` has room for STREAM bytes, or
 * one sample. */
static void stream(const line *all, const mpi_deal *deals, size_t count, char *buffer,
                   char *const *to) {
    size_t filled[2] = {0};
    for (size_t begin = 0, end; begin < all->samples; begin = end) {
        for (end = begin + 1; end < all->samples; end++)
            if (offset(all, end + 1) - offset(all, begin) > STREAM)
                break;
        size_t bytes = offset(all, end) - offset(all, begin);
        if (mpi_here.rank == 0 && bytes > 0)
            memcpy(buffer, (const char *)all->from + offset(all, begin), bytes);
        mpi_broadcast(buffer, bytes);
        for (size_t s = begin; s < end; s++)
            for (size_t d = 0; d < count; d++)
                if (s / deals[d].block % deals[d].of == deals[d].at) {
                    size_t size = offset(all, s + 1) - offset(all, s);
                    memcpy(to[d] + filled[d], buffer + (offset(all, s) - offset(all, begin)), size);
                    filled[d] += size;
                }
    }
}

/* Bytes of a sample, at the most. */
static size_t largest(const mpi_rows_shape *shape) {
    size_t width = shape->query_width + shape->keys * shape->key_width;
    return sizeof(double) * (1 + width + (shape->keys + 1) * shape->dim + shape->keys);
}

static void take_tokens(mpi_room *room, const mpi_rows_shape *shape, size_t samples, mpi_rows *out,
                        char *to[3]) {
    to[0] = MPI_TAKE(room, char, samples * shape->dim * sizeof(double), "samples");
    to[1] = MPI_TAKE(room, char, samples * shape->keys * shape->dim * sizeof(double), "samples");
    to[2] = MPI_TAKE(room, char, shape->masked ? samples * shape->keys : 0, "samples");
    out->rows.query = (const double *)(void *)to[0];
    out->rows.key = (const double *)(void *)to[1];
    out->rows.mask = shape->masked ? (const uint8_t *)to[2] : NULL;
}

static wt_status spread_tokens(mpi_room *room, const mpi_rows_shape *shape,
                               const wt_ridge_rows *rows, const mpi_deal *deals, size_t count,
                               char *buffer, mpi_rows *out) {
    char *to[3][2], *one[3];
    const wt_ridge_rows none = {0}, *from = rows == NULL ? &none : rows;
    for (size_t d = 0; d < count; d++) {
        take_tokens(room, shape, out[d].rows.samples, &out[d], one);
        for (size_t i = 0; i < 3; i++)
            to[i][d] = one[i];
    }
    MPI_PASS(mpi_agree(room->context, room->status));
    const line lines[3] = {
        {shape->samples, shape->dim * sizeof(double), NULL, from->query},
        {shape->samples, shape->keys * shape->dim * sizeof(double), NULL, from->key},
        {shape->samples, shape->masked ? shape->keys : 0, NULL, from->mask}};
    for (size_t i = 0; i < 3; i++)
        stream(&lines[i], deals, count, buffer, to[i]);
    return WT_OK;
}

/* Where keys of the samples of a deal start, by those of all. */
static void find_starts(const mpi_deal *deal, const size_t *all, size_t samples, size_t *start) {
    for (size_t i = 0; i < samples; i++) {
        size_t s = mpi_deal_index(deal, i);
        start[i + 1] = start[i] + all[s + 1] - all[s];
    }
}

enum { SIDE_LINES = 5 };

static void take_side(mpi_room *room, const mpi_rows_shape *shape, const mpi_deal *deal,
                      const size_t *all, mpi_rows *out, char *to[SIDE_LINES]) {
    size_t samples = out->rows.samples;
    size_t *start = MPI_TAKE(room, size_t, samples + 1, "samples");
    if (start != NULL)
        find_starts(deal, all, samples, start);
    size_t live = start == NULL ? 0 : start[samples];
    const size_t numbers[SIDE_LINES] = {samples * shape->query_width, samples,
                                        live * shape->key_width, live, shape->means ? live : 0};
    const double *found[SIDE_LINES];
    for (size_t i = 0; i < SIDE_LINES; i++) {
        double *block = MPI_TAKE(room, double, numbers[i], "samples");
        found[i] = block;
        to[i] = (char *)block;
    }
    out->side = (wt_ridge_side){.query_width = shape->query_width,
                                .key_width = shape->key_width,
                                .query = found[0],
                                .query_length = found[1],
                                .start = start,
                                .key = found[2],
                                .weight = found[3],
                                .mean = shape->means ? found[4] : NULL};
    out->rows.side = &out->side;
}

static wt_status spread_side(mpi_room *room, const mpi_rows_shape *shape, const wt_ridge_side *side,
                             const mpi_deal *deals, size_t count, char *buffer, mpi_rows *out) {
    size_t n = shape->samples, *all = MPI_TAKE(room, size_t, n + 1, "samples");
    char *to[SIDE_LINES][2], *one[SIDE_LINES];
    const wt_ridge_side none = {0}, *from = side == NULL ? &none : side;
    MPI_PASS(mpi_agree(room->context, room->status));
    if (side != NULL && side->start != NULL)
        memcpy(all, side->start, (n + 1) * sizeof *all);
    mpi_broadcast(all, (n + 1) * sizeof *all);
    for (size_t d = 0; d < count; d++) {
        take_side(room, shape, &deals[d], all, &out[d], one);
        for (size_t i = 0; i < SIDE_LINES; i++)
            to[i][d] = one[i];
    }
    MPI_PASS(mpi_agree(room->context, room->status));
    const line lines[SIDE_LINES] = {{n, shape->query_width * sizeof(double), NULL, from->query},
                                    {n, sizeof(double), NULL, from->query_length},
                                    {n, shape->key_width * sizeof(double), all, from->key},
                                    {n, sizeof(double), all, from->weight},
                                    {n, shape->means ? sizeof(double) : 0, all, from->mean}};
    for (size_t i = 0; i < SIDE_LINES; i++)
        stream(&lines[i], deals, count, buffer, to[i]);
    return WT_OK;
}

wt_status mpi_rows_spread(mpi_room *room, const mpi_rows_shape *shape, const wt_ridge_rows *rows,
                          const mpi_deal *deals, size_t count, mpi_rows *out) {
    char *buffer = MPI_TAKE(room, char, STREAM + largest(shape), "samples");
    for (size_t d = 0; d < count; d++)
        out[d] = (mpi_rows){.rows = {.samples = mpi_deal_count(&deals[d], shape->samples),
                                     .keys = shape->keys,
                                     .dim = shape->dim}};
    if (shape->side)
        return spread_side(room, shape, rows == NULL ? NULL : rows->side, deals, count, buffer,
                           out);
    return spread_tokens(room, shape, rows, deals, count, buffer, out);
}

void mpi_rows_part(const mpi_rows *rows, size_t begin, size_t end, mpi_rows *out) {
    *out = *rows;
    out->rows.samples = end - begin;
    if (rows->rows.side != NULL) {
        out->side.query += begin * rows->side.query_width;
        out->side.query_length += begin;
        out->side.start += begin;
        out->rows.side = &out->side;
        return;
    }
    out->rows.query += begin * rows->rows.dim;
    out->rows.key += begin * rows->rows.keys * rows->rows.dim;
    if (rows->rows.mask != NULL)
        out->rows.mask += begin * rows->rows.keys;
}

wt_status mpi_numbers_spread(mpi_room *room, size_t samples, size_t columns, const double *from,
                             const mpi_deal *deal, double **out) {
    const line all = {samples, columns * sizeof(double), NULL, from};
    char *buffer = MPI_TAKE(room, char, STREAM + all.bytes, "samples"), *to;
    *out = MPI_TAKE(room, double, mpi_deal_count(deal, samples) * columns, "samples");
    MPI_PASS(mpi_agree(room->context, room->status));
    to = (char *)*out;
    stream(&all, deal, 1, buffer, &to);
    return WT_OK;
}

wt_status mpi_model_spread(mpi_room *room, const mpi_call *call, wt_ridge_model *out) {
    const mpi_order *order = &call->order;
    size_t numbers = order->units * order->inputs;
    wt_model_spec *spec = MPI_TAKE(room, wt_model_spec, 1, "the model");
    double *weights = MPI_TAKE(room, double, numbers, "the model");
    MPI_PASS(mpi_agree(room->context, room->status));
    *spec = order->spec;
    if (call->model != NULL && numbers > 0)
        memcpy(weights, call->model->weights, numbers * sizeof *weights);
    mpi_broadcast(weights, numbers * sizeof *weights);
    *out = (wt_ridge_model){.spec = spec,
                            .units = order->units,
                            .width = order->width,
                            .inputs = order->inputs,
                            .block = order->block,
                            .norm = order->norm,
                            .weights = weights};
    return WT_OK;
}
