/* `wattle reproduce`: the whole job, from nothing to a page of verdicts. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "lab/reproduce.h"
#include "sweep.h"
#include "verdicts.h"
#include "wattle/claims.h"
#include "wattle/memory.h"
#include "wattle/output.h"
#include "wattle/program.h"
#include "wattle/text.h"

typedef struct {
    const char *scale, *only, *output;
    size_t workers;
    bool dry_run;
} values;

static const cli_option options[] = {
    {"scale", 0, CLI_CHOICE, offsetof(values, scale), "tiny|quick|paper", "quick",
     "tiny: seconds, to see that everything works. quick: minutes, every claim measured on small "
     "problems. paper: larger ones, for hours or days."},
    {"only", 0, CLI_TEXT, offsetof(values, only), "LINES", "rfa,recover,sparse",
     "Lines of work, parted by commas: rfa (random-feature attention), recover (multi-head "
     "layers), "
     "sparse (sparse Boolean functions)."},
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "DIR", NULL,
     "Folder of the results, made when it is not there: results.db, report.html, "
     "report-figures."},
    {"workers", 'w', CLI_COUNT, offsetof(values, workers), "N", NULL,
     "Groups of cells at a time; --threads, or all processors, by default."},
    {"dry-run", 0, CLI_FLAG, offsetof(values, dry_run), NULL, NULL,
     "Say which sweeps there are, how many cells and about how long, and do nothing."},
};

static const char *const lines[] = {"rfa", "recover", "sparse"};
enum { LINES = sizeof lines / sizeof *lines };

typedef struct {
    cli_call *call;
    const values *given;
    bool wanted[LINES];
    json_t *listed; /* of a dry run */
    double rate;    /* of this machine, for the times of a dry run */
    char *store, *page;
    cli_sweep_identity self;
    uint64_t seed;
    size_t done, before, failed; /* cells */
    double began;
} job;

static wt_status read_lines(job *work) {
    const char *word = work->given->only;
    while (true) {
        size_t length = strcspn(word, ","), i = 0;
        while (i < LINES && (strlen(lines[i]) != length || strncmp(word, lines[i], length) != 0))
            i++;
        if (i == LINES)
            return wt_fail(work->call->context, WT_USAGE,
                           "--only: '%.*s' is none of rfa, recover and sparse", (int)length, word);
        work->wanted[i] = true;
        if (word[length] == '\0')
            return WT_OK;
        word += length + 1;
    }
}

static bool is_wanted(const job *work, const wt_reproduction *one) {
    if (strcmp(one->scale, work->given->scale) != 0)
        return false;
    for (size_t i = 0; i < LINES; i++)
        if (strcmp(lines[i], one->line) == 0)
            return work->wanted[i];
    return false;
}

static wt_status join(wt_context *context, const char *folder, const char *name, char **out) {
    size_t bytes = strlen(folder) + strlen(name) + 2;
    wt_status status = WT_NEW(context, out, bytes, "a path");
    if (status == WT_OK)
        snprintf(*out, bytes, "%s/%s", folder, name);
    return status;
}

static wt_status open_folder(job *work) {
    wt_context *context = work->call->context;
    const char *folder = work->given->output;
    char shown[WT_QUOTED_BYTES];
    struct stat about;
    wt_status status;
    if (mkdir(folder, 0777) != 0 &&
        (errno != EEXIST || stat(folder, &about) != 0 || !S_ISDIR(about.st_mode)))
        return wt_fail(context, WT_CANNOT_CREATE, "cannot make the folder %s: %s",
                       wt_quote(folder, shown, sizeof shown), strerror(errno));
    WT_TRY(join(context, folder, "results.db", &work->store));
    WT_TRY(join(context, folder, "report.html", &work->page));
    WT_TRY(wt_output_try(context, work->page));
done:
    return status;
}

static wt_status run_plan(job *work, const wt_reproduction *one, wt_plan *plan) {
    wt_context *context = work->call->context;
    wt_sweep_options sweep = cli_sweep_describe(&work->self, work->given->workers);
    wt_sweep_report report = {0};
    wt_plan_count count;
    wt_store *store = NULL;
    wt_status status;
    wt_reproduction_command(work->given->scale,
                            cli_given(work->call, "only") ? work->given->only : NULL, work->seed,
                            work->given->output, work->self.command, sizeof work->self.command);
    WT_TRY(wt_store_open(context, work->store, WT_STORE_MODE_CREATE, &store));
    WT_TRY(wt_reproduction_check(context, store, one->scale, work->given->output));
    WT_TRY(wt_plan_compare(context, plan, store, &count));
    work->before += count.done + count.failed;
    work->failed += count.failed;
    if (!work->call->common.quiet && count.wanted > 0)
        wt_remark(context, "%s: %s, %zu cells to do", one->line, one->what, count.wanted);
    WT_TRY(wt_sweep_run(context, plan, store, &sweep, &report));
done:
    work->done += report.done; /* also of a run that was interrupted */
    work->failed += report.failed;
    wt_store_free(store);
    return status;
}

static wt_status list(job *work, const wt_reproduction *one, const wt_plan *plan) {
    wt_context *context = work->call->context;
    size_t cells = plan->cell_count, workers = work->given->workers;
    double seconds, bytes;
    char time[WT_SECONDS_TEXT];
    wt_status status;
    if (workers == 0)
        workers = (size_t)wt_context_threads(context);
    WT_TRY(cli_sweep_seconds(context, plan, workers, work->rate, &seconds, &bytes));
    if (!work->call->common.json)
        cli_print("%-8s %-24s %6zu cells  %-12s  %s\n", one->line, one->what, cells,
                  wt_format_seconds(seconds, time), one->sweep);
    else if (json_array_append_new(work->listed,
                                   json_pack("{s:s, s:s, s:I, s:o, s:s}", "line", one->line, "what",
                                             one->what, "cells", (json_int_t)cells, "seconds",
                                             cli_json_real(seconds), "sweep", one->sweep)) != 0)
        status = wt_fail(context, WT_MEMORY, "no memory for the JSON result");
done:
    return status;
}

static wt_status run_one(job *work, const wt_reproduction *one) {
    wt_context *context = work->call->context;
    wt_spec spec = {0};
    wt_plan plan = {0};
    wt_status status;
    WT_TRY(wt_reproduction_spec(context, one, work->seed, &spec));
    WT_TRY(wt_plan_make(context, &spec, (wt_shard){0, 1}, &plan));
    if (work->given->dry_run)
        WT_TRY(list(work, one, &plan));
    else
        WT_TRY(run_plan(work, one, &plan));
done:
    wt_plan_free(&plan);
    wt_spec_free(&spec);
    return status;
}

/* Ctrl-C: all that is finished is in the store. */
static wt_status interrupted(job *work) {
    return wt_fail(work->call->context, WT_INTERRUPTED,
                   "interrupted after %zu cells, which are kept in %s; the same command goes on "
                   "from there",
                   work->done + work->before, work->store);
}

static wt_status conclude(job *work) {
    cli_call *call = work->call;
    json_t *more = json_pack("{s:I, s:s, s:s, s:I, s:I, s:I, s:f}", "seed", (json_int_t)work->seed,
                             "scale", work->given->scale, "store", work->store, "done_before",
                             (json_int_t)work->before, "done", (json_int_t)work->done, "failed",
                             (json_int_t)work->failed, "seconds", wt_clock() - work->began);
    wt_status status = cli_report_make(call, work->store, work->page, more);
    return status == WT_OK ? cli_sweep_judge(call, work->store, work->failed) : status;
}

static wt_status run(cli_call *call) {
    job work = {.call = call, .given = call->values, .listed = json_array(), .began = wt_clock()};
    const wt_reproduction *one;
    wt_status status;
    WT_TRY(cli_sweep_workers(call, work.given->workers));
    WT_TRY(read_lines(&work));
    if (work.given->output == NULL && !work.given->dry_run) {
        status = wt_fail(call->context, WT_USAGE, "wattle reproduce needs --output");
        goto done;
    }
    work.seed = cli_given(call, "seed") ? call->common.seed : wt_rules_now()->seed;
    if (work.seed > INT64_MAX) {
        status = wt_fail(call->context, WT_USAGE, "--seed must be below 2^63 for a store");
        goto done;
    }
    if (wt_seed_explored((int64_t)work.seed) && !call->common.quiet)
        wt_remark(call->context,
                  "seed %" PRIu64 " is for exploring: there will be numbers and no verdicts",
                  work.seed);
    if (work.given->dry_run)
        WT_TRY(cli_sweep_rate(call->context, &work.rate));
    else
        WT_TRY(open_folder(&work));
    for (size_t i = 0; (one = wt_reproduction_at(i)) != NULL; i++) {
        if (!is_wanted(&work, one))
            continue;
        status = run_one(&work, one);
        WT_TRY(status == WT_INTERRUPTED && !work.given->dry_run ? interrupted(&work) : status);
    }
    if (!work.given->dry_run)
        WT_TRY(conclude(&work));
    else if (call->common.json)
        WT_TRY(cli_emit_json(
            call, json_pack("{s:s, s:O}", "scale", work.given->scale, "sweeps", work.listed)));
done:
    json_decref(work.listed);
    wt_release(work.store);
    wt_release(work.page);
    return status;
}

const cli_command cli_reproduce = {
    .name = "reproduce",
    .summary = "run the experiments of the three papers and write the report",
    .operands = "",
    .least = 0,
    .most = 0,
    .description =
        "Runs the sweeps that the claims of the three papers ask for into DIR/results.db, measures "
        "every claim and writes DIR/report.html with verdicts, figures and tables. Cells that are "
        "in the store already are not computed again: a run that was stopped, by Ctrl-C (exit code "
        "75) or a power cut, goes on where it was. A folder holds one scale: another is refused, "
        "as their cells would be pooled.\n\n"
        "quick measures every claim on small problems, in five minutes on two cores. paper has "
        "larger ones, with more power to decide; docs/reproduction.md lists them, and says what is "
        "published of them.\n\n"
        "A rule that was written after a result cannot be tested by that result. The rules have a "
        "version, and --seed is by default the one that was drawn with it. Any other seed of 1000 "
        "or more will do; smaller ones are for exploring, and give numbers without verdicts.",
    .examples = "wattle reproduce -o results\n"
                "wattle reproduce --scale paper --only rfa -o paper\n"
                "wattle reproduce --scale paper --dry-run",
    CLI_OPTIONS(options, values),
    .run = run,
};
