/* A small search, and a file of its own. */
#ifndef TESTS_LAB_THRESHOLD_CASES_H
#define TESTS_LAB_THRESHOLD_CASES_H

#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "lab/threshold_parts.h"

static const size_t lengths[] = {6, 10};
static char path[64];

static inline int open_path(void **state) {
    snprintf(path, sizeof path, "/tmp/wattle-threshold-XXXXXX");
    int file = mkstemp(path);
    return file < 0 || close(file) != 0 || unlink(path) != 0 ? -1 : check_open(state);
}

static inline int close_path(void **state) {
    unlink(path);
    return check_close(state);
}

static wt_train_spec train; /* of a tiny search; tiny() sets it anew */

static inline wt_threshold_spec tiny(void) {
    wt_threshold_spec setting = {.size = sizeof setting,
                                 .train = &train,
                                 .lengths = lengths,
                                 .length_count = 2,
                                 .low = 4,
                                 .high = 40,
                                 .resolution = 4,
                                 .trials = 5,
                                 .rate = 0.8,
                                 .around = 1,
                                 .seed = 3};
    WT_INIT(wt_train_spec, &train);
    train.task = "and:2";
    train.model = "mlp";
    train.dim = 8;
    train.heads = 0;
    train.hidden = 12;
    train.rate = 1e-2;
    train.steps = 60;
    train.validation_samples = 200;
    train.success = 0.9;
    train.restarts = 2;
    return setting;
}

#endif
