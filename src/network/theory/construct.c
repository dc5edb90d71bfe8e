/* Weights by hand. The heads are vectors given by what they are on a few anchors: the positions a
 * function depends on, e_0, e_1 and v_cls; where these are orthonormal that is a sum, else the dual
 * vector in their span. */
#include "network/theory/construct_readout.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

typedef struct {
    wt_context *context;
    const wt_construct_spec *spec;
    wt_construction *out;
    size_t places;  /* different vectors at the relevant positions: s, or 1 where all share one */
    size_t anchors; /* these, then e_0 and e_1 unless a bag, then v_cls */
    double *anchor; /* (anchors, d) */
    double *target; /* (anchors) */
} builder;

/* ---- vectors ----------------------------------------------------------------------------------
 */

static size_t symbols(const builder *of) {
    return of->spec->bag ? 0 : 2;
}

static wt_status choose_dim(builder *of) {
    const wt_construct_spec *spec = of->spec;
    size_t fewest = of->anchors;
    wt_status status = wt_check_choice(of->context, "kind of positions", (int)spec->positions,
                                       WT_POSITIONS_TRAINED + 1);
    if (status != WT_OK)
        return status;
    if (spec->positions == WT_POSITIONS_BASIS)
        of->out->dim = spec->length + symbols(of) + 1;
    else if (spec->positions == WT_POSITIONS_TRAINED)
        of->out->dim = of->anchors;
    else if (spec->position_dim > 0)
        of->out->dim = spec->position_dim;
    else
        of->out->dim = wt_construct_random_dim(of->out->function.bits, spec->length);
    if (of->out->dim < fewest)
        return wt_fail(of->context, WT_USAGE,
                       "%zu dimensions cannot hold the %zu vectors of the relevant positions, the "
                       "symbols and [CLS] apart",
                       of->out->dim, fewest);
    return WT_OK;
}

/* Unit vectors first, first + 1, .. as rows. */
static void unit_rows(size_t count, size_t dim, size_t first, double *out) {
    memset(out, 0, count * dim * sizeof *out);
    for (size_t i = 0; i < count; i++)
        out[i * dim + first + i] = 1;
}

/* Which vector stands at relevant position j. */
static size_t place_of(const builder *of, size_t j) {
    return of->places == 1 ? 0 : j;
}

static wt_status make_positions(builder *of) {
    wt_construction *out = of->out;
    size_t length = out->length, dim = out->dim, count;
    if (of->spec->positions == WT_POSITIONS_BASIS)
        return WT_OK;
    if (!wt_multiply(length, dim, &count))
        return wt_fail(of->context, WT_MEMORY, "%zu positions in %zu dimensions do not fit", length,
                       dim);
    wt_status status = WT_NEW_ZERO(of->context, &out->position, count, "positions");
    if (status != WT_OK)
        return status;
    if (of->spec->positions == WT_POSITIONS_RANDOM)
        wt_random_sphere(wt_stream_for(of->spec->seed, "positions", 0), 0, length, dim,
                         out->position);
    else
        for (size_t j = 0; j < out->function.bits; j++)
            out->position[out->relevant[j] * dim + place_of(of, j)] = 1;
    return WT_OK;
}

static wt_status make_vectors(builder *of) {
    wt_construction *out = of->out;
    size_t dim = out->dim, marks = symbols(of);
    wt_status status;
    WT_TRY(make_positions(of));
    WT_TRY(WT_NEW(of->context, &out->cls, dim, "[CLS]"));
    if (marks > 0)
        WT_TRY(WT_NEW(of->context, &out->symbol, marks * dim, "symbols"));
    if (of->spec->positions == WT_POSITIONS_RANDOM) {
        wt_stream stream = wt_stream_for(of->spec->seed, "symbols", 0);
        if (marks > 0)
            wt_random_sphere(stream, 0, marks, dim, out->symbol);
        wt_random_sphere(stream, 2, 1, dim, out->cls);
    } else {
        if (marks > 0)
            unit_rows(marks, dim, dim - 1 - marks, out->symbol);
        unit_rows(1, dim, dim - 1, out->cls);
    }
    WT_TRY(WT_NEW_ZERO(of->context, &of->anchor, of->anchors * dim, "anchors"));
    WT_TRY(WT_NEW(of->context, &of->target, of->anchors, "anchors"));
    for (size_t j = 0; j < of->places; j++) {
        if (out->position == NULL)
            of->anchor[j * dim + out->relevant[j]] = 1;
        else
            memcpy(of->anchor + j * dim, out->position + out->relevant[j] * dim,
                   dim * sizeof *of->anchor);
    }
    if (marks > 0)
        memcpy(of->anchor + of->places * dim, out->symbol, marks * dim * sizeof *of->anchor);
    memcpy(of->anchor + (of->anchors - 1) * dim, out->cls, dim * sizeof *of->anchor);
done:
    return status;
}

/* ---- heads ------------------------------------------------------------------------------------
 */

/* The vector of the anchors' span whose products with them are the targets. */
static wt_status solve(builder *of, double *w) {
    size_t dim = of->out->dim, rank;
    if (of->spec->positions != WT_POSITIONS_RANDOM) {
        memset(w, 0, dim * sizeof *w);
        for (size_t a = 0; a < of->anchors; a++)
            for (size_t i = 0; i < dim; i++)
                w[i] += of->target[a] * of->anchor[a * dim + i];
        return WT_OK;
    }
    wt_status status = wt_least_squares(of->context, of->anchors, dim, 1, of->anchor, dim,
                                        of->target, 1, -1, w, 1, &rank);
    if (status == WT_OK && rank < of->anchors)
        status = wt_fail(of->context, WT_USAGE,
                         "the %zu vectors of the relevant positions, the symbols and [CLS] span "
                         "only %zu of %zu dimensions",
                         of->anchors, rank, dim);
    return status;
}

/* Targets of the relevant positions of head h, and of the anchors after them. */
static void set_target(builder *of, size_t head, double own, const double *symbol, double cls) {
    for (size_t j = 0; j < of->places; j++)
        of->target[j] = of->places == 1 || of->out->heads == 1 || j == head ? own : 0;
    for (size_t b = 0; b < symbols(of); b++)
        of->target[of->places + b] = symbol[b];
    of->target[of->anchors - 1] = cls;
}

/* Whether head h is to look at position t. */
static bool looks_at(const builder *of, size_t head, size_t t) {
    for (size_t j = 0; j < of->out->function.bits; j++)
        if (of->out->relevant[j] == t && (of->out->heads == 1 || j == head))
            return true;
    return false;
}

/* rho: the largest <w_k, v_t> at a position that head h is not to look at, 0 at least, which is
 * what [CLS] and empty places have. */
static double overlap_of(const builder *of, size_t head) {
    double most = 0;
    const double *w_k = of->out->w_k + head * of->out->dim;
    for (size_t t = 0; t < of->out->length; t++)
        if (!looks_at(of, head, t))
            most = fmax(most, wt_construction_dot(of->out, t, w_k));
    return most;
}

static wt_status make_head(builder *of, size_t head) {
    wt_construction *out = of->out;
    static const double none[2] = {0, 0}, signs[2] = {1, -1};
    size_t dim = out->dim, count = out->heads == 1 ? out->function.bits : 1;
    double *w_q = out->w_q + head * dim;
    bool bag = out->bag;
    wt_status status;
    set_target(of, head, 1, none, bag ? 1 : 0);
    WT_TRY(solve(of, out->w_k + head * dim));
    set_target(of, head, 0, none, 1);
    WT_TRY(solve(of, w_q));
    set_target(of, head, bag ? 1 : 0, signs, bag ? -(double)count : 0);
    WT_TRY(solve(of, out->w_v + head * dim));
    double rho = overlap_of(of, head);
    if (rho >= 1) {
        status = wt_fail(of->context, WT_USAGE,
                         "random positions of dimension %zu overlap too much: an irrelevant one "
                         "scores %.3g of a relevant one, and no weights can tell them apart; take "
                         "more dimensions or another seed",
                         dim, rho);
        goto done;
    }
    double range = bag ? (double)count : 1;
    double strength = log(8 * (double)out->length * range / out->gap) / (1 - rho);
    for (size_t i = 0; i < dim; i++)
        w_q[i] *= strength;
    out->strength = fmax(out->strength, strength);
    out->overlap = fmax(out->overlap, rho);
done:
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

/* The task's function and positions, which it has checked. */
static wt_status take_task(builder *of) {
    const wt_construct_spec *spec = of->spec;
    wt_sparse_task task = {0};
    wt_sparse_spec wanted = {.function = spec->function,
                             .length = spec->length,
                             .relevant = spec->relevant,
                             .relevant_count = spec->relevant_count,
                             .probability = 0.5,
                             .seed = spec->seed};
    wt_status status = wt_sparse_open(of->context, &wanted, &task);
    if (status != WT_OK)
        return status;
    of->out->function = task.function;
    of->out->relevant = task.relevant;
    size_t s = task.function.bits;
    if (spec->one_head && !task.function.symmetric)
        return wt_fail(of->context, WT_USAGE,
                       "%s is not symmetric: one head tells how many relevant bits are 1, not "
                       "which; take s heads",
                       spec->function);
    if (!spec->one_head && s > WT_CONSTRUCT_MOST_BITS)
        return wt_fail(of->context, WT_USAGE,
                       "the network on %zu heads would have 4 s 2^s x 2 2^s weights; s may be %d "
                       "at most",
                       s, WT_CONSTRUCT_MOST_BITS);
    return WT_OK;
}

size_t wt_construct_random_dim(size_t bits, size_t length) {
    return (size_t)fmax(64, ceil(8 * (double)(bits + 1) * log((double)length)));
}

/* All sizes, before any room is made but for the function. */
static wt_status choose_sizes(builder *of) {
    const wt_construct_spec *spec = of->spec;
    wt_construction *out = of->out;
    wt_status status;
    *out = (wt_construction){.length = spec->length, .bag = spec->bag};
    WT_TRY(take_task(of));
    size_t s = out->function.bits;
    out->heads = spec->one_head ? 1 : s;
    of->places = spec->positions == WT_POSITIONS_TRAINED && spec->one_head ? 1 : s;
    of->anchors = of->places + symbols(of) + 1;
    out->gap = wt_construction_gap(out);
    WT_TRY(choose_dim(of));
    wt_readout_widths(out);
done:
    return status;
}

wt_status wt_construct_spec_check(wt_context *context, const wt_construct_spec *spec) {
    wt_construction sizes;
    builder of = {.context = context, .spec = spec, .out = &sizes};
    wt_status status = choose_sizes(&of);
    wt_construction_free(&sizes);
    return status;
}

wt_status wt_construct(wt_context *context, const wt_construct_spec *spec, wt_construction *out) {
    builder of = {.context = context, .spec = spec, .out = out};
    wt_status status;
    WT_TRY(choose_sizes(&of));
    WT_TRY(wt_construction_room(context, out));
    WT_TRY(make_vectors(&of));
    for (size_t h = 0; h < out->heads; h++)
        WT_TRY(make_head(&of, h));
    wt_readout_fill(out);
done:
    wt_release(of.anchor);
    wt_release(of.target);
    if (status != WT_OK)
        wt_construction_free(out);
    return status;
}
