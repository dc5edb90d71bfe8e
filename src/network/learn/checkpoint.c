/* The state of a trainer in a file, and its network as a model.
 *
 * Invariants, cited by the tests:
 *  1. a checkpoint is the old one or the new one, whole, whatever breaks while it is written;
 *  2. a resumed trial gives the bits of one that was never stopped;
 *  3. a checkpoint of another setting, shape or device is refused, and the trainer is as it was. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "device/device.h"
#include "network/learn/trainer.h"

#define CHECKPOINT         "checkpoint" /* metadata: the version of this format */
#define CHECKPOINT_VERSION "1"
#define DEVICE             "device" /* metadata: where it was trained, unless on the host */
#define DEVICE_TEXT        80

enum { STATES = 8, COLUMNS = 5 };

/* Tensors of a checkpoint. */
static const char *const blocks[] = {"parameters", "first_moments", "second_moments"};
enum { BLOCKS = sizeof blocks / sizeof *blocks };

static float *block_of(const wt_trainer *trainer, size_t b) {
    float *all[BLOCKS] = {trainer->parameters, trainer->first, trainer->second};
    return all[b];
}

static void widen(size_t count, const float *from, double *out) {
    for (size_t i = 0; i < count; i++)
        out[i] = (double)from[i];
}

/* "cuda NVIDIA H200", whose bits are its own, or "the host". */
static const char *device_of(const wt_context *context, char out[DEVICE_TEXT]) {
    const wt_device *device = wt_context_get_device(context);
    if (device == NULL)
        return "the host";
    snprintf(out, DEVICE_TEXT, "%.4s %s", device->name, device->product);
    return out;
}

/* ---- writing ---- */

static void fill_history(const wt_trainer *trainer, double *out) {
    for (size_t i = 0; i < trainer->state.points; i++) {
        const wt_train_point *point = &trainer->state.history[i];
        const double row[COLUMNS] = {(double)point->run, (double)point->step, point->loss,
                                     point->train_accuracy, point->validation_accuracy};
        memcpy(out + i * COLUMNS, row, sizeof row);
    }
}

wt_status wt_trainer_save(wt_context *context, const wt_trainer *trainer, const char *path) {
    const double state[STATES] = {(double)trainer->state.run,
                                  (double)trainer->state.step,
                                  trainer->state.loss,
                                  trainer->state.accuracy,
                                  (double)trainer->state.ended,
                                  (double)trainer->state.marks[0],
                                  (double)trainer->state.marks[1],
                                  (double)trainer->state.marks[2]};
    wt_tensor tensors[BLOCKS + 2];
    wt_arena arena = wt_arena_start(context, "a checkpoint");
    double *wide = WT_TAKE(&arena, double, BLOCKS, trainer->size);
    double *history = WT_TAKE(&arena, double, trainer->state.points, COLUMNS);
    wt_metadata *about = WT_TAKE(&arena, wt_metadata, trainer->about_count + 2);
    size_t facts = trainer->about_count;
    char device[DEVICE_TEXT];
    wt_status status;
    WT_TRY(arena.status);
    memcpy(about, trainer->about, facts * sizeof *about);
    about[facts++] = (wt_metadata){CHECKPOINT, CHECKPOINT_VERSION};
    if (wt_context_get_device(context) != NULL)
        about[facts++] = (wt_metadata){DEVICE, device_of(context, device)};
    fill_history(trainer, history);
    for (size_t b = 0; b < BLOCKS; b++) {
        widen(trainer->size, block_of(trainer, b), wide + b * trainer->size);
        tensors[b] = (wt_tensor){.name = blocks[b],
                                 .type = WT_TYPE_F32,
                                 .rank = 1,
                                 .shape = {trainer->size},
                                 .values = wide + b * trainer->size};
    }
    tensors[BLOCKS] = (wt_tensor){
        .name = "state", .type = WT_TYPE_F64, .rank = 1, .shape = {STATES}, .values = state};
    tensors[BLOCKS + 1] = (wt_tensor){.name = "history",
                                      .type = WT_TYPE_F64,
                                      .rank = 2,
                                      .shape = {trainer->state.points, COLUMNS},
                                      .values = history};
    WT_TRY(wt_safetensors_write(context, path, tensors, BLOCKS + 2, about, facts));
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_trainer_save_model(wt_context *context, const wt_trainer *trainer, const char *path) {
    size_t count = trainer->network->tensor_count;
    const wt_network_tensor *parts = trainer->network->tensors;
    wt_arena arena = wt_arena_start(context, "a model");
    double *wide = WT_TAKE(&arena, double, trainer->size);
    wt_tensor *tensors = WT_TAKE(&arena, wt_tensor, count);
    wt_status status;
    WT_TRY(arena.status);
    widen(trainer->size, trainer->parameters, wide);
    for (size_t i = 0; i < count; i++) {
        bool vector = parts[i].vector;
        tensors[i] = (wt_tensor){
            .name = parts[i].name,
            .type = WT_TYPE_F64,
            .rank = vector ? 1 : 2,
            .shape = {vector ? parts[i].columns : parts[i].rows, vector ? 0 : parts[i].columns},
            .values = wide + parts[i].offset};
    }
    WT_TRY(
        wt_safetensors_write(context, path, tensors, count, trainer->about, trainer->about_count));
done:
    wt_arena_free(&arena);
    return status;
}

/* ---- reading ---- */

/* What the file says of a key, or of the name that it had before; "" where it is older than both.
 */
static const char *said_of(const wt_file *file, const char *key) {
    size_t count;
    const wt_field *fields = wt_train_fields(&count), *field = wt_field_find(fields, count, key);
    const char *text = wt_file_metadata(file, key);
    if (text == NULL && field != NULL && field->file != NULL)
        text = wt_file_metadata(file, field->file);
    return text == NULL ? "" : text;
}

/* Another device gives other bits. */
static wt_status check_device(wt_context *context, const wt_file *file) {
    char device[DEVICE_TEXT], there[WT_QUOTED_BYTES];
    const char *here = device_of(context, device), *theirs = wt_file_metadata(file, DEVICE);
    if (theirs == NULL)
        theirs = "the host";
    if (strcmp(theirs, here) == 0)
        return WT_OK;
    return wt_fail(context, WT_DATA,
                   "%s was begun on %s, which has other bits than %s: resume it there",
                   wt_file_path(file), wt_quote(theirs, there, sizeof there), here);
}

static wt_status check_about(wt_context *context, const wt_trainer *trainer, const wt_file *file) {
    const char *version = wt_file_metadata(file, CHECKPOINT);
    if (version == NULL)
        return wt_fail(context, WT_DATA, "%s is no checkpoint", wt_file_path(file));
    if (strcmp(version, CHECKPOINT_VERSION) != 0)
        return wt_fail(context, WT_DATA, "%s is a checkpoint of another version of wattle",
                       wt_file_path(file));
    for (size_t i = 0; i < trainer->about_count; i++) {
        const wt_metadata *ours = &trainer->about[i];
        const char *theirs = said_of(file, ours->key);
        if (strcmp(theirs, ours->value) != 0) {
            char there[WT_QUOTED_BYTES], here[WT_QUOTED_BYTES];
            return wt_fail(context, WT_DATA,
                           "%s is of another run: its '%s' is '%s', that of this run '%s'",
                           wt_file_path(file), ours->key, wt_quote(theirs, there, sizeof there),
                           wt_quote(ours->value, here, sizeof here));
        }
    }
    return check_device(context, file);
}

/* The array, which must have this shape; NaN and Inf are for the caller to judge. */
static wt_status read_array(wt_context *context, const wt_file *file, const char *name,
                            size_t count, double *out) {
    const wt_array *array = wt_file_find(file, name);
    if (array == NULL || array->count != count)
        return wt_fail(context, WT_DATA, "%s: '%s' has %zu numbers, not %zu", wt_file_path(file),
                       name, array == NULL ? 0 : array->count, count);
    return wt_file_read(context, file, array, out);
}

/* Whole numbers of 0 to most. */
static bool is_count(double value, double most) {
    return value >= 0 && value <= most && value == floor(value);
}

static bool state_makes_sense(const wt_trainer *trainer, const double *state) {
    double steps = (double)trainer->setting.steps, step = state[1];
    return is_count(state[0], (double)trainer->setting.restarts - 1) && is_count(step, steps) &&
           is_count(state[4], 1) && is_count(state[5], step) && is_count(state[6], step) &&
           is_count(state[7], step) && (isfinite(state[2]) || (state[0] == 0 && step == 0));
}

static bool point_makes_sense(const double *row, const double *state, double steps) {
    return is_count(row[0], state[0]) && is_count(row[1], steps) && isfinite(row[2]) &&
           row[3] >= 0 && row[3] <= 1 && row[4] >= 0 && row[4] <= 1;
}

static wt_status read_history(wt_context *context, const wt_trainer *trainer, const wt_file *file,
                              const double *state, wt_train_point **out, size_t *points) {
    const wt_array *array = wt_file_find(file, "history");
    double *rows = NULL;
    wt_status status;
    if (array == NULL || array->rank != 2 || array->shape[1] != COLUMNS) {
        status = wt_fail(context, WT_DATA, "%s has no history", wt_file_path(file));
        goto done;
    }
    *points = array->shape[0];
    WT_TRY(WT_NEW2(context, &rows, *points, COLUMNS, "a history"));
    WT_TRY(WT_NEW(context, out, *points, "a history"));
    WT_TRY(wt_file_read(context, file, array, rows));
    for (size_t i = 0; i < *points; i++) {
        const double *row = rows + i * COLUMNS;
        if (!point_makes_sense(row, state, (double)trainer->setting.steps)) {
            status = wt_fail(context, WT_DATA, "%s: row %zu of the history makes no sense",
                             wt_file_path(file), i);
            goto done;
        }
        (*out)[i] = (wt_train_point){(size_t)row[0], (size_t)row[1], row[2], row[3], row[4]};
    }
done:
    wt_release(rows);
    return status;
}

static wt_status read_blocks(wt_context *context, const wt_trainer *trainer, const wt_file *file,
                             double *wide) {
    for (size_t b = 0; b < BLOCKS; b++) {
        double *block = wide + b * trainer->size;
        WT_PASS(read_array(context, file, blocks[b], trainer->size, block));
        if (wt_values_check_finite(context, blocks[b], block, 1, &trainer->size) != WT_OK)
            return wt_fail(context, WT_DATA, "%s: %s", wt_file_path(file),
                           wt_context_message(context));
    }
    return WT_OK;
}

/* All was read and checked: from here nothing can fail. */
static void take(wt_trainer *trainer, const double *state, const double *wide,
                 wt_train_point *history, size_t points) {
    for (size_t b = 0; b < BLOCKS; b++)
        for (size_t i = 0; i < trainer->size; i++)
            block_of(trainer, b)[i] = (float)wide[b * trainer->size + i];
    trainer->state.run = (size_t)state[0];
    trainer->state.step = (size_t)state[1];
    trainer->state.loss = state[2];
    trainer->state.accuracy = state[3];
    trainer->state.ended = state[4] != 0;
    for (size_t i = 0; i < WT_TRAIN_MARKS; i++)
        trainer->state.marks[i] = (size_t)state[5 + i];
    wt_release(trainer->state.history);
    trainer->state.history = history;
    trainer->state.points = trainer->state.room = points;
}

wt_status wt_trainer_load(wt_context *context, wt_trainer *trainer, const char *path) {
    wt_file *file = NULL;
    wt_train_point *history = NULL;
    double *wide = NULL, state[STATES] = {0};
    size_t points = 0;
    wt_status status;
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(check_about(context, trainer, file));
    WT_TRY(WT_NEW2(context, &wide, BLOCKS, trainer->size, "a checkpoint"));
    WT_TRY(read_blocks(context, trainer, file, wide));
    WT_TRY(read_array(context, file, "state", STATES, state));
    if (!state_makes_sense(trainer, state)) {
        status = wt_fail(context, WT_DATA, "%s: the state makes no sense", path);
        goto done;
    }
    WT_TRY(read_history(context, trainer, file, state, &history, &points));
    take(trainer, state, wide, history, points);
    history = NULL;
done:
    wt_release(history);
    wt_release(wide);
    wt_file_free(file);
    return status;
}
