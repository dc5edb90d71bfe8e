/* A fit and what it predicts, for the tests of fits. */
#ifndef TESTS_FEATURES_FIT_CASES_H
#define TESTS_FEATURES_FIT_CASES_H

#include "features/plain_ridge.h"
#include "features/task/sets.h"
#include "wattle/fit.h"

enum { TEST = 15 }; /* samples predicted */

typedef struct {
    wt_fit_report report;
    double predicted[TEST * 2];
} outcome;

static inline outcome fit_and_predict(wt_context *context, const wt_model_spec *spec,
                                      const wt_sets *train, const wt_sets *test,
                                      const wt_ridge_options *ridge) {
    outcome out = {.report.size = sizeof out.report};
    wt_fitted *fitted;
    CHECK_OK(context, wt_ridge_fit(context, ridge, spec, train, test, &fitted, &out.report));
    CHECK_OK(context, wt_fitted_predict(context, fitted, test, out.predicted));
    wt_fitted_free(fitted);
    return out;
}

#endif
