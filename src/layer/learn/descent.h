/* One start of `refine`: damped Gauss-Newton steps in Theta with W eliminated.
 *
 * A step solves (J^T P J + mu s I) D = J^T E, s the mean of the diagonal; mu shrinks after a step
 * that lowers the error and grows after one that does not. The engine (device/recover.h)
 * evaluates, and solves: on the host small problems form and factor the matrix, large ones use
 * conjugate gradients with products in float, where the gradient and the error are double, so that
 * the steps end at double rounding all the same.
 *
 * Theta of a given rank move by steps in their factors, which are found anew before each; V of
 * heads that share values moves with them, and O is eliminated in place of W. */
#ifndef WT_LAYER_LEARN_DESCENT_H
#define WT_LAYER_LEARN_DESCENT_H

#include "base/context.h"
#include "device/recover.h"
#include "layer/learn/blocks.h"
#include "layer/learn/factors.h"

/* Iterations of the conjugate gradients of one step at most, and as a rule. */
enum { WT_DESCENT_ITERATIONS = 600, WT_DESCENT_USUAL = 60 };

typedef struct wt_descent {
    const wt_rows *rows;
    const wt_recover_engine *engine;
    wt_recover_fit *fit;
    double *theta;            /* (numbers): the best so far */
    double error;             /* there; infinite where nothing could be computed */
    double *trial;            /* (numbers) */
    double start_error;       /* of the last run, at its start */
    bool near;                /* starts are good ones, which need hardly any damping */
    bool wary;                /* damping had to grow */
    double left;              /* part of the error that the last step left */
    size_t patience;          /* steps in which the error must fall by 2% */
    wt_projection form;       /* of theta, without room for numbers */
    wt_factors factors;       /* of Theta, where a rank is given */
    wt_blocks blocks;         /* the preconditioner, there too */
    double *gradient;         /* (side), of the last linear system */
    double *step, *signs;     /* (side) */
    double *lengths, *ratios; /* of the last conjugate gradients, whose Lanczos matrix tells the */
    size_t iterations;        /* condition, with the damping they were made with */
    double damping;
    double scale;       /* s */
    size_t thetas;      /* numbers of Theta: m e d */
    size_t numbers;     /* those, and of V behind them */
    size_t side;        /* unknowns of a step: those, or as many as the factors have */
    size_t steps;       /* made so far, over all runs */
    wt_meter *meter;    /* that is told of steps and errors; NULL = none */
    wt_projection seen; /* of wt_descent_look, where the engine is not the host's */
    wt_arena arena;
} wt_descent;

/* Room for runs on these rows, on the device of the context. On the host they are matrix-free above
 * a few thousand unknowns, and where the matrix costs more than `iterations` of the conjugate
 * gradients: 0 = always; and for Theta of a rank below full, 0 = full. groups: heads share keys and
 * values of that rank in so many; 0 = none do. */
wt_status wt_descent_new(wt_context *context, const wt_rows *rows, size_t heads, size_t rank,
                         size_t groups, size_t iterations, wt_descent *out);
void wt_descent_free(wt_descent *descent);
/* The error at the Theta in `theta`, which may have been changed. */
wt_status wt_descent_evaluate(wt_context *context, wt_descent *descent);
/* Gradient, derivatives and preconditioner there. */
wt_status wt_descent_linearise(wt_context *context, wt_descent *descent);
/* From the Theta in `theta` to where the error no longer falls, or max_steps. A step to where
 * nothing can be computed is one that does not lower the error; a start of that kind stays where it
 * is, with its infinite error. */
wt_status wt_descent_run(wt_context *context, wt_descent *descent, size_t max_steps);
/* Products with J^T P J so far. */
size_t wt_descent_products(const wt_descent *descent);
/* The Theta as (m, e, d), and its W (c, p). Either may be NULL. */
wt_status wt_descent_read(wt_context *context, wt_descent *descent, double *plain, double *w);
/* All that is known where it stands, in the host's memory. */
wt_status wt_descent_look(wt_context *context, wt_descent *descent, const wt_projection **out);
/* The condition number of P J: of the matrix where it can be formed, else as the last conjugate
 * gradients saw it, which is an estimate from below; NaN where there were none, or its numbers are
 * not finite. */
wt_status wt_descent_condition(wt_context *context, wt_descent *descent, double *out);
/* A head whose Theta may be doubled without harm while it attends to single tokens: its size is not
 * determined, the fit wants it infinite. `allowed` is the relative error that is no harm; where
 * Theta = 0 does none either the head is of no use, and wants nothing. *head is the first such, or
 * the number of heads; *itself when the token attends to itself. */
wt_status wt_descent_unbounded(wt_context *context, wt_descent *descent, double allowed,
                               size_t *head, bool *itself);
/* The condition number as the Lanczos matrix of the last conjugate gradients has it. */
wt_status wt_descent_condition_free(wt_context *context, const wt_descent *descent, double *out);

/* The W of least squares, (c, p), for a Theta as `theta` of a descent holds it, and the error. */
wt_status wt_descent_fit_w(wt_context *context, const wt_descent *descent, const wt_rows *rows,
                           const double *theta, double *w, double *error);

#endif
