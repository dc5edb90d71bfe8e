/* Sequences through a layer: tokens of a law or rows of tables, and what the layer makes of them.
 */
#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "layer/task/sequences.h"
#include "layer/task/token_rows.h"
#include "linalg/token_law.h"

typedef struct {
    wt_law law;
    double scale;
    uint64_t seed, first;
    const wt_sequences *out;
} drawing;

static wt_status draw_tokens(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const drawing *work = argument;
    const wt_sequences *out = work->out;
    wt_tokens_draw(work->law, work->scale, wt_stream_for(work->seed, "sequences", 0),
                   (work->first + begin) * out->length, (end - begin) * out->length, out->dim,
                   out->x + begin * out->length * out->dim);
    return WT_OK;
}

static wt_status add_noise(wt_context *context, double noise, uint64_t seed, uint64_t first,
                           wt_sequences *out) {
    size_t each = out->length * out->outputs, even = each + each % 2;
    double *row = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &row, each, "noise"));
    for (size_t i = 0; i < out->samples; i++) {
        wt_random_normal(wt_stream_for(seed, "sequence noise", 0), (first + i) * even, each, row);
        for (size_t j = 0; j < each; j++)
            out->y[i * each + j] += noise * row[j];
    }
done:
    wt_release(row);
    return status;
}

wt_status wt_layer_label(wt_context *context, const wt_layer *layer, double noise, uint64_t seed,
                         uint64_t first, wt_sequences *out) {
    if (!(noise >= 0) || !isfinite(noise))
        return wt_fail(context, WT_USAGE, "noise must be 0 or more, not %g", noise);
    WT_PASS(wt_layer_apply(context, layer, out));
    return noise > 0 ? add_noise(context, noise, seed, first, out) : WT_OK;
}

/* Tokens of the law, into x. */
static wt_status draw_law(wt_context *context, wt_law law, double scale, uint64_t seed,
                          uint64_t first, wt_sequences *out) {
    drawing work = {.law = law, .scale = scale, .seed = seed, .first = first, .out = out};
    if (!(scale > 0) || !isfinite(scale))
        return wt_fail(context, WT_USAGE, "the token scale must be above 0, not %g", scale);
    WT_PASS(wt_law_check(context, law));
    return wt_parallel_for(context, out->samples, 64, draw_tokens, &work);
}

wt_status wt_layer_draw(wt_context *context, const wt_layer *layer, wt_law law, double scale,
                        double noise, uint64_t seed, uint64_t first, wt_sequences *out) {
    size_t d = wt_layer_dim(layer), p = wt_layer_outputs(layer);
    if (out->dim != d || out->outputs != p)
        return wt_fail(context, WT_USAGE,
                       "sequences of %zu dimensions and %zu outputs do not fit a layer of %zu and "
                       "%zu",
                       out->dim, out->outputs, d, p);
    WT_PASS(draw_law(context, law, scale, seed, first, out));
    return wt_layer_label(context, layer, noise, seed, first, out);
}

void wt_layer_draw_options_init(wt_layer_draw_options *options, size_t size) {
    const wt_layer_draw_options full = {.samples = 1000, .length = 4, .token_scale = 1};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

/* Of `shortest` to `length` tokens, sequence i the same whatever the number of samples is. */
static wt_status draw_lengths(wt_context *context, const wt_layer_draw_options *options,
                              wt_sequences *out) {
    size_t *lengths = NULL, shortest = options->shortest;
    wt_stream stream = wt_stream_for(options->seed, "lengths of sequences", 0);
    wt_status status;
    if (shortest == 0)
        return WT_OK;
    if (shortest > out->length)
        return wt_fail(context, WT_USAGE, "the shortest sequence has %zu tokens, the longest %zu",
                       shortest, out->length);
    WT_TRY(WT_NEW(context, &lengths, out->samples, "lengths of sequences"));
    for (size_t s = 0; s < out->samples; s++) {
        double u;
        wt_random_uniform(stream, s, 1, &u);
        lengths[s] = shortest + (size_t)(u * (double)(out->length - shortest + 1));
    }
    WT_TRY(wt_sequences_set_lengths(context, out, lengths));
done:
    wt_release(lengths);
    return status;
}

wt_status wt_layer_draw_as(wt_context *context, const wt_layer *layer,
                           const wt_layer_draw_options *given, wt_sequences **out) {
    wt_layer_draw_options options = {0};
    wt_sequences *made = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_sized_read(context, "wt_layer_draw_options", given, &options, sizeof options));
    size_t d = layer == NULL ? options.dim : wt_layer_dim(layer);
    if (d == 0 || options.samples == 0 || options.length == 0)
        WT_TRY(wt_fail(context, WT_USAGE, "%zu sequences of %zu tokens in %zu dimensions",
                       options.samples, options.length, d));
    WT_TRY(wt_sequences_new(context, options.samples, options.length, d,
                            layer == NULL ? 0 : wt_layer_outputs(layer), &made));
    WT_TRY(draw_lengths(context, &options, made));
    if (options.rows == NULL)
        WT_TRY(draw_law(context, options.law, options.token_scale, options.seed, 0, made));
    else
        WT_TRY(wt_token_rows_draw(context, &options, made));
    if (layer != NULL)
        WT_TRY(wt_layer_label(context, layer, options.noise, options.seed, 0, made));
    *out = made;
    made = NULL;
done:
    wt_sequences_free(made);
    return status;
}
