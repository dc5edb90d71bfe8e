/* Ranges and ticks of the axes of a panel. */
#ifndef WT_REPORT_AXIS_H
#define WT_REPORT_AXIS_H

#include "io/script.h"
#include "wattle/report.h"

enum { WT_AXIS_VALUES = 12 };

/* A range that grows to hold values; empty while low > high. */
typedef struct wt_extent {
    bool log;
    double low, high;
    size_t count; /* of the values below; more than there is room for: too many to be ticks */
    double values[WT_AXIS_VALUES]; /* different ones that the data have, rising */
    bool uneven;                   /* one of them is no power of two */
} wt_extent;

wt_extent wt_extent_empty(bool log);
/* Values the axis cannot show are passed over. */
void wt_extent_hold(wt_extent *extent, double value);
/* Remembers a value of the data, to be a tick while they are few. */
void wt_extent_note(wt_extent *extent, double value);
/* Room around the data by the given share of the axis on both sides; a single value gets a range
 * around it. */
void wt_extent_pad(wt_extent *extent, double share);
/* Whether the axis can show the value, in range or not. */
bool wt_extent_can_show(const wt_extent *extent, double value);

typedef struct wt_ticking {
    int most;       /* labels */
    double letters; /* that fit along the axis; for labels at the values of the data */
    bool labelled;  /* false: ticks alone */
    bool plain;     /* 1e-3 in place of 10^{-3} */
} wt_ticking;

/* Writes the range, scale and ticks of axis `letter` ('x' or 'y'). Ticks of x are at the values of
 * the data where these are few: sizes that were chosen are told as they are. */
void wt_axis_script(wt_script *script, char letter, const wt_extent *extent,
                    const wt_ticking *ticking);
/* Letters of the longest label that would be written. */
size_t wt_axis_letters(char letter, const wt_extent *extent, const wt_ticking *ticking);

#endif
