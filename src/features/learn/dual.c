#include "features/learn/dual.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "features/learn/eigen_dual.h"
#include "features/learn/polish.h"
#include "features/model/kernel.h"
#include "linalg/linalg.h"

/* What the rules share while they look for the best lambda. */
typedef struct {
    wt_context *context;
    const wt_dual *dual;
    wt_dual_answer *answer;
    wt_system system;
    wt_arena arena;  /* holds the arrays */
    size_t all;      /* count * columns */
    double *alpha;   /* (n, all) of the lambda at hand, laid out as in the answer */
    double *inverse; /* (count, n) diagonals of (K_s + lambda I)^-1 */
    double *ones;    /* (2, n): weights of labels that are all 1, and these; NULL unless centred */
    double *least;   /* (count) the least lambda with a factor; infinite before any */
    double *most;    /* (count) and the largest */
    double *best;    /* (count, targets) score of the lambda kept so far */
    double *test;    /* (count, targets) test error of the lambda at hand: oracle */
    double *v;       /* (f, all) of the lambda at hand: oracle on features */
    double *cross;   /* (test samples, n) of the kernel: oracle on kernels, on the host */
    wt_meter meter;  /* lambdas */
    char phase[32];  /* "lambda 1e-3" */
    double tried, began; /* lambdas; since when, by wt_clock */
} search;

static size_t outputs_of(const wt_dual *dual) {
    return dual->columns / dual->targets;
}

static const double *weights_at(const search *run, size_t i, size_t s, size_t t) {
    return run->alpha + wt_dual_place(run->dual, i, s, t);
}

/* Mean over samples and outputs of target t of (alpha_i / (A^-1)_ii)^2. Where y is centred, the
 * labels of the others have lost another mean: alpha is of y plus a constant then, and linear. */
static double loo_score(const search *run, size_t s, size_t t) {
    const wt_dual *dual = run->dual;
    size_t size = dual->sizes[s], q = outputs_of(dual), n = dual->train->samples;
    double sum = 0;
    for (size_t i = 0; i < size; i++) {
        const double *alpha = weights_at(run, i, s, t);
        for (size_t o = 0; o < q; o++) {
            double moved = 0;
            if (run->ones != NULL)
                moved =
                    run->ones[i] * wt_centre_moved(dual->y[i * dual->columns + t * q + o], size);
            sum += pow((alpha[o] + moved) / run->inverse[s * n + i], 2);
        }
    }
    return sum / (double)(size * q);
}

static double trace_of(const search *run, size_t s) {
    double sum = 0;
    for (size_t i = 0; i < run->dual->sizes[s]; i++)
        sum += run->inverse[s * run->dual->train->samples + i];
    return sum;
}

/* (1/s) |alpha|^2 / ((1/s) trace A^-1)^2, summed over the outputs of the target. */
static double gcv_score(const search *run, size_t s, size_t t) {
    const wt_dual *dual = run->dual;
    size_t size = dual->sizes[s], q = outputs_of(dual);
    double sum = 0, mean = trace_of(run, s) / (double)size;
    for (size_t i = 0; i < size; i++)
        for (size_t o = 0; o < q; o++)
            sum += pow(weights_at(run, i, s, t)[o], 2);
    return sum / (double)(size * q) / (mean * mean);
}

/* Keeps the weights at hand as the answer for (size s, target t). */
static void keep(search *run, size_t s, size_t t, double lambda) {
    const wt_dual *dual = run->dual;
    wt_dual_answer *answer = run->answer;
    size_t q = outputs_of(dual), point = s * dual->targets + t;
    for (size_t i = 0; i < dual->sizes[s]; i++)
        memcpy(answer->alpha + wt_dual_place(dual, i, s, t), weights_at(run, i, s, t),
               q * sizeof *answer->alpha);
    answer->lambda[point] = lambda;
    answer->train[point] = wt_dual_train_score(dual, run->alpha, s, t, lambda);
    answer->loo[point] = loo_score(run, s, t);
    answer->freedom[point] = (double)dual->sizes[s] - lambda * trace_of(run, s);
}

/* Test errors of the lambda at hand, one a size and target. */
static wt_status score_on_test(search *run) {
    const wt_dual *dual = run->dual;
    size_t samples = dual->test->samples, n = dual->train->samples, q = outputs_of(dual);
    double *predicted = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(run->context, &predicted, samples, run->all, "predictions"));
    if (run->cross != NULL) {
        WT_TRY(wt_gemm(run->context, WT_PLAIN, WT_PLAIN, samples, run->all, n, 1, run->cross, n,
                       run->alpha, run->all, 0, predicted, run->all));
    } else if (run->v == NULL) {
        WT_TRY(wt_model_predict(run->context, dual->model, dual->train, run->all, run->alpha,
                                dual->test, predicted));
    } else {
        WT_TRY(wt_features_project(run->context, &dual->model->features, dual->train, run->all,
                                   run->alpha, run->v, NULL));
        WT_TRY(wt_features_apply(run->context, &dual->model->features, dual->test, run->all, run->v,
                                 predicted));
    }
    memset(run->test, 0, dual->count * dual->targets * sizeof *run->test);
    for (size_t i = 0; i < samples; i++)
        for (size_t j = 0; j < run->all; j++) {
            double wanted = dual->test_y[i * dual->columns + j % dual->columns];
            run->test[j / q] += pow(predicted[i * run->all + j] - wanted, 2);
        }
done:
    wt_release(predicted);
    return status;
}

/* Lambdas take equally long, and the matrix was made before. */
static void begin_lambda(search *run, double lambda) {
    double now = wt_clock(), left = fmax(1, run->meter.total - run->tried);
    if (run->tried == 0)
        run->began = now;
    else
        left *= (now - run->began) / run->tried;
    run->meter.done = run->tried++;
    run->meter.share =
        run->meter.done > 0 ? (now - run->meter.began) / (now - run->meter.began + left) : 0;
    snprintf(run->phase, sizeof run->phase, "lambda %.2g", lambda);
    wt_meter_enter(&run->meter, run->phase);
}

/* Weights and inverse diagonals for the first *usable of `count` sizes: lambda is too small for a
 * factor of the larger ones in double precision. */
static wt_status solve_lambda(search *run, double lambda, size_t count, size_t *usable) {
    const wt_dual *dual = run->dual;
    begin_lambda(run, lambda);
    WT_PASS(wt_system_factor(run->context, &run->system, lambda, dual->sizes, count, usable));
    for (size_t s = 0; s < *usable; s++)
        WT_PASS(wt_system_solve(run->context, &run->system, dual->sizes[s], dual->columns, dual->y,
                                run->alpha + s * dual->columns, run->all));
    if (run->ones != NULL && *usable > 0)
        WT_PASS(wt_system_solve(run->context, &run->system, dual->sizes[0], 1,
                                run->ones + dual->train->samples, run->ones, 1));
    /* last: an engine may spend its factor on them */
    return wt_system_inverse_diagonals(run->context, &run->system, dual->sizes, *usable,
                                       run->inverse);
}

/* Whether the point has its best at `end`, beyond which, toward `next`, its size has seen none. */
static bool best_at_end(const search *run, size_t point, double end, double next) {
    size_t s = point / run->dual->targets;
    return run->answer->lambda[point] == end && end == (next < end ? run->least[s] : run->most[s]);
}

/* Tries one lambda on the first `count` sizes and every target: on all of them, or, beyond an end
 * of the path, on those that have their best there. */
static wt_status try_lambda(search *run, const wt_ridge_options *ridge, double lambda, size_t count,
                            const double *end) {
    const wt_dual *dual = run->dual;
    size_t usable;
    WT_PASS(solve_lambda(run, lambda, count, &usable));
    if (usable > 0 && ridge->rule == WT_LAMBDA_ORACLE)
        WT_PASS(score_on_test(run));
    for (size_t s = 0; s < usable; s++) {
        for (size_t t = 0; t < dual->targets; t++) {
            size_t point = s * dual->targets + t;
            double score = ridge->rule == WT_LAMBDA_ORACLE ? run->test[point]
                           : ridge->rule == WT_LAMBDA_GCV  ? gcv_score(run, s, t)
                                                           : loo_score(run, s, t);
            double below = run->best[point];
            if (end != NULL)
                below = best_at_end(run, point, *end, lambda) ? below * (1 - WT_WIDEN_GAIN) : 0;
            if (score < below) {
                run->best[point] = score;
                keep(run, s, t, lambda);
            }
        }
        run->least[s] = fmin(run->least[s], lambda);
        run->most[s] = fmax(run->most[s], lambda);
    }
    return WT_OK;
}

/* How many sizes, from the first on, reach up to the last that has a point with its best at `end`
 * and may be tried at the lambda beyond it. */
static size_t sizes_at(const search *run, double end, double beyond) {
    const wt_dual *dual = run->dual;
    for (size_t s = dual->count; s-- > 0;)
        for (size_t t = 0; t < dual->targets; t++)
            if (best_at_end(run, s * dual->targets + t, end, beyond) &&
                (beyond > end || beyond >= wt_ridge_least(&run->system, dual->sizes[s])))
                return s + 1;
    return 0;
}

/* Goes on from an end of the path, a factor `step` at a time, for the points that have their best
 * there: each as if it were alone. */
static wt_status widen(search *run, const wt_ridge_options *ridge, double end, double step) {
    for (double next = end * step; isfinite(next); end = next, next *= step) {
        size_t count = sizes_at(run, end, next);
        if (count == 0)
            break;
        WT_PASS(try_lambda(run, ridge, next, count, &end));
    }
    return WT_OK;
}

static bool has_best(const search *run) {
    for (size_t i = 0; i < run->dual->count * run->dual->targets; i++)
        if (isinf(run->best[i]))
            return false;
    return true;
}

static wt_status walk_path(search *run, const wt_ridge_options *ridge, const double *path,
                           size_t count) {
    for (size_t i = 0; i < count; i++)
        WT_PASS(try_lambda(run, ridge, path[i], run->dual->count, NULL));
    if (!has_best(run))
        return wt_fail(run->context, WT_DATA,
                       "no lambda of the path from %g to %g makes the kernel matrix positive "
                       "definite in double precision; widen the path or take min-norm",
                       path[0], path[count - 1]);
    for (size_t i = 0; i < count; i++) /* a size begins where it has its first factor */
        WT_PASS(widen(run, ridge, path[i], 0.1));
    return widen(run, ridge, path[count - 1], 10);
}

static wt_status search_path(search *run, const wt_ridge_options *ridge) {
    const wt_dual *dual = run->dual;
    const double *path;
    size_t count;
    wt_ridge_path(ridge, &path, &count);
    for (size_t i = 0; i < dual->count * dual->targets; i++)
        run->best[i] = INFINITY;
    for (size_t s = 0; s < dual->count; s++)
        run->least[s] = INFINITY;
    wt_status status = walk_path(run, ridge, path, count);
    run->answer->out_of_time = has_best(run) && wt_context_end_of_time(run->context, status);
    if (!run->answer->out_of_time)
        WT_PASS(status);
    for (size_t i = 0; i < dual->count * dual->targets; i++) {
        double lambda = run->answer->lambda[i];
        run->answer->at_end[i] =
            lambda == run->least[i / dual->targets] || lambda == run->most[i / dual->targets];
    }
    return WT_OK;
}

/* One lambda by a double factor, or by eigenvalues where there is no factor. */
static wt_status solve_fixed(search *run, double lambda) {
    const wt_dual *dual = run->dual;
    size_t usable;
    WT_PASS(solve_lambda(run, lambda, dual->count, &usable));
    WT_PASS(wt_eigen_solve(run->context, dual, &run->system, usable, lambda, run->answer));
    for (size_t s = 0; s < usable; s++)
        for (size_t t = 0; t < dual->targets; t++)
            keep(run, s, t, lambda);
    return WT_OK;
}

/* What the oracle needs beside the rest. */
static wt_status prepare_oracle(search *run) {
    const wt_dual *dual = run->dual;
    size_t n = dual->train->samples;
    bool features = run->answer->v != NULL;
    run->test = WT_TAKE(&run->arena, double, dual->count, dual->targets);
    if (features)
        run->v = WT_TAKE(&run->arena, double, wt_features_count(&dual->model->features), run->all);
    else if (wt_context_get_device(run->context) == NULL)
        run->cross = WT_TAKE(&run->arena, double, dual->test->samples, n);
    if (run->cross == NULL)
        return run->arena.status;
    return wt_kernel_matrix(run->context, &dual->model->spec, dual->test, dual->train, run->cross,
                            n);
}

/* The condition of the largest block, factored anew where a path has left another factor. */
static wt_status measure_condition(search *run) {
    const wt_dual *dual = run->dual;
    size_t last = dual->count - 1, usable;
    double lambda = run->answer->lambda[last * dual->targets];
    if (run->answer->rank[last * dual->targets] != 0)
        return WT_OK; /* the eigenvalues have told it */
    WT_PASS(wt_system_factor(run->context, &run->system, lambda, dual->sizes + last, 1, &usable));
    if (usable == 1)
        WT_PASS(wt_system_condition(run->context, &run->system, lambda, &run->answer->condition));
    return WT_OK;
}

/* What is done to the answer in the end. */
static wt_status polish(search *run) {
    const wt_dual *dual = run->dual;
    if (run->answer->v != NULL)
        WT_PASS(wt_dual_polish(run->context, dual, &run->system, run->answer));
    return dual->exact ? measure_condition(run) : WT_OK;
}

static wt_status solve_exactly(search *run, const wt_ridge_options *ridge) {
    const wt_dual *dual = run->dual;
    wt_context *context = run->context;
    size_t n = dual->train->samples, lambdas = 1;
    const double *path;
    wt_status status;
    if (ridge->rule != WT_LAMBDA_MIN_NORM && ridge->rule != WT_LAMBDA_FIXED)
        wt_ridge_path(ridge, &path, &lambdas);
    run->meter = wt_meter_start(context, "lambdas", (double)lambdas);
    wt_meter_cover(&run->meter);
    wt_meter_enter(&run->meter, run->answer->v == NULL ? "kernel" : "features");
    WT_TRY(wt_system_open(context, dual->model, dual->train, &run->system));
    run->arena = wt_arena_start(context, "dual weights");
    run->alpha = WT_TAKE_ZERO(&run->arena, double, n, run->all);
    run->inverse = WT_TAKE(&run->arena, double, dual->count, n);
    run->ones = dual->centred ? WT_TAKE(&run->arena, double, 2, n) : NULL;
    run->best = WT_TAKE(&run->arena, double, dual->count, dual->targets);
    run->least = WT_TAKE(&run->arena, double, dual->count);
    run->most = WT_TAKE_ZERO(&run->arena, double, dual->count);
    WT_TRY(run->arena.status);
    for (size_t i = 0; dual->centred && i < n; i++)
        run->ones[n + i] = 1;
    if (ridge->rule == WT_LAMBDA_ORACLE)
        WT_TRY(prepare_oracle(run));
    if (ridge->rule == WT_LAMBDA_MIN_NORM)
        wt_meter_enter(&run->meter, "eigenvalues");
    if (ridge->rule == WT_LAMBDA_MIN_NORM)
        WT_TRY(wt_eigen_solve(context, dual, &run->system, 0, 0, run->answer));
    else if (ridge->rule == WT_LAMBDA_FIXED)
        WT_TRY(solve_fixed(run, ridge->lambda));
    else
        WT_TRY(search_path(run, ridge));
    wt_meter_enter(&run->meter, "polish");
    wt_context_grant_time(context);
    status = polish(run);
    wt_context_revoke_time(context);
done:
    wt_meter_uncover(&run->meter);
    wt_system_free(&run->system);
    wt_arena_free(&run->arena);
    return status;
}

/* All sizes by the engine's quick way, where its precision is enough. */
static wt_status solve_curve(wt_context *context, const wt_dual *dual, double lambda,
                             wt_dual_answer *out, bool *solved) {
    wt_ridge_model view = wt_ridge_model_of(&dual->model->spec, &dual->model->features);
    const wt_ridge_engine *engine;
    wt_set_rows rows = {0};
    wt_status status;
    WT_TRY(wt_ridge_engine_of(context, &engine));
    WT_TRY(wt_set_rows_open(context, &dual->model->spec, dual->train, &rows));
    WT_TRY(engine->curve(context, wt_context_get_device(context), &view, &rows.rows, lambda,
                         dual->sizes, dual->count, dual->columns, dual->y, out->alpha, out->v,
                         solved));
done:
    wt_set_rows_free(&rows);
    return status;
}

wt_status wt_dual_solve(wt_context *context, const wt_dual *dual, const wt_ridge_options *ridge,
                        wt_dual_answer *out) {
    size_t all = dual->count * dual->columns;
    search run = {.context = context, .dual = dual, .answer = out, .all = all};
    bool finite = !wt_model_kind_infinite(dual->model->spec.kind), solved = false;
    wt_status status;
    WT_TRY(wt_dual_answer_new(context, dual, true, out));
    if (finite && !dual->exact && ridge->rule == WT_LAMBDA_FIXED && ridge->lambda > 0) {
        WT_TRY(solve_curve(context, dual, ridge->lambda, out, &solved));
        for (size_t i = 0; solved && i < dual->count * dual->targets; i++) {
            out->lambda[i] = ridge->lambda;
            out->train[i] = wt_dual_train_score(dual, out->alpha, i / dual->targets,
                                                i % dual->targets, ridge->lambda);
        }
    }
    if (!solved) {
        memset(out->alpha, 0, dual->train->samples * all * sizeof *out->alpha);
        WT_TRY(solve_exactly(&run, ridge));
    }
done:
    if (status != WT_OK)
        wt_dual_free(out);
    return status;
}
