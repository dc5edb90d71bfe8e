#include "network/model/construction.h"

#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "linalg/linalg.h"
#include "network/model/norms.h"

enum { READ_ROWS = 256 }; /* rows the network reads at a time */

wt_status wt_construction_room(wt_context *context, wt_construction **out) {
    wt_status status = WT_NEW_ZERO(context, out, 1, "a construction");
    if (status == WT_OK)
        (*out)->arena = wt_arena_start(context, "a construction");
    return status;
}

void wt_construction_free(wt_construction *construction) {
    if (construction == NULL)
        return;
    wt_boolean_free(construction->function);
    wt_arena_free(&construction->arena);
    wt_release(construction);
}

static double dot(size_t count, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

double wt_construction_dot(const wt_construction *construction, size_t position, const double *w) {
    return construction->position == NULL
               ? w[position]
               : dot(construction->dim, construction->position + position * construction->dim, w);
}

void wt_token_dots(const wt_construction *of, const double *w, double *out) {
    double symbol[2] = {0, 0};
    for (size_t b = 0; b < 2 && !of->bag; b++)
        symbol[b] = dot(of->dim, of->symbol + b * of->dim, w);
    for (size_t t = 0; t < of->length; t++) {
        double own = wt_construction_dot(of, t, w);
        for (size_t b = 0; b < 2; b++)
            out[2 * t + b] = of->bag ? (double)b * own : own + symbol[b];
    }
    out[2 * of->length] = out[2 * of->length + 1] = dot(of->dim, w, of->cls);
}

/* Scores into `weight` and values into `moved`, then both as the table keeps them. */
static void fill_head(const wt_construction *of, size_t head, wt_token_table *table) {
    double query = dot(of->dim, of->w_q + head * of->dim, of->cls), most = -INFINITY;
    size_t first = wt_token_at(table, head, 0), count = 2 * (of->length + 1);
    double *weight = table->weight + first, *moved = table->moved + first;
    wt_token_dots(of, of->w_k + head * of->dim, weight);
    wt_token_dots(of, of->w_v + head * of->dim, moved);
    for (size_t i = 0; i < count; i++)
        most = fmax(most, query * weight[i]);
    for (size_t i = 0; i < count; i++) {
        weight[i] = exp(query * weight[i] - most);
        moved[i] *= weight[i];
    }
}

wt_status wt_token_table_fill(wt_arena *arena, const wt_construction *construction,
                              wt_token_table *out) {
    size_t heads = construction->heads, tokens = construction->length + 1;
    *out = (wt_token_table){.heads = heads, .length = construction->length};
    out->weight = WT_TAKE(arena, double, heads, tokens, 2);
    out->moved = WT_TAKE(arena, double, heads, tokens, 2);
    for (size_t h = 0; arena->status == WT_OK && h < heads; h++)
        fill_head(construction, h, out);
    return arena->status;
}

static void add_relu(size_t rows, size_t columns, const double *bias, double *values) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            values[i * columns + j] = fmax(values[i * columns + j] + bias[j], 0);
}

wt_status wt_construction_read(wt_context *context, const wt_construction *construction,
                               size_t rows, const double *y, double *out) {
    size_t heads = construction->heads, first = construction->width1, second = construction->width2;
    wt_arena arena = wt_arena_start(context, "hidden layers");
    double *one = WT_TAKE(&arena, double, READ_ROWS, first);
    double *two = WT_TAKE(&arena, double, READ_ROWS, second);
    wt_status status;
    WT_TRY(arena.status);
    for (size_t from = 0; from < rows; from += READ_ROWS) {
        size_t count = rows - from < READ_ROWS ? rows - from : READ_ROWS;
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, count, first, heads, 1, y + from * heads, heads,
                       construction->w1, first, 0, one, first));
        add_relu(count, first, construction->b1, one);
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, count, second, first, 1, one, first,
                       construction->w2, second, 0, two, second));
        add_relu(count, second, construction->b2, two);
        for (size_t i = 0; i < count; i++)
            out[from + i] = dot(second, two + i * second, construction->w3) + construction->b3[0];
    }
done:
    wt_arena_free(&arena);
    return status;
}

static void attend(const wt_token_table *table, const uint8_t *bit, double *out) {
    for (size_t h = 0; h < table->heads; h++) {
        size_t cls = wt_token_at(table, h, table->length);
        double weight = table->weight[cls], moved = table->moved[cls];
        for (size_t t = 0; t < table->length; t++) {
            size_t at = wt_token_at(table, h, t) + (bit[t] != 0);
            weight += table->weight[at];
            moved += table->moved[at];
        }
        out[h] = moved / weight;
    }
}

wt_status wt_construction_run(wt_context *context, const wt_construction *construction,
                              const wt_bits *bits, double *head, double *out) {
    wt_arena arena = wt_arena_start(context, "answers of the heads");
    wt_token_table table;
    size_t heads = construction->heads;
    wt_status status;
    if (bits->length != construction->length)
        return wt_fail(context, WT_USAGE, "samples of %zu bits for a construction of %zu",
                       bits->length, construction->length);
    WT_TRY(wt_token_table_fill(&arena, construction, &table));
    double *y = WT_TAKE(&arena, double, bits->samples, heads);
    WT_TRY(arena.status);
    for (size_t i = 0; i < bits->samples; i++)
        attend(&table, bits->bit + i * bits->length, y + i * heads);
    if (head != NULL)
        memcpy(head, y, bits->samples * heads * sizeof *y);
    if (out != NULL)
        WT_TRY(wt_construction_read(context, construction, bits->samples, y, out));
done:
    wt_arena_free(&arena);
    return status;
}

size_t wt_construction_told(const wt_construction *construction) {
    return construction->heads == 1 ? construction->function->bits : 1;
}

size_t wt_construction_ones(const wt_construction *construction, size_t head, size_t row) {
    size_t s = construction->function->bits, ones = 0;
    for (size_t j = 0; j < s; j++)
        if (construction->heads == 1 || j == head)
            ones += row >> (s - 1 - j) & 1;
    return ones;
}

double wt_construction_answer(const wt_construction *construction, size_t ones) {
    double count = (double)wt_construction_told(construction), r = (double)ones;
    return construction->bag ? (r - count) / (r + 1) : (count - 2 * r) / count;
}

double wt_construction_ideal(const wt_construction *construction, size_t head, size_t row) {
    return wt_construction_answer(construction, wt_construction_ones(construction, head, row));
}

double wt_construction_gap(const wt_construction *construction) {
    return (construction->bag ? 1.0 : 2.0) / (double)wt_construction_told(construction);
}

void wt_construction_set_strength(wt_construction *construction, double strength) {
    size_t dim = construction->dim;
    for (size_t h = 0; h < construction->heads; h++) {
        double *w_q = construction->w_q + h * dim;
        double factor = strength / dot(dim, w_q, construction->cls);
        for (size_t i = 0; i < dim; i++)
            w_q[i] *= factor;
    }
    construction->strength = strength;
}

/* |v_t + e_b|, or |v_t| where it is there. */
static double token_length(const wt_construction *of, size_t position, size_t b) {
    double square = 0;
    for (size_t i = 0; i < of->dim; i++) {
        double x =
            of->position == NULL ? (double)(i == position) : of->position[position * of->dim + i];
        x = of->bag ? (double)b * x : x + of->symbol[b * of->dim + i];
        square += x * x;
    }
    return sqrt(square);
}

static void measure_norms(const wt_construction *of, wt_construction_summary *out) {
    size_t dim = of->dim;
    out->cls = wt_length_of(dim, of->cls);
    for (size_t h = 0; h < of->heads; h++) {
        double query = 0; /* row i of w_q w_k^T is w_q[i] w_k */
        for (size_t i = 0; i < dim; i++)
            query += fabs(of->w_q[h * dim + i]);
        out->qk21 = fmax(out->qk21, query * wt_length_of(dim, of->w_k + h * dim));
        out->v = fmax(out->v, wt_length_of(dim, of->w_v + h * dim));
    }
    out->v21 = out->v; /* one column */
    out->x = out->cls;
    /* unit vectors with a symbol apart from them are all as long as the first */
    size_t count = of->position == NULL ? 1 : of->length;
    for (size_t t = 0; t < count; t++)
        for (size_t b = 0; b < 2; b++)
            out->x = fmax(out->x, token_length(of, t, b));
}

wt_status wt_construction_summarise(wt_context *context, const wt_construction *construction,
                                    wt_construction_summary *out) {
    wt_construction_summary full = {.length = construction->length,
                                    .bits = construction->function->bits,
                                    .heads = construction->heads,
                                    .dim = construction->dim,
                                    .relevant = construction->relevant,
                                    .bag = construction->bag,
                                    .width1 = construction->width1,
                                    .width2 = construction->width2,
                                    .gap = construction->gap,
                                    .strength = construction->strength,
                                    .overlap = construction->overlap};
    WT_PASS(wt_sized_check(context, "wt_construction_summary", out, sizeof full));
    measure_norms(construction, &full);
    wt_sized_write(out, &full, sizeof full);
    return WT_OK;
}
