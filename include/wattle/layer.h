/* A multi-head attention layer, and sequences of tokens with its outputs.
 *
 * F(X) = sum_{i=1..m} softmax(X Theta_i X^T) X W_i for X (k, d): k tokens in R^d, softmax by rows,
 * Theta_i (d, d), W_i (d, p); F(X) is (k, p), an output row for every token. Layers of other forms
 * have biases, a causal mask, a residual connection or a norm before them (wt_layer_form).
 *
 *     wt_layer *layer = NULL;
 *     wt_sequences *data = NULL;
 *     wt_layer_load(context, "layer.safetensors", &layer);
 *     wt_sequences_new(context, 100, 4, wt_layer_dim(layer), wt_layer_outputs(layer), &data);
 *     wt_layer_draw(context, layer, WT_LAW_GAUSSIAN, 1, 0, 7, 0, data);
 *     wt_sequences_save(context, data, "data.npz");
 *     wt_sequences_free(data);
 *     wt_layer_free(layer);
 *
 * (with the statuses looked at). Where a call fails its *out is NULL. */
#ifndef WATTLE_LAYER_H
#define WATTLE_LAYER_H

#include "wattle/field.h"
#include "wattle/io.h"
#include "wattle/law.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_layer wt_layer;
typedef struct wt_sequences wt_sequences;

/* A norm of every token z before the heads see it, without gain or shift: those are part of Theta,
 * W and the biases. */
typedef enum wt_layer_norm {
    WT_LAYER_NORM_NONE,
    WT_LAYER_NORM_LAYER, /* (z - mean) / sqrt(variance + epsilon) */
    WT_LAYER_NORM_RMS,   /* z / sqrt(mean square + epsilon) */
} wt_layer_norm;

/* Which tokens a token attends to. */
typedef enum wt_layer_mask {
    WT_LAYER_MASK_NONE,   /* all of its sequence */
    WT_LAYER_MASK_CAUSAL, /* itself and those before it */
} wt_layer_mask;

/* What a layer has besides its heads; all 0 is the plain layer above. */
typedef struct wt_layer_form {
    size_t size;
    bool bias; /* Theta_i (d + 1, d): its last row u_i adds <u_i, x_b> to the scores of key
                  x_b, as a bias of the queries does; c (p) is added to every output row,
                  which is all that biases of values and outputs do. Biases of keys change
                  nothing. */
    wt_layer_mask mask;
    bool residual; /* the token, as it was before the norm, is added to its output row: p = d */
    wt_layer_norm norm; /* before the layer */
    double epsilon;     /* of the norm */
} wt_layer_form;

/* The plain layer. */
WT_API void wt_layer_form_init(wt_layer_form *form, size_t size);
/* "plain", or the words of what there is: "bias, causal, residual, layer norm". */
#define WT_LAYER_FORM_TEXT 64
WT_API const char *wt_layer_form_print(const wt_layer_form *form, char *out);

/* Room for a layer, contents undefined. Sizes of 0 are WT_USAGE. */
WT_API wt_status wt_layer_new(wt_context *context, size_t heads, size_t dim, size_t outputs,
                              wt_layer **out);
/* The same for a layer of some form. */
WT_API wt_status wt_layer_new_form(wt_context *context, size_t heads, size_t dim, size_t outputs,
                                   const wt_layer_form *form, wt_layer **out);
/* Accepts NULL. */
WT_API void wt_layer_free(wt_layer *layer);
/* A copy with memory of its own. */
WT_API wt_status wt_layer_copy(wt_context *context, const wt_layer *layer, wt_layer **out);
/* The same with `count` of its heads, numbers from 0, and all else that it has. */
WT_API wt_status wt_layer_keep(wt_context *context, const wt_layer *layer, size_t count,
                               const size_t *heads, wt_layer **out);

WT_API size_t wt_layer_heads(const wt_layer *layer);   /* m */
WT_API size_t wt_layer_dim(const wt_layer *layer);     /* d */
WT_API size_t wt_layer_outputs(const wt_layer *layer); /* p */
/* The form, into *out, which has its size. */
WT_API wt_status wt_layer_get_form(wt_context *context, const wt_layer *layer, wt_layer_form *out);
/* The layer's own numbers, to be read or filled in. */
WT_API double *wt_layer_theta(const wt_layer *layer); /* (m, d, d); with biases (m, d + 1, d) */
WT_API double *wt_layer_w(const wt_layer *layer);     /* (m, d, p) */
WT_API double *wt_layer_c(const wt_layer *layer);     /* (p); NULL without biases */

/* `theta` (m,d,d) and `w` (m,d,p) of a .safetensors file (an .npz will do too), and what else its
 * form has: docs/formats.md. All finite. */
WT_API wt_status wt_layer_load(wt_context *context, const char *path, wt_layer **out);
/* Writes them as F64, with kind = layer in the metadata. */
WT_API wt_status wt_layer_save(wt_context *context, const wt_layer *layer, const char *path);
/* The same with metadata of the caller's own, WT_LAYER_MAX_NOTES pairs at most. */
#define WT_LAYER_MAX_NOTES 8
WT_API wt_status wt_layer_save_noted(wt_context *context, const wt_layer *layer, const char *path,
                                     const wt_metadata *notes, size_t count);

/* Outputs for n sequences of k tokens: x (n, k, d) to y (n, k, p). */
WT_API wt_status wt_layer_forward(wt_context *context, const wt_layer *layer, size_t n, size_t k,
                                  const double *x, double *y);

/* The same for sequences, whose y is filled in; rows past the end of one are 0. */
WT_API wt_status wt_layer_apply(wt_context *context, const wt_layer *layer,
                                wt_sequences *sequences);

/* The same for sequences that keep their own y: *out has their tokens and the layer's outputs.
 * *error is |y - F(x)| / |y| over the rows of y that are known, NaN without y. */
WT_API wt_status wt_layer_evaluate(wt_context *context, const wt_layer *layer,
                                   const wt_sequences *data, wt_sequences **out, double *error);

/* A random layer: Theta_i Gaussian with |Theta_i|_F = scale, W_i Gaussian over sqrt(d). Biases: u_i
 * Gaussian times scale / sqrt(d), so that they move the scores as much as Theta_i does, c Gaussian.
 */
typedef struct wt_teacher_options {
    size_t size;
    size_t heads, dim; /* m, d */
    size_t outputs;    /* p; 0 = d */
    double scale;      /* |Theta_i|_F, 0 or more */
    size_t rank; /* r > 0: Theta_i is the product of Gaussian (d, r) and (r, d), scaled; 0 = full */
    uint64_t seed;
    size_t parity; /* bits of the hard instance (wt_layer_parity) instead, of which dim alone is
                      read besides; 0 = a random layer */
    bool bias, residual; /* as in wt_layer_form, with which what follows is explained */
    wt_layer_mask mask;
    wt_layer_norm norm;
    double epsilon;
    size_t groups; /* G > 0: Theta_i = A_i B_g^T and W_i = V_g O_i of `rank` columns, B and V one
                      for all heads of a group; 0 = none are shared, and W is full */
} wt_teacher_options;

/* 2 heads in 8 dimensions, d outputs, scale 2, full rank, seed 0, plain. */
WT_API void wt_teacher_options_init(wt_teacher_options *options, size_t size);
/* Its members by name: options of `wattle teacher`, keys of the experiment `recover`. */
WT_API const wt_field *wt_teacher_fields(size_t *count);
WT_API wt_status wt_layer_teacher(wt_context *context, const wt_teacher_options *options,
                                  wt_layer **out);

/* Takes the mean of the heads' W off each, so that they sum to 0: such a layer answers 0 to a
 * single token, whatever it is. */
WT_API void wt_layer_zero_sum(wt_layer *layer);

/* The hard instance: `bits` heads and one output that compute the parity of coordinates
 * 1 .. bits of the first of two Boolean tokens in R^dim, dim > bits. Coordinate 0 is a gate: where
 * it is +1 in the first token and -1 in the second, the first output row is, up to a constant c_0,
 * (-1)^(bits - j), j the number of +1 among the coordinates. Theta_i[q,0] = 1 for q = 1 .. bits,
 * Theta_i[0,0] = bits + 1 - 2i, W_i = c_i e_0, with the exact c: for j = 0 .. bits,
 * sum_i c_i tanh(2j - 2i + 1) + c_0 = (-1)^(bits - j). */
WT_API wt_status wt_layer_parity(wt_context *context, size_t bits, size_t dim, wt_layer **out);

/* Sequences of tokens, with an output row for every token or none. They have room for k tokens
 * each; where lengths are set a sequence is its first tokens alone.
 *
 * Room for sequences, contents undefined; outputs = 0: no outputs. */
WT_API wt_status wt_sequences_new(wt_context *context, size_t samples, size_t length, size_t dim,
                                  size_t outputs, wt_sequences **out);
/* Accepts NULL. */
WT_API void wt_sequences_free(wt_sequences *sequences);

WT_API size_t wt_sequences_samples(const wt_sequences *sequences); /* n */
WT_API size_t wt_sequences_length(const wt_sequences *sequences);  /* k */
WT_API size_t wt_sequences_dim(const wt_sequences *sequences);     /* d */
WT_API size_t wt_sequences_outputs(const wt_sequences *sequences); /* p; 0 = no outputs */
/* Their own numbers, to be read or filled in. */
WT_API double *wt_sequences_x(const wt_sequences *sequences); /* (n, k, d) */
WT_API double *wt_sequences_y(const wt_sequences *sequences); /* (n, k, p); NULL = no outputs */
/* (n); NULL = all are whole. */
WT_API const size_t *wt_sequences_lengths(const wt_sequences *sequences);
/* Copies lengths (n), each 1 to k; NULL = all are whole. */
WT_API wt_status wt_sequences_set_lengths(wt_context *context, wt_sequences *sequences,
                                          const size_t *lengths);
/* From now on output rows that have a NaN are not known, and left out. WT_DATA when no row is
 * known. */
WT_API wt_status wt_sequences_set_missing(wt_context *context, wt_sequences *sequences);

/* Shapes above 0, every number that counts finite; `name` stands in the sentence. */
WT_API wt_status wt_sequences_check(wt_context *context, const wt_sequences *sequences,
                                    const char *name);
/* Reads `x` (n,k,d) and, where there, `y` (n,k,p) or (n,k) of an .npz file, and checks them. Where
 * there is `lengths` (n) or `mask` (n,k), not 0 for tokens that are there, the others do not count:
 * tokens that are there, and their rows, move to the front. */
WT_API wt_status wt_sequences_load(wt_context *context, const char *path, wt_sequences **out);
/* How a file is to be read. */
typedef struct wt_sequences_spec {
    size_t size;
    bool last_row; /* y is (n,p), or (n) for p = 1: the output rows of the last tokens. A y (n,k,p)
                      will do too; its other rows are left out */
    bool missing;  /* rows of y that have a NaN are not known */
} wt_sequences_spec;
/* As wt_sequences_load reads it. */
WT_API void wt_sequences_spec_init(wt_sequences_spec *spec, size_t size);
WT_API wt_status wt_sequences_load_as(wt_context *context, const char *path,
                                      const wt_sequences_spec *spec, wt_sequences **out);
/* Arrays of the caller's. */
typedef struct wt_sequences_arrays {
    size_t size;
    size_t samples, length, dim, outputs; /* n, k, d, p; p = 0: no y */
    const double *x;                      /* (n, k, d) */
    const double *y;                      /* (n, k, p), or (n, p): last_rows */
    bool last_rows;                       /* y has the rows of last tokens alone */
    const double *lengths;                /* (n), or NULL */
    const double *mask;                   /* (n, k), not 0 for tokens that are there, or NULL */
} wt_sequences_arrays;
/* Takes arrays as wt_sequences_load_as takes those of a file. x and y are borrowed, and must live
 * as long as the sequences, which are then only to be read; what a mask or the spec would change is
 * copied. */
WT_API wt_status wt_sequences_borrow(wt_context *context, const wt_sequences_arrays *arrays,
                                     const wt_sequences_spec *spec, wt_sequences **out);
/* With `lengths` where they are set. */
WT_API wt_status wt_sequences_save(wt_context *context, const wt_sequences *sequences,
                                   const char *path);

/* Fills x with tokens of the law times `scale` and y with the layer's outputs plus Gaussian noise
 * of the given deviation: sequences first .. first+samples-1 of the seed, sequence i the same
 * whatever is drawn beside it. */
WT_API wt_status wt_layer_draw(wt_context *context, const wt_layer *layer, wt_law law, double scale,
                               double noise, uint64_t seed, uint64_t first, wt_sequences *out);

/* Rows that tokens are made of, as of a table of embeddings. */
typedef struct wt_token_rows {
    size_t rows;
    const double *values; /* (rows, d) */
    bool fixed;           /* the one row `row` for all tokens */
    size_t row;
} wt_token_rows;
/* Reads "FILE:NAME", an array (rows, d) of a file, or "FILE:NAME@ROW", of which ROW is the one. */
WT_API wt_status wt_token_rows_load(wt_context *context, const char *text, size_t dim,
                                    wt_token_rows *out);
/* Of rows that were loaded; accepts NULL. */
WT_API void wt_token_rows_free(wt_token_rows *rows);
/* Gain STEM.weight (d) and shift STEM.bias (d) of "FILE:STEM", each to be released by wt_release.
 */
WT_API wt_status wt_token_norm_load(wt_context *context, const char *text, size_t dim,
                                    double **gain, double **shift);

/* How sequences are drawn. */
typedef struct wt_layer_draw_options {
    size_t size;
    size_t samples, length; /* n, k */
    size_t shortest;        /* sequences of this to k tokens, drawn at random; 0 = all have k */
    size_t dim;             /* d, where there is no layer */
    wt_law law;
    double token_scale; /* tokens are multiplied by it */
    double noise;       /* deviation of what is added to outputs */
    uint64_t seed;
    const wt_token_rows
        *rows; /* tokens are rows of this table, drawn at random; NULL = of the law */
    const wt_token_rows *add; /* (add_count), with rows: to every token the row of its place */
    size_t add_count;
    const double *gain, *shift; /* (d), with rows: then a layer norm of every token; NULL = none */
} wt_layer_draw_options;
/* 1000 sequences of 4 tokens on the sphere, scale 1, no noise, seed 0. */
WT_API void wt_layer_draw_options_init(wt_layer_draw_options *options, size_t size);
/* Sequences and the outputs of the layer, or, for layer = NULL, tokens without outputs. Sequence i
 * is the same whatever their number is. */
WT_API wt_status wt_layer_draw_as(wt_context *context, const wt_layer *layer,
                                  const wt_layer_draw_options *options, wt_sequences **out);

/* The outputs alone, for tokens that are there; noise as wt_layer_draw adds it. */
WT_API wt_status wt_layer_label(wt_context *context, const wt_layer *layer, double noise,
                                uint64_t seed, uint64_t first, wt_sequences *out);

#ifdef __cplusplus
}
#endif
#endif
