/* `wattle threshold`: how many samples a network needs, against the length. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "plot.h"
#include "set_options.h"
#include "threshold_show.h"
#include "train_options.h"

typedef struct {
    wt_train_spec train;
    cli_counts length;
    const char *samples, *output, *plot, *device;
    size_t resolution, trials;
    uint64_t around;
    double rate;
    bool all_trials, dry_run;
} values;

/* One search has several lengths and sizes, and asks for success alone. */
static const cli_table tables[] = {
    CLI_TABLE(values, train, wt_train_fields, "online to-end loss-mark settle"), {0}};
static const cli_option options[] = {
    {"length", 'T', CLI_COUNTS, offsetof(values, length), "GRID", "100:400:100",
     "Bits of a sample, in increasing order."},
    {"samples", 'n', CLI_TEXT, offsetof(values, samples), "RANGE", "10:200",
     "Where the critical number of samples is looked for, lo:hi."},
    {"resolution", 0, CLI_COUNT, offsetof(values, resolution), "M", "5",
     "Samples from one size that is tried to the next."},
    {"trials", 0, CLI_COUNT, offsetof(values, trials), "K", "40", "Trials of a length and size."},
    {"restarts", 'r', CLI_COUNT, offsetof(values, train.restarts), "R", "5",
     "Runs of a trial at most."},
    {"rate", 0, CLI_REAL, offsetof(values, rate), "P", "0.8",
     "Part of the trials that must succeed."},
    {"all-trials", 0, CLI_FLAG, offsetof(values, all_trials), NULL, NULL,
     "Run all trials of a size, though it is decided whether it meets the rate."},
    {"around", 0, CLI_NATURAL, offsetof(values, around), "K", "2",
     "Further sizes tried on each side of the threshold."},
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE.csv", NULL,
     "Where all trials go, one row a trial; trials that are there are not run again."},
    {"plot", 0, CLI_OUTPUT, offsetof(values, plot), "FILE.svg|.pdf|.png|-", NULL,
     "Picture; - draws in the terminal."},
    {"dry-run", 0, CLI_FLAG, offsetof(values, dry_run), NULL, NULL,
     "Run nothing: tell what the trials of --output say, wherever they were run."},
    CLI_DEVICE(offsetof(values, device)),
};

static wt_status read_setting(cli_call *call, wt_threshold_spec *out) {
    const values *given = call->values;
    double low, high;
    wt_status status = wt_range_parse(call->context, given->samples, &low, &high);
    if (status != WT_OK)
        return status;
    if (low < 1 || high > 1e9 || low != (double)(size_t)low || high != (double)(size_t)high)
        return wt_fail(call->context, WT_USAGE,
                       "--samples: '%s' is no range of whole numbers from 1 to 10^9",
                       given->samples);
    *out = (wt_threshold_spec){.size = sizeof *out,
                               .train = &given->train,
                               .low = (size_t)low,
                               .high = (size_t)high,
                               .resolution = given->resolution,
                               .trials = given->trials,
                               .rate = given->rate,
                               .all_trials = given->all_trials,
                               .around = (size_t)given->around,
                               .lengths = given->length.values,
                               .length_count = given->length.count,
                               .seed = call->common.seed,
                               .as_made = given->dry_run};
    return WT_OK;
}

static wt_status interrupted(cli_call *call, const wt_threshold *threshold) {
    const values *given = call->values;
    if (given->output == NULL)
        return wt_context_lost(call->context, (double)wt_threshold_trials(threshold), "trials");
    return wt_fail(call->context, WT_INTERRUPTED,
                   "%s; the %zu trials that were finished are in %s, and the same command "
                   "goes on from them",
                   wt_context_stop_name(call->context), wt_threshold_trials(threshold),
                   given->output);
}

static wt_status run(cli_call *call) {
    values *given = call->values;
    wt_threshold_spec setting;
    wt_threshold *threshold = NULL;
    wt_threshold_summary summary = WT_SIZED(wt_threshold_summary);
    wt_status status;
    cli_goes_on = given->output != NULL;
    if (!given->dry_run) /* the table names its own */
        WT_TRY(cli_choose_device(call, given->device));
    WT_TRY(cli_train_finish(call, &given->train));
    WT_TRY(read_setting(call, &setting));
    if (given->dry_run && given->output == NULL) {
        status = wt_fail(call->context, WT_USAGE, "--dry-run tells of a table: which, by --output");
        goto done;
    }
    WT_TRY(wt_threshold_open(call->context, &setting, given->output, &threshold));
    if (!given->dry_run)
        status = wt_threshold_run(call->context, threshold);
    WT_TRY(status == WT_INTERRUPTED ? interrupted(call, threshold) : status);
    WT_TRY(wt_threshold_summarise(call->context, threshold, &summary));
    if (summary.cell_count == 0) { /* of a dry run */
        status =
            wt_fail(call->context, WT_DATA,
                    "%s: has no whole block of trials at these lengths and samples", given->output);
        goto done;
    }
    if (call->common.json)
        WT_TRY(cli_threshold_emit(call, &setting, wt_threshold_trials(threshold), &summary));
    else
        cli_threshold_print(&summary);
    if (given->plot != NULL) /* last: a picture that fails loses no search */
        WT_TRY(cli_threshold_draw(call, &summary, given->plot));
done:
    wt_threshold_summary_free(&summary);
    wt_threshold_free(threshold);
    return status;
}

const cli_command cli_threshold = {
    .name = "threshold",
    .summary = "find how many samples a network needs, against the length",
    .description =
        "At each length T the critical number of samples m is looked for on the grid of --samples "
        "and --resolution: the smallest m tried such that it and every larger m tried meet the "
        "rate, which is that --rate of the trials succeed. It is found by halving; then sizes "
        "around it are tried, and smaller ones until the fitted rate is below --rate. A trial is "
        "one of `wattle train`, with task, training set and starts of its own. Trials run side by "
        "side, one a thread, and stop as soon as they succeed; an m is left as soon as its verdict "
        "stands (--all-trials runs them all).\n\n"
        "Told: successes at each m, the critical m of the grid, the rates of the three m nearest "
        "to it with 95% intervals (Clopper and Pearson), and an m fitted between the grid "
        "points: the likeliest place where the rate crosses --rate, over a family of curves that "
        "rise with log m, with a 95% interval; where the range ends before the threshold it says "
        "so. With "
        "three lengths or more that have a fitted m, m = a + b log T, a + b sqrt T and a + b "
        "T are fitted side by side, with intervals and information criteria; the lengths that "
        "are left out for want of a fitted m are named.\n\n"
        "With -o all trials are kept, also after Ctrl-C (exit code 75), and the same command goes "
        "on from them; more lengths, trials or another range add to them. --dry-run reads the "
        "table again, also one that was made on a GPU that is not here. A file has one writer at "
        "a "
        "time: a second run is refused (exit code 73).",
    .examples = "wattle threshold --length 100:400:100 --samples 10:200 -o threshold.csv "
                "--plot threshold.svg\n"
                "wattle threshold --task parity:2 --length 8,16,32 --trials 10 --restarts 2\n"
                "wattle threshold --embedding-dropout 0 --length 100:1100:100 -o fast.csv",
    .tables = tables,
    CLI_OPTIONS(options, values),
    .run = run,
};
