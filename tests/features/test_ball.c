/* The fit, checked from outside: against closed forms, against plain slow methods, and by the
 * conditions an optimum must meet. */
#include "features/ball_cases.h"

/* Phi^T of the slopes at v, over n: the gradient of the objective. */
static void gradient(const problem *p, const double *v, double *g) {
    double f[MOST];
    size_t columns = p->features.columns;
    predict(p, v, f);
    memset(g, 0, columns * p->q * sizeof *g);
    for (size_t i = 0; i < p->features.rows; i++)
        for (size_t o = 0; o < p->q; o++) {
            double s = wt_loss_slope(p->options.loss, p->options.huber, p->y[i * p->q + o],
                                     f[i * p->q + o]);
            for (size_t j = 0; j < columns; j++)
                g[j * p->q + o] += s * p->phi[i * columns + j] / (double)p->features.rows;
        }
}

/* Solves A x = b (n at most COLUMNS) by elimination; A positive definite, overwritten. */
static void eliminate(size_t n, double *a, double *b) {
    for (size_t k = 0; k < n; k++)
        for (size_t i = k + 1; i < n; i++) {
            double factor = a[i * n + k] / a[k * n + k];
            for (size_t j = k; j < n; j++)
                a[i * n + j] -= factor * a[k * n + j];
            b[i] -= factor * b[k];
        }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++)
            b[k] -= a[k * n + j] * b[j];
        b[k] /= a[k * n + k];
    }
}

/* argmin |y - Phi v|^2 + penalty |v|^2 by the normal equations, q = 1. */
static void ridge(const problem *p, double penalty, double *v) {
    double a[COLUMNS * COLUMNS] = {0};
    memset(v, 0, COLUMNS * sizeof *v);
    for (size_t i = 0; i < p->features.rows; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            const double *row = p->phi + i * COLUMNS;
            v[j] += row[j] * p->y[i];
            for (size_t k = 0; k < COLUMNS; k++)
                a[j * COLUMNS + k] += row[j] * row[k];
        }
    for (size_t j = 0; j < COLUMNS; j++)
        a[j * COLUMNS + j] += penalty;
    eliminate(COLUMNS, a, v);
}

/* Plain projected gradients with Dykstra's projection: shares no method with the fit. Steps of
 * 1 / L, L from the trace of Phi^T Phi / n (at most 9 here) times the curvature (at most 2). */
static void plain_projected(const problem *p, int steps, double *v) {
    double g[2 * COLUMNS], trace = 0;
    size_t columns = p->features.columns;
    for (size_t i = 0; i < p->features.rows * columns; i++)
        trace += p->phi[i] * p->phi[i] / (double)p->features.rows;
    wt_ball ball = wt_ball_of(p->options.k1, p->options.k2, HEADS);
    memset(v, 0, columns * p->q * sizeof *v);
    for (int step = 0; step < steps; step++) {
        gradient(p, v, g);
        for (size_t j = 0; j < columns * p->q; j++)
            v[j] -= g[j] / (2 * trace);
        oracle_project(&ball, WIDTH * p->q, v, 100);
    }
}

/* For square loss P(v) - min P >= |f - f*|^2 / n, so that a gap of 1e-11 leaves f within
 * sqrt(40 * 1e-11 * P(0)) and v within that over the least singular value (about 1). */
static const double from_gap = 1e-4;

static void wide_balls_give_least_squares(void **state) {
    problem p;
    double v[COLUMNS];
    make(&p, WT_LOSS_SQUARE, SAMPLES, 1);
    p.options.k1 = 1e4, p.options.k2 = 1e6;
    CHECK_OK(*state, fit(*state, &p));
    check_result(&p);
    assert_true(p.result.reached && !p.result.sum_binds && !p.result.squares_bind);
    ridge(&p, 0, v);
    CHECK_NEAR(p.result.objective, objective(&p, v), 1e-10);
    for (size_t j = 0; j < COLUMNS; j++)
        CHECK_NEAR(p.v[j], v[j], from_gap);
}

/* Fewer samples than parameters: the labels are met, and the Gram matrix is that of samples. */
static void wide_balls_interpolate(void **state) {
    problem p;
    make(&p, WT_LOSS_SQUARE, 10, 1);
    p.options.k1 = 1e2, p.options.k2 = 1e4;
    CHECK_OK(*state, fit(*state, &p));
    check_result(&p);
    assert_true(p.result.reached);
    assert_true(p.result.objective <= 1e-11 * p.result.objective_at_zero);
}

static void the_second_ball_alone_is_ridge(void **state) {
    problem p;
    double v[COLUMNS];
    for (size_t rows = 12; rows <= SAMPLES; rows += SAMPLES - 12) {
        make(&p, WT_LOSS_SQUARE, rows, 1);
        ridge(&p, 0.8, v);
        double norm = oracle_norm(v, COLUMNS);
        p.options.k2 = HEADS * norm * norm;
        CHECK_OK(*state, fit(*state, &p));
        check_result(&p);
        assert_true(p.result.reached && p.result.squares_bind && !p.result.sum_binds);
        for (size_t j = 0; j < COLUMNS; j++)
            CHECK_NEAR(p.v[j], v[j], from_gap);
    }
}

/* At an optimum there are mu1, mu2 >= 0 with -g_m = (mu1 + mu2 |v_m|) v_m / |v_m| on live blocks
 * and |g_m| <= mu1 on the others. Two live blocks give the multipliers, the rest must agree. */
static void check_conditions(const problem *p, bool sum, bool squares) {
    double g[2 * COLUMNS], norms[HEADS], pulls[HEADS];
    size_t block = WIDTH * p->q, first = HEADS, second = HEADS;
    gradient(p, p->v, g);
    for (size_t m = 0; m < HEADS; m++) {
        norms[m] = oracle_norm(p->v + m * block, block);
        pulls[m] = oracle_norm(g + m * block, block);
        if (norms[m] == 0)
            continue;
        for (size_t j = 0; j < block; j++)
            CHECK_NEAR(-g[m * block + j], pulls[m] * p->v[m * block + j] / norms[m], from_gap);
        if (first == HEADS || norms[m] > norms[first])
            first = m;
        if (second == HEADS || norms[m] < norms[second])
            second = m;
    }
    double mu2 = squares ? (pulls[first] - pulls[second]) / (norms[first] - norms[second]) : 0;
    double mu1 = sum ? pulls[first] - mu2 * norms[first] : 0;
    assert_true(mu1 > (sum ? 1e-3 : -1e-9) && mu2 > (squares ? 1e-3 : -1e-9));
    for (size_t m = 0; m < HEADS; m++)
        if (norms[m] > 0)
            CHECK_NEAR(pulls[m], mu1 + mu2 * norms[m], from_gap);
        else
            assert_true(pulls[m] <= mu1 + from_gap);
}

static void optima_meet_their_conditions(void **state) {
    const wt_loss smooth[] = {WT_LOSS_SQUARE, WT_LOSS_HUBER, WT_LOSS_LOGISTIC};
    const struct {
        double k1, k2;
        bool sum, squares;
    } sizes[] = {{0.6, 20, true, false}, {0.6, 0.6, true, true}, {3, 0.6, false, true}};
    problem p;
    for (size_t l = 0; l < 3; l++)
        for (size_t s = 0; s < 3; s++)
            for (size_t q = 1; q <= 2; q++) {
                make(&p, smooth[l], SAMPLES, q);
                p.options.k1 = sizes[s].k1, p.options.k2 = sizes[s].k2;
                CHECK_OK(*state, fit(*state, &p));
                check_result(&p);
                assert_true(p.result.reached);
                assert_int_equal(p.result.sum_binds, sizes[s].sum);
                assert_int_equal(p.result.squares_bind, sizes[s].squares);
                check_conditions(&p, sizes[s].sum, sizes[s].squares);
            }
}

/* Plain projected gradients come within 1e-8 of the objective here in 1500 steps. */
static void fits_agree_with_plain_projected_gradients(void **state) {
    const wt_loss smooth[] = {WT_LOSS_SQUARE, WT_LOSS_HUBER, WT_LOSS_LOGISTIC};
    problem p;
    double v[2 * COLUMNS];
    for (size_t l = 0; l < 3; l++) {
        make(&p, smooth[l], SAMPLES, 1 + l % 2);
        p.options.k1 = 0.6, p.options.k2 = 0.6;
        CHECK_OK(*state, fit(*state, &p));
        assert_true(p.result.reached);
        plain_projected(&p, 1500, v);
        double plain = objective(&p, v);
        assert_true(p.result.lower_bound <= plain);
        CHECK_NEAR(p.result.objective, plain, 1e-7);
    }
}

/* With r = |y - f|: huber(r) / delta <= r <= huber(r) / delta + delta / 2, whatever f. So the least
 * absolute risk is within delta / 2 of the least Huber risk over delta. */
static void absolute_is_the_limit_of_huber(void **state) {
    const double sizes[][2] = {{0.6, 20}, {0.6, 0.6}, {3, 0.6}, {1e3, 1e4}};
    problem p;
    for (size_t s = 0; s < 4; s++) {
        double delta = 1e-4, least[2];
        for (int l = 0; l < 2; l++) {
            make(&p, l == 0 ? WT_LOSS_ABSOLUTE : WT_LOSS_HUBER, SAMPLES, 1);
            p.options.k1 = sizes[s][0], p.options.k2 = sizes[s][1];
            p.options.huber = delta;
            p.options.tolerance = 1e-7;
            CHECK_OK(*state, fit(*state, &p));
            check_result(&p);
            assert_true(p.result.reached);
            least[l] = p.result.objective;
        }
        assert_true(least[0] >= least[1] / delta - 1e-6);
        assert_true(least[0] <= least[1] / delta + delta / 2 + 1e-6);
    }
}

/* One parameter: mean |y_i - a_i v| is least at the median of y_i / a_i with weights |a_i|, or at
 * the end of the ball when that lies outside. */
static void absolute_with_one_parameter_is_a_median(void **state) {
    problem p;
    make(&p, WT_LOSS_ABSOLUTE, 5, 1);
    const double a[] = {1, 2, -1, 0.5, 1}, y[] = {3, 2, -7, 0.1, 2.5};
    /* Ratios 3, 1, 7, 0.2, 2.5; weights 1, 2, 1, 0.5, 1: half of 5.5 is passed at 2.5. */
    memcpy(p.phi, a, sizeof a);
    memcpy(p.y, y, sizeof y);
    p.features.columns = 1;
    p.operation = wt_operator_of_dense(&p.features, 1);
    p.options.k1 = 10;
    CHECK_OK(*state, fit(*state, &p));
    assert_true(p.result.reached);
    CHECK_NEAR(p.v[0], 2.5, 1e-9);
    p.options.k1 = 1.5;
    CHECK_OK(*state, fit(*state, &p));
    assert_true(p.result.reached && p.result.sum_binds);
    CHECK_NEAR(p.v[0], 1.5, 1e-12);
}

/* Newton's method on the logistic risk of three features; the optimum is inside the balls. */
static void logistic_agrees_with_newton(void **state) {
    enum { FEW = 3 };
    problem p;
    make(&p, WT_LOSS_LOGISTIC, SAMPLES, 1);
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t j = 0; j < FEW; j++)
            p.phi[i * FEW + j] = p.phi[i * COLUMNS + 5 * j];
    p.features.columns = FEW;
    p.operation = wt_operator_of_dense(&p.features, FEW);
    double v[FEW] = {0};
    for (int step = 0; step < 30; step++) {
        double g[FEW] = {0}, h[FEW * FEW] = {0};
        for (size_t i = 0; i < SAMPLES; i++) {
            const double *row = p.phi + i * FEW;
            double f = row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
            double chance = 1 / (1 + exp(p.y[i] * f));
            for (size_t j = 0; j < FEW; j++) {
                g[j] += p.y[i] * chance * row[j];
                for (size_t k = 0; k < FEW; k++)
                    h[j * FEW + k] += chance * (1 - chance) * row[j] * row[k];
            }
        }
        eliminate(FEW, h, g);
        for (size_t j = 0; j < FEW; j++)
            v[j] += g[j];
    }
    p.options.k1 = 50, p.options.k2 = 1000;
    CHECK_OK(*state, fit(*state, &p));
    assert_true(p.result.reached && !p.result.sum_binds && !p.result.squares_bind);
    for (size_t j = 0; j < FEW; j++)
        CHECK_NEAR(p.v[j], v[j], from_gap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_balls_give_least_squares),
        cmocka_unit_test(wide_balls_interpolate),
        cmocka_unit_test(the_second_ball_alone_is_ridge),
        cmocka_unit_test(optima_meet_their_conditions),
        cmocka_unit_test(fits_agree_with_plain_projected_gradients),
        cmocka_unit_test(absolute_is_the_limit_of_huber),
        cmocka_unit_test(absolute_with_one_parameter_is_a_median),
        cmocka_unit_test(logistic_agrees_with_newton),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
