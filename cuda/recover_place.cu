/* A Theta: attention weights, the columns of N and the factor of N^T N, W and what is left. */
#include <float.h>
#include <math.h>
#include <vector>

#include "recover.h"

/* Diagonals of a factor no further apart than this: N is well conditioned, and two corrections are
 * as good as a QR; else more are made. */
#define EVEN 1e-3
enum { CORRECTIONS = 2, MORE_CORRECTIONS = 6, MOST_SHIFTS = 12 };

wt_status rows_gemm(cuda_lane *lane, bool a_turned, bool b_turned, size_t m, size_t n, size_t k,
                    double alpha, const double *a, size_t lda, const double *b, size_t ldb,
                    double beta, double *c, size_t ldc) {
    LANE(cublasDgemm_64(lane->blas, b_turned ? CUBLAS_OP_T : CUBLAS_OP_N,
                        a_turned ? CUBLAS_OP_T : CUBLAS_OP_N, (int64_t)n, (int64_t)m, (int64_t)k,
                        &alpha, b, (int64_t)ldb, a, (int64_t)lda, &beta, c, (int64_t)ldc));
    return WT_OK;
}

wt_status rows_batch(cuda_lane *lane, bool a_turned, bool b_turned, size_t m, size_t n, size_t k,
                     const double *a, size_t lda, size_t a_apart, const double *b, size_t ldb,
                     size_t b_apart, double beta, double *c, size_t ldc, size_t c_apart,
                     size_t count) {
    const double one = 1;
    LANE(cublasDgemmStridedBatched_64(
        lane->blas, b_turned ? CUBLAS_OP_T : CUBLAS_OP_N, a_turned ? CUBLAS_OP_T : CUBLAS_OP_N,
        (int64_t)n, (int64_t)m, (int64_t)k, &one, b, (int64_t)ldb, (int64_t)b_apart, a,
        (int64_t)lda, (int64_t)a_apart, &beta, c, (int64_t)ldc, (int64_t)c_apart, (int64_t)count));
    return WT_OK;
}

size_t recover_group(const wt_recover_fit *fit, size_t head) {
    return fit->groups == 0 ? head : head / (fit->m / fit->groups);
}

/* A: for one head after the other T = queries Theta_i, and T_s X_s^T of all sequences. */
static wt_status attend(wt_recover_fit *fit) {
    cuda_lane *lane = fit->lane;
    size_t d = fit->d, e = fit->e, m = fit->m, Q = fit->Q, K = fit->K;
    for (size_t i = 0; i < m; i++) {
        CUDA_PASS(rows_gemm(lane, false, false, fit->R, d, e, 1, fit->query.data, e,
                            fit->trial->theta.data + i * d, m * d, 0, fit->spread.data, d));
        CUDA_PASS(rows_batch(lane, false, true, Q, K, d, fit->spread.data, d, Q * d, fit->key.data,
                             d, K * d, 0, fit->trial->weights.data + i * K, m * K, Q * m * K,
                             fit->S));
    }
    return recover_softmax(fit, fit->trial->weights.data);
}

/* N = [A_i X], or [A_i X V_g]; and the ones of the biases. */
static wt_status fill_columns(wt_recover_fit *fit) {
    cuda_lane *lane = fit->lane;
    recover_place *at = fit->trial;
    size_t d = fit->d, m = fit->m, Q = fit->Q, K = fit->K, n = fit->n;
    size_t wide = fit->groups > 0 ? fit->values : d,
           stride = fit->groups > 0 ? fit->groups * wide : d;
    const double *v = at->theta.data + fit->e * m * d, *token = fit->key.data;
    for (size_t g = 0; g < fit->groups; g++)
        CUDA_PASS(rows_gemm(lane, false, false, fit->L, wide, d, 1, fit->key.data, d,
                            v + g * d * wide, wide, 0, fit->shared.data + g * wide, stride));
    if (fit->groups > 0)
        token = fit->shared.data;
    for (size_t i = 0; i < m; i++) {
        size_t first = fit->groups > 0 ? recover_group(fit, i) * wide : 0;
        CUDA_PASS(rows_batch(lane, false, false, Q, wide, K, at->weights.data + i * K, m * K,
                             Q * m * K, token + first, stride, K * stride, 0,
                             at->columns.data + i * wide, n, Q * n, fit->S));
    }
    return n > m * wide ? recover_ones(fit, at->columns.data) : WT_OK;
}

/* The factor of N^T N + shift I; *failed != 0 where there is none. */
static wt_status factor(wt_recover_fit *fit, double shift, int *failed) {
    cuda_lane *lane = fit->lane;
    recover_place *at = fit->trial;
    const double one = 1, zero = 0;
    int64_t n = (int64_t)fit->n;
    size_t here = 0, there = 0;
    buffer<char> space;
    buffer<int> info;
    CUDA_PASS(info.take(lane, 1, "work space of the factor"));
    LANE(cublasDsyrk_64(lane->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, (int64_t)fit->R, &one,
                        at->columns.data, n, &zero, at->factor.data, n));
    if (shift > 0)
        CUDA_PASS(recover_shift(lane, fit->n, shift, at->factor.data));
    LANE(cusolverDnXpotrf_bufferSize(lane->solver, lane->params, CUBLAS_FILL_MODE_LOWER, n,
                                     CUDA_R_64F, at->factor.data, n, CUDA_R_64F, &there, &here));
    std::vector<char> own(here + 1);
    CUDA_PASS(space.take(lane, there, "work space of the factor"));
    LANE(cusolverDnXpotrf(lane->solver, lane->params, CUBLAS_FILL_MODE_LOWER, n, CUDA_R_64F,
                          at->factor.data, n, CUDA_R_64F, space.data, there, own.data(), here,
                          info.data));
    return info.store(failed, 1);
}

/* A factor without a shift, or with the least that there is one for; *sound: N is well conditioned,
 * *found = false: numbers that are none. */
static wt_status find_factor(wt_recover_fit *fit, bool *sound, bool *found) {
    cuda_lane *lane = fit->lane;
    double least, most, sum, shift = 0, squares;
    int failed = 0;
    *sound = *found = false;
    LANE(cublasDnrm2_64(lane->blas, (int64_t)(fit->R * fit->n), fit->trial->columns.data, 1,
                        &squares));
    squares *= squares; /* the trace of N^T N */
    if (!isfinite(squares))
        return WT_OK;
    CUDA_PASS(factor(fit, 0, &failed));
    for (int i = 0; failed != 0 && i < MOST_SHIFTS; i++) {
        shift = fmax(16 * shift, DBL_EPSILON * (squares > 0 ? squares : 1));
        CUDA_PASS(factor(fit, shift, &failed));
    }
    if (failed != 0)
        return WT_OK;
    CUDA_PASS(recover_diagonal(lane, fit->n, fit->trial->factor.data, &least, &most, &sum));
    *found = isfinite(sum);
    *sound = shift == 0 && least > EVEN * most;
    return WT_OK;
}

wt_status recover_solve_columns(wt_recover_fit *fit, const recover_place *at) {
    cuda_lane *lane = fit->lane;
    const double one = 1;
    int64_t n = (int64_t)fit->n, p = (int64_t)fit->p;
    for (int turned = 1; turned >= 0; turned--) /* rows are columns of a (p, n) matrix */
        LANE(cublasDtrsm_64(lane->blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER,
                            turned ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, p, n, &one,
                            at->factor.data, n, fit->span.data, p));
    return WT_OK;
}

/* O += (N^T N)^-1 N^T E, E = Y - N O. */
static wt_status correct(wt_recover_fit *fit) {
    cuda_lane *lane = fit->lane;
    recover_place *at = fit->trial;
    size_t n = fit->n, p = fit->p;
    const double one = 1;
    CUDA_PASS(rows_gemm(lane, true, false, n, p, fit->R, 1, at->columns.data, n, at->e.data, p, 0,
                        fit->span.data, p));
    CUDA_PASS(recover_solve_columns(fit, at));
    LANE(cublasDaxpy_64(lane->blas, (int64_t)(n * p), &one, fit->span.data, 1, at->o.data, 1));
    LANE(cudaMemcpyAsync(at->e.data, fit->y.data, fit->R * p * sizeof(double),
                         cudaMemcpyDeviceToDevice, lane->stream));
    return rows_gemm(lane, false, false, fit->R, p, n, -1, at->columns.data, n, at->o.data, p, 1,
                     at->e.data, p);
}

/* W = [V_g O_i], and the sum of the biases. */
static wt_status widen(wt_recover_fit *fit) {
    cuda_lane *lane = fit->lane;
    recover_place *at = fit->trial;
    size_t d = fit->d, p = fit->p, m = fit->m, v = fit->values;
    const double *shared = at->theta.data + fit->e * m * d;
    for (size_t i = 0; i < m && fit->groups > 0; i++)
        CUDA_PASS(rows_gemm(lane, false, false, d, p, v, 1, shared + recover_group(fit, i) * d * v,
                            v, at->o.data + i * v * p, p, 0, at->w.data + i * d * p, p));
    if (fit->groups > 0 && fit->c > m * d)
        LANE(cudaMemcpyAsync(at->w.data + m * d * p, at->o.data + m * v * p, p * sizeof(double),
                             cudaMemcpyDeviceToDevice, lane->stream));
    return WT_OK;
}

/* O = 0 and E = Y. */
static wt_status clear(wt_recover_fit *fit) {
    cuda_lane *lane = fit->lane;
    recover_place *at = fit->trial;
    LANE(cudaMemsetAsync(at->o.data, 0, fit->n * fit->p * sizeof(double), lane->stream));
    LANE(cudaMemcpyAsync(at->e.data, fit->y.data, fit->R * fit->p * sizeof(double),
                         cudaMemcpyDeviceToDevice, lane->stream));
    return WT_OK;
}

wt_status recover_evaluate(wt_recover_fit *fit, double *error) {
    cuda_lane *lane = fit->lane;
    bool sound, found;
    double norm = NAN;
    *error = INFINITY;
    lane->device->services->work(lane->context, fit->place_flops);
    CUDA_PASS(clear(fit));
    CUDA_PASS(attend(fit));
    CUDA_PASS(fill_columns(fit));
    CUDA_PASS(find_factor(fit, &sound, &found));
    if (found) {
        for (int i = 0; i < (sound ? CORRECTIONS : MORE_CORRECTIONS); i++)
            CUDA_PASS(correct(fit));
        LANE(cublasDnrm2_64(lane->blas, (int64_t)(fit->R * fit->p), fit->trial->e.data, 1, &norm));
    }
    if (isfinite(norm))
        *error = norm / fit->norm;
    else
        CUDA_PASS(clear(fit));
    CUDA_PASS(widen(fit));
    return lane_finish(lane, "an evaluation");
}
