/* The context every call takes, and the statuses every call returns.
 *
 * The library never prints, exits, aborts or reads the environment, but for wt_blas_open, which
 * says what it does there. A call that fails returns a status other than WT_OK, and the sentence
 * with the values that went wrong is on the context. */
#ifndef WATTLE_BASE_H
#define WATTLE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WT_API __attribute__((visibility("default")))

/* The version of these headers; CMake reads it here. Within one major number, programs that were
 * built with an older library run with a newer one. */
#define WT_VERSION_MAJOR 1
#define WT_VERSION_MINOR 0
#define WT_VERSION_PATCH 0
/* To compare: 1.2.3 is 10203. */
#define WT_VERSION_NUMBER (WT_VERSION_MAJOR * 10000 + WT_VERSION_MINOR * 100 + WT_VERSION_PATCH)

/* Structs that may grow start with `size_t size`: the size that the caller's headers knew. Options
 * get their defaults by WT_INIT(wt_train_spec, &setting); what a call fills in is declared as
 * wt_train_result result = WT_SIZED(wt_train_result). */
#define WT_INIT(type, object) type##_init(object, sizeof *(object))
#define WT_SIZED(type)                                                                             \
    { .size = sizeof(type) }

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wt_status {
    WT_OK = 0,
    WT_MISSED,        /* ran to the end without reaching its goal */
    WT_USAGE,         /* an argument that makes no sense */
    WT_DATA,          /* input that is malformed, unreadable or disagrees with itself */
    WT_NO_INPUT,      /* an input that does not exist */
    WT_UNAVAILABLE,   /* not built in, or an outside program failed */
    WT_INTERNAL,      /* a fault of ours, or a broken installation */
    WT_MEMORY,        /* out of memory, or over the memory budget */
    WT_CANNOT_CREATE, /* an output that cannot be created */
    WT_IO,            /* reading or writing broke off */
    WT_INTERRUPTED,   /* cancelled; what was finished is kept */
    WT_CONFIG         /* a configuration file that makes no sense */
} wt_status;

/* "bad data" and the like; never NULL. */
WT_API const char *wt_status_name(wt_status status);
/* The exit code of the wattle command for a status (docs/reference.md lists them). */
WT_API int wt_status_exit_code(wt_status status);

/* The version of the library in use, which may be later than that of the headers: "1.0.0". */
WT_API const char *wt_version(void);

/* A context carries settings, the cancel flag and the last message. One context serves one
 * thread at a time; the library spreads the work of a call over threads by itself. */
typedef struct wt_context wt_context;

/* On failure *out is NULL and the status is WT_MEMORY. Threads start at the number of processors
 * this process may use, the memory budget at none. */
WT_API wt_status wt_context_new(wt_context **out);
/* Accepts NULL. Objects made with the context may be freed after it. */
WT_API void wt_context_free(wt_context *context);

/* 1 to WT_MAX_THREADS. Results are the same bits for every number of threads. */
#define WT_MAX_THREADS 1024
WT_API wt_status wt_context_set_threads(wt_context *context, int threads);
WT_API int wt_context_threads(const wt_context *context);

/* The most bytes the library may hold at a time through this context; 0 = no limit. */
WT_API void wt_context_set_memory(wt_context *context, size_t bytes);
WT_API size_t wt_context_memory(const wt_context *context);
/* Bytes held now, and the most held at any time so far. */
WT_API size_t wt_context_memory_used(const wt_context *context);
WT_API size_t wt_context_memory_peak(const wt_context *context);

/* The sentence of the last failed call, at most WT_MESSAGE_BYTES with its 0; "" before any. Valid
 * until the next call. */
#define WT_MESSAGE_BYTES 1024
WT_API const char *wt_context_message(const wt_context *context);

/* Asks the call in progress to stop at its next safe place with WT_INTERRUPTED; what runs cells
 * (sweeps, curves, searches, thresholds) finishes those it has begun first, unless it is asked
 * twice. Safe in a signal handler and from any thread. */
WT_API void wt_context_cancel(wt_context *context);
WT_API bool wt_context_cancelled(const wt_context *context);
/* Takes the requests back, and the limit of time, so that the context can be used again. */
WT_API void wt_context_resume(wt_context *context);

/* How many seconds from now on the context may be at work; 0 = no limit. When they are over the
 * call in progress stops as if it were cancelled once. Learners end with the best they have by then
 * and say so in their reports; where they have nothing yet, and in all other calls, it is
 * WT_INTERRUPTED. WT_USAGE for less than 0. */
WT_API wt_status wt_context_set_time_limit(wt_context *context, double seconds);
/* Whether the limit was reached since it was set, and nobody cancelled the work. */
WT_API bool wt_context_out_of_time(const wt_context *context);

/* Remarks that are no failure but that a user should see: a warning about the data, a choice made.
 */
typedef void (*wt_log_fn)(void *user, const char *sentence);
WT_API void wt_context_set_log(wt_context *context, wt_log_fn log, void *user);

/* How far a long call has come. The library makes it; it may grow at its end. */
typedef struct wt_progress {
    const char *what; /* "cells", "samples": what is counted */
    double done;
    double total;       /* 0 = not known */
    double seconds;     /* since the work began */
    double share;       /* part of the work that is done, by its estimated cost; 0 = done / total */
    const char *detail; /* "step 17, error 2.1e-04": where it is now; NULL = nothing to say */
} wt_progress;
typedef void (*wt_progress_fn)(void *user, const wt_progress *progress);
/* Called about ten times a second at most, by one thread at a time: the one that made the call, or
 * a worker of a sweep. */
WT_API void wt_context_set_progress(wt_context *context, wt_progress_fn show, void *user);
/* "cells 12/80  3.1/s  ETA 22s" into buffer, or "start 3/20  step 17, error 2.1e-04  ETA 1m20s"
 * where there is a detail; returns buffer. */
WT_API const char *wt_progress_format(const wt_progress *progress, char *buffer, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
