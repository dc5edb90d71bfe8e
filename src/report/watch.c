/* The page of a store that others write to, written anew as it grows. */
#define _GNU_SOURCE
#include <math.h>
#include <poll.h>
#include <sys/stat.h>

#include "base/sized.h"
#include "base/text.h"
#include "report/page.h"

enum { LOOK_MS = 100, EVERY = 5 /* seconds, at least */ };
#define SHARE 3 /* pages that take long come so much more seldom than they take */

/* A state of the file: a writer's commit changes it. An empty one is about to become a store. */
typedef struct {
    bool there;
    struct timespec changed;
    off_t bytes;
    ino_t file;
} look;

static look look_at(const char *path) {
    struct stat about;
    if (stat(path, &about) != 0 || about.st_size == 0)
        return (look){0};
    return (look){true, about.st_mtim, about.st_size, about.st_ino};
}

static bool same(const look *a, const look *b) {
    return a->there == b->there && a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec && a->bytes == b->bytes && a->file == b->file;
}

/* Until the store is another than it was and the time has come, or the context is cancelled. */
static void wait_for_change(wt_context *context, const char *store, const look *was, double until) {
    while (!wt_context_cancelled(context)) {
        look now = look_at(store);
        if (now.there && !same(&now, was) && wt_clock() >= until)
            return;
        poll(NULL, 0, LOOK_MS);
    }
}

static wt_status write_page(wt_context *context, const char *store, const char *output,
                            const wt_report_options *options) {
    wt_report_summary summary = WT_SIZED(wt_report_summary);
    char shown[WT_QUOTED_BYTES];
    WT_PASS(wt_report_make(context, store, output, options, EVERY, NULL, &summary));
    wt_remark(context, "%s: %zu cells, %zu figure%s", wt_quote(output, shown, sizeof shown),
              summary.cells, summary.figures, summary.figures == 1 ? "" : "s");
    return WT_OK;
}

wt_status wt_report_watch(wt_context *context, const char *store, const char *output,
                          const wt_report_options *options, wt_findings **findings,
                          wt_report_summary *out) {
    wt_status status = wt_sized_check(context, "wt_report_summary", out, sizeof *out);
    char shown[WT_QUOTED_BYTES];
    look was = {0};
    double until = 0;
    if (findings != NULL)
        *findings = NULL;
    if (status == WT_OK && !look_at(store).there)
        wt_remark(context, "%s is not there yet; waiting for it",
                  wt_quote(store, shown, sizeof shown));
    while (status == WT_OK) {
        wait_for_change(context, store, &was, until);
        if (wt_context_cancelled(context))
            break;
        double began = wt_clock();
        was = look_at(store);
        status = write_page(context, store, output, options);
        until = wt_clock() + fmax(EVERY, SHARE * (wt_clock() - began));
    }
    if (status != WT_OK && status != WT_INTERRUPTED)
        return status;
    wt_context_resume(context); /* told to stop: a last page, which does not read itself anew */
    return wt_report_make(context, store, output, options, 0, findings, out);
}
