#include "io/checkpoint.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sized.h"
#include "base/text.h"
#include "wattle/text.h"

/* Names of a sentence that lists what was seen. */
enum { SHOWN_NAMES = 6 };
/* Bytes of an index at most: one of 100,000 tensors has 10 MB. */
#define INDEX_MOST (64 << 20)

void wt_checkpoint_options_init(wt_checkpoint_options *options, size_t size) {
    const wt_checkpoint_options full = {0};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

static const char *keep(wt_arena *arena, const char *text, size_t bytes) {
    char *copy = WT_TAKE(arena, char, bytes + 1);
    if (copy != NULL) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
    }
    return copy;
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

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), bytes = strlen(end);
    return length >= bytes && strcmp(text + length - bytes, end) == 0;
}

/* A folder stands for the checkpoint in it. */
static wt_status find_path(wt_context *context, wt_checkpoint *out, const char *given) {
    static const char *const usual[] = {"model.safetensors", "model.safetensors.index.json"};
    struct stat about;
    char shown[WT_QUOTED_BYTES];
    out->path = keep(&out->arena, given, strlen(given));
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
        if (ends_with(out->shards[*at].path, name) &&
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
        next->name = keep(&out->arena, name, strlen(name));
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

/* Where the scheme's end of a name begins in it; NULL when the name is none of the scheme's. */
static const char *end_in(const wt_scheme *scheme, const char *name) {
    size_t length = strlen(name), bytes = strlen(scheme->query);
    const char *tail = scheme->bare ? "" : scheme->underscore ? "_weight" : ".weight";
    if (!ends_with(name, tail) || length < bytes + strlen(tail))
        return NULL;
    const char *at = name + length - strlen(tail) - bytes;
    return strncmp(at, scheme->query, bytes) == 0 && (at == name || at[-1] == '.') ? at : NULL;
}

/* Whether the output of the layer whose names start with `bytes` of stem is there. */
static bool has_output(const wt_checkpoint *checkpoint, const wt_scheme *scheme, const char *stem,
                       size_t bytes) {
    char name[512];
    if (snprintf(name, sizeof name, "%.*s%s%s", (int)bytes, stem, scheme->output,
                 scheme->bare ? "" : ".weight") >= (int)sizeof name)
        return false;
    return wt_checkpoint_has(checkpoint, name);
}

/* The scheme of a name of queries whose output is there too; NULL when there is none. */
static const wt_scheme *scheme_of(const wt_checkpoint *checkpoint, const char *name,
                                  const char **at) {
    const wt_scheme *best = NULL;
    for (size_t i = 0; i < wt_scheme_count; i++) {
        const wt_scheme *scheme = &wt_schemes[i];
        const char *end = end_in(scheme, name);
        if (end == NULL || !has_output(checkpoint, scheme, name, (size_t)(end - name)))
            continue;
        if (best == NULL || strlen(scheme->query) > strlen(best->query)) {
            best = scheme;
            *at = end;
        }
    }
    return best;
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* Names as people count: layer.2 before layer.10. */
static int by_number(const void *a, const void *b) {
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    while (*x != '\0' && *y != '\0') {
        if (is_digit(*x) && is_digit(*y)) {
            size_t left = strspn(x, "0123456789"), right = strspn(y, "0123456789");
            int order = left != right ? (left > right) - (left < right) : strncmp(x, y, left);
            if (order != 0)
                return order;
            x += left;
            y += right;
        } else if (*x != *y) {
            break;
        } else {
            x++;
            y++;
        }
    }
    return strcmp(x, y);
}

static wt_status refuse_names(wt_context *context, const wt_checkpoint *checkpoint) {
    char list[512] = "", shown[WT_QUOTED_BYTES];
    if (checkpoint->name_count == 0)
        return wt_fail(context, WT_DATA, "%s has no tensors", checkpoint->path);
    for (size_t i = 0; i < checkpoint->name_count && i < SHOWN_NAMES; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "",
                 wt_quote(checkpoint->names[i].name, shown, 64));
    }
    return wt_fail(context, WT_DATA,
                   "%s: no known scheme of names matches its %zu tensors: %s%s; tell them by --map "
                   "q=NAME,k=NAME,v=NAME,o=NAME with {} for the number of the layer",
                   checkpoint->path, checkpoint->name_count, list,
                   checkpoint->name_count > SHOWN_NAMES ? ", .." : "");
}

static wt_status find_stems(wt_context *context, wt_checkpoint *out) {
    const wt_scheme *chosen = NULL;
    const char *at = NULL;
    out->stems = WT_TAKE(&out->arena, const char *, out->name_count);
    WT_PASS(out->arena.status);
    for (size_t i = 0; i < out->name_count; i++) {
        const char *name = out->names[i].name;
        const wt_scheme *scheme = scheme_of(out, name, &at);
        if (scheme == NULL || (chosen != NULL && scheme != chosen))
            continue;
        chosen = scheme;
        const char *stem = keep(&out->arena, name, (size_t)(at - name));
        WT_PASS(out->arena.status);
        out->stems[out->stem_count++] = stem;
    }
    if (chosen == NULL)
        return refuse_names(context, out);
    out->scheme = *chosen;
    qsort(out->stems, out->stem_count, sizeof *out->stems, by_number);
    return WT_OK;
}

/* The name that --map gives to a role, split at {}. */
static wt_status read_map(wt_context *context, const char *map, wt_checkpoint *out,
                          const char **before, const char **ends) {
    static const char roles[] = "qkvo";
    for (const char *at = map; *at != '\0';) {
        size_t length = strcspn(at, ",");
        const char *role = strchr(roles, at[0]), *hole = strstr(at, "{}");
        if (role == NULL || *role == '\0' || at[1] != '=' || length < 3)
            return wt_fail(context, WT_USAGE, "--map is q=NAME,k=NAME,v=NAME,o=NAME, not '%s'",
                           map);
        bool inside = hole != NULL && hole < at + length;
        const char *start = inside ? hole + 2 : at + 2;
        size_t number = (size_t)(role - roles), lead = inside ? (size_t)(hole - at) - 2 : 0;
        const char *own = keep(&out->arena, at + 2, lead);
        ends[number] = keep(&out->arena, start, (size_t)(at + length - start));
        WT_PASS(out->arena.status);
        if (*before != NULL && strcmp(*before, own) != 0)
            return wt_fail(context, WT_USAGE,
                           "--map: names must start alike before {}: '%s' and '%s'", *before, own);
        *before = own;
        at += length + (at[length] == ',');
    }
    for (size_t i = 0; i < 4; i++)
        if (ends[i] == NULL)
            return wt_fail(context, WT_USAGE, "--map has no %c=NAME", roles[i]);
    return WT_OK;
}

/* "weight" at the end of a mapped name is no part of it. */
static const char *without_weight(wt_arena *arena, const char *end) {
    size_t length = strlen(end);
    return ends_with(end, ".weight") ? keep(arena, end, length - strlen(".weight")) : end;
}

static wt_status map_stems(wt_context *context, wt_checkpoint *out, const char *map) {
    const char *before = NULL, *ends[4] = {0};
    WT_PASS(read_map(context, map, out, &before, ends));
    out->scheme = (wt_scheme){.name = "mapped",
                              .query = without_weight(&out->arena, ends[0]),
                              .key = without_weight(&out->arena, ends[1]),
                              .value = without_weight(&out->arena, ends[2]),
                              .output = without_weight(&out->arena, ends[3]),
                              .unbiased = "ko"};
    out->stems = WT_TAKE(&out->arena, const char *, out->name_count);
    WT_PASS(out->arena.status);
    size_t lead = strlen(before), tail = strlen(out->scheme.query) + strlen(".weight");
    for (size_t i = 0; i < out->name_count; i++) {
        const char *name = out->names[i].name;
        size_t length = strlen(name);
        if (length < lead + tail || strncmp(name, before, lead) != 0 || !ends_with(name, ".weight"))
            continue;
        const char *at = name + length - tail;
        size_t digits = strspn(name + lead, "0123456789");
        if (name + lead + digits != at ||
            strncmp(at, out->scheme.query, tail - strlen(".weight")) != 0)
            continue;
        const char *stem = keep(&out->arena, name, (size_t)(at - name));
        WT_PASS(out->arena.status);
        out->stems[out->stem_count++] = stem;
    }
    qsort(out->stems, out->stem_count, sizeof *out->stems, by_number);
    return out->stem_count > 0 ? WT_OK : refuse_names(context, out);
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
    WT_TRY(ends_with(made->path, ".json") ? open_index(context, made) : open_single(context, made));
    qsort(made->names, made->name_count, sizeof *made->names, by_name);
    WT_TRY(options.map == NULL ? find_stems(context, made) : map_stems(context, made, options.map));
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
    return checkpoint->heads;
}

const char *wt_checkpoint_stem(const wt_checkpoint *checkpoint, size_t layer) {
    return layer < checkpoint->stem_count ? checkpoint->stems[layer] : NULL;
}

const char *wt_checkpoint_rope(const wt_checkpoint *checkpoint) {
    return checkpoint->rope;
}
