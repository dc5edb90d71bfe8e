/* Facts about a store itself: commands, sweeps, what its experiments mean. */
#include <string.h>

#include "base/text.h"
#include "lab/store_file.h"

/* Commands name files, and names of files are any bytes: what is no UTF-8 is spelled \xNN. To be
 * released. */
static wt_status spell(wt_context *context, const char *text, char **out) {
    size_t left = strlen(text); /* a text of SQLite is below 2^31 bytes */
    WT_PASS(WT_NEW(context, out, 4 * left + WT_SHOWN_CHARACTER, "a fact about a store"));
    char *end = *out;
    for (size_t taken; left > 0; text += taken, left -= taken) {
        taken = wt_utf8_length(text, left);
        memcpy(end, text, taken);
        end += taken;
        if (taken == 0) {
            taken = wt_show_character(text, left, end);
            end += strlen(end);
        }
    }
    *end = '\0';
    return WT_OK;
}

wt_status wt_store_walk_notes(wt_context *context, wt_store *store, wt_note_fn take, void *user) {
    sqlite3_stmt *statement = NULL;
    char *spelled = NULL;
    int step = SQLITE_DONE;
    wt_status status;
    WT_TRY(wt_store_prepare(context, store, "SELECT kind, text FROM about ORDER BY rowid",
                            &statement));
    while ((step = wt_store_step(context, store, statement)) == SQLITE_ROW) {
        const char *kind, *text;
        WT_TRY(wt_store_take_words(context, store, statement, 0, "kind", "a fact about it", &kind));
        size_t length;
        WT_TRY(wt_store_take_text(context, store, statement, 1, "text", "a fact about it", &text,
                                  &length));
        if (!wt_utf8_valid_bytes(text, length)) {
            wt_release(spelled);
            WT_TRY(spell(context, text, &spelled));
            text = spelled;
        }
        WT_TRY(take(user, kind, text));
    }
    if (step != SQLITE_DONE)
        status = wt_store_fail(context, store);
done:
    wt_release(spelled);
    sqlite3_finalize(statement);
    return status;
}

wt_status wt_store_note(wt_context *context, wt_store *store, const char *kind, const char *text) {
    sqlite3_stmt *statement = NULL;
    wt_status status;
    WT_TRY(wt_store_begin(context, store));
    WT_TRY(wt_store_prepare(context, store,
                            "INSERT INTO about SELECT ?1, ?2 WHERE NOT EXISTS"
                            " (SELECT 1 FROM about WHERE kind = ?1 AND text = ?2)",
                            &statement));
    WT_TRY(wt_store_bind(context, store, statement, 1, kind));
    WT_TRY(wt_store_bind(context, store, statement, 2, text));
    if (wt_store_step(context, store, statement) != SQLITE_DONE)
        status = wt_store_fail(context, store);
done:
    sqlite3_finalize(statement);
    if (status != WT_OK)
        wt_store_rollback(store);
    return status;
}

typedef struct {
    wt_context *context;
    const wt_store *store;
    const char *experiment, *meaning;
    bool known;
} declaration;

/* "curve 1 a,b": the name up to the first space decides. */
static wt_status check_meaning(void *user, const char *kind, const char *text) {
    declaration *wanted = user;
    size_t length = strlen(wanted->experiment);
    if (strcmp(kind, "experiment") != 0 || strncmp(text, wanted->experiment, length) != 0 ||
        text[length] != ' ')
        return WT_OK;
    wanted->known = true;
    if (strcmp(text, wanted->meaning) == 0)
        return WT_OK;
    return wt_fail(wanted->context, WT_DATA,
                   "%s: holds cells of another meaning of '%s': result version and parameters are "
                   "'%s' there, '%s' here; take another store",
                   wanted->store->shown, wanted->experiment, text + length + 1,
                   wanted->meaning + length + 1);
}

wt_status wt_store_agree(wt_context *context, wt_store *store, const char *experiment,
                         const char *meaning) {
    declaration wanted = {context, store, experiment, meaning, false};
    return wt_store_walk_notes(context, store, check_meaning, &wanted);
}

wt_status wt_store_declare(wt_context *context, wt_store *store, const char *experiment,
                           const char *meaning) {
    declaration wanted = {context, store, experiment, meaning, false};
    wt_status status = wt_store_walk_notes(context, store, check_meaning, &wanted);
    if (status != WT_OK || wanted.known)
        return status;
    return wt_store_note(context, store, "experiment", meaning);
}
