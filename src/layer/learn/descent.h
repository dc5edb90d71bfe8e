/* One start of `refine`: damped Gauss-Newton steps in Theta with W eliminated.
 *
 * A step solves (J^T P J + mu s I) D = J^T E, s the mean of the diagonal; mu shrinks after a step
 * that lowers the error and grows after one that does not. Small problems form and factor
 * the matrix, large ones use conjugate gradients with products in float: the gradient and the error
 * are double, so that the steps end at double rounding all the same.
 *
 * Theta of a given rank move by steps in their factors, which are found anew before each; V of
 * heads that share values moves with them, and O is eliminated in place of W. */
#ifndef WT_LAYER_LEARN_DESCENT_H
#define WT_LAYER_LEARN_DESCENT_H

#include "base/context.h"
#include "layer/learn/factors.h"
#include "layer/learn/jacobian.h"
#include "layer/learn/tangent.h"

/* Iterations of the conjugate gradients of one step at most, and as a rule. */
enum { WT_DESCENT_ITERATIONS = 600, WT_DESCENT_USUAL = 60 };

typedef struct wt_descent {
    const wt_rows *rows;
    wt_projection now, trial; /* `now` is the best so far */
    double start_error;       /* of the last run, at its start */
    wt_jacobian jacobian;
    wt_jacobian_float narrow; /* of the matrix-free way */
    wt_tangent tangent;       /* of that way, where a rank is given */
    bool matrix_free;
    bool near;               /* starts are good ones, which need hardly any damping */
    double left;             /* part of the error that the last step left */
    size_t patience;         /* steps in which the error must fall by 2% */
    double *normal, *factor; /* (side, side), of the dense way */
    wt_factors factors;      /* of Theta, where a rank is given */
    double *gradient, *step; /* (side) */
    double *residual, *direction, *product; /* (side), of the conjugate gradients */
    double *wide;                           /* (numbers), where a rank is given */
    float *narrow_in, *narrow_out;          /* (numbers) */
    double lengths[WT_DESCENT_ITERATIONS];  /* alpha and beta of the last conjugate gradients */
    double ratios[WT_DESCENT_ITERATIONS];   /* (their Lanczos matrix tells the condition) */
    size_t iterations;
    double damping;         /* they were made with */
    double scale;           /* s */
    size_t thetas;          /* numbers of Theta: m e d */
    size_t numbers;         /* those, and of V behind them: all that now.theta holds */
    size_t side;            /* unknowns of a step: those, or as many as the factors have */
    size_t steps, products; /* made so far, over all runs */
    wt_meter *meter;        /* that is told of steps and errors; NULL = none */
    wt_arena arena;
} wt_descent;

/* Room for runs on these rows. They are matrix-free above a few thousand unknowns, and where the
 * matrix costs more than `iterations` of the conjugate gradients: 0 = always; and for Theta of a
 * rank below full, 0 = full. groups: heads share keys and values of that rank in so many; 0 = none
 * do. */
wt_status wt_descent_new(wt_context *context, const wt_rows *rows, size_t heads, size_t rank,
                         size_t groups, size_t iterations, wt_descent *out);
void wt_descent_free(wt_descent *descent);
/* From the Theta in now.theta to where the error no longer falls, or max_steps. A step to where
 * nothing can be computed (wt_projection_evaluate) is one that does not lower the error; a start of
 * that kind stays where it is, with its infinite error. */
wt_status wt_descent_run(wt_context *context, wt_descent *descent, size_t max_steps);
/* The condition number of P J at `now`: of the matrix where it can be formed, else as the last
 * conjugate gradients saw it, which is an estimate from below; NaN where there were none, or its
 * numbers are not finite. */
wt_status wt_descent_condition(wt_context *context, wt_descent *descent, double *out);

/* The conjugate gradients: step = (J^T P J + damping I)^-1 gradient, to the relative tolerance. */
wt_status wt_descent_solve_free(wt_context *context, wt_descent *descent, double damping,
                                double tolerance);
/* The condition number as the Lanczos matrix of the last of them has it. */
wt_status wt_descent_condition_free(wt_context *context, const wt_descent *descent, double *out);
/* scale by the Rayleigh quotient of a vector of signs. */
wt_status wt_descent_measure_free(wt_context *context, wt_descent *descent);

#endif
