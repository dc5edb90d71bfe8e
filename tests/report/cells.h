/* Cells of curves, for the tests of what a report makes of them. */
#ifndef TESTS_REPORT_CELLS_H
#define TESTS_REPORT_CELLS_H

#include "check.h"
#include "lab/results.h"

static wt_results results;
static size_t serial;

static inline int cells_close(void **state) {
    wt_results_free(&results);
    return check_close(state);
}

static inline int start_fresh(void **state) {
    (void)state;
    wt_results_free(&results);
    return 0;
}

static inline void add(wt_context *context, const char *model, const char *target, int n, int rep,
                       double error, const char *message) {
    char hash[WT_HASH_TEXT], parameters[256], metrics[64];
    snprintf(hash, sizeof hash, "%064zx", serial++);
    snprintf(parameters, sizeof parameters,
             "{\"bias\":%d,\"model\":\"%s\",\"n\":%d,\"rep\":%d,\"target\":\"%s\"}",
             strcmp(model, "brfa") == 0 ? 4 : 0, model, n, rep, target);
    snprintf(metrics, sizeof metrics, "{\"test_error\":%.17g}", error);
    wt_record record = {.hash = hash,
                        .experiment = "curve",
                        .parameters = parameters,
                        .seed = 9,
                        .result_version = 1,
                        .failed = message[0] != '\0',
                        .message = message,
                        .metrics = metrics,
                        .version = "0.1.0",
                        .machine = "here & <there>",
                        .finished_date = "2026-01-31T12:00:00Z"};
    CHECK_OK(context, wt_results_add(context, &results, &record));
}

/* Two models, two targets, three n, two repetitions: errors 0.9 and 1.1 times 8/n. */
static inline void add_curves(wt_context *context) {
    static const char *const models[] = {"rfa", "brfa"}, *const targets[] = {"mean-power:2",
                                                                             "corr-power:3"};
    for (size_t i = 0; i < 24; i++) {
        int n = 16 << i / 4 % 3;
        add(context, models[i % 2], targets[i / 2 % 2], n, (int)(i / 12),
            (i < 12 ? 0.9 : 1.1) * 8 / n, "");
    }
}

#endif
