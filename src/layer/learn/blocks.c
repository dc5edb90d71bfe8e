#include "layer/learn/blocks.h"

#include <string.h>

#include "linalg/linalg.h"

/* Part of the mean of the eigenvalues that is added to all: where a product of two matrices says
 * that nothing shows, something may. */
#define LEAST 1e-4

static wt_blocks_side make_side(wt_arena *arena, size_t n) {
    return (wt_blocks_side){
        .n = n, .vectors = WT_TAKE(arena, double, n, n), .values = WT_TAKE(arena, double, n)};
}

static wt_blocks_side *make_sides(wt_arena *arena, size_t count, size_t n) {
    wt_blocks_side *sides = WT_TAKE(arena, wt_blocks_side, count);
    for (size_t i = 0; i < count && sides != NULL; i++)
        sides[i] = make_side(arena, n);
    return sides;
}

/* Eigenvectors of the symmetric matrix that lies in their place, by its lower triangle. */
static wt_status decompose(wt_context *context, wt_blocks_side *side) {
    double sum = 0;
    WT_PASS(wt_eigen_symmetric(context, side->n, side->vectors, side->n, true, side->values));
    for (size_t i = 0; i < side->n; i++)
        sum += side->values[i];
    for (size_t i = 0; i < side->n; i++)
        side->values[i] =
            (side->values[i] > 0 ? side->values[i] : 0) + LEAST * sum / (double)side->n;
    return WT_OK;
}

static double trace(const wt_blocks_side *side) {
    double sum = 0;
    for (size_t i = 0; i < side->n; i++)
        sum += side->values[i];
    return sum;
}

wt_status wt_blocks_new(wt_context *context, const wt_factors *factors, const wt_projection *at,
                        wt_blocks *out) {
    size_t e = factors->asked, d = factors->dim, r = factors->rank, v = factors->values;
    size_t m = factors->heads, g = factors->groups;
    wt_arena *arena = &out->arena;
    wt_status status;
    *out = (wt_blocks){.factors = factors,
                       .size = 1,
                       .arena = wt_arena_start(context, "blocks of a preconditioner")};
    out->tokens = make_side(arena, e);
    out->a = make_sides(arena, m, r);
    out->b_tokens = make_sides(arena, g, d);
    out->b = make_sides(arena, g, r);
    if (v > 0) {
        out->v_tokens = make_sides(arena, g, d);
        out->v = make_sides(arena, g, v);
    }
    out->known = WT_TAKE(arena, double, m, d, d);
    out->spare = WT_TAKE(arena, double, e, r > v ? r : v);
    out->turned = WT_TAKE(arena, double, e, r > v ? r : v);
    WT_TRY(arena->status);
    WT_TRY(wt_gram(context, WT_TRANSPOSED, at->rows->rows, e, at->rows->in.query, e, 0,
                   out->tokens.vectors, e));
    WT_TRY(decompose(context, &out->tokens));
done:
    if (status != WT_OK)
        wt_blocks_free(out);
    return status;
}

void wt_blocks_free(wt_blocks *blocks) {
    wt_arena_free(&blocks->arena);
    *blocks = (wt_blocks){0};
}

/* out (c, c) += X^T M X, X (n, c). */
static wt_status add_seen(wt_context *context, wt_blocks *blocks, size_t n, size_t c,
                          const double *x, const double *m, double *out) {
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, n, c, n, 1, m, n, x, c, 0, blocks->spare, c));
    return wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, c, c, n, 1, x, c, blocks->spare, c, 1, out, c);
}

/* out (r, r) += weight A^T S A, by the eigenvectors of S. */
static wt_status add_asked(wt_context *context, wt_blocks *blocks, const double *a, double weight,
                           double *out) {
    const wt_blocks_side *side = &blocks->tokens;
    size_t e = side->n, r = blocks->factors->rank;
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, e, r, e, 1, side->vectors, e, a, r, 0,
                    blocks->turned, r));
    for (size_t i = 0; i < e; i++)
        for (size_t c = 0; c < r; c++)
            blocks->spare[i * r + c] = weight * side->values[i] * blocks->turned[i * r + c];
    return wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, r, r, e, 1, blocks->turned, r, blocks->spare,
                   r, 1, out, r);
}

static wt_status load_group(wt_context *context, wt_blocks *blocks, size_t group) {
    const wt_factors *f = blocks->factors;
    size_t d = f->dim, r = f->rank, each = f->heads / f->groups;
    double *tokens = blocks->b_tokens[group].vectors, *columns = blocks->b[group].vectors, sum = 0;
    memset(tokens, 0, d * d * sizeof *tokens);
    memset(columns, 0, r * r * sizeof *columns);
    for (size_t i = group * each; i < (group + 1) * each; i++) {
        double *known = blocks->known + i * d * d, weight = 0, *a = blocks->a[i].vectors;
        memset(a, 0, r * r * sizeof *a);
        WT_PASS(add_seen(context, blocks, d, r, f->now + wt_factors_b(f, i), known, a));
        WT_PASS(decompose(context, &blocks->a[i]));
        for (size_t j = 0; j < d * d; j++)
            tokens[j] += known[j];
        for (size_t j = 0; j < d; j++)
            weight += known[j * d + j];
        WT_PASS(add_asked(context, blocks, f->now + wt_factors_a(f, i), weight, columns));
        sum += weight;
    }
    for (size_t j = 0; j < r * r && sum > 0; j++)
        columns[j] /= sum;
    WT_PASS(decompose(context, &blocks->b_tokens[group]));
    return decompose(context, &blocks->b[group]);
}

static wt_status load_values(wt_context *context, wt_blocks *blocks, const wt_projection *at,
                             size_t group) {
    const wt_factors *f = blocks->factors;
    size_t d = f->dim, v = f->values, each = f->heads / f->groups, p = at->rows->outputs;
    double *columns = blocks->v[group].vectors;
    memset(columns, 0, v * v * sizeof *columns);
    for (size_t i = 0; i < each; i++) {
        size_t head = group * each + i;
        const double *o = at->o + head * v * p;
        WT_PASS(wt_gram(context, WT_TRANSPOSED, at->rows->rows, d, at->h + head * d, at->columns,
                        i == 0 ? 0 : 1, blocks->v_tokens[group].vectors, d));
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, v, v, p, 1 / (double)each, o, p, o, p, 1,
                        columns, v));
    }
    WT_PASS(decompose(context, &blocks->v_tokens[group]));
    return decompose(context, &blocks->v[group]);
}

/* The sum of the diagonal of M. */
static double total(const wt_blocks *blocks) {
    const wt_factors *f = blocks->factors;
    double sum = 0;
    for (size_t i = 0; i < f->heads; i++)
        sum += trace(&blocks->tokens) * trace(&blocks->a[i]);
    for (size_t g = 0; g < f->groups; g++)
        sum += trace(&blocks->b_tokens[g]) * trace(&blocks->b[g]);
    for (size_t g = 0; g < f->groups && f->values > 0; g++)
        sum += trace(&blocks->v_tokens[g]) * trace(&blocks->v[g]);
    return sum;
}

wt_status wt_blocks_load(wt_context *context, wt_blocks *blocks, wt_tangent *tangent, double mean) {
    const wt_factors *f = blocks->factors;
    WT_PASS(wt_tangent_curvature(context, tangent, blocks->known));
    for (size_t g = 0; g < f->groups; g++) {
        WT_PASS(load_group(context, blocks, g));
        if (f->values > 0)
            WT_PASS(load_values(context, blocks, tangent->at, g));
    }
    double sum = total(blocks);
    blocks->size = sum > 0 && mean > 0 ? mean * (double)f->count / sum : 1;
    return WT_OK;
}

/* out = (size left (x) right + shift I)^-1 x, (left, right) each. */
static wt_status solve_one(wt_context *context, wt_blocks *blocks, const wt_blocks_side *left,
                           const wt_blocks_side *right, double shift, const double *x,
                           double *out) {
    size_t n = left->n, c = right->n;
    double *spare = blocks->spare, *turned = blocks->turned;
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, n, c, n, 1, left->vectors, n, x, c, 0, spare, c));
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, n, c, c, 1, spare, c, right->vectors, c, 0,
                    turned, c));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < c; j++)
            turned[i * c + j] /= blocks->size * left->values[i] * right->values[j] + shift;
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, n, c, c, 1, turned, c, right->vectors, c, 0, spare,
                    c));
    return wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, n, c, n, 1, left->vectors, n, spare, c, 0, out,
                   c);
}

wt_status wt_blocks_solve(wt_context *context, wt_blocks *blocks, double shift, const double *x,
                          double *out) {
    const wt_factors *f = blocks->factors;
    size_t each = f->heads / f->groups;
    for (size_t i = 0; i < f->heads; i++) {
        size_t at = wt_factors_a(f, i);
        WT_PASS(
            solve_one(context, blocks, &blocks->tokens, &blocks->a[i], shift, x + at, out + at));
    }
    for (size_t g = 0; g < f->groups; g++) {
        size_t at = wt_factors_b(f, g * each);
        WT_PASS(solve_one(context, blocks, &blocks->b_tokens[g], &blocks->b[g], shift, x + at,
                          out + at));
    }
    for (size_t g = 0; g < f->groups && f->values > 0; g++) {
        size_t at = f->factors + g * f->dim * f->values;
        WT_PASS(solve_one(context, blocks, &blocks->v_tokens[g], &blocks->v[g], shift, x + at,
                          out + at));
    }
    return WT_OK;
}
