/* Rounds of trials: at every length the next block of its next m, all in one parallel loop. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "lab/threshold.h"
#include "wattle/random.h"

enum { BLOCK = 8 };     /* trials of an m a round, where it may be decided before the last */
#define SAVE_EVERY 5.0  /* seconds */
#define SAVE_SHARE 0.05 /* of the time, at most, where the table is long */

typedef struct {
    wt_threshold_row row;
    atomic_bool finished;
} job;

typedef struct {
    wt_context *context;
    wt_threshold *threshold;
    job *jobs;
    size_t count, taken; /* of this round; jobs whose rows are in the table already */
    atomic_size_t done;  /* of all rounds */
    wt_meter meter;
    double next_save; /* by wt_clock */
} rounds;

static uint64_t seed_of(const wt_threshold *threshold, const wt_threshold_row *row) {
    uint64_t seed = wt_seed_for(threshold->setting.seed, "length", row->length);
    return wt_seed_for(wt_seed_for(seed, "samples", row->samples), "trial", row->trial);
}

/* Moves what is finished to the table, in the order of the jobs. */
static wt_status collect(rounds *all, bool to_end) {
    wt_status status = WT_OK;
    for (; all->taken < all->count; all->taken++) {
        job *next = &all->jobs[all->taken];
        if (!atomic_load(&next->finished)) {
            if (!to_end)
                break;
            continue;
        }
        WT_TRY(wt_threshold_add(all->context, all->threshold, &next->row));
    }
done:
    return status;
}

/* On the calling thread alone, between two of its trials. */
static wt_status look_up(rounds *all) {
    wt_meter_set(&all->meter, (double)atomic_load(&all->done));
    if (all->threshold->path == NULL || wt_clock() < all->next_save)
        return WT_OK;
    wt_status status;
    double began = wt_clock();
    WT_TRY(collect(all, false));
    WT_TRY(wt_threshold_write(all->context, all->threshold, all->threshold->path));
    double now = wt_clock();
    all->next_save = now + fmax(SAVE_EVERY, (now - began) / SAVE_SHARE);
done:
    return status;
}

static wt_status run_jobs(void *argument, size_t begin, size_t end, int worker) {
    rounds *all = argument;
    wt_status status = WT_OK;
    for (size_t i = begin; i < end; i++) {
        job *mine = &all->jobs[i];
        wt_train_setting setting = all->threshold->setting.train;
        setting.task.length = mine->row.length;
        setting.samples = mine->row.samples;
        WT_TRY(wt_train_trial(all->context, &setting, seed_of(all->threshold, &mine->row),
                              &mine->row.result));
        atomic_store(&mine->finished, true);
        atomic_fetch_add(&all->done, 1);
        if (worker == 0)
            WT_TRY(look_up(all));
    }
done:
    return status;
}

/* The trials this length wants next, behind those of the others. */
static void add_jobs(rounds *all, size_t length) {
    const wt_threshold_setting *setting = &all->threshold->setting;
    size_t critical, added = 0, most = setting->all_trials ? setting->trials : BLOCK;
    size_t samples = wt_threshold_next(all->threshold, length, &critical);
    for (size_t trial = 0; samples > 0 && trial < setting->trials && added < most; trial++)
        if (wt_threshold_find(all->threshold, length, samples, trial) == NULL) {
            job *next = &all->jobs[all->count++];
            next->row = (wt_threshold_row){.length = length, .samples = samples, .trial = trial};
            atomic_init(&next->finished, false);
            added++;
        }
}

static wt_status run_round(rounds *all) {
    const wt_threshold_setting *setting = &all->threshold->setting;
    wt_status status, collected;
    all->count = all->taken = 0;
    for (size_t i = setting->length_count; i > 0; i--) /* the longest, which take longest, first */
        add_jobs(all, setting->lengths[i - 1]);
    status = wt_parallel_for(all->context, all->count, 1, run_jobs, all);
    collected = collect(all, true);
    return status != WT_OK ? status : collected;
}

/* Whatever ended the search, the finished trials are kept; the first failure is the one told. */
static wt_status save(rounds *all, wt_status status) {
    char message[WT_MESSAGE_BYTES];
    if (all->threshold->path == NULL || all->threshold->count == 0)
        return status;
    memcpy(message, all->context->message, sizeof message);
    int cancels = atomic_exchange(&all->context->cancels, 0);
    wt_status saved = wt_threshold_write(all->context, all->threshold, all->threshold->path);
    atomic_fetch_add(&all->context->cancels, cancels);
    return status == WT_OK ? saved : wt_fail(all->context, status, "%s", message);
}

wt_status wt_threshold_run(wt_context *context, wt_threshold *threshold) {
    size_t room = threshold->setting.length_count, trials = threshold->setting.trials;
    rounds all = {.context = context,
                  .threshold = threshold,
                  .meter = wt_meter_start(context, "trials", 0),
                  .next_save =
                      -INFINITY}; /* the first trial tells whether the file can be written */
    wt_status status;
    if (!wt_multiply(room, trials, &room)) {
        status = wt_fail(context, WT_MEMORY, "%zu trials at %zu lengths are too many", trials,
                         threshold->setting.length_count);
        goto done;
    }
    atomic_init(&all.done, 0);
    WT_TRY(WT_NEW(context, &all.jobs, room, "trials"));
    do {
        status = run_round(&all);
    } while (status == WT_OK && all.count > 0);
    status = save(&all, status);
done:
    wt_release(all.jobs);
    return status;
}
