/* `wattle reproduce`: the whole job, from nothing to a page of verdicts. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "sweep_actions.h"
#include "verdicts.h"
#include "wattle/claims.h"
#include "wattle/memory.h"
#include "wattle/output.h"
#include "wattle/program.h"
#include "wattle/reproduce.h"
#include "wattle/text.h"

typedef struct {
    const char *scale, *only, *output, *device;
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
    CLI_DEVICE(offsetof(values, device)),
};

static wt_status join(wt_context *context, const char *folder, const char *name, char **out) {
    size_t bytes = strlen(folder) + strlen(name) + 2;
    wt_status status = WT_NEW(context, out, bytes, "a path");
    if (status == WT_OK)
        snprintf(*out, bytes, "%s/%s", folder, name);
    return status;
}

static wt_status open_folder(wt_context *context, const char *folder, char **store, char **page) {
    char shown[WT_QUOTED_BYTES];
    struct stat about;
    if (mkdir(folder, 0777) != 0 &&
        (errno != EEXIST || stat(folder, &about) != 0 || !S_ISDIR(about.st_mode)))
        return wt_fail(context, WT_CANNOT_CREATE, "cannot make the folder %s: %s",
                       wt_quote(folder, shown, sizeof shown), strerror(errno));
    WT_PASS(join(context, folder, "results.db", store));
    WT_PASS(join(context, folder, "report.html", page));
    return wt_output_check(context, *page);
}

static wt_status list(cli_call *call, const wt_reproduction *all) {
    const values *given = call->values;
    const wt_reproduction_sweep *one;
    json_t *listed = json_array();
    char time[WT_SECONDS_TEXT];
    double rate;
    wt_status status;
    WT_TRY(wt_sweep_rate(call->context, &rate));
    for (size_t i = 0; (one = wt_reproduction_at(all, i)) != NULL; i++) {
        const wt_plan *plan = wt_reproduction_plan_at(all, i);
        size_t cells = wt_plan_cells(plan);
        wt_plan_cost cost = WT_SIZED(wt_plan_cost);
        WT_TRY(wt_plan_estimate(call->context, plan, given->workers, rate, &cost));
        if (!call->common.json)
            cli_print("%-8s %-24s %6zu cells  %-12s  %s\n", one->line, one->what, cells,
                      wt_seconds_format(cost.seconds, time), one->sweep);
        else
            cli_json_add(listed, cli_json("line:s what:s cells:u seconds:r sweep:s", one->line,
                                          one->what, cells, cost.seconds, one->sweep));
    }
    if (call->common.json)
        WT_TRY(cli_emit(call, "scale:s sweeps:o", given->scale, json_incref(listed)));
done:
    json_decref(listed);
    return status;
}

static wt_status run_all(cli_call *call, wt_reproduction *all, uint64_t seed) {
    const values *given = call->values;
    wt_reproduction_report report = WT_SIZED(wt_reproduction_report);
    wt_sweep_options chosen;
    cli_sweep_identity self;
    wt_store *store = NULL;
    char *path = NULL, *page = NULL;
    double began = wt_clock();
    wt_status status;
    cli_goes_on = true;
    WT_TRY(cli_sweep_describe(call, &self, given->workers, &chosen));
    WT_TRY(open_folder(call->context, given->output, &path, &page));
    WT_TRY(wt_store_open(call->context, path, WT_STORE_MODE_CREATE, &store));
    WT_TRY(wt_reproduction_run(call->context, all, store, given->output, &chosen, &report));
    wt_store_free(store);
    store = NULL;
    WT_TRY(cli_report_make(call, path, page, NULL, false,
                           cli_json("seed:u scale:s store:s done_before:u done:u failed:u "
                                    "seconds:r",
                                    seed, given->scale, path, report.before, report.done,
                                    report.failed, wt_clock() - began)));
    WT_TRY(cli_sweep_judge(call, path, report.failed));
done:
    wt_store_free(store);
    wt_release(path);
    wt_release(page);
    return status;
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    wt_reproduction *all = NULL;
    uint64_t seed = cli_given(call, "seed") ? call->common.seed : wt_rules_now()->seed;
    wt_status status;
    WT_TRY(given->dry_run ? cli_foresee_device(call, given->device)
                          : cli_choose_device(call, given->device));
    WT_TRY(cli_sweep_workers(call, given->workers));
    WT_TRY(wt_reproduction_new(call->context, given->scale,
                               cli_given(call, "only") ? given->only : NULL, seed, &all));
    if (given->output == NULL && !given->dry_run)
        WT_TRY(wt_fail(call->context, WT_USAGE, "wattle reproduce needs --output"));
    if (wt_seed_explored((int64_t)seed))
        wt_remark(call->context,
                  "seed %" PRIu64 " is for exploring: there will be numbers and no verdicts", seed);
    WT_TRY(given->dry_run ? list(call, all) : run_all(call, all, seed));
done:
    wt_reproduction_free(all);
    return status;
}

const cli_command cli_reproduce = {
    .name = "reproduce",
    .summary = "run the experiments of the three papers and write the report",
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
