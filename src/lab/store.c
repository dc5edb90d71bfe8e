/* The file: opening, the one writer, what is wrong with it. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "lab/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/memory.h"
#include "base/text.h"
#include "lab/store_file.h"

#define APPLICATION_ID 0x5754544c /* "WTTL", at byte 68 of the file */
enum { HEADER = 72, APPLICATION_AT = 68 };
enum { COPIED_PAGES = 1024 }; /* between looks at the cancel flag */
/* SQLite locks bytes from 0x40000000 on. */
#define WRITER_BYTE 0x7fff0000

/* Of the file: that of the connection is often another's by the time it is asked for. */
static int last_errno(const wt_store *store) {
    int reason = 0;
    if (sqlite3_file_control(store->base, "main", SQLITE_FCNTL_LAST_ERRNO, &reason) != SQLITE_OK ||
        reason == 0)
        reason = sqlite3_system_errno(store->base);
    return reason;
}

wt_status wt_store_fail(wt_context *context, const wt_store *store) {
    int code = sqlite3_errcode(store->base);
    const char *words = sqlite3_errmsg(store->base);
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return wt_fail(context, WT_MEMORY, "%s: no memory for SQLite", store->shown);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return wt_fail(context, WT_DATA, "%s: is damaged: %s", store->shown, words);
    case SQLITE_TOOBIG:
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
        return wt_fail(context, WT_DATA, "%s: is no store of this format: %s", store->shown, words);
    case SQLITE_FULL:
        return wt_fail(context, WT_IO, "%s: the disk is full; what was stored before is kept",
                       store->shown);
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
        return wt_fail(context, WT_CANNOT_CREATE, "%s: cannot be written: %s", store->shown, words);
    case SQLITE_INTERRUPT: /* store_wait.c */
        return wt_fail(context, WT_INTERRUPTED, "interrupted");
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return wt_store_gave_up(context, store);
    default:
        if (last_errno(store) == EDQUOT)
            return wt_fail(context, WT_IO,
                           "%s: the quota of the disk is used up; what was stored before is kept",
                           store->shown);
        return wt_fail(context, WT_IO, "%s: %s (SQLite %d, %s)", store->shown, words,
                       sqlite3_extended_errcode(store->base), strerror(last_errno(store)));
    }
}

wt_status wt_store_execute(wt_context *context, wt_store *store, const char *sql) {
    store->context = context;
    return sqlite3_exec(store->base, sql, NULL, NULL, NULL) == SQLITE_OK
               ? WT_OK
               : wt_store_fail(context, store);
}

wt_status wt_store_prepare(wt_context *context, wt_store *store, const char *sql,
                           const char *const *texts, int count, sqlite3_stmt **kept) {
    store->context = context;
    if (*kept == NULL && sqlite3_prepare_v2(store->base, sql, -1, kept, NULL) != SQLITE_OK)
        return wt_store_fail(context, store);
    for (int i = 0; i < count; i++)
        if (texts[i] != NULL &&
            sqlite3_bind_text(*kept, i + 1, texts[i], -1, SQLITE_STATIC) != SQLITE_OK)
            return wt_store_fail(context, store);
    return WT_OK;
}

wt_status wt_store_run(wt_context *context, wt_store *store, sqlite3_stmt *statement,
                       wt_store_row_fn take, void *user) {
    int step;
    while ((step = sqlite3_step(statement)) == SQLITE_ROW)
        WT_PASS(take(context, store, statement, user));
    return step == SQLITE_DONE ? WT_OK : wt_store_fail(context, store);
}

wt_status wt_store_query(wt_context *context, wt_store *store, const char *sql,
                         const char *const *texts, int count, wt_store_row_fn take, void *user) {
    sqlite3_stmt *statement = NULL;
    wt_status status;
    WT_TRY(wt_store_prepare(context, store, sql, texts, count, &statement));
    WT_TRY(wt_store_run(context, store, statement, take, user));
done:
    sqlite3_finalize(statement);
    return status;
}

static wt_status take_number(wt_context *context, wt_store *store, sqlite3_stmt *row, void *user) {
    (void)context;
    (void)store;
    *(int64_t *)user = sqlite3_column_int64(row, 0);
    return WT_OK;
}

/* Invariant 3: the head of the file, before SQLite sees it. An empty file may become a store. */
static wt_status check_head(wt_context *context, const wt_store *store, int file,
                            bool may_be_empty) {
    unsigned char head[HEADER] = {0};
    ssize_t got = pread(file, head, sizeof head, 0);
    if (got < 0)
        return wt_fail(context, WT_DATA, "%s: cannot be read: %s", store->shown, strerror(errno));
    if (got == 0 && may_be_empty)
        return WT_OK;
    if (got == 0)
        return wt_fail(context, WT_DATA, "%s: is empty, no store of results", store->shown);
    if (got < HEADER || memcmp(head, "SQLite format 3", 16) != 0)
        return wt_fail(context, WT_DATA, "%s: is no store of results; it is left as it is",
                       store->shown);
    uint32_t id = (uint32_t)head[APPLICATION_AT] << 24 | (uint32_t)head[APPLICATION_AT + 1] << 16 |
                  (uint32_t)head[APPLICATION_AT + 2] << 8 | head[APPLICATION_AT + 3];
    if (id != APPLICATION_ID)
        return wt_fail(context, WT_DATA,
                       "%s: is a database of another program; it is left as it is", store->shown);
    return WT_OK;
}

/* Invariant 2. */
static wt_status become_writer(wt_context *context, wt_store *store, const char *path,
                               wt_store_mode mode) {
    bool create = mode == WT_STORE_MODE_CREATE;
    struct stat about;
    store->lock = wt_descriptor_move(
        open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | (create ? O_CREAT : 0), 0666));
    if (store->lock < 0 && errno == ENOENT && !create)
        return wt_fail(context, WT_NO_INPUT, "%s: there is no such file", store->shown);
    if (store->lock < 0)
        return wt_fail(context, WT_CANNOT_CREATE, "%s: cannot be written: %s", store->shown,
                       strerror(errno));
    if (fstat(store->lock, &about) != 0 || !S_ISREG(about.st_mode))
        return wt_fail(context, WT_CANNOT_CREATE, "%s: is not a file", store->shown);
    WT_PASS(check_head(context, store, store->lock, create));
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = WRITER_BYTE, .l_len = 1};
    if (fcntl(store->lock, F_OFD_SETLK, &lock) == 0)
        return WT_OK;
    if (errno == EAGAIN || errno == EACCES)
        return wt_fail(context, WT_CANNOT_CREATE,
                       "%s: another process is writing to it; a store has one writer at a time",
                       store->shown);
    return wt_fail(context, WT_IO, "%s: cannot be locked: %s", store->shown, strerror(errno));
}

static wt_status check_reader(wt_context *context, wt_store *store, const char *path) {
    wt_source source = {.file = -1};
    wt_status status;
    WT_TRY(wt_source_open(context, path, &source));
    WT_TRY(check_head(context, store, source.file, false));
done:
    wt_source_close(&source);
    return status;
}

/* A connection; an empty name is a private file of SQLite's, gone with it. */
static wt_status connect(wt_context *context, wt_store *store, const char *name, bool reader) {
    /* no locks of SQLite's own: one thread at a time has a store */
    int flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (*name == '\0' ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(name, &store->base, flags, NULL) != SQLITE_OK)
        return store->base == NULL ? wt_fail(context, WT_MEMORY, "no memory for SQLite")
                                   : wt_store_fail(context, store);
    sqlite3_extended_result_codes(store->base, 1);
    wt_store_wait_patiently(store);
    return wt_store_restrict(context, store, reader);
}

/* SQLite takes some names for something else than a file. A reader may write too: after a kill in
 * the midst of a commit the first to come must roll it back. */
static wt_status open_base(wt_context *context, wt_store *store, const char *path, bool reader) {
    char *name = NULL;
    size_t bytes = strlen(path) + 3;
    wt_status status;
    WT_TRY(WT_NEW(context, &name, bytes, "the path of a store"));
    snprintf(name, bytes, "%s%s", path[0] == '/' ? "" : "./", path);
    WT_TRY(connect(context, store, name, reader));
done:
    wt_release(name);
    return status;
}

wt_status wt_store_folder(wt_context *context, wt_store *store, char **out) {
    char *name = NULL;
    wt_status status;
    *out = NULL;
    (void)sqlite3_file_control(store->base, "main", SQLITE_FCNTL_TEMPFILENAME, &name);
    char *slash = name == NULL ? NULL : strrchr(name, '/');
    if (slash == NULL)
        WT_TRY(wt_fail(context, WT_MEMORY, "no memory for SQLite"));
    *slash = '\0';
    WT_TRY(wt_copy_text(context, out, slash == name ? "/" : name, "the path of a folder"));
done:
    sqlite3_free(name);
    return status;
}

static wt_status create_tables(wt_context *context, wt_store *store) {
    char numbers[128];
    snprintf(numbers, sizeof numbers, "PRAGMA application_id = %d; PRAGMA user_version = %d;",
             APPLICATION_ID, WT_STORE_FORMAT);
    WT_PASS(wt_store_begin(context, store));
    WT_PASS(wt_store_execute(context, store, numbers));
    WT_PASS(wt_store_execute(context, store, wt_store_schema));
    return wt_store_commit(context, store);
}

/* Of quick_check: "ok", or what is wrong. */
static wt_status take_check(wt_context *context, wt_store *store, sqlite3_stmt *row, void *user) {
    const char *words = (const char *)sqlite3_column_text(row, 0);
    (void)user;
    if (words != NULL && strcmp(words, "ok") == 0)
        return WT_OK;
    return wt_fail(context, WT_DATA, "%s: is damaged: %s", store->shown,
                   words == NULL ? "no answer of quick_check" : words);
}

static bool is_reader(wt_store_mode mode) {
    return mode == WT_STORE_MODE_READ || mode == WT_STORE_MODE_COPY;
}

/* Tables and format; a writer checks every page first. */
static wt_status check_content(wt_context *context, wt_store *store, wt_store_mode mode) {
    int64_t pages = 0, format = 0;
    WT_PASS(wt_store_query(context, store, "PRAGMA page_count", NULL, 0, take_number, &pages));
    if (is_reader(mode))
        WT_PASS(wt_store_execute(context, store, "PRAGMA query_only = ON"));
    else
        WT_PASS(wt_store_execute(context, store,
                                 "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL;"));
    if (pages == 0 && mode == WT_STORE_MODE_CREATE)
        WT_PASS(create_tables(context, store));
    WT_PASS(wt_store_query(context, store, "PRAGMA user_version", NULL, 0, take_number, &format));
    if (format != WT_STORE_FORMAT) {
        return wt_fail(context, WT_DATA, "%s: is of format %lld; this wattle knows format %d",
                       store->shown, (long long)format, WT_STORE_FORMAT);
    }
    WT_PASS(wt_store_check_schema(context, store));
    if (!is_reader(mode))
        WT_PASS(wt_store_query(context, store, "PRAGMA quick_check(1)", NULL, 0, take_check, NULL));
    return WT_OK;
}

/* The pages of another store as they are now, to the empty base of this one. */
static wt_status copy_pages(wt_context *context, wt_store *from, wt_store *to) {
    sqlite3_backup *copy = sqlite3_backup_init(to->base, "main", from->base, "main");
    if (copy == NULL)
        return wt_store_fail(context, to);
    from->context = to->context = context;
    wt_status status = WT_OK;
    int step = SQLITE_OK;
    while (step == SQLITE_OK && (status = wt_context_check_cancelled(context)) == WT_OK)
        step = sqlite3_backup_step(copy, COPIED_PAGES);
    int code = sqlite3_backup_finish(copy);
    if (status != WT_OK || (step == SQLITE_DONE && code == SQLITE_OK))
        return status;
    if (code == SQLITE_FULL || (code & 0xff) == SQLITE_IOERR || (code & 0xff) == SQLITE_CANTOPEN)
        return wt_fail(context, WT_IO, "%s: cannot be copied to a temporary file (TMPDIR): %s",
                       from->shown, sqlite3_errstr(code));
    return wt_store_fail(context, code == sqlite3_errcode(from->base) ? from : to);
}

/* Puts a copy in the place of the file's connection, which is closed: nobody is held up by it. */
static wt_status copy_base(wt_context *context, wt_store *store) {
    wt_store file = *store;
    wt_status status;
    store->base = NULL;
    store->counted = (wt_counted){0};
    WT_TRY(connect(context, store, "", true));
    WT_TRY(wt_store_hold(context, &file)); /* the pages of one moment */
    WT_TRY(copy_pages(context, &file, store));
    WT_TRY(check_content(context, store, WT_STORE_MODE_COPY));
done:
    sqlite3_close(file.base);
    wt_uncount_memory(&file.counted);
    return status;
}

wt_status wt_store_open(wt_context *context, const char *path, wt_store_mode mode, wt_store **out) {
    wt_store *store = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(WT_NEW_ZERO(context, &store, 1, "a store"));
    store->lock = -1;
    wt_quote(path, store->shown, sizeof store->shown);
    if (path[0] == '\0')
        WT_TRY(wt_fail(context, WT_USAGE, "the path of a store is empty"));
    WT_TRY(wt_check_choice(context, "mode of a store", (int)mode, WT_STORE_MODE_COPY + 1));
    if (is_reader(mode))
        WT_TRY(check_reader(context, store, path));
    else
        WT_TRY(become_writer(context, store, path, mode));
    WT_TRY(open_base(context, store, path, is_reader(mode)));
    WT_TRY(check_content(context, store, mode));
    if (mode == WT_STORE_MODE_COPY)
        WT_TRY(copy_base(context, store));
    wt_store_finish_writes(store);
    *out = store;
    store = NULL;
done:
    wt_store_free(store);
    return status;
}

void wt_store_free(wt_store *store) {
    if (store == NULL)
        return;
    wt_store_rollback(store);
    sqlite3_finalize(store->get);
    sqlite3_finalize(store->put);
    sqlite3_finalize(store->put_other);
    sqlite3_close(store->base);
    /* After SQLite's: to close any file of the same inode drops the locks SQLite has on it. */
    if (store->lock >= 0)
        close(store->lock);
    wt_uncount_memory(&store->counted);
    wt_release(store);
}

const char *wt_store_path(const wt_store *store) {
    return store->shown;
}

wt_status wt_store_begin(wt_context *context, wt_store *store) {
    if (store->changing)
        return WT_OK;
    wt_status status = wt_store_execute(context, store, "BEGIN IMMEDIATE");
    store->changing = status == WT_OK;
    return status;
}

void wt_store_rollback(wt_store *store) {
    if (store->changing)
        (void)sqlite3_exec(store->base, "ROLLBACK", NULL, NULL, NULL);
    store->changing = false;
}

wt_status wt_store_commit(wt_context *context, wt_store *store) {
    wt_status status = WT_OK;
    if (!store->changing)
        return status;
    if (wt_fault_due(&context->write_to_fail))
        status = wt_fail(context, WT_IO, "%s: could not be written; what was stored before is kept",
                         store->shown);
    else
        status = wt_store_execute(context, store, "COMMIT");
    if (status != WT_OK)
        wt_store_rollback(store);
    store->changing = false;
    return status;
}
