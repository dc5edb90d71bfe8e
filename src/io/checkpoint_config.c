/* What a config.json beside a checkpoint, or the metadata of its file, says of heads and norms. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "io/checkpoint.h"
#include "wattle/text.h"

#define CONFIG_MOST (4 << 20)

/* A config, or the metadata: numbers and words by name. */
typedef struct {
    json_t *config;
    const wt_file *file;
} teller;

/* The first of the names that there is: as a number, NaN = none. What stands there and is none, but
 * for null, is refused. */
static wt_status number_of(wt_context *context, const wt_checkpoint *checkpoint, const teller *from,
                           const char *const *names, double *out) {
    *out = NAN;
    for (; *names != NULL && isnan(*out); names++) {
        const json_t *value = json_object_get(from->config, *names);
        const char *text = from->file == NULL ? NULL : wt_file_metadata(from->file, *names);
        bool fine = true;
        if (value != NULL && !json_is_null(value)) {
            fine = json_is_number(value);
            *out = json_number_value(value);
        } else if (text != NULL) {
            fine = wt_real_parse(text, out);
        }
        if (!fine)
            return wt_fail(context, WT_DATA, "%s: its config says no number for %s",
                           checkpoint->path, *names);
    }
    return WT_OK;
}

static const char *word_of(const teller *from, const char *name) {
    const json_t *value = json_object_get(from->config, name);
    if (json_is_string(value))
        return json_string_value(value);
    return from->file == NULL ? NULL : wt_file_metadata(from->file, name);
}

static wt_status count_of(wt_context *context, const wt_checkpoint *checkpoint, const teller *from,
                          const char *const *names, size_t *out) {
    double number;
    WT_PASS(number_of(context, checkpoint, from, names, &number));
    if (isnan(number))
        return WT_OK;
    if (!(number >= 1) || number > 65536 || floor(number) != number)
        return wt_fail(context, WT_DATA, "%s: its config says %s is %g", checkpoint->path, names[0],
                       number);
    *out = (size_t)number;
    return WT_OK;
}

static wt_status tell(wt_context *context, const teller *from, wt_checkpoint *out) {
    static const char *const heads[] = {"num_attention_heads",     "n_head", "n_heads", "num_heads",
                                        "encoder_attention_heads", "heads",  NULL};
    static const char *const key_heads[] = {"num_key_value_heads", NULL};
    static const char *const widths[] = {"head_dim", "d_kv", NULL};
    static const char *const epsilons[] = {"layer_norm_eps", "layer_norm_epsilon", "rms_norm_eps",
                                           NULL};
    const char *layout = word_of(from, "rope_layout");
    if (out->heads == 0) {
        WT_PASS(count_of(context, out, from, heads, &out->heads));
        WT_PASS(count_of(context, out, from, key_heads, &out->key_heads));
        WT_PASS(count_of(context, out, from, widths, &out->width));
    }
    double epsilon;
    WT_PASS(number_of(context, out, from, epsilons, &epsilon));
    if (epsilon < 0 || epsilon > 1)
        return wt_fail(context, WT_DATA, "%s: its config says %g is added under a norm's root",
                       out->path, epsilon);
    if (!isnan(epsilon))
        out->epsilon = epsilon;
    if (out->scheme.rotary)
        out->rope =
            layout != NULL && strcmp(layout, "interleaved") == 0 ? "interleaved" : "half-split";
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
    teller from = {.file = checkpoint->shards[0].file};
    checkpoint->epsilon = 1e-5;
    WT_PASS(load_config(context, checkpoint, &from.config));
    wt_status status = tell(context, &from, checkpoint);
    json_decref(from.config);
    return status;
}
