/* A machine that engines run on, and what a plugin that offers one and the library tell each other.
 * Plain C that C++ can read: plugins are built apart, and call back through `services` alone. */
#ifndef WT_DEVICE_DEVICE_H
#define WT_DEVICE_DEVICE_H

#include "wattle/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Counted up with every change of this folder's headers. */
#define WT_DEVICE_VERSION 4

struct wt_ridge_engine;   /* device/ridge.h: fits and learning curves */
struct wt_ridge_maker;    /* device/ridge.h: what the host makes for an engine */
struct wt_fleet_engine;   /* device/fleet.h: thousands of networks in step */
struct wt_recover_engine; /* device/recover.h: layers from examples */
typedef struct wt_device wt_device;

/* What the library does for a plugin. */
typedef struct wt_device_services {
    /* Records the sentence and returns the status. */
    wt_status (*fail)(wt_context *context, wt_status status, const char *sentence);
    /* WT_INTERRUPTED with a sentence once the context is cancelled. */
    wt_status (*check_cancelled)(wt_context *context);
    /* Puts bytes of device memory on the account before they are taken: WT_MEMORY with the bytes
     * when they exceed the budget, or what the device has. */
    wt_status (*hold)(wt_context *context, wt_device *device, size_t bytes, const char *what);
    void (*release)(wt_device *device, size_t bytes);
    /* The sentence of the last failure. */
    const char *(*message)(const wt_context *context);
    /* Leaves the context no more threads than these. */
    void (*lower_threads)(wt_context *context, int most);
    /* For engines that run on processors. */
    const struct wt_ridge_maker *maker;
    /* Adds to the work that the context counts. */
    void (*work)(wt_context *context, double flops);
} wt_device_services;

/* What was done since the device was opened: the most of any of its ranks. */
typedef struct wt_device_counts {
    double flops;    /* of matrix products, factors and triangular solves */
    double bytes;    /* sent from rank to rank */
    double messages; /* that carried them */
} wt_device_counts;

/* Engines that a device lacks are NULL: work that needs one is refused. */
struct wt_device {
    char name[16];    /* "cuda:0" */
    char product[64]; /* "NVIDIA H200" */
    size_t memory;    /* bytes */
    const wt_device_services *services;
    const struct wt_ridge_engine *ridge;
    const struct wt_fleet_engine *fleet;
    const struct wt_recover_engine *recover;
    size_t ranks; /* processes that work together; 0 = this one alone */
    /* NULL where nothing is counted. */
    wt_status (*count)(wt_context *context, wt_device *device, wt_device_counts *out);
    void *state; /* the plugin's own */
};

/* What a plugin exports, under WT_DEVICE_SYMBOL. */
typedef struct wt_device_plugin {
    unsigned version; /* WT_DEVICE_VERSION; stays the first member */
    /* Opens device `index` for the rest of the process: product, memory, engines and state of *out,
     * whose name and services are there. WT_UNAVAILABLE with a sentence where it cannot be used.
     * One thread at a time. */
    wt_status (*open)(wt_context *context, int index, wt_device *out);
} wt_device_plugin;
#define WT_DEVICE_SYMBOL "wattle_device_plugin"

/* The device of the context; NULL = the host. Engines may be called from several threads at once,
 * each with a context of its own. */
wt_device *wt_context_get_device(const wt_context *context);

/* WT_UNAVAILABLE: the device of the context has no engine for what is asked ("norm balls"). */
wt_status wt_device_refuse(wt_context *context, const char *what);

/* Where plugins are looked for first; NULL = beside the library. For tests. */
void wt_device_look_in(const char *folder);

#ifdef __cplusplus
}
#endif
#endif
