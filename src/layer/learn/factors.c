#include "layer/learn/factors.h"

#include <math.h>
#include <string.h>

#include "linalg/linalg.h"

wt_status wt_factors_new(wt_context *context, const wt_projection *at, size_t rank,
                         wt_factors *out) {
    size_t d = at->rows->in.dim;
    *out = (wt_factors){.heads = at->heads,
                        .asked = at->asked,
                        .dim = d,
                        .rank = rank,
                        .count = at->heads * (at->asked + d) * rank,
                        .arena = wt_arena_start(context, "factors of Theta")};
    out->now = WT_TAKE(&out->arena, double, at->heads, at->asked + d, rank);
    out->next = WT_TAKE(&out->arena, double, at->heads, at->asked + d, rank);
    wt_status status = out->arena.status;
    if (status != WT_OK)
        wt_factors_free(out);
    return status;
}

void wt_factors_free(wt_factors *factors) {
    wt_arena_free(&factors->arena);
    *factors = (wt_factors){0};
}

static size_t a_at(const wt_factors *factors, size_t head) {
    return head * (factors->asked + factors->dim) * factors->rank;
}
static size_t b_at(const wt_factors *factors, size_t head) {
    return a_at(factors, head) + factors->asked * factors->rank;
}

wt_status wt_factors_find(wt_context *context, wt_factors *factors, const double *theta) {
    size_t e = factors->asked, d = factors->dim, r = factors->rank, stride = factors->heads * d;
    wt_arena arena = wt_arena_start(context, "singular vectors of Theta");
    double *u = WT_TAKE(&arena, double, e, d), *s = WT_TAKE(&arena, double, d);
    double *vt = WT_TAKE(&arena, double, d, d);
    wt_status status;
    WT_TRY(arena.status);
    for (size_t i = 0; i < factors->heads; i++) {
        double *a = factors->now + a_at(factors, i), *b = factors->now + b_at(factors, i);
        WT_TRY(wt_svd(context, e, d, theta + i * d, stride, u, s, vt));
        for (size_t c = 0; c < r; c++) {
            double root = sqrt(s[c]);
            for (size_t j = 0; j < e; j++)
                a[j * r + c] = root * u[j * d + c];
            for (size_t j = 0; j < d; j++)
                b[j * r + c] = root * vt[c * d + j];
        }
    }
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_factors_multiply(wt_context *context, const wt_factors *factors, const double *ab,
                              double *theta) {
    size_t e = factors->asked, d = factors->dim, r = factors->rank, stride = factors->heads * d;
    for (size_t i = 0; i < factors->heads; i++)
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, e, d, r, 1, ab + a_at(factors, i), r,
                        ab + b_at(factors, i), r, 0, theta + i * d, stride));
    return WT_OK;
}

wt_status wt_factors_push(wt_context *context, const wt_factors *factors, const double *direction,
                          double *theta) {
    size_t e = factors->asked, d = factors->dim, r = factors->rank, stride = factors->heads * d;
    for (size_t i = 0; i < factors->heads; i++) {
        size_t a = a_at(factors, i), b = b_at(factors, i);
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, e, d, r, 1, direction + a, r,
                        factors->now + b, r, 0, theta + i * d, stride));
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, e, d, r, 1, factors->now + a, r,
                        direction + b, r, 1, theta + i * d, stride));
    }
    return WT_OK;
}

wt_status wt_factors_pull(wt_context *context, const wt_factors *factors, const double *theta,
                          double *gradient) {
    size_t e = factors->asked, d = factors->dim, r = factors->rank, stride = factors->heads * d;
    for (size_t i = 0; i < factors->heads; i++) {
        size_t a = a_at(factors, i), b = b_at(factors, i);
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, e, r, d, 1, theta + i * d, stride,
                        factors->now + b, r, 0, gradient + a, r));
        WT_PASS(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, d, r, e, 1, theta + i * d, stride,
                        factors->now + a, r, 0, gradient + b, r));
    }
    return WT_OK;
}
