/* The host's version of device/recover.h. Small problems form and factor J^T P J, large ones use
 * conjugate gradients with products in float; those in between until a step takes more products
 * than the matrix is worth. */
#ifndef WT_LAYER_LEARN_DESCENT_HOST_H
#define WT_LAYER_LEARN_DESCENT_HOST_H

#include "device/recover.h"
#include "layer/learn/factors.h"
#include "layer/learn/jacobian.h"
#include "layer/learn/tangent.h"

extern const wt_recover_engine wt_recover_host;

/* That of the context's device; WT_UNAVAILABLE where it has none. */
wt_status wt_recover_engine_of(wt_context *context, const wt_recover_engine **out);
/* The rows as engines take them, for a layer of any rank; borrows. */
wt_recover_problem wt_recover_problem_of(const wt_rows *rows, size_t heads);

struct wt_recover_fit {
    wt_rows rows;
    wt_projection places[2];
    wt_projection *now, *trial; /* the same one where it is evaluated alone */
    wt_jacobian jacobian;
    wt_jacobian_float narrow; /* of the matrix-free way */
    wt_tangent tangent;       /* of that way, where a rank is given */
    wt_factors factors;
    const wt_recover_blocks *blocks; /* there too, once it has been given */
    bool matrix_free, may_form;      /* may the matrix be formed after all? */
    bool dear;                       /* the last step cost more than its matrix would have */
    size_t side;
    double *normal, *factor;                /* (side, side), of the dense way */
    double *gradient;                       /* (side) */
    double *residual, *direction, *product; /* (side), of the conjugate gradients */
    double *wide;                           /* (numbers), where a rank is given */
    double *solved, *turned;                /* (side), (2, e, r), there too */
    float *narrow_in, *narrow_out;          /* (numbers) */
    size_t products;
    wt_arena arena;
};

/* All that is known where the fit of the host's engine stands. */
const wt_projection *wt_recover_host_place(const wt_recover_fit *fit);

/* The matrix-free way: product = J^T P J direction. */
wt_status wt_host_multiply(wt_context *context, wt_recover_fit *fit, const double *direction,
                           double *product);
wt_status wt_host_solve_free(wt_context *context, wt_recover_fit *fit, wt_recover_step *step);

#endif
