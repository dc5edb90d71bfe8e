/* The normal matrix by its eigenvalues: the minimum-norm answer, and any lambda without a factor.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "features/learn/primal_pass.h"

/* The eigenvectors are in the system: e (f) increasing, of which those from number `first` on
 * count; moment (f, q) in their basis. */
typedef struct {
    const double *v, *e, *moment;
    double *along; /* (WT_PRIMAL_SLAB, f), for leave-one-out; NULL when it is not asked for */
    size_t first;
    double lambda;
} spectrum;

/* With c_k = <u_k, phi_i> / sqrt(M) the dual has the eigenvectors c_k / sqrt(e_k): the part of
 * sample i outside their span is 1 - sum_k c_k^2 / e_k. Its left-out error is that of a vanishing
 * lambda, as in the dual by eigenvalues: residual over that part, or, when there is none, dual
 * weight over the diagonal of the pseudo-inverse. */
static void add_left_out(wt_primal_solver *run, const spectrum *found, const double *c,
                         const double *y, const double *residual) {
    double outside = 1, inverse = 0, norm = wt_features_norm(run->primal->features);
    for (size_t k = found->first; k < run->f; k++) {
        double part = c[k] * c[k] / norm / found->e[k];
        outside -= part;
        inverse += part / (found->e[k] + found->lambda);
    }
    /* The subtraction leaves the rounding of features over that of small eigenvalues. */
    bool by_residual = outside > sqrt(DBL_EPSILON);
    double *alpha = run->weights;
    for (size_t o = 0; o < run->q; o++) {
        alpha[o] = 0;
        for (size_t k = found->first; !by_residual && k < run->f; k++)
            alpha[o] += c[k] * found->moment[k * run->q + o] /
                        (found->e[k] * (found->e[k] + found->lambda));
    }
    for (size_t o = 0; o < run->primal->outputs; o++)
        run->loo[o] += by_residual ? pow(wt_primal_moved(run, y, residual, o) / outside, 2)
                                   : pow(wt_primal_moved(run, y, alpha, o) / inverse, 2);
}

static wt_status judge_slab(wt_primal_solver *run, const wt_ridge_rows *rows, void *argument) {
    const spectrum *found = argument;
    size_t q = run->q;
    WT_PASS(run->system.engine->judge_rows(run->context, run->system.state, rows, found->v,
                                           run->fitted, NULL, found->along));
    for (size_t i = 0; i < rows->samples; i++) {
        const double *y = run->y + i * q;
        double *error = run->fitted + i * q;
        for (size_t o = 0; o < q; o++)
            error[o] = y[o] - error[o];
        for (size_t o = 0; o < run->primal->outputs; o++)
            run->train[o] += error[o] * error[o];
        if (found->along != NULL)
            add_left_out(run, found, found->along + i * run->f, y, error);
    }
    return WT_OK;
}

wt_status wt_primal_by_eigen(wt_primal_solver *run, double lambda, bool leave_one_out, double *v,
                             wt_primal_rank *out) {
    size_t f = run->f, q = run->q;
    const wt_ridge_engine *engine = run->system.engine;
    wt_ridge_system *state = run->system.state;
    wt_arena arena = wt_arena_start(run->context, "eigenvectors");
    double *e = WT_TAKE(&arena, double, f), *along = WT_TAKE(&arena, double, f, q);
    double *moment = WT_TAKE(&arena, double, f, q);
    spectrum found = {.v = v, .e = e, .moment = moment, .lambda = lambda};
    wt_status status;
    *out = (wt_primal_rank){.condition = NAN};
    WT_TRY(arena.status);
    WT_TRY(engine->eigen(run->context, state, f, e));
    WT_TRY(engine->eigen_along(run->context, state, q, run->moment, along));
    if (leave_one_out)
        found.along = WT_TAKE(&arena, double, WT_PRIMAL_SLAB, f);
    WT_TRY(arena.status);
    double cut = (double)f * DBL_EPSILON * fmax(e[f - 1], 0);
    memcpy(moment, along, f * q * sizeof *moment);
    for (size_t k = 0; k < f; k++) {
        bool live = e[k] > cut;
        out->rank += live;
        out->freedom += live ? e[k] / (e[k] + lambda) : 0;
        for (size_t o = 0; o < q; o++)
            along[k * q + o] *= live ? 1 / (e[k] + lambda) : 0;
    }
    WT_TRY(engine->eigen_combine(run->context, state, q, along, v));
    found.first = f - out->rank;
    if (out->rank > 0)
        out->condition = (e[f - 1] + lambda) / (e[found.first] + lambda);
    WT_TRY(wt_primal_judge_by(run, leave_one_out, judge_slab, &found));
done:
    engine->drop_eigen(state);
    wt_arena_free(&arena);
    return status;
}
