/* The baseline `adam`: the mean squared error by Adam's method over Theta and W together, on full
 * batches. Its step is chosen by a short trial of several from the same start, and falls by a
 * cosine to 1/100 of itself. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/work.h"
#include "device/device.h"

#include "layer/learn/holdout.h"
#include "layer/learn/jacobian.h"
#include "layer/learn/recovery.h"
#include "layer/learn/visible.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

static const double trial_rates[] = {3e-3, 1e-2, 3e-2, 1e-1};
enum { RATES = sizeof trial_rates / sizeof *trial_rates, TRIAL_PARTS = 40 };

typedef struct {
    wt_context *context;
    const wt_recover_options *options;
    const wt_rows *rows;
    wt_projection at; /* its theta, w and e are ours; Q is not used */
    wt_jacobian jacobian;
    double *gradient, *first, *second; /* (theta, then w) */
    size_t thetas, count;
    double theta_unit, w_unit; /* natural sizes of the two, which the rate multiplies */
    size_t steps;
    wt_meter meter; /* starts */
    const wt_rows *held;
    wt_layer *out;
    wt_recover_report *report;
} job;

static wt_status make_room(job *work, size_t heads) {
    wt_context *context = work->context;
    WT_PASS(wt_projection_new(context, work->rows, heads, &work->at));
    WT_PASS(wt_jacobian_new(context, &work->at, &work->jacobian));
    work->thetas = work->at.width * work->at.asked;
    work->count = work->thetas + work->at.columns * work->rows->outputs;
    WT_PASS(WT_NEW(context, &work->gradient, work->count, "a gradient"));
    WT_PASS(WT_NEW(context, &work->first, work->count, "moments"));
    return WT_NEW(context, &work->second, work->count, "moments");
}

static void begin(job *work, size_t start) {
    const wt_recover_options *options = work->options;
    size_t values = work->count - work->thetas;
    memset(work->first, 0, work->count * sizeof *work->first);
    memset(work->second, 0, work->count * sizeof *work->second);
    wt_random_normal(wt_stream_for(options->seed, "start", start), 0, work->thetas, work->at.theta);
    wt_random_normal(wt_stream_for(options->seed, "start w", start), 0, values, work->at.w);
    for (size_t i = 0; i < work->thetas; i++)
        work->at.theta[i] *= work->theta_unit;
    for (size_t i = 0; i < values; i++)
        work->at.w[i] *= 0.1 * work->w_unit;
}

/* e = Y - F and the gradient of -|e|^2 / 2; at.error as ever. */
static wt_status differentiate(job *work) {
    wt_projection *at = &work->at;
    size_t n = at->columns, R = work->rows->rows, p = work->rows->outputs;
    wt_theta_unpack(at->heads, at->asked, work->rows->in.dim, at->theta, at->plain);
    WT_PASS(
        wt_attention_run(work->context, &work->rows->in, at->heads, at->plain, at->weights, at->h));
    memcpy(at->e, work->rows->y, R * p * sizeof *at->e);
    WT_PASS(
        wt_gemm(work->context, WT_PLAIN, WT_PLAIN, R, p, n, -1, at->h, n, at->w, p, 1, at->e, p));
    at->error = sqrt(wt_vector_squares(R * p, at->e)) / work->rows->norm;
    WT_PASS(wt_jacobian_transposed(work->context, &work->jacobian, at->e, work->gradient));
    return wt_gemm(work->context, WT_TRANSPOSED, WT_PLAIN, n, p, R, 1, at->h, n, at->e, p, 0,
                   work->gradient + work->thetas, p);
}

static void move(job *work, double rate, size_t step) {
    const double keep_first = 0.9, keep_second = 0.999;
    double first_share = 1 - pow(keep_first, (double)step);
    double second_share = 1 - pow(keep_second, (double)step);
    for (size_t i = 0; i < work->count; i++) {
        bool theta = i < work->thetas;
        double g = work->gradient[i], unit = theta ? work->theta_unit * 10 : work->w_unit;
        double *to = theta ? &work->at.theta[i] : &work->at.w[i - work->thetas];
        work->first[i] = keep_first * work->first[i] + (1 - keep_first) * g;
        work->second[i] = keep_second * work->second[i] + (1 - keep_second) * g * g;
        *to += rate * unit * (work->first[i] / first_share) /
               (sqrt(work->second[i] / second_share) + 1e-300);
    }
}

/* `steps` of a schedule of `whole`. */
static wt_status descend(job *work, size_t start, double rate, size_t steps, size_t whole) {
    begin(work, start);
    for (size_t step = 1; step <= steps; step++) {
        double phase = (double)step / (double)whole;
        WT_PASS(differentiate(work));
        if (work->at.error <= work->options->goal)
            break;
        move(work, rate * (0.01 + 0.99 * 0.5 * (1 + cos(3.14159265358979323846 * phase))), step);
        wt_work_add(work->context, 14 * (double)work->count);
        work->steps++;
        wt_meter_tell(&work->meter, (double)start, "step %zu, error %.1e", step, work->at.error);
    }
    return differentiate(work);
}

/* The rate whose short run ends lowest. */
static wt_status tune(job *work, double *rate) {
    size_t steps = work->options->max_steps / TRIAL_PARTS + 1;
    double least = INFINITY;
    for (size_t i = 0; i < RATES; i++) {
        WT_PASS(descend(work, 0, trial_rates[i], steps, work->options->max_steps));
        if (work->at.error < least) {
            least = work->at.error;
            *rate = trial_rates[i];
        }
    }
    return WT_OK;
}

/* Where the time is over the parameters stay as they are: their error is what is still to be had.
 */
static wt_status in_time(job *work, wt_status status) {
    if (!wt_context_end_of_time(work->context, status))
        return status;
    work->report->out_of_time = true;
    return differentiate(work);
}

static wt_status judge(job *work, const wt_layer *now, double *out) {
    wt_context_grant_time(work->context);
    wt_status status = wt_recover_error(work->context, now, work->held, out);
    wt_context_revoke_time(work->context);
    return status;
}

static wt_status run_starts(void *argument, size_t first, size_t last, int worker) {
    job *work = argument;
    const wt_rows *held = work->held;
    wt_layer *out = work->out;
    wt_recover_report *report = work->report;
    double rate = trial_rates[0], best = INFINITY;
    (void)first;
    (void)last;
    (void)worker;
    wt_meter_enter(&work->meter, "choice of a rate");
    WT_PASS(in_time(work, tune(work, &rate)));
    wt_meter_enter(&work->meter, "descent");
    for (size_t start = 0;
         start < work->options->restarts && !report->exact && (start == 0 || !report->out_of_time);
         start++) {
        double judged = NAN;
        size_t steps = work->options->max_steps;
        if (!report->out_of_time)
            WT_PASS(in_time(work, descend(work, start, rate, steps, steps)));
        wt_layer now = {.heads = work->at.heads,
                        .dim = out->dim,
                        .outputs = out->outputs,
                        .form = out->form,
                        .theta = work->at.plain,
                        .w = work->at.w};
        if (held->rows > 0)
            WT_PASS(judge(work, &now, &judged));
        report->starts++;
        if (work->at.error >= best)
            continue;
        best = report->train_error = work->at.error;
        report->holdout_error = judged;
        report->start = start;
        report->exact = best <= work->options->goal && !(judged > 10 * work->options->goal);
        memcpy(out->theta, work->at.plain, work->thetas * sizeof *out->theta);
        memcpy(out->w, work->at.w, (work->count - work->thetas) * sizeof *out->w);
    }
    return WT_OK;
}

static wt_status run_adam(wt_context *context, const wt_sequences *data,
                          const wt_recover_options *options, wt_layer **out,
                          wt_recover_report *report) {
    double began = wt_clock(), before = 0;
    wt_rows train = {0}, held = {0};
    wt_visible seen = {0};
    wt_holdout split = {0};
    job work = {.context = context,
                .options = &seen.options,
                .rows = &train,
                .held = &held,
                .report = report,
                .meter = wt_meter_start(context, "starts", (double)options->restarts)};
    wt_layer *layer = NULL;
    wt_status status;
    if (options->heads == 0)
        WT_TRY(wt_fail(context, WT_USAGE, "adam needs the number of heads"));
    if (options->rank > 0)
        WT_TRY(
            wt_fail(context, WT_USAGE, "adam fits Theta of any rank alone: a rank is for refine"));
    WT_TRY(wt_recover_begin(context, "adam", data, options, report));
    WT_TRY(wt_visible_make(context, data, options, &seen));
    WT_TRY(wt_recover_check_rows(context, &seen.data, &seen.options));
    report->rank = wt_visible_span(&seen);
    seen.options.goal = report->goal = wt_recover_goal(data, options);
    before = wt_work_done(context);
    size_t fitted = wt_recover_train_samples(data, options);
    WT_TRY(wt_holdout_split(context, &seen.data, options, &split));
    const wt_layer_form form = wt_recover_form(&seen.options);
    WT_TRY(wt_layer_new_form(context, options->heads, seen.rank, data->outputs, &form, &layer));
    work.out = layer;
    WT_TRY(wt_rows_make(context, split.data, &seen.options, 0, fitted, &train));
    WT_TRY(wt_rows_make(context, split.data, &seen.options, fitted, data->samples, &held));
    double square = wt_recover_mean_square(&seen.data), d = (double)seen.rank;
    work.theta_unit = 0.1 / (d * square);
    work.w_unit = train.norm / sqrt((double)(train.rows * train.outputs) * d * square);
    WT_TRY(make_room(&work, options->heads));
    WT_TRY(wt_recover_run(context, &seen.data, &seen.options, run_starts, &work));
    report->heads = options->heads;
    report->exact = report->exact && !isnan(report->holdout_error);
    report->recovered = report->exact;
    report->verdict = report->exact ? WT_RECOVER_VERDICT_EXACT : WT_RECOVER_VERDICT_NOT_FOUND;
    if (!report->exact)
        snprintf(report->reason, sizeof report->reason, "%s",
                 report->out_of_time ? "the time is over"
                 : isnan(report->holdout_error)
                     ? "no sequence was held out, so that nothing confirms the fit"
                     : "the error did not reach the goal, and adam does not tell noise apart");
    report->steps = work.steps;
    wt_recover_end(context, &seen.data, &seen.options, data->outputs, layer, report);
    WT_TRY(wt_visible_lift(context, &seen, options, layer));
    report->seconds = wt_clock() - began;
    report->flops = wt_work_done(context) - before;
    *out = layer;
    layer = NULL;
done:
    wt_projection_free(&work.at);
    wt_jacobian_free(&work.jacobian);
    wt_release(work.gradient);
    wt_release(work.first);
    wt_release(work.second);
    wt_rows_free(&train);
    wt_rows_free(&held);
    wt_holdout_free(&split);
    wt_visible_free(&seen);
    wt_layer_free(layer);
    return status;
}

wt_status wt_adam(wt_context *context, const wt_sequences *data, const wt_recover_options *options,
                  wt_layer **out, wt_recover_report *report) {
    if (wt_context_get_device(context) != NULL)
        return wt_device_refuse(context, "adam");
    return wt_recover_call(context, "adam", run_adam, data, options, out, report);
}
