/* The sweeps of `wattle reproduce` as one job. */
#include "lab/reproduce.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "base/text.h"
#include "io/script.h"
#include "lab/sweep.h"

struct wt_reproduction {
    const char *scale;
    char *lines; /* as given; NULL = all */
    uint64_t seed;
    const wt_reproduction_sweep *sweeps[WT_REPRODUCTION_MOST];
    wt_plan *plans[WT_REPRODUCTION_MOST];
    size_t count;
};

/* Behind the next comma; NULL = there is none. */
static const char *next_word(const char *at) {
    const char *comma = strchr(at, ',');
    return comma == NULL ? NULL : comma + 1;
}

/* Whether the first `length` letters of `word` are one of the words between commas. */
static bool is_among(const char *words, const char *word, size_t length) {
    for (const char *at = words; at != NULL; at = next_word(at))
        if (strcspn(at, ",") == length && strncmp(at, word, length) == 0)
            return true;
    return false;
}

static wt_status check_words(wt_context *context, const char *scale, const char *lines) {
    if (!is_among("tiny,quick,paper", scale, strlen(scale)))
        return wt_fail(context, WT_USAGE, "scale '%s' is none of tiny, quick and paper", scale);
    for (const char *at = lines; at != NULL; at = next_word(at)) {
        size_t length = strcspn(at, ",");
        if (!is_among("rfa,recover,sparse", at, length))
            return wt_fail(context, WT_USAGE, "'%.*s' is none of rfa, recover and sparse",
                           (int)length, at);
    }
    return WT_OK;
}

static wt_status make_plan(wt_context *context, const char *sweep, uint64_t seed, wt_plan **out) {
    wt_sweep_spec *spec = NULL;
    char seeds[32];
    wt_status status;
    snprintf(seeds, sizeof seeds, "seed=%" PRIu64, seed);
    WT_TRY(wt_sweep_spec_parse(context, sweep, &spec));
    WT_TRY(wt_sweep_spec_set(context, spec, seeds));
    WT_TRY(wt_plan_new(context, spec, (wt_shard){0, 1}, out));
done:
    wt_sweep_spec_free(spec);
    return status;
}

wt_status wt_reproduction_new(wt_context *context, const char *scale, const char *lines,
                              uint64_t seed, wt_reproduction **out) {
    wt_reproduction *made = NULL;
    const wt_reproduction_sweep *row;
    wt_status status;
    *out = NULL;
    WT_TRY(check_words(context, scale, lines));
    if (seed > INT64_MAX)
        WT_TRY(wt_fail(context, WT_USAGE, "the seed must be below 2^63 for a store"));
    WT_TRY(WT_NEW_ZERO(context, &made, 1, "sweeps"));
    made->seed = seed;
    if (lines != NULL)
        WT_TRY(wt_copy_text(context, &made->lines, lines, "lines"));
    for (size_t i = 0; (row = wt_reproduction_row(i)) != NULL; i++)
        if (strcmp(row->scale, scale) == 0 &&
            (lines == NULL || is_among(lines, row->line, strlen(row->line)))) {
            made->scale = row->scale;
            made->sweeps[made->count] = row;
            WT_TRY(make_plan(context, row->sweep, seed, &made->plans[made->count++]));
        }
    *out = made;
    made = NULL;
done:
    wt_reproduction_free(made);
    return status;
}

void wt_reproduction_free(wt_reproduction *reproduction) {
    if (reproduction == NULL)
        return;
    for (size_t i = 0; i < reproduction->count; i++)
        wt_plan_free(reproduction->plans[i]);
    wt_release(reproduction->lines);
    wt_release(reproduction);
}

const wt_reproduction_sweep *wt_reproduction_at(const wt_reproduction *reproduction, size_t index) {
    return index < reproduction->count ? reproduction->sweeps[index] : NULL;
}

const wt_plan *wt_reproduction_plan_at(const wt_reproduction *reproduction, size_t index) {
    return index < reproduction->count ? reproduction->plans[index] : NULL;
}

#define COMMAND "wattle reproduce --scale "

/* The command that does the same again. */
static void spell_command(const wt_reproduction *all, const char *folder, wt_script *out) {
    wt_script_add(out, COMMAND "%s", all->scale);
    if (all->lines != NULL)
        wt_script_add(out, " --only %s", all->lines);
    wt_script_add(out, " --seed %" PRIu64 " -o ", all->seed);
    wt_script_word(out, folder);
}

typedef struct {
    wt_context *context;
    const char *scale, *folder;
} check;

static wt_status check_command(void *user, const char *kind, const char *text) {
    const check *wanted = user;
    char shown[WT_QUOTED_BYTES];
    if (strcmp(kind, "command") != 0 || strncmp(text, COMMAND, strlen(COMMAND)) != 0)
        return WT_OK;
    const char *scale = text + strlen(COMMAND);
    size_t length = strcspn(scale, " ");
    if (strlen(wanted->scale) == length && strncmp(scale, wanted->scale, length) == 0)
        return WT_OK;
    return wt_fail(
        wanted->context, WT_USAGE, "%s holds scale %.*s: give scale %s a folder of its own",
        wt_quote(wanted->folder, shown, sizeof shown), (int)length, scale, wanted->scale);
}

/* Which cells of all sweeps the store has, with a remark a sweep. */
static wt_status compare(wt_context *context, wt_reproduction *all, wt_store *store,
                         wt_reproduction_report *report) {
    for (size_t i = 0; i < all->count; i++) {
        wt_plan_count count = WT_SIZED(wt_plan_count);
        WT_PASS(wt_plan_compare(context, all->plans[i], store, &count));
        report->before += count.done + count.failed;
        report->failed += count.failed;
        if (count.wanted > 0)
            wt_remark(context, "%s: %s, %zu cells to do", all->sweeps[i]->line,
                      all->sweeps[i]->what, count.wanted);
    }
    return WT_OK;
}

wt_status wt_reproduction_run(wt_context *context, wt_reproduction *reproduction, wt_store *store,
                              const char *folder, const wt_sweep_options *given,
                              wt_reproduction_report *out) {
    check wanted = {context, reproduction->scale, folder};
    wt_reproduction_report report = {.size = sizeof report};
    wt_sweep_options options;
    wt_sweep_report swept = {0};
    wt_script command = {.context = context};
    wt_status status;
    WT_INIT(wt_sweep_options, &options);
    WT_TRY(wt_sized_read(context, "wt_sweep_options", given, &options, sizeof options));
    WT_TRY(wt_sized_check(context, "wt_reproduction_report", out, sizeof report));
    WT_TRY(wt_store_walk_notes(context, store, check_command, &wanted));
    spell_command(reproduction, folder, &command);
    WT_TRY(command.status);
    WT_TRY(compare(context, reproduction, store, &report));
    options.command = command.text;
    status = wt_sweep_run_plans(context, reproduction->plans, reproduction->count, store, &options,
                                &swept);
    report.done = swept.done;
    report.failed += swept.failed;
    report.seconds = swept.seconds;
    wt_sized_write(out, &report, sizeof report);
    if (status == WT_INTERRUPTED)
        status = wt_fail(context, WT_INTERRUPTED,
                         "%s after %zu cells, which are kept in %s; the same command goes "
                         "on from there",
                         wt_context_stop_name(context), report.done + report.before,
                         wt_store_path(store));
done:
    wt_script_free(&command);
    return status;
}
