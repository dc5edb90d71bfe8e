/* Is what a fitted layer leaves of y noise, or a function of x?
 *
 * Noise does not know x. For a family of q features of each row, functions of x alone, Z (R, q) is
 * projected off the attended tokens H, which the fit has taken already, and made orthonormal. With
 * E (R, p) the residuals and u_s = Z_s^T E_s (q, p) those of sequence s, noise makes the u_s
 * independent with mean 0, so that
 *   T = |sum_s u_s|^2   has the mean of   A = sum_s |u_s|^2,
 * whatever the noise does within a sequence or between outputs; a misfit that Z explains makes T
 * larger. T / A is judged as an F ratio whose freedoms come from the u_s themselves:
 *   A^2 / sum_{s != t} <u_s, u_t>^2   and   2 n mean^2 / variance of |u_s|^2.
 * E is also off the derivative by Theta, which makes T smaller than noise would: the test errs on
 * the side of noise there.
 *
 * Sequences that are repeated measure the noise itself: what is left beyond it is misfit of any
 * kind. */
#ifndef WT_LAYER_LEARN_MISFIT_H
#define WT_LAYER_LEARN_MISFIT_H

#include "layer/learn/projection.h"

/* The chance, over all families, of calling noise a misfit; seen: a tenth of that, as T errs on the
 * side of noise. */
#define WT_MISFIT_LEVEL 0.03

typedef struct wt_misfit {
    double p;          /* the least chance of a family under noise, times the families tried */
    const char *kind;  /* short name of the family that explains most beyond chance; NULL = none */
    const char *words; /* what it would mean, as a question */
    const char *also;  /* the same of another that explains nearly as much; NULL = none */
    double part;       /* of |E|^2 that it explains beyond chance */
    double seen;       /* a misfit of this size, over |y|, would have been seen 9 times of 10 */
    bool blind;        /* even residuals that are all misfit might not have been seen */
} wt_misfit;

/* Tests the residuals of an evaluated projection on rows whose outputs are whole or sketched. */
wt_status wt_misfit_test(wt_context *context, const wt_projection *at, uint64_t seed,
                         wt_misfit *out);

/* The same from sequences that are repeated, into a result of the test above: what they leave
 * beyond their own spread. Nothing happens where there are none, or too few. */
wt_status wt_misfit_repeats(wt_context *context, const wt_projection *at, double unknowns,
                            wt_misfit *out);

/* The normal deviate of an F ratio of the given freedoms, and its chance under noise. */
double wt_misfit_deviate(double ratio, double top, double bottom);
double wt_misfit_chance(double deviate);

#endif
