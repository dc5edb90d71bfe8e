/* One side of a kernel matrix: the tokens of some sets as unit vectors with their lengths. */
#ifndef WT_FEATURES_MODEL_KERNEL_SIDE_H
#define WT_FEATURES_MODEL_KERNEL_SIDE_H

#include "base/memory.h"
#include "features/task/sets.h"
#include "wattle/fit.h"

/* What is longer could overflow in the sixth powers of a kernel; so could a larger bias. */
#define WT_LONGEST_TOKEN 1e40
#define WT_LARGEST_BIAS  1e20

/* With x~ = [x; 1] and the live keys of all samples one after the other. For rfmlp-inf the whole
 * z = [x0; x1; ..; xN; 1] stands for the query, and there are no keys. */
typedef struct wt_kernel_side {
    wt_arena arena; /* holds the arrays */
    size_t samples;
    size_t query_width;   /* d + 1, or (N + 1) d + 1 */
    double *query;        /* (n, query_width), x~0 / |x~0| */
    double *query_length; /* (n) |x~0| */
    size_t key_width;     /* d + 1 */
    size_t *start;        /* (n + 1): live keys of sample s are start[s] .. start[s+1]-1 */
    double *key;          /* (live, key_width), x~i / |x~i| */
    double *weight;       /* (live) |x~i|^2 */
    double *mean;         /* (live) mean over spread of <W + c W0, x~0 x~i^T>; brfa-inf alone */
} wt_kernel_side;

/* WT_DATA with the sample when every key is masked, or a token is not finite or too long. */
wt_status wt_kernel_side_open(wt_context *context, const wt_model_spec *spec, const wt_sets *sets,
                              wt_kernel_side *out);
void wt_kernel_side_free(wt_kernel_side *side);
/* Bytes it holds for sets of the spec's shape without a mask. */
size_t wt_kernel_side_bytes(const wt_model_spec *spec, size_t samples);

#endif
