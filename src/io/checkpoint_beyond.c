/* What layers of a checkpoint have that no layer of ours has: it must not be left out without a
 * word. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/checkpoint_config.h"

#define POSITIONS  true
#define QK_NORMS   "norms of queries and keys"
#define RELATIVE   "relative positions"
#define OWN_BIASES "biases under other names"

/* A part of a tensor's name, between points, that tells of it. */
static const struct {
    const char *part, *what;
    bool positions;
} tensors[] = {
    {"relative_attention_bias", RELATIVE, POSITIONS},
    {"relative_position_bias", RELATIVE, POSITIONS},
    {"relative_position_bias_table", RELATIVE, POSITIONS},
    {"rel_pos_bias", RELATIVE, POSITIONS},
    {"rel_pos_h", RELATIVE, POSITIONS},
    {"rel_pos_w", RELATIVE, POSITIONS},
    {"distance_embedding", RELATIVE, POSITIONS},
    {"rotary_embeddings", "rotary positions", POSITIONS},
    {"rotary_emb", "rotary positions", POSITIONS},
    {"q_norm", QK_NORMS, false},
    {"k_norm", QK_NORMS, false},
    {"q_layernorm", QK_NORMS, false},
    {"k_layernorm", QK_NORMS, false},
    {"query_layernorm", QK_NORMS, false},
    {"key_layernorm", QK_NORMS, false},
    {"bias_k", "a learned token beside keys and values", false},
    {"bias_v", "a learned token beside keys and values", false},
    {"sinks", "sinks in the denominators", false},
    {"query_global", "global tokens with matrices of their own", false},
    {"q_bias", OWN_BIASES, false},
    {"v_bias", OWN_BIASES, false},
    {"lora_A", "low-rank adapters", false},
};

typedef enum telling { TRUE, ABOVE_0, OTHER_THAN } telling;

/* A key of a config: true, a number above 0, or a word that is none of those listed. */
static const struct {
    const char *key;
    const char *words; /* |absolute|, and such that change nothing in the scores */
    const char *what;  /* NULL = the word itself */
    telling when;
    bool positions;
} keys[] = {
    {"attn_logit_softcapping", NULL, "a soft cap on scores", ABOVE_0, false},
    {"clip_qkv", NULL, "a clip of queries, keys and values", ABOVE_0, false},
    {"use_qk_norm", NULL, QK_NORMS, TRUE, false},
    {"qk_layernorm", NULL, QK_NORMS, TRUE, false},
    {"qk_norm", NULL, QK_NORMS, TRUE, false},
    {"attention_type", "|original_full|full|full_attention|", NULL, OTHER_THAN, false},
    {"alibi", NULL, "ALiBi", TRUE, POSITIONS},
    {"has_relative_attention_bias", NULL, RELATIVE, TRUE, POSITIONS},
    {"use_relative_position_bias", NULL, RELATIVE, TRUE, POSITIONS},
    {"use_shared_relative_position_bias", NULL, RELATIVE, TRUE, POSITIONS},
    {"position_embedding_type", "|absolute|learned|learned_absolute|sinusoidal|sincos|none|", NULL,
     OTHER_THAN, POSITIONS},
};

/* Models that add something to queries and keys, or turn them, as no name tells. */
static const struct {
    const char *type, *what;
} types[] = {
    {"roformer", "rotary positions"},
    {"esm", "rotary positions"},
    {"detr", "positions that are added to queries and keys"},
    {"conditional_detr", "positions that are added to queries and keys"},
    {"table-transformer", "positions that are added to queries and keys"},
    {"deformable_detr", "positions that are added to queries and keys"},
};

/* `more` at the end of the list in *text, unless it is there. */
static wt_status add(wt_checkpoint *checkpoint, const char *more, const char **text) {
    if (*text == NULL) {
        *text = more;
    } else if (strstr(*text, more) == NULL) {
        size_t bytes = strlen(*text) + strlen(more) + 3;
        char *both = WT_TAKE(&checkpoint->arena, char, bytes);
        WT_PASS(checkpoint->arena.status);
        snprintf(both, bytes, "%s, %s", *text, more);
        *text = both;
    }
    return WT_OK;
}

static wt_status find(wt_checkpoint *checkpoint, const char *what, bool positions) {
    checkpoint->positions_there = checkpoint->positions_there || positions;
    return add(checkpoint, what, positions ? &checkpoint->positions : &checkpoint->beyond);
}

static wt_status look_at_tensors(wt_checkpoint *checkpoint) {
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        for (size_t j = 0; j < checkpoint->name_count; j++)
            if (wt_name_has_part(checkpoint->names[j].name, tensors[i].part)) {
                WT_PASS(find(checkpoint, tensors[i].what, tensors[i].positions));
                break;
            }
    return WT_OK;
}

/* Whether a word stands between bars in the list. */
static bool is_listed(const char *list, const char *word) {
    size_t length = strlen(word);
    for (const char *at = strstr(list, word); at != NULL; at = strstr(at + 1, word))
        if (at > list && at[-1] == '|' && at[length] == '|')
            return true;
    return false;
}

static wt_status look_at_config(wt_checkpoint *checkpoint, const wt_teller *from) {
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *value = wt_teller_value(from, keys[i].key);
        const char *word = json_string_value(value);
        const char *what = keys[i].what != NULL ? keys[i].what : word;
        bool there = keys[i].when == TRUE      ? json_is_true(value)
                     : keys[i].when == ABOVE_0 ? json_number_value(value) > 0
                                               : word != NULL && !is_listed(keys[i].words, word);
        if (!there || what == NULL ||
            (what == word && keys[i].positions && checkpoint->scheme.rotary))
            continue;
        if (what == word) {
            size_t bytes = strlen(keys[i].key) + strlen(word) + 4;
            char *said = WT_TAKE(&checkpoint->arena, char, bytes);
            WT_PASS(checkpoint->arena.status);
            snprintf(said, bytes, "%s '%s'", keys[i].key, word);
            what = said;
        }
        WT_PASS(find(checkpoint, what, keys[i].positions));
    }
    const char *type = wt_teller_word(from, "model_type");
    for (size_t i = 0; type != NULL && i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].type) == 0)
            WT_PASS(find(checkpoint, types[i].what, true));
    return WT_OK;
}

/* 0 where tokens see all others. */
static double window_of(const wt_teller *from) {
    static const char *const names[] = {"sliding_window", "attention_window", "window_size"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const json_t *value = wt_teller_value(from, names[i]);
        if (json_is_array(value))
            value = json_array_get(value, 0);
        if (json_number_value(value) > 0 &&
            !json_is_false(wt_teller_value(from, "use_sliding_window")))
            return json_number_value(value);
    }
    return 0;
}

wt_status wt_checkpoint_leave_out(wt_context *context, wt_checkpoint *checkpoint) {
    (void)context;
    const wt_teller from = wt_teller_for(checkpoint, checkpoint->stems[0]);
    const char *layout = wt_teller_word(&from, "rope_layout");
    if (checkpoint->scheme.rotary) {
        checkpoint->rope =
            layout != NULL && strcmp(layout, "interleaved") == 0 ? "interleaved" : "half-split";
        WT_PASS(find(checkpoint, "rotary positions", true));
    }
    if (checkpoint->scheme.relative)
        WT_PASS(add(checkpoint, RELATIVE, &checkpoint->positions));
    WT_PASS(look_at_tensors(checkpoint));
    WT_PASS(look_at_config(checkpoint, &from));
    checkpoint->window = window_of(&from);
    if (checkpoint->positions != NULL)
        WT_PASS(add(checkpoint, checkpoint->positions, &checkpoint->left_out));
    return checkpoint->beyond == NULL ? WT_OK
                                      : add(checkpoint, checkpoint->beyond, &checkpoint->left_out);
}
