#include "report/chart.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum { LOOKED_AT = 1000, PRUNED_AT = 200 };

/* One piece of the arena: charts of large stores have many series. */
wt_chart_series *wt_chart_series_open(wt_chart *chart, size_t points) {
    wt_chart_series *series = &chart->series[chart->series_count];
    size_t bytes = 4 * sizeof *series->x + sizeof *series->cells + sizeof *series->open;
    double *x = (double *)(void *)WT_TAKE_ZERO(&chart->arena, unsigned char, points, bytes);
    if (x == NULL)
        return NULL;
    *series =
        (wt_chart_series){.x = x, .y = x + points, .low = x + 2 * points, .high = x + 3 * points};
    series->cells = (size_t *)(void *)(x + 4 * points);
    series->open = (unsigned char *)(series->cells + points);
    chart->series_count++;
    return series;
}

void wt_chart_free(wt_chart *chart) {
    wt_arena_free(&chart->arena);
    *chart = (wt_chart){0};
}

wt_status wt_chart_build(wt_context *context, const wt_results *results, const wt_chart_spec *spec,
                         wt_chart *out) {
    *out = (wt_chart){.spec = spec, .arena = wt_arena_start(context, "a chart")};
    return spec->build(context, results, spec, out);
}

/* Numbers by size, also within words, and the rest by letters: "length=50 m=9" before "length=50
 * m=10". */
static int compare_words(const char *a, const char *b) {
    double left, right;
    char *a_end, *b_end;
    if (wt_real_parse(a, &left) && wt_real_parse(b, &right))
        return (left > right) - (left < right);
    while (*a != '\0' && *b != '\0') {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            left = strtod(a, &a_end);
            right = strtod(b, &b_end);
            if (left != right)
                return left < right ? -1 : 1;
            a = a_end;
            b = b_end;
        } else if (*a != *b) {
            return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        } else {
            a++;
            b++;
        }
    }
    return (*a != '\0') - (*b != '\0');
}

/* A line among those of its panel and name. */
typedef struct {
    const wt_lines *lines;
    uint32_t panel, name; /* values */
    size_t index;
} member;

static int by_group(const void *left, const void *right) {
    const member *a = left, *b = right;
    int order = (a->panel > b->panel) - (a->panel < b->panel);
    if (order == 0)
        order = (a->name > b->name) - (a->name < b->name);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

/* Names of parameters; those of a chart's lines are few. */
typedef struct {
    uint32_t *names;
    size_t count, room;
} names;

static bool has_name(const names *all, uint32_t name) {
    for (size_t i = 0; i < all->count; i++)
        if (all->names[i] == name)
            return true;
    return false;
}

static wt_status add_name(wt_context *context, names *to, uint32_t name) {
    if (!has_name(to, name)) {
        WT_PASS(WT_GROW(context, &to->names, to->count, &to->room, "a chart"));
        to->names[to->count++] = name;
    }
    return WT_OK;
}

/* The names in which two lines differ, one of them missing in the other too. */
static wt_status add_differences(wt_context *context, const wt_lines *lines, const wt_line *a,
                                 const wt_line *b, names *to) {
    const wt_line *const both[] = {a, b};
    uint32_t name, value;
    for (size_t i = 0; i < 2; i++)
        for (size_t cursor = 0; wt_line_next(lines, both[i], &cursor, &name, &value);)
            if (wt_line_value(lines, both[1 - i], name) != value)
                WT_PASS(add_name(context, to, name));
    return WT_OK;
}

/* Appends " key=value" for every parameter in which lines of the same panel and name differ. */
static void append_varied(const wt_lines *lines, const wt_line *line, const names *varied,
                          wt_chart_series *series) {
    uint32_t name, value;
    for (size_t cursor = 0; wt_line_next(lines, line, &cursor, &name, &value);) {
        char key[WT_VALUE_TEXT], words[WT_VALUE_TEXT];
        size_t length = strlen(series->name);
        if (!has_name(varied, name))
            continue;
        snprintf(series->name + length, WT_CHART_NAME - length, "%s%s=%s", length > 0 ? " " : "",
                 wt_text_words(lines->results, name, key, sizeof key),
                 wt_text_words(lines->results, value, words, sizeof words));
        wt_utf8_trim(series->name);
    }
}

/* Whether members with the same value of `by` have the same value of `name`. */
static bool is_told(const member *members, size_t count, uint32_t name, uint32_t by) {
    const wt_lines *lines = members->lines;
    for (size_t i = 1; i < count; i++)
        for (size_t k = 0; k < i; k++) {
            const wt_line *a = &lines->lines[members[i].index];
            const wt_line *b = &lines->lines[members[k].index];
            if (wt_line_value(lines, a, by) == wt_line_value(lines, b, by) &&
                wt_line_value(lines, a, name) != wt_line_value(lines, b, name))
                return false;
        }
    return true;
}

/* Drops names that go without saying: another one that is kept tells their values. */
static void prune(const member *members, size_t count, names *varied) {
    for (size_t i = varied->count; i-- > 0 && count <= PRUNED_AT;) {
        bool told = false;
        for (size_t k = 0; k < varied->count && !told; k++)
            told = k != i && is_told(members, count, varied->names[i], varied->names[k]);
        if (told)
            memmove(varied->names + i, varied->names + i + 1,
                    (--varied->count - i) * sizeof *varied->names);
    }
}

/* Members begin .. end-1 share panel and name: what parts them is told. The name is not where all
 * of the chart share it. */
static wt_status name_group(wt_context *context, const member *members, size_t count, bool shared,
                            const wt_chart_spec *spec, wt_chart *out) {
    const wt_lines *lines = members->lines;
    names varied = {0};
    wt_status status = WT_OK;
    for (size_t i = 1; i < count; i++)
        WT_TRY(add_differences(context, lines, &lines->lines[members[0].index],
                               &lines->lines[members[i].index], &varied));
    prune(members, count, &varied);
    for (size_t i = 0; i < count; i++) {
        wt_chart_series *series = &out->series[members[i].index];
        char words[WT_VALUE_TEXT];
        double number;
        wt_text_words(lines->results, members->panel, series->panel, sizeof series->panel);
        wt_text_words(lines->results, members->name, words, sizeof words);
        bool bare = wt_real_parse(words, &number); /* a number alone says nothing */
        if (!shared || varied.count == 0)
            snprintf(series->name, sizeof series->name, "%s%s%s", bare ? spec->name : "",
                     bare ? "=" : "", words);
        append_varied(lines, &lines->lines[members[i].index], &varied, series);
    }
done:
    wt_release(varied.names);
    return status;
}

static wt_status name_series(wt_context *context, const wt_lines *lines, const wt_chart_spec *spec,
                             wt_chart *out) {
    const wt_results *results = lines->results;
    uint32_t panel = spec->panel == NULL ? WT_NO_TEXT : wt_results_name(results, spec->panel);
    uint32_t name = spec->name == NULL ? WT_NO_TEXT : wt_results_name(results, spec->name);
    member *members = NULL;
    bool shared = true;
    wt_status status;
    WT_TRY(WT_NEW(context, &members, lines->line_count, "a chart"));
    for (size_t i = 0; i < lines->line_count; i++)
        members[i] = (member){.lines = lines,
                              .panel = wt_line_value(lines, &lines->lines[i], panel),
                              .name = wt_line_value(lines, &lines->lines[i], name),
                              .index = i};
    for (size_t i = 1; i < lines->line_count; i++)
        shared = shared && members[i].name == members[0].name;
    qsort(members, lines->line_count, sizeof *members, by_group);
    for (size_t begin = 0, end; begin < lines->line_count; begin = end) {
        for (end = begin; end < lines->line_count && members[end].panel == members[begin].panel &&
                          members[end].name == members[begin].name;)
            end++;
        WT_TRY(name_group(context, members + begin, end - begin, shared, spec, out));
    }
done:
    wt_release(members);
    return status;
}

static wt_status add_series(wt_context *context, const wt_lines *lines, size_t index,
                            double *values, wt_chart *out) {
    const wt_line *line = &lines->lines[index];
    const wt_line_point *points = lines->points + line->first;
    wt_chart_series *series = wt_chart_series_open(out, line->different_x);
    if (series == NULL)
        return out->arena.status;
    for (size_t begin = 0, end; begin < line->count; begin = end) {
        for (end = begin; end < line->count && points[end].x == points[begin].x; end++)
            values[end - begin] = points[end].y;
        wt_interval at = wt_line_summary(out->spec->rule, values, end - begin);
        size_t k = series->count++;
        series->x[k] = points[begin].x;
        series->y[k] = at.value;
        series->low[k] = isnan(at.low) ? at.value : at.low; /* drawn without a bar */
        series->high[k] = isnan(at.high) ? at.value : at.high;
        series->cells[k] = end - begin;
    }
    return wt_context_check_cancelled(context);
}

static int by_place(const void *left, const void *right) {
    const wt_chart_series *a = left, *b = right;
    int order = compare_words(a->panel, b->panel);
    return order != 0 ? order : compare_words(a->name, b->name);
}

static const char *const usual_names[] = {"rfa",     "brfa",     "rfmlp",
                                          "rfa-inf", "brfa-inf", "rfmlp-inf"};
static const char *const usual_methods[] = {"refine", "adam", "sculpt"};

static size_t usual_look(const char *name) {
    for (size_t i = 0; i < sizeof usual_names / sizeof *usual_names; i++)
        if (strcmp(usual_names[i], name) == 0)
            return i;
    for (size_t i = 0; i < sizeof usual_methods / sizeof *usual_methods; i++)
        if (strcmp(usual_methods[i], name) == 0)
            return i;
    return WT_LOOKS;
}

/* Quadratic: of many series few are shown, and those are chosen looks for again. */
void wt_chart_looks(wt_chart *chart) {
    bool taken[WT_LOOKS] = {false};
    size_t next = 0;
    for (size_t i = 0; i < chart->series_count; i++)
        if (usual_look(chart->series[i].name) < WT_LOOKS)
            taken[usual_look(chart->series[i].name)] = true;
    for (size_t i = 0; i < chart->series_count; i++) {
        size_t before = 0, look = usual_look(chart->series[i].name);
        while (before < i && strcmp(chart->series[before].name, chart->series[i].name) != 0)
            before++;
        if (before < i)
            look = chart->series[before].look;
        else if (look == WT_LOOKS) {
            for (size_t k = 0; k < WT_LOOKS && taken[next % WT_LOOKS]; k++)
                next++;
            look = next++ % WT_LOOKS;
        }
        chart->series[i].look = look;
    }
}

wt_status wt_chart_lines(wt_context *context, const wt_results *results, const wt_chart_spec *spec,
                         wt_chart *out) {
    wt_lines_query query = {.experiment = spec->experiment,
                            .where = spec->where,
                            .x = spec->x,
                            .y = spec->y,
                            .apart = spec->apart};
    wt_lines lines;
    wt_status status;
    WT_TRY(wt_lines_find(context, results, &query, &lines));
    if (lines.line_count == 0)
        goto done;
    double *values = WT_TAKE(&out->arena, double, lines.point_count);
    out->series = WT_TAKE(&out->arena, wt_chart_series, lines.line_count);
    out->from = WT_TAKE(&out->arena, uint32_t, lines.point_count);
    WT_TRY(out->arena.status);
    for (; out->cells < lines.point_count; out->cells++)
        out->from[out->cells] = lines.points[out->cells].cell;
    for (size_t i = 0; i < lines.line_count; i++)
        WT_TRY(add_series(context, &lines, i, values, out));
    WT_TRY(name_series(context, &lines, spec, out));
    qsort(out->series, out->series_count, sizeof *out->series, by_place);
    if (out->series_count <= LOOKED_AT)
        wt_chart_looks(out);
done:
    wt_lines_free(&lines);
    return status;
}

size_t wt_chart_panel(const wt_chart *chart, size_t first) {
    size_t count = 1;
    while (first + count < chart->series_count &&
           strcmp(chart->series[first + count].panel, chart->series[first].panel) == 0)
        count++;
    return count;
}

wt_figure wt_chart_figure(const wt_chart *chart, wt_panel *panels, wt_series *series) {
    const wt_chart_spec *spec = chart->spec;
    size_t panel_count = 0;
    for (size_t i = 0; i < chart->series_count; i++) {
        const wt_chart_series *from = &chart->series[i];
        series[i] = (wt_series){.name = from->name[0] != '\0' ? from->name : NULL,
                                .mark = from->line     ? WT_MARK_LINE
                                        : from->parted ? WT_MARK_DOTS
                                                       : WT_MARK_POINTS,
                                .look = from->look,
                                .count = from->count,
                                .x = from->x,
                                .y = from->y,
                                .low = from->line ? NULL : from->low,
                                .high = from->line ? NULL : from->high,
                                .open = from->parted ? from->open : NULL};
    }
    for (size_t first = 0, count; first < chart->series_count; first += count) {
        count = wt_chart_panel(chart, first);
        bool rate = spec->rule == WT_TABLE_RULE_RATE;
        panels[panel_count++] = (wt_panel){
            .title = chart->series[first].panel[0] != '\0' ? chart->series[first].panel : NULL,
            .x = {.label = spec->x_label, .log = spec->log_x},
            .y = {.label = spec->y_label,
                  .log = spec->log_y,
                  .low = rate ? -0.03 : 0,
                  .high = rate ? 1.03 : 0},
            .series = series + first,
            .series_count = count};
    }
    return (wt_figure){WT_FIGURE_SIZES, .title = spec->title, .panels = panels,
                       .panel_count = panel_count, .share_y = true};
}

static void csv_number(wt_script *out, double value) {
    if (isfinite(value))
        wt_script_add(out, ",%.17g", value);
    else
        wt_script_add(out, ",");
}

static const char *known_words(unsigned open) {
    static const char *const words[] = {"", "high", "low", "value"};
    if ((open & WT_OPEN_VALUE) != 0)
        return (open & WT_OPEN_HIGH) != 0 ? "above" : "below";
    return words[open & (WT_OPEN_LOW | WT_OPEN_HIGH)];
}

void wt_chart_csv(wt_script *out, const wt_chart *chart, size_t index) {
    const wt_chart_spec *spec = chart->spec;
    const wt_chart_series *series = &chart->series[index];
    bool critical = spec->build == wt_chart_critical;
    if (index == 0)
        wt_script_add(out, "%s,series,%s,%s,low,high,cells%s\n",
                      spec->panel != NULL ? spec->panel : "panel", spec->x, spec->y,
                      critical ? ",known" : "");
    for (size_t k = 0; k < series->count; k++) {
        unsigned open = series->open[k];
        bool bare = series->cells[k] <= 1 || (open & WT_OPEN_VALUE) != 0;
        wt_script_csv(out, series->panel);
        wt_script_add(out, ",");
        wt_script_csv(out, series->name);
        csv_number(out, series->x[k]);
        csv_number(out, series->y[k]);
        csv_number(out, bare || (open & WT_OPEN_LOW) != 0 ? NAN : series->low[k]);
        csv_number(out, bare || (open & WT_OPEN_HIGH) != 0 ? NAN : series->high[k]);
        wt_script_add(out, ",%zu%s%s\n", series->cells[k], critical ? "," : "",
                      critical ? known_words(open) : "");
    }
}
