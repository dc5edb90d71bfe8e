#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/sized.h"
#include "features/learn/fit_check.h"
#include "features/learn/primal.h"
#include "features/learn/route.h"
#include "features/model/fitted.h"

typedef struct {
    wt_context *context;
    wt_ridge_options ridge;
    wt_model_spec spec;
    const wt_sets *train; /* all samples; NULL while they are drawn as needed */
    const wt_sets *test;
    wt_samples source;
    bool primal;
    wt_fitted *fitted;
    wt_fit_report report;
    double *test_y; /* (test samples, q) in the units of the fit */
} fit;

/* sum_m |v_m| and M sum_m |v_m|^2 from v in block order. */
static void measure_norms(const wt_fitted *fitted, wt_fit_report *report) {
    const wt_features *features = &fitted->model.features;
    size_t q = fitted->outputs;
    double sum = 0, squares = 0;
    for (size_t b = 0; b < wt_features_blocks(features); b++) {
        size_t first, count;
        wt_features_block_at(features, b, &first, &count);
        for (size_t u = 0; u < count; u++) {
            double square = 0;
            for (size_t j = 0; j < features->width; j++)
                for (size_t o = 0; o < q; o++)
                    square += pow(fitted->v[(first * features->width + j * count + u) * q + o], 2);
            sum += sqrt(square);
            squares += square;
        }
    }
    report->sum_norms = sum;
    report->m_sum_squares = wt_features_norm(features) * squares;
}

/* alpha^T K alpha = alpha^T (y - lambda alpha): the squared norm that M sum |v_m|^2 tends to. */
static void measure_kernel_norm(const wt_fitted *fitted, const double *y, double lambda,
                                wt_fit_report *report) {
    double sum = 0;
    for (size_t i = 0; i < fitted->train.samples * fitted->outputs; i++)
        sum += fitted->alpha[i] * (y[i] - lambda * fitted->alpha[i]);
    report->m_sum_squares = sum;
}

/* A kernel predicts from its training tokens. */
static wt_status keep_tokens(fit *run) {
    const wt_sets *from = run->train;
    wt_sets *to = &run->fitted->train;
    WT_PASS(wt_sets_open(run->context, from->samples, from->keys, from->dim, 0, from->mask != NULL,
                         to));
    size_t tokens = from->samples * from->keys;
    memcpy(to->query, from->query, from->samples * from->dim * sizeof *to->query);
    memcpy(to->key, from->key, tokens * from->dim * sizeof *to->key);
    if (from->mask != NULL)
        memcpy(to->mask, from->mask, tokens);
    return WT_OK;
}

static wt_status fit_dual(fit *run) {
    wt_fitted *fitted = run->fitted;
    wt_fit_report *report = &run->report;
    size_t n = run->train->samples, q = fitted->outputs;
    double *y = NULL;
    wt_dual_answer answer = {0};
    wt_status status;
    WT_TRY(WT_NEW2(run->context, &y, n, q, "labels"));
    wt_fitted_scale_labels(fitted, run->train, y);
    wt_dual dual = {.model = &fitted->model,
                    .train = run->train,
                    .y = y,
                    .columns = q,
                    .targets = 1,
                    .sizes = &n,
                    .count = 1,
                    .test = run->test,
                    .test_y = run->test_y,
                    .exact = true,
                    .centred = run->ridge.standardize};
    WT_TRY(wt_dual_solve(run->context, &dual, &run->ridge, &answer));
    double variance = wt_variance(y, n, q, q);
    report->lambda = answer.lambda[0];
    report->train_error = wt_over_variance(answer.train[0], variance);
    report->loo_error = wt_over_variance(answer.loo[0], variance);
    report->lambda_at_end = answer.at_end[0];
    report->out_of_time = answer.out_of_time;
    report->freedom = answer.freedom[0];
    report->rank = answer.rank[0];
    report->condition = answer.condition;
    fitted->v = answer.v;
    answer.v = NULL;
    if (fitted->v == NULL) {
        WT_TRY(keep_tokens(run));
        fitted->alpha = answer.alpha;
        answer.alpha = NULL;
        measure_kernel_norm(fitted, y, report->lambda, report);
    }
done:
    wt_release(y);
    wt_dual_free(&answer);
    return status;
}

/* Variance of the labels in the units of the fit, in one pass over the source: moments from the
 * first label on, so that a mean far from 0 takes no digits. */
static wt_status source_variance(fit *run, double *out) {
    size_t q = run->fitted->outputs;
    wt_arena arena = wt_arena_start(run->context, "labels");
    double *first = WT_TAKE(&arena, double, q), n = (double)run->source.samples;
    double *sums = WT_TAKE_ZERO(&arena, double, q), *squares = WT_TAKE_ZERO(&arena, double, q);
    wt_status status;
    WT_TRY(arena.status);
    for (size_t begin = 0; begin < run->source.samples; begin += WT_PRIMAL_SLAB) {
        size_t end = begin + WT_PRIMAL_SLAB;
        wt_sets part;
        WT_TRY(wt_samples_read(run->context, &run->source, begin,
                               end < run->source.samples ? end : run->source.samples, &part));
        if (begin == 0)
            memcpy(first, part.y, q * sizeof *first);
        for (size_t i = 0; i < part.samples * q; i++) {
            double y = (part.y[i] - first[i % q]) / run->fitted->scale[i % q];
            sums[i % q] += y;
            squares[i % q] += y * y;
        }
    }
    *out = 0;
    for (size_t o = 0; o < q; o++)
        *out += (squares[o] - sums[o] * sums[o] / n) / n / (double)q;
done:
    wt_arena_free(&arena);
    return status;
}

static wt_status fit_primal(fit *run) {
    wt_fitted *fitted = run->fitted;
    wt_fit_report *report = &run->report;
    wt_primal_answer answer = {0};
    double variance;
    wt_primal primal = {.features = &fitted->model.features,
                        .source = &run->source,
                        .outputs = fitted->outputs,
                        .shift = fitted->shift,
                        .scale = fitted->scale,
                        .test = run->test,
                        .test_y = run->test_y,
                        .leave_one_out = run->train != NULL || run->ridge.rule == WT_LAMBDA_LOO,
                        .centred = run->ridge.standardize};
    wt_status status;
    WT_TRY(source_variance(run, &variance));
    WT_TRY(wt_primal_solve(run->context, &primal, &run->ridge, &answer));
    report->lambda = answer.lambda;
    report->train_error = wt_over_variance(answer.train, variance);
    report->loo_error = wt_over_variance(answer.loo, variance);
    report->lambda_at_end = answer.at_end;
    report->out_of_time = answer.out_of_time;
    report->freedom = answer.freedom;
    report->condition = answer.condition;
    report->rank = answer.rank;
    fitted->v = answer.v;
    answer.v = NULL;
done:
    wt_primal_free(&answer);
    return status;
}

/* Everything after the samples are at hand, or known to be drawn later. */
static wt_status fit_model(fit *run, size_t outputs) {
    wt_context *context = run->context;
    wt_fit_report *report = &run->report;
    double began = wt_clock(), square;
    wt_fitted *fitted;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &run->fitted, 1, "fitted model"));
    fitted = run->fitted;
    fitted->outputs = outputs;
    WT_TRY(wt_fitted_standardize(context, run->train, run->ridge.standardize, fitted));
    report->samples = run->source.samples;
    report->outputs = outputs;
    WT_TRY(wt_model_draw(context, &run->spec, &fitted->model));
    if (!wt_model_kind_infinite(run->spec.kind))
        report->features = wt_features_count(&fitted->model.features);
    if (run->test != NULL) {
        WT_TRY(WT_NEW2(context, &run->test_y, run->test->samples, outputs, "labels"));
        wt_fitted_scale_labels(fitted, run->test, run->test_y);
    }
    WT_TRY(run->primal ? fit_primal(run) : fit_dual(run));
    if (fitted->v != NULL)
        measure_norms(fitted, report);
    wt_context_grant_time(context);
    if (run->test != NULL)
        status = wt_fitted_score(context, fitted, run->test, &square, &report->test_error);
    wt_context_revoke_time(context);
    WT_TRY(status);
    report->seconds = wt_clock() - began;
    report->bytes = wt_context_memory_peak(context);
done:
    wt_release(run->test_y);
    return status;
}

/* Refuses what the budget cannot hold before any of it is made. */
static wt_status choose_route(fit *run, size_t samples, size_t outputs, bool drawn) {
    wt_features shape = {0};
    wt_fit_cost cost;
    if (!wt_model_kind_infinite(run->spec.kind))
        WT_PASS(wt_features_shape(run->context, &run->spec, &shape));
    WT_PASS(wt_route_choose(run->context, &run->spec, &shape, samples, outputs, drawn, &run->ridge,
                            &cost, &run->primal));
    WT_PASS(wt_route_refuse(run->context, &run->spec, &cost, outputs, drawn));
    run->report.route = cost.route;
    return WT_OK;
}

static wt_status check_test(const fit *run, size_t outputs) {
    return run->test == NULL
               ? WT_OK
               : wt_check_labelled(run->context, &run->spec, "the test data", run->test, outputs);
}

static wt_status fit_sets(fit *run, const wt_sets *train) {
    run->train = train;
    WT_PASS(
        wt_check_labelled(run->context, &run->spec, "the training data", train, train->outputs));
    WT_PASS(check_test(run, train->outputs));
    WT_PASS(choose_route(run, train->samples, train->outputs, false));
    run->source = wt_samples_of_sets(train);
    return fit_model(run, train->outputs);
}

static wt_status check_problem(const fit *run, const wt_problem *problem, size_t samples) {
    const wt_problem_spec *drawn = wt_problem_get_spec(problem);
    const wt_model_spec *spec = &run->spec;
    if (samples == 0)
        return wt_fail(run->context, WT_USAGE, "a fit needs 1 sample or more");
    if (drawn->dim != spec->dim || drawn->keys != spec->keys)
        return wt_fail(
            run->context, WT_USAGE,
            "a problem of %zu keys in %zu dimensions does not fit a model of %zu keys in "
            "%zu dimensions",
            drawn->keys, drawn->dim, spec->keys, spec->dim);
    return WT_OK;
}

static wt_status fit_problem(fit *run, const wt_problem *problem, size_t samples) {
    wt_sets drawn = {0};
    wt_status status;
    WT_TRY(check_problem(run, problem, samples));
    WT_TRY(choose_route(run, samples, 1, true));
    if (run->primal && !run->ridge.standardize) {
        WT_TRY(check_test(run, 1));
        WT_TRY(wt_samples_of_problem(run->context, problem, samples, WT_PRIMAL_SLAB, &run->source));
        WT_TRY(fit_model(run, 1));
        goto done;
    }
    /* Standardising needs the labels beforehand, and the dual all samples. */
    WT_TRY(wt_sets_open(run->context, samples, run->spec.keys, run->spec.dim, 1, false, &drawn));
    WT_TRY(wt_problem_draw(run->context, problem, 0, &drawn));
    WT_TRY(fit_sets(run, &drawn));
done:
    wt_samples_free(&run->source);
    wt_sets_close(&drawn);
    return status;
}

/* The report is the caller's even of a fit that failed. */
static wt_status fit_either(fit *run, const wt_ridge_options *ridge, const wt_model_spec *spec,
                            const wt_sets *train, const wt_problem *problem, size_t samples,
                            wt_fitted **out, wt_fit_report *report) {
    *out = NULL;
    run->report = (wt_fit_report){.lambda = NAN,
                                  .train_error = NAN,
                                  .loo_error = NAN,
                                  .test_error = NAN,
                                  .sum_norms = NAN,
                                  .m_sum_squares = NAN,
                                  .freedom = NAN,
                                  .condition = NAN};
    WT_PASS(wt_sized_check(run->context, "wt_fit_report", report, sizeof *report));
    WT_PASS(wt_model_spec_read(run->context, spec, &run->spec));
    WT_PASS(wt_ridge_read(run->context, ridge, run->test != NULL, &run->ridge));
    wt_status status = train != NULL ? fit_sets(run, train) : fit_problem(run, problem, samples);
    if (status == WT_OK)
        *out = run->fitted;
    else
        wt_fitted_free(run->fitted);
    wt_sized_write(report, &run->report, sizeof run->report);
    return status;
}

wt_status wt_ridge_fit(wt_context *context, const wt_ridge_options *ridge,
                       const wt_model_spec *spec, const wt_sets *train, const wt_sets *test,
                       wt_fitted **out, wt_fit_report *report) {
    fit run = {.context = context, .test = test};
    return fit_either(&run, ridge, spec, train, NULL, 0, out, report);
}

wt_status wt_ridge_fit_problem(wt_context *context, const wt_ridge_options *ridge,
                               const wt_model_spec *spec, const wt_problem *problem, size_t samples,
                               const wt_sets *test, wt_fitted **out, wt_fit_report *report) {
    fit run = {.context = context, .test = test};
    return fit_either(&run, ridge, spec, NULL, problem, samples, out, report);
}
