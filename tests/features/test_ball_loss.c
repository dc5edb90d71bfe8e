#include "features/learn/loss.h"

#include "check.h"
#include "wattle/random.h"

enum { LOSSES = 4, DRAWS = 200 };
static const double deltas[] = {0.3, 1, 2.5};

static double uniform(uint64_t index, double low, double high) {
    double u;
    wt_random_uniform(wt_stream_for(7, "loss", 0), index, 1, &u);
    return low + (high - low) * u;
}
static double label(wt_loss loss, uint64_t index) {
    double y = uniform(index, -2, 2);
    return loss == WT_LOSS_LOGISTIC ? copysign(1, y) : y;
}

static void names_go_both_ways(void **state) {
    for (int l = 0; l < LOSSES; l++) {
        wt_loss loss;
        CHECK_OK(*state, wt_loss_parse(*state, wt_loss_name((wt_loss)l), &loss));
        assert_int_equal(loss, l);
    }
    wt_loss loss;
    CHECK_FAILS(*state, wt_loss_parse(*state, "hinge", &loss), WT_USAGE, "no loss 'hinge'");
}

static void values_are_those_of_the_formulas(void **state) {
    (void)state;
    CHECK_NEAR(wt_loss_value(WT_LOSS_SQUARE, 1, 1, 4), 9, 1e-15);
    CHECK_NEAR(wt_loss_value(WT_LOSS_ABSOLUTE, 1, 1, 4), 3, 1e-15);
    CHECK_NEAR(wt_loss_value(WT_LOSS_HUBER, 2, 1, 2), 0.5, 1e-15);
    CHECK_NEAR(wt_loss_value(WT_LOSS_HUBER, 2, 1, 4), 4, 1e-15);
    CHECK_NEAR(wt_loss_value(WT_LOSS_LOGISTIC, 1, -1, 0), log(2), 1e-15);
    /* Far out, where exp would overflow: log(1 + exp(x)) is x, or nothing. */
    CHECK_NEAR(wt_loss_value(WT_LOSS_LOGISTIC, 1, 1, -1e4), 1e4, 1e-15);
    CHECK_NEAR(wt_loss_value(WT_LOSS_LOGISTIC, 1, 1, 1e4), 0, 1e-15);
    CHECK_NEAR(wt_loss_slope(WT_LOSS_LOGISTIC, 1, 1, -1e4), -1, 1e-15);
}

/* Central differences of step 1e-5: error about 1e-10 from the third derivative and 1e-11 from
 * rounding. Points within a step of a kink are passed over. */
static void slopes_agree_with_differences(void **state) {
    (void)state;
    double h = 1e-5;
    for (int l = 0; l < LOSSES; l++)
        for (uint64_t i = 0; i < DRAWS; i++) {
            wt_loss loss = (wt_loss)l;
            double y = label(loss, 2 * i), f = uniform(2 * i + 1, -4, 4), delta = deltas[i % 3];
            if (fabs(f - y) < 2 * h || fabs(fabs(f - y) - delta) < 2 * h)
                continue;
            double difference =
                (wt_loss_value(loss, delta, y, f + h) - wt_loss_value(loss, delta, y, f - h)) /
                (2 * h);
            CHECK_NEAR(wt_loss_slope(loss, delta, y, f), difference, 1e-8);
        }
}

/* Fenchel and Young: loss(f) + loss*(s) >= s f, with equality at the slope. 1e-14 is rounding. */
static void conjugates_bound_and_touch(void **state) {
    (void)state;
    for (int l = 0; l < LOSSES; l++)
        for (uint64_t i = 0; i < DRAWS; i++) {
            wt_loss loss = (wt_loss)l;
            double y = label(loss, 3 * i), f = uniform(3 * i + 1, -4, 4), delta = deltas[i % 3];
            double s = wt_loss_clip_slope(loss, delta, y, uniform(3 * i + 2, -3, 3));
            double value = wt_loss_value(loss, delta, y, f);
            assert_true(value + wt_loss_conjugate(loss, delta, y, s) >= s * f - 1e-14);
            s = wt_loss_slope(loss, delta, y, f);
            CHECK_NEAR(wt_loss_clip_slope(loss, delta, y, s), s, 0);
            CHECK_NEAR(value + wt_loss_conjugate(loss, delta, y, s), s * f, 1e-14);
        }
}

/* The conjugate is the least number that bounds: the maximum of s f - loss(f) over a fine grid is
 * within curvature (2 at most) times step^2 / 8 of it, or slope 1 times half a step at a kink. */
static void conjugates_agree_with_a_grid(void **state) {
    (void)state;
    double step = 1e-3;
    for (int l = 0; l < LOSSES; l++)
        for (uint64_t i = 0; i < 20; i++) {
            wt_loss loss = (wt_loss)l;
            double y = label(loss, 2 * i), delta = deltas[i % 3];
            double s = 0.95 * wt_loss_clip_slope(loss, delta, y, uniform(2 * i + 1, -1, 1));
            double most = -INFINITY;
            for (double f = -10; f <= 10; f += step)
                most = fmax(most, s * f - wt_loss_value(loss, delta, y, f));
            CHECK_NEAR(wt_loss_conjugate(loss, delta, y, s), most, 2 * step);
        }
    /* The ends of the logistic conjugate, where p log p is 0 log 0. */
    CHECK_NEAR(wt_loss_conjugate(WT_LOSS_LOGISTIC, 1, 1, 0), 0, 0);
    CHECK_NEAR(wt_loss_conjugate(WT_LOSS_LOGISTIC, 1, 1, -1), 0, 0);
}

/* At the proximal point x, (z - x) / t is a slope of the loss: equality of Fenchel and Young, which
 * holds for slopes alone. 1e-12: z - x cancels and t is small. */
static void proximal_points_leave_a_slope(void **state) {
    (void)state;
    const double ts[] = {1e-3, 0.2, 1, 40, 1e5};
    for (int l = 0; l < LOSSES; l++)
        for (uint64_t i = 0; i < DRAWS; i++) {
            wt_loss loss = (wt_loss)l;
            double y = label(loss, 2 * i), z = uniform(2 * i + 1, -6, 6), delta = deltas[i % 3];
            double t = ts[i % 5], x = wt_loss_proximal(loss, delta, y, t, z), s = (z - x) / t;
            CHECK_NEAR(wt_loss_clip_slope(loss, delta, y, s), s, 1e-12);
            s = wt_loss_clip_slope(loss, delta, y, s);
            CHECK_NEAR(wt_loss_value(loss, delta, y, x) + wt_loss_conjugate(loss, delta, y, s),
                       s * x, 1e-12);
        }
}

static void labels_are_judged(void **state) {
    double y[] = {1, -1, 0, 1};
    CHECK_OK(*state, wt_loss_check_labels(*state, WT_LOSS_SQUARE, y, 2, 2));
    CHECK_FAILS(*state, wt_loss_check_labels(*state, WT_LOSS_LOGISTIC, y, 2, 2), WT_DATA,
                "sample 1, output 0 is 0; the logistic loss wants labels -1 and +1");
    y[3] = NAN;
    CHECK_FAILS(*state, wt_loss_check_labels(*state, WT_LOSS_HUBER, y, 2, 2), WT_DATA,
                "sample 1, output 1 is nan");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(values_are_those_of_the_formulas),
        cmocka_unit_test(slopes_agree_with_differences),
        cmocka_unit_test(conjugates_bound_and_touch),
        cmocka_unit_test(conjugates_agree_with_a_grid),
        cmocka_unit_test(proximal_points_leave_a_slope),
        cmocka_unit_test(labels_are_judged),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
