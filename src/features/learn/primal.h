/* Ridge through the primal, (Phi^T Phi / M + lambda I) v = Phi^T y / M, in passes over the samples
 * that hold a slab of features at a time: for more samples than features. */
#ifndef WT_FEATURES_LEARN_PRIMAL_H
#define WT_FEATURES_LEARN_PRIMAL_H

#include "features/learn/dual.h"
#include "features/task/samples.h"

#define WT_PRIMAL_SLAB 1024 /* samples a slab */

typedef struct wt_primal {
    const wt_features *features;
    wt_samples *source;
    size_t outputs;
    const double *shift, *scale; /* (outputs): y enters as (y - shift) / scale */
    const wt_sets *test;         /* for the oracle, else NULL */
    const double *test_y;        /* (test samples, outputs), shifted and scaled */
    bool leave_one_out;          /* also where lambda does not depend on it */
    bool centred;                /* shift is the mean of y, which a left-out sample moves */
} wt_primal;

typedef struct wt_primal_answer {
    double *v;                 /* (f, outputs) in block order */
    double lambda, train, loo; /* mean squares; NaN where not computed */
    double freedom, condition;
    size_t rank;      /* where eigenvalues were taken, else 0 */
    bool at_end;      /* lambda is an end of what could be tried */
    bool out_of_time; /* the path was not walked to its end */
} wt_primal_answer;

wt_status wt_primal_solve(wt_context *context, const wt_primal *primal,
                          const wt_ridge_options *ridge, wt_primal_answer *out);
void wt_primal_free(wt_primal_answer *answer);

#endif
