/* `wattle sweep submit`, and the status of its folder. */
#define _GNU_SOURCE /* readlink */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "set_options.h"
#include "sweep_actions.h"
#include "wattle/memory.h"
#include "wattle/text.h"

/* Tasks run the program that submits them. */
static wt_status find_program(cli_call *call, char out[PATH_MAX]) {
    ssize_t length = readlink("/proc/self/exe", out, PATH_MAX - 1);
    out[length < 0 ? 0 : length] = '\0';
    return length > 0 ? WT_OK
                      : wt_fail(call->context, WT_UNAVAILABLE,
                                "where this program lies is not known: /proc is not there");
}

/* --time and --mem are of a task, and not of this call. */
static wt_status read_options(cli_call *call, const cli_sweep_values *given, char *program,
                              wt_submit_options *out) {
    WT_PASS(cli_exclude(call, "submit", "store workers shard groups"));
    WT_INIT(wt_submit_options, out);
    if (given->into == NULL || given->tasks == 0)
        return wt_fail(call->context, WT_USAGE,
                       "wattle sweep submit needs --into FOLDER and --tasks N");
    wt_context_set_memory(call->context, 0);
    WT_PASS(wt_context_set_time_limit(call->context, 0));
    WT_PASS(find_program(call, program));
    out->launcher = strcmp(given->launcher, "local") == 0 ? WT_LAUNCHER_LOCAL : WT_LAUNCHER_SLURM;
    out->tasks = given->tasks;
    out->throttle = given->throttle;
    out->seconds = call->common.time;
    out->memory = call->common.memory;
    out->cpus = given->cpus;
    out->gpus = given->gpus;
    out->partition = given->partition;
    out->extra = given->sbatch;
    out->device = cli_given(call, "device") ? given->device : NULL;
    out->program = program;
    return WT_OK;
}

static wt_status show(cli_call *call, const char *folder, const wt_submit_report *report) {
    char longest[WT_SECONDS_TEXT], work[WT_SECONDS_TEXT], bytes[WT_BYTES_TEXT] = "not known";
    if (call->common.json)
        return cli_emit(call,
                        "folder:s cells:u done_before:u failed_before:u under_way:u to_do:u "
                        "tasks:u jobs:s seconds:r work_seconds:r bytes:r",
                        folder, report->cells, report->done, report->failed, report->under_way,
                        report->wanted, report->tasks, report->jobs, report->seconds, report->work,
                        report->bytes);
    if (report->bytes < 1e18)
        wt_bytes_format((size_t)report->bytes, bytes);
    cli_print_row("folder", "%s", folder);
    cli_print_row("cells", "%zu", report->cells);
    cli_print_row("done before", "%zu", report->done);
    cli_print_row("failed before", "%zu", report->failed);
    cli_print_row("under way", "%zu", report->under_way);
    cli_print_row("to do", "%zu in %zu tasks", report->wanted, report->tasks);
    if (report->tasks == 0)
        return WT_OK;
    cli_print_row("longest task, about", "%s", wt_seconds_format(report->seconds, longest));
    cli_print_row("all tasks, about", "%s", wt_seconds_format(report->work, work));
    cli_print_row("task memory, about", "%s", bytes);
    if (report->jobs[0] != '\0')
        cli_print_row("jobs", "%s", report->jobs);
    return WT_OK;
}

static wt_status preview(cli_call *call, const char *folder, const wt_sweep_spec *spec,
                         const wt_submit_options *options, wt_submit_report *report) {
    char *text = NULL;
    wt_status status;
    WT_TRY(wt_sweep_submit_preview(call->context, spec, folder, options, report, &text));
    WT_TRY(show(call, folder, report));
    if (!call->common.json && text != NULL)
        cli_print("\n%s", text);
done:
    wt_release(text);
    return status;
}

static void remark_time(cli_call *call, const wt_submit_report *report, double limit) {
    char takes[WT_SECONDS_TEXT], given[WT_SECONDS_TEXT];
    if (limit > 0 && report->seconds > limit)
        wt_remark(call->context,
                  "the longest task takes about %s, more than the %s of --time: it is queued again "
                  "until it has finished",
                  wt_seconds_format(report->seconds, takes), wt_seconds_format(limit, given));
}

wt_status cli_sweep_submit(cli_call *call, const cli_sweep_values *given) {
    char program[PATH_MAX];
    wt_submit_options options;
    wt_submit_report report = WT_SIZED(wt_submit_report);
    wt_sweep_spec *spec = NULL;
    wt_status status;
    WT_TRY(read_options(call, given, program, &options));
    WT_TRY(cli_sweep_spec(call, given, &spec));
    if (given->dry_run) {
        WT_TRY(preview(call, given->into, spec, &options, &report));
        goto done;
    }
    cli_goes_on = options.launcher == WT_LAUNCHER_LOCAL;
    WT_TRY(wt_sweep_submit(call->context, spec, given->into, &options, &report));
    if (options.launcher == WT_LAUNCHER_LOCAL && report.tasks > 0) {
        WT_TRY(cli_sweep_folder_status(call, given->into));
        goto done;
    }
    WT_TRY(show(call, given->into, &report));
    remark_time(call, &report, options.seconds);
done:
    wt_sweep_spec_free(spec);
    return status;
}

/* ---- status ------------------------------------------------------------------------------- */

static wt_status emit_state(cli_call *call, const char *folder, const wt_folder_state *state) {
    json_t *tasks = json_object();
    for (size_t i = 0; i < state->state_count; i++)
        cli_json_put(tasks, state->states[i].state,
                     json_integer((json_int_t)state->states[i].tasks));
    return cli_emit(call,
                    "folder:s cells:u done:u failed:u missing:u tasks:u active:u states:o "
                    "scheduler:b rate:r seconds_left:r",
                    folder, state->cells, state->done, state->failed,
                    state->cells - state->done - state->failed, state->tasks, state->active, tasks,
                    state->scheduler, state->rate, state->left);
}

static void print_state(const char *folder, const wt_folder_state *state) {
    size_t missing = state->cells - state->done - state->failed;
    char left[WT_SECONDS_TEXT];
    cli_print_row("folder", "%s", folder);
    cli_print_row("cells", "%zu", state->cells);
    cli_print_row("done", "%zu", state->done);
    cli_print_row("failed", "%zu", state->failed);
    cli_print_row("missing", "%zu", missing);
    for (size_t i = 0; i < state->state_count; i++)
        cli_print_row(i == 0 ? "tasks" : "", "%zu %s", state->states[i].tasks,
                      state->states[i].state);
    if (isfinite(state->rate))
        cli_print_row("cells a second", "%.3g", state->rate);
    if (missing > 0 && isfinite(state->left))
        cli_print_row("time left, about", "%s", wt_seconds_format(state->left, left));
}

wt_status cli_sweep_folder_status(cli_call *call, const char *folder) {
    wt_folder_state state = WT_SIZED(wt_folder_state);
    WT_PASS(wt_folder_look(call->context, folder, &state));
    if (!state.scheduler)
        wt_remark(call->context, "the scheduler does not answer: what is said is by the stores "
                                 "alone");
    if (call->common.json)
        WT_PASS(emit_state(call, folder, &state));
    else
        print_state(folder, &state);
    if (state.active > 0)
        return WT_OK;
    if (state.done + state.failed < state.cells)
        return wt_fail(call->context, WT_MISSED,
                       "%zu cells are missing, and no task is under way: the logs of %s say why, "
                       "and submitting again submits them",
                       state.cells - state.done - state.failed, folder);
    return WT_OK;
}
