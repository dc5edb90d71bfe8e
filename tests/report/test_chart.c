/* Charts from cells: which series there are, what they are called, how they look, their laws. */
#include "report/chart.h"

#include "report/cells.h"
#include "report/words.h"

static const wt_chart_spec *spec_of(const char *id) {
    const wt_chart_spec *spec;
    for (size_t i = 0; (spec = wt_chart_spec_at(i)) != NULL; i++)
        if (strcmp(spec->id, id) == 0)
            return spec;
    fail_msg("there is no chart %s", id);
    return NULL;
}

/* The rows of all series; "" for none. */
static const char *write_csv(wt_script *out, const wt_chart *chart) {
    for (size_t i = 0; i < chart->series_count; i++)
        wt_chart_csv(out, chart, i);
    assert_int_equal(out->status, WT_OK);
    return out->text == NULL ? "" : out->text;
}

static void cells_become_series(void **state) {
    add_curves(*state);
    wt_chart chart;
    CHECK_OK(*state, wt_chart_build(*state, &results, NULL, spec_of("curve-samples"), &chart));
    assert_int_equal(chart.series_count, 4);
    assert_int_equal(chart.cells, 24);
    assert_string_equal(chart.series[0].panel, "corr-power:3");
    assert_string_equal(chart.series[0].name, "brfa"); /* its bias goes without saying */
    assert_string_equal(chart.series[3].name, "rfa");
    assert_int_equal(chart.series[1].look, chart.series[3].look);
    assert_int_equal(chart.series[0].count, 3);
    CHECK_NEAR(chart.series[0].x[2], 64, 0);
    /* Two values, 0.1375 and 0.1125: their geometric mean, and 12.706 half differences of the logs;
     * a few roundings, and eight digits of the quantile of t. */
    CHECK_NEAR(chart.series[0].y[2], sqrt(0.1375 * 0.1125), 1e-15);
    double half = log(0.1375 / 0.1125) / 2;
    CHECK_NEAR(chart.series[0].high[2], sqrt(0.1375 * 0.1125) * exp(12.7062047 * half), 1e-8);
    assert_true(chart.series[0].low[2] > 0);
    wt_script csv = {.context = *state};
    const char *text = write_csv(&csv, &chart);
    assert_int_equal(strncmp(text, "target,series,n,test_error,low,high,cells\n", 42), 0);
    assert_int_equal(count_of(text, "\n"), 13);
    assert_non_null(strstr(text, "\nmean-power:2,rfa,16,0.497"));
    wt_script_free(&csv);
    snprintf(chart.series[0].name, sizeof chart.series[0].name, "=1+1");
    assert_non_null(strstr(write_csv(&csv, &chart), ",'=1+1,16,"));
    wt_script_free(&csv);
    wt_chart_free(&chart);
    CHECK_OK(*state, wt_chart_build(*state, &results, NULL, spec_of("recover-samples"), &chart));
    assert_int_equal(chart.series_count, 0);
    wt_chart_free(&chart);
}

static void add_biased(wt_context *context, const char *model, int bias, int dim, int heads) {
    for (int n = 16; n <= 32; n *= 2) {
        char parameters[160];
        snprintf(parameters, sizeof parameters,
                 "{\"bias\":%d,\"dim\":%d,\"heads\":%d,\"model\":\"%s\",\"n\":%d,\"rep\":0,"
                 "\"target\":\"corr:1\"}",
                 bias, dim, heads, model, n);
        add(context, "curve", parameters, "{\"test_error\":1}");
    }
}

static void check_names(wt_context *context, const char *const *names, size_t count) {
    wt_chart chart;
    CHECK_OK(context, wt_chart_build(context, &results, NULL, spec_of("curve-samples"), &chart));
    assert_int_equal(chart.series_count, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(chart.series[i].name, names[i]);
    wt_chart_free(&chart);
}

/* What parts two lines of one name is said, and no more: not the heads, which go with the
 * dimension, nor a name that all share. */
static void lines_of_one_model_are_told_apart(void **state) {
    static const char *const alone[] = {"bias=1 dim=4", "bias=2 dim=4", "bias=2 dim=16"};
    static const char *const both[] = {"brfa bias=1 dim=4", "brfa bias=2 dim=4",
                                       "brfa bias=2 dim=16", "rfa"};
    add_biased(*state, "brfa", 1, 4, 100);
    add_biased(*state, "brfa", 2, 4, 100);
    add_biased(*state, "brfa", 2, 16, 300);
    check_names(*state, alone, 3);
    add_biased(*state, "rfa", 2, 8, 300);
    check_names(*state, both, 4);
}

/* Measured points, the published ones and three laws through ours. */
static void critical_sizes_have_laws(void **state) {
    for (int length = 100; length <= 800; length *= 2)
        for (int m = 16; m <= 128; m *= 2)
            for (int rep = 0; rep < 4; rep++) {
                char parameters[160];
                snprintf(parameters, sizeof parameters,
                         "{\"length\":%d,\"m\":%d,\"model\":\"transformer\",\"rep\":%d,"
                         "\"task\":\"and:3\"}",
                         length, m, rep);
                add(*state, "threshold", parameters,
                    m >= length / 8 ? "{\"success\":1}" : "{\"success\":0}");
            }
    wt_chart chart;
    CHECK_OK(*state, wt_chart_build(*state, &results, NULL, spec_of("threshold-critical"), &chart));
    assert_int_equal(chart.series_count, 5);
    assert_string_equal(chart.series[0].name, "measured");
    const wt_chart_series *ours = &chart.series[0];
    assert_int_equal(ours->count, 4);
    /* At T = 100 the least m succeeds already, and all that is known is a bound. */
    assert_int_equal(ours->open[0], WT_OPEN_VALUE | WT_OPEN_LOW);
    CHECK_NEAR(ours->y[0], 16, 0);
    for (size_t k = 1; k < 4; k++) {
        /* between the last m that fails and the first that succeeds, ends that are not seen at
         * those of the grid */
        assert_true(ours->y[k] <= ours->x[k] / 8 * 1.3 && ours->y[k] >= ours->x[k] / 16);
        assert_true(ours->low[k] >= 16 && ours->high[k] <= 128);
        assert_true(ours->high[k] < 128 || (ours->open[k] & WT_OPEN_HIGH) != 0);
    }
    wt_script csv = {.context = *state};
    assert_non_null(strstr(write_csv(&csv, &chart), "panel,series,length,m,low,high,cells,known\n"
                                                    ",measured,100,16,,,16,below\n"));
    wt_script_free(&csv);
    assert_true((ours->open[3] & WT_OPEN_HIGH) != 0); /* at T = 800 four trials of four at most */
    assert_true(chart.series[4].line && !chart.series[1].line);
    wt_chart_free(&chart);
}

/* A series more than there are colours does not look like the first; nor does a name of no model
 * look like one. */
static void looks_are_not_used_twice(void **state) {
    char model[32];
    for (int i = 0; i < 12; i++)
        for (int n = 16; n <= 32; n *= 2) {
            snprintf(model, sizeof model, i == 0 ? "rfa" : "other-%d", i);
            add_error(*state, model, "mean-power:2", n, 0, 1, "");
        }
    wt_chart chart;
    CHECK_OK(*state, wt_chart_build(*state, &results, NULL, spec_of("curve-samples"), &chart));
    assert_int_equal(chart.series_count, 12);
    for (size_t i = 0; i < 12; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(chart.series[i].look, chart.series[k].look);
    wt_chart_free(&chart);
}

/* Many lines of many points: fewer of each, so that a page does not grow with the store. */
static void many_points_are_thinned_for_a_page(void **state) {
    char model[32];
    for (int line = 0; line < 20; line++)
        for (int n = 1; n <= 150; n++) {
            snprintf(model, sizeof model, "model-%02d", line);
            add_error(*state, model, "target", n, 0, 1, "");
        }
    wt_chart chart;
    wt_chart_shown shown;
    CHECK_OK(*state, wt_chart_build(*state, &results, NULL, spec_of("curve-samples"), &chart));
    CHECK_OK(*state, wt_chart_show(*state, &chart, &shown));
    assert_true(shown.points == 100 && shown.points_of == 150);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(shown.chart.series[i].count, 100);
        CHECK_NEAR(shown.chart.series[i].x[99], 150, 0);
    }
    wt_chart_free(&shown.chart);
    wt_chart_free(&chart);
}

/* Thirty panels of forty lines, one of them of 500 points: a page shows some of each, evenly
 * spread, and the file of numbers has all. */
static void many_lines_are_cut_for_a_page(void **state) {
    for (int panel = 0; panel < 30; panel++)
        for (int line = 0; line < 40; line++)
            for (int n = 0; n < (panel == 0 && line == 0 ? 500 : 2); n++) {
                char model[32], target[32];
                snprintf(model, sizeof model, "model-%02d", line);
                snprintf(target, sizeof target, "target-%02d", panel);
                add_error(*state, model, target, n + 1, 0, 1 + line, "");
            }
    wt_chart chart;
    wt_chart_shown shown;
    CHECK_OK(*state, wt_chart_build(*state, &results, NULL, spec_of("curve-samples"), &chart));
    assert_int_equal(chart.series_count, 30 * 40);
    CHECK_OK(*state, wt_chart_show(*state, &chart, &shown));
    assert_false(wt_chart_shown_whole(&shown));
    assert_true(shown.panels == 12 && shown.panels_of == 30 && shown.series == 24 &&
                shown.series_of == 40 && shown.points == 200 && shown.points_of == 500);
    assert_int_equal(shown.chart.series_count, 12 * 24);
    const wt_chart_series *first = &shown.chart.series[0], *last = &shown.chart.series[12 * 24 - 1];
    assert_string_equal(first->panel, "target-00");
    assert_string_equal(last->panel, "target-29");
    assert_string_equal(last->name, "model-39");
    assert_true(first->count == 200 && first->x[0] == 1 && first->x[199] == 500);
    for (size_t i = 0; i < 24; i++) { /* of one panel no two look alike, and all panels do */
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(first[i].look, first[k].look);
        assert_int_equal(first[i].look, first[24 + i].look);
    }
    wt_script csv = {.context = *state};
    size_t rows = 0;
    for (const char *at = write_csv(&csv, &chart); (at = strchr(at, '\n')) != NULL; at++)
        rows++;
    assert_int_equal(rows, 1 + 30 * 40 * 2 + 498);
    wt_script_free(&csv);
    wt_chart_free(&shown.chart);
    wt_chart_free(&chart);
}

static void few_lines_are_shown_as_they_are(void **state) {
    wt_chart chart;
    wt_chart_shown shown;
    add_curves(*state);
    CHECK_OK(*state, wt_chart_build(*state, &results, NULL, spec_of("curve-samples"), &chart));
    CHECK_OK(*state, wt_chart_show(*state, &chart, &shown));
    assert_true(wt_chart_shown_whole(&shown));
    assert_int_equal(shown.chart.series_count, chart.series_count);
    for (size_t i = 0; i < chart.series_count; i++) {
        const wt_chart_series *a = &chart.series[i], *b = &shown.chart.series[i];
        assert_string_equal(a->name, b->name);
        assert_true(a->look == b->look && a->count == b->count);
        assert_memory_equal(a->y, b->y, a->count * sizeof *a->y);
        assert_memory_equal(a->cells, b->cells, a->count * sizeof *a->cells);
    }
    wt_chart_free(&shown.chart);
    wt_chart_free(&chart);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(cells_become_series, start_fresh),
        cmocka_unit_test_setup(lines_of_one_model_are_told_apart, start_fresh),
        cmocka_unit_test_setup(critical_sizes_have_laws, start_fresh),
        cmocka_unit_test_setup(looks_are_not_used_twice, start_fresh),
        cmocka_unit_test_setup(many_points_are_thinned_for_a_page, start_fresh),
        cmocka_unit_test_setup(many_lines_are_cut_for_a_page, start_fresh),
        cmocka_unit_test_setup(few_lines_are_shown_as_they_are, start_fresh),
    };
    return cmocka_run_group_tests(tests, check_open, close_all);
}
