/* The script of a figure: its data, marks, axes and ticks. */
#include <stdlib.h>

#include "base/memory.h"
#include "check.h"
#include "report/figures.h"
#include "report/look.h"
#include "report/series.h"
#include "report/words.h"

static wt_script script_of(wt_context *context, const wt_figure *figure) {
    wt_script script = {.context = context};
    wt_layout layout = wt_figure_layout(figure);
    wt_figure_script(&script, figure, &layout);
    CHECK_OK(context, script.status);
    return script;
}

static void the_script_holds_the_data(void **state) {
    wt_script script = script_of(*state, &curve_figure);
    assert_int_equal(count_of(script.text, "16 1 0.9 1.1\n"), 2);
    assert_int_equal(count_of(script.text, "16 1.1 NaN NaN\n"), 2);
    assert_int_equal(count_of(script.text, "title \"rfa\""), 3); /* two panels and the legend */
    assert_int_equal(count_of(script.text, "set title \"mean-power:2\""), 1);
    assert_int_equal(count_of(script.text, "'#0072B2' pt 7"), 3);
    assert_int_equal(count_of(script.text, "'#D55E00' pt 5"), 3);
    assert_int_equal(count_of(script.text, "with vectors heads"), 2); /* brfa has no interval */
    /* One label of y and its numbers, for the left panel. */
    assert_int_equal(count_of(script.text, "set label 2 \"error\""), 1);
    wt_script_free(&script);
}

/* The interval from -0.05 goes to the lower edge of the axis, which data above 0 decide, as an
 * arrow; the bar keeps the end that is seen. */
static void intervals_end_at_the_edge_of_a_log_axis(void **state) {
    wt_script script = script_of(*state, &curve_figure);
    const char *range = strstr(strstr(script.text, "set border 3"), "set yrange [");
    assert_non_null(range);
    double edge = strtod(range + 12, NULL);
    assert_true(edge > 0.001 && edge < 0.01); /* 0.1 / 10 less the margin */
    assert_int_equal(count_of(script.text, "\n128 0.1 0.1 0.2\n"), 2);
    const char *arrow = strstr(script.text, "$A0 << EOD\nNaN NaN NaN\n128 0.1 ");
    assert_non_null(arrow);
    CHECK_NEAR(strtod(arrow + 31, NULL), edge, 1e-9); /* both printed to ten digits */
    wt_script_free(&script);
}

/* Ends that are not known become arrows; a bound alone is a hollow point and no part of the line.
 */
static void open_ends_have_arrows(void **state) {
    const double x[] = {1, 2, 3}, y[] = {5, 6, 9}, from[] = {4, 2, 9}, to[] = {9, 7, 9};
    const unsigned char open[] = {WT_OPEN_HIGH, WT_OPEN_LOW, WT_OPEN_VALUE | WT_OPEN_HIGH};
    wt_series series = {
        .name = "s", .count = 3, .x = x, .y = y, .low = from, .high = to, .open = open};
    wt_panel panel = {.y = {.low = 0, .high = 10}, .series = &series, .series_count = 1};
    wt_figure figure = {WT_FIGURE_SIZES, .panels = &panel, .panel_count = 1};
    wt_script script = script_of(*state, &figure);
    assert_non_null(strstr(script.text, "1 5 4 5\n2 6 6 7\nNaN NaN NaN NaN\nEOD\n"));
    assert_non_null(strstr(script.text, "$A0 << EOD\nNaN NaN NaN\n1 5 9\n2 6 2\n3 9 9.9\nEOD\n"));
    assert_non_null(strstr(script.text, "$O0 << EOD\nNaN NaN\n3 9\nEOD\n"));
    wt_script_free(&script);
}

/* An end that is open and of which no bound is known but the value: a short arrow, not one of no
 * length. The bar has the other end. */
static void open_ends_at_the_value_have_short_arrows(void **state) {
    const double x[] = {1, 2}, y[] = {6, 4}, from[] = {5, 4}, to[] = {6, 5};
    const unsigned char open[] = {WT_OPEN_HIGH, WT_OPEN_LOW};
    wt_series series = {
        .name = "s", .count = 2, .x = x, .y = y, .low = from, .high = to, .open = open};
    wt_panel panel = {.y = {.low = 0, .high = 10}, .series = &series, .series_count = 1};
    wt_figure figure = {WT_FIGURE_SIZES, .panels = &panel, .panel_count = 1};
    wt_script script = script_of(*state, &figure);
    assert_non_null(strstr(script.text, "1 6 5 6\n2 4 4 5\nEOD\n"));
    assert_non_null(strstr(script.text, "$A0 << EOD\nNaN NaN NaN\n1 6 6.9\n2 4 3.1\nEOD\n"));
    wt_script_free(&script);
}

/* Bars at one x are set apart: six series by half a percent of a linear axis to each side, and by
 * 2.5 steps of a hundredth of a logarithmic one: 100^0.025. */
static void bars_are_set_apart_along_x(void **state) {
    const double x[] = {10, 50}, y[] = {1, 2}, from[] = {0, 1}, to[] = {2, 3};
    wt_series series[6];
    for (size_t i = 0; i < 6; i++)
        series[i] = (wt_series){.count = 2, .x = x, .y = y, .low = from, .high = to};
    wt_panel panel = {.x = {.low = 1, .high = 101}, .series = series, .series_count = 6};
    wt_figure figure = {WT_FIGURE_SIZES, .panels = &panel, .panel_count = 1};
    wt_script script = script_of(*state, &figure);
    assert_non_null(strstr(script.text, "$S0 using ($1-0.5):2 "));
    assert_non_null(strstr(script.text, "$S3 using ($1+0.1):2 "));
    assert_non_null(strstr(script.text, "$S5 using ($1+0.5):2 "));
    wt_script_free(&script);
    panel.x = (wt_axis){.log = true, .low = 1, .high = 100};
    script = script_of(*state, &figure);
    assert_non_null(strstr(script.text, "$S5 using ($1*1.122018):2 "));
    wt_script_free(&script);
}

/* No two of the looks are drawn alike, nor share a colour. */
static void looks_differ(void **state) {
    for (size_t i = 0; i < WT_LOOKS; i++)
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(wt_look_colour(i), wt_look_colour(k));
    char *styles[2 * WT_LOOKS];
    for (size_t i = 0; i < 2 * WT_LOOKS; i++) {
        wt_script script = {.context = *state};
        wt_series series = {.look = i / 2, .mark = i % 2 == 0 ? WT_MARK_POINTS : WT_MARK_LINE};
        wt_series_style(&script, &series);
        CHECK_OK(*state, script.status);
        styles[i] = script.text;
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(styles[i], styles[k]);
    }
    for (size_t i = 0; i < 2 * WT_LOOKS; i++)
        wt_release(styles[i]);
}

/* Long numbers beside the axis get room: the label stands left of them. */
static void long_numbers_move_the_box(void **state) {
    const double x[] = {1, 2}, near[] = {0.69315, 0.69317}, far[] = {0, 1};
    wt_series series = {.count = 2, .x = x, .y = near};
    wt_panel panel = {.y = {.label = "loss"}, .series = &series, .series_count = 1};
    wt_figure figure = {WT_FIGURE_SIZES, .panels = &panel, .panel_count = 1};
    (void)state;
    double wide = wt_figure_layout(&figure).left;
    series.y = far;
    double usual = wt_figure_layout(&figure).left;
    CHECK_NEAR(usual, 0.58, 1e-12);
    assert_true(wide > usual + 0.1);
}

static void what_an_axis_cannot_show_is_left_out(void **state) {
    const double x[] = {1, 2, 0, 4, 5}, y[] = {1, -1, 3, NAN, 5};
    wt_series series = {.name = "s", .count = 5, .x = x, .y = y};
    wt_panel panel = {.x = {.log = true}, .y = {.log = true}, .series = &series, .series_count = 1};
    wt_figure figure = {WT_FIGURE_SIZES, .panels = &panel, .panel_count = 1};
    wt_script script = script_of(*state, &figure);
    assert_int_equal(count_of(script.text, "NaN NaN NaN NaN\n"), 3);
    wt_script_free(&script);
    series.count = 0;
    CHECK_FAILS(*state, wt_figure_check(*state, &figure), WT_USAGE, "panel 0 has nothing to draw");
    series = (wt_series){.look = WT_LOOKS, .count = 1, .x = x, .y = y};
    CHECK_FAILS(*state, wt_figure_check(*state, &figure), WT_USAGE, "look 24");
    series = (wt_series){.mark = WT_MARK_BAND, .count = 1, .x = x, .y = y};
    CHECK_FAILS(*state, wt_figure_check(*state, &figure), WT_USAGE, "no interval");
    figure.panel_count = 0;
    CHECK_FAILS(*state, wt_figure_check(*state, &figure), WT_USAGE, "panels, not 0");
    figure = heat_figure;
    figure.heat_limit = 0;
    CHECK_FAILS(*state, wt_figure_check(*state, &figure), WT_USAGE, "limit above 0");
}

/* Grids: own numbers at the axes, own colours, and what is not known left out. */
static void heat_maps_can_have_colours_of_their_own(void **state) {
    const double entries[] = {-30, 2, NAN, 4, 5, 6};
    wt_panel panel = {.x = {.label = "head", .low = 3},
                      .y = {.label = "layer", .low = 8},
                      .heat = entries,
                      .heat_rows = 2,
                      .heat_columns = 3,
                      .heat_low = -20,
                      .heat_high = 20,
                      .heat_legend = "standard errors"};
    wt_figure figure = {WT_FIGURE_SIZES, .panels = &panel, .panel_count = 1, .heat_aspect = 0.5};
    CHECK_OK(*state, wt_figure_check(*state, &figure));
    wt_script script = script_of(*state, &figure);
    assert_non_null(strstr(script.text, "-20 2 NaN\n4 5 6\n"));
    assert_non_null(strstr(script.text, "set xtics nomirror ('3' 0, '4' 1, '5' 2)"));
    assert_non_null(strstr(script.text, "set ytics nomirror ('8' 0, '9' 1)"));
    assert_non_null(strstr(script.text, "set cbrange [-20:20]"));
    assert_non_null(strstr(script.text, "\"standard errors\""));
    wt_script_free(&script);
    wt_layout wide = wt_figure_layout(&figure);
    CHECK_NEAR(wide.heat_box, wide.box / 2, 1e-12);
    panel.heat_low = 0;
    script = script_of(*state, &figure);
    assert_non_null(strstr(script.text, "(0 '#ffffff'"));
    assert_non_null(strstr(script.text, "set cbtics (0, 10, 20)"));
    wt_script_free(&script);
}

static void ticks_are_round_numbers(void **state) {
    static const struct {
        wt_extent extent;
        char letter;
        double values[4]; /* that the data have along the axis, up to the first 0 */
        const char *words;
    } cases[] = {
        {{.log = true, .low = 15, .high = 4200},
         'x',
         {0},
         "('16' 16 0, '' 32 1, '64' 64 0, '' 128 1, '256' 256 0"},
        {{.log = true, .low = 2e-5, .high = 2}, 'y', {0}, "'10^{-4}' 0.0001 0"},
        {{.log = true, .low = 0.002, .high = 2}, 'y', {0}, "'0.01' 0.01 0"},
        {{.log = true, .low = 0.3, .high = 2.5}, 'y', {0}, "'0.5' 0.5 0, '' 0.6 1"},
        /* Less than three of 1, 2, 5: more digits, then round numbers. */
        {{.log = true, .low = 2.5, .high = 8},
         'y',
         {0},
         "'3' 3 0, '' 4 1, '5' 5 0, '' 6 1, '7' 7 0"},
        {{.log = true, .low = 6.1, .high = 7.9}, 'y', {0}, "'6.5' 6.5 0, '7' 7 0, '7.5' 7.5 0"},
        /* Sizes that were chosen are told, but for labels that would touch. */
        {{.log = true, .low = 2.9, .high = 6.2}, 'x', {6, 3}, "('3' 3 0, '6' 6 0)"},
        {{.log = true, .low = 24, .high = 210},
         'x',
         {25, 50, 100, 200},
         "('25' 25 0, '50' 50 0, '100' 100 0, '200' 200 0)"},
        {{.log = true, .low = 9, .high = 1100},
         'x',
         {10, 11, 12, 1000},
         "('10' 10 0, '' 11 1, '' 12"},
        {{.log = false, .low = 0.9, .high = 3.1}, 'x', {1, 2, 3}, "('1' 1 0, '2' 2 0, '3' 3 0)"},
        {{.log = false, .low = -0.7, .high = 3.7},
         'y',
         {0},
         "('0' 0 0, '1' 1 0, '2' 2 0, '3' 3 0)"},
        {{.log = false, .low = 0, .high = 1}, 'x', {0}, "('0' 0 0, '0.2' 0.2 0, '0.4' 0.4 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_script script = {.context = *state};
        wt_extent extent = cases[i].extent;
        wt_ticking ticking = {.most = 5, .letters = 40, .labelled = true};
        for (size_t k = 0; k < 4 && cases[i].values[k] != 0; k++)
            wt_extent_note(&extent, cases[i].values[k]);
        wt_axis_script(&script, cases[i].letter, &extent, &ticking);
        if (strstr(script.text, cases[i].words) == NULL)
            fail_msg("case %zu: no \"%s\" in %s", i, cases[i].words, script.text);
        wt_script_free(&script);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_script_holds_the_data),
        cmocka_unit_test(intervals_end_at_the_edge_of_a_log_axis),
        cmocka_unit_test(open_ends_have_arrows),
        cmocka_unit_test(open_ends_at_the_value_have_short_arrows),
        cmocka_unit_test(bars_are_set_apart_along_x),
        cmocka_unit_test(looks_differ),
        cmocka_unit_test(long_numbers_move_the_box),
        cmocka_unit_test(what_an_axis_cannot_show_is_left_out),
        cmocka_unit_test(heat_maps_can_have_colours_of_their_own),
        cmocka_unit_test(ticks_are_round_numbers),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
