#include "lab/table.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "lab/sha256.h"
#include "wattle/io.h"
#include "wattle/program.h"

#define SAVE_EVERY 5.0  /* seconds, and */
#define SAVE_SHARE 20.0 /* times what the last took */

static size_t units_of(const wt_table *table) {
    return table->settings * table->reps;
}

static size_t points_of(const wt_table *table) {
    return table->parts * table->sizes;
}

void wt_table_describe(const wt_field *fields, size_t count, const void *options, wt_script *key) {
    char text[WT_FIELD_TEXT];
    for (size_t i = 0; i < count; i++)
        wt_script_add(key, "\n%s=%s", fields[i].name,
                      wt_field_print(&fields[i], wt_field_get(&fields[i], options), text));
}

void *wt_table_at(const wt_table *table, size_t unit, size_t i) {
    size_t line = unit / table->reps * table->parts + i / table->sizes;
    size_t place = (line * table->reps + unit % table->reps) * table->sizes + i % table->sizes;
    return (char *)table->points + place * table->point_bytes;
}

/* ---- the part ---------------------------------------------------------------------------------
 */

/* Numbers of a row of it: the unit, then all of its points. */
static size_t width_of(const wt_table *table) {
    return 1 + points_of(table) * table->column_count;
}

static void give(const wt_table *table, size_t unit, double *row) {
    *row++ = (double)unit;
    for (size_t i = 0; i < points_of(table); i++)
        for (size_t c = 0; c < table->column_count; c++)
            *row++ = wt_field_get(&table->columns[c], wt_table_at(table, unit, i)).number;
}

/* False where the row is none of ours. */
static bool take(wt_table *table, const double *row) {
    double unit = *row++;
    if (!(unit >= 0 && unit < (double)units_of(table) && unit == floor(unit)) ||
        table->done[(size_t)unit])
        return false;
    for (size_t i = 0; i < points_of(table); i++)
        for (size_t c = 0; c < table->column_count; c++) {
            const wt_field *column = &table->columns[c];
            wt_value value = {.number = *row++};
            if (column->kind == WT_FIELD_KIND_NATURAL &&
                wt_field_check(table->engine.context, column, value) != WT_OK)
                return false;
            wt_field_set(column, value, wt_table_at(table, (size_t)unit, i));
        }
    table->done[(size_t)unit] = true;
    table->count++;
    return true;
}

/* What is no part of the same key is left alone, until it is written over. */
static wt_status load(wt_table *table) {
    wt_context *context = table->engine.context;
    size_t width = width_of(table);
    wt_file *file = NULL;
    double *rows = NULL;
    wt_status status;
    if (access(table->part, F_OK) != 0)
        return WT_OK;
    WT_TRY(wt_file_open(context, table->part, &file));
    const char *hash = wt_file_metadata(file, "setting");
    const wt_array *array = wt_file_find(file, "units");
    if (hash == NULL || strcmp(hash, table->hash) != 0) {
        wt_remark(context, "%s is of another run and is replaced", table->part);
        goto done;
    }
    if (array == NULL || array->rank != 2 || array->shape[1] != width)
        WT_TRY(wt_fail(context, WT_DATA, "%s has no units of this run; remove it", table->part));
    WT_TRY(WT_NEW(context, &rows, array->count, "finished units"));
    WT_TRY(wt_file_read(context, file, array, rows));
    for (size_t i = 0; i < array->shape[0]; i++)
        if (!take(table, rows + i * width))
            WT_TRY(wt_fail(context, WT_DATA, "%s has units that this run has not; remove it",
                           table->part));
done:
    wt_release(rows);
    wt_file_free(file);
    return status;
}

static wt_status open_part(wt_table *table) {
    size_t bytes = table->output == NULL ? 0 : strlen(table->output) + sizeof ".part";
    table->saved = wt_clock();
    table->done = WT_TAKE_ZERO(&table->arena, bool, table->settings, table->reps);
    char *part = WT_TAKE(&table->arena, char, bytes);
    WT_PASS(table->arena.status);
    if (table->output == NULL)
        return WT_OK;
    WT_PASS(table->key->status);
    snprintf(part, bytes, "%s.part", table->output);
    wt_sha256(table->key->text, table->key->length, table->hash);
    WT_PASS(wt_lock_open(table->engine.context, table->output, &table->lock));
    table->part = part;
    return load(table);
}

static wt_status save_part(wt_table *table) {
    wt_context *context = table->engine.context;
    double began = wt_clock(), *rows = NULL;
    size_t width = width_of(table), row = 0;
    const wt_metadata about[] = {{"wattle", "1"}, {"kind", "part"}, {"setting", table->hash}};
    wt_status status;
    WT_TRY(WT_NEW2(context, &rows, table->count, width, "finished units"));
    for (size_t unit = 0; unit < units_of(table); unit++)
        if (table->done[unit])
            give(table, unit, rows + row++ * width);
    WT_TRY(wt_safetensors_write(context, table->part,
                                &(wt_tensor){.name = "units",
                                             .type = WT_TYPE_F64,
                                             .rank = 2,
                                             .shape = {table->count, width},
                                             .values = rows},
                                1, about, sizeof about / sizeof *about));
    table->saved = wt_clock();
    table->cost = table->saved - began;
done:
    wt_release(rows);
    return status;
}

/* ---- the output -------------------------------------------------------------------------------
 */

static void print_point(const wt_table *table, wt_output *out, const void *point) {
    for (size_t c = 0; c < table->column_count; c++) {
        double value = wt_field_get(&table->columns[c], point).number;
        if (isfinite(value)) /* else it was not computed */
            wt_output_print(out, "%.17g", value);
        wt_output_print(out, c + 1 < table->column_count ? "," : "\n");
    }
}

static wt_status write_output(const wt_table *table) {
    size_t lines = table->settings * table->parts;
    wt_output *out = NULL;
    wt_status status;
    WT_TRY(wt_output_open(table->engine.context, table->output, &out));
    wt_output_print(out, "%s", table->heading);
    for (size_t c = 0; c < table->column_count; c++)
        wt_output_print(out, "%s%s", c == 0 ? "" : ",", table->columns[c].name);
    wt_output_print(out, "\n");
    for (size_t i = 0; i < lines * table->reps; i++) {
        size_t line = i / table->reps, rep = i % table->reps;
        size_t unit = line / table->parts * table->reps + rep;
        for (size_t s = 0; table->done[unit] && s < table->sizes; s++) {
            table->print(table->user, out, line, rep);
            print_point(table, out,
                        wt_table_at(table, unit, line % table->parts * table->sizes + s));
        }
    }
    WT_TRY(wt_output_commit(out));
done:
    wt_output_free(out);
    return status;
}

static wt_status save(void *user) {
    wt_table *table = user;
    if (table->part == NULL || table->count == 0)
        return WT_OK;
    WT_PASS(write_output(table));
    return table->count < units_of(table) ? save_part(table) : WT_OK;
}

/* ---- the run ----------------------------------------------------------------------------------
 */

typedef struct {
    wt_table *table;
    size_t unit;
    const char *points; /* (parts, sizes) */
} outcome;

static wt_status keep(void *user) {
    const outcome *found = user;
    wt_table *table = found->table;
    size_t bytes = table->point_bytes;
    for (size_t i = 0; i < points_of(table); i++)
        memcpy(wt_table_at(table, found->unit, i), found->points + i * bytes, bytes);
    table->done[found->unit] = true;
    table->count++;
    double since = wt_clock() - table->saved;
    bool due = since > SAVE_EVERY && since > SAVE_SHARE * table->cost;
    return due && table->part != NULL ? save_part(table) : WT_OK;
}

static wt_status run_unit(void *user, wt_context *context, size_t unit) {
    wt_table *table = user;
    size_t setting = unit / table->reps;
    void *points = NULL;
    wt_status status;
    if (table->done[unit])
        return WT_OK;
    WT_TRY(wt_allocate(context, &points, points_of(table), table->point_bytes, "points"));
    WT_TRY(table->run(table->user, context, setting, unit % table->reps, points));
    outcome found = {table, unit, points};
    WT_TRY(wt_engine_keep(&table->engine, keep, &found, 1, table->costs[setting]));
done:
    wt_release(points);
    return status;
}

static wt_status interrupted(const wt_table *table) {
    wt_context *context = table->engine.context;
    if (table->part == NULL || table->count == 0)
        return wt_context_lost(context, table->engine.done, table->engine.what);
    return wt_fail(context, WT_INTERRUPTED,
                   "%s; the %zu %s that were finished are in %s, and the same command "
                   "goes on from them",
                   wt_context_stop_name(context), table->count, table->engine.what, table->output);
}

wt_status wt_table_run(wt_table *table) {
    wt_engine *engine = &table->engine;
    size_t units = units_of(table);
    wt_status status;
    table->arena = wt_arena_start(engine->context, "finished units");
    WT_TRY(wt_output_check(engine->context, table->output));
    WT_TRY(open_part(table));
    engine->total = (double)(units - table->count);
    for (size_t unit = 0; unit < units; unit++)
        engine->cost += table->done[unit] ? 0 : table->costs[unit / table->reps];
    WT_TRY(wt_engine_open(engine));
    status = wt_engine_run(engine, units, run_unit, table);
    /* a device that is lost leaves what was finished before */
    if (status == WT_OK || status == WT_INTERRUPTED || status == WT_UNAVAILABLE)
        status = wt_engine_finish(engine, status, save, table);
    WT_TRY(status == WT_INTERRUPTED ? interrupted(table) : status);
    if (table->part != NULL)
        unlink(table->part);
done:
    wt_lock_free(table->lock);
    wt_arena_free(&table->arena);
    wt_engine_close(engine);
    return status;
}
