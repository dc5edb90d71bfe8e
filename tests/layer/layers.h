/* Layers and sequences of tests, which look inside them. */
#ifndef TESTS_LAYER_LAYERS_H
#define TESTS_LAYER_LAYERS_H

#include "layer/model/layer.h"
#include "layer/task/sequences.h"
#include "wattle/recover.h"

static inline wt_status make_teacher(wt_context *context, size_t heads, size_t dim, size_t outputs,
                                     double scale, size_t rank, uint64_t seed, wt_layer **out) {
    const wt_teacher_options options = {.size = sizeof options,
                                        .heads = heads,
                                        .dim = dim,
                                        .outputs = outputs,
                                        .scale = scale,
                                        .rank = rank,
                                        .seed = seed};
    return wt_layer_teacher(context, &options, out);
}

/* By all that tokens may show, or these. */
static inline wt_status compare_layers(wt_context *context, const wt_layer *a, const wt_layer *b,
                                       const wt_sequences *data, wt_comparison *out) {
    wt_compare_options options;
    WT_INIT(wt_compare_options, &options);
    options.data = data;
    return wt_layer_compare(context, a, b, &options, out);
}

#endif
