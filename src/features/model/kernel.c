#include "features/model/kernel.h"

#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "features/model/features.h"
#include "features/model/kernel_tile.h"

/* What wt_allocate may add to a block. */
#define BLOCK_EXTRA 128
/* Rows of scratch space are not a power of two apart, lest they share the same lines of cache. */
#define ROOM_EXTRA 8

typedef struct {
    wt_kernel_tile tile;
    size_t row_blocks, column_blocks;
    size_t numbers;  /* of scratch space a worker */
    double *scratch; /* (threads, numbers) */
} work;

static size_t last_of(size_t first, size_t block, size_t samples) {
    return samples - first < block ? samples : first + block;
}

static wt_status run_tiles(void *argument, size_t begin, size_t end, int worker) {
    const work *job = argument;
    const wt_kernel_tile *tile = &job->tile;
    double *scratch = job->scratch + (size_t)worker * job->numbers;
    for (size_t index = begin; index < end; index++) {
        /* The last rows first: in a triangle they have the most tiles. */
        size_t row = job->row_blocks - 1 - index / job->column_blocks;
        size_t column = index % job->column_blocks;
        size_t a0 = row * tile->block, b0 = column * tile->block;
        if (tile->lower && column > row)
            continue;
        size_t a1 = last_of(a0, tile->block, tile->a->samples);
        size_t b1 = last_of(b0, tile->block, tile->b->samples);
        if (tile->kind == WT_MODEL_KIND_RFMLP_INF)
            wt_kernel_tile_mlp(tile, a0, a1, b0, b1, scratch);
        else
            wt_kernel_tile_attention(tile, a0, a1, b0, b1, scratch);
    }
    return WT_OK;
}

wt_status wt_kernel_check(wt_context *context, const wt_model_spec *spec, const wt_sets *a,
                          const wt_sets *b) {
    const char *name = wt_model_kind_name(spec->kind);
    WT_PASS(wt_model_check(context, spec));
    if (!wt_model_kind_infinite(spec->kind))
        return wt_fail(context, WT_USAGE, "%s has finitely many heads: features, not a kernel",
                       name);
    if (fabs(spec->bias) > WT_LARGEST_BIAS)
        return wt_fail(context, WT_USAGE, "the bias of %s must be at most %g, not %g", name,
                       WT_LARGEST_BIAS, spec->bias);
    if (a->dim != spec->dim || b->dim != spec->dim)
        return wt_fail(context, WT_DATA,
                       "%s for tokens of %zu dimensions cannot take tokens of %zu and %zu", name,
                       spec->dim, a->dim, b->dim);
    if (a->keys == 0 || b->keys == 0)
        return wt_fail(context, WT_DATA, "%s needs 1 key or more a sample", name);
    if (spec->kind == WT_MODEL_KIND_RFMLP_INF && (a->keys != spec->keys || b->keys != spec->keys))
        return wt_fail(context, WT_DATA, "%s for %zu keys cannot take samples of %zu and %zu keys",
                       name, spec->keys, a->keys, b->keys);
    return WT_OK;
}

static wt_kernel_tile shape(wt_model_kind kind, size_t a_keys, size_t b_keys) {
    size_t block = wt_kernel_block(kind, a_keys > b_keys ? a_keys : b_keys);
    return (wt_kernel_tile){.kind = kind,
                            .block = block,
                            .a_room = block * a_keys + ROOM_EXTRA,
                            .b_room = block * b_keys + ROOM_EXTRA,
                            .mlp_inputs = (double)a_keys + 2};
}

/* K of two sides: the whole, or the lower triangle of a side with itself. */
static wt_status fill(wt_context *context, wt_model_kind kind, const wt_kernel_side *a,
                      size_t a_keys, const wt_kernel_side *b, size_t b_keys, bool lower,
                      double *out, size_t stride) {
    work job = {.tile = shape(kind, a_keys, b_keys)};
    const wt_backend *backend;
    wt_status status;
    WT_TRY(wt_backend_open(context, &backend));
    job.tile.a = a;
    job.tile.b = b;
    job.tile.lower = lower;
    job.tile.out = out;
    job.tile.stride = stride;
    job.tile.blas = &backend->real64;
    job.tile.loops = wt_kernel_loops_best();
    job.row_blocks = (a->samples + job.tile.block - 1) / job.tile.block;
    job.column_blocks = (b->samples + job.tile.block - 1) / job.tile.block;
    job.numbers = wt_kernel_tile_numbers(&job.tile);
    WT_TRY(wt_allocate(context, &job.scratch, (size_t)wt_context_threads(context),
                       job.numbers * sizeof(double), "tiles of the kernel"));
    WT_TRY(wt_parallel_for(context, job.row_blocks * job.column_blocks, 1, run_tiles, &job));
done:
    wt_release(job.scratch);
    return status;
}

wt_status wt_kernel_sides(wt_context *context, const wt_model_spec *spec, const wt_kernel_side *a,
                          size_t a_keys, const wt_kernel_side *b, size_t b_keys, double *out,
                          size_t stride) {
    return fill(context, spec->kind, a, a_keys, b, b_keys, false, out, stride);
}

/* Both calls: b = a and lower, or any b and the whole. */
static wt_status run(wt_context *context, const wt_model_spec *spec, const wt_sets *a,
                     const wt_sets *b, bool lower, double *out, size_t stride) {
    wt_kernel_side left = {0}, right = {0};
    wt_status status;
    WT_TRY(wt_kernel_check(context, spec, a, b));
    if (stride < b->samples)
        WT_TRY(wt_fail(context, WT_USAGE, "a kernel matrix of %zu columns has rows %zu apart",
                       b->samples, stride));
    WT_TRY(wt_kernel_side_open(context, spec, a, &left));
    if (b != a)
        WT_TRY(wt_kernel_side_open(context, spec, b, &right));
    WT_TRY(fill(context, spec->kind, &left, a->keys, b != a ? &right : &left, b->keys, lower, out,
                stride));
done:
    wt_kernel_side_free(&left);
    wt_kernel_side_free(&right);
    return status;
}

wt_status wt_kernel_matrix(wt_context *context, const wt_model_spec *spec, const wt_sets *a,
                           const wt_sets *b, double *out, size_t stride) {
    return run(context, spec, a, b, false, out, stride);
}

wt_status wt_kernel_gram(wt_context *context, const wt_model_spec *spec, const wt_sets *a,
                         double *out, size_t stride) {
    return run(context, spec, a, a, true, out, stride);
}

size_t wt_kernel_scratch_bytes(const wt_context *context, const wt_model_spec *spec,
                               size_t a_samples, size_t b_samples) {
    wt_kernel_tile tile = shape(spec->kind, spec->keys, spec->keys);
    size_t bytes = wt_kernel_side_bytes(spec, a_samples);
    if (b_samples > 0)
        bytes += wt_kernel_side_bytes(spec, b_samples);
    return bytes + BLOCK_EXTRA +
           (size_t)wt_context_threads(context) * wt_kernel_tile_numbers(&tile) * sizeof(double);
}
