#define _POSIX_C_SOURCE 200809L
#include "base/context.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define SHOW_EVERY 0.1 /* seconds */
#define COUNT_TEXT 64

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

void wt_meter_cover(const wt_meter *meter) {
    if (meter->context->whole == NULL)
        meter->context->whole = meter;
}

void wt_meter_uncover(const wt_meter *meter) {
    if (meter->context != NULL && meter->context->whole == meter)
        meter->context->whole = NULL;
}

/* "12/80", or "12" where the total is not known. */
static const char *spell_count(double done, double total, char out[COUNT_TEXT]) {
    if (total > 0)
        snprintf(out, COUNT_TEXT, "%.0f/%.0f", done, total);
    else
        snprintf(out, COUNT_TEXT, "%.0f", done);
    return out;
}

/* Parts of a larger job show where that is; those that run beside others are silent. */
static void show(const wt_meter *meter, const char *detail, double now) {
    wt_context *context = meter->context;
    const wt_meter *whole = context->whole == NULL ? meter : context->whole;
    char part[160];
    if (whole != meter) {
        char count[COUNT_TEXT];
        snprintf(part, sizeof part, "%s %s%s%s", meter->what,
                 spell_count(meter->done, meter->total, count), detail == NULL ? "" : ", ",
                 detail == NULL ? "" : detail);
        detail = part;
    }
    context->progress_shown = now;
    context->progress(context->progress_user, &(wt_progress){.what = whole->what,
                                                             .done = whole->done,
                                                             .total = whole->total,
                                                             .seconds = now - whole->began,
                                                             .share = whole->share,
                                                             .detail = detail});
}

/* Whether there is something to be shown, and somebody who looks. */
static bool is_due(wt_meter *meter, double done, double now) {
    const wt_context *context = meter->context;
    bool part = context->whole != NULL && context->whole != meter;
    meter->done = done;
    if (context->progress == NULL || (part && wt_chunk_message != NULL))
        return false;
    return (!part && meter->total > 0 && done >= meter->total) ||
           now - context->progress_shown >= SHOW_EVERY;
}

void wt_meter_set(wt_meter *meter, double done) {
    double now = wt_clock();
    if (is_due(meter, done, now))
        show(meter, meter->phase, now);
}

void wt_meter_enter(wt_meter *meter, const char *phase) {
    wt_context *context = meter->context;
    meter->phase = phase;
    if (context->whole == NULL || context->whole == meter)
        context->progress_shown = -INFINITY;
    wt_meter_set(meter, meter->done);
}

void wt_meter_tell(wt_meter *meter, double done, const char *format, ...) {
    double now = wt_clock();
    char detail[160] = "";
    size_t used = 0;
    va_list values;
    if (!is_due(meter, done, now))
        return;
    if (meter->phase != NULL)
        used = (size_t)snprintf(detail, sizeof detail / 2, "%s, ", meter->phase);
    used = used < sizeof detail / 2 ? used : sizeof detail / 2 - 1;
    va_start(values, format);
    vsnprintf(detail + used, sizeof detail - used, format, values);
    va_end(values);
    show(meter, detail, now);
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
    char count[COUNT_TEXT], pace[32];
    snprintf(pace, sizeof pace, "%.3g/s", rate);
    if (left[0] == '\0' && progress->total > 0)
        snprintf(left, sizeof left, "?");
    snprintf(buffer, bytes, "%s %s  %s%s%s", progress->what,
             spell_count(progress->done, progress->total, count),
             progress->detail == NULL ? pace : progress->detail, left[0] != '\0' ? "  ETA " : "",
             left);
    return buffer;
}
