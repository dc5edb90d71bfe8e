/* Clocks, and telling the caller how far a long call has come. */
#ifndef WT_BASE_PROGRESS_H
#define WT_BASE_PROGRESS_H

#include "base/context.h"

/* Seconds on a clock that never goes back. */
double wt_clock(void);

typedef struct wt_meter {
    wt_context *context;
    wt_progress progress;
    double began;
} wt_meter;

wt_meter wt_meter_start(wt_context *context, const char *what, double total);
/* Shows the state when a tenth of a second has gone by since the last time, or at the end. */
void wt_meter_set(wt_meter *meter, double done);

#endif
