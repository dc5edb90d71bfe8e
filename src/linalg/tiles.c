#include "linalg/tiles.h"

#include <limits.h>
#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"

size_t wt_triangle_count(size_t tiles) {
    return tiles * (tiles + 1) / 2;
}

void wt_triangle_at(size_t t, size_t *row, size_t *column) {
    size_t i = (size_t)((sqrt(8.0 * (double)t + 1) - 1) / 2);
    while (wt_triangle_count(i) > t) /* the root may be off by one */
        i--;
    while (wt_triangle_count(i + 1) <= t)
        i++;
    *row = i;
    *column = t - wt_triangle_count(i);
}

wt_status wt_check_trans(wt_context *context, wt_trans trans) {
    return wt_check_choice(context, "transposition", (int)trans, WT_TRANSPOSED + 1);
}

wt_status wt_check_shape(wt_context *context, const char *what, size_t rows, size_t columns,
                         size_t stride) {
    if (stride < columns)
        return wt_fail(context, WT_USAGE, "%s: a stride of %zu is shorter than a row of %zu", what,
                       stride, columns);
    size_t elements, bytes;
    if (rows > INT_MAX || stride > INT_MAX || !wt_multiply(rows, stride, &elements) ||
        !wt_multiply(elements, sizeof(double), &bytes) || bytes > PTRDIFF_MAX)
        return wt_fail(context, WT_USAGE, "%s: %zu rows of stride %zu are more than BLAS can take",
                       what, rows, stride);
    return WT_OK;
}

enum { ROWS_A_CHUNK = 64 };

typedef struct {
    wt_context *context;
    const char *what;
    wt_part part;
    size_t columns, stride;
    const double *a; /* one of the two is NULL */
    const float *a_float;
} finite_check;

/* x - x is 0 for finite x and NaN for the others, so that a sum tells of a whole row without a
 * branch; eight of them side by side keep the processor's adders busy. */
enum { LANES = 8 };

/* The first column of the row that is not finite, or `columns`. */
#define FIRST_BAD(name, type)                                                                      \
    static size_t name(const type *row, size_t columns) {                                          \
        type sums[LANES] = {0};                                                                    \
        size_t j = 0;                                                                              \
        for (; j + LANES <= columns; j += LANES)                                                   \
            for (size_t lane = 0; lane < LANES; lane++)                                            \
                sums[lane] += row[j + lane] - row[j + lane];                                       \
        for (; j < columns; j++)                                                                   \
            sums[0] += row[j] - row[j];                                                            \
        for (size_t lane = 1; lane < LANES; lane++)                                                \
            sums[0] += sums[lane];                                                                 \
        for (j = sums[0] == 0 ? columns : 0; j < columns && isfinite(row[j]);)                     \
            j++;                                                                                   \
        return j;                                                                                  \
    }
FIRST_BAD(first_bad, double)
FIRST_BAD(first_bad_float, float)

static wt_status check_rows(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const finite_check *check = argument;
    for (size_t i = begin; i < end; i++) {
        size_t length = check->part == WT_LOWER && i + 1 < check->columns ? i + 1 : check->columns;
        size_t j = check->a != NULL ? first_bad(check->a + i * check->stride, length)
                                    : first_bad_float(check->a_float + i * check->stride, length);
        if (j < length)
            return wt_fail(check->context, WT_DATA, "%s: row %zu, column %zu is %g", check->what, i,
                           j,
                           check->a != NULL ? check->a[i * check->stride + j]
                                            : (double)check->a_float[i * check->stride + j]);
    }
    return WT_OK;
}

wt_status wt_check_matrix(wt_context *context, const char *what, wt_part part, size_t rows,
                          size_t columns, const double *a, size_t stride) {
    finite_check check = {context, what, part, columns, stride, a, NULL};
    return a == NULL ? WT_OK : wt_parallel_for(context, rows, ROWS_A_CHUNK, check_rows, &check);
}

wt_status wt_check_matrix_float(wt_context *context, const char *what, wt_part part, size_t rows,
                                size_t columns, const float *a, size_t stride) {
    finite_check check = {context, what, part, columns, stride, NULL, a};
    return a == NULL ? WT_OK : wt_parallel_for(context, rows, ROWS_A_CHUNK, check_rows, &check);
}
