/* What is inside a layer. */
#ifndef WT_LAYER_MODEL_LAYER_H
#define WT_LAYER_MODEL_LAYER_H

#include "wattle/layer.h"

struct wt_layer {
    size_t heads;   /* m */
    size_t dim;     /* d */
    size_t outputs; /* p */
    double *theta;  /* (m, d, d) */
    double *w;      /* (m, d, p) */
};

#endif
