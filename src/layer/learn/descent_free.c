/* The matrix-free way: conjugate gradients on J^T P J with products in float. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/work.h"
#include "layer/learn/descent.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

/* product = J^T P J direction. */
static wt_status multiply(wt_context *context, wt_descent *descent) {
    descent->products++;
    if (descent->factors.rank > 0)
        return wt_tangent_multiply(context, &descent->tangent, descent->direction,
                                   descent->product);
    for (size_t i = 0; i < descent->thetas; i++)
        descent->narrow_in[i] = (float)descent->direction[i];
    WT_PASS(wt_jacobian_float_apply(context, &descent->narrow, descent->narrow_in));
    WT_PASS(wt_jacobian_float_transposed(context, &descent->narrow, descent->narrow.out,
                                         descent->narrow_out));
    for (size_t i = 0; i < descent->thetas; i++)
        descent->product[i] = (double)descent->narrow_out[i];
    return WT_OK;
}

wt_status wt_descent_measure_free(wt_context *context, wt_descent *descent) {
    wt_random_sign(wt_stream_for(0, "trace", 0), 0, descent->side, descent->direction);
    wt_status status = multiply(context, descent);
    descent->scale =
        wt_vector_dot(descent->side, descent->direction, descent->product) / (double)descent->side;
    return status;
}

wt_status wt_descent_solve_free(wt_context *context, wt_descent *descent, double damping,
                                double tolerance) {
    size_t side = descent->side;
    double *r = descent->residual, *d = descent->direction, *x = descent->step;
    descent->iterations = 0;
    descent->damping = damping;
    memset(x, 0, side * sizeof *x);
    memcpy(r, descent->gradient, side * sizeof *r);
    memcpy(d, descent->gradient, side * sizeof *d);
    double square = wt_vector_squares(side, r), wanted = tolerance * tolerance * square;
    for (size_t i = 0; i < WT_DESCENT_ITERATIONS && square > wanted; i++) {
        WT_PASS(multiply(context, descent));
        for (size_t j = 0; j < side; j++)
            descent->product[j] += damping * d[j];
        double curvature = wt_vector_dot(side, d, descent->product);
        /* float rounding can leave no curvature to go by: what there is must do */
        if (!(curvature > 0))
            break;
        double length = square / curvature, before = square;
        for (size_t j = 0; j < side; j++) {
            x[j] += length * d[j];
            r[j] -= length * descent->product[j];
        }
        square = wt_vector_squares(side, r);
        for (size_t j = 0; j < side; j++)
            d[j] = r[j] + square / before * d[j];
        descent->lengths[i] = length;
        descent->ratios[i] = square / before;
        descent->iterations = i + 1;
        wt_work_add(context, 12 * (double)side);
        if (descent->meter != NULL)
            wt_meter_tell(descent->meter, descent->meter->done, "product %zu, error %.1e", i + 1,
                          descent->now.error);
    }
    return WT_OK;
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
