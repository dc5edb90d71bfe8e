/* Layers written in the names of checkpoints, and what they compute. */
#ifndef TEST_LAYER_CHECKPOINTS_H
#define TEST_LAYER_CHECKPOINTS_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "check.h"
#include "io/checkpoint.h"
#include "wattle/random.h"

enum { HEADS = 2, WIDTH = 3, DIM = 5, INNER = HEADS * WIDTH, LAYERS = 12 };

/* The matrices of a layer, which act from the right; another layer for another number. */
typedef struct {
    double q[DIM * INNER], k[DIM * INNER], v[DIM * INNER], o[INNER * DIM];
    double bq[INNER], bk[INNER], bv[INNER], bo[DIM], gain[DIM], shift[DIM];
} plain;

static inline plain plain_of(uint64_t number) {
    plain out = {0};
    double *all[] = {out.q,  out.k,  out.v,  out.o,    out.bq,
                     out.bk, out.bv, out.bo, out.gain, out.shift};
    size_t sizes[] = {DIM * INNER, DIM * INNER, DIM * INNER, INNER * DIM, INNER,
                      INNER,       INNER,       DIM,         DIM,         DIM};
    for (size_t i = 0; i < 10; i++)
        wt_random_normal(wt_stream_for(number, "checkpoint", i), 0, sizes[i], all[i]);
    return out;
}

/* Tensors of a file, in memory of the test. */
typedef struct {
    wt_tensor tensors[16 * LAYERS];
    size_t count;
    wt_arena arena;
} book;

static inline void put(book *to, const char *name, size_t rows, size_t columns,
                       const double *values) {
    char *own = WT_TAKE(&to->arena, char, strlen(name) + 1);
    double *copy = WT_TAKE(&to->arena, double, rows, columns);
    assert_int_equal(to->arena.status, WT_OK);
    memcpy(own, name, strlen(name) + 1);
    memcpy(copy, values, rows * columns * sizeof *copy);
    to->tensors[to->count++] = (wt_tensor){.name = own,
                                           .rank = rows == 1 ? 1 : 2,
                                           .shape = {rows == 1 ? columns : rows, columns},
                                           .values = copy};
}

/* stem + end + ".weight" of a matrix (in, out), stored as the scheme does. */
static inline void put_weight(book *to, const wt_scheme *scheme, const char *stem, const char *end,
                              const char *tail, size_t in, size_t out, const double *values) {
    char name[256];
    double transposed[DIM * 3 * INNER];
    assert_true(wt_scheme_spell(scheme, stem, end, tail, name, sizeof name));
    for (size_t i = 0; i < in; i++)
        for (size_t j = 0; j < out; j++)
            transposed[j * in + i] = values[i * out + j];
    put(to, name, scheme->columns ? in : out, scheme->columns ? out : in,
        scheme->columns ? values : transposed);
}

static inline void put_vector(book *to, const wt_scheme *scheme, const char *stem, const char *end,
                              const char *tail, size_t count, const double *values) {
    char name[256];
    assert_true(wt_scheme_spell(scheme, stem, end, tail, name, sizeof name));
    put(to, name, 1, count, values);
}

/* Where column j of part `third` lies in a fused matrix. */
static inline size_t fused_at(const wt_scheme *scheme, size_t third, size_t j) {
    return scheme->fusion == WT_FUSION_THIRDS ? third * INNER + j
                                              : (j / WIDTH * 3 + third) * WIDTH + j % WIDTH;
}

static inline void write_layer(book *to, const wt_scheme *scheme, const char *stem,
                               const plain *layer) {
    const double *weights[] = {layer->q, layer->k, layer->v};
    const double *biases[] = {layer->bq, layer->bk, layer->bv};
    const char *ends[] = {scheme->query, scheme->key, scheme->value};
    double fused[DIM * 3 * INNER], fused_bias[3 * INNER];
    for (size_t t = 0; t < 3; t++) {
        for (size_t i = 0; i < DIM * INNER; i++)
            fused[i / INNER * 3 * INNER + fused_at(scheme, t, i % INNER)] = weights[t][i];
        for (size_t j = 0; j < INNER; j++)
            fused_bias[fused_at(scheme, t, j)] = biases[t][j];
        if (scheme->fusion != WT_FUSION_NONE)
            continue;
        put_weight(to, scheme, stem, ends[t], ".weight", DIM, INNER, weights[t]);
        put_vector(to, scheme, stem, ends[t], ".bias", INNER, biases[t]);
    }
    if (scheme->fusion != WT_FUSION_NONE) {
        put_weight(to, scheme, stem, scheme->query, scheme->underscore ? "_weight" : ".weight", DIM,
                   3 * INNER, fused);
        put_vector(to, scheme, stem, scheme->query, scheme->underscore ? "_bias" : ".bias",
                   3 * INNER, fused_bias);
    }
    put_weight(to, scheme, stem, scheme->output, ".weight", INNER, DIM, layer->o);
    put_vector(to, scheme, stem, scheme->output, ".bias", DIM, layer->bo);
    if (scheme->norm == NULL)
        return;
    put_vector(to, scheme, stem, scheme->norm, ".weight", DIM, layer->gain);
    if (scheme->norm_kind == WT_SCHEME_NORM_LAYER)
        put_vector(to, scheme, stem, scheme->norm, ".bias", DIM, layer->shift);
}

/* The model's own arithmetic on one sequence: queries, keys, values with their biases; `heads` of
 * them. */
static inline void attend_as(const plain *layer, size_t heads, double scale, bool causal, size_t k,
                             const double *x, double *y) {
    double q[8][INNER], keys[8][INNER], v[8][INNER];
    size_t width = INNER / heads;
    for (size_t t = 0; t < k; t++)
        for (size_t j = 0; j < INNER; j++) {
            q[t][j] = layer->bq[j];
            keys[t][j] = layer->bk[j];
            v[t][j] = layer->bv[j];
            for (size_t i = 0; i < DIM; i++) {
                q[t][j] += x[t * DIM + i] * layer->q[i * INNER + j];
                keys[t][j] += x[t * DIM + i] * layer->k[i * INNER + j];
                v[t][j] += x[t * DIM + i] * layer->v[i * INNER + j];
            }
        }
    for (size_t a = 0; a < k; a++) {
        memcpy(y + a * DIM, layer->bo, sizeof layer->bo);
        for (size_t h = 0; h < heads; h++) {
            double weight[8], total = 0;
            size_t seen = causal ? a + 1 : k;
            for (size_t b = 0; b < seen; b++) {
                double score = 0;
                for (size_t j = h * width; j < (h + 1) * width; j++)
                    score += q[a][j] * keys[b][j];
                total += weight[b] = exp(scale * score);
            }
            for (size_t b = 0; b < seen; b++)
                for (size_t j = h * width; j < (h + 1) * width; j++)
                    for (size_t o = 0; o < DIM; o++)
                        y[a * DIM + o] += weight[b] / total * v[b][j] * layer->o[j * DIM + o];
        }
    }
}

static inline void attend(const plain *layer, const wt_scheme *scheme, size_t k, const double *x,
                          double *y) {
    attend_as(layer, HEADS, scheme->unscaled ? 1 : 1 / sqrt((double)WIDTH), scheme->causal, k, x,
              y);
}

#endif
