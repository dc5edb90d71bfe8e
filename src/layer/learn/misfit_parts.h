/* The steps of the test of residuals (misfit.h): the basis of a family's features, and its ratio.
 */
#ifndef WT_LAYER_LEARN_MISFIT_PARTS_H
#define WT_LAYER_LEARN_MISFIT_PARTS_H

#include "base/memory.h"
#include "layer/learn/misfit_features.h"

typedef struct wt_misfit_work {
    wt_context *context;
    const wt_projection *at;
    const wt_rows *rows;
    size_t R, n, p; /* rows, sequences, outputs after mixing */
    double *e, *f;  /* (R, p): residuals; fitted outputs in units of their size */
    double *w;      /* (c, p) */
    double *random, *theta;
    double unit;
    size_t longest; /* sequence */
    /* of the family in hand */
    const wt_feature_family *family;
    size_t width, free;    /* a row's features are (width, q), and `free` outputs may follow each */
    size_t raw, q;         /* columns before and after mixing */
    double *scale, *mixer; /* (raw), (raw, q); mixer NULL = not mixed */
    double *z, *basis;     /* (R width, q) each */
    double *u;             /* (block, q free) */
    size_t begin;          /* of the block */
    double *scratch;
    size_t scratch_each;
    wt_arena arena; /* of all that belongs to the family */
} wt_misfit_work;

/* What a family's features say of the residuals. */
typedef struct wt_misfit_finding {
    double z;     /* normal deviate of the ratio under noise */
    double part;  /* of |E|^2 explained beyond chance */
    double least; /* misfit that would be seen, squared, in units of y squared */
    bool tried;
} wt_misfit_finding;

static inline size_t wt_misfit_keys(const wt_attention *in, size_t s) {
    return wt_attention_key(in, s + 1) - wt_attention_key(in, s);
}

/* The features of a family off H, as an orthonormal basis (R width, q) in memory of work->arena;
 * q = 0 where none are left. */
wt_status wt_misfit_basis(wt_misfit_work *work, const wt_feature_family *family, uint64_t seed);
/* T against A by that basis; `critical` is the deviate that noise hardly passes. */
wt_status wt_misfit_hold(wt_misfit_work *work, double critical, wt_misfit_finding *out);
/* The deviate that noise passes with the given chance. */
double wt_misfit_critical(double chance);

#endif
