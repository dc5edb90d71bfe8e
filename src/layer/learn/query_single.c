/* One head, one logit at a time. With last token e_j and another u + e_j,
 *     y = w_j + alpha u^T W,    alpha = 1 / (1 + exp(-e_j^T Theta u)),    w_j = F([e_j]).
 * The u are an orthogonal basis whose members all make the same angle with the input direction that
 * W stretches most, so that no alpha is read off a small number; and alphas near 0 or 1, where the
 * logit is lost in rounding, are asked for again with a shorter u. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layer/learn/query_parts.h"
#include "linalg/linalg.h"

#define MOST_LOGIT 9.0  /* past it alpha (1 - alpha) loses four digits */
#define SHORTER    0.25 /* the next length of u */
#define MOST_TRIES 12

typedef struct {
    wt_asker *asker;
    const double *w; /* (d, p) */
    double *basis;   /* (d, d): u_i in rows */
    double *through; /* (d, p): u_i^T W */
    double *tokens;  /* (2, d) */
    double *y;       /* (p) */
} single;

/* The Householder reflection that takes the unit vector `from` to (1, .., 1) / sqrt(d): its rows
 * are orthonormal, and each has 1 / sqrt(d) along `from`. */
static void reflect(size_t d, const double *from, double *basis) {
    double square = 0, even = 1 / sqrt((double)d);
    for (size_t i = 0; i < d; i++)
        square += pow(from[i] - even, 2);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            basis[i * d + j] =
                (i == j ? 1 : 0) -
                (square > 1e-20 ? 2 * (from[i] - even) * (from[j] - even) / square : 0);
}

/* The basis and its images, from the leading left singular vector of W. */
static wt_status choose_basis(single *work) {
    size_t d = work->asker->d, p = work->asker->p, r = d < p ? d : p;
    wt_context *context = work->asker->context;
    wt_arena arena = wt_arena_start(context, "singular vectors");
    wt_status status;
    double *u = WT_TAKE(&arena, double, d, r);
    double *s = WT_TAKE(&arena, double, r);
    double *vt = WT_TAKE(&arena, double, r, p);
    double *lead = WT_TAKE(&arena, double, d);
    WT_TRY(arena.status);
    WT_TRY(wt_svd(context, d, p, work->w, p, u, s, vt));
    if (s[0] == 0)
        WT_TRY(wt_fail(context, WT_MISSED,
                       "the oracle answers zero to every single token, so that one head's theta "
                       "cannot be seen"));
    for (size_t i = 0; i < d; i++)
        lead[i] = u[i * r];
    reflect(d, lead, work->basis);
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, d, p, d, 1, work->basis, d, work->w, p, 0,
                   work->through, p));
done:
    wt_arena_free(&arena);
    return status;
}

/* alpha of the question (e_j, length * u_i). */
static wt_status ask_alpha(single *work, size_t j, size_t i, double length, double *alpha) {
    size_t d = work->asker->d, p = work->asker->p;
    const double *u = work->basis + i * d, *image = work->through + i * p;
    memset(work->tokens, 0, 2 * d * sizeof *work->tokens);
    for (size_t a = 0; a < d; a++)
        work->tokens[a] = length * u[a];
    work->tokens[j] += 1;
    work->tokens[d + j] = 1;
    wt_status status = wt_asker_ask(work->asker, 2, work->tokens, work->y);
    double top = 0, bottom = 0;
    for (size_t o = 0; status == WT_OK && o < p; o++) {
        top += (work->y[o] - work->w[j * p + o]) * image[o];
        bottom += image[o] * image[o];
    }
    *alpha = top / (length * bottom);
    return status;
}

/* e_j^T Theta u_i. */
static wt_status find_logit(single *work, size_t j, size_t i, double *out) {
    double length = 1, alpha;
    for (int tries = 0; tries < MOST_TRIES; tries++, length *= SHORTER) {
        WT_PASS(ask_alpha(work, j, i, length, &alpha));
        double logit = log(alpha / (1 - alpha)); /* NaN outside (0, 1) */
        if (fabs(logit) <= MOST_LOGIT) {
            *out = logit / length;
            return WT_OK;
        }
    }
    return wt_fail(work->asker->context, WT_MISSED,
                   "the answers are not those of one head: between token %zu and another the "
                   "attention is %g however near they are",
                   j, alpha);
    return WT_OK;
}

wt_status wt_query_single(wt_asker *asker, wt_layer *out) {
    size_t d = asker->d, p = asker->p;
    wt_context *context = asker->context;
    single work = {.asker = asker, .w = out->w};
    wt_arena arena = wt_arena_start(context, "directions");
    wt_status status;
    work.basis = WT_TAKE(&arena, double, d, d);
    work.through = WT_TAKE(&arena, double, d, p);
    work.tokens = WT_TAKE_ZERO(&arena, double, 2, d);
    work.y = WT_TAKE(&arena, double, p);
    double *logits = WT_TAKE(&arena, double, d, d);
    WT_TRY(arena.status);
    for (size_t j = 0; j < d; j++) {
        memset(work.tokens, 0, d * sizeof *work.tokens);
        work.tokens[j] = 1;
        WT_TRY(wt_asker_ask(asker, 1, work.tokens, out->w + j * p));
    }
    WT_TRY(choose_basis(&work));
    for (size_t j = 0; j < d; j++)
        for (size_t i = 0; i < d; i++)
            WT_TRY(find_logit(&work, j, i, &logits[j * d + i]));
    /* logits = Theta U^T with orthonormal rows in U. */
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, d, d, d, 1, logits, d, work.basis, d, 0, out->theta,
                   d));
done:
    wt_arena_free(&arena);
    return status;
}
