/* What the fit says of itself, and where: bounds that hold after any number of steps, good starts,
 * units of any size, nothing to learn. */
#include "features/ball_cases.h"

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
            p.options.max_steps = steps;
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
            p.options.max_steps = 2000;
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
        cmocka_unit_test(bounds_are_below_objectives),
        cmocka_unit_test(few_steps_are_told_honestly),
        cmocka_unit_test(a_good_start_needs_no_steps),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(nothing_to_learn_is_no_trouble),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
