#include "layer/learn/holdout.h"

#include <string.h>

#include "base/memory.h"
#include "layer/learn/recovery.h"
#include "wattle/random.h"

/* order (n): the sequences fitted, then the `count` of `held`, both increasing. */
static void arrange(size_t n, size_t count, const size_t *held, size_t *order) {
    size_t fitted = 0, next = 0;
    for (size_t s = 0; s < n; s++) {
        bool out = next < count && held[next] == s;
        order[out ? n - count + next++ : fitted++] = s;
    }
}

static void copy(const wt_sequences *from, const size_t *order, wt_sequences *to) {
    size_t x = from->length * from->dim, y = from->length * from->outputs;
    for (size_t s = 0; s < to->samples; s++) {
        memcpy(to->x + s * x, from->x + order[s] * x, x * sizeof *to->x);
        memcpy(to->y + s * y, from->y + order[s] * y, y * sizeof *to->y);
    }
}

wt_status wt_holdout_split(wt_context *context, const wt_sequences *data,
                           const wt_recover_options *options, wt_holdout *out) {
    size_t n = data->samples, count = n - wt_recover_train_samples(data, options);
    wt_arena arena = wt_arena_start(context, "held-out sequences");
    wt_status status = WT_OK;
    *out = (wt_holdout){.data = data};
    if (count == 0)
        goto done;
    size_t *held = WT_TAKE(&arena, size_t, count), *order = WT_TAKE(&arena, size_t, n);
    WT_TRY(arena.status);
    WT_TRY(wt_random_subset(context, wt_stream_for(options->seed, "holdout", 0), n, count, held));
    arrange(n, count, held, order);
    WT_TRY(wt_sequences_new(context, n, data->length, data->dim, data->outputs, &out->own));
    copy(data, order, out->own);
    out->data = out->own;
    out->own->partial = data->partial;
    if (data->lengths != NULL) {
        size_t *lengths = WT_TAKE(&arena, size_t, n);
        WT_TRY(arena.status);
        for (size_t s = 0; s < n; s++)
            lengths[s] = data->lengths[order[s]];
        WT_TRY(wt_sequences_set_lengths(context, out->own, lengths));
    }
done:
    wt_arena_free(&arena);
    if (status != WT_OK)
        wt_holdout_free(out);
    return status;
}

void wt_holdout_free(wt_holdout *holdout) {
    wt_sequences_free(holdout->own);
    *holdout = (wt_holdout){0};
}
