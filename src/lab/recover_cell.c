#include "lab/recover_cell.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layer/model/heads.h"
#include "wattle/query.h"
#include "wattle/random.h"

/* Theta of one length that are this far apart, relatively: about 6 degrees. */
#define NEAR_PARALLEL 0.1

static wt_status by_examples(wt_context *context, const wt_recovery *job, wt_recovered *out) {
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_status status =
        wt_layer_recover(context, job->data, &job->options, &out->layer, &report, &out->stages);
    out->flops = status == WT_OK ? report.flops : out->stages.flops;
    if (status != WT_OK)
        return status;
    out->recovered = report.recovered;
    out->heads = report.heads;
    out->train_error = report.train_error;
    out->holdout_error = report.holdout_error;
    out->starts = (double)report.starts;
    out->steps = (double)report.steps;
    out->sculpted = report.recovered && strcmp(report.start_from, "sculpt") == 0;
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
    if (k > one->room) {
        wt_release(one->all);
        one->all = NULL;
        one->room = 0;
        WT_PASS(WT_NEW(one->context, &one->all, k * p, "an answer"));
        one->room = k;
    }
    WT_PASS(wt_layer_forward(one->context, one->layer, 1, k, x, one->all));
    wt_random_normal(wt_stream_for(one->seed, "answer noise", one->asked++), 0, p, y);
    for (size_t o = 0; o < p; o++)
        y[o] = one->noise * y[o] + one->all[(k - 1) * p + o];
    return WT_OK;
}

static wt_status by_questions(wt_context *context, const wt_recovery *job, wt_recovered *out) {
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
    options.bias = given->bias;
    options.residual = given->residual;
    options.mask = given->mask;
    options.norm = given->norm;
    options.epsilon = given->epsilon;
    options.rank = given->rank;
    options.forms = given->forms;
    wt_status status = wt_layer_query(context, answer, &one, job->teacher->dim,
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

wt_status wt_recovery_run(wt_context *context, const wt_recovery *job, wt_recovered *out) {
    bool asks = wt_recover_method_find(job->options.method)->asks;
    return asks ? by_questions(context, job, out) : by_examples(context, job, out);
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

static const struct {
    const char *name;
    void (*make)(wt_layer *layer);
} ways[] = {
    {"parallel", make_parallel},
    {"equal-w", make_equal},
    {"zero-sum", wt_layer_zero_sum},
};

void wt_teacher_degenerate(const char *way, wt_layer *teacher) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, way) == 0)
            ways[i].make(teacher);
}
