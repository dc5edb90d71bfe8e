/* --norms of `wattle bound head|transformer`. */
#include <math.h>
#include <string.h>

#include "bound.h"
#include "wattle/memory.h"
#include "wattle/text.h"

typedef enum { OF_HEAD, OF_LAYER, OF_MODEL } owner;

static const struct {
    const char *name;
    size_t offset;
    owner owner;
    bool deep, lone; /* for which kinds it means something */
} keys[] = {
    {"qk21", offsetof(wt_head_norms, qk21), OF_HEAD, true, true},
    {"qk", offsetof(wt_head_norms, qk), OF_HEAD, true, false},
    {"v21", offsetof(wt_head_norms, v21), OF_HEAD, true, true},
    {"v", offsetof(wt_head_norms, v), OF_HEAD, true, true},
    {"c21", offsetof(wt_head_norms, c21), OF_HEAD, true, false},
    {"c", offsetof(wt_head_norms, c), OF_HEAD, true, false},
    {"sigma", offsetof(wt_layer_norms, sigma), OF_LAYER, true, true},
    {"x", offsetof(wt_model_norms, x), OF_MODEL, true, true},
    {"p", offsetof(wt_model_norms, p), OF_MODEL, true, true},
    {"cls", offsetof(wt_model_norms, cls), OF_MODEL, true, true},
    {"w", offsetof(wt_model_norms, w), OF_MODEL, true, true},
};
enum { KEYS = sizeof keys / sizeof *keys };

static const char *key_at(const void *from, size_t index) {
    (void)from;
    return index < KEYS ? keys[index].name : NULL;
}

/* What a group says so far; the next group starts from it. */
typedef struct {
    wt_head_norms head;
    wt_layer_norms layer; /* sigma alone */
} group;

static wt_status set(wt_context *context, bool deep, char *pair, group *now, wt_model_norms *out) {
    char *equals = strchr(pair, '=');
    double value;
    if (equals != NULL)
        *equals = '\0';
    size_t k = 0;
    while (k < KEYS && strcmp(keys[k].name, pair) != 0)
        k++;
    if (equals == NULL || k == KEYS || !(deep ? keys[k].deep : keys[k].lone)) {
        const char *nearest = k == KEYS ? cli_nearest(pair, key_at, NULL) : NULL;
        return wt_fail(context, WT_USAGE, "--norms: '%s' is no norm of a %s%s%s%s", pair,
                       deep ? "transformer" : "head", nearest != NULL ? "; did you mean " : "",
                       nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
    }
    if (!wt_parse_real(equals + 1, &value) || value < 0)
        return wt_fail(context, WT_USAGE, "--norms: %s must be a number, 0 or more, not '%s'", pair,
                       equals + 1);
    char *const blocks[] = {
        [OF_HEAD] = (char *)&now->head, [OF_LAYER] = (char *)&now->layer, [OF_MODEL] = (char *)out};
    memcpy(blocks[keys[k].owner] + keys[k].offset, &value, sizeof value);
    return WT_OK;
}

/* The group's values at its place: a head, or all heads of a layer. */
static void put(bool deep, size_t index, const group *now, wt_model_norms *out) {
    wt_layer_norms *layer = &out->layer[deep ? index : 0];
    layer->sigma = now->layer.sigma;
    for (size_t h = 0; h < layer->heads; h++)
        if (deep || h == index)
            layer->head[h] = now->head;
}

wt_status cli_parse_norms(wt_context *context, const char *text, bool deep, size_t copies,
                          size_t heads, wt_model_norms *out) {
    char *copy = NULL;
    size_t groups = 1;
    group now = {.head = {NAN, NAN, NAN, NAN, NAN, NAN}, .layer = {.sigma = 1}};
    wt_status status;
    *out = (wt_model_norms){0};
    for (const char *at = text; *at != '\0'; at++)
        groups += *at == '/';
    if (groups > 1 && copies > 1)
        return wt_fail(context, WT_USAGE, "--norms names %zu %s already: --%s makes no sense",
                       groups, deep ? "layers" : "heads", deep ? "depth" : "heads");
    size_t count = groups > 1 ? groups : copies;
    WT_TRY(wt_copy_text(context, &copy, text, "norms"));
    WT_TRY(wt_model_norms_new(context, deep ? count : 1, deep ? heads : count, out));
    if (deep)
        out->w = 1;
    size_t index = 0;
    for (char *rest = copy; rest != NULL; index++) {
        char *end = strchr(rest, '/');
        if (end != NULL)
            *end++ = '\0';
        for (char *pair = rest; pair != NULL;) {
            char *comma = strchr(pair, ',');
            if (comma != NULL)
                *comma++ = '\0';
            WT_TRY(set(context, deep, pair, &now, out));
            pair = comma;
        }
        put(deep, index, &now, out);
        rest = end;
    }
    for (; index < count; index++)
        put(deep, index, &now, out);
done:
    wt_release(copy);
    if (status != WT_OK)
        wt_model_norms_free(out);
    return status;
}
