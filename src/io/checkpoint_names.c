/* Which tensors of a checkpoint are layers: by a known scheme of names, or one that is told. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "io/checkpoint.h"
#include "wattle/memory.h"
#include "wattle/program.h"

/* Names of a sentence that lists what was seen. */
enum { SHOWN_NAMES = 8 };

const char *wt_checkpoint_keep(wt_arena *arena, const char *text, size_t bytes) {
    char *copy = WT_TAKE(arena, char, bytes + 1);
    if (copy != NULL) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
    }
    return copy;
}

bool wt_name_ends(const char *text, const char *end) {
    size_t length = strlen(text), bytes = strlen(end);
    return length >= bytes && strcmp(text + length - bytes, end) == 0;
}

bool wt_name_has_part(const char *name, const char *part) {
    size_t length = strlen(part);
    for (const char *at = strstr(name, part); at != NULL; at = strstr(at + 1, part))
        if ((at == name || at[-1] == '.') && (at[length] == '.' || at[length] == '\0'))
            return true;
    return false;
}

/* Where the scheme's end of a name begins in it; NULL when the name is none of the scheme's. */
static const char *end_in(const wt_scheme *scheme, const char *name) {
    size_t length = strlen(name), bytes = strlen(scheme->query);
    const char *tail = scheme->bare ? "" : scheme->underscore ? "_weight" : ".weight";
    if (!wt_name_ends(name, tail) || length < bytes + strlen(tail))
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

/* Whether the queries are those of torch.nn.TransformerDecoderLayer's attention to another
 * sequence, which stands beside one to its own. */
static bool is_cross(const wt_checkpoint *checkpoint, const wt_scheme *scheme, const char *name,
                     const char *at) {
    static const char cross[] = "multihead_attn.";
    size_t length = (size_t)(at - name), bytes = sizeof cross - 1;
    char own[512];
    return scheme->underscore && length >= bytes && memcmp(at - bytes, cross, bytes) == 0 &&
           snprintf(own, sizeof own, "%.*sself_attn.%s_weight", (int)(length - bytes), name,
                    scheme->query) < (int)sizeof own &&
           wt_checkpoint_has(checkpoint, own);
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
    return best != NULL && is_cross(checkpoint, best, name, *at) ? NULL : best;
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

/* Where the first number of a name that stands between points is, and how long: 0 = there is none.
 */
static size_t number_in(const char *name, size_t *length) {
    for (size_t i = 0; name[i] != '\0'; i++) {
        *length = i == 0 || name[i - 1] == '.' ? strspn(name + i, "0123456789") : 0;
        if (*length > 0 && name[i + *length] == '.')
            return i;
    }
    return *length = 0;
}

/* Names that differ in the number of the layer alone are listed once, with {} in its place: those
 * of layers first, as these are looked for. */
static void list_names(const wt_checkpoint *checkpoint, size_t bytes, char *list) {
    size_t shown = 0, used = 0, length, other;
    char name[WT_QUOTED_BYTES], quoted[WT_QUOTED_BYTES];
    list[0] = '\0';
    for (int layers = 1; layers >= 0; layers--)
        for (size_t i = 0; i < checkpoint->name_count && shown <= SHOWN_NAMES; i++) {
            const char *text = checkpoint->names[i].name;
            size_t at = number_in(text, &length);
            bool before = false;
            if ((length > 0) != (layers == 1))
                continue;
            for (size_t j = 0; layers == 1 && j < i && !before; j++) {
                const char *earlier = checkpoint->names[j].name;
                before = number_in(earlier, &other) == at && other > 0 &&
                         strncmp(earlier, text, at) == 0 &&
                         strcmp(earlier + at + other, text + at + length) == 0;
            }
            if (before)
                continue;
            snprintf(name, sizeof name, "%.*s%s%s", (int)at, text, length > 0 ? "{}" : "",
                     text + at + length);
            if (used < bytes)
                used += (size_t)snprintf(
                    list + used, bytes - used, "%s%s", shown > 0 ? ", " : "",
                    shown == SHOWN_NAMES ? ".." : wt_quote(name, quoted, sizeof quoted));
            shown++;
        }
}

static wt_status refuse_names(wt_context *context, const wt_checkpoint *checkpoint, bool mapped) {
    char list[1024], shown[WT_QUOTED_BYTES];
    if (checkpoint->name_count == 0)
        return wt_fail(context, WT_DATA, "%s has no tensors", checkpoint->path);
    for (size_t i = 0; i < checkpoint->name_count; i++)
        if (wt_name_ends(checkpoint->names[i].name, "q_proj_weight"))
            return wt_fail(context, WT_DATA,
                           "%s: %s is of a MultiheadAttention whose keys or values have dimensions "
                           "of their own: it attends to other tokens than those that ask",
                           checkpoint->path,
                           wt_quote(checkpoint->names[i].name, shown, sizeof shown));
    list_names(checkpoint, sizeof list, list);
    return wt_fail(
        context, WT_DATA,
        "%s: %s its %zu tensors: %s; tell them by --map q=NAME,k=NAME,v=NAME,o=NAME with "
        "{} for the number of the layer",
        checkpoint->path, mapped ? "--map names none of" : "no known scheme of names matches",
        checkpoint->name_count, list);
}

/* The scheme that most layers follow; NULL when there is none. What follows another is told of. */
static wt_status choose_scheme(wt_context *context, wt_checkpoint *checkpoint,
                               const wt_scheme **out) {
    size_t *counts = WT_TAKE_ZERO(&checkpoint->arena, size_t, wt_scheme_count), best = 0;
    const char *at;
    WT_PASS(checkpoint->arena.status);
    for (size_t i = 0; i < checkpoint->name_count; i++) {
        const wt_scheme *scheme = scheme_of(checkpoint, checkpoint->names[i].name, &at);
        if (scheme != NULL)
            counts[scheme - wt_schemes]++;
    }
    for (size_t i = 1; i < wt_scheme_count; i++)
        if (counts[i] > counts[best])
            best = i;
    for (size_t i = 0; i < wt_scheme_count; i++)
        if (i != best && counts[i] > 0)
            wt_remark(context,
                      "%s: %zu layers in names of %s are left out, beside %zu in names of %s",
                      checkpoint->path, counts[i], wt_schemes[i].name, counts[best],
                      wt_schemes[best].name);
    *out = counts[best] > 0 ? &wt_schemes[best] : NULL;
    return WT_OK;
}

wt_status wt_checkpoint_find_stems(wt_context *context, wt_checkpoint *out) {
    const char *at = NULL;
    const wt_scheme *chosen;
    WT_PASS(choose_scheme(context, out, &chosen));
    out->stems = WT_TAKE(&out->arena, const char *, out->name_count);
    WT_PASS(out->arena.status);
    for (size_t i = 0; i < out->name_count; i++) {
        const char *name = out->names[i].name;
        if (chosen == NULL || scheme_of(out, name, &at) != chosen)
            continue;
        const char *stem = wt_checkpoint_keep(&out->arena, name, (size_t)(at - name));
        WT_PASS(out->arena.status);
        out->stems[out->stem_count++] = stem;
    }
    if (chosen == NULL)
        return refuse_names(context, out, false);
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
        const char *own = wt_checkpoint_keep(&out->arena, at + 2, lead);
        ends[number] = wt_checkpoint_keep(&out->arena, start, (size_t)(at + length - start));
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
    return wt_name_ends(end, ".weight") ? wt_checkpoint_keep(arena, end, length - strlen(".weight"))
                                        : end;
}

/* The stems of layers that have queries of the mapped name, whose end is `tail`. */
static wt_status match_map(wt_checkpoint *out, const char *before, const char *tail) {
    size_t lead = strlen(before), bytes = strlen(out->scheme.query), end = strlen(tail);
    for (size_t i = 0; i < out->name_count; i++) {
        const char *name = out->names[i].name;
        size_t length = strlen(name);
        if (length < lead + bytes + end || strncmp(name, before, lead) != 0 ||
            !wt_name_ends(name, tail))
            continue;
        const char *at = name + length - end - bytes;
        size_t digits = strspn(name + lead, "0123456789");
        if (name + lead + digits != at || strncmp(at, out->scheme.query, bytes) != 0)
            continue;
        const char *stem = wt_checkpoint_keep(&out->arena, name, (size_t)(at - name));
        WT_PASS(out->arena.status);
        out->stems[out->stem_count++] = stem;
    }
    return WT_OK;
}

/* Names of weights may be told with ".weight" or without it, and may have none. */
wt_status wt_checkpoint_map_stems(wt_context *context, wt_checkpoint *out, const char *map) {
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
    WT_PASS(match_map(out, before, ".weight"));
    if (out->stem_count == 0) {
        out->scheme.whole = true;
        WT_PASS(match_map(out, before, ""));
    }
    qsort(out->stems, out->stem_count, sizeof *out->stems, by_number);
    return out->stem_count > 0 ? WT_OK : refuse_names(context, out, true);
}
