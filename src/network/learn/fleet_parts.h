/* The inside of a fleet: members take steps together and are judged together. */
#ifndef WT_NETWORK_LEARN_FLEET_PARTS_H
#define WT_NETWORK_LEARN_FLEET_PARTS_H

#include "network/learn/fleet.h"
#include "network/learn/trainer.h"

enum {
    WT_FLEET_BITE = 64,   /* steps of a call, at most */
    WT_FLEET_STARTS = 32, /* drawn side by side */
    WT_FLEET_SLOTS = 256, /* trials in hand: enough to fill a device, and few to bring to an end */
};

/* The trial in a slot. */
typedef struct wt_fleet_member {
    wt_train_spec setting;
    wt_train_state state;
    wt_sparse_task *task;
    wt_bits *set; /* until the engine has it */
    size_t trial;
    bool live;
    bool missed; /* all of its training sets were ambiguous */
    bool broken; /* the gradient of its next step is not finite */
    double seconds;
    wt_train_validation at;
    size_t piece, max_errors; /* of the validation: what is to be judged next */
} wt_fleet_member;

/* A fleet and who is in it. */
typedef struct wt_fleet_crew {
    wt_context *context;
    wt_device *device;
    const wt_fleet_engine *engine;
    wt_fleet *fleet;
    wt_network *network;      /* for shapes and starts */
    wt_arena arena;           /* of the arrays */
    wt_fleet_member *members; /* (slots) */
    size_t slots;
    size_t *list; /* (slots) members of a call */
    wt_fleet_order *orders;
    uint64_t *keys; /* (slots, WT_FLEET_BITE) */
    wt_fleet_outcome *outcomes;
    uint32_t *counts; /* of a judgement, (slots, windows of the whole validation) */
    float *starts;    /* (WT_FLEET_STARTS, size) */
} wt_fleet_crew;

/* Slots for at most `wanted` networks of the setting, with up to so many samples a step. To be
 * closed in any case, also the members; device and engine are set. */
wt_status wt_fleet_open(wt_context *context, wt_fleet_crew *crew, const wt_train_spec *setting,
                        size_t samples, size_t wanted);
void wt_fleet_close(wt_fleet_crew *crew);
void wt_fleet_member_clear(wt_fleet_member *member);

/* Tells the engine of the task and the training set of a slot; no task: it is not to judge. */
wt_status wt_fleet_give(const wt_fleet_crew *crew, size_t slot, const wt_train_spec *setting,
                        const wt_sparse_task *task, const wt_bits *set);
/* The networks of these slots at the start of their runs. */
wt_status wt_fleet_put_starts(const wt_fleet_crew *crew, const size_t *slots, size_t count);
/* The members that are live into crew->list. */
size_t wt_fleet_list(const wt_fleet_crew *crew);
/* The members of the list take as many steps as all may before one of them is to be judged, and at
 * most so many; returns these in *taken. */
wt_status wt_fleet_steps(const wt_fleet_crew *crew, size_t count, size_t most, size_t *taken);
/* Judges those that are due: they begin anew, or have ended, or go on. */
wt_status wt_fleet_validate(const wt_fleet_crew *crew);

#endif
