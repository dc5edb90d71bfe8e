#define _POSIX_C_SOURCE 200809L
#include "lab/slurm.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/program.h"

enum { WORDS_MOST = 96, USUAL_ARRAY = 1001 };
/* A busy controller answers late. */
#define PATIENCE 300.0
/* Seconds before the end of its time that a task is told. */
#define NOTICE 120.0

/* ---- words -------------------------------------------------------------------------------- */

typedef struct {
    wt_arena arena;
    const char *items[WORDS_MOST + 1]; /* ends with NULL */
    size_t count;
    bool open, many; /* further words: within quotes at the end; too many */
} words;

static void add_copy(words *to, const char *text) {
    if (to->count == WORDS_MOST)
        to->many = true;
    else
        to->items[to->count++] = wt_arena_copy(&to->arena, text);
}

__attribute__((format(printf, 2, 3))) static void add(words *to, const char *format, ...) {
    char text[2 * WT_FOLDER_PATH];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    add_copy(to, text);
}

/* Words as a shell reads them: blanks part them, quotes and backslashes keep them together. */
static void add_extra(words *to, const char *text) {
    size_t room = text == NULL ? 0 : strlen(text) + 1, used = 0;
    char *word = WT_TAKE(&to->arena, char, room + 1), quote = '\0';
    bool begun = false;
    for (; to->arena.status == WT_OK && room > 0; text++) {
        bool end = *text == '\0' || (quote == '\0' && strchr(" \t\n", *text) != NULL);
        if (end && begun) {
            word[used] = '\0';
            add_copy(to, word);
            used = 0;
        }
        begun = (begun || !end) && !end;
        if (*text == '\0')
            break;
        if (end)
            continue;
        if (quote != '\0' ? *text == quote : strchr("'\"", *text) != NULL)
            quote = quote == '\0' ? *text : '\0';
        else if (*text == '\\' && quote != '\'' && text[1] != '\0')
            word[used++] = *++text;
        else
            word[used++] = *text;
    }
    to->open = quote != '\0';
}

wt_status wt_slurm_check_words(wt_context *context, const char *extra) {
    words all = {.arena = wt_arena_start(context, "words for sbatch")};
    add_extra(&all, extra);
    wt_status status = all.arena.status;
    if (status == WT_OK && (all.open || all.count > WORDS_MOST / 2))
        status = wt_fail(context, WT_USAGE, "--sbatch: '%s' %s", extra,
                         all.open ? "ends within quotes" : "has too many words");
    wt_arena_free(&all.arena);
    return status;
}

static wt_status ask(wt_context *context, const char *const *command, char **out) {
    size_t bytes;
    return wt_program_run(
        context,
        &(wt_program){.words = command,
                      .install =
                          "jobs are submitted where Slurm is; --launcher local runs them here",
                      .input = "",
                      .seconds = PATIENCE},
        out, &bytes);
}

/* ---- states ------------------------------------------------------------------------------- */

/* "123" and 7 of "123_7|..", or of "123 7 ..". */
static wt_folder_job *find_job(wt_folder *folder, const char *id) {
    for (size_t i = 0; i < folder->job_count; i++)
        if (!folder->jobs[i].local && strcmp(folder->jobs[i].job, id) == 0)
            return &folder->jobs[i];
    return NULL;
}

static void take_state(wt_folder *folder, wt_task_state *states, const char *id, const char *index,
                       const char *state, bool active) {
    wt_folder_job *job = find_job(folder, id);
    char *end;
    unsigned long number = strtoul(index, &end, 10);
    if (job == NULL)
        return;
    job->active |= active;
    if (job->merges || *end != '\0' || number == 0 || number > job->tasks)
        return;
    wt_task_state *task = &states[job->first + number - 1];
    snprintf(task->text, sizeof task->text, "%s", state);
    task->active = active;
}

/* Lines of three words that any of the letters part. */
static void take_lines(wt_folder *folder, wt_task_state *states, char *text, const char *parts,
                       bool active) {
    for (char *rest = text, *line; (line = strtok_r(rest, "\n", &rest)) != NULL;) {
        char *word, *id = strtok_r(line, parts, &word), *index = strtok_r(NULL, parts, &word),
                    *state = strtok_r(NULL, parts, &word);
        if (state != NULL)
            take_state(folder, states, id, index, state, active);
    }
}

wt_status wt_slurm_ask(wt_context *context, wt_folder *folder, wt_task_state *states,
                       bool *answered) {
    static const char *const queue[] = {"squeue", "--me", "-h", "-r", "-o", "%F %K %T", NULL};
    wt_script jobs = {.context = context};
    char *text = NULL;
    wt_status status;
    for (size_t i = 0; i < folder->job_count; i++)
        if (!folder->jobs[i].local && strcmp(folder->jobs[i].job, "-") != 0)
            wt_script_add(&jobs, "%s%s", jobs.length == 0 ? "" : ",", folder->jobs[i].job);
    WT_TRY(jobs.status);
    const char *const past[] = {"sacct",          "-n", "-X", "-P", "-j", jobs.text, "-o",
                                "JobID%64,State", NULL};
    /* accounting is not kept everywhere: the stores tell then */
    status = ask(context, past, &text);
    if (status == WT_OK)
        take_lines(folder, states, text, "_| ", false);
    wt_release(text);
    text = NULL;
    if (status != WT_OK && status != WT_UNAVAILABLE)
        goto done;
    status = ask(context, queue, &text);
    *answered = status == WT_OK;
    if (*answered)
        take_lines(folder, states, text, " ", true);
    if (status == WT_UNAVAILABLE)
        status = WT_OK; /* its words are on the context */
done:
    wt_release(text);
    wt_script_free(&jobs);
    return status;
}

/* ---- submitting --------------------------------------------------------------------------- */

/* An index of an array is below MaxArraySize; Slurm's own default where a preview cannot ask. */
wt_status wt_slurm_find_limits(wt_submission *work) {
    static const char *const config[] = {"scontrol", "show", "config", NULL};
    char *text = NULL;
    wt_status status = ask(work->context, config, &text);
    const char *found = status == WT_OK ? strstr(text, "MaxArraySize") : NULL;
    size_t size = USUAL_ARRAY;
    if (found != NULL && (found = strchr(found, '=')) != NULL)
        size = strtoul(found + 1, NULL, 10);
    if (status == WT_UNAVAILABLE && work->preview != NULL)
        status = WT_OK;
    if (status == WT_OK && size < 2)
        status = wt_fail(work->context, WT_UNAVAILABLE,
                         "this Slurm takes no job arrays "
                         "(MaxArraySize in slurm.conf)");
    work->array_most = size - 1;
    wt_release(text);
    return status;
}

/* What tasks and merge share. */
static void add_common(const wt_submission *work, words *to, const char *log) {
    const wt_submit_options *given = work->options;
    const char *base = strrchr(work->folder->path, '/');
    add(to, "sbatch");
    add(to, "--parsable");
    add(to, "--job-name=%s", base == NULL ? "wattle" : base + 1);
    add(to, "--chdir=%s", work->folder->path);
    add(to, "--output=logs/%s", log);
    add(to, "--open-mode=append");
    add(to, "--requeue");
    if (given->seconds > 0) {
        unsigned long seconds = (unsigned long)given->seconds;
        add(to, "--time=%lu:%02lu:%02lu", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
    if (given->memory > 0)
        add(to, "--mem=%zuK", given->memory / 1024 + (given->memory % 1024 > 0));
    if (given->partition != NULL)
        add(to, "--partition=%s", given->partition);
}

/* Runs what was put together and takes the number of the job; a preview shows it. */
static wt_status submit(const wt_submission *work, words *command, char out[WT_JOB_TEXT]) {
    wt_context *context = work->context;
    char *text = NULL;
    wt_status status;
    WT_TRY(command->arena.status);
    if (work->preview != NULL) {
        for (size_t i = 0; i < command->count; i++) {
            wt_script_add(work->preview, i == 0 ? "" : " ");
            wt_script_word(work->preview, command->items[i]);
        }
        wt_script_add(work->preview, "\n");
        snprintf(out, WT_JOB_TEXT, "JOB");
        goto done;
    }
    WT_TRY(ask(context, command->items, &text));
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits >= WT_JOB_TEXT)
        WT_TRY(wt_fail(context, WT_UNAVAILABLE, "sbatch gives no number of a job: '%.80s'", text));
    snprintf(out, WT_JOB_TEXT, "%.*s", (int)digits, text);
    size_t used = strlen(work->report->jobs);
    snprintf(work->report->jobs + used, WT_SUBMIT_JOBS - used, "%s%s", used == 0 ? "" : ", ", out);
done:
    wt_release(text);
    return status;
}

/* Tasks first .. first + count - 1; `after`, where it is not "", must have ended before. */
static wt_status submit_array(wt_submission *work, size_t first, size_t count, const char *after,
                              char job[WT_JOB_TEXT]) {
    const wt_submit_options *given = work->options;
    words command = {.arena = wt_arena_start(work->context, "words for sbatch")};
    double notice = given->seconds > 0 && given->seconds / 4 < NOTICE ? given->seconds / 4 : NOTICE;
    add_common(work, &command, "%A_%a.log");
    if (given->throttle > 0)
        add(&command, "--array=1-%zu%%%zu", count, given->throttle);
    else
        add(&command, "--array=1-%zu", count);
    add(&command, "--signal=B:USR1@%d", (int)notice);
    add(&command, "--cpus-per-task=%zu", given->cpus);
    if (given->gpus > 0)
        add(&command, "--gres=gpu:%zu", given->gpus);
    if (*after != '\0')
        add(&command, "--dependency=afterany:%s", after);
    add_extra(&command, given->extra);
    add(&command, "%s/task.sh", work->folder->path);
    add(&command, "%zu", first - 1);
    wt_status status = submit(work, &command, job);
    wt_arena_free(&command.arena);
    return status;
}

static wt_status submit_merge(wt_submission *work, const char *after, char job[WT_JOB_TEXT]) {
    words command = {.arena = wt_arena_start(work->context, "words for sbatch")};
    add_common(work, &command, "merge-%A.log");
    add(&command, "--dependency=afterany:%s", after);
    add_extra(&command, work->options->extra);
    add(&command, "%s/merge.sh", work->folder->path);
    wt_status status = submit(work, &command, job);
    wt_arena_free(&command.arena);
    return status;
}

/* A row of jobs.csv, first without the number of the job, then with it. */
static wt_status record(wt_submission *work, const wt_folder_job *job, bool again) {
    wt_folder *folder = work->folder;
    if (work->preview != NULL)
        return WT_OK;
    if (!again)
        return wt_folder_add(work->context, folder, job);
    folder->jobs[folder->job_count - 1] = *job;
    return wt_folder_save(work->context, folder);
}

static wt_status launch_arrays(wt_submission *work, wt_script *after) {
    const size_t most = work->array_most;
    char last[WT_JOB_TEXT] = "";
    for (size_t done = 0; done < work->tasks; done += most) {
        size_t count = work->tasks - done < most ? work->tasks - done : most;
        wt_folder_job job = {
            .round = work->folder->rounds, .first = work->first + done, .tasks = count, .job = "-"};
        wt_submit_date(job.submitted);
        WT_PASS(record(work, &job, false));
        /* the limit of tasks at a time is one of an array: the next waits for this one */
        bool chained = work->options->throttle > 0 && done > 0;
        wt_status status = submit_array(work, job.first, count, chained ? last : "", job.job);
        if (status == WT_UNAVAILABLE && done > 0)
            return wt_fail(work->context, status,
                           "%s; %zu of %zu tasks are submitted: submit again for the others",
                           wt_context_message(work->context), done, work->tasks);
        WT_PASS(status);
        WT_PASS(record(work, &job, true));
        snprintf(last, sizeof last, "%s", job.job);
        wt_script_add(after, "%s%s", after->length == 0 ? "" : ":", job.job);
    }
    return after->status;
}

wt_status wt_slurm_launch(wt_submission *work) {
    wt_script after = {.context = work->context};
    wt_folder_job merge = {.merges = true, .round = work->folder->rounds, .job = "-"};
    wt_status status;
    WT_TRY(launch_arrays(work, &after));
    for (size_t i = 0; i < work->folder->job_count; i++) { /* one merge at a time */
        const wt_folder_job *job = &work->folder->jobs[i];
        if (job->merges && job->active)
            wt_script_add(&after, ":%s", job->job);
    }
    WT_TRY(after.status);
    wt_submit_date(merge.submitted);
    WT_TRY(record(work, &merge, false));
    status = submit_merge(work, after.text, merge.job);
    if (status == WT_UNAVAILABLE)
        status = wt_fail(work->context, status,
                         "%s; the tasks are submitted, and wait for 'wattle sweep merge' by hand",
                         wt_context_message(work->context));
    WT_TRY(status);
    WT_TRY(record(work, &merge, true));
done:
    wt_script_free(&after);
    return status;
}
