/* Several heads: rational starts, then random ones, and the polish. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layer/learn/descent.h"
#include "layer/learn/query_parts.h"
#include "layer/learn/recovery.h"
#include "wattle/random.h"

#define FIRST_SHARE     1.0 /* random questions of the first polish, against unknowns over outputs */
#define LATER_SHARE     4.0 /* of those from random starts, which need more to end at the layer */
#define SPARE           16
#define LENGTHS         21 /* twice as many questions a head find the length of the tokens */
#define RATIONAL_STARTS 4  /* each in a basis of its own */
#define POLISH_STEPS    60
#define POLISH_PATIENCE 6 /* a start that fails is followed by another */

/* Random questions until there are `wanted` of them. */
static wt_status ask_random(wt_asker *asker, const wt_query_options *options, double scale,
                            size_t wanted, size_t *asked) {
    double *x = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(asker->context, &x, 4, asker->d, "a question"));
    for (; *asked < wanted; ++*asked) {
        size_t k = wt_asker_random(asker, options->seed, "query", *asked, scale, 4, x);
        WT_TRY(wt_asker_keep(asker, k, x, NULL, NULL));
    }
done:
    wt_release(x);
    return status;
}

/* A small Gaussian start; w is found by the first evaluation. */
static void draw_start(const wt_query_options *options, uint64_t index, double scale,
                       wt_layer *out) {
    size_t d = out->dim, count = out->heads * d * d;
    wt_random_normal(wt_stream_for(options->seed, "query start", index), 0, count, out->theta);
    for (size_t i = 0; i < count; i++)
        out->theta[i] *= 0.1 / ((double)d * scale * scale);
}

static size_t share_of(const wt_layer *layer, double share) {
    size_t unknowns = layer->heads * layer->dim * (layer->dim + layer->outputs);
    return (size_t)ceil(share * (double)unknowns / (double)layer->outputs) + SPARE;
}

size_t wt_query_several_least(size_t heads, size_t dim, size_t outputs) {
    const wt_layer layer = {.heads = heads, .dim = dim, .outputs = outputs};
    return 2 * heads * (dim * dim + dim - 1 + LENGTHS) + dim + share_of(&layer, FIRST_SHARE);
}

/* A start of the kind that is due: the first ones by rational cells, then random ones. */
static wt_status make_start(wt_asker *asker, const wt_query_options *options, wt_layer *layer,
                            double *scale, wt_query_report *report) {
    size_t before = asker->count;
    if (report->starts < RATIONAL_STARTS) {
        wt_status status = wt_query_start(asker, options->seed, report->starts, layer, scale);
        report->start_queries += asker->count - before;
        WT_PASS(status);
        WT_PASS(ask_random(asker, options, *scale, share_of(layer, FIRST_SHARE),
                           &report->polish_queries));
    } else {
        WT_PASS(ask_random(asker, options, *scale, share_of(layer, LATER_SHARE),
                           &report->polish_queries));
        draw_start(options, report->starts, *scale, layer);
    }
    return WT_OK;
}

/* A layer that never answers has nothing to learn from. */
static wt_status check_answers(const wt_asker *asker) {
    for (size_t i = 0; i < asker->rows * asker->p; i++)
        if (asker->y[i] != 0)
            return WT_OK;
    return wt_fail(asker->context, WT_MISSED,
                   "the oracle answers zero to all %zu questions, so that theta cannot be seen",
                   asker->count);
}

typedef struct {
    wt_asker *asker;
    wt_layer *layer;
    wt_query_report *report;
} polishing;

/* The descent of `refine` from the layer's Theta on all questions kept; in place. */
static wt_status polish(void *argument, size_t begin, size_t end, int worker) {
    const polishing *job = argument;
    wt_context *context = job->asker->context;
    wt_layer *layer = job->layer;
    size_t m = layer->heads, d = layer->dim;
    wt_rows rows = {0};
    wt_descent descent = {0};
    wt_status status;
    (void)begin, (void)end, (void)worker;
    WT_TRY(wt_asker_rows(job->asker, &rows));
    WT_TRY(wt_descent_new(context, &rows, m, 0, 0, WT_DESCENT_ITERATIONS, &descent));
    descent.near = true;
    descent.meter = &job->asker->meter;
    descent.patience = POLISH_PATIENCE;
    wt_theta_pack(m, d, d, layer->theta, descent.theta);
    status = wt_descent_run(context, &descent, POLISH_STEPS);
    if (wt_context_end_of_time(context, status)) {
        job->report->out_of_time = true;
        status = wt_descent_evaluate(context, &descent); /* of the last step that was whole */
    }
    WT_TRY(status);
    WT_TRY(wt_descent_read(context, &descent, layer->theta, layer->w));
    job->report->start_residual = descent.start_error;
    job->report->residual = descent.error;
    job->report->steps += descent.steps;
done:
    wt_descent_free(&descent);
    wt_rows_free(&rows);
    return status;
}

/* The best of the starts. */
typedef struct {
    wt_layer *layer;
    double residual;
} found;

static void copy_layer(const wt_layer *from, wt_layer *to) {
    size_t m = from->heads, d = from->dim;
    memcpy(to->theta, from->theta, m * d * d * sizeof *to->theta);
    memcpy(to->w, from->w, m * d * from->outputs * sizeof *to->w);
}

static void keep_best(found *best, const wt_layer *layer, const wt_query_report *report) {
    if (report->residual >= best->residual)
        return;
    best->residual = report->residual;
    copy_layer(layer, best->layer);
}

/* Start and polish, until the residual is at rounding or the starts are used up. Every start sees
 * all questions so far; the last one is the result. Answers in float32 get one start alone: where
 * that fails random questions do better. */
static wt_status learn_several(wt_asker *asker, const wt_query_options *options, wt_layer *layer,
                               double *scale, wt_query_report *report, found *best) {
    polishing job = {asker, layer, report};
    double unknowns = (double)(layer->heads * layer->dim * layer->dim);
    do {
        wt_asker_enter(asker, layer->heads, report->starts + 1);
        WT_PASS(make_start(asker, options, layer, scale, report));
        WT_PASS(check_answers(asker));
        double flops = (double)(asker->rows * asker->p) * unknowns * unknowns;
        WT_PASS(wt_recover_share(asker->context, flops, polish, &job));
        report->starts++;
        keep_best(best, layer, report);
        if (report->residual > wt_asker_tolerance(asker, options) && !report->out_of_time)
            WT_PASS(wt_query_plain(asker, options->seed, &report->polish_queries));
    } while (report->residual > wt_asker_tolerance(asker, options) && !report->out_of_time &&
             !asker->single && report->starts < RATIONAL_STARTS + options->restarts);
    return WT_OK;
}

wt_status wt_query_several(wt_asker *asker, const wt_query_options *options, wt_layer *layer,
                           double *scale, wt_query_report *report) {
    found best = {.residual = INFINITY};
    wt_status status;
    WT_TRY(wt_layer_new(asker->context, layer->heads, layer->dim, layer->outputs, &best.layer));
    status = learn_several(asker, options, layer, scale, report, &best);
    if (isfinite(best.residual) && wt_context_end_of_time(asker->context, status)) {
        report->out_of_time = true;
        status = WT_OK;
    }
    if (isfinite(best.residual) && asker->limited && status == WT_MISSED)
        status = WT_OK;
    if (status == WT_OK && (report->out_of_time || asker->limited)) {
        copy_layer(best.layer, layer);
        report->residual = best.residual;
    }
done:
    wt_layer_free(best.layer);
    return status;
}
