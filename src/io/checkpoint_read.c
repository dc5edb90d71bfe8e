/* The tensors of one layer, as matrices that act from the right. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "io/checkpoint.h"
#include "io/types.h"
#include "wattle/text.h"

enum { NAME = 512 };

/* The reading of one layer. */
typedef struct {
    wt_context *context;
    wt_checkpoint *checkpoint;
    const wt_scheme *scheme;
    const char *stem;
    wt_told told;
    wt_attention_tensors *out;
} reading;

/* Where the numbers of a tensor go as they are read: (rows, columns) as stored, turned where the
 * scheme has weights (out, in). */
typedef struct {
    wt_context *context;
    const char *what;
    size_t rows, columns, at;
    bool turned;
    double *out;
} placing;

static wt_status place(void *user, const double *values, size_t count) {
    placing *to = user;
    for (size_t i = 0; i < count; i++, to->at++) {
        size_t row = to->at / to->columns, column = to->at % to->columns;
        if (!isfinite(values[i]))
            return wt_fail(to->context, WT_DATA, "%s: number %zu of row %zu, as stored, is %g",
                           to->what, column, row, values[i]);
        to->out[to->turned ? column * to->rows + row : to->at] = values[i];
    }
    return WT_OK;
}

/* The tensor stem + end + tail, of the given rank, read and finite; *out NULL when there is none.
 * Values go to their places one by one: a layer is in memory once. */
static wt_status read_tensor(const reading *job, const char *end, const char *tail, size_t rank,
                             size_t *shape, double **out) {
    const wt_file *file;
    const wt_array *array;
    char name[NAME], what[NAME + WT_QUOTED_BYTES + 2], shown[WT_QUOTED_BYTES];
    *out = NULL;
    if (!wt_scheme_spell(job->scheme, job->stem, end, tail, name, sizeof name))
        return WT_OK;
    WT_PASS(wt_checkpoint_find(job->context, job->checkpoint, name, &file, &array));
    if (array == NULL)
        return WT_OK;
    wt_quote(wt_file_path(file), shown, sizeof shown);
    if (array->rank != rank || array->count == 0)
        return wt_fail(job->context, WT_DATA, "%s: %s has %zu dimensions and %zu numbers, not a %s",
                       shown, name, array->rank, array->count, rank == 1 ? "vector" : "matrix");
    if (array->type > WT_TYPE_BF16)
        return wt_fail(job->context, WT_DATA, "%s: %s has whole numbers (%s), which are no weights",
                       shown, name, wt_type_name(array->type));
    memcpy(shape, array->shape, rank * sizeof *shape);
    snprintf(what, sizeof what, "%s: %s", shown, name);
    double *values = WT_TAKE(&job->out->arena, double, array->count);
    WT_PASS(job->out->arena.status);
    size_t first = rank == 1 ? 1 : shape[0], second = shape[rank - 1];
    /* a transposed array is stored as its transpose is */
    placing to = {.context = job->context,
                  .what = what,
                  .rows = array->fortran ? second : first,
                  .columns = array->fortran ? first : second,
                  .turned = rank == 2 && array->fortran == job->scheme->columns,
                  .out = values};
    WT_PASS(wt_file_walk(job->context, file, array, place, &to));
    job->out->rounding = fmax(job->out->rounding, wt_type_rounding(array->type));
    *out = values;
    return WT_OK;
}

/* A weight as (in, out); it must be there. */
static wt_status read_weight(const reading *job, const char *end, const char *tail, size_t *in,
                             size_t *out_side, double **out) {
    size_t shape[2] = {0};
    *in = *out_side = 0;
    WT_PASS(read_tensor(job, end, tail, 2, shape, out));
    if (*out == NULL)
        return wt_fail(job->context, WT_DATA, "%s has no tensor %s%s%s", job->checkpoint->path,
                       job->stem, end, tail);
    *in = shape[job->scheme->columns ? 0 : 1];
    *out_side = shape[job->scheme->columns ? 1 : 0];
    return WT_OK;
}

/* A bias of so many numbers; NULL when there is none. */
static wt_status read_bias(const reading *job, const char *end, const char *tail, size_t count,
                           double **out) {
    size_t shape[1] = {0};
    WT_PASS(read_tensor(job, end, tail, 1, shape, out));
    if (*out != NULL && shape[0] != count)
        return wt_fail(job->context, WT_DATA, "%s: %s%s%s has %zu numbers, not %zu",
                       job->checkpoint->path, job->stem, end, tail, shape[0], count);
    return WT_OK;
}

/* Columns of the fused matrix that are part `third` of it, (rows, columns / 3). */
static wt_status take_third(const reading *job, size_t rows, size_t columns, const double *fused,
                            size_t third, double **out) {
    size_t each = columns / 3, width = job->out->width;
    *out = WT_TAKE(&job->out->arena, double, rows, each);
    WT_PASS(job->out->arena.status);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < each; j++) {
            size_t from = job->scheme->fusion == WT_FUSION_THIRDS
                              ? third * each + j
                              : j / width * 3 * width + third * width + j % width;
            (*out)[i * each + j] = fused[i * columns + from];
        }
    return WT_OK;
}

/* m, g and r from what was told and the columns of queries and keys. */
static wt_status divide(const reading *job, size_t queries, size_t keys) {
    const wt_checkpoint *checkpoint = job->checkpoint;
    wt_attention_tensors *out = job->out;
    const wt_told *told = &job->told;
    size_t heads = told->heads, width = told->width;
    if (heads == 0 && width > 0 && queries % width == 0)
        heads = queries / width;
    if (heads == 0)
        return wt_fail(job->context, WT_DATA,
                       "%s: neither a config.json beside it nor its metadata tells the number of "
                       "heads: --heads M",
                       checkpoint->path);
    if (queries % heads != 0)
        return wt_fail(job->context, WT_DATA,
                       "%s: the %zu columns of queries of %s do not divide among %zu heads",
                       checkpoint->path, queries, job->stem, heads);
    out->heads = heads;
    out->width = queries / heads;
    if (width > 0 && width != out->width)
        return wt_fail(job->context, WT_DATA,
                       "%s: its config says that heads have width %zu, but %zu columns of queries "
                       "of %s make %zu heads of width %zu",
                       checkpoint->path, width, queries, job->stem, heads, out->width);
    if (keys % out->width != 0 || keys == 0 || heads % (keys / out->width) != 0)
        return wt_fail(job->context, WT_DATA,
                       "%s: %zu columns of keys of %s do not fit %zu heads of width %zu",
                       checkpoint->path, keys, job->stem, heads, out->width);
    out->key_heads = keys / out->width;
    if (told->key_heads > 0 && told->key_heads != out->key_heads)
        return wt_fail(
            job->context, WT_DATA,
            "%s: its config says %zu key-value heads, but %s has columns of keys for %zu",
            checkpoint->path, told->key_heads, job->stem, out->key_heads);
    return WT_OK;
}

static bool has_bias(const reading *job, const char *end, const char *tail) {
    const wt_checkpoint *checkpoint = job->checkpoint;
    char name[NAME];
    return wt_scheme_spell(job->scheme, job->stem, end, tail, name, sizeof name) &&
           wt_checkpoint_has(checkpoint, name);
}

/* Where queries or values have a bias all have one, but for those that the scheme leaves without.
 */
static wt_status check_biases(const reading *job) {
    static const char roles[] = "qkvo";
    const wt_scheme *scheme = job->scheme;
    const char *fused = scheme->underscore ? "_bias" : ".bias", *may = scheme->unbiased;
    const char *ends[] = {scheme->query, scheme->key, scheme->value, scheme->output};
    bool has[4];
    for (size_t i = 0; i < 4; i++)
        has[i] = scheme->fusion != WT_FUSION_NONE && i < 3 ? has_bias(job, scheme->query, fused)
                                                           : has_bias(job, ends[i], ".bias");
    for (size_t i = 0; i < 4 && (has[0] || has[2]); i++)
        if (!has[i] && (may == NULL || strchr(may, roles[i]) == NULL))
            return wt_fail(job->context, WT_DATA, "%s: %s%s has no bias, but others beside it have",
                           job->checkpoint->path, job->stem, ends[i]);
    return WT_OK;
}

static wt_status read_fused(const reading *job) {
    const wt_scheme *scheme = job->scheme;
    const char *weight = scheme->underscore ? "_weight" : ".weight",
               *bias = scheme->underscore ? "_bias" : ".bias";
    wt_attention_tensors *out = job->out;
    size_t columns;
    double *fused, *biases;
    WT_PASS(read_weight(job, scheme->query, weight, &out->dim, &columns, &fused));
    if (columns % 3 != 0)
        return wt_fail(job->context, WT_DATA,
                       "%s: %s%s has %zu columns, which are not queries, keys and values",
                       job->checkpoint->path, job->stem, scheme->query, columns);
    WT_PASS(divide(job, columns / 3, columns / 3));
    WT_PASS(take_third(job, out->dim, columns, fused, 0, &out->query));
    WT_PASS(take_third(job, out->dim, columns, fused, 1, &out->key));
    WT_PASS(take_third(job, out->dim, columns, fused, 2, &out->value));
    WT_PASS(read_bias(job, scheme->query, bias, columns, &biases));
    if (biases == NULL)
        return WT_OK;
    WT_PASS(take_third(job, 1, columns, biases, 0, &out->query_bias));
    return take_third(job, 1, columns, biases, 2, &out->value_bias);
}

static wt_status read_apart(const reading *job) {
    const wt_scheme *scheme = job->scheme;
    wt_attention_tensors *out = job->out;
    size_t queries, keys, values, dim, other;
    WT_PASS(read_weight(job, scheme->query, ".weight", &out->dim, &queries, &out->query));
    WT_PASS(read_weight(job, scheme->key, ".weight", &dim, &keys, &out->key));
    WT_PASS(read_weight(job, scheme->value, ".weight", &other, &values, &out->value));
    if (dim != out->dim || other != out->dim || keys != values)
        return wt_fail(job->context, WT_DATA,
                       "%s: queries, keys and values of %s are for %zu, %zu and %zu dimensions, "
                       "with %zu columns of keys and %zu of values",
                       job->checkpoint->path, job->stem, out->dim, dim, other, keys, values);
    WT_PASS(divide(job, queries, keys));
    WT_PASS(read_bias(job, scheme->query, ".bias", queries, &out->query_bias));
    return read_bias(job, scheme->value, ".bias", values, &out->value_bias);
}

/* A norm with a shift is a layer norm, whatever most models of the scheme have. */
static wt_status read_norm(const reading *job) {
    wt_attention_tensors *out = job->out;
    const char *name = job->scheme->norm;
    out->norm = job->told.norm;
    out->epsilon = job->told.epsilon;
    if (out->norm == WT_SCHEME_NORM_NONE)
        return WT_OK;
    WT_PASS(read_bias(job, name, ".weight", out->dim, &out->gain));
    if (out->gain == NULL && job->scheme->other_norm != NULL) {
        name = job->scheme->other_norm;
        WT_PASS(read_bias(job, name, ".weight", out->dim, &out->gain));
    }
    if (out->gain == NULL)
        return WT_OK;
    for (size_t i = 0; i < out->dim; i++)
        out->gain[i] += job->told.gain;
    WT_PASS(read_bias(job, name, ".bias", out->dim, &out->shift));
    if (out->shift != NULL)
        out->norm = WT_SCHEME_NORM_LAYER;
    return WT_OK;
}

wt_status wt_checkpoint_read(wt_context *context, wt_checkpoint *checkpoint, size_t layer,
                             wt_attention_tensors *out) {
    const wt_scheme *scheme = &checkpoint->scheme;
    reading job = {.context = context, .checkpoint = checkpoint, .scheme = scheme, .out = out};
    size_t in;
    wt_status status;
    *out = (wt_attention_tensors){.arena = wt_arena_start(context, "weights of a layer")};
    if (layer >= checkpoint->stem_count)
        WT_TRY(wt_fail(context, WT_USAGE, "%s has layers 0 to %zu, no layer %zu", checkpoint->path,
                       checkpoint->stem_count - 1, layer));
    job.stem = checkpoint->stems[layer];
    WT_TRY(wt_checkpoint_tell(context, checkpoint, job.stem, &job.told));
    WT_TRY(scheme->fusion == WT_FUSION_NONE ? read_apart(&job) : read_fused(&job));
    WT_TRY(read_weight(&job, scheme->output, ".weight", &in, &out->outputs, &out->output));
    if (in != out->heads * out->width)
        WT_TRY(wt_fail(context, WT_DATA, "%s: %s%s takes %zu numbers, not %zu heads of %zu",
                       checkpoint->path, job.stem, scheme->output, in, out->heads, out->width));
    WT_TRY(read_bias(&job, scheme->output, ".bias", out->outputs, &out->output_bias));
    WT_TRY(check_biases(&job));
    WT_TRY(read_norm(&job));
    out->causal = job.told.causal;
    out->scale = job.told.scale > 0 ? job.told.scale : 1 / sqrt((double)out->width);
    out->scale /= job.told.divide;
done:
    if (status != WT_OK)
        wt_attention_tensors_free(out);
    return status;
}

void wt_attention_tensors_free(wt_attention_tensors *tensors) {
    wt_arena_free(&tensors->arena);
    *tensors = (wt_attention_tensors){0};
}
