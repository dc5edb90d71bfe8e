/* The scripts that tasks and merge run. */
#define _POSIX_C_SOURCE 200809L /* gmtime_r */
#include <time.h>

#include "lab/slurm.h"

void wt_submit_date(char out[32]) {
    time_t now = time(NULL);
    struct tm date;
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &date));
}

static void begin(const wt_submission *work, wt_script *out, const char *what) {
    wt_script_add(out, "#!/bin/sh\n# %s Written by wattle sweep submit.\nwattle=", what);
    wt_script_word(out, work->options->program);
    wt_script_add(out, "\ncd ");
    wt_script_word(out, work->folder->path);
    wt_script_add(out, " || exit 73\n");
}

/* The shell waits in the background, as it obeys signals only then. A task that is told to stop
 * twice leaves the cells in hand: by SIGUSR1 before the end of its time, by SIGTERM at it. */
static const char stopping[] =
    "# what the store holds: a task that has added nothing is not started again\n"
    "held() { cksum 2>/dev/null <\"parts/$name.db\"; }\n"
    "child=\n"
    "stopped=\n"
    "stop() {\n"
    "    stopped=yes\n"
    "    [ -z \"$child\" ] || kill -USR1 \"$child\" 2>/dev/null\n"
    "}\n"
    "trap stop USR1 TERM\n"
    "before=$(held)\n";

static const char waiting[] =
    "child=$!\n"
    "[ -z \"$stopped\" ] || stop\n"
    "while :; do\n"
    "    wait \"$child\"\n"
    "    code=$?\n"
    "    kill -0 \"$child\" 2>/dev/null || break\n"
    "done\n"
    "# 75: stopped with all that was finished kept, to go on from there\n"
    "if [ \"$code\" != 75 ] && { [ -z \"$stopped\" ] || [ \"$code\" -le 128 ]; }; then\n"
    "    exit \"$code\"\n"
    "fi\n"
    "if [ \"$before\" = \"$(held)\" ]; then\n"
    "    echo 'wattle: nothing was finished in the time of a task: it needs more --time' >&2\n"
    "    exit 1\n"
    "fi\n";

static const char requeuing[] =
    "# to end with 75 would be the end; who cancelled the job does not want it back\n"
    "case $(scontrol show job -o \"$SLURM_JOB_ID\" 2>/dev/null) in\n"
    "*JobState=RUNNING* | *Reason=TimeLimit*) ;;\n"
    "*) exit 75 ;;\n"
    "esac\n"
    "echo 'wattle: stopped, and queued again' >&2\n"
    "exec scontrol requeue \"$SLURM_JOB_ID\"\n";

static void add_task(const wt_submission *work, wt_script *out) {
    const wt_submit_options *given = work->options;
    bool local = given->launcher == WT_LAUNCHER_LOCAL;
    begin(work, out, "A task of a sweep.");
    wt_script_add(out, "number=%s\n", local ? "$1" : "$(($1 + SLURM_ARRAY_TASK_ID))");
    wt_script_add(out, "name=$(printf %%06d \"$number\")\n%s", stopping);
    wt_script_add(out,
                  "\"$wattle\" sweep run sweep.ini --groups \"deal-%zu.txt:$number\" --store "
                  "\"parts/$name.db\" --workers %zu",
                  work->folder->rounds, given->cpus);
    /* what the program holds besides its data is not on its account */
    if (given->memory > 0)
        wt_script_add(out, " --mem %zu", given->memory / 10 * 9);
    const char *device = given->device != NULL ? given->device : given->gpus > 0 ? "cuda" : NULL;
    if (device != NULL) {
        wt_script_add(out, " --device ");
        wt_script_word(out, device);
    }
    wt_script_add(out, " &\n%s%s", waiting, local ? "exit 75\n" : requeuing);
}

static void add_merge(const wt_submission *work, wt_script *out) {
    begin(work, out, "What the tasks of a sweep have found, in one store and as a page.");
    wt_script_add(out, "\"$wattle\" sweep merge . || exit\n"
                       "\"$wattle\" sweep status .\n"
                       "exec \"$wattle\" report results.db -o report.html\n");
}

wt_status wt_submit_scripts(const wt_submission *work, wt_script *task, wt_script *merge) {
    add_task(work, task);
    add_merge(work, merge);
    return task->status != WT_OK ? task->status : merge->status;
}
