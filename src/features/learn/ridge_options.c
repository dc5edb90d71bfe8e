#include <float.h>
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "features/learn/dual.h"

static const char *const rules[] = {
    [WT_LAMBDA_FIXED] = "fixed",       [WT_LAMBDA_LOO] = "loo",       [WT_LAMBDA_GCV] = "gcv",
    [WT_LAMBDA_MIN_NORM] = "min-norm", [WT_LAMBDA_ORACLE] = "oracle",
};
enum { RULES = sizeof rules / sizeof *rules };

const char *wt_lambda_rule_name(wt_lambda_rule rule) {
    return (size_t)rule < RULES ? rules[rule] : "?";
}

wt_status wt_lambda_parse(wt_context *context, const char *text, wt_ridge *out) {
    for (size_t i = WT_LAMBDA_FIXED + 1; i < RULES; i++)
        if (strcmp(text, rules[i]) == 0) {
            out->rule = (wt_lambda_rule)i;
            return WT_OK;
        }
    out->rule = WT_LAMBDA_FIXED;
    if (!wt_parse_real(text, &out->lambda))
        return wt_fail(
            context, WT_USAGE,
            "lambda '%s' is neither a number that fits a double nor loo, gcv, min-norm or oracle",
            text);
    return wt_ridge_check(context, out, true);
}

void wt_ridge_path(const wt_ridge *ridge, const double **path, size_t *count) {
    static const double powers[] = {1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10};
    *path = ridge->path != NULL ? ridge->path : powers;
    *count = ridge->path != NULL ? ridge->path_count : sizeof powers / sizeof *powers;
}

double wt_ridge_least(const wt_system *system, size_t order) {
    return DBL_EPSILON * wt_system_trace(system, order) / WT_WIDEN_GAIN;
}

double wt_centre_moved(double y, size_t n) {
    return n > 1 ? y / (double)(n - 1) : 0;
}

wt_status wt_ridge_check(wt_context *context, const wt_ridge *ridge, bool has_test) {
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
