/* Sculpting layers whose heads are known, and saying so where it cannot work. */
#include "check.h"
#include "layer/layers.h"
#include "layer/learn/recovery.h"
#include "wattle/random.h"
#include "wattle/sculpt.h"

/* Fewer dimensions leave too few different Boolean sequences for the slabs of two heads. */
enum { D = 8, N = 5000 };

/* A teacher with |Theta|_F = 2 and Boolean sequences of k tokens; `cancel`: sum W_i = 0. */
static void draw(wt_context *context, size_t heads, size_t k, size_t outputs, uint64_t seed,
                 bool cancel, wt_layer **teacher, wt_sequences **data) {
    CHECK_OK(context, make_teacher(context, heads, D, outputs, 2, 0, seed, teacher));
    for (size_t i = 0; cancel && i < D * outputs; i++)
        (*teacher)->w[D * outputs + i] = -(*teacher)->w[i];
    CHECK_OK(context, wt_sequences_new(context, N, k, D, outputs, data));
    CHECK_OK(context, wt_layer_draw(context, *teacher, WT_LAW_BOOLEAN, 1, 0, seed + 1, 0, *data));
}

/* The least over orders of two heads of the largest relative error of a Theta. */
static double theta_error(const wt_layer *a, const wt_layer *b) {
    double worst[2] = {0, 0};
    for (size_t order = 0; order < 2; order++)
        for (size_t head = 0; head < 2; head++) {
            double off = 0, whole = 0;
            for (size_t i = 0; i < D * D; i++) {
                double truth = a->theta[head * D * D + i];
                off += pow(b->theta[(head ^ order) * D * D + i] - truth, 2);
                whole += truth * truth;
            }
            worst[order] = fmax(worst[order], sqrt(off / whole));
        }
    return fmin(worst[0], worst[1]);
}

/* Two heads on two tokens: all stages are good, with and without being told how many heads. The
 * limits leave room over what other seeds of this size gave: W_S off by 0.2%, the hull by 2%, an
 * error of the start of 1%. */
static void test_two_heads(void **state) {
    wt_context *context = *state;
    for (uint64_t seed = 0; seed < 3; seed++) {
        wt_layer *teacher, *start;
        wt_sequences *data;
        wt_sculpt_report report = WT_SIZED(wt_sculpt_report);
        wt_sculpt_options options;
        WT_INIT(wt_sculpt_options, &options);
        draw(context, 2, 2, D, seed, false, &teacher, &data);
        options.heads = seed == 0 ? 2 : 0;
        options.teacher = teacher;
        CHECK_OK(context, wt_sculpt(context, data, &options, &start, &report));
        assert_int_equal(report.stage, WT_SCULPT_STAGE_NET);
        assert_int_equal(report.heads, 2);
        assert_int_equal(start->heads, 2);
        assert_int_equal(report.rows, 2 * N);
        assert_true(report.crude_error > report.sum_error);
        assert_true(report.sum_error < 0.01);
        assert_true(report.hull_error < 0.05);
        assert_true(report.start_error < 0.05);
        assert_true(theta_error(teacher, start) < 0.1);
        wt_layer_free(start);
        wt_layer_free(teacher);
        wt_sequences_free(data);
    }
}

/* One head needs no gap: every row shows its pattern, and all is exact to rounding. */
static void test_one_head(void **state) {
    wt_context *context = *state;
    wt_layer *teacher, *start;
    wt_sequences *data;
    wt_sculpt_report report = WT_SIZED(wt_sculpt_report);
    wt_sculpt_options options;
    WT_INIT(wt_sculpt_options, &options);
    draw(context, 1, 3, D, 5, false, &teacher, &data);
    options.teacher = teacher;
    CHECK_OK(context, wt_sculpt(context, data, &options, &start, &report));
    assert_int_equal(report.heads, 1);
    /* The median residual is 3e-16, the logits of its patterns little worse. Errors of the net are
     * roots of differences of squares: 1e-8 of |y| at best. */
    assert_true(report.hull_error < 1e-9);
    assert_true(report.start_error < 1e-6);
    wt_layer_free(start);
    options.heads = 2;
    CHECK_FAILS(context, wt_sculpt(context, data, &options, &start, &report), WT_MISSED,
                "show 1 heads, not 2");
    wt_layer_free(teacher);
    wt_sequences_free(data);
}

static void test_says_when_it_cannot(void **state) {
    wt_context *context = *state;
    wt_layer *teacher, *start;
    wt_sequences *data;
    wt_sculpt_report report = WT_SIZED(wt_sculpt_report);
    wt_sculpt_options options;
    WT_INIT(wt_sculpt_options, &options);
    /* sum W_i = 0 */
    draw(context, 2, 2, D, 1, true, &teacher, &data);
    CHECK_FAILS(context, wt_sculpt(context, data, &options, &start, &report), WT_MISSED, "near 0");
    assert_int_equal(report.stage, WT_SCULPT_STAGE_CRUDE);
    assert_null(start);
    assert_true(isnan(report.start_error));
    /* Too few examples for the unknowns. */
    wt_sequences few = wt_sequences_part(data, 0, 20);
    wt_layer_free(teacher);
    CHECK_OK(context, make_teacher(context, 2, D, D, 2, 0, 1, &teacher));
    CHECK_OK(context, wt_layer_forward(context, teacher, 20, 2, data->x, data->y));
    CHECK_FAILS(context, wt_sculpt(context, &few, &options, &start, &report), WT_MISSED, "needs");
    wt_layer_free(teacher);
    wt_sequences_free(data);
    /* (m - 1)(k - 1) = 4 */
    draw(context, 3, 3, D, 1, false, &teacher, &data);
    options.heads = 3;
    CHECK_FAILS(context, wt_sculpt(context, data, &options, &start, &report), WT_MISSED,
                "no eigen-gap");
    assert_int_equal(report.stage, WT_SCULPT_STAGE_PATTERNS);
    assert_int_equal(report.heads, 0);
    wt_layer_free(teacher);
    wt_sequences_free(data);
    /* One output: every row is a mixture. */
    draw(context, 2, 2, 1, 1, false, &teacher, &data);
    options.heads = 2;
    CHECK_FAILS(context, wt_sculpt(context, data, &options, &start, &report), WT_MISSED,
                "with 1 outputs");
    wt_layer_free(teacher);
    wt_sequences_free(data);
}

static void test_bad_input(void **state) {
    wt_context *context = *state;
    wt_layer *teacher, *start;
    wt_sequences *data;
    wt_sculpt_report report = WT_SIZED(wt_sculpt_report);
    wt_sculpt_options options;
    WT_INIT(wt_sculpt_options, &options);
    draw(context, 2, 2, D, 1, false, &teacher, &data);
    options.slabs = 1;
    CHECK_FAILS(context, wt_sculpt(context, data, &options, &start, &report), WT_USAGE, "slabs");
    WT_INIT(wt_sculpt_options, &options);
    options.heads = WT_SCULPT_MAX_HEADS + 1;
    CHECK_FAILS(context, wt_sculpt(context, data, &options, &start, &report), WT_MISSED,
                "up to 4 heads");
    options.heads = 0;
    data->y[17] = NAN;
    CHECK_FAILS(context, wt_sculpt(context, data, &options, &start, &report), WT_DATA, "nan");
    wt_layer_free(teacher);
    wt_sequences_free(data);
}

/* The same bits for every number of threads. */
static void test_threads(void **state) {
    wt_context *context = *state;
    wt_layer *teacher, *start[2];
    wt_sequences *data;
    wt_sculpt_report report = WT_SIZED(wt_sculpt_report);
    wt_sculpt_options options;
    WT_INIT(wt_sculpt_options, &options);
    int before = wt_context_threads(context);
    draw(context, 2, 2, D, 2, false, &teacher, &data);
    for (int i = 0; i < 2; i++) {
        CHECK_OK(context, wt_context_set_threads(context, 1 + 2 * i));
        CHECK_OK(context, wt_sculpt(context, data, &options, &start[i], &report));
    }
    CHECK_OK(context, wt_context_set_threads(context, before));
    assert_memory_equal(start[0]->theta, start[1]->theta, 2 * D * D * sizeof(double));
    assert_memory_equal(start[0]->w, start[1]->w, 2 * D * D * sizeof(double));
    for (int i = 0; i < 2; i++)
        wt_layer_free(start[i]);
    wt_layer_free(teacher);
    wt_sequences_free(data);
}

/* Reports in words: what is there is said, what is not is not, and the length is told. */
static void test_text(void **state) {
    (void)state;
    wt_sculpt_report report = {.size = sizeof report,
                               .stage = WT_SCULPT_STAGE_SPAN,
                               .crude_explained = 0.8,
                               .crude_error = NAN,
                               .rounds = 6,
                               .slabs = 768,
                               .value_count = 2,
                               .values = {0.25, 0.5},
                               .heads = 2,
                               .gap = 554,
                               .hull_error = 0.01,
                               .start_error = NAN};
    char text[2000], cut[10];
    size_t length = wt_sculpt_text(&report, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_non_null(strstr(text, "heads        2 by an eigen-gap of 554\n"));
    assert_non_null(strstr(text, "true heads within 1% of it"));
    assert_null(strstr(text, "net "));
    assert_null(strstr(text, "nan"));
    assert_int_equal(wt_sculpt_text(&report, cut, sizeof cut), length);
    assert_int_equal(strlen(cut), sizeof cut - 1);
    wt_sculpt_json(&report, text, sizeof text);
    assert_non_null(strstr(text, "{\"stage\": \"span\", \"crude_explained\": 0.8"));
    assert_non_null(strstr(text, "\"start_error\": null"));
    assert_non_null(strstr(text, "\"eigenvalues\": [0.25, 0.5]}"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_heads),
        cmocka_unit_test(test_one_head),
        cmocka_unit_test(test_says_when_it_cannot),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
