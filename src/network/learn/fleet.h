/* Trials of one shape, trained side by side on a device. */
#ifndef WT_NETWORK_LEARN_FLEET_H
#define WT_NETWORK_LEARN_FLEET_H

#include "device/fleet.h"
#include "wattle/train.h"

/* What trials of one setting differ in. */
typedef struct wt_fleet_trial {
    uint64_t seed;
    size_t samples; /* of the training set */
} wt_fleet_trial;

/* Told of every trial that has ended, in any order, on the calling thread. The result is NULL where
 * the trial failed, with a sentence on the context. The trainer is where the trial has led, and
 * NULL unless it was asked for, or where all training sets were ambiguous. */
typedef wt_status (*wt_fleet_done_fn)(void *user, size_t trial, const wt_train_result *result,
                                      wt_trainer *trainer);

typedef struct wt_fleet_job {
    const wt_train_spec *setting; /* of all trials but for seed and samples; of this size */
    const wt_fleet_trial *trials;
    size_t count;
    bool trainers; /* asked for */
    wt_fleet_done_fn done;
    void *user;
} wt_fleet_job;

/* That of the context's device, which is not the host; WT_UNAVAILABLE where it has none. */
wt_status wt_fleet_engine_of(wt_context *context, const wt_fleet_engine **out);
/* Whether fleets have this setting; else WT_USAGE with what they do not have. */
wt_status wt_fleet_check(wt_context *context, const wt_train_spec *setting);
/* Runs all trials, as many at a time as fit, each as wt_train_run would: what an engine computes
 * may differ from the host's in rounding, what is decided by it does not. When the context is
 * cancelled no further trial begins, and those in hand are brought to an end; when twice, they are
 * left. */
wt_status wt_fleet_run(wt_context *context, wt_device *device, const wt_fleet_engine *engine,
                       const wt_fleet_job *job);

/* The engine on the host: one network a thread, by the code of wt_trainer. */
extern const wt_fleet_engine wt_fleet_host;

#endif
