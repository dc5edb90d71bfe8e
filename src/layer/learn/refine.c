/* Learner `refine`: starts, held-out judgement, and what is said of the result. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "base/sized.h"
#include "base/work.h"
#include "layer/learn/descent.h"
#include "layer/learn/holdout.h"
#include "layer/learn/misfit.h"
#include "layer/learn/recovery.h"
#include "layer/learn/visible.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

/* Outputs above which Theta is fitted to Y S, S (p, SKETCH), and W alone to Y. */
enum { SKETCH_ABOVE = 160, SKETCH = 96 };
/* A start is small: |x^T Theta x'| of about this. */
#define START 0.1
/* Errors of starts that ended at the same floor agree to this part. */
#define SAME_FLOOR 1e-5
/* So many starts make a floor, whose residuals are tested; where they are no noise a better minimum
 * may be left to find, until so many more have ended there too. */
enum { FLOOR_STARTS = 3, MISFIT_STARTS = 6 };
/* A fit that leaves more of y, fitted or held out, says too little of the layer to be called one.
 */
#define MOST_NOISE 0.5
#define MOST_HELD  0.6
/* Families that explain less than this leave room for another head, which no few features follow.
 */
#define LITTLE 0.3
/* Squares over those of the noise that doubling a Theta may add and still be chance. */
#define HARMLESS 10
/* Random starts that fail before a rescue is asked for: it may cost as much as they do. */
enum { RESCUE_AFTER = 4 };

typedef struct {
    wt_context *context;
    const wt_sequences *data;
    const wt_recover_options *options;
    const wt_rescue *rescue; /* NULL = none, or asked already */
    wt_layer *rescued;
    size_t heads, train_samples;
    double square; /* mean square of the tokens' entries */
    wt_rows train, held;
    size_t fitted_rows; /* that starts are made on */
    wt_descent descent;
    double *best;      /* packed Theta */
    double best_error; /* on the train rows */
    double best_held;  /* on the held-out ones; NaN when there are none */
    size_t best_start, same, starts;
    const char *from, *best_from; /* what the start in hand, and the best, was */
    double goal;                  /* that counts as exact */
    bool reached;                 /* by the best start, unless held-out sequences say otherwise */
    bool tested;                  /* the residuals of the best floor */
    wt_misfit misfit;
    double *settled; /* packed Theta of that floor, polished on all sequences */
    double settled_error;
    size_t unbounded; /* a head whose Theta wants to be infinite, or `heads` */
    bool itself;      /* it attends to the token itself */
    wt_layer *out;
    wt_recover_report *report;
} job;

/* Theta in best, W by least squares on the rows, into out. */
static wt_status fit_w(job *work, const wt_rows *rows, double *error) {
    wt_projection at = {0};
    wt_status status;
    WT_TRY(wt_projection_new(work->context, rows, work->heads, &at));
    memcpy(at.theta, work->best, work->descent.side * sizeof *at.theta);
    WT_TRY(wt_projection_evaluate(work->context, &at));
    memcpy(work->out->theta, at.plain, work->descent.side * sizeof *at.plain);
    memcpy(work->out->w, at.w, at.columns * rows->outputs * sizeof *at.w);
    *error = at.error;
done:
    wt_projection_free(&at);
    return status;
}

/* The error on the held-out rows of the descent's Theta and W. */
static wt_status judge(job *work, double *out) {
    const wt_projection *now = &work->descent.now;
    wt_layer layer = {.heads = work->heads,
                      .dim = work->data->dim,
                      .outputs = work->held.outputs,
                      .theta = now->plain,
                      .w = now->w};
    *out = NAN;
    if (work->held.rows == 0 || !isfinite(now->error))
        return WT_OK;
    return wt_recover_error(work->context, &layer, &work->held, out);
}

static void first_theta(job *work, size_t start, const wt_layer *given) {
    size_t side = work->descent.side, d = work->data->dim;
    double *theta = work->descent.now.theta;
    if (given != NULL) {
        wt_theta_pack(work->heads, d, given->theta, theta);
        return;
    }
    work->from = "random";
    wt_random_normal(wt_stream_for(work->options->seed, "start", start), 0, side, theta);
    double scale = START / ((double)d * work->square);
    for (size_t i = 0; i < side; i++)
        theta[i] *= scale;
}

/* Keeps the result of a start when it is the best; counts those at the same floor. */
static void keep(job *work, size_t start, double held) {
    const wt_projection *now = &work->descent.now;
    if (fabs(now->error - work->best_error) <= SAME_FLOOR * work->best_error)
        work->same++;
    else if (now->error < work->best_error)
        work->same = 1;
    if (now->error >= work->best_error)
        return;
    work->best_error = now->error;
    work->best_held = held;
    work->best_start = start;
    work->best_from = work->from;
    work->reached = now->error <= work->goal && !(held > 10 * work->goal);
    /* the floor that was tested is not the lowest */
    work->tested = work->tested && work->same > 1;
    memcpy(work->best, now->theta, work->descent.side * sizeof *work->best);
}

/* Unknowns that the rows determine: Theta and W. */
static double unknowns(const job *work) {
    double m = (double)work->heads, d = (double)work->data->dim;
    return m * d * (d + (double)work->held.outputs);
}

/* Held-out sequences confirm the fit, and it explains most of y. Fitted rows have less left than
 * the noise, by the part of it that the unknowns follow. */
static bool confirmed(const job *work) {
    double numbers = (double)(work->fitted_rows * work->held.outputs);
    double noise = work->best_error / sqrt(fmax(1 - unknowns(work) / numbers, 0.1));
    return work->best_error < MOST_NOISE && work->best_held <= fmin(2 * noise, MOST_HELD);
}

static bool is_noise(const job *work) {
    return work->tested && confirmed(work) && !work->misfit.blind &&
           work->misfit.p >= WT_MISFIT_LEVEL && work->unbounded == work->heads;
}

/* What is left depends on x, whether or not there is a better minimum. */
static bool depends(const job *work) {
    return work->tested && work->misfit.p < WT_MISFIT_LEVEL;
}

static bool is_misfit(const job *work) {
    return work->tested &&
           (work->unbounded < work->heads || (depends(work) && work->same >= FLOOR_STARTS));
}

static bool decided(const job *work) {
    return work->reached || is_noise(work) || (work->tested && work->same >= MISFIT_STARTS);
}

/* Asks for a start from the sequences that are fitted. */
static wt_status ask_rescue(job *work) {
    const wt_rescue *rescue = work->rescue;
    wt_sequences fitted = wt_sequences_part(work->data, 0, work->train_samples);
    work->rescue = NULL;
    return rescue->start(rescue->user, &fitted, work->heads, &work->rescued);
}

/* The start that is not random, if there is one to be tried now; *most counts it. */
static wt_status given_start(job *work, size_t *most, const wt_layer **given) {
    size_t wait = *most < RESCUE_AFTER ? *most : RESCUE_AFTER;
    wt_status status = WT_OK;
    *given = NULL;
    if (work->options->start != NULL && work->starts == 0) {
        *given = work->options->start;
        work->from = "given";
    } else if (work->rescue != NULL && work->starts >= wait) {
        work->from = work->rescue->name;
        WT_TRY(ask_rescue(work));
        if (work->rescued != NULL && work->rescued->heads == work->heads) {
            *given = work->rescued;
            ++*most;
        }
    }
done:
    return status;
}

/* Rows of sequences begin .. end-1, sketched where there are many outputs. */
static wt_status make_rows(job *work, size_t begin, size_t end, bool whole, wt_rows *out) {
    wt_status status;
    WT_TRY(wt_rows_make(work->context, work->data, work->options, begin, end, out));
    if (!whole && out->outputs > SKETCH_ABOVE)
        WT_TRY(wt_rows_sketch(work->context, out, SKETCH, work->options->seed));
done:
    return status;
}

/* Room for descents on sequences 0 .. end-1; what was counted before goes to the report. */
static wt_status open_rows(job *work, size_t end) {
    wt_recover_report *report = work->report;
    wt_status status;
    report->steps += work->descent.steps;
    report->products += work->descent.products;
    wt_descent_free(&work->descent);
    wt_rows_free(&work->train);
    WT_TRY(make_rows(work, 0, end, false, &work->train));
    WT_TRY(wt_descent_new(work->context, &work->train, work->heads,
                          work->options->matrix_free ? 0 : WT_DESCENT_USUAL, &work->descent));
done:
    return status;
}

/* The best floor again, on all sequences: with noise every one of them counts. Then the residuals
 * are tested. */
static wt_status settle(job *work) {
    wt_projection *now = &work->descent.now;
    wt_status status;
    WT_TRY(open_rows(work, work->data->samples));
    memcpy(now->theta, work->best, work->descent.side * sizeof *work->best);
    WT_TRY(wt_descent_run(work->context, &work->descent, work->options->most_steps));
    memcpy(work->settled, now->theta, work->descent.side * sizeof *work->settled);
    work->settled_error = now->error;
    work->tested = true;
    double numbers = (double)(work->train.rows * work->train.outputs);
    if (numbers > unknowns(work)) {
        WT_TRY(wt_misfit_test(work->context, now, work->options->seed, &work->misfit));
        WT_TRY(wt_misfit_repeats(work->context, now, unknowns(work), &work->misfit));
        double allowed =
            fmax(now->error * sqrt(1 + HARMLESS / (numbers - unknowns(work))), 10 * work->goal);
        WT_TRY(wt_misfit_unbounded(work->context, now, allowed, &work->unbounded, &work->itself));
    } else {
        work->misfit = (wt_misfit){.p = NAN, .part = NAN, .seen = NAN, .blind = true};
        work->unbounded = work->heads;
    }
done:
    return status;
}

static wt_status try_starts(job *work) {
    size_t most = work->options->restarts + (work->options->start != NULL);
    wt_status status = WT_OK;
    while (!decided(work)) {
        const wt_layer *given;
        double held;
        WT_TRY(given_start(work, &most, &given));
        if (work->starts == most)
            break;
        if (work->train.in.sequences != work->train_samples)
            WT_TRY(open_rows(work, work->train_samples));
        first_theta(work, work->starts, given);
        WT_TRY(wt_descent_run(work->context, &work->descent, work->options->most_steps));
        WT_TRY(judge(work, &held));
        keep(work, work->starts, held);
        work->starts++;
        if (!work->reached && !work->tested && work->same >= FLOOR_STARTS)
            WT_TRY(settle(work));
    }
    /* noise in plenty makes many minima: the lowest may pass all the same */
    if (!work->reached && !work->tested && isfinite(work->best_error))
        WT_TRY(settle(work));
done:
    return status;
}

/* A fit to rounding may still be the limit of Theta that grow without end. */
static wt_status look_at_exact(job *work) {
    wt_status status;
    WT_TRY(wt_misfit_unbounded(work->context, &work->descent.now, 10 * work->goal, &work->unbounded,
                               &work->itself));
done:
    return status;
}

static wt_recover_verdict conclude(const job *work) {
    if (work->reached)
        return isnan(work->best_held)          ? WT_RECOVER_VERDICT_NOT_FOUND
               : work->unbounded < work->heads ? WT_RECOVER_VERDICT_MISFIT
                                               : WT_RECOVER_VERDICT_EXACT;
    return is_misfit(work)  ? WT_RECOVER_VERDICT_MISFIT
           : is_noise(work) ? WT_RECOVER_VERDICT_NOISE
                            : WT_RECOVER_VERDICT_NOT_FOUND;
}

/* Why the verdict is no. */
static void explain(const job *work, wt_recover_report *report) {
    const wt_misfit *misfit = &work->misfit;
    char what[WT_RECOVER_WARNING_BYTES] = "", *out = report->reason;
    out[0] = '\0';
    if (report->recovered)
        return;
    if (depends(work))
        snprintf(what, sizeof what, "%s%s%s (%.2g%% of what is left)%s", misfit->words,
                 misfit->also == NULL ? "" : " Or ", misfit->also == NULL ? "" : misfit->also,
                 100 * misfit->part, misfit->part < LITTLE ? " Or more heads?" : "");
    if (report->verdict == WT_RECOVER_VERDICT_MISFIT && work->unbounded < work->heads)
        snprintf(out, WT_RECOVER_WARNING_BYTES,
                 "the Theta of head %zu grows without bound: it attends to %s", work->unbounded,
                 work->itself ? "the token itself; a residual connection?"
                              : "single tokens; a maximum in place of the softmax?");
    else if (report->verdict == WT_RECOVER_VERDICT_MISFIT)
        snprintf(out, WT_RECOVER_WARNING_BYTES, "%s", what);
    else if (isnan(work->best_held))
        snprintf(out, WT_RECOVER_WARNING_BYTES,
                 "no sequence was held out, so that nothing confirms the fit");
    else if (depends(work))
        snprintf(out, WT_RECOVER_WARNING_BYTES, "starts end apart; %.200s", what);
    else if (!confirmed(work))
        snprintf(out, WT_RECOVER_WARNING_BYTES,
                 "held-out sequences do not confirm the fit: error %.3g, and %.3g on the fitted",
                 work->best_held, work->best_error);
    else
        snprintf(out, WT_RECOVER_WARNING_BYTES,
                 "%zu sequences are too few to tell noise from a misfit, error %.3g",
                 work->data->samples, work->settled_error);
}

/* Condition, counts, and W on all sequences and all outputs. */
static wt_status finish(job *work) {
    wt_recover_report *report = work->report;
    wt_rows all = {0};
    wt_status status;
    const double *theta = work->tested && !work->reached ? work->settled : work->best;
    memcpy(work->descent.now.theta, theta, work->descent.side * sizeof *theta);
    WT_TRY(wt_projection_evaluate(work->context, &work->descent.now));
    if (work->reached)
        WT_TRY(look_at_exact(work));
    memcpy(work->best, work->descent.now.theta, work->descent.side * sizeof *work->best);
    WT_TRY(wt_descent_condition(work->context, &work->descent, &report->condition));
    report->steps += work->descent.steps;
    report->products += work->descent.products;
    WT_TRY(make_rows(work, 0, work->data->samples, true, &all));
    WT_TRY(fit_w(work, &all, &report->train_error));
    report->holdout_error = work->best_held;
    report->verdict = conclude(work);
    report->exact = report->verdict == WT_RECOVER_VERDICT_EXACT;
    report->recovered = report->exact || report->verdict == WT_RECOVER_VERDICT_NOISE;
    report->goal = work->goal;
    bool tested = work->tested && !work->reached;
    report->misfit_chance = tested ? work->misfit.p : NAN;
    report->misfit_part = tested ? work->misfit.part : NAN;
    report->misfit_visible = tested ? work->misfit.seen : NAN;
    report->misfit_kind = tested ? work->misfit.kind : NULL;
    explain(work, report);
done:
    wt_rows_free(&all);
    return status;
}

/* `refine` with m given; adds to the report's counts. */
static wt_status refine_heads(wt_context *context, const wt_sequences *data,
                              const wt_recover_options *options, size_t heads,
                              const wt_rescue *rescue, wt_layer **out, wt_recover_report *report) {
    wt_layer *layer = NULL;
    job work = {.context = context,
                .data = data,
                .options = options,
                .rescue = rescue,
                .heads = heads,
                .best_from = "none",
                .best_error = INFINITY,
                .best_held = NAN,
                .unbounded = heads,
                .report = report};
    wt_status status;
    *out = NULL;
    work.square = wt_recover_mean_square(data);
    work.train_samples = wt_recover_train_samples(data, options);
    WT_TRY(wt_layer_new(context, heads, data->dim, data->outputs, &layer));
    work.out = layer;
    work.goal = options->goal;
    WT_TRY(open_rows(&work, work.train_samples));
    work.fitted_rows = work.train.rows;
    WT_TRY(make_rows(&work, work.train_samples, data->samples, false, &work.held));
    WT_TRY(WT_NEW_ZERO(context, &work.best, work.descent.side, "Theta"));
    WT_TRY(WT_NEW_ZERO(context, &work.settled, work.descent.side, "Theta"));
    WT_TRY(try_starts(&work));
    WT_TRY(finish(&work));
    report->heads = heads;
    report->start = work.best_start;
    report->start_from = work.best_from;
    report->starts += work.starts;
    *out = layer;
    layer = NULL;
done:
    wt_descent_free(&work.descent);
    wt_rows_free(&work.train);
    wt_rows_free(&work.held);
    wt_release(work.best);
    wt_release(work.settled);
    wt_layer_free(work.rescued);
    wt_layer_free(layer);
    return status;
}

/* m = 1, 2, .. from a few starts each, until one is exact or the held-out error stops falling;
 * *sure when the layer of that m was recovered. */
static wt_status find_heads(wt_context *context, const wt_sequences *data,
                            const wt_recover_options *options, size_t *out, bool *sure,
                            wt_recover_report *report) {
    enum { MOST_HEADS = 16, FEW_STARTS = 4, PATIENCE = 2 };
    wt_recover_options few = *options;
    double best = INFINITY;
    size_t since = 0;
    wt_status status = WT_OK;
    few.restarts = options->restarts < FEW_STARTS ? options->restarts : FEW_STARTS;
    few.start = NULL;
    *out = 1;
    *sure = false;
    for (size_t heads = 1; heads <= MOST_HEADS && since < PATIENCE; heads++) {
        wt_layer *layer;
        if (wt_recover_train_rows(data, options) <= heads * data->dim)
            break;
        WT_TRY(refine_heads(context, data, &few, heads, NULL, &layer, report));
        wt_layer_free(layer);
        double error = isnan(report->holdout_error) ? report->train_error : report->holdout_error;
        since++;
        if (error < 0.9 * best) {
            best = error;
            *out = heads;
            *sure = report->recovered;
            since = 0;
        }
        if (report->exact)
            break;
    }
done:
    return status;
}

typedef struct {
    wt_context *context;
    const wt_sequences *data;
    const wt_recover_options *options;
    const wt_rescue *rescue;
    wt_layer **out;
    wt_recover_report *report;
} whole;

/* Where m is to be found and no m did well, the rescue may know it: its start comes first then. */
static wt_status run_unknown(const whole *work) {
    const wt_sequences *data = work->data;
    wt_recover_options options = *work->options;
    const wt_rescue *rescue = work->rescue;
    wt_layer *start = NULL;
    size_t heads;
    bool sure;
    wt_status status;
    WT_TRY(find_heads(work->context, data, &options, &heads, &sure, work->report));
    if (!sure && rescue != NULL) {
        wt_sequences fitted = wt_sequences_part(data, 0, wt_recover_train_samples(data, &options));
        WT_TRY(rescue->start(rescue->user, &fitted, 0, &start));
        rescue = NULL;
        if (start != NULL) {
            heads = start->heads;
            options.start = start;
        }
    }
    WT_TRY(refine_heads(work->context, data, &options, heads, rescue, work->out, work->report));
    if (start != NULL && work->report->start == 0)
        work->report->start_from = work->rescue->name;
done:
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
    return refine_heads(work->context, work->data, work->options, work->options->heads,
                        work->rescue, work->out, work->report);
}

wt_status wt_refine_rescued(wt_context *context, const wt_sequences *data,
                            const wt_recover_options *options, const wt_rescue *rescue,
                            wt_layer **out, wt_recover_report *report) {
    double began = wt_clock(), before = wt_work_done(context);
    wt_visible seen = {0};
    wt_holdout split = {0};
    wt_layer *layer = NULL;
    whole work = {context, NULL, &split.options, rescue, &layer, report};
    wt_status status;
    *out = NULL;
    WT_TRY(wt_recover_begin(context, "refine", data, options, report));
    WT_TRY(wt_visible_make(context, data, options, &seen));
    report->rank = seen.rank;
    seen.options.goal = wt_recover_goal(data, options);
    WT_TRY(wt_holdout_split(context, &seen.data, &seen.options, &split));
    work.data = split.data;
    WT_TRY(wt_recover_run(context, split.data, &split.options, run_whole, &work));
    wt_recover_end(context, &seen.data, options, layer, report);
    WT_TRY(wt_visible_lift(context, &seen, layer));
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

wt_status wt_refine(wt_context *context, const wt_sequences *data, const wt_recover_options *given,
                    wt_layer **out, wt_recover_report *report) {
    wt_recover_report full = {0};
    wt_recover_options options;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_recover_open(context, given, report, &options));
    status = wt_refine_rescued(context, data, &options, NULL, out, &full);
    wt_sized_write(report, &full, sizeof full);
done:
    return status;
}
