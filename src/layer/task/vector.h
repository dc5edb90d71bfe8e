/* Sums over vectors, in the order of their entries. */
#ifndef WT_LAYER_TASK_VECTOR_H
#define WT_LAYER_TASK_VECTOR_H

#include <stddef.h>

static inline double wt_vector_dot(size_t count, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline double wt_vector_squares(size_t count, const double *a) {
    return wt_vector_dot(count, a, a);
}

/* The squares of a - b. */
static inline double wt_vector_apart(size_t count, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

#endif
