/* The kernels of infinitely many heads, in closed form.
 *
 * With x~ = [x; 1], N and N' the live keys of the two samples:
 *   rfa-inf    K(x,x') = 1/(N N') sum_ij <x~i,x~j'> E relu(s_i) relu(s_j'), s_i = <W, x~0 x~i^T>,
 *              entries of W N(0, 1/4); likewise s_j'
 *   brfa-inf   the same with means: W + c [I_d 0; 0 0], c = spec->bias
 *   rfmlp-inf  K(x,x') = E relu(<w,z>) relu(<w,z'>), z = [x0; x1; ..; xN; 1], entries of w
 *              N(0, 1/(N+2)); masked keys are zero vectors here and N is the padded number
 * Same bits for every number of threads. NaN, Inf and tokens longer than 1e40 are WT_DATA. */
#ifndef WT_FEATURES_MODEL_KERNEL_H
#define WT_FEATURES_MODEL_KERNEL_H

#include "features/model/kernel_side.h"
#include "features/task/sets.h"
#include "wattle/fit.h"

/* Whether the kernel is one, and takes sets of these shapes. */
wt_status wt_kernel_check(wt_context *context, const wt_model_spec *spec, const wt_sets *a,
                          const wt_sets *b);

/* K(a_i, b_j) into out (a->samples, b->samples), rows `stride` apart. The two may differ in their
 * number of keys, but for rfmlp-inf. */
wt_status wt_kernel_matrix(wt_context *context, const wt_model_spec *spec, const wt_sets *a,
                           const wt_sets *b, double *out, size_t stride);

/* The same from sides that are there, of sets of so many keys. */
wt_status wt_kernel_sides(wt_context *context, const wt_model_spec *spec, const wt_kernel_side *a,
                          size_t a_keys, const wt_kernel_side *b, size_t b_keys, double *out,
                          size_t stride);

/* The lower triangle of K(a_i, a_j), diagonal included: bit for bit that of wt_kernel_matrix. What
 * is above is not touched. */
wt_status wt_kernel_gram(wt_context *context, const wt_model_spec *spec, const wt_sets *a,
                         double *out, size_t stride);

/* The most bytes either call holds beside its output, for sets of spec->keys keys; b_samples = 0
 * stands for wt_kernel_gram. */
size_t wt_kernel_scratch_bytes(const wt_context *context, const wt_model_spec *spec,
                               size_t a_samples, size_t b_samples);

#endif
