/* The dual by eigenvalues: the minimum-norm answer, and any lambda for which no Cholesky factor
 * exists in double precision. */
#ifndef WT_FEATURES_LEARN_EIGEN_DUAL_H
#define WT_FEATURES_LEARN_EIGEN_DUAL_H

#include "features/learn/dual.h"

/* For K_s = U diag(e) U^T of every size from number `first` on: alpha = U diag(1 / (e + lambda))
 * U^T y over the eigenvalues above s * epsilon * e_max, whose number is the rank; with lambda = 0
 * that is the minimum norm. The leave-one-out errors are the limits of those of ridge. */
wt_status wt_eigen_solve(wt_context *context, const wt_dual *dual, const wt_system *system,
                         size_t first, double lambda, wt_dual_answer *answer);

#endif
