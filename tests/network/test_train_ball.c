/* Hard norm balls: matrices stay inside, by the nearest point and no other. */
#include "network/train_cases.h"
#include "wattle/random.h"

static void measured(wt_context *context, const wt_trainer *trainer, const char *name, size_t index,
                     wt_norm_kind kind, double radius) {
    wt_train_matrix matrix = wt_train_matrix_at(trainer, name, index);
    double *a, norm;
    CHECK_OK(context, WT_NEW(context, &a, matrix.rows * matrix.columns, "a test"));
    CHECK_OK(context, wt_train_matrix_load(context, trainer, &matrix, a));
    CHECK_OK(context,
             wt_norm(context, kind, matrix.rows, matrix.columns, a, matrix.columns, &norm));
    if (!(norm <= radius * (1 + 1e-6)) || norm < 0.5 * radius)
        fail_msg("%s: norm %g in a ball of %g that should be felt", matrix.name, norm, radius);
    wt_release(a);
}

static void balls_hold(void **state) {
    wt_train_spec setting = small_setting("head");
    wt_trainer *trainer;
    setting.balls = "qk.two-one=0.3,v.two-one=1.5,v.spectral=0.5,w.frobenius=0.8";
    run_small(*state, &setting, 30, &trainer);
    measured(*state, trainer, "qk", 0, WT_COLUMNS, 0.3);
    measured(*state, trainer, "v", 0, WT_COLUMNS, 1.5);
    measured(*state, trainer, "v", 0, WT_SPECTRAL, 0.5);
    measured(*state, trainer, "w", 0, WT_FROBENIUS, 0.8);
    wt_trainer_free(trainer);
    setting = small_setting("transformer");
    setting.rate = 1e-2;
    setting.balls = "qk.two-one=0.05,v.spectral=0.1,mlp1.frobenius=0.5,pos_emb.two-one=0.7";
    run_small(*state, &setting, 30, &trainer);
    for (size_t h = 0; h < 2; h++) {
        measured(*state, trainer, "qk", h, WT_COLUMNS, 0.05);
        measured(*state, trainer, "v", h, WT_SPECTRAL, 0.1);
    }
    measured(*state, trainer, "mlp1", 0, WT_FROBENIUS, 0.5);
    measured(*state, trainer, "pos_emb", 0, WT_COLUMNS, 0.7);
    wt_trainer_free(trainer);
}

/* The two-one norm of W_QK is the sum of the lengths of its rows. */
static void the_transpose_is_meant(void **state) {
    wt_train_spec setting = small_setting("head");
    wt_trainer *trainer;
    run_small(*state, &setting, 0, &trainer);
    wt_train_matrix matrix = wt_train_matrix_at(trainer, "qk", 0);
    const float *w = trainer->parameters + matrix.offset;
    size_t d = setting.dim;
    double rows = 0, norm, a[16 * 16];
    for (size_t i = 0; i < d; i++) {
        double square = 0;
        for (size_t j = 0; j < d; j++)
            square += (double)w[i * d + j] * (double)w[i * d + j];
        rows += sqrt(square);
    }
    CHECK_OK(*state, wt_train_matrix_load(*state, trainer, &matrix, a));
    CHECK_OK(*state, wt_norm(*state, WT_COLUMNS, d, d, a, d, &norm));
    CHECK_NEAR(norm, rows, 1e-12); /* two sums of 256 squares in double */
    wt_trainer_free(trainer);
}

/* Draws all of the matrices large, so that every ball is felt. */
static void enlarge(wt_trainer *trainer) {
    for (size_t i = 0; i < trainer->size; i++)
        trainer->parameters[i] *= 20;
}

/* A product goes to the nearest product: what wt_project makes of the matrix itself, to the
 * rounding of W_Q to float. */
static void products_are_projected_exactly(void **state) {
    enum { D = 16 };
    const struct {
        const char *ball;
        wt_norm_kind kind;
        double radius;
    } cases[] = {{"qk.spectral=0.5", WT_SPECTRAL, 0.5},
                 {"qk.frobenius=0.7", WT_FROBENIUS, 0.7},
                 {"qk.two-one=1", WT_COLUMNS, 1}};
    for (size_t c = 0; c < 3; c++) {
        wt_train_spec setting = small_setting("transformer");
        wt_trainer *trainer;
        double wanted[D * D], got[D * D];
        setting.balls = cases[c].ball;
        run_small(*state, &setting, 0, &trainer);
        enlarge(trainer);
        wt_train_matrix matrix = wt_train_matrix_at(trainer, "qk", 1);
        CHECK_OK(*state, wt_train_matrix_load(*state, trainer, &matrix, wanted));
        CHECK_OK(*state, wt_project(*state, cases[c].kind, cases[c].radius, D, D, wanted, D));
        CHECK_OK(*state, wt_train_project(*state, trainer));
        CHECK_OK(*state, wt_train_matrix_load(*state, trainer, &matrix, got));
        for (size_t i = 0; i < (size_t)D * D; i++)
            CHECK_NEAR(got[i], wanted[i], 1e-6);
        wt_trainer_free(trainer);
    }
}

/* P is the nearest point of a convex set to A when <A - P, Z - P> <= 0 for all Z of the set. */
static void several_balls_give_the_nearest_of_all(void **state) {
    enum { D = 8, COUNT = D * D };
    wt_train_spec setting = small_setting("head");
    wt_trainer *trainer;
    double a[COUNT], p[COUNT], z[COUNT], norm, length = 0;
    setting.dim = D;
    setting.balls = "v.two-one=3,v.spectral=1";
    run_small(*state, &setting, 0, &trainer);
    enlarge(trainer);
    wt_train_matrix matrix = wt_train_matrix_at(trainer, "v", 0);
    CHECK_OK(*state, wt_train_matrix_load(*state, trainer, &matrix, a));
    CHECK_OK(*state, wt_train_project(*state, trainer));
    CHECK_OK(*state, wt_train_matrix_load(*state, trainer, &matrix, p));
    CHECK_OK(*state, wt_norm(*state, WT_SPECTRAL, D, D, p, D, &norm));
    CHECK_NEAR(norm, 1, 1e-6); /* both are felt, neither is left */
    CHECK_OK(*state, wt_norm(*state, WT_COLUMNS, D, D, p, D, &norm));
    CHECK_NEAR(norm, 3, 1e-6);
    for (size_t i = 0; i < COUNT; i++)
        length += (a[i] - p[i]) * (a[i] - p[i]);
    for (uint64_t draw = 0; draw < 200; draw++) {
        double product = 0, step = 0, scale = draw % 2 == 0 ? 1 : 0.05;
        wt_random_normal(wt_stream_for(5, "z", draw), 0, COUNT, z);
        for (size_t i = 0; i < COUNT; i++) /* some far from P, some close to it */
            z[i] = p[i] + scale * z[i];
        CHECK_OK(*state, wt_norm(*state, WT_SPECTRAL, D, D, z, D, &norm));
        double shrink = fmin(1, 1 / norm);
        CHECK_OK(*state, wt_norm(*state, WT_COLUMNS, D, D, z, D, &norm));
        shrink = fmin(shrink, 3 / norm);
        for (size_t i = 0; i < COUNT; i++) {
            product += (a[i] - p[i]) * (shrink * z[i] - p[i]);
            step += (shrink * z[i] - p[i]) * (shrink * z[i] - p[i]);
        }
        /* P is rounded to float: its error of 1e-7 times the lengths. */
        assert_true(product <= 1e-5 * sqrt(length) * fmax(1, sqrt(step)));
    }
    wt_trainer_free(trainer);
}

/* Else a trial that is stopped between its start and its first step would resume with other bits.
 */
static void a_projected_matrix_stays(void **state) {
    const char *balls[] = {"v.two-one=3,v.spectral=1", "v.spectral=0.7,w.frobenius=0.1",
                           "qk.two-one=0.2"};
    for (size_t i = 0; i < 3; i++) {
        wt_train_spec setting = small_setting("head");
        wt_trainer *trainer;
        float *once;
        setting.balls = balls[i];
        run_small(*state, &setting, 0, &trainer);
        enlarge(trainer);
        CHECK_OK(*state, wt_train_project(*state, trainer));
        CHECK_OK(*state, WT_NEW(*state, &once, trainer->size, "a test"));
        memcpy(once, trainer->parameters, trainer->size * sizeof *once);
        CHECK_OK(*state, wt_train_project(*state, trainer));
        assert_memory_equal(once, trainer->parameters, trainer->size * sizeof *once);
        wt_release(once);
        wt_trainer_free(trainer);
    }
}

static void bad_balls_are_refused(void **state) {
    const struct {
        const char *ball, *words;
    } cases[] = {{"qk", "not of that form"},
                 {"qk.spectral", "not of that form"},
                 {"qk.long=1", "names no norm"},
                 {"qk.spectral=0", "no radius above 0"},
                 {"qk.spectral=x", "no radius"},
                 {"wq.spectral=1", "no matrix of this network"},
                 {"", "the value is empty"},
                 {"v.spectral=1,v.spectral=2", "given twice"},
                 {"qk.two-one=1,w_qk.two-one=1", "given twice"},
                 {"positions.spectral=0.1", "not trained"},
                 {"symbols.frobenius=0.1", "not trained"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_train_spec setting = small_setting("head");
        wt_trainer *trainer;
        setting.balls = cases[i].ball;
        CHECK_FAILS(*state, wt_trainer_new(*state, &setting, &trainer), WT_USAGE, cases[i].words);
        assert_null(trainer);
    }
    for (int fixed = 0; fixed < 2; fixed++) { /* the transformer's positions may be either */
        wt_train_spec setting = small_setting("transformer");
        wt_trainer *trainer;
        setting.balls = "pos_emb.spectral=0.1";
        setting.fixed_positions = fixed == 1;
        if (fixed == 1)
            CHECK_FAILS(*state, wt_trainer_new(*state, &setting, &trainer), WT_USAGE,
                        "not trained");
        else
            CHECK_OK(*state, wt_trainer_new(*state, &setting, &trainer));
        wt_trainer_free(trainer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balls_hold),
        cmocka_unit_test(the_transpose_is_meant),
        cmocka_unit_test(products_are_projected_exactly),
        cmocka_unit_test(several_balls_give_the_nearest_of_all),
        cmocka_unit_test(a_projected_matrix_stays),
        cmocka_unit_test(bad_balls_are_refused),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
