#include "features/learn/ball_set.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

wt_ball wt_ball_of(double k1, double k2, size_t heads) {
    return (wt_ball){.k1 = k1, .radius = sqrt(k2 / (double)heads), .heads = heads};
}

static int falling_order(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a < b) - (a > b);
}

static void sort_falling(const double *a, size_t count, double *sorted) {
    memcpy(sorted, a, count * sizeof *a);
    qsort(sorted, count, sizeof *sorted, falling_order);
}

static double sum_of(const double *a, size_t count) {
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        sum += a[m];
    return sum;
}

static double norm_of(const double *a, size_t count) {
    double sum = 0;
    for (size_t m = 0; m < count; m++)
        sum += a[m] * a[m];
    return sqrt(sum);
}

/* Mean and sum of squared deviations of the k largest, brought up to date by the k-th. Sums of
 * squares would cancel where the norms are nearly equal. */
typedef struct {
    double mean, spread;
} moments;
static void include(moments *top, size_t k, double value) {
    double deviation = value - top->mean;
    top->mean += deviation / (double)k;
    top->spread += deviation * deviation * (double)(k - 1) / (double)k;
}

/* The t with sum max(a - t, 0) = K1, for sum a > K1. */
static double threshold_of_sum(const wt_ball *ball, const double *sorted) {
    moments top = {0, 0};
    double t = 0;
    for (size_t k = 1; k <= ball->heads; k++) {
        include(&top, k, sorted[k - 1]);
        double candidate = top.mean - ball->k1 / (double)k;
        if (sorted[k - 1] <= candidate)
            break;
        t = candidate;
    }
    return fmax(t, 0);
}

/* Finds t >= 0 where the sum of b = max(a - t, 0) is K1 when b is scaled to norm r, and writes |b|
 * to *norm. For 1 < K1 / r < sqrt(M), and sum a / |a| >= K1 / r.
 *
 * sum b / |b| rises as t falls. With the k largest left over and x = mean - t it is
 * k x / sqrt(spread + k x^2), so that within a stretch between two norms t has a closed form. */
static double threshold_of_both(const wt_ball *ball, const double *sorted, double *norm) {
    double wanted = ball->k1 / ball->radius, square = wanted * wanted;
    moments top = {0, 0};
    for (size_t k = 1; k <= ball->heads; k++) {
        include(&top, k, sorted[k - 1]);
        double count = (double)k, next = k < ball->heads ? sorted[k] : 0;
        double reach = top.mean - next, excess = count * (count - square);
        bool last = k == ball->heads;
        if (excess <= 0 || (!last && reach * reach * excess < square * top.spread))
            continue;
        double x = fmin(sqrt(square * top.spread / excess), reach);
        *norm = sqrt(top.spread + count * x * x);
        return top.mean - x;
    }
    *norm = norm_of(sorted, ball->heads);
    return 0;
}

/* Norms a (M) to those of the nearest point, b_m = scale * max(a_m - threshold, 0).
 * sorted: room for M numbers. */
static void shrink(const wt_ball *ball, const double *a, double *sorted, double *threshold,
                   double *scale) {
    double sum = sum_of(a, ball->heads), norm = norm_of(a, ball->heads);
    *threshold = 0;
    *scale = norm > ball->radius ? ball->radius / norm : 1;
    if (sum * *scale <= ball->k1)
        return;
    /* The sum binds; whether the sum of squares does too shows once the sum is met. */
    sort_falling(a, ball->heads, sorted);
    *threshold = threshold_of_sum(ball, sorted);
    *scale = 1;
    double squares = 0;
    for (size_t m = 0; m < ball->heads && sorted[m] > *threshold; m++)
        squares += (sorted[m] - *threshold) * (sorted[m] - *threshold);
    if (squares <= ball->radius * ball->radius)
        return;
    *threshold = threshold_of_both(ball, sorted, &norm);
    *scale = ball->radius / norm;
}

void wt_block_norms(size_t heads, size_t block, const double *v, double *norms) {
    for (size_t m = 0; m < heads; m++)
        norms[m] = norm_of(v + m * block, block);
}

void wt_ball_project(const wt_ball *ball, size_t block, double *v, double *room) {
    double threshold, scale;
    wt_block_norms(ball->heads, block, v, room);
    shrink(ball, room, room + ball->heads, &threshold, &scale);
    if (threshold == 0 && scale == 1)
        return;
    for (size_t m = 0; m < ball->heads; m++) {
        double factor = room[m] > threshold ? scale * (room[m] - threshold) / room[m] : 0;
        for (size_t j = 0; j < block; j++)
            v[m * block + j] *= factor;
    }
}

double wt_ball_support(const wt_ball *ball, size_t block, const double *g, double *room) {
    double *a = room, *sorted = room + ball->heads;
    wt_block_norms(ball->heads, block, g, a);
    double sum = sum_of(a, ball->heads), norm = norm_of(a, ball->heads);
    if (norm == 0)
        return 0;
    if (sum * (ball->radius / norm) <= ball->k1) /* the sum does not bind */
        return ball->radius * norm;
    sort_falling(a, ball->heads, sorted);
    if (ball->k1 <= ball->radius) /* the sum of squares does not bind */
        return ball->k1 * sorted[0];
    double threshold = threshold_of_both(ball, sorted, &norm);
    return ball->k1 * threshold + ball->radius * norm;
}
