#include "layer/learn/descent.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layer/learn/normal_matrix.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"

/* Unknowns up to which the normal matrix is always formed, and may be. Once, for the condition
 * number, it is formed up to CONDITION_MOST. */
#define DENSE_ALWAYS   150
#define DENSE_MOST     2000
#define CONDITION_MOST 600
/* Relative errors this small are rounding; below the second a step that fails says so too. */
#define ROUNDING      1e-14
#define NEAR_ROUNDING 1e-11
/* A floor: the squared error falls by less than this part in a step. */
#define STILL 1e-9
/* No progress: the error falls by less than this part in PATIENCE steps. */
#define SLOW          0.02
#define PATIENCE      25
#define FIRST_DAMPING 1e-2
/* Conjugate gradients stop at half the error, as a part of the gradient, or at this part where that
 * is less. With a rank they stop at half the error, but within the other two, times the square of
 * what the last step left of it: fine steps pay where they lower the error much (the second choice
 * of Eisenstat and Walker, SIAM J. Sci. Comput. 17, 1996). */
#define FINE       0.05
#define LESS_ROUGH 0.0625
#define ROUGH      0.2
#define FINEST     1e-4
#define MOST_TRIES 16
/* Damping falls by the first after a step that lowers the error and grows by the second after one
 * that does not. With a rank J is nearly singular on the way: there damping stays above a part of
 * the error, which lets steps be quadratic in the end, and grows by 16, 64, 256, .. as each try
 * costs a linear system. A step that lowers the squared error by less than LITTLE of what the
 * system promised makes it grow too, one by less than HALF leaves it. */
#define SHRINK        0.2
#define GROW          4
#define LEAST_DAMPING 1e-2
#define LITTLE        0.25
#define HALF          0.5

static bool dense_is_cheaper(const wt_projection *at, size_t side, size_t iterations) {
    return side <= DENSE_ALWAYS ||
           (side <= DENSE_MOST && wt_normal_flops(at) < (double)iterations * wt_jacobian_flops(at));
}

wt_status wt_descent_new(wt_context *context, const wt_rows *rows, size_t heads, size_t rank,
                         size_t groups, size_t iterations, wt_descent *out) {
    size_t thetas = heads * rows->in.dim * wt_attention_query_dim(&rows->in), side = thetas;
    bool factored = rank > 0 && rank < rows->in.dim;
    wt_arena *arena = &out->arena;
    wt_status status;
    *out = (wt_descent){.rows = rows,
                        .thetas = thetas,
                        .patience = PATIENCE,
                        .arena = wt_arena_start(context, "steps of a descent")};
    if (!factored)
        groups = 0;
    WT_TRY(wt_projection_new_grouped(context, rows, heads, groups, rank, &out->now));
    out->numbers = thetas + wt_projection_shared(&out->now);
    out->matrix_free =
        factored || iterations == 0 || !dense_is_cheaper(&out->now, side, iterations);
    if (factored) {
        WT_TRY(wt_factors_new(context, &out->now, rank, &out->factors));
        side = out->factors.count;
        out->wide = WT_TAKE(arena, double, out->numbers);
    }
    out->side = side;
    WT_TRY(wt_projection_new_grouped(context, rows, heads, groups, rank, &out->trial));
    out->now.quick = out->trial.quick = factored;
    WT_TRY(wt_jacobian_new(context, &out->now, &out->jacobian));
    out->gradient = WT_TAKE(arena, double, side);
    out->step = WT_TAKE(arena, double, side);
    if (out->matrix_free) {
        out->residual = WT_TAKE(arena, double, side);
        out->direction = WT_TAKE(arena, double, side);
        out->product = WT_TAKE(arena, double, side);
    }
    if (factored) {
        WT_TRY(wt_tangent_new(context, &out->now, &out->factors, &out->tangent));
    } else if (out->matrix_free) {
        WT_TRY(wt_jacobian_float_new(context, &out->now, &out->narrow));
        out->narrow_in = WT_TAKE(arena, float, thetas);
        out->narrow_out = WT_TAKE(arena, float, thetas);
    } else {
        out->normal = WT_TAKE(arena, double, side, side);
        out->factor = WT_TAKE(arena, double, side, side);
    }
    WT_TRY(arena->status);
done:
    if (status != WT_OK)
        wt_descent_free(out);
    return status;
}

void wt_descent_free(wt_descent *descent) {
    wt_projection_free(&descent->now);
    wt_projection_free(&descent->trial);
    wt_jacobian_free(&descent->jacobian);
    wt_jacobian_float_free(&descent->narrow);
    wt_tangent_free(&descent->tangent);
    wt_factors_free(&descent->factors);
    wt_arena_free(&descent->arena);
    *descent = (wt_descent){0};
}

/* WT_DATA from a product or a solve says that numbers at `now` left the range of their type: there
 * is no step from there, and the descent ends, not the call. */
static wt_status forgive(wt_status status, bool *fine) {
    *fine = status == WT_OK;
    return status == WT_DATA ? WT_OK : status;
}

/* The matrix at `now`, or what stands for it, and the gradient. */
static wt_status linearise(wt_context *context, wt_descent *descent) {
    const wt_projection *now = &descent->now;
    size_t side = descent->side;
    wt_jacobian_look(&descent->jacobian, now);
    if (descent->factors.rank > 0) {
        WT_PASS(wt_factors_find(context, &descent->factors, now->theta));
        WT_PASS(wt_jacobian_transposed(context, &descent->jacobian, now->e, descent->wide));
        WT_PASS(wt_factors_pull(context, &descent->factors, descent->wide, descent->gradient));
        WT_PASS(wt_tangent_load(context, &descent->tangent, now));
    } else {
        WT_PASS(wt_jacobian_transposed(context, &descent->jacobian, now->e, descent->gradient));
        if (descent->matrix_free)
            wt_jacobian_float_load(&descent->narrow, now);
    }
    if (descent->matrix_free)
        return wt_descent_measure_free(context, descent);
    WT_PASS(wt_normal_form(context, now, descent->normal));
    descent->scale = 0;
    for (size_t i = 0; i < side; i++)
        descent->scale += descent->normal[i * side + i] / (double)side;
    return WT_OK;
}

/* step for the damping; *solved = false when the matrix is not definite with it. */
static wt_status solve(wt_context *context, wt_descent *descent, double damping, bool *solved) {
    size_t side = descent->side, failed;
    *solved = true;
    if (descent->matrix_free) {
        double half = 0.5 * descent->now.error, rough = fmin(ROUGH, fmax(LESS_ROUGH, half));
        double tolerance =
            descent->factors.rank > 0 ? rough * descent->left * descent->left : fmin(FINE, half);
        return wt_descent_solve_free(context, descent, damping * descent->scale,
                                     fmax(FINEST, tolerance));
    }
    memcpy(descent->factor, descent->normal, side * side * sizeof *descent->factor);
    for (size_t i = 0; i < side; i++)
        descent->factor[i * side + i] += damping * descent->scale;
    WT_PASS(wt_cholesky(context, side, descent->factor, side, &failed));
    *solved = failed == 0;
    if (!*solved)
        return WT_OK;
    memcpy(descent->step, descent->gradient, side * sizeof *descent->step);
    WT_PASS(wt_solve_lower(context, WT_PLAIN, side, 1, descent->factor, side, descent->step, 1));
    return wt_solve_lower(context, WT_TRANSPOSED, side, 1, descent->factor, side, descent->step, 1);
}

/* trial = now + step. */
static wt_status move(wt_context *context, wt_descent *descent) {
    const wt_factors *factors = &descent->factors;
    for (size_t i = 0; i < factors->count; i++)
        factors->next[i] = factors->now[i] + descent->step[i];
    if (factors->rank > 0)
        return wt_factors_multiply(context, factors, factors->next, descent->trial.theta);
    for (size_t i = 0; i < descent->side; i++)
        descent->trial.theta[i] = descent->now.theta[i] + descent->step[i];
    return WT_OK;
}

/* Part of what the linear system of this damping promised that the trial lowers the squared error
 * by. */
static double gain_of(const wt_descent *descent, double damping) {
    double now = descent->now.error, trial = descent->trial.error, norm = descent->rows->norm;
    double promised = wt_vector_dot(descent->side, descent->gradient, descent->step) +
                      damping * descent->scale * wt_vector_squares(descent->side, descent->step);
    return (now - trial) * norm * (now + trial) * norm / promised;
}

/* Tries steps of growing damping until one lowers the error; *moved says whether one did. Where a
 * step leads nothing can be computed the error is infinite. */
static wt_status advance(wt_context *context, wt_descent *descent, double *damping, bool *moved) {
    bool factored = descent->factors.rank > 0;
    double grow = GROW, tried = *damping;
    *moved = false;
    for (size_t try = 0; try < MOST_TRIES && !*moved; try++) {
        bool solved, fine;
        tried = *damping;
        WT_PASS(forgive(solve(context, descent, *damping, &solved), &fine));
        if (fine && solved) {
            WT_PASS(move(context, descent));
            WT_PASS(wt_projection_evaluate(context, &descent->trial));
            *moved = descent->trial.error < descent->now.error;
        }
        grow *= factored ? GROW : 1;
        *damping *= *moved ? SHRINK : grow;
        if (!*moved && descent->now.error < NEAR_ROUNDING)
            break;
    }
    if (!*moved)
        return WT_OK;
    descent->left = descent->trial.error / descent->now.error;
    if (factored) {
        double gain = gain_of(descent, tried);
        if (gain < HALF)
            *damping = gain < LITTLE ? GROW * tried : tried;
        *damping = fmax(*damping, LEAST_DAMPING * fmin(1, descent->trial.error));
    }
    return WT_OK;
}

wt_status wt_descent_run(wt_context *context, wt_descent *descent, size_t max_steps) {
    double damping, checked = INFINITY;
    bool moved = true, fine = true;
    descent->now.error = INFINITY;   /* where the first evaluation is interrupted */
    if (descent->factors.rank > 0) { /* a start may have any rank */
        WT_PASS(wt_factors_find(context, &descent->factors, descent->now.theta));
        WT_PASS(wt_factors_multiply(context, &descent->factors, descent->factors.now,
                                    descent->now.theta));
    }
    WT_PASS(wt_projection_evaluate(context, &descent->now));
    descent->start_error = descent->now.error;
    if (!isfinite(descent->now.error)) /* no start */
        return WT_OK;
    damping = FIRST_DAMPING;
    descent->left = 1;
    if (descent->near)
        damping *= fmin(1, fmax(DBL_EPSILON, descent->start_error));
    for (size_t step = 0; step < max_steps && descent->now.error > ROUNDING; step++) {
        double before = descent->now.error;
        WT_PASS(forgive(linearise(context, descent), &fine));
        if (!fine || !(descent->scale > 0))
            break;
        WT_PASS(advance(context, descent, &damping, &moved));
        if (!moved)
            break;
        wt_projection swap = descent->now;
        descent->now = descent->trial;
        descent->trial = swap;
        descent->steps++;
        if (descent->meter != NULL)
            wt_meter_tell(descent->meter, descent->meter->done, "step %zu, error %.1e", step + 1,
                          descent->now.error);
        double after = descent->now.error;
        if (before * before - after * after < STILL * before * before)
            break;
        if (step % descent->patience == descent->patience - 1) {
            if (after > (1 - SLOW) * checked)
                break;
            checked = after;
        }
    }
    return WT_OK;
}

wt_status wt_descent_condition(wt_context *context, wt_descent *descent, double *out) {
    size_t side = descent->side;
    double *normal = NULL;
    bool fine;
    wt_status status;
    *out = NAN;
    if (side > CONDITION_MOST || descent->factors.rank > 0)
        return wt_descent_condition_free(context, descent, out);
    WT_TRY(WT_NEW2(context, &normal, side, side, "a normal matrix"));
    WT_TRY(forgive(wt_normal_form(context, &descent->now, normal), &fine));
    if (!fine)
        goto done;
    WT_TRY(wt_eigen_symmetric(context, side, normal, side, false, descent->step));
    double least = fmax(descent->step[0], DBL_EPSILON * descent->step[side - 1]);
    *out = sqrt(descent->step[side - 1] / least);
done:
    wt_release(normal);
    return status;
}
