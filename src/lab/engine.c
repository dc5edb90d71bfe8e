#include "lab/engine.h"

#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"

/* Faults for tests stay with the caller's context. */
static wt_status open_contexts(wt_engine *engine) {
    size_t budget = wt_context_memory(engine->context), workers = engine->workers;
    size_t part = budget > 0 && budget < workers ? 1 : budget / workers; /* 0 would be no limit */
    WT_PASS(WT_NEW_ZERO(engine->context, &engine->contexts, workers, "workers"));
    for (size_t i = 0; i < workers; i++) {
        if (wt_context_new(&engine->contexts[i]) != WT_OK)
            return wt_fail(engine->context, WT_MEMORY, "no memory for %zu workers", workers);
        engine->contexts[i]->parent = engine->context;
        engine->contexts[i]->device = engine->context->device;
        wt_context_set_memory(engine->contexts[i], part);
        WT_PASS(wt_context_set_threads(engine->contexts[i],
                                       engine->threads == 0 ? 1 : (int)engine->threads));
    }
    return WT_OK;
}

wt_status wt_engine_open(wt_engine *engine) {
    wt_context *context = engine->context;
    if (engine->workers == 0)
        engine->workers = (size_t)wt_context_threads(context);
    if (engine->workers > WT_MAX_THREADS)
        return wt_fail(context, WT_USAGE, "at most %d workers, not %zu", WT_MAX_THREADS,
                       engine->workers);
    if (engine->units > 0 && engine->workers > engine->units)
        engine->workers = engine->units;
    if (pthread_mutex_init(&engine->keeping, NULL) != 0)
        return wt_fail(context, WT_INTERNAL, "no lock for the workers");
    engine->open = true;
    engine->meter = wt_meter_start(context, engine->what, engine->total);
    wt_meter_set(&engine->meter, 0);
    context->progress_shown = 0; /* the first result is shown, too */
    return engine->apart ? open_contexts(engine) : WT_OK;
}

void wt_engine_close(wt_engine *engine) {
    for (size_t i = 0; engine->contexts != NULL && i < engine->workers; i++)
        wt_context_free(engine->contexts[i]);
    wt_release(engine->contexts);
    if (engine->open)
        pthread_mutex_destroy(&engine->keeping);
    *engine = (wt_engine){0};
}

typedef struct {
    wt_engine *engine;
    wt_unit_fn run;
    void *user;
} round;

static wt_status run_units(void *argument, size_t begin, size_t end, int worker) {
    const round *now = argument;
    wt_engine *engine = now->engine;
    wt_context *context = engine->apart ? engine->contexts[worker] : engine->context;
    wt_status status = WT_OK;
    for (size_t i = begin; status == WT_OK && i < end; i++)
        status = wt_context_stopping(engine->context)
                     ? wt_fail(engine->context, WT_INTERRUPTED, "%s",
                               wt_context_stop_name(engine->context))
                     : now->run(now->user, context, i);
    return status;
}

wt_status wt_engine_run(wt_engine *engine, size_t count, wt_unit_fn run, void *user) {
    wt_context *context = engine->context;
    round now = {engine, run, user};
    int threads = wt_context_threads(context);
    wt_status status;
    wt_meter_cover(&engine->meter);
    atomic_store(&context->patience, 1);
    if (engine->workers == 1 && !engine->apart) {
        status = run_units(&now, 0, count, 0);
    } else {
        context->threads = (int)engine->workers;
        status = wt_parallel_for(context, count, 1, run_units, &now);
        context->threads = threads;
    }
    atomic_store(&context->patience, 0);
    wt_meter_uncover(&engine->meter);
    return status;
}

wt_status wt_engine_keep(wt_engine *engine, wt_keep_fn keep, void *user, double things,
                         double cost) {
    wt_status status = WT_OK;
    pthread_mutex_lock(&engine->keeping);
    if (!engine->broken)
        status = keep(user);
    engine->broken |= status != WT_OK;
    if (!engine->broken) {
        engine->done += things;
        engine->paid += cost;
        engine->meter.share = engine->cost > 0 ? engine->paid / engine->cost : 0;
        wt_meter_set(&engine->meter, engine->done);
    }
    pthread_mutex_unlock(&engine->keeping);
    return status;
}

wt_status wt_engine_finish(wt_engine *engine, wt_status status, wt_keep_fn save, void *user) {
    wt_context *context = engine->context;
    char message[WT_MESSAGE_BYTES];
    memcpy(message, context->message, sizeof message);
    atomic_store(&context->patience, INT_MAX);
    wt_status saved = save(user);
    atomic_store(&context->patience, 0);
    if (saved != WT_OK && (status == WT_OK || status == WT_INTERRUPTED))
        return saved;
    memcpy(context->message, message, sizeof message);
    return status;
}
