/* Two layers beside each other: heads matched, and outputs on fresh sequences. */
#include <math.h>

#include "base/memory.h"
#include "base/sized.h"
#include "layer/model/assignment.h"
#include "layer/model/heads.h"
#include "layer/model/span.h"
#include "layer/task/sequences.h"
#include "layer/task/vector.h"
#include "wattle/random.h"
#include "wattle/recover.h"

/* Heads whose Theta agree to this part are one; W below this part of the largest is none. */
#define SAME 1e-7
enum { FRESH = 64 };
static const size_t fresh_lengths[WT_COMPARE_LENGTHS] = {2, 5, 11};

/* |a - b| / |a|, plain |b| where a is 0. */
static double relative(size_t count, const double *a, const double *b) {
    double norm = wt_heads_norm(count, a);
    return sqrt(wt_vector_apart(count, a, b)) / (norm > 0 ? norm : 1);
}

static wt_status match_heads(wt_context *context, const wt_layer *a, const wt_layer *b,
                             wt_comparison *out) {
    bool swapped = a->heads > b->heads;
    const wt_layer *few = swapped ? b : a, *many = swapped ? a : b;
    size_t theta = wt_layer_theta_size(a), w = a->dim * a->outputs;
    wt_arena arena = wt_arena_start(context, "distances of heads");
    double *cost = WT_TAKE(&arena, double, few->heads, many->heads);
    size_t *column = WT_TAKE(&arena, size_t, few->heads);
    bool *taken = WT_TAKE_ZERO(&arena, bool, many->heads);
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(WT_NEW(context, &out->match, many->heads, "matched heads"));
    for (size_t i = 0; i < few->heads; i++)
        for (size_t j = 0; j < many->heads; j++)
            cost[i * many->heads + j] =
                wt_vector_apart(theta, few->theta + i * theta, many->theta + j * theta) +
                wt_vector_apart(w, few->w + i * w, many->w + j * w);
    WT_TRY(wt_assignment(context, few->heads, many->heads, cost, column));
    for (size_t i = 0; i < few->heads; i++) {
        size_t in_a = swapped ? column[i] : i, in_b = swapped ? i : column[i];
        taken[column[i]] = true;
        out->match[out->matches++] = (wt_head_match){
            .a = in_a,
            .b = in_b,
            .theta_error = relative(theta, a->theta + in_a * theta, b->theta + in_b * theta),
            .w_error = relative(w, a->w + in_a * w, b->w + in_b * w)};
    }
    for (size_t j = 0; j < many->heads; j++)
        if (!taken[j])
            out->match[out->matches++] = (wt_head_match){.a = swapped ? j : WT_COMPARE_UNMATCHED,
                                                         .b = swapped ? WT_COMPARE_UNMATCHED : j,
                                                         .theta_error = NAN,
                                                         .w_error = NAN};
done:
    wt_arena_free(&arena);
    return status;
}

static wt_status function_distance(wt_context *context, const wt_layer *a, const wt_layer *b,
                                   double token_scale, uint64_t seed, size_t length, double *out) {
    wt_sequences *fresh = NULL;
    double *y = NULL;
    size_t count = FRESH * length * a->outputs;
    wt_status status;
    WT_TRY(wt_sequences_new(context, FRESH, length, a->dim, a->outputs, &fresh));
    WT_TRY(WT_NEW(context, &y, count, "outputs"));
    WT_TRY(wt_layer_draw(context, a, WT_LAW_GAUSSIAN, token_scale, 0, seed, 0, fresh));
    WT_TRY(wt_layer_forward(context, b, FRESH, length, fresh->x, y));
    *out = relative(count, fresh->y, y);
done:
    wt_sequences_free(fresh);
    wt_release(y);
    return status;
}

/* Both layers on the sequences of the data. */
static wt_status compare_on_data(wt_context *context, const wt_layer *a, const wt_layer *b,
                                 const wt_sequences *data, wt_comparison *out) {
    size_t n = data->samples, k = data->length, p = a->outputs, rows = 0;
    wt_arena arena = wt_arena_start(context, "outputs");
    double *of_a = WT_TAKE(&arena, double, n, k, p), *of_b = WT_TAKE(&arena, double, n, k, p);
    wt_sequences with_a = *data, with_b = *data;
    wt_status status;
    WT_TRY(arena.status);
    with_a.y = of_a;
    with_b.y = of_b;
    with_a.outputs = with_b.outputs = p;
    WT_TRY(wt_layer_apply(context, a, &with_a));
    WT_TRY(wt_layer_apply(context, b, &with_b));
    for (size_t s = 0; s < n; s++)
        rows += wt_sequences_length_of(data, s);
    out->data_output = sqrt(wt_vector_squares(n * k * p, of_a) / (double)(rows * p));
    out->data_difference = sqrt(wt_vector_apart(n * k * p, of_a, of_b) / (double)(rows * p));
done:
    wt_arena_free(&arena);
    return status;
}

/* Heads and c in what tokens show of them. Layers behind different norms see other tokens: they are
 * compared as they are. */
static wt_status compare_heads(wt_context *context, const wt_layer *a, const wt_layer *b,
                               const wt_sequences *data, wt_comparison *out) {
    wt_layer *seen_a = NULL, *seen_b = NULL;
    wt_span span = {.dim = a->dim, .rank = a->dim};
    wt_status status = WT_OK;
    if (a->form.norm == b->form.norm)
        WT_TRY(wt_span_of(context, &a->form, a->dim, data, &span));
    WT_TRY(wt_span_see(context, &span, a, &seen_a));
    WT_TRY(wt_span_see(context, &span, b, &seen_b));
    wt_heads_tidy(SAME, seen_a);
    wt_heads_tidy(SAME, seen_b);
    out->dim = span.dim;
    out->rank = span.rank;
    out->off_origin = span.offset != NULL;
    out->heads_a = seen_a->heads;
    out->heads_b = seen_b->heads;
    WT_TRY(match_heads(context, seen_a, seen_b, out));
    out->c_error = relative(a->outputs, wt_layer_c(seen_a), wt_layer_c(seen_b));
    for (size_t i = 0; i < out->matches; i++) {
        const wt_head_match *match = &out->match[i];
        bool whole = !isnan(match->theta_error);
        out->theta_error = fmax(out->theta_error, whole ? match->theta_error : INFINITY);
        out->w_error = fmax(out->w_error, whole ? match->w_error : INFINITY);
    }
done:
    wt_layer_free(seen_a);
    wt_layer_free(seen_b);
    wt_span_free(&span);
    return status;
}

void wt_compare_options_init(wt_compare_options *options, size_t size) {
    const wt_compare_options full = {.token_scale = 1};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

wt_status wt_layer_compare(wt_context *context, const wt_layer *a, const wt_layer *b,
                           const wt_compare_options *wanted, wt_comparison *given) {
    wt_comparison full = {.data_output = NAN, .data_difference = NAN}, *out = &full;
    wt_compare_options options;
    WT_INIT(wt_compare_options, &options);
    wt_status status = wt_sized_check(context, "wt_comparison", given, sizeof full);
    if (status != WT_OK)
        return status;
    WT_TRY(wt_sized_read(context, "wt_compare_options", wanted, &options, sizeof options));
    if (a->dim != b->dim || a->outputs != b->outputs)
        WT_TRY(wt_fail(context, WT_DATA,
                       "layers of %zu dimensions with %zu outputs and of %zu with %zu cannot be "
                       "compared",
                       a->dim, a->outputs, b->dim, b->outputs));
    if (options.data != NULL && options.data->dim != a->dim)
        WT_TRY(wt_fail(context, WT_DATA, "tokens of %zu dimensions do not fit layers of %zu",
                       options.data->dim, a->dim));
    WT_TRY(compare_heads(context, a, b, options.data, out));
    for (size_t i = 0; i < WT_COMPARE_LENGTHS; i++) {
        out->length[i] = fresh_lengths[i];
        WT_TRY(function_distance(context, a, b, options.token_scale,
                                 wt_seed_for(options.seed, "compare", i), fresh_lengths[i],
                                 &out->distance[i]));
    }
    if (options.data != NULL)
        WT_TRY(compare_on_data(context, a, b, options.data, out));
done:
    if (status != WT_OK)
        wt_comparison_free(out);
    wt_sized_write(given, out, sizeof full);
    return status;
}

void wt_comparison_free(wt_comparison *comparison) {
    if (comparison == NULL)
        return;
    wt_release(comparison->match);
    comparison->match = NULL;
    comparison->matches = 0;
}
