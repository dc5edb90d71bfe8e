/* Whether answers are those of a plain layer, whatever its heads are. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "layer/learn/query_parts.h"
#include "layer/task/vector.h"
#include "wattle/random.h"

/* Answers that are apart by more than this part of them are so by their form. */
#define APART 1e-3
/* Answers to one question that differ by more have noise, which no form is read from. */
#define STEADY 1e-9

/* The answers that the test goes by, (p) each. */
typedef struct {
    double *zero, *one, *again, *twice, *half; /* F(0), F(x) two times, F(2x), F(x, 0) */
} answers;

static wt_status ask_all(wt_asker *asker, uint64_t seed, double *x, answers *out) {
    size_t d = asker->d;
    memset(x, 0, 2 * d * sizeof *x);
    WT_PASS(wt_asker_ask(asker, 1, x, out->zero));
    wt_random_normal(wt_stream_for(seed, "query form", 0), 0, d, x);
    for (size_t i = 0; asker->single && i < d; i++)
        x[i] = (double)(float)x[i];
    WT_PASS(wt_asker_ask(asker, 1, x, out->one));
    WT_PASS(wt_asker_ask(asker, 1, x, out->again));
    WT_PASS(wt_asker_ask(asker, 2, x, out->half));
    for (size_t i = 0; i < d; i++)
        x[i] *= 2;
    WT_PASS(wt_asker_ask(asker, 1, x, out->twice));
    return WT_OK;
}

/* One token is attended to wholly: F(x) = x^T sum_h W_h. A last token 0 attends to all alike. So
 * F(0) = 0, F(2x) = 2 F(x) and F(x, 0) = F(x) / 2 without biases, norm and residual connection;
 * c = F(0) is taken off the last two. */
static void judge(size_t p, const answers *of, double *bias, double *bent, double *uneven) {
    double size = 0, linear = 0, half = 0;
    for (size_t i = 0; i < p; i++) {
        double c = of->zero[i], one = of->one[i] - c, twice = of->twice[i] - c;
        size += of->one[i] * of->one[i] + c * c;
        linear += (twice - 2 * one) * (twice - 2 * one);
        half += (of->half[i] - c - one / 2) * (of->half[i] - c - one / 2);
    }
    *bias = sqrt(wt_vector_squares(p, of->zero) / size);
    *bent = sqrt(linear / size);
    *uneven = sqrt(half / size);
}

wt_status wt_query_plain(wt_asker *asker, uint64_t seed, size_t *asked) {
    size_t d = asker->d, p = asker->p;
    wt_arena arena = wt_arena_start(asker->context, "a question");
    double *x = WT_TAKE(&arena, double, 2, d);
    answers of = {WT_TAKE(&arena, double, p), WT_TAKE(&arena, double, p),
                  WT_TAKE(&arena, double, p), WT_TAKE(&arena, double, p),
                  WT_TAKE(&arena, double, p)};
    double bias, bent, uneven;
    wt_status status = arena.status;
    if (status != WT_OK || asker->tested)
        goto done;
    asker->tested = true;
    size_t before = asker->count;
    status = ask_all(asker, seed, x, &of);
    *asked += asker->count - before;
    WT_TRY(status);
    if (wt_vector_apart(p, of.one, of.again) > STEADY * STEADY * wt_vector_squares(p, of.one))
        goto done;
    judge(p, &of, &bias, &bent, &uneven);
    asker->other = bias > APART || bent > APART || uneven > APART;
    if (asker->other)
        status = wt_fail(asker->context, WT_MISSED,
                         "these are not the answers of a plain layer: %s; --form auto tries other "
                         "forms",
                         bent > APART   ? "one token's is no linear function of it, as after a norm"
                         : bias > APART ? "that to a token of zeros is not 0, as with biases"
                                        : "a last token of zeros does not attend to all alike, as "
                                          "with biases or a residual connection");
done:
    wt_arena_free(&arena);
    return status;
}
