/* Losses of one label and one prediction: convex in the prediction f.
 *
 *   square    (y - f)^2
 *   absolute  |y - f|
 *   huber     r^2 / 2 for r = |y - f| <= delta, else delta (r - delta / 2)
 *   logistic  log(1 + exp(-y f)), labels y = -1 or +1
 *
 * Beside its value a loss has what its minimisation needs. A slope at f is a number s with
 * loss(g) >= loss(f) + s (g - f) for all g; the conjugate is loss*(s) = max_f s f - loss(f). */
#ifndef WT_FEATURES_LEARN_LOSS_H
#define WT_FEATURES_LEARN_LOSS_H

#include "base/context.h"
#include "wattle/fit.h"

/* Labels (n, q) the loss can take: finite, and -1 or +1 for logistic; else WT_DATA. */
wt_status wt_loss_check_labels(wt_context *context, wt_loss loss, const double *y, size_t n,
                               size_t q);

/* `delta` is read for huber alone. */
double wt_loss_value(wt_loss loss, double delta, double y, double f);
/* The derivative in f; 0 where absolute has its kink. */
double wt_loss_slope(wt_loss loss, double delta, double y, double f);
/* The slope nearest to s for which the conjugate is finite. */
double wt_loss_clip_slope(wt_loss loss, double delta, double y, double s);
/* loss*(s), for a slope that needs no clipping. */
double wt_loss_conjugate(wt_loss loss, double delta, double y, double s);
/* argmin_f t loss(y, f) + (f - z)^2 / 2, t > 0. */
double wt_loss_proximal(wt_loss loss, double delta, double y, double t, double z);

#endif
