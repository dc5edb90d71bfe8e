/* Tasks as processes of this machine. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

#include "base/child.h"
#include "lab/slurm.h"

/* Seconds between the first word to a task that runs out of time and the next. */
#define NOTICE 120.0
enum { GOES_ON = 75 }; /* exit code of a task that was stopped */

typedef struct {
    wt_child child;
    size_t task; /* 0 = none */
    double due;  /* by wt_clock: when it is told to stop; INFINITY = never */
} place;

typedef struct {
    wt_submission *work;
    place *places;
    size_t count;
    size_t *queue; /* tasks to start; a task that is started again is put behind the others */
    size_t head, tail, room;
    size_t ended;
    int told; /* cancels that the tasks were told of */
} running;

static double earliest(const wt_submit_options *given) {
    double notice = given->seconds / 4 < NOTICE ? given->seconds / 4 : NOTICE;
    return given->seconds > 0 ? wt_clock() + given->seconds - notice : 1e300;
}

/* Runs a script of the folder with its words in a log. */
static wt_status start(const wt_submission *work, const char *script, const char *word,
                       const char *log, wt_child *out) {
    char path[WT_FOLDER_PATH], file[WT_FOLDER_PATH];
    wt_folder_file(work->folder, path, "%s", script);
    wt_folder_file(work->folder, file, "logs/%s.log", log);
    const char *const words[] = {
        "/bin/sh", "-c", "exec /bin/sh \"$1\" \"$2\" </dev/null >>\"$3\" 2>&1", "sh", path, word,
        file,      NULL};
    return wt_child_start(work->context, words, "a task", NULL, out);
}

static wt_status fill_places(running *all) {
    for (size_t i = 0; i < all->count && all->head < all->tail; i++) {
        place *at = &all->places[i];
        char number[32], log[32];
        if (at->task != 0)
            continue;
        size_t task = all->queue[all->head++ % all->room];
        snprintf(number, sizeof number, "%zu", task);
        snprintf(log, sizeof log, "%06zu", task);
        WT_PASS(start(all->work, "task.sh", number, log, &at->child));
        at->task = task;
        at->due = earliest(all->work->options);
    }
    return WT_OK;
}

/* Those whose time is nearly over, and all of them for each Ctrl-C. */
static void tell_places(running *all) {
    int cancels = atomic_load(&all->work->context->cancels);
    for (size_t i = 0; i < all->count; i++) {
        place *at = &all->places[i];
        if (at->task == 0)
            continue;
        if (wt_clock() >= at->due) {
            kill(at->child.process, SIGUSR1);
            at->due = wt_clock() + NOTICE;
        }
        if (cancels > all->told)
            kill(at->child.process, SIGTERM);
    }
    all->told = cancels;
}

static void empty_places(running *all) {
    for (size_t i = 0; i < all->count; i++) {
        place *at = &all->places[i];
        int how = 0;
        if (at->task == 0 || wt_child_wait(&at->child, 0, &how) == WT_CHILD_LIVES)
            continue;
        bool again = all->told == 0 && WIFEXITED(how) && WEXITSTATUS(how) == GOES_ON;
        if (again)
            all->queue[all->tail++ % all->room] = at->task;
        else
            all->ended++;
        wt_child_end(&at->child);
        at->task = 0;
    }
}

static bool busy(const running *all) {
    for (size_t i = 0; i < all->count; i++)
        if (all->places[i].task != 0)
            return true;
    return false;
}

static wt_status run_tasks(running *all) {
    static const struct timespec pause = {.tv_nsec = 20000000};
    wt_meter meter = wt_meter_start(all->work->context, "tasks", (double)all->work->tasks);
    while (busy(all) || (all->told == 0 && all->head < all->tail)) {
        if (all->told == 0)
            WT_PASS(fill_places(all));
        tell_places(all);
        empty_places(all);
        wt_meter_set(&meter, (double)all->ended);
        nanosleep(&pause, NULL);
    }
    return WT_OK;
}

static wt_status run_merge(const wt_submission *work) {
    wt_child child = WT_NO_CHILD;
    int how = 0;
    wt_child_state state;
    wt_status status;
    WT_TRY(start(work, "merge.sh", "", "merge", &child));
    do
        WT_TRY(wt_context_check_cancelled(work->context));
    while ((state = wt_child_wait(&child, 0.1, &how)) == WT_CHILD_LIVES);
    int code = state == WT_CHILD_ENDED && WIFEXITED(how) ? WEXITSTATUS(how) : -1;
    if (code == wt_status_exit_code(WT_IO)) /* its words may have found no room either */
        status = wt_fail(work->context, WT_IO,
                         "the merge could not be written: the disk or the quota may be full; what "
                         "the tasks stored is kept (%s/logs has their words)",
                         work->folder->path);
    else if (code != 0)
        status = wt_fail(work->context, WT_MISSED, "the merge failed: see %s/logs/merge.log",
                         work->folder->path);
done:
    wt_child_end(&child);
    return status;
}

static size_t places_for(const wt_submission *work) {
    const wt_submit_options *given = work->options;
    size_t room = wt_machine_processors() / given->cpus;
    size_t most = given->throttle > 0 ? given->throttle : room > 0 ? room : 1;
    return most < work->tasks ? most : work->tasks;
}

static wt_status run_all(wt_submission *work) {
    wt_arena arena = wt_arena_start(work->context, "tasks");
    running all = {.work = work, .count = places_for(work), .room = work->tasks};
    wt_status status;
    all.places = WT_TAKE_ZERO(&arena, place, all.count);
    all.queue = WT_TAKE(&arena, size_t, work->tasks);
    WT_TRY(arena.status);
    for (size_t i = 0; i < all.count; i++)
        all.places[i].child = WT_NO_CHILD;
    for (; all.tail < work->tasks; all.tail++)
        all.queue[all.tail] = work->first + all.tail;
    WT_TRY(run_tasks(&all));
done:
    for (size_t i = 0; all.places != NULL && i < all.count; i++)
        if (all.places[i].task != 0)
            wt_child_end(&all.places[i].child);
    wt_arena_free(&arena);
    return status;
}

wt_status wt_local_launch(wt_submission *work) {
    wt_folder_job job = {.local = true,
                         .round = work->folder->rounds,
                         .first = work->first,
                         .tasks = work->tasks,
                         .job = "local"};
    if (work->preview != NULL) {
        wt_script_add(work->preview,
                      "# %zu processes at a time: task.sh with the numbers %zu to "
                      "%zu, then merge.sh\n",
                      places_for(work), work->first, work->first + work->tasks - 1);
        return WT_OK;
    }
    wt_submit_date(job.submitted);
    snprintf(work->report->jobs, WT_SUBMIT_JOBS, "local");
    WT_PASS(wt_folder_add(work->context, work->folder, &job));
    WT_PASS(run_all(work));
    if (wt_context_cancelled(work->context))
        return wt_fail(
            work->context, WT_INTERRUPTED,
            "interrupted; what was finished is in %s, and submitting again does the rest",
            work->folder->path);
    return run_merge(work);
}
