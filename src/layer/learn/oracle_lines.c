#define _POSIX_C_SOURCE 200809L
#include "layer/learn/oracle_lines.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MOST ((size_t)64 << 20)
#define READ_ROOM ((size_t)1 << 16)

void wt_oracle_lines_free(wt_oracle_lines *lines) {
    wt_release(lines->text);
    lines->text = NULL;
}

/* Room for one more read, with what is left moved to the front. */
static wt_status make_room(wt_context *context, wt_oracle_lines *lines) {
    size_t left = lines->end - lines->begin;
    if (lines->room - lines->end >= READ_ROOM)
        return WT_OK;
    if (left > LINE_MOST)
        return wt_fail(context, WT_DATA, "a line of more than %zu bytes", LINE_MOST);
    if (lines->room < left + READ_ROOM) {
        char *larger;
        size_t room = 2 * left + 2 * READ_ROOM;
        WT_PASS(WT_NEW(context, &larger, room, "lines"));
        if (left > 0)
            memcpy(larger, lines->text + lines->begin, left);
        wt_release(lines->text);
        lines->text = larger;
        lines->room = room;
    } else if (left > 0)
        memmove(lines->text, lines->text + lines->begin, left);
    lines->begin = 0;
    lines->end = left;
    return WT_OK;
}

wt_status wt_oracle_lines_read(wt_context *context, wt_oracle_lines *lines, bool *ended) {
    *ended = false;
    WT_PASS(make_room(context, lines));
    ssize_t got = read(lines->file, lines->text + lines->end, lines->room - lines->end);
    if (got < 0 && errno != EINTR && errno != EAGAIN)
        return wt_fail(context, WT_IO, "lines cannot be read: %s", strerror(errno));
    *ended = got == 0;
    lines->end += got > 0 ? (size_t)got : 0;
    return WT_OK;
}

bool wt_oracle_lines_take(wt_oracle_lines *lines, bool ended, const char **line, size_t *length) {
    size_t left = lines->end - lines->begin;
    if (left == 0)
        return false;
    *line = lines->text + lines->begin;
    const char *end = memchr(*line, '\n', left);
    if (end == NULL && !ended)
        return false;
    *length = end == NULL ? left : (size_t)(end - *line);
    lines->begin += *length + (end == NULL ? 0 : 1);
    return true;
}

static wt_status parse(wt_context *context, const char *line, size_t length, json_t **out) {
    json_error_t error;
    *out = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
    if (*out == NULL && json_error_code(&error) == json_error_out_of_memory)
        return wt_fail(context, WT_MEMORY, "no memory for a JSON line");
    if (*out == NULL)
        return wt_fail(context, WT_DATA, "no JSON: %s", error.text);
    return json_is_array(*out) ? WT_OK : wt_fail(context, WT_DATA, "JSON, but no list");
}

/* The numbers of a list into `out`; `name` says which list. */
static wt_status take_numbers(wt_context *context, const json_t *list, const char *name,
                              double *out) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_number(item))
            return wt_fail(context, WT_DATA, "item %zu of %s is no number", i, name);
        out[i] = json_number_value(item);
    }
    return WT_OK;
}

wt_status wt_oracle_parse_list(wt_context *context, const char *line, size_t length, size_t *count,
                               double **out) {
    json_t *list = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(parse(context, line, length, &list));
    *count = json_array_size(list);
    WT_TRY(WT_NEW(context, out, *count, "numbers"));
    WT_TRY(take_numbers(context, list, "the list", *out));
done:
    json_decref(list);
    if (status != WT_OK) {
        wt_release(*out);
        *out = NULL;
    }
    return status;
}

static wt_status take_row(wt_context *context, const json_t *row, size_t index, size_t columns,
                          double *out) {
    char name[32];
    snprintf(name, sizeof name, "row %zu", index);
    if (!json_is_array(row))
        return wt_fail(context, WT_DATA, "%s is no list", name);
    if (json_array_size(row) != columns)
        return wt_fail(context, WT_DATA, "%s has %zu numbers, not %zu", name, json_array_size(row),
                       columns);
    return take_numbers(context, row, name, out);
}

wt_status wt_oracle_parse_matrix(wt_context *context, const char *line, size_t length,
                                 size_t columns, size_t *rows, double **out) {
    json_t *list = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(parse(context, line, length, &list));
    *rows = json_array_size(list);
    if (*rows == 0) {
        status = wt_fail(context, WT_DATA, "a matrix without rows");
        goto done;
    }
    WT_TRY(WT_NEW2(context, out, *rows, columns, "a matrix"));
    for (size_t i = 0; i < *rows; i++)
        WT_TRY(take_row(context, json_array_get(list, i), i, columns, *out + i * columns));
done:
    json_decref(list);
    if (status != WT_OK) {
        wt_release(*out);
        *out = NULL;
    }
    return status;
}

/* "[1,2]" without an end of line. */
static size_t format_row(size_t count, const double *values, char *out) {
    char *at = out;
    *at++ = '[';
    for (size_t i = 0; i < count; i++)
        at += snprintf(at, WT_ORACLE_NUMBER_BYTES, i == 0 ? "%.17g" : ",%.17g", values[i]);
    *at++ = ']';
    return (size_t)(at - out);
}

size_t wt_oracle_format_list(size_t count, const double *values, char *out) {
    size_t length = format_row(count, values, out);
    out[length] = '\n';
    return length + 1;
}

size_t wt_oracle_format_matrix(size_t rows, size_t columns, const double *values, char *out) {
    char *at = out;
    *at++ = '[';
    for (size_t i = 0; i < rows; i++) {
        if (i > 0)
            *at++ = ',';
        at += format_row(columns, values + i * columns, at);
    }
    *at++ = ']';
    *at++ = '\n';
    return (size_t)(at - out);
}
