/* Constructions in .safetensors files of kind `head`. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/tensor.h"
#include "network/model/construction.h"
#include "wattle/io.h"
#include "wattle/text.h"

#define FORMAT_VERSION "1"

enum {
    NUMBER_BYTES = 32,
    METADATA = 8,
    MOST_TENSORS = 12,
    FUNCTION_BYTES = (1 << WT_BOOLEAN_MAX_BITS) + 16,
    LIST_BYTES = 24 * WT_BOOLEAN_MAX_BITS,
};

/* ---- writing ---- */

/* "symmetric:0001" where that says it all, else "table:.." */
static void spell_function(const wt_boolean *function, char *out) {
    size_t rows = (size_t)1 << function->bits,
           count = function->symmetric ? function->bits + 1 : rows;
    size_t used = (size_t)snprintf(out, 16, "%s", function->symmetric ? "symmetric:" : "table:");
    for (size_t i = 0; i < count; i++)
        out[used++] = (char)('0' + function->value[function->symmetric ? ((size_t)1 << i) - 1 : i]);
    out[used] = '\0';
}

static void spell_relevant(const wt_construction *of, char *out) {
    size_t used = 0;
    for (size_t j = 0; j < of->function->bits; j++)
        used += (size_t)snprintf(out + used, LIST_BYTES - used, "%s%zu", j > 0 ? "," : "",
                                 of->relevant[j]);
}

/* Unit vectors as they stand in the file. */
static const double *spread(wt_arena *arena, const wt_construction *of) {
    double *out = WT_TAKE_ZERO(arena, double, of->length, of->dim);
    for (size_t t = 0; out != NULL && t < of->length; t++)
        out[t * of->dim + t] = 1;
    return out;
}

static size_t list_tensors(const wt_construction *of, const double *position,
                           wt_tensor out[MOST_TENSORS]) {
    size_t h = of->heads, d = of->dim, one = of->width1, two = of->width2, count = 0;
    const wt_tensor all[] = {
        {.name = "w_q", .rank = 3, .shape = {h, d, 1}, .values = of->w_q},
        {.name = "w_k", .rank = 3, .shape = {h, d, 1}, .values = of->w_k},
        {.name = "w_v", .rank = 3, .shape = {h, d, 1}, .values = of->w_v},
        {.name = "positions", .rank = 2, .shape = {of->length, d}, .values = position},
        {.name = "symbols", .rank = 2, .shape = {2, d}, .values = of->symbol},
        {.name = "cls", .rank = 1, .shape = {d}, .values = of->cls},
        {.name = "w1", .rank = 2, .shape = {h, one}, .values = of->w1},
        {.name = "b1", .rank = 1, .shape = {one}, .values = of->b1},
        {.name = "w2", .rank = 2, .shape = {one, two}, .values = of->w2},
        {.name = "b2", .rank = 1, .shape = {two}, .values = of->b2},
        {.name = "w3", .rank = 2, .shape = {two, 1}, .values = of->w3},
        {.name = "b3", .rank = 1, .shape = {1}, .values = of->b3}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].values != NULL) /* a bag has no symbols */
            out[count++] = all[i];
    return count;
}

wt_status wt_construction_save(wt_context *context, const wt_construction *construction,
                               const char *path) {
    wt_arena arena = wt_arena_start(context, "the file of a construction");
    char *function = WT_TAKE(&arena, char, FUNCTION_BYTES);
    const double *position =
        construction->position == NULL ? spread(&arena, construction) : construction->position;
    char relevant[LIST_BYTES], gap[NUMBER_BYTES], strength[NUMBER_BYTES], overlap[NUMBER_BYTES];
    wt_tensor tensors[MOST_TENSORS];
    wt_status status;
    WT_TRY(arena.status);
    spell_function(construction->function, function);
    spell_relevant(construction, relevant);
    snprintf(gap, sizeof gap, "%.17g", construction->gap);
    snprintf(strength, sizeof strength, "%.17g", construction->strength);
    snprintf(overlap, sizeof overlap, "%.17g", construction->overlap);
    const wt_metadata metadata[METADATA] = {{"wattle", FORMAT_VERSION},
                                            {"kind", "head"},
                                            {"function", function},
                                            {"relevant", relevant},
                                            {"tokens", construction->bag ? "bag" : "sum"},
                                            {"gap", gap},
                                            {"strength", strength},
                                            {"overlap", overlap}};
    size_t count = list_tensors(construction, position, tensors);
    WT_TRY(wt_safetensors_write(context, path, tensors, count, metadata, METADATA));
done:
    wt_arena_free(&arena);
    return status;
}

/* ---- reading ---- */

static wt_status no_construction(wt_context *context, const wt_file *file, const char *why) {
    return wt_fail(context, WT_DATA, "%s is no construction: %s", wt_file_path(file), why);
}

static wt_status read_real(wt_context *context, const wt_file *file, const char *key, double *out) {
    const char *text = wt_file_metadata(file, key);
    if (text == NULL || !wt_real_parse(text, out))
        return wt_fail(context, WT_DATA, "%s is no construction: its metadata has no number '%s'",
                       wt_file_path(file), key);
    return WT_OK;
}

static wt_status read_relevant(wt_context *context, const wt_file *file, wt_construction *out) {
    const char *text = wt_file_metadata(file, "relevant");
    size_t s = out->function->bits;
    wt_grid grid = {0};
    wt_status status = WT_OK;
    if (text == NULL || wt_grid_parse_integers(context, text, &grid) != WT_OK || grid.count != s) {
        status = no_construction(context, file, "its metadata has no s relevant positions");
        goto done;
    }
    for (size_t j = 0; j < s; j++) {
        bool again = false;
        for (size_t i = 0; i < j; i++)
            again |= grid.values[i] == grid.values[j];
        if (again || grid.values[j] < 0 || grid.values[j] >= (double)out->length) {
            status = no_construction(context, file,
                                     "its relevant positions are not different ones of its length");
            goto done;
        }
        out->relevant[j] = (size_t)grid.values[j];
    }
done:
    wt_grid_free(&grid);
    return status;
}

/* The array with this shape into a new block. */
static wt_status read_array(wt_arena *arena, const wt_file *file, const char *name, size_t rank,
                            const size_t *shape, double **out) {
    wt_context *context = arena->context;
    const wt_array *array = wt_file_find(file, name);
    if (array == NULL || array->rank != rank ||
        memcmp(array->shape, shape, rank * sizeof *shape) != 0) {
        char why[64 + NUMBER_BYTES + WT_SHAPE_TEXT], wanted[WT_SHAPE_TEXT];
        snprintf(why, sizeof why, "array '%s' is missing or of another shape: %s is expected", name,
                 wt_shape_format(rank, shape, wanted));
        return no_construction(context, file, why);
    }
    *out = WT_TAKE(arena, double, array->count);
    WT_PASS(arena->status);
    WT_PASS(wt_file_read(context, file, array, *out));
    if (wt_values_check_finite(context, name, *out, rank, shape) != WT_OK)
        return wt_fail(context, WT_DATA, "%s: %s", wt_file_path(file), wt_context_message(context));
    return WT_OK;
}

static wt_status read_arrays(const wt_file *file, wt_construction *out) {
    size_t h = out->heads, d = out->dim, one = out->width1, two = out->width2;
    const struct {
        const char *name;
        size_t rank, shape[3];
        double **block;
    } arrays[] = {
        {"w_q", 3, {h, d, 1}, &out->w_q}, {"w_k", 3, {h, d, 1}, &out->w_k},
        {"w_v", 3, {h, d, 1}, &out->w_v}, {"positions", 2, {out->length, d}, &out->position},
        {"cls", 1, {d}, &out->cls},       {"w1", 2, {h, one}, &out->w1},
        {"b1", 1, {one}, &out->b1},       {"w2", 2, {one, two}, &out->w2},
        {"b2", 1, {two}, &out->b2},       {"w3", 2, {two, 1}, &out->w3},
        {"b3", 1, {1}, &out->b3},         {"symbols", 2, {2, d}, &out->symbol}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (arrays[i].block != &out->symbol || !out->bag)
            WT_PASS(read_array(&out->arena, file, arrays[i].name, arrays[i].rank, arrays[i].shape,
                               arrays[i].block));
    return WT_OK;
}

/* Sizes come from the arrays themselves; read_arrays holds the others against them. */
static wt_status read_sizes(wt_context *context, const wt_file *file, wt_construction *out) {
    const wt_array *position = wt_file_find(file, "positions"), *w_q = wt_file_find(file, "w_q"),
                   *w2 = wt_file_find(file, "w2");
    if (position == NULL || position->rank != 2 || w_q == NULL || w_q->rank != 3 || w2 == NULL ||
        w2->rank != 2 || position->count == 0 || w_q->count == 0 || w2->count == 0)
        return no_construction(context, file,
                               "it needs arrays 'positions' (T,d), 'w_q' (heads,d,1) and 'w2'");
    out->length = position->shape[0];
    out->dim = position->shape[1];
    out->heads = w_q->shape[0];
    out->width1 = w2->shape[0];
    out->width2 = w2->shape[1];
    return WT_OK;
}

static wt_status read_words(wt_context *context, const wt_file *file, wt_construction *out) {
    const char *kind = wt_file_metadata(file, "kind"), *tokens = wt_file_metadata(file, "tokens");
    const char *function = wt_file_metadata(file, "function");
    if (kind == NULL || strcmp(kind, "head") != 0)
        return no_construction(context, file, "its kind is not 'head'");
    if (function == NULL || wt_boolean_new(context, function, &out->function) != WT_OK)
        return no_construction(context, file, "its metadata has no function");
    if (tokens == NULL || (strcmp(tokens, "bag") != 0 && strcmp(tokens, "sum") != 0))
        return no_construction(context, file, "its tokens are neither 'sum' nor 'bag'");
    out->bag = strcmp(tokens, "bag") == 0;
    if (out->heads != out->function->bits && !(out->heads == 1 && out->function->symmetric))
        return no_construction(context, file, "its heads do not fit its function");
    WT_PASS(read_relevant(context, file, out));
    out->gap = wt_construction_gap(out); /* the promise is not the file's to make */
    WT_PASS(read_real(context, file, "strength", &out->strength));
    return read_real(context, file, "overlap", &out->overlap);
}

wt_status wt_construction_load(wt_context *context, const char *path, wt_construction **out) {
    wt_construction *construction = NULL;
    wt_file *file = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(wt_construction_room(context, &construction));
    WT_TRY(read_sizes(context, file, construction));
    WT_TRY(read_words(context, file, construction));
    WT_TRY(read_arrays(file, construction));
    *out = construction;
    construction = NULL;
done:
    wt_file_free(file);
    wt_construction_free(construction);
    return status;
}
