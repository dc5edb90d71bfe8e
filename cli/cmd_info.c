/* `wattle info`: what is inside array files. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "wattle/io.h"
#include "wattle/memory.h"
#include "wattle/text.h"

/* ---- as a table ------------------------------------------------------------------------------ */

enum { COLUMNS = 9, CELL_BYTES = 192, LINE_BYTES = 256 };
enum { WORDS = 3 }; /* the first columns hold words, set to the left; numbers go to the right */

/* Cell k of an array's row; of the headings where there is no array. "-" = no finite value. */
static const char *cell(const wt_array *array, const wt_summary *summary, size_t k,
                        char out[CELL_BYTES]) {
    static const char *const headings[COLUMNS] = {"name", "type", "shape", "bytes", "min",
                                                  "max",  "mean", "nan",   "inf"};
    if (array == NULL)
        return headings[k];
    const double reals[] = {summary->min, summary->max, summary->mean};
    if (k == 0)
        return wt_quote(array->name, out, WT_QUOTED_BYTES);
    if (k == 1)
        return wt_type_name(array->type);
    if (k == 2) {
        size_t at = (size_t)snprintf(out, CELL_BYTES, "(");
        for (size_t i = 0; i < array->rank; i++)
            at += (size_t)snprintf(out + at, CELL_BYTES - at, i == 0 ? "%zu" : ", %zu",
                                   array->shape[i]);
        snprintf(out + at, CELL_BYTES - at, "%s)%s", array->rank == 1 ? "," : "",
                 array->fortran && array->rank > 1 ? " F" : "");
    } else if (k >= 4 && k <= 6) {
        snprintf(out, CELL_BYTES, isnan(reals[k - 4]) ? "-" : "%.6g", reals[k - 4]);
    } else {
        snprintf(out, CELL_BYTES, "%zu",
                 k == 3   ? array->bytes
                 : k == 7 ? summary->nan
                          : summary->inf);
    }
    return out;
}

/* Characters, not bytes: names may be UTF-8. */
static int width_of(const char *text) {
    int width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

static void print_row(const wt_array *array, const wt_summary *summary, const int *widths) {
    char text[CELL_BYTES];
    for (size_t k = 0; k < COLUMNS; k++) {
        const char *here = cell(array, summary, k, text);
        int padding = widths[k] - width_of(here);
        cli_print("  %*s%s%*s", k < WORDS ? 0 : padding, "", here, k < WORDS ? padding : 0, "");
    }
    putchar('\n');
}

static void print_metadata(const wt_file *file) {
    const wt_metadata *pair;
    for (size_t i = 0; (pair = wt_file_metadata_at(file, i)) != NULL; i++) {
        char key[WT_QUOTED_BYTES], value[LINE_BYTES];
        cli_print("  %s: %s\n", wt_quote(pair->key, key, sizeof key),
                  wt_quote(pair->value, value, sizeof value));
    }
}

static void print_file(const wt_file *file, const wt_summary *summaries) {
    size_t count = wt_file_count(file);
    int widths[COLUMNS] = {0};
    char path[LINE_BYTES], bytes[WT_BYTES_TEXT], text[CELL_BYTES];
    for (size_t i = 0; i <= count; i++) /* the headings last */
        for (size_t k = 0; k < COLUMNS; k++) {
            int width = width_of(cell(wt_file_at(file, i), &summaries[i], k, text));
            widths[k] = width > widths[k] ? width : widths[k];
        }
    cli_print("%s: %s, %zu %s, %s\n", wt_quote(wt_file_path(file), path, sizeof path),
              wt_file_format(file), count, count == 1 ? "array" : "arrays",
              wt_bytes_format((size_t)wt_file_bytes(file), bytes));
    if (count > 0)
        print_row(NULL, NULL, widths);
    for (size_t i = 0; i < count; i++)
        print_row(wt_file_at(file, i), &summaries[i], widths);
    print_metadata(file);
}

/* ---- as JSON --------------------------------------------------------------------------------- */

/* A path may be any bytes; JSON is UTF-8. */
static json_t *json_path(const char *path) {
    char shown[4 * LINE_BYTES];
    return json_string(wt_utf8_valid(path) ? path : wt_quote(path, shown, sizeof shown));
}

static json_t *json_array_of(const wt_array *array, const wt_summary *summary) {
    return cli_json("name:s type:s shape:o order:s count:u bytes:u min:r max:r mean:r nan:u inf:u",
                    array->name, wt_type_name(array->type),
                    cli_json_counts(array->rank, array->shape), array->fortran ? "F" : "C",
                    array->count, array->bytes, summary->min, summary->max, summary->mean,
                    summary->nan, summary->inf);
}

/* NULL without memory. */
static json_t *json_file(const wt_file *file, const wt_summary *summaries) {
    json_t *arrays = json_array(), *metadata = json_object();
    for (size_t i = 0; i < wt_file_count(file); i++)
        cli_json_add(arrays, json_array_of(wt_file_at(file, i), &summaries[i]));
    const wt_metadata *pair;
    for (size_t i = 0; (pair = wt_file_metadata_at(file, i)) != NULL; i++)
        cli_json_put(metadata, pair->key, json_string(pair->value));
    return cli_json("path:o format:s bytes:u arrays:o metadata:o", json_path(wt_file_path(file)),
                    wt_file_format(file), wt_file_bytes(file), arrays, metadata);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* The first bad file decides the exit code; all others are shown all the same. */
typedef struct {
    cli_call *call;
    json_t *files; /* with --json */
    int bad;
    wt_status status;
    char sentence[WT_MESSAGE_BYTES]; /* what is said at the end */
} info_run;

static wt_status show_file(info_run *info, const char *path) {
    wt_context *context = info->call->context;
    wt_file *file = NULL;
    wt_summary *summaries = NULL;
    wt_status status;
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(WT_NEW(context, &summaries, wt_file_count(file), "summaries"));
    for (size_t i = 0; i < wt_file_count(file); i++) {
        summaries[i] = (wt_summary)WT_SIZED(wt_summary);
        WT_TRY(wt_file_summarise(context, file, wt_file_at(file, i), &summaries[i]));
    }
    if (!info->call->common.json)
        print_file(file, summaries);
    else
        cli_json_add(info->files, json_file(file, summaries));
done:
    wt_release(summaries);
    wt_file_free(file);
    return status;
}

/* Counts the bad file; only what is no fault of the file stops the command. */
static wt_status note_bad_file(info_run *info, const char *path, wt_status status) {
    wt_context *context = info->call->context;
    int count = info->call->operand_count;
    if (status == WT_OK || status == WT_MEMORY || status == WT_INTERRUPTED)
        return status;
    if (info->bad++ == 0)
        info->status = status;
    char reason[WT_MESSAGE_BYTES];
    snprintf(reason, sizeof reason, "%s", wt_context_message(context));
    if (count == 1)
        memcpy(info->sentence, reason, sizeof reason);
    else
        snprintf(info->sentence, sizeof info->sentence, "%d of %d files cannot be shown", info->bad,
                 count);
    if (!info->call->common.json) {
        if (count > 1)
            fprintf(stderr, "wattle: %s\n", reason);
        return WT_OK;
    }
    cli_json_add(info->files, cli_json("path:o error:s status:s", json_path(path), reason,
                                       wt_status_name(status)));
    return WT_OK;
}

static wt_status finish(info_run *info) {
    wt_context *context = info->call->context;
    if (info->call->common.json) {
        json_t *all = cli_json("files:o", json_incref(info->files));
        if (info->status != WT_OK)
            json_object_update_new(all, cli_json("error:s status:s exit:u", info->sentence,
                                                 wt_status_name(info->status),
                                                 (uint64_t)wt_status_exit_code(info->status)));
        WT_PASS(cli_emit_json(info->call, all));
    }
    return info->status == WT_OK ? WT_OK : wt_fail(context, info->status, "%s", info->sentence);
}

static wt_status run(cli_call *call) {
    info_run info = {.call = call};
    wt_status status;
    if (call->common.json)
        info.files = json_array();
    for (int i = 0; i < call->operand_count; i++)
        WT_TRY(note_bad_file(&info, call->operands[i], show_file(&info, call->operands[i])));
    WT_TRY(finish(&info));
done:
    json_decref(info.files);
    return status;
}

const cli_command cli_info = {
    .name = "info",
    .summary = "show what is inside array files",
    .operands = "FILE...",
    .any_bytes = true,
    .description =
        "Shows the format of each file (npy, npz or safetensors, told by its content) and of each "
        "array in it the name, type, shape, bytes, smallest, largest and mean value, and how many "
        "values are NaN or infinite. Minimum, maximum and mean are those of the finite values. An "
        "F after the shape marks an array stored in Fortran order. The metadata of safetensors "
        "follow the table.\n\n"
        "All of every file is read and checked. A bad file gets one sentence and makes the exit "
        "code non-zero; the others are shown all the same.",
    .examples = "wattle info data.npz\nwattle info --json model.safetensors x.npy",
    .run = run,
};
