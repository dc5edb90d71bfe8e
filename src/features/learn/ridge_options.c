#include <float.h>
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "base/text.h"
#include "features/learn/dual.h"

static const char *const rules[] = {
    [WT_LAMBDA_FIXED] = "fixed",       [WT_LAMBDA_LOO] = "loo",       [WT_LAMBDA_GCV] = "gcv",
    [WT_LAMBDA_MIN_NORM] = "min-norm", [WT_LAMBDA_ORACLE] = "oracle",
};
enum { RULES = sizeof rules / sizeof *rules };

const char *wt_lambda_name(wt_lambda rule) {
    return (size_t)rule < RULES ? rules[rule] : "?";
}

void wt_ridge_path(const wt_ridge_options *ridge, const double **path, size_t *count) {
    static const double powers[] = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10};
    *path = ridge->path != NULL ? ridge->path : powers;
    *count = ridge->path != NULL ? ridge->path_count : sizeof powers / sizeof *powers;
}

double wt_ridge_least(const wt_system *system, size_t order) {
    return DBL_EPSILON * wt_shifted_trace(&system->k, order) / WT_WIDEN_GAIN;
}

double wt_centre_moved(double y, size_t n) {
    return n > 1 ? y / (double)(n - 1) : 0;
}

static wt_status check(wt_context *context, const wt_ridge_options *ridge, bool has_test) {
    wt_status status = wt_check_choice(context, "rule for lambda", (int)ridge->rule, RULES);
    if (status == WT_OK)
        status = wt_check_choice(context, "solver", (int)ridge->solver, WT_SOLVER_PRIMAL + 1);
    if (status != WT_OK)
        return status;
    if (ridge->rule == WT_LAMBDA_FIXED && !(ridge->lambda >= 0 && isfinite(ridge->lambda)))
        return wt_fail(context, WT_USAGE, "lambda must be 0 or more, not %g", ridge->lambda);
    if (ridge->rule == WT_LAMBDA_ORACLE && !has_test)
        return wt_fail(context, WT_USAGE, "the oracle rule needs test data");
    const double *path;
    size_t count;
    wt_ridge_path(ridge, &path, &count);
    if (count == 0)
        return wt_fail(context, WT_USAGE, "the path of lambdas is empty");
    for (size_t i = 0; i < count; i++)
        if (!(path[i] > 0 && isfinite(path[i])) || (i > 0 && path[i] <= path[i - 1]))
            return wt_fail(context, WT_USAGE,
                           "the path of lambdas must increase and stay above 0; number %zu is %g",
                           i, path[i]);
    return WT_OK;
}

void wt_ridge_options_init(wt_ridge_options *ridge, size_t size) {
    wt_ridge_options all = {.rule = WT_LAMBDA_FIXED, .lambda = 1e-3};
    ridge->size = size;
    wt_sized_write(ridge, &all, sizeof all);
}

wt_status wt_ridge_options_set_lambda(wt_context *context, wt_ridge_options *ridge,
                                      const char *text) {
    WT_PASS(wt_sized_check(context, "wt_ridge_options", ridge, sizeof *ridge));
    for (size_t i = WT_LAMBDA_FIXED + 1; i < RULES; i++)
        if (strcmp(text, rules[i]) == 0) {
            ridge->rule = (wt_lambda)i;
            return WT_OK;
        }
    ridge->rule = WT_LAMBDA_FIXED;
    if (!wt_real_parse(text, &ridge->lambda))
        return wt_fail(
            context, WT_USAGE,
            "lambda '%s' is neither a number that fits a double nor loo, gcv, min-norm or oracle",
            text);
    wt_ridge_options all;
    return wt_ridge_read(context, ridge, true, &all);
}

wt_status wt_ridge_read(wt_context *context, const wt_ridge_options *given, bool has_test,
                        wt_ridge_options *out) {
    WT_INIT(wt_ridge_options, out);
    WT_PASS(wt_sized_read(context, "wt_ridge_options", given, out, sizeof *out));
    return check(context, out, has_test);
}
