#include "layer/learn/blocks.h"

#include <string.h>

#include "base/parallel.h"
#include "linalg/linalg.h"

/* Part of the mean of the eigenvalues that is added to all: where a product of two matrices says
 * that nothing shows, something may. */
#define LEAST 1e-4
/* Matrices below this order are too small to share between threads. */
#define SHARED 64

static wt_recover_eigen make_eigen(wt_arena *arena, size_t count, size_t n) {
    return (wt_recover_eigen){.count = count,
                              .n = n,
                              .vectors = WT_TAKE(arena, double, count, n, n),
                              .values = WT_TAKE(arena, double, count, n)};
}

static double *matrix_of(const wt_recover_eigen *eigen, size_t index) {
    return eigen->vectors + index * eigen->n * eigen->n;
}

/* Eigenvectors of the symmetric matrix that lies in their place, by its lower triangle. */
static wt_status decompose(wt_context *context, const wt_recover_eigen *eigen, size_t index) {
    size_t n = eigen->n;
    double sum = 0, *values = eigen->values + index * n;
    WT_PASS(wt_eigen_symmetric(context, n, matrix_of(eigen, index), n, true, values));
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    for (size_t i = 0; i < n; i++)
        values[i] = (values[i] > 0 ? values[i] : 0) + LEAST * sum / (double)n;
    return WT_OK;
}

/* All that change from step to step, the large ones first. */
enum { CHANGING = 5 };
typedef struct {
    wt_context *context;
    const wt_recover_eigen *of[CHANGING];
} decomposing;

static wt_status decompose_some(void *argument, size_t begin, size_t end, int worker) {
    const decomposing *work = argument;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        size_t index = i, of = 0;
        while (index >= work->of[of]->count)
            index -= work->of[of++]->count;
        WT_PASS(decompose(work->context, work->of[of], index));
    }
    return WT_OK;
}

static wt_status decompose_all(wt_context *context, wt_recover_blocks *made) {
    decomposing work = {
        context,
        {&made->b.tokens, &made->v.tokens, &made->a.columns, &made->b.columns, &made->v.columns}};
    size_t count = 0;
    for (size_t i = 0; i < CHANGING; i++)
        count += work.of[i]->count;
    return wt_parallel_for(context, count, made->b.tokens.n < SHARED ? count : 1, decompose_some,
                           &work);
}

wt_status wt_blocks_new(wt_context *context, const wt_factors *factors, const wt_rows *rows,
                        wt_blocks *out) {
    size_t e = factors->asked, d = factors->dim, r = factors->rank, v = factors->values;
    size_t m = factors->heads, g = factors->groups;
    wt_arena *arena = &out->arena;
    wt_recover_blocks *made = &out->made;
    wt_status status;
    *out = (wt_blocks){.factors = factors, .arena = wt_arena_start(context, "a preconditioner")};
    made->size = 1;
    made->a = (wt_recover_block){make_eigen(arena, 1, e), make_eigen(arena, m, r)};
    made->b = (wt_recover_block){make_eigen(arena, g, d), make_eigen(arena, g, r)};
    if (v > 0) {
        made->v = (wt_recover_block){make_eigen(arena, g, d), make_eigen(arena, g, v)};
        out->sums.valued = made->v.tokens.vectors;
        out->sums.shared = made->v.columns.vectors;
    }
    out->sums.known = WT_TAKE(arena, double, m, d, d);
    out->spare = WT_TAKE(arena, double, e, r);
    out->turned = WT_TAKE(arena, double, e, r);
    WT_TRY(arena->status);
    WT_TRY(wt_gram(context, WT_TRANSPOSED, rows->rows, e, rows->in.query, e, 0,
                   made->a.tokens.vectors, e));
    WT_TRY(decompose(context, &made->a.tokens, 0));
done:
    if (status != WT_OK)
        wt_blocks_free(out);
    return status;
}

void wt_blocks_free(wt_blocks *blocks) {
    wt_arena_free(&blocks->arena);
    *blocks = (wt_blocks){0};
}

/* out (r, r) = B^T K B. */
static wt_status see(wt_context *context, wt_blocks *blocks, const double *b, const double *known,
                     double *out) {
    size_t d = blocks->factors->dim, r = blocks->factors->rank;
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, d, r, d, 1, known, d, b, r, 0, blocks->spare, r));
    return wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, r, r, d, 1, b, r, blocks->spare, r, 0, out, r);
}

/* out (r, r) += weight A^T S A, by the eigenvectors of S. */
static wt_status add_asked(wt_context *context, wt_blocks *blocks, const double *a, double weight,
                           double *out) {
    const wt_recover_eigen *tokens = &blocks->made.a.tokens;
    size_t e = tokens->n, r = blocks->factors->rank;
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, e, r, e, 1, tokens->vectors, e, a, r, 0,
                    blocks->turned, r));
    for (size_t i = 0; i < e; i++)
        for (size_t c = 0; c < r; c++)
            blocks->spare[i * r + c] = weight * tokens->values[i] * blocks->turned[i * r + c];
    return wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, r, r, e, 1, blocks->turned, r, blocks->spare,
                   r, 1, out, r);
}

/* The matrices of a group, A of its heads and B. */
static wt_status fill_group(wt_context *context, wt_blocks *blocks, size_t group) {
    const wt_factors *f = blocks->factors;
    size_t d = f->dim, r = f->rank, each = f->heads / f->groups;
    double *tokens = matrix_of(&blocks->made.b.tokens, group), sum = 0;
    double *columns = matrix_of(&blocks->made.b.columns, group);
    memset(tokens, 0, d * d * sizeof *tokens);
    memset(columns, 0, r * r * sizeof *columns);
    for (size_t i = group * each; i < (group + 1) * each; i++) {
        const double *known = blocks->sums.known + i * d * d;
        double weight = 0;
        WT_PASS(see(context, blocks, f->now + wt_factors_b(f, i), known,
                    matrix_of(&blocks->made.a.columns, i)));
        for (size_t j = 0; j < d * d; j++)
            tokens[j] += known[j];
        for (size_t j = 0; j < d; j++)
            weight += known[j * d + j];
        WT_PASS(add_asked(context, blocks, f->now + wt_factors_a(f, i), weight, columns));
        sum += weight;
    }
    for (size_t j = 0; j < r * r && sum > 0; j++)
        columns[j] /= sum;
    return WT_OK;
}

static double trace(const wt_recover_eigen *eigen, size_t index) {
    double sum = 0;
    for (size_t i = 0; i < eigen->n; i++)
        sum += eigen->values[index * eigen->n + i];
    return sum;
}

/* Of the tokens of block i: its own, or those of all. */
static size_t tokens_of(const wt_recover_block *block, size_t i) {
    return block->tokens.count == 1 ? 0 : i;
}

/* The sum of the diagonal of M. */
static double total(const wt_recover_blocks *made) {
    const wt_recover_block *const of[] = {&made->a, &made->b, &made->v};
    double sum = 0;
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < of[k]->columns.count; i++)
            sum += trace(&of[k]->tokens, tokens_of(of[k], i)) * trace(&of[k]->columns, i);
    return sum;
}

wt_status wt_blocks_make(wt_context *context, wt_blocks *blocks, double mean) {
    const wt_factors *f = blocks->factors;
    for (size_t g = 0; g < f->groups; g++)
        WT_PASS(fill_group(context, blocks, g));
    WT_PASS(decompose_all(context, &blocks->made));
    double sum = total(&blocks->made);
    blocks->made.size = sum > 0 && mean > 0 ? mean * (double)f->count / sum : 1;
    return WT_OK;
}

/* out = (size tokens (x) columns + shift I)^-1 x, (tokens, columns) each, of block i. */
static wt_status solve_one(wt_context *context, const wt_recover_blocks *blocks,
                           const wt_recover_block *block, size_t i, double shift, const double *x,
                           double *spare, double *out) {
    const wt_recover_eigen *left = &block->tokens, *right = &block->columns;
    size_t n = left->n, c = right->n, of = tokens_of(block, i);
    const double *l = matrix_of(left, of), *r = matrix_of(right, i);
    double *turned = spare + n * c;
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, n, c, n, 1, l, n, x, c, 0, spare, c));
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, n, c, c, 1, spare, c, r, c, 0, turned, c));
    for (size_t u = 0; u < n; u++)
        for (size_t w = 0; w < c; w++)
            turned[u * c + w] /=
                blocks->size * left->values[of * n + u] * right->values[i * c + w] + shift;
    WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, n, c, c, 1, turned, c, r, c, 0, spare, c));
    return wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, n, c, n, 1, l, n, spare, c, 0, out, c);
}

wt_status wt_blocks_solve(wt_context *context, const wt_recover_blocks *blocks,
                          const wt_factors *factors, double shift, const double *x, double *spare,
                          double *out) {
    const wt_factors *f = factors;
    for (size_t i = 0; i < f->heads; i++) {
        size_t at = wt_factors_a(f, i);
        WT_PASS(solve_one(context, blocks, &blocks->a, i, shift, x + at, spare, out + at));
    }
    for (size_t g = 0; g < f->groups; g++) {
        size_t at = wt_factors_b(f, g * (f->heads / f->groups));
        WT_PASS(solve_one(context, blocks, &blocks->b, g, shift, x + at, spare, out + at));
    }
    for (size_t g = 0; g < blocks->v.columns.count; g++) {
        size_t at = f->factors + g * f->dim * f->values;
        WT_PASS(solve_one(context, blocks, &blocks->v, g, shift, x + at, spare, out + at));
    }
    return WT_OK;
}
