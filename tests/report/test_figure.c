/* Figures: what the script says, what the picture holds, how drawing fails. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "check.h"
#include "report/figure.h"
#include "report/series.h"

static char folder[] = "/tmp/wattle-figure-XXXXXX";

static int open_all(void **state) {
    return mkdtemp(folder) == NULL ? -1 : check_open(state);
}
static int close_all(void **state) {
    return rmdir(folder) != 0 ? -1 : check_close(state);
}

static const char *in_folder(const char *name) {
    static char path[2][256];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static size_t files_left(void) {
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(listing);
    return count;
}

/* The whole file, ended by 0; unlinked. Its length is kept until the next one. */
static size_t slurped;
static char *slurp(wt_context *context, const char *path) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t bytes = slurped = (size_t)ftell(file);
    rewind(file);
    char *text;
    CHECK_OK(context, WT_NEW_ZERO(context, &text, bytes + 1, "file"));
    assert_int_equal(fread(text, 1, bytes, file), bytes);
    fclose(file);
    unlink(path);
    return text;
}

static size_t count_of(const char *text, const char *words) {
    size_t count = 0;
    for (; (text = strstr(text, words)) != NULL; text += strlen(words))
        count++;
    return count;
}

/* Two panels of two models, with intervals; five points each. */
enum { POINTS = 5 };
static const double sizes[POINTS] = {16, 32, 64, 128, 256};
static const double errors[POINTS] = {1, 0.5, 0.2, 0.1, 0.03};
static const double low[POINTS] = {0.9, 0.4, 0.1, -0.05, 0.02};
static const double high[POINTS] = {1.1, 0.6, 0.3, 0.2, 0.05};
static const wt_series curves[] = {
    {"rfa", WT_MARK_POINTS, 0, POINTS, sizes, errors, low, high, NULL},
    {"brfa", WT_MARK_POINTS, 1, POINTS, sizes, high, NULL, NULL, NULL},
};
static const wt_panel curve_panels[] = {
    {.title = "mean-power:2",
     .x = {.label = "n", .log = true},
     .y = {.label = "error", .log = true},
     .series = curves,
     .series_count = 2},
    {.title = "corr-power:3",
     .x = {.label = "n", .log = true},
     .y = {.label = "error", .log = true},
     .series = curves,
     .series_count = 2},
};
static const wt_figure curve_figure = {
    .title = "learning curves", .panels = curve_panels, .panel_count = 2, .share_y = true};

static const double matrix[] = {3, 0, -1, 0, 3, 0, 0.5, 0, 3};
static const wt_panel heat_panel = {
    .title = "theta", .heat = matrix, .heat_rows = 3, .heat_columns = 3};
static const wt_figure heat_figure = {.panels = &heat_panel, .panel_count = 1, .heat_limit = 4};

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
    assert_int_equal(count_of(script.text, "title 'rfa'"), 3); /* two panels and the legend */
    assert_int_equal(count_of(script.text, "set title 'mean-power:2'"), 1);
    assert_int_equal(count_of(script.text, "'#0072B2' pt 7"), 3);
    assert_int_equal(count_of(script.text, "'#D55E00' pt 5"), 3);
    assert_int_equal(count_of(script.text, "with vectors heads"), 2); /* brfa has no interval */
    /* One label of y and its numbers, for the left panel. */
    assert_int_equal(count_of(script.text, "set label 2 'error'"), 1);
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
    wt_figure figure = {.panels = &panel, .panel_count = 1};
    wt_script script = script_of(*state, &figure);
    assert_non_null(strstr(script.text, "1 5 4 5\n2 6 6 7\nNaN NaN NaN NaN\nEOD\n"));
    assert_non_null(strstr(script.text, "$A0 << EOD\nNaN NaN NaN\n1 5 9\n2 6 2\n3 9 9.9\nEOD\n"));
    assert_non_null(strstr(script.text, "$O0 << EOD\nNaN NaN\n3 9\nEOD\n"));
    wt_script_free(&script);
}

/* No two of the looks are drawn alike. */
static void looks_differ(void **state) {
    char *styles[2 * WT_LOOKS];
    for (size_t i = 0; i < 2 * WT_LOOKS; i++) {
        wt_script script = {.context = *state};
        wt_series series = {.look = i / 2, .mark = i % 2 == 0 ? WT_MARK_POINTS : WT_MARK_LINE};
        wt_series_style(&script, &series, false);
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
    wt_figure figure = {.panels = &panel, .panel_count = 1};
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
    wt_figure figure = {.panels = &panel, .panel_count = 1};
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

/* Words of a file must not become commands: neither quotes nor backquotes get out. */
static void words_stay_words(void **state) {
    const char *evil = "it's `touch "
                       "evil` @x\n\"$(touch evil)\"; system('touch evil')";
    wt_panel panel = curve_panels[0];
    panel.title = evil;
    wt_figure figure = {.title = evil, .panels = &panel, .panel_count = 1};
    const char *path = in_folder("evil.svg");
    assert_int_equal(chdir(folder), 0);
    CHECK_OK(*state, wt_figure_write(*state, &figure, path));
    assert_int_equal(chdir("/"), 0);
    char *text = slurp(*state, path);
    assert_non_null(strstr(text, "touch evil` @x"));
    wt_release(text);
    assert_int_equal(files_left(), 0);
}

static void the_same_figure_gives_the_same_bytes(void **state) {
    const wt_figure *figures[] = {&curve_figure, &heat_figure};
    const char *const names[][2] = {{"a.svg", "b.svg"}, {"a.png", "b.png"}};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 2; k++) {
            const char *first = in_folder(names[k][0]), *second = in_folder(names[k][1]);
            CHECK_OK(*state, wt_figure_write(*state, figures[i], first));
            CHECK_OK(*state, wt_figure_write(*state, figures[i], second));
            char *a = slurp(*state, first);
            size_t bytes = slurped;
            char *b = slurp(*state, second);
            assert_int_equal(bytes, slurped);
            assert_memory_equal(a, b, bytes);
            assert_true(k == 1 || strncmp(a, "<?xml", 5) == 0);
            wt_release(a);
            wt_release(b);
        }
}

/* rfa is drawn with circles (gpPt6), brfa with squares (gpPt4): one a point and panel, and one in
 * the legend. */
static void every_mark_is_in_the_picture(void **state) {
    const char *path = in_folder("marks.svg");
    CHECK_OK(*state, wt_figure_write(*state, &curve_figure, path));
    char *text = slurp(*state, path);
    const char *body = strstr(text, "</defs>");
    assert_non_null(body);
    assert_int_equal(count_of(body, "<use xlink:href='#gpPt6'"), 2 * POINTS + 1);
    assert_int_equal(count_of(body, "<use xlink:href='#gpPt4'"), 2 * POINTS + 1);
    assert_int_equal(count_of(body, "<title>rfa</title>"), 3);
    assert_int_equal(count_of(body, "<title>brfa</title>"), 3);
    assert_non_null(strstr(body, "corr-power:3"));
    assert_non_null(strstr(body, "learning curves"));
    wt_release(text);
}

static void a_pdf_is_a_pdf(void **state) {
    const char *path = in_folder("a.pdf");
    CHECK_OK(*state, wt_figure_write(*state, &curve_figure, path));
    char *text = slurp(*state, path);
    assert_memory_equal(text, "%PDF", 4);
    wt_release(text);
}

static void text_has_the_letters_of_every_series(void **state) {
    char *text;
    CHECK_OK(*state, wt_figure_text(*state, &curve_figure, 72, &text));
    assert_non_null(strstr(text, "learning curves"));
    assert_int_equal(count_of(text, "mean-power:2: error"), 1);
    assert_true(count_of(text, "A") >= 2 * 3 && count_of(text, "B") >= 2 * 3);
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 72);
    wt_text_free(text);
    CHECK_OK(*state, wt_figure_text(*state, &heat_figure, 40, &text));
    assert_non_null(strstr(text, "theta\n|"));
    wt_text_free(text);
    CHECK_FAILS(*state, wt_figure_text(*state, &curve_figure, 19, &text), WT_USAGE, "19");
    assert_null(text);
}

static void outputs_that_cannot_be_are_refused(void **state) {
    CHECK_FAILS(*state, wt_figure_write(*state, &curve_figure, in_folder("a.gif")), WT_USAGE,
                "none of .svg, .pdf and .png");
    CHECK_FAILS(*state, wt_figure_write(*state, &curve_figure, in_folder("plot")), WT_USAGE,
                "none of");
    CHECK_FAILS(*state, wt_figure_write(*state, &curve_figure, in_folder("none/a.svg")),
                WT_CANNOT_CREATE, "none/a.svg");
    assert_int_equal(files_left(), 0);
}

static void gnuplot_may_be_missing(void **state) {
    char *path = strdup(getenv("PATH"));
    setenv("PATH", folder, 1);
    wt_status status = wt_figure_write(*state, &curve_figure, in_folder("a.svg"));
    char *text;
    wt_status as_text = wt_figure_text(*state, &curve_figure, 80, &text);
    setenv("PATH", path, 1);
    free(path);
    CHECK_FAILS(*state, status, WT_UNAVAILABLE,
                "gnuplot is not installed: apt-get install gnuplot-nox");
    assert_int_equal(as_text, WT_UNAVAILABLE);
    assert_null(text);
    assert_int_equal(files_left(), 0);
}

/* A gnuplot of our own, by the PATH: dies with words, and answers rubbish. */
static void gnuplot_may_be_broken(void **state) {
    static const struct {
        const char *script, *words;
    } cases[] = {{"#!/bin/sh\ncat > /dev/null; echo 'line 3: undefined' >&2; exit 1\n",
                  "gnuplot failed: line 3: undefined"},
                 {"#!/bin/sh\ncat > /dev/null; echo rubbish\n", "gave no svg picture"}};
    char *path = strdup(getenv("PATH")), changed[4096];
    snprintf(changed, sizeof changed, "%s:%s", folder, path);
    for (size_t i = 0; i < 2; i++) {
        const char *program = in_folder("gnuplot");
        FILE *file = fopen(program, "w");
        assert_non_null(file);
        fputs(cases[i].script, file);
        fclose(file);
        assert_int_equal(chmod(program, 0700), 0);
        setenv("PATH", changed, 1);
        wt_status status = wt_figure_write(*state, &curve_figure, in_folder("a.svg"));
        setenv("PATH", path, 1);
        unlink(program);
        CHECK_FAILS(*state, status, WT_UNAVAILABLE, cases[i].words);
        assert_int_equal(files_left(), 0);
    }
    free(path);
}

/* The k-th allocation, then the k-th write, fails for growing k until nothing does. */
static void faults_leave_no_file(void **state) {
    wt_context *context = *state;
    atomic_long *counters[] = {&context->allocation_to_fail, &context->write_to_fail};
    const wt_status wanted[] = {WT_MEMORY, WT_IO};
    for (size_t c = 0; c < 2; c++) {
        wt_status status = WT_MEMORY;
        long k = 1;
        for (; status != WT_OK; k++) {
            atomic_store(counters[c], k);
            status = wt_figure_write(context, &curve_figure, in_folder("a.svg"));
            atomic_store(counters[c], 0);
            if (status != WT_OK) {
                assert_true(status == wanted[c] || (c == 1 && status == WT_CANNOT_CREATE));
                assert_int_equal(files_left(), 0);
            }
        }
        assert_true(k > 2);
        unlink(in_folder("a.svg"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_script_holds_the_data),
        cmocka_unit_test(intervals_end_at_the_edge_of_a_log_axis),
        cmocka_unit_test(open_ends_have_arrows),
        cmocka_unit_test(looks_differ),
        cmocka_unit_test(long_numbers_move_the_box),
        cmocka_unit_test(what_an_axis_cannot_show_is_left_out),
        cmocka_unit_test(ticks_are_round_numbers),
        cmocka_unit_test(words_stay_words),
        cmocka_unit_test(the_same_figure_gives_the_same_bytes),
        cmocka_unit_test(every_mark_is_in_the_picture),
        cmocka_unit_test(a_pdf_is_a_pdf),
        cmocka_unit_test(text_has_the_letters_of_every_series),
        cmocka_unit_test(outputs_that_cannot_be_are_refused),
        cmocka_unit_test(gnuplot_may_be_missing),
        cmocka_unit_test(gnuplot_may_be_broken),
        cmocka_unit_test(faults_leave_no_file),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
