#include "base/parallel.h"

#include <omp.h>
#include <pthread.h>
#include <string.h>

typedef struct {
    wt_context *context;
    size_t count, grain, chunks;
    wt_body_fn body;
    void *argument;
    atomic_size_t first_failure; /* chunk index, `chunks` while there is none */
    wt_status status;            /* of that chunk, as are the words in the context's message */
    omp_lock_t recording;        /* a named critical section would export a symbol */
} loop;

/* The failure with the lowest chunk index is kept whatever the order in which they come. */
static void record_failure(loop *run, size_t chunk, wt_status status, const char *message) {
    omp_set_lock(&run->recording);
    if (chunk < atomic_load(&run->first_failure)) {
        atomic_store(&run->first_failure, chunk);
        run->status = status;
        memcpy(run->context->message, message, WT_MESSAGE_BYTES);
    }
    omp_unset_lock(&run->recording);
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

/* On the calling thread, as the inside of another loop: the outer chunk owns the message. */
static wt_status run_inline(loop *run) {
    /* a context of the chunk's own may have fewer threads than the outer loop, and serves it alone
     */
    int worker = omp_get_thread_num() % run->context->threads;
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

static void *wait_at(void *gate) {
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* OpenMP ends the program when it cannot start a thread, for want of memory or under a limit: so as
 * many are started here first, once, and end again. */
static wt_status try_threads(wt_context *context, int threads) {
    static atomic_int proven = 1;
    pthread_t others[WT_MAX_THREADS];
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    int started = 0, failed = 0;
    if (threads <= atomic_load(&proven))
        return WT_OK;
    pthread_mutex_lock(&gate);
    while (failed == 0 && started < threads - 1) {
        failed = pthread_create(&others[started], NULL, wait_at, &gate);
        started += failed == 0;
    }
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    if (failed != 0)
        return wt_fail(context, WT_MEMORY, "no more than %d of %d threads can be started: %s",
                       started + 1, threads, strerror(failed));
    atomic_store(&proven, threads);
    return WT_OK;
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
    if (wt_chunk_message != NULL)
        return run_inline(&run);
    /* All threads even where there are fewer chunks: OpenMP ends those that a smaller team does not
     * need, and starting them again for the next loop costs more than waking them. */
    int team = run.chunks == 1 ? 1 : context->threads;
    WT_PASS(try_threads(context, team));
    loop *shared = &run;
    omp_init_lock(&run.recording);
    if (team == 1) { /* a team of one costs more than a small loop: 0.3 us a chunk */
        for (size_t chunk = 0; chunk < run.chunks; chunk++)
            run_chunk(&run, chunk, 0);
    } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
        for (size_t chunk = 0; chunk < shared->chunks; chunk++)
            run_chunk(shared, chunk, omp_get_thread_num());
    }
    omp_destroy_lock(&run.recording);
    return run.status;
}

int wt_parallel_width(const wt_context *context) {
    return wt_chunk_message != NULL ? omp_get_num_threads() : context->threads;
}
