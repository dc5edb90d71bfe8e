/* The last step of the dual: value vectors from dual weights, to full precision. */
#ifndef WT_FEATURES_LEARN_POLISH_H
#define WT_FEATURES_LEARN_POLISH_H

#include "features/learn/dual.h"

/* Writes v = Phi^T alpha / M of every size and column, and corrects both where
 *     y - Phi v - lambda alpha
 * is not small against y. Where labels contradict each other (more samples than features, one
 * sample twice) alpha grows like 1 / lambda, and its rounding would reach v; the correction is
 * added to v apart from alpha, so that it does not. Points solved by eigenvalues have no such part
 * in alpha and are left alone. */
wt_status wt_dual_polish(wt_context *context, const wt_dual *dual, wt_system *system,
                         wt_dual_answer *answer);

#endif
