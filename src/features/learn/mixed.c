#include "features/learn/mixed.h"

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "linalg/backend.h"

/* Residuals against labels. Predictions on the samples are off by no more than that, so that errors
 * of a curve keep eight digits; whoever wants v itself takes the exact way. */
#define GOOD_RESIDUAL 1e-9
#define FAIR_RESIDUAL 1e-8 /* accepted when corrections stop helping */
#define MOST_STEPS    12

typedef struct {
    wt_context *context;
    const wt_features *features;
    const wt_sets *sets;
    double lambda;
    const size_t *sizes;
    size_t count, columns, all; /* all = count * columns */
    const double *y;
    float *factor; /* (n, n), lower */
    wt_feature_room room;
    size_t *orders;             /* (all): the samples of each column */
    float *small;               /* (n, columns) */
    double *scale;              /* (columns) */
    double *residual, *product; /* (n, all) */
} mixed;

/* The float factor of K + lambda I; *fine is false when it does not exist in float. */
static wt_status factor(mixed *work, wt_mixed_result *result, bool *fine) {
    wt_context *context = work->context;
    size_t n = work->sets->samples, failed_at;
    double began = wt_clock();
    wt_status status;
    *fine = false;
    WT_TRY(
        wt_features_gram_float(context, work->features, work->sets, &work->room, work->factor, n));
    for (size_t i = 0; i < n; i++)
        work->factor[i * n + i] += (float)work->lambda;
    result->seconds_gram = wt_clock() - began;
    status = wt_cholesky_float(context, n, work->factor, n, &failed_at);
    if (status == WT_DATA) { /* the tokens are finite: features have left the range of float */
        status = WT_OK;
        goto done;
    }
    WT_TRY(status);
    *fine = failed_at == 0;
    result->seconds_factor = wt_clock() - began - result->seconds_gram;
done:
    return status;
}

/* The power of two next to the largest residual of column j: divided by it, residuals of any size
 * are safe in float, and lose no bit by it. */
static double scale_of(const mixed *work, size_t j) {
    double largest = 0;
    int exponent;
    for (size_t i = 0; i < work->sizes[j / work->columns]; i++)
        largest = fmax(largest, fabs(work->residual[i * work->all + j]));
    frexp(largest, &exponent);
    return ldexp(1, exponent);
}

/* alpha += (L L^T)^-1 residual, order by order. */
static wt_status correct(mixed *work, double *alpha) {
    size_t n = work->sets->samples, columns = work->columns, all = work->all;
    for (size_t s = 0; s < work->count; s++) {
        size_t size = work->sizes[s];
        for (size_t c = 0; c < columns; c++) {
            double scale = work->scale[c] = scale_of(work, s * columns + c);
            for (size_t i = 0; i < size; i++)
                work->small[i * columns + c] =
                    (float)(work->residual[i * all + s * columns + c] / scale);
        }
        WT_PASS(wt_solve_lower_float(work->context, WT_PLAIN, size, columns, work->factor, n,
                                     work->small, columns));
        WT_PASS(wt_solve_lower_float(work->context, WT_TRANSPOSED, size, columns, work->factor, n,
                                     work->small, columns));
        for (size_t i = 0; i < size; i++)
            for (size_t c = 0; c < columns; c++)
                alpha[i * all + s * columns + c] +=
                    work->scale[c] * (double)work->small[i * columns + c];
    }
    return WT_OK;
}

/* residual = y - (K_s + lambda I) alpha, by double features; *worst is the largest of the columns'
 * norms over the norms of y. */
static wt_status measure(mixed *work, const double *alpha, double *v, double *worst) {
    size_t n = work->sets->samples, all = work->all;
    WT_PASS(wt_features_project_host(work->context, work->features, work->sets, &work->room, all,
                                     work->orders, alpha, v, work->product));
    *worst = 0;
    for (size_t j = 0; j < all; j++) {
        size_t size = work->sizes[j / work->columns], c = j % work->columns;
        double left = 0, whole = 0;
        for (size_t i = 0; i < n; i++) {
            size_t at = i * all + j;
            double y = i < size ? work->y[i * work->columns + c] : 0;
            double r = i < size ? y - work->product[at] - work->lambda * alpha[at] : 0;
            work->residual[at] = r;
            left += r * r;
            whole += y * y;
        }
        double relative = whole > 0 ? sqrt(left / whole) : sqrt(left);
        /* Written so that a NaN counts as the worst. */
        *worst = relative <= *worst ? *worst : relative;
    }
    return WT_OK;
}

static wt_status iterate(mixed *work, double *alpha, double *v, wt_mixed_result *result) {
    size_t n = work->sets->samples, all = work->all;
    memset(alpha, 0, n * all * sizeof *alpha);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < all; j++)
            work->residual[i * all + j] = i < work->sizes[j / work->columns]
                                              ? work->y[i * work->columns + j % work->columns]
                                              : 0;
    result->residual = INFINITY;
    while (result->steps < MOST_STEPS) {
        double before = result->residual;
        WT_PASS(correct(work, alpha));
        WT_PASS(measure(work, alpha, v, &result->residual));
        result->steps++;
        if (result->residual <= GOOD_RESIDUAL || !(result->residual < before / 2))
            break;
    }
    result->converged = result->residual <= FAIR_RESIDUAL;
    return WT_OK;
}

wt_status wt_mixed_solve(wt_context *context, const wt_features *features, const wt_sets *sets,
                         double lambda, const size_t *sizes, size_t count, size_t columns,
                         const double *y, double *alpha, double *v, wt_mixed_result *result) {
    size_t n = sets->samples;
    mixed work = {.context = context,
                  .features = features,
                  .sets = sets,
                  .lambda = lambda,
                  .sizes = sizes,
                  .count = count,
                  .columns = columns,
                  .all = count * columns,
                  .y = y};
    wt_arena arena = wt_arena_start(context, "the float factor and residuals");
    bool fine = false;
    wt_status status;
    *result = (wt_mixed_result){0};
    work.factor = WT_TAKE(&arena, float, n, n);
    work.orders = WT_TAKE(&arena, size_t, work.all);
    work.small = WT_TAKE(&arena, float, n, columns);
    work.scale = WT_TAKE(&arena, double, columns);
    work.residual = WT_TAKE(&arena, double, n, work.all);
    work.product = WT_TAKE(&arena, double, n, work.all);
    WT_TRY(arena.status);
    for (size_t j = 0; j < work.all; j++)
        work.orders[j] = sizes[j / columns];
    WT_TRY(wt_feature_room_open(context, features, n, &work.room));
    WT_TRY(factor(&work, result, &fine));
    double began = wt_clock();
    if (fine)
        WT_TRY(iterate(&work, alpha, v, result));
    result->seconds_correct = wt_clock() - began;
done:
    wt_feature_room_free(&work.room);
    wt_arena_free(&arena);
    return status;
}
