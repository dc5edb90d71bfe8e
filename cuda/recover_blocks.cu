/* The preconditioner of linear systems in factors of Theta (layer/learn/blocks.h): what it is made
 * of, and its solves. Eigenvectors are the host's: a few dozen of order 400 at most, which its
 * threads make side by side. */
#include "recover.h"

/* ---- sums ------------------------------------------------------------------------------------ */

/* spread (R, d) = P_i X of head i, P (S, Q, m, K). */
static wt_status gather_keys(wt_recover_fit *fit, const double *p, size_t head) {
    size_t d = fit->d, m = fit->m, Q = fit->Q, K = fit->K;
    return rows_batch(fit->lane, false, false, Q, d, K, p + head * K, m * K, Q * m * K,
                      fit->key.data, d, K * d, 0, fit->spread.data, d, Q * d, fit->S);
}

/* out (d, d) = factor spread^T spread + beta out. */
static wt_status square_spread(wt_recover_fit *fit, double factor, double beta, double *out) {
    size_t d = fit->d;
    return rows_gemm(fit->lane, true, false, d, d, fit->R, factor, fit->spread.data, d,
                     fit->spread.data, d, beta, out, d);
}

/* K_i: scores z_r W_i^T X^T, turned, times X are C_ri W_i z_r. Signs of padding are 0. */
static wt_status sum_known(wt_recover_fit *fit, double *out) {
    cuda_lane *lane = fit->lane;
    size_t d = fit->d, m = fit->m, p = fit->p, Q = fit->Q, K = fit->K;
    buffer<double> known;
    CUDA_PASS(known.take(lane, m * d * d, "a preconditioner"));
    CUDA_PASS(rows_batch(lane, false, true, Q, m * K, p, fit->signs.data, p, Q * p, fit->value.data,
                         p, m * K * p, 0, fit->scores.data, m * K, Q * m * K, fit->S));
    CUDA_PASS(recover_turn(fit, fit->now->weights.data, fit->scores.data));
    for (size_t i = 0; i < m; i++) {
        CUDA_PASS(gather_keys(fit, fit->scores.data, i));
        CUDA_PASS(square_spread(fit, 1 / (double)fit->live, 0, known.data + i * d * d));
    }
    return known.store(out, m * d * d);
}

static wt_status sum_values(wt_recover_fit *fit, const wt_recover_sums *out) {
    cuda_lane *lane = fit->lane;
    size_t d = fit->d, m = fit->m, p = fit->p, v = fit->values, groups = fit->groups;
    buffer<double> valued, shared;
    CUDA_PASS(valued.take(lane, groups * d * d, "a preconditioner"));
    CUDA_PASS(shared.take(lane, groups * v * v, "a preconditioner"));
    for (size_t i = 0; i < m; i++) {
        size_t g = recover_group(fit, i);
        double beta = i % (m / groups) == 0 ? 0 : 1;
        const double *o = fit->now->o.data + i * v * p;
        CUDA_PASS(gather_keys(fit, fit->now->weights.data, i));
        CUDA_PASS(square_spread(fit, 1, beta, valued.data + g * d * d));
        CUDA_PASS(rows_gemm(lane, false, true, v, v, p, (double)groups / (double)m, o, p, o, p,
                            beta, shared.data + g * v * v, v));
    }
    CUDA_PASS(valued.store(out->valued, groups * d * d));
    return shared.store(out->shared, groups * v * v);
}

/* Work of the products above, as counted on the host. */
static double sum_flops(const wt_recover_fit *fit) {
    double R = (double)fit->R, m = (double)fit->m, K = (double)fit->K, d = (double)fit->d;
    double p = (double)fit->p, v = (double)fit->values, shared = fit->groups > 0 ? 1 : 0;
    return 2 * R * K * m * p + (1 + shared) * 2 * R * m * d * (K + d) + 2 * m * v * v * p;
}

wt_status recover_sum(wt_recover_fit *fit, const wt_recover_sums *out) {
    fit->lane->device->services->work(fit->lane->context, sum_flops(fit));
    CUDA_PASS(sum_known(fit, out->known));
    return fit->groups > 0 ? sum_values(fit, out) : WT_OK;
}

/* ---- solves ---------------------------------------------------------------------------------- */

static wt_status load_eigen(cuda_lane *lane, const wt_recover_eigen *from, recover_eigen *to) {
    size_t count = from->count, n = from->n;
    to->count = count;
    to->n = n;
    CUDA_PASS(to->vectors.load(lane, from->vectors, count * n * n, "a preconditioner"));
    return to->values.load(lane, from->values, count * n, "a preconditioner");
}

wt_status recover_precondition(wt_recover_fit *fit, const wt_recover_blocks *blocks) {
    cuda_lane *lane = fit->lane;
    recover_side *const sides[] = {&fit->asked, &fit->known, &fit->valued};
    const wt_recover_block *const of[] = {&blocks->a, &blocks->b, &blocks->v};
    for (size_t i = 0; i < (fit->groups > 0 ? 3 : 2); i++) {
        CUDA_PASS(load_eigen(lane, &of[i]->tokens, &sides[i]->left));
        CUDA_PASS(load_eigen(lane, &of[i]->columns, &sides[i]->right));
    }
    fit->size = blocks->size;
    return lane_finish(lane, "a preconditioner");
}

/* X of every block to L X R^T; divided; and back. */
static wt_status solve_side(wt_recover_fit *fit, recover_side *side, double shift,
                            const double *from, double *to) {
    cuda_lane *lane = fit->lane;
    size_t n = side->dim, c = side->columns, wide = side->width(), blocks = side->blocks;
    size_t apart = side->left.count == 1 ? 0 : n * n;
    const double *left = side->left.vectors.data, *right = side->right.vectors.data;
    double *x = side->factor.data, *turned = fit->turned.data;
    CUDA_PASS(recover_put(lane, side, from));
    CUDA_PASS(rows_batch(lane, false, false, n, c, n, left, n, apart, x, wide, c, 0, turned, wide,
                         c, blocks));
    CUDA_PASS(rows_batch(lane, false, true, n, c, c, turned, wide, c, right, c, c * c, 0, x, wide,
                         c, blocks));
    CUDA_PASS(recover_divide(lane, side, fit->size, shift));
    CUDA_PASS(rows_batch(lane, false, false, n, c, c, x, wide, c, right, c, c * c, 0, turned, wide,
                         c, blocks));
    CUDA_PASS(rows_batch(lane, true, false, n, c, n, left, n, apart, turned, wide, c, 0, x, wide, c,
                         blocks));
    lane->device->services->work(lane->context, 4 * (double)(n * wide) * (double)(n + c));
    return recover_take(lane, side, to);
}

wt_status recover_solve_blocks(wt_recover_fit *fit, double shift, const double *from, double *to) {
    recover_side *const sides[] = {&fit->asked, &fit->known, &fit->valued};
    for (size_t i = 0; i < (fit->groups > 0 ? 3 : 2); i++)
        CUDA_PASS(solve_side(fit, sides[i], shift, from, to));
    return WT_OK;
}
