/* K(x,x') = |x~0| |x~0'| / (8 pi N N') sum_ij w_i w_j' t_ij J(rho t_ij) for zero-mean heads, and
 * K(x,x') = |x~0| |x~0'| / (4 N N') sum_ij w_i w_j' t_ij M(h_i, h_j', rho t_ij) for heads with a
 * bias, where w_i = |x~i|^2, t_ij is the cosine of x~i and x~j', rho that of x~0 and x~0', J as in
 * kernel_rows.h and M(h, k, r) = E relu(h + X) relu(k + Y) as in normal_law.h.
 *
 * Cosines come from matrix products, some rows of keys at a time. Columns of keys whose samples
 * have rho in the same range (a matter of the pair of samples alone, so that the bits do not
 * depend on what else is in the tile) go through one loop made for that range. */
#include "features/model/kernel_tile.h"

#include <math.h>
#include <string.h>

#include "linalg/normal_law.h"

#define PI           3.14159265358979323846
#define KEYS_A_BLOCK 1024
#define MOST_A_BLOCK 256
#define MLP_A_BLOCK  128
#define ROWS_A_STEP  64

size_t wt_kernel_block(wt_model_kind kind, size_t keys) {
    if (kind == WT_MODEL_KIND_RFMLP_INF)
        return MLP_A_BLOCK;
    size_t block = keys < KEYS_A_BLOCK ? KEYS_A_BLOCK / keys : 1;
    return block < MOST_A_BLOCK ? block : MOST_A_BLOCK;
}

/* ---- heads with a bias: how many terms of the series a range of rho needs ----------------- */

/* The bound of normal_law.h is at most 1e-15 for |rho| up to the limit. */
static const struct {
    size_t terms;
    double limit;
} series_ranges[] = {{16, 0.178}, {24, 0.325}, {32, 0.436}, {40, 0.518},
                     {48, 0.581}, {64, 0.669}, {80, 0.727}};
enum { SERIES_RANGES = sizeof series_ranges / sizeof *series_ranges };

/* The last range takes pairs of keys past its limit one by one, by wt_normal2_relu. */
static size_t range_of(wt_model_kind kind, double rho) {
    if (kind == WT_MODEL_KIND_RFA_INF)
        return rho * rho <= 0.25 ? WT_ROWS_LOW : rho * rho <= 0.5 ? WT_ROWS_MID : WT_ROWS_HIGH;
    size_t range = 0;
    while (range < SERIES_RANGES && fabs(rho) > series_ranges[range].limit)
        range++;
    return range;
}

/* ---- the scratch space of one tile --------------------------------------------------------- */

typedef struct {
    const wt_kernel_tile *tile;
    size_t a0, a1, b0, b1;
    size_t first_row, first_column; /* among the keys of either side */
    size_t columns;
    double *cosine;             /* (block, block) of the queries */
    double *t;                  /* (ROWS_A_STEP, b_room) */
    double *rho;                /* (b_room) of the sample in hand */
    double *sum;                /* (b_room) of the sample in hand */
    double *row_series;         /* (WT_NORMAL2_TERMS, a_room), with a bias alone */
    double *column_series;      /* (WT_NORMAL2_TERMS, b_room), likewise */
    size_t range[MOST_A_BLOCK]; /* of the sample in hand with each of the columns' samples */
} hand;

size_t wt_kernel_tile_numbers(const wt_kernel_tile *tile) {
    size_t numbers = tile->block * tile->block;
    if (tile->kind != WT_MODEL_KIND_RFMLP_INF)
        numbers += (ROWS_A_STEP + 2) * tile->b_room;
    if (tile->kind == WT_MODEL_KIND_BRFA_INF)
        numbers += WT_NORMAL2_TERMS * (tile->a_room + tile->b_room);
    return numbers;
}

static void share_scratch(hand *in, double *scratch) {
    const wt_kernel_tile *tile = in->tile;
    in->cosine = scratch;
    in->t = in->cosine + tile->block * tile->block;
    in->rho = in->t + ROWS_A_STEP * tile->b_room;
    in->sum = in->rho + tile->b_room;
    in->row_series = in->sum + tile->b_room;
    in->column_series = in->row_series + WT_NORMAL2_TERMS * tile->a_room;
}

static void query_cosines(const wt_kernel_tile *tile, size_t a0, size_t a1, size_t b0, size_t b1,
                          double *out) {
    size_t width = tile->a->query_width;
    tile->blas->gemm(WT_PLAIN, WT_TRANSPOSED, a1 - a0, b1 - b0, width, 1,
                     tile->a->query + a0 * width, width, tile->b->query + b0 * width, width, 0, out,
                     tile->block);
}

static void open_series(hand *in) {
    const wt_kernel_side *a = in->tile->a, *b = in->tile->b;
    wt_normal2_series(a->start[in->a1] - in->first_row, a->mean + in->first_row, WT_NORMAL2_TERMS,
                      in->row_series, in->tile->a_room);
    wt_normal2_series(in->columns, b->mean + in->first_column, WT_NORMAL2_TERMS, in->column_series,
                      in->tile->b_room);
}

/* ---- a sample of the rows against all samples of the columns -------------------------------- */

static void open_sample(hand *in, size_t a) {
    const size_t *start = in->tile->b->start;
    for (size_t b = in->b0; b < in->b1; b++) {
        double rho = in->cosine[(a - in->a0) * in->tile->block + b - in->b0];
        rho = fmax(-1, fmin(1, rho));
        in->range[b - in->b0] = range_of(in->tile->kind, rho);
        for (size_t column = start[b]; column < start[b + 1]; column++)
            in->rho[column - in->first_column] = rho;
    }
    memset(in->sum, 0, in->columns * sizeof *in->sum);
}

static void close_sample(const hand *in, size_t a) {
    const wt_kernel_tile *tile = in->tile;
    double constant = tile->kind == WT_MODEL_KIND_RFA_INF ? 8 * PI : 4;
    double keys = (double)(tile->a->start[a + 1] - tile->a->start[a]);
    size_t end = tile->lower && a < in->b1 ? a + 1 : in->b1;
    for (size_t b = in->b0; b < end; b++) {
        size_t begin = tile->b->start[b], count = tile->b->start[b + 1] - begin;
        double total = 0;
        for (size_t j = 0; j < count; j++)
            total += tile->b->weight[begin + j] * in->sum[begin - in->first_column + j];
        tile->out[a * tile->stride + b] = total * tile->a->query_length[a] *
                                          tile->b->query_length[b] /
                                          (constant * keys * (double)count);
    }
}

/* Pairs of keys whose correlation is too high for the series. */
static void add_high(const hand *in, const wt_kernel_rows *work, size_t row, size_t column) {
    for (size_t i = 0; i < work->rows; i++)
        for (size_t j = 0; j < work->columns; j++) {
            double t = work->t[i * work->stride + j], r = work->rho[j] * t;
            if (fabs(r) > work->limit)
                work->sum[j] +=
                    work->weight[i] * t *
                    wt_normal2_relu(in->tile->a->mean[row + i], in->tile->b->mean[column + j], r);
        }
}

static void add_with_bias(const hand *in, wt_kernel_rows *work, size_t range, size_t row,
                          size_t column) {
    bool beyond = range == SERIES_RANGES;
    work->row_series = in->row_series + row - in->first_row;
    work->column_series = in->column_series + column - in->first_column;
    work->row_stride = in->tile->a_room;
    work->column_stride = in->tile->b_room;
    work->terms = series_ranges[beyond ? SERIES_RANGES - 1 : range].terms;
    /* Within a range every pair counts, be it a rounding error past the limit. */
    work->limit = beyond ? series_ranges[SERIES_RANGES - 1].limit : 2;
    in->tile->loops->series(work);
    if (beyond)
        add_high(in, work, row, column);
}

/* `rows` keys of one sample from `row` on, whose cosines are the rows of t. */
static void add_rows(hand *in, const double *t, size_t row, size_t rows) {
    const wt_kernel_tile *tile = in->tile;
    for (size_t b = in->b0, next; b < in->b1; b = next) {
        size_t range = in->range[b - in->b0];
        for (next = b + 1; next < in->b1 && in->range[next - in->b0] == range; next++)
            continue;
        size_t column = tile->b->start[b], offset = column - in->first_column;
        wt_kernel_rows work = {.rows = rows,
                               .columns = tile->b->start[next] - column,
                               .t = t + offset,
                               .stride = tile->b_room,
                               .rho = in->rho + offset,
                               .weight = tile->a->weight + row,
                               .sum = in->sum + offset};
        if (tile->kind == WT_MODEL_KIND_RFA_INF)
            tile->loops->zero_mean[range](&work);
        else
            add_with_bias(in, &work, range, row, column);
    }
}

void wt_kernel_tile_attention(const wt_kernel_tile *tile, size_t a0, size_t a1, size_t b0,
                              size_t b1, double *scratch) {
    const wt_kernel_side *left = tile->a, *right = tile->b;
    size_t width = left->key_width, last_row = left->start[a1];
    hand in = {.tile = tile,
               .a0 = a0,
               .a1 = a1,
               .b0 = b0,
               .b1 = b1,
               .first_row = left->start[a0],
               .first_column = right->start[b0],
               .columns = right->start[b1] - right->start[b0]};
    share_scratch(&in, scratch);
    query_cosines(tile, a0, a1, b0, b1, in.cosine);
    if (tile->kind == WT_MODEL_KIND_BRFA_INF)
        open_series(&in);
    size_t a = a0;
    for (size_t step = in.first_row; step < last_row; step += ROWS_A_STEP) {
        size_t end = last_row - step < ROWS_A_STEP ? last_row : step + ROWS_A_STEP;
        tile->blas->gemm(WT_PLAIN, WT_TRANSPOSED, end - step, in.columns, width, 1,
                         left->key + step * width, width, right->key + in.first_column * width,
                         width, 0, in.t, tile->b_room);
        for (size_t row = step, next; row < end; row = next) {
            if (row == left->start[a])
                open_sample(&in, a);
            next = left->start[a + 1] < end ? left->start[a + 1] : end;
            add_rows(&in, in.t + (row - step) * tile->b_room, row, next - row);
            if (next == left->start[a + 1])
                close_sample(&in, a++);
        }
    }
}

/* K = |z| |z'| / (2 pi (N+2)) J(r), r the cosine of z and z'. */
void wt_kernel_tile_mlp(const wt_kernel_tile *tile, size_t a0, size_t a1, size_t b0, size_t b1,
                        double *scratch) {
    query_cosines(tile, a0, a1, b0, b1, scratch);
    for (size_t a = a0; a < a1; a++) {
        double *row = scratch + (a - a0) * tile->block;
        tile->loops->arc(b1 - b0, row, row);
        size_t end = tile->lower && a < b1 ? a + 1 : b1;
        for (size_t b = b0; b < end; b++)
            tile->out[a * tile->stride + b] = tile->a->query_length[a] * tile->b->query_length[b] *
                                              row[b - b0] / (2 * PI * tile->mlp_inputs);
    }
}
