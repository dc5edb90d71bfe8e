/* Two layers beside each other: heads matched, and outputs on fresh sequences. */
#include <math.h>

#include "base/memory.h"
#include "base/sized.h"
#include "layer/model/assignment.h"
#include "layer/model/heads.h"
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

wt_status wt_layer_compare(wt_context *context, const wt_layer *a, const wt_layer *b,
                           double token_scale, uint64_t seed, wt_comparison *given) {
    wt_comparison full = {0}, *out = &full;
    wt_layer *tidy_a = NULL, *tidy_b = NULL;
    wt_status status = wt_sized_check(context, "wt_comparison", given, sizeof full);
    if (status != WT_OK)
        return status;
    if (a->dim != b->dim || a->outputs != b->outputs)
        WT_TRY(wt_fail(context, WT_DATA,
                       "layers of %zu dimensions with %zu outputs and of %zu with %zu cannot be "
                       "compared",
                       a->dim, a->outputs, b->dim, b->outputs));
    WT_TRY(wt_layer_copy(context, a, &tidy_a));
    WT_TRY(wt_layer_copy(context, b, &tidy_b));
    wt_heads_tidy(SAME, tidy_a);
    wt_heads_tidy(SAME, tidy_b);
    out->heads_a = tidy_a->heads;
    out->heads_b = tidy_b->heads;
    WT_TRY(match_heads(context, tidy_a, tidy_b, out));
    for (size_t i = 0; i < out->matches; i++) {
        const wt_head_match *match = &out->match[i];
        bool whole = !isnan(match->theta_error);
        out->theta_error = fmax(out->theta_error, whole ? match->theta_error : INFINITY);
        out->w_error = fmax(out->w_error, whole ? match->w_error : INFINITY);
    }
    for (size_t i = 0; i < WT_COMPARE_LENGTHS; i++) {
        out->length[i] = fresh_lengths[i];
        WT_TRY(function_distance(context, a, b, token_scale, wt_seed_for(seed, "compare", i),
                                 fresh_lengths[i], &out->distance[i]));
    }
done:
    wt_layer_free(tidy_a);
    wt_layer_free(tidy_b);
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
