/* What `wattle sweep` can do: a row of the table in cmd_sweep.c and a function each. */
#ifndef CLI_SWEEP_ACTIONS_H
#define CLI_SWEEP_ACTIONS_H

#include "command.h"
#include "wattle/device.h"
#include "wattle/submit.h"

typedef struct cli_sweep_values {
    const char *store, *shard, *experiment, *output, *device, *groups;
    const char *into, *launcher, *partition, *sbatch; /* of submit */
    size_t workers, tasks, throttle, cpus, gpus;
    cli_texts set;
    bool dry_run, csv, failed;
} cli_sweep_values;

/* What goes into every record of a run. */
enum { CLI_COMMAND_BYTES = 1 << 16, CLI_VERSION_BYTES = 96 };
typedef struct cli_sweep_identity {
    char command[CLI_COMMAND_BYTES], machine[WT_MACHINE_TEXT], version[CLI_VERSION_BYTES];
} cli_sweep_identity;
/* Options that point into `self`, whose command the caller fills; the machine has the device, too.
 */
wt_status cli_sweep_describe(cli_call *call, cli_sweep_identity *self, size_t workers,
                             wt_sweep_options *out);

/* WT_USAGE when there are too many, before a store is made for them. */
wt_status cli_sweep_workers(cli_call *call, size_t workers);
/* Failed cells are a goal missed, WT_MISSED with a sentence; the result is printed all the same. */
wt_status cli_sweep_judge(cli_call *call, const char *store, size_t failed);

wt_status cli_sweep_run(cli_call *call, const cli_sweep_values *given);
wt_status cli_sweep_submit(cli_call *call, const cli_sweep_values *given);
wt_status cli_sweep_retry(cli_call *call, const cli_sweep_values *given);
wt_status cli_sweep_merge(cli_call *call, const cli_sweep_values *given);
wt_status cli_sweep_disputes(cli_call *call, const cli_sweep_values *given);
wt_status cli_sweep_status(cli_call *call, const cli_sweep_values *given);
wt_status cli_sweep_list(cli_call *call, const cli_sweep_values *given);
wt_status cli_sweep_export(cli_call *call, const cli_sweep_values *given);
wt_status cli_sweep_experiments(cli_call *call, const cli_sweep_values *given);

/* The file with --set and --seed in place of its keys. */
wt_status cli_sweep_spec(cli_call *call, const cli_sweep_values *given, wt_sweep_spec **out);
/* Of a folder that a sweep was submitted from. */
wt_status cli_sweep_folder_status(cli_call *call, const char *folder);

/* What the wanted cells of a plan take: printed instead of running them. */
wt_status cli_sweep_plan(cli_call *call, const wt_plan *plan, const wt_plan_count *count,
                         size_t workers);

/* WT_USAGE, with the names there are, unless it is one of them or NULL. */
wt_status cli_sweep_experiment(cli_call *call, const char *name);

/* "deal-1.txt:7": the groups of task 7. */
wt_status cli_sweep_task(cli_call *call, const wt_sweep_spec *spec, const char *text,
                         wt_plan **out);
/* "3/8", or what the job array of SLURM says where the option is not given; all in one otherwise.
 */
wt_status cli_sweep_shard(cli_call *call, const char *text, wt_shard *out);

#endif
