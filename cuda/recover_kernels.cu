/* What is no matrix product: a warp takes a row of keys, and adds it up in the order of lanes. */
#include <math.h>
#include <vector>

#include "recover.h"

enum { LANES = 32, THREADS = 128, WARPS = THREADS / LANES };

__device__ static double warp_sum(double x) {
    for (int apart = LANES / 2; apart > 0; apart /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, apart);
    return x;
}

__device__ static double warp_most(double x) {
    for (int apart = LANES / 2; apart > 0; apart /= 2)
        x = fmax(x, __shfl_xor_sync(0xffffffffu, x, apart));
    return x;
}

__device__ static size_t warp_index() {
    return blockIdx.x * (size_t)WARPS + threadIdx.x / LANES;
}

static unsigned blocks_of_rows(size_t rows) {
    return lane_blocks(rows, WARPS);
}

/* Of row (s, q) and head i: keys `seen` and after have no weight, nor has a row of padding. A NaN
 * among the scores makes all weights of the row NaN. */
__global__ static void softmax(size_t rows, size_t m, size_t K, size_t Q, const int *seen,
                               const double *times, double *scores) {
    int lane = threadIdx.x % LANES;
    for (size_t row = warp_index(); row < rows * m; row += gridDim.x * (size_t)WARPS) {
        size_t of = row / m, live = seen[of];
        double *a = scores + row * K, most = -INFINITY, sum = 0;
        const double *often = times == NULL ? NULL : times + of / Q * K;
        for (size_t b = lane; b < live; b += LANES)
            most = fmax(most, a[b]);
        most = warp_most(most);
        for (size_t b = lane; b < live; b += LANES) {
            double x = exp(a[b] - most) * (often == NULL ? 1 : often[b]);
            a[b] = x;
            sum += x;
        }
        sum = warp_sum(sum);
        for (size_t b = lane; b < K; b += LANES)
            a[b] = b < live ? a[b] / sum : 0;
    }
}

wt_status recover_softmax(wt_recover_fit *fit, double *scores) {
    cuda_lane *lane = fit->lane;
    softmax<<<blocks_of_rows(fit->R * fit->m), THREADS, 0, lane->stream>>>(
        fit->R, fit->m, fit->K, fit->Q, fit->seen.data, fit->times.data, scores);
    return lane_check(lane, cudaGetLastError(), "a softmax");
}

__global__ static void turn(size_t rows, size_t K, const double *weights, double *scores) {
    int lane = threadIdx.x % LANES;
    for (size_t row = warp_index(); row < rows; row += gridDim.x * (size_t)WARPS) {
        const double *a = weights + row * K;
        double *of = scores + row * K, mean = 0;
        for (size_t b = lane; b < K; b += LANES)
            mean += a[b] * of[b];
        mean = warp_sum(mean);
        for (size_t b = lane; b < K; b += LANES)
            of[b] = a[b] * (of[b] - mean);
    }
}

wt_status recover_turn(wt_recover_fit *fit, const double *weights, double *scores) {
    cuda_lane *lane = fit->lane;
    size_t rows = fit->R * fit->m;
    turn<<<blocks_of_rows(rows), THREADS, 0, lane->stream>>>(rows, fit->K, weights, scores);
    return lane_check(lane, cudaGetLastError(), "derivatives of a softmax");
}

__global__ static void ones(size_t rows, size_t n, const int *seen, double *columns) {
    size_t step = gridDim.x * (size_t)blockDim.x;
    for (size_t row = blockIdx.x * (size_t)blockDim.x + threadIdx.x; row < rows; row += step)
        columns[row * n + n - 1] = seen[row] > 0 ? 1 : 0;
}

wt_status recover_ones(wt_recover_fit *fit, double *columns) {
    cuda_lane *lane = fit->lane;
    ones<<<lane_blocks(fit->R, THREADS), THREADS, 0, lane->stream>>>(fit->R, fit->n, fit->seen.data,
                                                                     columns);
    return lane_check(lane, cudaGetLastError(), "ones of the biases");
}

__global__ static void pad(size_t rows, size_t most, size_t width, const size_t *start,
                           const double *from, double *to) {
    size_t step = gridDim.x * (size_t)blockDim.x, count = rows * width;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += step) {
        size_t row = i / width, s = row / most, at = start[s] + row % most;
        to[i] = at < start[s + 1] ? from[at * width + i % width] : 0;
    }
}

wt_status recover_pad(cuda_lane *lane, size_t sequences, size_t most, size_t width,
                      const size_t *start, const double *from, double *to) {
    size_t count = sequences * most * width;
    pad<<<lane_blocks(count, THREADS), THREADS, 0, lane->stream>>>(sequences * most, most, width,
                                                                   start, from, to);
    return lane_check(lane, cudaGetLastError(), "laying sequences out");
}

/* The place of entry i of the factor among the unknowns. */
__device__ static size_t place_of(size_t i, size_t blocks, size_t columns, size_t base, size_t each,
                                  size_t outer, size_t inner) {
    size_t column = i % columns, block = i / columns % blocks, j = i / columns / blocks;
    return base + block / each * outer + block % each * inner + j * columns + column;
}

template <bool PUT>
__global__ static void move_blocks(size_t count, size_t blocks, size_t columns, size_t base,
                                   size_t each, size_t outer, size_t inner, double *factor,
                                   double *unknowns) {
    size_t step = gridDim.x * (size_t)blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += step) {
        size_t at = place_of(i, blocks, columns, base, each, outer, inner);
        if (PUT)
            factor[i] = unknowns[at];
        else
            unknowns[at] = factor[i];
    }
}

wt_status recover_put(cuda_lane *lane, recover_side *side, const double *unknowns) {
    size_t count = side->dim * side->width();
    move_blocks<true><<<lane_blocks(count, THREADS), THREADS, 0, lane->stream>>>(
        count, side->blocks, side->columns, side->base, side->each, side->outer, side->inner,
        side->factor.data, (double *)unknowns);
    return lane_check(lane, cudaGetLastError(), "laying factors out");
}

wt_status recover_take(cuda_lane *lane, const recover_side *side, double *unknowns) {
    size_t count = side->dim * side->width();
    move_blocks<false><<<lane_blocks(count, THREADS), THREADS, 0, lane->stream>>>(
        count, side->blocks, side->columns, side->base, side->each, side->outer, side->inner,
        side->factor.data, unknowns);
    return lane_check(lane, cudaGetLastError(), "gathering factors");
}

__global__ static void divide(size_t count, size_t blocks, size_t columns, size_t apart,
                              const double *left, const double *right, double size, double shift,
                              double *x) {
    size_t step = gridDim.x * (size_t)blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += step) {
        size_t column = i % columns, block = i / columns % blocks, j = i / columns / blocks;
        x[i] /= size * left[block * apart + j] * right[block * columns + column] + shift;
    }
}

wt_status recover_divide(cuda_lane *lane, recover_side *side, double size, double shift) {
    size_t count = side->dim * side->width(), apart = side->left.count == 1 ? 0 : side->dim;
    divide<<<lane_blocks(count, THREADS), THREADS, 0, lane->stream>>>(
        count, side->blocks, side->columns, apart, side->left.values.data, side->right.values.data,
        size, shift, side->factor.data);
    return lane_check(lane, cudaGetLastError(), "dividing by eigenvalues");
}

__global__ static void shift_diagonal(size_t n, double shift, double *a) {
    size_t step = gridDim.x * (size_t)blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step)
        a[i * (n + 1)] += shift;
}

wt_status recover_shift(cuda_lane *lane, size_t n, double shift, double *a) {
    shift_diagonal<<<lane_blocks(n, THREADS), THREADS, 0, lane->stream>>>(n, shift, a);
    return lane_check(lane, cudaGetLastError(), "shifting a diagonal");
}

wt_status recover_diagonal(cuda_lane *lane, size_t n, const double *a, double *least, double *most,
                           double *sum) {
    std::vector<double> diagonal(n);
    *least = INFINITY;
    *most = *sum = 0;
    LANE(cudaMemcpy2DAsync(diagonal.data(), sizeof(double), a, (n + 1) * sizeof(double),
                           sizeof(double), n, cudaMemcpyDeviceToHost, lane->stream));
    CUDA_PASS(lane_finish(lane, "a diagonal"));
    for (size_t i = 0; i < n; i++) {
        *least = fmin(*least, diagonal[i]);
        *most = fmax(*most, diagonal[i]);
        *sum += diagonal[i];
    }
    return WT_OK;
}

__global__ static void turn_direction(size_t count, double ratio, const double *r, double *d) {
    size_t step = gridDim.x * (size_t)blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += step)
        d[i] = r[i] + ratio * d[i];
}

wt_status recover_turn_direction(cuda_lane *lane, size_t count, double ratio, const double *r,
                                 double *d) {
    turn_direction<<<lane_blocks(count, THREADS), THREADS, 0, lane->stream>>>(count, ratio, r, d);
    return lane_check(lane, cudaGetLastError(), "a direction");
}

/* Part j of head i: squares, and weights of the tokens themselves, of rows j, j + PARTS, .. */
enum { PARTS = 512 };
__global__ static void sharpness(size_t rows, size_t m, size_t K, const int *own,
                                 const double *weights, double *parts) {
    int lane = threadIdx.x % LANES;
    for (size_t part = warp_index(); part < m * PARTS; part += gridDim.x * (size_t)WARPS) {
        size_t head = part / PARTS;
        double square = 0, self = 0;
        for (size_t row = part % PARTS; row < rows; row += PARTS) {
            const double *a = weights + (row * m + head) * K;
            for (size_t b = lane; b < K; b += LANES) {
                square += a[b] * a[b];
                if ((int)b == own[row])
                    self += a[b];
            }
        }
        square = warp_sum(square);
        self = warp_sum(self);
        if (lane == 0) {
            parts[2 * part] = square;
            parts[2 * part + 1] = self;
        }
    }
}

wt_status recover_sharpness(wt_recover_fit *fit, double *square, double *own) {
    cuda_lane *lane = fit->lane;
    std::vector<double> all(2 * fit->m * PARTS);
    buffer<double> parts;
    CUDA_PASS(parts.take(lane, all.size(), "how sharply heads attend"));
    sharpness<<<blocks_of_rows(fit->m * PARTS), THREADS, 0, lane->stream>>>(
        fit->R, fit->m, fit->K, fit->own.data, fit->now->weights.data, parts.data);
    CUDA_PASS(parts.store(all.data(), all.size()));
    for (size_t i = 0; i < fit->m; i++) {
        square[i] = own[i] = 0;
        for (size_t j = 0; j < PARTS; j++) {
            square[i] += all[2 * (i * PARTS + j)] / (double)fit->live;
            own[i] += all[2 * (i * PARTS + j) + 1] / (double)fit->live;
        }
    }
    return WT_OK;
}
