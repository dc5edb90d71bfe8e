/* For programs and callbacks built on the library: reporting failures, freeing on the way out,
 * checking for cancellation and reporting progress, in the same way as the library does.
 *
 *     static wt_status total(wt_context *context, const char *path, double *out) {
 *         wt_status status;
 *         wt_file *file = NULL;
 *         double *values = NULL;
 *         WT_TRY(wt_file_open(context, path, &file));
 *         const wt_array *array = wt_file_find(file, "y");
 *         if (array == NULL)
 *             WT_TRY(wt_fail(context, WT_DATA, "%s has no array y", path));
 *         WT_TRY(WT_NEW(context, &values, array->count, "the labels"));
 *         ...
 *     done:
 *         wt_release(values);
 *         wt_file_free(file);
 *         return status;
 *     } */
#ifndef WATTLE_PROGRAM_H
#define WATTLE_PROGRAM_H

#include "wattle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Records the sentence, fit to be shown (wt_show), and returns the status. In a callback that runs
 * on several threads, the sentence of the first failing part (by index, not by time) is the one
 * kept. The values may quote the sentence it replaces: "%s: %s", path, wt_context_message(..). */
__attribute__((format(printf, 3, 4))) WT_API wt_status wt_fail(wt_context *context,
                                                               wt_status status, const char *format,
                                                               ...);
#ifdef __clang_analyzer__
/* Lets the analyser see that the status given is the one returned. */
#define wt_fail(context, status, ...) ((void)wt_fail(context, status, __VA_ARGS__), (status))
#endif
/* Sends a remark to the context's log, if there is one. */
__attribute__((format(printf, 2, 3))) WT_API void wt_remark(wt_context *context, const char *format,
                                                            ...);
/* WT_INTERRUPTED with a sentence once the context is cancelled, or its time is over. */
WT_API wt_status wt_context_check_cancelled(wt_context *context);

/* What stops the work: "interrupted" or "the time is over". */
WT_API const char *wt_context_stop_name(const wt_context *context);

/* Fails for work that was stopped and kept nowhere: "the time is over after 12 cells". WT_MISSED
 * when its time is over, WT_INTERRUPTED else. */
WT_API wt_status wt_context_lost(wt_context *context, double count, const char *what);

/* In functions with a `wt_status status` and one `done:` label that frees. */
#define WT_TRY(call)                                                                               \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != WT_OK)                                                                       \
            goto done;                                                                             \
    } while (0)
/* In functions that have nothing to free: a failure is passed on. */
#define WT_PASS(call)                                                                              \
    do {                                                                                           \
        wt_status status_of_call = (call);                                                         \
        if (status_of_call != WT_OK)                                                               \
            return status_of_call;                                                                 \
    } while (0)

/* Seconds on a monotonic clock. */
WT_API double wt_clock(void);

#define WT_PROCESSOR_TEXT 128
/* "AMD EPYC 9354" into out[WT_PROCESSOR_TEXT], "unknown processor" where the system does not tell;
 * returns out. For reports whose numbers depend on the machine. */
WT_API const char *wt_machine_processor(char *out);
/* Processors on line, and bytes of memory; 0 where the system does not tell. */
WT_API size_t wt_machine_processors(void);
WT_API size_t wt_machine_memory(void);

/* Reports how far a loop has come to the context's progress callback. */
typedef struct wt_meter {
    wt_context *context;
    const char *what; /* "cells": what is counted; must outlive the meter */
    double total;     /* 0 = not known */
    double began;     /* by wt_clock */
    double share;     /* of the work that is done, by its cost; 0 = done / total */
    double done;      /* as it was set last */
    const char
        *phase; /* what is done now: "factor"; must outlive the meter; NULL = no word of it */
} wt_meter;
WT_API wt_meter wt_meter_start(wt_context *context, const char *what, double total);
/* Shows the state when a tenth of a second has gone by since the last time, or at the end. */
WT_API void wt_meter_set(wt_meter *meter, double done);
/* The same, with a word on where the work is now, after the phase. */
__attribute__((format(printf, 3, 4))) WT_API void wt_meter_tell(wt_meter *meter, double done,
                                                                const char *format, ...);
/* Another phase begins: shown at once. */
WT_API void wt_meter_enter(wt_meter *meter, const char *phase);

/* For tests: the k-th allocation and the k-th write from now fail; 0 = none. */
WT_API void wt_context_set_faults(wt_context *context, long allocation, long write);
/* Counts a write that the program makes by itself; true when it is the one that is to fail. */
WT_API bool wt_context_write_fails(wt_context *context);

#ifdef __cplusplus
}
#endif
#endif
