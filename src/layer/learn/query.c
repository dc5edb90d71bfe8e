/* Learning by asking, from the first question to the verdict. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "base/work.h"
#include "layer/learn/descent.h"
#include "layer/learn/query_parts.h"
#include "layer/learn/recovery.h"
#include "layer/task/vector.h"
#include "wattle/random.h"

#define FIRST_SHARE     1.0 /* random questions of the first polish, against unknowns over outputs */
#define LATER_SHARE     4.0 /* of those from random starts, which need more to end at the layer */
#define SPARE           16
#define RATIONAL_STARTS 4 /* each in a basis of its own */
#define POLISH_STEPS    60
#define POLISH_PATIENCE 6 /* a start that fails is followed by another */

void wt_query_options_init(wt_query_options *options, size_t size) {
    const wt_query_options full = {.checks = 8, .restarts = 20, .tolerance = 1e-11};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

static wt_status check_options(wt_context *context, size_t dim, size_t outputs,
                               const wt_query_options *options) {
    if (dim == 0 || dim > WT_QUERY_MAX_DIM)
        return wt_fail(context, WT_USAGE, "the dimension must be 1 to %d, not %zu",
                       WT_QUERY_MAX_DIM, dim);
    if (outputs == 0)
        return wt_fail(context, WT_USAGE, "a layer has 1 output or more, not 0");
    if (options->heads > WT_QUERY_MAX_HEADS)
        return wt_fail(context, WT_USAGE, "heads must be 1 to %d, not %zu", WT_QUERY_MAX_HEADS,
                       options->heads);
    if (!(options->tolerance > 0))
        return wt_fail(context, WT_USAGE, "the tolerance must be above 0, not %g",
                       options->tolerance);
    if (options->checks == 0 && options->heads != 1)
        return wt_fail(context, WT_USAGE,
                       "only one head is learned without checks: more are judged by them");
    return WT_OK;
}

/* Random questions until there are `wanted` of them. */
static wt_status ask_random(wt_asker *asker, const wt_query_options *options, double scale,
                            size_t wanted, size_t *asked) {
    double *x = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(asker->context, &x, 4, asker->d, "a question"));
    for (; *asked < wanted; ++*asked) {
        size_t k = wt_asker_random(asker, options->seed, "query", *asked, scale, x);
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

/* A start of the kind that is due: the first ones by rational cells, then random ones. */
static wt_status make_start(wt_asker *asker, const wt_query_options *options, wt_layer *layer,
                            double *scale, wt_query_report *report) {
    size_t before = asker->count;
    if (report->starts < RATIONAL_STARTS) {
        WT_PASS(wt_query_start(asker, options->seed, report->starts, layer, scale));
        report->start_queries += asker->count - before;
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
    WT_TRY(wt_descent_new(context, &rows, m, 0, WT_DESCENT_ITERATIONS, &descent));
    descent.near = true;
    descent.meter = &job->asker->meter;
    descent.patience = POLISH_PATIENCE;
    wt_theta_pack(m, d, d, layer->theta, descent.now.theta);
    status = wt_descent_run(context, &descent, POLISH_STEPS);
    if (wt_context_end_of_time(context, status)) {
        job->report->out_of_time = true;
        status =
            wt_projection_evaluate(context, &descent.now); /* of the last step that was whole */
    }
    WT_TRY(status);
    memcpy(layer->theta, descent.now.plain, descent.thetas * sizeof *layer->theta);
    memcpy(layer->w, descent.now.w, m * d * layer->outputs * sizeof *layer->w);
    job->report->start_residual = descent.start_error;
    job->report->residual = descent.now.error;
    job->report->steps += descent.steps;
done:
    wt_descent_free(&descent);
    wt_rows_free(&rows);
    return status;
}

/* What the meter says of the work in hand. */
static void enter(wt_asker *asker, size_t heads, size_t start) {
    snprintf(asker->phase, sizeof asker->phase, "%zu head%s, start %zu", heads,
             heads == 1 ? "" : "s", start);
    wt_meter_enter(&asker->meter, asker->phase);
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
 * all questions so far; the last one is the result. */
static wt_status learn_several(wt_asker *asker, const wt_query_options *options, wt_layer *layer,
                               double *scale, wt_query_report *report, found *best) {
    polishing job = {asker, layer, report};
    double unknowns = (double)(layer->heads * layer->dim * layer->dim);
    do {
        enter(asker, layer->heads, report->starts + 1);
        WT_PASS(make_start(asker, options, layer, scale, report));
        WT_PASS(check_answers(asker));
        double flops = (double)(asker->rows * asker->p) * unknowns * unknowns;
        WT_PASS(wt_recover_share(asker->context, flops, polish, &job));
        report->starts++;
        keep_best(best, layer, report);
    } while (report->residual > options->tolerance && !report->out_of_time &&
             report->starts < RATIONAL_STARTS + options->restarts);
    return WT_OK;
}

/* The same, and when the time is over the best of the starts. */
static wt_status learn_in_time(wt_asker *asker, const wt_query_options *options, wt_layer *layer,
                               double *scale, wt_query_report *report) {
    found best = {.residual = INFINITY};
    wt_status status;
    WT_TRY(wt_layer_new(asker->context, layer->heads, layer->dim, layer->outputs, &best.layer));
    status = learn_several(asker, options, layer, scale, report, &best);
    if (isfinite(best.residual) && wt_context_end_of_time(asker->context, status)) {
        report->out_of_time = true;
        status = WT_OK;
    }
    if (status == WT_OK && report->out_of_time) {
        copy_layer(best.layer, layer);
        report->residual = best.residual;
    }
done:
    wt_layer_free(best.layer);
    return status;
}

/* The error on fresh questions, relative to their answers. */
static wt_status check(wt_asker *asker, const wt_query_options *options, double scale,
                       const wt_layer *layer, wt_query_report *report) {
    wt_context *context = asker->context;
    size_t p = asker->p;
    double left = 0, whole = 0;
    wt_arena arena = wt_arena_start(context, "a question");
    wt_status status;
    double *x = WT_TAKE(&arena, double, 4, asker->d);
    double *y = WT_TAKE(&arena, double, p);
    double *all = WT_TAKE(&arena, double, 4, p);
    WT_TRY(arena.status);
    for (size_t i = 0; i < options->checks; i++) {
        size_t k = wt_asker_random(asker, options->seed, "query check", i, scale, x);
        WT_TRY(wt_asker_ask(asker, k, x, y));
        WT_TRY(wt_layer_forward(context, layer, 1, k, x, all));
        left += wt_vector_apart(p, y, all + (k - 1) * p);
        whole += wt_vector_squares(p, y);
        report->check_queries++;
    }
    if (options->checks > 0)
        report->check_error = whole > 0 ? sqrt(left / whole) : sqrt(left);
done:
    wt_arena_free(&arena);
    return status;
}

/* Tokens whose logits are about 2 in the widest head. */
static double scale_for(const wt_layer *layer) {
    size_t count = layer->heads * layer->dim * layer->dim;
    double square = wt_vector_squares(count, layer->theta) / (double)layer->heads;
    return square > 0 ? fmin(16, fmax(1.0 / 16, sqrt(2 / sqrt(square)))) : 1;
}

static wt_status learn(wt_asker *asker, const wt_query_options *options, wt_layer *layer,
                       wt_query_report *report) {
    double scale = 1;
    wt_status status;
    if (layer->heads == 1) {
        enter(asker, 1, 1);
        status = wt_query_single(asker, layer);
        report->start_queries = asker->count;
        WT_TRY(status);
        scale = scale_for(layer);
    } else {
        WT_TRY(learn_in_time(asker, options, layer, &scale, report));
    }
    if (report->out_of_time)
        goto done;
    status = check(asker, options, scale, layer, report);
    if (wt_context_end_of_time(asker->context, status)) {
        report->out_of_time = true;
        status = WT_OK;
        goto done;
    }
    WT_TRY(status);
    bool fits = isnan(report->residual) || report->residual <= options->tolerance;
    report->reached =
        fits && (options->checks == 0 || report->check_error <= 10 * options->tolerance);
done:
    return status;
}

static wt_status try_heads(wt_context *context, wt_query_ask_fn ask, void *user, size_t dim,
                           size_t outputs, const wt_query_options *options, wt_layer **out,
                           wt_query_report *report) {
    size_t first = options->heads == 0 ? 1 : options->heads;
    size_t last = options->heads == 0 ? WT_QUERY_MAX_HEADS : options->heads;
    size_t spent[3] = {0};
    double before = wt_work_done(context), theirs = 0;
    wt_meter meter = wt_meter_start(context, "questions", 0);
    wt_layer *layer = NULL;
    wt_status status;
    WT_TRY(check_options(context, dim, outputs, options));
    for (size_t heads = first; heads <= last; heads++) {
        wt_asker asker = {
            .context = context, .ask = ask, .user = user, .d = dim, .p = outputs, .meter = meter};
        *report = (wt_query_report){.heads = heads,
                                    .dim = dim,
                                    .outputs = outputs,
                                    .start_residual = NAN,
                                    .residual = NAN,
                                    .check_error = NAN};
        wt_layer_free(layer);
        status = wt_layer_new(context, heads, dim, outputs, &layer);
        if (status == WT_OK)
            status = learn(&asker, options, layer, report);
        report->start_queries = spent[0] += report->start_queries;
        report->polish_queries = spent[1] += report->polish_queries;
        report->check_queries = spent[2] += report->check_queries;
        theirs += asker.theirs;
        meter.done = asker.meter.done;
        report->flops = wt_work_done(context) - before - theirs;
        wt_asker_free(&asker);
        if (status != WT_OK && (status != WT_MISSED || heads == last))
            goto done;
        if (report->reached || report->out_of_time)
            break;
    }
    *out = layer;
    layer = NULL;
done:
    wt_layer_free(layer);
    return status;
}

wt_status wt_layer_query(wt_context *context, wt_query_ask_fn ask, void *user, size_t dim,
                         size_t outputs, const wt_query_options *given, wt_layer **out,
                         wt_query_report *report) {
    wt_query_report full = {0};
    wt_query_options options;
    wt_status status;
    *out = NULL;
    WT_INIT(wt_query_options, &options);
    WT_TRY(wt_sized_check(context, "wt_query_report", report, sizeof full));
    WT_TRY(wt_sized_read(context, "wt_query_options", given, &options, sizeof options));
    status = try_heads(context, ask, user, dim, outputs, &options, out, &full);
    wt_sized_write(report, &full, sizeof full);
done:
    return status;
}
