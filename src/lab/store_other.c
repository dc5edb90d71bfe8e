/* Numbers that another store had for a cell, where they differ by more than rounding: evidence that
 * two programs or two machines do not compute the same. */
#include "base/sized.h"
#include "lab/store_file.h"

wt_status wt_store_put_other(wt_context *context, wt_store *store, const wt_record *record) {
    const char *const texts[] = {record->hash,    record->metrics, NULL,
                                 record->version, record->machine, record->finished_date};
    wt_status status;
    WT_TRY(wt_store_begin(context, store));
    WT_TRY(wt_store_execute(context, store, wt_store_schema_other));
    WT_TRY(wt_store_prepare(context, store,
                            "INSERT OR IGNORE INTO other (hash, metrics, wall_seconds, version,"
                            " machine, finished_date) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                            texts, sizeof texts / sizeof *texts, &store->put_other));
    if (sqlite3_bind_double(store->put_other, 3, record->wall_seconds) != SQLITE_OK)
        WT_TRY(wt_store_fail(context, store));
    WT_TRY(wt_store_run(context, store, store->put_other, NULL, NULL));
done:
    wt_store_rewind(store->put_other);
    if (status != WT_OK)
        wt_store_rollback(store);
    return status;
}

static wt_status take_count(wt_context *context, wt_store *store, sqlite3_stmt *row, void *user) {
    (void)context;
    (void)store;
    *(size_t *)user = (size_t)sqlite3_column_int64(row, 0);
    return WT_OK;
}

/* Whether the table is there: it is made when there is something for it. */
static wt_status have_others(wt_context *context, wt_store *store, size_t *out) {
    return wt_store_query(context, store, "SELECT count(*) FROM sqlite_schema WHERE name = 'other'",
                          NULL, 0, take_count, out);
}

wt_status wt_store_count_others(wt_context *context, wt_store *store, size_t *out) {
    size_t tables;
    *out = 0;
    WT_PASS(have_others(context, store, &tables));
    return tables == 0 ? WT_OK
                       : wt_store_query(context, store, "SELECT count(DISTINCT hash) FROM other",
                                        NULL, 0, take_count, out);
}

typedef struct {
    wt_dispute_fn take;
    void *user;
    const wt_record *other;
} dispute;

static wt_status take_pair(void *user, const wt_record *cell) {
    dispute *pair = user;
    return pair->take(pair->user, cell, pair->other);
}

static wt_status take_other(wt_context *context, wt_store *store, sqlite3_stmt *row, void *user) {
    dispute *pair = user;
    wt_record other = WT_SIZED(wt_record);
    bool found;
    WT_PASS(wt_context_check_cancelled(context));
    WT_PASS(wt_store_take_record(context, store, row, &other));
    pair->other = &other;
    return wt_store_get(context, store, other.hash, &found, take_pair, pair);
}

wt_status wt_store_walk_disputes(wt_context *context, wt_store *store, wt_dispute_fn take,
                                 void *user) {
    dispute pair = {.take = take, .user = user};
    size_t tables;
    WT_PASS(have_others(context, store, &tables));
    if (tables == 0)
        return WT_OK;
    return wt_store_query(context, store,
                          "SELECT hash, experiment, parameters, seed, result_version, 'done', '',"
                          " other.metrics, other.wall_seconds, other.version, other.machine,"
                          " other.finished_date FROM other JOIN cell USING (hash)"
                          " ORDER BY other.hash, other.version, other.machine, other.metrics",
                          NULL, 0, take_other, &pair);
}
