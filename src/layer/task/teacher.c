/* Layers to learn from: random ones, and the hard instance. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "layer/task/form_fields.h"
#include "layer/task/teacher_fields.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

/* Theta (d, d) Gaussian, or U V^T of Gaussian U, V (d, r), V that of `keys`; u and v are scratch.
 */
static wt_status draw_theta(wt_context *context, size_t d, size_t rank, uint64_t seed, size_t head,
                            size_t keys, double *u, double *v, double *theta) {
    if (rank == 0) {
        wt_random_normal(wt_stream_for(seed, "theta", head), 0, d * d, theta);
        return WT_OK;
    }
    wt_random_normal(wt_stream_for(seed, "theta left", head), 0, d * rank, u);
    wt_random_normal(wt_stream_for(seed, "theta right", keys), 0, d * rank, v);
    return wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, d, d, rank, 1, u, rank, v, rank, 0, theta, d);
}

/* W (d, p) Gaussian over sqrt(d), or V O of Gaussian V (d, r), that of `values`, and O (r, p); v
 * and o are scratch. */
static wt_status draw_w(wt_context *context, const wt_teacher_options *options, size_t p,
                        size_t head, size_t values, double *v, double *o, double *w) {
    size_t d = options->dim, r = options->rank;
    double size = sqrt((double)d);
    if (options->groups == 0) {
        wt_random_normal(wt_stream_for(options->seed, "w", head), 0, d * p, w);
    } else {
        wt_random_normal(wt_stream_for(options->seed, "w left", values), 0, d * r, v);
        wt_random_normal(wt_stream_for(options->seed, "w right", head), 0, r * p, o);
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, d, p, r, 1, v, r, o, p, 0, w, p));
        size *= sqrt((double)r);
    }
    for (size_t j = 0; j < d * p; j++)
        w[j] /= size;
    return WT_OK;
}

static void scale_to(double norm, size_t count, double *values) {
    double factor = norm / sqrt(wt_vector_squares(count, values));
    for (size_t i = 0; i < count; i++)
        values[i] *= factor;
}

/* u (d) Gaussian over sqrt(d), times the scale; of grouped heads K a, as a bias of queries makes
 * it, of the keys K (d, r). a is scratch. */
static wt_status draw_u(wt_context *context, const wt_teacher_options *options, size_t head,
                        const double *keys, double *a, double *u) {
    size_t d = options->dim, r = options->rank;
    wt_stream stream = wt_stream_for(options->seed, "u", head);
    if (options->groups > 0) {
        wt_random_normal(stream, 0, r, a);
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, d, 1, r, 1, keys, r, a, 1, 0, u, 1));
        scale_to(options->scale, d, u);
        return WT_OK;
    }
    wt_random_normal(stream, 0, d, u);
    for (size_t j = 0; j < d; j++)
        u[j] *= options->scale / sqrt((double)d);
    return WT_OK;
}

#define AT(member) offsetof(wt_teacher_options, member)
static const wt_field fields[] = {WT_TEACHER_FIELDS(AT, "8", ""), WT_FORM_FIELDS(AT, 0)};
enum { FIELDS = sizeof fields / sizeof *fields };

const wt_field *wt_teacher_fields(size_t *count) {
    *count = FIELDS;
    return fields;
}

void wt_teacher_options_init(wt_teacher_options *options, size_t size) {
    wt_teacher_options full = {0};
    wt_fields_init(fields, FIELDS, &full);
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

static wt_status draw_heads(wt_context *context, const wt_teacher_options *options,
                            wt_layer *layer) {
    size_t d = options->dim, p = wt_layer_outputs(layer);
    wt_arena arena = wt_arena_start(context, "a factor of Theta");
    double *u = WT_TAKE(&arena, double, d, options->rank);
    double *v = WT_TAKE(&arena, double, d, options->rank);
    double *o = WT_TAKE(&arena, double, options->rank, p);
    size_t each = options->groups == 0 ? 1 : options->heads / options->groups;
    wt_status status;
    WT_TRY(arena.status);
    for (size_t i = 0; i < options->heads; i++) {
        double *theta = wt_layer_theta(layer) + i * (d + options->bias) * d,
               *w = wt_layer_w(layer) + i * d * p;
        WT_TRY(draw_theta(context, d, options->rank, options->seed, i, i / each, u, v, theta));
        scale_to(options->scale, d * d, theta);
        if (options->bias)
            WT_TRY(draw_u(context, options, i, v, u, theta + d * d));
        WT_TRY(draw_w(context, options, p, i, i / each, v, o, w));
    }
    if (options->bias)
        wt_random_normal(wt_stream_for(options->seed, "c", 0), 0, p, wt_layer_c(layer));
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_layer_teacher(wt_context *context, const wt_teacher_options *given, wt_layer **out) {
    wt_teacher_options options = {0};
    wt_layer *layer = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_sized_read(context, "wt_teacher_options", given, &options, sizeof options));
    if (options.parity > 0)
        return wt_layer_parity(context, options.parity, options.dim, out);
    if (!(options.scale >= 0) || !isfinite(options.scale))
        WT_TRY(wt_fail(context, WT_USAGE, "the scale of Theta must be 0 or more, not %g",
                       options.scale));
    if (options.rank > options.dim)
        WT_TRY(wt_fail(context, WT_USAGE, "a rank of %zu is above the dimension %zu", options.rank,
                       options.dim));
    if (options.groups > 0 && options.rank == 0)
        WT_TRY(wt_fail(context, WT_USAGE,
                       "%zu groups share keys and values of a given width: a rank is needed",
                       options.groups));
    if (options.groups > 0 && options.heads % options.groups != 0)
        WT_TRY(wt_fail(context, WT_USAGE, "%zu heads do not divide into %zu groups", options.heads,
                       options.groups));
    const wt_layer_form form = {.size = sizeof form,
                                .bias = options.bias,
                                .residual = options.residual,
                                .mask = options.mask,
                                .norm = options.norm,
                                .epsilon = options.epsilon};
    WT_TRY(wt_layer_new_form(context, options.heads, options.dim,
                             options.outputs == 0 ? options.dim : options.outputs, &form, &layer));
    WT_TRY(draw_heads(context, &options, layer));
    *out = layer;
    layer = NULL;
done:
    wt_layer_free(layer);
    return status;
}

/* Equation j, 0 .. n: sum_i c_i tanh(2j - 2i + 1) + c_0 = (-1)^(n - j); c has c_0 last. */
static wt_status parity_weights(wt_context *context, size_t n, double *c) {
    size_t rank, side = n + 1;
    wt_arena arena = wt_arena_start(context, "equations of a parity");
    double *a = WT_TAKE(&arena, double, side, side), *b = WT_TAKE(&arena, double, side);
    wt_status status;
    WT_TRY(arena.status);
    for (size_t j = 0; j < side; j++) {
        for (size_t i = 1; i <= n; i++)
            a[j * side + i - 1] = tanh(2.0 * (double)j - 2.0 * (double)i + 1.0);
        a[j * side + n] = 1;
        b[j] = (n - j) % 2 == 0 ? 1 : -1;
    }
    WT_TRY(wt_least_squares(context, side, side, 1, a, side, b, 1, -1, c, 1, &rank));
    if (rank != side)
        status = wt_fail(context, WT_INTERNAL, "the equations of a parity of %zu have rank %zu", n,
                         rank);
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_layer_parity(wt_context *context, size_t bits, size_t dim, wt_layer **out) {
    double *c = NULL;
    wt_layer *layer = NULL;
    wt_status status;
    *out = NULL;
    if (bits == 0 || bits >= dim)
        WT_TRY(wt_fail(context, WT_USAGE,
                       "a parity of %zu bits needs 1 or more bits and more dimensions than "
                       "bits, not %zu",
                       bits, dim));
    WT_TRY(wt_layer_new(context, bits, dim, 1, &layer));
    WT_TRY(WT_NEW(context, &c, bits + 1, "weights of a parity"));
    WT_TRY(parity_weights(context, bits, c));
    double *theta = wt_layer_theta(layer), *w = wt_layer_w(layer);
    memset(theta, 0, bits * dim * dim * sizeof *theta);
    memset(w, 0, bits * dim * sizeof *w);
    for (size_t i = 0; i < bits; i++, theta += dim * dim) {
        for (size_t q = 1; q <= bits; q++)
            theta[q * dim] = 1;
        theta[0] = (double)bits + 1 - 2 * ((double)i + 1);
        w[i * dim] = c[i];
    }
    *out = layer;
    layer = NULL;
done:
    wt_release(c);
    wt_layer_free(layer);
    return status;
}

void wt_layer_zero_sum(wt_layer *layer) {
    size_t heads = wt_layer_heads(layer), count = wt_layer_dim(layer) * wt_layer_outputs(layer);
    double *w = wt_layer_w(layer);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t head = 0; head < heads; head++)
            sum += w[head * count + i];
        for (size_t head = 0; head < heads; head++)
            w[head * count + i] -= sum / (double)heads;
    }
}
