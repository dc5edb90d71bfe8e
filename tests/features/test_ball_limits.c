/* What the fit promises whatever it fits: refusals, failures on the way, and the same bits. */
#include "base/memory.h"
#include "check.h"
#include "features/learn/ball.h"
#include "wattle/random.h"

enum { SAMPLES = 30, HEADS = 8, WIDTH = 2, COLUMNS = HEADS * WIDTH };

typedef struct {
    double phi[SAMPLES * COLUMNS], y[SAMPLES], v[COLUMNS];
    wt_dense_features features;
    wt_operator operation;
    wt_ball_options options;
    wt_ball_report result;
} problem;

static void make(problem *p) {
    *p = (problem){.features = {.rows = SAMPLES, .columns = COLUMNS}};
    p->features.phi = p->phi;
    wt_random_uniform(wt_stream_for(2, "phi", 0), 0, SAMPLES * COLUMNS, p->phi);
    wt_random_normal(wt_stream_for(2, "y", 0), 0, SAMPLES, p->y);
    p->operation = wt_operator_of_dense(&p->features, HEADS);
    WT_INIT(wt_ball_options, &p->options);
    p->options.k1 = 1, p->options.k2 = 1.5;
}

static wt_status fit(wt_context *context, problem *p) {
    return wt_ball_solve(context, &p->operation, p->y, 1, &p->options, p->v, &p->result);
}

static void options_are_judged(void **state) {
    const struct {
        size_t offset;
        double bad;
        const char *words;
    } cases[] = {
        {offsetof(wt_ball_options, k1), 0, "K1 and K2 must be above 0, not 0 and 1.5"},
        {offsetof(wt_ball_options, k1), NAN, "K1 and K2 must be above 0, not nan"},
        {offsetof(wt_ball_options, k2), -1, "K1 and K2 must be above 0, not 1 and -1"},
        {offsetof(wt_ball_options, k2), NAN, "K1 and K2 must be above 0"},
        {offsetof(wt_ball_options, tolerance), 0, "tolerance must be above 0 and finite, not 0"},
        {offsetof(wt_ball_options, tolerance), NAN, "tolerance"},
        {offsetof(wt_ball_options, huber), 0, "delta above 0 and finite, not 0"},
    };
    problem p;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(&p);
        p.options.loss = WT_LOSS_HUBER;
        memcpy((char *)&p.options + cases[i].offset, &cases[i].bad, sizeof cases[i].bad);
        CHECK_FAILS(*state, fit(*state, &p), WT_USAGE, cases[i].words);
    }
    make(&p);
    p.options.k1 = p.options.k2 = INFINITY;
    CHECK_FAILS(*state, fit(*state, &p), WT_USAGE, "one of K1 and K2 must be finite");
    make(&p);
    p.options.max_steps = 0;
    CHECK_FAILS(*state, fit(*state, &p), WT_USAGE, "1 step or more");
}

static void input_is_judged(void **state) {
    problem p;
    make(&p);
    p.operation.rows = 0;
    CHECK_FAILS(*state, fit(*state, &p), WT_USAGE, "not 0, 8, 2 and 1");
    make(&p);
    p.operation.heads = SIZE_MAX / 2;
    p.operation.width = 3;
    CHECK_FAILS(*state, fit(*state, &p), WT_MEMORY, "beyond any memory");
    make(&p);
    p.y[7] = INFINITY;
    CHECK_FAILS(*state, fit(*state, &p), WT_DATA, "sample 7, output 0 is inf");
    make(&p);
    p.options.loss = WT_LOSS_LOGISTIC;
    CHECK_FAILS(*state, fit(*state, &p), WT_DATA, "wants labels -1 and +1");
    make(&p);
    p.v[2] = NAN;
    CHECK_FAILS(*state, fit(*state, &p), WT_DATA, "the start: number 2 is nan");
    make(&p);
    p.phi[50] = NAN;
    CHECK_FAILS(*state, fit(*state, &p), WT_DATA, "features are not finite");
}

/* The k-th allocation fails, for every k there is: a clean refusal, and nothing left behind. */
static void every_allocation_may_fail(void **state) {
    wt_context *context = *state;
    problem p;
    for (int by_products = 0; by_products < 2; by_products++) {
        size_t before = wt_context_memory_used(context);
        long k = 0;
        wt_status status;
        do {
            make(&p);
            if (by_products == 1)
                p.operation.gram = NULL;
            atomic_store(&context->allocation_to_fail, ++k);
            status = fit(context, &p);
            assert_int_equal(wt_context_memory_used(context), before);
            if (status != WT_OK)
                assert_int_equal(status, WT_MEMORY);
        } while (status != WT_OK);
        atomic_store(&context->allocation_to_fail, 0);
        assert_true(k > 12); /* nine vectors and the Gram matrix with its two, at least */
        assert_true(p.result.reached);
    }
}

static void the_budget_is_kept(void **state) {
    problem p;
    make(&p);
    wt_context_set_memory(*state, 4096);
    CHECK_FAILS(*state, fit(*state, &p), WT_MEMORY, "memory budget");
    wt_context_set_memory(*state, 0);
}

/* Features behind which someone gives up: the context is cancelled at the given product. */
typedef struct {
    const wt_operator *inner;
    int left;
} impatient;
static wt_status impatient_apply(const void *self, wt_context *context, const double *v, size_t q,
                                 double *out) {
    impatient *user = (impatient *)(uintptr_t)self;
    if (user->left-- == 0)
        wt_context_cancel(context);
    return user->inner->apply(user->inner->self, context, v, q, out);
}
static wt_status impatient_transposed(const void *self, wt_context *context, const double *u,
                                      size_t q, double *out) {
    const impatient *user = self;
    return user->inner->apply_transposed(user->inner->self, context, u, q, out);
}

static void cancelling_stops_the_fit(void **state) {
    (void)state;
    for (int products = 0; products < 12; products++) {
        wt_context *context;
        problem p;
        make(&p);
        assert_int_equal(wt_context_new(&context), WT_OK);
        impatient user = {&p.operation, products};
        wt_operator outer = p.operation;
        outer.apply = impatient_apply;
        outer.apply_transposed = impatient_transposed;
        outer.gram = NULL;
        outer.self = &user;
        p.options.tolerance = 1e-15;
        wt_status status = wt_ball_solve(context, &outer, p.y, 1, &p.options, p.v, &p.result);
        assert_int_equal(status, WT_INTERRUPTED);
        assert_int_equal(wt_context_memory_used(context), 0);
        wt_context_free(context);
    }
}

static void count_progress(void *user, const wt_progress *progress) {
    assert_string_equal(progress->what, "steps");
    ++*(int *)user;
}
static void progress_is_shown(void **state) {
    wt_context *context;
    (void)state;
    assert_int_equal(wt_context_new(&context), WT_OK);
    problem p;
    int shown = 0;
    make(&p);
    wt_context_set_progress(context, count_progress, &shown);
    CHECK_OK(context, fit(context, &p));
    assert_true(shown > 0);
    wt_context_free(context);
}

/* Through products alone the Gram matrix differs in the last bits, and the answer by no more than
 * the gap allows. */
static void the_gram_matrix_may_come_through_products(void **state) {
    problem with, without;
    make(&with);
    make(&without);
    without.operation.gram = NULL;
    with.options.tolerance = without.options.tolerance = 1e-10;
    for (int transposed = 0; transposed < 2; transposed++) {
        CHECK_OK(*state, fit(*state, &with));
        CHECK_OK(*state, fit(*state, &without));
        assert_true(with.result.reached && without.result.reached);
        CHECK_NEAR(without.result.objective, with.result.objective, 1e-9);
        with.operation.rows = without.operation.rows = COLUMNS / 2; /* the other side */
        with.features.rows = without.features.rows = COLUMNS / 2;
    }
}

/* Sizes past the tiles of the products and the factorisation, both sides, one and two outputs. */
static void threads_do_not_change_a_bit(void **state) {
    wt_context *context = *state;
    enum { MANY = 560, HEADS_OF_MANY = 100, OUTPUTS = 2 };
    size_t columns = 3 * HEADS_OF_MANY, bytes = columns * OUTPUTS * sizeof(double);
    double *phi, *y, *v[2];
    CHECK_OK(context, WT_NEW(context, &phi, MANY * columns, "features"));
    CHECK_OK(context, WT_NEW(context, &y, MANY * OUTPUTS, "labels"));
    wt_random_uniform(wt_stream_for(4, "phi", 0), 0, MANY * columns, phi);
    wt_random_normal(wt_stream_for(4, "y", 0), 0, MANY * OUTPUTS, y);
    const int threads[] = {1, 3};
    int old = wt_context_threads(context);
    for (size_t rows = 280; rows <= MANY; rows += 280)
        for (size_t q = 1; q <= OUTPUTS; q++) {
            wt_ball_report results[2];
            for (int t = 0; t < 2; t++) {
                CHECK_OK(context, WT_NEW_ZERO(context, &v[t], columns * OUTPUTS, "values"));
                CHECK_OK(context, wt_context_set_threads(context, threads[t]));
                wt_dense_features features = {phi, rows, columns};
                wt_operator operation = wt_operator_of_dense(&features, HEADS_OF_MANY);
                wt_ball_options options;
                WT_INIT(wt_ball_options, &options);
                options.loss = q == 1 ? WT_LOSS_ABSOLUTE : WT_LOSS_SQUARE;
                options.k1 = 1, options.k2 = 2;
                options.max_steps = 40;
                CHECK_OK(context,
                         wt_ball_solve(context, &operation, y, q, &options, v[t], &results[t]));
            }
            assert_true(results[0].sum_norms > 0);
            assert_memory_equal(v[0], v[1], bytes);
            assert_true(results[0].lower_bound == results[1].lower_bound);
            wt_release(v[0]);
            wt_release(v[1]);
        }
    CHECK_OK(context, wt_context_set_threads(context, old));
    wt_release(phi);
    wt_release(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_are_judged),
        cmocka_unit_test(input_is_judged),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(the_budget_is_kept),
        cmocka_unit_test(cancelling_stops_the_fit),
        cmocka_unit_test(progress_is_shown),
        cmocka_unit_test(the_gram_matrix_may_come_through_products),
        cmocka_unit_test(threads_do_not_change_a_bit),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
