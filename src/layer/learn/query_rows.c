/* Questions and answers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/work.h"
#include "layer/learn/query_parts.h"
#include "layer/learn/recovery.h"
#include "wattle/io.h"
#include "wattle/random.h"

void wt_asker_free(wt_asker *asker) {
    wt_release(asker->ends);
    wt_release(asker->y);
    wt_release(asker->x);
    wt_release(asker->times);
    wt_release(asker->wide);
}

void wt_asker_clear(wt_asker *asker) {
    asker->count = asker->rows = asker->tokens = 0;
    asker->limited = false;
}

void wt_asker_enter(wt_asker *asker, size_t heads, size_t start) {
    snprintf(asker->phase, sizeof asker->phase, "%zu head%s, start %zu", heads,
             heads == 1 ? "" : "s", start);
    wt_meter_enter(&asker->meter, asker->phase);
}

double wt_asker_tolerance(const wt_asker *asker, const wt_query_options *options) {
    return asker->single ? fmax(options->tolerance, WT_RECOVER_SINGLE_GOAL) : options->tolerance;
}

wt_status wt_asker_ask(wt_asker *asker, size_t k, const double *x, double *y) {
    WT_PASS(wt_context_check_cancelled(asker->context));
    double before = wt_work_done(asker->context);
    if (asker->most > 0 && asker->asked >= asker->most) {
        asker->limited = true;
        return wt_fail(asker->context, WT_MISSED,
                       "the limit of questions is reached after %zu of them, and no layer was "
                       "found yet",
                       asker->asked);
    }
    WT_PASS(asker->ask(asker->user, k, x, y));
    asker->theirs += wt_work_done(asker->context) - before;
    wt_meter_set(&asker->meter, asker->meter.done + 1);
    asker->count++;
    asker->single = (asker->asked == 0 || asker->single) && wt_recover_is_single(asker->p, y);
    for (size_t i = 0; i < asker->p; i++)
        asker->heard = asker->heard || y[i] != 0;
    asker->asked++;
    return wt_values_check_finite(asker->context, "the answer", y, 1, &asker->p);
}

/* The question with its repetitions written out, (k, d). */
static wt_status widen(wt_asker *asker, size_t n, const double *x, const double *times, size_t *k) {
    size_t d = asker->d, bytes = d * sizeof *x;
    *k = 0;
    for (size_t b = 0; b < n; b++)
        for (size_t c = times == NULL ? 1 : (size_t)times[b]; c > 0; c--, ++*k) {
            WT_PASS(
                wt_grow(asker->context, &asker->wide, *k, &asker->wide_room, bytes, "a question"));
            memcpy(asker->wide + *k * d, x + b * d, bytes);
        }
    return WT_OK;
}

wt_status wt_asker_keep(wt_asker *asker, size_t n, const double *x, const double *times,
                        double *y) {
    size_t k, d = asker->d, p = asker->p, row = asker->rows;
    wt_context *context = asker->context;
    WT_PASS(widen(asker, n, x, times, &k));
    WT_PASS(wt_grow(context, &asker->y, row, &asker->answer_room, p * sizeof *y, "answers"));
    WT_PASS(WT_GROW(context, &asker->ends, row, &asker->row_room, "questions"));
    WT_PASS(wt_asker_ask(asker, k, asker->wide, asker->y + row * p));
    for (size_t b = 0; b < n; b++, asker->tokens++) {
        size_t at = asker->tokens;
        WT_PASS(wt_grow(context, &asker->x, at, &asker->token_room, d * sizeof *x, "questions"));
        WT_PASS(WT_GROW(context, &asker->times, at, &asker->times_room, "questions"));
        memcpy(asker->x + at * d, x + b * d, d * sizeof *x);
        asker->times[at] = times == NULL ? 1 : times[b];
    }
    asker->ends[asker->rows++] = asker->tokens;
    if (y != NULL)
        memcpy(y, asker->y + row * p, p * sizeof *y);
    return WT_OK;
}

wt_status wt_asker_rows(const wt_asker *asker, wt_rows *out) {
    size_t n = asker->rows, d = asker->d;
    wt_arena arena = wt_arena_start(asker->context, "questions as rows");
    size_t *key_start = WT_TAKE_ZERO(&arena, size_t, n + 1);
    size_t *row_start = WT_TAKE_ZERO(&arena, size_t, n + 1);
    double *query = WT_TAKE(&arena, double, n, d);
    wt_status status;
    *out = (wt_rows){.rows = n, .outputs = asker->p, .y = asker->y, .arena = arena};
    WT_TRY(arena.status);
    for (size_t s = 0; s < n; s++) {
        key_start[s + 1] = asker->ends[s];
        row_start[s + 1] = s + 1;
        memcpy(query + s * d, asker->x + (asker->ends[s] - 1) * d, d * sizeof *query);
    }
    out->in = (wt_attention){.sequences = n,
                             .dim = d,
                             .key_start = key_start,
                             .row_start = row_start,
                             .key = asker->x,
                             .query = query,
                             .times = asker->times};
    WT_TRY(wt_rows_measure(out));
done:
    if (status != WT_OK)
        wt_rows_free(out);
    return status;
}

size_t wt_asker_random(const wt_asker *asker, uint64_t seed, const char *purpose, uint64_t index,
                       double scale, size_t most, double *x) {
    size_t k = 2 + (size_t)(index % (most - 1));
    wt_random_normal(wt_stream_for(seed, purpose, index), 0, k * asker->d, x);
    for (size_t i = 0; i < k * asker->d; i++)
        x[i] *= scale;
    return k;
}
