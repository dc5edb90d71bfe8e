/* Condition numbers by power iteration, with a matrix and with its inverse: what the engines of all
 * devices do alike, so that they tell the same numbers. */
#ifndef WT_DEVICE_POWER_H
#define WT_DEVICE_POWER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define WT_POWER_STEPS 40

/* Entry i of the vector to start from, before it is scaled: with the inverse its signs alternate,
 * as vectors of small eigenvalues do. */
static inline double wt_power_start(size_t i, bool inverse) {
    return (inverse && i % 2 == 1 ? -1 : 1) * (1 + 0.1 * (double)(i % 7));
}

/* Scales to norm 1 and returns the norm before. */
static inline double wt_power_unit(size_t n, double *x) {
    double square = 0;
    for (size_t i = 0; i < n; i++)
        square += x[i] * x[i];
    for (size_t i = 0; i < n; i++)
        x[i] /= sqrt(square);
    return sqrt(square);
}

#endif
