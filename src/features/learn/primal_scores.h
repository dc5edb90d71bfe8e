/* How good lambdas are, by the normal matrix of the samples so far. */
#ifndef WT_FEATURES_LEARN_PRIMAL_SCORES_H
#define WT_FEATURES_LEARN_PRIMAL_SCORES_H

#include "features/learn/primal_pass.h"

/* Scores (count, targets) of `count` lambdas by the rule for every target of the question, whose
 * columns are the solver's outputs: left-out errors, cross-validation, or test errors. NaN for a
 * lambda that has no factor in double precision. With `by_spectrum`, leave-one-out takes the
 * eigenvectors and one pass for all lambdas, else a factor and a pass for each. */
wt_status wt_primal_scores(wt_primal_solver *run, const wt_dual *dual, wt_lambda rule,
                           bool by_spectrum, const double *lambda, size_t count, double *scores);

/* Whether the eigenvectors cost less than so many factors and passes. */
bool wt_primal_spectrum_pays(double samples, double features, double lambdas);

/* squares (lines, q): sums over the samples of the squares of the residuals of each line of v
 * (f, lines * q); of the first orders[line] samples where `orders` is not NULL. */
wt_status wt_primal_squares(wt_primal_solver *run, size_t lines, const size_t *orders,
                            const double *v, double *squares);

/* The mean of target t of `targets` over its part of the squares (outputs). */
double wt_primal_mean_of(const wt_primal_solver *run, const double *squares, size_t t,
                         size_t targets);

/* Tells where the work is. */
void wt_primal_show_lambda(wt_primal_solver *run, double lambda);

#endif
