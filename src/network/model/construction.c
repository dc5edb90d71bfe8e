#include "network/model/construction.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"

enum { READ_ROWS = 256 }; /* rows the network reads at a time */

void wt_construction_free(wt_construction *construction) {
    if (construction == NULL)
        return;
    wt_boolean_free(&construction->function);
    wt_release(construction->relevant);
    double *const blocks[] = {construction->position, construction->symbol, construction->cls,
                              construction->w_q,      construction->w_k,    construction->w_v,
                              construction->w1,       construction->b1,     construction->w2,
                              construction->b2,       construction->w3,     construction->b3};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        wt_release(blocks[i]);
    *construction = (wt_construction){0};
}

wt_status wt_construction_room(wt_context *context, wt_construction *construction) {
    size_t heads = construction->heads, dim = construction->dim, first = construction->width1,
           second = construction->width2;
    const struct {
        double **block;
        size_t rows, columns;
        const char *what;
    } blocks[] = {{&construction->w_q, heads, dim, "queries of the heads"},
                  {&construction->w_k, heads, dim, "keys of the heads"},
                  {&construction->w_v, heads, dim, "values of the heads"},
                  {&construction->w1, heads, first, "the network on top"},
                  {&construction->b1, 1, first, "the network on top"},
                  {&construction->w2, first, second, "the network on top"},
                  {&construction->b2, 1, second, "the network on top"},
                  {&construction->w3, 1, second, "the network on top"},
                  {&construction->b3, 1, 1, "the network on top"}};
    wt_status status = WT_OK;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        size_t count;
        if (!wt_multiply(blocks[i].rows, blocks[i].columns, &count))
            return wt_fail(context, WT_MEMORY, "%zu x %zu numbers for %s do not fit in memory",
                           blocks[i].rows, blocks[i].columns, blocks[i].what);
        WT_TRY(WT_NEW_ZERO(context, blocks[i].block, count, blocks[i].what));
    }
done:
    return status;
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

wt_status wt_token_table_new(wt_context *context, const wt_construction *construction,
                             wt_token_table *out) {
    size_t count = 2 * construction->heads * (construction->length + 1);
    wt_status status;
    *out = (wt_token_table){.heads = construction->heads, .length = construction->length};
    WT_TRY(WT_NEW(context, &out->weight, count, "attention weights"));
    WT_TRY(WT_NEW(context, &out->moved, count, "attention values"));
    for (size_t h = 0; h < construction->heads; h++)
        fill_head(construction, h, out);
done:
    if (status != WT_OK)
        wt_token_table_free(out);
    return status;
}

void wt_token_table_free(wt_token_table *table) {
    wt_release(table->weight);
    wt_release(table->moved);
    *table = (wt_token_table){0};
}

static void add_relu(size_t rows, size_t columns, const double *bias, double *values) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++)
            values[i * columns + j] = fmax(values[i * columns + j] + bias[j], 0);
}

wt_status wt_construction_read(wt_context *context, const wt_construction *construction,
                               size_t rows, const double *y, double *out) {
    size_t heads = construction->heads, first = construction->width1, second = construction->width2;
    double *one = NULL, *two = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &one, READ_ROWS * first, "a hidden layer"));
    WT_TRY(WT_NEW(context, &two, READ_ROWS * second, "a hidden layer"));
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
    wt_release(one);
    wt_release(two);
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
    wt_token_table table = {0};
    double *y = NULL;
    size_t heads = construction->heads;
    wt_status status;
    if (bits->length != construction->length)
        return wt_fail(context, WT_USAGE, "samples of %zu bits for a construction of %zu",
                       bits->length, construction->length);
    WT_TRY(wt_token_table_new(context, construction, &table));
    WT_TRY(WT_NEW(context, &y, bits->samples * heads, "answers of the heads"));
    for (size_t i = 0; i < bits->samples; i++)
        attend(&table, bits->bit + i * bits->length, y + i * heads);
    if (head != NULL)
        memcpy(head, y, bits->samples * heads * sizeof *y);
    if (out != NULL)
        WT_TRY(wt_construction_read(context, construction, bits->samples, y, out));
done:
    wt_release(y);
    wt_token_table_free(&table);
    return status;
}

size_t wt_construction_told(const wt_construction *construction) {
    return construction->heads == 1 ? construction->function.bits : 1;
}

size_t wt_construction_ones(const wt_construction *construction, size_t head, size_t row) {
    size_t s = construction->function.bits, ones = 0;
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

static double length_of(size_t count, const double *a) {
    return sqrt(dot(count, a, a));
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

void wt_construction_norms(const wt_construction *construction, wt_construct_norms *out) {
    size_t dim = construction->dim;
    *out = (wt_construct_norms){.cls = length_of(dim, construction->cls)};
    for (size_t h = 0; h < construction->heads; h++) {
        double query = 0; /* row i of w_q w_k^T is w_q[i] w_k */
        for (size_t i = 0; i < dim; i++)
            query += fabs(construction->w_q[h * dim + i]);
        out->qk21 = fmax(out->qk21, query * length_of(dim, construction->w_k + h * dim));
        out->v = fmax(out->v, length_of(dim, construction->w_v + h * dim));
    }
    out->v21 = out->v; /* one column */
    out->x = out->cls;
    /* unit vectors with a symbol apart from them are all as long as the first */
    size_t count = construction->position == NULL ? 1 : construction->length;
    for (size_t t = 0; t < count; t++)
        for (size_t b = 0; b < 2; b++)
            out->x = fmax(out->x, token_length(construction, t, b));
}
