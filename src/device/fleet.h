/* The fleet engine: thousands of networks of one shape, trained in step on one device.
 *
 * A network lives in a slot of the fleet, which holds its parameters, Adam's moments and what it
 * learns. Which networks take a step together is the caller's choice at every call, and does not
 * change the bits of any of them. Choosing starts, judging success, restarts and stopping are host
 * code over the engine (network/learn/fleet.h).
 *
 * Dropout masks and samples are drawn on the device, from the integer words that the host draws. */
#ifndef WT_DEVICE_FLEET_H
#define WT_DEVICE_FLEET_H

#include "device/device.h"
#include "wattle/network.h"
#include "wattle/random.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WT_FLEET_COUNTED 128 /* samples that a judgement counts together */

typedef struct wt_fleet wt_fleet; /* the engine's own */

/* What all networks of a fleet have in common. Borrowed for the call. */
typedef struct wt_fleet_form {
    const wt_network_spec *spec;      /* with all defaults filled in */
    const wt_network_tensor *tensors; /* (tensor_count), one after the other */
    size_t tensor_count, size;        /* numbers of all of them */
    double rate, weight_decay, clip;  /* of Adam's method, as in wt_train_spec */
    bool decoupled;
    bool online;     /* every step draws its samples */
    size_t samples;  /* of a step, at most */
    size_t networks; /* slots that are wanted */
} wt_fleet_form;

/* What one network learns. Borrowed for the call. */
typedef struct wt_fleet_task {
    size_t samples;             /* of every step */
    const uint8_t *bit, *label; /* (samples, T), (samples): its training set; NULL online */
    wt_stream inputs, flips;    /* online: of bits, and of the noise of labels */
    wt_stream judged;           /* of the bits of fresh samples */
    uint64_t threshold;         /* a bit is 1 where its half of a word is below */
    double noise;               /* probability that a label is flipped, online */
    size_t bits;                /* s */
    const size_t *relevant;     /* (s) positions, the first is most significant */
    const uint8_t *value;       /* (2^s) labels */
} wt_fleet_task;

/* One network of a call. */
typedef struct wt_fleet_order {
    size_t slot;
    size_t step;          /* step: updates of this run so far */
    uint64_t first;       /* judge, and step online: number of the first sample in its stream */
    const uint64_t *keys; /* step: (steps) of the dropout of every step */
} wt_fleet_order;

/* What a step measured on its samples, before it moved the parameters. */
typedef struct wt_fleet_outcome {
    double loss;      /* mean; NaN where the gradient was not finite, and the step was not taken */
    uint32_t correct; /* samples */
} wt_fleet_outcome;

typedef struct wt_fleet_engine {
    /* Slots for as many networks as are wanted, or as fit: *networks. WT_MEMORY with the bytes
     * where not one does, WT_USAGE with a sentence for a shape that the engine has no code for. */
    wt_status (*begin)(wt_context *context, wt_device *device, const wt_fleet_form *form,
                       size_t *networks, wt_fleet **out);
    void (*end)(wt_fleet *fleet); /* accepts NULL */
    /* What the network of a slot learns from now on. */
    wt_status (*draw)(wt_context *context, wt_fleet *fleet, size_t slot, const wt_fleet_task *task);
    /* Parameters and moments (size each); moments that are NULL are 0, or not asked for. */
    wt_status (*put)(wt_context *context, wt_fleet *fleet, size_t slot, const float *parameters,
                     const float *first, const float *second);
    wt_status (*get)(wt_context *context, wt_fleet *fleet, size_t slot, float *parameters,
                     float *first, float *second);
    /* So many steps of each of the networks; out (count, steps). */
    wt_status (*step)(wt_context *context, wt_fleet *fleet, size_t count,
                      const wt_fleet_order *orders, size_t steps, wt_fleet_outcome *out);
    /* How many of `samples` fresh samples each network labels as the task does, without dropout and
     * noise: out (count, samples / WT_FLEET_COUNTED rounded up), the last of fewer samples. */
    wt_status (*judge)(wt_context *context, wt_fleet *fleet, size_t count,
                       const wt_fleet_order *orders, size_t samples, uint32_t *out);
} wt_fleet_engine;

#ifdef __cplusplus
}
#endif
#endif
