#define _GNU_SOURCE /* realpath */
#include "lab/folder.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/script.h"
#include "io/source.h"
#include "wattle/output.h"

enum { NAME_ROOM = 64, TABLE_MOST = 1 << 26 };
#define HEAD "kind,launcher,round,first,tasks,job,submitted\n"

void wt_folder_file(const wt_folder *folder, char out[WT_FOLDER_PATH], const char *format, ...) {
    va_list values;
    int used = snprintf(out, WT_FOLDER_PATH, "%s/", folder->path);
    va_start(values, format);
    vsnprintf(out + used, WT_FOLDER_PATH - (size_t)used, format, values);
    va_end(values);
}

/* Absolute, whether it is there or not. */
static wt_status find_path(wt_context *context, const char *path, char out[WT_FOLDER_PATH]) {
    char here[WT_FOLDER_PATH];
    int used;
    if (*path == '\0')
        return wt_fail(context, WT_USAGE, "the path of a folder is empty");
    if (realpath(path, here) != NULL)
        used = snprintf(out, WT_FOLDER_PATH, "%s", here);
    else if (errno != ENOENT)
        return wt_fail(context, WT_NO_INPUT, "%s: %s", path, strerror(errno));
    else if (path[0] == '/' || getcwd(here, sizeof here) == NULL)
        used = snprintf(out, WT_FOLDER_PATH, "%s", path);
    else
        used = snprintf(out, WT_FOLDER_PATH, "%s/%s", here, path);
    if (used >= WT_FOLDER_PATH - NAME_ROOM || strchr(out, '\n') != NULL)
        return wt_fail(context, WT_USAGE, "%s: the path of a folder is too long, or has two lines",
                       path);
    return WT_OK;
}

static wt_status take_row(wt_context *context, wt_folder *folder, const char *line) {
    char kind[16], launcher[16];
    wt_folder_job job = {0};
    int end = 0;
    /* NOLINTNEXTLINE(cert-err34-c): what does not fit is a row that is not ours */
    if (sscanf(line, "%15[^,],%15[^,],%zu,%zu,%zu,%63[^,\n],%31[^,\n]%n", kind, launcher,
               &job.round, &job.first, &job.tasks, job.job, job.submitted, &end) != 7 ||
        job.tasks > WT_PLAN_MOST || job.first > UINT32_MAX / 2)
        return wt_fail(context, WT_DATA, "%s/jobs.csv: is no table of jobs", folder->path);
    job.merges = strcmp(kind, "merge") == 0;
    job.local = strcmp(launcher, "local") == 0;
    WT_PASS(WT_GROW(context, &folder->jobs, folder->job_count, &folder->room, "jobs"));
    folder->jobs[folder->job_count++] = job;
    size_t last = job.merges ? 0 : job.first + job.tasks - 1;
    folder->tasks = last > folder->tasks ? last : folder->tasks;
    folder->rounds = job.round > folder->rounds ? job.round : folder->rounds;
    return WT_OK;
}

static wt_status read_jobs(wt_context *context, wt_folder *folder, const char *path) {
    wt_source source = {.file = -1};
    char *text = NULL;
    wt_status status;
    WT_TRY(wt_source_open(context, path, &source));
    if (source.bytes > TABLE_MOST)
        WT_TRY(wt_fail(context, WT_DATA, "%s: is no table of jobs", source.shown));
    WT_TRY(WT_NEW_ZERO(context, &text, (size_t)source.bytes + 1, "jobs"));
    if (wt_source_read(&source, 0, text, (size_t)source.bytes) < 0)
        WT_TRY(wt_fail(context, WT_IO, "%s: cannot be read", source.shown));
    for (char *line = strchr(text, '\n'); line != NULL && line[1] != '\0';
         line = strchr(line + 1, '\n'))
        WT_TRY(take_row(context, folder, line + 1));
done:
    wt_release(text);
    wt_source_close(&source);
    return status;
}

bool wt_folder_is(const char *path) {
    char table[WT_FOLDER_PATH];
    struct stat about;
    int used = snprintf(table, sizeof table, "%s/jobs.csv", path);
    return used > 0 && (size_t)used < sizeof table && stat(table, &about) == 0;
}

wt_status wt_folder_open(wt_context *context, const char *path, bool must, wt_folder *out) {
    char table[WT_FOLDER_PATH];
    *out = (wt_folder){0};
    WT_PASS(find_path(context, path, out->path));
    wt_folder_file(out, table, "jobs.csv");
    if (access(table, F_OK) == 0)
        return read_jobs(context, out, table);
    return must ? wt_fail(context, WT_NO_INPUT, "%s: no sweep was submitted from this folder", path)
                : WT_OK;
}

void wt_folder_free(wt_folder *folder) {
    wt_release(folder->jobs);
    folder->jobs = NULL;
}

wt_status wt_folder_write(wt_context *context, const wt_folder *folder, const char *name,
                          const wt_script *text) {
    char path[WT_FOLDER_PATH];
    wt_output *output = NULL;
    wt_status status;
    WT_TRY(text->status);
    wt_folder_file(folder, path, "%s", name);
    WT_TRY(wt_output_open(context, path, &output));
    WT_TRY(wt_output_write(output, text->text, text->length));
    WT_TRY(wt_output_commit(output));
done:
    wt_output_free(output);
    return status;
}

wt_status wt_folder_save(wt_context *context, const wt_folder *folder) {
    wt_script table = {.context = context};
    wt_script_add(&table, HEAD);
    for (size_t i = 0; i < folder->job_count; i++) {
        const wt_folder_job *job = &folder->jobs[i];
        wt_script_add(&table, "%s,%s,%zu,%zu,%zu,%s,%s\n", job->merges ? "merge" : "tasks",
                      job->local ? "local" : "slurm", job->round, job->first, job->tasks, job->job,
                      job->submitted);
    }
    wt_status status = wt_folder_write(context, folder, "jobs.csv", &table);
    wt_script_free(&table);
    return status;
}

wt_status wt_folder_add(wt_context *context, wt_folder *folder, const wt_folder_job *job) {
    WT_PASS(WT_GROW(context, &folder->jobs, folder->job_count, &folder->room, "jobs"));
    folder->jobs[folder->job_count++] = *job;
    return wt_folder_save(context, folder);
}
