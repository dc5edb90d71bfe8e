#define _POSIX_C_SOURCE 200809L
#include "base/context.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define SHOW_EVERY 0.1 /* seconds */

double wt_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void wt_context_set_progress(wt_context *context, wt_progress_fn show, void *user) {
    context->progress = show;
    context->progress_user = user;
}

wt_meter wt_meter_start(wt_context *context, const char *what, double total) {
    return (wt_meter){.context = context, .what = what, .total = total, .began = wt_clock()};
}

void wt_meter_set(wt_meter *meter, double done) {
    wt_context *context = meter->context;
    if (context->progress == NULL)
        return;
    double now = wt_clock();
    bool last = meter->total > 0 && done >= meter->total;
    if (!last && now - context->progress_shown < SHOW_EVERY)
        return;
    context->progress_shown = now;
    context->progress(context->progress_user, &(wt_progress){.what = meter->what,
                                                             .done = done,
                                                             .total = meter->total,
                                                             .seconds = now - meter->began,
                                                             .share = meter->share});
}

/* "45s", "3m20s", "2h05m". */
static void format_duration(double seconds, char *out, size_t bytes) {
    long whole = seconds < 1e9 ? (long)(seconds + 0.5) : 1000000000L;
    if (whole < 60)
        snprintf(out, bytes, "%lds", whole);
    else if (whole < 3600)
        snprintf(out, bytes, "%ldm%02lds", whole / 60, whole % 60);
    else
        snprintf(out, bytes, "%ldh%02ldm", whole / 3600, whole / 60 % 60);
}

const char *wt_progress_format(const wt_progress *progress, char *buffer, size_t bytes) {
    double rate = progress->seconds > 0 ? progress->done / progress->seconds : 0;
    double share = progress->share;
    char left[32] = "";
    if (share == 0 && progress->total > 0)
        share = progress->done / progress->total;
    if (share > 0 && progress->seconds > 0)
        format_duration(progress->seconds * fmax(0, 1 / share - 1), left, sizeof left);
    if (progress->total > 0)
        snprintf(buffer, bytes, "%s %.0f/%.0f  %.3g/s  ETA %s", progress->what, progress->done,
                 progress->total, rate, left[0] != '\0' ? left : "?");
    else
        snprintf(buffer, bytes, "%s %.0f  %.3g/s%s%s", progress->what, progress->done, rate,
                 left[0] != '\0' ? "  ETA " : "", left);
    return buffer;
}
