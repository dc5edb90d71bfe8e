#include "layer/model/assignment.h"

#include <math.h>

#include "base/memory.h"

/* Rows and columns count from 1; 0 stands for "none" and for the row being placed. */
typedef struct {
    size_t rows, columns;
    const double *cost;
    double *row_price, *column_price; /* potentials */
    double *slack;                    /* least reduced cost to reach a column */
    size_t *row_of, *before;          /* row placed at a column; column before it on the path */
    bool *reached;
} hungarian;

/* Grows the tree of tight edges from row `row` to a free column, which is returned. */
static size_t find_path(hungarian *work, size_t row) {
    size_t at = 0;
    work->row_of[0] = row;
    for (size_t j = 0; j <= work->columns; j++) {
        work->slack[j] = INFINITY;
        work->reached[j] = false;
    }
    do {
        size_t from = work->row_of[at], next = 0;
        double delta = INFINITY;
        work->reached[at] = true;
        for (size_t j = 1; j <= work->columns; j++) {
            if (work->reached[j])
                continue;
            double reduced = work->cost[(from - 1) * work->columns + j - 1] -
                             work->row_price[from] - work->column_price[j];
            if (reduced < work->slack[j]) {
                work->slack[j] = reduced;
                work->before[j] = at;
            }
            if (next == 0 || work->slack[j] < delta) {
                delta = work->slack[j];
                next = j;
            }
        }
        for (size_t j = 0; j <= work->columns; j++)
            if (work->reached[j]) {
                work->row_price[work->row_of[j]] += delta;
                work->column_price[j] -= delta;
            } else {
                work->slack[j] -= delta;
            }
        at = next;
    } while (work->row_of[at] != 0);
    return at;
}

wt_status wt_assignment(wt_context *context, size_t rows, size_t columns, const double *cost,
                        size_t *column) {
    hungarian work = {.rows = rows, .columns = columns, .cost = cost};
    wt_arena arena = wt_arena_start(context, "an assignment");
    wt_status status;
    if (rows > columns)
        WT_TRY(wt_fail(context, WT_INTERNAL, "%zu rows cannot be assigned to %zu columns", rows,
                       columns));
    work.row_price = WT_TAKE_ZERO(&arena, double, rows + 1);
    work.column_price = WT_TAKE_ZERO(&arena, double, columns + 1);
    work.slack = WT_TAKE(&arena, double, columns + 1);
    work.row_of = WT_TAKE_ZERO(&arena, size_t, columns + 1);
    work.before = WT_TAKE_ZERO(&arena, size_t, columns + 1);
    work.reached = WT_TAKE(&arena, bool, columns + 1);
    WT_TRY(arena.status);
    for (size_t row = 1; row <= rows; row++)
        for (size_t at = find_path(&work, row); at != 0; at = work.before[at])
            work.row_of[at] = work.row_of[work.before[at]];
    for (size_t j = 1; j <= columns; j++)
        if (work.row_of[j] != 0)
            column[work.row_of[j] - 1] = j - 1;
done:
    wt_arena_free(&arena);
    return status;
}
