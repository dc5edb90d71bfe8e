/* The stages of include/wattle/sculpt.h, one function each. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/sized.h"
#include "base/work.h"
#include "layer/learn/recovery.h"
#include "layer/learn/sculpt_net.h"
#include "layer/learn/sculpt_span.h"
#include "layer/task/vector.h"

/* Seen on random teachers: the crude sum explains 0.8 of the squares, and 0.07 when sum W_i = 0. */
#define LEAST_EXPLAINED 0.25
/* Seen: 30 and more where the hull is right, 4 for sum W_i = 0 or too many heads, 6.5 by chance. */
#define LEAST_GAP     8
#define ONE_PATTERN   1e-8 /* a median residual that rounding explains */
#define LARGEST_ERROR 0.3  /* of a start worth refining */
#define FIRST_PART    0.5
#define PART_A_ROUND  0.6
enum { ROWS_A_TOKEN = 10, LEAST_SLABS = 2 };

typedef struct {
    wt_context *context;
    const wt_sequences *data;
    const wt_sculpt_options *options;
    wt_sculpt_report *report;
    double *w; /* (d, p): the sum of the heads' W */
    wt_patterns patterns;
    wt_slabs slabs;
    wt_span span;
    double *center; /* (d^2) */
    wt_arena arena;
} sculptor;

void wt_sculpt_options_init(wt_sculpt_options *options, size_t size) {
    const wt_sculpt_options full = {.slabs = 3};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

static wt_status check_teacher(wt_context *context, const wt_sequences *data,
                               const wt_layer *teacher) {
    if (teacher != NULL && (teacher->dim != data->dim || teacher->outputs != data->outputs))
        return wt_fail(context, WT_USAGE,
                       "the teacher has dimension %zu and %zu outputs, the data %zu and %zu",
                       teacher->dim, teacher->outputs, data->dim, data->outputs);
    return WT_OK;
}

static wt_status check(wt_context *context, const wt_sequences *data,
                       const wt_sculpt_options *options) {
    size_t m = options->heads == 0 ? 2 : options->heads, k = data->length;
    wt_status status;
    WT_TRY(wt_sequences_check(context, data, "the data"));
    WT_TRY(check_teacher(context, data, options->teacher));
    if (!(options->slabs >= LEAST_SLABS && options->slabs <= 1e6))
        status =
            wt_fail(context, WT_USAGE, "sculpt needs %d slabs or more for every unknown, not %g",
                    LEAST_SLABS, options->slabs);
    else if (k < 2)
        status = wt_fail(context, WT_MISSED,
                         "sequences of one token show the sum of all W alone, and no Theta");
    else if (k > WT_SCULPT_MAX_TOKENS || m > WT_SCULPT_MAX_HEADS)
        status = wt_fail(context, WT_MISSED,
                         "%zu heads on %zu tokens leave no rows where all heads attend alike: "
                         "sculpt takes up to %d heads and %d tokens",
                         m, k, WT_SCULPT_MAX_HEADS, WT_SCULPT_MAX_TOKENS);
    else if (data->outputs < m * (k - 1) && m > 1)
        status = wt_fail(context, WT_MISSED,
                         "with %zu outputs too many rows of %zu tokens are mixtures by chance: "
                         "sculpt needs m (k - 1) = %zu for %zu heads",
                         data->outputs, k, m * (k - 1), m);
done:
    return status;
}

/* The relative error of the sum of W; NaN without a teacher. */
static double sum_error(const sculptor *job) {
    const wt_layer *teacher = job->options->teacher;
    size_t count = job->data->dim * job->data->outputs;
    double off = 0, whole = 0;
    for (size_t i = 0; teacher != NULL && i < count; i++) {
        double sum = 0;
        for (size_t head = 0; head < teacher->heads; head++)
            sum += teacher->w[head * count + i];
        off += (job->w[i] - sum) * (job->w[i] - sum);
        whole += sum * sum;
    }
    return teacher == NULL ? NAN : sqrt(off / whole);
}

static wt_status crude(sculptor *job) {
    wt_sculpt_report *report = job->report;
    WT_PASS(wt_crude_sum(job->context, job->data, job->w, &report->crude_explained));
    report->crude_error = sum_error(job);
    report->stage = WT_SCULPT_STAGE_CRUDE;
    if (!(report->crude_explained >= LEAST_EXPLAINED))
        return wt_fail(job->context, WT_MISSED,
                       "the sum of the heads' W seems near 0: it explains %.3g of the squares of "
                       "the summed outputs, and sculpt needs %g",
                       report->crude_explained, LEAST_EXPLAINED);
    return WT_OK;
}

static wt_status refit_twice(sculptor *job, size_t accepted) {
    for (int pass = 0; pass < 2; pass++) {
        WT_PASS(wt_refit_sum(job->context, job->data, &job->patterns, accepted, job->w));
        WT_PASS(wt_patterns_find(job->context, job->data, job->w, &job->patterns));
    }
    return WT_OK;
}

static size_t slabs_wanted(const sculptor *job) {
    return (size_t)ceil(job->options->slabs * (double)(job->data->dim * job->data->dim));
}

/* Rounds of accepting fewer rows, down to those that hold the slabs wanted. */
static wt_status refine_sum(sculptor *job) {
    wt_sculpt_report *report = job->report;
    double part = FIRST_PART;
    bool last = false;
    WT_PASS(wt_patterns_open(&job->arena, job->data, &job->patterns));
    WT_PASS(wt_patterns_find(job->context, job->data, job->w, &job->patterns));
    for (; !last; part *= PART_A_ROUND, report->rounds++) {
        size_t floor = wt_slabs_rows_for(&job->patterns, slabs_wanted(job));
        floor = floor > ROWS_A_TOKEN * job->data->dim ? floor : ROWS_A_TOKEN * job->data->dim;
        size_t accepted = (size_t)(part * (double)job->patterns.usable);
        last = accepted <= floor;
        accepted = last ? floor : accepted;
        if (accepted > job->patterns.usable)
            WT_PASS(wt_fail(job->context, WT_MISSED,
                            "%zu of %zu rows have a pattern of their own, and sculpt needs %zu",
                            job->patterns.usable, job->patterns.rows, accepted));
        WT_PASS(refit_twice(job, accepted));
    }
    report->rows = job->patterns.rows;
    report->median_residual = job->patterns.order[job->patterns.rows / 2].residual;
    report->sum_error = sum_error(job);
    report->stage = WT_SCULPT_STAGE_PATTERNS;
    return WT_OK;
}

static void report_values(sculptor *job) {
    wt_sculpt_report *report = job->report;
    const wt_span *span = &job->span;
    while (report->value_count < WT_SCULPT_MAX_VALUES && report->value_count < span->unknowns) {
        report->values[report->value_count] = span->values[report->value_count];
        report->value_count++;
    }
    report->median_value = span->values[span->unknowns / 2];
}

/* How many heads the eigenvalues show: one where one pattern explains all rows, else by the largest
 * gap, 0 where none is large enough. */
static void count_heads(sculptor *job) {
    wt_sculpt_report *report = job->report;
    if (report->median_residual <= ONE_PATTERN) {
        report->heads = 1;
        return;
    }
    report->gap = 0;
    for (size_t j = 1; j < WT_SCULPT_MAX_HEADS && j < job->span.unknowns; j++)
        if (wt_span_gap(&job->span, j) > report->gap) {
            report->gap = wt_span_gap(&job->span, j);
            report->heads = j + 1;
        }
    if (report->gap < LEAST_GAP)
        report->heads = 0;
}

static wt_status check_gap(sculptor *job) {
    const wt_sculpt_report *report = job->report;
    size_t wanted = job->options->heads;
    if (report->heads == 0)
        return wt_fail(job->context, WT_MISSED,
                       "no eigen-gap: the largest is %.3g and sculpt needs %d; too few rows show "
                       "all heads attending alike",
                       report->gap, LEAST_GAP);
    if (wanted != 0 && wanted != report->heads)
        return wt_fail(job->context, WT_MISSED,
                       "the eigenvalues of the accepted rows show %zu heads, not %zu",
                       report->heads, wanted);
    return WT_OK;
}

static void report_hull(sculptor *job) {
    const wt_layer *teacher = job->options->teacher;
    size_t u = job->span.unknowns;
    double most = 0;
    if (teacher == NULL)
        return;
    for (size_t head = 0; head < teacher->heads; head++) {
        const double *theta = teacher->theta + head * u;
        most = fmax(most, wt_span_distance(&job->span, job->report->heads - 1, job->center, theta) /
                              sqrt(wt_vector_squares(u, theta)));
    }
    job->report->hull_error = most;
}

static wt_status find_span(sculptor *job) {
    wt_sculpt_report *report = job->report;
    size_t u = job->data->dim * job->data->dim;
    WT_PASS(wt_slabs_collect(&job->arena, job->data, &job->patterns, false, slabs_wanted(job),
                             &job->slabs));
    report->slabs = job->slabs.count;
    report->accepted = job->slabs.rows;
    if (job->slabs.count < LEAST_SLABS * u)
        WT_PASS(wt_fail(job->context, WT_MISSED,
                        "%zu rows cut %zu slabs, too few for the %zu unknowns of a Theta: sculpt "
                        "needs more examples",
                        job->patterns.rows, job->slabs.count, u));
    report->largest_residual = job->patterns.order[job->slabs.rows - 1].residual;
    WT_PASS(wt_span_find(&job->arena, &job->slabs, &job->span));
    report_values(job);
    count_heads(job);
    WT_PASS(check_gap(job));
    job->center = WT_TAKE(&job->arena, double, u);
    WT_PASS(job->arena.status);
    wt_span_center(&job->span, report->heads - 1, job->center);
    report_hull(job);
    report->stage = WT_SCULPT_STAGE_SPAN;
    return WT_OK;
}

static wt_status find_start(sculptor *job, wt_layer **out) {
    wt_sculpt_report *report = job->report;
    wt_layer *layer = NULL;
    wt_net_result found;
    wt_status status;
    WT_TRY(wt_layer_new(job->context, report->heads, job->data->dim, job->data->outputs, &layer));
    WT_TRY(wt_net_search(job->context, job->data, job->center, job->span.vectors, layer, &found));
    report->net_points = found.points;
    report->tuples = found.tuples;
    report->start_error = found.error;
    report->stage = WT_SCULPT_STAGE_NET;
    if (!(found.error <= LARGEST_ERROR))
        WT_TRY(wt_fail(job->context, WT_MISSED,
                       "no %zu points of the hull explain the outputs: the best have a relative "
                       "error of %.3g, and a start needs %g",
                       report->heads, found.error, LARGEST_ERROR));
    *out = layer;
    layer = NULL;
done:
    wt_layer_free(layer);
    return status;
}

wt_status wt_sculpt(wt_context *context, const wt_sequences *data, const wt_sculpt_options *given,
                    wt_layer **out, wt_sculpt_report *report) {
    double began = wt_clock(), before = wt_work_done(context);
    wt_sculpt_options options;
    wt_sculpt_report full = {.crude_explained = NAN,
                             .crude_error = NAN,
                             .median_residual = NAN,
                             .largest_residual = NAN,
                             .sum_error = NAN,
                             .median_value = NAN,
                             .gap = NAN,
                             .hull_error = NAN,
                             .start_error = NAN};
    sculptor job = {.context = context,
                    .data = data,
                    .options = &options,
                    .report = &full,
                    .arena = wt_arena_start(context, "the rows of sculpt")};
    wt_status status = wt_sized_check(context, "wt_sculpt_report", report, sizeof full);
    *out = NULL;
    if (status != WT_OK)
        return status;
    WT_INIT(wt_sculpt_options, &options);
    WT_TRY(wt_sized_read(context, "wt_sculpt_options", given, &options, sizeof options));
    WT_TRY(check(context, data, &options));
    job.w = WT_TAKE(&job.arena, double, data->dim, data->outputs);
    WT_TRY(job.arena.status);
    WT_TRY(crude(&job));
    WT_TRY(refine_sum(&job));
    WT_TRY(find_span(&job));
    WT_TRY(find_start(&job, out));
done:
    full.seconds = wt_clock() - began;
    full.flops = wt_work_done(context) - before;
    wt_sized_write(report, &full, sizeof full);
    wt_arena_free(&job.arena);
    return status;
}
