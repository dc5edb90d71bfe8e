/* A small problem over two balls, its fit, and what the result must say of it. */
#ifndef TESTS_FEATURES_BALL_CASES_H
#define TESTS_FEATURES_BALL_CASES_H

#include "check.h"
#include "features/ball_oracle.h"
#include "features/learn/ball.h"
#include "wattle/random.h"

enum { HEADS = 6, WIDTH = 3, COLUMNS = HEADS * WIDTH, SAMPLES = 40, MOST = 2 * SAMPLES };

typedef struct {
    double phi[SAMPLES * COLUMNS], y[MOST], v[2 * COLUMNS];
    wt_dense_features features;
    wt_operator operation;
    wt_ball_options options;
    wt_ball_report result;
    size_t q;
} problem;

/* Features that do not average to zero, as those of relu; labels a noisy function of them. */
static inline void make(problem *p, wt_loss loss, size_t rows, size_t q) {
    *p = (problem){.q = q};
    wt_random_normal(wt_stream_for(5, "phi", 0), 0, rows * COLUMNS, p->phi);
    wt_random_normal(wt_stream_for(5, "y", 0), 0, rows * q, p->y);
    for (size_t i = 0; i < rows * COLUMNS; i++)
        p->phi[i] = 0.5 + 0.4 * p->phi[i];
    for (size_t i = 0; i < rows; i++)
        for (size_t o = 0; o < q; o++) {
            double *y = &p->y[i * q + o], *row = p->phi + i * COLUMNS;
            *y = 0.5 * *y + 2 * row[o] - row[5 + o] + 0.7 * row[13];
            if (loss == WT_LOSS_LOGISTIC)
                *y = *y > 1 ? 1 : -1;
        }
    p->features = (wt_dense_features){.phi = p->phi, .rows = rows, .columns = COLUMNS};
    p->operation = wt_operator_of_dense(&p->features, HEADS);
    WT_INIT(wt_ball_options, &p->options);
    p->options.loss = loss;
    p->options.huber = 0.7;
    p->options.tolerance = 1e-11;
    p->options.k1 = p->options.k2 = INFINITY;
}

static inline wt_status fit(wt_context *context, problem *p) {
    return wt_ball_solve(context, &p->operation, p->y, p->q, &p->options, p->v, &p->result);
}

static inline void predict(const problem *p, const double *v, double *f) {
    for (size_t i = 0; i < p->features.rows; i++)
        for (size_t o = 0; o < p->q; o++) {
            f[i * p->q + o] = 0;
            for (size_t j = 0; j < p->features.columns; j++)
                f[i * p->q + o] += p->phi[i * p->features.columns + j] * v[j * p->q + o];
        }
}

static inline double objective(const problem *p, const double *v) {
    double f[MOST], sum = 0;
    predict(p, v, f);
    for (size_t i = 0; i < p->features.rows * p->q; i++)
        sum += wt_loss_value(p->options.loss, p->options.huber, p->y[i], f[i]);
    return sum / (double)p->features.rows;
}

/* The result's words about v are true; slack 1e-12 for sums in another order. */
static inline void check_result(const problem *p) {
    const wt_ball_report *r = &p->result;
    double sum = oracle_sum(HEADS, WIDTH * p->q, p->v), norm = oracle_norm(p->v, COLUMNS * p->q);
    CHECK_NEAR(r->sum_norms, sum, 1e-12);
    CHECK_NEAR(r->m_sum_squares, HEADS * norm * norm, 1e-12);
    assert_true(sum <= p->options.k1 * (1 + 1e-12));
    assert_true(HEADS * norm * norm <= p->options.k2 * (1 + 1e-12));
    CHECK_NEAR(r->objective, objective(p, p->v), 1e-12);
    CHECK_NEAR(r->gap, fmax(r->objective - r->lower_bound, 0), 1e-15);
    if (r->objective_at_zero > 0)
        CHECK_NEAR(r->relative_gap, r->gap / r->objective_at_zero, 1e-15);
    assert_int_equal(r->reached, r->relative_gap <= p->options.tolerance);
}

#endif
