/* Wolfe's method for the nearest point of a hull. A corral is a set of points whose affine nearest
 * point has weights above 0 alone; the nearest point of the corral is the answer once no other
 * point lies nearer to the target along the line of sight. Each corral is visited once, as the
 * distance falls from one to the next. */
#include "linalg/hull.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define DEPENDENT 1e-12 /* of the square of a pivot: distances of 1e-6, relative */

typedef struct {
    size_t count;
    double gram[WT_HULL_POINTS][WT_HULL_POINTS]; /* of points - target */
    double scale;                                /* the largest square of a distance */
    bool in[WT_HULL_POINTS];
    double weights[WT_HULL_POINTS];
} corral;

/* Solves (Gram + scale 1 1^T) u = 1 on the corral by Cholesky and scales u to sum 1: the affine
 * nearest point. The added term makes the matrix positive even where the target is itself a mixture
 * of the points. */
static bool affine_weights(const corral *work, double *out) {
    double l[WT_HULL_POINTS][WT_HULL_POINTS], u[WT_HULL_POINTS], sum = 0;
    size_t at[WT_HULL_POINTS], n = 0;
    for (size_t b = 0; b < work->count; b++)
        if (work->in[b])
            at[n++] = b;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j <= i; j++) {
            double value = work->gram[at[i]][at[j]] + work->scale;
            for (size_t s = 0; s < j; s++)
                value -= l[i][s] * l[j][s];
            if (i == j && !(value > DEPENDENT * work->scale))
                return false;
            l[i][j] = i == j ? sqrt(value) : value / l[j][j];
        }
        u[i] = 1;
        for (size_t s = 0; s < i; s++)
            u[i] -= l[i][s] * u[s];
        u[i] /= l[i][i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t s = i + 1; s < n; s++)
            u[i] -= l[s][i] * u[s];
        u[i] /= l[i][i];
        sum += u[i];
    }
    memset(out, 0, work->count * sizeof *out);
    for (size_t i = 0; i < n; i++)
        out[at[i]] = u[i] / sum;
    return true;
}

/* Moves to the affine nearest point, dropping the points whose weights reach 0 on the way. */
static bool settle(corral *work) {
    double wanted[WT_HULL_POINTS];
    for (size_t round = 0; round <= work->count; round++) {
        double step = 1;
        size_t first = work->count;
        if (!affine_weights(work, wanted))
            return false;
        for (size_t b = 0; b < work->count; b++)
            if (work->in[b] && wanted[b] <= 0) {
                double reach = work->weights[b] / (work->weights[b] - wanted[b]);
                if (first == work->count || reach < step) {
                    step = reach;
                    first = b;
                }
            }
        for (size_t b = 0; b < work->count; b++)
            work->weights[b] += step * (wanted[b] - work->weights[b]);
        if (first == work->count) {
            memcpy(work->weights, wanted, sizeof wanted);
            return true;
        }
        work->weights[first] = 0;
        work->in[first] = false;
    }
    return true;
}

/* The point that would bring the mixture nearest, or count when none does by more than rounding. */
static size_t entering(const corral *work) {
    double slope[WT_HULL_POINTS], here = 0;
    size_t best = work->count;
    for (size_t b = 0; b < work->count; b++) {
        slope[b] = 0;
        for (size_t c = 0; c < work->count; c++)
            slope[b] += work->gram[b][c] * work->weights[c];
        here += work->weights[b] * slope[b];
    }
    double least = here - 16 * DBL_EPSILON * work->scale;
    for (size_t b = 0; b < work->count; b++)
        if (!work->in[b] && slope[b] < least) {
            least = slope[b];
            best = b;
        }
    return best;
}

static void fill(corral *work, size_t p, const double *points, const double *target) {
    size_t nearest = 0;
    for (size_t b = 0; b < work->count; b++) {
        for (size_t c = 0; c <= b; c++) {
            double sum = 0;
            for (size_t o = 0; o < p; o++)
                sum += (points[b * p + o] - target[o]) * (points[c * p + o] - target[o]);
            work->gram[b][c] = work->gram[c][b] = sum;
        }
        work->scale = fmax(work->scale, work->gram[b][b]);
        if (work->gram[b][b] < work->gram[nearest][nearest])
            nearest = b;
    }
    work->in[nearest] = true;
    work->weights[nearest] = 1;
}

/* Whether the whole set of points is affinely independent. */
static bool independent(const corral *work) {
    corral all = *work;
    double unused[WT_HULL_POINTS];
    for (size_t b = 0; b < all.count; b++)
        all.in[b] = true;
    return all.scale > 0 && affine_weights(&all, unused);
}

bool wt_hull_nearest(size_t count, size_t p, const double *points, const double *target,
                     double *weights, double *residual) {
    corral work = {.count = count};
    fill(&work, p, points, target);
    bool fine = independent(&work);
    /* 2^count corrals at most; a cycle by rounding would show as no progress and end there. */
    for (size_t round = 0; fine && round < (size_t)1 << count; round++) {
        size_t next = entering(&work);
        if (next == count)
            break;
        work.in[next] = true;
        fine = settle(&work);
        if (!work.in[next])
            break;
    }
    memcpy(weights, work.weights, count * sizeof *weights);
    double sum = 0;
    for (size_t o = 0; o < p; o++) {
        double left = target[o];
        for (size_t b = 0; b < count; b++)
            left -= weights[b] * points[b * p + o];
        sum += left * left;
    }
    *residual = sqrt(sum);
    return fine;
}
