#include "features/model/kernel_side.h"

#include <math.h>

#include "base/parallel.h"

#define SAMPLES_A_CHUNK 256
/* What an arena and wt_allocate may add to a piece. */
#define BLOCK_EXTRA 192

typedef struct {
    wt_context *context;
    const wt_model_spec *spec;
    const wt_sets *sets;
    wt_kernel_side *side;
} opening;

static bool live(const wt_sets *sets, size_t sample, size_t key) {
    return sets->mask == NULL || sets->mask[sample * sets->keys + key] != 0;
}

/* Ends `width` numbers with a 1, divides them by their length, and gives the length. */
static wt_status to_unit(const opening *work, size_t sample, size_t width, double *x,
                         double *length) {
    x[width - 1] = 1;
    double square = 0;
    for (size_t j = 0; j < width; j++)
        square += x[j] * x[j];
    *length = sqrt(square);
    if (!(*length <= WT_LONGEST_TOKEN))
        return wt_fail(work->context, WT_DATA,
                       "a token of sample %zu has length %g; kernels take finite ones up to %g",
                       sample, *length, WT_LONGEST_TOKEN);
    for (size_t j = 0; j < width; j++)
        x[j] /= *length;
    return WT_OK;
}

static wt_status fill_query(const opening *work, size_t sample) {
    const wt_sets *sets = work->sets;
    wt_kernel_side *side = work->side;
    double *out = side->query + sample * side->query_width;
    for (size_t j = 0; j < sets->dim; j++)
        out[j] = sets->query[sample * sets->dim + j];
    if (work->spec->kind == WT_MODEL_KIND_RFMLP_INF)
        for (size_t i = 0; i < sets->keys; i++)
            for (size_t j = 0; j < sets->dim; j++)
                out[(i + 1) * sets->dim + j] =
                    live(sets, sample, i) ? sets->key[(sample * sets->keys + i) * sets->dim + j]
                                          : 0;
    return to_unit(work, sample, side->query_width, out, &side->query_length[sample]);
}

/* c <x0, xi> over the spread |x~0| |x~i| / 2, from the unit vectors: the last entries are the ones
 * of x~, which take no part in the mean. */
static double relative_mean(double bias, size_t dim, const double *query, const double *key) {
    double product = 0;
    for (size_t j = 0; j < dim; j++)
        product += query[j] * key[j];
    return 2 * bias * product;
}

static wt_status fill_keys(const opening *work, size_t sample) {
    const wt_sets *sets = work->sets;
    wt_kernel_side *side = work->side;
    size_t row = side->start[sample];
    for (size_t i = 0; i < sets->keys; i++) {
        if (!live(sets, sample, i))
            continue;
        double *out = side->key + row * side->key_width, length;
        for (size_t j = 0; j < sets->dim; j++)
            out[j] = sets->key[(sample * sets->keys + i) * sets->dim + j];
        WT_PASS(to_unit(work, sample, side->key_width, out, &length));
        side->weight[row] = length * length;
        if (side->mean != NULL)
            side->mean[row] = relative_mean(work->spec->bias, sets->dim,
                                            side->query + sample * side->query_width, out);
        row++;
    }
    return WT_OK;
}

static wt_status fill_chunk(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const opening *work = argument;
    wt_status status = WT_OK;
    for (size_t sample = begin; sample < end && status == WT_OK; sample++) {
        status = fill_query(work, sample);
        if (status == WT_OK && work->side->key != NULL)
            status = fill_keys(work, sample);
    }
    return status;
}

static wt_status count_live(const opening *work) {
    const wt_sets *sets = work->sets;
    size_t *start = work->side->start;
    start[0] = 0;
    for (size_t sample = 0; sample < sets->samples; sample++) {
        start[sample + 1] = start[sample];
        for (size_t i = 0; i < sets->keys; i++)
            start[sample + 1] += live(sets, sample, i);
        if (start[sample + 1] == start[sample])
            return wt_fail(work->context, WT_DATA, "sample %zu has every key masked", sample);
    }
    return WT_OK;
}

static wt_status open_keys(const opening *work) {
    wt_kernel_side *side = work->side;
    side->key_width = work->sets->dim + 1;
    side->start = WT_TAKE(&side->arena, size_t, side->samples + 1);
    WT_PASS(side->arena.status);
    WT_PASS(count_live(work));
    size_t keys = side->start[side->samples];
    side->key = WT_TAKE(&side->arena, double, keys, side->key_width);
    side->weight = WT_TAKE(&side->arena, double, keys);
    if (work->spec->kind == WT_MODEL_KIND_BRFA_INF)
        side->mean = WT_TAKE(&side->arena, double, keys);
    return side->arena.status;
}

static size_t query_width(const wt_model_spec *spec, size_t keys) {
    return spec->kind == WT_MODEL_KIND_RFMLP_INF ? (keys + 1) * spec->dim + 1 : spec->dim + 1;
}

wt_status wt_kernel_side_open(wt_context *context, const wt_model_spec *spec, const wt_sets *sets,
                              wt_kernel_side *out) {
    *out = (wt_kernel_side){.arena = wt_arena_start(context, "unit tokens"),
                            .samples = sets->samples,
                            .query_width = query_width(spec, sets->keys)};
    opening work = {.context = context, .spec = spec, .sets = sets, .side = out};
    wt_status status;
    out->query = WT_TAKE(&out->arena, double, out->samples, out->query_width);
    out->query_length = WT_TAKE(&out->arena, double, out->samples);
    WT_TRY(out->arena.status);
    if (spec->kind != WT_MODEL_KIND_RFMLP_INF)
        WT_TRY(open_keys(&work));
    WT_TRY(wt_parallel_for(context, out->samples, SAMPLES_A_CHUNK, fill_chunk, &work));
done:
    if (status != WT_OK)
        wt_kernel_side_free(out);
    return status;
}

void wt_kernel_side_free(wt_kernel_side *side) {
    wt_arena_free(&side->arena);
    *side = (wt_kernel_side){0};
}

size_t wt_kernel_side_bytes(const wt_model_spec *spec, size_t samples) {
    size_t bytes = samples * (query_width(spec, spec->keys) + 1) * sizeof(double) + 2 * BLOCK_EXTRA;
    if (spec->kind == WT_MODEL_KIND_RFMLP_INF)
        return bytes;
    size_t numbers_a_key = spec->dim + 1 + 1 + (spec->kind == WT_MODEL_KIND_BRFA_INF);
    return bytes + samples * spec->keys * numbers_a_key * sizeof(double) +
           (samples + 1) * sizeof(size_t) + 4 * BLOCK_EXTRA;
}
