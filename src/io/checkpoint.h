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
    const char *norm;       /* of the tokens before the layer, beside the others; NULL = none */
    const char *other_norm; /* what some models call it */
    const char *decoder;    /* part of the names of layers that are causal; NULL = none */
    const char *unbiased; /* which of q, k, v, o may have no bias where others have; NULL = none */
    wt_fusion fusion;
    wt_scheme_norm norm_kind;
    bool columns;    /* weights are (in, out), not (out, in) */
    bool underscore; /* "_weight" and "_bias" end the names of queries, not ".weight", ".bias" */
    bool bare;       /* nothing ends the names of weights: wq has the bias bq, ln1_g has ln1_b */
    bool whole;      /* nothing ends the names of weights, ".bias" those of biases */
    bool causal, unscaled, rotary;
    bool relative; /* positions in the scores, from a table that the first layer has */
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
    wt_scheme scheme;      /* a row of the table, or what --map says */
    size_t heads;          /* given; 0 = as the config says */
    size_t shown_heads;    /* of the first layer; 0 = not told */
    struct json_t *config; /* NULL = there is none */
    const char *rope;
    const char *positions; /* in the scores, in words; NULL = none */
    bool positions_there;  /* what the file, or its config, shows, rather than the scheme alone */
    const char *beyond;    /* what else no layer of ours has, in words; NULL = nothing */
    const char *left_out;  /* both */
    double window;         /* tokens that one attends to at most; 0 = all */
    size_t shard_count, name_count, stem_count;
    wt_shard *shards;
    wt_named *names;    /* sorted */
    const char **stems; /* of the layers: names are stem + end of name */
};

/* What a config.json, or the metadata of a file, and the scheme say of one layer; 0 where they say
 * nothing. They are not asked about heads that were given. */
typedef struct wt_told {
    size_t heads, key_heads, width;
    double scale;   /* of the scores; 0 = 1 / sqrt(width) */
    double divide;  /* and what it is divided by */
    double epsilon; /* of the norm before the layer */
    double gain;    /* what is added to the norm's stored gain */
    wt_scheme_norm norm;
    bool causal;
} wt_told;

/* Loads the config and asks it about the first layer, and what the layers have that is left out. */
wt_status wt_checkpoint_configure(wt_context *context, wt_checkpoint *checkpoint);
wt_status wt_checkpoint_tell(wt_context *context, const wt_checkpoint *checkpoint, const char *stem,
                             wt_told *out);

/* One layer's tensors as matrices that act from the right, x M: queries (d, m r), keys and values
 * (d, g r), outputs (m r, p); m heads of width r, which share g keys and values. Biases and what a
 * norm has are NULL where there are none. All memory is of the arena. */
typedef struct wt_attention_tensors {
    size_t dim, heads, key_heads, width, outputs;
    double *query, *key, *value, *output;
    double *query_bias, *value_bias, *output_bias;
    double *gain, *shift;
    wt_scheme_norm norm; /* of gain and shift */
    double epsilon;
    bool causal;
    double scale;    /* of the scores */
    double rounding; /* of the stored numbers */
    wt_arena arena;
} wt_attention_tensors;

wt_status wt_checkpoint_read(wt_context *context, wt_checkpoint *checkpoint, size_t layer,
                             wt_attention_tensors *out);
void wt_attention_tensors_free(wt_attention_tensors *tensors);

/* Fill scheme and stems, in the order in which people count. */
wt_status wt_checkpoint_find_stems(wt_context *context, wt_checkpoint *checkpoint);
wt_status wt_checkpoint_map_stems(wt_context *context, wt_checkpoint *checkpoint, const char *map);
/* Whether a name ends so, and whether `part` stands in it between points or its ends. */
bool wt_name_ends(const char *name, const char *end);
bool wt_name_has_part(const char *name, const char *part);
/* A copy of so many bytes of a text. */
const char *wt_checkpoint_keep(wt_arena *arena, const char *text, size_t bytes);

/* Whether there is a tensor of that name. */
bool wt_checkpoint_has(const wt_checkpoint *checkpoint, const char *name);
/* The file of a tensor, opened; NULL, and WT_OK, when the checkpoint has none of that name. */
wt_status wt_checkpoint_find(wt_context *context, wt_checkpoint *checkpoint, const char *name,
                             const wt_file **file, const wt_array **array);

#endif
