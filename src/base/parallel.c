#include "base/parallel.h"

#include <pthread.h>
#include <string.h>

#include "base/team.h"

/* Of the chunk that this thread runs. */
typedef struct {
    const wt_context *context;
    int worker, width;
} place;
static _Thread_local place here;

typedef struct {
    wt_context *context;
    size_t count, grain, chunks;
    wt_body_fn body;
    void *argument;
    int threads;
    atomic_size_t next;          /* chunk that nobody has taken yet */
    atomic_size_t first_failure; /* chunk index, `chunks` while there is none */
    wt_status status;            /* of that chunk, as are the words in the context's message */
    pthread_mutex_t recording;
} loop;

/* The failure with the lowest chunk index is kept whatever the order in which they come. */
static void record_failure(loop *run, size_t chunk, wt_status status, const char *message) {
    pthread_mutex_lock(&run->recording);
    if (chunk < atomic_load(&run->first_failure)) {
        atomic_store(&run->first_failure, chunk);
        run->status = status;
        memcpy(run->context->message, message, WT_MESSAGE_BYTES);
    }
    pthread_mutex_unlock(&run->recording);
}

static void run_chunk(loop *run, size_t chunk, int worker) {
    /* Chunks before a failure still run: one of them may be the first to fail. */
    if (chunk > atomic_load(&run->first_failure))
        return;
    char message[WT_MESSAGE_BYTES] = "";
    wt_chunk_message = message;
    wt_status status = wt_context_check_cancelled(run->context);
    if (status == WT_OK) {
        size_t begin = chunk * run->grain;
        size_t end = run->count - begin < run->grain ? run->count : begin + run->grain;
        status = run->body(run->argument, begin, end, worker);
    }
    wt_chunk_message = NULL;
    if (status != WT_OK)
        record_failure(run, chunk, status, message);
}

bool wt_parallel_alone(const wt_context *context) {
    return wt_chunk_message != NULL && (context == here.context || context->threads == 1);
}

/* On the calling thread, as the inside of another loop: the outer chunk owns the message. */
static wt_status run_inline(loop *run) {
    int worker = run->context == here.context ? here.worker : 0;
    for (size_t begin = 0; begin < run->count; begin += run->grain) {
        size_t end = run->count - begin < run->grain ? run->count : begin + run->grain;
        wt_status status = wt_context_check_cancelled(run->context);
        if (status == WT_OK)
            status = run->body(run->argument, begin, end, worker);
        if (status != WT_OK)
            return status;
    }
    return WT_OK;
}

/* Chunks are taken one at a time, in order. */
static void run_chunks(void *argument, int worker) {
    loop *run = argument;
    size_t chunk;
    here = (place){run->context, worker, run->threads};
    while ((chunk = atomic_fetch_add(&run->next, 1)) < run->chunks)
        run_chunk(run, chunk, worker);
}

/* On the team of the caller, who may be in a chunk: its place and message are as before after. */
static wt_status run_on_team(loop *run) {
    char *message = wt_chunk_message;
    place before = here;
    wt_status status = WT_OK;
    wt_chunk_message = NULL;
    pthread_mutex_init(&run->recording, NULL);
    if (run->threads == 1)
        run_chunks(run, 0);
    else
        status = wt_team_run(run->context, run->threads, run_chunks, run);
    pthread_mutex_destroy(&run->recording);
    if (status == WT_OK)
        status = run->status;
    here = before;
    wt_chunk_message = message;
    if (status != WT_OK && message != NULL)
        memcpy(message, run->context->message, WT_MESSAGE_BYTES);
    return status;
}

wt_status wt_parallel_for(wt_context *context, size_t count, size_t grain, wt_body_fn body,
                          void *argument) {
    if (count == 0)
        return WT_OK;
    if (grain == 0)
        return wt_fail(context, WT_INTERNAL, "a parallel loop with chunks of no items");
    loop run = {.context = context,
                .count = count,
                .grain = grain,
                .body = body,
                .argument = argument,
                .status = WT_OK};
    run.chunks = (count - 1) / grain + 1;
    atomic_init(&run.first_failure, run.chunks);
    if (wt_parallel_alone(context))
        return run_inline(&run);
    size_t most = (size_t)context->threads;
    run.threads = (int)(run.chunks < most ? run.chunks : most);
    return run_on_team(&run);
}

int wt_parallel_width(const wt_context *context) {
    int own = wt_parallel_alone(context) ? 1 : context->threads;
    return wt_chunk_message != NULL ? here.width * own : own;
}
