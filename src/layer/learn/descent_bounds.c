/* What is asked where a descent has come to: the condition number, whether Theta wants to be
 * infinite, and W for other rows. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layer/learn/descent.h"
#include "layer/learn/descent_host.h"
#include "layer/learn/normal_matrix.h"
#include "linalg/linalg.h"

/* Unknowns up to which the normal matrix is formed for the condition number. */
#define CONDITION_MOST 600
/* Heads whose weights have squares of this mean attend to single tokens. */
#define SHARP 0.9

wt_status wt_descent_condition(wt_context *context, wt_descent *descent, double *out) {
    size_t side = descent->side;
    const wt_projection *at;
    double *normal = NULL;
    wt_status status;
    *out = NAN;
    if (side > CONDITION_MOST || descent->factors.rank > 0)
        return wt_descent_condition_free(context, descent, out);
    WT_TRY(WT_NEW2(context, &normal, side, side, "a normal matrix"));
    WT_TRY(wt_descent_look(context, descent, &at));
    status = wt_normal_form(context, at, normal);
    if (status == WT_DATA) { /* numbers out of range */
        status = WT_OK;
        goto done;
    }
    WT_TRY(status);
    WT_TRY(wt_eigen_symmetric(context, side, normal, side, false, descent->step));
    double least = fmax(descent->step[0], DBL_EPSILON * descent->step[side - 1]);
    *out = sqrt(descent->step[side - 1] / least);
done:
    wt_release(normal);
    return status;
}

wt_status wt_descent_condition_free(wt_context *context, const wt_descent *descent, double *out) {
    size_t n = descent->iterations;
    wt_arena arena = wt_arena_start(context, "a Lanczos matrix");
    wt_status status = WT_OK;
    *out = NAN;
    if (n == 0)
        return WT_OK;
    double *lanczos = WT_TAKE_ZERO(&arena, double, n, n);
    double *values = WT_TAKE(&arena, double, n);
    WT_TRY(arena.status);
    for (size_t i = 0; i < n; i++) {
        lanczos[i * n + i] = 1 / descent->lengths[i];
        if (i == 0)
            continue;
        lanczos[i * n + i] += descent->ratios[i - 1] / descent->lengths[i - 1];
        lanczos[i * n + i - 1] = sqrt(descent->ratios[i - 1]) / descent->lengths[i - 1];
    }
    WT_TRY(wt_eigen_symmetric(context, n, lanczos, n, false, values));
    double most = values[n - 1] - descent->damping;
    /* float products tell no smaller part from 0 */
    double least = fmax(values[0] - descent->damping, 1e-7 * most);
    *out = sqrt(most / least);
done:
    wt_arena_free(&arena);
    return status;
}

/* The error with the Theta of one head as many times as long; `theta` is as it stands. */
static wt_status error_scaled(wt_context *context, wt_descent *descent, const double *theta,
                              size_t head, double factor, double *out) {
    size_t d = descent->rows->in.dim, width = descent->form.width;
    for (size_t u = 0; u < descent->form.asked; u++)
        for (size_t v = 0; v < d; v++)
            descent->theta[u * width + head * d + v] = factor * theta[u * width + head * d + v];
    wt_status status = descent->engine->evaluate(context, descent->fit, descent->theta, out);
    memcpy(descent->theta, theta, descent->numbers * sizeof *theta);
    return status;
}

wt_status wt_descent_unbounded(wt_context *context, wt_descent *descent, double allowed,
                               size_t *head, bool *itself) {
    size_t heads = descent->form.heads;
    wt_arena arena = wt_arena_start(context, "how sharply heads attend");
    double *square = WT_TAKE(&arena, double, heads), *own = WT_TAKE(&arena, double, heads);
    double *theta = WT_TAKE(&arena, double, descent->numbers), error;
    wt_status status;
    *head = heads;
    *itself = false;
    WT_TRY(arena.status);
    memcpy(theta, descent->theta, descent->numbers * sizeof *theta);
    WT_TRY(descent->engine->sharpness(context, descent->fit, square, own));
    for (size_t i = 0; i < heads && *head == heads; i++) {
        if (square[i] < SHARP)
            continue;
        WT_TRY(error_scaled(context, descent, theta, i, 2, &error));
        if (error > allowed)
            continue;
        WT_TRY(error_scaled(context, descent, theta, i, 0, &error));
        if (error <= allowed)
            continue;
        *head = i;
        *itself = own[i] > SHARP;
    }
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_descent_fit_w(wt_context *context, const wt_descent *descent, const wt_rows *rows,
                           const double *theta, double *w, double *error) {
    wt_recover_problem problem = wt_recover_problem_of(rows, descent->form.heads);
    const wt_recover_engine *engine = descent->engine;
    wt_recover_fit *fit = NULL;
    wt_status status;
    problem.rank = descent->factors.rank;
    problem.groups = descent->form.groups;
    problem.values = descent->form.values;
    problem.still = true;
    WT_TRY(engine->begin(context, wt_context_get_device(context), &problem, &fit));
    WT_TRY(engine->evaluate(context, fit, theta, error));
    engine->accept(fit);
    WT_TRY(engine->read(context, fit, w));
done:
    engine->end(fit);
    return status;
}
