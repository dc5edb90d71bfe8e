/* Attention layers of trained models, by the names their checkpoints give them.
 *
 * BERT, RoBERTa, MiniLM, ALBERT, DistilBERT, GPT-2, GPT-NeoX and Pythia, LLaMA, Mistral and Qwen,
 * T5, ViT, Whisper, timm's and PyTorch's own: docs/checkpoints.md has the names. A checkpoint is a
 * .safetensors file, the .safetensors.index.json of one in several files, or their folder.
 *
 *     wt_checkpoint_options options;
 *     wt_checkpoint *checkpoint = NULL;
 *     wt_layer *layer = NULL;
 *     WT_INIT(wt_checkpoint_options, &options);
 *     wt_checkpoint_open(context, "model.safetensors", &options, &checkpoint);
 *     wt_checkpoint_layer(context, checkpoint, 3, false, &layer);
 */
#ifndef WATTLE_CHECKPOINT_H
#define WATTLE_CHECKPOINT_H

#include "wattle/layer.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_checkpoint wt_checkpoint;

typedef struct wt_checkpoint_options {
    size_t size;
    size_t heads;     /* where no config tells; 0 = as the config says */
    bool ignore_rope; /* wt_layer_open: a layer with rotary or other positions in its scores is
                         read without them */
    const char *map;  /* names of a scheme of one's own: "q=blocks.{}.wq,k=blocks.{}.wk,v=..,o=..",
                         {} the number of the layer, weights (out, in), biases beside them; NULL =
                         one of the known schemes */
} wt_checkpoint_options;

WT_API void wt_checkpoint_options_init(wt_checkpoint_options *options, size_t size);
/* Reads names and config, no weights. WT_DATA with the names that were seen where no scheme
 * matches. */
WT_API wt_status wt_checkpoint_open(wt_context *context, const char *path,
                                    const wt_checkpoint_options *options, wt_checkpoint **out);
/* Accepts NULL. */
WT_API void wt_checkpoint_free(wt_checkpoint *checkpoint);

WT_API const char *wt_checkpoint_scheme(const wt_checkpoint *checkpoint); /* "BERT" */
WT_API size_t wt_checkpoint_layers(const wt_checkpoint *checkpoint);
WT_API size_t wt_checkpoint_heads(const wt_checkpoint *checkpoint); /* a layer; 0 = not told */
/* What the names of a layer's tensors start with; NULL past the last. */
WT_API const char *wt_checkpoint_stem(const wt_checkpoint *checkpoint, size_t layer);
/* Rotary positions in words: "half-split", "interleaved"; NULL = none. */
WT_API const char *wt_checkpoint_rope(const wt_checkpoint *checkpoint);
/* What its layers have and no wt_layer has, in words: "rotary positions, norms of queries and
 * keys"; NULL = nothing that names or config tell. */
WT_API const char *wt_checkpoint_left_out(const wt_checkpoint *checkpoint);

/* One layer with its biases and mask. Keys and values that heads share are written out. folded: the
 * gain and shift of the norm before it become part of Theta, W and the biases, and the norm is that
 * of the layer's form; otherwise the layer is what tokens after that norm meet. What
 * wt_checkpoint_left_out says is left out: without positions a layer is that of tokens at one
 * place. */
WT_API wt_status wt_checkpoint_layer(wt_context *context, wt_checkpoint *checkpoint, size_t layer,
                                     bool folded, wt_layer **out);

/* A layer from a file: one of ours (wt_layer_load), where 0 is the only index, or layer `index` of
 * a checkpoint. One with rotary or other positions is refused unless the options ignore them, and
 * so is one with a soft cap, norms of queries and keys and the like. */
WT_API wt_status wt_layer_open(wt_context *context, const char *path,
                               const wt_checkpoint_options *options, size_t index, bool folded,
                               wt_layer **out);

/* The other way: Theta_h = Q_h K_h^T / sqrt(r) and W_h = V_h O_h, with biases, in the names of a
 * checkpoint of m heads of width r = d / m. */
typedef struct wt_layer_export_options {
    size_t size;
    const char *as; /* "torch": the state of a torch.nn.MultiheadAttention; "bert": layer 0 of a
                       BERT */
    size_t rank;    /* refuse heads of a higher rank, but for singular values below 1e-5 of the
                       largest; 0 = those above d / m alone */
} wt_layer_export_options;
/* As torch, any rank that fits. */
WT_API void wt_layer_export_options_init(wt_layer_export_options *options, size_t size);
/* WT_DATA where p is not d, m does not divide d, or a head has a rank above d / m. *rank, where
 * rank is not NULL, is the largest found. Mask, norm and residual connection are no part of such a
 * checkpoint; its metadata names them. */
WT_API wt_status wt_layer_export(wt_context *context, const wt_layer *layer,
                                 const wt_layer_export_options *options, const char *path,
                                 size_t *rank);

#ifdef __cplusplus
}
#endif
#endif
