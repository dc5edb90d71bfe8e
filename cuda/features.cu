/* With x~ = [x; 1] and w = d + 1, one sample and one head W:
 *   q (w) = x~0^T W      a product over all samples and heads, into the place of the features
 *   s_i = <q, x~i>       then relu(s_i) / N, or softmax over the keys
 *   phi (w) = sum_i s_i x~i
 * the last two by one thread, with q and phi in registers. Neurons: relu of one product. */
#include "features.h"

#include <math.h>

#define THREADS 128
/* Numbers of keys in shared memory at a time. */
#define SHARED_NUMBERS 2048
/* Features that are made at a time. */
#define MOST_NUMBERS ((size_t)1 << 29)

/* ---- loading --------------------------------------------------------------------------------- */

/* W_u[a][j] to (a, column of (u, j)). */
__global__ static void pack_weights(size_t units, size_t w, size_t block, const double *from,
                                    double *to) {
    size_t f = units * w, all = f * w;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all;
         i += (size_t)gridDim.x * blockDim.x) {
        size_t a = i / f, column = i % f;
        size_t first = column / (block * w) * block;
        size_t count = units - first < block ? units - first : block;
        size_t j = (column - first * w) / count, u = first + (column - first * w) % count;
        to[i] = from[u * w * w + a * w + j];
    }
}

wt_status gpu_model::load(cuda_lane *lane, const wt_ridge_model *model) {
    about = *model;
    spec = *model->spec;
    f = model->units * model->width;
    size_t numbers = model->units * model->inputs;
    if (spec.kind == WT_MODEL_KIND_RFMLP)
        return weights.load(lane, model->weights, numbers, "the weights");
    buffer<double> plain;
    CUDA_PASS(plain.load(lane, model->weights, numbers, "the weights"));
    CUDA_PASS(weights.take(lane, numbers, "the weights"));
    pack_weights<<<lane_blocks(numbers, 256), 256, 0, lane->stream>>>(
        model->units, model->width, model->block, plain.data, weights.data);
    return lane_check(lane, cudaGetLastError(), "packing weights");
}

wt_status gpu_rows::load(cuda_lane *lane, const wt_ridge_rows *rows) {
    samples = rows->samples;
    keys = rows->keys;
    dim = rows->dim;
    CUDA_PASS(query.load(lane, rows->query, samples * dim, "the tokens"));
    CUDA_PASS(key.load(lane, rows->key, samples * keys * dim, "the tokens"));
    return rows->mask == NULL ? WT_OK : mask.load(lane, rows->mask, samples * keys, "the mask");
}

/* ---- heads ----------------------------------------------------------------------------------- */

__global__ static void extend(size_t samples, size_t dim, const double *from, double *to) {
    size_t w = dim + 1, all = samples * w;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all;
         i += (size_t)gridDim.x * blockDim.x)
        to[i] = i % w < dim ? from[i / w * dim + i % w] : 1;
}

struct heads_job {
    const double *key;
    const uint8_t *mask; /* NULL = all live */
    size_t samples, keys, dim;
    size_t units, block; /* of this slab */
    bool softmax;
    size_t chunk;    /* keys in shared memory at a time */
    const double *q; /* (samples, columns); the same as `out` for small heads */
    double *out;     /* (samples, columns) */
};

/* Keys from `first` on as rows of P pairs of numbers, zeros behind; their live flags. */
template <int P>
__device__ static void load_keys(const heads_job &job, size_t sample, size_t first, size_t count,
                                 double *keys, unsigned char *live) {
    size_t w = job.dim + 1;
    for (size_t i = threadIdx.x; i < count * 2 * P; i += blockDim.x) {
        size_t k = first + i / (2 * P), j = i % (2 * P);
        keys[i] = j < job.dim  ? job.key[(sample * job.keys + k) * job.dim + j]
                  : j + 1 == w ? 1.0
                               : 0.0;
    }
    for (size_t i = threadIdx.x; i < count; i += blockDim.x)
        live[i] = job.mask == NULL || job.mask[sample * job.keys + first + i] != 0;
}

/* Where a unit's feature 0 is in its row, and how far the next is. */
__device__ static void place(const heads_job &job, size_t unit, size_t w, size_t *at,
                             size_t *step) {
    size_t first = unit / job.block * job.block;
    *step = job.units - first < job.block ? job.units - first : job.block;
    *at = first * w + unit - first;
}

/* A thread a head, a block of threads a sample; w <= 2 P. Keys come in pairs of numbers, and stay
 * in registers for both of their uses: reading them is what takes longest. */
template <int P> __global__ static void small_heads(heads_job job) {
    extern __shared__ double2 pairs[];
    double *keys = (double *)pairs;
    unsigned char *live = (unsigned char *)(pairs + job.chunk * P);
    size_t w = job.dim + 1, unit = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    bool mine = unit < job.units;
    size_t at = 0, step = 0;
    if (mine)
        place(job, unit, w, &at, &step);
    for (size_t sample = blockIdx.y; sample < job.samples; sample += gridDim.y) {
        double *row = job.out + sample * job.units * w + at;
        double2 q[P], sum[P];
        double most = -INFINITY, total = 0;
#pragma unroll
        for (int j = 0; j < P; j++) {
            q[j].x = mine && 2 * j < w ? row[2 * j * step] : 0;
            q[j].y = mine && 2 * j + 1 < w ? row[(2 * j + 1) * step] : 0;
            sum[j] = make_double2(0, 0);
        }
        for (int pass = job.softmax ? 0 : 1; pass < 2; pass++)
            for (size_t first = 0; first < job.keys; first += job.chunk) {
                size_t count = job.keys - first < job.chunk ? job.keys - first : job.chunk;
                __syncthreads();
                load_keys<P>(job, sample, first, count, keys, live);
                __syncthreads();
                for (size_t i = 0; i < count; i++) {
                    if (!live[i])
                        continue;
                    double2 key[P];
                    double even = 0, odd = 0;
#pragma unroll
                    for (int j = 0; j < P; j++) {
                        key[j] = pairs[i * P + j];
                        even += q[j].x * key[j].x;
                        odd += q[j].y * key[j].y;
                    }
                    double s = even + odd;
                    if (pass == 0) {
                        most = fmax(most, s);
                        continue;
                    }
                    double weight = job.softmax ? exp(s - most) : s > 0 ? s : 0;
                    total += job.softmax ? weight : 1;
#pragma unroll
                    for (int j = 0; j < P; j++) {
                        sum[j].x += weight * key[j].x;
                        sum[j].y += weight * key[j].y;
                    }
                }
            }
#pragma unroll
        for (int j = 0; j < P; j++) {
            if (mine && 2 * j < w)
                row[2 * j * step] = sum[j].x / total;
            if (mine && 2 * j + 1 < w)
                row[(2 * j + 1) * step] = sum[j].y / total;
        }
    }
}

/* Heads of any size: q is read again for every key, PART features are summed at a time. */
#define PART 16
__global__ static void large_heads(heads_job job) {
    size_t w = job.dim + 1, unit = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    size_t at = 0, step = 0;
    if (unit >= job.units)
        return;
    place(job, unit, w, &at, &step);
    for (size_t sample = blockIdx.y; sample < job.samples; sample += gridDim.y) {
        const double *q = job.q + sample * job.units * w + at;
        const double *keys = job.key + sample * job.keys * job.dim;
        double *row = job.out + sample * job.units * w + at;
        double most = -INFINITY;
        for (size_t part = 0; part < w; part += PART) {
            double sum[PART] = {0}, total = 0;
            for (int pass = part == 0 && job.softmax ? 0 : 1; pass < 2; pass++)
                for (size_t i = 0; i < job.keys; i++) {
                    if (job.mask != NULL && job.mask[sample * job.keys + i] == 0)
                        continue;
                    const double *key = keys + i * job.dim;
                    double s = 0;
                    for (size_t j = 0; j < job.dim; j++)
                        s += q[j * step] * key[j];
                    s += q[job.dim * step];
                    if (pass == 0) {
                        most = fmax(most, s);
                        continue;
                    }
                    double weight = job.softmax ? exp(s - most) : s > 0 ? s : 0;
                    total += job.softmax ? weight : 1;
#pragma unroll
                    for (int j = 0; j < PART; j++)
                        sum[j] += part + j < job.dim ? weight * key[part + j] : weight;
                }
#pragma unroll
            for (int j = 0; j < PART; j++)
                if (part + j < w)
                    row[(part + j) * step] = sum[j] / total;
        }
    }
}

template <int P> static void launch_small(cuda_lane *lane, heads_job job) {
    size_t most = SHARED_NUMBERS / (2 * P);
    job.chunk = most < job.keys ? most : job.keys;
    size_t shared = job.chunk * (P * sizeof(double2) + 1);
    dim3 grid((unsigned)((job.units + THREADS - 1) / THREADS),
              (unsigned)(job.samples < 32768 ? job.samples : 32768));
    small_heads<P><<<grid, THREADS, shared, lane->stream>>>(job);
}

static wt_status make_heads(cuda_lane *lane, const gpu_model *model, const gpu_rows *rows,
                            size_t begin, size_t end, size_t first, size_t count, double *out) {
    size_t w = model->about.width, samples = end - begin, columns = count * w;
    const double one = 1, zero = 0;
    bool small = w <= 33;
    buffer<double> query, q;
    CUDA_PASS(query.take(lane, samples * w, "queries"));
    if (!small)
        CUDA_PASS(q.take(lane, samples * columns, "queries of heads"));
    extend<<<lane_blocks(samples * w, 256), 256, 0, lane->stream>>>(
        samples, rows->dim, rows->query.data + begin * rows->dim, query.data);
    double *into = small ? out : q.data;
    LANE(cublasDgemm_64(lane->blas, CUBLAS_OP_N, CUBLAS_OP_N, columns, samples, w, &one,
                        model->weights.data + first * w, model->f, query.data, w, &zero, into,
                        columns));
    heads_job job = {};
    job.key = rows->key.data + begin * rows->keys * rows->dim;
    job.mask = rows->mask.data == NULL ? NULL : rows->mask.data + begin * rows->keys;
    job.samples = samples;
    job.keys = rows->keys;
    job.dim = rows->dim;
    job.units = count;
    job.block = model->about.block;
    job.softmax = model->spec.activation == WT_ACTIVATION_SOFTMAX;
    job.q = into;
    job.out = out;
    if (w <= 6)
        launch_small<3>(lane, job);
    else if (w <= 10)
        launch_small<5>(lane, job);
    else if (w <= 18)
        launch_small<9>(lane, job);
    else if (small)
        launch_small<17>(lane, job);
    else
        large_heads<<<dim3((unsigned)((count + THREADS - 1) / THREADS),
                           (unsigned)(samples < 32768 ? samples : 32768)),
                      THREADS, 0, lane->stream>>>(job);
    return lane_check(lane, cudaGetLastError(), "features");
}

/* ---- neurons --------------------------------------------------------------------------------- */

/* [x0; x1; ..; xN; 1] with masked keys zero. */
__global__ static void flatten(size_t samples, size_t keys, size_t dim, const double *query,
                               const double *key, const uint8_t *mask, double *out) {
    size_t inputs = (keys + 1) * dim + 1, all = samples * inputs;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all;
         i += (size_t)gridDim.x * blockDim.x) {
        size_t sample = i / inputs, at = i % inputs, k = at / dim;
        bool dead = mask != NULL && k > 0 && k <= keys && mask[sample * keys + k - 1] == 0;
        out[i] = at + 1 == inputs ? 1
                 : dead           ? 0
                 : k == 0         ? query[sample * dim + at]
                                  : key[sample * keys * dim + at - dim];
    }
}

__global__ static void relu(size_t all, double *values) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all;
         i += (size_t)gridDim.x * blockDim.x)
        values[i] = values[i] > 0 ? values[i] : 0;
}

static wt_status make_neurons(cuda_lane *lane, const gpu_model *model, const gpu_rows *rows,
                              size_t begin, size_t end, size_t first, size_t count, double *out) {
    size_t inputs = model->about.inputs, samples = end - begin;
    const double one = 1, zero = 0;
    buffer<double> z;
    CUDA_PASS(z.take(lane, samples * inputs, "tokens of neurons"));
    flatten<<<lane_blocks(samples * inputs, 256), 256, 0, lane->stream>>>(
        samples, rows->keys, rows->dim, rows->query.data + begin * rows->dim,
        rows->key.data + begin * rows->keys * rows->dim,
        rows->mask.data == NULL ? NULL : rows->mask.data + begin * rows->keys, z.data);
    LANE(cublasDgemm_64(lane->blas, CUBLAS_OP_T, CUBLAS_OP_N, count, samples, inputs, &one,
                        model->weights.data + first * inputs, inputs, z.data, inputs, &zero, out,
                        count));
    relu<<<lane_blocks(samples * count, 256), 256, 0, lane->stream>>>(samples * count, out);
    return lane_check(lane, cudaGetLastError(), "features");
}

wt_status features_make(cuda_lane *lane, const gpu_model *model, const gpu_rows *rows, size_t begin,
                        size_t end, size_t first, size_t count, double *out) {
    return model->spec.kind == WT_MODEL_KIND_RFMLP
               ? make_neurons(lane, model, rows, begin, end, first, count, out)
               : make_heads(lane, model, rows, begin, end, first, count, out);
}

size_t features_units(const gpu_model *model, size_t samples) {
    size_t block = model->about.block * model->about.width;
    size_t blocks = MOST_NUMBERS / (block * (samples == 0 ? 1 : samples));
    size_t units = (blocks == 0 ? 1 : blocks) * model->about.block;
    return units < model->about.units ? units : model->about.units;
}
