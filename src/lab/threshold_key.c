/* What a trial depends on: as one number, which names it in every row, and in words. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lab/threshold_parts.h"
#include "network/learn/train_fields.h"

/* Fields of the key, in its order. */
/* clang-format off */
static const char *const keyed[] = {
    "probability", "noise", "keep-ambiguous", "model", "dim", "heads", "hidden",
    "embedding-dropout", "attention-dropout", "block-dropout", "fixed-positions", "activation",
    "lr", "weight-decay", "decoupled", "clip", "init-scale", "steps", "validate",
    "validation-samples", "success", "restarts"};
/* clang-format on */

/* FNV-1a. */
static uint64_t hash_text(uint64_t hash, const char *text) {
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static const wt_field *field_named(const char *name) {
    size_t count;
    const wt_field *fields = wt_train_fields(&count);
    return wt_field_find(fields, count, name);
}

/* A trial of the host is named as it was before there were devices. */
uint64_t wt_threshold_key(const wt_threshold *threshold) {
    const wt_threshold_spec *setting = &threshold->setting;
    const wt_train_spec *train = setting->train;
    uint64_t hash = hash_text(0xcbf29ce484222325u, "1|");
    char text[WT_FIELD_TEXT];
    for (size_t i = 0; i < sizeof keyed / sizeof *keyed; i++) {
        const wt_field *field = field_named(keyed[i]);
        bool words = field->kind == WT_FIELD_KIND_WORD;
        const char *word =
            words ? *(const char *const *)((const char *)train + field->offset) : text;
        snprintf(text, sizeof text, "%.17g",
                 i == 0 ? train->probability : wt_field_get(field, train).number);
        hash = hash_text(hash_text(hash, word == NULL ? "" : word), "|");
    }
    snprintf(text, sizeof text, "%" PRIu64 "|", setting->seed);
    hash = hash_text(hash_text(hash, text), train->task);
    hash = hash_text(hash, train->balls == NULL ? "" : train->balls);
    return strcmp(threshold->device, "host") == 0 ? hash : hash_text(hash, threshold->device);
}

void wt_threshold_words(const wt_threshold *threshold, wt_script *out) {
    const wt_threshold_spec *setting = &threshold->setting;
    const wt_train_spec *train = setting->train;
    char text[WT_FIELD_TEXT];
    wt_script_add(out, "task=%s", train->task);
    for (size_t i = 0; i < sizeof keyed / sizeof *keyed; i++) {
        const wt_field *field = field_named(keyed[i]);
        wt_script_add(out, " %s=%s", wt_field_option(field),
                      wt_field_print(field, wt_field_get(field, train), text));
    }
    wt_script_add(out, " ball=%s seed=%" PRIu64 " device=%s",
                  train->balls == NULL ? "none" : train->balls, setting->seed, threshold->device);
}

/* The value of "name=value" among the words, and its length; NULL when it is not there. */
static const char *value_of(const char *words, const char *name, size_t name_length,
                            size_t *length) {
    for (const char *at = words; *at != '\0'; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word > name_length && at[name_length] == '=' && strncmp(at, name, name_length) == 0) {
            *length = word - name_length - 1;
            return at + name_length + 1;
        }
        at += word;
    }
    return NULL;
}

void wt_threshold_take_device(wt_threshold *threshold, const char *words) {
    size_t length = 0;
    const char *device = value_of(words, "device", strlen("device"), &length);
    if (device == NULL || length >= sizeof threshold->device)
        return;
    memcpy(threshold->device, device, length);
    threshold->device[length] = '\0';
    threshold->key = wt_threshold_key(threshold);
}

void wt_threshold_difference(const char *there, const char *here,
                             char out[WT_THRESHOLD_DIFFERENCE]) {
    size_t used = 0;
    out[0] = '\0';
    for (const char *at = here; *at != '\0'; at += strspn(at, " ")) {
        size_t word = strcspn(at, " "), name = strcspn(at, "="), ours = word - name - 1, theirs = 0;
        const char *other = value_of(there, at, name, &theirs);
        bool same = other != NULL && theirs == ours && strncmp(other, at + name + 1, ours) == 0;
        if (!same && used < WT_THRESHOLD_DIFFERENCE)
            used += (size_t)snprintf(out + used, WT_THRESHOLD_DIFFERENCE - used,
                                     "%s%.*s: %.*s there, %.*s here", used == 0 ? "" : "; ",
                                     (int)name, at, (int)theirs, other == NULL ? "" : other,
                                     (int)ours, at + name + 1);
        at += word;
    }
}
