/* Products of small matrices, one of each network: tiles of 64 x 64, eight rows by four columns a
 * thread. A number is added up by one thread in the order of the inner index, whatever the batch.
 */
#include "fleet.h"

enum { TILE = 64, DEEP = 16, THREADS = 128, LD = TILE + 4 };

static __device__ __forceinline__ void multiply(const float a[DEEP][LD], const float b[DEEP][LD],
                                                float sum[8][4]) {
    int row = threadIdx.x / 16 * 8, column = threadIdx.x % 16 * 4;
#pragma unroll
    for (int k = 0; k < DEEP; k++) {
        float4 low = *(const float4 *)&a[k][row], high = *(const float4 *)&a[k][row + 4];
        float4 by = *(const float4 *)&b[k][column];
        const float x[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (int r = 0; r < 8; r++) {
            sum[r][0] += x[r] * by.x;
            sum[r][1] += x[r] * by.y;
            sum[r][2] += x[r] * by.z;
            sum[r][3] += x[r] * by.w;
        }
    }
}

/* to[k][i] = from[i][k] or from[k][i] for i < TILE, k < DEEP, 0 past the ends. */
template <bool along>
static __device__ __forceinline__ void load(const float *from, int ld, int i0, int ends, int k0,
                                            int deep, float to[DEEP][LD]) {
    for (int at = threadIdx.x; at < TILE * DEEP; at += THREADS) {
        int i = along ? at / DEEP : at % TILE, k = along ? at % DEEP : at / TILE;
        bool inside = i0 + i < ends && k0 + k < deep;
        to[k][i] = !inside ? 0
                   : along ? from[(int64_t)(i0 + i) * ld + k0 + k]
                           : from[(int64_t)(k0 + k) * ld + i0 + i];
    }
}

static __device__ __forceinline__ void store(const float sum[8][4], int row0, int rows, int column0,
                                             int columns, float *out, int ld) {
    int row = row0 + threadIdx.x / 16 * 8, column = column0 + threadIdx.x % 16 * 4;
    for (int r = 0; r < 8 && row + r < rows; r++)
        for (int c = 0; c < 4 && column + c < columns; c++)
            out[(int64_t)(row + r) * ld + column + c] = sum[r][c];
}

template <bool transposed>
static __global__ void __launch_bounds__(THREADS)
    product(const fleet_one *ones, int rows, bool fixed_rows, int columns, int inner,
            fleet_matrix a, fleet_matrix b, fleet_matrix out) {
    __shared__ __align__(16) float left[DEEP][LD], right[DEEP][LD];
    int network = blockIdx.z, row0 = blockIdx.x * TILE, column0 = blockIdx.y * TILE;
    int count = fixed_rows ? rows : ones[network].samples;
    float sum[8][4] = {};
    if (row0 >= count)
        return;
    const float *from = a.base + fleet_place(a, ones, network);
    const float *by = b.base + fleet_place(b, ones, network);
    for (int k = 0; k < inner; k += DEEP) {
        load<true>(from, a.ld, row0, count, k, inner, left);
        load<transposed>(by, b.ld, column0, columns, k, inner, right);
        __syncthreads();
        multiply(left, right, sum);
        __syncthreads();
    }
    store(sum, row0, count, column0, columns, out.base + fleet_place(out, ones, network), out.ld);
}

void fleet_product(const fleet_call &call, int rows, int columns, int inner, fleet_matrix a,
                   fleet_matrix b, bool transposed, fleet_matrix out, bool fixed_rows) {
    dim3 grid((unsigned)((rows + TILE - 1) / TILE), (unsigned)((columns + TILE - 1) / TILE),
              (unsigned)call.count);
    if (transposed)
        product<true><<<grid, THREADS, 0, call.stream>>>(call.work.ones, rows, fixed_rows, columns,
                                                         inner, a, b, out);
    else
        product<false><<<grid, THREADS, 0, call.stream>>>(call.work.ones, rows, fixed_rows, columns,
                                                          inner, a, b, out);
}

static __global__ void __launch_bounds__(THREADS)
    outer(const fleet_one *ones, int inner, int columns, fleet_matrix a, fleet_matrix b,
          fleet_matrix out, int rows) {
    __shared__ __align__(16) float left[DEEP][LD], right[DEEP][LD];
    int network = blockIdx.z, row0 = blockIdx.x * TILE, column0 = blockIdx.y * TILE;
    int samples = rows > 0 ? rows : ones[network].samples;
    const float *from = a.base + fleet_place(a, ones, network);
    const float *by = b.base + fleet_place(b, ones, network);
    float sum[8][4] = {};
    for (int k = 0; k < samples; k += DEEP) {
        load<false>(from, a.ld, row0, inner, k, samples, left);
        load<false>(by, b.ld, column0, columns, k, samples, right);
        __syncthreads();
        multiply(left, right, sum);
        __syncthreads();
    }
    store(sum, row0, inner, column0, columns, out.base + fleet_place(out, ones, network), out.ld);
}

void fleet_outer(const fleet_call &call, int inner, int columns, fleet_matrix a, fleet_matrix b,
                 fleet_matrix out, int rows) {
    dim3 grid((unsigned)((inner + TILE - 1) / TILE), (unsigned)((columns + TILE - 1) / TILE),
              (unsigned)call.count);
    outer<<<grid, THREADS, 0, call.stream>>>(call.work.ones, inner, columns, a, b, out, rows);
}

/* Four parts of the samples side by side, added in order. */
enum { SUM_COLUMNS = 32, SUM_PARTS = 4 };
static __global__ void sum_rows(const fleet_one *ones, int columns, fleet_matrix a, fleet_matrix b,
                                fleet_matrix out, bool add, int rows) {
    __shared__ float parts[SUM_PARTS][SUM_COLUMNS];
    int network = blockIdx.y, column = blockIdx.x * SUM_COLUMNS + threadIdx.x;
    int samples = rows > 0 ? rows : ones[network].samples;
    const float *x = a.base + fleet_place(a, ones, network);
    const float *y = b.base == NULL ? NULL : b.base + fleet_place(b, ones, network);
    float sum = 0;
    if (column < columns)
        for (int s = (int)threadIdx.y; s < samples; s += SUM_PARTS) {
            float value = x[(int64_t)s * a.ld + column];
            sum += y == NULL ? value : value * y[(int64_t)s * b.ld + column];
        }
    parts[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < columns) {
        float *to = out.base + fleet_place(out, ones, network) + column;
        for (int part = 1; part < SUM_PARTS; part++)
            sum += parts[part][threadIdx.x];
        *to = add ? *to + sum : sum;
    }
}

void fleet_sum_rows(const fleet_call &call, int columns, fleet_matrix a, fleet_matrix b,
                    fleet_matrix out, bool add, int rows) {
    dim3 grid((unsigned)((columns + SUM_COLUMNS - 1) / SUM_COLUMNS), (unsigned)call.count);
    sum_rows<<<grid, dim3(SUM_COLUMNS, SUM_PARTS), 0, call.stream>>>(call.work.ones, columns, a, b,
                                                                     out, add, rows);
}
