/* A layer as a checkpoint: Theta and W factored into query, key, value and output matrices. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "layer/model/layer.h"
#include "linalg/linalg.h"
#include "wattle/checkpoint.h"
#include "wattle/io.h"

/* Singular values below this part of a head's largest are rounding of a recovery. */
#define NOTHING 1e-8
/* Those beyond the rank that there is room for are, below this part, of a recovery from float32
 * answers: 3e-7 was seen. */
#define DROPPED 1e-5

void wt_layer_export_options_init(wt_layer_export_options *options, size_t size) {
    const wt_layer_export_options full = {.as = "torch"};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

/* The matrices that are written, (out, in) as PyTorch has them; m heads of width r. */
typedef struct {
    wt_context *context;
    const wt_layer *layer;
    size_t width, inner; /* r and m r */
    size_t most;         /* the rank that is allowed */
    size_t rank;         /* the largest that a Theta or W has */
    double dropped;      /* the largest singular value that is left out, over its head's largest */
    double *query, *key, *value, *output;
    double *query_bias, *zero, *output_bias;
    wt_arena arena;
} factoring;

static size_t rank_of(size_t count, const double *s) {
    size_t rank = 0;
    while (rank < count && s[rank] > NOTHING * s[0])
        rank++;
    return rank;
}

/* A (rows, columns) = left right^T, left (rows, r) and right (columns, r) with the roots of the
 * singular values in both; zeros where its rank is below r. u, s, vt are room for the vectors. */
static wt_status split(factoring *job, size_t rows, size_t columns, const double *a, double *u,
                       double *s, double *vt, double *left, double *right) {
    size_t least = rows < columns ? rows : columns, r = job->width;
    WT_PASS(wt_svd(job->context, rows, columns, a, columns, u, s, vt));
    size_t rank = rank_of(least, s);
    if (rank > job->most && s[job->most] <= DROPPED * s[0]) {
        job->dropped = fmax(job->dropped, s[job->most] / s[0]);
        rank = job->most;
    }
    job->rank = rank > job->rank ? rank : job->rank;
    for (size_t c = 0; c < r; c++) {
        double root = c < rank ? sqrt(s[c]) : 0;
        for (size_t i = 0; i < rows; i++)
            left[i * r + c] = c < least ? root * u[i * least + c] : 0;
        for (size_t j = 0; j < columns; j++)
            right[j * r + c] = c < least ? root * vt[c * columns + j] : 0;
    }
    return WT_OK;
}

/* Head h: scores are divided by the root of its width, which both factors make up for. */
static wt_status factor_head(factoring *job, size_t h) {
    const wt_layer *layer = job->layer;
    size_t d = layer->dim, p = layer->outputs, e = wt_layer_asked(layer), r = job->width;
    size_t most = p > d ? p : d;
    double root = sqrt(sqrt((double)r));
    wt_arena arena = wt_arena_start(job->context, "factors of a head");
    double *u = WT_TAKE(&arena, double, e, most), *s = WT_TAKE(&arena, double, most);
    double *vt = WT_TAKE(&arena, double, most, most);
    double *left = WT_TAKE(&arena, double, e, r), *right = WT_TAKE(&arena, double, most, r);
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(split(job, e, d, layer->theta + h * e * d, u, s, vt, left, right));
    for (size_t c = 0; c < r; c++) {
        for (size_t i = 0; i < d; i++) {
            job->query[(h * r + c) * d + i] = root * left[i * r + c];
            job->key[(h * r + c) * d + i] = root * right[i * r + c];
        }
        job->query_bias[h * r + c] = e > d ? root * left[d * r + c] : 0;
    }
    WT_TRY(split(job, d, p, layer->w + h * d * p, u, s, vt, left, right));
    for (size_t c = 0; c < r; c++) {
        for (size_t i = 0; i < d; i++)
            job->value[(h * r + c) * d + i] = left[i * r + c];
        for (size_t o = 0; o < p; o++)
            job->output[o * job->inner + h * r + c] = right[o * r + c];
    }
done:
    wt_arena_free(&arena);
    return status;
}

static wt_status factor(factoring *job) {
    const wt_layer *layer = job->layer;
    size_t d = layer->dim, p = layer->outputs;
    /* queries, keys and values one after the other: the in_proj_weight of PyTorch */
    job->query = WT_TAKE(&job->arena, double, 3, job->inner, d);
    job->query_bias = WT_TAKE_ZERO(&job->arena, double, 3, job->inner);
    job->output = WT_TAKE(&job->arena, double, p, job->inner);
    job->output_bias = WT_TAKE_ZERO(&job->arena, double, p);
    WT_PASS(job->arena.status);
    job->key = job->query + job->inner * d;
    job->value = job->key + job->inner * d;
    job->zero = job->query_bias + job->inner;
    if (layer->form.bias)
        memcpy(job->output_bias, wt_layer_c(layer), p * sizeof *job->output_bias);
    for (size_t h = 0; h < layer->heads; h++)
        WT_PASS(factor_head(job, h));
    if (job->rank > job->width)
        return wt_fail(job->context, WT_DATA,
                       "a head has rank %zu, above the %zu that %zu heads in %zu dimensions leave "
                       "to each: no such checkpoint computes it",
                       job->rank, job->width, layer->heads, d);
    return WT_OK;
}

static wt_status check(wt_context *context, const wt_layer *layer) {
    if (layer->outputs != layer->dim)
        return wt_fail(context, WT_DATA,
                       "a layer of %zu dimensions with %zu outputs has no such checkpoint: they "
                       "must be equal",
                       layer->dim, layer->outputs);
    if (layer->dim % layer->heads != 0)
        return wt_fail(context, WT_DATA,
                       "%zu dimensions do not divide among %zu heads, as such a checkpoint must",
                       layer->dim, layer->heads);
    return WT_OK;
}

static wt_status write_torch(const factoring *job, const char *path, const wt_metadata *notes,
                             size_t count) {
    size_t d = job->layer->dim, inner = job->inner;
    const wt_tensor all[] = {
        {.name = "in_proj_weight", .rank = 2, .shape = {3 * inner, d}, .values = job->query},
        {.name = "in_proj_bias", .rank = 1, .shape = {3 * inner}, .values = job->query_bias},
        {.name = "out_proj.weight", .rank = 2, .shape = {d, inner}, .values = job->output},
        {.name = "out_proj.bias", .rank = 1, .shape = {d}, .values = job->output_bias}};
    return wt_safetensors_write(job->context, path, all, sizeof all / sizeof *all, notes, count);
}

static wt_status write_bert(const factoring *job, const char *path, const wt_metadata *notes,
                            size_t count) {
    size_t d = job->layer->dim, inner = job->inner;
#define STEM "encoder.layer.0.attention."
    const wt_tensor all[] = {
        {.name = STEM "self.query.weight", .rank = 2, .shape = {inner, d}, .values = job->query},
        {.name = STEM "self.query.bias", .rank = 1, .shape = {inner}, .values = job->query_bias},
        {.name = STEM "self.key.weight", .rank = 2, .shape = {inner, d}, .values = job->key},
        {.name = STEM "self.key.bias", .rank = 1, .shape = {inner}, .values = job->zero},
        {.name = STEM "self.value.weight", .rank = 2, .shape = {inner, d}, .values = job->value},
        {.name = STEM "self.value.bias", .rank = 1, .shape = {inner}, .values = job->zero},
        {.name = STEM "output.dense.weight", .rank = 2, .shape = {d, inner}, .values = job->output},
        {.name = STEM "output.dense.bias", .rank = 1, .shape = {d}, .values = job->output_bias}};
#undef STEM
    return wt_safetensors_write(job->context, path, all, sizeof all / sizeof *all, notes, count);
}

static const struct {
    const char *name;
    wt_status (*write)(const factoring *job, const char *path, const wt_metadata *notes,
                       size_t count);
} kinds[] = {{"torch", write_torch}, {"bert", write_bert}};
enum { KINDS = sizeof kinds / sizeof *kinds };

wt_status wt_layer_export(wt_context *context, const wt_layer *layer,
                          const wt_layer_export_options *given, const char *path, size_t *rank) {
    wt_layer_export_options options = {0};
    char heads[24], epsilon[32], form[WT_LAYER_FORM_TEXT];
    factoring job = {.context = context,
                     .layer = layer,
                     .arena = wt_arena_start(context, "weights of a checkpoint")};
    size_t kind = 0;
    wt_status status;
    WT_TRY(wt_sized_read(context, "wt_layer_export_options", given, &options, sizeof options));
    while (kind < KINDS && strcmp(kinds[kind].name, options.as) != 0)
        kind++;
    if (kind == KINDS)
        WT_TRY(wt_fail(context, WT_USAGE, "layers are exported as torch or bert, not as '%s'",
                       options.as));
    WT_TRY(check(context, layer));
    job.width = layer->dim / layer->heads;
    job.most = options.rank > 0 && options.rank < job.width ? options.rank : job.width;
    job.inner = layer->dim;
    WT_TRY(factor(&job));
    if (options.rank > 0 && job.rank > options.rank)
        WT_TRY(wt_fail(context, WT_DATA, "a head has rank %zu, above the %zu asked for", job.rank,
                       options.rank));
    snprintf(heads, sizeof heads, "%zu", layer->heads);
    snprintf(epsilon, sizeof epsilon, "%.17g", layer->form.epsilon);
    const wt_metadata notes[] = {{"format", "pt"},
                                 {"num_attention_heads", heads},
                                 {"form", wt_layer_form_print(&layer->form, form)},
                                 {"epsilon", epsilon}};
    size_t count = sizeof notes / sizeof *notes - (layer->form.norm == WT_LAYER_NORM_NONE);
    WT_TRY(kinds[kind].write(&job, path, notes, count));
    if (job.dropped > 0)
        wt_remark(context,
                  "singular values beyond rank %zu are left out, as rounding: at most %.1e of the "
                  "largest of their head",
                  job.most, job.dropped);
    if (rank != NULL)
        *rank = job.rank;
done:
    wt_arena_free(&job.arena);
    return status;
}
