/* Targets: functions of a query and a set of keys. A new one is a row in the table of target.c
 * and a function. */
#ifndef WT_FEATURES_TASK_TARGET_H
#define WT_FEATURES_TASK_TARGET_H

#include "base/context.h"
#include "wattle/sets.h"

#define WT_TARGET_PARAMETERS 3

/* One set as a target sees it. */
typedef struct wt_target_input {
    size_t keys, dim;
    const double *query; /* (d) */
    const double *key;   /* (N, d) */
    const double *beta;  /* (d) */
} wt_target_input;

typedef double (*wt_target_fn)(const wt_target_input *input, const double *parameters);

typedef struct wt_target {
    const char *family; /* "mean-power" */
    wt_target_fn value;
    size_t count;
    double parameters[WT_TARGET_PARAMETERS];
} wt_target;

/* "mix:0.5:2:3" into a target; WT_USAGE with the nearest name or what a parameter must be. */
wt_status wt_target_parse(wt_context *context, const char *text, wt_target *out);

/* The one spelling of a target ("mean-power:2", not "mean-power:2.0") into out[WT_TARGET_TEXT]. */
#define WT_TARGET_TEXT 128
void wt_target_spell(const wt_target *target, char *out);

#endif
