#include <float.h>
#include <math.h>
#include <string.h>

#include "base/sized.h"
#include "base/text.h"
#include "features/learn/dual.h"
#include "features/learn/ridge_fields.h"

static const char *const rules[] = {
    [WT_LAMBDA_FIXED] = "fixed",       [WT_LAMBDA_LOO] = "loo",       [WT_LAMBDA_GCV] = "gcv",
    [WT_LAMBDA_MIN_NORM] = "min-norm", [WT_LAMBDA_ORACLE] = "oracle",
};
enum { RULES = sizeof rules / sizeof *rules };

static const char *const solvers[] = {
    [WT_SOLVER_AUTO] = "auto", [WT_SOLVER_DUAL] = "dual", [WT_SOLVER_PRIMAL] = "primal", NULL};

#define AT(member) offsetof(wt_ridge_spec, member)
static const wt_field fields[] = {
    WT_LAMBDA_FIELDS(AT),
    {"standardize", WT_FIELD_KIND_FLAG, "no", .offset = AT(standardize),
     .help = "Fit labels of mean 0 and deviation 1; predictions come in the units of the data."},
    {"solver", WT_FIELD_KIND_WORD, "auto", .offset = AT(solver), .words = solvers,
     .value = "auto|dual|primal",
     .help = "Through the kernel matrix (n x n) or the normal matrix (features x features); auto "
             "takes the smaller one."},
};
enum { FIELDS = sizeof fields / sizeof *fields };

const wt_field *wt_ridge_fields(size_t *count) {
    *count = FIELDS;
    return fields;
}

const char *wt_lambda_name(wt_lambda rule) {
    return (size_t)rule < RULES ? rules[rule] : "?";
}

void wt_ridge_path(const wt_ridge_options *ridge, const double **path, size_t *count) {
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

void wt_ridge_spec_init(wt_ridge_spec *spec, size_t size) {
    wt_ridge_spec all = {0};
    wt_fields_init(fields, FIELDS, &all);
    spec->size = size;
    wt_sized_write(spec, &all, sizeof all);
}

wt_status wt_ridge_spec_read(wt_context *context, const wt_ridge_spec *given, wt_ridge_options *out,
                             wt_grid *path) {
    wt_ridge_spec spec;
    wt_ridge_options read;
    *path = (wt_grid){0};
    WT_INIT(wt_ridge_spec, &spec);
    WT_PASS(wt_sized_read(context, "wt_ridge_spec", given, &spec, sizeof spec));
    WT_PASS(wt_fields_check(context, fields, FIELDS, &spec));
    if (spec.path != NULL)
        WT_PASS(wt_grid_parse(context, spec.path, path));
    WT_INIT(wt_ridge_options, out);
    out->lambda = spec.lambda.number;
    for (size_t i = WT_LAMBDA_FIXED + 1; spec.lambda.text != NULL && i < RULES; i++)
        if (strcmp(spec.lambda.text, rules[i]) == 0)
            out->rule = (wt_lambda)i;
    out->path = path->values;
    out->path_count = path->count;
    out->standardize = spec.standardize;
    out->solver = spec.solver;
    return wt_ridge_read(context, out, true, &read);
}

wt_status wt_ridge_read(wt_context *context, const wt_ridge_options *given, bool has_test,
                        wt_ridge_options *out) {
    WT_INIT(wt_ridge_options, out);
    WT_PASS(wt_sized_read(context, "wt_ridge_options", given, out, sizeof *out));
    return check(context, out, has_test);
}
