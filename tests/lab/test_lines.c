/* Lines of many cells: their order, what their cells share, points found again, all against plain
 * loops over JSON. */
#include "lab/lines.h"

#include <jansson.h>
#include <stdlib.h>

#include "lab/cells.h"
#include "wattle/random.h"

enum { CELLS = 3000 };
static const char *const words[] = {"a", "ab", "a b", "a\\\"", "b", "é"};
static json_t *objects[CELLS];

/* Parameters of mixed kinds, some of them missing in some cells. */
static void add_cells(wt_context *context) {
    for (size_t i = 0; i < CELLS; i++) {
        double u[8];
        char parameters[320], metrics[64], width[64] = "";
        wt_random_uniform(wt_stream_for(5, "cell", i), 0, 8, u);
        if (u[5] < 0.3)
            snprintf(width, sizeof width, ",\"width\":%.17g", u[5] < 0.1 ? 0.5 : 12.25);
        snprintf(parameters, sizeof parameters,
                 "{\"bias\":%d,\"flag\":%s,\"model\":\"%s\",\"n\":%d,\"noise\":%s,\"rep\":%d,"
                 "\"target\":\"%s\"%s}",
                 (int)(u[0] * 3), u[1] < 0.5 ? "true" : "false", words[(size_t)(u[2] * 6)],
                 1 << (int)(u[3] * 5), u[4] < 0.5 ? "1.0" : "10.0", (int)(u[6] * 40),
                 u[7] < 0.5 ? "x:1" : "x:10", width);
        snprintf(metrics, sizeof metrics, "{\"other\":1,\"y\":%zu}", i);
        add(context, "curve", parameters, metrics);
        objects[i] = json_loads(parameters, 0, NULL);
        assert_non_null(objects[i]);
    }
}

static int close_cells(void **state) {
    for (size_t i = 0; i < CELLS; i++)
        json_decref(objects[i]);
    return close_all(state);
}

/* What a cell shares with its line, as text; to be freed. */
static char *key_of(size_t cell) {
    static const char *const apart[] = {"n", "rep", "bias"};
    json_t *copy = json_copy(objects[cell]);
    for (size_t i = 0; i < 3; i++)
        json_object_del(copy, apart[i]);
    char *text = json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(copy);
    return text;
}

static bool is_before(const wt_line_point *a, const wt_line_point *b) {
    if (a->x != b->x)
        return a->x < b->x;
    if (a->rep != b->rep)
        return a->rep < b->rep;
    return a->cell < b->cell;
}

static void lines_are_those_of_plain_loops(void **state) {
    wt_context *context = *state;
    wt_lines lines;
    wt_lines_query query = {
        .experiment = "curve", .x = "n", .y = "y", .apart = "bias", .every = true};
    add_cells(context);
    CHECK_OK(context, wt_lines_find(context, &results, &query, &lines));
    assert_int_equal(lines.point_count, CELLS);
    char *last = NULL;
    size_t seen = 0;
    for (size_t l = 0; l < lines.line_count; l++) {
        const wt_line *line = &lines.lines[l];
        assert_int_equal(line->first, seen);
        char *key = key_of(lines.points[line->first].cell);
        assert_true(last == NULL || strcmp(last, key) < 0); /* rising: so each line comes once */
        for (size_t i = line->first; i < line->first + line->count; i++) {
            const wt_line_point *point = &lines.points[i];
            char *own = key_of(point->cell);
            assert_string_equal(own, key);
            free(own);
            assert_true(point->y == point->cell && point->line == l);
            assert_true(point->x == json_number_value(json_object_get(objects[point->cell], "n")));
            assert_true(i == line->first || is_before(point - 1, point));
        }
        seen += line->count;
        free(last);
        last = key;
    }
    free(last);
    assert_int_equal(seen, CELLS);
    wt_lines_free(&lines);
}

/* Of a choice of lines, those of all that are alike are found, and points of the same draws. */
static void lines_and_points_are_found(void **state) {
    wt_context *context = *state;
    wt_lines all, some;
    wt_lines_query query = {
        .experiment = "curve", .x = "n", .y = "y", .apart = "bias flag", .every = true};
    CHECK_OK(context, wt_lines_find(context, &results, &query, &all));
    query.where = "flag=true n>=4";
    CHECK_OK(context, wt_lines_find(context, &results, &query, &some));
    size_t missing = 0;
    assert_true(some.line_count > 10 && some.line_count <= all.line_count);
    for (size_t l = 0; l < some.line_count; l++) {
        const wt_line *alike = wt_lines_alike(&all, &some, l);
        assert_non_null(alike);
        for (size_t i = 0; i < some.lines[l].count; i++) {
            const wt_line_point *point = &some.points[some.lines[l].first + i];
            const wt_line_point *found =
                wt_lines_at(&all, alike, point->x, point->seed, point->rep);
            assert_non_null(found);
            assert_true(found->x == point->x && found->rep == point->rep);
            assert_null(wt_lines_at(&all, alike, point->x, point->seed + 1, point->rep));
        }
    }
    for (size_t l = 0; l < all.line_count; l++)
        missing += wt_lines_alike(&some, &all, l) == NULL;
    assert_int_equal(missing, all.line_count - some.line_count);
    wt_lines_free(&all);
    wt_lines_free(&some);
}

/* Along a metric points are sorted by it; cells without a number are counted. */
static void a_metric_may_run_along_x(void **state) {
    wt_lines lines;
    wt_lines_query query = {.experiment = "curve", .where = "model=a", .x = "y", .y = "n"};
    CHECK_OK(*state, wt_lines_find(*state, &results, &query, &lines));
    assert_true(lines.line_count > 10 && lines.left_out == 0);
    for (size_t i = 1; i < lines.point_count; i++)
        assert_true(lines.points[i].line != lines.points[i - 1].line ||
                    lines.points[i].x > lines.points[i - 1].x);
    wt_lines_free(&lines);
    query.x = "model";
    CHECK_OK(*state, wt_lines_find(*state, &results, &query, &lines));
    assert_int_equal(lines.line_count, 0);
    assert_int_equal(lines.left_out, wt_results_fitting(&results, "curve", "model=a", NULL));
    wt_lines_free(&lines);
}

static void wanted_metrics_alone_are_kept(void **state) {
    wt_results some = {0};
    wt_record record = {.hash = "ab",
                        .experiment = "curve",
                        .parameters = "{\"n\":3}",
                        .message = "",
                        .metrics = "{\"other\":1,\"y\":2}",
                        .version = "",
                        .machine = "",
                        .finished_date = ""};
    CHECK_OK(*state, wt_results_want(*state, &some, "y"));
    CHECK_OK(*state, wt_results_want(*state, &some, "y"));
    CHECK_OK(*state, wt_results_add(*state, &some, &record));
    assert_int_equal(some.metrics.count, 1);
    assert_true(wt_result_number(&some, wt_results_cell(&some, 0), "y") == 2);
    assert_true(isnan(wt_result_number(&some, wt_results_cell(&some, 0), "other")));
    assert_true(wt_result_number(&some, wt_results_cell(&some, 0), "n") == 3);
    record.parameters = "{\"n\":3,\"rep\":1e300}";
    CHECK_FAILS(*state, wt_results_add(*state, &some, &record), WT_DATA,
                "cell ab: its repetition is no whole number");
    wt_results_clear(&some);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_those_of_plain_loops),
        cmocka_unit_test(lines_and_points_are_found),
        cmocka_unit_test(a_metric_may_run_along_x),
        cmocka_unit_test(wanted_metrics_alone_are_kept),
    };
    return cmocka_run_group_tests(tests, check_open, close_cells);
}
