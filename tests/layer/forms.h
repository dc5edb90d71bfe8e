/* Layers of every form, and sequences of them, for the tests of forms. */
#ifndef TESTS_LAYER_FORMS_H
#define TESTS_LAYER_FORMS_H

#include "folder.h"
#include "layer/layers.h"

enum { HEADS = 2, DIM = 5, LENGTH = 6, SAMPLES = 240, TOKENS = SAMPLES * LENGTH };

/* Every form there is: bit 0 biases, 1 causal, 2 residual, then the norm. */
enum { FORMS = 8 * 3 };
static inline wt_layer_form form_of(size_t i) {
    return (wt_layer_form){.size = sizeof(wt_layer_form),
                           .bias = (i & 1) != 0,
                           .mask = (i & 2) != 0 ? WT_LAYER_MASK_CAUSAL : WT_LAYER_MASK_NONE,
                           .residual = (i & 4) != 0,
                           .norm = (wt_layer_norm)(i / 8),
                           .epsilon = 1e-3};
}

static inline wt_layer *teacher_of(wt_context *context, const wt_layer_form *form, size_t rank,
                                   uint64_t seed) {
    const wt_teacher_options options = {.size = sizeof options,
                                        .heads = HEADS,
                                        .dim = DIM,
                                        .scale = 2,
                                        .rank = rank,
                                        .bias = form->bias,
                                        .residual = form->residual,
                                        .mask = form->mask,
                                        .norm = form->norm,
                                        .epsilon = form->epsilon,
                                        .seed = seed};
    wt_layer *layer = NULL;
    CHECK_OK(context, wt_layer_teacher(context, &options, &layer));
    return layer;
}

static inline wt_sequences *draw(wt_context *context, const wt_layer *layer,
                                 const size_t *lengths) {
    wt_sequences *data = NULL;
    CHECK_OK(context, wt_sequences_new(context, SAMPLES, LENGTH, DIM, DIM, &data));
    CHECK_OK(context, wt_sequences_set_lengths(context, data, lengths));
    CHECK_OK(context, wt_layer_draw(context, layer, WT_LAW_GAUSSIAN, 1, 0, 3, 0, data));
    return data;
}

static inline void mixed_lengths(size_t *lengths) {
    for (size_t s = 0; s < SAMPLES; s++)
        lengths[s] = 1 + s % LENGTH;
}

#endif
