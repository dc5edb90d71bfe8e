/* A figure in characters: panels by gnuplot's terminal of letters, heat maps by shades. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "report/axis.h"
#include "report/figure.h"

/* One with colours of its own: every entry, two characters wide where there is room. */
static void shade_entries(wt_script *out, const wt_panel *panel, size_t width) {
    static const char above[] = " .:+*#", below[] = " ,;-=%";
    double most = fmax(fabs(panel->heat_low), fabs(panel->heat_high));
    size_t columns = panel->heat_columns < width - 8 ? panel->heat_columns : width - 8;
    int wide = 2 * columns + 8 <= width ? 2 : 1;
    if (panel->title != NULL)
        wt_script_add(out, "%s\n", panel->title);
    for (size_t i = 0; i < panel->heat_rows; i++) {
        wt_script_add(out, "%5g |", panel->y.low + (double)i);
        for (size_t j = 0; j < columns; j++) {
            double value = panel->heat[i * panel->heat_columns + j];
            int step = isfinite(value) ? (int)lround(5 * fmin(1, fabs(value) / most)) : 0;
            for (int k = 0; k < wide; k++)
                wt_script_add(out, "%c", (value < 0 ? below : above)[step]);
        }
        wt_script_add(out, "|\n");
    }
    wt_script_add(out, "0 to %g: '%s'", most, above);
    if (panel->heat_low < 0)
        wt_script_add(out, "; 0 to -%g: '%s'", most, below);
    if (columns < panel->heat_columns)
        wt_script_add(out, "; %zu of %zu columns", columns, panel->heat_columns);
    wt_script_add(out, "\n\n");
}

/* A heat map in characters: every cell is the mean of the entries it covers, light to dark by its
 * size, with - below 0 marked by letters. */
static void shade(wt_script *out, const wt_figure *figure, const wt_panel *panel, size_t width) {
    static const char above[] = " .:+*#", below[] = " .,-=%";
    size_t columns = panel->heat_columns < width - 2 ? panel->heat_columns : width - 2;
    /* A character is about twice as high as wide. */
    size_t rows = panel->heat_rows * columns / panel->heat_columns / 2;
    rows = rows == 0 ? 1 : rows > panel->heat_rows ? panel->heat_rows : rows;
    if (panel->title != NULL)
        wt_script_add(out, "%s\n", panel->title);
    for (size_t i = 0; i < rows; i++) {
        wt_script_add(out, "|");
        for (size_t j = 0; j < columns; j++) {
            double sum = 0, count = 0;
            for (size_t r = i * panel->heat_rows / rows; r < (i + 1) * panel->heat_rows / rows; r++)
                for (size_t c = j * panel->heat_columns / columns;
                     c < (j + 1) * panel->heat_columns / columns; c++, count++)
                    sum += panel->heat[r * panel->heat_columns + c];
            double share = fmin(1, fabs(sum / count) / figure->heat_limit);
            int step = isfinite(share) ? (int)lround(5 * share) : 0;
            wt_script_add(out, "%c", (sum < 0 ? below : above)[step]);
        }
        wt_script_add(out, "|\n");
    }
    wt_script_add(out, "0 to %g: '%s'; 0 to -%g: '%s'\n\n", figure->heat_limit, above,
                  figure->heat_limit, below);
}

/* The lines without trailing blanks, and without the empty ones gnuplot puts before and after the
 * picture; a page starts with a form feed. */
static void add_trimmed(wt_script *out, const char *text) {
    int skipped = 0;
    bool begun = false;
    while (*text != '\0') {
        size_t whole = strcspn(text, "\n"), length = whole;
        while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\f'))
            length--;
        for (; begun && length > 0 && skipped > 0; skipped--)
            wt_script_add(out, "\n");
        if (length > 0)
            wt_script_add(out, "%.*s\n", (int)length, text);
        begun = begun || length > 0;
        skipped = length > 0 ? 0 : skipped + 1;
        text += whole + (text[whole] == '\n');
    }
    wt_script_add(out, "\n");
}

/* ---- panels with series: a letter each, by the one legend ------------------------------------ */

static char letter_of(const wt_figure *figure, const wt_series *series) {
    const char *name;
    for (size_t i = 0; series->name != NULL && (name = wt_figure_entry(figure, i, NULL)) != NULL;
         i++)
        if (strcmp(name, series->name) == 0)
            return (char)('A' + i % 26);
    return '.';
}

static bool is_bound(const wt_series *series, size_t k) {
    return series->open != NULL && (series->open[k] & WT_OPEN_VALUE) != 0;
}

static bool has_bounds(const wt_series *series) {
    size_t k = 0;
    while (k < series->count && !is_bound(series, k))
        k++;
    return k < series->count;
}

/* Names with their letters, as many in a line as it holds. */
static void add_legend(wt_script *out, const wt_figure *figure, size_t width) {
    const wt_series *series;
    const char *name;
    size_t column = 0;
    bool bounds = false;
    for (size_t p = 0; p < figure->panel_count; p++)
        for (size_t i = 0; i < figure->panels[p].series_count; i++)
            bounds = bounds || has_bounds(&figure->panels[p].series[i]);
    for (size_t i = 0; (name = wt_figure_entry(figure, i, &series)) != NULL; i++) {
        size_t length = strlen(name) + 2;
        bool fits = column == 0 || column + 3 + length <= width;
        wt_script_add(out, "%s%c %s",
                      column == 0 ? ""
                      : fits      ? "   "
                                  : "\n",
                      letter_of(figure, series), name);
        column = fits && column > 0 ? column + 3 + length : length;
    }
    if (column > 0)
        wt_script_add(out, "%s\n\n", bounds ? "\nsmall letters: a bound alone" : "");
}

/* Where a value lies on an axis, 0 to 1, and the value at a place. */
static double place_of(const wt_extent *axis, double value) {
    return axis->log ? log(value / axis->low) / log(axis->high / axis->low)
                     : (value - axis->low) / (axis->high - axis->low);
}

static double value_at(const wt_extent *axis, double place) {
    return axis->log ? axis->low * pow(axis->high / axis->low, place)
                     : axis->low + place * (axis->high - axis->low);
}

static bool is_line(const wt_series *series) {
    return series->mark == WT_MARK_LINE || series->mark == WT_MARK_BAND;
}

/* A row of the data, at places of the two axes. */
static void write_place(wt_script *script, const wt_extent *x, const wt_extent *y, double across,
                        double up) {
    wt_script_number(script, value_at(x, across));
    wt_script_add(script, " ");
    wt_script_number(script, value_at(y, up));
    wt_script_add(script, "\n");
}

/* From one place to the next. Of `lines` lines on the same way each takes its turn. */
static void write_way(wt_script *script, const wt_extent *x, const wt_extent *y, const double *from,
                      const double *to, double columns, size_t turn, size_t lines) {
    double far = fmax(fabs(to[0] - from[0]), fabs(to[1] - from[1]));
    size_t steps = (size_t)ceil(1 + columns * far);
    for (size_t s = 1; s <= steps; s++) {
        double share = (double)s / (double)steps;
        double across = from[0] + share * (to[0] - from[0]);
        double up = from[1] + share * (to[1] - from[1]);
        long cell = lround(columns * across) + lround(columns / 4 * up);
        if (cell >= 0 && (size_t)cell % lines == turn)
            write_place(script, x, y, across, up);
    }
}

/* Points that are bounds alone, or all others, into a block of data. Lines go through every
 * character on their way; points at one x stand beside each other, a column a series, so that none
 * covers another. */
static void write_points(wt_script *script, const wt_panel *panel, size_t number, bool bounds,
                         const wt_extent *x, const wt_extent *y, double columns) {
    const wt_series *series = &panel->series[number];
    size_t lines = 0, turn = 0, n = panel->series_count;
    double from[2] = {NAN, NAN}, apart = fmin(1 / columns, 0.2 / (double)n);
    double shift = is_line(series) ? 0 : apart * ((double)number - (double)(n - 1) / 2);
    for (size_t i = 0; i < n; i++) {
        turn += i < number && is_line(&panel->series[i]);
        lines += is_line(&panel->series[i]);
    }
    /* an empty block cannot be plotted */
    wt_script_add(script, "$%c%zu << EOD\nNaN NaN\n", bounds ? 'O' : 'S', number);
    for (size_t k = 0; k < series->count; k++) {
        bool shown = is_bound(series, k) == bounds && wt_extent_can_show(x, series->x[k]) &&
                     wt_extent_can_show(y, series->y[k]);
        const double to[2] = {shown ? place_of(x, series->x[k]) + shift : NAN,
                              shown ? place_of(y, series->y[k]) : NAN};
        if (shown && is_line(series) && !isnan(from[0]))
            write_way(script, x, y, from, to, columns, turn, lines);
        else if (shown)
            write_place(script, x, y, to[0], to[1]);
        from[0] = to[0];
        from[1] = to[1];
    }
    wt_script_add(script, "EOD\n");
}

/* A terminal cannot turn letters, so that the label of y stands behind the title. */
static void write_labels(wt_script *script, const wt_panel *panel) {
    wt_script_add(script, "set title ");
    wt_script_quote(script, panel->title);
    wt_script_add(script, panel->title != NULL && panel->y.label != NULL ? ".': '." : ".''.");
    wt_script_quote(script, panel->y.label);
    wt_script_add(script, " noenhanced\nset xlabel ");
    wt_script_quote(script, panel->x.label);
    wt_script_add(script, " noenhanced\n");
}

static void write_panel(wt_script *script, const wt_figure *figure, const wt_panel *panel,
                        double width) {
    wt_extent x, y;
    wt_figure_extents(figure, panel, &x, &y);
    wt_script_add(
        script,
        "set encoding utf8\nset datafile missing 'NaN'\nunset key\nset border 3\nset tics out\n");
    wt_ticking along = {.most = 5, .letters = width - 12, .labelled = true, .plain = true};
    wt_ticking up = {.most = 6, .labelled = true, .plain = true};
    wt_axis_script(script, 'x', &x, &along);
    wt_axis_script(script, 'y', &y, &up);
    write_labels(script, panel);
    for (size_t i = 0; i < panel->series_count; i++) {
        write_points(script, panel, i, false, &x, &y, width - 12);
        write_points(script, panel, i, true, &x, &y, width - 12);
    }
    for (size_t i = 0; i < panel->series_count; i++) {
        char letter = letter_of(figure, &panel->series[i]);
        wt_script_add(script, "%s $S%zu using 1:2 with points pt '%c' notitle",
                      i == 0 ? "plot" : ",", i, letter);
        wt_script_add(script, ", $O%zu using 1:2 with points pt '%c' notitle", i,
                      (char)tolower((unsigned char)letter));
    }
    wt_script_add(script, "\n");
}

static wt_status add_panel_text(wt_context *context, const wt_figure *figure, const wt_panel *panel,
                                size_t width, wt_script *out) {
    if (wt_panel_own_heat(panel)) {
        shade_entries(out, panel, width);
        return out->status;
    }
    if (panel->heat != NULL) {
        shade(out, figure, panel, width);
        return out->status;
    }
    wt_script script = {.context = context};
    char *text = NULL;
    size_t bytes, height = width / 4 < 16 ? 16 : width / 4 > 28 ? 28 : width / 4;
    wt_status status;
    wt_script_add(&script, "set terminal dumb size %zu,%zu noenhanced mono\n", width, height);
    write_panel(&script, figure, panel, (double)width);
    WT_TRY(wt_gnuplot_run(context, &script, &text, &bytes));
    add_trimmed(out, text);
    status = out->status;
done:
    wt_script_free(&script);
    wt_release(text);
    return status;
}

wt_status wt_figure_text(wt_context *context, const wt_figure *given, size_t width, char **out) {
    wt_arena arena = wt_arena_start(context, "a figure");
    wt_script text = {.context = context};
    wt_figure figure;
    wt_status status;
    *out = NULL;
    if (width < 20 || width > 1000)
        return wt_fail(context, WT_USAGE, "a figure in characters is 20 to 1000 wide, not %zu",
                       width);
    WT_TRY(wt_figure_read(&arena, given, &figure));
    WT_TRY(wt_figure_check(context, &figure));
    if (figure.title != NULL)
        wt_script_add(&text, "%s\n\n", figure.title);
    add_legend(&text, &figure, width);
    for (size_t i = 0; i < figure.panel_count; i++)
        if (!wt_panel_blank(&figure.panels[i]))
            WT_TRY(add_panel_text(context, &figure, &figure.panels[i], width, &text));
    *out = text.text;
    text.text = NULL;
done:
    wt_arena_free(&arena);
    wt_script_free(&text);
    return status;
}
