#include "lab/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* What is no number comes first. */
static int compare_numbers(double a, double b) {
    if (isnan(a) || isnan(b))
        return isnan(b) - isnan(a);
    return (a > b) - (a < b);
}

static int compare_whole(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* ---- what the cells of a line share ---------------------------------------------------------- */

/* Notes the names, parted by blanks, as parting no lines. */
static void set_apart(wt_lines *lines, const char *names) {
    char name[WT_VALUE_TEXT];
    while (names != NULL && *names != '\0') {
        size_t length = strcspn(names, " ");
        if (length > 0 && length < sizeof name) {
            memcpy(name, names, length);
            name[length] = '\0';
            uint32_t text = wt_results_name(lines->results, name);
            if (text != WT_NO_TEXT && lines->apart_count < WT_LINES_APART)
                lines->apart[lines->apart_count++] = text;
        }
        names += length + (names[length] == ' ');
    }
}

static bool is_apart(const wt_lines *lines, uint32_t name) {
    for (size_t i = 0; i < lines->apart_count; i++)
        if (lines->apart[i] == name)
            return true;
    return false;
}

/* The parameters of a setting. */
typedef struct {
    const uint32_t *names, *values;
    size_t count;
} parameters;

static parameters parameters_of(const wt_lines *lines, uint32_t setting) {
    parameters all = {.values = wt_setting_values(lines->results, setting)};
    all.names = wt_setting_names(lines->results, setting, &all.count);
    return all;
}

static bool is_shared(const wt_lines *lines, uint32_t name, uint32_t without) {
    return name != without && !is_apart(lines, name);
}

/* The place of the next shared parameter from `at` on; the count past the last. */
static size_t next_shared(const wt_lines *lines, const parameters *all, uint32_t without,
                          size_t at) {
    while (at < all->count && !is_shared(lines, all->names[at], without))
        at++;
    return at;
}

/* JSON texts, each with the letter that follows it: numbers have no end of their own. */
static int compare_texts(const wt_results *results, uint32_t a, char after_a, uint32_t b,
                         char after_b) {
    const wt_text *left = &results->texts[a], *right = &results->texts[b];
    const char *x = results->letters + left->at, *y = results->letters + right->at;
    size_t shared = left->length < right->length ? left->length : right->length;
    int order = memcmp(x, y, shared);
    if (order != 0)
        return order;
    unsigned char next_x = (unsigned char)(left->length > shared ? x[shared] : after_a);
    unsigned char next_y = (unsigned char)(right->length > shared ? y[shared] : after_b);
    return (next_x > next_y) - (next_x < next_y);
}

/* Passes over what two settings share alike, and over what parts no lines, to the place of the next
 * parameter of each; their counts past the last. */
static void pass_alike(const wt_lines *lines, const parameters *a, const parameters *b,
                       uint32_t without, size_t *i, size_t *j) {
    for (*i = *j = 0; *i < a->count || *j < b->count;) {
        bool in_a = *i < a->count, in_b = *j < b->count;
        if (in_a && in_b && a->values[*i] == b->values[*j] && a->names[*i] == b->names[*j]) {
            ++*i;
            ++*j;
        } else if (in_a && !is_shared(lines, a->names[*i], without))
            ++*i;
        else if (in_b && !is_shared(lines, b->names[*j], without))
            ++*j;
        else
            return;
    }
}

/* What follows a value: a comma, or the bracket after the last. */
static char after(const wt_lines *lines, const parameters *all, uint32_t without, size_t at) {
    return next_shared(lines, all, without, at + 1) < all->count ? ',' : '}';
}

/* As strcmp orders {"name":value,..} of what the settings share. */
static int compare_settings(const wt_lines *lines, uint32_t one, uint32_t other, uint32_t without) {
    const wt_results *results = lines->results;
    const parameters a = parameters_of(lines, one), b = parameters_of(lines, other);
    size_t i, j;
    pass_alike(lines, &a, &b, without, &i, &j);
    if (i == a.count || j == b.count)
        return (j < b.count) - (i < a.count); /* a bracket comes after a comma and after a quote */
    if (a.names[i] != b.names[j])
        return compare_texts(results, a.names[i], ':', b.names[j], ':');
    return compare_texts(results, a.values[i], after(lines, &a, without, i), b.values[j],
                         after(lines, &b, without, j));
}

int wt_line_order(const wt_lines *lines, const wt_line *a, const wt_line *b, uint32_t without) {
    return compare_settings(lines, a->setting, b->setting, without);
}

bool wt_line_next(const wt_lines *lines, const wt_line *line, size_t *cursor, uint32_t *name,
                  uint32_t *value) {
    const parameters all = parameters_of(lines, line->setting);
    *cursor = next_shared(lines, &all, WT_NO_TEXT, *cursor);
    if (*cursor == all.count)
        return false;
    *name = all.names[*cursor];
    *value = all.values[(*cursor)++];
    return true;
}

uint32_t wt_line_value(const wt_lines *lines, const wt_line *line, uint32_t name) {
    return is_apart(lines, name) ? WT_NO_TEXT
                                 : wt_setting_value(lines->results, line->setting, name);
}

/* ---- finding them ---------------------------------------------------------------------------- */

/* A setting whose cells are in a line, and where their points go. */
typedef struct {
    const wt_lines *lines;
    uint32_t setting, line;
    double x; /* NaN where it is a metric's */
    size_t next;
} member;

typedef struct {
    const wt_lines_query *query;
    member *members;
    size_t count;
    uint32_t *of_setting;  /* number of the member + 1 of every setting; 0 = none */
    uint32_t x, y, demand; /* names */
} search;

static int by_line(const void *left, const void *right) {
    const member *a = left, *b = right;
    int order = compare_settings(a->lines, a->setting, b->setting, WT_NO_TEXT);
    if (order == 0)
        order = compare_numbers(a->x, b->x);
    return order != 0 ? order : compare_whole(a->setting, b->setting);
}

static int by_draw(const void *left, const void *right) {
    const wt_line_point *a = left, *b = right;
    int order = compare_numbers(a->x, b->x);
    if (order == 0)
        order = compare_whole(a->seed, b->seed);
    if (order == 0)
        order = compare_whole(a->rep, b->rep);
    return order != 0 ? order : compare_whole(a->cell, b->cell);
}

/* The settings that fit, in the order of their lines and x; lines are numbered. */
static wt_status find_members(wt_context *context, wt_lines *lines, search *found) {
    const wt_results *results = lines->results;
    uint32_t experiment = wt_results_experiment(results, found->query->experiment);
    WT_PASS(WT_NEW_ZERO(context, &found->of_setting, results->setting_count, "lines"));
    for (uint32_t i = 0; i < results->setting_count; i++) {
        WT_PASS(wt_context_check_cancelled(context));
        if (results->settings[i].experiment != experiment ||
            results->settings[i].cells + results->settings[i].lost == 0 ||
            !wt_setting_fits(results, i, found->query->where))
            continue;
        found->of_setting[i] = 1;
        found->count++;
        lines->failed += results->settings[i].lost;
    }
    WT_PASS(WT_NEW(context, &found->members, found->count, "lines"));
    for (uint32_t i = 0, k = 0; k < found->count; i++) {
        if (found->of_setting[i] == 0)
            continue;
        uint32_t value = wt_setting_value(results, i, found->x);
        double x = value == WT_NO_TEXT ? NAN : results->texts[value].number;
        found->members[k++] = (member){.lines = lines, .setting = i, .x = x};
    }
    if (found->count > 0)
        qsort(found->members, found->count, sizeof *found->members, by_line);
    for (uint32_t k = 0; k < found->count; k++) {
        member *one = &found->members[k];
        found->of_setting[one->setting] = k + 1;
        if (k > 0)
            one->line = one[-1].line +
                        (compare_settings(lines, one[-1].setting, one->setting, WT_NO_TEXT) != 0);
    }
    return WT_OK;
}

static size_t cell_count(const search *found, const wt_results *results) {
    return results->count + (found->query->failures ? results->failed : 0);
}

/* The point of a cell; false when it has no x or y. */
static bool point_of(const wt_lines *lines, const search *found, const member *one, uint32_t index,
                     wt_line_point *out) {
    const wt_result *cell = wt_results_cell(lines->results, index);
    *out = (wt_line_point){.y = wt_result_metric(lines->results, cell, found->y, INFINITY),
                           .seed = cell->seed,
                           .rep = cell->rep,
                           .line = one->line,
                           .cell = index};
    if (found->query->x != NULL)
        out->x = wt_result_metric(lines->results, cell, found->x, one->x);
    if (index >= lines->results->count)
        out->y = 0;
    if (out->y == INFINITY) /* no metric: a parameter, the seed */
        out->y = wt_result_number(lines->results, cell, found->query->y);
    if (found->query->x != NULL && isnan(out->x))
        out->x = wt_result_number(lines->results, cell, found->query->x);
    if (found->demand != WT_NO_TEXT &&
        wt_result_metric(lines->results, cell, found->demand, NAN) != 1)
        return false;
    return isfinite(out->x) && isfinite(out->y);
}

/* Counts the points of every member, then puts them there; all cells are looked at twice. */
static wt_status gather(wt_context *context, wt_lines *lines, search *found) {
    const wt_results *results = lines->results;
    wt_line_point point;
    for (uint32_t i = 0; i < cell_count(found, results); i++) {
        uint32_t number = found->of_setting[wt_results_cell(results, i)->setting];
        WT_PASS(wt_context_check_cancelled(context));
        if (number == 0)
            continue;
        bool whole = point_of(lines, found, &found->members[number - 1], i, &point);
        found->members[number - 1].next += whole;
        lines->point_count += whole;
        lines->left_out += !whole;
    }
    WT_PASS(WT_NEW(context, &lines->points, lines->point_count, "lines"));
    size_t first = 0;
    for (size_t k = 0; k < found->count; k++) {
        size_t count = found->members[k].next;
        found->members[k].next = first;
        first += count;
    }
    for (uint32_t i = 0; i < cell_count(found, results); i++) {
        uint32_t number = found->of_setting[wt_results_cell(results, i)->setting];
        if (number != 0 && point_of(lines, found, &found->members[number - 1], i, &point))
            lines->points[found->members[number - 1].next++] = point;
    }
    return WT_OK;
}

/* Points of one line in their order. Cells come in the order of their hashes, so that those of a
 * setting are mixed; where x is a parameter the settings are in order, and only they are sorted. */
static void sort_line(wt_line_point *points, size_t count) {
    for (size_t begin = 0, end; begin < count; begin = end) {
        double x = points[begin].x;
        for (end = begin + 1; end < count && points[end].x == x;)
            end++;
        if (end < count && points[end].x < x) { /* x is a metric */
            qsort(points, count, sizeof *points, by_draw);
            return;
        }
        qsort(points + begin, end - begin, sizeof *points, by_draw);
    }
}

/* Lines with their points, which move up where lines are left out. */
static wt_status arrange(wt_context *context, wt_lines *lines, const search *found) {
    const wt_results *results = lines->results;
    size_t end, kept = 0;
    WT_PASS(WT_NEW(context, &lines->lines, found->count, "lines"));
    for (size_t begin = 0; begin < lines->point_count; begin = end) {
        wt_line_point *points = lines->points + begin;
        for (end = begin + 1; end < lines->point_count && lines->points[end].line == points->line;)
            end++;
        size_t count = end - begin, different = 1;
        WT_PASS(wt_context_check_cancelled(context));
        sort_line(points, count);
        for (size_t i = 1; i < count; i++)
            different += points[i].x != points[i - 1].x;
        if (different < 2 && !found->query->every)
            continue;
        for (size_t i = 0; i < count; i++)
            points[i].line = (uint32_t)lines->line_count;
        lines->lines[lines->line_count++] =
            (wt_line){.setting = wt_results_cell(results, points->cell)->setting,
                      .first = kept,
                      .count = count,
                      .different_x = different};
        memmove(lines->points + kept, points, count * sizeof *points);
        kept += count;
    }
    lines->point_count = kept;
    return WT_OK;
}

wt_status wt_lines_find(wt_context *context, const wt_results *results, const wt_lines_query *query,
                        wt_lines *out) {
    search found = {.query = query,
                    .x = query->x == NULL ? WT_NO_TEXT : wt_results_name(results, query->x),
                    .y = wt_results_name(results, query->y),
                    .demand = query->demand == NULL ? WT_NO_TEXT
                                                    : wt_results_name(results, query->demand)};
    wt_status status;
    *out = (wt_lines){.results = results};
    set_apart(out, query->x);
    set_apart(out, query->apart);
    set_apart(out, "seed");
    WT_TRY(find_members(context, out, &found));
    WT_TRY(gather(context, out, &found));
    WT_TRY(arrange(context, out, &found));
done:
    wt_release(found.members);
    wt_release(found.of_setting);
    return status;
}

void wt_lines_free(wt_lines *lines) {
    wt_release(lines->lines);
    wt_release(lines->points);
    *lines = (wt_lines){0};
}

/* ---- looking them up ------------------------------------------------------------------------- */

const wt_line *wt_lines_alike(const wt_lines *lines, const wt_lines *like, size_t index) {
    size_t low = 0, high = lines->line_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_settings(lines, lines->lines[middle].setting,
                                     like->lines[index].setting, WT_NO_TEXT);
        if (order == 0)
            return &lines->lines[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const wt_line_point *wt_lines_at(const wt_lines *lines, const wt_line *line, double x, int64_t seed,
                                 int64_t rep) {
    const wt_line_point wanted = {.x = x, .seed = seed, .rep = rep};
    size_t low = line->first, end = line->first + line->count, high = end;
    while (low < high) { /* the first that does not come before it */
        size_t middle = low + (high - low) / 2;
        if (by_draw(&lines->points[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    const wt_line_point *found = &lines->points[low];
    return low < end && found->x == x && found->seed == seed && found->rep == rep ? found : NULL;
}
