/* What the context holds. */
#ifndef WT_BASE_CONTEXT_H
#define WT_BASE_CONTEXT_H

#include <stdatomic.h>
#include <stdint.h>

#include "wattle/program.h"

/* Bytes held through a context. Blocks point to it, so that it outlives the context if they do. */
typedef struct wt_account {
    atomic_size_t used, peak, budget;
    atomic_size_t owners; /* the context and every live block */
} wt_account;

struct wt_context {
    int threads;
    struct wt_device *device; /* that heavy work runs on (device/device.h); NULL = the host */
    wt_account *account;
    atomic_int cancels;       /* how often it was told to stop */
    double deadline;          /* by wt_clock, counts as a cancel; 0 = none */
    bool out_of_time;         /* a deadline has passed, and was taken notice of */
    atomic_int patience;      /* cancels that the work in hand does not yet obey */
    const wt_context *parent; /* which stops this one too; NULL = none */
    char message[WT_MESSAGE_BYTES];
    wt_log_fn log;
    void *log_user;
    wt_progress_fn progress;
    void *progress_user;
    double progress_shown;     /* when the last line was shown, by wt_clock */
    const wt_meter *whole;     /* of a job whose parts have meters too; NULL = none */
    atomic_uint_fast64_t work; /* counted flops: base/work.h */
    /* Fault injection for tests: the k-th allocation or write from now fails; 0 = never. */
    atomic_long allocation_to_fail, write_to_fail;
};

/* Where wt_fail writes while this thread runs a chunk of a parallel loop; NULL outside. */
extern _Thread_local char *wt_chunk_message;

/* Makes the meter that of the whole, unless there is one: meters of its parts show it then, until
 * it is uncovered. */
void wt_meter_cover(const wt_meter *meter);
void wt_meter_uncover(const wt_meter *meter);

/* True when the k-th event set on the counter is this one. */
bool wt_fault_due(atomic_long *counter);

/* Whether it was told to stop, heeded or not, or its time is over. */
bool wt_context_stopping(const wt_context *context);
/* Whether the status is that of work that ran out of time, not of one that was cancelled. The limit
 * is off then: what is in hand can be brought to an end. */
bool wt_context_end_of_time(wt_context *context, wt_status status);

/* Between the two the limit of time, where there is one, is not heeded: short work that brings to
 * an end what was found in time. */
void wt_context_grant_time(wt_context *context);
void wt_context_revoke_time(wt_context *context);

/* Refuses a value of an enum that is none of its `count`: "there is no WHAT number 9". */
wt_status wt_check_choice(wt_context *context, const char *what, int value, size_t count);

#endif
