#include "features/learn/primal_curve.h"

#include <math.h>
#include <string.h>

#include "features/learn/primal_scores.h"

typedef struct {
    wt_primal_solver run; /* its source ends with the size at hand */
    const wt_dual *dual;
    const wt_ridge_options *ridge;
    wt_dual_answer *answer;
    wt_arena arena; /* holds the arrays */
    size_t s;       /* the size at hand */
    bool by_spectrum;
    double *v;             /* (f, columns) of the lambda at hand */
    double *scores, *best; /* (targets) of it, and of the lambdas kept so far */
    double least, most;    /* lambdas with a factor so far; infinite and 0 before any */
    size_t known;          /* lambdas that were scored together, on the path and beyond */
    double *lambda;        /* (known) */
    double *known_scores;  /* (known, targets) */
} curve;

static size_t point_of(const curve *work, size_t t) {
    return work->s * work->dual->targets + t;
}

/* ---- the best lambda of a size, for every target --------------------------------------------- */

static wt_status score(curve *work, double lambda) {
    size_t targets = work->dual->targets;
    for (size_t l = 0; l < work->known; l++)
        if (work->lambda[l] == lambda) {
            memcpy(work->scores, work->known_scores + l * targets, targets * sizeof *work->scores);
            return WT_OK;
        }
    if (work->ridge->rule != WT_LAMBDA_ORACLE)
        work->run.meter.total += (double)work->run.source->samples;
    return wt_primal_scores(&work->run, work->dual, work->ridge->rule, false, &lambda, 1,
                            work->scores);
}

static bool best_at_end(const curve *work, size_t t, double end, double next) {
    return work->answer->lambda[point_of(work, t)] == end &&
           end == (next < end ? work->least : work->most);
}

/* Tries one lambda for every target, or, beyond an end of the path, for those that have their best
 * there. */
static wt_status try_lambda(curve *work, double lambda, const double *end) {
    WT_PASS(score(work, lambda));
    if (isnan(work->scores[0])) /* no factor */
        return WT_OK;
    for (size_t t = 0; t < work->dual->targets; t++) {
        double below = work->best[t];
        if (end != NULL)
            below = best_at_end(work, t, *end, lambda) ? below * (1 - WT_WIDEN_GAIN) : 0;
        if (work->scores[t] < below) {
            work->best[t] = work->scores[t];
            work->answer->lambda[point_of(work, t)] = lambda;
        }
    }
    work->least = fmin(work->least, lambda);
    work->most = fmax(work->most, lambda);
    return WT_OK;
}

static wt_status widen(curve *work, double end, double step) {
    double least = step < 1 ? wt_ridge_least(&work->run.system, work->run.f) : 0;
    for (double next = end * step; next >= least && isfinite(next); end = next, next *= step) {
        bool wanted = false;
        for (size_t t = 0; t < work->dual->targets; t++)
            wanted |= best_at_end(work, t, end, next);
        if (!wanted)
            break;
        WT_PASS(try_lambda(work, next, &end));
    }
    return WT_OK;
}

/* Scores what can be scored together: the path, and with eigenvectors a little more. */
static wt_status score_path(curve *work, const double *path, size_t count) {
    const wt_dual *dual = work->dual;
    bool left_out = work->ridge->rule == WT_LAMBDA_LOO;
    bool by_spectrum =
        left_out && work->by_spectrum &&
        wt_primal_spectrum_pays((double)dual->sizes[work->s], (double)work->run.f, (double)count);
    double least = wt_ridge_least(&work->run.system, work->run.f), next = path[0];
    memcpy(work->lambda, path, count * sizeof *path);
    work->known = count;
    for (int i = 0; by_spectrum && i < WT_PRIMAL_BEYOND && (next *= 0.1) >= least; i++)
        work->lambda[work->known++] = next;
    next = path[count - 1];
    for (int i = 0; by_spectrum && i < WT_PRIMAL_BEYOND && isfinite(next *= 10); i++)
        work->lambda[work->known++] = next;
    return wt_primal_scores(&work->run, dual, work->ridge->rule, by_spectrum, work->lambda,
                            work->known, work->known_scores);
}

static wt_status search_path(curve *work) {
    const double *path;
    size_t count, targets = work->dual->targets;
    wt_ridge_path(work->ridge, &path, &count);
    work->least = INFINITY;
    work->most = 0;
    for (size_t t = 0; t < targets; t++)
        work->best[t] = INFINITY;
    WT_PASS(score_path(work, path, count));
    for (size_t i = 0; i < count; i++)
        WT_PASS(try_lambda(work, path[i], NULL));
    for (size_t t = 0; t < targets; t++)
        if (isinf(work->best[t]))
            return wt_fail(work->run.context, WT_DATA,
                           "no lambda of the path from %g to %g makes the normal matrix positive "
                           "definite in double precision; widen the path or take min-norm",
                           path[0], path[count - 1]);
    WT_PASS(widen(work, work->least, 0.1));
    WT_PASS(widen(work, work->most, 10));
    for (size_t t = 0; t < targets; t++) {
        double lambda = work->answer->lambda[point_of(work, t)];
        work->answer->at_end[point_of(work, t)] = lambda == work->least || lambda == work->most;
    }
    return WT_OK;
}

/* ---- the answer of a size -------------------------------------------------------------------- */

/* Takes the v at hand for a target, with the errors that were judged last. */
static void keep(curve *work, size_t t, double lambda) {
    const wt_dual *dual = work->dual;
    size_t columns = dual->columns, q = columns / dual->targets, all = dual->count * columns;
    for (size_t k = 0; k < work->run.f; k++)
        memcpy(work->answer->v + k * all + work->s * columns + t * q, work->v + k * columns + t * q,
               q * sizeof *work->v);
    work->answer->lambda[point_of(work, t)] = lambda;
    work->answer->loo[point_of(work, t)] =
        wt_primal_mean_of(&work->run, work->run.loo, t, dual->targets);
}

static wt_status solve_at(curve *work, double lambda, bool *solved) {
    wt_primal_solver *run = &work->run;
    size_t usable;
    wt_primal_show_lambda(run, lambda);
    WT_PASS(wt_system_factor(run->context, &run->system, lambda, &run->f, 1, &usable));
    *solved = usable == 1;
    return *solved ? wt_system_solve(run->context, &run->system, run->f, run->q, run->moment,
                                     work->v, run->q)
                   : WT_OK;
}

/* One lambda for all targets: by a factor, or by eigenvalues where there is none. */
static wt_status solve_fixed(curve *work, double lambda) {
    wt_primal_solver *run = &work->run;
    wt_primal_rank found = {0};
    bool solved = false;
    for (size_t o = 0; o < run->q; o++)
        run->loo[o] = NAN;
    if (lambda > 0)
        WT_PASS(solve_at(work, lambda, &solved));
    if (!solved) {
        wt_meter_enter(&run->meter, "eigenvalues");
        WT_PASS(wt_primal_by_eigen(run, lambda, true, work->v, &found));
    }
    for (size_t t = 0; t < work->dual->targets; t++) {
        keep(work, t, lambda);
        work->answer->rank[point_of(work, t)] = found.rank;
    }
    return WT_OK;
}

/* Each lambda that was chosen, once for all targets that chose it. */
static wt_status solve_chosen(curve *work) {
    const wt_dual *dual = work->dual;
    double *lambda = work->answer->lambda + point_of(work, 0);
    bool judged = work->ridge->rule == WT_LAMBDA_LOO, solved; /* the score is the error */
    for (size_t t = 0; t < dual->targets; t++) {
        size_t before = 0;
        while (lambda[before] != lambda[t])
            before++;
        if (before < t)
            continue;
        WT_PASS(solve_at(work, lambda[t], &solved));
        if (!judged)
            WT_PASS(wt_primal_judge(&work->run, work->v, true));
        for (size_t other = t; other < dual->targets; other++)
            if (lambda[other] == lambda[t]) {
                keep(work, other, lambda[t]);
                if (judged)
                    work->answer->loo[point_of(work, other)] = work->best[other];
            }
    }
    return WT_OK;
}

static wt_status solve_size(curve *work) {
    wt_lambda rule = work->ridge->rule;
    if (rule == WT_LAMBDA_MIN_NORM || rule == WT_LAMBDA_FIXED)
        return solve_fixed(work, rule == WT_LAMBDA_FIXED ? work->ridge->lambda : 0);
    WT_PASS(search_path(work));
    return solve_chosen(work);
}

/* Training errors of all sizes, in one pass. */
static wt_status judge_training(curve *work) {
    const wt_dual *dual = work->dual;
    size_t columns = dual->columns;
    wt_arena arena = wt_arena_start(work->run.context, "predictions");
    double *squares = WT_TAKE(&arena, double, dual->count, columns);
    size_t *orders = WT_TAKE(&arena, size_t, dual->count);
    wt_status status;
    WT_TRY(arena.status);
    memcpy(orders, dual->sizes, dual->count * sizeof *orders);
    wt_meter_enter(&work->run.meter, "training errors");
    WT_TRY(wt_primal_squares(&work->run, dual->count, orders, work->answer->v, squares));
    for (size_t s = 0; s < dual->count; s++)
        for (size_t t = 0; t < dual->targets; t++)
            work->answer->train[s * dual->targets + t] =
                wt_primal_mean_of(&work->run, squares + s * columns, t, dual->targets) /
                (double)dual->sizes[s];
done:
    wt_arena_free(&arena);
    return status;
}

/* Times the samples of all sizes are read, beside those of the chosen lambdas and of a path that is
 * widened. */
static double samples_read(const wt_dual *dual, const wt_ridge_options *ridge) {
    const double *path;
    size_t count;
    double most = (double)dual->sizes[dual->count - 1], all = 0;
    wt_ridge_path(ridge, &path, &count);
    for (size_t s = 0; s < dual->count; s++)
        all += (double)dual->sizes[s];
    double judged = ridge->rule == WT_LAMBDA_LOO     ? (double)count
                    : ridge->rule == WT_LAMBDA_GCV   ? 2
                    : ridge->rule == WT_LAMBDA_FIXED ? 0
                                                     : 1;
    return 2 * most + judged * all;
}

static wt_status prepare(curve *work, wt_context *context, const wt_primal *primal) {
    const wt_dual *dual = work->dual;
    const double *path;
    size_t count;
    wt_lambda rule = work->ridge->rule;
    wt_ridge_path(work->ridge, &path, &count);
    work->run.context = context;
    work->run.meter = wt_meter_start(context, "samples", samples_read(dual, work->ridge));
    WT_PASS(wt_dual_answer_new(context, dual, false, work->answer));
    WT_PASS(
        wt_primal_open(&work->run, primal, rule != WT_LAMBDA_FIXED && rule != WT_LAMBDA_MIN_NORM));
    count += (size_t)2 * WT_PRIMAL_BEYOND;
    work->v = WT_TAKE(&work->arena, double, work->run.f, dual->columns);
    work->scores = WT_TAKE(&work->arena, double, dual->targets);
    work->best = WT_TAKE(&work->arena, double, dual->targets);
    work->lambda = WT_TAKE(&work->arena, double, count);
    work->known_scores = WT_TAKE(&work->arena, double, count, dual->targets);
    return work->arena.status;
}

wt_status wt_primal_curve(wt_context *context, const wt_dual *dual, const wt_ridge_options *ridge,
                          bool by_spectrum, wt_dual_answer *out) {
    curve work = {.dual = dual,
                  .ridge = ridge,
                  .answer = out,
                  .arena = wt_arena_start(context, "value vectors"),
                  .by_spectrum = by_spectrum};
    wt_sets labelled = *dual->train;
    wt_samples source;
    double *shift = WT_TAKE_ZERO(&work.arena, double, dual->columns);
    double *scale = WT_TAKE(&work.arena, double, dual->columns);
    wt_status status;
    WT_TRY(work.arena.status);
    for (size_t c = 0; c < dual->columns; c++)
        scale[c] = 1;
    labelled.y = (double *)dual->y; /* read only */
    labelled.outputs = dual->columns;
    source = wt_samples_of_sets(&labelled);
    wt_primal primal = {.features = &dual->model->features,
                        .source = &source,
                        .outputs = dual->columns,
                        .shift = shift,
                        .scale = scale};
    WT_TRY(prepare(&work, context, &primal));
    for (work.s = 0; work.s < dual->count; work.s++) {
        source.samples = dual->sizes[work.s];
        WT_TRY(wt_primal_collect(&work.run, work.s == 0 ? 0 : dual->sizes[work.s - 1]));
        WT_TRY(solve_size(&work));
    }
    WT_TRY(judge_training(&work));
done:
    wt_primal_close(&work.run);
    wt_arena_free(&work.arena);
    if (status != WT_OK)
        wt_dual_free(out);
    return status;
}
