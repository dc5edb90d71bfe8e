#include "features/learn/ball_set.h"

#include "check.h"
#include "features/ball_oracle.h"
#include "wattle/random.h"

enum { HEADS = 12, BLOCK = 3, NUMBERS = HEADS * BLOCK, DRAWS = 120, TRIALS = 8 };

/* Blocks of unequal size, every fifth draw with ties, every seventh with empty blocks. */
static void draw(uint64_t index, double scale, double *v) {
    wt_random_normal(wt_stream_for(3, "blocks", index), 0, NUMBERS, v);
    for (size_t m = 0; m < HEADS; m++)
        for (size_t j = 0; j < BLOCK; j++) {
            double *x = &v[m * BLOCK + j];
            *x *= scale * (1 + (double)(m % 4));
            if (index % 5 == 0)
                *x = j == 0 ? scale * (double)(1 + m % 3) : 0;
            if (index % 7 == 0 && m % 2 == 0)
                *x = 0;
        }
}

/* From K1 alone in force, over both, to K2 alone: K1 / r from 0.5 to sqrt(M) and beyond. */
static wt_ball ball_for(uint64_t index) {
    double u[2];
    wt_random_uniform(wt_stream_for(3, "sizes", index), 0, 2, u);
    double radius = 0.2 + 3 * u[0], k1 = radius * (0.5 + 3.5 * u[1]);
    return wt_ball_of(k1, radius * radius * HEADS, HEADS);
}

static double inner(const double *a, const double *b) {
    double sum = 0;
    for (size_t j = 0; j < NUMBERS; j++)
        sum += a[j] * b[j];
    return sum;
}

/* Slack of 1e-13: the sums run over a dozen roundings. */
static void check_inside(const wt_ball *ball, const double *v) {
    assert_true(oracle_sum(HEADS, BLOCK, v) <= ball->k1 * (1 + 1e-13));
    assert_true(oracle_norm(v, NUMBERS) <= ball->radius * (1 + 1e-13));
}

static void projections_are_inside_and_stay(void **state) {
    (void)state;
    double v[NUMBERS], again[NUMBERS], room[2 * HEADS];
    for (uint64_t i = 0; i < DRAWS; i++) {
        wt_ball ball = ball_for(i);
        draw(i, i % 2 == 0 ? 1 : 0.1, v);
        wt_ball_project(&ball, BLOCK, v, room);
        check_inside(&ball, v);
        memcpy(again, v, sizeof v);
        wt_ball_project(&ball, BLOCK, again, room);
        for (size_t j = 0; j < NUMBERS; j++)
            CHECK_NEAR(again[j], v[j], 1e-13);
    }
}

static void points_inside_do_not_move(void **state) {
    (void)state;
    double v[NUMBERS], moved[NUMBERS], room[2 * HEADS];
    wt_ball ball = wt_ball_of(1e3, 1e5, HEADS);
    draw(1, 1, v);
    memcpy(moved, v, sizeof v);
    wt_ball_project(&ball, BLOCK, moved, room);
    assert_memory_equal(moved, v, sizeof v);
}

/* p is the projection of x if and only if it is inside and <x - p, s - p> <= 0 for all s inside.
 * The s that is worst is where the support function is attained, so that the whole condition is
 * support(x - p) <= <x - p, p>; random s are tried as well. */
static void projections_meet_the_variational_inequality(void **state) {
    (void)state;
    double x[NUMBERS], p[NUMBERS], s[NUMBERS], room[2 * HEADS];
    for (uint64_t i = 0; i < DRAWS; i++) {
        wt_ball ball = ball_for(i);
        draw(i, 1, x);
        memcpy(p, x, sizeof p);
        wt_ball_project(&ball, BLOCK, p, room);
        for (size_t j = 0; j < NUMBERS; j++)
            x[j] -= p[j];
        double scale = 1 + oracle_norm(x, NUMBERS) * ball.radius;
        assert_true(wt_ball_support(&ball, BLOCK, x, room) <= inner(x, p) + 1e-12 * scale);
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            draw(1000 + TRIALS * i + trial, 1, s);
            oracle_project(&ball, BLOCK, s, 100);
            assert_true(inner(x, s) <= inner(x, p) + 1e-6 * scale);
        }
    }
}

/* Dykstra's method comes within 1e-9 in 5,000 rounds on these. */
static void projections_agree_with_alternating_ones(void **state) {
    (void)state;
    double v[NUMBERS], slow[NUMBERS], room[2 * HEADS];
    int sum = 0, squares = 0, both = 0;
    for (uint64_t i = 0; i < 40; i++) {
        wt_ball ball = ball_for(i);
        draw(i, 1, v);
        memcpy(slow, v, sizeof v);
        wt_ball_project(&ball, BLOCK, v, room);
        oracle_project(&ball, BLOCK, slow, 5000);
        for (size_t j = 0; j < NUMBERS; j++)
            CHECK_NEAR(v[j], slow[j], 1e-8);
        bool on_sum = oracle_sum(HEADS, BLOCK, v) > ball.k1 * (1 - 1e-12);
        bool on_squares = oracle_norm(v, NUMBERS) > ball.radius * (1 - 1e-12);
        sum += on_sum && !on_squares;
        squares += on_squares && !on_sum;
        both += on_sum && on_squares;
    }
    assert_true(sum > 0 && squares > 0 && both > 0); /* the draws visit every case */
}

/* No smaller than at any point inside (1e-6: Dykstra's points are inside to that), and attained:
 * the projection of t g tends to the furthest point as t grows. */
static void support_is_the_maximum(void **state) {
    (void)state;
    double g[NUMBERS], s[NUMBERS], room[2 * HEADS];
    for (uint64_t i = 0; i < DRAWS; i++) {
        wt_ball ball = ball_for(i);
        draw(i, 1, g);
        double support = wt_ball_support(&ball, BLOCK, g, room);
        for (uint64_t trial = 0; trial < TRIALS; trial++) {
            draw(5000 + TRIALS * i + trial, 1, s);
            oracle_project(&ball, BLOCK, s, 100);
            assert_true(inner(g, s) <= support * (1 + 1e-6));
        }
        /* <g, s> falls short of the support by at most (radius^2) / t. */
        for (size_t j = 0; j < NUMBERS; j++)
            s[j] = 1e7 * g[j];
        wt_ball_project(&ball, BLOCK, s, room);
        CHECK_NEAR(inner(g, s), support, 1e-6);
    }
}

static void support_takes_its_edge_cases(void **state) {
    (void)state;
    double g[NUMBERS] = {0}, room[2 * HEADS];
    wt_ball both = wt_ball_of(2, HEADS, HEADS); /* K1 = 2, r = 1 */
    CHECK_NEAR(wt_ball_support(&both, BLOCK, g, room), 0, 0);
    g[4] = -3; /* one block: r binds */
    CHECK_NEAR(wt_ball_support(&both, BLOCK, g, room), 3, 1e-15);
    for (size_t m = 0; m < HEADS; m++)
        g[m * BLOCK + 1] = 3; /* equal blocks: K1 binds */
    CHECK_NEAR(wt_ball_support(&both, BLOCK, g, room), 6, 1e-15);
    for (size_t m = 4; m < HEADS; m++)
        g[m * BLOCK + 1] = 0; /* four of them: K1 / r is exactly sqrt(4) */
    CHECK_NEAR(wt_ball_support(&both, BLOCK, g, room), 6, 1e-15);
    wt_ball sum = wt_ball_of(2, INFINITY, HEADS), squares = wt_ball_of(INFINITY, HEADS, HEADS);
    CHECK_NEAR(wt_ball_support(&sum, BLOCK, g, room), 6, 1e-15);
    CHECK_NEAR(wt_ball_support(&squares, BLOCK, g, room), 6, 1e-15);
}

/* Of norms that differ by 1e-9 the spread is 1e-18 of the squares: sums of squares would lose it.
 */
static void nearly_equal_blocks_are_told_apart(void **state) {
    (void)state;
    double v[NUMBERS] = {0}, slow[NUMBERS], room[2 * HEADS];
    for (size_t m = 0; m < HEADS; m++)
        v[m * BLOCK] = 1 + 1e-9 * (double)m;
    memcpy(slow, v, sizeof v);
    wt_ball ball = wt_ball_of(1, 0.09 * HEADS, HEADS);
    wt_ball_project(&ball, BLOCK, v, room);
    oracle_project(&ball, BLOCK, slow, 5000);
    check_inside(&ball, v);
    for (size_t j = 0; j < NUMBERS; j++)
        CHECK_NEAR(v[j], slow[j], 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projections_are_inside_and_stay),
        cmocka_unit_test(points_inside_do_not_move),
        cmocka_unit_test(projections_meet_the_variational_inequality),
        cmocka_unit_test(projections_agree_with_alternating_ones),
        cmocka_unit_test(support_is_the_maximum),
        cmocka_unit_test(support_takes_its_edge_cases),
        cmocka_unit_test(nearly_equal_blocks_are_told_apart),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
