/* The loops that Adam's method is made of, on every kind of processor this one can stand for,
 * against the formulas of network_loops.h in double. */
#include <math.h>

#include "check.h"
#include "network/model/network_loops.h"
#include "wattle/random.h"

enum { COUNT = 1003 }; /* no multiple of any vector */

typedef struct {
    float g[COUNT], p[COUNT], m[COUNT], v[COUNT];
} block;

static void fill(block *out) {
    double normal[4 * COUNT];
    wt_random_normal(wt_stream_for(7, "loops", 0), 0, 4 * COUNT, normal);
    for (size_t i = 0; i < COUNT; i++) {
        out->g[i] = (float)normal[4 * i];
        out->p[i] = (float)normal[4 * i + 1];
        out->m[i] = (float)normal[4 * i + 2];
        out->v[i] = (float)pow(normal[4 * i + 3], 2);
    }
}

/* A dozen operations in float of numbers about 1, each within 6e-8: 1e-6, more where the moment is
 * near 0 and its step large. */
static void adam_is_its_formula(void **state) {
    (void)state;
    const wt_adam_factors by = {
        .scale = 0.7F, .step = 1e-2F, .root = 3, .decay = 1e-2F, .decoupled = 0.01F};
    size_t versions;
    const wt_loops_version *able = wt_loops_able(&versions);
    for (size_t k = 0; k < versions; k++) {
        block given, at;
        fill(&given);
        at = given;
        able[k].network->adam(&by, COUNT, at.g, at.p, at.m, at.v);
        for (size_t i = 0; i < COUNT; i++) {
            double slope = 0.7 * given.g[i] + 1e-2 * given.p[i];
            double m = 0.9 * given.m[i] + 0.1 * slope;
            double v = 0.999 * given.v[i] + 0.001 * slope * slope;
            double moved = 1e-2 * m / (3 * sqrt(v) + 1e-8);
            CHECK_NEAR(at.m[i], m, 1e-6);
            CHECK_NEAR(at.v[i], v, 1e-6 * (1 + v));
            CHECK_NEAR(at.p[i], 0.99 * given.p[i] - moved, 1e-6 * (1 + fabs(moved)));
            CHECK_NEAR(at.g[i], given.g[i], 0);
        }
    }
}

/* A decay near the rounding of a parameter, where 1 - decay would be a fifth off or 1. A decay of
 * 1e-7 takes what it should from parameters in [1, 2), to half of the last place and the rounding
 * of that. 1e-8 cannot move a parameter by itself, and moves it together with a step of 0.45 of the
 * last place. */
static void small_decays_are_not_rounded_away(void **state) {
    (void)state;
    const float place = 0x1p-23F;
    size_t versions;
    const wt_loops_version *able = wt_loops_able(&versions);
    for (size_t k = 0; k < versions; k++) {
        wt_adam_factors by = {.scale = 1, .step = 1e-8F, .root = 1, .decoupled = 1e-7F};
        block at = {0};
        for (size_t i = 0; i < COUNT; i++)
            at.p[i] = 1 + (float)i / COUNT;
        block given = at;
        able[k].network->adam(&by, COUNT, at.g, at.p, at.m, at.v);
        for (size_t i = 0; i < COUNT; i++)
            CHECK_NEAR((double)given.p[i] - at.p[i], 1e-7 * given.p[i], 0.5001 * place);
        for (int decays = 0; decays < 2; decays++) {
            by.decoupled = decays ? 1e-8F : 0;
            at = (block){0};
            for (size_t i = 0; i < COUNT; i++) {
                at.p[i] = 1.5F;
                at.m[i] = 0.45F * place / 0.9F;
            }
            able[k].network->adam(&by, COUNT, at.g, at.p, at.m, at.v);
            for (size_t i = 0; i < COUNT; i++)
                assert_true(at.p[i] == 1.5F - (decays ? place : 0));
        }
    }
}

static void squares_are_summed_in_double(void **state) {
    (void)state;
    size_t versions;
    const wt_loops_version *able = wt_loops_able(&versions);
    block given;
    double wanted = 0;
    fill(&given);
    given.g[0] = 1e15F; /* its square would hide all others in float */
    for (size_t i = 1; i < COUNT; i++)
        wanted += (double)given.g[i] * given.g[i];
    for (size_t k = 0; k < versions; k++) {
        CHECK_NEAR(able[k].network->squares(COUNT - 1, given.g + 1), wanted, 1e-12 * wanted);
        CHECK_NEAR(able[k].network->squares(COUNT, given.g), 1e30, 1e18);
        CHECK_NEAR(able[k].network->squares(0, given.g), 0, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adam_is_its_formula),
        cmocka_unit_test(small_decays_are_not_rounded_away),
        cmocka_unit_test(squares_are_summed_in_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
