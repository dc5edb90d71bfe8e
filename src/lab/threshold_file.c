/* The trials of a threshold as a CSV file, one row a trial. The first row has the setting in words;
 * tables from before that have a column less. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/output.h"
#include "io/source.h"
#include "lab/threshold_parts.h"

#define OLD_HEADING                                                                                \
    "setting,length,samples,trial,success,runs,success_step,best_accuracy,redrawn,seconds"
#define HEADING OLD_HEADING ",words"
enum { COLUMNS = 11, WORDS = COLUMNS - 1, MOST_BYTES = 1 << 28 };

static void print_row(wt_output *out, const wt_threshold *threshold, const wt_threshold_row *row,
                      const char *words) {
    wt_output_print(out, "%016" PRIx64 ",%zu,%zu,%zu,%d,%zu,", threshold->key, row->length,
                    row->samples, row->trial, row->result.success, row->result.runs);
    if (row->result.success)
        wt_output_print(out, "%zu", row->result.success_step);
    wt_output_print(out, ",");
    if (row->result.runs > 0)
        wt_output_print(out, "%.17g", row->result.best_accuracy);
    wt_output_print(out, ",%zu,%.1f,", row->result.redrawn, row->result.seconds);
    if (words != NULL)
        wt_output_print(out, "\"%s\"", words);
    wt_output_print(out, "\n");
}

wt_status wt_threshold_write(wt_context *context, const wt_threshold *threshold,
                             const wt_threshold_row *const *ahead, size_t ahead_count,
                             const char *path) {
    wt_output *out = NULL;
    wt_script words = {.context = context};
    size_t count = threshold->count;
    wt_status status;
    wt_threshold_words(threshold, &words);
    WT_TRY(words.status);
    WT_TRY(wt_output_open(context, path, &out));
    wt_output_print(out, HEADING "\n");
    for (size_t i = 0; i < count + ahead_count; i++)
        print_row(out, threshold, i < count ? &threshold->rows[i] : ahead[i - count],
                  i == 0 ? words.text : NULL);
    WT_TRY(wt_output_commit(out));
done:
    wt_output_free(out);
    wt_script_free(&words);
    return status;
}

/* All of the file, with a 0 behind it. */
static wt_status read_text(wt_context *context, const wt_source *source, char **out) {
    if (source->bytes > MOST_BYTES)
        return wt_fail(context, WT_DATA, "%s: is too large for a table of trials", source->shown);
    size_t bytes = (size_t)source->bytes;
    wt_status status = WT_NEW(context, out, bytes + 1, "a table of trials");
    if (status != WT_OK)
        return status;
    if (wt_source_read(source, 0, *out, bytes) != (int64_t)bytes)
        return wt_fail(context, WT_IO, "%s: cannot be read", source->shown);
    (*out)[bytes] = '\0';
    return WT_OK;
}

/* Cuts the line at its commas, but for those of the words; false unless it has so many columns. */
static bool split(char *line, size_t columns, char *fields[COLUMNS]) {
    size_t count = 1;
    fields[0] = line;
    fields[WORDS] = line + strlen(line);
    for (char *at = line; *at != '\0' && count < COLUMNS; at++) {
        if (*at != ',')
            continue;
        *at = '\0';
        fields[count++] = at + 1;
    }
    return count == columns;
}

/* The words without their quotes; false where they are not quoted. */
static bool unquote(char **words) {
    size_t length = strlen(*words);
    if (length == 0)
        return true;
    if (length < 2 || **words != '"' || (*words)[length - 1] != '"')
        return false;
    (*words)[length - 1] = '\0';
    *words += 1;
    return strchr(*words, '"') == NULL;
}

static bool parse_count(const char *text, size_t *out) {
    uint64_t value;
    bool good = wt_unsigned_parse(text, &value) && value <= PTRDIFF_MAX;
    *out = good ? (size_t)value : 0;
    return good;
}

static bool parse_row(char *fields[COLUMNS], wt_threshold_row *out) {
    size_t success;
    wt_train_result *result = &out->result;
    *out = (wt_threshold_row){
        .result = {
            .size = sizeof *result, .best_accuracy = NAN, .loss = NAN, .train_accuracy = NAN}};
    if (!parse_count(fields[1], &out->length) || !parse_count(fields[2], &out->samples) ||
        !parse_count(fields[3], &out->trial) || !parse_count(fields[4], &success) || success > 1 ||
        !parse_count(fields[5], &result->runs) || !parse_count(fields[8], &result->redrawn) ||
        !wt_real_parse(fields[9], &result->seconds))
        return false;
    result->success = success == 1;
    if (result->success != (fields[6][0] != '\0') ||
        (result->success && !parse_count(fields[6], &result->success_step)))
        return false;
    if ((result->runs > 0) != (fields[7][0] != '\0'))
        return false;
    return result->runs == 0 || (wt_real_parse(fields[7], &result->best_accuracy) &&
                                 result->best_accuracy >= 0 && result->best_accuracy <= 1);
}

/* A row of another setting: what differs where it says its own, else what may and what not. */
static wt_status refuse_key(wt_context *context, const wt_threshold *threshold,
                            const wt_source *source, size_t number, const char *there) {
    char difference[WT_THRESHOLD_DIFFERENCE] = "";
    wt_script here = {.context = context};
    wt_threshold_words(threshold, &here);
    wt_status status = here.status;
    if (status == WT_OK && *there != '\0')
        wt_threshold_difference(there, here.text, difference);
    wt_script_free(&here);
    WT_PASS(status);
    if (*difference != '\0')
        return wt_fail(context, WT_DATA, "%s: line %zu is a trial of another setting or seed: %s",
                       source->shown, number, difference);
    return wt_fail(context, WT_DATA,
                   "%s: line %zu is a trial of another setting or seed; lengths, samples, "
                   "resolution, trials, rate and around may change from run to run, but task, "
                   "network, training, restarts and seed must be those of the table",
                   source->shown, number);
}

static wt_status read_line(wt_context *context, wt_threshold *threshold, const wt_source *source,
                           size_t number, size_t columns, char *line) {
    char *fields[COLUMNS] = {NULL}, key[20];
    wt_threshold_row row;
    bool good = split(line, columns, fields) && unquote(&fields[WORDS]);
    if (good && threshold->setting.as_made && threshold->count == 0)
        wt_threshold_take_device(threshold, fields[WORDS]); /* old tables are the host's */
    snprintf(key, sizeof key, "%016" PRIx64, threshold->key);
    if (good && strcmp(fields[0], key) != 0)
        return refuse_key(context, threshold, source, number, fields[WORDS]);
    if (!good || !parse_row(fields, &row))
        return wt_fail(context, WT_DATA, "%s: line %zu is no trial", source->shown, number);
    if (wt_threshold_find(threshold, row.length, row.samples, row.trial) != NULL)
        return wt_fail(context, WT_DATA, "%s: line %zu has a trial for the second time",
                       source->shown, number);
    return wt_threshold_add(context, threshold, &row);
}

wt_status wt_threshold_read(wt_context *context, wt_threshold *threshold, const char *path) {
    wt_source source = {.file = -1};
    char *text = NULL;
    size_t number = 1, columns = COLUMNS;
    wt_status status = wt_source_open(context, path, &source);
    if (status == WT_NO_INPUT && !threshold->setting.as_made) {
        status = WT_OK; /* a search that begins */
        goto done;
    }
    WT_TRY(status);
    WT_TRY(read_text(context, &source, &text));
    for (char *line = text, *next; *line != '\0'; line = next, number++) {
        next = strchr(line, '\n');
        if (next == NULL) {
            status = wt_fail(context, WT_DATA, "%s: line %zu breaks off", source.shown, number);
            goto done;
        }
        *next++ = '\0';
        if (number == 1 && strcmp(line, OLD_HEADING) == 0)
            columns = COLUMNS - 1;
        if (number == 1 && (columns < COLUMNS || strcmp(line, HEADING) == 0))
            continue;
        if (number == 1) {
            status = wt_fail(context, WT_DATA, "%s: is no table of trials", source.shown);
            goto done;
        }
        WT_TRY(read_line(context, threshold, &source, number, columns, line));
    }
    if (number == 1)
        status = wt_fail(context, WT_DATA, "%s: is no table of trials", source.shown);
done:
    wt_release(text);
    wt_source_close(&source);
    return status;
}
