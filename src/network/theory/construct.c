/* Weights by hand. The heads are vectors given by what they are on a few anchors: the positions a
 * function depends on, e_0, e_1 and v_cls; where these are orthonormal that is a sum, else the dual
 * vector in their span. */
#include "network/theory/construct_readout.h"

#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "linalg/linalg.h"
#include "network/theory/construct_fields.h"
#include "wattle/random.h"

typedef struct {
    wt_context *context;
    const wt_construction_spec *spec;
    wt_construction *out;
    size_t places;  /* different vectors at the relevant positions: s, or 1 where all share one */
    size_t anchors; /* these, then e_0 and e_1 unless a bag, then v_cls */
    double *anchor; /* (anchors, d) */
    double *target; /* (anchors) */
    bool one_head;
} builder;

/* ---- vectors ---- */

static size_t symbols(const builder *of) {
    return of->spec->tokens == WT_CONSTRUCTION_TOKENS_BAG ? 0 : 2;
}

static wt_status choose_dim(builder *of) {
    const wt_construction_spec *spec = of->spec;
    size_t fewest = of->anchors;
    WT_PASS(wt_check_choice(of->context, "kind of positions", (int)spec->positions,
                            WT_POSITIONS_TRAINED + 1));
    if (spec->positions == WT_POSITIONS_BASIS)
        of->out->dim = spec->length + symbols(of) + 1;
    else if (spec->positions == WT_POSITIONS_TRAINED)
        of->out->dim = of->anchors;
    else if (spec->position_dim > 0)
        of->out->dim = spec->position_dim;
    else
        of->out->dim = wt_construction_random_dim(of->out->function->bits, spec->length);
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

static void make_positions(builder *of) {
    wt_construction *out = of->out;
    size_t length = out->length, dim = out->dim;
    if (of->spec->positions == WT_POSITIONS_BASIS)
        return;
    if (of->spec->positions == WT_POSITIONS_RANDOM)
        wt_random_sphere(wt_stream_for(of->spec->seed, "positions", 0), 0, length, dim,
                         out->position);
    else
        for (size_t j = 0; j < out->function->bits; j++)
            out->position[out->relevant[j] * dim + place_of(of, j)] = 1;
}

/* Room for all arrays; heads, dim and widths are set. */
static wt_status make_room(builder *of, wt_arena *scratch) {
    wt_construction *out = of->out;
    wt_arena *arena = &out->arena;
    size_t heads = out->heads, dim = out->dim, first = out->width1, second = out->width2;
    if (of->spec->positions != WT_POSITIONS_BASIS)
        out->position = WT_TAKE_ZERO(arena, double, out->length, dim);
    if (!out->bag)
        out->symbol = WT_TAKE(arena, double, 2, dim);
    out->cls = WT_TAKE(arena, double, dim);
    out->w_q = WT_TAKE(arena, double, heads, dim);
    out->w_k = WT_TAKE(arena, double, heads, dim);
    out->w_v = WT_TAKE(arena, double, heads, dim);
    out->w1 = WT_TAKE_ZERO(arena, double, heads, first);
    out->b1 = WT_TAKE_ZERO(arena, double, first);
    out->w2 = WT_TAKE_ZERO(arena, double, first, second);
    out->b2 = WT_TAKE_ZERO(arena, double, second);
    out->w3 = WT_TAKE_ZERO(arena, double, second);
    out->b3 = WT_TAKE_ZERO(arena, double, 1);
    of->anchor = WT_TAKE_ZERO(scratch, double, of->anchors, dim);
    of->target = WT_TAKE(scratch, double, of->anchors);
    return arena->status != WT_OK ? arena->status : scratch->status;
}

static void make_vectors(builder *of) {
    wt_construction *out = of->out;
    size_t dim = out->dim, marks = symbols(of);
    make_positions(of);
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
}

/* ---- heads ---- */

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
    for (size_t j = 0; j < of->out->function->bits; j++)
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
    size_t dim = out->dim, count = out->heads == 1 ? out->function->bits : 1;
    double *w_q = out->w_q + head * dim;
    bool bag = out->bag;
    set_target(of, head, 1, none, bag ? 1 : 0);
    WT_PASS(solve(of, out->w_k + head * dim));
    set_target(of, head, 0, none, 1);
    WT_PASS(solve(of, w_q));
    set_target(of, head, bag ? 1 : 0, signs, bag ? -(double)count : 0);
    WT_PASS(solve(of, out->w_v + head * dim));
    double rho = overlap_of(of, head);
    if (rho >= 1) {
        return wt_fail(of->context, WT_USAGE,
                       "random positions of dimension %zu overlap too much: an irrelevant one "
                       "scores %.3g of a relevant one, and no weights can tell them apart; take "
                       "more dimensions or another seed",
                       dim, rho);
    }
    double range = bag ? (double)count : 1;
    double strength = log(8 * (double)out->length * range / out->gap) / (1 - rho);
    for (size_t i = 0; i < dim; i++)
        w_q[i] *= strength;
    out->strength = fmax(out->strength, strength);
    out->overlap = fmax(out->overlap, rho);
    return WT_OK;
}

/* ---- the whole ---- */

/* The task's function and positions, which it has checked. */
static wt_status take_task(builder *of) {
    const wt_construction_spec *spec = of->spec;
    wt_sparse_task *task = NULL;
    wt_sparse_spec wanted = {.size = sizeof wanted,
                             .function = spec->function,
                             .length = spec->length,
                             .relevant = spec->relevant,
                             .relevant_count = spec->relevant_count,
                             .probability = 0.5,
                             .seed = spec->seed};
    WT_PASS(wt_sparse_task_new(of->context, &wanted, &task));
    of->out->function = task->function;
    task->function = NULL;
    memcpy(of->out->relevant, task->relevant, sizeof task->relevant);
    wt_sparse_task_free(task);
    size_t s = of->out->function->bits;
    of->one_head = spec->heads == WT_CONSTRUCTION_HEADS_AUTO
                       ? of->out->function->symmetric
                       : spec->heads == WT_CONSTRUCTION_HEADS_ONE;
    if (of->one_head && !of->out->function->symmetric)
        return wt_fail(of->context, WT_USAGE,
                       "%s is not symmetric: one head tells how many relevant bits are 1, not "
                       "which; take s heads",
                       spec->function);
    if (!of->one_head && s > WT_CONSTRUCTION_MAX_BITS)
        return wt_fail(of->context, WT_USAGE,
                       "the network on %zu heads would have 4 s 2^s x 2 2^s weights; s may be %d "
                       "at most",
                       s, WT_CONSTRUCTION_MAX_BITS);
    return WT_OK;
}

size_t wt_construction_random_dim(size_t bits, size_t length) {
    return (size_t)fmax(64, ceil(8 * (double)(bits + 1) * log((double)length)));
}

const char *const wt_positions_words[] = {[WT_POSITIONS_BASIS] = "basis",
                                          [WT_POSITIONS_RANDOM] = "random",
                                          [WT_POSITIONS_TRAINED] = "trained",
                                          NULL};
const char *const wt_construction_heads_words[] = {[WT_CONSTRUCTION_HEADS_EACH] = "s",
                                                   [WT_CONSTRUCTION_HEADS_ONE] = "one",
                                                   [WT_CONSTRUCTION_HEADS_AUTO] = "auto",
                                                   NULL};
const char *const wt_construction_tokens_words[] = {
    [WT_CONSTRUCTION_TOKENS_SUM] = "sum", [WT_CONSTRUCTION_TOKENS_BAG] = "bag", NULL};

static const wt_field fields[] = {WT_CONSTRUCT_FIELDS};
enum { FIELDS = sizeof fields / sizeof *fields };

const wt_field *wt_construction_fields(size_t *count) {
    *count = FIELDS;
    return fields;
}

void wt_construction_spec_init(wt_construction_spec *spec, size_t size) {
    wt_construction_spec full = {0};
    wt_fields_init(fields, FIELDS, &full);
    spec->size = size;
    wt_sized_write(spec, &full, sizeof full);
}

/* A construction with all sizes and its function, but without its arrays. */
static wt_status open_builder(wt_context *context, const wt_construction_spec *given,
                              wt_construction_spec *spec, builder *of) {
    *of = (builder){.context = context, .spec = spec};
    WT_INIT(wt_construction_spec, spec);
    WT_PASS(wt_sized_read(context, "wt_construction_spec", given, spec, sizeof *spec));
    WT_PASS(wt_check_choice(context, "heads of a construction", (int)spec->heads,
                            WT_CONSTRUCTION_HEADS_AUTO + 1));
    WT_PASS(wt_check_choice(context, "tokens of a construction", (int)spec->tokens,
                            WT_CONSTRUCTION_TOKENS_BAG + 1));
    WT_PASS(wt_construction_room(context, &of->out));
    wt_construction *out = of->out;
    out->length = spec->length;
    out->bag = spec->tokens == WT_CONSTRUCTION_TOKENS_BAG;
    WT_PASS(take_task(of));
    size_t s = out->function->bits;
    out->heads = of->one_head ? 1 : s;
    of->places = spec->positions == WT_POSITIONS_TRAINED && of->one_head ? 1 : s;
    of->anchors = of->places + symbols(of) + 1;
    out->gap = wt_construction_gap(out);
    WT_PASS(choose_dim(of));
    wt_readout_widths(out);
    return WT_OK;
}

wt_status wt_construction_spec_check(wt_context *context, const wt_construction_spec *spec) {
    wt_construction_spec full;
    builder of;
    wt_status status = open_builder(context, spec, &full, &of);
    wt_construction_free(of.out);
    return status;
}

wt_status wt_construction_new(wt_context *context, const wt_construction_spec *spec,
                              wt_construction **out) {
    wt_arena scratch = wt_arena_start(context, "anchors");
    wt_construction_spec full;
    builder of;
    wt_status status;
    *out = NULL;
    WT_TRY(open_builder(context, spec, &full, &of));
    WT_TRY(make_room(&of, &scratch));
    make_vectors(&of);
    for (size_t h = 0; h < of.out->heads; h++)
        WT_TRY(make_head(&of, h));
    wt_readout_fill(of.out);
    *out = of.out;
    of.out = NULL;
done:
    wt_arena_free(&scratch);
    wt_construction_free(of.out);
    return status;
}
