/* The dual system: leading blocks, diagonals of inverses, lambdas too small for a factor. */
#include "features/learn/system.h"
#include "features/plain_ridge.h"
#include "specs.h"

enum { N = 300 };

static wt_system open_system(wt_context *context, const wt_model_spec *spec, wt_sets *sets) {
    wt_model model;
    wt_system system;
    CHECK_OK(context, wt_model_draw(context, spec, &model));
    CHECK_OK(context, wt_system_open(context, &model, sets, &system));
    wt_model_free(&model);
    return system;
}

/* (K_s + lambda I)^-1 by elimination, (s, s). */
static long double *plain_inverse(const double *k, size_t s, double lambda) {
    long double *a = calloc(s * s, sizeof *a), *b = calloc(s * s, sizeof *b);
    assert_true(a != NULL && b != NULL);
    for (size_t i = 0; i < s * s; i++) {
        a[i] = k[i] + (i % (s + 1) == 0 ? (long double)lambda : 0);
        b[i] = i % (s + 1) == 0;
    }
    eliminate(s, s, a, b);
    free(a);
    return b;
}

static void leading_blocks_solve_and_invert(void **state) {
    wt_context *context = *state;
    static const size_t sizes[] = {1, 40, 256, 270};
    wt_model_spec spec = {MODEL(RFA), .heads = 30, .dim = 3, .keys = 4, .seed = 3};
    wt_sets sets = draw_sets(context, 1, N, 4, 3, 2, false);
    wt_system system = open_system(context, &spec, &sets);
    static const double lambdas[] = {1, 1e-2, 1}; /* back again: K must have survived */
    for (size_t l = 0; l < 3; l++) {
        size_t usable;
        double *diagonals = doubles(context, 4 * N), *alpha = doubles(context, N * 2);
        CHECK_OK(context, wt_system_factor(context, &system, lambdas[l], sizes, 4, &usable));
        assert_int_equal(usable, 4);
        CHECK_OK(context, wt_system_inverse_diagonals(context, &system, sizes, 4, diagonals));
        for (size_t s = 0; s < 4; s++) {
            size_t size = sizes[s];
            double *k = doubles(context, size * size);
            CHECK_OK(context, system.engine->copy(context, system.state, size, k));
            long double *inverse = plain_inverse(k, size, lambdas[l]);
            CHECK_OK(context, wt_system_solve(context, &system, size, 2, sets.y, alpha, 2));
            /* A condition of 1e5 at most. */
            for (size_t i = 0; i < size; i++) {
                long double wanted = 0;
                for (size_t j = 0; j < size; j++)
                    wanted += inverse[i * size + j] * sets.y[j * 2];
                CHECK_NEAR(alpha[i * 2], (double)wanted, 1e-9);
                CHECK_NEAR(diagonals[s * N + i], (double)inverse[i * (size + 1)], 1e-9);
            }
            for (size_t i = size; i < N; i++)
                assert_true(diagonals[s * N + i] == 0);
            free(inverse);
            wt_release(k);
        }
        wt_release(diagonals);
        wt_release(alpha);
    }
    wt_system_free(&system);
    wt_sets_close(&sets);
}

/* From the second half on the samples are copies a thousand times as long: K_s loses rank there,
 * and lambdas that serve the first half are lost in its rounding. */
static void small_lambdas_serve_small_blocks(void **state) {
    wt_context *context = *state;
    static const size_t sizes[] = {20, 60, N};
    static const struct {
        double lambda;
        size_t usable;
    } cases[] = {{1, 3}, {1e-9, 2}, {0, 0}, {1e-25, 0}, {1, 3}};
    wt_model_spec spec = {MODEL(RFA), .heads = 50, .dim = 3, .keys = 4, .seed = 3};
    wt_sets sets = draw_sets(context, 2, N, 4, 3, 1, false);
    for (size_t i = N / 2 * 3; i < N * 3; i++)
        sets.query[i] = 1000 * sets.query[i - N / 2 * 3];
    wt_system system = open_system(context, &spec, &sets);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t usable;
        CHECK_OK(context, wt_system_factor(context, &system, cases[c].lambda, sizes, 3, &usable));
        if (usable != cases[c].usable)
            fail_msg("lambda %g serves %zu sizes, not %zu", cases[c].lambda, usable,
                     cases[c].usable);
    }
    wt_system_free(&system);
    wt_sets_close(&sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leading_blocks_solve_and_invert),
        cmocka_unit_test(small_lambdas_serve_small_blocks),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
