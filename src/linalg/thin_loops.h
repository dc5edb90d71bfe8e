/* The inner loops of thin products, for one kind of processor each. */
#ifndef WT_LINALG_THIN_LOOPS_H
#define WT_LINALG_THIN_LOOPS_H

#include <stddef.h>

#define WT_THIN_COLUMNS 8  /* most columns a call */
#define WT_THIN_GROUP   16 /* columns of P that are summed side by side */

typedef struct wt_thin_loops {
    const char *name;
    /* sums (columns, WT_THIN_GROUP) += P^T A for rows rows and WT_THIN_GROUP columns of P */
    void (*gather)(size_t columns, size_t rows, const double *p, size_t p_stride, const double *a,
                   size_t a_stride, double *sums);
    /* F += P V for rows rows; vt (columns, width) is V transposed, width a multiple of 8 */
    void (*spread)(size_t columns, size_t rows, size_t width, const double *p, size_t p_stride,
                   const double *vt, size_t vt_stride, double *f, size_t f_stride);
} wt_thin_loops;

/* Those this processor can run, the best last; fills at most `most` and returns how many. */
size_t wt_thin_able(const wt_thin_loops **out, size_t most);

#endif
