#include "layer/learn/descent.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layer/learn/descent_host.h"
#include "layer/task/vector.h"
#include "wattle/random.h"

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
 * the error, which lets steps be quadratic in the end, and grows by 4, 16, 64, .. as each try costs
 * a linear system. What it becomes after a step depends on the gain, the part of what the system
 * promised that the squared error has fallen by: below LITTLE it grows, below HALF it stays, and
 * from there it falls by 1 - (2 gain - 1)^3 (Nielsen, IMM-REP-1999-05), down to SHRINK, or to HALF
 * where it had to grow in this step or the one before. */
#define SHRINK        0.2
#define GROW          4
#define LEAST_DAMPING 1e-2
#define LITTLE        0.25
#define HALF          0.5

static wt_status take_room(wt_context *context, size_t rank, wt_descent *out) {
    wt_arena *arena = &out->arena;
    out->side = out->thetas;
    if (rank > 0) {
        WT_PASS(wt_factors_new(context, &out->form, rank, &out->factors));
        out->side = out->factors.count;
        WT_PASS(wt_blocks_new(context, &out->factors, out->rows, &out->blocks));
    }
    out->theta = WT_TAKE(arena, double, out->numbers);
    out->trial = WT_TAKE(arena, double, out->numbers);
    out->step = WT_TAKE(arena, double, out->side);
    out->signs = WT_TAKE(arena, double, out->side);
    out->gradient = WT_TAKE(arena, double, out->side);
    out->lengths = WT_TAKE(arena, double, WT_DESCENT_ITERATIONS);
    out->ratios = WT_TAKE(arena, double, WT_DESCENT_ITERATIONS);
    WT_PASS(arena->status);
    wt_random_sign(wt_stream_for(0, "trace", 0), 0, out->side, out->signs);
    return WT_OK;
}

/* The signs of the preconditioner's sums, (R, p); NULL where it has none. */
static wt_status draw_signs(wt_context *context, const wt_descent *descent, double **out) {
    const wt_rows *rows = descent->rows;
    if (descent->factors.rank == 0)
        return WT_OK;
    WT_PASS(WT_NEW2(context, out, rows->rows, rows->outputs, "signs"));
    wt_random_sign(wt_stream_for(0, "curvature", 0), 0, rows->rows * rows->outputs, *out);
    return WT_OK;
}

wt_status wt_descent_new(wt_context *context, const wt_rows *rows, size_t heads, size_t rank,
                         size_t groups, size_t iterations, wt_descent *out) {
    wt_recover_problem problem = wt_recover_problem_of(rows, heads);
    double *signs = NULL;
    wt_status status;
    if (rank >= rows->in.dim) /* full */
        rank = 0;
    problem.rank = rank;
    problem.groups = rank > 0 ? groups : 0;
    problem.values = problem.groups > 0 ? rank : 0;
    problem.products = iterations;
    *out = (wt_descent){.rows = rows,
                        .error = INFINITY,
                        .patience = PATIENCE,
                        .form = wt_projection_form(rows, heads, problem.groups, problem.values),
                        .thetas = heads * rows->in.dim * problem.asked,
                        .arena = wt_arena_start(context, "steps of a descent")};
    out->numbers = out->thetas + wt_projection_shared(&out->form);
    WT_TRY(wt_recover_engine_of(context, &out->engine));
    WT_TRY(take_room(context, rank, out));
    WT_TRY(draw_signs(context, out, &signs));
    problem.signs = signs;
    WT_TRY(out->engine->begin(context, wt_context_get_device(context), &problem, &out->fit));
done:
    wt_release(signs);
    if (status != WT_OK)
        wt_descent_free(out);
    return status;
}

void wt_descent_free(wt_descent *descent) {
    if (descent->engine != NULL)
        descent->engine->end(descent->fit);
    wt_projection_free(&descent->seen);
    wt_blocks_free(&descent->blocks);
    wt_factors_free(&descent->factors);
    wt_arena_free(&descent->arena);
    *descent = (wt_descent){0};
}

wt_status wt_descent_evaluate(wt_context *context, wt_descent *descent) {
    descent->error = INFINITY; /* where it is interrupted */
    WT_PASS(descent->engine->evaluate(context, descent->fit, descent->theta, &descent->error));
    descent->engine->accept(descent->fit);
    return WT_OK;
}

size_t wt_descent_products(const wt_descent *descent) {
    return descent->fit == NULL ? 0 : descent->engine->products(descent->fit);
}

wt_status wt_descent_read(wt_context *context, wt_descent *descent, double *plain, double *w) {
    const wt_projection *form = &descent->form;
    if (plain != NULL)
        wt_theta_unpack(form->heads, form->asked, form->rows->in.dim, descent->theta, plain);
    return w == NULL ? WT_OK : descent->engine->read(context, descent->fit, w);
}

wt_status wt_descent_look(wt_context *context, wt_descent *descent, const wt_projection **out) {
    const wt_projection *form = &descent->form;
    *out = &descent->seen;
    if (descent->engine == &wt_recover_host) {
        *out = wt_recover_host_place(descent->fit);
        return WT_OK;
    }
    wt_projection_free(&descent->seen);
    WT_PASS(wt_projection_new_grouped(context, descent->rows, form->heads, form->groups,
                                      form->values, &descent->seen));
    memcpy(descent->seen.theta, descent->theta, descent->numbers * sizeof *descent->theta);
    return wt_projection_evaluate(context, &descent->seen);
}

/* WT_DATA from a product or a solve says that numbers where it stands left the range of their type:
 * there is no step from there, and the descent ends, not the call. */
static wt_status forgive(wt_status status, bool *fine) {
    *fine = status == WT_OK;
    return status == WT_DATA ? WT_OK : status;
}

wt_status wt_descent_linearise(wt_context *context, wt_descent *descent) {
    const wt_recover_engine *engine = descent->engine;
    bool factored = descent->factors.rank > 0;
    if (factored)
        WT_PASS(wt_factors_find(context, &descent->factors, descent->theta));
    WT_PASS(engine->linearise(context, descent->fit, factored ? descent->factors.now : NULL,
                              descent->signs, &descent->scale));
    if (!factored)
        return WT_OK;
    WT_PASS(engine->sum(context, descent->fit, &descent->blocks.sums));
    WT_PASS(wt_blocks_make(context, &descent->blocks, descent->scale));
    return engine->precondition(context, descent->fit, &descent->blocks.made);
}

static void tell(void *user, size_t iteration) {
    wt_descent *descent = user;
    if (descent->meter != NULL)
        wt_meter_tell(descent->meter, descent->meter->done, "product %zu, error %.1e", iteration,
                      descent->error);
}

/* step for the damping; *solved = false when the matrix is not definite with it. */
static wt_status solve(wt_context *context, wt_descent *descent, double damping, bool *solved) {
    double half = 0.5 * descent->error, rough = fmin(ROUGH, fmax(LESS_ROUGH, half));
    double tolerance =
        descent->factors.rank > 0 ? rough * descent->left * descent->left : fmin(FINE, half);
    wt_recover_step step = {.damping = damping * descent->scale,
                            .tolerance = fmax(FINEST, tolerance),
                            .most = WT_DESCENT_ITERATIONS,
                            .tell = tell,
                            .user = descent,
                            .step = descent->step,
                            .lengths = descent->lengths,
                            .ratios = descent->ratios};
    wt_status status = descent->engine->solve(context, descent->fit, &step);
    descent->damping = step.damping;
    descent->iterations = step.iterations;
    *solved = step.solved;
    return status;
}

/* trial = theta + step. */
static wt_status move(wt_context *context, wt_descent *descent) {
    const wt_factors *factors = &descent->factors;
    for (size_t i = 0; i < factors->count; i++)
        factors->next[i] = factors->now[i] + descent->step[i];
    if (factors->rank > 0)
        return wt_factors_multiply(context, factors, factors->next, descent->trial);
    for (size_t i = 0; i < descent->side; i++)
        descent->trial[i] = descent->theta[i] + descent->step[i];
    return WT_OK;
}

static void accept(wt_descent *descent, double error) {
    double *swap = descent->theta;
    descent->theta = descent->trial;
    descent->trial = swap;
    descent->error = error;
    descent->steps++;
    descent->engine->accept(descent->fit);
}

/* Part of what the linear system of this damping promised that its step has lowered the squared
 * error by, from `before`. */
static wt_status measure_gain(wt_context *context, const wt_descent *descent, double damping,
                              double before, double *out) {
    double norm = descent->rows->norm, after = descent->error;
    WT_PASS(descent->engine->gradient(context, descent->fit, descent->gradient));
    double promised = wt_vector_dot(descent->side, descent->gradient, descent->step) +
                      damping * descent->scale * wt_vector_squares(descent->side, descent->step);
    *out = (before - after) * norm * (before + after) * norm / promised;
    return WT_OK;
}

/* What damping is multiplied by after a step of this gain, where a rank is given. */
static double change_by(double gain, bool wary) {
    double over = 2 * gain - 1;
    if (gain < HALF)
        return gain < LITTLE ? GROW : 1;
    return fmax(wary ? HALF : SHRINK, 1 - over * over * over);
}

/* Tries steps of growing damping until one lowers the error; *moved says whether one did. Where a
 * step leads nothing can be computed the error is infinite. */
static wt_status advance(wt_context *context, wt_descent *descent, double *damping, bool *moved) {
    bool factored = descent->factors.rank > 0;
    double grow = GROW, before = descent->error, first = *damping, tried = first, gain;
    *moved = false;
    for (size_t try = 0; try < MOST_TRIES && !*moved; try++) {
        bool solved, fine;
        double error;
        tried = *damping;
        WT_PASS(forgive(solve(context, descent, *damping, &solved), &fine));
        if (fine && solved) {
            WT_PASS(move(context, descent));
            WT_PASS(descent->engine->evaluate(context, descent->fit, descent->trial, &error));
            *moved = error < descent->error;
        }
        *damping *= *moved ? SHRINK : grow;
        grow *= factored ? GROW : 1;
        if (*moved)
            accept(descent, error);
        else if (descent->error < NEAR_ROUNDING)
            break;
    }
    if (!*moved)
        return WT_OK;
    descent->left = descent->error / before;
    if (!factored)
        return WT_OK;
    WT_PASS(measure_gain(context, descent, tried, before, &gain));
    *damping = fmax(tried * change_by(gain, descent->wary || tried > first),
                    LEAST_DAMPING * fmin(1, descent->error));
    descent->wary = *damping > first;
    return WT_OK;
}

wt_status wt_descent_run(wt_context *context, wt_descent *descent, size_t max_steps) {
    double damping, checked = INFINITY;
    bool moved = true, fine = true;
    descent->error = INFINITY;       /* where the first evaluation is interrupted */
    if (descent->factors.rank > 0) { /* a start may have any rank */
        WT_PASS(wt_factors_find(context, &descent->factors, descent->theta));
        WT_PASS(
            wt_factors_multiply(context, &descent->factors, descent->factors.now, descent->theta));
    }
    WT_PASS(wt_descent_evaluate(context, descent));
    descent->start_error = descent->error;
    if (!isfinite(descent->error)) /* no start */
        return WT_OK;
    damping = FIRST_DAMPING;
    descent->left = 1;
    descent->wary = false;
    if (descent->near)
        damping *= fmin(1, fmax(DBL_EPSILON, descent->start_error));
    for (size_t step = 0; step < max_steps && descent->error > ROUNDING; step++) {
        double before = descent->error;
        WT_PASS(forgive(wt_descent_linearise(context, descent), &fine));
        if (!fine || !(descent->scale > 0))
            break;
        WT_PASS(advance(context, descent, &damping, &moved));
        if (!moved)
            break;
        if (descent->meter != NULL)
            wt_meter_tell(descent->meter, descent->meter->done, "step %zu, error %.1e", step + 1,
                          descent->error);
        double after = descent->error;
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
