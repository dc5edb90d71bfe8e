/* The inside of a search for critical m. */
#ifndef WT_LAB_THRESHOLD_PARTS_H
#define WT_LAB_THRESHOLD_PARTS_H

#include "base/memory.h"
#include "io/beside.h"
#include "io/script.h"
#include "lab/slots.h"
#include "lab/statistics_threshold.h"
#include "wattle/threshold.h"

typedef struct wt_threshold_row {
    size_t length, samples, trial;
    wt_train_result result;
} wt_threshold_row;

/* What the trials at an m came to, of those that the setting counts. */
typedef struct wt_threshold_tally {
    size_t successes, trials;
    size_t found, found_successes; /* trials from number 0 on without a gap */
} wt_threshold_tally;

enum { WT_THRESHOLD_DEVICE = 64 };

struct wt_threshold {
    wt_arena arena;            /* of lengths, texts and tallies */
    wt_threshold_spec setting; /* its lengths and texts are copies, its trial is the next */
    wt_train_spec train;
    char device[WT_THRESHOLD_DEVICE]; /* "host", or what a device is, without spaces */
    uint64_t key;                     /* of what a trial depends on, beside T, m and its number */
    wt_threshold_tally *tallies;      /* (lengths, grid) */
    wt_threshold_row *rows;
    size_t count, room;
    wt_slots by_row;  /* to find them */
    const char *path; /* NULL = none */
    wt_lock *hold;    /* on the path: rows of another run would be lost */
};

/* Names what a trial depends on, beside T, m and its number. */
uint64_t wt_threshold_key(const wt_threshold *threshold);

/* The same in words: "task=and:3 probability=0 .. seed=0 device=host". */
void wt_threshold_words(const wt_threshold *threshold, wt_script *out);

#define WT_THRESHOLD_DIFFERENCE 320
/* What two settings in words differ in: "steps: 500 there, 1000 here; seed: ..", cut where it does
 * not fit; "" where they are the same. */
void wt_threshold_difference(const char *there, const char *here,
                             char out[WT_THRESHOLD_DIFFERENCE]);

/* Takes the device of these words, where they name one, for the search's. */
void wt_threshold_take_device(wt_threshold *threshold, const char *words);

/* Trials of an m that are begun together, where it may be decided before the last. */
size_t wt_threshold_block(const wt_threshold *threshold);

/* The result of one trial into the table. */
wt_status wt_threshold_add(wt_context *context, wt_threshold *threshold,
                           const wt_threshold_row *row);
const wt_threshold_row *wt_threshold_find(const wt_threshold *threshold, size_t length,
                                          size_t samples, size_t trial);
/* Successes and trials at an m; none outside the grid. */
wt_threshold_tally wt_threshold_count(const wt_threshold *threshold, size_t length, size_t samples);

/* The smallest m of the grid above `after` that has trials; 0 = none. */
size_t wt_threshold_tried(const wt_threshold *threshold, size_t length, size_t after);

/* The next m to run at a length, or 0 when all is known; *critical is the critical m of those tried
 * so far, 0 = none. Around the threshold several are wanted whatever comes of the others: `skip` of
 * them are passed over. */
size_t wt_threshold_next(const wt_threshold *threshold, size_t length, size_t skip,
                         size_t *critical);

/* What the trials at a length that may still be run would take, about, in units of T m: one trial
 * is T m of them. */
double wt_threshold_left(const wt_threshold *threshold, size_t length);

/* The file. A row of another key, or one that makes no sense, is WT_DATA; no file is no rows. */
wt_status wt_threshold_read(wt_context *context, wt_threshold *threshold, const char *path);
/* `ahead`: rows that are not in the table yet, NULL = none. */
wt_status wt_threshold_write(wt_context *context, const wt_threshold *threshold,
                             const wt_threshold_row *const *ahead, size_t ahead_count,
                             const char *path);

#endif
