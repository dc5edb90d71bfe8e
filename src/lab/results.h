/* The cells of a store, for claims, tables and figures to choose from: as little of each
 * as those need. Cells that failed are counted. What cells share is kept once: a setting is all
 * parameters of a cell but its repetition, every name and value a number in a table of texts. */
#ifndef WT_LAB_RESULTS_H
#define WT_LAB_RESULTS_H

#include "base/memory.h"
#include "lab/flat.h"
#include "lab/shelf.h"
#include "lab/slots.h"
#include "wattle/results.h"

#define WT_NO_TEXT UINT32_MAX

/* JSON of a name or value, as the store has it. */
typedef struct wt_text {
    size_t at, length; /* in wt_results.letters */
    double number;     /* as wt_flat_number */
    wt_flat_kind kind;
} wt_text;

/* The names of a setting's parameters, which nearly all of an experiment share. */
typedef struct wt_shape {
    size_t first, count; /* texts in wt_results.names, which rise */
} wt_shape;

typedef struct wt_setting {
    uint32_t experiment; /* number in wt_results.tallies */
    uint32_t shape;      /* its parameters */
    size_t first;        /* of their values, texts in wt_results.values */
    size_t cells, lost;  /* done, failed */
} wt_setting;

typedef struct wt_metric {
    uint32_t name; /* its text */
    double value;  /* NaN = not computed */
} wt_metric;

typedef struct wt_result {
    int64_t seed, rep;
    uint32_t setting, metric_count;
    size_t first_metric;
} wt_result;

/* The least of many different things, in rising order, and whether there were more. */
enum { WT_LEAST = 12 };
typedef struct wt_least_numbers {
    int64_t numbers[WT_LEAST];
    size_t count;
    bool more;
} wt_least_numbers;
typedef struct wt_least_texts {
    char *texts[WT_LEAST];
    size_t count;
    bool more;
} wt_least_texts;

/* What there is of an experiment. */
typedef struct wt_tally {
    char *name;
    size_t done, failed;
    double wall_seconds;
    int64_t result_version; /* of its first cell, as the setting */
    uint32_t first_setting;
    bool repeats; /* cells have a repetition */
    wt_least_numbers seeds, reps;
    wt_least_texts versions, machines;
} wt_tally;

enum { WT_FAILURES_KEPT = 20 };
typedef struct wt_failure {
    char *hash, *experiment, *message;
} wt_failure;

typedef struct wt_facts {
    char **texts;
    size_t count, room;
} wt_facts;

struct wt_results {
    wt_shelf done, lost; /* wt_result: cells that are done, and that failed, without metrics; in the
                            order of their hashes */
    wt_shelf metrics;    /* wt_metric */
    char *folder;        /* for what is too large for memory; NULL = none is */
    size_t setting_count, setting_room;
    wt_setting *settings;
    size_t value_count, value_room;
    uint32_t *values;
    size_t shape_count, shape_room;
    wt_shape *shapes;
    size_t name_count, name_room;
    uint32_t *names;
    size_t text_count, text_room;
    wt_text *texts;
    size_t letter_count, letter_room;
    char *letters;
    size_t wanted_metric_count, wanted_metric_room;
    uint32_t *wanted_metrics; /* those that are kept; none = all */
    wt_slots by_text, by_setting, by_shape;
    size_t tally_count, tally_room;
    wt_tally *tallies;                     /* in the order they were met */
    wt_failure failures[WT_FAILURES_KEPT]; /* the first cells that failed */
    size_t disputed;                       /* cells with other numbers in another store */
    char *first_date, *last_date;          /* NULL without cells */
    wt_facts commands;                     /* the command lines that wrote to the store */
    wt_facts sweeps;                       /* what they ran: "experiment=curve n=16:512:x2 .." */
    wt_arena kept;                         /* texts of what stands above, from `tallies` on */
};

/* Before cells come: keeps metrics of this name. Without a call, all are kept. */
wt_status wt_results_want(wt_context *context, wt_results *results, const char *metric);
/* All of a store as it is at one moment, behind what is there. To be cleared in any case. */
wt_status wt_results_read_file(wt_context *context, const char *path, wt_results *out);
void wt_results_clear(wt_results *results);
/* Adds what is kept of the record. WT_DATA when its JSON is none. */
wt_status wt_results_add(wt_context *context, wt_results *results, const wt_record *record);

/* A copy of the text that lives as long as the results. */
wt_status wt_results_copy(wt_context *context, wt_results *results, const char *text, char **out);

/* results_tally.c: the number of a record's experiment; what its cell adds to the tally; a cell
 * that failed. */
wt_status wt_tally_keep(wt_context *context, wt_results *results, const wt_record *record,
                        uint32_t *out);
wt_status wt_tally_note(wt_context *context, wt_results *results, const wt_record *record,
                        uint32_t experiment, const wt_result *cell, bool repeats);
wt_status wt_tally_fail(wt_context *context, wt_results *results, const wt_record *record,
                        const wt_result *cell);

/* Numbers of a name and of an experiment; WT_NO_TEXT when no cell has them. */
uint32_t wt_results_name(const wt_results *results, const char *name);
uint32_t wt_results_experiment(const wt_results *results, const char *experiment);

/* Cells that are done, and behind them those that failed, which have no metrics. */
const wt_result *wt_results_cell(const wt_results *results, size_t index);
/* Who walks along them passes each, for memory's sake. */
void wt_results_pass(const wt_results *results, size_t index);
/* The setting with these parameters, {"dim":8, .., "rep":0}; UINT32_MAX = no cell has it. */
uint32_t wt_results_setting(const wt_results *results, const char *experiment,
                            const char *parameters);

/* The parameters of a setting: their names and values, as many as its shape has. */
const uint32_t *wt_setting_names(const wt_results *results, uint32_t setting, size_t *count);
const uint32_t *wt_setting_values(const wt_results *results, uint32_t setting);
/* The text of a parameter's value; WT_NO_TEXT when there is none. */
uint32_t wt_setting_value(const wt_results *results, uint32_t setting, uint32_t name);

/* A metric, else a parameter of that name, as a number: true is 1; NaN when there is none or it is
 * no number. "seed" is the cell's. */
double wt_result_number(const wt_results *results, const wt_result *cell, const char *name);
/* A metric alone. */
double wt_result_metric(const wt_results *results, const wt_result *cell, uint32_t name,
                        double otherwise);

/* A value as words, numbers as they are printed shortest, into out[size]; "" for WT_NO_TEXT.
 * Returns out. */
#define WT_VALUE_TEXT 64
const char *wt_text_words(const wt_results *results, uint32_t text, char *out, size_t size);

/* Whether the parameters fit all of the words: "model=rfa target=mean-power:*", where a star at
 * the end stands for anything, `a|b` for either, != for all others and >= for numbers from one on.
 * NULL fits all. */
bool wt_setting_fits(const wt_results *results, uint32_t setting, const char *where);
/* Cells done of an experiment that fit one or the other; `or_else` NULL = the first alone. */
size_t wt_results_fitting(const wt_results *results, const char *experiment, const char *where,
                          const char *or_else);

#endif
