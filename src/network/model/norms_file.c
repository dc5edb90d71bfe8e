/* Norms of the weights in files of kind `head` and `transformer`. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "network/model/norms.h"
#include "wattle/io.h"

typedef struct {
    wt_context *context;
    wt_file *file;
    wt_arena arena;   /* of what is read */
    const char *what; /* "a head" */
} reader;

typedef struct {
    size_t count, rows, columns; /* matrices, each of that shape */
    double *values;
} stack;

static wt_status refuse(reader *of, const char *why, const char *name) {
    return wt_fail(of->context, WT_DATA, "%s is not %s: array '%s' %s", wt_file_path(of->file),
                   of->what, name, why);
}

/* A vector as one row, a matrix, or a stack of matrices: the array of "w_v (heads,d,p)". */
static wt_status read_stack(reader *of, const char *wanted, stack *out) {
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(wanted, " "), wanted);
    const wt_array *array = wt_file_find(of->file, name);
    if (array == NULL)
        return wt_fail(of->context, WT_DATA, "%s is not %s: array '%s' is missing: %s is expected",
                       wt_file_path(of->file), of->what, name, wanted);
    if (array->rank == 0 || array->rank > 3 || array->count == 0)
        return refuse(of, "has no matrix", name);
    out->columns = array->shape[array->rank - 1];
    out->rows = array->rank > 1 ? array->shape[array->rank - 2] : 1;
    out->count = array->rank > 2 ? array->shape[0] : 1;
    out->values = WT_TAKE(&of->arena, double, array->count);
    WT_PASS(of->arena.status);
    WT_PASS(wt_file_read(of->context, of->file, array, out->values));
    if (wt_values_check_finite(of->context, name, out->values, array->rank, array->shape) != WT_OK)
        return wt_fail(of->context, WT_DATA, "%s: %s", wt_file_path(of->file),
                       wt_context_message(of->context));
    return WT_OK;
}

static wt_status read_shaped(reader *of, const char *name, size_t count, size_t rows,
                             size_t columns, stack *out) {
    char wanted[160];
    if (columns == 0)
        snprintf(wanted, sizeof wanted, "%s (%zu,%zu,k)", name, count, rows);
    else
        snprintf(wanted, sizeof wanted, "%s (%zu,%zu,%zu)", name, count, rows, columns);
    wt_status status = read_stack(of, wanted, out);
    if (status == WT_OK && columns == 0) /* any number of them */
        columns = out->columns;
    if (status == WT_OK && (out->count != count || out->rows != rows || out->columns != columns))
        status = wt_fail(of->context, WT_DATA,
                         "%s is not %s: array '%s' is %zu x %zu x %zu, not %zu x %zu x %zu",
                         wt_file_path(of->file), of->what, name, out->count, out->rows,
                         out->columns, count, rows, columns);
    return status;
}

static const double *matrix_at(const stack *of, size_t index) {
    return of->values + index * of->rows * of->columns;
}

/* Opens the file, which must not be of another kind, and has it measured. */
static wt_status load(wt_context *context, const char *path, const char *kind, const char *what,
                      wt_status (*measure)(reader *of, size_t heads, wt_model_norms **out),
                      size_t heads, wt_model_norms **out) {
    reader of = {.context = context, .arena = wt_arena_start(context, what), .what = what};
    wt_model_norms *norms = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_file_open(context, path, &of.file));
    const char *said = wt_file_metadata(of.file, "kind");
    if (said != NULL && strcmp(said, kind) != 0) {
        status = wt_fail(context, WT_DATA, "%s is not %s: its kind is '%s'", path, what, said);
        goto done;
    }
    WT_TRY(measure(&of, heads, &norms));
    *out = norms;
    norms = NULL;
done:
    wt_file_free(of.file);
    wt_arena_free(&of.arena);
    wt_model_norms_free(norms);
    return status;
}

/* ---- heads ---- */

/* The largest slope of gelu is that at sqrt(2); those of the others are 1. */
static double activation_slope(reader *of) {
    const char *name = wt_file_metadata(of->file, "activation");
    return name != NULL && strcmp(name, "gelu") == 0 ? 0.5 * erfc(-1) + exp(-1) / sqrt(acos(-1))
                                                     : 1;
}

static wt_status measure_products(reader *of, size_t dim, wt_model_norms *out) {
    stack square, query, key;
    if (wt_file_find(of->file, "w_qk") != NULL) {
        WT_PASS(read_shaped(of, "w_qk", out->heads, dim, dim, &square));
        for (size_t h = 0; h < out->heads; h++)
            WT_PASS(wt_norms_square(of->context, dim, matrix_at(&square, h), &out->head[h]));
        return WT_OK;
    }
    WT_PASS(read_shaped(of, "w_q", out->heads, dim, 0, &query));
    WT_PASS(read_shaped(of, "w_k", out->heads, dim, query.columns, &key));
    for (size_t h = 0; h < out->heads; h++)
        WT_PASS(wt_norms_product(of->context, dim, query.columns, matrix_at(&query, h),
                                 query.columns, matrix_at(&key, h), key.columns, 1, &out->head[h]));
    return WT_OK;
}

/* The largest |v_t + e_b|, or |v_t| where there are no symbols. */
static wt_status measure_tokens(reader *of, size_t dim, wt_model_norms *out) {
    stack position, symbol, cls;
    wt_status status;
    WT_TRY(read_stack(of, "positions (T,d)", &position));
    if (position.columns != dim || position.count != 1) {
        status = refuse(of, "does not fit 'w_v'", "positions");
        goto done;
    }
    bool marked = wt_file_find(of->file, "symbols") != NULL;
    if (marked)
        WT_TRY(read_shaped(of, "symbols", 1, 2, dim, &symbol));
    WT_TRY(read_shaped(of, "cls", 1, 1, dim, &cls));
    out->length = position.rows;
    out->cls = out->x = wt_length_of(dim, cls.values);
    for (size_t t = 0; t < position.rows; t++)
        for (size_t b = 0; b < (marked ? 2 : 1); b++) {
            double square = 0;
            for (size_t i = 0; i < dim; i++) {
                double x = position.values[t * dim + i] + (marked ? symbol.values[b * dim + i] : 0);
                square += x * x;
            }
            out->x = fmax(out->x, sqrt(square));
        }
done:
    return status;
}

static wt_status measure_readout(reader *of, wt_model_norms *out) {
    stack w;
    if (wt_file_find(of->file, "w") != NULL) {
        WT_PASS(read_stack(of, "w (p)", &w));
        out->w = wt_length_of(w.count * w.rows * w.columns, w.values);
    }
    return WT_OK;
}

static wt_status measure_head(reader *of, size_t heads, wt_model_norms **norms) {
    stack value;
    (void)heads; /* w_v tells */
    WT_PASS(read_stack(of, "w_v (heads,d,p)", &value));
    WT_PASS(wt_model_norms_new(of->context, 1, value.count, norms));
    wt_model_norms *out = *norms;
    out->dim = value.rows;
    out->sigma[0] = activation_slope(of);
    for (size_t h = 0; h < out->heads; h++)
        WT_PASS(wt_norms_pair(of->context, value.rows, value.columns, matrix_at(&value, h),
                              value.columns, &out->head[h].v21, &out->head[h].v));
    WT_PASS(measure_products(of, out->dim, out));
    WT_PASS(measure_tokens(of, out->dim, out));
    return measure_readout(of, out);
}

wt_status wt_model_norms_load_head(wt_context *context, const char *path, wt_model_norms **out) {
    static const char *const outside[] = {"a network on top of the heads, where the file has one",
                                          NULL};
    WT_PASS(load(context, path, "head", "a head", measure_head, 0, out));
    (*out)->outside = outside;
    return WT_OK;
}

/* ---- transformers ---- */

static wt_status count_heads(reader *of, size_t dim, size_t *heads) {
    const char *text = wt_file_metadata(of->file, "heads");
    uint64_t said = 0;
    if (*heads == 0 && text != NULL && wt_unsigned_parse(text, &said))
        *heads = (size_t)said;
    if (*heads == 0)
        return wt_fail(of->context, WT_USAGE, "%s does not say how many heads it has",
                       wt_file_path(of->file));
    if (dim % *heads != 0)
        return wt_fail(of->context, WT_USAGE, "%zu heads do not divide the dimension %zu of %s",
                       *heads, dim, wt_file_path(of->file));
    return WT_OK;
}

/* Head h has columns h width .. of wq, wk and wv, and the same rows of wo. */
static wt_status measure_block(reader *of, size_t dim, wt_model_norms *out) {
    stack wq, wk, wv, wo;
    size_t width = dim / out->heads;
    WT_PASS(read_shaped(of, "wq", 1, dim, dim, &wq));
    WT_PASS(read_shaped(of, "wk", 1, dim, dim, &wk));
    WT_PASS(read_shaped(of, "wv", 1, dim, dim, &wv));
    WT_PASS(read_shaped(of, "wo", 1, dim, dim, &wo));
    for (size_t h = 0; h < out->heads; h++) {
        wt_head_norms *head = &out->head[h];
        size_t first = h * width;
        WT_PASS(wt_norms_product(of->context, dim, width, wq.values + first, dim, wk.values + first,
                                 dim, 1 / sqrt((double)width), head));
        WT_PASS(
            wt_norms_pair(of->context, dim, width, wv.values + first, dim, &head->v21, &head->v));
        WT_PASS(wt_norms_pair(of->context, width, dim, wo.values + first * dim, dim, &head->c21,
                              &head->c));
    }
    return WT_OK;
}

/* A layer norm answers (normalised x) g + b with |normalised x| <= sqrt(d). */
static wt_status measure_ends(reader *of, size_t dim, wt_model_norms *out) {
    stack gain, shift, head;
    double most = 0, square = 0;
    WT_PASS(read_shaped(of, "ln1_g", 1, 1, dim, &gain));
    WT_PASS(read_shaped(of, "ln1_b", 1, 1, dim, &shift));
    WT_PASS(read_shaped(of, "head", 1, dim, 2, &head));
    for (size_t i = 0; i < dim; i++) {
        double difference = head.values[2 * i + 1] - head.values[2 * i];
        most = fmax(most, fabs(gain.values[i]));
        square += difference * difference;
    }
    out->x = out->cls = sqrt((double)dim) * most + wt_length_of(dim, shift.values);
    out->w = sqrt(square);
    return WT_OK;
}

static wt_status measure_transformer(reader *of, size_t heads, wt_model_norms **norms) {
    stack position;
    WT_PASS(read_stack(of, "pos_emb (T,d)", &position));
    size_t dim = position.columns;
    WT_PASS(count_heads(of, dim, &heads));
    WT_PASS(wt_model_norms_new(of->context, 1, heads, norms));
    (*norms)->dim = dim;
    (*norms)->length = position.rows - 1; /* the last is that of [CLS] */
    WT_PASS(measure_block(of, dim, *norms));
    return measure_ends(of, dim, *norms);
}

wt_status wt_model_norms_load_transformer(wt_context *context, const char *path, size_t heads,
                                          wt_model_norms **out) {
    static const char *const outside[] = {"the MLP and its layer norm", "the residual connections",
                                          "the final layer norm",
                                          "the biases of queries, keys and values", NULL};
    WT_PASS(load(context, path, "transformer", "a transformer", measure_transformer, heads, out));
    (*out)->outside = outside;
    return WT_OK;
}
