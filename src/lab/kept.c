#include "lab/kept.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "lab/sha256.h"
#include "wattle/io.h"
#include "wattle/program.h"

#define SAVE_EVERY 5.0  /* seconds, and */
#define SAVE_SHARE 20.0 /* times what the last took */

/* The rows of the file, each a unit's number and what it gave; false where they are none of ours.
 */
static bool take_rows(wt_kept *kept, const double *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double unit = rows[i * (kept->width + 1)];
        if (!(unit >= 0 && unit < (double)kept->units && unit == floor(unit)) ||
            kept->done[(size_t)unit])
            return false;
        kept->done[(size_t)unit] = true;
    }
    return true;
}

/* What is no file of the same setting is left alone, until it is written over. */
static wt_status load(wt_kept *kept) {
    wt_context *context = kept->context;
    wt_file *file = NULL;
    double *rows = NULL;
    wt_status status;
    if (access(kept->path, F_OK) != 0)
        return WT_OK;
    WT_TRY(wt_file_open(context, kept->path, &file));
    const char *setting = wt_file_metadata(file, "setting");
    const wt_array *array = wt_file_find(file, "units");
    if (setting == NULL || strcmp(setting, kept->setting) != 0) {
        wt_remark(context, "%s is of another run and is replaced", kept->path);
        goto done;
    }
    if (array == NULL || array->rank != 2 || array->shape[1] != kept->width + 1)
        WT_TRY(wt_fail(context, WT_DATA, "%s has no units of this run; remove it", kept->path));
    WT_TRY(WT_NEW(context, &rows, array->count, "finished units"));
    WT_TRY(wt_file_read(context, file, array, rows));
    if (!take_rows(kept, rows, array->shape[0]))
        WT_TRY(
            wt_fail(context, WT_DATA, "%s has units that this run has not; remove it", kept->path));
    kept->count = array->shape[0];
    for (size_t i = 0; i < kept->count; i++) {
        double *row = rows + i * (kept->width + 1);
        kept->take(kept->user, (size_t)row[0], row + 1);
    }
done:
    wt_release(rows);
    wt_file_free(file);
    return status;
}

wt_status wt_kept_open(wt_kept *kept, const char *output, const wt_script *setting) {
    kept->saved = wt_clock();
    kept->arena = wt_arena_start(kept->context, "finished units");
    if (output == NULL)
        return WT_OK;
    WT_PASS(setting->status);
    size_t bytes = strlen(output) + sizeof ".part";
    kept->done = WT_TAKE_ZERO(&kept->arena, bool, kept->units);
    char *path = WT_TAKE(&kept->arena, char, bytes);
    WT_PASS(kept->arena.status);
    snprintf(path, bytes, "%s.part", output);
    wt_sha256(setting->text, setting->length, kept->setting);
    WT_PASS(wt_lock_open(kept->context, output, &kept->lock));
    kept->path = path;
    return load(kept);
}

wt_status wt_kept_save(wt_kept *kept) {
    if (kept->path == NULL || kept->count == 0)
        return WT_OK;
    wt_context *context = kept->context;
    double began = wt_clock(), *rows = NULL;
    size_t width = kept->width + 1, row = 0;
    const wt_metadata about[] = {{"wattle", "1"}, {"kind", "part"}, {"setting", kept->setting}};
    wt_status status;
    WT_TRY(WT_NEW2(context, &rows, kept->count, width, "finished units"));
    for (size_t unit = 0; unit < kept->units; unit++)
        if (kept->done[unit]) {
            rows[row * width] = (double)unit;
            kept->give(kept->user, unit, rows + row++ * width + 1);
        }
    WT_TRY(wt_safetensors_write(context, kept->path,
                                &(wt_tensor){.name = "units",
                                             .type = WT_TYPE_F64,
                                             .rank = 2,
                                             .shape = {kept->count, width},
                                             .values = rows},
                                1, about, sizeof about / sizeof *about));
    kept->saved = wt_clock();
    kept->cost = kept->saved - began;
done:
    wt_release(rows);
    return status;
}

wt_status wt_kept_add(wt_kept *kept, size_t unit) {
    if (kept->path == NULL)
        return WT_OK;
    kept->done[unit] = true;
    kept->count++;
    double since = wt_clock() - kept->saved;
    return since > SAVE_EVERY && since > SAVE_SHARE * kept->cost ? wt_kept_save(kept) : WT_OK;
}

void wt_kept_drop(const wt_kept *kept) {
    if (kept->path != NULL)
        unlink(kept->path);
}

void wt_kept_close(wt_kept *kept) {
    wt_lock_free(kept->lock);
    wt_arena_free(&kept->arena);
    *kept = (wt_kept){0};
}
