/* Counted work against counts made by hand from the shapes. */
#include "base/work.h"

#include "check.h"
#include "layer/layers.h"
#include "layer/learn/jacobian.h"
#include "layer/learn/normal_matrix.h"
#include "layer/learn/recovery.h"
#include "linalg/linalg.h"
#include "wattle/query.h"
#include "wattle/random.h"
#include "wattle/sculpt.h"

/* 2 heads, d = 3, 6 sequences of k = 4 tokens, p = 2: 24 rows, 96 pairs of tokens, m d = 6. */
enum { HEADS = 2, DIM = 3, LENGTH = 4, SAMPLES = 6, OUTPUTS = 2 };
enum { ROWS = SAMPLES * LENGTH, PAIRS = ROWS * LENGTH, WIDE = HEADS * DIM };
/* X Theta, its product with the keys, and the weights times the tokens, of every head. */
enum { PASS = HEADS * (2 * ROWS * DIM * DIM + 2 * 2 * PAIRS * DIM) };
/* Rows moved by their covariance: two products, and 4 for every weight. */
enum { MOVE = HEADS * PAIRS * (2 * 2 * DIM + 4) };
/* J^T E: E W^T, moved, X^T times it. */
enum { TURNED = 2 * ROWS * WIDE * OUTPUTS + MOVE + 2 * DIM * WIDE * ROWS };

static double last_done;
static double since(const wt_context *context) {
    double before = last_done;
    last_done = wt_work_done(context);
    return last_done - before;
}

static void fill(size_t count, uint64_t index, double *x) {
    wt_random_normal(wt_stream_for(7, "work", index), 0, count, x);
}

static void linalg_counts_its_shapes(void **state) {
    wt_context *context = *state;
    double a[64], b[64], c[64], s[8];
    float x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, y[9];
    size_t failed, rank;
    fill(64, 0, a);
    fill(64, 1, b);
    since(context);
    CHECK_OK(context, wt_gemm(context, WT_PLAIN, WT_PLAIN, 3, 5, 7, 1, a, 7, b, 5, 0, c, 5));
    assert_true(since(context) == 2 * 3 * 5 * 7);
    CHECK_OK(context,
             wt_gemm_float(context, WT_PLAIN, WT_TRANSPOSED, 3, 3, 4, 1, x, 4, x, 4, 0, y, 3));
    assert_true(since(context) == 2 * 3 * 3 * 4);
    CHECK_OK(context, wt_gram(context, WT_TRANSPOSED, 10, 6, a, 6, 0, c, 6));
    assert_true(since(context) == 6 * 7 * 10);
    CHECK_OK(context, wt_cholesky(context, 6, c, 6, &failed));
    assert_int_equal(failed, 0);
    assert_true(since(context) == 6 * 6 * 6 / 3.0);
    CHECK_OK(context, wt_solve_lower(context, WT_PLAIN, 6, 2, c, 6, b, 2));
    assert_true(since(context) == 6 * 6 * 2);
    CHECK_OK(context, wt_gram(context, WT_TRANSPOSED, 10, 6, a, 6, 0, c, 6));
    since(context);
    CHECK_OK(context, wt_eigen_symmetric(context, 6, c, 6, true, s));
    assert_true(since(context) == 9 * 6 * 6 * 6);
    CHECK_OK(context, wt_svd(context, 10, 6, a, 6, NULL, s, NULL));
    assert_true(since(context) == 2 * 6 * 6 * (10 + 6));
    CHECK_OK(context, wt_least_squares(context, 10, 6, 1, a, 6, b, 1, -1, c, 1, &rank));
    assert_true(since(context) == 6 * 6 * (2 * 10 + 11 * 6) + 2 * 2 * 10 * 6);
}

static void make(wt_context *context, wt_layer **layer, wt_sequences **data) {
    CHECK_OK(context, make_teacher(context, HEADS, DIM, OUTPUTS, 2, 0, 3, layer));
    CHECK_OK(context, wt_sequences_new(context, SAMPLES, LENGTH, DIM, OUTPUTS, data));
    CHECK_OK(context, wt_layer_draw(context, *layer, WT_LAW_GAUSSIAN, 1, 0, 3, 0, *data));
}

static void a_pass_and_a_step_by_hand(void **state) {
    wt_context *context = *state;
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    double y[ROWS * OUTPUTS], direction[DIM * WIDE], gradient[DIM * WIDE];
    double normal[DIM * WIDE * DIM * WIDE];
    wt_layer *layer;
    wt_sequences *data;
    wt_rows rows;
    wt_projection at;
    wt_jacobian jacobian;
    make(context, &layer, &data);
    since(context);
    CHECK_OK(context, wt_layer_forward(context, layer, SAMPLES, LENGTH, data->x, y));
    assert_true(since(context) == PASS + 2 * ROWS * OUTPUTS * WIDE);
    CHECK_OK(context, wt_rows_make(context, data, &options, 0, SAMPLES, &rows));
    CHECK_OK(context, wt_projection_new(context, &rows, HEADS, &at));
    CHECK_OK(context, wt_jacobian_new(context, &at, &jacobian));
    fill(DIM * WIDE, 2, at.theta);
    fill(DIM * WIDE, 3, direction);
    since(context);
    CHECK_OK(context, wt_projection_evaluate(context, &at));
    /* Cholesky QR twice; W and what it leaves, twice */
    int pass = WIDE * (WIDE + 1) * ROWS + WIDE * WIDE * WIDE / 3 + WIDE * WIDE * ROWS;
    int correct = 2 * 2 * ROWS * WIDE * OUTPUTS + 2 * WIDE * WIDE * OUTPUTS;
    assert_true(since(context) == PASS + 2 * pass + 2 * correct);
    CHECK_OK(context, wt_jacobian_transposed(context, &jacobian, at.e, gradient));
    assert_true(since(context) == TURNED);
    CHECK_OK(context, wt_jacobian_apply(context, &jacobian, direction));
    assert_true(since(context) == 2 * ROWS * WIDE * DIM + MOVE + 3 * (2 * ROWS * OUTPUTS * WIDE));
    CHECK_OK(context, wt_normal_form(context, &at, normal));
    int values = HEADS * 2 * ROWS * OUTPUTS * DIM;
    int b = 2 * HEADS * PAIRS * OUTPUTS * (DIM + 2);
    int halves_x = DIM * (DIM + 1) / 2, halves_b = WIDE * (WIDE + 1) / 2, side = DIM * WIDE;
    int expand = 2 * ROWS * halves_b * OUTPUTS + ROWS * (side + halves_x);
    int products = 2 * ROWS * halves_x * halves_b + 2 * ROWS * side * WIDE * OUTPUTS;
    assert_true(since(context) ==
                values + b + expand + products + side * (side + 1) * WIDE * OUTPUTS);
    wt_jacobian_free(&jacobian);
    wt_projection_free(&at);
    wt_rows_free(&rows);
    wt_sequences_free(data);
    wt_layer_free(layer);
}

/* One step of each of four trial rates and one of the start, each between two gradients. */
static void a_step_of_adam_by_hand(void **state) {
    wt_context *context = *state;
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_layer *layer, *found;
    wt_sequences *data;
    make(context, &layer, &data);
    options.heads = HEADS;
    options.restarts = options.max_steps = 1;
    options.holdout = 0;
    CHECK_OK(context, wt_adam(context, data, &options, &found, &report));
    assert_int_equal(report.steps, 5);
    int gradient = PASS + 2 * (2 * ROWS * WIDE * OUTPUTS) + TURNED;
    assert_true(report.flops == 5 * (2 * gradient + 14 * WIDE * (DIM + OUTPUTS)));
    wt_layer_free(found);
    wt_sequences_free(data);
    wt_layer_free(layer);
}

typedef struct {
    wt_context *context;
    const wt_layer *layer;
    size_t repeats; /* how often the oracle works out an answer */
} oracle;

static wt_status ask(void *user, size_t k, const double *x, double *y) {
    const oracle *one = user;
    double all[64 * OUTPUTS];
    assert_true(k <= 64);
    for (size_t i = 0; i < one->repeats; i++)
        CHECK_OK(one->context, wt_layer_forward(one->context, one->layer, 1, k, x, all));
    memcpy(y, all + (k - 1) * OUTPUTS, OUTPUTS * sizeof *y);
    return WT_OK;
}

/* The same with any number of threads, and again; the oracle's own work is not in it. */
static void only_what_is_done_counts(void **state) {
    wt_context *context = *state;
    double flops[3][4];
    for (int turn = 0; turn < 3; turn++) {
        wt_recover_options options;
        WT_INIT(wt_recover_options, &options);
        wt_query_options questions;
        WT_INIT(wt_query_options, &questions);
        wt_sculpt_options stages;
        WT_INIT(wt_sculpt_options, &stages);
        wt_recover_report report = WT_SIZED(wt_recover_report);
        wt_query_report asked = WT_SIZED(wt_query_report);
        wt_sculpt_report sculpted = WT_SIZED(wt_sculpt_report);
        wt_layer *layer, *found;
        wt_sequences *data;
        CHECK_OK(context, wt_context_set_threads(context, turn == 1 ? 3 : 1));
        CHECK_OK(context, make_teacher(context, HEADS, DIM, OUTPUTS, 2, 0, 3, &layer));
        CHECK_OK(context, wt_sequences_new(context, 400, 2, DIM, OUTPUTS, &data));
        CHECK_OK(context, wt_layer_draw(context, layer, WT_LAW_GAUSSIAN, 1, 0, 3, 0, data));
        options.heads = questions.heads = HEADS;
        CHECK_OK(context, wt_refine(context, data, &options, &found, &report));
        assert_true(report.exact);
        wt_layer_free(found);
        flops[turn][0] = report.flops;
        options.matrix_free = true;
        CHECK_OK(context, wt_refine(context, data, &options, &found, &report));
        assert_true(report.products > 0);
        wt_layer_free(found);
        flops[turn][1] = report.flops;
        oracle one = {context, layer, 1 + (size_t)turn};
        CHECK_OK(context,
                 wt_layer_query(context, ask, &one, DIM, OUTPUTS, &questions, &found, &asked));
        wt_layer_free(found);
        flops[turn][2] = asked.flops;
        /* W that sum to 0: it stops at the first stage, and says what that cost */
        wt_layer_zero_sum(layer);
        CHECK_OK(context, wt_layer_draw(context, layer, WT_LAW_GAUSSIAN, 1, 0, 3, 0, data));
        CHECK_FAILS(context, wt_sculpt(context, data, &stages, &found, &sculpted), WT_MISSED,
                    "seems near 0");
        flops[turn][3] = sculpted.flops;
        wt_sequences_free(data);
        wt_layer_free(layer);
    }
    for (size_t i = 0; i < 4; i++)
        assert_true(flops[0][i] > 0 && flops[1][i] == flops[0][i] && flops[2][i] == flops[0][i]);
    /* the regression of sums on sums: Gram, right-hand side, solve, what is left */
    assert_true(flops[0][3] == DIM * (DIM + 1) * 400 + 2 * (2 * DIM * OUTPUTS * 400) +
                                   DIM * DIM * (2 + 11) * DIM + 2 * 2 * DIM * DIM * OUTPUTS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linalg_counts_its_shapes),
        cmocka_unit_test(a_pass_and_a_step_by_hand),
        cmocka_unit_test(a_step_of_adam_by_hand),
        cmocka_unit_test(only_what_is_done_counts),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
