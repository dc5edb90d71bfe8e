/* Sweeps on a cluster: one job array of Slurm for all cells, or processes of this machine.
 *
 *     wt_submit_options options;
 *     wt_submit_report report = WT_SIZED(wt_submit_report);
 *     WT_INIT(wt_submit_options, &options);
 *     options.tasks = 200;
 *     options.program = "/usr/bin/wattle";
 *     wt_sweep_submit(context, spec, "runs/curve", &options, &report);
 *
 * All of it is in a folder that the tasks share: the sweep, the scripts, a store a task, and in the
 * end what they found in one store and as a page. Submitting again submits what is missing.
 * docs/cluster.md describes the folder. */
#ifndef WATTLE_SUBMIT_H
#define WATTLE_SUBMIT_H

#include "wattle/sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wt_launcher {
    WT_LAUNCHER_SLURM, /* sbatch: the call returns when the jobs are queued */
    WT_LAUNCHER_LOCAL  /* processes of this machine: the call returns when they have ended */
} wt_launcher;

typedef struct wt_submit_options {
    size_t size;
    wt_launcher launcher;
    size_t tasks;          /* at most so many, of about the same work */
    size_t throttle;       /* of them at a time; 0 = as many as there is room for */
    double seconds;        /* limit of a task; 0 = the partition's */
    size_t cpus;           /* of a task */
    size_t memory;         /* bytes of a task; 0 = the partition's */
    size_t gpus;           /* of a task */
    const char *partition; /* NULL = the cluster's own */
    const char *extra;     /* further words for sbatch, as a shell reads them; NULL = none */
    const char *device;    /* that tasks compute on: "cuda"; NULL = the host */
    const char *program;   /* absolute path of the command `wattle` */
} wt_submit_options;
WT_API void wt_submit_options_init(wt_submit_options *options, size_t size);

enum { WT_SUBMIT_JOBS = 256 };
typedef struct wt_submit_report {
    size_t size;
    size_t cells, done, failed; /* of the sweep, and in the stores already */
    size_t under_way;           /* in the hands of tasks that were submitted before */
    size_t wanted, tasks;       /* submitted now */
    double seconds;             /* of the longest task, about; NaN = not known */
    double work;                /* seconds of all tasks together, about */
    double bytes;               /* that a task holds, about */
    char jobs[WT_SUBMIT_JOBS];  /* "123, 124": the arrays, then the job that merges; may be cut */
} wt_submit_report;

/* Deals out what is missing and submits it. WT_UNAVAILABLE when there is no sbatch or it refuses,
 * with its words; what was submitted before stays submitted. WT_INTERRUPTED when the tasks of this
 * machine were interrupted: what they have is kept. */
WT_API wt_status wt_sweep_submit(wt_context *context, const wt_sweep_spec *spec, const char *folder,
                                 const wt_submit_options *options, wt_submit_report *report);
/* The same, and nothing is written or submitted: *text is the commands and scripts, to be released.
 */
WT_API wt_status wt_sweep_submit_preview(wt_context *context, const wt_sweep_spec *spec,
                                         const char *folder, const wt_submit_options *options,
                                         wt_submit_report *report, char **text);

/* How many tasks are in one state: a word of Slurm's ("RUNNING"), or where it knows nothing of
 * them "complete" (all their cells are there) or "incomplete". */
enum { WT_TASK_STATE_TEXT = 24, WT_TASK_STATES = 12 };
typedef struct wt_task_count {
    char state[WT_TASK_STATE_TEXT];
    size_t tasks;
} wt_task_count;

typedef struct wt_folder_state {
    size_t size;
    size_t cells, done, failed; /* of the sweep that was submitted last */
    size_t tasks, active;       /* tasks in all, and queued or running */
    size_t state_count;
    wt_task_count states[WT_TASK_STATES];
    bool scheduler; /* whether it answered */
    double rate;    /* cells a second since tasks of the last submission began; NaN = not known */
    double left;    /* seconds until all is done, about; NaN = not known */
} wt_folder_state;

/* Whether there is such a folder at the path, and not a file or another folder. */
WT_API bool wt_folder_is(const char *path);
WT_API wt_status wt_folder_look(wt_context *context, const char *folder, wt_folder_state *out);
/* All cells of its tasks into `results.db` of the folder. Stores that cannot be read are left out
 * with a remark. */
WT_API wt_status wt_folder_merge(wt_context *context, const char *folder, wt_merge_report *out);

#ifdef __cplusplus
}
#endif
#endif
