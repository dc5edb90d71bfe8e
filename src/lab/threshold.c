#include "lab/threshold_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "device/device.h"
#include "network/learn/train_fields.h"

/* ---- the setting ------------------------------------------------------------------------------
 */

static const wt_threshold_spec defaults = {
    .low = 10, .high = 200, .resolution = 5, .trials = 40, .rate = 0.8, .around = 2};

void wt_threshold_spec_init(wt_threshold_spec *setting, size_t size) {
    setting->size = size;
    wt_sized_write(setting, &defaults, sizeof defaults);
}

static wt_status check(wt_context *context, const wt_threshold_spec *setting) {
    if (setting->low == 0 || setting->low > setting->high)
        return wt_fail(context, WT_USAGE,
                       "the range of samples must be lo:hi with 1 <= lo <= hi, not %zu:%zu",
                       setting->low, setting->high);
    if (setting->resolution == 0 || setting->trials == 0 || setting->length_count == 0)
        return wt_fail(context, WT_USAGE,
                       "resolution, trials and lengths must be 1 or more, not %zu, %zu and %zu",
                       setting->resolution, setting->trials, setting->length_count);
    if (!(setting->rate > 0 && setting->rate < 1))
        return wt_fail(context, WT_USAGE, "the rate of success must be in (0, 1), not %g",
                       setting->rate);
    for (size_t i = 1; i < setting->length_count; i++)
        if (setting->lengths[i] <= setting->lengths[i - 1])
            return wt_fail(context, WT_USAGE, "lengths must increase: %zu comes after %zu",
                           setting->lengths[i], setting->lengths[i - 1]);
    if (setting->train->online > 0)
        return wt_fail(context, WT_USAGE,
                       "a threshold in samples needs a training set: not online");
    if (setting->train->relevant != NULL)
        return wt_fail(context, WT_USAGE,
                       "every trial of a threshold draws its relevant positions: give none");
    return WT_OK;
}

static void copy_text(wt_arena *arena, const char **text) {
    size_t bytes = *text == NULL ? 0 : strlen(*text) + 1;
    char *copy = bytes == 0 ? NULL : WT_TAKE(arena, char, bytes);
    if (copy != NULL)
        memcpy(copy, *text, bytes);
    *text = copy;
}

/* The setting, checked, with lengths and texts of its own. */
static wt_status copy_setting(wt_context *context, const wt_threshold_spec *given, const char *path,
                              wt_threshold *out) {
    wt_train_spec *train = &out->train;
    wt_threshold_spec *setting = &out->setting;
    const char **texts[] = {&train->task, &train->model, &train->activation, &train->balls,
                            &out->path};
    *setting = defaults;
    out->path = path;
    WT_INIT(wt_train_spec, train);
    train->restarts = 5;
    WT_PASS(wt_sized_read(context, "wt_threshold_spec", given, setting, sizeof *setting));
    if (setting->train != NULL)
        WT_PASS(wt_sized_read(context, "wt_train_spec", setting->train, train, sizeof *train));
    setting->train = train;
    WT_PASS(check(context, setting));
    size_t *lengths = WT_TAKE(&out->arena, size_t, setting->length_count);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        copy_text(&out->arena, texts[i]);
    WT_PASS(out->arena.status);
    memcpy(lengths, setting->lengths, setting->length_count * sizeof *lengths);
    setting->lengths = lengths;
    wt_train_spec_settle(train);
    train->hasty = true; /* success is all that is asked */
    train->to_end = false;
    return WT_OK;
}

/* A wrong option is told before hours of work: the shortest task, with samples enough. */
static wt_status try_first(wt_context *context, const wt_threshold_spec *setting) {
    wt_trainer *trainer = NULL;
    wt_train_spec first = *setting->train;
    first.length = setting->lengths[0];
    first.samples = setting->high;
    first.keep_ambiguous = true;
    wt_status status = wt_trainer_new(context, &first, &trainer);
    wt_trainer_free(trainer);
    return status;
}

static size_t grid_points(const wt_threshold_spec *setting) {
    return (setting->high - setting->low) / setting->resolution + 1;
}

static size_t grid_at(const wt_threshold_spec *setting, size_t index) {
    return setting->low + index * setting->resolution;
}

/* Trials near their threshold may end otherwise elsewhere: a table has those of one kind of device.
 */
static void name_device(const wt_device *device, char out[WT_THRESHOLD_DEVICE]) {
    if (device == NULL)
        snprintf(out, WT_THRESHOLD_DEVICE, "host");
    else
        snprintf(out, WT_THRESHOLD_DEVICE, "%.4s-%.50s", device->name, device->product);
    for (; *out != '\0'; out++)
        *out = *out == ' ' ? '-' : *out;
}

wt_status wt_threshold_open(wt_context *context, const wt_threshold_spec *setting, const char *path,
                            wt_threshold **out) {
    wt_threshold *made = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(WT_NEW_ZERO(context, &made, 1, "a search"));
    made->arena = wt_arena_start(context, "a search");
    WT_TRY(copy_setting(context, setting, path, made));
    WT_TRY(try_first(context, &made->setting));
    if (path == NULL && made->setting.as_made) {
        status = wt_fail(context, WT_USAGE, "a table is to be read, and none is given");
        goto done;
    }
    made->tallies = WT_TAKE_ZERO(&made->arena, wt_threshold_tally, made->setting.length_count,
                                 grid_points(&made->setting));
    WT_TRY(made->arena.status);
    name_device(made->setting.as_made ? NULL : wt_context_get_device(context), made->device);
    made->key = wt_threshold_key(made);
    if (path != NULL) {
        if (!made->setting.as_made) /* what is only read is not held */
            WT_TRY(wt_lock_open(context, path, &made->hold));
        WT_TRY(wt_threshold_read(context, made, path));
    }
    *out = made;
    made = NULL;
done:
    wt_threshold_free(made);
    return status;
}

void wt_threshold_free(wt_threshold *threshold) {
    if (threshold == NULL)
        return;
    wt_lock_free(threshold->hold);
    wt_slots_free(&threshold->by_row);
    wt_release(threshold->rows);
    wt_arena_free(&threshold->arena);
    wt_release(threshold);
}

/* ---- the table of trials ----------------------------------------------------------------------
 */

enum { BLOCK = 8, DEVICE_BLOCK = 64 };

static uint32_t hash_of(size_t length, size_t samples, size_t trial) {
    const size_t place[] = {length, samples, trial};
    return wt_slots_hash(0, place, sizeof place);
}

/* NULL where the setting has no such length or m. */
static wt_threshold_tally *tally_of(const wt_threshold *threshold, size_t length, size_t samples) {
    const wt_threshold_spec *setting = &threshold->setting;
    size_t at = 0;
    while (at < setting->length_count && setting->lengths[at] != length)
        at++;
    if (at == setting->length_count || samples < setting->low || samples > setting->high ||
        (samples - setting->low) % setting->resolution != 0)
        return NULL;
    return &threshold->tallies[at * grid_points(setting) +
                               (samples - setting->low) / setting->resolution];
}

/* Whole blocks count, of trials that were begun together: where a run was stopped, those that are
 * missing are the ones that take longest, which fail. */
static void count_trials(wt_threshold *threshold, size_t length, size_t samples) {
    wt_threshold_tally *tally = tally_of(threshold, length, samples);
    const wt_threshold_row *next;
    while (tally != NULL && tally->found < threshold->setting.trials &&
           (next = wt_threshold_find(threshold, length, samples, tally->found)) != NULL) {
        tally->found++;
        tally->found_successes += next->result.success;
        if (tally->found % wt_threshold_block(threshold) == 0 ||
            tally->found == threshold->setting.trials) {
            tally->trials = tally->found;
            tally->successes = tally->found_successes;
        }
    }
}

size_t wt_threshold_block(const wt_threshold *threshold) {
    return strcmp(threshold->device, "host") == 0 ? BLOCK : DEVICE_BLOCK;
}

wt_status wt_threshold_add(wt_context *context, wt_threshold *threshold,
                           const wt_threshold_row *row) {
    WT_PASS(WT_GROW(context, &threshold->rows, threshold->count, &threshold->room, "trials"));
    WT_PASS(wt_slots_add(context, &threshold->by_row,
                         hash_of(row->length, row->samples, row->trial),
                         (uint32_t)threshold->count));
    threshold->rows[threshold->count++] = *row;
    count_trials(threshold, row->length, row->samples);
    return WT_OK;
}

size_t wt_threshold_trials(const wt_threshold *threshold) {
    return threshold->count;
}

const wt_threshold_row *wt_threshold_find(const wt_threshold *threshold, size_t length,
                                          size_t samples, size_t trial) {
    uint32_t hash = hash_of(length, samples, trial), number;
    size_t cursor = wt_slots_start(&threshold->by_row, hash);
    while (wt_slots_next(&threshold->by_row, hash, &cursor, &number)) {
        const wt_threshold_row *row = &threshold->rows[number];
        if (row->length == length && row->samples == samples && row->trial == trial)
            return row;
    }
    return NULL;
}

wt_threshold_tally wt_threshold_count(const wt_threshold *threshold, size_t length,
                                      size_t samples) {
    static const wt_threshold_tally none = {0};
    const wt_threshold_tally *tally = tally_of(threshold, length, samples);
    return tally == NULL ? none : *tally;
}

/* ---- the search -------------------------------------------------------------------------------
 */

typedef enum { OPEN, MET, NOT_MET } verdict;

/* Whether the m meets the rate: as soon as the trials that are left cannot change it, or when all
 * are done. */
static verdict judge(const wt_threshold *threshold, size_t length, size_t samples) {
    const wt_threshold_spec *setting = &threshold->setting;
    size_t need = (size_t)ceil(setting->rate * (double)setting->trials * (1 - 1e-12));
    wt_threshold_tally found = wt_threshold_count(threshold, length, samples);
    if (setting->all_trials && found.trials < setting->trials)
        return OPEN;
    if (found.successes >= need)
        return MET;
    return found.trials - found.successes > setting->trials - need ? NOT_MET : OPEN;
}

/* The index-th m on both sides of the threshold; 0 outside the grid. */
static size_t neighbour(const wt_threshold_spec *setting, size_t below, size_t index) {
    size_t step = index / 2, points = grid_points(setting);
    bool up = index % 2 == 1;
    if (up ? below + 1 + step >= points : step > below || below == SIZE_MAX)
        return 0;
    return grid_at(setting, up ? below + 1 + step : below - step);
}

size_t wt_threshold_tried(const wt_threshold *threshold, size_t length, size_t after) {
    const wt_threshold_spec *setting = &threshold->setting;
    const wt_threshold_tally *tallies = tally_of(threshold, length, setting->low);
    size_t i = after < setting->low ? 0 : (after - setting->low) / setting->resolution + 1;
    while (i < grid_points(setting) && tallies[i].trials == 0)
        i++;
    return i < grid_points(setting) ? grid_at(setting, i) : 0;
}

/* Grid points before *low are out: the last of them fails, or *low is 0. *high is the smallest from
 * there on that is known to meet the rate, as all larger ones that are known; past the grid when
 * there is none. */
static void bracket(const wt_threshold *threshold, size_t length, size_t *low, size_t *high) {
    const wt_threshold_spec *setting = &threshold->setting;
    size_t points = grid_points(setting), m = 0;
    *low = 0;
    *high = points;
    while ((m = wt_threshold_tried(threshold, length, m)) != 0) {
        size_t index = (m - setting->low) / setting->resolution;
        verdict found = judge(threshold, length, m);
        if (found == MET && *high == points)
            *high = index;
        if (found == NOT_MET) {
            *low = index + 1;
            *high = points;
        }
    }
}

/* An m that was left half done, by a run with fewer trials say, above the critical one; 0 = none.
 */
static size_t half_done(const wt_threshold *threshold, size_t length, size_t critical) {
    size_t m = critical;
    while ((m = wt_threshold_tried(threshold, length, m)) != 0)
        if (judge(threshold, length, m) == OPEN)
            return m;
    return 0;
}

/* Luck at small m may have raised the fitted rates above the rate: then the next m below all that
 * were tried; 0 when that is not so, or the grid ends. */
static size_t below_all(const wt_threshold *threshold, size_t length) {
    const wt_threshold_spec *setting = &threshold->setting;
    size_t first = wt_threshold_tried(threshold, length, 0), won = 0, run = 0;
    /* the isotonic fit begins with the least of the rates of all m up to one */
    for (size_t m = first; m != 0; m = wt_threshold_tried(threshold, length, m)) {
        wt_threshold_tally found = wt_threshold_count(threshold, length, m);
        won += found.successes;
        run += found.trials;
        if ((double)won / (double)run < setting->rate)
            return 0;
    }
    return first > setting->low ? first - setting->resolution : 0;
}

size_t wt_threshold_next(const wt_threshold *threshold, size_t length, size_t skip,
                         size_t *critical) {
    const wt_threshold_spec *setting = &threshold->setting;
    size_t points = grid_points(setting), low, high;
    size_t around = setting->around < points ? setting->around : points; /* no more are there */
    bracket(threshold, length, &low, &high);
    *critical = high < points ? grid_at(setting, high) : 0;
    if (low < high)
        return skip == 0 ? grid_at(setting, low + (high - low) / 2) : 0;
    for (size_t i = 0, open = 0; i < 2 * (around + 1); i++) {
        size_t samples = neighbour(setting, high == 0 ? SIZE_MAX : high - 1, i);
        if (samples > 0 && judge(threshold, length, samples) == OPEN && open++ == skip)
            return samples;
    }
    if (*critical == 0 || skip > 0)
        return 0;
    size_t left = half_done(threshold, length, *critical);
    return left > 0 ? left : below_all(threshold, length);
}

double wt_threshold_left(const wt_threshold *threshold, size_t length) {
    const wt_threshold_spec *setting = &threshold->setting;
    size_t low, high, sizes = 0, points = grid_points(setting);
    bracket(threshold, length, &low, &high);
    size_t middle = low < high ? low + (high - low) / 2 : high < points ? high : points - 1;
    for (size_t width = high - low; width > 0; width /= 2) /* by halving */
        sizes++;
    for (size_t i = 0; i < 2 * (setting->around < points ? setting->around : points); i++) {
        size_t samples = neighbour(setting, middle == 0 ? SIZE_MAX : middle - 1, i);
        sizes += samples > 0 && judge(threshold, length, samples) == OPEN;
    }
    return (double)length * (double)grid_at(setting, middle) * (double)(sizes * setting->trials);
}
