/* Slurm's commands: what they are asked, and what they answer. */
#ifndef WT_LAB_SLURM_H
#define WT_LAB_SLURM_H

#include "io/script.h"
#include "lab/folder.h"

/* One submission: the folder as it is, a new round in it. */
typedef struct wt_submission {
    wt_context *context;
    const wt_submit_options *options;
    wt_folder *folder;
    size_t first, tasks; /* of the round */
    size_t array_most;   /* tasks of an array */
    wt_submit_report *report;
    wt_script *preview; /* the commands go here and nothing is done; NULL = it is */
} wt_submission;

/* The task and the merge of a round: text of task.sh and merge.sh. */
wt_status wt_submit_scripts(const wt_submission *work, wt_script *task, wt_script *merge);
/* WT_USAGE when the further words for sbatch end within quotes, or are too many. */
wt_status wt_slurm_check_words(wt_context *context, const char *extra);
/* Finds out how many tasks an array may have: where this Slurm answers, before anything is made. */
wt_status wt_slurm_find_limits(wt_submission *work);
/* Queues the arrays, and the job that merges behind them. */
wt_status wt_slurm_launch(wt_submission *work);
/* Runs the tasks, and the merge behind them. */
wt_status wt_local_launch(wt_submission *work);
/* Now, as "2026-01-31T12:00:00Z". */
void wt_submit_date(char out[32]);

#endif
