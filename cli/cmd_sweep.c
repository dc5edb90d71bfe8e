#include <string.h>

#include "commands.h"
#include "sweep_actions.h"

static const struct {
    const char *name;
    const char *operands; /* after the word */
    wt_status (*run)(cli_call *call, const cli_sweep_values *given);
} actions[] = {
    {"run", "SPEC.ini", cli_sweep_run},
    {"submit", "SPEC.ini", cli_sweep_submit},
    {"status", "STORE|FOLDER", cli_sweep_status},
    {"list", "STORE", cli_sweep_list},
    {"export", "STORE", cli_sweep_export},
    {"merge", "STORE...|FOLDER", cli_sweep_merge},
    {"disputes", "STORE", cli_sweep_disputes},
    {"retry", "[failed] STORE", cli_sweep_retry},
    {"experiments", "[EXPERIMENT]", cli_sweep_experiments},
};

static const cli_option options[] = {
    {"store", 0, CLI_OUTPUT, offsetof(cli_sweep_values, store), "FILE", NULL,
     "With run and merge: the store (SQLite) that results go to, made when it is not there."},
    {"workers", 'w', CLI_COUNT, offsetof(cli_sweep_values, workers), "N", NULL,
     "Groups of cells at a time, each on one thread; --threads, or all processors, by default."},
    {"set", 0, CLI_TEXTS, offsetof(cli_sweep_values, set), "KEY=GRID", NULL,
     "With run and submit: a key in place of what SPEC.ini says. May be given several times."},
    {"shard", 0, CLI_TEXT, offsetof(cli_sweep_values, shard), "I/N", NULL,
     "With run: part I of N, from 1. By default what SLURM_ARRAY_TASK_ID says within its array."},
    {"groups", 0, CLI_TEXT, offsetof(cli_sweep_values, groups), "FILE:TASK", NULL,
     "With run: the groups that a file of submit deals to a task."},
    {"dry-run", 0, CLI_FLAG, offsetof(cli_sweep_values, dry_run), NULL, NULL,
     "With run and submit: say what there is to do, and about how long and how large, and do "
     "nothing; with submit also the commands and scripts."},
    {"into", 0, CLI_TEXT, offsetof(cli_sweep_values, into), "FOLDER", NULL,
     "With submit: the folder that tasks share, made when it is not there."},
    {"tasks", 0, CLI_COUNT, offsetof(cli_sweep_values, tasks), "N", NULL,
     "With submit: at most so many tasks, of about the same work each."},
    {"throttle", 0, CLI_COUNT, offsetof(cli_sweep_values, throttle), "N", NULL,
     "With submit: at most so many of them at a time."},
    {"cpus", 0, CLI_COUNT, offsetof(cli_sweep_values, cpus), "N", "1",
     "With submit: processors of a task, and its workers."},
    {"gpus", 0, CLI_COUNT, offsetof(cli_sweep_values, gpus), "N", NULL,
     "With submit: GPUs of a task, which then runs with --device cuda."},
    {"partition", 0, CLI_TEXT, offsetof(cli_sweep_values, partition), "NAME", NULL,
     "With submit: the partition of the cluster."},
    {"sbatch", 0, CLI_TEXT, offsetof(cli_sweep_values, sbatch), "OPTIONS", NULL,
     "With submit: further options for sbatch, as a shell reads them: '--account=lab --nice'."},
    {"launcher", 0, CLI_CHOICE, offsetof(cli_sweep_values, launcher), "slurm|local", "slurm",
     "With submit: a job array of Slurm, or processes of this machine, which are waited for."},
    {"experiment", 0, CLI_TEXT, offsetof(cli_sweep_values, experiment), "NAME", NULL,
     "With list and export: cells of this experiment alone."},
    {"failed", 0, CLI_FLAG, offsetof(cli_sweep_values, failed), NULL, NULL,
     "With list: failed cells alone."},
    {"csv", 0, CLI_FLAG, offsetof(cli_sweep_values, csv), NULL, NULL,
     "With export: a table with a column a parameter and metric; so without --json anyway."},
    {"output", 'o', CLI_OUTPUT, offsetof(cli_sweep_values, output), "FILE.csv|.json|-", NULL,
     "With export: where the table goes, as CSV or JSON; standard output unless given."},
    CLI_DEVICE(offsetof(cli_sweep_values, device)),
};

static wt_status run(cli_call *call) {
    int least, most, after = call->operand_count - 1;
    size_t i = 0; /* the parser has found the word among those of the operands */
    while (strcmp(actions[i].name, call->operands[0]) != 0)
        i++;
    cli_operand_range(actions[i].operands, &least, &most);
    if (after < least || after > most)
        return wt_fail(call->context, WT_USAGE, "write 'wattle sweep %s %s'", actions[i].name,
                       actions[i].operands);
    const cli_sweep_values *given = call->values;
    bool computes = actions[i].run == cli_sweep_run || actions[i].run == cli_sweep_retry;
    if (computes)
        WT_PASS(given->dry_run ? cli_foresee_device(call, given->device)
                               : cli_choose_device(call, given->device));
    return actions[i].run(call, given);
}

const cli_command cli_sweep = {
    .name = "sweep",
    .summary = "run an experiment over grids, stop and resume it, read its results",
    .operands = "run|submit|status|list|export|merge|disputes|retry|experiments [FILE...]",
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
        "submit SPEC.ini --into FOLDER --tasks N: the same as a job array of Slurm, with --time "
        "and "
        "--mem of each task. The folder has a store a task and, when all have ended, all of it in "
        "results.db and report.html; status FOLDER tells how far they are. A task that runs out "
        "of time keeps what it has and is queued again. Submitting again submits what is missing. "
        "docs/cluster.md tells more.\n\n"
        "status STORE: how many cells there are of each experiment, and the commands that ran. "
        "list STORE: a line a cell. export STORE: the whole table, rows ordered by cell hash.\n\n"
        "merge STORE... --store ALL: adds all cells of the stores to ALL, or without --store to "
        "the first of them; merge FOLDER: what the tasks of submit have found, to its results.db. "
        "Where two stores have other numbers for a cell, by more than rounding, both are kept: "
        "disputes STORE shows them side by side.\n\n"
        "retry failed STORE: computes the failed cells again. experiments [NAME]: what can be "
        "swept, and the parameters.",
    .examples =
        "wattle sweep run curve.ini --store results.db\n"
        "wattle sweep run curve.ini --store results.db --set n=16:4096:x2 --set reps=10\n"
        "wattle sweep run curve.ini --dry-run\n"
        "wattle sweep run curve.ini --store part-2.db --shard 2/4\n"
        "wattle sweep submit curve.ini --into runs/curve --tasks 200 --time 2:00:00 --mem 4G\n"
        "wattle sweep status runs/curve\n"
        "wattle sweep merge part-*.db --store results.db\n"
        "wattle sweep export results.db --csv -o results.csv\n"
        "wattle sweep list results.db --failed\n"
        "wattle sweep retry failed results.db\n"
        "wattle sweep experiments curve",
    CLI_OPTIONS(options, cli_sweep_values),
    .run = run,
};
