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

typedef struct {
    wt_note_fn take;
    void *user;
    char *spelled; /* the last that was */
} notes;

static wt_status take_note(wt_context *context, wt_store *store, sqlite3_stmt *row, void *user) {
    notes *to = user;
    const char *kind, *text;
    size_t length;
    WT_PASS(wt_store_take_words(context, store, row, 0, "kind", "a fact about it", &kind));
    WT_PASS(wt_store_take_text(context, store, row, 1, "text", "a fact about it", &text, &length));
    if (!wt_utf8_valid_bytes(text, length)) {
        wt_release(to->spelled);
        WT_PASS(spell(context, text, &to->spelled));
        text = to->spelled;
    }
    return to->take(to->user, kind, text);
}

wt_status wt_store_walk_notes(wt_context *context, wt_store *store, wt_note_fn take, void *user) {
    notes to = {.take = take, .user = user};
    wt_status status = wt_store_query(context, store, "SELECT kind, text FROM about ORDER BY rowid",
                                      NULL, 0, take_note, &to);
    wt_release(to.spelled);
    return status;
}

wt_status wt_store_note(wt_context *context, wt_store *store, const char *kind, const char *text) {
    const char *const texts[] = {kind, text};
    wt_status status;
    WT_TRY(wt_store_begin(context, store));
    WT_TRY(wt_store_query(context, store,
                          "INSERT INTO about SELECT ?1, ?2 WHERE NOT EXISTS"
                          " (SELECT 1 FROM about WHERE kind = ?1 AND text = ?2)",
                          texts, 2, NULL, NULL));
done:
    if (status != WT_OK)
        wt_store_rollback(store);
    return status;
}

typedef struct {
    wt_context *context;
    const wt_store *store;
    const char *meaning;
    bool known;
} declaration;

/* "curve 1 a,b": the name up to the first space decides. */
static wt_status check_meaning(void *user, const char *kind, const char *text) {
    declaration *wanted = user;
    const char *name = wanted->meaning, *rest = name + strcspn(name, " ");
    const size_t length = (size_t)(rest - name);
    if (strcmp(kind, "experiment") != 0 || strncmp(text, name, length) != 0 || text[length] != ' ')
        return WT_OK;
    wanted->known = true;
    if (strcmp(text, wanted->meaning) == 0)
        return WT_OK;
    return wt_fail(wanted->context, WT_DATA,
                   "%s: holds cells of another meaning of '%.*s': result version and parameters "
                   "are '%s' there, '%s' here; take another store",
                   wanted->store->shown, (int)length, name, text + length + 1,
                   rest + (*rest == ' '));
}

wt_status wt_store_agree(wt_context *context, wt_store *store, const char *meaning) {
    declaration wanted = {context, store, meaning, false};
    return wt_store_walk_notes(context, store, check_meaning, &wanted);
}

wt_status wt_store_declare(wt_context *context, wt_store *store, const char *meaning) {
    declaration wanted = {context, store, meaning, false};
    WT_PASS(wt_store_walk_notes(context, store, check_meaning, &wanted));
    return wanted.known ? WT_OK : wt_store_note(context, store, "experiment", meaning);
}
