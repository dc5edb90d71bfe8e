/* Actions of `wattle sweep` that write: run, retry, merge. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "commit.h"
#include "set_options.h"
#include "sweep_actions.h"
#include "wattle/device.h"
#include "wattle/memory.h"
#include "wattle/program.h"
#include "wattle/text.h"

wt_status cli_sweep_describe(cli_call *call, cli_sweep_identity *self, size_t workers,
                             wt_sweep_options *out) {
    WT_PASS(wt_context_machine(call->context, self->machine));
    snprintf(self->version, sizeof self->version, "%s (%s)", wt_version(), WATTLE_COMMIT);
    WT_INIT(wt_sweep_options, out);
    out->workers = workers;
    out->command = self->command;
    out->version = self->version;
    out->machine = self->machine;
    return WT_OK;
}

wt_status cli_sweep_workers(cli_call *call, size_t workers) {
    return workers > WT_MAX_THREADS
               ? wt_fail(call->context, WT_USAGE, "--workers: at most %d, not %zu", WT_MAX_THREADS,
                         workers)
               : WT_OK;
}

/* More words of a command: `lead` as it stands, then the word as a shell reads it. */
static void add_word(cli_sweep_identity *self, const char *lead, const char *word) {
    size_t used = strlen(self->command), room = sizeof self->command;
    used += (size_t)snprintf(self->command + used, room - used, "%s", lead);
    if (used < room)
        (void)wt_shell_word(word, self->command + used, room - used);
    wt_utf8_trim(self->command);
}

/* The line that does the same again. */
static void spell_command(cli_call *call, const cli_sweep_values *given, wt_shard shard,
                          cli_sweep_identity *self) {
    char text[64];
    self->command[0] = '\0';
    add_word(self, "wattle sweep run ", call->operands[1]);
    for (size_t i = 0; i < given->set.count; i++)
        add_word(self, " --set ", given->set.items[i]);
    if (cli_given(call, "seed")) {
        snprintf(text, sizeof text, "%" PRIu64, call->common.seed);
        add_word(self, " --seed ", text);
    }
    if (given->groups != NULL)
        add_word(self, " --groups ", given->groups);
    if (shard.count > 1) {
        snprintf(text, sizeof text, "%zu/%zu", shard.index + 1, shard.count);
        add_word(self, " --shard ", text);
    }
    add_word(self, " --store ", given->store);
}

wt_status cli_sweep_spec(cli_call *call, const cli_sweep_values *given, wt_sweep_spec **out) {
    char seed[32];
    WT_PASS(wt_sweep_spec_load(call->context, call->operands[1], out));
    for (size_t i = 0; i < given->set.count; i++)
        WT_PASS(wt_sweep_spec_set(call->context, *out, given->set.items[i]));
    if (cli_given(call, "seed")) {
        if (call->common.seed >= WT_GRID_WHOLE) { /* a key of a sweep is a grid */
            return wt_fail(call->context, WT_USAGE,
                           "--seed: the seed of a sweep must be below 2^53, not %" PRIu64,
                           call->common.seed);
        }
        snprintf(seed, sizeof seed, "seed=%" PRIu64, call->common.seed);
        WT_PASS(wt_sweep_spec_set(call->context, *out, seed));
    }
    return WT_OK;
}

/* `failed`: the cells that are failed now, those of before included. */
static wt_status show(cli_call *call, const char *store, const wt_plan_count *before,
                      const wt_sweep_report *report, size_t failed) {
    if (call->common.json)
        return cli_emit(call,
                        "store:s cells:u done_before:u failed_before:u done:u failed:u seconds:r",
                        store, before->cells, before->done, before->failed, report->done,
                        report->failed, report->seconds);
    cli_print_row("store", "%s", store);
    cli_print_row("cells", "%zu", before->cells);
    cli_print_row("done before", "%zu", before->done);
    cli_print_row("done now", "%zu", report->done);
    cli_print_row("failed", "%zu", failed);
    cli_print_row("seconds", "%.3g", report->seconds);
    return WT_OK;
}

wt_status cli_sweep_judge(cli_call *call, const char *store, size_t failed) {
    char word[WT_MESSAGE_BYTES / 3];
    if (failed == 0)
        return WT_OK;
    (void)wt_shell_word(store, word, sizeof word);
    return wt_fail(call->context, WT_MISSED,
                   "%zu cells failed; 'wattle sweep list %s --failed' says why, and 'wattle sweep "
                   "retry %s' tries again",
                   failed, word, word);
}

/* Looks at the store, if there is one, and changes nothing. */
static wt_status dry_run(cli_call *call, const cli_sweep_values *given, wt_plan *plan) {
    wt_store *store = NULL;
    wt_plan_count count = WT_SIZED(wt_plan_count);
    wt_status status = WT_OK;
    if (given->store != NULL)
        status = wt_store_open(call->context, given->store, WT_STORE_MODE_READ, &store);
    if (status != WT_NO_INPUT)
        WT_TRY(status);
    WT_TRY(wt_plan_compare(call->context, plan, store, &count));
    WT_TRY(cli_sweep_plan(call, plan, &count, given->workers));
done:
    wt_store_free(store);
    return status;
}

wt_status cli_sweep_run(cli_call *call, const cli_sweep_values *given) {
    cli_sweep_identity self;
    wt_sweep_options options;
    wt_sweep_report report = WT_SIZED(wt_sweep_report);
    wt_plan_count before = WT_SIZED(wt_plan_count);
    wt_sweep_spec *spec = NULL;
    wt_plan *plan = NULL;
    wt_store *store = NULL;
    wt_shard shard = {0, 1};
    wt_status status;
    WT_TRY(cli_sweep_describe(call, &self, given->workers, &options));
    WT_TRY(cli_sweep_workers(call, given->workers));
    if (given->groups != NULL)
        WT_TRY(cli_exclude(call, "--groups", "shard"));
    else
        WT_TRY(cli_sweep_shard(call, given->shard, &shard));
    if (given->store == NULL && !given->dry_run)
        WT_TRY(wt_fail(call->context, WT_USAGE, "wattle sweep run needs --store"));
    WT_TRY(cli_sweep_spec(call, given, &spec));
    WT_TRY(given->groups != NULL ? cli_sweep_task(call, spec, given->groups, &plan)
                                 : wt_plan_new(call->context, spec, shard, &plan));
    if (given->dry_run) {
        WT_TRY(dry_run(call, given, plan));
        goto done;
    }
    cli_goes_on = true;
    spell_command(call, given, shard, &self);
    WT_TRY(wt_store_open(call->context, given->store, WT_STORE_MODE_CREATE, &store));
    WT_TRY(wt_plan_compare(call->context, plan, store, &before));
    WT_TRY(wt_sweep_run(call->context, plan, store, &options, &report));
    size_t failed = before.failed + report.failed;
    WT_TRY(show(call, given->store, &before, &report, failed));
    WT_TRY(cli_sweep_judge(call, given->store, failed));
done:
    wt_store_free(store);
    wt_plan_free(plan);
    wt_sweep_spec_free(spec);
    return status;
}

wt_status cli_sweep_retry(cli_call *call, const cli_sweep_values *given) {
    cli_sweep_identity self;
    wt_sweep_options options;
    wt_sweep_report report = WT_SIZED(wt_sweep_report);
    wt_store_count held = WT_SIZED(wt_store_count);
    wt_store *store = NULL;
    wt_plan *plan = NULL;
    const char *path = call->operands[call->operand_count - 1];
    wt_status status;
    WT_TRY(cli_sweep_describe(call, &self, given->workers, &options));
    WT_TRY(cli_sweep_workers(call, given->workers));
    if (call->operand_count == 3 && strcmp(call->operands[1], "failed") != 0)
        WT_TRY(wt_fail(call->context, WT_USAGE, "write 'wattle sweep retry failed %s'", path));
    if (cli_given(call, "seed"))
        WT_TRY(wt_fail(call->context, WT_USAGE,
                       "wattle sweep retry takes no --seed: every failed cell has its own"));
    cli_goes_on = true;
    self.command[0] = '\0';
    add_word(&self, "wattle sweep retry failed ", path);
    WT_TRY(wt_store_open(call->context, path, WT_STORE_MODE_WRITE, &store));
    WT_TRY(wt_store_counts(call->context, store, &held));
    WT_TRY(wt_plan_new_failed(call->context, store, &plan));
    WT_TRY(wt_sweep_run(call->context, plan, store, &options, &report));
    wt_plan_count before = {
        .cells = held.done + held.failed, .done = held.done, .failed = held.failed};
    WT_TRY(show(call, path, &before, &report, report.failed));
    WT_TRY(cli_sweep_judge(call, path, report.failed));
done:
    wt_store_free(store);
    wt_plan_free(plan);
    return status;
}

static wt_status merge_one(cli_call *call, wt_store *into, const char *path, wt_merge_report *sum) {
    wt_store *from = NULL;
    wt_merge_report report = WT_SIZED(wt_merge_report);
    wt_status status;
    WT_TRY(wt_store_open(call->context, path, WT_STORE_MODE_COPY, &from));
    WT_TRY(wt_store_merge(call->context, into, from, &report));
    sum->added += report.added;
    sum->known += report.known;
    sum->mended += report.mended;
    sum->differs += report.differs;
    sum->disputed += report.disputed;
    if (report.differs > report.disputed)
        wt_remark(call->context,
                  "%s: %zu cells differ from those of %s by rounding; the first are kept", path,
                  report.differs - report.disputed, wt_store_path(into));
    if (report.disputed > 0)
        wt_remark(call->context,
                  "%s: %zu cells differ from those of %s by more than rounding; both numbers are "
                  "kept, and 'wattle sweep disputes' shows them",
                  path, report.disputed, wt_store_path(into));
done:
    wt_store_free(from);
    return status;
}

/* Before a store is made for it: whether the file can be read as one. To read the store that is
 * being written would drop its locks. */
static wt_status check_source(cli_call *call, const char *into, const char *path) {
    wt_store *from = NULL;
    if (cli_same_file(into, path))
        return wt_fail(call->context, WT_USAGE, "%s cannot be merged into itself", path);
    wt_status status = wt_store_open(call->context, path, WT_STORE_MODE_READ, &from);
    wt_store_free(from);
    return status;
}

static wt_status show_merge(cli_call *call, const char *path, const wt_merge_report *sum,
                            const wt_store_count *held) {
    if (call->common.json)
        return cli_emit(call,
                        "store:s added:u known:u mended:u differing:u disputed:u done:u failed:u",
                        path, sum->added, sum->known, sum->mended, sum->differs, sum->disputed,
                        held->done, held->failed);
    cli_print_row("store", "%s", path);
    cli_print_row("cells added", "%zu", sum->added);
    cli_print_row("cells known before", "%zu", sum->known);
    cli_print_row("failed, now done", "%zu", sum->mended);
    if (sum->disputed > 0)
        cli_print_row("with other numbers", "%zu, both kept", sum->disputed);
    cli_print_row("cells in all", "%zu done, %zu failed", held->done, held->failed);
    return WT_OK;
}

/* What the tasks of a folder have found, into its results.db. */
static wt_status merge_folder(cli_call *call, const cli_sweep_values *given) {
    wt_merge_report sum = WT_SIZED(wt_merge_report);
    wt_store_count held = WT_SIZED(wt_store_count);
    wt_store *store = NULL;
    char path[PATH_MAX];
    wt_status status;
    if (given->store != NULL || call->operand_count > 2) {
        status = wt_fail(call->context, WT_USAGE,
                         "the stores of %s go to its results.db: write 'wattle sweep merge' with "
                         "the folder alone",
                         call->operands[1]);
        goto done;
    }
    snprintf(path, sizeof path, "%s/results.db", call->operands[1]);
    WT_TRY(wt_folder_merge(call->context, call->operands[1], &sum));
    WT_TRY(wt_store_open(call->context, path, WT_STORE_MODE_READ, &store));
    WT_TRY(wt_store_counts(call->context, store, &held));
    WT_TRY(show_merge(call, path, &sum, &held));
done:
    wt_store_free(store);
    return status;
}

wt_status cli_sweep_merge(cli_call *call, const cli_sweep_values *given) {
    wt_store *into = NULL;
    wt_merge_report sum = {0};
    wt_store_count held = WT_SIZED(wt_store_count);
    const char *path = given->store != NULL ? given->store : call->operands[1];
    int first = given->store != NULL ? 1 : 2;
    wt_status status;
    cli_goes_on = true;
    if (wt_folder_is(call->operands[1]))
        return merge_folder(call, given);
    if (first == call->operand_count) {
        status = wt_fail(call->context, WT_USAGE, "there is nothing to merge with %s", path);
        goto done;
    }
    for (int i = first; i < call->operand_count; i++)
        WT_TRY(check_source(call, path, call->operands[i]));
    WT_TRY(wt_store_open(call->context, path,
                         given->store != NULL ? WT_STORE_MODE_CREATE : WT_STORE_MODE_WRITE, &into));
    for (int i = first; i < call->operand_count; i++)
        WT_TRY(merge_one(call, into, call->operands[i], &sum));
    WT_TRY(wt_store_counts(call->context, into, &held));
    WT_TRY(show_merge(call, path, &sum, &held));
done:
    wt_store_free(into);
    return status;
}
