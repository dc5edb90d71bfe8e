/* What is inside a layer. */
#ifndef WT_LAYER_MODEL_LAYER_H
#define WT_LAYER_MODEL_LAYER_H

#include "wattle/layer.h"

struct wt_layer {
    size_t heads;   /* m */
    size_t dim;     /* d */
    size_t outputs; /* p */
    wt_layer_form form;
    double *theta; /* (m, e, d): e = d, or d + 1 with biases */
    double *w;     /* (m, d, p), then c (p) with biases */
};

static inline bool wt_layer_is_plain(const wt_layer_form *form) {
    return !form->bias && !form->residual && form->mask == WT_LAYER_MASK_NONE &&
           form->norm == WT_LAYER_NORM_NONE;
}
/* e. */
static inline size_t wt_layer_asked(const wt_layer *layer) {
    return layer->dim + layer->form.bias;
}
/* Numbers of one head's Theta. */
static inline size_t wt_layer_theta_size(const wt_layer *layer) {
    return wt_layer_asked(layer) * layer->dim;
}
/* Rows of W of all heads, and c. */
static inline size_t wt_layer_columns(const wt_layer *layer) {
    return layer->heads * layer->dim + layer->form.bias;
}
/* Fewer heads: those after the first `heads` go. */
void wt_layer_keep_heads(wt_layer *layer, size_t heads);
/* The norm of the form: n tokens (n, d); z may be x. */
void wt_layer_normalise(const wt_layer_form *form, size_t n, size_t dim, const double *x,
                        double *z);

#endif
