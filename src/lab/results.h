/* The cells of a store in memory, for claims, tables and figures to choose from. */
#ifndef WT_LAB_RESULTS_H
#define WT_LAB_RESULTS_H

#include <jansson.h>

#include "base/context.h"
#include "wattle/lab.h"

typedef struct wt_result {
    char *hash, *experiment, *message, *version, *machine, *finished;
    json_t *parameters, *metrics;
    int64_t seed, result_version;
    bool failed;
    double wall_seconds;
} wt_result;

typedef struct wt_results {
    size_t count, room;
    wt_result *cells; /* in the order of their hashes */
    size_t command_count, command_room;
    char **commands; /* the command lines that wrote to the store */
    size_t sweep_count, sweep_room;
    char **sweeps; /* what they ran: "experiment=curve n=16:512:x2 .." */
} wt_results;

/* All of a store. To be freed in any case. */
wt_status wt_results_load(wt_context *context, const char *path, wt_results *out);
void wt_results_free(wt_results *results);
/* Adds a copy of the record. WT_DATA when its JSON is none. */
wt_status wt_results_add(wt_context *context, wt_results *results, const wt_record *record);

/* A metric, else a parameter of that name, as a number: true is 1; NaN when there is none or it is
 * no number. "seed" is the cell's. */
double wt_result_number(const wt_result *result, const char *name);

/* A parameter as words, numbers as they are printed shortest, into out[size]; "" when there is
 * none. Returns out. */
#define WT_VALUE_TEXT 64
const char *wt_result_words(const json_t *parameters, const char *name, char *out, size_t size);

/* Whether the parameters fit all of the words: "model=rfa target=mean-power:*", where a star at
 * the end stands for anything, `a|b` for either, != for all others and >= for numbers from one on.
 * NULL fits all. */
bool wt_result_fits(const wt_result *result, const char *where);

#endif
