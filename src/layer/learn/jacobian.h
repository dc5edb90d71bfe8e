/* Products with the derivative of the projected outputs by Theta, by matrix products alone.
 *
 * With C_ri = sum_b A_ri,b (x_b - h_ri)(x_b - h_ri)^T the derivative along D is
 *   (J D)_r = sum_i W_i^T C_ri D_i^T q_r,     (J^T E)_i = sum_r q_r (C_ri W_i e_r)^T,
 * and P = I - Q Q^T takes off what W can follow (Kaufman). D is packed as Theta is: (e, m d).
 *
 * Where heads share values, W_i = V_g O_i, D is followed by a direction of V, (groups, d, v), which
 * adds sum_i O_i^T dV_g^T h_ri; and J^T E by sum_i,r h_ri (O_i e_r)^T over the heads of a group. */
#ifndef WT_LAYER_LEARN_JACOBIAN_H
#define WT_LAYER_LEARN_JACOBIAN_H

#include "layer/learn/projection.h"

typedef struct wt_jacobian {
    const wt_projection *at;
    const double *weights, *w, *qt, *key, *query; /* borrowed */
    const double *h, *v, *o;                      /* borrowed; of shared values */
    double *moved;                                /* (R, m d) */
    double *inner;                                /* (R, m v), of shared values */
    double *span;                                 /* (spanned, p) */
    double *out;                                  /* (R, p) */
    double *scratch;                              /* a worker */
    size_t scratch_each;
    wt_arena arena;
} wt_jacobian;

/* At a projection that was evaluated. */
wt_status wt_jacobian_new(wt_context *context, const wt_projection *at, wt_jacobian *out);
void wt_jacobian_free(wt_jacobian *jacobian);
/* From now on at another projection of the same shape. */
void wt_jacobian_look(wt_jacobian *jacobian, const wt_projection *at);
/* out = P J D (R, p) in jacobian->out. */
wt_status wt_jacobian_apply(wt_context *context, wt_jacobian *jacobian, const double *d);
/* g (e, m d), and what is of V behind it, = J^T residuals. */
wt_status wt_jacobian_transposed(wt_context *context, wt_jacobian *jacobian,
                                 const double *residuals, double *g);

/* The same in float, with copies of its own made by wt_jacobian_float_load. */
typedef struct wt_jacobian_float {
    const wt_projection *at;
    float *weights, *w, *qt, *key, *query, *h, *v, *o;
    float *moved, *inner, *span, *out, *scratch;
    size_t scratch_each;
    wt_arena arena;
} wt_jacobian_float;

wt_status wt_jacobian_float_new(wt_context *context, const wt_projection *at,
                                wt_jacobian_float *out);
void wt_jacobian_float_free(wt_jacobian_float *jacobian);
/* Copies weights, W and Q of the projection as it stands. */
void wt_jacobian_float_load(wt_jacobian_float *jacobian, const wt_projection *at);
wt_status wt_jacobian_float_apply(wt_context *context, wt_jacobian_float *jacobian, const float *d);
wt_status wt_jacobian_float_transposed(wt_context *context, wt_jacobian_float *jacobian,
                                       const float *residuals, float *g);

/* Flops of P J D and J^T e together. */
double wt_jacobian_flops(const wt_projection *at);

#endif
