/* The fit, checked from outside: against closed forms, against plain slow methods, and by the
 * conditions an optimum must meet. */
#include "learn/ball.h"

#include "base/memory.h"
#include "check.h"
#include "learn/ball_oracle.h"
#include "learn/ball_set.h"
#include "wattle/random.h"

enum { HEADS = 6, WIDTH = 3, COLUMNS = HEADS * WIDTH, SAMPLES = 40, MOST = 2 * SAMPLES };

typedef struct {
    double phi[SAMPLES * COLUMNS], y[MOST], v[2 * COLUMNS];
    wt_dense_features features;
    wt_operator operation;
    wt_ball_options options;
    wt_ball_result result;
    size_t q;
} problem;

/* Features that do not average to zero, as those of relu; labels a noisy function of them. */
static void make(problem *p, wt_loss loss, size_t rows, size_t q) {
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
    p->options = wt_ball_options_default();
    p->options.loss = loss;
    p->options.huber = 0.7;
    p->options.tolerance = 1e-11;
    p->options.k1 = p->options.k2 = INFINITY;
}

static wt_status fit(wt_context *context, problem *p) {
    return wt_fit_ball(context, &p->operation, p->y, p->q, &p->options, p->v, &p->result);
}

static void predict(const problem *p, const double *v, double *f) {
    for (size_t i = 0; i < p->features.rows; i++)
        for (size_t o = 0; o < p->q; o++) {
            f[i * p->q + o] = 0;
            for (size_t j = 0; j < p->features.columns; j++)
                f[i * p->q + o] += p->phi[i * p->features.columns + j] * v[j * p->q + o];
        }
}

static double objective(const problem *p, const double *v) {
    double f[MOST], sum = 0;
    predict(p, v, f);
    for (size_t i = 0; i < p->features.rows * p->q; i++)
        sum += wt_loss_value(p->options.loss, p->options.huber, p->y[i], f[i]);
    return sum / (double)p->features.rows;
}

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

/* The result's words about v are true; slack 1e-12 for sums in another order. */
static void check_result(const problem *p) {
    const wt_ball_result *r = &p->result;
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

/* Weak duality: every D(s) is below every P(v). */
static void bounds_are_below_objectives(void **state) {
    (void)state;
    problem p;
    double v[COLUMNS], s[SAMPLES], g[COLUMNS], room[2 * HEADS];
    for (int l = 0; l < 4; l++) {
        make(&p, (wt_loss)l, SAMPLES, 1);
        wt_ball ball = wt_ball_of(0.6, 0.6, HEADS);
        for (uint64_t i = 0; i < 200; i++) {
            wt_random_normal(wt_stream_for(9, "v", i), 0, COLUMNS, v);
            wt_random_normal(wt_stream_for(9, "s", i), 0, SAMPLES, s);
            oracle_project(&ball, WIDTH, v, 100);
            double sum = 0;
            memset(g, 0, sizeof g);
            for (size_t k = 0; k < SAMPLES; k++) {
                s[k] = wt_loss_clip_slope((wt_loss)l, 0.7, p.y[k], s[k]);
                sum += wt_loss_conjugate((wt_loss)l, 0.7, p.y[k], s[k]);
                for (size_t j = 0; j < COLUMNS; j++)
                    g[j] += p.phi[k * COLUMNS + j] * s[k];
            }
            double bound = -(sum + wt_ball_support(&ball, WIDTH, g, room)) / SAMPLES;
            assert_true(bound <= objective(&p, v) + 1e-6);
        }
    }
}

/* What is said after few steps holds too: the bound is below the optimum, the point above it. */
static void few_steps_are_told_honestly(void **state) {
    problem p;
    for (int l = 0; l < 4; l++) {
        make(&p, (wt_loss)l, SAMPLES, 1);
        p.options.k1 = 0.6, p.options.k2 = 0.6;
        CHECK_OK(*state, fit(*state, &p));
        assert_true(p.result.reached);
        double low = p.result.lower_bound, high = p.result.objective;
        for (size_t steps = 1; steps <= 4; steps++) {
            make(&p, (wt_loss)l, SAMPLES, 1);
            p.options.k1 = 0.6, p.options.k2 = 0.6;
            p.options.most_steps = steps;
            CHECK_OK(*state, fit(*state, &p));
            check_result(&p);
            assert_false(p.result.reached);
            assert_int_equal(p.result.steps, steps);
            assert_true(p.result.lower_bound <= high);
            assert_true(p.result.objective >= low);
        }
    }
}

static void a_good_start_needs_no_steps(void **state) {
    problem p;
    make(&p, WT_LOSS_HUBER, SAMPLES, 1);
    p.options.k1 = 0.6, p.options.k2 = 0.6;
    CHECK_OK(*state, fit(*state, &p));
    p.options.tolerance = 1e-5; /* slopes at the point give the root of its own gap, about */
    CHECK_OK(*state, fit(*state, &p));
    check_result(&p);
    assert_true(p.result.reached);
    assert_int_equal(p.result.steps, 0);
    /* A start far outside is brought inside first. */
    for (size_t j = 0; j < COLUMNS; j++)
        p.v[j] = 1e6;
    CHECK_OK(*state, fit(*state, &p));
    check_result(&p);
    assert_true(p.result.reached);
}

/* The units of y and of the features are the user's business. */
static void units_do_not_matter(void **state) {
    problem p;
    const double units[] = {1e-6, 1e6};
    for (int l = 0; l < 2; l++)
        for (int u = 0; u < 2; u++) {
            make(&p, l == 0 ? WT_LOSS_SQUARE : WT_LOSS_ABSOLUTE, SAMPLES, 1);
            for (size_t i = 0; i < SAMPLES; i++)
                p.y[i] *= units[u];
            for (size_t i = 0; i < SAMPLES * COLUMNS; i++)
                p.phi[i] /= units[u];
            p.options.k1 = 0.6 * units[u] * units[u], p.options.k2 = 0.6 * pow(units[u], 4);
            p.options.most_steps = 2000;
            CHECK_OK(*state, fit(*state, &p));
            assert_true(p.result.reached && p.result.sum_binds && p.result.squares_bind);
        }
}

static void nothing_to_learn_is_no_trouble(void **state) {
    problem p;
    make(&p, WT_LOSS_SQUARE, SAMPLES, 1);
    p.options.k1 = p.options.k2 = 1;
    memset(p.y, 0, sizeof p.y);
    p.v[3] = 1;
    CHECK_OK(*state, fit(*state, &p));
    check_result(&p);
    assert_true(p.result.reached && p.result.objective == 0 && p.v[3] == 0);
    make(&p, WT_LOSS_ABSOLUTE, SAMPLES, 1);
    p.options.k1 = p.options.k2 = 1;
    memset(p.phi, 0, sizeof p.phi);
    CHECK_OK(*state, fit(*state, &p));
    assert_true(p.result.reached);
    CHECK_NEAR(p.result.objective, p.result.objective_at_zero, 0);
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
        cmocka_unit_test(bounds_are_below_objectives),
        cmocka_unit_test(few_steps_are_told_honestly),
        cmocka_unit_test(a_good_start_needs_no_steps),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(nothing_to_learn_is_no_trouble),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
