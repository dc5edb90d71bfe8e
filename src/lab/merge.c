#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "lab/flat.h"
#include "lab/store.h"

/* A point of a curve that was solved together with other n agrees to rounding, about 1e-10. */
#define SAME 1e-6

typedef struct {
    wt_context *context;
    wt_store *store;
    wt_merge_report *report;
    const wt_record *record; /* of the other store */
    bool put;                /* in place of what is there */
    bool disputed;           /* beside what is there */
} merging;

static bool same_number(const wt_flat_member *a, const wt_flat_member *b) {
    double x = wt_flat_number(a), y = wt_flat_number(b);
    return (a->kind == WT_FLAT_NULL) == (b->kind == WT_FLAT_NULL) &&
           (isnan(x) ? isnan(y) : fabs(x - y) <= SAME * fmax(fabs(x), fabs(y)));
}

/* Whether two objects of metrics agree to rounding: their names are in rising order. */
static bool same_metrics(const char *here, const char *there) {
    wt_flat left = {.at = here}, right = {.at = there};
    wt_flat_member a, b;
    while (wt_flat_next(&left, &a))
        if (!wt_flat_next(&right, &b) || a.name_length != b.name_length ||
            memcmp(a.name, b.name, a.name_length) != 0 || !same_number(&a, &b))
            return false;
    return !wt_flat_next(&right, &b) && !left.wrong && !right.wrong;
}

/* The cell as the store has it, beside that of the other store. */
static wt_status compare(void *user, const wt_record *here) {
    merging *work = user;
    const wt_record *there = work->record;
    work->report->known++;
    if (strcmp(here->parameters, there->parameters) != 0 || here->seed != there->seed ||
        strcmp(here->experiment, there->experiment) != 0)
        return wt_fail(work->context, WT_DATA, "%s: cell %.12s has the parameters %s, not %s",
                       wt_store_path(work->store), here->hash, here->parameters, there->parameters);
    work->put = here->failed && !there->failed;
    bool differs = !here->failed && !there->failed && strcmp(here->metrics, there->metrics) != 0;
    work->disputed = differs && !same_metrics(here->metrics, there->metrics);
    if (work->disputed && strcmp(here->version, there->version) == 0 &&
        strcmp(here->machine, there->machine) == 0)
        return wt_fail(work->context, WT_DATA,
                       "%s: cell %.12s has the metrics %s here and %s there, by the same program "
                       "on the same machine",
                       wt_store_path(work->store), here->hash, here->metrics, there->metrics);
    work->report->differs += differs;
    work->report->disputed += work->disputed;
    return WT_OK;
}

static wt_status add_cell(void *user, const wt_record *record) {
    merging *work = user;
    bool found;
    work->record = record;
    WT_PASS(wt_store_get(work->context, work->store, record->hash, &found, compare, work));
    if (found && work->disputed)
        return wt_store_put_other(work->context, work->store, record);
    if (found && !work->put)
        return WT_OK;
    work->put = false;
    work->report->added += !found;
    work->report->mended += found;
    return wt_store_put(work->context, work->store, record);
}

static wt_status compare_other(void *user, const wt_record *here) {
    merging *work = user;
    work->disputed = !here->failed && !same_metrics(here->metrics, work->record->metrics);
    return WT_OK;
}

/* What the other store kept beside a cell stays evidence here, unless it is what this one has. */
static wt_status add_other(void *user, const wt_record *cell, const wt_record *other) {
    merging *work = user;
    bool found;
    (void)cell;
    work->record = other;
    WT_PASS(wt_store_get(work->context, work->store, other->hash, &found, compare_other, work));
    return found && work->disputed ? wt_store_put_other(work->context, work->store, other) : WT_OK;
}

static wt_status add_fact(void *user, const char *kind, const char *text) {
    merging *work = user;
    if (strcmp(kind, "experiment") == 0)
        return wt_store_declare(work->context, work->store, text);
    if (strcmp(kind, "command") == 0 || strcmp(kind, "sweep") == 0)
        return wt_store_note(work->context, work->store, kind, text);
    return WT_OK;
}

wt_status wt_store_merge(wt_context *context, wt_store *store, wt_store *from,
                         wt_merge_report *out) {
    wt_merge_report report = {0};
    merging work = {.context = context, .store = store, .report = &report};
    wt_status status;
    WT_TRY(wt_sized_check(context, "wt_merge_report", out, sizeof *out));
    WT_TRY(wt_store_hold(context, from));
    status = wt_store_walk_notes(context, from, add_fact, &work);
    if (status == WT_OK)
        status = wt_store_engines_merge(context, store, from);
    if (status == WT_OK)
        status = wt_store_walk(context, from, NULL, add_cell, &work);
    if (status == WT_OK)
        status = wt_store_walk_disputes(context, from, add_other, &work);
    wt_store_let_go(from);
    WT_TRY(status);
    WT_TRY(wt_store_commit(context, store));
    wt_sized_write(out, &report, sizeof report);
done:
    if (status != WT_OK)
        wt_store_rollback(store);
    return status;
}
