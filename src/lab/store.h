/* A file of results from within.
 *
 * Invariants, cited by the tests:
 *  1. a cell is in the file wholly or not at all, whatever ends the process: cells go in by
 *     transactions of SQLite with a rollback journal (journal_mode DELETE, synchronous FULL). Not a
 *     write-ahead log: that keeps results in a second file that a copy of the store would miss, and
 *     needs shared memory that the file systems of clusters do not have;
 *  2. there is one writer: it holds a lock on a byte of the file for as long as it is open, which
 *     the kernel takes back when the process dies. The lock belongs to the open file
 *     (F_OFD_SETLK), far from the bytes SQLite locks, so that readers are not held up;
 *  3. a file that is not a store of ours is never written to: it is recognised by SQLite's header
 *     and our application_id before anything else, and checked whole before the first write;
 *  4. one meaning a store: cells of an experiment all have the same result version and the same
 *     parameters, or the sweep is refused;
 *  5. a failing write (each commit counts as one) leaves what was committed before;
 *  6. nothing in the file is trusted: the schema must be ours to the letter (no views, no triggers,
 *     no other tables), text must be UTF-8, states, seconds and hashes of the kind we write. Rooms
 *     grow as rows come: no query is believed about another;
 *  7. what is read between wt_store_hold and wt_store_let_go is the store at one moment, and who
 *     reads lets go before printing: a reader that waits, for a pager say, would keep the writer
 *     from storing. */
#ifndef WT_LAB_STORE_H
#define WT_LAB_STORE_H

#include "base/context.h"
#include "wattle/store.h"

typedef enum wt_cell_state { WT_CELL_MISSING, WT_CELL_DONE, WT_CELL_FAILED } wt_cell_state;

/* What there is of a hash. WT_DATA when it is there with other parameters than these. */
wt_status wt_store_find(wt_context *context, wt_store *store, const char *hash,
                        const char *parameters, wt_cell_state *out);
/* Calls `take` with the record of a hash, if there is one, and says in *found whether. */
wt_status wt_store_get(wt_context *context, wt_store *store, const char *hash, bool *found,
                       wt_record_fn take, void *user);

/* store_engines.c: who computed the cells of a store, as "the host" or "cuda NVIDIA H200". */
typedef struct wt_store_engines {
    char here[WT_MESSAGE_BYTES / 4];  /* of the context */
    char other[WT_MESSAGE_BYTES / 4]; /* another that cells are by; "" = none */
    bool known, told;                 /* the store has cells of `here`; facts about engines */
} wt_store_engines;
/* Remarks where the store has cells of another engine than the context's. */
wt_status wt_store_engines_look(wt_context *context, wt_store *store, wt_store_engines *out);
/* Before the first cell of a run is put: whose they are. */
wt_status wt_store_engines_note(wt_context *context, wt_store *store, const wt_store_engines *of);
/* Before cells of `from` are put: whose they are, with a remark where the store has none of theirs
 * but others. */
wt_status wt_store_engines_merge(wt_context *context, wt_store *store, wt_store *from);

/* store_other.c: keeps the numbers of a cell that is there with others, unless they are kept; to be
 * committed. How many cells have such. */
wt_status wt_store_put_other(wt_context *context, wt_store *store, const wt_record *record);
wt_status wt_store_count_others(wt_context *context, wt_store *store, size_t *out);

/* The folder in which SQLite would make a temporary file (TMPDIR), to be released. */
wt_status wt_store_folder(wt_context *context, wt_store *store, char **out);

/* Writes down what an experiment means: "curve 1 activation,bias,..". WT_DATA with a sentence when
 * the store holds another meaning of the name (invariant 4). */
wt_status wt_store_declare(wt_context *context, wt_store *store, const char *meaning);
/* The same, and nothing is written. */
wt_status wt_store_agree(wt_context *context, wt_store *store, const char *meaning);

#endif
