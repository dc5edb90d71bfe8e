/* A limit of time ends a recovery with the best so far. */
#include "late.h"
#include "layer/layers.h"
#include "layer/learn/recovery.h"
#include "wattle/query.h"

enum { SAMPLES = 60, LENGTH = 4, DIM = 4 };

/* Labels that no layer of two heads has: every start ends apart, and all are needed. */
static wt_sequences *draw(wt_context *context) {
    wt_layer *teacher;
    wt_sequences *data;
    CHECK_OK(context, make_teacher(context, 4, DIM, DIM, 3, 0, 1, &teacher));
    CHECK_OK(context, wt_sequences_new(context, SAMPLES, LENGTH, DIM, DIM, &data));
    CHECK_OK(context, wt_layer_draw(context, teacher, WT_LAW_GAUSSIAN, 1, 0, 1, 0, data));
    wt_layer_free(teacher);
    return data;
}

static void run_forms(wt_context *context, const char *method, size_t heads, wt_recover_forms forms,
                      const char *words, wt_recover_report *report) {
    wt_sequences *data = draw(context);
    wt_recover_options options;
    wt_layer *layer;
    late_mark *mark = late_when(context, words);
    WT_INIT(wt_recover_options, &options);
    options.method = method;
    options.heads = heads;
    options.forms = forms;
    *report = (wt_recover_report)WT_SIZED(wt_recover_report);
    CHECK_OK(context, wt_layer_recover(context, data, &options, &layer, report, NULL));
    late_end(mark);
    assert_true(report->out_of_time);
    assert_false(report->recovered);
    assert_string_equal(report->reason, "the time is over");
    assert_non_null(layer);
    assert_int_equal(layer->heads, report->heads);
    wt_layer_free(layer);
    wt_sequences_free(data);
}

static void run(wt_context *context, const char *method, size_t heads, const char *words,
                wt_recover_report *report) {
    run_forms(context, method, heads, WT_RECOVER_FORMS_GIVEN, words, report);
}

/* No other form is tried when the first has used up the time. */
static void forms_end_with_the_best_so_far(void **state) {
    wt_recover_report report;
    run_forms(*state, "refine", 2, WT_RECOVER_FORMS_AUTO, "start 3", &report);
    assert_int_equal(report.forms, 1);
    assert_int_equal(report.starts, 3);
}

static void refine_keeps_the_best_start(void **state) {
    wt_recover_report report;
    run(*state, "refine", 2, "start 3", &report);
    assert_int_equal(report.starts, 3);
    assert_true(report.start < 2); /* the third had no time */
    assert_true(report.train_error < 1);
    /* nor has the first: nothing is known of any Theta, and the zero one is given */
    run(*state, "refine", 2, "start 1", &report);
    assert_int_equal(report.starts, 1);
}

static void the_number_of_heads_is_the_best_so_far(void **state) {
    wt_recover_report report;
    run(*state, "auto", 0, "2 heads, start 1", &report);
    assert_int_equal(report.heads, 1);
    assert_true(report.starts > 1);
}

static void adam_keeps_where_it_is(void **state) {
    wt_recover_report report;
    run(*state, "adam", 2, "descent", &report);
    assert_int_equal(report.starts, 1);
    assert_true(report.train_error < 1.5);
}

static wt_status ask(void *user, size_t k, const double *x, double *y) {
    const wt_layer *layer = user;
    static double all[4096];
    wt_context *context;
    assert_true(k * DIM <= sizeof all / sizeof *all);
    assert_int_equal(wt_context_new(&context), WT_OK);
    CHECK_OK(context, wt_layer_forward(context, layer, 1, k, x, all));
    memcpy(y, all + (k - 1) * DIM, DIM * sizeof *y);
    wt_context_free(context);
    return WT_OK;
}

static void query_keeps_the_best_start(void **state) {
    wt_context *context = *state;
    wt_query_options options;
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_layer *teacher, *layer;
    CHECK_OK(context, make_teacher(context, 4, DIM, DIM, 2, 0, 1, &teacher));
    WT_INIT(wt_query_options, &options);
    options.heads = 2;
    late_mark *mark = late_when(context, "start 3");
    CHECK_OK(context, wt_layer_query(context, ask, teacher, DIM, DIM, &options, &layer, &report));
    late_end(mark);
    assert_true(report.out_of_time);
    assert_false(report.reached);
    assert_int_equal(report.starts, 2);
    assert_true(report.residual < 1);
    assert_int_equal(report.check_queries, 0);
    wt_layer_free(layer);
    /* before the first there is nothing */
    mark = late_when(context, "start 1");
    CHECK_FAILS(context, wt_layer_query(context, ask, teacher, DIM, DIM, &options, &layer, &report),
                WT_INTERRUPTED, "the time is over");
    late_end(mark);
    wt_layer_free(teacher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refine_keeps_the_best_start),
        cmocka_unit_test(forms_end_with_the_best_so_far),
        cmocka_unit_test(the_number_of_heads_is_the_best_so_far),
        cmocka_unit_test(adam_keeps_where_it_is),
        cmocka_unit_test(query_keeps_the_best_start),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
