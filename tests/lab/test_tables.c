/* Curves and searches from C: the same numbers as their cells, and what an interrupted run keeps.
 */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "lab/curve_cell.h"
#include "wattle/curve.h"
#include "wattle/search_trials.h"

static const size_t sizes[] = {5, 9};

static wt_curve_options small(void) {
    wt_curve_options options;
    WT_INIT(wt_curve_options, &options);
    options.kind = "rfa,rfmlp-inf";
    options.target = "mean-power:2,corr-power:3";
    options.dim = "3";
    options.keys = "2";
    options.heads = "4,6";
    options.n = "5:9:4";
    options.reps = 3;
    options.test_samples = 20;
    options.seed = 7;
    return options;
}

static void curves_are_their_cells(void **state) {
    static const char *const targets[] = {"mean-power:2", "corr-power:3"};
    wt_curve_options options = small();
    wt_curves *curves;
    wt_ridge_options ridge = {.size = sizeof ridge, .rule = WT_LAMBDA_FIXED, .lambda = 1e-3};
    wt_curve_point points[4];
    CHECK_OK(*state, wt_curves_run(*state, &options, &curves));
    assert_int_equal(wt_curves_count(curves), 6); /* 2 heads and 1, by 2 targets */
    assert_int_equal(wt_curves_reps(curves), 3);
    assert_int_equal(wt_curves_size_count(curves), 2);
    wt_curve_setting setting = {
        .model = {.size = sizeof setting.model, .kind = WT_MODEL_KIND_RFA, .heads = 6, .bias = 4},
        .problem = {.size = sizeof setting.problem, .dim = 3, .keys = 2},
        .target = targets,
        .targets = 2,
        .test_samples = 20,
        .sizes = sizes,
        .size_count = 2,
        .ridge = &ridge,
        .seed = 7,
        .rep = 1};
    CHECK_OK(*state, wt_curve_cell(*state, &setting, points));
    for (size_t t = 0; t < 2; t++)
        for (size_t s = 0; s < 2; s++) {
            const wt_curve_point *point = wt_curves_point_at(curves, 2 + t, 1, s);
            assert_int_equal(point->n, sizes[s]);
            assert_true(point->test_error == points[t * 2 + s].test_error);
        }
    const wt_curve_line *line = wt_curves_line_at(curves, 3);
    assert_string_equal(line->model, "rfa");
    assert_string_equal(line->target, "corr-power:3");
    assert_int_equal(line->heads, 6);
    assert_true(isfinite(line->rate.value) && isnan(line->bias));
    assert_true(isnan(wt_curves_summary_at(curves, 0, 0)->over_first.value));
    assert_true(wt_curves_summary_at(curves, 4, 1)->over_first.value > 0);
    assert_null(wt_curves_line_at(curves, 6));
    assert_null(wt_curves_summary_at(curves, 0, 2));
    assert_null(wt_curves_point_at(curves, 0, 3, 0));
    wt_curves_free(curves);
    wt_curves_free(NULL);
}

/* Counts lines of a file that it removes. */
static size_t lines_of(const char *path) {
    FILE *file = fopen(path, "r");
    size_t count = 0;
    for (int c; file != NULL && (c = fgetc(file)) != EOF;)
        count += c == '\n';
    assert_non_null(file);
    fclose(file);
    unlink(path);
    return count;
}

static void cancel(void *user, const wt_progress *progress) {
    if (progress->done == 1) /* the first call is never left out */
        wt_context_cancel(user);
}

static void temporary(char path[64]) {
    snprintf(path, 64, "/tmp/wattle-tables-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0 && close(file) == 0);
}

/* Removes what lies beside an interrupted table. */
static int remove_part(const char *path) {
    char part[80];
    snprintf(part, sizeof part, "%s.part", path);
    return unlink(part);
}

static void interrupted_tables_keep_what_is_finished(void **state) {
    wt_context *context = *state;
    wt_curve_options options = small();
    wt_search_options search;
    wt_search_trials *table;
    wt_curves *curves;
    char path[64];
    temporary(path);
    WT_INIT(wt_search_options, &search);
    search.task = "and:2";
    options.output = search.output = path;
    CHECK_OK(context, wt_context_set_threads(context, 1));
    wt_context_set_progress(context, cancel, context);
    CHECK_FAILS(context, wt_curves_run(context, &options, &curves), WT_INTERRUPTED,
                "the 1 cells that were finished are in");
    assert_null(curves);
    assert_int_equal(lines_of(path), 1 + 2 * 2); /* both targets at both n */
    assert_int_equal(remove_part(path), 0);
    wt_context_resume(context);
    context->progress_shown = 0;
    CHECK_FAILS(context, wt_search_trials_run(context, &search, &table), WT_INTERRUPTED,
                "the 1 trials that were finished are in");
    assert_null(table);
    assert_int_equal(lines_of(path), 1 + 11); /* every m of the first trial */
    wt_context_resume(context);
    wt_context_set_progress(context, NULL, NULL);
    assert_int_equal(remove_part(path), 0);
}

/* The second call computes what is missing, and gives what one call would have given. */
static void interrupted_curves_go_on(void **state) {
    wt_context *context = *state;
    wt_curve_options options = small();
    wt_curves *whole, *curves;
    char path[64];
    CHECK_OK(context, wt_curves_run(context, &options, &whole));
    temporary(path);
    options.output = path;
    wt_context_set_progress(context, cancel, context);
    context->progress_shown = 0;
    options.seed++; /* of another setting: it is replaced */
    CHECK_FAILS(context, wt_curves_run(context, &options, &curves), WT_INTERRUPTED, "goes on");
    options.seed--;
    wt_context_resume(context);
    context->progress_shown = 0;
    CHECK_FAILS(context, wt_curves_run(context, &options, &curves), WT_INTERRUPTED,
                "the 1 cells that were finished");
    wt_context_resume(context);
    wt_context_set_progress(context, NULL, NULL);
    CHECK_OK(context, wt_curves_run(context, &options, &curves));
    for (size_t i = 0; i < wt_curves_count(whole); i++)
        for (size_t p = 0; p < wt_curves_reps(whole) * wt_curves_size_count(whole); p++) {
            size_t rep = p / wt_curves_size_count(whole), size = p % wt_curves_size_count(whole);
            assert_true(wt_curves_point_at(whole, i, rep, size)->test_error ==
                        wt_curves_point_at(curves, i, rep, size)->test_error);
        }
    assert_int_not_equal(remove_part(path), 0); /* it is gone */
    unlink(path);
    wt_curves_free(whole);
    wt_curves_free(curves);
}

/* Number `place` of the units of a part. */
static void spoil(const char *path, long place, double value) {
    char part[80];
    uint64_t header;
    snprintf(part, sizeof part, "%s.part", path);
    FILE *file = fopen(part, "r+b");
    assert_non_null(file);
    assert_int_equal(fread(&header, sizeof header, 1, file), 1);
    assert_int_equal(fseek(file, 8 + (long)header + 8 * place, SEEK_SET), 0);
    assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

/* The number of a unit, and the n of its first point. */
static void units_of_no_run_are_refused(void **state) {
    static const struct {
        long place;
        double right, wrong;
    } numbers[] = {{0, 0, 9}, {0, 0, -1}, {0, 0, NAN}, {1, 5, 2.5}, {1, 5, INFINITY}};
    wt_context *context = *state;
    wt_curve_options options = small();
    wt_curves *curves;
    char path[64];
    temporary(path);
    options.output = path;
    wt_context_set_progress(context, cancel, context);
    context->progress_shown = 0;
    CHECK_FAILS(context, wt_curves_run(context, &options, &curves), WT_INTERRUPTED, "goes on");
    wt_context_resume(context);
    wt_context_set_progress(context, NULL, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        spoil(path, numbers[i].place, numbers[i].wrong);
        CHECK_FAILS(context, wt_curves_run(context, &options, &curves), WT_DATA,
                    "units that this run has not");
        spoil(path, numbers[i].place, numbers[i].right);
    }
    CHECK_OK(context, wt_curves_run(context, &options, &curves));
    wt_curves_free(curves);
    unlink(path);
}

static void searches_find_enough_samples(void **state) {
    wt_search_options options;
    wt_search_trials *table;
    WT_INIT(wt_search_options, &options);
    options.task = "and:2";
    options.length = "8,16";
    options.samples = "1,60";
    options.trials = 6;
    CHECK_OK(*state, wt_search_trials_run(*state, &options, &table));
    for (size_t l = 0; l < 2; l++) {
        const wt_search_row *row = wt_search_trials_row_at(table, l, 1);
        size_t successes = 0;
        for (size_t t = 0; t < 6; t++)
            successes += wt_search_trials_point_at(table, l, t, 1)->success;
        assert_int_equal(row->length, 8 + 8 * l);
        assert_int_equal(row->successes, successes);
        assert_int_equal(wt_search_trials_enough(table, l), 60);
        assert_int_equal(wt_search_trials_row_at(table, l, 0)->successes, 0);
    }
    assert_null(wt_search_trials_row_at(table, 2, 0));
    assert_null(wt_search_trials_point_at(table, 0, 6, 0));
    assert_int_equal(wt_search_trials_enough(table, 2), 0);
    wt_search_trials_free(table);
    wt_search_trials_free(NULL);
}

static void bad_options_are_refused(void **state) {
    wt_curve_options options = small();
    wt_search_options search;
    wt_curves *curves;
    wt_search_trials *table;
    options.size = 0;
    CHECK_FAILS(*state, wt_curves_run(*state, &options, &curves), WT_USAGE, "size");
    options = small();
    options.n = "";
    CHECK_FAILS(*state, wt_curves_run(*state, &options, &curves), WT_USAGE, "n: ");
    options = small();
    options.heads = "4,0";
    CHECK_FAILS(*state, wt_curves_run(*state, &options, &curves), WT_USAGE,
                "heads must be a whole number of 1 or more");
    options = small();
    options.law = (wt_law)17;
    CHECK_FAILS(*state, wt_curves_run(*state, &options, &curves), WT_USAGE, "tokens: '?'");
    options = small();
    options.kind = "rfa,perceptron";
    CHECK_FAILS(*state, wt_curves_run(*state, &options, &curves), WT_USAGE, "perceptron");
    options = small();
    options.activation = "tanh";
    CHECK_FAILS(*state, wt_curves_run(*state, &options, &curves), WT_USAGE, "tanh");
    WT_INIT(wt_search_options, &search);
    CHECK_FAILS(*state, wt_search_trials_run(*state, &search, &table), WT_USAGE, "needs a task");
    search.task = "and:2";
    search.method = (wt_search_method)2;
    CHECK_FAILS(*state, wt_search_trials_run(*state, &search, &table), WT_USAGE, "method: '?'");
    search.method = WT_SEARCH_METHOD_SEARCH;
    search.length = "0";
    CHECK_FAILS(*state, wt_search_trials_run(*state, &search, &table), WT_USAGE, "length must be");
    search.length = "8";
    search.rate = 0;
    CHECK_FAILS(*state, wt_search_trials_run(*state, &search, &table), WT_USAGE, "rate");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_are_their_cells),
        cmocka_unit_test(interrupted_tables_keep_what_is_finished),
        cmocka_unit_test(interrupted_curves_go_on),
        cmocka_unit_test(units_of_no_run_are_refused),
        cmocka_unit_test(searches_find_enough_samples),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
