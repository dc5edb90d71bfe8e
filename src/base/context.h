/* What the context holds, and how a call fails: with a sentence, through one way out. */
#ifndef WT_BASE_CONTEXT_H
#define WT_BASE_CONTEXT_H

#include <stdatomic.h>
#include <stdint.h>

#include "wattle/base.h"

#define WT_MESSAGE_BYTES 1024

/* Bytes held through a context. Blocks point to it, so that it outlives the context if they do. */
typedef struct wt_account {
    atomic_size_t used, peak, budget;
    atomic_size_t owners; /* the context and every live block */
} wt_account;

struct wt_context {
    int threads;
    wt_account *account;
    atomic_int cancels;       /* how often it was told to stop */
    const wt_context *parent; /* which stops this one too when it is told twice; NULL = none */
    char message[WT_MESSAGE_BYTES];
    wt_log_fn log;
    void *log_user;
    wt_progress_fn progress;
    void *progress_user;
    double progress_shown;     /* when the last line was shown, by wt_clock */
    atomic_uint_fast64_t work; /* counted flops: base/work.h */
    /* Fault injection for tests: the k-th allocation or write from now fails; 0 = never. */
    atomic_long allocation_to_fail, write_to_fail;
};

/* Records the sentence, fit to be shown (wt_show), and returns the status. Inside wt_parallel_for
 * the sentence of the first failing chunk (by index, not by time) is the one kept. */
__attribute__((format(printf, 3, 4))) wt_status wt_fail(wt_context *context, wt_status status,
                                                        const char *format, ...);
#ifdef __clang_analyzer__
/* Lets the analyser see that the status given is the one returned. */
#define wt_fail(context, status, ...) ((void)wt_fail(context, status, __VA_ARGS__), (status))
#endif
/* Refuses a value of an enum that is none of its `count`: "there is no WHAT number 9". */
wt_status wt_check_choice(wt_context *context, const char *what, int value, size_t count);
/* Sends a remark to the context's log, if there is one. */
__attribute__((format(printf, 2, 3))) void wt_remark(wt_context *context, const char *format, ...);

/* In functions with a `wt_status status` and one `done:` label that frees. */
#define WT_TRY(call)                                                                               \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != WT_OK)                                                                       \
            goto done;                                                                             \
    } while (0)

/* Where wt_fail writes while this thread runs a chunk of a parallel loop; NULL outside. */
extern _Thread_local char *wt_chunk_message;

/* True when the k-th event set on the counter is this one. */
bool wt_fault_due(atomic_long *counter);

/* WT_INTERRUPTED with a sentence once the context is cancelled. */
wt_status wt_check_cancelled(wt_context *context);

#endif
