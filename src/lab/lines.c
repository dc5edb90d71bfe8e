#include "lab/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* One cell that fits, before lines are known. */
typedef struct {
    char *key;
    json_t *parameters;
    wt_line_point point;
} candidate;

static int compare_numbers(double a, double b) {
    return (a > b) - (a < b);
}

static int compare_whole(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static int by_place(const void *left, const void *right) {
    const candidate *a = left, *b = right;
    int order = strcmp(a->key, b->key);
    if (order == 0)
        order = compare_numbers(a->point.x, b->point.x);
    if (order == 0)
        order = compare_whole(a->point.seed, b->point.seed);
    if (order == 0)
        order = compare_whole(a->point.rep, b->point.rep);
    return order != 0 ? order : compare_whole((int64_t)a->point.cell, (int64_t)b->point.cell);
}

/* Drops the names (parted by blanks) from the object. */
static void drop(json_t *object, const char *names) {
    char name[WT_VALUE_TEXT];
    while (names != NULL && *names != '\0') {
        size_t length = strcspn(names, " ");
        if (length > 0 && length < sizeof name) {
            memcpy(name, names, length);
            name[length] = '\0';
            json_object_del(object, name);
        }
        names += length + (names[length] == ' ');
    }
}

static wt_status shared_part(wt_context *context, const wt_result *cell,
                             const wt_lines_query *query, candidate *out) {
    const size_t flags = JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY;
    wt_status status;
    out->parameters = json_copy(cell->parameters);
    if (out->parameters == NULL)
        return wt_fail(context, WT_MEMORY, "no memory for parameters");
    drop(out->parameters, query->x);
    drop(out->parameters, query->apart);
    drop(out->parameters, "rep seed");
    size_t bytes = json_dumpb(out->parameters, NULL, 0, flags);
    WT_TRY(WT_NEW_ZERO(context, &out->key, bytes + 1, "parameters"));
    json_dumpb(out->parameters, out->key, bytes, flags);
done:
    return status;
}

static wt_status gather(wt_context *context, const wt_results *results, const wt_lines_query *query,
                        candidate *found, size_t *count, size_t *left_out) {
    wt_status status = WT_OK;
    for (size_t i = 0; i < results->count; i++) {
        const wt_result *cell = &results->cells[i];
        if (cell->failed || strcmp(cell->experiment, query->experiment) != 0 ||
            !wt_result_fits(cell, query->where))
            continue;
        double rep = wt_result_number(cell, "rep");
        wt_line_point point = {.x = query->x == NULL ? 0 : wt_result_number(cell, query->x),
                               .y = wt_result_number(cell, query->y),
                               .seed = cell->seed,
                               .rep = isnan(rep) ? 0 : (int64_t)rep,
                               .cell = i};
        if (!isfinite(point.x) || !isfinite(point.y)) {
            ++*left_out;
            continue;
        }
        found[*count].point = point;
        WT_TRY(shared_part(context, cell, query, &found[(*count)++]));
    }
done:
    return status;
}

static size_t different_x(const candidate *found, size_t count) {
    size_t different = 0;
    for (size_t i = 0; i < count; i++)
        different += i == 0 || found[i].point.x != found[i - 1].point.x;
    return different;
}

/* Moves the sorted candidates, one line after the other. */
static void arrange(candidate *found, size_t count, const wt_lines_query *query, wt_lines *out) {
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && strcmp(found[end].key, found[begin].key) == 0;)
            end++;
        size_t different = different_x(found + begin, end - begin);
        if (different < 2 && !query->every)
            continue;
        wt_line *line = &out->lines[out->line_count];
        *line = (wt_line){.key = found[begin].key,
                          .parameters = found[begin].parameters,
                          .first = out->point_count,
                          .count = end - begin,
                          .different_x = different};
        found[begin].key = NULL;
        found[begin].parameters = NULL;
        for (size_t i = begin; i < end; i++) {
            out->points[out->point_count] = found[i].point;
            out->points[out->point_count++].line = out->line_count;
        }
        out->line_count++;
    }
}

wt_status wt_lines_find(wt_context *context, const wt_results *results, const wt_lines_query *query,
                        wt_lines *out) {
    candidate *found = NULL;
    size_t count = 0;
    wt_status status;
    *out = (wt_lines){0};
    WT_TRY(WT_NEW_ZERO(context, &found, results->count, "lines"));
    WT_TRY(gather(context, results, query, found, &count, &out->left_out));
    if (count > 0)
        qsort(found, count, sizeof *found, by_place);
    WT_TRY(WT_NEW_ZERO(context, &out->lines, count, "lines"));
    WT_TRY(WT_NEW_ZERO(context, &out->points, count, "lines"));
    arrange(found, count, query, out);
done:
    for (size_t i = 0; i < count; i++) {
        wt_release(found[i].key);
        json_decref(found[i].parameters);
    }
    wt_release(found);
    return status;
}

void wt_lines_free(wt_lines *lines) {
    for (size_t i = 0; i < lines->line_count; i++) {
        wt_release(lines->lines[i].key);
        json_decref(lines->lines[i].parameters);
    }
    wt_release(lines->lines);
    wt_release(lines->points);
    *lines = (wt_lines){0};
}

const wt_line_point *wt_lines_at(const wt_lines *lines, const char *key, double x, int64_t seed,
                                 int64_t rep) {
    for (size_t i = 0; i < lines->line_count; i++) {
        const wt_line *line = &lines->lines[i];
        if (strcmp(line->key, key) != 0)
            continue;
        for (size_t k = line->first; k < line->first + line->count; k++) {
            const wt_line_point *point = &lines->points[k];
            if (point->x == x && point->seed == seed && point->rep == rep)
                return point;
        }
    }
    return NULL;
}
