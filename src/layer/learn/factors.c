#include "layer/learn/factors.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "linalg/linalg.h"

/* Matrices below this order are too small to share between threads. */
#define SHARED 64

wt_status wt_factors_new(wt_context *context, const wt_projection *at, size_t rank,
                         wt_factors *out) {
    size_t d = at->rows->in.dim, groups = at->groups == 0 ? at->heads : at->groups;
    size_t factors = (at->heads * at->asked + groups * d) * rank, shared = wt_projection_shared(at);
    *out = (wt_factors){.heads = at->heads,
                        .groups = groups,
                        .asked = at->asked,
                        .dim = d,
                        .rank = rank,
                        .factors = factors,
                        .values = at->values,
                        .shared = shared,
                        .count = factors + shared,
                        .arena = wt_arena_start(context, "factors of Theta")};
    out->now = WT_TAKE(&out->arena, double, out->count);
    out->next = WT_TAKE(&out->arena, double, out->count);
    wt_status status = out->arena.status;
    if (status != WT_OK)
        wt_factors_free(out);
    return status;
}

void wt_factors_free(wt_factors *factors) {
    wt_arena_free(&factors->arena);
    *factors = (wt_factors){0};
}

static size_t heads_of_one(const wt_factors *factors) {
    return factors->heads / factors->groups;
}
static size_t group_at(const wt_factors *factors, size_t group) {
    return group * (heads_of_one(factors) * factors->asked + factors->dim) * factors->rank;
}
size_t wt_factors_a(const wt_factors *factors, size_t head) {
    size_t each = heads_of_one(factors);
    return group_at(factors, head / each) + head % each * factors->asked * factors->rank;
}
size_t wt_factors_b(const wt_factors *factors, size_t head) {
    size_t each = heads_of_one(factors);
    return group_at(factors, head / each) + each * factors->asked * factors->rank;
}
static size_t thetas(const wt_factors *factors) {
    return factors->heads * factors->asked * factors->dim;
}

/* The Theta of a group one below the other, (each e, d), of the packed ones. */
static void stack(const wt_factors *factors, size_t group, const double *theta, double *out) {
    size_t e = factors->asked, d = factors->dim, each = heads_of_one(factors);
    for (size_t i = 0; i < each; i++)
        for (size_t j = 0; j < e; j++)
            memcpy(out + (i * e + j) * d, theta + (j * factors->heads + group * each + i) * d,
                   d * sizeof *out);
}

/* Work on every group, on the context's threads where a group is worth one. */
typedef struct {
    wt_context *context;
    const wt_factors *factors;
    const double *in;
    double *out;
} group_work;

static wt_status for_groups(wt_context *context, const wt_factors *factors, wt_body_fn body,
                            const double *in, double *out) {
    group_work work = {context, factors, in, out};
    return wt_parallel_for(context, factors->groups, factors->dim < SHARED ? factors->groups : 1,
                           body, &work);
}

/* A and B of one Theta after the other, by their singular vectors. */
static wt_status find_some(void *argument, size_t begin, size_t end, int worker) {
    const group_work *work = argument;
    const wt_factors *factors = work->factors;
    size_t d = factors->dim, r = factors->rank, rows = heads_of_one(factors) * factors->asked;
    wt_arena arena = wt_arena_start(work->context, "singular vectors of Theta");
    double *all = WT_TAKE(&arena, double, rows, d), *u = WT_TAKE(&arena, double, rows, d);
    double *s = WT_TAKE(&arena, double, d), *vt = WT_TAKE(&arena, double, d, d);
    wt_status status;
    (void)worker;
    WT_TRY(arena.status);
    for (size_t g = begin; g < end; g++) {
        double *a = work->out + group_at(factors, g), *b = a + rows * r;
        stack(factors, g, work->in, all);
        WT_TRY(wt_svd(work->context, rows, d, all, d, u, s, vt));
        for (size_t c = 0; c < r; c++) {
            double root = sqrt(s[c]);
            for (size_t j = 0; j < rows; j++)
                a[j * r + c] = root * u[j * d + c];
            for (size_t j = 0; j < d; j++)
                b[j * r + c] = root * vt[c * d + j];
        }
    }
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_factors_find(wt_context *context, wt_factors *factors, const double *theta) {
    memcpy(factors->now + factors->factors, theta + thetas(factors),
           factors->shared * sizeof *theta);
    return for_groups(context, factors, find_some, theta, factors->now);
}

/* Orthonormal columns of the span of one V after the other, (d, v). */
static wt_status straighten_some(void *argument, size_t begin, size_t end, int worker) {
    const group_work *work = argument;
    size_t d = work->factors->dim, n = work->factors->values;
    wt_arena arena = wt_arena_start(work->context, "a basis of V");
    double *s = WT_TAKE(&arena, double, n), *vt = WT_TAKE(&arena, double, n, n);
    wt_status status;
    (void)worker;
    WT_TRY(arena.status);
    for (size_t g = begin; g < end; g++)
        WT_TRY(wt_svd(work->context, d, n, work->in + g * d * n, n, work->out + g * d * n, s, vt));
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_factors_multiply(wt_context *context, const wt_factors *factors, const double *ab,
                              double *theta) {
    size_t e = factors->asked, d = factors->dim, r = factors->rank, stride = factors->heads * d;
    for (size_t i = 0; i < factors->heads; i++)
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, e, d, r, 1, ab + wt_factors_a(factors, i),
                        r, ab + wt_factors_b(factors, i), r, 0, theta + i * d, stride));
    return factors->shared == 0 ? WT_OK
                                : for_groups(context, factors, straighten_some,
                                             ab + factors->factors, theta + thetas(factors));
}

wt_status wt_factors_pull(wt_context *context, const wt_factors *factors, const double *theta,
                          double *gradient) {
    size_t e = factors->asked, d = factors->dim, r = factors->rank, stride = factors->heads * d;
    for (size_t i = 0; i < factors->heads; i++) {
        size_t a = wt_factors_a(factors, i), b = wt_factors_b(factors, i);
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, e, r, d, 1, theta + i * d, stride,
                        factors->now + b, r, 0, gradient + a, r));
        WT_PASS(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, d, r, e, 1, theta + i * d, stride,
                        factors->now + a, r, i % heads_of_one(factors) == 0 ? 0 : 1, gradient + b,
                        r));
    }
    memcpy(gradient + factors->factors, theta + thetas(factors),
           factors->shared * sizeof *gradient);
    return WT_OK;
}
