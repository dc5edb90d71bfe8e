#include "layer/learn/normal_matrix.h"

#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/work.h"
#include "linalg/backend.h"

/* Rows that are expanded at a time. */
enum { ROWS_A_BLOCK = 512, ROWS_A_CHUNK = 16 };

typedef struct {
    const wt_routines *blas;
    const wt_projection *at;
    size_t first, halves_x, halves_b; /* first row; e (e+1) / 2; m d (m d + 1) / 2 */
    double *values;                   /* (L, m p): x_b^T W_i */
    double *xx, *bb;                  /* (block, halves): the two symmetric factors */
    double *xq, *b;                   /* (block, e c), (block, m d p) */
    double *scratch;
    size_t scratch_each, most_keys;
    double *products;   /* (halves_x, halves_b) */
    double *spread;     /* (e c, m d p) */
    double *basis_part; /* (e m d, c p): T */
    double *normal;
    wt_arena arena;
} job;

static size_t half_at(size_t a, size_t b) {
    return a >= b ? a * (a + 1) / 2 + b : b * (b + 1) / 2 + a;
}

/* B_ri = X^T (A .* (X W_i - h_ri^T W_i)), as the A .* (x - h) sum to 0. */
static void fill_b(const job *work, size_t row, double *scratch, double *b) {
    const wt_projection *at = work->at;
    const wt_attention *in = &at->rows->in;
    size_t s = at->rows->sequence_of[row], d = in->dim, p = at->rows->outputs, m = at->heads;
    size_t first = wt_attention_row(in, s), rows = wt_attention_row(in, s + 1) - first;
    size_t key = wt_attention_key(in, s), keys = wt_attention_key(in, s + 1) - key;
    double *mean = scratch + work->most_keys * p;
    for (size_t i = 0; i < m; i++) {
        const double *a = at->weights + m * at->starts[s] + (i * rows + row - first) * keys;
        const double *values = work->values + key * m * p + i * p;
        memset(mean, 0, p * sizeof *mean);
        for (size_t k = 0; k < keys; k++)
            for (size_t o = 0; o < p; o++)
                mean[o] += a[k] * values[k * m * p + o];
        for (size_t k = 0; k < keys; k++)
            for (size_t o = 0; o < p; o++)
                scratch[k * p + o] = a[k] * (values[k * m * p + o] - mean[o]);
        work->blas->gemm(WT_TRANSPOSED, WT_PLAIN, d, p, keys, 1, in->key + key * d, d, scratch, p,
                         0, b + i * d * p, p);
    }
}

static wt_status expand(void *argument, size_t begin, size_t end, int worker) {
    const job *work = argument;
    const wt_projection *at = work->at;
    size_t e = at->asked, n = at->width, p = at->rows->outputs, R = at->rows->rows;
    double *scratch = work->scratch + (size_t)worker * work->scratch_each;
    double *square = scratch + (work->most_keys + 1) * p;
    for (size_t r = begin; r < end; r++) {
        size_t row = work->first + r;
        const double *x = at->rows->in.query + row * e;
        double *b = work->b + r * n * p, *xx = work->xx + r * work->halves_x;
        double *bb = work->bb + r * work->halves_b, *xq = work->xq + r * e * at->columns;
        fill_b(work, row, scratch, b);
        work->blas->syrk(WT_PLAIN, n, p, 1, b, p, 0, square, n);
        for (size_t i = 0; i < n; i++)
            memcpy(bb + i * (i + 1) / 2, square + i * n, (i + 1) * sizeof *bb);
        for (size_t u = 0; u < e; u++) {
            for (size_t v = 0; v <= u; v++)
                xx[u * (u + 1) / 2 + v] = x[u] * x[v];
            for (size_t c = 0; c < at->columns; c++)
                xq[u * at->columns + c] = x[u] * at->qt[c * R + row];
        }
    }
    return WT_OK;
}

/* Rows (u, a) of the normal matrix and of T. */
static wt_status scatter(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const job *work = argument;
    size_t e = work->at->asked, n = work->at->width, p = work->at->rows->outputs;
    size_t columns = work->at->columns;
    for (size_t item = begin; item < end; item++) {
        size_t u = item / n, a = item % n;
        for (size_t v = 0; v <= u; v++) {
            const double *from = work->products + half_at(u, v) * work->halves_b;
            double *to = work->normal + item * e * n + v * n;
            for (size_t b = 0; b < n; b++)
                to[b] = from[half_at(a, b)];
        }
        for (size_t c = 0; c < columns; c++)
            memcpy(work->basis_part + (item * columns + c) * p,
                   work->spread + ((u * columns + c) * n + a) * p, p * sizeof *work->basis_part);
    }
    return WT_OK;
}

static wt_status make_room(wt_context *context, job *work) {
    const wt_projection *at = work->at;
    const wt_attention *in = &at->rows->in;
    size_t e = at->asked, n = at->width, p = at->rows->outputs;
    size_t keys = wt_attention_key(in, in->sequences), workers;
    workers = (size_t)wt_context_threads(context);
    for (size_t s = 0; s < in->sequences; s++) {
        size_t one = wt_attention_key(in, s + 1) - wt_attention_key(in, s);
        work->most_keys = one > work->most_keys ? one : work->most_keys;
    }
    work->scratch_each = (work->most_keys + 1) * p + n * n;
    work->values = WT_TAKE(&work->arena, double, keys, at->heads, p);
    work->xx = WT_TAKE(&work->arena, double, ROWS_A_BLOCK, work->halves_x);
    work->bb = WT_TAKE(&work->arena, double, ROWS_A_BLOCK, work->halves_b);
    work->xq = WT_TAKE(&work->arena, double, ROWS_A_BLOCK, e, at->columns);
    work->b = WT_TAKE(&work->arena, double, ROWS_A_BLOCK, n, p);
    work->scratch = WT_TAKE(&work->arena, double, workers, work->scratch_each);
    work->products = WT_TAKE(&work->arena, double, work->halves_x, work->halves_b);
    work->spread = WT_TAKE(&work->arena, double, e, at->columns, n, p);
    work->basis_part = WT_TAKE(&work->arena, double, e, at->columns, n, p);
    return work->arena.status;
}

static wt_status sum_rows(wt_context *context, job *work) {
    const wt_projection *at = work->at;
    const wt_attention *in = &at->rows->in;
    size_t d = in->dim, n = at->width, p = at->rows->outputs, m = at->heads;
    size_t keys = wt_attention_key(in, in->sequences), wide = at->asked * at->columns;
    for (size_t i = 0; i < m; i++)
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, keys, p, d, 1, in->key, d, at->w + i * d * p,
                        p, 0, work->values + i * p, m * p));
    /* B of all rows: A .* (X W - h^T W), and X^T times it */
    wt_work_add(context, wt_work_product(m * at->starts[in->sequences], p, d + 2));
    for (work->first = 0; work->first < at->rows->rows; work->first += ROWS_A_BLOCK) {
        size_t left = at->rows->rows - work->first,
               rows = left < ROWS_A_BLOCK ? left : ROWS_A_BLOCK;
        double beta = work->first == 0 ? 0 : 1;
        WT_PASS(wt_parallel_for(context, rows, ROWS_A_CHUNK, expand, work));
        wt_work_add(context, wt_work_product(rows, n * (n + 1) / 2, p) +
                                 (double)rows * (double)(wide + work->halves_x));
        WT_PASS(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, work->halves_x, work->halves_b, rows, 1,
                        work->xx, work->halves_x, work->bb, work->halves_b, beta, work->products,
                        work->halves_b));
        WT_PASS(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, wide, n * p, rows, 1, work->xq, wide,
                        work->b, n * p, beta, work->spread, n * p));
    }
    return WT_OK;
}

wt_status wt_normal_form(wt_context *context, const wt_projection *at, double *normal) {
    size_t e = at->asked, n = at->width, inner = at->columns * at->rows->outputs, side = e * n;
    job work = {.at = at,
                .halves_x = e * (e + 1) / 2,
                .halves_b = n * (n + 1) / 2,
                .normal = normal,
                .arena = wt_arena_start(context, "a normal matrix")};
    const wt_backend *backend;
    wt_status status;
    WT_TRY(wt_backend_open(context, &backend));
    work.blas = &backend->real64;
    WT_TRY(make_room(context, &work));
    WT_TRY(sum_rows(context, &work));
    WT_TRY(wt_parallel_for(context, side, 16, scatter, &work));
    /* T T^T - J^T J, and the other way round */
    WT_TRY(wt_gram(context, WT_PLAIN, side, inner, work.basis_part, inner, -1, normal, side));
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j <= i; j++)
            normal[i * side + j] = -normal[i * side + j];
done:
    wt_arena_free(&work.arena);
    return status;
}

double wt_normal_flops(const wt_projection *at) {
    double d = (double)at->asked, n = (double)at->width, p = (double)at->rows->outputs;
    double rows = (double)at->rows->rows, side = d * n;
    return rows * (d * d * n * n / 2 + 2 * d * n * n * p + n * n * p) + side * side * n * p +
           side * side * side / 3;
}
