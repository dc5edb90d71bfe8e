/* Names of attention tensors, a scheme a row. Where several match, the longest end of a name wins.
 */
#include "io/checkpoint.h"

#include <stdio.h>
#include <string.h>

const wt_scheme wt_schemes[] = {
    {.name = "BERT",
     .query = "attention.self.query",
     .key = "attention.self.key",
     .value = "attention.self.value",
     .output = "attention.output.dense"},
    {.name = "ViT",
     .query = "attention.attention.query",
     .key = "attention.attention.key",
     .value = "attention.attention.value",
     .output = "attention.output.dense",
     .norm = "layernorm_before",
     .other_norm = "norm1", /* DINOv2 */
     .norm_kind = WT_SCHEME_NORM_LAYER},
    {.name = "ALBERT",
     .query = "attention.query",
     .key = "attention.key",
     .value = "attention.value",
     .output = "attention.dense"},
    {.name = "DistilBERT",
     .query = "attention.q_lin",
     .key = "attention.k_lin",
     .value = "attention.v_lin",
     .output = "attention.out_lin"},
    {.name = "GPT-2",
     .query = "attn.c_attn",
     .output = "attn.c_proj",
     .fusion = WT_FUSION_THIRDS,
     .columns = true,
     .norm = "ln_1",
     .norm_kind = WT_SCHEME_NORM_LAYER,
     .causal = true},
    {.name = "GPT-NeoX",
     .query = "attention.query_key_value",
     .output = "attention.dense",
     .fusion = WT_FUSION_BY_HEAD,
     .norm = "input_layernorm",
     .norm_kind = WT_SCHEME_NORM_LAYER,
     .causal = true,
     .rotary = true},
    {.name = "LLaMA",
     .query = "self_attn.q_proj",
     .key = "self_attn.k_proj",
     .value = "self_attn.v_proj",
     .output = "self_attn.o_proj",
     .norm = "input_layernorm",
     .norm_kind = WT_SCHEME_NORM_RMS,
     .causal = true,
     .rotary = true,
     .unbiased = "o"},  /* Qwen */
    {.name = "Whisper", /* and BART, OPT: the same names, norms before or after the layer */
     .query = "self_attn.q_proj",
     .key = "self_attn.k_proj",
     .value = "self_attn.v_proj",
     .output = "self_attn.out_proj",
     .norm = "self_attn_layer_norm",
     .other_norm = "layer_norm1", /* CLIP, SigLIP */
     .norm_kind = WT_SCHEME_NORM_LAYER,
     .decoder = "decoder",
     .unbiased = "k"},
    {.name = "T5",
     .query = "SelfAttention.q",
     .key = "SelfAttention.k",
     .value = "SelfAttention.v",
     .output = "SelfAttention.o",
     .norm = "layer_norm",
     .norm_kind = WT_SCHEME_NORM_RMS,
     .decoder = "decoder",
     .unscaled = true,
     .relative = true},
    {.name = "timm",
     .query = "attn.qkv",
     .output = "attn.proj",
     .fusion = WT_FUSION_THIRDS,
     .norm = "norm1",
     .norm_kind = WT_SCHEME_NORM_LAYER},
    {.name = "PyTorch",
     .query = "in_proj",
     .output = "out_proj",
     .fusion = WT_FUSION_THIRDS,
     .underscore = true},
    {.name = "wattle train",
     .query = "wq",
     .key = "wk",
     .value = "wv",
     .output = "wo",
     .columns = true,
     .bare = true,
     .norm = "ln1_g",
     .norm_kind = WT_SCHEME_NORM_LAYER},
};
const size_t wt_scheme_count = sizeof wt_schemes / sizeof *wt_schemes;

bool wt_scheme_spell(const wt_scheme *scheme, const char *stem, const char *end, const char *tail,
                     char *out, size_t bytes) {
    bool bare = scheme->bare || (scheme->whole && strcmp(tail, ".bias") != 0);
    int length = snprintf(out, bytes, "%s%s%s", stem, end, bare ? "" : tail);
    if (length < 0 || (size_t)length >= bytes)
        return false;
    if (scheme->bare && strcmp(tail, ".bias") == 0)
        out[end == scheme->norm ? (size_t)length - 1 : strlen(stem)] = 'b';
    return true;
}
