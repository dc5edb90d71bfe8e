/* What a sweep will take, and which part of it is ours. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "set_options.h"
#include "sweep_actions.h"
#include "wattle/memory.h"
#include "wattle/program.h"
#include "wattle/text.h"

static wt_status parse_shard(wt_context *context, const char *text, wt_shard *out) {
    char copy[64];
    uint64_t index = 0, count = 0;
    snprintf(copy, sizeof copy, "%s", text);
    char *slash = strchr(copy, '/');
    if (slash != NULL)
        *slash++ = '\0';
    if (slash == NULL || !wt_unsigned_parse(copy, &index) || !wt_unsigned_parse(slash, &count) ||
        index == 0 || index > count)
        return wt_fail(context, WT_USAGE, "--shard: '%s' is not I/N with I from 1 to N", text);
    *out = (wt_shard){(size_t)index - 1, (size_t)count};
    return WT_OK;
}

wt_status cli_sweep_task(cli_call *call, const wt_sweep_spec *spec, const char *text,
                         wt_plan **out) {
    char path[PATH_MAX];
    uint64_t task = 0;
    snprintf(path, sizeof path, "%s", text);
    char *colon = strrchr(path, ':');
    if (colon != NULL)
        *colon++ = '\0';
    if (colon == NULL || !wt_unsigned_parse(colon, &task) || task == 0)
        return wt_fail(call->context, WT_USAGE, "--groups: '%s' is not FILE:TASK", text);
    return wt_plan_new_task(call->context, spec, path, (size_t)task, out);
}

static bool read_variable(const char *name, uint64_t *out) {
    const char *text = getenv(name);
    return text != NULL && wt_unsigned_parse(text, out);
}

/* Tasks of an array count from any number in any steps. */
static wt_status shard_of_job(cli_call *call, wt_shard *out) {
    uint64_t task = 0, count = 0, first = 0, step = 1;
    *out = (wt_shard){0, 1};
    if (getenv("SLURM_ARRAY_TASK_ID") == NULL)
        return WT_OK;
    if (getenv("SLURM_ARRAY_TASK_COUNT") == NULL) /* every task would do everything */
        return wt_fail(call->context, WT_USAGE,
                       "SLURM_ARRAY_TASK_ID is set and SLURM_ARRAY_TASK_COUNT is not; give --shard "
                       "I/N, or 1/1 for all of it");
    bool sound = read_variable("SLURM_ARRAY_TASK_ID", &task) &&
                 read_variable("SLURM_ARRAY_TASK_COUNT", &count);
    if (getenv("SLURM_ARRAY_TASK_MIN") != NULL)
        sound = sound && read_variable("SLURM_ARRAY_TASK_MIN", &first);
    if (getenv("SLURM_ARRAY_TASK_STEP") != NULL)
        sound = sound && read_variable("SLURM_ARRAY_TASK_STEP", &step);
    if (sound && step > 0 && task / step >= count && getenv("SLURM_ARRAY_TASK_MIN") == NULL)
        return wt_fail(call->context, WT_USAGE,
                       "task %" PRIu64 " of %" PRIu64 " is none of an array from 0 on: set "
                       "SLURM_ARRAY_TASK_MIN to its first task, or give --shard I/N",
                       task, count);
    if (!sound || step == 0 || task < first || (task - first) / step >= count)
        return wt_fail(call->context, WT_USAGE,
                       "the variables SLURM_ARRAY_TASK_... do not tell which part of the sweep "
                       "this is; give --shard I/N, or 1/1 for all of it");
    *out = (wt_shard){(size_t)((task - first) / step), (size_t)count};
    wt_remark(call->context, "shard %zu/%zu, by the job array of SLURM", out->index + 1,
              out->count);
    return WT_OK;
}

wt_status cli_sweep_shard(cli_call *call, const char *text, wt_shard *out) {
    return text != NULL ? parse_shard(call->context, text, out) : shard_of_job(call, out);
}

wt_status cli_sweep_plan(cli_call *call, const wt_plan *plan, const wt_plan_count *count,
                         size_t workers) {
    wt_plan_cost cost = WT_SIZED(wt_plan_cost);
    double rate;
    char bytes[WT_BYTES_TEXT] = "not known", time[WT_SECONDS_TEXT];
    if (workers == 0)
        workers = (size_t)wt_context_threads(call->context);
    WT_PASS(wt_sweep_rate(call->context, &rate));
    WT_PASS(wt_plan_estimate(call->context, plan, workers, rate, &cost));
    if (call->common.json)
        return cli_emit(call,
                        "cells:u groups:u done_before:u failed_before:u to_do:u workers:u "
                        "seconds:r bytes:r",
                        count->cells, count->groups, count->done, count->failed, count->wanted,
                        workers, cost.seconds, cost.bytes);
    if (cost.bytes < 1e18)
        wt_bytes_format((size_t)cost.bytes, bytes);
    cli_print_row("cells", "%zu in %zu groups", count->cells, count->groups);
    cli_print_row("done before", "%zu", count->done);
    cli_print_row("failed before", "%zu", count->failed);
    cli_print_row("to do", "%zu", count->wanted);
    cli_print_row("time, about", "%s on %zu worker%s", wt_seconds_format(cost.seconds, time),
                  workers, workers == 1 ? "" : "s");
    cli_print_row("memory, about", "%s", bytes);
    return WT_OK;
}
