/* What the series of a chart are called: what tells them apart, and no more. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "lab/lines.h"
#include "report/chart.h"

enum { PRUNED_AT = 200 };

int wt_words_compare(const char *a, const char *b) {
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

wt_status wt_chart_names(const wt_lines *lines, const wt_chart_spec *spec, wt_chart *out) {
    wt_context *context = out->arena.context;
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
