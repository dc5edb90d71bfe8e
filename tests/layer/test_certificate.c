/* The body around recovered heads: it holds the true ones, and refuses to certify what it cannot.
 */
#include "check.h"
#include "layer/layers.h"
#include "layer/learn/recovery.h"
#include "linalg/linalg.h"
#include "wattle/sculpt.h"

/* Many outputs: with few, some rows where heads disagree are near a mixture by chance. */
enum { D = 5, P = 12, N = 8000, K = 2 };

static void draw(wt_context *context, size_t heads, uint64_t seed, wt_layer **teacher,
                 wt_sequences **data) {
    CHECK_OK(context, make_teacher(context, heads, D, P, 2, 0, seed, teacher));
    CHECK_OK(context, wt_sequences_new(context, N, K, D, P, data));
    CHECK_OK(context, wt_layer_draw(context, *teacher, WT_LAW_GAUSSIAN, 1, 0, seed + 1, 0, *data));
}

static bool contains(wt_context *context, const wt_sequences *data, const wt_layer *layer,
                     const double *theta) {
    wt_certificate_options options;
    WT_INIT(wt_certificate_options, &options);
    bool inside = false;
    CHECK_OK(context, wt_certificate_contains(context, data, layer, &options, theta, &inside));
    return inside;
}

/* The certificate of the true heads holds them, and no point further from them than its largest
 * half-width allows: a step of twice the whole width along a direction leaves the body. */
static void test_true_heads(void **state) {
    wt_context *context = *state;
    wt_layer *teacher;
    wt_sequences *data;
    wt_certificate_options options;
    WT_INIT(wt_certificate_options, &options);
    wt_certificate_result basis = WT_SIZED(wt_certificate_result),
                          random = WT_SIZED(wt_certificate_result);
    draw(context, 2, 3, &teacher, &data);
    options.directions = 0;
    options.teacher = teacher;
    CHECK_OK(context, wt_certificate_compute(context, data, teacher, &options, &basis));
    assert_int_equal(basis.teacher_heads, 2);
    assert_int_equal(basis.teacher_inside, 2);
    assert_int_equal(basis.directions, D * D - 2);
    assert_int_equal(basis.rows, N * K / 50);
    assert_int_equal(basis.slabs, basis.rows);
    CHECK_NEAR(basis.theta_size, 2, 1e-12);
    assert_true(basis.eta > 0 && basis.eta < 1);
    assert_true(basis.median > 0 && basis.median <= basis.largest && basis.largest < 0.5);
    CHECK_NEAR(basis.frobenius_factor, sqrt(D * D - 2), 1e-15);
    options.directions = 20;
    CHECK_OK(context, wt_certificate_compute(context, data, teacher, &options, &random));
    CHECK_NEAR(random.eta, basis.eta, 0);
    /* A unit mix of n directions reaches at most sqrt(n) times as far as they do. */
    assert_true(random.largest <= basis.largest * basis.frobenius_factor);
    for (size_t head = 0; head < 2; head++)
        assert_true(contains(context, data, teacher, teacher->theta + head * D * D));
    double away[D * D];
    memcpy(away, teacher->theta, sizeof away);
    away[7] += 4 * basis.largest * basis.frobenius_factor * basis.theta_size;
    assert_false(contains(context, data, teacher, away));
    wt_layer_free(teacher);
    wt_sequences_free(data);
}

/* Heads that sculpt found, without refining, are certified too, and their body holds the true
 * heads. */
static void test_sculpted_heads(void **state) {
    wt_context *context = *state;
    wt_layer *teacher, *found;
    wt_sequences *data;
    wt_sculpt_options options;
    WT_INIT(wt_sculpt_options, &options);
    wt_sculpt_report report = WT_SIZED(wt_sculpt_report);
    draw(context, 2, 3, &teacher, &data);
    CHECK_OK(context, wt_sculpt(context, data, &options, &found, &report));
    for (size_t head = 0; head < 2; head++)
        assert_true(contains(context, data, found, teacher->theta + head * D * D));
    wt_layer_free(found);
    wt_layer_free(teacher);
    wt_sequences_free(data);
}

/* One head: rows fit to rounding, and the body shrinks to the narrowest slabs there are. */
static void test_one_head(void **state) {
    wt_context *context = *state;
    wt_layer *teacher;
    wt_sequences *data;
    wt_certificate_options options;
    WT_INIT(wt_certificate_options, &options);
    wt_certificate_result result = WT_SIZED(wt_certificate_result);
    draw(context, 1, 4, &teacher, &data);
    CHECK_OK(context, wt_certificate_compute(context, data, teacher, &options, &result));
    CHECK_NEAR(result.eta, 1e-9, 0);
    assert_true(result.largest < 1e-8);
    wt_layer_free(teacher);
    wt_sequences_free(data);
}

static void test_refuses(void **state) {
    wt_context *context = *state;
    wt_layer *teacher;
    wt_sequences *data;
    wt_certificate_options options;
    WT_INIT(wt_certificate_options, &options);
    wt_certificate_result result = WT_SIZED(wt_certificate_result);
    draw(context, 2, 3, &teacher, &data);
    options.part = 0;
    CHECK_FAILS(context, wt_certificate_compute(context, data, teacher, &options, &result),
                WT_USAGE, "part of rows");
    WT_INIT(wt_certificate_options, &options);
    wt_sequences few = wt_sequences_part(data, 0, 100);
    CHECK_FAILS(context, wt_certificate_compute(context, &few, teacher, &options, &result),
                WT_MISSED, "without end");
    /* Every row is far from what wrong heads say. */
    teacher->theta[3] += 5;
    CHECK_FAILS(context, wt_certificate_compute(context, data, teacher, &options, &result),
                WT_MISSED, "certifies nothing");
    assert_true(result.eta > 1);
    assert_true(isnan(result.median));
    wt_context_cancel(context);
    assert_int_equal(wt_certificate_compute(context, data, teacher, &options, &result),
                     WT_INTERRUPTED);
    wt_layer_free(teacher);
    wt_sequences_free(data);
}

static void test_text(void **state) {
    (void)state;
    wt_certificate_result result = {.size = sizeof result,
                                    .rows = 1200,
                                    .slabs = 1200,
                                    .eta = 0.25,
                                    .directions = 64,
                                    .theta_size = 2,
                                    .median = 0.07,
                                    .largest = INFINITY,
                                    .frobenius_factor = 15.9};
    char text[1000];
    size_t length = wt_certificate_text(&result, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_non_null(strstr(text, "eta 0.25 over 1200 slabs"));
    assert_non_null(strstr(text, "median 7%"));
    assert_non_null(strstr(text, "per direction"));
    length = wt_certificate_json(&result, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_non_null(strstr(text, "{\"rows\": 1200"));
    assert_non_null(strstr(text, "\"largest_half_width\": null"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_true_heads), cmocka_unit_test(test_sculpted_heads),
        cmocka_unit_test(test_one_head),   cmocka_unit_test(test_text),
        cmocka_unit_test(test_refuses),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
