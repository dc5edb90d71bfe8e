/* What a config.json beside a checkpoint, or the metadata of a file, says of a layer: heads, scale,
 * mask, norm. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "io/checkpoint_config.h"
#include "wattle/text.h"

#define CONFIG_MOST (4 << 20)

/* Parts of a config for parts of a model, by what names of these have. */
static const struct {
    const char *part, *key;
} parts[] = {{"vision", "vision_config"},
             {"visual", "vision_config"},
             {"text_model", "text_config"},
             {"language_model", "text_config"},
             {"text_decoder", "text_config"},
             {"audio", "audio_config"},
             {"image_encoder", "vision_config"},
             {"decoder", "decoder"},
             {"encoder", "encoder"}};

/* What a type of model does in another way than its scheme says. */
static const struct {
    const char *type;
    const char *causal;  /* part of the names of layers that are; "" = all */
    double gain;         /* what is added to the norm's gain */
    wt_scheme_norm norm; /* NONE = as the scheme says */
    bool after;          /* the norm of that name comes after the layer */
    bool open;           /* none is causal, in a decoder either */
} types[] = {
    {.type = "gemma", .gain = 1},
    {.type = "gemma2", .gain = 1},
    {.type = "gemma3", .gain = 1},
    {.type = "gemma3_text", .gain = 1},
    {.type = "nemotron", .norm = WT_SCHEME_NORM_LAYER, .gain = 1},
    {.type = "cohere", .norm = WT_SCHEME_NORM_LAYER},
    {.type = "cohere2", .norm = WT_SCHEME_NORM_LAYER},
    {.type = "bart", .after = true},
    {.type = "plbart", .after = true},
    {.type = "mvp", .after = true},
    {.type = "marian", .after = true},
    {.type = "blenderbot-small", .after = true},
    {.type = "trocr", .after = true},
    {.type = "informer", .after = true},
    {.type = "time_series_transformer", .after = true},
    {.type = "opt", .causal = ""},
    {.type = "xglm", .causal = ""},
    {.type = "biogpt", .causal = ""},
    {.type = "clip_text_model", .causal = ""},
    {.type = "clip", .causal = "text_model"},
    {.type = "clipseg", .causal = "text_model"},
    {.type = "owlvit", .causal = "text_model"},
    {.type = "owlv2", .causal = "text_model"},
    {.type = "detr", .after = true, .open = true},
    {.type = "conditional_detr", .after = true, .open = true},
    {.type = "table-transformer", .open = true},
    {.type = "deformable_detr", .after = true, .open = true},
};
enum { TYPES = sizeof types / sizeof *types };

static const json_t *part_for(const json_t *config, const char *stem) {
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const json_t *part = json_object_get(config, parts[i].key);
        if (strstr(stem, parts[i].part) != NULL && json_is_object(part))
            return part;
    }
    return NULL;
}

wt_teller wt_teller_for(const wt_checkpoint *checkpoint, const char *stem) {
    return (wt_teller){.path = checkpoint->path,
                       .config = checkpoint->config,
                       .part = part_for(checkpoint->config, stem),
                       .file = checkpoint->shards[0].file};
}

const json_t *wt_teller_value(const wt_teller *from, const char *name) {
    const json_t *value = json_object_get(from->part, name);
    return value != NULL ? value : json_object_get(from->config, name);
}

wt_status wt_teller_number(wt_context *context, const wt_teller *from, const char *const *names,
                           const char **found, double *out) {
    *out = NAN;
    *found = *names;
    for (; *names != NULL && isnan(*out); names++) {
        const json_t *value = wt_teller_value(from, *names);
        const char *text = from->file == NULL ? NULL : wt_file_metadata(from->file, *names);
        bool fine = true;
        *found = *names;
        if (value != NULL && !json_is_null(value)) {
            fine = json_is_number(value);
            *out = json_number_value(value);
        } else if (text != NULL) {
            fine = wt_real_parse(text, out);
        }
        if (!fine)
            return wt_fail(context, WT_DATA, "%s: its config says no number for %s", from->path,
                           *names);
    }
    return WT_OK;
}

const char *wt_teller_word(const wt_teller *from, const char *name) {
    const json_t *value = wt_teller_value(from, name);
    if (json_is_string(value))
        return json_string_value(value);
    return from->file == NULL ? NULL : wt_file_metadata(from->file, name);
}

static wt_status count_of(wt_context *context, const wt_teller *from, const char *const *names,
                          size_t *out) {
    const char *found;
    double number;
    WT_PASS(wt_teller_number(context, from, names, &found, &number));
    if (isnan(number))
        return WT_OK;
    if (!(number >= 1) || number > 65536 || floor(number) != number)
        return wt_fail(context, WT_DATA, "%s: its config says %s is %g", from->path, found, number);
    *out = (size_t)number;
    return WT_OK;
}

static bool says(const wt_teller *from, const char *name, bool answer) {
    const json_t *value = wt_teller_value(from, name);
    return answer ? json_is_true(value) : json_is_false(value);
}

static wt_status tell_heads(wt_context *context, const wt_teller *from, bool decoder,
                            wt_told *out) {
    static const char *const heads[] = {"decoder_attention_heads",
                                        "decoder_num_attention_heads",
                                        "num_attention_heads",
                                        "n_head",
                                        "n_heads",
                                        "num_heads",
                                        "encoder_attention_heads",
                                        "heads",
                                        NULL};
    static const char *const key_heads[] = {"num_key_value_heads", "n_kv_heads", NULL};
    static const char *const widths[] = {"head_dim", "d_kv", NULL};
    WT_PASS(count_of(context, from, decoder ? heads : heads + 2, &out->heads));
    WT_PASS(count_of(context, from, key_heads, &out->key_heads));
    return count_of(context, from, widths, &out->width);
}

/* The number of a layer: the last one in its stem. */
static double place_of(const char *stem) {
    size_t end = strlen(stem), begin;
    while (end > 0 && strchr("0123456789", stem[end - 1]) == NULL)
        end--;
    for (begin = end; begin > 0 && strchr("0123456789", stem[begin - 1]) != NULL; begin--)
        ;
    return end == 0 ? 0 : strtod(stem + begin, NULL);
}

/* What stands in place of one over the root of the width. */
static wt_status tell_scale(wt_context *context, const wt_teller *from, const wt_scheme *scheme,
                            const char *stem, wt_told *out) {
    static const char *const scalars[] = {"query_pre_attn_scalar", NULL};
    static const char *const factors[] = {"attention_multiplier", NULL};
    const char *found;
    double scalar, factor;
    WT_PASS(wt_teller_number(context, from, scalars, &found, &scalar));
    WT_PASS(wt_teller_number(context, from, factors, &found, &factor));
    if (scalar <= 0 || factor <= 0)
        return wt_fail(context, WT_DATA, "%s: its config says %s is %g", from->path,
                       scalar <= 0 ? *scalars : *factors, scalar <= 0 ? scalar : factor);
    if (!isnan(scalar))
        out->scale = 1 / sqrt(scalar);
    else if (!isnan(factor))
        out->scale = factor;
    else if (scheme->unscaled || says(from, "scale_attn_weights", false))
        out->scale = 1;
    out->divide = says(from, "scale_attn_by_inverse_layer_idx", true) ? place_of(stem) + 1 : 1;
    return WT_OK;
}

static wt_status tell_norm(wt_context *context, const wt_teller *from, const wt_scheme *scheme,
                           wt_told *out) {
    static const char *const epsilons[] = {"layer_norm_eps", "layer_norm_epsilon", "rms_norm_eps",
                                           "norm_epsilon",   "norm_eps",           NULL};
    const char *found, *type = wt_teller_word(from, "model_type");
    double epsilon;
    WT_PASS(wt_teller_number(context, from, epsilons, &found, &epsilon));
    if (epsilon < 0 || epsilon > 1)
        return wt_fail(context, WT_DATA, "%s: its config says %g is added under a norm's root",
                       from->path, epsilon);
    out->epsilon = isnan(epsilon) ? 1e-5 : epsilon;
    out->norm = scheme->norm == NULL || says(from, "do_layer_norm_before", false)
                    ? WT_SCHEME_NORM_NONE
                    : scheme->norm_kind;
    for (size_t i = 0; type != NULL && i < TYPES; i++)
        if (strcmp(type, types[i].type) == 0) {
            if (types[i].after)
                out->norm = WT_SCHEME_NORM_NONE;
            else if (types[i].norm != WT_SCHEME_NORM_NONE)
                out->norm = types[i].norm;
            out->gain = types[i].gain;
        }
    return WT_OK;
}

static void tell_mask(const wt_teller *from, const wt_scheme *scheme, const char *stem,
                      bool decoder, wt_told *out) {
    const char *type = wt_teller_word(from, "model_type");
    out->causal = scheme->causal || decoder || says(from, "is_decoder", true);
    for (size_t i = 0; type != NULL && i < TYPES; i++)
        if (strcmp(type, types[i].type) == 0) {
            const char *part = types[i].causal;
            out->causal = (out->causal && !types[i].open) ||
                          (part != NULL && (*part == '\0' || wt_name_has_part(stem, part)));
        }
}

wt_status wt_checkpoint_tell(wt_context *context, const wt_checkpoint *checkpoint, const char *stem,
                             wt_told *out) {
    const wt_scheme *scheme = &checkpoint->scheme;
    const wt_teller from = wt_teller_for(checkpoint, stem);
    bool decoder = scheme->decoder != NULL && wt_name_has_part(stem, scheme->decoder);
    *out = (wt_told){.heads = checkpoint->heads};
    if (checkpoint->heads == 0)
        WT_PASS(tell_heads(context, &from, wt_name_has_part(stem, "decoder"), out));
    WT_PASS(tell_scale(context, &from, scheme, stem, out));
    WT_PASS(tell_norm(context, &from, scheme, out));
    tell_mask(&from, scheme, stem, decoder, out);
    return WT_OK;
}

static wt_status load_config(wt_context *context, const wt_checkpoint *checkpoint, json_t **out) {
    const char *slash = strrchr(checkpoint->path, '/');
    int folder = slash == NULL ? 0 : (int)(slash - checkpoint->path) + 1;
    char path[4096];
    struct stat about;
    json_error_t error;
    *out = NULL;
    if (snprintf(path, sizeof path, "%.*sconfig.json", folder, checkpoint->path) >=
            (int)sizeof path ||
        stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return WT_OK;
    if (about.st_size > CONFIG_MOST)
        return wt_fail(context, WT_DATA, "%s has %lld bytes: it is no config", path,
                       (long long)about.st_size);
    *out = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    return *out != NULL
               ? WT_OK
               : wt_fail(context, WT_DATA, "%s: line %d: %s", path, error.line, error.text);
}

wt_status wt_checkpoint_configure(wt_context *context, wt_checkpoint *checkpoint) {
    wt_told first;
    WT_PASS(load_config(context, checkpoint, &checkpoint->config));
    WT_PASS(wt_checkpoint_tell(context, checkpoint, checkpoint->stems[0], &first));
    checkpoint->shown_heads = first.heads;
    return wt_checkpoint_leave_out(context, checkpoint);
}
