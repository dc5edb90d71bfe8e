/* What the passes of the primal over the samples share. */
#ifndef WT_FEATURES_LEARN_PRIMAL_PASS_H
#define WT_FEATURES_LEARN_PRIMAL_PASS_H

#include "base/context.h"
#include "features/learn/primal.h"

typedef struct wt_primal_solver {
    wt_context *context;
    wt_arena arena; /* holds the arrays */
    const wt_primal *primal;
    wt_samples *source;  /* the first samples of a curve, or all */
    size_t f, q;         /* q: outputs, and where y is centred a last column of labels that are 1 */
    wt_system system;    /* Phi^T Phi / M and its factors */
    double *moment;      /* (f, q): Phi^T y / M */
    double *y;           /* (WT_PRIMAL_SLAB, q) */
    double *fitted;      /* as many */
    double *leverages;   /* (WT_PRIMAL_SLAB) */
    double *weights;     /* (q): dual weights of a sample */
    double *train, *loo; /* (outputs): mean squares of what was judged last */
    wt_meter meter;
    char phase[32]; /* "lambda 1e-3" */
    double done;    /* samples read in all passes */
} wt_primal_solver;

/* Room for the normal matrix of primal->features, and scratch. */
wt_status wt_primal_open(wt_primal_solver *run, const wt_primal *primal, bool leave_one_out);
void wt_primal_close(wt_primal_solver *run);

/* A pass over the samples from number `begin` on: the body sees one slab of them at a time, with
 * labels in y. */
typedef wt_status (*wt_slab_fn)(wt_primal_solver *run, const wt_ridge_rows *rows, void *argument);
wt_status wt_primal_pass(wt_primal_solver *run, size_t begin, wt_slab_fn body, void *argument);

/* Adds the samples from number `begin` on to the normal matrix and the moment. */
wt_status wt_primal_collect(wt_primal_solver *run, size_t begin);

/* f - lambda trace((A + lambda)^-1): the trace of A (A + lambda)^-1, by the factor at hand. */
wt_status wt_primal_freedom(wt_primal_solver *run, double lambda, double *out);

/* Mean squares of v (f, q) over all samples, into train and loo: residuals and, where asked for,
 * leave-one-out errors, else NaN. The factor of the lambda of v must be in the system then. */
wt_status wt_primal_judge(wt_primal_solver *run, const double *v, bool leave_one_out);

/* The same by a body that adds sums of squares to train and, where asked for, loo. */
wt_status wt_primal_judge_by(wt_primal_solver *run, bool leave_one_out, wt_slab_fn body,
                             void *argument);
/* A sample's left-out error of output o from `errors` (q), linear in its labels y (q): where these
 * are centred, as if the mean had been that of the other samples. */
double wt_primal_moved(const wt_primal_solver *run, const double *y, const double *errors,
                       size_t o);

/* v (f, q) by eigenvalues, those below f * epsilon * the largest left out, and judged. */
typedef struct wt_primal_rank {
    size_t rank;
    double freedom, condition;
} wt_primal_rank;
wt_status wt_primal_by_eigen(wt_primal_solver *run, double lambda, bool leave_one_out, double *v,
                             wt_primal_rank *out);

#endif
