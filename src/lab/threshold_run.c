/* Rounds of trials: at every length the next block of its next m, all in one parallel loop. On a
 * device a length is a fleet, with a block of every m that is known to be wanted. */
#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "device/device.h"
#include "lab/engine.h"
#include "lab/threshold_parts.h"
#include "network/learn/fleet.h"
#include "wattle/random.h"

/* Sizes of a length a round, on a device. */
enum { SIZES_A_ROUND = 16 };
#define SAVE_EVERY 5.0  /* seconds */
#define SAVE_SHARE 0.05 /* of the time, at most, where the table is long */

typedef struct {
    wt_threshold_row row;
    bool finished;
} job;

typedef struct {
    wt_threshold *threshold;
    wt_engine engine;
    job *jobs;
    size_t count, taken;            /* of this round; jobs whose rows are in the table already */
    const wt_threshold_row **ahead; /* rows that are finished behind one that is not */
    size_t *fleets;                 /* (lengths + 1) first jobs of the lengths of this round */
    size_t fleet_count;
    double next_save; /* by wt_clock */
    char what[64];    /* is counted */
} rounds;

static uint64_t seed_of(const wt_threshold *threshold, const wt_threshold_row *row) {
    uint64_t seed = wt_seed_for(threshold->setting.seed, "length", row->length);
    return wt_seed_for(wt_seed_for(seed, "samples", row->samples), "trial", row->trial);
}

/* Moves what is finished to the table, in the order of the jobs. */
static wt_status collect(rounds *all, bool to_end) {
    for (; all->taken < all->count; all->taken++) {
        const job *next = &all->jobs[all->taken];
        if (!next->finished && !to_end)
            break;
        if (next->finished)
            WT_PASS(wt_threshold_add(all->engine.context, all->threshold, &next->row));
    }
    return WT_OK;
}

/* A trial that is finished. */
typedef struct {
    rounds *all;
    job *mine;
    wt_train_result result;
} outcome;

static wt_status keep(void *user) {
    outcome *found = user;
    rounds *all = found->all;
    double began = wt_clock();
    found->mine->row.result = found->result;
    found->mine->finished = true;
    if (all->threshold->path == NULL || began < all->next_save)
        return WT_OK;
    WT_PASS(collect(all, false));
    size_t ahead = 0;
    for (size_t i = all->taken; i < all->count; i++)
        if (all->jobs[i].finished)
            all->ahead[ahead++] = &all->jobs[i].row;
    WT_PASS(wt_threshold_write(all->engine.context, all->threshold, all->ahead, ahead,
                               all->threshold->path));
    double now = wt_clock();
    all->next_save = now + fmax(SAVE_EVERY, (now - began) / SAVE_SHARE);
    return WT_OK;
}

static wt_status run_job(void *user, wt_context *context, size_t unit) {
    rounds *all = user;
    outcome found = {.all = all, .mine = &all->jobs[unit], .result = WT_SIZED(wt_train_result)};
    const wt_threshold_row *row = &found.mine->row;
    wt_train_spec setting = all->threshold->train;
    setting.length = row->length;
    setting.samples = row->samples;
    wt_status status = wt_train_run(context, &setting, seed_of(all->threshold, row), &found.result);
    return status != WT_OK ? status
                           : wt_engine_keep(&all->engine, keep, &found, 1,
                                            (double)row->length * (double)row->samples);
}

/* ---- on a device ---- */

typedef struct {
    rounds *all;
    size_t first; /* job of the fleet */
} fleet;

static wt_status keep_trial(void *user, size_t trial, const wt_train_result *result,
                            wt_trainer *trainer) {
    const fleet *of = user;
    outcome found = {.all = of->all, .mine = &of->all->jobs[of->first + trial]};
    (void)trainer;
    if (result == NULL)
        return WT_DATA; /* its sentence is on the context */
    found.result = *result;
    return wt_engine_keep(&of->all->engine, keep, &found, 1,
                          (double)found.mine->row.length * (double)found.mine->row.samples);
}

/* All trials of a length. */
static wt_status run_fleet(void *user, wt_context *context, size_t unit) {
    rounds *all = user;
    const wt_fleet_engine *engine;
    fleet of = {.all = all, .first = all->fleets[unit]};
    wt_train_spec setting = all->threshold->train;
    wt_fleet_job crew = {.setting = &setting,
                         .count = all->fleets[unit + 1] - of.first,
                         .done = keep_trial,
                         .user = &of};
    wt_fleet_trial *trials = NULL;
    wt_status status;
    setting.length = all->jobs[of.first].row.length;
    WT_TRY(wt_fleet_engine_of(context, &engine));
    WT_TRY(WT_NEW(context, &trials, crew.count, "trials"));
    for (size_t i = 0; i < crew.count; i++) {
        const wt_threshold_row *row = &all->jobs[of.first + i].row;
        trials[i] = (wt_fleet_trial){.seed = seed_of(all->threshold, row), .samples = row->samples};
    }
    crew.trials = trials;
    status = wt_fleet_run(context, wt_context_get_device(context), engine, &crew);
done:
    wt_release(trials);
    return status;
}

/* Trials of an m in a round. */
static size_t most_of(const rounds *all) {
    const wt_threshold_spec *setting = &all->threshold->setting;
    size_t block = wt_threshold_block(all->threshold);
    return setting->all_trials || setting->trials < block ? setting->trials : block;
}

/* How many m of a length a round may have. */
static size_t sizes_of(const rounds *all) {
    return wt_context_get_device(all->engine.context) == NULL ? 1 : SIZES_A_ROUND;
}

/* A block of trials of an m. */
static void add_block(rounds *all, size_t length, size_t samples) {
    size_t added = 0, most = most_of(all);
    for (size_t trial = 0; trial < all->threshold->setting.trials && added < most; trial++)
        if (wt_threshold_find(all->threshold, length, samples, trial) == NULL) {
            all->jobs[all->count++] = (job){
                .row = {.length = length, .samples = samples, .trial = trial}, .finished = false};
            added++;
        }
}

/* The trials this length wants next, behind those of the others. */
static void add_jobs(rounds *all, size_t length) {
    size_t samples, critical;
    for (size_t skip = 0; skip < sizes_of(all); skip++) {
        samples = wt_threshold_next(all->threshold, length, skip, &critical);
        if (samples == 0)
            break;
        add_block(all, length, samples);
    }
}

static wt_status run_round(rounds *all) {
    const wt_threshold_spec *setting = &all->threshold->setting;
    wt_status status, collected;
    size_t decided = 0, before;
    all->count = all->taken = all->fleet_count = 0;
    all->engine.cost = all->engine.paid;
    for (size_t i = setting->length_count; i > 0;
         i--) { /* the longest, which take longest, first */
        before = all->count;
        add_jobs(all, setting->lengths[i - 1]);
        decided += all->count == before;
        if (all->count > before)
            all->fleets[all->fleet_count++] = before;
        all->engine.cost += wt_threshold_left(all->threshold, setting->lengths[i - 1]);
    }
    snprintf(all->what, sizeof all->what, "lengths %zu/%zu, trials", decided,
             setting->length_count);
    all->fleets[all->fleet_count] = all->count;
    status = wt_context_get_device(all->engine.context) == NULL
                 ? wt_engine_run(&all->engine, all->count, run_job, all)
                 : wt_engine_run(&all->engine, all->fleet_count, run_fleet, all);
    collected = collect(all, true);
    return status != WT_OK ? status : collected;
}

static wt_status save(void *user) {
    const rounds *all = user;
    const wt_threshold *threshold = all->threshold;
    return threshold->path == NULL || threshold->count == 0
               ? WT_OK
               : wt_threshold_write(all->engine.context, threshold, NULL, 0, threshold->path);
}

wt_status wt_threshold_run(wt_context *context, wt_threshold *threshold) {
    const wt_threshold_spec *setting = &threshold->setting;
    rounds all = {.threshold = threshold,
                  .what = "trials",
                  .engine = {.context = context, .what = all.what},
                  .next_save =
                      -INFINITY}; /* the first trial tells whether the file can be written */
    wt_status status;
    if (setting->as_made)
        return wt_fail(context, WT_USAGE, "the table is only read: as_made");
    if (wt_context_get_device(context) != NULL)
        all.engine.workers = 1; /* fleets take the whole of it */
    WT_TRY(wt_engine_open(&all.engine));
    WT_TRY(WT_NEW2(context, &all.jobs, setting->length_count * sizes_of(&all), most_of(&all),
                   "trials"));
    WT_TRY(WT_NEW2(context, &all.ahead, setting->length_count * sizes_of(&all), most_of(&all),
                   "trials"));
    WT_TRY(WT_NEW(context, &all.fleets, setting->length_count + 1, "fleets"));
    do {
        status = run_round(&all);
    } while (status == WT_OK && all.count > 0);
    status = wt_engine_finish(&all.engine, status, save, &all);
done:
    wt_engine_close(&all.engine);
    wt_release(all.jobs);
    wt_release(all.ahead);
    wt_release(all.fleets);
    return status;
}
