/* Which engines the cells of a store are by: a fact an engine. A store without one has cells of the
 * host alone, as all had before there were devices. */
#include <stdio.h>
#include <string.h>

#include "device/device.h"
#include "lab/store.h"

#define ENGINE "engine"
#define HOST   "the host"

static wt_status read_engine(void *user, const char *kind, const char *text) {
    wt_store_engines *of = user;
    if (strcmp(kind, ENGINE) != 0)
        return WT_OK;
    of->told = true;
    if (strcmp(text, of->here) == 0)
        of->known = true;
    else
        snprintf(of->other, sizeof of->other, "%s", text);
    return WT_OK;
}

/* Whose cells the store has, beside those of `out->here`. */
static wt_status look(wt_context *context, wt_store *store, wt_store_engines *out) {
    wt_store_count held = WT_SIZED(wt_store_count);
    WT_PASS(wt_store_walk_notes(context, store, read_engine, out));
    WT_PASS(wt_store_counts(context, store, &held));
    if (out->told || held.done == 0)
        return WT_OK;
    if (strcmp(out->here, HOST) == 0)
        out->known = true;
    else
        snprintf(out->other, sizeof out->other, HOST);
    return WT_OK;
}

wt_status wt_store_engines_look(wt_context *context, wt_store *store, wt_store_engines *out) {
    const wt_device *device = wt_context_get_device(context);
    *out = (wt_store_engines){.here = HOST};
    if (device != NULL)
        snprintf(out->here, sizeof out->here, "%.4s %s", device->name, device->product);
    WT_PASS(look(context, store, out));
    if (out->other[0] != '\0')
        wt_remark(context, "%s holds cells computed by %s; those of this run are by %s",
                  wt_store_path(store), out->other, out->here);
    return WT_OK;
}

wt_status wt_store_engines_note(wt_context *context, wt_store *store, const wt_store_engines *of) {
    if (of->other[0] == '\0' && strcmp(of->here, HOST) == 0)
        return WT_OK;
    if (!of->told && of->other[0] != '\0')
        WT_PASS(wt_store_note(context, store, ENGINE, of->other));
    return wt_store_note(context, store, ENGINE, of->here);
}

/* ---- merging ---- */

typedef struct {
    wt_context *context;
    wt_store *store, *from;
    bool told;
} merging;

static wt_status merge_engine(merging *work, const char *engine) {
    wt_store_engines of = {.here = ""};
    snprintf(of.here, sizeof of.here, "%s", engine);
    WT_PASS(look(work->context, work->store, &of));
    if (of.other[0] != '\0' && !of.known)
        wt_remark(work->context, "%s holds cells computed by %s; %s has some by %s",
                  wt_store_path(work->store), of.other, wt_store_path(work->from), engine);
    return wt_store_engines_note(work->context, work->store, &of);
}

static wt_status take_engine(void *user, const char *kind, const char *text) {
    merging *work = user;
    if (strcmp(kind, ENGINE) != 0)
        return WT_OK;
    work->told = true;
    return merge_engine(work, text);
}

wt_status wt_store_engines_merge(wt_context *context, wt_store *store, wt_store *from) {
    merging work = {.context = context, .store = store, .from = from};
    wt_store_count held = WT_SIZED(wt_store_count);
    WT_PASS(wt_store_walk_notes(context, from, take_engine, &work));
    WT_PASS(wt_store_counts(context, from, &held));
    return work.told || held.done == 0 ? WT_OK : merge_engine(&work, HOST);
}
