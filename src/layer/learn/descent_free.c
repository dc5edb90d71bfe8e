/* The matrix-free way: conjugate gradients on J^T P J with products in float, preconditioned where
 * blocks were given. */
#include <math.h>
#include <string.h>

#include "base/work.h"
#include "layer/learn/blocks.h"
#include "layer/learn/descent_host.h"
#include "layer/task/vector.h"

wt_status wt_host_multiply(wt_context *context, wt_recover_fit *fit, const double *direction,
                           double *product) {
    fit->products++;
    if (fit->factors.rank > 0)
        return wt_tangent_multiply(context, &fit->tangent, direction, product);
    for (size_t i = 0; i < fit->side; i++)
        fit->narrow_in[i] = (float)direction[i];
    WT_PASS(wt_jacobian_float_apply(context, &fit->narrow, fit->narrow_in));
    WT_PASS(wt_jacobian_float_transposed(context, &fit->narrow, fit->narrow.out, fit->narrow_out));
    for (size_t i = 0; i < fit->side; i++)
        product[i] = (double)fit->narrow_out[i];
    return WT_OK;
}

/* *out = M^-1 r, or r itself where there is no M. */
static wt_status precondition(wt_context *context, wt_recover_fit *fit, double damping,
                              const double **out) {
    *out = fit->blocks != NULL ? fit->solved : fit->residual;
    return fit->blocks == NULL ? WT_OK
                               : wt_blocks_solve(context, fit->blocks, &fit->factors, damping,
                                                 fit->residual, fit->turned, fit->solved);
}

wt_status wt_host_solve_free(wt_context *context, wt_recover_fit *fit, wt_recover_step *step) {
    size_t side = fit->side;
    double *r = fit->residual, *d = fit->direction, *x = step->step;
    const double *z;
    memset(x, 0, side * sizeof *x);
    memcpy(r, fit->gradient, side * sizeof *r);
    WT_PASS(precondition(context, fit, step->damping, &z));
    memcpy(d, z, side * sizeof *d);
    double square = wt_vector_dot(side, r, z), wanted = step->tolerance * step->tolerance * square;
    for (size_t i = 0; i < step->most && square > wanted; i++) {
        WT_PASS(wt_host_multiply(context, fit, d, fit->product));
        for (size_t j = 0; j < side; j++)
            fit->product[j] += step->damping * d[j];
        double curvature = wt_vector_dot(side, d, fit->product);
        /* float rounding can leave no curvature to go by: what there is must do */
        if (!(curvature > 0))
            break;
        double length = square / curvature, before = square;
        for (size_t j = 0; j < side; j++) {
            x[j] += length * d[j];
            r[j] -= length * fit->product[j];
        }
        WT_PASS(precondition(context, fit, step->damping, &z));
        square = wt_vector_dot(side, r, z);
        for (size_t j = 0; j < side; j++)
            d[j] = z[j] + square / before * d[j];
        step->lengths[i] = length;
        step->ratios[i] = square / before;
        step->iterations = i + 1;
        wt_work_add(context, 12 * (double)side);
        if (step->tell != NULL)
            step->tell(step->user, i + 1);
    }
    return WT_OK;
}
