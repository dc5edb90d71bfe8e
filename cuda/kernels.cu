/* K(x,x') = |x~0| |x~0'| / (8 pi N N') sum_ij w_i w_j' t_ij J(rho t_ij) without a bias, and
 * K(x,x') = |x~0| |x~0'| / (4 N N') sum_ij w_i w_j' t_ij M(h_i, h_j', rho t_ij) with one.
 *
 * A block of threads makes the entries of GROUP x GROUP samples, SIDE x SIDE pairs of keys at a
 * time: cosines of keys as in a matrix product, 4 x 4 a thread; the function of each; then the sum
 * over the pairs of two samples, in an order that depends on the shapes alone. */
#include "kernels.h"

#include "laws.h"

#define SIDE         64
#define THREADS      256
#define DEPTH        20
#define SERIES_TERMS 80
/* |r| up to which so many terms are good to 1e-15; pairs past the last go one by one. */
#define LAST_LIMIT 0.727

/* ---- loading --------------------------------------------------------------------------------- */

/* a_n(h) of normal_law.h for every key. */
__global__ static void make_series(size_t keys, const double *mean, double *out) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < keys;
         i += (size_t)gridDim.x * blockDim.x) {
        double h = mean[i], *a = out + i * SERIES_TERMS;
        a[0] = relu(h);
        a[1] = cdf(h);
        a[2] = density(h) / sqrt(2.0);
        for (int n = 3; n < SERIES_TERMS; n++) {
            double order = n;
            double fall = n == 3 ? 0 : (order - 3) / sqrt(order * (order - 1));
            a[n] = 1 / sqrt(order) * h * a[n - 1] - fall * a[n - 2];
        }
    }
}

wt_status gpu_side::load(cuda_lane *lane, const wt_model_spec *spec, const wt_ridge_rows *rows) {
    const wt_ridge_side *side = rows->side;
    samples = rows->samples;
    query_width = side->query_width;
    key_width = side->key_width;
    most = 0;
    CUDA_PASS(query.load(lane, side->query, samples * query_width, "the tokens"));
    CUDA_PASS(query_length.load(lane, side->query_length, samples, "the tokens"));
    if (key_width == 0)
        return WT_OK;
    size_t keys = side->start[samples];
    for (size_t s = 0; s < samples; s++)
        most =
            side->start[s + 1] - side->start[s] > most ? side->start[s + 1] - side->start[s] : most;
    CUDA_PASS(start.load(lane, side->start, samples + 1, "the tokens"));
    CUDA_PASS(key.load(lane, side->key, keys * key_width, "the tokens"));
    CUDA_PASS(weight.load(lane, side->weight, keys, "the tokens"));
    if (spec->kind != WT_MODEL_KIND_BRFA_INF)
        return WT_OK;
    CUDA_PASS(mean.load(lane, side->mean, keys, "the tokens"));
    CUDA_PASS(series.take(lane, keys * SERIES_TERMS, "the series of the kernel"));
    make_series<<<lane_blocks(keys, 128), 128, 0, lane->stream>>>(keys, mean.data, series.data);
    return lane_check(lane, cudaGetLastError(), "the series of the kernel");
}

/* ---- heads ----------------------------------------------------------------------------------- */

struct tile_side {
    const double *query, *query_length, *key, *weight, *mean, *series;
    const size_t *start;
    size_t samples;
    size_t room; /* keys that a sample is given in a tile */
};

struct tile_job {
    tile_side a, b;
    size_t query_width, key_width;
    size_t group_a, group_b; /* samples a tile */
    size_t begin, end;       /* rows of a in this launch */
    size_t origin;           /* row of a that is the first of out */
    bool whole;              /* b is a: tiles below the diagonal alone, each written twice */
    double *out;
    size_t stride;
};

/* A row of a tile: key `row` % room of sample first + row / room; false where there is none. */
__device__ static bool key_at(const tile_side &side, size_t first, size_t end, size_t chunk,
                              int row, size_t group, size_t *at) {
    size_t local = side.room <= SIDE ? row / side.room : 0;
    size_t sample = first + local, k = side.room <= SIDE ? row % side.room : chunk * SIDE + row;
    if (local >= group || sample >= end)
        return false;
    size_t begin = side.start[sample], live = side.start[sample + 1] - begin;
    *at = begin + k;
    return k < live;
}

struct tile_room {
    union {
        struct {
            double a[DEPTH][SIDE + 1], b[DEPTH][SIDE + 1];
        };
        double value[SIDE][SIDE + 1]; /* after the last use of a and b */
    };
    double weight_a[SIDE], weight_b[SIDE];
    int live_a[SIDE], live_b[SIDE];
    int owner_a[SIDE],
        owner_b[SIDE]; /* sample of the tile that a key is of; 0 where there is none */
    size_t at_a[SIDE], at_b[SIDE];
    unsigned long long highest; /* bits of the largest |rho| of the tile */
};

/* Numbers k .. k+DEPTH-1 of the rows of a table of keys. */
__device__ static void load_part(const double *table, size_t width, size_t k, const int *live,
                                 const size_t *at, double to[DEPTH][SIDE + 1]) {
    for (int i = threadIdx.x; i < SIDE * DEPTH; i += THREADS) {
        int row = i / DEPTH, j = i % DEPTH;
        to[j][row] = live[row] && k + j < width ? table[at[row] * width + k + j] : 0;
    }
}

/* One key of a tile: threads 0 .. SIDE-1 have a's, the next b's. */
__device__ static void open_key(const tile_side &side, size_t first, size_t end, size_t chunk,
                                size_t group, int row, int *live, int *owner, size_t *at,
                                double *weight) {
    live[row] = key_at(side, first, end, chunk, row, group, &at[row]);
    owner[row] = live[row] && side.room <= SIDE ? row / (int)side.room : 0;
    weight[row] = live[row] ? side.weight[at[row]] : 0;
}

/* rho (group_a, group_b) of the samples of the tile, `lanes` threads a pair, and the largest. */
__device__ static void take_rho(const tile_job &job, size_t a0, size_t b0, int lanes, double *rho,
                                tile_room *room) {
    int across = (int)job.group_b, pairs = (int)job.group_a * across, each = THREADS / lanes;
    int lane = threadIdx.x % lanes, width = (int)job.query_width;
    for (int n = 0, p = threadIdx.x / lanes; n * each < pairs; n++, p += each) {
        size_t i = a0 + p / across, j = b0 + p % across;
        double sum = 0;
        if (p < pairs && i < job.end && j < job.b.samples)
            for (int k = lane; k < width; k += lanes)
                sum += job.a.query[i * width + k] * job.b.query[j * width + k];
        for (int far = lanes / 2; far > 0; far /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, far);
        sum = sum > 1 ? 1 : sum < -1 ? -1 : sum;
        if (lane == 0 && p < pairs) {
            rho[p] = sum;
            atomicMax(&room->highest, (unsigned long long)__double_as_longlong(fabs(sum)));
        }
    }
}

/* How many terms pairs of |r| up to `rho` need. */
__device__ static int terms_for(double rho) {
    return rho <= 0.178   ? DEPTH
           : rho <= 0.518 ? 2 * DEPTH
           : rho <= 0.581 ? 3 * DEPTH
                          : SERIES_TERMS;
}

/* value = sum_n a_n(i) a_n(j) r^n of 4 x 4 pairs a thread. */
__device__ static void take_series(const tile_job &job, tile_room *room, int ty, int tx,
                                   double r[4][4], double value[4][4]) {
    for (int n = terms_for(__longlong_as_double((long long)room->highest)) - DEPTH; n >= 0;
         n -= DEPTH) {
        __syncthreads();
        load_part(job.a.series, SERIES_TERMS, n, room->live_a, room->at_a, room->a);
        load_part(job.b.series, SERIES_TERMS, n, room->live_b, room->at_b, room->b);
        __syncthreads();
        for (int k = DEPTH - 1; k >= 0; k--)
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    value[i][j] =
                        value[i][j] * r[i][j] + room->a[k][ty + 16 * i] * room->b[k][tx + 16 * j];
    }
}

/* Cosines of SIDE x SIDE keys, and what they add to the sums, into room->value. */
template <bool BIAS>
__device__ static void take_values(const tile_job &job, const double *rho, tile_room *room) {
    int ty = threadIdx.x / 16, tx = threadIdx.x % 16, across = (int)job.group_b;
    double t[4][4] = {}, r[4][4], value[4][4] = {};
    for (size_t k = 0; k < job.key_width; k += DEPTH) {
        if (k > 0)
            __syncthreads();
        load_part(job.a.key, job.key_width, k, room->live_a, room->at_a, room->a);
        load_part(job.b.key, job.key_width, k, room->live_b, room->at_b, room->b);
        __syncthreads();
        int depth = job.key_width - k < DEPTH ? (int)(job.key_width - k) : DEPTH;
        for (int d = 0; d < depth; d++)
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    t[i][j] += room->a[d][ty + 16 * i] * room->b[d][tx + 16 * j];
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++)
            r[i][j] =
                rho[room->owner_a[ty + 16 * i] * across + room->owner_b[tx + 16 * j]] * t[i][j];
    if (BIAS)
        take_series(job, room, ty, tx, r, value);
    __syncthreads(); /* the values take the place of a and b */
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int row = ty + 16 * i, column = tx + 16 * j;
            double of = BIAS ? value[i][j] : arc(r[i][j]);
            if (BIAS && fabs(r[i][j]) > LAST_LIMIT && room->live_a[row] && room->live_b[column])
                of = normal2_relu(job.a.mean[room->at_a[row]], job.b.mean[room->at_b[column]],
                                  r[i][j]);
            room->value[row][column] = room->weight_a[row] * room->weight_b[column] * t[i][j] * of;
        }
    __syncthreads();
}

/* Adds the values of every pair of samples: `lanes` threads a pair, whose sums are joined in pairs.
 * sums[n] is that of pair number (threadIdx.x / lanes) + n * (THREADS / lanes). */
__device__ static void add_values(const tile_job &job, const tile_room *room, int lanes,
                                  double *sums) {
    int rows = (int)(job.a.room <= SIDE ? job.a.room : SIDE);
    int columns = (int)(job.b.room <= SIDE ? job.b.room : SIDE);
    int pairs = (int)(job.group_a * job.group_b), each = THREADS / lanes;
    int lane = threadIdx.x % lanes;
    for (int n = 0, p = threadIdx.x / lanes; n * each < pairs; n++, p += each) {
        double sum = 0;
        int i0 = p / (int)job.group_b * rows, j0 = p % (int)job.group_b * columns;
        /* every `lanes`-th of the pairs, row by row */
        for (int i = 0, j = lane; p < pairs; j += lanes) {
            for (; j >= columns && i < rows; i++)
                j -= columns;
            if (i == rows)
                break;
            sum += room->value[i0 + i][j0 + j];
        }
        for (int far = lanes / 2; far > 0; far /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, far);
        sums[n] += sum;
    }
}

template <bool BIAS>
__global__ static void __launch_bounds__(THREADS, BIAS ? 2 : 3) make_tiles(tile_job job) {
    extern __shared__ double shared[];
    tile_room *room = (tile_room *)shared;
    double *rho = (double *)(room + 1);
    size_t a0 = job.begin + blockIdx.y * job.group_a, b0 = blockIdx.x * job.group_b;
    int pairs = (int)(job.group_a * job.group_b), lanes = 32;
    if (job.whole && b0 >= a0 + job.group_a)
        return;
    while (lanes > 1 && THREADS / lanes < pairs)
        lanes /= 2;
    double sums[SIDE * SIDE / THREADS] = {};
    if (threadIdx.x == 0)
        room->highest = 0;
    __syncthreads();
    take_rho(job, a0, b0, lanes, rho, room);
    size_t chunks_a = job.a.room <= SIDE ? 1 : (job.a.room + SIDE - 1) / SIDE;
    size_t chunks_b = job.b.room <= SIDE ? 1 : (job.b.room + SIDE - 1) / SIDE;
    for (size_t ca = 0; ca < chunks_a; ca++)
        for (size_t cb = 0; cb < chunks_b; cb++) {
            int row = threadIdx.x % SIDE;
            __syncthreads();
            if (threadIdx.x < SIDE)
                open_key(job.a, a0, job.end, ca, job.group_a, row, room->live_a, room->owner_a,
                         room->at_a, room->weight_a);
            else if (threadIdx.x < 2 * SIDE)
                open_key(job.b, b0, job.b.samples, cb, job.group_b, row, room->live_b,
                         room->owner_b, room->at_b, room->weight_b);
            __syncthreads();
            take_values<BIAS>(job, rho, room);
            add_values(job, room, lanes, sums);
        }
    for (int n = 0, p = threadIdx.x / lanes; p < pairs; n++, p += THREADS / lanes) {
        size_t i = a0 + p / job.group_b, j = b0 + p % job.group_b;
        if (threadIdx.x % lanes != 0 || i >= job.end || j >= job.b.samples)
            continue;
        if (job.whole && j > i)
            continue;
        double live_a = (double)(job.a.start[i + 1] - job.a.start[i]);
        double live_b = (double)(job.b.start[j + 1] - job.b.start[j]);
        double entry = sums[n] * job.a.query_length[i] * job.b.query_length[j] /
                       ((BIAS ? 4 : 8 * PI) * live_a * live_b);
        job.out[(i - job.origin) * job.stride + j] = entry;
        if (job.whole)
            job.out[j * job.stride + i] = entry;
    }
}

static tile_side side_of(const gpu_side *side) {
    tile_side out = {};
    out.query = side->query.data;
    out.query_length = side->query_length.data;
    out.key = side->key.data;
    out.weight = side->weight.data;
    out.mean = side->mean.data;
    out.series = side->series.data;
    out.start = side->start.data;
    out.samples = side->samples;
    out.room = side->most;
    return out;
}

/* Samples of a tile: as many as SIDE keys hold. */
static size_t group_of(size_t room) {
    return room < SIDE ? SIDE / room : 1;
}

/* Rows of tiles that one launch makes: the second side of a grid is short. */
#define MOST_TILES 32768

template <bool BIAS> static wt_status launch(cuda_lane *lane, tile_job job) {
    size_t shared = sizeof(tile_room) + job.group_a * job.group_b * sizeof(double);
    size_t end = job.end, most = MOST_TILES * job.group_a;
    /* the limit holds for all threads, and a smaller one would take room from another's launch */
    LANE(cudaFuncSetAttribute(make_tiles<BIAS>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              (int)(sizeof(tile_room) + SIDE * SIDE * sizeof(double))));
    size_t across = (job.b.samples + job.group_b - 1) / job.group_b;
    for (size_t begin = job.begin; begin < end; begin += most) {
        job.begin = begin;
        job.end = end - begin < most ? end : begin + most;
        dim3 grid((unsigned)across, (unsigned)((job.end - begin + job.group_a - 1) / job.group_a));
        make_tiles<BIAS><<<grid, THREADS, shared, lane->stream>>>(job);
        LANE(cudaGetLastError());
    }
    return WT_OK;
}

static wt_status heads(cuda_lane *lane, const wt_model_spec *spec, const gpu_side *a, size_t begin,
                       size_t end, const gpu_side *b, bool whole, double *out) {
    tile_job job = {};
    job.a = side_of(a);
    job.b = side_of(b);
    job.query_width = a->query_width;
    job.key_width = a->key_width;
    job.group_a = group_of(a->most);
    job.group_b = group_of(b->most);
    job.begin = job.origin = begin;
    job.end = end;
    job.whole = whole;
    job.out = out;
    job.stride = b->samples;
    return spec->kind == WT_MODEL_KIND_BRFA_INF ? launch<true>(lane, job)
                                                : launch<false>(lane, job);
}

/* ---- neurons --------------------------------------------------------------------------------- */

/* |z| |z'| / (2 pi (N+2)) J(r) in place of the cosine r. */
__global__ static void neurons(size_t rows, size_t columns, const double *length_a,
                               const double *length_b, double inputs, double *out) {
    size_t all = rows * columns;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all;
         i += (size_t)gridDim.x * blockDim.x)
        out[i] = length_a[i / columns] * length_b[i % columns] * arc(out[i]) / (2 * PI * inputs);
}

/* The same of the lower triangle of a symmetric matrix, which is written on both sides of the
 * diagonal: entry (i, j), i >= j, is at j * n + i. */
__global__ static void neurons_gram(size_t n, const double *length, double inputs, double *out) {
    for (size_t j = blockIdx.y; j < n; j += gridDim.y)
        for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
             i += (size_t)gridDim.x * blockDim.x)
            if (i >= j) {
                double entry = length[i] * length[j] * arc(out[j * n + i]) / (2 * PI * inputs);
                out[j * n + i] = entry;
                out[i * n + j] = entry;
            }
}

wt_status kernel_rows(cuda_lane *lane, const wt_model_spec *spec, const gpu_side *a, size_t begin,
                      size_t end, const gpu_side *b, double *out) {
    const double one = 1, zero = 0;
    size_t rows = end - begin, columns = b->samples, width = a->query_width;
    if (spec->kind != WT_MODEL_KIND_RFMLP_INF)
        return heads(lane, spec, a, begin, end, b, false, out);
    LANE(cublasDgemm_64(lane->blas, CUBLAS_OP_T, CUBLAS_OP_N, columns, rows, width, &one,
                        b->query.data, width, a->query.data + begin * width, width, &zero, out,
                        columns));
    neurons<<<lane_blocks(rows * columns, 256), 256, 0, lane->stream>>>(
        rows, columns, a->query_length.data + begin, b->query_length.data, (double)spec->keys + 2,
        out);
    return lane_check(lane, cudaGetLastError(), "the kernel");
}

wt_status kernel_gram(cuda_lane *lane, const wt_model_spec *spec, const gpu_side *a, double *out) {
    const double one = 1, zero = 0;
    size_t n = a->samples, width = a->query_width;
    if (spec->kind != WT_MODEL_KIND_RFMLP_INF)
        return heads(lane, spec, a, 0, n, a, true, out);
    LANE(cublasDsyrk_64(lane->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, n, width, &one,
                        a->query.data, width, &zero, out, n));
    neurons_gram<<<dim3((unsigned)((n + 255) / 256), (unsigned)(n < 32768 ? n : 32768)), 256, 0,
                   lane->stream>>>(n, a->query_length.data, (double)spec->keys + 2, out);
    return lane_check(lane, cudaGetLastError(), "the kernel");
}
