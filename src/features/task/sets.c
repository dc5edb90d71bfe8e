#include "features/task/sets.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/parallel.h"

wt_status wt_sets_open(wt_context *context, size_t samples, size_t keys, size_t dim, size_t outputs,
                       bool masked, wt_sets *out) {
    *out = (wt_sets){.samples = samples, .keys = keys, .dim = dim, .outputs = outputs};
    wt_status status;
    if (outputs > 0) /* what is often largest comes first: a size beyond all memory is told early */
        WT_TRY(WT_NEW2(context, &out->y, samples, outputs, "labels"));
    WT_TRY(WT_NEW3(context, &out->key, samples, keys, dim, "key tokens"));
    WT_TRY(WT_NEW2(context, &out->query, samples, dim, "query tokens"));
    if (masked)
        WT_TRY(WT_NEW2(context, &out->mask, samples, keys, "mask"));
done:
    if (status != WT_OK)
        wt_sets_close(out);
    return status;
}

void wt_sets_close(wt_sets *sets) {
    if (!sets->borrowed) {
        wt_release(sets->query);
        wt_release(sets->key);
        wt_release(sets->mask);
        wt_release(sets->y);
    }
    *sets = (wt_sets){0};
}

wt_status wt_sets_new(wt_context *context, size_t samples, size_t keys, size_t dim, size_t outputs,
                      bool masked, wt_sets **out) {
    wt_status status = WT_NEW_ZERO(context, out, 1, "sets");
    if (status == WT_OK)
        status = wt_sets_open(context, samples, keys, dim, outputs, masked, *out);
    if (status != WT_OK) {
        wt_release(*out);
        *out = NULL;
    }
    return status;
}

wt_status wt_sets_borrow(wt_context *context, size_t samples, size_t keys, size_t dim,
                         size_t outputs, double *query, double *key, uint8_t *mask, double *y,
                         wt_sets **out) {
    *out = NULL;
    if (query == NULL || key == NULL || (y == NULL) != (outputs == 0))
        return wt_fail(context, WT_USAGE, "borrowed sets need query, keys, and y for %zu outputs",
                       outputs);
    WT_PASS(WT_NEW(context, out, 1, "sets"));
    **out = (wt_sets){.samples = samples,
                      .keys = keys,
                      .dim = dim,
                      .outputs = outputs,
                      .query = query,
                      .key = key,
                      .mask = mask,
                      .y = y,
                      .borrowed = true};
    return WT_OK;
}

void wt_sets_free(wt_sets *sets) {
    if (sets != NULL)
        wt_sets_close(sets);
    wt_release(sets);
}

size_t wt_sets_samples(const wt_sets *sets) {
    return sets->samples;
}
size_t wt_sets_keys(const wt_sets *sets) {
    return sets->keys;
}
size_t wt_sets_dim(const wt_sets *sets) {
    return sets->dim;
}
size_t wt_sets_outputs(const wt_sets *sets) {
    return sets->outputs;
}
double *wt_sets_query(const wt_sets *sets) {
    return sets->query;
}
double *wt_sets_key(const wt_sets *sets) {
    return sets->key;
}
uint8_t *wt_sets_mask(const wt_sets *sets) {
    return sets->mask;
}
double *wt_sets_y(const wt_sets *sets) {
    return sets->y;
}

wt_sets wt_sets_part(const wt_sets *sets, size_t begin, size_t end) {
    size_t tokens = begin * sets->keys;
    wt_sets part = *sets;
    part.samples = end - begin;
    part.query = sets->query + begin * sets->dim;
    part.key = sets->key + tokens * sets->dim;
    part.mask = sets->mask == NULL ? NULL : sets->mask + tokens;
    part.y = sets->y == NULL ? NULL : sets->y + begin * sets->outputs;
    return part;
}

static wt_status check_mask(wt_context *context, const char *name, const wt_sets *sets) {
    for (size_t i = 0; sets->mask != NULL && i < sets->samples; i++) {
        size_t live = 0;
        for (size_t j = 0; j < sets->keys; j++)
            live += sets->mask[i * sets->keys + j] != 0;
        if (live == 0)
            return wt_fail(context, WT_DATA, "%s: sample %zu has every key masked", name, i);
    }
    return WT_OK;
}

/* Numbers that a thread looks at in one go. */
enum { LOOK = 1 << 16 };

typedef struct {
    const double *values;
    atomic_bool odd; /* some are not finite */
} looking;

/* Without a way out of the loop, which compilers make vector code of. */
static wt_status look(void *argument, size_t begin, size_t end, int worker) {
    looking *at = argument;
    int fine = 1;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        fine &= fabs(at->values[i]) <= DBL_MAX;
    if (!fine)
        atomic_store(&at->odd, true);
    return WT_OK;
}

static wt_status all_finite(wt_context *context, size_t count, const double *values, bool *fine) {
    looking at = {.values = values};
    WT_PASS(wt_parallel_for(context, count, LOOK, look, &at));
    *fine = !at.odd;
    return WT_OK;
}

wt_status wt_sets_check(wt_context *context, const wt_sets *sets, const char *name) {
    static const struct {
        const char *words;
        size_t field;
    } sizes[] = {{"no samples", offsetof(wt_sets, samples)},
                 {"no keys", offsetof(wt_sets, keys)},
                 {"tokens of no dimension", offsetof(wt_sets, dim)}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (*(const size_t *)(const void *)((const char *)sets + sizes[i].field) == 0)
            return wt_fail(context, WT_DATA, "%s: %s", name, sizes[i].words);
    const struct {
        const char *array;
        const double *values;
        size_t columns;
    } arrays[] = {{"query", sets->query, sets->dim},
                  {"keys", sets->key, sets->keys * sets->dim},
                  {"y", sets->y, sets->outputs}};
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        size_t count = arrays[a].values == NULL ? 0 : sets->samples * arrays[a].columns;
        bool fine;
        WT_PASS(all_finite(context, count, arrays[a].values, &fine));
        if (fine)
            continue;
        for (size_t i = 0; i < count; i++)
            if (!isfinite(arrays[a].values[i]))
                return wt_fail(context, WT_DATA, "%s: %s of sample %zu, number %zu, is %g", name,
                               arrays[a].array, i / arrays[a].columns, i % arrays[a].columns,
                               arrays[a].values[i]);
    }
    return check_mask(context, name, sets);
}
