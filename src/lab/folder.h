/* The folder of a sweep that tasks share.
 *
 *     sweep.ini          what is swept; the words of task.sh have what is too long for it
 *     jobs.csv           what was submitted: kind,launcher,round,first,tasks,job,submitted
 *     deal-1.txt         which task has which groups, one file a round (lab/deal.h)
 *     task.sh merge.sh   what is run
 *     parts/000001.db    what a task has found
 *     logs/              what they said
 *     results.db         merged; report.html of it
 *
 * Tasks are numbered through all rounds from 1, and numbers are taken before anything is
 * submitted: no two tasks ever write to one store. */
#ifndef WT_LAB_FOLDER_H
#define WT_LAB_FOLDER_H

#include "lab/deal.h"
#include "wattle/submit.h"

enum { WT_JOB_TEXT = 64, WT_FOLDER_PATH = 4096 }; /* PATH_MAX of Linux */

/* One array of a round, or (merges) the job behind it. */
typedef struct wt_folder_job {
    bool merges, local;
    size_t round, first, tasks;
    char job[WT_JOB_TEXT]; /* "-" = not submitted */
    char submitted[32];
    bool active; /* as wt_slurm_ask has found it */
} wt_folder_job;

typedef struct wt_folder {
    char path[WT_FOLDER_PATH]; /* absolute */
    wt_folder_job *jobs;
    size_t job_count, room;
    size_t rounds, tasks; /* so far */
} wt_folder;

/* The state of a task, "" = not known; of those numbered 1 .. tasks. */
typedef struct wt_task_state {
    char text[WT_TASK_STATE_TEXT];
    bool active;
} wt_task_state;

/* Reads jobs.csv; without `must` it need not be there, nor the folder. To be freed in any case. */
wt_status wt_folder_open(wt_context *context, const char *path, bool must, wt_folder *out);
void wt_folder_free(wt_folder *folder);
/* The path of a file in it: "parts/%06zu.db". */
__attribute__((format(printf, 3, 4))) void
wt_folder_file(const wt_folder *folder, char out[WT_FOLDER_PATH], const char *format, ...);
/* One more row, and jobs.csv as it is now. */
wt_status wt_folder_add(wt_context *context, wt_folder *folder, const wt_folder_job *job);
wt_status wt_folder_save(wt_context *context, const wt_folder *folder);
/* Writes the text to a file of the folder, whole or not at all. */
wt_status wt_folder_write(wt_context *context, const wt_folder *folder, const char *name,
                          const wt_script *text);

/* The cells of a sweep, and what the stores of a folder have of them. */
typedef struct wt_named_cell {
    uint64_t head; /* the first 16 digits of its hash */
    uint32_t next; /* 8 more: no two of a million agree in so many */
    uint32_t cell;
} wt_named_cell;

typedef struct wt_folder_cells {
    wt_context *context;
    wt_plan *plan;        /* cells that no store has are wanted */
    wt_named_cell *index; /* (cells), by their hashes */
    unsigned char *found; /* (cells): wt_cell_state */
    double *cost; /* (settings): of a cell, its part of that of its group; NaN = not known */
    wt_deal deal; /* of all rounds */
    size_t done, failed;
    /* cells of the last round, by their stores */
    size_t recent;
    double recent_cost;
    double began; /* seconds since 1970; INFINITY = nothing has */
    bool counts_recent;
} wt_folder_cells;

wt_status wt_folder_cells_find(wt_context *context, const wt_folder *folder,
                               const wt_sweep_spec *spec, wt_folder_cells *out);
double wt_folder_cell_cost(const wt_folder_cells *cells, size_t cell);
void wt_folder_cells_free(wt_folder_cells *cells);

/* Asks the launchers for the states (tasks + 1) of all tasks. *answered: whether all did that were
 * needed. `held`: the caller holds the folder's lock, so that no task of this machine runs. */
wt_status wt_folder_ask(wt_context *context, wt_folder *folder, bool held, wt_task_state *states,
                        bool *answered);
/* The part of it that is Slurm's. */
wt_status wt_slurm_ask(wt_context *context, wt_folder *folder, wt_task_state *states,
                       bool *answered);

#endif
