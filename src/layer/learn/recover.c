#include "layer/learn/recovery.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/field.h"
#include "base/memory.h"
#include "base/sized.h"
#include "layer/model/heads.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"

/* What rounding x or y to float32 may leave, where all else is double. */
#define ROUNDED_GOAL (4 * (double)FLT_EPSILON)

wt_status wt_recover_open(wt_context *context, const char *method, const wt_recover_options *given,
                          const wt_recover_report *report, wt_recover_options *options) {
    size_t count;
    const wt_field *fields = wt_recover_fields(&count);
    WT_INIT(wt_recover_options, options);
    WT_PASS(wt_sized_check(context, "wt_recover_report", report, sizeof *report));
    WT_PASS(wt_sized_read(context, "wt_recover_options", given, options, sizeof *options));
    WT_PASS(wt_fields_check(context, fields, count, options));
    if (options->groups > 0 && options->rank == 0)
        return wt_fail(context, WT_USAGE,
                       "%zu groups share keys and values of a known width: a rank is needed",
                       options->groups);
    if (options->groups > 0 && options->heads % options->groups != 0)
        return wt_fail(context, WT_USAGE, "%zu heads do not divide into %zu groups", options->heads,
                       options->groups);
    if (options->max_steps == 0)
        options->max_steps =
            wt_recover_method_find(method == NULL ? options->method : method)->steps;
    return WT_OK;
}

wt_status wt_recover_call(wt_context *context, const char *method, wt_recover_learner *learner,
                          const wt_sequences *data, const wt_recover_options *given, wt_layer **out,
                          wt_recover_report *report) {
    wt_recover_report full = {0};
    wt_recover_options options;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_recover_open(context, method, given, report, &options));
    status = learner(context, data, &options, out, &full);
    wt_sized_write(report, &full, sizeof full);
done:
    return status;
}

double wt_recover_unknowns(size_t heads, size_t dim, size_t outputs, size_t rank, size_t groups) {
    double m = (double)heads, d = (double)dim, p = (double)outputs, r = (double)rank;
    if (rank == 0 || rank >= dim)
        return m * d * (d + p);
    return groups == 0 ? m * (r * (2 * d - r) + d * p)
                       : m * r * (d + p) + 2 * (double)groups * r * (d - r);
}

size_t wt_recover_followed(const wt_recover_options *options, size_t heads, size_t dim) {
    bool narrow = options->groups > 0 && options->rank < dim;
    size_t rows;
    return wt_multiply(heads, narrow ? options->rank : dim, &rows) ? rows : SIZE_MAX;
}

double wt_recover_least_examples(size_t heads, size_t dim, size_t outputs, size_t length,
                                 size_t rank, size_t groups) {
    double d = (double)dim, p = (double)outputs, k = (double)length;
    return fmax(wt_recover_unknowns(heads, dim, outputs, rank, groups) / (k * p),
                length < 2 ? INFINITY : d * d / (k * (k - 1)));
}

wt_layer_form wt_recover_form(const wt_recover_options *options) {
    return (wt_layer_form){.size = sizeof(wt_layer_form),
                           .bias = options->bias,
                           .residual = options->residual,
                           .mask = options->mask,
                           .norm = options->norm,
                           .epsilon = options->epsilon};
}

size_t wt_recover_train_samples(const wt_sequences *data, const wt_recover_options *options) {
    size_t held = (size_t)(options->holdout * (double)data->samples);
    if (held == 0 && options->holdout > 0 && data->samples > 1)
        held = 1;
    return data->samples - held;
}

size_t wt_recover_train_rows(const wt_sequences *data, const wt_recover_options *options) {
    size_t samples = wt_recover_train_samples(data, options), rows = 0;
    for (size_t s = 0; s < samples; s++)
        for (size_t a = 0; a < data->length; a++)
            rows += wt_sequences_known(data, s, a);
    return rows;
}

double wt_recover_mean_square(const wt_sequences *data) {
    size_t tokens = 0;
    double square = 0;
    for (size_t s = 0; s < data->samples; s++) {
        size_t length = wt_sequences_length_of(data, s);
        square += wt_vector_squares(length * data->dim, data->x + s * data->length * data->dim);
        tokens += length;
    }
    return square / (double)(tokens * data->dim);
}

wt_status wt_recover_error(wt_context *context, const wt_layer *layer, const wt_rows *rows,
                           double *out) {
    size_t R = rows->rows, columns = wt_layer_columns(layer), p = rows->outputs;
    wt_arena arena = wt_arena_start(context, "outputs");
    wt_status status;
    double *h = WT_TAKE(&arena, double, R, columns);
    double *f = WT_TAKE(&arena, double, R, p);
    WT_TRY(arena.status);
    WT_TRY(wt_attention_run(context, &rows->in, layer->heads, layer->theta, NULL, h));
    WT_TRY(
        wt_gemm(context, WT_PLAIN, WT_PLAIN, R, p, columns, 1, h, columns, layer->w, p, 0, f, p));
    *out = sqrt(wt_vector_apart(R * p, f, rows->y)) / rows->norm;
done:
    wt_arena_free(&arena);
    return status;
}

bool wt_recover_is_single(size_t count, const double *x) {
    for (size_t i = 0; i < count; i++)
        if ((double)(float)x[i] != x[i] && !isnan(x[i]))
            return false;
    return true;
}

/* Whether a float32 number is one that rounding hardly leaves: 12 bits hold it, as they do -1
 * and 1. */
static bool is_short(double x) {
    int exponent;
    double twelve = ldexp(frexp(x, &exponent), 12);
    return twelve == floor(twelve);
}

double wt_recover_goal(const wt_sequences *data, const wt_recover_options *options) {
    size_t tokens = data->samples * data->length, numbers = tokens * data->dim, i = 0;
    bool x = wt_recover_is_single(numbers, data->x);
    bool y = wt_recover_is_single(tokens * data->outputs, data->y);
    while (x && i < numbers && is_short(data->x[i]))
        i++;
    bool rounded = x && i < numbers;
    double least = x && y ? WT_RECOVER_SINGLE_GOAL : y || rounded ? ROUNDED_GOAL : 0;
    return fmax(options->goal, least);
}

const char *wt_recover_verdict_name(wt_recover_verdict verdict) {
    static const char *const names[] = {
        [WT_RECOVER_VERDICT_NOT_FOUND] = "not found",
        [WT_RECOVER_VERDICT_MISFIT] = "not of this class",
        [WT_RECOVER_VERDICT_NOISE] = "to the floor of noise",
        [WT_RECOVER_VERDICT_EXACT] = "exact",
    };
    return (size_t)verdict < sizeof names / sizeof *names ? names[verdict] : "?";
}

/* A pass of fewer flops, about, is too short to share. */
#define FEW_FLOPS 3e8

wt_status wt_recover_share(wt_context *context, double flops, wt_body_fn body, void *argument) {
    /* inside a loop of one item all further loops stay on this thread */
    return flops < FEW_FLOPS ? wt_parallel_for(context, 1, 1, body, argument)
                             : body(argument, 0, 1, 0);
}

wt_status wt_recover_run(wt_context *context, const wt_sequences *data,
                         const wt_recover_options *options, wt_body_fn body, void *argument) {
    double heads = options->heads == 0 ? 1 : (double)options->heads, d = (double)data->dim;
    double flops = 4 * (double)wt_recover_train_rows(data, options) * heads * d *
                   (d + 2 * (double)data->outputs);
    return wt_recover_share(context, flops, body, argument);
}

/* A sentence for the report and the context's log. */
__attribute__((format(printf, 3, 4))) static void
warn(wt_context *context, wt_recover_report *report, const char *format, ...) {
    if (report->warnings == WT_RECOVER_MAX_WARNINGS)
        return;
    char *sentence = report->warning[report->warnings++];
    va_list values;
    va_start(values, format);
    vsnprintf(sentence, WT_RECOVER_WARNING_BYTES, format, values);
    va_end(values);
    wt_remark(context, "%s", sentence);
}

static size_t longest_of(const wt_sequences *data) {
    size_t longest = 0;
    for (size_t s = 0; s < data->samples; s++)
        longest =
            wt_sequences_length_of(data, s) > longest ? wt_sequences_length_of(data, s) : longest;
    return longest;
}

/* Outputs that never change are no evidence of any layer. */
static wt_status check_outputs(wt_context *context, const wt_sequences *data) {
    const double *first = NULL;
    bool zero = true;
    for (size_t s = 0; s < data->samples; s++)
        for (size_t a = 0; a < data->length; a++) {
            if (!wt_sequences_known(data, s, a))
                continue;
            const double *y = data->y + (s * data->length + a) * data->outputs;
            first = first == NULL ? y : first;
            for (size_t j = 0; j < data->outputs; j++) {
                if (fabs(y[j] - first[j]) > 8 * DBL_EPSILON * fabs(first[j]))
                    return WT_OK;
                zero = zero && y[j] == 0;
            }
        }
    return zero ? wt_fail(context, WT_DATA,
                          "y is 0 everywhere: every layer with W = 0 fits it, whatever its Theta")
                : wt_fail(context, WT_DATA,
                          "y is the same in every row: a constant, which says nothing of a layer");
}

static wt_status check(wt_context *context, const wt_sequences *data,
                       const wt_recover_options *options) {
    WT_PASS(wt_sequences_check(context, data, "the data"));
    if (data->y == NULL || data->outputs == 0)
        return wt_fail(context, WT_DATA,
                       "the data has no outputs to recover a layer from: y (n,k,p) is expected");
    if (options->residual && data->outputs != data->dim)
        return wt_fail(context, WT_DATA,
                       "a residual connection adds tokens of %zu dimensions to %zu outputs",
                       data->dim, data->outputs);
    if (options->start != NULL &&
        (options->start->heads != options->heads || options->start->dim != data->dim))
        return wt_fail(context, WT_USAGE,
                       "a start of %zu heads in %zu dimensions does not fit %zu in %zu",
                       options->start->heads, options->start->dim, options->heads, data->dim);
    if (longest_of(data) < 2)
        return wt_fail(context, WT_DATA,
                       "sequences of one token show only the sum of all W, y = x^T sum W_i: no "
                       "Theta can be recovered from them");
    if (wt_recover_mean_square(data) == 0)
        return wt_fail(context, WT_DATA, "every token is zero");
    return check_outputs(context, data);
}

wt_status wt_recover_begin(wt_context *context, const char *method, const wt_sequences *data,
                           const wt_recover_options *options, wt_recover_report *report) {
    *report = (wt_recover_report){.method = method,
                                  .start_from = "random",
                                  .train_error = NAN,
                                  .holdout_error = NAN,
                                  .condition = NAN,
                                  .least_examples = NAN,
                                  .goal = options->goal,
                                  .misfit_chance = NAN,
                                  .misfit_part = NAN,
                                  .misfit_visible = NAN,
                                  .dim = data->dim,
                                  .rank = data->dim,
                                  .examples = data->samples};
    return check(context, data, options);
}

wt_status wt_recover_check_rows(wt_context *context, const wt_sequences *data,
                                const wt_recover_options *options) {
    size_t heads = options->heads == 0 ? 1 : options->heads;
    size_t rows = wt_recover_train_rows(data, options);
    size_t unknowns = wt_recover_followed(options, heads, data->dim);
    if (rows <= unknowns)
        return wt_fail(context, WT_DATA,
                       "%zu output rows to fit are hopeless for %zu heads in %zu dimensions: W "
                       "alone can follow %zu of any",
                       rows, heads, data->dim, unknowns);
    return WT_OK;
}

static void warn_examples(wt_context *context, const wt_sequences *data,
                          const wt_recover_options *options, size_t columns, const wt_layer *layer,
                          wt_recover_report *report) {
    char sketched[96] = "";
    /* the rule of the information limit is for whole sequences of one length */
    if (data->lengths != NULL || data->partial)
        return;
    report->least_examples = wt_recover_least_examples(
        layer->heads, data->dim, columns, data->length, options->rank, options->groups);
    if (columns < data->outputs)
        snprintf(sketched, sizeof sketched, " of %zu columns that %zu outputs are sketched to",
                 columns, data->outputs);
    /* as measured: docs/recover.md */
    double ratio = (double)data->samples / report->least_examples;
    double safe = options->groups > 0 ? 8 : options->rank > 0 ? 4 : 3;
    if (ratio < 1)
        warn(context, report,
             "%zu sequences are fewer than the %.0f of the information limit N_min%s: the "
             "data can be fitted by wrong parameters",
             data->samples, ceil(report->least_examples), sketched);
    else if (ratio < safe)
        warn(context, report,
             "%zu sequences are %.1f times N_min = %.0f%s; from %.0f times on recovery is "
             "safe",
             data->samples, ratio, ceil(report->least_examples), sketched, safe);
}

static void warn_sizes(wt_context *context, const wt_sequences *data, const wt_layer *layer,
                       wt_recover_report *report) {
    size_t d = layer->dim, p = layer->outputs, size = wt_layer_theta_size(layer);
    double most_w = 0, sum_norm = 0, square = wt_recover_mean_square(data);
    for (size_t i = 0; i < layer->heads; i++)
        most_w = fmax(most_w, wt_heads_norm(d * p, layer->w + i * d * p));
    for (size_t i = 0; i < layer->heads; i++) {
        double theta = wt_heads_norm(size, layer->theta + i * size);
        if (wt_heads_norm(d * p, layer->w + i * d * p) < 1e-6 * most_w)
            warn(context, report, "head %zu has W near 0: its Theta cannot be identified", i);
        else if (theta * square < 0.02)
            warn(context, report,
                 "head %zu has a tiny Theta (norm %.3g): it is told apart from others "
                 "like it with difficulty",
                 i, theta);
    }
    for (size_t j = 0; j < d * p; j++) {
        double sum = 0;
        for (size_t i = 0; i < layer->heads; i++)
            sum += layer->w[i * d * p + j];
        sum_norm += sum * sum;
    }
    if (data->length == 2 && layer->heads > 1 && sqrt(sum_norm) < 1e-6 * most_w)
        warn(context, report,
             "sequences of two tokens and W that sum to 0: Theta and W of all heads are "
             "known up to a common sign");
}

static void warn_pairs(wt_context *context, const wt_layer *layer, wt_recover_report *report) {
    size_t size = wt_layer_theta_size(layer);
    for (size_t i = 0; i < layer->heads; i++)
        for (size_t j = 0; j < i; j++)
            if (wt_heads_distance(size, layer->theta + i * size, layer->theta + j * size) < 1e-3)
                warn(context, report,
                     "heads %zu and %zu have nearly equal Theta: only the sum of their "
                     "W is determined well",
                     j, i);
}

void wt_recover_end(wt_context *context, const wt_sequences *data,
                    const wt_recover_options *options, size_t columns, wt_layer *layer,
                    wt_recover_report *report) {
    if (options->heads == 0) {
        wt_heads_tidy(1e-6, layer);
        report->heads = layer->heads;
    }
    if (report->rank < report->dim)
        warn(context, report,
             "the tokens span %zu of %zu dimensions: Theta and W are 0 in the others, "
             "which no output shows",
             report->rank, report->dim);
    if (report->rank > data->dim)
        warn(context, report,
             "the tokens lie on a plane that does not go through 0: Theta a = 0 for its normal a "
             "and W^T a is the same in all heads, as no output shows more");
    warn_examples(context, data, options, columns, layer, report);
    warn_sizes(context, data, layer, report);
    warn_pairs(context, layer, report);
    if (report->condition > 1e6)
        warn(context, report,
             "the condition number is %.1e: some directions of Theta are known to few "
             "digits",
             report->condition);
}
