#include "layer/learn/tangent.h"

#include <string.h>

#include "base/parallel.h"
#include "base/work.h"
#include "linalg/backend.h"
#include "linalg/linalg.h"

static void narrow(size_t count, const double *from, float *to) {
    for (size_t i = 0; i < count; i++)
        to[i] = (float)from[i];
}

static size_t weight_count(const wt_projection *at) {
    return at->heads * at->starts[at->rows->in.sequences];
}
static size_t key_count(const wt_projection *at) {
    return wt_attention_key(&at->rows->in, at->rows->in.sequences);
}

static wt_tangent_side make_side(wt_arena *arena, size_t tokens, size_t dim, float *token,
                                 size_t blocks, size_t columns) {
    return (wt_tangent_side){.tokens = tokens,
                             .dim = dim,
                             .blocks = blocks,
                             .columns = columns,
                             .token = token,
                             .factor = WT_TAKE(arena, float, dim, blocks, columns),
                             .now = WT_TAKE(arena, float, tokens, blocks, columns),
                             .move = WT_TAKE(arena, float, tokens, blocks, columns)};
}

static size_t side_width(const wt_tangent_side *side) {
    return side->blocks * side->columns;
}

/* The most weights of a sequence, and the most rows. */
static void measure(const wt_projection *at, wt_tangent *out) {
    const wt_attention *in = &at->rows->in;
    size_t rows = 0;
    for (size_t s = 0; s < in->sequences; s++) {
        size_t one = at->starts[s + 1] - at->starts[s];
        size_t of = wt_attention_row(in, s + 1) - wt_attention_row(in, s);
        out->scores_each = one > out->scores_each ? one : out->scores_each;
        rows = of > rows ? of : rows;
    }
    out->scratch_each = out->scores_each + rows * (at->groups > 0 ? at->values : 0);
}

wt_status wt_tangent_new(wt_context *context, const wt_projection *at, const wt_factors *factors,
                         const double *signs, wt_tangent *out) {
    const wt_rows *rows = at->rows;
    size_t R = rows->rows, L = key_count(at), d = rows->in.dim, p = rows->outputs, m = at->heads;
    wt_arena *arena = &out->arena;
    *out = (wt_tangent){.at = at,
                        .factors = factors,
                        .arena = wt_arena_start(context, "derivatives by factors of Theta")};
    measure(at, out);
    out->weights = WT_TAKE(arena, float, weight_count(at));
    out->qt = WT_TAKE(arena, float, at->spanned, R);
    out->key = WT_TAKE(arena, float, L, d);
    out->query = WT_TAKE(arena, float, R, at->asked);
    out->asked = make_side(arena, R, at->asked, out->query, m, factors->rank);
    out->known = make_side(arena, L, d, out->key, factors->groups, factors->rank);
    if (at->groups > 0) {
        out->valued = make_side(arena, L, d, out->key, factors->groups, at->values);
        out->o = WT_TAKE(arena, float, m, at->values, p);
    }
    out->values = WT_TAKE(arena, float, L, m, p);
    out->span = WT_TAKE(arena, float, at->spanned, p);
    out->out = WT_TAKE(arena, float, R, p);
    out->signs = WT_TAKE(arena, float, R, p);
    out->turned = WT_TAKE(arena, float, R, d);
    out->scratch = WT_TAKE(arena, float, (size_t)wt_context_threads(context), out->scratch_each);
    wt_status status;
    WT_TRY(arena->status);
    if (signs != NULL)
        narrow(R * p, signs, out->signs);
    narrow(L * d, rows->in.key, out->key);
    narrow(R * at->asked, rows->in.query, out->query);
done:
    if (status != WT_OK)
        wt_tangent_free(out);
    return status;
}

void wt_tangent_free(wt_tangent *tangent) {
    wt_arena_free(&tangent->arena);
    *tangent = (wt_tangent){0};
}

/* A block (dim, columns) of a factor, among the others. */
static void put_block(const wt_tangent_side *side, size_t block, const double *from) {
    for (size_t j = 0; j < side->dim; j++)
        narrow(side->columns, from + j * side->columns,
               side->factor + (j * side->blocks + block) * side->columns);
}

/* The other way. */
static void take_block(const wt_tangent_side *side, size_t block, double *to) {
    for (size_t j = 0; j < side->dim; j++)
        for (size_t c = 0; c < side->columns; c++)
            to[j * side->columns + c] =
                (double)side->factor[(j * side->blocks + block) * side->columns + c];
}

static size_t value_at(const wt_tangent *tangent, size_t group) {
    return tangent->factors->factors + group * tangent->valued.dim * tangent->valued.columns;
}

static void put_factors(wt_tangent *tangent, const double *from) {
    const wt_factors *factors = tangent->factors;
    size_t each = factors->heads / factors->groups;
    for (size_t i = 0; i < factors->heads; i++)
        put_block(&tangent->asked, i, from + wt_factors_a(factors, i));
    for (size_t g = 0; g < factors->groups; g++)
        put_block(&tangent->known, g, from + wt_factors_b(factors, g * each));
    for (size_t g = 0; g < tangent->valued.blocks; g++)
        put_block(&tangent->valued, g, from + value_at(tangent, g));
}

static void take_factors(const wt_tangent *tangent, double *to) {
    const wt_factors *factors = tangent->factors;
    size_t each = factors->heads / factors->groups;
    for (size_t i = 0; i < factors->heads; i++)
        take_block(&tangent->asked, i, to + wt_factors_a(factors, i));
    for (size_t g = 0; g < factors->groups; g++)
        take_block(&tangent->known, g, to + wt_factors_b(factors, g * each));
    for (size_t g = 0; g < tangent->valued.blocks; g++)
        take_block(&tangent->valued, g, to + value_at(tangent, g));
}

/* out = tokens factor. */
static wt_status meet(wt_context *context, const wt_tangent_side *side, float *out) {
    size_t wide = side_width(side);
    return wt_gemm_float(context, WT_PLAIN, WT_PLAIN, side->tokens, wide, side->dim, 1, side->token,
                         side->dim, side->factor, wide, 0, out, wide);
}

/* factor = tokens^T move. */
static wt_status gather(wt_context *context, const wt_tangent_side *side) {
    size_t wide = side_width(side);
    return wt_gemm_float(context, WT_TRANSPOSED, WT_PLAIN, side->dim, wide, side->tokens, 1,
                         side->token, side->dim, side->move, wide, 0, side->factor, wide);
}

wt_status wt_tangent_load(wt_context *context, wt_tangent *tangent, const wt_projection *at) {
    size_t d = at->rows->in.dim, p = at->rows->outputs, m = at->heads;
    float *w = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(context, &w, m * d, p, "W in float"));
    tangent->at = at;
    narrow(weight_count(at), at->weights, tangent->weights);
    narrow(at->spanned * at->rows->rows, at->qt, tangent->qt);
    narrow(m * d * p, at->w, w);
    for (size_t i = 0; i < m; i++)
        WT_TRY(wt_gemm_float(context, WT_PLAIN, WT_PLAIN, key_count(at), p, d, 1, tangent->key, d,
                             w + i * d * p, p, 0, tangent->values + i * p, m * p));
    if (at->groups > 0)
        narrow(m * at->values * p, at->o, tangent->o);
    put_factors(tangent, tangent->factors->now);
    WT_TRY(meet(context, &tangent->asked, tangent->asked.now));
    WT_TRY(meet(context, &tangent->known, tangent->known.now));
done:
    wt_release(w);
    return status;
}

typedef struct {
    const wt_routines *blas;
    const wt_tangent *tangent;
    size_t head;
} moving;

/* One head of a sequence: where its rows, keys and weights are. */
typedef struct {
    size_t rows, keys, asked, known, valued;
    const float *weights, *values, *o;
    float *out;
    bool first; /* of its group */
} place;

static place place_of(const wt_tangent *tangent, size_t s, size_t head) {
    const wt_projection *at = tangent->at;
    const wt_attention *in = &at->rows->in;
    size_t row = wt_attention_row(in, s), rows = wt_attention_row(in, s + 1) - row;
    size_t key = wt_attention_key(in, s), keys = wt_attention_key(in, s + 1) - key;
    size_t groups = tangent->factors->groups, each = at->heads / groups;
    size_t m = at->heads, p = at->rows->outputs;
    return (place){.rows = rows,
                   .keys = keys,
                   .asked = (row * m + head) * tangent->asked.columns,
                   .known = (key * groups + head / each) * tangent->known.columns,
                   .valued = (key * groups + head / each) * tangent->valued.columns,
                   .weights = tangent->weights + m * at->starts[s] + head * rows * keys,
                   .values = tangent->values + (key * m + head) * p,
                   .o = at->groups > 0 ? tangent->o + head * at->values * p : NULL,
                   .out = tangent->out + row * p,
                   .first = head % each == 0};
}

/* Scores become A .* (score - mean), the derivative of the softmax along them. */
static void turn(const place *at, float *scores) {
    for (size_t r = 0; r < at->rows; r++) {
        float mean = 0, *of = scores + r * at->keys;
        const float *weights = at->weights + r * at->keys;
        for (size_t b = 0; b < at->keys; b++)
            mean += weights[b] * of[b];
        for (size_t b = 0; b < at->keys; b++)
            of[b] = weights[b] * (of[b] - mean);
    }
}

static void forth_one(const moving *work, size_t s, size_t head, float *scores) {
    const wt_tangent *tangent = work->tangent;
    const wt_tangent_side *asked = &tangent->asked, *known = &tangent->known;
    const wt_tangent_side *valued = &tangent->valued;
    size_t p = tangent->at->rows->outputs, r = asked->columns, v = valued->columns;
    size_t of_a = side_width(asked), of_b = side_width(known);
    place at = place_of(tangent, s, head);
    float *inner = scores + tangent->scores_each;
    if (at.rows == 0)
        return;
    work->blas->gemm(WT_PLAIN, WT_TRANSPOSED, at.rows, at.keys, r, 1, asked->move + at.asked, of_a,
                     known->now + at.known, of_b, 0, scores, at.keys);
    work->blas->gemm(WT_PLAIN, WT_TRANSPOSED, at.rows, at.keys, r, 1, asked->now + at.asked, of_a,
                     known->move + at.known, of_b, 1, scores, at.keys);
    turn(&at, scores);
    work->blas->gemm(WT_PLAIN, WT_PLAIN, at.rows, p, at.keys, 1, scores, at.keys, at.values,
                     tangent->at->heads * p, head == 0 ? 0 : 1, at.out, p);
    if (at.o == NULL)
        return;
    work->blas->gemm(WT_PLAIN, WT_PLAIN, at.rows, v, at.keys, 1, at.weights, at.keys,
                     valued->move + at.valued, side_width(valued), 0, inner, v);
    work->blas->gemm(WT_PLAIN, WT_PLAIN, at.rows, p, v, 1, inner, v, at.o, p, 1, at.out, p);
}

static void clear(const wt_tangent_side *side, size_t from, size_t tokens) {
    for (size_t t = 0; t < tokens && side->columns > 0; t++)
        memset(side->move + from + t * side_width(side), 0, side->columns * sizeof *side->move);
}

static void back_one(const moving *work, size_t s, size_t head, float *scores) {
    const wt_tangent *tangent = work->tangent;
    const wt_tangent_side *asked = &tangent->asked, *known = &tangent->known;
    const wt_tangent_side *valued = &tangent->valued;
    size_t p = tangent->at->rows->outputs, r = asked->columns, v = valued->columns;
    size_t of_a = side_width(asked), of_b = side_width(known);
    place at = place_of(tangent, s, head);
    float *inner = scores + tangent->scores_each;
    if (at.first) {
        clear(known, at.known, at.keys);
        clear(valued, at.valued, at.keys);
    }
    if (at.rows == 0)
        return;
    work->blas->gemm(WT_PLAIN, WT_TRANSPOSED, at.rows, at.keys, p, 1, at.out, p, at.values,
                     tangent->at->heads * p, 0, scores, at.keys);
    turn(&at, scores);
    work->blas->gemm(WT_PLAIN, WT_PLAIN, at.rows, r, at.keys, 1, scores, at.keys,
                     known->now + at.known, of_b, 0, asked->move + at.asked, of_a);
    work->blas->gemm(WT_TRANSPOSED, WT_PLAIN, at.keys, r, at.rows, 1, scores, at.keys,
                     asked->now + at.asked, of_a, 1, known->move + at.known, of_b);
    if (at.o == NULL)
        return;
    work->blas->gemm(WT_PLAIN, WT_TRANSPOSED, at.rows, v, p, 1, at.out, p, at.o, p, 0, inner, v);
    work->blas->gemm(WT_TRANSPOSED, WT_PLAIN, at.keys, v, at.rows, 1, at.weights, at.keys, inner, v,
                     1, valued->move + at.valued, side_width(valued));
}

static void turn_one(const moving *work, size_t s, size_t head, float *scores) {
    const wt_tangent *tangent = work->tangent;
    const wt_attention *in = &tangent->at->rows->in;
    size_t p = tangent->at->rows->outputs, d = in->dim, row = wt_attention_row(in, s);
    const float *key = tangent->key + wt_attention_key(in, s) * d;
    place at = place_of(tangent, s, head);
    if (at.rows == 0)
        return;
    work->blas->gemm(WT_PLAIN, WT_TRANSPOSED, at.rows, at.keys, p, 1, tangent->signs + row * p, p,
                     at.values, tangent->at->heads * p, 0, scores, at.keys);
    turn(&at, scores);
    work->blas->gemm(WT_PLAIN, WT_PLAIN, at.rows, d, at.keys, 1, scores, at.keys, key, d, 0,
                     tangent->turned + row * d, d);
}

static wt_status turn_some(void *argument, size_t begin, size_t end, int worker) {
    const moving *work = argument;
    float *scratch = work->tangent->scratch + (size_t)worker * work->tangent->scratch_each;
    for (size_t s = begin; s < end; s++)
        turn_one(work, s, work->head, scratch);
    return WT_OK;
}

static wt_status forth(void *argument, size_t begin, size_t end, int worker) {
    const moving *work = argument;
    float *scratch = work->tangent->scratch + (size_t)worker * work->tangent->scratch_each;
    for (size_t s = begin; s < end; s++)
        for (size_t head = 0; head < work->tangent->at->heads; head++)
            forth_one(work, s, head, scratch);
    return WT_OK;
}

static wt_status back(void *argument, size_t begin, size_t end, int worker) {
    const moving *work = argument;
    float *scratch = work->tangent->scratch + (size_t)worker * work->tangent->scratch_each;
    for (size_t s = begin; s < end; s++)
        for (size_t head = 0; head < work->tangent->at->heads; head++)
            back_one(work, s, head, scratch);
    return WT_OK;
}

static wt_status for_sequences(wt_context *context, const wt_tangent *tangent, wt_body_fn body) {
    const wt_projection *at = tangent->at;
    const wt_attention *in = &at->rows->in;
    const wt_backend *backend;
    size_t weights = weight_count(at), v = tangent->valued.columns, p = at->rows->outputs;
    WT_PASS(wt_backend_open(context, &backend));
    moving work = {&backend->real32, tangent, 0};
    wt_work_add(context, wt_work_product(weights, 2 * tangent->factors->rank + p + v + 2, 1) +
                             wt_work_product(at->rows->rows * at->heads, v, p));
    return wt_parallel_for(context, in->sequences, wt_attention_grain(in), body, &work);
}

wt_status wt_tangent_multiply(wt_context *context, wt_tangent *tangent, const double *direction,
                              double *product) {
    size_t R = tangent->at->rows->rows, p = tangent->at->rows->outputs, n = tangent->at->spanned;
    wt_tangent_side *const sides[] = {&tangent->asked, &tangent->known, &tangent->valued};
    put_factors(tangent, direction);
    for (size_t i = 0; i < 3; i++)
        WT_PASS(meet(context, sides[i], sides[i]->move));
    WT_PASS(for_sequences(context, tangent, forth));
    WT_PASS(wt_gemm_float(context, WT_PLAIN, WT_PLAIN, n, p, R, 1, tangent->qt, R, tangent->out, p,
                          0, tangent->span, p));
    WT_PASS(wt_gemm_float(context, WT_TRANSPOSED, WT_PLAIN, R, p, n, -1, tangent->qt, R,
                          tangent->span, p, 1, tangent->out, p));
    WT_PASS(for_sequences(context, tangent, back));
    for (size_t i = 0; i < 3; i++)
        WT_PASS(gather(context, sides[i]));
    take_factors(tangent, product);
    return WT_OK;
}

wt_status wt_tangent_curvature(wt_context *context, wt_tangent *tangent, double *out) {
    const wt_projection *at = tangent->at;
    const wt_attention *in = &at->rows->in;
    size_t R = at->rows->rows, d = in->dim, m = at->heads;
    const wt_backend *backend;
    WT_PASS(wt_backend_open(context, &backend));
    wt_work_add(context, wt_work_product(weight_count(at), at->rows->outputs + d, 1));
    for (size_t i = 0; i < m; i++) {
        moving work = {&backend->real32, tangent, i};
        double *to = out + i * d * d;
        WT_PASS(wt_parallel_for(context, in->sequences, wt_attention_grain(in), turn_some, &work));
        WT_PASS(wt_gram_float(context, WT_TRANSPOSED, R, d, tangent->turned, d, 0, to, d));
        WT_PASS(wt_mirror_lower(context, d, to, d));
        for (size_t j = 0; j < d * d; j++)
            to[j] /= (double)R;
    }
    return WT_OK;
}
