/* The matrices of a network that norms are taken of, by name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "network/learn/trainer.h"

static bool is_kind(const wt_trainer *trainer, const char *kind) {
    return strcmp(wt_network_get_spec(trainer->network)->kind, kind) == 0;
}

static const wt_network_tensor *find(const wt_trainer *trainer, const char *name) {
    const wt_network_tensor *tensors = trainer->network->tensors;
    for (size_t i = 0; i < trainer->network->tensor_count; i++)
        if (strcmp(tensors[i].name, name) == 0)
            return &tensors[i];
    return NULL;
}

/* Short names of whole tensors. */
static const struct {
    const char *kind, *name, *tensor;
} aliases[] = {
    {"head", "qk", "w_qk"},        {"head", "v", "w_v"},
    {"transformer", "o", "wo"},    {"transformer", "mlp1", "w1"},
    {"transformer", "mlp2", "w2"}, {"transformer", "readout", "head"},
};
enum { ALIASES = sizeof aliases / sizeof *aliases };

static const char *full_name(const wt_trainer *trainer, const char *name) {
    for (size_t i = 0; i < ALIASES; i++)
        if (is_kind(trainer, aliases[i].kind) && strcmp(aliases[i].name, name) == 0)
            return aliases[i].tensor;
    return name;
}

static bool by_head(const wt_trainer *trainer, const char *name) {
    return is_kind(trainer, "transformer") && (strcmp(name, "qk") == 0 || strcmp(name, "v") == 0);
}

size_t wt_train_matrix_count(const wt_trainer *trainer, const char *name) {
    if (by_head(trainer, name))
        return wt_network_get_spec(trainer->network)->heads;
    return find(trainer, full_name(trainer, name)) == NULL ? 0 : 1;
}

/* One head's part of the transformer: columns of wv, or the product of those of wq and wk. */
static wt_train_matrix head_at(const wt_trainer *trainer, const char *name, size_t head) {
    const wt_network_spec *spec = wt_network_get_spec(trainer->network);
    size_t width = spec->dim / spec->heads;
    bool product = strcmp(name, "qk") == 0;
    wt_train_matrix out = {.product = product,
                           .transposed = product,
                           .rows = spec->dim,
                           .columns = product ? spec->dim : width,
                           .stride = spec->dim,
                           .width = width};
    snprintf(out.name, sizeof out.name, "%.16s.%zu", name, head);
    out.offset = find(trainer, product ? "wq" : "wv")->offset + head * width;
    if (product)
        out.other = find(trainer, "wk")->offset + head * width;
    return out;
}

wt_train_matrix wt_train_matrix_at(const wt_trainer *trainer, const char *name, size_t index) {
    if (by_head(trainer, name))
        return head_at(trainer, name, index);
    const wt_network_tensor *tensor = find(trainer, full_name(trainer, name));
    /* A vector is one column, so that its (2,1) norm is its length. */
    wt_train_matrix out = {.rows = tensor->vector ? tensor->columns : tensor->rows,
                           .columns = tensor->vector ? 1 : tensor->columns,
                           .stride = tensor->vector ? 1 : tensor->columns,
                           .offset = tensor->offset};
    out.transposed = strcmp(tensor->name, "w_qk") == 0;
    if (out.transposed) { /* as taken: the transpose */
        out.rows = tensor->columns;
        out.columns = tensor->rows;
    }
    snprintf(out.name, sizeof out.name, "%s", tensor->name);
    return out;
}

/* out = transposed ? part^T : part, for a part with the matrix's shape or its transpose's. */
static void load_part(const float *from, const wt_train_matrix *matrix, double *out) {
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t j = 0; j < matrix->columns; j++)
            out[i * matrix->columns + j] =
                (double)(matrix->transposed ? from[j * matrix->stride + i]
                                            : from[i * matrix->stride + j]);
}

/* W_Q and W_K of a head, both (rows, width). */
static void load_factor(const float *from, const wt_train_matrix *matrix, double *out) {
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t j = 0; j < matrix->width; j++)
            out[i * matrix->width + j] = (double)from[i * matrix->stride + j];
}

/* The transpose of W_Q W_K^T / sqrt(width): (W_K / sqrt(width)) W_Q^T. */
static wt_status load_product(wt_context *context, const wt_trainer *trainer,
                              const wt_train_matrix *matrix, double *out) {
    size_t d = matrix->rows, width = matrix->width;
    wt_arena arena = wt_arena_start(context, "the factors of a head");
    double *query = WT_TAKE(&arena, double, d, width), *key = WT_TAKE(&arena, double, d, width);
    wt_status status;
    WT_TRY(arena.status);
    load_factor(trainer->parameters + matrix->offset, matrix, query);
    load_factor(trainer->parameters + matrix->other, matrix, key);
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, d, d, width, 1 / sqrt((double)width), key,
                   width, query, width, 0, out, d));
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_train_matrix_load(wt_context *context, const wt_trainer *trainer,
                               const wt_train_matrix *matrix, double *out) {
    if (matrix->product)
        return load_product(context, trainer, matrix, out);
    load_part(trainer->parameters + matrix->offset, matrix, out);
    return WT_OK;
}

/* W_Q with (W_K / sqrt(width)) W_Q^T = values, by least squares: exact, for a projection onto any
 * of our balls leaves the columns of the product in the span of W_K's. */
static wt_status store_product(wt_context *context, wt_trainer *trainer,
                               const wt_train_matrix *matrix, const double *values) {
    size_t d = matrix->rows, width = matrix->width, rank;
    wt_arena arena = wt_arena_start(context, "the factors of a head");
    double *key = WT_TAKE(&arena, double, d, width), *query = WT_TAKE(&arena, double, width, d);
    wt_status status;
    WT_TRY(arena.status);
    load_factor(trainer->parameters + matrix->other, matrix, key);
    for (size_t i = 0; i < d * width; i++)
        key[i] /= sqrt((double)width);
    WT_TRY(wt_least_squares(context, d, width, d, key, width, values, d, -1, query, d, &rank));
    float *out = trainer->parameters + matrix->offset;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < width; j++)
            out[i * matrix->stride + j] = (float)query[j * d + i];
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_train_matrix_store(wt_context *context, wt_trainer *trainer,
                                const wt_train_matrix *matrix, const double *values) {
    if (matrix->product)
        return store_product(context, trainer, matrix, values);
    float *out = trainer->parameters + matrix->offset;
    for (size_t i = 0; i < matrix->rows; i++)
        for (size_t j = 0; j < matrix->columns; j++)
            *(matrix->transposed ? &out[j * matrix->stride + i] : &out[i * matrix->stride + j]) =
                (float)values[i * matrix->columns + j];
    return WT_OK;
}
