#include "lab/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

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

static char *add_text(const wt_results *results, char *end, uint32_t text) {
    memcpy(end, results->letters + results->texts[text].at, results->texts[text].length);
    return end + results->texts[text].length;
}

const char *wt_line_key(wt_arena *arena, const wt_lines *lines, uint32_t setting,
                        uint32_t without) {
    const wt_results *results = lines->results;
    size_t count, bytes = sizeof "{}";
    const uint32_t *names = wt_setting_names(results, setting, &count);
    const uint32_t *values = wt_setting_values(results, setting);
    for (size_t i = 0; i < count; i++)
        bytes += results->texts[names[i]].length + results->texts[values[i]].length + 2;
    char *key = WT_TAKE(arena, char, bytes), *end = key;
    if (key == NULL)
        return NULL;
    *end++ = '{';
    for (size_t i = 0; i < count; i++) {
        if (names[i] == without || is_apart(lines, names[i]))
            continue;
        if (end > key + 1)
            *end++ = ',';
        end = add_text(results, end, names[i]);
        *end++ = ':';
        end = add_text(results, end, values[i]);
    }
    memcpy(end, "}", 2);
    return key;
}

bool wt_line_next(const wt_lines *lines, const wt_line *line, size_t *cursor, uint32_t *name,
                  uint32_t *value) {
    size_t count;
    const uint32_t *names = wt_setting_names(lines->results, line->setting, &count);
    while (*cursor < count && is_apart(lines, names[*cursor]))
        ++*cursor;
    if (*cursor == count)
        return false;
    *name = names[*cursor];
    *value = wt_setting_values(lines->results, line->setting)[(*cursor)++];
    return true;
}

uint32_t wt_line_value(const wt_lines *lines, const wt_line *line, uint32_t name) {
    return is_apart(lines, name) ? WT_NO_TEXT
                                 : wt_setting_value(lines->results, line->setting, name);
}

/* ---- finding them ---------------------------------------------------------------------------- */

/* A setting whose cells are in a line. */
typedef struct {
    const char *key;
    uint32_t setting, line;
    double x; /* NaN where it is a metric's */
} member;

typedef struct {
    const wt_lines_query *query;
    wt_arena arena; /* holds what is pointed to and not const */
    member *members;
    size_t count, cells;   /* members, cells of theirs */
    uint32_t *of_setting;  /* number of the member + 1 of every setting; 0 = none */
    uint32_t x, y, demand; /* names */
} search;

static int by_key(const void *left, const void *right) {
    const member *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    return order != 0 ? order : compare_whole(a->setting, b->setting);
}

static int by_draw(const void *left, const void *right) {
    const wt_line_point *a = left, *b = right;
    int order = compare_whole(a->line, b->line);
    if (order == 0)
        order = (a->x > b->x) - (a->x < b->x);
    if (order == 0)
        order = compare_whole(a->seed, b->seed);
    if (order == 0)
        order = compare_whole(a->rep, b->rep);
    return order != 0 ? order : compare_whole(a->cell, b->cell);
}

/* The settings that fit, in the order of their lines, which are numbered. */
static wt_status find_members(wt_context *context, wt_lines *lines, search *found) {
    const wt_results *results = lines->results;
    uint32_t experiment = wt_results_experiment(results, found->query->experiment);
    found->of_setting = WT_TAKE_ZERO(&found->arena, uint32_t, results->setting_count);
    found->members = WT_TAKE(&found->arena, member, results->setting_count);
    WT_PASS(found->arena.status);
    for (uint32_t i = 0; i < results->setting_count; i++) {
        const wt_setting *setting = &results->settings[i];
        WT_PASS(wt_context_check_cancelled(context));
        if (setting->experiment != experiment || setting->cells + setting->lost == 0 ||
            !wt_setting_fits(results, i, found->query->where))
            continue;
        uint32_t value = wt_setting_value(results, i, found->x);
        found->members[found->count++] =
            (member){.key = wt_line_key(&lines->arena, lines, i, WT_NO_TEXT),
                     .setting = i,
                     .x = value == WT_NO_TEXT ? NAN : results->texts[value].number};
        WT_PASS(lines->arena.status);
        found->cells += setting->cells + setting->lost;
        lines->failed += setting->lost;
    }
    if (found->count > 0)
        qsort(found->members, found->count, sizeof *found->members, by_key);
    for (uint32_t k = 0; k < found->count; k++) {
        member *one = &found->members[k];
        found->of_setting[one->setting] = k + 1;
        if (k > 0)
            one->line = one[-1].line + (strcmp(one[-1].key, one->key) != 0);
    }
    return WT_OK;
}

/* The point of a cell; false when it has no x or y. */
static bool point_of(const wt_lines *lines, const search *found, const member *one, uint32_t index,
                     wt_line_point *out) {
    const wt_result *cell = wt_results_cell(lines->results, index);
    *out = (wt_line_point){.y = wt_result_metric(lines->results, cell, found->y, INFINITY),
                           .seed = cell->seed,
                           .rep = cell->rep,
                           .line = one->line,
                           .setting = cell->setting,
                           .cell = index};
    if (found->query->x != NULL)
        out->x = wt_result_metric(lines->results, cell, found->x, one->x);
    if (index >= lines->results->done.count)
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

/* The points of all members, in the order of their lines. */
static wt_status gather(wt_context *context, wt_lines *lines, const search *found) {
    const wt_results *results = lines->results;
    const size_t cells = results->done.count + (found->query->failures ? results->lost.count : 0);
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t number = found->of_setting[wt_results_cell(results, i)->setting];
        wt_line_point point;
        WT_PASS(wt_context_check_cancelled(context));
        wt_results_pass(results, i);
        if (number == 0)
            continue;
        bool whole = point_of(lines, found, &found->members[number - 1], i, &point);
        lines->left_out += !whole;
        if (whole)
            WT_PASS(wt_shelf_add(context, &lines->shelf, &point));
    }
    WT_PASS(wt_shelf_sort(context, &lines->shelf, by_draw));
    return wt_context_check_cancelled(context);
}

/* Lines with their points, which move up where lines are left out. */
static wt_status arrange(wt_lines *lines, const search *found) {
    wt_line_point *all = lines->shelf.items;
    const size_t points = lines->shelf.count;
    size_t end, kept = 0;
    lines->lines = WT_TAKE(&lines->arena, wt_line, found->count);
    WT_PASS(lines->arena.status);
    for (size_t begin = 0; begin < points; begin = end) {
        const uint32_t line = all[begin].line, number = (uint32_t)lines->line_count;
        size_t different = 1;
        for (end = begin + 1; end < points && all[end].line == line; end++) {
            different += all[end].x != all[end - 1].x;
            wt_shelf_pass(&lines->shelf, end);
        }
        if (different < 2 && !found->query->every)
            continue;
        const uint32_t setting = all[begin].setting;
        lines->lines[lines->line_count++] =
            (wt_line){.setting = setting,
                      .key = found->members[found->of_setting[setting] - 1].key,
                      .first = kept,
                      .count = end - begin,
                      .different_x = different};
        for (size_t i = begin; i < end; i++) {
            all[kept] = all[i];
            all[kept++].line = number;
            wt_shelf_pass(&lines->shelf, i);
        }
    }
    lines->points = all;
    lines->point_count = kept;
    return WT_OK;
}

wt_status wt_lines_find(wt_context *context, const wt_results *results, const wt_lines_query *query,
                        wt_lines *out) {
    search found = {.query = query,
                    .arena = wt_arena_start(context, "lines"),
                    .x = query->x == NULL ? WT_NO_TEXT : wt_results_name(results, query->x),
                    .y = wt_results_name(results, query->y),
                    .demand = query->demand == NULL ? WT_NO_TEXT
                                                    : wt_results_name(results, query->demand)};
    wt_status status;
    *out = (wt_lines){
        .results = results,
        .shelf = {.folder = results->folder, .what = "points", .size = sizeof(wt_line_point)},
        .arena = wt_arena_start(context, "lines")};
    set_apart(out, query->x);
    set_apart(out, query->apart);
    set_apart(out, "seed");
    WT_TRY(find_members(context, out, &found));
    WT_TRY(gather(context, out, &found));
    WT_TRY(arrange(out, &found));
done:
    wt_arena_free(&found.arena);
    return status;
}

void wt_lines_free(wt_lines *lines) {
    wt_shelf_free(&lines->shelf);
    wt_arena_free(&lines->arena);
    *lines = (wt_lines){0};
}

/* ---- looking them up ------------------------------------------------------------------------- */

static int compare_key(const void *key, const void *line) {
    return strcmp(key, ((const wt_line *)line)->key);
}

const wt_line *wt_lines_alike(const wt_lines *lines, const wt_lines *like, size_t index) {
    return lines->line_count == 0 ? NULL
                                  : bsearch(like->lines[index].key, lines->lines, lines->line_count,
                                            sizeof *lines->lines, compare_key);
}

const wt_line_point *wt_lines_at(const wt_lines *lines, const wt_line *line, double x, int64_t seed,
                                 int64_t rep) {
    const wt_line_point wanted = {
        .line = lines->points[line->first].line, .x = x, .seed = seed, .rep = rep};
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
