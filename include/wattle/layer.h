/* A multi-head attention layer, and sequences of tokens with its outputs.
 *
 * F(X) = sum_{i=1..m} softmax(X Theta_i X^T) X W_i for X (k, d): k tokens in R^d, softmax by rows,
 * Theta_i (d, d), W_i (d, p); F(X) is (k, p), one output row a token. */
#ifndef WATTLE_LAYER_H
#define WATTLE_LAYER_H

#include "wattle/task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_layer {
    size_t heads;   /* m */
    size_t dim;     /* d */
    size_t outputs; /* p */
    double *theta;  /* (m, d, d) */
    double *w;      /* (m, d, p) */
} wt_layer;

/* Room for a layer, contents undefined. Sizes of 0 are WT_USAGE. */
WT_API wt_status wt_layer_new(wt_context *context, size_t heads, size_t dim, size_t outputs,
                              wt_layer *out);
WT_API void wt_layer_free(wt_layer *layer);
/* A copy with memory of its own. */
WT_API wt_status wt_layer_copy(wt_context *context, const wt_layer *layer, wt_layer *out);

/* `theta` (m,d,d) and `w` (m,d,p) of a .safetensors file (an .npz will do too), all finite. */
WT_API wt_status wt_layer_load(wt_context *context, const char *path, wt_layer *out);
/* Writes them as F64, with kind = layer in the metadata. */
WT_API wt_status wt_layer_save(wt_context *context, const char *path, const wt_layer *layer);
/* A sentence about a layer, kept in its file's metadata. */
typedef struct wt_layer_note {
    const char *key, *value;
} wt_layer_note;
/* The same with notes, WT_LAYER_NOTES at most. */
#define WT_LAYER_NOTES 8
WT_API wt_status wt_layer_save_noted(wt_context *context, const char *path, const wt_layer *layer,
                                     const wt_layer_note *notes, size_t count);

/* Outputs for n sequences of k tokens: x (n, k, d) to y (n, k, p). */
WT_API wt_status wt_layer_forward(wt_context *context, const wt_layer *layer, size_t n, size_t k,
                                  const double *x, double *y);

/* A random layer: Theta_i Gaussian with |Theta_i|_F = scale (rank r > 0: the product of Gaussian
 * (d, r) and (r, d) matrices, so scaled; 0 = full), W_i Gaussian over sqrt(d). */
WT_API wt_status wt_layer_teacher(wt_context *context, size_t heads, size_t dim, size_t outputs,
                                  double scale, size_t rank, uint64_t seed, wt_layer *out);

/* Takes the mean of the heads' W off each, so that they sum to 0: such a layer answers 0 to one
 * token, whatever it is. */
WT_API void wt_layer_zero_sum(wt_layer *layer);

/* The hard instance: `bits` heads and one output that compute the parity of coordinates
 * 1 .. bits of the first of two Boolean tokens in R^dim, dim > bits. Coordinate 0 is a gate: where
 * it is +1 in the first token and -1 in the second, the first output row is, up to a constant c_0,
 * (-1)^(bits - j), j the number of +1 among the coordinates. Theta_i[q,0] = 1 for q = 1 .. bits,
 * Theta_i[0,0] = bits + 1 - 2i, W_i = c_i e_0, with the exact c: for j = 0 .. bits,
 * sum_i c_i tanh(2j - 2i + 1) + c_0 = (-1)^(bits - j). */
WT_API wt_status wt_layer_parity(wt_context *context, size_t bits, size_t dim, wt_layer *out);

/* Sequences of one length with outputs a token. */
typedef struct wt_sequences {
    size_t samples; /* n */
    size_t length;  /* k */
    size_t dim;     /* d */
    size_t outputs; /* p; 0 = no outputs */
    double *x;      /* (n, k, d) */
    double *y;      /* (n, k, p); NULL = no outputs */
} wt_sequences;

/* Room for sequences, contents undefined. */
WT_API wt_status wt_sequences_new(wt_context *context, size_t samples, size_t length, size_t dim,
                                  size_t outputs, wt_sequences *out);
WT_API void wt_sequences_free(wt_sequences *sequences);
/* Shapes above 0, every number finite; `name` stands in the sentence. */
WT_API wt_status wt_sequences_check(wt_context *context, const char *name,
                                    const wt_sequences *sequences);
/* Sequences begin .. end-1, borrowed: not to be freed. */
WT_API wt_sequences wt_sequences_part(const wt_sequences *sequences, size_t begin, size_t end);
/* Reads `x` (n,k,d) and, where there, `y` (n,k,p) or (n,k) of an .npz file, and checks them. */
WT_API wt_status wt_sequences_load(wt_context *context, const char *path, wt_sequences *out);
WT_API wt_status wt_sequences_save(wt_context *context, const char *path,
                                   const wt_sequences *sequences);

/* Fills x with tokens of the law times `scale` and y with the layer's outputs plus Gaussian noise
 * of the given deviation: sequences first .. first+samples-1 of the seed, sequence i the same
 * whatever is drawn beside it. */
WT_API wt_status wt_layer_draw(wt_context *context, const wt_layer *layer, wt_law law, double scale,
                               double noise, uint64_t seed, uint64_t first, wt_sequences *out);

#ifdef __cplusplus
}
#endif
#endif
