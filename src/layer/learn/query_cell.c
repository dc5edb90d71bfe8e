/* Taking heads apart: with token b + u coming r times as often as b, and b asking last,
 *     f(r) = y - F([b]) = sum_h A_h r g_h / (1 + r g_h),  g_h = exp(b^T Theta_h u),  A_h = u^T W_h.
 * f = P / Q with Q(r) = prod_h (1 + r g_h) = 1 + q_1 r + .. + q_m r^m, the same for all outputs,
 * and P(r) = p_1 r + .. + p_m r^m. Values at 2m proportions r give the linear system sum_i p_i r^i
 * - f(r) sum_i q_i r^i = f(r), and the g_h are the roots of t^m - q_1 t^(m-1) + q_2 t^(m-2) - .. .
 */
#include <complex.h>
#include <math.h>

#include "base/memory.h"
#include "base/work.h"
#include "layer/learn/query_parts.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"

#define MOST_LOGIT 8.0 /* of a start; what is past it is not believed */
#define ROOT_STEPS 200

enum { MOST = WT_RATIONAL_HEADS, RATIOS = 2 * MOST };

/* The roots of t^m - e[1] t^(m-1) + e[2] t^(m-2) - .., all at a time (Durand and Kerner). */
static void find_roots(size_t m, const double *e, double complex *roots) {
    for (size_t i = 0; i < m; i++)
        roots[i] = cpow(0.4 + 0.9 * I, (double)i) * (1 + fabs(e[1]) / (double)m);
    for (int step = 0; step < ROOT_STEPS; step++)
        for (size_t i = 0; i < m; i++) {
            double complex value = 1, apart = 1;
            for (size_t c = 1; c <= m; c++)
                value = value * roots[i] + (c % 2 == 1 ? -e[c] : e[c]);
            for (size_t j = 0; j < m; j++)
                if (j != i)
                    apart *= roots[i] - roots[j];
            if (cabs(apart) > 0)
                roots[i] -= value / apart;
        }
}

/* Copies of b + u and of b whose proportion is the q-th of 2m from 2^-(m+1) to 2^(m+1). */
static double proportion(size_t m, size_t q, double times[2]) {
    double ends = (double)(m + 1), steps = (double)(2 * m - 1);
    double power = ends * (2 * (double)q - steps) / steps;
    times[0] = power > 0 ? round(exp2(power)) : 1;
    times[1] = power > 0 ? 1 : round(exp2(-power));
    return times[0] / times[1];
}

/* f (2m, p) at the proportions r (2m). */
static wt_status ask_all(wt_asker *asker, size_t m, const double *b, const double *u,
                         const double *base, double *r, double *f) {
    size_t d = asker->d, p = asker->p;
    double *tokens = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(asker->context, &tokens, 2, d, "a question"));
    for (size_t a = 0; a < d; a++) {
        tokens[a] = b[a] + u[a];
        tokens[d + a] = b[a];
    }
    for (size_t q = 0; q < 2 * m; q++) {
        double times[2];
        r[q] = proportion(m, q, times);
        WT_TRY(wt_asker_keep(asker, 2, tokens, times, f + q * p));
        for (size_t o = 0; o < p; o++)
            f[q * p + o] -= base[o];
    }
done:
    wt_release(tokens);
    return status;
}

/* q_1 .. q_m into e[1..m]. */
static wt_status denominator(wt_asker *asker, size_t m, const double *r, const double *f,
                             double *e) {
    size_t p = asker->p, rows = 2 * m * p, columns = m + m * p, rank;
    wt_arena arena = wt_arena_start(asker->context, "a rational fit");
    wt_status status;
    double *a = WT_TAKE_ZERO(&arena, double, rows, columns);
    double *side = WT_TAKE(&arena, double, rows);
    double *x = WT_TAKE(&arena, double, columns);
    WT_TRY(arena.status);
    for (size_t q = 0; q < 2 * m; q++)
        for (size_t o = 0; o < p; o++) {
            double *row = a + (q * p + o) * columns, value = f[q * p + o];
            /* Large r weigh no more than small ones. */
            double power = 1, weight = 1 / (1 + pow(r[q], (double)m));
            side[q * p + o] = weight * value;
            for (size_t i = 0; i < m; i++) {
                power *= r[q];
                row[i] = -weight * value * power;
                row[m + o * m + i] = weight * power;
            }
        }
    WT_TRY(
        wt_least_squares(asker->context, rows, columns, 1, a, columns, side, 1, -1, x, 1, &rank));
    e[0] = 1;
    for (size_t i = 0; i < m; i++)
        e[i + 1] = x[i];
done:
    wt_arena_free(&arena);
    return status;
}

/* How much the cell can be trusted: heads well apart, none silent, none saturated. */
static double judge(size_t m, size_t p, const wt_cell *cell) {
    double apart = 2, least = INFINITY, most = 0, furthest = 0;
    for (size_t h = 0; h < m; h++) {
        double size = sqrt(wt_vector_squares(p, cell->values + h * p));
        least = fmin(least, size);
        most = fmax(most, size);
        furthest = fmax(furthest, fabs(cell->logits[h]));
        for (size_t other = 0; other < h; other++)
            apart = fmin(apart, fabs(cell->logits[h] - cell->logits[other]));
    }
    return most > 0 && isfinite(most) ? apart * least / most * exp(-fmax(0, furthest - 2)) : 0;
}

/* Roots off the positive axis are rounding's work: the nearest that makes sense is taken, and the
 * cell is not trusted. */
static bool read_logits(size_t m, const double *e, double *logits) {
    double complex roots[MOST];
    bool good = true;
    find_roots(m, e, roots);
    for (size_t h = 0; h < m; h++) {
        double real = creal(roots[h]);
        double logit = isfinite(real) && real > 0 ? log(real) : -MOST_LOGIT;
        good = good && real > 0 && fabs(cimag(roots[h])) < 1e-3 * real && fabs(logit) < MOST_LOGIT;
        logits[h] = fmax(-MOST_LOGIT, fmin(MOST_LOGIT, logit));
    }
    return good;
}

wt_status wt_query_cell(wt_asker *asker, size_t m, const double *b, const double *u,
                        const double *base, wt_cell *out) {
    size_t p = asker->p, rank;
    double r[RATIOS], e[MOST + 1], shapes[RATIOS * MOST], *f = NULL;
    wt_status status;
    WT_TRY(WT_NEW3(asker->context, &f, 2, m, p, "a cell"));
    WT_TRY(ask_all(asker, m, b, u, base, r, f));
    WT_TRY(denominator(asker, m, r, f, e));
    bool good = read_logits(m, e, out->logits);
    /* the roots: complex products of m factors and of m - 1 apart */
    wt_work_add(asker->context, 16.0 * ROOT_STEPS * (double)(m * m));
    for (size_t q = 0; q < 2 * m; q++)
        for (size_t h = 0; h < m; h++)
            shapes[q * m + h] = 1 / (1 + exp(-out->logits[h]) / r[q]);
    WT_TRY(wt_least_squares(asker->context, 2 * m, m, p, shapes, m, f, p, 1e-10, out->values, p,
                            &rank));
    out->quality = good ? judge(m, p, out) : 0;
done:
    wt_release(f);
    return status;
}
