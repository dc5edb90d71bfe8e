#include "features/learn/eigen_dual.h"

#include <float.h>
#include <math.h>

#include "linalg/linalg.h"

/* K_s = sum_k e_k u_k u_k^T, and what follows from it for `columns` right-hand sides. */
typedef struct {
    wt_arena arena; /* holds the arrays */
    size_t s, columns, rank;
    bool centred;            /* then the last column is of labels that are all 1 */
    double *y;               /* (s, columns) */
    const wt_system *system; /* holds the eigenvectors u_k */
    double *e;               /* (s): eigenvalues, increasing */
    double *weight;          /* (s): 1 / (e + lambda), 0 where cut off */
    double *cut;             /* (s): 1 where cut off, else 0 */
    double *along;           /* (s, columns): <u_k, y> */
    double *scaled;          /* (s, columns): the same times a weight */
    double *alpha;           /* (s, columns) */
    double *fitted;          /* (s, columns): K alpha */
    double *null;            /* (s, columns): y in the null space */
    double *inverse;         /* (s): diagonal of the pseudo-inverse */
    double *outside;         /* (s): diagonal of the projection on the null space */
} spectrum;

static wt_status spectrum_new(wt_context *context, const wt_dual *dual, size_t s, spectrum *out) {
    size_t columns = dual->columns + dual->centred;
    *out = (spectrum){.arena = wt_arena_start(context, "eigenvectors"),
                      .s = s,
                      .columns = columns,
                      .centred = dual->centred};
    double **const arrays[] = {&out->y,     &out->along,  &out->scaled,
                               &out->alpha, &out->fitted, &out->null};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = WT_TAKE(&out->arena, double, s, columns);
    out->e = WT_TAKE(&out->arena, double, s);
    out->weight = WT_TAKE(&out->arena, double, s);
    out->inverse = WT_TAKE(&out->arena, double, s);
    out->outside = WT_TAKE(&out->arena, double, s);
    out->cut = WT_TAKE(&out->arena, double, s);
    for (size_t i = 0; out->arena.status == WT_OK && i < s * columns; i++)
        out->y[i] =
            i % columns == dual->columns ? 1 : dual->y[i / columns * dual->columns + i % columns];
    return out->arena.status;
}

/* out = sum_k u_k weight_k <u_k, y>, with the weight of k by a function of the spectrum. */
typedef double (*weight_fn)(const spectrum *found, size_t k);
static wt_status combine(wt_context *context, spectrum *found, weight_fn weight, double *out) {
    size_t s = found->s, columns = found->columns;
    for (size_t k = 0; k < s; k++)
        for (size_t c = 0; c < columns; c++)
            found->scaled[k * columns + c] = weight(found, k) * found->along[k * columns + c];
    return found->system->engine->eigen_combine(context, found->system->state, columns,
                                                found->scaled, out);
}

static double weight_of_alpha(const spectrum *found, size_t k) {
    return found->weight[k];
}
static double weight_of_fitted(const spectrum *found, size_t k) {
    return found->weight[k] * found->e[k];
}
static double weight_of_null(const spectrum *found, size_t k) {
    return found->weight[k] == 0;
}

static wt_status take(wt_context *context, const wt_dual *dual, const wt_system *system, size_t s,
                      double lambda, spectrum *out) {
    const wt_ridge_engine *engine = system->engine;
    wt_ridge_system *state = system->state;
    WT_PASS(spectrum_new(context, dual, s, out));
    out->system = system;
    WT_PASS(engine->eigen(context, state, s, out->e));
    double cut = (double)s * DBL_EPSILON * fmax(out->e[s - 1], 0);
    for (size_t k = 0; k < s; k++) {
        bool live = out->e[k] > cut;
        out->rank += live;
        out->weight[k] = live ? 1 / (out->e[k] + lambda) : 0;
        out->cut[k] = !live;
    }
    WT_PASS(engine->eigen_squares(context, state, out->weight, out->inverse));
    WT_PASS(engine->eigen_squares(context, state, out->cut, out->outside));
    WT_PASS(engine->eigen_along(context, state, out->columns, out->y, out->along));
    WT_PASS(combine(context, out, weight_of_alpha, out->alpha));
    WT_PASS(combine(context, out, weight_of_fitted, out->fitted));
    return combine(context, out, weight_of_null, out->null);
}

/* The ratio [(K+l)^-1 y]_i / [(K+l)^-1]_ii in its limit at l = 0 (a lambda that has no factor is
 * as good as 0), which lies in the null space when sample i has a part there. */
static double left_out_error(const spectrum *found, size_t i, size_t c) {
    size_t at = i * found->columns + c;
    bool by_null = found->outside[i] > (double)found->s * DBL_EPSILON;
    const double *above = by_null ? found->null : found->alpha;
    double below = by_null ? found->outside[i] : found->inverse[i], moved = 0;
    if (found->centred)
        moved = above[(i + 1) * found->columns - 1] * wt_centre_moved(found->y[at], found->s);
    return (above[at] + moved) / below;
}

static double freedom_of(const spectrum *found) {
    double sum = 0;
    for (size_t k = 0; k < found->s; k++)
        sum += found->e[k] * found->weight[k];
    return sum;
}

/* Writes the answer for size s. */
static void keep(const wt_dual *dual, size_t s, const spectrum *found, double lambda,
                 wt_dual_answer *answer) {
    size_t columns = dual->columns, q = columns / dual->targets, all = dual->count * columns;
    for (size_t t = 0; t < dual->targets; t++) {
        size_t point = s * dual->targets + t;
        double train = 0, loo = 0;
        for (size_t i = 0; i < found->s; i++)
            for (size_t c = t * q; c < (t + 1) * q; c++) {
                size_t at = i * found->columns + c;
                answer->alpha[i * all + s * columns + c] = found->alpha[at];
                train += pow(found->y[at] - found->fitted[at], 2);
                loo += pow(left_out_error(found, i, c), 2);
            }
        answer->lambda[point] = lambda;
        answer->train[point] = train / (double)(found->s * q);
        answer->loo[point] = loo / (double)(found->s * q);
        answer->freedom[point] = freedom_of(found);
        answer->rank[point] = found->rank;
    }
    if (s + 1 == dual->count && found->rank > 0)
        answer->condition =
            (found->e[found->s - 1] + lambda) / (found->e[found->s - found->rank] + lambda);
}

wt_status wt_eigen_solve(wt_context *context, const wt_dual *dual, const wt_system *system,
                         size_t first, double lambda, wt_dual_answer *answer) {
    wt_status status = WT_OK;
    for (size_t s = first; status == WT_OK && s < dual->count; s++) {
        spectrum found = {0};
        status = take(context, dual, system, dual->sizes[s], lambda, &found);
        if (status == WT_OK)
            keep(dual, s, &found, lambda, answer);
        wt_arena_free(&found.arena);
    }
    system->engine->drop_eigen(system->state);
    return status;
}
