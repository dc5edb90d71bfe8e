#include "features/learn/primal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "features/learn/primal_pass.h"

static wt_status add_moments(wt_primal_solver *run, const wt_ridge_rows *rows, void *argument) {
    (void)argument;
    return run->system.engine->add_rows(run->context, run->system.state, rows, run->y);
}

/* System and moment from one pass. */
static wt_status collect(wt_primal_solver *run) {
    wt_meter_enter(&run->meter, "features");
    WT_PASS(wt_primal_pass(run, add_moments, NULL));
    return run->system.engine->end_rows(run->context, run->system.state, run->moment,
                                        run->system.diagonal);
}

/* f - lambda trace((A + lambda)^-1): the trace of A (A + lambda)^-1. */
static wt_status freedom_of(wt_primal_solver *run, double lambda, double *out) {
    double *inverse = NULL, trace = 0;
    wt_status status;
    WT_TRY(WT_NEW(run->context, &inverse, run->f, "degrees of freedom"));
    WT_TRY(wt_system_inverse_diagonals(run->context, &run->system, &run->f, 1, inverse));
    for (size_t i = 0; i < run->f; i++)
        trace += inverse[i];
    *out = (double)run->f - lambda * trace;
done:
    wt_release(inverse);
    return status;
}

/* v by eigenvalues, those below f * epsilon * the largest left out. */
static wt_status solve_by_eigen(wt_primal_solver *run, double lambda, wt_primal_answer *out) {
    size_t f = run->f, q = run->q;
    const wt_ridge_engine *engine = run->system.engine;
    wt_ridge_system *state = run->system.state;
    wt_arena arena = wt_arena_start(run->context, "eigenvectors");
    double *e = WT_TAKE(&arena, double, f), *along = WT_TAKE(&arena, double, f, q);
    double *moment = WT_TAKE(&arena, double, f, q);
    double *rows = NULL;
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(engine->eigen(run->context, state, f, e));
    WT_TRY(engine->eigen_along(run->context, state, q, run->moment, along));
    if (run->leave_one_out)
        rows = WT_TAKE(&arena, double, WT_PRIMAL_SLAB, f);
    WT_TRY(arena.status);
    double cut = (double)f * DBL_EPSILON * fmax(e[f - 1], 0);
    memcpy(moment, along, f * q * sizeof *moment);
    out->freedom = 0;
    for (size_t k = 0; k < f; k++) {
        bool live = e[k] > cut;
        out->rank += live;
        out->freedom += live ? e[k] / (e[k] + lambda) : 0;
        for (size_t o = 0; o < q; o++)
            along[k * q + o] *= live ? 1 / (e[k] + lambda) : 0;
    }
    WT_TRY(engine->eigen_combine(run->context, state, q, along, out->v));
    out->lambda = lambda;
    if (out->rank > 0)
        out->condition = (e[f - 1] + lambda) / (e[f - out->rank] + lambda);
    wt_primal_spectrum spectrum = {
        .e = e, .moment = moment, .along = rows, .first = f - out->rank, .lambda = lambda};
    WT_TRY(wt_primal_judge_spectrum(run, out->v, &spectrum, &out->train, &out->loo));
done:
    engine->drop_eigen(state);
    wt_arena_free(&arena);
    return status;
}

static wt_status solve_fixed(wt_primal_solver *run, double lambda, wt_primal_answer *out) {
    size_t usable;
    wt_meter_enter(&run->meter, "factor");
    WT_PASS(wt_system_factor(run->context, &run->system, lambda, &run->f, 1, &usable));
    if (usable == 0) {
        WT_PASS(solve_by_eigen(run, lambda, out));
        return WT_OK;
    }
    out->lambda = lambda;
    WT_PASS(
        wt_system_solve(run->context, &run->system, run->f, run->q, run->moment, out->v, run->q));
    WT_PASS(freedom_of(run, lambda, &out->freedom));
    WT_PASS(wt_system_condition(run->context, &run->system, lambda, &out->condition));
    return wt_primal_judge(run, out->v, run->primal->leave_one_out, &out->train, &out->loo);
}

static wt_status test_score(wt_primal_solver *run, const double *v, double *score) {
    const wt_primal *primal = run->primal;
    double *predicted = NULL;
    size_t outputs = primal->outputs, samples = primal->test->samples;
    wt_status status;
    WT_TRY(WT_NEW2(run->context, &predicted, samples, run->q, "predictions"));
    WT_TRY(wt_features_apply(run->context, primal->features, primal->test, run->q, v, predicted));
    *score = 0;
    for (size_t i = 0; i < samples; i++)
        for (size_t o = 0; o < outputs; o++)
            *score += pow(predicted[i * run->q + o] - primal->test_y[i * outputs + o], 2);
done:
    wt_release(predicted);
    return status;
}

/* The rule's score of one lambda; infinite where there is no factor. */
static wt_status score_lambda(wt_primal_solver *run, const wt_ridge_options *ridge, double lambda,
                              double *v, double *score) {
    double train, loo, freedom, n = (double)run->primal->source->samples;
    size_t usable;
    *score = INFINITY;
    WT_PASS(wt_system_factor(run->context, &run->system, lambda, &run->f, 1, &usable));
    if (usable == 0)
        return WT_OK;
    WT_PASS(wt_system_solve(run->context, &run->system, run->f, run->q, run->moment, v, run->q));
    if (ridge->rule == WT_LAMBDA_ORACLE) {
        WT_PASS(test_score(run, v, score));
        return WT_OK;
    }
    WT_PASS(wt_primal_judge(run, v, ridge->rule == WT_LAMBDA_LOO, &train, &loo));
    *score = loo;
    if (ridge->rule == WT_LAMBDA_GCV) {
        WT_PASS(freedom_of(run, lambda, &freedom));
        *score = train / pow(1 - freedom / n, 2);
    }
    return WT_OK;
}

/* Whether a lambda is scored on the samples. */
static bool judged(const wt_ridge_options *ridge) {
    return ridge->rule == WT_LAMBDA_LOO || ridge->rule == WT_LAMBDA_GCV;
}

/* The lambda that is best so far, and those of least and largest with a factor. */
typedef struct {
    double best, lambda, least, most;
} found;

static void enter(wt_primal_solver *run, double lambda) {
    snprintf(run->phase, sizeof run->phase, "lambda %.2g", lambda);
    wt_meter_enter(&run->meter, run->phase);
}

/* Tries one lambda: the best when its score is below that part of the score so far. */
static wt_status try_lambda(wt_primal_solver *run, const wt_ridge_options *ridge, double lambda,
                            double part, double *v, found *so_far) {
    double score;
    enter(run, lambda);
    WT_PASS(score_lambda(run, ridge, lambda, v, &score));
    if (!isinf(score)) {
        so_far->least = fmin(so_far->least, lambda);
        so_far->most = fmax(so_far->most, lambda);
    }
    if (score < part * so_far->best) {
        so_far->best = score;
        so_far->lambda = lambda;
    }
    return WT_OK;
}

/* Goes on from an end of the path, a factor `step` at a time, while it is best. */
static wt_status widen(wt_primal_solver *run, const wt_ridge_options *ridge, double end,
                       double step, double *v, found *so_far) {
    double least = step < 1 ? wt_ridge_least(&run->system, run->f) : 0;
    for (double next = end * step; so_far->lambda == end && next >= least && isfinite(next);
         end = next, next *= step) {
        run->meter.total += judged(ridge) ? (double)run->primal->source->samples : 0;
        WT_PASS(try_lambda(run, ridge, next, 1 - WT_WIDEN_GAIN, v, so_far));
    }
    return WT_OK;
}

static wt_status walk_path(wt_primal_solver *run, const wt_ridge_options *ridge, const double *path,
                           size_t count, double *v, found *so_far) {
    for (size_t i = 0; i < count; i++)
        WT_PASS(try_lambda(run, ridge, path[i], 1, v, so_far));
    if (isinf(so_far->best))
        return wt_fail(run->context, WT_DATA,
                       "no lambda of the path from %g to %g makes the system positive definite "
                       "in double precision; widen the path or take min-norm",
                       path[0], path[count - 1]);
    WT_PASS(widen(run, ridge, so_far->least, 0.1, v, so_far));
    return widen(run, ridge, so_far->most, 10, v, so_far);
}

static wt_status search_path(wt_primal_solver *run, const wt_ridge_options *ridge,
                             wt_primal_answer *out) {
    const double *path;
    size_t count;
    found so_far = {.best = INFINITY, .least = INFINITY};
    wt_ridge_path(ridge, &path, &count);
    wt_status status = walk_path(run, ridge, path, count, out->v, &so_far);
    out->out_of_time = !isinf(so_far.best) && wt_context_end_of_time(run->context, status);
    if (!out->out_of_time)
        WT_PASS(status);
    wt_context_grant_time(run->context);
    status = solve_fixed(run, so_far.lambda, out);
    wt_context_revoke_time(run->context);
    WT_PASS(status);
    out->at_end = so_far.lambda == so_far.least || so_far.lambda == so_far.most;
    return WT_OK;
}

static wt_status prepare(wt_primal_solver *run, const wt_ridge_options *ridge,
                         wt_primal_answer *out) {
    wt_context *context = run->context;
    size_t f = run->f;
    wt_ridge_model view = wt_ridge_model_of(&run->primal->features->spec, run->primal->features);
    run->leave_one_out = run->primal->leave_one_out || ridge->rule == WT_LAMBDA_LOO;
    WT_PASS(wt_ridge_engine_of(context, &run->system.engine));
    run->system.n = f;
    WT_PASS(WT_NEW(context, &run->system.diagonal, f, "the normal matrix"));
    WT_PASS(run->system.engine->open_normal(context, wt_context_get_device(context), &view,
                                            WT_PRIMAL_SLAB, run->q, run->leave_one_out,
                                            &run->system.state));
    run->moment = WT_TAKE(&run->arena, double, f, run->q);
    run->y = WT_TAKE(&run->arena, double, WT_PRIMAL_SLAB, run->q);
    run->fitted = WT_TAKE(&run->arena, double, WT_PRIMAL_SLAB, run->q);
    run->leverages = WT_TAKE(&run->arena, double, WT_PRIMAL_SLAB);
    run->weights = WT_TAKE(&run->arena, double, run->q);
    WT_PASS(run->arena.status);
    return WT_NEW2(context, &out->v, f, run->q, "value vectors");
}

/* Times the samples are read, unless the path is widened: to collect, for every lambda that is
 * judged on them, and to judge the answer. */
static double passes(const wt_ridge_options *ridge) {
    const double *path;
    size_t count;
    wt_ridge_path(ridge, &path, &count);
    return 2 + (judged(ridge) ? (double)count : 0);
}

/* Takes the column of ones off v (f, q). */
static void drop_ones(const wt_primal_solver *run, double *v) {
    size_t outputs = run->primal->outputs;
    for (size_t k = 0; run->q > outputs && k < run->f; k++)
        memmove(v + k * outputs, v + k * run->q, outputs * sizeof *v);
}

wt_status wt_primal_solve(wt_context *context, const wt_primal *primal,
                          const wt_ridge_options *ridge, wt_primal_answer *out) {
    wt_primal_solver run = {
        .context = context,
        .arena = wt_arena_start(context, "a slab of features"),
        .primal = primal,
        .f = wt_features_count(primal->features),
        .q = primal->outputs + primal->centred,
        .meter =
            wt_meter_start(context, "samples", passes(ridge) * (double)primal->source->samples)};
    *out = (wt_primal_answer){.train = NAN, .loo = NAN, .freedom = NAN, .condition = NAN};
    wt_status status;
    WT_TRY(prepare(&run, ridge, out));
    WT_TRY(collect(&run));
    if (ridge->rule == WT_LAMBDA_MIN_NORM)
        WT_TRY(solve_by_eigen(&run, 0, out));
    else if (ridge->rule == WT_LAMBDA_FIXED)
        WT_TRY(solve_fixed(&run, ridge->lambda, out));
    else
        WT_TRY(search_path(&run, ridge, out));
    drop_ones(&run, out->v);
done:
    wt_system_free(&run.system);
    wt_arena_free(&run.arena);
    if (status != WT_OK)
        wt_primal_free(out);
    return status;
}

void wt_primal_free(wt_primal_answer *answer) {
    wt_release(answer->v);
    answer->v = NULL;
}
