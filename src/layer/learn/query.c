/* Learning by asking, from the first question to the verdict. */
#include <math.h>

#include "base/memory.h"
#include "base/sized.h"
#include "base/work.h"
#include "layer/learn/query_parts.h"
#include "layer/learn/recover_fields.h"
#include "layer/task/vector.h"

#define AT(member) offsetof(wt_query_options, member)
#define ROW(row_name, row_kind, row_fallback, member)                                              \
    .name = (row_name), .kind = WT_FIELD_KIND_##row_kind, .fallback = (row_fallback),              \
    .offset = AT(member)

static const wt_field fields[] = {
    {ROW("check", NATURAL, "8", checks), .value = "N",
     .help = "Fresh random questions that judge the result; 0 for one head only."},
    {ROW("restarts", NATURAL, "20", restarts), .value = "N",
     .help = "Random starts, after the rational ones where there are such."},
    {ROW("tolerance", REAL, "1e-11", tolerance), .value = "E", .range = "(0,inf)",
     .help = "Relative error of the answers that counts as explained; answers that are all float32 "
             "numbers have 1.9e-6 at least."},
    {ROW("questions", NATURAL, "0", questions), .value = "N",
     .help = "Questions at most, with those that check; 0 = as many as it takes."},
    WT_FORM_FIELDS(AT, 0),
    {ROW("rank", NATURAL, "0", rank), .value = "R",
     .help = "Rank of every Theta, as a query and a key matrix of R columns make it; 0 = any."},
    {ROW("form", WORD, "given", forms), .value = "given|auto", .words = wt_recover_form_words,
     .help = "auto: where the form given (biases, residual connection, norm) is a misfit, others "
             "are tried."},
};
enum { FIELDS = sizeof fields / sizeof *fields };

const wt_field *wt_query_fields(size_t *count) {
    *count = FIELDS;
    return fields;
}

void wt_query_options_init(wt_query_options *options, size_t size) {
    wt_query_options full = {0};
    wt_fields_init(fields, FIELDS, &full);
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

/* Whether one has to ask at random: the rest is for few heads of plain layers. */
static bool needs_random(const wt_query_options *options, size_t dim) {
    return options->bias || options->residual || options->mask != WT_LAYER_MASK_NONE ||
           options->norm != WT_LAYER_NORM_NONE || options->rank > 0 ||
           options->forms == WT_RECOVER_FORMS_AUTO || options->heads > WT_RATIONAL_HEADS ||
           dim > WT_RATIONAL_DIM;
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
    WT_PASS(wt_fields_check(context, fields, FIELDS, options));
    if (options->checks == 0 && (options->heads != 1 || needs_random(options, dim)))
        return wt_fail(context, WT_USAGE,
                       "only one head of a plain layer is learned without checks: all else is "
                       "judged by them");
    if (options->questions > 0 && options->questions <= options->checks)
        return wt_fail(context, WT_USAGE, "%zu questions leave none beside the %zu checks",
                       options->questions, options->checks);
    if (options->residual && outputs != dim)
        return wt_fail(context, WT_USAGE,
                       "a residual connection adds tokens of %zu dimensions to %zu outputs", dim,
                       outputs);
    return WT_OK;
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
    asker->most = options->questions;
    for (size_t i = 0; i < options->checks; i++) {
        size_t k = wt_asker_random(asker, options->seed, "query check", i, scale, 4, x);
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

/* All attempts at a layer, each with questions of its own; what is counted is counted over all. */
typedef struct {
    wt_asker asker;
    const wt_query_options *options;
    wt_query_options few; /* the same with few random starts */
    wt_layer *layer;      /* of the last attempt */
    wt_query_report *report;
    double before;
} attempts;

static wt_status learn_plain(attempts *work, size_t heads, double *scale) {
    wt_asker *asker = &work->asker;
    WT_PASS(wt_layer_new(asker->context, heads, asker->d, asker->p, &work->layer));
    if (heads > 1)
        return wt_query_several(asker, work->options, work->layer, scale, work->report);
    wt_asker_enter(asker, 1, 1);
    wt_status status = wt_query_single(asker, work->layer);
    work->report->start_queries += asker->count;
    if (status == WT_OK)
        *scale = scale_for(work->layer);
    return status;
}

/* The layer of an attempt, judged. */
static wt_status learn(attempts *work, size_t heads, bool random, size_t beyond) {
    wt_query_report *report = work->report;
    const wt_query_options *options = work->options;
    wt_asker *asker = &work->asker;
    double scale = 1;
    if (random)
        WT_PASS(wt_query_random(asker, options, heads, beyond, &scale, &work->layer, report));
    else
        WT_PASS(learn_plain(work, heads, &scale));
    wt_layer_form_print(&work->layer->form, report->form);
    if (report->out_of_time)
        return WT_OK;
    wt_status status = check(asker, options, scale, work->layer, report);
    report->out_of_time = wt_context_end_of_time(asker->context, status);
    if (report->out_of_time)
        return WT_OK;
    WT_PASS(status);
    report->tolerance = wt_asker_tolerance(asker, options);
    bool fits = isnan(report->residual) || report->residual <= report->tolerance;
    report->reached =
        fits && (options->checks == 0 || report->check_error <= 10 * report->tolerance);
    return WT_OK;
}

/* heads = 0, to be found above `beyond`, is for random questions. */
static wt_status attempt(attempts *work, size_t heads, bool random, size_t beyond) {
    wt_query_report *report = work->report;
    wt_asker *asker = &work->asker;
    const wt_query_report before = *report;
    wt_asker_clear(asker);
    if (work->options->questions > 0)
        asker->most = work->options->questions - work->options->checks;
    wt_layer_free(work->layer);
    work->layer = NULL;
    *report = (wt_query_report){.heads = heads,
                                .dim = asker->d,
                                .outputs = asker->p,
                                .start_residual = NAN,
                                .residual = NAN,
                                .check_error = NAN,
                                .tolerance = work->options->tolerance,
                                .forms = 1};
    wt_status status = learn(work, heads, random, beyond);
    report->start_queries += before.start_queries;
    report->polish_queries += before.polish_queries;
    report->check_queries += before.check_queries;
    report->out_of_questions = asker->limited && !report->reached;
    report->flops = wt_work_done(asker->context) - work->before - asker->theirs;
    return status;
}

/* Whether the rational start of several heads, which takes differences of answers, is too far off
 * to be polished: with answers in float32 it was within 1e-5 at d = 32 and 0.02 at 64, where the
 * polish had not moved after 3000 products. */
enum { COARSE_MOST = 32 };
static bool too_coarse(const wt_asker *asker, size_t heads) {
    return heads > 1 && asker->d > COARSE_MOST && asker->single && asker->heard;
}

/* Plain heads 1, 2.. in turn, or as many as are asked for, until one is found or the answers turn
 * out to be of another form. Where their number is not told few random starts are made of each. */
static wt_status try_plain(attempts *work, size_t first, size_t last) {
    enum { FEW_STARTS = 4 };
    const wt_query_options *given = work->options;
    const wt_query_report *report = work->report;
    const wt_asker *asker = &work->asker;
    wt_status status = WT_OK;
    work->few = *given;
    if (first < last && given->restarts > FEW_STARTS)
        work->few.restarts = FEW_STARTS;
    work->options = &work->few;
    for (size_t heads = first; heads <= last && !too_coarse(asker, heads); heads++) {
        status = attempt(work, heads, false, 0);
        if ((status != WT_OK && status != WT_MISSED) || report->reached || report->out_of_time ||
            report->out_of_questions || asker->other)
            break;
        if (given->checks > 0 && !asker->limited) {
            wt_status form =
                wt_query_plain(&work->asker, given->seed, &work->report->polish_queries);
            if (form != WT_OK) {
                status = form;
                break;
            }
        }
    }
    work->options = given;
    return status;
}

/* One head takes d^2 questions: not where a few show that there are more. */
static wt_status skip_one_head(attempts *work, size_t *first) {
    wt_asker *asker = &work->asker;
    size_t before = asker->asked;
    wt_status status = wt_query_least_heads(asker, work->options->seed, first);
    work->report->polish_queries += asker->asked - before;
    return status;
}

/* Where a plain layer is not found random questions, if they may do better: for more heads, or
 * where float32 answers are too coarse for the start. At once where the limit is below what the
 * start takes. */
static wt_status try_all(attempts *work) {
    const wt_query_options *options = work->options;
    size_t first = options->heads == 0 ? 1 : options->heads;
    size_t last = options->heads == 0 ? WT_RATIONAL_HEADS : options->heads;
    const wt_query_report *report = work->report;
    const wt_asker *asker = &work->asker;
    bool few = options->questions > 0 && options->heads > 1 &&
               options->questions - options->checks <
                   wt_query_several_least(options->heads, asker->d, asker->p);
    if (few || needs_random(options, asker->d))
        return attempt(work, options->heads, true, 0);
    wt_status status = WT_OK;
    if ((first > 1 || options->heads == 0) && asker->d > COARSE_MOST &&
        options->checks > 0) /* hears whether answers are in float32 */
        status = wt_query_plain(&work->asker, options->seed, &work->report->polish_queries);
    if (status == WT_OK && options->heads == 0 && too_coarse(asker, 2))
        status = skip_one_head(work, &first);
    if (status == WT_OK)
        status = try_plain(work, first, last);
    if ((status != WT_OK && status != WT_MISSED) || report->reached || report->out_of_time ||
        report->out_of_questions || asker->other)
        return status;
    bool coarse = asker->single && asker->heard;
    bool more = options->heads == 0 && status == WT_OK;
    return (coarse || more) && options->checks > 0
               ? attempt(work, options->heads, true, coarse ? 0 : last)
               : status;
}

static wt_status run(attempts *work, wt_layer **out) {
    wt_asker *asker = &work->asker;
    wt_status status = check_options(asker->context, asker->d, asker->p, work->options);
    if (status == WT_OK)
        status = try_all(work);
    if (status == WT_OK)
        *out = work->layer;
    else
        wt_layer_free(work->layer);
    wt_asker_free(asker);
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
    attempts work = {.asker = {.context = context,
                               .ask = ask,
                               .user = user,
                               .d = dim,
                               .p = outputs,
                               .meter = wt_meter_start(context, "questions", 0)},
                     .options = &options,
                     .report = &full,
                     .before = wt_work_done(context)};
    status = run(&work, out);
    wt_sized_write(report, &full, sizeof full);
done:
    return status;
}
