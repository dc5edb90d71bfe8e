/* Layers of any form from random questions: the last rows of short Gaussian sequences are examples
 * for `refine`. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layer/learn/query_parts.h"
#include "layer/learn/recovery.h"

/* Questions against unknowns over outputs; fewer than the least are not tried. */
#define SHARE       4.0
#define LEAST_SHARE 1.3
/* Scores that questions show against the unknowns of a Theta, at least. */
#define SCORES  4.0
#define SPARE   16
#define HOLDOUT 0.1

enum { MOST_TOKENS = 32 };

/* Random starts of a number of heads that may be too small. */
enum { FEW_STARTS = 4 };

/* Scales of the tokens in turn, for logits that are too far from 1 to be learned from; each has
 * questions of its own. */
static const double scales[] = {1, 0.25, 4};
enum { ROUNDS = sizeof scales / sizeof *scales };

/* Unknowns over outputs, which answers of p numbers determine. */
static double unknowns_of(const wt_asker *asker, const wt_query_options *options, size_t heads) {
    double p = (double)asker->p, m = (double)heads, d = (double)asker->d;
    bool bias = options->bias || options->forms == WT_RECOVER_FORMS_AUTO;
    return (wt_recover_unknowns(heads, asker->d, asker->p, options->rank, 0) +
            (bias ? m * d + p : 0)) /
           p;
}

/* Tokens of a question at most, 2 at least: k of them show k - 1 scores of every head, however many
 * outputs there are. */
static size_t tokens_for(const wt_asker *asker, const wt_query_options *options, size_t heads) {
    double theta = wt_recover_unknowns(1, asker->d, 0, options->rank, 0);
    size_t most = 4;
    while (most < MOST_TOKENS &&
           SHARE * unknowns_of(asker, options, heads) * (double)most / 2 < SCORES * theta)
        most *= 2;
    return most;
}

/* Questions of so many tokens at most that a layer takes. */
static double questions_for(const wt_asker *asker, const wt_query_options *options, size_t heads,
                            size_t most) {
    double theta = wt_recover_unknowns(1, asker->d, 0, options->rank, 0);
    return fmax(unknowns_of(asker, options, heads), SCORES / SHARE * theta / ((double)most / 2));
}

/* Random questions `first`, .. of them. To an oracle of float32 numbers the tokens are such too. */
static wt_status ask(wt_asker *asker, const wt_query_options *options, double scale, size_t most,
                     size_t first, size_t count) {
    double *x = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(asker->context, &x, MOST_TOKENS, asker->d, "a question"));
    for (size_t i = first; i < first + count; i++) {
        size_t k = wt_asker_random(asker, options->seed, "query", i, scale, most, x);
        for (size_t j = 0; asker->single && j < k * asker->d; j++)
            x[j] = (double)(float)x[j];
        WT_TRY(wt_asker_keep(asker, k, x, NULL, NULL));
    }
done:
    wt_release(x);
    return status;
}

/* The questions kept from row `first` on, as sequences of which the last row is known. */
static wt_status make_sequences(const wt_asker *asker, size_t first, wt_sequences **out) {
    size_t d = asker->d, p = asker->p, n = asker->rows - first, *lengths = NULL, most = 0;
    wt_sequences *data = NULL;
    wt_status status;
    WT_TRY(WT_NEW(asker->context, &lengths, n, "lengths of questions"));
    for (size_t s = 0, row = first; s < n; s++, row++) {
        lengths[s] = asker->ends[row] - (row == 0 ? 0 : asker->ends[row - 1]);
        most = lengths[s] > most ? lengths[s] : most;
    }
    WT_TRY(wt_sequences_new(asker->context, n, most, d, p, &data));
    double *x = wt_sequences_x(data), *y = wt_sequences_y(data);
    memset(x, 0, n * most * d * sizeof *x);
    for (size_t i = 0; i < n * most * p; i++)
        y[i] = NAN;
    for (size_t s = 0; s < n; s++) {
        size_t row = first + s, begin = row == 0 ? 0 : asker->ends[row - 1];
        memcpy(x + s * most * d, asker->x + begin * d, lengths[s] * d * sizeof *x);
        memcpy(y + (s * most + lengths[s] - 1) * p, asker->y + row * p, p * sizeof *y);
    }
    WT_TRY(wt_sequences_set_lengths(asker->context, data, lengths));
    WT_TRY(wt_sequences_set_missing(asker->context, data));
    *out = data;
    data = NULL;
done:
    wt_release(lengths);
    wt_sequences_free(data);
    return status;
}

/* *sure when the sequences held out agree. */
static wt_status recover(const wt_asker *asker, const wt_query_options *options, size_t heads,
                         size_t first, wt_layer **out, bool *sure, wt_query_report *report) {
    wt_recover_options wanted;
    wt_recover_report of = WT_SIZED(wt_recover_report);
    wt_sequences *data = NULL;
    wt_status status;
    WT_INIT(wt_recover_options, &wanted);
    wanted.heads = heads;
    wanted.restarts = options->restarts;
    wanted.holdout = HOLDOUT;
    wanted.seed = options->seed;
    wanted.goal = options->tolerance;
    wanted.method = "refine";
    wanted.bias = options->bias;
    wanted.residual = options->residual;
    wanted.mask = options->mask;
    wanted.norm = options->norm;
    wanted.epsilon = options->epsilon;
    wanted.rank = options->rank;
    wanted.forms = options->forms;
    WT_TRY(make_sequences(asker, first, &data));
    status = wt_layer_recover(asker->context, data, &wanted, out, &of, NULL);
    if (status == WT_DATA) /* answers that say nothing */
        status = wt_fail(asker->context, WT_MISSED, "%s", wt_context_message(asker->context));
    WT_TRY(status);
    *sure = of.exact;
    report->heads = of.heads;
    report->starts += of.starts;
    report->steps += of.steps;
    report->forms = of.forms;
    report->residual = of.train_error;
    report->out_of_time = of.out_of_time;
done:
    wt_sequences_free(data);
    return status;
}

/* How many questions a round has that uses those from `first` on: as many as it should, or as are
 * left. */
static wt_status count_next(wt_asker *asker, const wt_query_options *options, size_t heads,
                            size_t most, size_t first, size_t *out) {
    double each = questions_for(asker, options, heads, most);
    size_t left = asker->most > asker->asked ? asker->most - asker->asked : 0;
    size_t kept = asker->rows - first;
    *out = (size_t)ceil(SHARE * each) + SPARE - kept;
    if (asker->most == 0 || *out <= left)
        return WT_OK;
    asker->limited = true;
    *out = left;
    if ((double)(kept + left) < LEAST_SHARE * each)
        return wt_fail(asker->context, WT_MISSED,
                       "%zu questions are too few for %zu %s: about %.0f are needed", kept + left,
                       heads, heads == 1 ? "head" : "heads", SHARE * each + SPARE);
    return WT_OK;
}

/* One round: its questions, and layers of `least` to `most` heads from those from `first` on. */
static wt_status run_round(wt_asker *asker, const wt_query_options *options, size_t least,
                           size_t most, size_t first, double scale, wt_layer **out, bool *sure,
                           wt_query_report *report) {
    size_t count, tokens = tokens_for(asker, options, most);
    WT_PASS(count_next(asker, options, most, tokens, first, &count));
    WT_PASS(ask(asker, options, scale, tokens, asker->rows, count));
    report->polish_queries += count;
    for (size_t heads = least; heads <= most && !*sure && !report->out_of_time; heads++) {
        wt_query_options how = *options;
        wt_layer *layer = NULL;
        if (heads < most && how.restarts > FEW_STARTS)
            how.restarts = FEW_STARTS;
        WT_PASS(recover(asker, &how, heads, first, &layer, sure, report));
        wt_layer_free(*out);
        *out = layer;
    }
    return WT_OK;
}

/* Whether answers are float32 numbers is heard from the first of them. */
static wt_status hear(wt_asker *asker, const wt_query_options *options, wt_query_report *report) {
    wt_arena arena = wt_arena_start(asker->context, "a question");
    double *x = WT_TAKE(&arena, double, MOST_TOKENS, asker->d);
    double *y = WT_TAKE(&arena, double, asker->p);
    wt_status status = arena.status;
    if (status == WT_OK)
        status = wt_asker_ask(
            asker, wt_asker_random(asker, options->seed, "query first", 0, 1, 4, x), x, y);
    report->polish_queries += status == WT_OK;
    wt_arena_free(&arena);
    return status;
}

/* What a few questions tell of the form, where it is to be found, and of the number of heads. */
static wt_status ask_first(wt_asker *asker, wt_query_options *form, bool heads_too, size_t *least,
                           bool *other, wt_query_report *report) {
    const wt_query_options given = *form;
    size_t before = asker->count;
    bool sure = false;
    wt_status status = WT_OK;
    *least = 1;
    if (form->forms == WT_RECOVER_FORMS_AUTO)
        status = wt_query_form(asker, given.seed, form, &sure);
    if (status == WT_OK && heads_too && (sure || given.forms != WT_RECOVER_FORMS_AUTO))
        status = wt_query_least_heads(asker, given.seed, least);
    *other = sure && (form->bias != given.bias || form->residual != given.residual ||
                      form->norm != given.norm);
    report->polish_queries += asker->count - before;
    return status;
}

/* Of heads to be found there are 1 or 2, 3 or 4, 5 to 8; the tokens have one scale then. */
wt_status wt_query_random(wt_asker *asker, const wt_query_options *options, size_t heads,
                          size_t beyond, double *scale, wt_layer **out, wt_query_report *report) {
    double usual = *scale;
    bool sure = false, other = false;
    size_t lowest;
    wt_query_options form = *options;
    if (asker->asked == 0)
        WT_PASS(hear(asker, options, report));
    WT_PASS(ask_first(asker, &form, heads == 0, &lowest, &other, report));
    for (size_t round = 0; round < ROUNDS && !sure; round++) {
        size_t most = heads == 0 ? (size_t)2 << round : heads;
        size_t least = heads > 0 ? heads : round == 0 ? 1 : most / 2 + 1;
        if (heads == 0 && (most <= beyond || most < lowest))
            continue;
        least = least < lowest && heads == 0 ? lowest : least;
        *scale = heads == 0 ? usual : usual * scales[round];
        wt_asker_enter(asker, most, round + 1);
        wt_status status = run_round(asker, &form, least, most, heads == 0 ? 0 : asker->rows,
                                     *scale, out, &sure, report);
        report->forms += other; /* the one given was ruled out by questions */
        if (status == WT_MISSED && asker->limited && *out != NULL)
            return WT_OK;
        if (*out != NULL && wt_context_end_of_time(asker->context, status)) {
            report->out_of_time = true;
            return WT_OK;
        }
        WT_PASS(status);
        if (report->out_of_time || asker->limited)
            break;
    }
    return WT_OK;
}
