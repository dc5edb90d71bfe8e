/* Figures: what the picture holds, how drawing fails. */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "check.h"
#include "report/figures.h"
#include "report/words.h"

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

/* Words of a file must not become commands: neither quotes nor backquotes get out, wherever they
 * stand; and they are drawn as they are written. */
static void words_stay_words(void **state) {
    static const struct {
        const char *words, *drawn;
    } cases[] = {
        {"it's `touch evil` @x\n\"$(touch evil)\"; system('touch evil')",
         "it's `touch evil` @x\\x0a\"$(touch evil)\"; system('touch evil')"},
        {"'starts", "'starts"},
        {"''", "''"},
        {"ends'", "ends'"},
        {"\"starts", "\"starts"},
        {"back\\", "back\\"},
        {"\\n\\140\\", "\\n\\140\\"},
        {"`touch evil`", "`touch evil`"},
        {"@x", "@x"},
        {"{/*2 a}_b^c %s %g", "{/*2 a}_b^c %s %g"},
        {"\u00e9\u20ac\U0001F600", "\u00e9\u20ac\U0001F600"},
        {"\xff\u202e", "\\xff\\xe2\\x80\\xae"},
    };
    assert_int_equal(chdir(folder), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *words = cases[i].words, *path = in_folder("evil.svg");
        wt_series series = curves[0];
        wt_panel panel = curve_panels[0];
        char *text;
        series.name = panel.title = panel.x.label = panel.y.label = words;
        panel.series = &series;
        panel.series_count = 1;
        wt_figure figure = {WT_FIGURE_SIZES, .title = words, .panels = &panel, .panel_count = 1};
        CHECK_OK(*state, wt_figure_write(*state, &figure, path));
        char *svg = slurp(*state, path), *at = svg;
        for (int place = 0; place < 5; place++) { /* title, its panel's, two labels and the name */
            at = strstr(at, cases[i].drawn);
            if (at == NULL)
                fail_msg("'%s' is %d times in %s", cases[i].drawn, place, svg);
            at++;
        }
        wt_release(svg);
        CHECK_OK(*state, wt_figure_text(*state, &figure, 100, &text));
        wt_release(text);
        assert_int_equal(files_left(), 0);
    }
    assert_int_equal(chdir("/"), 0);
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
    wt_release(text);
}

/* Drawn twice, letters look bold. With a legend, which is drawn first, and without. */
static void the_title_is_there_once(void **state) {
    wt_figure with_title = heat_figure;
    with_title.title = "heads";
    const wt_figure *figures[] = {&curve_figure, &with_title};
    for (size_t i = 0; i < 2; i++) {
        const char *path = in_folder("title.svg");
        CHECK_OK(*state, wt_figure_write(*state, figures[i], path));
        char *text = slurp(*state, path);
        assert_int_equal(count_of(text, figures[i]->title), 1);
        wt_release(text);
    }
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
    wt_release(text);
    CHECK_OK(*state, wt_figure_text(*state, &heat_figure, 40, &text));
    assert_non_null(strstr(text, "theta\n|"));
    wt_release(text);
    CHECK_FAILS(*state, wt_figure_text(*state, &curve_figure, 19, &text), WT_USAGE, "19");
    assert_null(text);
}

/* Points and lines at one place: no letter covers another; each name stands in one legend. */
static void text_shows_series_that_coincide(void **state) {
    static const double x[] = {1, 2, 3}, y[] = {1, 4, 9};
    static const wt_series points[] = {{.name = "one", .count = 3, .x = x, .y = y},
                                       {.name = "two", .count = 3, .x = x, .y = y}};
    static const wt_series lines[] = {
        {.name = "three", .mark = WT_MARK_LINE, .count = 3, .x = x, .y = y},
        {.name = "four", .mark = WT_MARK_LINE, .count = 3, .x = x, .y = y}};
    static const wt_panel panels[] = {{.series = points, .series_count = 2},
                                      {.series = points, .series_count = 2},
                                      {.series = lines, .series_count = 2}};
    wt_figure figure = {WT_FIGURE_SIZES, .panels = panels, .panel_count = 3};
    char *text;
    CHECK_OK(*state, wt_figure_text(*state, &figure, 60, &text));
    assert_memory_equal(text, "A one   B two   C three   D four\n", 33);
    assert_int_equal(count_of(text, "two"), 1);
    assert_int_equal(count_of(text, "A"), 1 + 2 * 3);
    assert_int_equal(count_of(text, "B"), 1 + 2 * 3);
    assert_true(count_of(text, "C") > 10 && count_of(text, "D") > 10);
    wt_release(text);
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

/* Headers of before wt_series had `open`: the script is the same. */
static void figures_of_older_headers_are_read(void **state) {
    enum { OLDER = offsetof(wt_series, open) };
    unsigned char series[2 * OLDER];
    wt_arena arena = wt_arena_start(*state, "a test");
    wt_panel panel = curve_panels[0];
    wt_figure figure = {WT_FIGURE_SIZES, .panels = &panel, .panel_count = 1}, read;
    for (size_t i = 0; i < 2; i++)
        memcpy(series + i * OLDER, &curves[i], OLDER);
    panel.series = (const wt_series *)(const void *)series;
    figure.series_size = OLDER;
    CHECK_OK(*state, wt_figure_read(&arena, &figure, &read));
    for (size_t i = 0; i < 2; i++) {
        assert_ptr_equal(read.panels[0].series[i].y, curves[i].y);
        assert_string_equal(read.panels[0].series[i].name, curves[i].name);
        assert_null(read.panels[0].series[i].open);
    }
    wt_arena_free(&arena);
    figure.series_size = sizeof(wt_series) + 8;
    CHECK_FAILS(*state, wt_figure_write(*state, &figure, "figure.svg"), WT_USAGE, "later library");
    figure.size = 0;
    CHECK_FAILS(*state, wt_figure_write(*state, &figure, "figure.svg"), WT_USAGE, "size");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_older_headers_are_read),
        cmocka_unit_test(words_stay_words),
        cmocka_unit_test(the_same_figure_gives_the_same_bytes),
        cmocka_unit_test(every_mark_is_in_the_picture),
        cmocka_unit_test(the_title_is_there_once),
        cmocka_unit_test(a_pdf_is_a_pdf),
        cmocka_unit_test(text_has_the_letters_of_every_series),
        cmocka_unit_test(text_shows_series_that_coincide),
        cmocka_unit_test(outputs_that_cannot_be_are_refused),
        cmocka_unit_test(gnuplot_may_be_missing),
        cmocka_unit_test(gnuplot_may_be_broken),
        cmocka_unit_test(faults_leave_no_file),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
