/* Which form a layer has: the one given, and where that is a misfit one more part at a time, those
 * that the residuals suggest first, as long as the held-out error falls. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "layer/learn/recovery.h"
#include "layer/task/vector.h"

/* Random starts of a form that is tried at most; of one with a number of heads to begin with. */
enum { FEW_STARTS = 4, FEWER_STARTS = 2, FEW_HEADS = 4 };
/* A part that lowers the error to less than this part of it is kept. */
#define BETTER 0.9
/* Biases this small beside Theta and W are none. */
#define NOTHING 1e-7

static bool add_bias(const wt_sequences *data, wt_recover_options *options) {
    (void)data;
    bool news = !options->bias;
    options->bias = true;
    return news;
}

static bool add_residual(const wt_sequences *data, wt_recover_options *options) {
    bool news = !options->residual && data->outputs == data->dim;
    options->residual = true;
    return news;
}

/* A mask shows in rows of tokens that others follow. */
static bool add_causal(const wt_sequences *data, wt_recover_options *options) {
    bool news = false;
    for (size_t s = 0; options->mask == WT_LAYER_MASK_NONE && s < data->samples && !news; s++)
        for (size_t a = 0; a + 1 < wt_sequences_length_of(data, s) && !news; a++)
            news = wt_sequences_known(data, s, a);
    options->mask = WT_LAYER_MASK_CAUSAL;
    return news;
}

/* Biases come with a norm that has a shift; a layer without them is found all the same. */
static bool add_layer_norm(const wt_sequences *data, wt_recover_options *options) {
    (void)data;
    bool news = options->norm == WT_LAYER_NORM_NONE;
    options->norm = WT_LAYER_NORM_LAYER;
    return news;
}

static bool add_rms_norm(const wt_sequences *data, wt_recover_options *options) {
    (void)data;
    bool news = options->norm == WT_LAYER_NORM_NONE;
    options->norm = WT_LAYER_NORM_RMS;
    return news;
}

/* A norm inside a residual connection: each alone may lower the error by little. */
static bool add_inner_layer_norm(const wt_sequences *data, wt_recover_options *options) {
    bool inner = add_residual(data, options);
    return add_layer_norm(data, options) && inner;
}

static bool add_inner_rms_norm(const wt_sequences *data, wt_recover_options *options) {
    bool inner = add_residual(data, options);
    return add_rms_norm(data, options) && inner;
}

/* A part of a form, and the kinds of residuals (misfit_features.c) that suggest it. */
static const struct {
    bool (*add)(const wt_sequences *data, wt_recover_options *options);
    const char *kinds;
} parts[] = {
    {add_causal, " causal "},
    {add_residual, " token "},
    {add_bias, " constant scores mean "},
    {add_layer_norm, " norm factors "},
    {add_rms_norm, " norm factors "},
    {add_inner_layer_norm, ""},
    {add_inner_rms_norm, ""},
};
enum { PARTS = sizeof parts / sizeof *parts };

static bool suggests(const char *kind, size_t part) {
    char word[32];
    snprintf(word, sizeof word, " %.29s ", kind == NULL ? "" : kind);
    return strstr(parts[part].kinds, word) != NULL;
}

typedef struct {
    wt_context *context;
    wt_recover_run_fn *run;
    const wt_sequences *data;
    wt_recover_options options; /* of the best form so far */
    wt_layer *layer;
    wt_recover_report *report;
    wt_sculpt_report *stages;
    size_t tried;
    double flops, seconds; /* of all of them */
    bool late;             /* the time is over: the best form so far must do */
    bool stale;            /* whatever comes next takes the place of the layer */
} search;

/* Whether other forms are of no use, or of no use any more. */
static bool is_done(const search *work) {
    return work->report->recovered || work->late;
}

/* The same within a round: what reaches the floor of noise may be another form that few examples do
 * not tell from the right one, which then is exact or has a lower floor. */
static bool is_certain(const search *work) {
    return work->report->exact || work->late;
}

static double error_of(const wt_recover_report *report) {
    return isnan(report->holdout_error) ? report->train_error : report->holdout_error;
}

/* Runs another form; it is kept when its error is lower than that of the best of this round. */
static wt_status try_form(search *work, const wt_recover_options *options, double *least) {
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_layer *layer = NULL;
    wt_status status = work->run(work->context, work->data, options, &layer, &report, work->stages);
    if (work->layer != NULL && wt_context_end_of_time(work->context, status)) {
        work->late = true;
        return WT_OK;
    }
    WT_PASS(status);
    work->late = report.out_of_time;
    work->tried++;
    work->flops += report.flops;
    work->seconds += report.seconds;
    bool first = report.recovered && !(work->layer != NULL && work->report->recovered);
    if (work->layer != NULL && !work->stale && !report.exact && !first &&
        (report.recovered != work->report->recovered || !(error_of(&report) < *least))) {
        wt_layer_free(layer);
        return WT_OK;
    }
    *least = report.recovered ? BETTER * error_of(&report) : error_of(&report);
    wt_layer_free(work->layer);
    work->layer = layer;
    work->stale = false;
    *work->report = report;
    work->options = *options;
    return WT_OK;
}

/* Every part that the form does not have yet, those suggested first, until one recovers it
 * exactly. */
static wt_status try_parts(search *work, double *least) {
    const wt_recover_options base = work->options;
    const char *kind = work->report->misfit_kind;
    for (int suggested = 1; suggested >= 0; suggested--)
        for (size_t i = 0; i < PARTS && !is_certain(work); i++) {
            wt_recover_options next = base;
            if (suggests(kind, i) != (suggested == 1) || !parts[i].add(work->data, &next))
                continue;
            next.start = NULL;
            WT_PASS(try_form(work, &next, least));
        }
    return WT_OK;
}

/* A layer whose biases are nothing is one without. */
static void drop_biases(const wt_recover_options *given, wt_layer *layer) {
    size_t m = layer->heads, d = layer->dim, p = layer->outputs;
    double u = 0, theta = 0, c;
    if (!layer->form.bias || given->bias)
        return;
    for (size_t i = 0; i < m; i++) {
        theta += wt_vector_squares(d * d, layer->theta + i * (d + 1) * d);
        u += wt_vector_squares(d, layer->theta + (i * (d + 1) + d) * d);
    }
    c = wt_vector_squares(p, wt_layer_c(layer));
    if (u > NOTHING * NOTHING * theta ||
        c > NOTHING * NOTHING * wt_vector_squares(m * d * p, layer->w))
        return;
    for (size_t i = 1; i < m; i++)
        memmove(layer->theta + i * d * d, layer->theta + i * (d + 1) * d,
                d * d * sizeof *layer->theta);
    layer->form.bias = false;
}

/* Parts are added to a form, from few starts each. */
static wt_status add_parts(search *work, const wt_recover_options *from) {
    double any = INFINITY;
    WT_PASS(try_form(work, from, &any));
    for (size_t round = 0; round < PARTS && !is_done(work); round++) {
        double before = error_of(work->report), least = BETTER * before;
        WT_PASS(try_parts(work, &least));
        if (least == BETTER * before)
            break;
    }
    return WT_OK;
}

/* Where the heads are to be found they make up for parts that are missing, ever more of them at
 * ever more work. So the form is looked for with one head, two, .. first, as long as the error
 * falls, and then the heads with that form. */
static wt_status search_few_heads(search *work, const wt_recover_options *few) {
    double any = INFINITY, before = INFINITY;
    wt_recover_options next = *few;
    next.restarts = few->restarts < FEWER_STARTS ? few->restarts : FEWER_STARTS;
    if (few->groups > 0)
        return WT_OK;
    for (next.heads = 1; next.heads <= FEW_HEADS && !is_certain(work); next.heads++) {
        if (wt_recover_train_rows(work->data, &next) <=
            wt_recover_followed(&next, next.heads, work->data->dim))
            break;
        work->stale = true;
        WT_PASS(add_parts(work, &next));
        if (!(error_of(work->report) < BETTER * before))
            break;
        before = error_of(work->report);
    }
    if (work->layer == NULL || is_certain(work))
        return WT_OK;
    next = work->options;
    next.heads = 0;
    next.restarts = few->restarts;
    work->stale = true;
    WT_PASS(try_form(work, &next, &any));
    if (work->report->recovered && !is_certain(work)) { /* is the form given as good? */
        double as_good = error_of(work->report) / BETTER;
        next = *few;
        next.heads = work->report->heads;
        WT_PASS(try_form(work, &next, &as_good));
    }
    work->stale = !is_done(work);
    return WT_OK;
}

/* From few starts each; the best form, where none of them recovered it, from all. */
static wt_status search_forms(search *work, const wt_recover_options *given) {
    double any = INFINITY;
    wt_recover_options few = *given;
    few.restarts = few.restarts < FEW_STARTS ? few.restarts : FEW_STARTS;
    if (given->heads == 0)
        WT_PASS(search_few_heads(work, &few));
    if (work->layer == NULL || work->stale)
        WT_PASS(add_parts(work, &few));
    if (!is_done(work) && given->restarts > FEW_STARTS) {
        work->options.restarts = given->restarts;
        WT_PASS(try_form(work, &work->options, &any));
    }
    if (work->report->recovered)
        drop_biases(given, work->layer);
    return WT_OK;
}

/* Others might have done better, had there been the time. */
static void mark_late(wt_recover_report *report) {
    report->out_of_time = true;
    if (report->recovered)
        return;
    report->verdict = WT_RECOVER_VERDICT_NOT_FOUND;
    snprintf(report->reason, sizeof report->reason, "the time is over");
}

wt_status wt_recover_as_formed(wt_context *context, wt_recover_run_fn *run,
                               const wt_sequences *data, const wt_recover_options *options,
                               wt_layer **out, wt_recover_report *report,
                               wt_sculpt_report *stages) {
    search work = {
        .context = context, .run = run, .data = data, .report = report, .stages = stages};
    double any = INFINITY;
    wt_status status = options->forms == WT_RECOVER_FORMS_AUTO ? search_forms(&work, options)
                                                               : try_form(&work, options, &any);
    if (status == WT_OK && work.late)
        mark_late(report);
    if (status == WT_OK)
        wt_layer_form_print(&work.layer->form, report->form);
    else
        wt_layer_free(work.layer);
    report->forms = work.tried;
    report->flops = work.flops;
    report->seconds = work.seconds;
    *out = status == WT_OK ? work.layer : NULL;
    return status;
}
