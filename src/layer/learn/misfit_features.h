/* The families of features that residuals are held against, one row of a table each. */
#ifndef WT_LAYER_LEARN_MISFIT_FEATURES_H
#define WT_LAYER_LEARN_MISFIT_FEATURES_H

#include "layer/learn/projection.h"

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

typedef struct wt_feature_family {
    const char *name, *words;
    size_t (*columns)(size_t d, size_t m, size_t p);
    /* z (columns), which any outputs may follow; by_output: z (p, columns), a feature of each */
    void (*fill)(const wt_feature_row *row, double *z);
    bool by_output;
} wt_feature_family;

extern const wt_feature_family wt_feature_families[];
extern const size_t wt_feature_family_count;

#endif
