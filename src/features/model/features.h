/* Random features with frozen weights, made block by block and never all at once.
 *
 * A model has `units` (the heads of rfa and brfa, the neurons of rfmlp), each with `width` features
 * (d+1, or 1). Phi is the n x (units * width) matrix of all features of n samples. A block is a run
 * of units; inside it a column is (component, unit), units innermost, because that is how matrix
 * products make it: feature j of unit u of a block of `count` units from `first` on is column
 * j * count + (u - first). Files keep the order (unit, component). */
#ifndef WT_FEATURES_MODEL_FEATURES_H
#define WT_FEATURES_MODEL_FEATURES_H

#include "features/task/sets.h"
#include "wattle/fit.h"

typedef struct wt_features {
    wt_model_spec spec;
    size_t units, width;
    size_t inputs;   /* numbers a weight matrix row: (d+1)^2 a head, (N+1)d+1 a neuron */
    double *weights; /* (units, inputs): W (M,d+1,d+1) with the bias added, or w (P,(N+1)d+1) */
} wt_features;

/* Draws the weights: entry i of unit u is normal number u * inputs + i of the stream
 * (seed, "weights"), so that rfa and brfa of one seed share theirs. */
wt_status wt_features_draw(wt_context *context, const wt_model_spec *spec, wt_features *out);
/* Units, width and inputs alone, no weights: for planning. */
wt_status wt_features_shape(wt_context *context, const wt_model_spec *spec, wt_features *out);
/* Room for weights that the caller fills in (from a file, say). */
wt_status wt_features_new(wt_context *context, const wt_model_spec *spec, wt_features *out);
void wt_features_free(wt_features *features);

/* units * width */
size_t wt_features_count(const wt_features *features);
/* What the norm penalty and the kernel are divided by: M, or P. */
double wt_features_norm(const wt_features *features);

/* Units a block in the loops over all features: about a thousand columns. */
size_t wt_features_block_units(const wt_features *features);
/* Columns of the widest of them. */
size_t wt_features_block_columns(const wt_features *features);
/* Blocks over all units, and the units of block b. */
size_t wt_features_blocks(const wt_features *features);
void wt_features_block_at(const wt_features *features, size_t b, size_t *first, size_t *count);

/* Features of units first .. first+count-1 of all samples, into out (samples, count * width). */
wt_status wt_features_block(wt_context *context, const wt_features *features, const wt_sets *sets,
                            size_t first, size_t count, double *out, size_t stride);
/* The same, computed in double and rounded to float at the end; the doubles too where `exact` is
 * not NULL, as (samples, count * width) without gaps. */
wt_status wt_features_block_float(wt_context *context, const wt_features *features,
                                  const wt_sets *sets, size_t first, size_t count, float *out,
                                  size_t stride, double *exact);

/* Bytes that making a block of `count` units of sets of `keys` keys holds beside its output. */
double wt_features_scratch_bytes(const wt_context *context, const wt_features *features,
                                 size_t keys, size_t count);

/* Rows of a (units * width, columns) matrix from block order to file order. */
void wt_features_to_file_order(const wt_features *features, const double *in, size_t columns,
                               double *out);
void wt_features_to_block_order(const wt_features *features, const double *in, size_t columns,
                                double *out);

/* The caller's specification, whole and judged. */
wt_status wt_model_spec_read(wt_context *context, const wt_model_spec *given, wt_model_spec *out);
/* Judges one that is whole. */
wt_status wt_model_check(wt_context *context, const wt_model_spec *spec);
/* The sets must have the model's dimension (and its number of keys, for rfmlp). */
wt_status wt_model_check_sets(wt_context *context, const wt_model_spec *spec, const char *name,
                              const wt_sets *sets);

#endif
