/* Learning curves of more samples than features: one normal matrix that grows from size to size. */
#ifndef WT_FEATURES_LEARN_PRIMAL_CURVE_H
#define WT_FEATURES_LEARN_PRIMAL_CURVE_H

#include "features/learn/dual.h"

/* The question of wt_dual_solve by the normal matrix of random features: the same answer, without
 * alpha. Leave-one-out errors are there for rules that choose lambda, and where eigenvalues were
 * taken; `by_spectrum` allows eigenvectors to find them, where that is quicker. */
wt_status wt_primal_curve(wt_context *context, const wt_dual *dual, const wt_ridge_options *ridge,
                          bool by_spectrum, wt_dual_answer *out);

/* Lambdas beyond either end of the path that eigenvectors judge with those of it: they cost next to
 * nothing there, and a pass each when they are asked for later. */
#define WT_PRIMAL_BEYOND 2

#endif
