/* The table of the ridge engine. */
#include "system.h"

/* Samples that are predicted at a time, and numbers of their kernel. */
#define PREDICT_STEP    8192
#define PREDICT_NUMBERS ((size_t)1 << 28)

/* ---- matrices -------------------------------------------------------------------------------- */

/* Features in one product of the kernel matrix: other lanes' work comes between these. */
#define GRAM_STEP ((size_t)4352)

/* K = scale P P^T + beta K, the lower triangle, of features P (n, columns). */
static wt_status add_gram(cuda_lane *lane, size_t n, size_t columns, double scale, double beta,
                          const double *p, double *k) {
    const double one = 1;
    for (size_t first = 0; first < columns; first += GRAM_STEP) {
        size_t left = columns - first;
        LANE(cublasDsyrk_64(lane->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_T, n,
                            left < GRAM_STEP ? left : GRAM_STEP, &scale, p + first, columns,
                            first == 0 ? &beta : &one, k, n));
    }
    return WT_OK;
}

/* The lower triangle of K from features, and the last of these where they were made at once. */
static wt_status features_gram(cuda_lane *lane, const gpu_model *model, const gpu_rows *rows,
                               buffer<double> *phi, double *k) {
    size_t n = rows->samples, units = features_units(model, n), w = model->about.width;
    double scale = 1 / model->about.norm;
    lane_aside large(lane);
    CUDA_PASS(large.status);
    CUDA_PASS(phi->take(lane, n * units * w, "features"));
    for (size_t first = 0; first < model->about.units; first += units) {
        size_t left = model->about.units - first, count = left < units ? left : units;
        double beta = first == 0 ? 0 : 1;
        CUDA_PASS(features_make(lane, model, rows, 0, n, first, count, phi->data));
        CUDA_PASS(add_gram(lane, n, count * w, scale, beta, phi->data, k));
    }
    return WT_OK;
}

static wt_status fill_kernel(wt_ridge_system *system, const wt_ridge_model *model,
                             const wt_ridge_rows *rows, double *diagonal) {
    cuda_lane *lane = system->lane;
    size_t n = system->n = rows->samples;
    CUDA_PASS(system->a.take(lane, n * n, "the kernel matrix"));
    CUDA_PASS(system->diagonal.take(lane, n, "the kernel matrix"));
    if (rows->side != NULL) {
        gpu_side side;
        CUDA_PASS(side.load(lane, model->spec, rows));
        CUDA_PASS(kernel_gram(lane, model->spec, &side, system->a.data));
    } else {
        gpu_model weights;
        gpu_rows tokens;
        buffer<double> phi;
        CUDA_PASS(weights.load(lane, model));
        CUDA_PASS(tokens.load(lane, rows));
        CUDA_PASS(features_gram(lane, &weights, &tokens, &phi, system->a.data));
    }
    CUDA_PASS(system_keep(system, 1));
    return system->diagonal.store(diagonal, n);
}

static void close_system(wt_ridge_system *system) {
    if (system == NULL)
        return;
    cuda_lane *lane = system->lane;
    delete system;
    lane_give(lane);
}

/* A system with a lane of its own. */
static wt_status open_system(wt_context *context, wt_device *device, wt_ridge_system **out) {
    wt_ridge_system *system = new wt_ridge_system();
    wt_status status = lane_take(context, device, &system->lane);
    if (status != WT_OK)
        delete system;
    *out = status == WT_OK ? system : NULL;
    return status;
}

static wt_status keep_if(wt_status status, wt_ridge_system *system, wt_ridge_system **out) {
    if (status != WT_OK)
        close_system(system);
    *out = status == WT_OK ? system : NULL;
    return status;
}

static wt_status open_kernel(wt_context *context, wt_device *device, const wt_ridge_model *model,
                             const wt_ridge_rows *rows, double *diagonal, wt_ridge_system **out) {
    wt_ridge_system *system;
    CUDA_PASS(open_system(context, device, &system));
    return keep_if(fill_kernel(system, model, rows, diagonal), system, out);
}

static wt_status start_normal(wt_ridge_system *system, const wt_ridge_model *model,
                              size_t columns) {
    cuda_lane *lane = system->lane;
    CUDA_PASS(system->model.load(lane, model));
    size_t f = system->n = system->model.f;
    system->columns = columns;
    CUDA_PASS(system->a.take(lane, f * f, "the normal matrix"));
    CUDA_PASS(system->diagonal.take(lane, f, "the normal matrix"));
    CUDA_PASS(system->moment.take(lane, f * columns, "the normal matrix"));
    LANE(cudaMemsetAsync(system->a.data, 0, f * f * sizeof(double), lane->stream));
    LANE(cudaMemsetAsync(system->moment.data, 0, f * columns * sizeof(double), lane->stream));
    return lane_finish(lane, "the normal matrix");
}

static wt_status open_normal(wt_context *context, wt_device *device, const wt_ridge_model *model,
                             size_t most, size_t columns, bool leave_one_out,
                             wt_ridge_system **out) {
    (void)most;
    (void)leave_one_out;
    wt_ridge_system *system;
    CUDA_PASS(open_system(context, device, &system));
    return keep_if(start_normal(system, model, columns), system, out);
}

/* All features of the rows. */
static wt_status make_slab(wt_ridge_system *system, const wt_ridge_rows *rows,
                           buffer<double> *phi) {
    gpu_rows tokens;
    CUDA_PASS(tokens.load(system->lane, rows));
    CUDA_PASS(phi->take(system->lane, rows->samples * system->n, "a slab of features"));
    return features_make(system->lane, &system->model, &tokens, 0, rows->samples, 0,
                         system->model.about.units, phi->data);
}

static wt_status add_rows(wt_context *context, wt_ridge_system *system, const wt_ridge_rows *rows,
                          const double *y) {
    cuda_lane *lane = system->lane;
    const double one = 1;
    double norm = system->model.about.norm, scale = 1 / norm;
    size_t f = system->n, q = system->columns, n = rows->samples;
    buffer<double> phi, labels;
    CUDA_PASS(lane_enter(context, lane));
    if (system->ended) /* a factor may stand where rows are added */
        CUDA_PASS(system_restore(system, 0, f));
    CUDA_PASS(labels.load(lane, y, n * q, "labels"));
    CUDA_PASS(make_slab(system, rows, &phi));
    LANE(cudaEventRecord(lane->moved, lane->stream));
    LANE(cublasDsyrk_64(lane->blas, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, f, n, &one, phi.data, f,
                        system->ended ? &norm : &one, system->a.data, f));
    system->ended = false;
    LANE(cublasDgemm_64(lane->blas, CUBLAS_OP_N, CUBLAS_OP_T, q, f, n, &scale, labels.data, q,
                        phi.data, f, &one, system->moment.data, q));
    CUDA_PASS(lane_check(lane, cudaGetLastError(), "the normal matrix"));
    /* the caller's rows have been read; the products go on */
    return lane_check(lane, cudaEventSynchronize(lane->moved), "a slab of features");
}

static wt_status end_rows(wt_context *context, wt_ridge_system *system, double *moment,
                          double *diagonal) {
    CUDA_PASS(lane_enter(context, system->lane));
    CUDA_PASS(system_keep(system, 1 / system->model.about.norm));
    system->ended = true;
    CUDA_PASS(system->moment.store(moment, system->n * system->columns));
    return system->diagonal.store(diagonal, system->n);
}

static wt_status judge_rows(wt_context *context, wt_ridge_system *system, const wt_ridge_rows *rows,
                            const double *v, double *fitted, double *leverages, double *along) {
    cuda_lane *lane = system->lane;
    const double one = 1, zero = 0;
    size_t f = system->n, q = system->columns, n = rows->samples;
    buffer<double> phi, weights, found;
    CUDA_PASS(lane_enter(context, lane));
    CUDA_PASS(make_slab(system, rows, &phi));
    CUDA_PASS(weights.load(lane, v, f * q, "value vectors"));
    CUDA_PASS(found.take(lane, n * q, "predictions"));
    LANE(cublasDgemm_64(lane->blas, CUBLAS_OP_N, CUBLAS_OP_N, q, n, f, &one, weights.data, q,
                        phi.data, f, &zero, found.data, q));
    CUDA_PASS(found.store(fitted, n * q));
    if (along != NULL) {
        buffer<double> parts;
        CUDA_PASS(parts.take(lane, n * f, "a slab of features"));
        LANE(cublasDgemm_64(lane->blas, CUBLAS_OP_T, CUBLAS_OP_N, f, n, f, &one, system->u.data, f,
                            phi.data, f, &zero, parts.data, f));
        CUDA_PASS(parts.store(along, n * f));
    }
    if (leverages == NULL)
        return WT_OK;
    LANE(cublasDtrsm_64(lane->blas, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                        CUBLAS_DIAG_NON_UNIT, f, n, &one, system->a.data, f, phi.data, f));
    CUDA_PASS(column_squares(lane, f, n, phi.data, 1 / system->model.about.norm, found.data));
    return found.store(leverages, n);
}

/* ---- factors and eigenvectors ---------------------------------------------------------------- */

static wt_status factor(wt_context *context, wt_ridge_system *system, double shift, size_t order,
                        size_t *failed_at) {
    CUDA_PASS(lane_enter(context, system->lane));
    return system_factor(system, shift, order, failed_at);
}

static wt_status solve(wt_context *context, wt_ridge_system *system, size_t order, size_t columns,
                       double *b, size_t stride) {
    cuda_lane *lane = system->lane;
    buffer<double> x;
    size_t bytes = columns * sizeof(double);
    CUDA_PASS(lane_enter(context, lane));
    CUDA_PASS(x.take(lane, order * columns, "a solution"));
    LANE(cudaMemcpy2DAsync(x.data, bytes, b, stride * sizeof(double), bytes, order,
                           cudaMemcpyHostToDevice, lane->stream));
    CUDA_PASS(system_forward(system, order, columns, x.data));
    CUDA_PASS(system_backward(system, order, columns, x.data));
    LANE(cudaMemcpy2DAsync(b, stride * sizeof(double), x.data, bytes, bytes, order,
                           cudaMemcpyDeviceToHost, lane->stream));
    return lane_finish(lane, "a solution");
}

static wt_status inverse_diagonals(wt_context *context, wt_ridge_system *system,
                                   const size_t *orders, size_t count, double *out) {
    CUDA_PASS(lane_enter(context, system->lane));
    return system_inverse_diagonals(system, orders, count, out);
}

static wt_status condition(wt_context *context, wt_ridge_system *system, double shift,
                           double *out) {
    CUDA_PASS(lane_enter(context, system->lane));
    return system_condition(system, shift, out);
}

static wt_status copy(wt_context *context, wt_ridge_system *system, size_t order, double *out) {
    buffer<double> block;
    CUDA_PASS(lane_enter(context, system->lane));
    CUDA_PASS(block.take(system->lane, order * order, "a copy of a matrix"));
    CUDA_PASS(system_copy(system, order, block.data));
    return block.store(out, order * order);
}

static wt_status eigen(wt_context *context, wt_ridge_system *system, size_t order, double *e) {
    CUDA_PASS(lane_enter(context, system->lane));
    return system_eigen(system, order, e);
}

/* (columns, order) by columns, times U or its transpose. */
static wt_status turn(wt_context *context, wt_ridge_system *system, cublasOperation_t op,
                      size_t columns, const double *from, double *to) {
    cuda_lane *lane = system->lane;
    const double one = 1, zero = 0;
    size_t order = system->eigen_order;
    buffer<double> x, turned;
    CUDA_PASS(lane_enter(context, lane));
    CUDA_PASS(x.load(lane, from, order * columns, "labels"));
    CUDA_PASS(turned.take(lane, order * columns, "labels"));
    LANE(cublasDgemm_64(lane->blas, CUBLAS_OP_N, op, columns, order, order, &one, x.data, columns,
                        system->u.data, order, &zero, turned.data, columns));
    return turned.store(to, order * columns);
}

static wt_status eigen_along(wt_context *context, wt_ridge_system *system, size_t columns,
                             const double *y, double *along) {
    return turn(context, system, CUBLAS_OP_N, columns, y, along);
}

static wt_status eigen_combine(wt_context *context, wt_ridge_system *system, size_t columns,
                               const double *scaled, double *combined) {
    return turn(context, system, CUBLAS_OP_T, columns, scaled, combined);
}

static wt_status eigen_squares(wt_context *context, wt_ridge_system *system, const double *weight,
                               double *out) {
    size_t order = system->eigen_order;
    buffer<double> weights, sums;
    CUDA_PASS(lane_enter(context, system->lane));
    CUDA_PASS(weights.load(system->lane, weight, order, "eigenvalues"));
    CUDA_PASS(sums.take(system->lane, order, "eigenvalues"));
    CUDA_PASS(system_eigen_squares(system, weights.data, sums.data));
    return sums.store(out, order);
}

static void drop_eigen(wt_ridge_system *system) {
    system->u.drop();
}

/* ---- curves and products --------------------------------------------------------------------- */

__global__ static void add_diagonal(size_t n, double shift, double *a) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        a[i * n + i] += shift;
}

/* Column s * columns + c of x, one after the other, is column c of z (n, columns), zero from row
 * orders[s] on. */
__global__ static void spread(size_t n, size_t columns, size_t all, const size_t *orders,
                              const double *z, double *x) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n * all;
         i += (size_t)gridDim.x * blockDim.x) {
        size_t row = i % n, column = i / n;
        x[i] = row < orders[column / columns] ? z[row * columns + column % columns] : 0;
    }
}

/* x (rows, columns) from column after column to row after row. */
__global__ static void to_rows(size_t rows, size_t columns, const double *x, double *out) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < rows * columns;
         i += (size_t)gridDim.x * blockDim.x)
        out[i] = x[i % columns * rows + i / columns];
}

/* v = Phi^T a / norm and, unless NULL, fitted += Phi v, of units first .. first+count-1. */
static wt_status multiply(cuda_lane *lane, const gpu_model *model, size_t n, size_t first,
                          size_t count, size_t columns, const double *phi, const double *a,
                          double *v, double *fitted) {
    const double one = 1, zero = 0;
    double scale = 1 / model->about.norm;
    size_t w = model->about.width, width = count * w;
    double *part = v + first * w * columns;
    LANE(cublasDgemm_64(lane->blas, CUBLAS_OP_N, CUBLAS_OP_T, columns, width, n, &scale, a, columns,
                        phi, width, &zero, part, columns));
    if (fitted != NULL)
        LANE(cublasDgemm_64(lane->blas, CUBLAS_OP_N, CUBLAS_OP_N, columns, n, width, &one, part,
                            columns, phi, width, &one, fitted, columns));
    return WT_OK;
}

/* The same of all units, whose features are made unless `phi` holds them all. */
static wt_status multiply_all(cuda_lane *lane, const gpu_model *model, const gpu_rows *rows,
                              size_t columns, buffer<double> *phi, const double *a, double *v,
                              double *fitted) {
    size_t n = rows->samples, units = features_units(model, n);
    bool made = phi->data != NULL && units == model->about.units;
    if (phi->data == NULL)
        CUDA_PASS(phi->take(lane, n * units * model->about.width, "features"));
    for (size_t first = 0; first < model->about.units; first += units) {
        size_t left = model->about.units - first, count = left < units ? left : units;
        if (!made)
            CUDA_PASS(features_make(lane, model, rows, 0, n, first, count, phi->data));
        CUDA_PASS(multiply(lane, model, n, first, count, columns, phi->data, a, v, fitted));
    }
    return WT_OK;
}

static wt_status solve_curve(wt_ridge_system *system, const wt_ridge_model *model,
                             const wt_ridge_rows *rows, double shift, const size_t *orders,
                             size_t count, size_t columns, const double *y, double *alpha,
                             double *v, bool *solved) {
    cuda_lane *lane = system->lane;
    size_t n = system->n = rows->samples, all = count * columns, failed_at;
    gpu_model weights;
    gpu_rows tokens;
    buffer<double> phi, z, x, dual, values;
    buffer<size_t> ends;
    CUDA_PASS(weights.load(lane, model));
    CUDA_PASS(tokens.load(lane, rows));
    CUDA_PASS(system->a.take(lane, n * n, "the kernel matrix"));
    CUDA_PASS(features_gram(lane, &weights, &tokens, &phi, system->a.data));
    add_diagonal<<<lane_blocks(n, 256), 256, 0, lane->stream>>>(n, shift, system->a.data);
    CUDA_PASS(z.load(lane, y, n * columns, "labels"));
    CUDA_PASS(ends.load(lane, orders, count, "sizes"));
    CUDA_PASS(x.take(lane, n * all, "dual weights"));
    CUDA_PASS(dual.take(lane, n * all, "dual weights"));
    CUDA_PASS(values.take(lane, weights.f * all, "value vectors"));
    CUDA_PASS(system_factor_lower(system, n, &failed_at));
    *solved = failed_at == 0;
    if (!*solved)
        return WT_OK;
    CUDA_PASS(system_forward(system, n, columns, z.data));
    spread<<<lane_blocks(n * all, 256), 256, 0, lane->stream>>>(n, columns, all, ends.data, z.data,
                                                                x.data);
    /* a column at a time, each no further than its order: faster than all of them at once */
    for (size_t j = 0; j < all; j++)
        CUDA_PASS(system_backward(system, orders[j / columns], 1, x.data + j * n));
    to_rows<<<lane_blocks(n * all, 256), 256, 0, lane->stream>>>(n, all, x.data, dual.data);
    CUDA_PASS(multiply_all(lane, &weights, &tokens, all, &phi, dual.data, values.data, NULL));
    CUDA_PASS(dual.store(alpha, n * all));
    return values.store(v, weights.f * all);
}

static wt_status curve(wt_context *context, wt_device *device, const wt_ridge_model *model,
                       const wt_ridge_rows *rows, double shift, const size_t *orders, size_t count,
                       size_t columns, const double *y, double *alpha, double *v, bool *solved) {
    wt_ridge_system *system;
    CUDA_PASS(open_system(context, device, &system));
    wt_status status =
        solve_curve(system, model, rows, shift, orders, count, columns, y, alpha, v, solved);
    close_system(system);
    return status;
}

static wt_status project_on(cuda_lane *lane, const wt_ridge_model *model, const wt_ridge_rows *rows,
                            size_t columns, const double *a, double *v, double *fitted) {
    size_t n = rows->samples;
    gpu_model weights;
    gpu_rows tokens;
    buffer<double> phi, dual, values, found;
    CUDA_PASS(weights.load(lane, model));
    CUDA_PASS(tokens.load(lane, rows));
    CUDA_PASS(dual.load(lane, a, n * columns, "dual weights"));
    CUDA_PASS(values.take(lane, weights.f * columns, "value vectors"));
    if (fitted != NULL) {
        CUDA_PASS(found.take(lane, n * columns, "predictions"));
        LANE(cudaMemsetAsync(found.data, 0, n * columns * sizeof(double), lane->stream));
    }
    CUDA_PASS(
        multiply_all(lane, &weights, &tokens, columns, &phi, dual.data, values.data, found.data));
    if (fitted != NULL)
        CUDA_PASS(found.store(fitted, n * columns));
    return values.store(v, weights.f * columns);
}

static wt_status project(wt_context *context, wt_device *device, const wt_ridge_model *model,
                         const wt_ridge_rows *rows, size_t columns, const double *a, double *v,
                         double *fitted) {
    cuda_lane *lane;
    CUDA_PASS(lane_take(context, device, &lane));
    wt_status status = project_on(lane, model, rows, columns, a, v, fitted);
    lane_give(lane);
    return status;
}

static wt_ridge_rows part_of(const wt_ridge_rows *rows, size_t begin, size_t end) {
    wt_ridge_rows part = *rows;
    part.samples = end - begin;
    part.query += begin * rows->dim;
    part.key += begin * rows->keys * rows->dim;
    if (rows->mask != NULL)
        part.mask += begin * rows->keys;
    return part;
}

static wt_status predict_features(cuda_lane *lane, const wt_ridge_model *model, size_t columns,
                                  const double *v, const wt_ridge_rows *rows, double *fitted) {
    const double one = 1;
    gpu_model weights;
    buffer<double> values;
    CUDA_PASS(weights.load(lane, model));
    CUDA_PASS(values.load(lane, v, weights.f * columns, "value vectors"));
    for (size_t begin = 0; begin < rows->samples; begin += PREDICT_STEP) {
        size_t end = rows->samples - begin < PREDICT_STEP ? rows->samples : begin + PREDICT_STEP;
        size_t n = end - begin, units = features_units(&weights, n), w = weights.about.width;
        wt_ridge_rows part = part_of(rows, begin, end);
        gpu_rows tokens;
        buffer<double> phi, found;
        CUDA_PASS(tokens.load(lane, &part));
        CUDA_PASS(phi.take(lane, n * units * w, "features"));
        CUDA_PASS(found.take(lane, n * columns, "predictions"));
        for (size_t first = 0; first < weights.about.units; first += units) {
            size_t left = weights.about.units - first, count = left < units ? left : units;
            double beta = first == 0 ? 0 : 1;
            CUDA_PASS(features_make(lane, &weights, &tokens, 0, n, first, count, phi.data));
            LANE(cublasDgemm_64(lane->blas, CUBLAS_OP_N, CUBLAS_OP_N, columns, n, count * w, &one,
                                values.data + first * w * columns, columns, phi.data, count * w,
                                &beta, found.data, columns));
        }
        CUDA_PASS(found.store(fitted + begin * columns, n * columns));
        CUDA_PASS(lane->device->services->check_cancelled(lane->context));
    }
    return WT_OK;
}

static wt_status predict_kernel(cuda_lane *lane, const wt_ridge_model *model,
                                const wt_ridge_rows *train, size_t columns, const double *alpha,
                                const wt_ridge_rows *rows, double *fitted) {
    const double one = 1, zero = 0;
    size_t n = train->samples, step = PREDICT_NUMBERS / n == 0 ? 1 : PREDICT_NUMBERS / n;
    gpu_side learned, side;
    buffer<double> weights, k, found;
    step = step < rows->samples ? step : rows->samples;
    CUDA_PASS(learned.load(lane, model->spec, train));
    CUDA_PASS(side.load(lane, model->spec, rows));
    CUDA_PASS(weights.load(lane, alpha, n * columns, "dual weights"));
    CUDA_PASS(k.take(lane, step * n, "kernel rows"));
    CUDA_PASS(found.take(lane, step * columns, "predictions"));
    for (size_t begin = 0; begin < rows->samples; begin += step) {
        size_t end = rows->samples - begin < step ? rows->samples : begin + step;
        CUDA_PASS(kernel_rows(lane, model->spec, &side, begin, end, &learned, k.data));
        LANE(cublasDgemm_64(lane->blas, CUBLAS_OP_N, CUBLAS_OP_N, columns, end - begin, n, &one,
                            weights.data, columns, k.data, n, &zero, found.data, columns));
        CUDA_PASS(found.store(fitted + begin * columns, (end - begin) * columns));
        CUDA_PASS(lane->device->services->check_cancelled(lane->context));
    }
    return WT_OK;
}

static wt_status predict(wt_context *context, wt_device *device, const wt_ridge_model *model,
                         const wt_ridge_rows *train, size_t columns, const double *weights,
                         const wt_ridge_rows *rows, double *fitted) {
    cuda_lane *lane;
    CUDA_PASS(lane_take(context, device, &lane));
    wt_status status = train != NULL
                           ? predict_kernel(lane, model, train, columns, weights, rows, fitted)
                           : predict_features(lane, model, columns, weights, rows, fitted);
    lane_give(lane);
    return status;
}

extern const wt_ridge_engine cuda_ridge = {
    open_kernel, open_normal,       add_rows,  end_rows, close_system, copy,          factor,
    solve,       inverse_diagonals, condition, eigen,    eigen_along,  eigen_combine, eigen_squares,
    drop_eigen,  judge_rows,        curve,     project,  predict};
