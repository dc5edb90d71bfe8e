#define _GNU_SOURCE
#include "base/context.h"

#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

#undef wt_fail /* the analyser's face of it */

_Thread_local char *wt_chunk_message = NULL;

static const struct {
    const char *name;
    int exit_code;
} statuses[] = {
    [WT_OK] = {"fine", 0},
    [WT_MISSED] = {"goal not reached", 1},
    [WT_USAGE] = {"bad usage", 64},
    [WT_DATA] = {"bad data", 65},
    [WT_NO_INPUT] = {"no such input", 66},
    [WT_UNAVAILABLE] = {"not available", 69},
    [WT_INTERNAL] = {"internal error", 70},
    [WT_MEMORY] = {"out of memory", 70},
    [WT_CANNOT_CREATE] = {"cannot create output", 73},
    [WT_IO] = {"input/output error", 74},
    [WT_INTERRUPTED] = {"interrupted", 75},
    [WT_CONFIG] = {"bad configuration", 78},
};

static bool known(wt_status status) {
    return (size_t)status < sizeof statuses / sizeof *statuses;
}

const char *wt_status_name(wt_status status) {
    return known(status) ? statuses[status].name : "unknown status";
}

int wt_status_exit_code(wt_status status) {
    return known(status) ? statuses[status].exit_code : 70;
}

#define TEXT(number)                #number
#define DOTTED(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *wt_version(void) {
    return DOTTED(WT_VERSION_MAJOR, WT_VERSION_MINOR, WT_VERSION_PATCH);
}

static int usable_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count > WT_MAX_THREADS ? WT_MAX_THREADS : count;
}

wt_status wt_context_new(wt_context **out) {
    *out = NULL;
    wt_context *context = calloc(1, sizeof *context);
    wt_account *account = calloc(1, sizeof *account);
    if (context == NULL || account == NULL) {
        free(context);
        free(account);
        return WT_MEMORY;
    }
    atomic_store(&account->owners, 1);
    context->account = account;
    context->threads = usable_processors();
    *out = context;
    return WT_OK;
}

void wt_context_free(wt_context *context) {
    if (context == NULL)
        return;
    wt_account_leave(context->account);
    free(context);
}

wt_status wt_context_set_threads(wt_context *context, int threads) {
    if (threads < 1 || threads > WT_MAX_THREADS)
        return wt_fail(context, WT_USAGE, "threads must be 1 to %d, not %d", WT_MAX_THREADS,
                       threads);
    context->threads = threads;
    return WT_OK;
}

int wt_context_threads(const wt_context *context) {
    return context->threads;
}

void wt_context_set_memory(wt_context *context, size_t bytes) {
    atomic_store(&context->account->budget, bytes);
}

size_t wt_context_memory(const wt_context *context) {
    return atomic_load(&context->account->budget);
}

size_t wt_context_memory_used(const wt_context *context) {
    return atomic_load(&context->account->used);
}

size_t wt_context_memory_peak(const wt_context *context) {
    return atomic_load(&context->account->peak);
}

const char *wt_context_message(const wt_context *context) {
    return wt_chunk_message != NULL ? wt_chunk_message : context->message;
}

void wt_context_cancel(wt_context *context) {
    atomic_fetch_add(&context->cancels, 1);
}

static bool is_late(const wt_context *context) {
    return context->deadline > 0 && wt_clock() >= context->deadline;
}

static int stops_of(const wt_context *context) {
    return atomic_load(&context->cancels) + is_late(context);
}

bool wt_context_stopping(const wt_context *context) {
    return stops_of(context) > 0;
}

bool wt_context_cancelled(const wt_context *context) {
    return stops_of(context) > atomic_load(&context->patience) ||
           (context->parent != NULL && wt_context_cancelled(context->parent));
}

void wt_context_resume(wt_context *context) {
    context->out_of_time = wt_context_out_of_time(context);
    context->deadline = 0;
    atomic_store(&context->cancels, 0);
}

wt_status wt_context_set_time_limit(wt_context *context, double seconds) {
    if (!(seconds >= 0 && isfinite(seconds)))
        return wt_fail(context, WT_USAGE, "a limit of %g seconds makes no sense", seconds);
    context->deadline = seconds > 0 ? wt_clock() + seconds : 0;
    context->out_of_time = false;
    return WT_OK;
}

bool wt_context_out_of_time(const wt_context *context) {
    return atomic_load(&context->cancels) == 0 && (context->out_of_time || is_late(context));
}

bool wt_context_end_of_time(wt_context *context, wt_status status) {
    bool over = status == WT_INTERRUPTED && atomic_load(&context->cancels) == 0 && is_late(context);
    if (over) {
        context->out_of_time = true;
        context->deadline = 0;
    }
    return over;
}

/* A limit that counts as a cancel is met by patience for one more. */
static int grace_of(const wt_context *context) {
    return context->deadline > 0;
}

void wt_context_grant_time(wt_context *context) {
    atomic_fetch_add(&context->patience, grace_of(context));
}

void wt_context_revoke_time(wt_context *context) {
    atomic_fetch_sub(&context->patience, grace_of(context));
}

const char *wt_context_stop_name(const wt_context *context) {
    return wt_context_out_of_time(context) ? "the time is over" : "interrupted";
}

wt_status wt_context_lost(wt_context *context, double count, const char *what) {
    return wt_fail(context, wt_context_out_of_time(context) ? WT_MISSED : WT_INTERRUPTED,
                   "%s after %.0f %s", wt_context_stop_name(context), count, what);
}

wt_status wt_context_check_cancelled(wt_context *context) {
    return !wt_context_cancelled(context)
               ? WT_OK
               : wt_fail(context, WT_INTERRUPTED, "%s", wt_context_stop_name(context));
}

void wt_context_set_log(wt_context *context, wt_log_fn log, void *user) {
    context->log = log;
    context->log_user = user;
}

/* Values come from files, programs and people. The room past a message keeps wt_show from seeing
 * half a character at its end. */
static void make_sentence(const char *format, va_list values, char out[WT_MESSAGE_BYTES]) {
    char raw[WT_MESSAGE_BYTES + 4]; /* the values may quote the message that is replaced */
    vsnprintf(raw, sizeof raw, format, values);
    wt_show(raw, out, WT_MESSAGE_BYTES);
}

wt_status wt_fail(wt_context *context, wt_status status, const char *format, ...) {
    char *message = wt_chunk_message != NULL ? wt_chunk_message : context->message;
    va_list values;
    va_start(values, format);
    make_sentence(format, values, message);
    va_end(values);
    return status;
}

wt_status wt_check_choice(wt_context *context, const char *what, int value, size_t count) {
    if (value >= 0 && (size_t)value < count)
        return WT_OK;
    return wt_fail(context, WT_USAGE, "there is no %s number %d", what, value);
}

void wt_remark(wt_context *context, const char *format, ...) {
    if (context->log == NULL)
        return;
    char sentence[WT_MESSAGE_BYTES];
    va_list values;
    va_start(values, format);
    make_sentence(format, values, sentence);
    va_end(values);
    context->log(context->log_user, sentence);
}

void wt_context_set_faults(wt_context *context, long allocation, long write) {
    atomic_store(&context->allocation_to_fail, allocation);
    atomic_store(&context->write_to_fail, write);
}

bool wt_context_write_fails(wt_context *context) {
    return wt_fault_due(&context->write_to_fail);
}

bool wt_fault_due(atomic_long *counter) {
    /* Counts down to the event that fails and stays off afterwards. */
    return atomic_load(counter) > 0 && atomic_fetch_sub(counter, 1) == 1;
}
