/* Plain ways to what src/features/learn/ball_set.c does by sorting: slow, and written from the
 * definition.
 */
#ifndef TESTS_FEATURES_BALL_ORACLE_H
#define TESTS_FEATURES_BALL_ORACLE_H

#include <math.h>
#include <string.h>

#include "features/learn/ball_set.h"

static inline double oracle_norm(const double *a, size_t count) {
    double sum = 0;
    for (size_t j = 0; j < count; j++)
        sum += a[j] * a[j];
    return sqrt(sum);
}

/* Sum of block norms, and norm of the whole. */
static inline double oracle_sum(size_t heads, size_t block, const double *v) {
    double sum = 0;
    for (size_t m = 0; m < heads; m++)
        sum += oracle_norm(v + m * block, block);
    return sum;
}

/* Onto { sum of block norms <= k1 }: the threshold by bisection. */
static inline void oracle_onto_sum(size_t heads, size_t block, double k1, double *v) {
    if (oracle_sum(heads, block, v) <= k1)
        return;
    double low = 0, high = oracle_norm(v, heads * block);
    for (int step = 0; step < 60; step++) {
        double t = (low + high) / 2, sum = 0;
        for (size_t m = 0; m < heads; m++)
            sum += fmax(oracle_norm(v + m * block, block) - t, 0);
        *(sum > k1 ? &low : &high) = t;
    }
    for (size_t m = 0; m < heads; m++) {
        double norm = oracle_norm(v + m * block, block);
        for (size_t j = 0; j < block; j++)
            v[m * block + j] *= norm > high ? (norm - high) / norm : 0;
    }
}

static inline void oracle_onto_norm(size_t count, double radius, double *v) {
    double norm = oracle_norm(v, count);
    for (size_t j = 0; norm > radius && j < count; j++)
        v[j] *= radius / norm;
}

/* Onto both, by Dykstra's alternating projections; heads * block is at most 64. */
static inline void oracle_project(const wt_ball *ball, size_t block, double *v, int rounds) {
    size_t count = ball->heads * block;
    double p[64] = {0}, q[64] = {0}, before[64];
    for (int round = 0; round < rounds; round++) {
        for (size_t j = 0; j < count; j++)
            before[j] = v[j] += p[j];
        oracle_onto_sum(ball->heads, block, ball->k1, v);
        for (size_t j = 0; j < count; j++)
            p[j] = before[j] - v[j];
        double moved = 0;
        for (size_t j = 0; j < count; j++)
            before[j] = v[j] += q[j];
        oracle_onto_norm(count, ball->radius, v);
        for (size_t j = 0; j < count; j++) {
            moved += fabs(q[j] - (before[j] - v[j]));
            q[j] = before[j] - v[j];
        }
        if (round > 0 && moved < 1e-15)
            break;
    }
}

#endif
