#include "features/learn/system.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "linalg/backend.h"
#include "linalg/tiles.h"

#define POWER_STEPS 40

wt_status wt_system_open(wt_context *context, const wt_model *model, const wt_sets *sets,
                         wt_system *out) {
    wt_status status;
    *out = (wt_system){0};
    WT_TRY(wt_shifted_new(context, sets->samples, "the kernel matrix", &out->k));
    WT_TRY(wt_model_gram(context, model, sets, out->k.values, out->k.n));
    WT_TRY(wt_shifted_keep(context, &out->k));
done:
    if (status != WT_OK)
        wt_system_free(out);
    return status;
}

void wt_system_free(wt_system *system) {
    wt_shifted_free(&system->k);
    *system = (wt_system){0};
}

/* Lambdas up to this are lost in the rounding of the leading block of the order. */
static double lost_below(const wt_system *system, size_t order) {
    return 10 * DBL_EPSILON * wt_shifted_trace(&system->k, order);
}

wt_status wt_system_factor(wt_context *context, wt_system *system, double lambda,
                           const size_t *sizes, size_t count, size_t *usable) {
    size_t failed_at;
    *usable = count;
    while (*usable > 0 && lambda <= lost_below(system, sizes[*usable - 1]))
        --*usable;
    if (*usable > 0 && system->order == sizes[*usable - 1] && system->lambda == lambda)
        return WT_OK; /* at hand */
    system->order = 0;
    system->lambda = lambda;
    while (*usable > 0) {
        WT_PASS(wt_shifted_factor(context, &system->k, lambda, sizes[*usable - 1], &failed_at));
        if (failed_at == 0) {
            system->order = sizes[*usable - 1];
            break;
        }
        while (*usable > 0 && sizes[*usable - 1] >= failed_at)
            --*usable;
    }
    return WT_OK;
}

wt_status wt_system_solve(wt_context *context, const wt_system *system, size_t s, size_t columns,
                          const double *y, double *alpha, size_t alpha_stride) {
    for (size_t i = 0; i < s; i++)
        memcpy(alpha + i * alpha_stride, y + i * columns, columns * sizeof *alpha);
    return wt_shifted_solve(context, &system->k, s, columns, alpha, alpha_stride);
}

typedef struct {
    const wt_routines *blas;
    const wt_system *system;
    const size_t *sizes;
    size_t count;
    double *out;
    double *scratch; /* (n, WT_TILE) a worker */
} inverting;

/* Adds rows first .. first+rows-1 of L^-1 (columns column ..) to the sums, and notes the sums in
 * every order that ends there. */
static void add_rows(const inverting *work, const double *x, size_t first, size_t rows,
                     size_t column, size_t columns, double *sums) {
    size_t n = work->system->k.n;
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++)
            sums[c] += x[r * WT_TILE + c] * x[r * WT_TILE + c];
        for (size_t s = 0; s < work->count; s++)
            if (work->sizes[s] == first + r + 1)
                for (size_t c = 0; c < columns && column + c < work->sizes[s]; c++)
                    work->out[s * n + column + c] = sums[c];
    }
}

/* Tile columns of L^-1, from the diagonal down: X_i = L_ii^-1 (E_i - sum_k L_ik X_k). */
static wt_status invert_columns(void *argument, size_t begin, size_t end, int worker) {
    const inverting *work = argument;
    size_t n = work->system->k.n, order = work->sizes[work->count - 1];
    size_t tiles = wt_tile_count(order, WT_TILE);
    double *x = work->scratch + (size_t)worker * n * WT_TILE;
    for (size_t t = begin; t < end; t++) {
        size_t column = t * WT_TILE, columns = wt_tile_length(order, WT_TILE, t);
        double sums[WT_TILE] = {0};
        for (size_t i = t; i < tiles; i++) {
            size_t row = i * WT_TILE, rows = wt_tile_length(order, WT_TILE, i);
            const double *l = work->system->k.values + row * n;
            double *here = x + row * WT_TILE;
            memset(here, 0, rows * WT_TILE * sizeof *here);
            for (size_t r = 0; i == t && r < rows; r++)
                here[r * WT_TILE + r] = 1;
            if (i > t)
                work->blas->gemm(WT_PLAIN, WT_PLAIN, rows, columns, row - column, -1, l + column, n,
                                 x + column * WT_TILE, WT_TILE, 0, here, WT_TILE);
            work->blas->trsm_left(WT_PLAIN, rows, columns, l + row, n, here, WT_TILE);
            add_rows(work, here, row, rows, column, columns, sums);
        }
    }
    return WT_OK;
}

wt_status wt_system_inverse_diagonals(wt_context *context, const wt_system *system,
                                      const size_t *sizes, size_t count, double *out) {
    const wt_backend *backend;
    inverting work = {.system = system, .sizes = sizes, .count = count, .out = out};
    size_t workers = (size_t)wt_context_threads(context);
    wt_status status;
    WT_TRY(wt_backend_open(context, &backend));
    work.blas = &backend->real64;
    WT_TRY(WT_NEW3(context, &work.scratch, workers, system->k.n, WT_TILE, "leave-one-out"));
    memset(out, 0, count * system->k.n * sizeof *out);
    if (count > 0)
        WT_TRY(wt_parallel_for(context, wt_tile_count(sizes[count - 1], WT_TILE), 1, invert_columns,
                               &work));
done:
    wt_release(work.scratch);
    return status;
}

/* K_ij wherever it is kept. */
static double entry(const wt_system *system, size_t i, size_t j) {
    if (i == j)
        return system->k.diagonal[i];
    return i < j ? system->k.values[i * system->k.n + j] : system->k.values[j * system->k.n + i];
}

void wt_system_copy(const wt_system *system, size_t s, double *out) {
    for (size_t i = 0; i < s; i++)
        for (size_t j = 0; j < s; j++)
            out[i * s + j] = entry(system, i, j);
}

/* Scales to norm 1 and returns the norm before. */
static double unit(size_t n, double *x) {
    double square = 0;
    for (size_t i = 0; i < n; i++)
        square += x[i] * x[i];
    for (size_t i = 0; i < n; i++)
        x[i] /= sqrt(square);
    return sqrt(square);
}

/* y = (K + lambda I) x from the upper triangle, row by row. */
static void multiply(const wt_system *system, double lambda, const double *x, double *y) {
    size_t n = system->k.n;
    for (size_t i = 0; i < n; i++)
        y[i] = (system->k.diagonal[i] + lambda) * x[i];
    for (size_t i = 0; i < n; i++) {
        const double *row = system->k.values + i * n;
        double sum = 0, xi = x[i];
        for (size_t j = i + 1; j < n; j++) {
            sum += row[j] * x[j];
            y[j] += row[j] * xi;
        }
        y[i] += sum;
    }
}

wt_status wt_system_condition(wt_context *context, const wt_system *system, double lambda,
                              double *out) {
    size_t n = system->k.n;
    double *x = NULL, *y = NULL, largest = 0, inverse = 0;
    wt_status status;
    WT_TRY(WT_NEW(context, &x, n, "condition number"));
    WT_TRY(WT_NEW(context, &y, n, "condition number"));
    for (size_t i = 0; i < n; i++)
        x[i] = 1 + 0.1 * (double)(i % 7);
    unit(n, x);
    for (int step = 0; step < POWER_STEPS; step++) {
        multiply(system, lambda, x, y);
        largest = unit(n, y);
        memcpy(x, y, n * sizeof *x);
    }
    for (size_t i = 0; i < n; i++)
        x[i] = (i % 2 == 0 ? 1 : -1) * (1 + 0.1 * (double)(i % 7));
    unit(n, x);
    for (int step = 0; step < POWER_STEPS; step++) {
        WT_TRY(wt_system_solve(context, system, n, 1, x, y, 1));
        inverse = unit(n, y);
        memcpy(x, y, n * sizeof *x);
    }
    *out = largest * inverse;
done:
    wt_release(x);
    wt_release(y);
    return status;
}
