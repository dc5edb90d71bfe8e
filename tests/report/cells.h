/* Cells of curves, for the tests of what a report makes of them. */
#ifndef TESTS_REPORT_CELLS_H
#define TESTS_REPORT_CELLS_H

#include "lab/cells.h"

static inline void add_error(wt_context *context, const char *model, const char *target, int n,
                             int rep, double error, const char *message) {
    char parameters[256], metrics[64];
    snprintf(parameters, sizeof parameters,
             "{\"bias\":%d,\"model\":\"%s\",\"n\":%d,\"rep\":%d,\"target\":\"%s\"}",
             strcmp(model, "brfa") == 0 ? 4 : 0, model, n, rep, target);
    snprintf(metrics, sizeof metrics, "{\"test_error\":%.17g}", error);
    add_record(context, "curve", parameters, metrics, message);
}

/* Two models, two targets, three n, two repetitions: errors 0.9 and 1.1 times 8/n. */
static inline void add_curves(wt_context *context) {
    static const char *const models[] = {"rfa", "brfa"}, *const targets[] = {"mean-power:2",
                                                                             "corr-power:3"};
    for (size_t i = 0; i < 24; i++) {
        int n = 16 << i / 4 % 3;
        add_error(context, models[i % 2], targets[i / 2 % 2], n, (int)(i / 12),
                  (i < 12 ? 0.9 : 1.1) * 8 / n, "");
    }
}

#endif
