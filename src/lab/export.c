/* The cells of a store as a table. Rows go by one after the other, so that it does not matter how
 * large the store is, and are kept until the last was seen to be sound: nothing is to be seen of a
 * damaged store. */
#include "lab/export.h"

#include "base/memory.h"
#include "base/sized.h"
#include "io/output.h"

typedef struct {
    wt_context *context;
    wt_store *store;
    wt_export_options options;
    wt_columns names[2]; /* of parameters, of metrics */
    bool late; /* there were columns that the rows before them do not have: they are written anew */
    wt_output *out;
    wt_script row;
    size_t rows;
} table;

bool wt_columns_has(const wt_columns *names, size_t place, const char *name, size_t length) {
    return place < names->count && names->all[place].length == length &&
           memcmp(names->all[place].name, name, length) == 0;
}

/* Adds a name in its order; returns its place. */
static wt_status add_name(wt_context *context, wt_columns *to, const char *name, size_t length,
                          size_t *place) {
    char *copy = NULL;
    for (*place = 0; *place < to->count && strncmp(to->all[*place].name, name, length) < 0;)
        ++*place;
    if (wt_columns_has(to, *place, name, length))
        return WT_OK;
    WT_PASS(WT_GROW(context, &to->all, to->count, &to->room, "columns"));
    WT_PASS(WT_NEW(context, &copy, length + 1, "a column"));
    memcpy(copy, name, length);
    copy[length] = '\0';
    memmove(to->all + *place + 1, to->all + *place, (to->count++ - *place) * sizeof *to->all);
    to->all[*place] = (wt_column){copy, length};
    return WT_OK;
}

static void free_columns(wt_columns *names) {
    for (size_t i = 0; i < names->count; i++)
        wt_release(names->all[i].name);
    wt_release(names->all);
}

/* Takes the columns of a record, or says what is wrong with it. Cells of one experiment have the
 * same: the next one is mostly that after the last. */
static wt_status look_at(table *all, const wt_record *record) {
    static const char *const what[] = {"parameters", "metrics"};
    const char *const texts[] = {record->parameters, record->metrics};
    for (size_t k = 0; k < 2; k++) {
        wt_columns *to = &all->names[k];
        wt_flat walk = {.at = texts[k]};
        wt_flat_member member;
        for (size_t place = 0; wt_flat_next(&walk, &member); place++) {
            if (!wt_columns_has(to, place, member.name, member.name_length))
                WT_PASS(add_name(all->context, to, member.name, member.name_length, &place));
        }
        if (walk.wrong)
            return wt_fail(
                all->context, WT_DATA,
                "%s: is damaged: the %s of cell %.12s are no JSON object of plain values in order",
                wt_store_path(all->store), what[k], record->hash);
    }
    return WT_OK;
}

/* The row, or what ends the table for NULL, to where it goes; *fits when it could be made. */
static wt_status put_row(table *all, const wt_record *record, bool *fits) {
    all->row.length = 0;
    *fits = wt_export_rows[all->options.format](&all->row, record, all->names, all->rows == 0);
    WT_PASS(all->row.status);
    if (*fits && all->row.length > 0)
        WT_PASS(wt_output_write(all->out, all->row.text, all->row.length));
    return WT_OK;
}

static wt_status take_row(void *user, const wt_record *record) {
    table *all = user;
    bool fits = true;
    if (!record->failed && all->options.failed_only)
        return WT_OK;
    if (all->rows == 0 || all->late)
        WT_PASS(look_at(all, record));
    if (!all->late)
        WT_PASS(put_row(all, record, &fits));
    if (!fits) {
        WT_PASS(look_at(all, record));
        all->late = true;
    }
    all->rows++;
    return WT_OK;
}

/* All rows into a new output. */
static wt_status put_rows(table *all) {
    const wt_export_options *options = &all->options;
    bool fits;
    wt_output_free(all->out);
    all->out = NULL;
    all->rows = 0;
    all->late = false;
    WT_PASS(options->path != NULL ? wt_output_open(all->context, options->path, &all->out)
                                  : wt_output_spool(all->context, options->folder, &all->out));
    WT_PASS(wt_store_walk(all->context, all->store, options->experiment, take_row, all));
    if (!all->late)
        WT_PASS(put_row(all, NULL, &fits));
    return WT_OK;
}

void wt_export_options_init(wt_export_options *options, size_t size) {
    const wt_export_options full = {.folder = "/tmp"};
    options->size = size;
    wt_sized_write(options, &full, sizeof full);
}

wt_status wt_store_export(wt_context *context, wt_store *store, const wt_export_options *options,
                          wt_output **out) {
    table all = {.context = context, .store = store, .row = {.context = context}};
    wt_status status;
    *out = NULL;
    WT_INIT(wt_export_options, &all.options);
    WT_TRY(wt_sized_read(context, "wt_export_options", options, &all.options, sizeof all.options));
    WT_TRY(wt_check_choice(context, "format of a table", (int)all.options.format,
                           WT_EXPORT_FORMAT_LIST + 1));
    WT_TRY(wt_store_hold(context, store));
    do /* once more where columns came late: all are known then */
        status = put_rows(&all);
    while (status == WT_OK && all.late);
    wt_store_let_go(store);
    if (status == WT_OK) {
        *out = all.out;
        all.out = NULL;
    }
done:
    wt_output_free(all.out);
    wt_script_free(&all.row);
    free_columns(&all.names[0]);
    free_columns(&all.names[1]);
    return status;
}
