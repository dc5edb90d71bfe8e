/* The parts of the learner that asks: the answers kept, one head, the start. */
#ifndef WT_LAYER_LEARN_QUERY_PARTS_H
#define WT_LAYER_LEARN_QUERY_PARTS_H

#include "base/context.h"
#include "layer/learn/rows.h"
#include "layer/model/layer.h"
#include "wattle/query.h"

/* All questions so far that the polish may use, with their answers. Tokens that are equal are kept
 * once, with how often they came; the last one asks. */
typedef struct wt_asker {
    wt_context *context;
    wt_query_ask_fn ask;
    void *user;
    size_t d, p;
    size_t count;   /* questions of this attempt, kept or not */
    size_t asked;   /* in all attempts */
    size_t most;    /* that may be asked in all attempts; 0 = no limit */
    bool limited;   /* one more was wanted */
    bool single;    /* all answers are float32 numbers */
    bool heard;     /* not all of them are 0 */
    bool tested;    /* whether they are those of a plain layer */
    bool other;     /* they are not */
    wt_meter meter; /* questions */
    char phase[48]; /* "2 heads, start 3" */
    double theirs;  /* flops that the oracle did on this context */
    size_t rows, tokens;
    size_t row_room, answer_room, token_room, times_room, wide_room;
    size_t *ends;  /* (rows): of the tokens of a question */
    double *y;     /* (rows, p) */
    double *x;     /* (tokens, d) */
    double *times; /* (tokens): how often the token came */
    double *wide;  /* a question with its repetitions written out */
} wt_asker;

void wt_asker_free(wt_asker *asker);
/* For the next attempt: what was kept is dropped. */
void wt_asker_clear(wt_asker *asker);
/* What the meter says of the work in hand. */
void wt_asker_enter(wt_asker *asker, size_t heads, size_t start);
/* That of the options, or what float32 arithmetic leaves where all answers are such numbers. */
double wt_asker_tolerance(const wt_asker *asker, const wt_query_options *options);
/* Asks about n tokens (n, d), token b times[b] times (NULL = once), and keeps question and answer;
 * y (p) may be NULL. */
wt_status wt_asker_keep(wt_asker *asker, size_t n, const double *x, const double *times, double *y);
/* The questions kept, as rows that borrow them: to be freed before more are asked. */
wt_status wt_asker_rows(const wt_asker *asker, wt_rows *out);
/* Asks without keeping. */
wt_status wt_asker_ask(wt_asker *asker, size_t k, const double *x, double *y);
/* Random question `index` of a purpose: 2 to `most` Gaussian tokens times `scale` into x (most, d);
 * how many tokens. */
size_t wt_asker_random(const wt_asker *asker, uint64_t seed, const char *purpose, uint64_t index,
                       double scale, size_t most, double *x);

/* What the rational start can take apart. */
enum { WT_RATIONAL_HEADS = 4, WT_RATIONAL_DIM = 64 };

/* Asks five questions whose answers tell a plain layer, once for all attempts: WT_MISSED, with what
 * is not plain, where they are those of another form. */
wt_status wt_query_plain(wt_asker *asker, uint64_t seed, size_t *asked);

/* The form of a layer, into `form`, by seven questions or eight; *sure when it can be none but
 * that. WT_MISSED, with what does not fit, where the answers are those of no form. */
wt_status wt_query_form(wt_asker *asker, uint64_t seed, wt_query_options *form, bool *sure);
/* Heads that a layer of any form has at least, by 16 questions: 1 to 7, and no more than outputs.
 */
wt_status wt_query_least_heads(wt_asker *asker, uint64_t seed, size_t *out);

/* One head from d^2 + d questions. WT_MISSED when its answers do not show theta. */
wt_status wt_query_single(wt_asker *asker, wt_layer *out);

/* One cell of the start: tokens u + b and b asked in 2m proportions. */
typedef struct wt_cell {
    double *logits; /* (m): b^T Theta_h u */
    double *values; /* (m, p): u^T W_h */
    double quality; /* 0 = useless */
} wt_cell;

/* Asks about b and b + u and takes the heads apart, in no order; base (p) is the answer to b alone.
 */
wt_status wt_query_cell(wt_asker *asker, size_t m, const double *b, const double *u,
                        const double *base, wt_cell *out);

/* A rough estimate of out->heads heads, and the scale of Gaussian tokens whose logits are about 2.
 * Attempts 0, 1, 2.. use different questions. */
wt_status wt_query_start(wt_asker *asker, uint64_t seed, size_t attempt, wt_layer *out,
                         double *scale);
/* Questions that several heads of a plain layer take at least, by that start and a polish. */
size_t wt_query_several_least(size_t heads, size_t dim, size_t outputs);
wt_status wt_query_several(wt_asker *asker, const wt_query_options *options, wt_layer *layer,
                           double *scale, wt_query_report *report);

/* A layer of any form and so many heads (0 = to be found, more than `beyond`) from random
 * questions, by `refine`; its residual, steps and form into the report. WT_MISSED when the limit
 * allows too few of them. */
wt_status wt_query_random(wt_asker *asker, const wt_query_options *options, size_t heads,
                          size_t beyond, double *scale, wt_layer **out, wt_query_report *report);

#endif
