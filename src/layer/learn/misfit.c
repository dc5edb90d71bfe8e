#include "layer/learn/misfit.h"

#include <math.h>

#include "layer/learn/misfit_parts.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

/* More outputs are mixed to so many. */
enum { MOST_OUTPUTS = 32 };

/* E and F = Y - E, of at most MOST_OUTPUTS columns. */
static wt_status take_outputs(wt_misfit_work *work, uint64_t seed, wt_arena *arena) {
    const wt_projection *at = work->at;
    wt_context *context = work->context;
    size_t R = work->R, all = work->rows->outputs, p = work->p;
    double *fitted = WT_TAKE(&work->arena, double, R, all);
    double *mixer = WT_TAKE_ZERO(&work->arena, double, all, p);
    wt_status status;
    work->e = WT_TAKE(arena, double, R, p);
    work->f = WT_TAKE(arena, double, R, p);
    work->w = WT_TAKE(arena, double, at->columns, p);
    WT_TRY(work->arena.status);
    WT_TRY(arena->status);
    for (size_t i = 0; i < R * all; i++)
        fitted[i] = work->rows->y[i] - at->e[i];
    if (p < all)
        wt_random_normal(wt_stream_for(seed, "misfit outputs", 0), 0, all * p, mixer);
    for (size_t i = 0; i < all * p; i++)
        mixer[i] = p < all ? mixer[i] / sqrt((double)p) : (i / p == i % p);
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, R, p, all, 1, at->e, all, mixer, p, 0, work->e, p));
    WT_TRY(
        wt_gemm(context, WT_PLAIN, WT_PLAIN, R, p, all, 1, fitted, all, mixer, p, 0, work->f, p));
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, at->columns, p, all, 1, at->w, all, mixer, p, 0,
                   work->w, p));
    double size = sqrt(wt_vector_squares(R * p, work->f) / (double)(R * p));
    for (size_t i = 0; i < R * p; i++)
        work->f[i] /= size > 0 ? size : 1;
done:
    wt_arena_free(&work->arena);
    return status;
}

/* Random directions and heads in units of the tokens' size. */
static wt_status draw_random(wt_misfit_work *work, uint64_t seed, wt_arena *arena) {
    const wt_attention *in = &work->rows->in;
    size_t d = in->dim, tokens = wt_attention_key(in, in->sequences);
    double per = sqrt((double)d);
    work->unit = sqrt(wt_vector_squares(tokens * d, in->key) / (double)(tokens * d));
    work->random = WT_TAKE(arena, double, WT_FEATURE_DIRECTIONS, d);
    work->theta = WT_TAKE(arena, double, 2, d, d);
    if (arena->status != WT_OK)
        return arena->status;
    wt_random_normal(wt_stream_for(seed, "misfit directions", 0), 0, WT_FEATURE_DIRECTIONS * d,
                     work->random);
    wt_random_normal(wt_stream_for(seed, "misfit heads", 0), 0, 2 * d * d, work->theta);
    for (size_t i = 0; i < WT_FEATURE_DIRECTIONS * d; i++)
        work->random[i] /= per * work->unit;
    for (size_t i = 0; i < 2 * d * d; i++)
        work->theta[i] *= (i < d * d ? 1 : 3) / ((double)d * work->unit * work->unit);
    return WT_OK;
}

/* The first of those in the table that explain nearly as much as the most telling one, as simple
 * families come first; and that one, where it is another. */
static void choose(size_t count, const wt_misfit_finding *found, double critical, wt_misfit *out) {
    size_t most = count;
    for (size_t i = 0; i < count; i++)
        if (found[i].tried && found[i].z > critical &&
            (most == count || found[i].part > found[most].part))
            most = i;
    for (size_t i = 0; most < count && out->kind == NULL; i++)
        if (found[i].tried && found[i].z > critical && found[i].part >= 0.7 * found[most].part) {
            out->kind = wt_feature_families[i].name;
            out->words = wt_feature_families[i].words;
            out->also = i == most ? NULL : wt_feature_families[most].words;
            out->part = found[most].part;
        }
}

static wt_status try_family(wt_misfit_work *work, const wt_feature_family *family, uint64_t seed,
                            double critical, wt_misfit_finding *out) {
    wt_status status;
    WT_TRY(wt_misfit_basis(work, family, seed));
    if (work->q > 0)
        WT_TRY(wt_misfit_hold(work, critical, out));
done:
    wt_arena_free(&work->arena);
    return status;
}

wt_status wt_misfit_test(wt_context *context, const wt_projection *at, uint64_t seed,
                         wt_misfit *out) {
    enum { MOST_FAMILIES = 32 };
    const wt_rows *rows = at->rows;
    wt_arena arena = wt_arena_start(context, "residuals and fitted outputs");
    wt_misfit_work work = {.context = context,
                           .at = at,
                           .rows = rows,
                           .R = rows->rows,
                           .n = rows->in.sequences,
                           .p = rows->outputs < MOST_OUTPUTS ? rows->outputs : MOST_OUTPUTS,
                           .arena = wt_arena_start(context, "features")};
    wt_misfit_finding found[MOST_FAMILIES] = {0};
    size_t count = wt_feature_family_count, tried = 0;
    double critical = wt_misfit_critical(WT_MISFIT_LEVEL / (double)count), most = -INFINITY,
           least = 0;
    wt_status status = WT_OK;
    *out = (wt_misfit){.p = NAN, .part = NAN, .seen = NAN, .blind = true};
    if (work.R <= at->spanned || work.n < 3)
        goto done;
    for (size_t s = 0; s < work.n; s++)
        work.longest = wt_misfit_keys(&rows->in, s) > work.longest ? wt_misfit_keys(&rows->in, s)
                                                                   : work.longest;
    WT_TRY(take_outputs(&work, seed, &arena));
    WT_TRY(draw_random(&work, seed, &arena));
    for (size_t i = 0; i < count; i++) {
        WT_TRY(try_family(&work, &wt_feature_families[i], seed, critical, &found[i]));
        if (!found[i].tried)
            continue;
        tried++;
        most = fmax(most, found[i].z);
        least = fmax(least, found[i].least);
    }
    if (tried == 0)
        goto done;
    out->p = fmin(1, wt_misfit_chance(most) * (double)count);
    out->seen = sqrt(least) / rows->norm;
    out->blind = least > wt_vector_squares(work.R * work.p, work.e) / 2;
    choose(count, found, critical, out);
done:
    wt_arena_free(&arena);
    return status;
}
