/* Which form a layer has, and how many heads at least, told by a few questions rather than by
 * fits. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layer/learn/query_parts.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

/* Answers that are apart by more than this part of them are so by their form, not by rounding or by
 * the epsilon of a norm. */
#define APART 1e-3
/* Answers to one question that differ by more have noise, which no form is read from. */
#define STEADY 1e-9
/* Constants above this part of the answers are biases: those in float32, and others. Too low is no
 * harm, as biases of 0 are found to be so. */
#define CONSTANT_SINGLE 1e-5
#define CONSTANT        1e-10
/* Tokens this long are beyond any epsilon of a norm. */
#define LONG 64
/* Singular values below this part of the largest, or of the answers, are no head's. */
#define NO_HEAD   1e-4
#define NO_ANSWER 1e-5

enum { PAIRS = 2, MIXTURES = 7, MOST = 9 };

/* A question of the form, scale x + shift, as one token or with a token of zeros after it. */
typedef struct {
    wt_asker *asker;
    double *x, *token; /* (d), (MOST, d) */
} form_asker;

static wt_status ask(const form_asker *of, double scale, double shift, bool zero, double *y) {
    size_t d = of->asker->d;
    memset(of->token, 0, 2 * d * sizeof *of->token);
    for (size_t i = 0; i < d; i++)
        of->token[i] = scale * of->x[i] + shift;
    return wt_asker_ask(of->asker, zero ? 2 : 1, of->token, y);
}

/* |a - scale b|; b = NULL is 0. */
static double apart(size_t count, const double *a, double scale, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = a[i] - (b == NULL ? 0 : scale * b[i]);
        sum += difference * difference;
    }
    return sqrt(sum);
}

static void subtract(size_t count, const double *a, const double *b, double *out) {
    for (size_t i = 0; i < count; i++)
        out[i] = a[i] - b[i];
}

static wt_status no_form(wt_context *context, const char *why) {
    return wt_fail(context, WT_MISSED, "these are the answers of no form that is known here: %s",
                   why);
}

/* n(x)^T W + x with a norm n: of long tokens, F(2x) - F(x) is x or 0. F(x + t) - F(x) is t or 0 as
 * well where n is a layer norm. Biases cannot be told apart from its shift: they are taken to be
 * there. */
static wt_status tell_norm(const form_asker *of, wt_query_options *form, double *a, double *b) {
    wt_asker *asker = of->asker;
    size_t d = asker->d, p = asker->p;
    WT_PASS(ask(of, LONG, 0, false, a));
    WT_PASS(ask(of, 2 * LONG, 0, false, b));
    double size = apart(p, a, 0, NULL), x = LONG * apart(d, of->x, 0, NULL);
    subtract(p, b, a, b);
    form->residual = p == d && apart(p, b, LONG, of->x) < APART * x;
    if (!form->residual && !(apart(p, b, 0, NULL) < APART * size))
        return no_form(asker->context, "one token's is no linear function of it, and of twice the "
                                       "token another one, as after no norm");
    WT_PASS(ask(of, LONG, LONG, false, b));
    subtract(p, b, a, b);
    for (size_t i = 0; i < p; i++) {
        b[i] -= form->residual ? LONG : 0;
        a[i] -= form->residual ? LONG * of->x[i] : 0;
    }
    form->norm = apart(p, b, 0, NULL) < APART * apart(p, a, 0, NULL) ? WT_LAYER_NORM_LAYER
                                                                     : WT_LAYER_NORM_RMS;
    form->bias = true;
    return WT_OK;
}

/* Without a norm. A last token of zeros gives x the weight s(<u_h, x>) in head h, and -x the rest:
 * F(x, 0) - F(-x, 0) = x^T sum_h W_h whatever the u_h are. */
static wt_status tell_linear(const form_asker *of, wt_query_options *form, const double *one,
                             const double *c, double *a, double *b) {
    wt_asker *asker = of->asker;
    size_t d = asker->d, p = asker->p;
    double constant = asker->single ? CONSTANT_SINGLE : CONSTANT, uneven = 0;
    WT_PASS(ask(of, 1, 0, true, a));
    WT_PASS(ask(of, -1, 0, true, b));
    double size = apart(p, one, 0, NULL) + apart(p, a, 0, NULL) + apart(p, b, 0, NULL);
    for (size_t i = 0; i < p; i++) {
        double both = a[i] + b[i] - 2 * c[i];
        uneven += both * both;
        a[i] = one[i] - c[i] - (a[i] - b[i]);
    }
    form->bias = apart(p, c, 0, NULL) > constant * size || sqrt(uneven) > constant * size;
    form->residual = p == d && apart(p, a, 1, of->x) < APART * size;
    return form->residual || apart(p, a, 0, NULL) < APART * size
               ? WT_OK
               : no_form(asker->context, "beside a token of zeros, what one token adds is not what "
                                         "it adds alone");
}

wt_status wt_query_form(wt_asker *asker, uint64_t seed, wt_query_options *form, bool *sure) {
    size_t d = asker->d, p = asker->p;
    wt_arena arena = wt_arena_start(asker->context, "questions of the form");
    form_asker of = {asker, WT_TAKE(&arena, double, d), WT_TAKE(&arena, double, 2, d)};
    double *one = WT_TAKE(&arena, double, p), *c = WT_TAKE(&arena, double, p);
    double *a = WT_TAKE(&arena, double, p), *b = WT_TAKE(&arena, double, p);
    wt_status status;
    *sure = false;
    WT_TRY(arena.status);
    wt_random_normal(wt_stream_for(seed, "query form", 0), 0, d, of.x);
    for (size_t i = 0; i < d; i++)
        of.x[i] = (double)(float)of.x[i];
    WT_TRY(ask(&of, 1, 0, false, one));
    WT_TRY(ask(&of, 1, 0, false, a));
    WT_TRY(ask(&of, -1, 0, false, c));
    WT_TRY(ask(&of, 2, 0, false, b));
    double size = apart(p, one, 0, NULL);
    if (!(size > 0) || apart(p, one, 1, a) > STEADY * size)
        goto done;
    for (size_t i = 0; i < p; i++) {
        c[i] = (one[i] + c[i]) / 2;
        b[i] -= 2 * one[i] - c[i];
    }
    double bent = apart(p, b, 0, NULL);
    const wt_query_options given = *form;
    WT_TRY(bent > APART * size ? tell_norm(&of, form, a, b) : tell_linear(&of, form, one, c, a, b));
    form->bias = form->bias || given.bias;
    form->forms = WT_RECOVER_FORMS_GIVEN;
    *sure = true;
done:
    wt_arena_free(&arena);
    return status;
}

/* With a token t r times and b last, a head adds alpha_h(r) (t - b)^T W_h to F(b), whatever the
 * form is: the answers for several r span no more dimensions than there are heads. */
static wt_status mix(wt_asker *asker, const double *pair, double *room, double *rows) {
    size_t d = asker->d, p = asker->p, bytes = d * sizeof *room;
    double *alone = rows + MIXTURES * p;
    WT_PASS(wt_asker_ask(asker, 1, pair + d, alone));
    for (size_t i = 0; i < MIXTURES; i++) {
        size_t ts = i < 4 ? (size_t)1 << i : 1, bs = i < 4 ? 1 : (size_t)1 << (i - 3);
        for (size_t k = 0; k < ts + bs; k++)
            memcpy(room + k * d, k < ts ? pair : pair + d, bytes);
        WT_PASS(wt_asker_ask(asker, ts + bs, room, rows + i * p));
        subtract(p, rows + i * p, alone, rows + i * p);
    }
    return WT_OK;
}

wt_status wt_query_least_heads(wt_asker *asker, uint64_t seed, size_t *out) {
    size_t d = asker->d, p = asker->p, least = p < MIXTURES ? p : MIXTURES;
    wt_arena arena = wt_arena_start(asker->context, "questions of heads");
    double *pair = WT_TAKE(&arena, double, 2, d), *room = WT_TAKE(&arena, double, MOST, d);
    double *rows = WT_TAKE(&arena, double, MIXTURES + 1, p);
    double *u = WT_TAKE(&arena, double, MIXTURES, least), *s = WT_TAKE(&arena, double, least);
    double *vt = WT_TAKE(&arena, double, least, p);
    wt_status status;
    *out = 1;
    WT_TRY(arena.status);
    for (size_t i = 0; i < PAIRS; i++) {
        size_t rank = 0;
        wt_random_normal(wt_stream_for(seed, "query heads", i), 0, 2 * d, pair);
        for (size_t j = 0; j < 2 * d; j++)
            pair[j] = (double)(float)pair[j];
        WT_TRY(mix(asker, pair, room, rows));
        double size = sqrt(wt_vector_squares(p, rows + MIXTURES * p));
        WT_TRY(wt_svd(asker->context, MIXTURES, p, rows, p, u, s, vt));
        while (rank < least && s[rank] > fmax(NO_HEAD * s[0], NO_ANSWER * (size + s[0])))
            rank++;
        *out = rank > *out ? rank : *out;
    }
done:
    wt_arena_free(&arena);
    return status;
}
