/* What is read off a factor of the host. */
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "device/power.h"
#include "features/learn/host.h"
#include "linalg/backend.h"
#include "linalg/tiles.h"

typedef struct {
    const wt_routines *blas;
    wt_ridge_system *system;
    const size_t *orders;
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
            if (work->orders[s] == first + r + 1)
                for (size_t c = 0; c < columns && column + c < work->orders[s]; c++)
                    work->out[s * n + column + c] = sums[c];
    }
}

/* Tile columns of L^-1, from the diagonal down: X_i = L_ii^-1 (E_i - sum_k L_ik X_k). */
static wt_status invert_columns(void *argument, size_t begin, size_t end, int worker) {
    const inverting *work = argument;
    size_t n = work->system->k.n, order = work->orders[work->count - 1];
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

wt_status wt_host_inverse_diagonals(wt_context *context, wt_ridge_system *system,
                                    const size_t *orders, size_t count, double *out) {
    const wt_backend *backend;
    inverting work = {.system = system, .orders = orders, .count = count, .out = out};
    size_t workers = (size_t)wt_context_threads(context);
    wt_status status;
    WT_TRY(wt_backend_open(context, &backend));
    work.blas = &backend->real64;
    WT_TRY(WT_NEW3(context, &work.scratch, workers, system->k.n, WT_TILE, "leave-one-out"));
    memset(out, 0, count * system->k.n * sizeof *out);
    if (count > 0)
        WT_TRY(wt_parallel_for(context, wt_tile_count(orders[count - 1], WT_TILE), 1,
                               invert_columns, &work));
done:
    wt_release(work.scratch);
    return status;
}

/* K_ij wherever it is kept. */
static double entry(const wt_ridge_system *system, size_t i, size_t j) {
    if (i == j)
        return system->k.diagonal[i];
    return i < j ? system->k.values[i * system->k.n + j] : system->k.values[j * system->k.n + i];
}

wt_status wt_host_copy(wt_context *context, wt_ridge_system *system, size_t order, double *out) {
    (void)context;
    for (size_t i = 0; i < order; i++)
        for (size_t j = 0; j < order; j++)
            out[i * order + j] = entry(system, i, j);
    return WT_OK;
}

/* y = (K + lambda I) x from the upper triangle, row by row. */
static void multiply(const wt_ridge_system *system, double lambda, const double *x, double *y) {
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

wt_status wt_host_condition(wt_context *context, wt_ridge_system *system, double lambda,
                            double *out) {
    size_t n = system->k.n;
    double *x = NULL, *y = NULL, largest = 0, inverse = 0;
    wt_status status;
    WT_TRY(WT_NEW(context, &x, n, "condition number"));
    WT_TRY(WT_NEW(context, &y, n, "condition number"));
    for (size_t i = 0; i < n; i++)
        x[i] = wt_power_start(i, false);
    wt_power_unit(n, x);
    for (int step = 0; step < WT_POWER_STEPS; step++) {
        multiply(system, lambda, x, y);
        largest = wt_power_unit(n, y);
        memcpy(x, y, n * sizeof *x);
    }
    for (size_t i = 0; i < n; i++)
        x[i] = wt_power_start(i, true);
    wt_power_unit(n, x);
    for (int step = 0; step < WT_POWER_STEPS; step++) {
        memcpy(y, x, n * sizeof *y);
        WT_TRY(wt_shifted_solve(context, &system->k, n, 1, y, 1));
        inverse = wt_power_unit(n, y);
        memcpy(x, y, n * sizeof *x);
    }
    *out = largest * inverse;
done:
    wt_release(x);
    wt_release(y);
    return status;
}
