/* The families of features that residuals are held against, one row of a table each. */
#ifndef WT_LAYER_LEARN_MISFIT_FEATURES_H
#define WT_LAYER_LEARN_MISFIT_FEATURES_H

#include <string.h>

#include "layer/learn/projection.h"
#include "layer/task/vector.h"

/* One output row and all that features are made of. */
typedef struct wt_feature_row {
    size_t d, m, p, k;    /* k = keys of its sequence */
    size_t at;            /* the token's place in the sequence, from 0 */
    const double *x;      /* (d): the token that asks */
    const double *keys;   /* (k, d) */
    const double *mean;   /* (d): of the keys */
    const double *a;      /* (m, k): attention weights */
    const double *score;  /* (m, k): x^T Theta_i x_b */
    const double *h;      /* (m, d): attended tokens */
    const double *w;      /* (m d, p): W of all heads */
    const double *f;      /* (p): fitted outputs over their root mean square */
    const double *random; /* (WT_FEATURE_DIRECTIONS, d): <direction, x> is about 1 */
    const double *theta;  /* (2, d, d): random, for scores of about 1 and 3 */
    double unit;          /* root mean square of an entry of the tokens */
    double *spare;        /* (k + d) */
} wt_feature_row;

enum { WT_FEATURE_DIRECTIONS = 48 };

/* out (d) = sum_b weight_b x_b. */
static inline void wt_feature_mix(const wt_feature_row *row, const double *weight, double *out) {
    memset(out, 0, row->d * sizeof *out);
    for (size_t b = 0; b < row->k; b++)
        for (size_t j = 0; j < row->d; j++)
            out[j] += weight[b] * row->keys[b * row->d + j];
}

static inline const double *wt_feature_key(const wt_feature_row *row, size_t b) {
    return row->keys + b * row->d;
}

static inline const double *wt_feature_direction(const wt_feature_row *row, size_t i) {
    return row->random + i % WT_FEATURE_DIRECTIONS * row->d;
}

/* Mean square and mean of the entries of a token, in units of the tokens' size. */
static inline double wt_feature_size(const wt_feature_row *row, const double *x) {
    return wt_vector_squares(row->d, x) / ((double)row->d * row->unit * row->unit);
}
static inline double wt_feature_center(const wt_feature_row *row, const double *x) {
    double sum = 0;
    for (size_t j = 0; j < row->d; j++)
        sum += x[j];
    return sum / ((double)row->d * row->unit);
}

/* Terms of the scores and factors of the values that are tried, a head; outputs and directions of
 * gates at most. */
enum { WT_FEATURE_TERMS = 23, WT_FEATURE_FACTORS = 8, WT_FEATURE_GATES = 8 };
static inline size_t wt_feature_gated(size_t count) {
    return count < WT_FEATURE_GATES ? count : WT_FEATURE_GATES;
}
/* Families of features that each output has its own of; z (p, columns). */
void wt_feature_scores(const wt_feature_row *row, double *z);
void wt_feature_factors(const wt_feature_row *row, double *z);
void wt_feature_gates(const wt_feature_row *row, double *z);

typedef struct wt_feature_family {
    const char *name, *words;
    /* z (columns), which any outputs may follow; by_output: z (p, columns), a feature of each */
    void (*fill)(const wt_feature_row *row, double *z);
    /* the columns: so many times 1, d, m, m d, p, min(d, 16) and min(d, 8) min(p, 8) */
    size_t one, token, head, attended, output, bends, gates;
    bool by_output;
} wt_feature_family;

extern const wt_feature_family wt_feature_families[];
extern const size_t wt_feature_family_count;
size_t wt_feature_columns(const wt_feature_family *family, size_t d, size_t m, size_t p);

#endif
