#include <string.h>

#include "commands.h"
#include "sweep_actions.h"

static const struct {
    const char *name;
    int least, most; /* operands after the word; most < 0 = any number */
    const char *operands;
    wt_status (*run)(cli_call *call, const cli_sweep_values *given);
} actions[] = {
    {"run", 1, 1, "SPEC.ini", cli_sweep_run},
    {"status", 1, 1, "STORE", cli_sweep_status},
    {"list", 1, 1, "STORE", cli_sweep_list},
    {"export", 1, 1, "STORE", cli_sweep_export},
    {"merge", 1, -1, "STORE...", cli_sweep_merge},
    {"retry", 1, 2, "[failed] STORE", cli_sweep_retry},
    {"experiments", 0, 1, "[EXPERIMENT]", cli_sweep_experiments},
};
enum { ACTIONS = sizeof actions / sizeof *actions };

static const cli_option options[] = {
    {"store", 0, CLI_OUTPUT, offsetof(cli_sweep_values, store), "FILE", NULL,
     "With run and merge: the store (SQLite) that results go to, made when it is not there."},
    {"workers", 'w', CLI_COUNT, offsetof(cli_sweep_values, workers), "N", NULL,
     "Groups of cells at a time, each on one thread; --threads, or all processors, by default."},
    {"set", 0, CLI_TEXTS, offsetof(cli_sweep_values, set), "KEY=GRID", NULL,
     "With run: a key in place of what SPEC.ini says. May be given several times."},
    {"shard", 0, CLI_TEXT, offsetof(cli_sweep_values, shard), "I/N", NULL,
     "With run: part I of N, from 1. By default what SLURM_ARRAY_TASK_ID says within its array."},
    {"dry-run", 0, CLI_FLAG, offsetof(cli_sweep_values, dry_run), NULL, NULL,
     "With run: say what there is to do, and about how long and how large, and do nothing."},
    {"experiment", 0, CLI_TEXT, offsetof(cli_sweep_values, experiment), "NAME", NULL,
     "With list and export: cells of this experiment alone."},
    {"failed", 0, CLI_FLAG, offsetof(cli_sweep_values, failed), NULL, NULL,
     "With list: failed cells alone."},
    {"csv", 0, CLI_FLAG, offsetof(cli_sweep_values, csv), NULL, NULL,
     "With export: a table with a column a parameter and metric; so without --json anyway."},
    {"output", 'o', CLI_OUTPUT, offsetof(cli_sweep_values, output), "FILE", NULL,
     "With export: where the table goes (.csv); standard output unless given."},
};

static const char *action_at(const void *from, size_t index) {
    (void)from;
    return index < ACTIONS ? actions[index].name : NULL;
}

static wt_status run(cli_call *call) {
    const char *word = call->operands[0];
    for (size_t i = 0; i < ACTIONS; i++) {
        if (strcmp(actions[i].name, word) != 0)
            continue;
        int after = call->operand_count - 1;
        if (after < actions[i].least || (actions[i].most >= 0 && after > actions[i].most))
            return wt_fail(call->context, WT_USAGE, "write 'wattle sweep %s %s'", word,
                           actions[i].operands);
        return actions[i].run(call, call->values);
    }
    const char *nearest = cli_nearest(word, action_at, NULL);
    if (nearest != NULL)
        return wt_fail(call->context, WT_USAGE, "unknown action '%s'; did you mean '%s'?", word,
                       nearest);
    return wt_fail(call->context, WT_USAGE, "unknown action '%s'; 'wattle help sweep' lists them",
                   word);
}

const cli_command cli_sweep = {
    .name = "sweep",
    .summary = "run an experiment over grids, stop and resume it, read its results",
    .operands = "ACTION [FILE...]",
    .least = 1,
    .most = -1,
    .words = 1,
    .description =
        "A sweep is described by a file with a section [sweep] and keys named like the long "
        "options of the experiment's command; values are grids. Every combination, seed and "
        "repetition is a cell. Results go to a store, one row a cell; running again does only "
        "what is missing, so that a sweep can be stopped at any moment (Ctrl-C, kill -9, a power "
        "cut), widened or spread over machines. docs/sweeps.md tells more.\n\n"
        "run SPEC.ini --store STORE: computes the cells that the store does not have. A cell "
        "that fails is kept with its sentence, the rest goes on, and the exit code is 1. Ctrl-C "
        "finishes the cells in hand and keeps everything (exit code 75); a second leaves those "
        "cells.\n\n"
        "status STORE: how many cells there are of each experiment, and the commands that ran. "
        "list STORE: a line a cell. export STORE: the whole table, rows ordered by cell hash.\n\n"
        "merge STORE... --store ALL: adds all cells of the stores to ALL, or without --store to "
        "the "
        "first of them. retry failed STORE: computes the failed cells again. experiments [NAME]: "
        "what can be swept, and the parameters.",
    .examples = "wattle sweep run curve.ini --store results.db\n"
                "wattle sweep run curve.ini --store results.db --set n=16:4096:x2 --set reps=10\n"
                "wattle sweep run curve.ini --dry-run\n"
                "wattle sweep run curve.ini --store part-2.db --shard 2/4\n"
                "wattle sweep merge part-*.db --store results.db\n"
                "wattle sweep export results.db --csv -o results.csv\n"
                "wattle sweep list results.db --failed\n"
                "wattle sweep retry failed results.db\n"
                "wattle sweep experiments curve",
    CLI_OPTIONS(options, cli_sweep_values),
    .run = run,
};
