#include "features/learn/primal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "features/learn/primal_pass.h"

/* Mean square over all outputs. */
static double mean_of(const wt_primal_solver *run, const double *squares) {
    double sum = 0;
    for (size_t o = 0; o < run->primal->outputs; o++)
        sum += squares[o];
    return sum / (double)run->primal->outputs;
}

static void keep_errors(const wt_primal_solver *run, wt_primal_answer *out) {
    out->train = mean_of(run, run->train);
    out->loo = mean_of(run, run->loo);
}

static bool leaves_out(const wt_primal_solver *run, const wt_ridge_options *ridge) {
    return run->primal->leave_one_out || ridge->rule == WT_LAMBDA_LOO;
}

static wt_status solve_by_eigen(wt_primal_solver *run, const wt_ridge_options *ridge, double lambda,
                                wt_primal_answer *out) {
    wt_primal_rank found;
    WT_PASS(wt_primal_by_eigen(run, lambda, leaves_out(run, ridge), out->v, &found));
    out->lambda = lambda;
    out->rank = found.rank;
    out->freedom = found.freedom;
    out->condition = found.condition;
    keep_errors(run, out);
    return WT_OK;
}

static wt_status solve_fixed(wt_primal_solver *run, const wt_ridge_options *ridge, double lambda,
                             wt_primal_answer *out) {
    size_t usable;
    wt_meter_enter(&run->meter, "factor");
    WT_PASS(wt_system_factor(run->context, &run->system, lambda, &run->f, 1, &usable));
    if (usable == 0)
        return solve_by_eigen(run, ridge, lambda, out);
    out->lambda = lambda;
    WT_PASS(
        wt_system_solve(run->context, &run->system, run->f, run->q, run->moment, out->v, run->q));
    WT_PASS(wt_primal_freedom(run, lambda, &out->freedom));
    WT_PASS(wt_system_condition(run->context, &run->system, lambda, &out->condition));
    WT_PASS(wt_primal_judge(run, out->v, run->primal->leave_one_out));
    keep_errors(run, out);
    return WT_OK;
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
    double freedom, n = (double)run->primal->source->samples;
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
    WT_PASS(wt_primal_judge(run, v, ridge->rule == WT_LAMBDA_LOO));
    *score = mean_of(run, run->loo);
    if (ridge->rule == WT_LAMBDA_GCV) {
        WT_PASS(wt_primal_freedom(run, lambda, &freedom));
        *score = mean_of(run, run->train) / pow(1 - freedom / n, 2);
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
    status = solve_fixed(run, ridge, so_far.lambda, out);
    wt_context_revoke_time(run->context);
    WT_PASS(status);
    out->at_end = so_far.lambda == so_far.least || so_far.lambda == so_far.most;
    return WT_OK;
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
        .primal = primal,
        .meter =
            wt_meter_start(context, "samples", passes(ridge) * (double)primal->source->samples)};
    *out = (wt_primal_answer){.train = NAN, .loo = NAN, .freedom = NAN, .condition = NAN};
    wt_status status;
    WT_TRY(wt_primal_open(&run, primal, leaves_out(&run, ridge)));
    WT_TRY(WT_NEW2(context, &out->v, run.f, run.q, "value vectors"));
    WT_TRY(wt_primal_collect(&run, 0));
    if (ridge->rule == WT_LAMBDA_MIN_NORM)
        WT_TRY(solve_by_eigen(&run, ridge, 0, out));
    else if (ridge->rule == WT_LAMBDA_FIXED)
        WT_TRY(solve_fixed(&run, ridge, ridge->lambda, out));
    else
        WT_TRY(search_path(&run, ridge, out));
    drop_ones(&run, out->v);
done:
    wt_primal_close(&run);
    if (status != WT_OK)
        wt_primal_free(out);
    return status;
}

void wt_primal_free(wt_primal_answer *answer) {
    wt_release(answer->v);
    answer->v = NULL;
}
