#include "system.h"

#include <math.h>
#include <vector>

#include "device/power.h"

/* Orders up to this are factored by one call; larger ones in steps of so many columns, between
 * which the work can be stopped. */
#define STEP 4096
/* Rows of a triangular solve at a time. */
#define SOLVE_STEP 1024
/* Columns of an inverse at a time. */
#define INVERSE_STEP 1024
#define TILE         32

/* ---- keeping and restoring A ----------------------------------------------------------------- */

/* Tiles on and below the diagonal, by their transposes through shared memory: UP copies the lower
 * triangle, scaled, to the upper one and itself; else the upper one comes down, and the diagonal is
 * A's plus the shift. */
template <bool UP>
__global__ static void mirror(size_t n, size_t order, double scale, double shift, double *a,
                              double *diagonal) {
    __shared__ double tile[TILE][TILE + 1];
    size_t row = blockIdx.x * (size_t)TILE, column = blockIdx.y * (size_t)TILE;
    if (column > row)
        return;
    /* the tile that is read: entry (i, j) of a column-major matrix */
    size_t i0 = UP ? row : column, j0 = UP ? column : row;
    for (int k = threadIdx.y; k < TILE; k += blockDim.y) {
        size_t i = i0 + threadIdx.x, j = j0 + k;
        if (i < order && j < order)
            tile[k][threadIdx.x] = a[j * n + i] * (UP ? scale : 1);
    }
    __syncthreads();
    for (int k = threadIdx.y; k < TILE; k += blockDim.y) {
        size_t i = j0 + threadIdx.x, j = i0 + k; /* transposed */
        if (i >= order || j >= order)
            continue;
        double value = tile[threadIdx.x][k];
        if (i == j && UP)
            diagonal[i] = value;
        if (UP ? i <= j : i > j)
            a[j * n + i] = value;
        else if (i == j)
            a[j * n + i] = diagonal[i] + shift;
    }
}

static dim3 tiles_of(size_t order) {
    unsigned tiles = (unsigned)((order + TILE - 1) / TILE);
    return dim3(tiles, tiles);
}

wt_status system_keep(wt_ridge_system *system, double scale) {
    cuda_lane *lane = system->lane;
    mirror<true><<<tiles_of(system->n), dim3(TILE, 8), 0, lane->stream>>>(
        system->n, system->n, scale, 0, system->a.data, system->diagonal.data);
    return lane_check(lane, cudaGetLastError(), "keeping a matrix");
}

/* ---- the factor ------------------------------------------------------------------------------ */

/* The factor of `order` rows from (k, k) on; info on the GPU. */
static wt_status factor_block(wt_ridge_system *system, size_t k, size_t order, int *info) {
    cuda_lane *lane = system->lane;
    double *at = system->a.data + k * system->n + k;
    size_t here = 0, there = 0;
    LANE(cusolverDnXpotrf_bufferSize(lane->solver, lane->params, CUBLAS_FILL_MODE_LOWER, order,
                                     CUDA_R_64F, at, system->n, CUDA_R_64F, &there, &here));
    buffer<char> space;
    std::vector<char> own(here + 1);
    CUDA_PASS(space.take(lane, there, "work space of the factor"));
    LANE(cusolverDnXpotrf(lane->solver, lane->params, CUBLAS_FILL_MODE_LOWER, order, CUDA_R_64F, at,
                          system->n, CUDA_R_64F, space.data, there, own.data(), here, info));
    return here == 0 ? WT_OK : lane_finish(lane, "the factor"); /* `own` must outlive the call */
}

wt_status system_factor_lower(wt_ridge_system *system, size_t order, size_t *failed_at) {
    cuda_lane *lane = system->lane;
    const double one = 1, minus = -1;
    size_t n = system->n, step = order <= 2 * STEP ? order : STEP;
    size_t steps = (order + step - 1) / step;
    buffer<int> info;
    std::vector<int> found(steps);
    *failed_at = 0;
    CUDA_PASS(info.take(lane, steps, "the factor"));
    for (size_t s = 0; s < steps; s++) {
        size_t k = s * step, rows = order - k < step ? order - k : step, rest = order - k - rows;
        double *corner = system->a.data + k * n + k, *below = corner + rows;
        double *next = corner + rows * n + rows;
        CUDA_PASS(factor_block(system, k, rows, info.data + s));
        if (rest == 0)
            break;
        LANE(cublasDtrsm_64(lane->blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T,
                            CUBLAS_DIAG_NON_UNIT, rest, rows, &one, corner, n, below, n));
        LANE(cublasDsyrk_64(lane->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, rest, rows, &minus,
                            below, n, &one, next, n));
        CUDA_PASS(lane_finish(lane, "the factor"));
        CUDA_PASS(lane->device->services->check_cancelled(lane->context));
    }
    CUDA_PASS(info.store(found.data(), steps));
    for (size_t s = 0; s < steps && *failed_at == 0; s++)
        if (found[s] > 0)
            *failed_at = s * step + (size_t)found[s];
    return WT_OK;
}

wt_status system_restore(wt_ridge_system *system, double shift, size_t order) {
    cuda_lane *lane = system->lane;
    mirror<false><<<tiles_of(order), dim3(TILE, 8), 0, lane->stream>>>(
        system->n, order, 1, shift, system->a.data, system->diagonal.data);
    return lane_check(lane, cudaGetLastError(), "keeping a matrix");
}

wt_status system_factor(wt_ridge_system *system, double shift, size_t order, size_t *failed_at) {
    CUDA_PASS(system_restore(system, shift, order));
    return system_factor_lower(system, order, failed_at);
}

/* ---- solves ---------------------------------------------------------------------------------- */

/* x_rest -= L(rest, k) x_k, or x_k -= L(rest, k)^T x_rest: (columns, rows) by columns. */
static wt_status update(wt_ridge_system *system, bool forward, size_t k, size_t rows, size_t order,
                        size_t columns, double *x) {
    cuda_lane *lane = system->lane;
    const double one = 1, minus = -1;
    size_t n = system->n, rest = order - k - rows;
    double *l = system->a.data + k * n + k + rows, *here = x + k * columns;
    double *there = x + (k + rows) * columns;
    if (rest == 0)
        return WT_OK;
    if (columns == 1)
        LANE(cublasDgemv_64(lane->blas, forward ? CUBLAS_OP_N : CUBLAS_OP_T, rest, rows, &minus, l,
                            n, forward ? here : there, 1, &one, forward ? there : here, 1));
    else if (forward)
        LANE(cublasDgemm_64(lane->blas, CUBLAS_OP_N, CUBLAS_OP_T, columns, rest, rows, &minus, here,
                            columns, l, n, &one, there, columns));
    else
        LANE(cublasDgemm_64(lane->blas, CUBLAS_OP_N, CUBLAS_OP_N, columns, rows, rest, &minus,
                            there, columns, l, n, &one, here, columns));
    return WT_OK;
}

/* With X^T (columns, order) by columns: X^T L^-T, or X^T L^-1, of one diagonal block. */
static wt_status solve_block(wt_ridge_system *system, bool forward, size_t k, size_t rows,
                             size_t columns, double *x) {
    cuda_lane *lane = system->lane;
    const double one = 1;
    size_t n = system->n;
    double *l = system->a.data + k * n + k;
    if (columns == 1)
        LANE(cublasDtrsv_64(lane->blas, CUBLAS_FILL_MODE_LOWER, forward ? CUBLAS_OP_N : CUBLAS_OP_T,
                            CUBLAS_DIAG_NON_UNIT, rows, l, n, x + k, 1));
    else
        LANE(cublasDtrsm_64(lane->blas, CUBLAS_SIDE_RIGHT, CUBLAS_FILL_MODE_LOWER,
                            forward ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, columns,
                            rows, &one, l, n, x + k * columns, columns));
    return WT_OK;
}

wt_status system_forward(wt_ridge_system *system, size_t order, size_t columns, double *x) {
    for (size_t k = 0; k < order; k += SOLVE_STEP) {
        size_t rows = order - k < SOLVE_STEP ? order - k : SOLVE_STEP;
        CUDA_PASS(solve_block(system, true, k, rows, columns, x));
        CUDA_PASS(update(system, true, k, rows, order, columns, x));
    }
    return WT_OK;
}

wt_status system_backward(wt_ridge_system *system, size_t order, size_t columns, double *x) {
    for (size_t end = order; end > 0;) {
        size_t k = (end - 1) / SOLVE_STEP * SOLVE_STEP, rows = end - k;
        CUDA_PASS(update(system, false, k, rows, order, columns, x));
        CUDA_PASS(solve_block(system, false, k, rows, columns, x));
        end = k;
    }
    return WT_OK;
}

/* ---- diagonals of inverses ------------------------------------------------------------------- */

__global__ static void set_identity(size_t rows, size_t columns, double *x) {
    size_t all = rows * columns;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all;
         i += (size_t)gridDim.x * blockDim.x)
        x[i] = i % rows == i / rows ? 1 : 0;
}

#define SQUARES 256
/* The sum over the block's threads, in pairs; of all of them by thread 0. */
__device__ static double sum_threads(double mine) {
    __shared__ double part[SQUARES];
    part[threadIdx.x] = mine;
    for (int half = SQUARES / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    __syncthreads();
    double sum = part[0];
    __syncthreads();
    return sum;
}

/* A block of threads a column of X (rows, columns), which is row first + i of L^-1: the sums of its
 * squares before each of the orders. */
__global__ static void add_squares(size_t rows, size_t first, const double *x, const size_t *orders,
                                   size_t count, size_t n, double *out) {
    const double *column = x + blockIdx.x * rows;
    double total = 0;
    size_t begin = 0;
    for (size_t s = 0; s < count; s++) {
        size_t end = orders[s] > first ? orders[s] - first : 0;
        double sum = 0;
        for (size_t i = begin + threadIdx.x; i < end; i += SQUARES)
            sum += column[i] * column[i];
        total += sum_threads(sum);
        begin = end > begin ? end : begin;
        if (threadIdx.x == 0 && first + blockIdx.x < orders[s])
            out[s * n + first + blockIdx.x] = total;
    }
}

wt_status system_inverse_diagonals(wt_ridge_system *system, const size_t *orders, size_t count,
                                   double *out) {
    cuda_lane *lane = system->lane;
    const double one = 1;
    size_t n = system->n, order = count > 0 ? orders[count - 1] : 0;
    buffer<size_t> ends;
    buffer<double> x, found;
    CUDA_PASS(found.take(lane, count * n, "leave-one-out"));
    LANE(cudaMemsetAsync(found.data, 0, count * n * sizeof(double), lane->stream));
    CUDA_PASS(ends.load(lane, orders, count, "leave-one-out"));
    CUDA_PASS(x.take(lane, order * (order < INVERSE_STEP ? order : INVERSE_STEP), "leave-one-out"));
    for (size_t k = 0; k < order; k += INVERSE_STEP) {
        size_t rows = order - k, columns = rows < INVERSE_STEP ? rows : INVERSE_STEP;
        set_identity<<<lane_blocks(rows * columns, 256), 256, 0, lane->stream>>>(rows, columns,
                                                                                 x.data);
        LANE(cublasDtrsm_64(lane->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                            CUBLAS_DIAG_NON_UNIT, rows, columns, &one, system->a.data + k * n + k,
                            n, x.data, rows));
        add_squares<<<(unsigned)columns, SQUARES, 0, lane->stream>>>(rows, k, x.data, ends.data,
                                                                     count, n, found.data);
        if (order > 2 * STEP) {
            CUDA_PASS(lane_finish(lane, "leave-one-out"));
            CUDA_PASS(lane->device->services->check_cancelled(lane->context));
        }
    }
    return found.store(out, count * n);
}

__global__ static void squares(size_t f, const double *x, double scale, double *out) {
    const double *column = x + blockIdx.x * f;
    double sum = 0;
    for (size_t i = threadIdx.x; i < f; i += SQUARES)
        sum += column[i] * column[i];
    sum = sum_threads(sum);
    if (threadIdx.x == 0)
        out[blockIdx.x] = scale * sum;
}

wt_status column_squares(cuda_lane *lane, size_t f, size_t columns, const double *x, double scale,
                         double *out) {
    squares<<<(unsigned)columns, SQUARES, 0, lane->stream>>>(f, x, scale, out);
    return lane_check(lane, cudaGetLastError(), "leverages");
}

/* ---- condition ------------------------------------------------------------------------------- */

__global__ static void start_vector(size_t n, bool signs, double *x) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        x[i] = (signs && i % 2 == 1 ? -1 : 1) * (1 + 0.1 * (double)(i % 7));
}

/* y += (A's diagonal + shift - what is on the diagonal now) x */
__global__ static void mend_diagonal(size_t n, const double *a, const double *diagonal,
                                     double shift, const double *x, double *y) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        y[i] += (diagonal[i] + shift - a[i * n + i]) * x[i];
}

/* Scales to norm 1, and gives the norm before. */
static wt_status unit(cuda_lane *lane, size_t n, double *x, double *norm) {
    LANE(cublasDnrm2_64(lane->blas, n, x, 1, norm));
    double inverse = 1 / *norm;
    LANE(cublasDscal_64(lane->blas, n, &inverse, x, 1));
    return WT_OK;
}

wt_status system_condition(wt_ridge_system *system, double shift, double *out) {
    cuda_lane *lane = system->lane;
    const double one = 1, zero = 0;
    size_t n = system->n;
    double largest = 0, inverse = 0, norm;
    buffer<double> x, y;
    CUDA_PASS(x.take(lane, n, "the condition number"));
    CUDA_PASS(y.take(lane, n, "the condition number"));
    start_vector<<<lane_blocks(n, 256), 256, 0, lane->stream>>>(n, false, x.data);
    CUDA_PASS(unit(lane, n, x.data, &norm));
    for (int step = 0; step < WT_POWER_STEPS; step++) {
        LANE(cublasDsymv_64(lane->blas, CUBLAS_FILL_MODE_UPPER, n, &one, system->a.data, n, x.data,
                            1, &zero, y.data, 1));
        mend_diagonal<<<lane_blocks(n, 256), 256, 0, lane->stream>>>(
            n, system->a.data, system->diagonal.data, shift, x.data, y.data);
        CUDA_PASS(unit(lane, n, y.data, &largest));
        LANE(cudaMemcpyAsync(x.data, y.data, n * sizeof(double), cudaMemcpyDeviceToDevice,
                             lane->stream));
    }
    start_vector<<<lane_blocks(n, 256), 256, 0, lane->stream>>>(n, true, x.data);
    CUDA_PASS(unit(lane, n, x.data, &norm));
    for (int step = 0; step < WT_POWER_STEPS; step++) {
        CUDA_PASS(system_forward(system, n, 1, x.data));
        CUDA_PASS(system_backward(system, n, 1, x.data));
        CUDA_PASS(unit(lane, n, x.data, &inverse));
    }
    *out = largest * inverse;
    return lane_finish(lane, "the condition number");
}

/* ---- eigenvectors ---------------------------------------------------------------------------- */

/* The leading block of A, whole, from the upper triangle and the diagonal. */
__global__ static void copy_block(size_t n, size_t order, const double *a, const double *diagonal,
                                  double *out) {
    size_t all = order * order;
    for (size_t at = blockIdx.x * (size_t)blockDim.x + threadIdx.x; at < all;
         at += (size_t)gridDim.x * blockDim.x) {
        size_t i = at % order, j = at / order;
        out[at] = i == j ? diagonal[i] : i < j ? a[j * n + i] : a[i * n + j];
    }
}

wt_status system_copy(wt_ridge_system *system, size_t order, double *out) {
    cuda_lane *lane = system->lane;
    copy_block<<<lane_blocks(order * order, 256), 256, 0, lane->stream>>>(
        system->n, order, system->a.data, system->diagonal.data, out);
    return lane_check(lane, cudaGetLastError(), "a copy of a matrix");
}

wt_status system_eigen(wt_ridge_system *system, size_t order, double *e) {
    cuda_lane *lane = system->lane;
    size_t here = 0, there = 0;
    int failed = 0;
    buffer<double> values;
    buffer<char> space;
    buffer<int> info;
    system->eigen_order = order;
    CUDA_PASS(system->u.take(lane, order * order, "eigenvectors"));
    CUDA_PASS(values.take(lane, order, "eigenvalues"));
    CUDA_PASS(info.take(lane, 1, "eigenvalues"));
    CUDA_PASS(system_copy(system, order, system->u.data));
    LANE(cusolverDnXsyevd_bufferSize(lane->solver, lane->params, CUSOLVER_EIG_MODE_VECTOR,
                                     CUBLAS_FILL_MODE_LOWER, order, CUDA_R_64F, system->u.data,
                                     order, CUDA_R_64F, values.data, CUDA_R_64F, &there, &here));
    std::vector<char> own(here + 1);
    CUDA_PASS(space.take(lane, there, "work space of eigenvectors"));
    LANE(cusolverDnXsyevd(lane->solver, lane->params, CUSOLVER_EIG_MODE_VECTOR,
                          CUBLAS_FILL_MODE_LOWER, order, CUDA_R_64F, system->u.data, order,
                          CUDA_R_64F, values.data, CUDA_R_64F, space.data, there, own.data(), here,
                          info.data));
    CUDA_PASS(info.store(&failed, 1));
    if (failed != 0)
        return cuda_fail(lane->context, lane->device, "finding eigenvalues",
                         "they do not converge");
    return values.store(e, order);
}

__global__ static void weigh_squares(size_t order, const double *u, const double *weight,
                                     double *out) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    double sum = 0;
    if (i >= order)
        return;
    for (size_t k = 0; k < order; k++)
        sum += weight[k] * u[k * order + i] * u[k * order + i];
    out[i] = sum;
}

wt_status system_eigen_squares(wt_ridge_system *system, const double *weight, double *out) {
    cuda_lane *lane = system->lane;
    size_t order = system->eigen_order;
    weigh_squares<<<(unsigned)((order + 255) / 256), 256, 0, lane->stream>>>(order, system->u.data,
                                                                             weight, out);
    return lane_check(lane, cudaGetLastError(), "squares of eigenvectors");
}
