/* Labels of several targets, for the tests of learning curves. */
#ifndef TESTS_FEATURES_CURVE_CASES_H
#define TESTS_FEATURES_CURVE_CASES_H

#include "features/plain_ridge.h"

enum { TEST = 60 }; /* samples that judge */

/* Label columns of `targets` problems side by side: means of powers of a coordinate, and noise. */
static inline double *labels_of(wt_context *context, const wt_sets *sets, size_t columns) {
    double *y = doubles(context, sets->samples * columns);
    wt_random_normal(wt_stream_for(77, "test noise", sets->samples), 0, sets->samples * columns, y);
    for (size_t i = 0; i < sets->samples; i++)
        for (size_t c = 0; c < columns; c++) {
            double sum = 0;
            for (size_t k = 0; k < sets->keys; k++)
                sum += pow(sets->key[(i * sets->keys + k) * sets->dim], (double)(c % 3 + 1)) +
                       sets->query[i * sets->dim];
            y[i * columns + c] = 0.1 * y[i * columns + c] + sum / (double)sets->keys;
        }
    return y;
}

#endif
