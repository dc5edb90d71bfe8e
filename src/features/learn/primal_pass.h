/* What the passes of the primal over the samples share. */
#ifndef WT_FEATURES_LEARN_PRIMAL_PASS_H
#define WT_FEATURES_LEARN_PRIMAL_PASS_H

#include "base/context.h"
#include "features/learn/primal.h"

typedef struct wt_primal_solver {
    wt_context *context;
    wt_arena arena; /* holds the arrays */
    const wt_primal *primal;
    size_t f, q;        /* q: outputs, and where y is centred a last column of labels that are 1 */
    wt_system system;   /* Phi^T Phi / M and its factors */
    bool leave_one_out; /* may be asked for */
    double *moment;     /* (f, q): Phi^T y / M */
    double *y;          /* (WT_PRIMAL_SLAB, q) */
    double *fitted;     /* as many */
    double *leverages;  /* (WT_PRIMAL_SLAB) */
    double *weights;    /* (q): dual weights of a sample */
    wt_meter meter;
    char phase[32]; /* "lambda 1e-3" */
    double done;    /* samples read in all passes */
} wt_primal_solver;

/* A pass over all samples: the body sees one slab of them at a time, with labels in y. */
typedef wt_status (*wt_slab_fn)(wt_primal_solver *run, const wt_ridge_rows *rows, void *argument);
wt_status wt_primal_pass(wt_primal_solver *run, wt_slab_fn body, void *argument);

/* Mean squares of v (f, q) over all samples: residuals and, where asked for, leave-one-out errors.
 * The factor of the lambda of v must be in the system then. */
wt_status wt_primal_judge(wt_primal_solver *run, const double *v, bool leave_one_out, double *train,
                          double *loo);

/* The normal matrix by its eigenvalues, whose vectors are in the system: e (f) increasing, of which
 * those from number `first` on count; moment (f, q) in their basis. */
typedef struct wt_primal_spectrum {
    const double *e, *moment;
    double *along; /* (WT_PRIMAL_SLAB, f), for leave-one-out; NULL when it is not asked for */
    size_t first;
    double lambda;
} wt_primal_spectrum;
/* The same for v made of eigenvalues. */
wt_status wt_primal_judge_spectrum(wt_primal_solver *run, const double *v,
                                   const wt_primal_spectrum *spectrum, double *train, double *loo);

#endif
