/* `wattle report`: what a store of results says, as one page. */
#include "commands.h"
#include "verdicts.h"

typedef struct {
    const char *output;
} values;

static const cli_option options[] = {
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE", "report.html",
     "Where the page goes; its figures go into a folder beside it, report-figures for "
     "report.html."},
};

static wt_status run(cli_call *call) {
    const values *given = call->values;
    return cli_report_make(call, call->operands[0], given->output, NULL);
}

const cli_command cli_report = {
    .name = "report",
    .summary = "write what a store of results says as one page",
    .operands = "RESULTS.db",
    .least = 1,
    .most = 1,
    .description =
        "Measures every claim of the three papers on the cells of the store and writes one "
        "self-contained HTML page: verdicts, figures, tables, what was run. It opens offline and "
        "prints. Figures are also written as .svg and .pdf, with their numbers as .csv and the "
        "sweeps that make the cells as .ini, into a folder beside the page; figures and sweeps of "
        "an earlier report there that this one does not have are removed, other files are left.\n\n"
        "For every claim there is an effect and a claimed side of a boundary. A 95% interval "
        "wholly on that side: reproduced; wholly on the other: not reproduced; else undecided. "
        "docs/reproduction.md tells what was fixed before anything was measured and what was "
        "changed after. The same command on the same store gives the same bytes. Without gnuplot "
        "the page has tables alone.",
    .examples = "wattle report results.db -o report.html\n"
                "wattle report results.db --json",
    CLI_OPTIONS(options, values),
    .run = run,
};
