/* Checkpoints of trained models: which tensors are the attention of which layer.
 *
 * A checkpoint is a .safetensors file, the .index.json of one in several files, or the folder of
 * either. Names follow one of a table of schemes (schemes.c), a row each; how many heads there are
 * stands in a config.json beside it or in the file's metadata. Tensors are read when a layer is
 * asked for, one layer at a time. */
#ifndef WT_IO_CHECKPOINT_H
#define WT_IO_CHECKPOINT_H

#include "base/memory.h"
#include "wattle/checkpoint.h"
#include "wattle/io.h"

/* How one tensor holds queries, keys and values. */
typedef enum wt_fusion {
    WT_FUSION_NONE,    /* a tensor each */
    WT_FUSION_THIRDS,  /* all queries, all keys, all values */
    WT_FUSION_BY_HEAD, /* query, key and value of a head, then of the next */
} wt_fusion;

typedef enum wt_scheme_norm {
    WT_SCHEME_NORM_NONE,
    WT_SCHEME_NORM_LAYER,
    WT_SCHEME_NORM_RMS
} wt_scheme_norm;

typedef struct wt_scheme {
    const char *name;
    const char *query, *key, *value, *output; /* ends of names; key and value NULL where fused */
    wt_fusion fusion;
    bool columns;     /* weights are (in, out), not (out, in) */
    bool underscore;  /* "_weight" and "_bias" end the names of queries, not ".weight", ".bias" */
    bool bare;        /* nothing ends the names of weights: wq has the bias bq, ln1_g has ln1_b */
    const char *norm; /* of the tokens before the layer, beside the others; NULL = none */
    wt_scheme_norm norm_kind;
    bool causal, unscaled, rotary;
    const char *unbiased; /* which of q, k, v, o may have no bias where others have; NULL = none */
} wt_scheme;

extern const wt_scheme wt_schemes[];
extern const size_t wt_scheme_count;
/* stem + end + tail (".weight", ".bias" and such) as the scheme spells it; false when it is longer
 * than `bytes`. */
bool wt_scheme_spell(const wt_scheme *scheme, const char *stem, const char *end, const char *tail,
                     char *out, size_t bytes);

/* A file of a checkpoint, and a tensor in one. */
typedef struct wt_shard {
    const char *path;
    wt_file *file; /* NULL until it is needed */
} wt_shard;

typedef struct wt_named {
    const char *name;
    size_t shard;
} wt_named;

struct wt_checkpoint {
    wt_arena arena;
    const char *path;
    wt_scheme scheme;               /* a row of the table, or what --map says */
    size_t heads, key_heads, width; /* 0 = not told */
    double epsilon;
    const char *rope;
    size_t shard_count, name_count, stem_count;
    wt_shard *shards;
    wt_named *names;    /* sorted */
    const char **stems; /* of the layers: names are stem + end of name */
};

/* What a config.json, or the metadata of a file, says; 0 and NULL where it says nothing. It is not
 * asked about heads that are told. */
wt_status wt_checkpoint_configure(wt_context *context, wt_checkpoint *checkpoint);

/* One layer's tensors as matrices that act from the right, x M: queries (d, m r), keys and values
 * (d, g r), outputs (m r, p); m heads of width r, which share g keys and values. Biases and what a
 * norm has are NULL where there are none. All memory is of the arena. */
typedef struct wt_attention_tensors {
    size_t dim, heads, key_heads, width, outputs;
    double *query, *key, *value, *output;
    double *query_bias, *value_bias, *output_bias;
    double *gain, *shift;
    double scale;    /* of the scores */
    double rounding; /* of the stored numbers */
    wt_arena arena;
} wt_attention_tensors;

wt_status wt_checkpoint_read(wt_context *context, wt_checkpoint *checkpoint, size_t layer,
                             wt_attention_tensors *out);
void wt_attention_tensors_free(wt_attention_tensors *tensors);

/* Whether there is a tensor of that name. */
bool wt_checkpoint_has(const wt_checkpoint *checkpoint, const char *name);
/* The file of a tensor, opened; NULL, and WT_OK, when the checkpoint has none of that name. */
wt_status wt_checkpoint_find(wt_context *context, wt_checkpoint *checkpoint, const char *name,
                             const wt_file **file, const wt_array **array);

#endif
