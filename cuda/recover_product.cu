/* Products with J^T P J. The scores of head i move by (Q dA_i) (X B_g)^T + (Q A_i) (X dB_g)^T, or
 * by Q dTheta_i X^T where Theta may have any rank; the outputs by the sum of (A .* (dS_i - mean)) X
 * W_i, and of A X dV_g O_i where heads share values. */
#include "recover.h"

/* out = tokens factor, (tokens, width). */
static wt_status meet(cuda_lane *lane, const recover_side *side, const double *factor,
                      double *out) {
    size_t wide = side->width();
    return rows_gemm(lane, false, false, side->tokens, wide, side->dim, 1, side->token, side->dim,
                     factor, wide, 0, out, wide);
}

/* factor = tokens^T move. */
static wt_status gather(cuda_lane *lane, const recover_side *side, double *factor) {
    size_t wide = side->width();
    return rows_gemm(lane, true, false, side->dim, wide, side->tokens, 1, side->token, side->dim,
                     side->move.data, wide, 0, factor, wide);
}

/* The columns of a side's block in the tokens of a sequence: where those of head i start. */
static size_t block_at(const wt_recover_fit *fit, const recover_side *side, size_t head) {
    size_t block = side->blocks == 1 ? 0 : side->blocks == fit->m ? head : recover_group(fit, head);
    return block * side->columns;
}

/* The known side at rest: X B, or X itself. */
static const double *at_rest(const wt_recover_fit *fit) {
    return fit->rank > 0 ? fit->known.now.data : fit->key.data;
}

wt_status recover_load(wt_recover_fit *fit, const double *factors) {
    cuda_lane *lane = fit->lane;
    size_t d = fit->d, p = fit->p, m = fit->m, K = fit->K;
    const double *w = fit->groups > 0 ? fit->now->w.data : fit->now->o.data;
    for (size_t i = 0; i < m; i++)
        CUDA_PASS(rows_batch(lane, false, false, K, p, d, fit->key.data, d, K * d, w + i * d * p, p,
                             0, 0, fit->value.data + i * K * p, p, m * K * p, fit->S));
    if (fit->rank == 0)
        return WT_OK;
    CUDA_PASS(recover_put(lane, &fit->asked, factors));
    CUDA_PASS(recover_put(lane, &fit->known, factors));
    CUDA_PASS(meet(lane, &fit->asked, fit->asked.factor.data, fit->asked.now.data));
    return meet(lane, &fit->known, fit->known.factor.data, fit->known.now.data);
}

/* What moves with a vector of unknowns. */
static wt_status move_sides(wt_recover_fit *fit, const double *from) {
    cuda_lane *lane = fit->lane;
    recover_side *const sides[] = {&fit->asked, &fit->known, &fit->valued};
    if (fit->rank == 0)
        return meet(lane, &fit->asked, from, fit->asked.move.data);
    for (size_t i = 0; i < (fit->groups > 0 ? 3 : 2); i++) {
        CUDA_PASS(recover_put(lane, sides[i], from));
        CUDA_PASS(meet(lane, sides[i], sides[i]->factor.data, sides[i]->move.data));
    }
    return WT_OK;
}

/* out = J from. */
static wt_status forth(wt_recover_fit *fit, const double *from) {
    cuda_lane *lane = fit->lane;
    const recover_side *asked = &fit->asked, *known = &fit->known, *valued = &fit->valued;
    size_t Q = fit->Q, K = fit->K, m = fit->m, p = fit->p, v = fit->values;
    size_t of_a = asked->width(), of_b = known->width(), of_v = valued->width();
    CUDA_PASS(move_sides(fit, from));
    for (size_t i = 0; i < m; i++) {
        size_t a = block_at(fit, asked, i), b = block_at(fit, known, i);
        double *scores = fit->scores.data + i * K;
        CUDA_PASS(rows_batch(lane, false, true, Q, K, known->columns, asked->move.data + a, of_a,
                             Q * of_a, at_rest(fit) + b, of_b, K * of_b, 0, scores, m * K,
                             Q * m * K, fit->S));
        if (fit->rank > 0)
            CUDA_PASS(rows_batch(lane, false, true, Q, K, known->columns, asked->now.data + a, of_a,
                                 Q * of_a, known->move.data + b, of_b, K * of_b, 1, scores, m * K,
                                 Q * m * K, fit->S));
    }
    CUDA_PASS(recover_turn(fit, fit->now->weights.data, fit->scores.data));
    CUDA_PASS(rows_batch(lane, false, false, Q, p, m * K, fit->scores.data, m * K, Q * m * K,
                         fit->value.data, p, m * K * p, 0, fit->out.data, p, Q * p, fit->S));
    if (fit->groups == 0)
        return WT_OK;
    for (size_t i = 0; i < m; i++)
        CUDA_PASS(rows_batch(lane, false, false, Q, v, K, fit->now->weights.data + i * K, m * K,
                             Q * m * K, valued->move.data + block_at(fit, valued, i), of_v,
                             K * of_v, 0, fit->inner.data + i * v, m * v, Q * m * v, fit->S));
    return rows_gemm(lane, false, false, fit->R, p, m * v, 1, fit->inner.data, m * v,
                     fit->now->o.data, p, 1, fit->out.data, p);
}

/* out = P out. */
static wt_status project(wt_recover_fit *fit) {
    cuda_lane *lane = fit->lane;
    size_t n = fit->n, p = fit->p;
    const double *columns = fit->now->columns.data;
    CUDA_PASS(rows_gemm(lane, true, false, n, p, fit->R, 1, columns, n, fit->out.data, p, 0,
                        fit->span.data, p));
    CUDA_PASS(recover_solve_columns(fit, fit->now));
    return rows_gemm(lane, false, false, fit->R, p, n, -1, columns, n, fit->span.data, p, 1,
                     fit->out.data, p);
}

/* What the keys of a group get from its heads, one after the other. */
static wt_status back_to_keys(wt_recover_fit *fit) {
    cuda_lane *lane = fit->lane;
    const recover_side *asked = &fit->asked, *known = &fit->known, *valued = &fit->valued;
    size_t Q = fit->Q, K = fit->K, m = fit->m, v = fit->values;
    size_t of_a = asked->width(), of_b = known->width(), of_v = valued->width();
    for (size_t i = 0; i < m; i++) {
        bool first = i == 0 || recover_group(fit, i) != recover_group(fit, i - 1);
        CUDA_PASS(rows_batch(lane, true, false, K, known->columns, Q, fit->scores.data + i * K,
                             m * K, Q * m * K, asked->now.data + block_at(fit, asked, i), of_a,
                             Q * of_a, first ? 0 : 1, known->move.data + block_at(fit, known, i),
                             of_b, K * of_b, fit->S));
        if (fit->groups > 0)
            CUDA_PASS(rows_batch(lane, true, false, K, v, Q, fit->now->weights.data + i * K, m * K,
                                 Q * m * K, fit->inner.data + i * v, m * v, Q * m * v,
                                 first ? 0 : 1, valued->move.data + block_at(fit, valued, i), of_v,
                                 K * of_v, fit->S));
    }
    return WT_OK;
}

wt_status recover_back(wt_recover_fit *fit, double *to) {
    cuda_lane *lane = fit->lane;
    recover_side *const sides[] = {&fit->asked, &fit->known, &fit->valued};
    const recover_side *asked = &fit->asked, *known = &fit->known;
    size_t Q = fit->Q, K = fit->K, m = fit->m, p = fit->p;
    size_t of_a = asked->width(), of_b = known->width();
    CUDA_PASS(rows_batch(lane, false, true, Q, m * K, p, fit->out.data, p, Q * p, fit->value.data,
                         p, m * K * p, 0, fit->scores.data, m * K, Q * m * K, fit->S));
    CUDA_PASS(recover_turn(fit, fit->now->weights.data, fit->scores.data));
    for (size_t i = 0; i < m; i++)
        CUDA_PASS(rows_batch(lane, false, false, Q, known->columns, K, fit->scores.data + i * K,
                             m * K, Q * m * K, at_rest(fit) + block_at(fit, known, i), of_b,
                             K * of_b, 0, asked->move.data + block_at(fit, asked, i), of_a,
                             Q * of_a, fit->S));
    if (fit->rank == 0)
        return gather(lane, asked, to);
    if (fit->groups > 0)
        CUDA_PASS(rows_gemm(lane, false, true, fit->R, m * fit->values, p, 1, fit->out.data, p,
                            fit->now->o.data, p, 0, fit->inner.data, m * fit->values));
    CUDA_PASS(back_to_keys(fit));
    for (size_t i = 0; i < (fit->groups > 0 ? 3 : 2); i++) {
        CUDA_PASS(gather(lane, sides[i], sides[i]->factor.data));
        CUDA_PASS(recover_take(lane, sides[i], to));
    }
    return WT_OK;
}

wt_status recover_multiply(wt_recover_fit *fit, const double *from, double *to) {
    cuda_lane *lane = fit->lane;
    fit->products++;
    lane->device->services->work(lane->context, fit->product_flops);
    CUDA_PASS(forth(fit, from));
    CUDA_PASS(project(fit));
    return recover_back(fit, to);
}
