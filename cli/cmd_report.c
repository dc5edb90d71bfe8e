/* `wattle report`: what a store of results says, as one page. */
#include "commands.h"
#include "verdicts.h"

typedef struct {
    const char *output;
    bool watch;
    cli_texts checkpoints;
} values;

static const cli_option options[] = {
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE.html", "report.html",
     "Where the page goes; its figures go into a folder beside it, report-figures for "
     "report.html."},
    {"watch", 0, CLI_FLAG, offsetof(values, watch), NULL, NULL,
     "Write the page anew while a sweep adds to the store, until Ctrl-C."},
    {"checkpoint", 0, CLI_TEXTS, offsetof(values, checkpoints), "FILE", NULL,
     "A trained model, as `wattle inspect` takes it: the page also has the diagonals of its "
     "query-key products, head by head. May be given several times."},
};

static wt_status run(cli_call *call) {
    const values *given = call->values;
    wt_report_options chosen;
    WT_INIT(wt_report_options, &chosen);
    chosen.checkpoints = given->checkpoints.items;
    chosen.checkpoint_count = given->checkpoints.count;
    return cli_report_make(call, call->operands[0], given->output, &chosen, given->watch, NULL);
}

const cli_command cli_report = {
    .name = "report",
    .summary = "write what a store of results says as one page",
    .operands = "RESULTS.db",
    .description =
        "Writes what the cells of a store say as one self-contained HTML page that opens offline "
        "and prints: the figures and tables of a sweep of your own, or, of `wattle reproduce`, the "
        "verdicts on the claims of three papers with theirs; then what was run. Figures can be "
        "explored: point at a mark for its numbers, drag to zoom, switch series and logarithmic "
        "axes, sort the table beside them. They are also written as .svg and .pdf, with their "
        "numbers as .csv and the sweeps that make the cells as .ini, into a folder beside the "
        "page; "
        "figures and sweeps of an earlier report there that this one does not have are removed, "
        "other files are left.\n\n"
        "For every claim there is an effect and a claimed side of a boundary. A 95% interval "
        "wholly on that side: reproduced; wholly on the other: not reproduced; else undecided. "
        "docs/reproduction.md tells what was fixed before anything was measured and what was "
        "changed after. The same command on the same store gives the same bytes. Without gnuplot "
        "the figures are drawn by the page alone, and not on paper.\n\n"
        "With --watch the page is written whenever the store has changed, every five seconds at "
        "most, and a browser that shows it reads it anew, unless somebody is exploring it. A store "
        "that is not there yet is waited for. Ctrl-C ends the watch with a last page, the same as "
        "without --watch, and exit code 0.",
    .examples = "wattle report results.db -o report.html\n"
                "wattle report --watch results.db          # beside a sweep that runs\n"
                "wattle report results.db --checkpoint model.safetensors\n"
                "wattle report results.db --json",
    CLI_OPTIONS(options, values),
    .run = run,
};
