#include "lab/recover_cell.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layer/model/heads.h"
#include "wattle/query.h"
#include "wattle/random.h"

/* Theta of one length that are this far apart, relatively: about 6 degrees. */
#define NEAR_PARALLEL 0.1

static wt_status keep(wt_status status, const wt_recover_report *report, wt_recovered *out) {
    if (status != WT_OK)
        return status;
    out->recovered = report->recovered;
    out->heads = report->heads;
    out->train_error = report->train_error;
    out->holdout_error = report->holdout_error;
    out->starts = (double)report->starts;
    out->steps = (double)report->steps;
    out->flops += report->flops;
    return status;
}

static wt_status refine(wt_context *context, const wt_recovery *job, wt_recovered *out) {
    wt_recover_report report = WT_SIZED(wt_recover_report);
    return keep(wt_refine(context, job->data, &job->options, &out->layer, &report), &report, out);
}

static wt_status adam(wt_context *context, const wt_recovery *job, wt_recovered *out) {
    wt_recover_report report = WT_SIZED(wt_recover_report);
    return keep(wt_adam(context, job->data, &job->options, &out->layer, &report), &report, out);
}

static wt_status sculpt(wt_context *context, const wt_recovery *job, wt_recovered *out) {
    wt_sculpt_options stages;
    WT_INIT(wt_sculpt_options, &stages);
    wt_recover_options options = job->options;
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_layer *start = NULL;
    wt_status status;
    stages.heads = options.heads;
    stages.teacher = job->teacher; /* for the report alone */
    status = wt_sculpt(context, job->data, &stages, &start, &out->stages);
    out->flops = out->stages.flops;
    WT_TRY(status);
    options.heads = start->heads;
    options.start = start;
    WT_TRY(keep(wt_refine(context, job->data, &options, &out->layer, &report), &report, out));
    out->sculpted = report.recovered && strcmp(report.start_from, "given") == 0;
done:
    wt_layer_free(start);
    return status;
}

/* The teacher as an oracle. */
typedef struct {
    wt_context *context;
    const wt_layer *layer;
    double noise, *all; /* (room, p): outputs of all tokens */
    size_t room;
    uint64_t seed, asked;
} oracle;

static wt_status answer(void *user, size_t k, const double *x, double *y) {
    oracle *one = user;
    size_t p = one->layer->outputs;
    wt_status status = WT_OK;
    if (k > one->room) {
        wt_release(one->all);
        one->all = NULL;
        one->room = 0;
        WT_TRY(WT_NEW(one->context, &one->all, k * p, "an answer"));
        one->room = k;
    }
    WT_TRY(wt_layer_forward(one->context, one->layer, 1, k, x, one->all));
    wt_random_normal(wt_stream_for(one->seed, "answer noise", one->asked++), 0, p, y);
    for (size_t o = 0; o < p; o++)
        y[o] = one->noise * y[o] + one->all[(k - 1) * p + o];
done:
    return status;
}

static wt_status query(wt_context *context, const wt_recovery *job, wt_recovered *out) {
    const wt_recover_options *given = &job->options;
    oracle one = {
        .context = context, .layer = job->teacher, .noise = job->noise, .seed = given->seed};
    wt_query_options options;
    WT_INIT(wt_query_options, &options);
    wt_query_report report = WT_SIZED(wt_query_report);
    options.heads = given->heads;
    options.restarts = given->restarts;
    options.tolerance = given->goal;
    options.seed = given->seed;
    wt_status status = wt_query_layer(context, answer, &one, job->teacher->dim,
                                      job->teacher->outputs, &options, &out->layer, &report);
    wt_release(one.all);
    if (status != WT_OK && status != WT_MISSED)
        return status;
    out->recovered = status == WT_OK && report.reached;
    out->heads = report.heads;
    out->train_error = report.residual;
    out->holdout_error = report.check_error;
    out->starts = (double)report.starts;
    out->steps = (double)report.steps;
    out->flops = report.flops;
    out->sequences = (double)one.asked;
    return status;
}

static const wt_recover_method methods[] = {
    {"refine", 200, false, refine},
    {"sculpt", 200, false, sculpt},
    {"adam", 20000, false, adam},
    {"query", 0, true, query},
};

const wt_recover_method *wt_recover_method_find(const char *name) {
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (strcmp(methods[i].name, name) == 0)
            return &methods[i];
    return NULL;
}

static void make_parallel(wt_layer *layer) {
    size_t size = layer->dim * layer->dim;
    for (size_t i = 1; i < layer->heads; i++) {
        double *theta = layer->theta + i * size, norm = wt_heads_norm(size, theta);
        for (size_t j = 0; j < size; j++)
            theta[j] = layer->theta[j] + NEAR_PARALLEL * theta[j];
        double now = wt_heads_norm(size, theta);
        for (size_t j = 0; now > 0 && j < size; j++)
            theta[j] *= norm / now;
    }
}

static void make_equal(wt_layer *layer) {
    size_t size = layer->dim * layer->outputs;
    for (size_t i = 1; i < layer->heads; i++)
        memcpy(layer->w + i * size, layer->w, size * sizeof *layer->w);
}

static void leave(wt_layer *layer) {
    (void)layer;
}

static const struct {
    const char *name;
    void (*make)(wt_layer *layer);
} ways[] = {
    {"no", leave},
    {"parallel", make_parallel},
    {"equal-w", make_equal},
    {"zero-sum", wt_layer_zero_sum},
};
enum { WAYS = sizeof ways / sizeof *ways };

static size_t way_of(const char *name) {
    size_t i = 0;
    while (i < WAYS && strcmp(ways[i].name, name) != 0)
        i++;
    return i;
}

bool wt_teacher_is_way(const char *way) {
    return way_of(way) < WAYS;
}

void wt_teacher_degenerate(const char *way, wt_layer *teacher) {
    size_t i = way_of(way);
    if (i < WAYS)
        ways[i].make(teacher);
}
