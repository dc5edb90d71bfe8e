/* Factors, and what is read off them. */
#include <string.h>

#include "device/power.h"
#include "system.h"

/* The local number of a diagonal entry, or SIZE_MAX where another rank has it. */
static size_t diagonal_at(const mpi_matrix *a, size_t i) {
    size_t block = i / a->row.block;
    if (block % a->row.of != a->row.at || block % a->column.of != a->column.at)
        return SIZE_MAX;
    size_t inside = i % a->row.block;
    size_t row = block / a->row.of * a->row.block + inside;
    size_t column = block / a->column.of * a->row.block + inside;
    return column * a->local_rows + row;
}

void mpi_system_keep(wt_ridge_system *system) {
    memset(system->diagonal, 0, system->n * sizeof *system->diagonal);
    for (size_t i = 0; i < system->n; i++) {
        size_t at = diagonal_at(&system->a, i);
        if (at != SIZE_MAX)
            system->diagonal[i] = system->a.data[at];
    }
    mpi_sum_for_all(system->diagonal, system->n);
}

void mpi_system_unfactor(wt_ridge_system *system) {
    for (size_t i = 0; i < system->n; i++) {
        size_t at = diagonal_at(&system->a, i);
        if (at != SIZE_MAX)
            system->a.data[at] = system->diagonal[i];
    }
    system->factored = 0;
    system->spent = false;
}

/* ---- factors --------------------------------------------------------------------------------- */

/* A block on the diagonal: what is above it goes below, and the shift is added. */
static void mirror_block(wt_ridge_system *system, size_t first, size_t width, double shift) {
    mpi_matrix *a = &system->a;
    size_t corner = diagonal_at(a, first);
    if (corner == SIZE_MAX)
        return;
    double *block = a->data + corner;
    for (size_t j = 0; j < width; j++) {
        block[j * a->local_rows + j] = system->diagonal[first + j] + shift;
        for (size_t i = j + 1; i < width; i++)
            block[j * a->local_rows + i] = block[i * a->local_rows + j];
    }
}

/* A + shift I of the leading block, on and below the diagonal. */
static void mirror(wt_ridge_system *system, double shift, size_t order) {
    mpi_matrix *a = &system->a;
    const double one = 1, zero = 0;
    for (size_t first = 0; first < order; first += a->row.block) {
        size_t width = order - first < a->row.block ? order - first : a->row.block;
        mirror_block(system, first, width, shift);
        int rest = (int)(order - first - width), lines = (int)width;
        int here = (int)first + 1, after = here + lines;
        if (rest > 0)
            pdtran_(&rest, &lines, &one, a->data, &here, &after, a->about, &zero, a->data, &after,
                    &here, a->about);
    }
}

static size_t factor_block(wt_ridge_system *system, double shift, size_t order) {
    const int one = 1, n = (int)order;
    int failed;
    mirror(system, shift, order);
    pdpotrf_("L", &n, system->a.data, &one, &one, system->a.about, &failed);
    system->shift = shift;
    system->factored = failed == 0 ? order : 0;
    system->spent = false;
    return (size_t)failed;
}

void mpi_system_restore(wt_ridge_system *system) {
    if (system->spent)
        (void)factor_block(system, system->shift, system->factored);
}

wt_status mpi_factor(wt_context *context, mpi_call *call) {
    (void)context;
    size_t failed =
        factor_block(mpi_system_at(call->order.slot), call->order.shift, call->order.number);
    if (call->failed_at != NULL)
        *call->failed_at = failed;
    return WT_OK;
}

/* x to L^-T L^-1 x, where L^-1 is in the place of L. */
static void multiply_inverse(const wt_ridge_system *system, mpi_matrix *x) {
    const int one = 1, n = (int)x->rows, columns = (int)x->columns;
    const double whole = 1;
    for (const char *operation = "NT"; *operation != '\0'; operation++)
        pdtrmm_("L", "L", operation, "N", &n, &columns, &whole, system->a.data, &one, &one,
                system->a.about, x->data, &one, &one, x->about);
}

/* B (order, columns), which every rank has, to the inverse times B on rank 0. */
static void solve_with(wt_ridge_system *system, mpi_matrix *x, double *b) {
    const int one = 1, n = (int)x->rows, columns = (int)x->columns;
    int failed;
    if (system->spent && system->inverted < x->rows)
        mpi_system_restore(system);
    mpi_matrix_load(x, system->place, b);
    if (system->spent)
        multiply_inverse(system, x);
    else
        pdpotrs_("L", &n, &columns, system->a.data, &one, &one, system->a.about, x->data, &one,
                 &one, x->about, &failed);
    memset(b, 0, x->rows * x->columns * sizeof *b);
    mpi_matrix_add_to(x, system->place, b);
    mpi_sum(b, x->rows * x->columns);
}

static void take_columns(mpi_room *room, const wt_ridge_system *system, size_t order,
                         size_t columns, mpi_matrix *out) {
    size_t grid = (size_t)mpi_here.columns;
    mpi_matrix_take(room, order, columns, system->a.row.block, (columns + grid - 1) / grid,
                    "right-hand sides", out);
}

wt_status mpi_solve(wt_context *context, mpi_call *call) {
    wt_ridge_system *system = mpi_system_at(call->order.slot);
    size_t order = call->order.number, columns = call->order.columns;
    mpi_room room = mpi_room_start(context);
    mpi_matrix x;
    double *b = MPI_TAKE(&room, double, order *columns, "right-hand sides");
    take_columns(&room, system, order, columns, &x);
    wt_status status = mpi_agree(context, room.status);
    if (status == WT_OK) {
        if (call->in != NULL)
            memcpy(b, call->in, order * columns * sizeof *b);
        mpi_broadcast(b, order * columns * sizeof *b);
        solve_with(system, &x, b);
        if (call->out != NULL)
            memcpy(call->out, b, order * columns * sizeof *b);
    }
    mpi_room_free(&room);
    return status;
}

/* ---- inverses -------------------------------------------------------------------------------- */

/* Column i of L^-1: the squares of its rows up to each order, added up, are entry i of the diagonal
 * of that order's inverse. */
static void add_squares(const mpi_matrix *a, const size_t *orders, size_t count, double *out) {
    for (size_t j = 0; j < a->local_columns; j++) {
        size_t column = mpi_deal_index(&a->column, j), i = 0;
        double sum = 0;
        for (size_t s = 0; s < count; s++) {
            for (; i < a->local_rows && mpi_deal_index(&a->row, i) < orders[s]; i++)
                if (mpi_deal_index(&a->row, i) >= column)
                    sum += pow(a->data[j * a->local_rows + i], 2);
            if (column < orders[s])
                out[s * a->rows + column] = sum;
        }
    }
}

wt_status mpi_inverse(wt_context *context, mpi_call *call) {
    wt_ridge_system *system = mpi_system_at(call->order.slot);
    size_t count = call->order.number, n = system->n;
    mpi_room room = mpi_room_start(context);
    size_t *orders = MPI_TAKE(&room, size_t, count, "leave-one-out");
    double *sums = MPI_TAKE(&room, double, count *n, "leave-one-out");
    wt_status status = mpi_agree(context, room.status);
    if (status == WT_OK) {
        if (call->orders != NULL)
            memcpy(orders, call->orders, count * sizeof *orders);
        mpi_broadcast(orders, count * sizeof *orders);
        const int one = 1, order = (int)orders[count - 1];
        int failed;
        mpi_system_restore(system);
        pdtrtri_("L", "N", &order, system->a.data, &one, &one, system->a.about, &failed);
        system->spent = true;
        system->inverted = orders[count - 1];
        add_squares(&system->a, orders, count, sums);
        mpi_sum(sums, count * n);
        for (size_t i = 0; call->out != NULL && i < count * n; i++)
            call->out[system->place == NULL ? i : system->place[i]] = sums[i];
    }
    mpi_room_free(&room);
    return status;
}

/* ---- condition numbers ----------------------------------------------------------------------- */

/* y = (A + shift I) x by what is above the diagonal, on every rank. */
static void multiply(const wt_ridge_system *system, double shift, const double *x, double *y) {
    const mpi_matrix *a = &system->a;
    memset(y, 0, system->n * sizeof *y);
    for (size_t j = 0; j < a->local_columns; j++) {
        size_t column = mpi_deal_index(&a->column, j);
        size_t above = mpi_deal_count(&a->row, column);
        const double *entries = a->data + j * a->local_rows;
        double sum = 0;
        for (size_t i = 0; i < above; i++) {
            size_t row = mpi_deal_index(&a->row, i);
            sum += entries[i] * x[row];
            y[row] += entries[i] * x[column];
        }
        y[column] += sum;
    }
    for (size_t i = 0; mpi_here.rank == 0 && i < system->n; i++)
        y[i] += (system->diagonal[i] + shift) * x[i];
    mpi_sum_for_all(y, system->n);
}

/* Entry i of a vector in the order of others. */
static size_t placed(const wt_ridge_system *system, size_t i) {
    return system->place == NULL ? i : system->place[i];
}

wt_status mpi_condition(wt_context *context, mpi_call *call) {
    wt_ridge_system *system = mpi_system_at(call->order.slot);
    size_t n = system->n;
    mpi_room room = mpi_room_start(context);
    mpi_matrix column;
    double *x = MPI_TAKE(&room, double, n, "condition number");
    double *y = MPI_TAKE(&room, double, n, "condition number"), largest = 0, inverse = 0;
    take_columns(&room, system, n, 1, &column);
    wt_status status = mpi_agree(context, room.status);
    if (status != WT_OK)
        goto done;
    for (size_t i = 0; i < n; i++)
        x[i] = wt_power_start(placed(system, i), false);
    wt_power_unit(n, x);
    for (int step = 0; step < WT_POWER_STEPS; step++) {
        multiply(system, call->order.shift, x, y);
        largest = wt_power_unit(n, y);
        memcpy(x, y, n * sizeof *x);
    }
    for (size_t i = 0; i < n; i++)
        x[i] = wt_power_start(i, true);
    wt_power_unit(n, x);
    for (int step = 0; step < WT_POWER_STEPS; step++) {
        solve_with(system, &column, x);
        mpi_broadcast(x, n * sizeof *x);
        inverse = wt_power_unit(n, x);
    }
    if (call->out != NULL)
        *call->out = largest * inverse;
done:
    mpi_room_free(&room);
    return status;
}

/* ---- the matrix itself ----------------------------------------------------------------------- */

/* Rows begin .. end-1 of the leading block, from the diagonal on. */
static void gather_rows(const wt_ridge_system *system, size_t begin, size_t end, size_t order,
                        double *lines) {
    const mpi_matrix *a = &system->a;
    memset(lines, 0, (end - begin) * order * sizeof *lines);
    for (size_t j = 0; j < a->local_columns; j++) {
        size_t column = mpi_deal_index(&a->column, j);
        for (size_t i = mpi_deal_count(&a->row, begin); i < mpi_deal_count(&a->row, end); i++) {
            size_t row = mpi_deal_index(&a->row, i);
            if (row < column && column < order)
                lines[(row - begin) * order + column] = a->data[j * a->local_rows + i];
        }
    }
    mpi_sum(lines, (end - begin) * order);
}

wt_status mpi_copy(wt_context *context, mpi_call *call) {
    wt_ridge_system *system = mpi_system_at(call->order.slot);
    size_t order = call->order.number;
    mpi_room room = mpi_room_start(context);
    double *lines = MPI_TAKE(&room, double, MPI_BLOCK *order, "rows of the matrix");
    wt_status status = mpi_agree(context, room.status);
    for (size_t begin = 0; status == WT_OK && begin < order; begin += MPI_BLOCK) {
        size_t end = order - begin < MPI_BLOCK ? order : begin + MPI_BLOCK;
        gather_rows(system, begin, end, order, lines);
        for (size_t i = begin; call->out != NULL && i < end; i++) {
            size_t row = placed(system, i);
            call->out[row * order + row] = system->diagonal[i];
            for (size_t j = i + 1; j < order; j++) {
                size_t column = placed(system, j);
                call->out[row * order + column] = call->out[column * order + row] =
                    lines[(i - begin) * order + j];
            }
        }
    }
    mpi_room_free(&room);
    return status;
}
