/* Learner `refine`: how many heads, in which coordinates, from which sequences. */
#include <math.h>
#include <stdio.h>

#include "base/context.h"
#include "base/work.h"
#include "layer/learn/holdout.h"
#include "layer/learn/refine_parts.h"
#include "layer/learn/visible.h"

/* The best m so far: the layer of a few starts, and what was said of it. */
typedef struct {
    size_t heads;
    bool sure; /* the layer was recovered */
    double error;
    wt_layer *layer;
    wt_recover_report report;
} candidate;

static double judged(const wt_recover_report *report) {
    return isnan(report->holdout_error) ? report->train_error : report->holdout_error;
}

/* Takes the layer when it is the best so far, with what the report has counted up to now. */
static bool keep_better(candidate *best, wt_layer *layer, const wt_recover_report *report) {
    bool better = judged(report) < 0.9 * best->error, taken = better || best->layer == NULL;
    wt_layer_free(taken ? best->layer : layer);
    if (taken)
        *best = (candidate){report->heads, report->recovered, better ? judged(report) : best->error,
                            layer, *report};
    return better;
}

/* m = 1, 2, .. from a few starts each, until one is exact, or nearly and the rest noise, or the
 * held-out error stops falling. */
static wt_status find_heads(wt_context *context, const wt_sequences *data,
                            const wt_recover_options *options, candidate *best,
                            wt_recover_report *report) {
    enum { MOST_HEADS = 16, FEW_STARTS = 4, PATIENCE = 2, NEAR_GOAL = 10 };
    wt_recover_options few = *options;
    size_t since = 0;
    few.restarts = options->restarts < FEW_STARTS ? options->restarts : FEW_STARTS;
    few.start = NULL;
    for (size_t heads = 1; heads <= MOST_HEADS && since < PATIENCE; heads++) {
        wt_layer *layer;
        if (options->groups > 0 && heads % options->groups != 0)
            continue;
        if (wt_recover_train_rows(data, options) <=
            wt_recover_followed(options, heads, data->dim) + options->bias)
            break;
        WT_PASS(wt_refine_heads(context, data, &few, heads, NULL, &layer, report));
        since = keep_better(best, layer, report) ? 0 : since + 1;
        bool done = report->recovered && judged(report) <= NEAR_GOAL * options->goal;
        if (report->exact || done || report->out_of_time)
            break;
    }
    return WT_OK;
}

typedef struct {
    wt_context *context;
    const wt_sequences *data;
    const wt_recover_options *options;
    const wt_rescue *rescue;
    wt_layer **out;
    wt_recover_report *report;
} whole;

/* The time is over: the best m so far, which others were not set against. */
static void give_best(const whole *work, candidate *best) {
    wt_recover_report *report = work->report;
    best->report.starts = report->starts;
    best->report.out_of_time = true;
    *report = best->report;
    if (!report->recovered) {
        report->verdict = WT_RECOVER_VERDICT_NOT_FOUND;
        snprintf(report->reason, sizeof report->reason, "the time is over");
    }
    *work->out = best->layer;
    best->layer = NULL;
}

/* Where m is to be found and no m did well, the rescue may know it: its start comes first then. */
static wt_status run_unknown(const whole *work) {
    const wt_sequences *data = work->data;
    wt_recover_options options = *work->options;
    const wt_rescue *rescue = work->rescue;
    wt_layer *start = NULL;
    candidate best = {.heads = 1, .error = INFINITY};
    wt_status status;
    WT_TRY(find_heads(work->context, data, &options, &best, work->report));
    if (work->report->out_of_time) {
        give_best(work, &best);
        goto done;
    }
    size_t heads = best.heads;
    if (!best.sure && rescue != NULL) {
        wt_sequences fitted = wt_sequences_part(data, 0, wt_recover_train_samples(data, &options));
        WT_TRY(rescue->start(rescue->user, &fitted, 0, &start));
        rescue = NULL;
        if (start != NULL) {
            heads = start->heads;
            options.start = start;
        }
    }
    WT_TRY(wt_refine_heads(work->context, data, &options, heads, rescue, work->out, work->report));
    if (start != NULL && work->report->start == 0)
        work->report->start_from = work->rescue->name;
done:
    wt_layer_free(best.layer);
    wt_layer_free(start);
    return status;
}

static wt_status run_whole(void *argument, size_t begin, size_t end, int worker) {
    const whole *work = argument;
    (void)begin;
    (void)end;
    (void)worker;
    if (work->options->heads == 0)
        return run_unknown(work);
    return wt_refine_heads(work->context, work->data, work->options, work->options->heads,
                           work->rescue, work->out, work->report);
}

wt_status wt_refine_rescued(wt_context *context, const wt_sequences *data,
                            const wt_recover_options *options, const wt_rescue *rescue,
                            wt_layer **out, wt_recover_report *report) {
    double began = wt_clock(), before = wt_work_done(context);
    wt_visible seen = {0};
    wt_holdout split = {0};
    wt_layer *layer = NULL;
    whole work = {context, NULL, &seen.options, rescue, &layer, report};
    wt_status status;
    *out = NULL;
    WT_TRY(wt_recover_begin(context, "refine", data, options, report));
    WT_TRY(wt_visible_make(context, data, options, &seen));
    WT_TRY(wt_recover_check_rows(context, &seen.data, &seen.options));
    report->rank = wt_visible_span(&seen);
    seen.options.goal = wt_recover_goal(data, options);
    WT_TRY(wt_holdout_split(context, &seen.data, &seen.options, &split));
    work.data = split.data;
    if (seen.normal != NULL)
        work.rescue = NULL; /* sculpt knows no biases */
    WT_TRY(wt_recover_run(context, split.data, &seen.options, run_whole, &work));
    wt_recover_end(context, &seen.data, &seen.options,
                   wt_refine_columns(&seen.data, &seen.options, layer->heads), layer, report);
    wt_context_grant_time(context);
    status = wt_visible_lift(context, &seen, options, layer);
    wt_context_revoke_time(context);
    WT_TRY(status);
    *out = layer;
    layer = NULL;
    report->seconds = wt_clock() - began;
    report->flops = wt_work_done(context) - before;
done:
    wt_holdout_free(&split);
    wt_visible_free(&seen);
    wt_layer_free(layer);
    return status;
}

static wt_status run_refine(wt_context *context, const wt_sequences *data,
                            const wt_recover_options *options, wt_layer **out,
                            wt_recover_report *report) {
    return wt_refine_rescued(context, data, options, NULL, out, report);
}

wt_status wt_refine(wt_context *context, const wt_sequences *data,
                    const wt_recover_options *options, wt_layer **out, wt_recover_report *report) {
    return wt_recover_call(context, "refine", run_refine, data, options, out, report);
}
