/* The starts of `refine`, and the held-out sequences that judge them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "layer/learn/refine_parts.h"
#include "wattle/random.h"

/* Outputs above which Theta is fitted to Y S, S (p, q), and W alone to Y: q is SKETCH and so many
 * STEPs more as leave SKETCH_TIMES as many equations as unknowns, which starts need to find heads;
 * with a rank, whose unknowns are fewer, more. Where no q < p does all outputs are fitted. */
enum { SKETCH_ABOVE = 160, SKETCH = 96, SKETCH_STEP = 32 };
enum { SKETCH_TIMES = 6, SKETCH_TIMES_RANKED = 10 };
/* Spread of the scores at a start: small, so that all softmaxes are nearly flat. Theta of a given
 * rank are found in half the time, and as often, from softmaxes that tell tokens apart. */
#define START        0.1
#define START_RANKED 1
/* Errors of starts that ended at the same floor agree to this part. */
#define SAME_FLOOR 1e-5
/* Squares over those of the noise that doubling a Theta may add and still be chance. */
#define HARMLESS 10
/* Random starts that fail before a rescue is asked for: it may cost as much as they do. */
enum { RESCUE_AFTER = 4 };

/* Theta in best, W by least squares on the rows, into out. */
static wt_status fit_w(wt_refinement *work, const wt_rows *rows, double *error) {
    const wt_projection *form = &work->descent.form;
    wt_theta_unpack(work->heads, form->asked, rows->in.dim, work->best, work->out->theta);
    return wt_descent_fit_w(work->context, &work->descent, rows, work->best, work->out->w, error);
}

/* The error on the held-out rows of the descent's Theta and W. */
static wt_status judge(wt_refinement *work, double *out) {
    const wt_projection *form = &work->descent.form;
    wt_arena arena = wt_arena_start(work->context, "a layer");
    wt_layer layer = {.heads = work->heads,
                      .dim = work->data->dim,
                      .outputs = work->held.outputs,
                      .form = work->out->form};
    wt_status status = WT_OK;
    *out = NAN;
    if (work->held.rows == 0 || !isfinite(work->descent.error))
        return WT_OK;
    layer.theta = WT_TAKE(&arena, double, form->asked, form->width);
    layer.w = WT_TAKE(&arena, double, form->columns, work->held.outputs);
    WT_TRY(arena.status);
    WT_TRY(wt_descent_read(work->context, &work->descent, layer.theta, layer.w));
    WT_TRY(wt_recover_error(work->context, &layer, &work->held, out));
done:
    wt_arena_free(&arena);
    return status;
}

/* Theta = A B^T of Gaussian A and B, whose entries have variance r. */
static wt_status first_factors(wt_refinement *work, wt_stream stream) {
    const wt_factors *factors = &work->descent.factors;
    double *theta = work->descent.theta, *v = theta + work->descent.thetas;
    wt_random_normal(stream, 0, factors->factors, factors->next);
    memcpy(factors->next + factors->factors, v, factors->shared * sizeof *v);
    return wt_factors_multiply(work->context, factors, factors->next, theta);
}

static wt_status first_theta(wt_refinement *work, size_t start, const wt_layer *given) {
    size_t side = work->descent.thetas, d = work->data->dim, rank = work->descent.factors.rank;
    double *theta = work->descent.theta;
    double scale = (rank > 0 ? START_RANKED / sqrt((double)rank) : START) / (double)d;
    wt_stream stream = wt_stream_for(work->options->seed, "start", start);
    wt_random_normal(wt_stream_for(work->options->seed, "start of values", start), 0,
                     work->descent.numbers - side, theta + side);
    if (given != NULL) {
        wt_theta_pack(work->heads, work->descent.form.asked, d, given->theta, theta);
        return WT_OK;
    }
    work->from = "random";
    if (rank > 0)
        WT_PASS(first_factors(work, stream));
    else
        wt_random_normal(stream, 0, side, theta);
    for (size_t i = 0; i < side; i++)
        theta[i] *= scale / work->square;
    return WT_OK;
}

/* Keeps the result of a start when it is the best; counts those at the same floor. */
static void keep(wt_refinement *work, size_t start, double held) {
    const wt_descent *now = &work->descent;
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
    memcpy(work->best, now->theta, work->descent.numbers * sizeof *work->best);
}

/* Work that ran out of time has ended: what it has come to counts. */
static wt_status in_time(wt_refinement *work, wt_status status) {
    if (!wt_context_end_of_time(work->context, status))
        return status;
    work->late = true;
    return WT_OK;
}

/* Asks for a start from the sequences that are fitted. */
static wt_status ask_rescue(wt_refinement *work) {
    const wt_rescue *rescue = work->rescue;
    wt_sequences fitted = wt_sequences_part(work->data, 0, work->train_samples);
    work->rescue = NULL;
    return in_time(work, rescue->start(rescue->user, &fitted, work->heads, &work->rescued));
}

/* The start that is not random, if there is one to be tried now; *most counts it. */
static wt_status given_start(wt_refinement *work, size_t *most, const wt_layer **given) {
    size_t wait = *most < RESCUE_AFTER ? *most : RESCUE_AFTER;
    *given = NULL;
    if (work->options->start != NULL && work->starts == 0) {
        *given = work->options->start;
        work->from = "given";
    } else if (work->rescue != NULL && work->starts >= wait) {
        work->from = work->rescue->name;
        WT_PASS(ask_rescue(work));
        if (work->rescued != NULL && work->rescued->heads == work->heads) {
            *given = work->rescued;
            ++*most;
        }
    }
    return WT_OK;
}

size_t wt_refine_columns(const wt_sequences *data, const wt_recover_options *options,
                         size_t heads) {
    size_t p = data->outputs, q = p <= SKETCH_ABOVE ? p : SKETCH;
    double rows = (double)wt_recover_train_rows(data, options);
    double times = options->rank > 0 ? SKETCH_TIMES_RANKED : SKETCH_TIMES;
    while (q < p && rows * (double)q < times * wt_recover_unknowns(heads, data->dim, q,
                                                                   options->rank, options->groups))
        q += SKETCH_STEP;
    return q < p ? q : p;
}

/* Rows of sequences begin .. end-1, sketched where there are many outputs. */
static wt_status make_rows(wt_refinement *work, size_t begin, size_t end, bool whole,
                           wt_rows *out) {
    WT_PASS(wt_rows_make(work->context, work->data, work->options, begin, end, out));
    size_t columns = wt_refine_columns(work->data, work->options, work->heads);
    if (!whole && columns < out->outputs)
        WT_PASS(wt_rows_sketch(work->context, out, columns, work->options->seed));
    return WT_OK;
}

/* Room for descents on sequences 0 .. end-1; what was counted before goes to the report. */
static wt_status open_rows(wt_refinement *work, size_t end) {
    wt_recover_report *report = work->report;
    report->steps += work->descent.steps;
    report->products += wt_descent_products(&work->descent);
    wt_descent_free(&work->descent);
    wt_rows_free(&work->train);
    WT_PASS(make_rows(work, 0, end, false, &work->train));
    WT_PASS(wt_descent_new(work->context, &work->train, work->heads, work->options->rank,
                           work->options->groups, work->options->matrix_free ? 0 : WT_DESCENT_USUAL,
                           &work->descent));
    work->descent.meter = &work->meter;
    return WT_OK;
}

/* What the meter says of the work in hand. */
static void enter(wt_refinement *work, const char *what) {
    snprintf(work->phase, sizeof work->phase, "%zu head%s, %s", work->heads,
             work->heads == 1 ? "" : "s", what);
    wt_meter_enter(&work->meter, work->phase);
}

static void enter_start(wt_refinement *work, size_t most) {
    char what[32];
    snprintf(what, sizeof what, "start %zu", work->starts + 1);
    work->meter.total = (double)most;
    work->meter.done = (double)work->starts;
    enter(work, what);
}

/* Whether the residuals of the floor in hand are noise. */
static wt_status test_left(wt_refinement *work) {
    wt_descent *descent = &work->descent;
    const wt_projection *now;
    double numbers = (double)(work->train.rows * work->train.outputs);
    if (numbers > wt_refine_unknowns(work)) {
        WT_PASS(wt_descent_look(work->context, descent, &now));
        WT_PASS(wt_misfit_test(work->context, now, work->options->seed, &work->misfit));
        WT_PASS(wt_misfit_repeats(work->context, now, wt_refine_unknowns(work), &work->misfit));
        double allowed =
            fmax(descent->error * sqrt(1 + HARMLESS / (numbers - wt_refine_unknowns(work))),
                 10 * work->goal);
        WT_PASS(
            wt_descent_unbounded(work->context, descent, allowed, &work->unbounded, &work->itself));
    } else {
        work->misfit = (wt_misfit){.p = NAN, .part = NAN, .seen = NAN, .blind = true};
        work->unbounded = work->heads;
    }
    return WT_OK;
}

/* The best floor again, on all sequences: with noise every one of them counts. Then the residuals
 * are tested. */
static wt_status settle(wt_refinement *work) {
    const wt_descent *now = &work->descent;
    enter(work, "polish");
    WT_PASS(open_rows(work, work->data->samples));
    memcpy(now->theta, work->best, work->descent.numbers * sizeof *work->best);
    WT_PASS(in_time(work, wt_descent_run(work->context, &work->descent, work->options->max_steps)));
    if (work->late)
        return WT_OK;
    memcpy(work->settled, now->theta, work->descent.numbers * sizeof *work->settled);
    work->settled_error = now->error;
    enter(work, "test of what is left");
    WT_PASS(in_time(work, test_left(work)));
    work->tested = !work->late;
    return WT_OK;
}

static wt_status try_starts(wt_refinement *work) {
    size_t most = work->options->restarts + (work->options->start != NULL);
    while (!wt_refine_decided(work)) {
        const wt_layer *given;
        double held;
        WT_PASS(given_start(work, &most, &given));
        if (work->starts == most || work->late)
            break;
        if (work->train.in.sequences != work->train_samples)
            WT_PASS(open_rows(work, work->train_samples));
        enter_start(work, most);
        WT_PASS(first_theta(work, work->starts, given));
        WT_PASS(
            in_time(work, wt_descent_run(work->context, &work->descent, work->options->max_steps)));
        wt_context_grant_time(work->context);
        wt_status status = judge(work, &held);
        wt_context_revoke_time(work->context);
        WT_PASS(status);
        keep(work, work->starts, held);
        work->starts++;
        if (!work->reached && !work->tested && work->same >= WT_REFINE_FLOOR && !work->late)
            WT_PASS(settle(work));
    }
    /* noise in plenty makes many minima: the lowest may pass all the same */
    if (!work->reached && !work->tested && isfinite(work->best_error) && !work->late)
        WT_PASS(settle(work));
    return WT_OK;
}

/* Condition, counts, and W on all sequences and all outputs. */
static wt_status finish(wt_refinement *work) {
    wt_recover_report *report = work->report;
    wt_rows all = {0};
    wt_status status;
    const double *theta = work->tested && !work->reached ? work->settled : work->best;
    memcpy(work->descent.theta, theta, work->descent.numbers * sizeof *theta);
    WT_TRY(wt_descent_evaluate(work->context, &work->descent));
    if (work->reached) /* to rounding, and yet perhaps the limit of Theta that grow without end */
        WT_TRY(wt_descent_unbounded(work->context, &work->descent, 10 * work->goal,
                                    &work->unbounded, &work->itself));
    memcpy(work->best, work->descent.theta, work->descent.numbers * sizeof *work->best);
    WT_TRY(wt_descent_condition(work->context, &work->descent, &report->condition));
    report->steps += work->descent.steps;
    report->products += wt_descent_products(&work->descent);
    WT_TRY(make_rows(work, 0, work->data->samples, true, &all));
    WT_TRY(fit_w(work, &all, &report->train_error));
    report->holdout_error = work->best_held;
    wt_refine_conclude(work, report);
done:
    wt_rows_free(&all);
    return status;
}

wt_status wt_refine_heads(wt_context *context, const wt_sequences *data,
                          const wt_recover_options *options, size_t heads, const wt_rescue *rescue,
                          wt_layer **out, wt_recover_report *report) {
    wt_layer *layer = NULL;
    wt_refinement work = {.context = context,
                          .data = data,
                          .options = options,
                          .rescue = rescue,
                          .heads = heads,
                          .best_from = "none",
                          .best_error = INFINITY,
                          .best_held = NAN,
                          .unbounded = heads,
                          .meter = wt_meter_start(context, "starts", 0),
                          .report = report};
    wt_status status;
    *out = NULL;
    work.square = wt_recover_mean_square(data);
    work.train_samples = wt_recover_train_samples(data, options);
    const wt_layer_form form = wt_recover_form(options);
    WT_TRY(wt_layer_new_form(context, heads, data->dim, data->outputs, &form, &layer));
    work.out = layer;
    work.goal = options->goal;
    WT_TRY(open_rows(&work, work.train_samples));
    work.fitted_rows = work.train.rows;
    WT_TRY(make_rows(&work, work.train_samples, data->samples, false, &work.held));
    WT_TRY(WT_NEW_ZERO(context, &work.best, work.descent.numbers, "Theta"));
    WT_TRY(WT_NEW_ZERO(context, &work.settled, work.descent.numbers, "Theta"));
    WT_TRY(try_starts(&work));
    wt_context_grant_time(context);
    status = finish(&work);
    wt_context_revoke_time(context);
    WT_TRY(status);
    report->heads = heads;
    report->start = work.best_start;
    report->start_from = work.best_from;
    report->starts += work.starts;
    report->out_of_time = work.late;
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
