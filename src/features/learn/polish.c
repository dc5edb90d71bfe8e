#include "features/learn/polish.h"

#include <math.h>
#include <string.h>

#define GOOD_RESIDUAL 1e-12 /* of a column, against its labels */
#define MOST_STEPS    4

typedef struct {
    wt_context *context;
    wt_arena arena; /* holds the arrays */
    const wt_dual *dual;
    wt_system *system;
    wt_dual_answer *answer;
    size_t n, f, all; /* all = count * columns */
    double *fitted;   /* (n, all): Phi v, or Phi times a correction of v */
    double *residual; /* (n, all) */
    double *worst;    /* (count, targets): residual over labels; 0 = nothing to do */
    double *alpha, *v,
        *side; /* corrections (n, all), (f, all), and right-hand sides (n, columns) */
} polish;

static size_t point_of(const polish *work, size_t column) {
    const wt_dual *dual = work->dual;
    size_t q = dual->columns / dual->targets;
    return column / q;
}

static bool by_eigenvalues(const polish *work, size_t point) {
    return work->answer->rank[point] != 0 || work->answer->lambda[point] == 0;
}

/* How large the residuals of each point are, and the largest of all. */
static double measure(polish *work) {
    const wt_dual *dual = work->dual;
    double most = 0;
    memset(work->worst, 0, dual->count * dual->targets * sizeof *work->worst);
    for (size_t j = 0; j < work->all; j++) {
        size_t point = point_of(work, j), size = dual->sizes[j / dual->columns];
        double left = 0, whole = 0;
        for (size_t i = 0; !by_eigenvalues(work, point) && i < size; i++) {
            left += pow(work->residual[i * work->all + j], 2);
            whole += pow(dual->y[i * dual->columns + j % dual->columns], 2);
        }
        double relative = whole > 0 ? sqrt(left / whole) : 0;
        work->worst[point] = fmax(work->worst[point], relative);
        most = fmax(most, relative);
    }
    return most;
}

/* residual -= fitted + lambda * weights, rows of each column's own samples alone. */
static void subtract(polish *work, const double *weights) {
    const wt_dual *dual = work->dual;
    for (size_t i = 0; i < work->n; i++)
        for (size_t j = 0; j < work->all; j++) {
            size_t at = i * work->all + j;
            if (i < dual->sizes[j / dual->columns])
                work->residual[at] -=
                    work->fitted[at] + work->answer->lambda[point_of(work, j)] * weights[at];
        }
}

/* The correction of the dual weights of one point, with the factor of its lambda at hand. */
static wt_status solve_point(polish *work, size_t point) {
    const wt_dual *dual = work->dual;
    size_t q = dual->columns / dual->targets, s = point / dual->targets, first = point * q;
    for (size_t i = 0; i < dual->sizes[s]; i++)
        memcpy(work->side + i * q, work->residual + i * work->all + first, q * sizeof *work->side);
    return wt_system_solve(work->context, work->system, dual->sizes[s], q, work->side,
                           work->alpha + first, work->all);
}

/* Corrections of all points that need one, each factor made once. */
static wt_status solve_points(polish *work) {
    const wt_dual *dual = work->dual;
    const double *lambda = work->answer->lambda;
    size_t points = dual->count * dual->targets, usable;
    memset(work->alpha, 0, work->n * work->all * sizeof *work->alpha);
    for (size_t p = 0; p < points; p++) {
        if (!(work->worst[p] > GOOD_RESIDUAL))
            continue;
        WT_PASS(wt_system_factor(work->context, work->system, lambda[p], dual->sizes, dual->count,
                                 &usable));
        for (size_t other = p; other < points; other++)
            if (lambda[other] == lambda[p] && work->worst[other] > GOOD_RESIDUAL) {
                if (other / dual->targets < usable)
                    WT_PASS(solve_point(work, other));
                work->worst[other] = 0;
            }
    }
    return WT_OK;
}

static void add(size_t count, const double *from, double *to) {
    for (size_t i = 0; i < count; i++)
        to[i] += from[i];
}

static wt_status correct(polish *work) {
    const wt_features *features = &work->dual->model->features;
    wt_context *context = work->context;
    double most = measure(work);
    if (most <= GOOD_RESIDUAL)
        return WT_OK;
    work->alpha = WT_TAKE(&work->arena, double, work->n, work->all);
    work->v = WT_TAKE(&work->arena, double, work->f, work->all);
    work->side = WT_TAKE(&work->arena, double, work->n, work->dual->columns);
    WT_PASS(work->arena.status);
    for (int step = 0; step < MOST_STEPS; step++) {
        double before = most;
        WT_PASS(solve_points(work));
        WT_PASS(wt_features_project(context, features, work->dual->train, work->all, work->alpha,
                                    work->v, work->fitted));
        subtract(work, work->alpha);
        add(work->n * work->all, work->alpha, work->answer->alpha);
        add(work->f * work->all, work->v, work->answer->v);
        most = measure(work);
        if (most <= GOOD_RESIDUAL || !(most < before / 2))
            break;
    }
    return WT_OK;
}

wt_status wt_dual_polish(wt_context *context, const wt_dual *dual, wt_system *system,
                         wt_dual_answer *answer) {
    const wt_features *features = &dual->model->features;
    polish work = {.context = context,
                   .arena = wt_arena_start(context, "residuals and corrections"),
                   .dual = dual,
                   .system = system,
                   .answer = answer,
                   .n = dual->train->samples,
                   .f = wt_features_count(features),
                   .all = dual->count * dual->columns};
    wt_status status;
    work.fitted = WT_TAKE(&work.arena, double, work.n, work.all);
    work.residual = WT_TAKE(&work.arena, double, work.n, work.all);
    work.worst = WT_TAKE(&work.arena, double, dual->count, dual->targets);
    WT_TRY(work.arena.status);
    WT_TRY(wt_features_project(context, features, dual->train, work.all, answer->alpha, answer->v,
                               work.fitted));
    for (size_t i = 0; i < work.n * work.all; i++)
        work.residual[i] = dual->y[i / work.all * dual->columns + i % work.all % dual->columns];
    subtract(&work, answer->alpha);
    WT_TRY(correct(&work));
done:
    wt_arena_free(&work.arena);
    return status;
}
