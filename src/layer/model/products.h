/* What is inside query-key products. */
#ifndef WT_LAYER_MODEL_PRODUCTS_H
#define WT_LAYER_MODEL_PRODUCTS_H

#include "wattle/inspect.h"

struct wt_products {
    size_t heads;    /* m */
    size_t dim;      /* d */
    double *theta;   /* (m, d, d) */
    double rounding; /* of the stored numbers: 2^-52 for F64, 2^-23 for F32 */
};

#endif
