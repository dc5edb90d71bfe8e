/* Norms by name: "qk21=8,v21=4,v=2/qk21=6". */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "network/model/norms.h"
#include "wattle/text.h"

enum { NORMS = 11 };
static const struct {
    const char *name;
    wt_model_norm norm;
    bool deep, lone; /* for which it means something: transformers, heads alone */
    double fallback;
} table[NORMS] = {
    {"qk21", WT_MODEL_NORM_QK21, true, true, NAN}, {"qk", WT_MODEL_NORM_QK, true, false, NAN},
    {"v21", WT_MODEL_NORM_V21, true, true, NAN},   {"v", WT_MODEL_NORM_V, true, true, NAN},
    {"c21", WT_MODEL_NORM_C21, true, false, NAN},  {"c", WT_MODEL_NORM_C, true, false, NAN},
    {"sigma", WT_MODEL_NORM_SIGMA, true, true, 1}, {"x", WT_MODEL_NORM_X, true, true, 1},
    {"p", WT_MODEL_NORM_P, true, true, 0},         {"cls", WT_MODEL_NORM_CLS, true, true, 1},
    {"w", WT_MODEL_NORM_W, true, true, NAN},
};

const char *wt_model_norm_name(wt_model_norm norm) {
    for (size_t k = 0; k < NORMS; k++)
        if (table[k].norm == norm)
            return table[k].name;
    return "?";
}

/* A name at most two slips away; NULL = none. */
static const char *nearest_to(const char *word) {
    const char *best = NULL;
    size_t least = strlen(word) / 3 + 2;
    for (size_t k = 0; k < NORMS; k++) {
        size_t distance = wt_edit_distance(word, table[k].name);
        if (distance < least) {
            least = distance;
            best = table[k].name;
        }
    }
    return best;
}

/* "qk21=8" into its place among `now` (NORMS). */
static wt_status read_pair(wt_context *context, bool deep, char *pair, double *now) {
    char *equals = strchr(pair, '=');
    if (equals != NULL)
        *equals = '\0';
    size_t k = 0;
    while (k < NORMS && strcmp(table[k].name, pair) != 0)
        k++;
    if (equals == NULL || k == NORMS || !(deep ? table[k].deep : table[k].lone)) {
        const char *nearest = k == NORMS ? nearest_to(pair) : NULL;
        return wt_fail(context, WT_USAGE, "norms: '%s' is no norm of a %s%s%s%s", pair,
                       deep ? "transformer" : "head", nearest != NULL ? "; did you mean " : "",
                       nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
    }
    if (!wt_real_parse(equals + 1, &now[k]) || now[k] < 0)
        return wt_fail(context, WT_USAGE, "norms: %s must be a number, 0 or more, not '%s'", pair,
                       equals + 1);
    return WT_OK;
}

/* A group's values at its place: a head, or all heads of a layer. */
static wt_status put(wt_context *context, bool deep, size_t index, const double *now,
                     wt_model_norms *out) {
    for (size_t h = 0; h < wt_model_norms_heads(out); h++)
        for (size_t k = 0; k < NORMS && (deep || h == index); k++)
            WT_PASS(wt_model_norms_set(context, out, table[k].norm, deep ? index : 0, h, now[k]));
    return WT_OK;
}

static wt_status read_groups(wt_context *context, char *text, bool deep, size_t count,
                             wt_model_norms *out) {
    double now[NORMS]; /* what was said so far: the next group starts from it */
    for (size_t k = 0; k < NORMS; k++)
        now[k] = deep && table[k].norm == WT_MODEL_NORM_W ? 1 : table[k].fallback;
    for (size_t index = 0; index < count; index++) {
        char *end = text == NULL ? NULL : strchr(text, '/');
        if (end != NULL)
            *end++ = '\0';
        for (char *pair = text; pair != NULL;) {
            char *comma = strchr(pair, ',');
            if (comma != NULL)
                *comma++ = '\0';
            WT_PASS(read_pair(context, deep, pair, now));
            pair = comma;
        }
        WT_PASS(put(context, deep, index, now, out));
        text = end;
    }
    return WT_OK;
}

wt_status wt_model_norms_parse(wt_context *context, const char *text, bool deep, size_t copies,
                               size_t heads, wt_model_norms **out) {
    char *copy = NULL;
    size_t groups = 1;
    wt_status status;
    *out = NULL;
    for (const char *at = text; *at != '\0'; at++)
        groups += *at == '/';
    if (groups > 1 && copies > 1)
        return wt_fail(context, WT_USAGE, "norms: %zu %s are named already: %s makes no sense",
                       groups, deep ? "layers" : "heads", deep ? "depth" : "heads");
    size_t count = groups > 1 ? groups : copies;
    WT_TRY(wt_copy_text(context, &copy, text, "norms"));
    WT_TRY(wt_model_norms_new(context, deep ? count : 1, deep ? heads : count, out));
    WT_TRY(read_groups(context, copy, deep, count, *out));
done:
    wt_release(copy);
    if (status != WT_OK) {
        wt_model_norms_free(*out);
        *out = NULL;
    }
    return status;
}
