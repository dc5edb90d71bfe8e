#include "features/learn/primal_scores.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "linalg/linalg.h"

/* Finding eigenvectors takes about 9 f^3 flops, but on one thread, and half of them by reading
 * memory: about as long as this many of products. The bits must not depend on the threads, so this
 * number does not either. */
#define EIGEN_FLOPS 20.0

bool wt_primal_spectrum_pays(double samples, double features, double lambdas) {
    double ratio = samples / features; /* in units of f^3: */
    return EIGEN_FLOPS + 2 * ratio < lambdas * (ratio + 1.0 / 3);
}

double wt_primal_mean_of(const wt_primal_solver *run, const double *squares, size_t t,
                         size_t targets) {
    size_t q = run->primal->outputs / targets;
    double sum = 0;
    for (size_t o = t * q; o < (t + 1) * q; o++)
        sum += squares[o];
    return sum / (double)q;
}

void wt_primal_show_lambda(wt_primal_solver *run, double lambda) {
    snprintf(run->phase, sizeof run->phase, "lambda %.2g", lambda);
    wt_meter_enter(&run->meter, run->phase);
}

/* ---- by predictions -------------------------------------------------------------------------- */

typedef struct {
    wt_ridge_model model;
    size_t lines, done; /* samples before the slab at hand */
    const size_t *orders;
    const double *v;
    double *fitted; /* (WT_PRIMAL_SLAB, lines * q) */
    double *squares;
} squaring;

static wt_status square_slab(wt_primal_solver *run, const wt_ridge_rows *rows, void *argument) {
    squaring *work = argument;
    size_t q = run->q, all = work->lines * q;
    WT_PASS(run->system.engine->predict(run->context, wt_context_get_device(run->context),
                                        &work->model, NULL, all, work->v, rows, work->fitted));
    for (size_t i = 0; i < rows->samples; i++)
        for (size_t j = 0; j < all; j++)
            if (work->orders == NULL || work->done + i < work->orders[j / q])
                work->squares[j] += pow(run->y[i * q + j % q] - work->fitted[i * all + j], 2);
    work->done += rows->samples;
    return WT_OK;
}

wt_status wt_primal_squares(wt_primal_solver *run, size_t lines, const size_t *orders,
                            const double *v, double *squares) {
    const wt_features *features = run->primal->features;
    squaring work = {.model = wt_ridge_model_of(&features->spec, features),
                     .lines = lines,
                     .orders = orders,
                     .v = v,
                     .squares = squares};
    wt_status status;
    memset(squares, 0, lines * run->q * sizeof *squares);
    WT_TRY(WT_NEW3(run->context, &work.fitted, WT_PRIMAL_SLAB, lines, run->q, "predictions"));
    WT_TRY(wt_primal_pass(run, 0, square_slab, &work));
done:
    wt_release(work.fitted);
    return status;
}

static wt_status square_test(wt_primal_solver *run, const wt_dual *dual, size_t lines,
                             const double *v, double *squares) {
    size_t q = run->q, all = lines * q;
    double *predicted = NULL;
    wt_status status;
    memset(squares, 0, all * sizeof *squares);
    WT_TRY(WT_NEW2(run->context, &predicted, dual->test->samples, all, "predictions"));
    WT_TRY(wt_features_apply(run->context, run->primal->features, dual->test, all, v, predicted));
    for (size_t i = 0; i < dual->test->samples; i++)
        for (size_t j = 0; j < all; j++)
            squares[j] += pow(dual->test_y[i * q + j % q] - predicted[i * all + j], 2);
done:
    wt_release(predicted);
    return status;
}

/* Cross-validation and test errors: a factor for each lambda, and one pass for all. */
static wt_status score_predictions(wt_primal_solver *run, const wt_dual *dual, bool on_test,
                                   const double *lambda, size_t count, double *scores) {
    size_t f = run->f, q = run->q, usable, targets = dual->targets;
    double n = (double)run->source->samples;
    wt_arena arena = wt_arena_start(run->context, "value vectors");
    double *v = WT_TAKE_ZERO(&arena, double, f, count *q);
    double *squares = WT_TAKE(&arena, double, count, q);
    double *freedom = WT_TAKE_ZERO(&arena, double, count);
    wt_status status;
    WT_TRY(arena.status);
    for (size_t l = 0; l < count; l++) {
        wt_primal_show_lambda(run, lambda[l]);
        WT_TRY(wt_system_factor(run->context, &run->system, lambda[l], &f, 1, &usable));
        freedom[l] = NAN;
        if (usable == 0)
            continue;
        WT_TRY(
            wt_system_solve(run->context, &run->system, f, q, run->moment, v + l * q, count * q));
        freedom[l] = 0;
        if (!on_test)
            WT_TRY(wt_primal_freedom(run, lambda[l], &freedom[l]));
    }
    run->system.order = 0; /* an engine may have spent it */
    WT_TRY(on_test ? square_test(run, dual, count, v, squares)
                   : wt_primal_squares(run, count, NULL, v, squares));
    for (size_t l = 0; l < count; l++)
        for (size_t t = 0; t < targets; t++)
            scores[l * targets + t] = wt_primal_mean_of(run, squares + l * q, t, targets) /
                                      pow(1 - freedom[l] / n, 2) / n;
done:
    wt_arena_free(&arena);
    return status;
}

/* ---- leave-one-out --------------------------------------------------------------------------- */

static wt_status score_left_out(wt_primal_solver *run, const wt_dual *dual, double lambda,
                                double *scores) {
    size_t f = run->f, q = run->q, usable;
    double *v = NULL;
    wt_status status;
    wt_primal_show_lambda(run, lambda);
    WT_TRY(WT_NEW2(run->context, &v, f, q, "value vectors"));
    WT_TRY(wt_system_factor(run->context, &run->system, lambda, &f, 1, &usable));
    for (size_t t = 0; t < dual->targets; t++)
        scores[t] = NAN;
    if (usable == 0)
        goto done;
    WT_TRY(wt_system_solve(run->context, &run->system, f, q, run->moment, v, q));
    WT_TRY(wt_primal_judge(run, v, true));
    for (size_t t = 0; t < dual->targets; t++)
        scores[t] = wt_primal_mean_of(run, run->loo, t, dual->targets);
done:
    wt_release(v);
    return status;
}

/* With A = U diag(e) U^T and c = U^T phi of a sample, its leverage at lambda is the sum of
 * c_k^2 / (e_k + lambda) / M, and its prediction that of c_k (U^T moment)_k / (e_k + lambda). */
typedef struct {
    size_t count;
    double *v;         /* (f, q), any */
    double *along;     /* (WT_PRIMAL_SLAB, f): c, then its squares */
    double *value;     /* (f, count * q) */
    double *share;     /* (f, count): 1 / (e + lambda) / M */
    double *fitted;    /* (WT_PRIMAL_SLAB, count * q) */
    double *leverages; /* (WT_PRIMAL_SLAB, count) */
    double *squares;   /* (count, q) of left-out errors */
} spectrum;

static wt_status spectrum_slab(wt_primal_solver *run, const wt_ridge_rows *rows, void *argument) {
    spectrum *work = argument;
    size_t f = run->f, q = run->q, n = rows->samples, count = work->count, all = count * q;
    WT_PASS(run->system.engine->judge_rows(run->context, run->system.state, rows, work->v,
                                           run->fitted, NULL, work->along));
    WT_PASS(wt_gemm(run->context, WT_PLAIN, WT_PLAIN, n, all, f, 1, work->along, f, work->value,
                    all, 0, work->fitted, all));
    for (size_t i = 0; i < n * f; i++)
        work->along[i] *= work->along[i];
    WT_PASS(wt_gemm(run->context, WT_PLAIN, WT_PLAIN, n, count, f, 1, work->along, f, work->share,
                    count, 0, work->leverages, count));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < all; j++)
            work->squares[j] += pow((run->y[i * q + j % q] - work->fitted[i * all + j]) /
                                        (1 - work->leverages[i * count + j / q]),
                                    2);
    return WT_OK;
}

static wt_status score_spectrum(wt_primal_solver *run, const wt_dual *dual, const double *lambda,
                                size_t count, double *scores) {
    const wt_ridge_engine *engine = run->system.engine;
    size_t f = run->f, q = run->q, targets = dual->targets;
    double norm = wt_features_norm(run->primal->features);
    wt_arena arena = wt_arena_start(run->context, "eigenvectors");
    double *e = WT_TAKE(&arena, double, f);
    spectrum work = {.count = count,
                     .v = WT_TAKE(&arena, double, f, q),
                     .value = WT_TAKE(&arena, double, f, count *q),
                     .share = WT_TAKE(&arena, double, f, count),
                     .squares = WT_TAKE_ZERO(&arena, double, count, q)};
    wt_status status;
    wt_meter_enter(&run->meter, "eigenvalues");
    WT_TRY(arena.status);
    WT_TRY(engine->eigen(run->context, run->system.state, f, e));
    WT_TRY(engine->eigen_along(run->context, run->system.state, q, run->moment, work.v));
    work.along = WT_TAKE(&arena, double, WT_PRIMAL_SLAB, f);
    work.fitted = WT_TAKE(&arena, double, WT_PRIMAL_SLAB, count *q);
    work.leverages = WT_TAKE(&arena, double, WT_PRIMAL_SLAB, count);
    WT_TRY(arena.status);
    for (size_t k = 0; k < f; k++)
        for (size_t l = 0; l < count; l++) {
            bool counts = wt_system_counts(&run->system, lambda[l], f);
            double weight = counts ? 1 / (e[k] + lambda[l]) : 0;
            work.share[k * count + l] = weight / norm;
            for (size_t c = 0; c < q; c++)
                work.value[(k * count + l) * q + c] = weight * work.v[k * q + c];
        }
    wt_meter_enter(&run->meter, "leave-one-out");
    WT_TRY(wt_primal_pass(run, 0, spectrum_slab, &work));
    for (size_t l = 0; l < count; l++)
        for (size_t t = 0; t < targets; t++)
            scores[l * targets + t] =
                wt_system_counts(&run->system, lambda[l], f)
                    ? wt_primal_mean_of(run, work.squares + l * q, t, targets) /
                          (double)run->source->samples
                    : NAN;
done:
    engine->drop_eigen(run->system.state);
    wt_arena_free(&arena);
    return status;
}

wt_status wt_primal_scores(wt_primal_solver *run, const wt_dual *dual, wt_lambda rule,
                           bool by_spectrum, const double *lambda, size_t count, double *scores) {
    if (rule != WT_LAMBDA_LOO)
        return score_predictions(run, dual, rule == WT_LAMBDA_ORACLE, lambda, count, scores);
    if (by_spectrum)
        return score_spectrum(run, dual, lambda, count, scores);
    for (size_t l = 0; l < count; l++)
        WT_PASS(score_left_out(run, dual, lambda[l], scores + l * dual->targets));
    return WT_OK;
}
