/* Questions and answers. */
#include <string.h>

#include "base/memory.h"
#include "base/work.h"
#include "layer/learn/query_parts.h"
#include "wattle/io.h"
#include "wattle/random.h"

void wt_asker_free(wt_asker *asker) {
    wt_release(asker->ends);
    wt_release(asker->y);
    wt_release(asker->x);
    wt_release(asker->times);
    wt_release(asker->wide);
}

/* The array at `slot` with room for `room` elements, of which `used` are kept. */
static wt_status grow(wt_context *context, void *slot, size_t used, size_t room, size_t size) {
    void *old = *(void **)slot, *larger;
    wt_status status = wt_allocate(context, &larger, room, size, "questions and answers");
    if (status != WT_OK)
        return status;
    if (used > 0)
        memcpy(larger, old, used * size);
    wt_release(old);
    *(void **)slot = larger;
    return WT_OK;
}

static wt_status make_room(wt_asker *asker, size_t n) {
    wt_context *context = asker->context;
    wt_status status = WT_OK;
    if (asker->rows == asker->row_room) {
        size_t room = 2 * asker->row_room + 64;
        WT_TRY(grow(context, &asker->ends, asker->rows, room, sizeof *asker->ends));
        WT_TRY(grow(context, &asker->y, asker->rows * asker->p, room * asker->p, sizeof(double)));
        asker->row_room = room;
    }
    if (asker->tokens + n > asker->token_room) {
        size_t room = 2 * asker->token_room + n + 64;
        WT_TRY(grow(context, &asker->x, asker->tokens * asker->d, room * asker->d, sizeof(double)));
        WT_TRY(grow(context, &asker->times, asker->tokens, room, sizeof(double)));
        asker->token_room = room;
    }
done:
    return status;
}

wt_status wt_asker_ask(wt_asker *asker, size_t k, const double *x, double *y) {
    wt_status status;
    WT_TRY(wt_check_cancelled(asker->context));
    double before = wt_work_done(asker->context);
    WT_TRY(asker->ask(asker->user, k, x, y));
    asker->theirs += wt_work_done(asker->context) - before;
    asker->count++;
    WT_TRY(wt_check_finite(asker->context, "the answer", y, 1, &asker->p));
done:
    return status;
}

/* The question with its repetitions written out, (k, d). */
static wt_status widen(wt_asker *asker, size_t n, const double *x, const double *times, size_t *k) {
    size_t d = asker->d;
    *k = 0;
    for (size_t b = 0; b < n; b++)
        *k += times == NULL ? 1 : (size_t)times[b];
    if (*k > asker->wide_room) {
        wt_status status = grow(asker->context, &asker->wide, 0, *k * d, sizeof(double));
        if (status != WT_OK)
            return status;
        asker->wide_room = *k;
    }
    double *to = asker->wide;
    for (size_t b = 0; b < n; b++)
        for (size_t c = times == NULL ? 1 : (size_t)times[b]; c > 0; c--, to += d)
            memcpy(to, x + b * d, d * sizeof *x);
    return WT_OK;
}

wt_status wt_asker_keep(wt_asker *asker, size_t n, const double *x, const double *times,
                        double *y) {
    size_t k, d = asker->d, p = asker->p;
    wt_status status;
    WT_TRY(make_room(asker, n));
    WT_TRY(widen(asker, n, x, times, &k));
    double *answer = asker->y + asker->rows * p;
    WT_TRY(wt_asker_ask(asker, k, asker->wide, answer));
    memcpy(asker->x + asker->tokens * d, x, n * d * sizeof *x);
    for (size_t b = 0; b < n; b++)
        asker->times[asker->tokens + b] = times == NULL ? 1 : times[b];
    asker->tokens += n;
    asker->ends[asker->rows++] = asker->tokens;
    if (y != NULL)
        memcpy(y, answer, p * sizeof *y);
done:
    return status;
}

wt_status wt_asker_rows(const wt_asker *asker, wt_rows *out) {
    size_t n = asker->rows, d = asker->d;
    wt_arena arena = wt_arena_on(asker->context, "questions as rows");
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
                       double scale, double *x) {
    size_t k = 2 + (size_t)(index % 3);
    wt_random_normal(wt_stream_for(seed, purpose, index), 0, k * asker->d, x);
    for (size_t i = 0; i < k * asker->d; i++)
        x[i] *= scale;
    return k;
}
