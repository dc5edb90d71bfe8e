#include "io/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sized.h"
#include "base/text.h"
#include "io/checkpoint_config.h"
#include "wattle/text.h"

/* Bytes of an index at most: one of 100,000 tensors has 10 MB. */
#define INDEX_MOST (64 << 20)

void wt_checkpoint_options_init(wt_checkpoint_options *options, size_t size) {
    const wt_checkpoint_options full = {0};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

/* folder of `path`, with its last slash, and a name after it. */
static const char *beside(wt_arena *arena, const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    char *joined = WT_TAKE(arena, char, folder + strlen(name) + 1);
    if (joined != NULL) {
        memcpy(joined, path, folder);
        memcpy(joined + folder, name, strlen(name) + 1);
    }
    return joined;
}

static bool is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* A folder stands for the checkpoint in it. */
static wt_status find_path(wt_context *context, wt_checkpoint *out, const char *given) {
    static const char *const usual[] = {"model.safetensors", "model.safetensors.index.json"};
    struct stat about;
    char shown[WT_QUOTED_BYTES];
    out->path = wt_checkpoint_keep(&out->arena, given, strlen(given));
    WT_PASS(out->arena.status);
    if (stat(given, &about) != 0 || !S_ISDIR(about.st_mode))
        return WT_OK;
    char *folder = WT_TAKE(&out->arena, char, strlen(given) + 2);
    WT_PASS(out->arena.status);
    snprintf(folder, strlen(given) + 2, "%s/", given);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        const char *path = beside(&out->arena, folder, usual[i]);
        WT_PASS(out->arena.status);
        if (is_file(path)) {
            out->path = path;
            return WT_OK;
        }
    }
    return wt_fail(context, WT_NO_INPUT, "%s has neither model.safetensors nor its .index.json",
                   wt_quote(given, shown, sizeof shown));
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const wt_named *)a)->name, ((const wt_named *)b)->name);
}

static wt_status open_single(wt_context *context, wt_checkpoint *out) {
    wt_file *file = NULL;
    WT_PASS(wt_file_open(context, out->path, &file));
    out->shards = WT_TAKE(&out->arena, wt_shard, 1);
    out->names = WT_TAKE(&out->arena, wt_named, wt_file_count(file));
    if (out->arena.status != WT_OK) {
        wt_file_free(file);
        return out->arena.status;
    }
    out->shard_count = 1;
    out->shards[0] = (wt_shard){.path = out->path, .file = file};
    for (size_t i = 0; i < wt_file_count(file); i++)
        out->names[out->name_count++] = (wt_named){.name = wt_file_at(file, i)->name};
    return WT_OK;
}

/* A file of the index, which must lie beside it. */
static wt_status add_shard(wt_context *context, wt_checkpoint *out, const char *name, size_t *at) {
    char shown[WT_QUOTED_BYTES];
    if (strchr(name, '/') != NULL || name[0] == '.' || name[0] == '\0')
        return wt_fail(context, WT_DATA, "%s points to '%s', which is no file beside it", out->path,
                       wt_quote(name, shown, sizeof shown));
    for (*at = 0; *at < out->shard_count; ++*at)
        if (wt_name_ends(out->shards[*at].path, name) &&
            strcmp(beside(&out->arena, out->path, name), out->shards[*at].path) == 0)
            return out->arena.status;
    const char *path = beside(&out->arena, out->path, name);
    WT_PASS(out->arena.status);
    if (!is_file(path))
        return wt_fail(context, WT_NO_INPUT, "%s points to %s, which is not there", out->path,
                       wt_quote(name, shown, sizeof shown));
    out->shards[out->shard_count++] = (wt_shard){.path = path};
    return WT_OK;
}

static wt_status read_index(wt_context *context, wt_checkpoint *out, json_t *map) {
    const char *name;
    json_t *value;
    size_t count = json_object_size(map);
    if (!json_is_object(map) || count == 0)
        return wt_fail(context, WT_DATA, "%s has no weight_map: it is no index of a checkpoint",
                       out->path);
    out->shards = WT_TAKE(&out->arena, wt_shard, count);
    out->names = WT_TAKE(&out->arena, wt_named, count);
    WT_PASS(out->arena.status);
    json_object_foreach(map, name, value) {
        wt_named *next = &out->names[out->name_count];
        if (!json_is_string(value))
            return wt_fail(context, WT_DATA, "%s: the file of a tensor is no text", out->path);
        next->name = wt_checkpoint_keep(&out->arena, name, strlen(name));
        WT_PASS(out->arena.status);
        WT_PASS(add_shard(context, out, json_string_value(value), &next->shard));
        out->name_count++;
    }
    return WT_OK;
}

static wt_status open_index(wt_context *context, wt_checkpoint *out) {
    json_error_t error;
    struct stat about;
    if (stat(out->path, &about) != 0)
        return wt_fail(context, WT_NO_INPUT, "%s is not there", out->path);
    if (!S_ISREG(about.st_mode) || about.st_size > INDEX_MOST)
        return wt_fail(context, WT_DATA, "%s is no index of a checkpoint", out->path);
    json_t *root = json_load_file(out->path, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        return wt_fail(context, WT_DATA, "%s: line %d: %s", out->path, error.line, error.text);
    wt_status status = read_index(context, out, json_object_get(root, "weight_map"));
    json_decref(root);
    return status;
}

static const wt_named *find_name(const wt_checkpoint *checkpoint, const char *name) {
    const wt_named key = {.name = name};
    return bsearch(&key, checkpoint->names, checkpoint->name_count, sizeof *checkpoint->names,
                   by_name);
}

bool wt_checkpoint_has(const wt_checkpoint *checkpoint, const char *name) {
    return find_name(checkpoint, name) != NULL;
}

wt_status wt_checkpoint_find(wt_context *context, wt_checkpoint *checkpoint, const char *name,
                             const wt_file **file, const wt_array **array) {
    const wt_named *found = find_name(checkpoint, name);
    *file = NULL;
    *array = NULL;
    if (found == NULL)
        return WT_OK;
    wt_shard *shard = &checkpoint->shards[found->shard];
    if (shard->file == NULL)
        WT_PASS(wt_file_open(context, shard->path, &shard->file));
    *file = shard->file;
    *array = wt_file_find(shard->file, name);
    if (*array == NULL)
        return wt_fail(context, WT_DATA, "%s: %s has no tensor '%s'", checkpoint->path, shard->path,
                       name);
    return WT_OK;
}

wt_status wt_checkpoint_open(wt_context *context, const char *path,
                             const wt_checkpoint_options *given, wt_checkpoint **out) {
    wt_checkpoint_options options = {0};
    wt_checkpoint *made = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_sized_read(context, "wt_checkpoint_options", given, &options, sizeof options));
    WT_TRY(WT_NEW_ZERO(context, &made, 1, "a checkpoint"));
    made->arena = wt_arena_start(context, "names of a checkpoint");
    WT_TRY(find_path(context, made, path));
    WT_TRY(wt_name_ends(made->path, ".json") ? open_index(context, made)
                                             : open_single(context, made));
    qsort(made->names, made->name_count, sizeof *made->names, by_name);
    WT_TRY(options.map == NULL ? wt_checkpoint_find_stems(context, made)
                               : wt_checkpoint_map_stems(context, made, options.map));
    made->heads = options.heads;
    WT_TRY(wt_checkpoint_configure(context, made));
    *out = made;
    made = NULL;
done:
    wt_checkpoint_free(made);
    return status;
}

void wt_checkpoint_free(wt_checkpoint *checkpoint) {
    if (checkpoint == NULL)
        return;
    for (size_t i = 0; i < checkpoint->shard_count; i++)
        wt_file_free(checkpoint->shards[i].file);
    json_decref(checkpoint->config);
    wt_arena_free(&checkpoint->arena);
    wt_release(checkpoint);
}

const char *wt_checkpoint_scheme(const wt_checkpoint *checkpoint) {
    return checkpoint->scheme.name;
}

size_t wt_checkpoint_layers(const wt_checkpoint *checkpoint) {
    return checkpoint->stem_count;
}

size_t wt_checkpoint_heads(const wt_checkpoint *checkpoint) {
    return checkpoint->shown_heads;
}

const char *wt_checkpoint_stem(const wt_checkpoint *checkpoint, size_t layer) {
    return layer < checkpoint->stem_count ? checkpoint->stems[layer] : NULL;
}

const char *wt_checkpoint_rope(const wt_checkpoint *checkpoint) {
    return checkpoint->rope;
}

const char *wt_checkpoint_left_out(const wt_checkpoint *checkpoint) {
    return checkpoint->left_out;
}
