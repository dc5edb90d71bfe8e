#include "features/model/fitted.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

void wt_fitted_free(wt_fitted *fitted) {
    if (fitted == NULL)
        return;
    wt_model_free(&fitted->model);
    wt_release(fitted->v);
    wt_sets_close(&fitted->train);
    wt_release(fitted->alpha);
    wt_release(fitted->shift);
    wt_release(fitted->scale);
    wt_release(fitted);
}

size_t wt_fitted_outputs(const wt_fitted *fitted) {
    return fitted->outputs;
}

const wt_model_spec *wt_fitted_get_spec(const wt_fitted *fitted) {
    return &fitted->model.spec;
}

/* Mean of column o of y (rows, q) and its variance, in two passes. Both are taken from the first
 * label on: a constant has a variance of 0 then, not one of rounding. */
static void moments(const double *y, size_t rows, size_t q, size_t o, double *mean,
                    double *variance) {
    double first = y[o], rest = 0;
    *variance = 0;
    for (size_t i = 0; i < rows; i++)
        rest += (y[i * q + o] - first) / (double)rows;
    for (size_t i = 0; i < rows; i++)
        *variance += pow(y[i * q + o] - first - rest, 2) / (double)rows;
    *mean = first + rest;
}

double wt_variance(const double *y, size_t rows, size_t columns, size_t stride) {
    double sum = 0, mean, variance;
    for (size_t c = 0; c < columns; c++) {
        moments(y, rows, stride, c, &mean, &variance);
        sum += variance;
    }
    return sum / (double)columns;
}

double wt_over_variance(double mean_square, double variance) {
    return variance > 0 ? mean_square / variance : NAN;
}

wt_status wt_fitted_standardize(wt_context *context, const wt_sets *sets, bool standardize,
                                wt_fitted *fitted) {
    size_t q = fitted->outputs;
    WT_PASS(WT_NEW(context, &fitted->shift, q, "label scale"));
    WT_PASS(WT_NEW(context, &fitted->scale, q, "label scale"));
    for (size_t o = 0; o < q; o++) {
        fitted->shift[o] = 0;
        fitted->scale[o] = 1;
        double variance;
        if (!standardize)
            continue;
        moments(sets->y, sets->samples, q, o, &fitted->shift[o], &variance);
        fitted->scale[o] = variance > 0 ? sqrt(variance) : 1;
    }
    return WT_OK;
}

void wt_fitted_scale_labels(const wt_fitted *fitted, const wt_sets *sets, double *out) {
    size_t q = fitted->outputs;
    for (size_t i = 0; i < sets->samples; i++)
        for (size_t o = 0; o < q; o++)
            out[i * q + o] = (sets->y[i * q + o] - fitted->shift[o]) / fitted->scale[o];
}

wt_status wt_fitted_predict(wt_context *context, const wt_fitted *fitted, const wt_sets *sets,
                            double *out) {
    size_t q = fitted->outputs;
    WT_PASS(wt_sets_check(context, sets, "the data"));
    WT_PASS(wt_model_check_sets(context, &fitted->model.spec, "the data", sets));
    WT_PASS(wt_model_predict(context, &fitted->model, &fitted->train, q,
                             fitted->v != NULL ? fitted->v : fitted->alpha, sets, out));
    for (size_t i = 0; i < sets->samples; i++)
        for (size_t o = 0; o < q; o++)
            out[i * q + o] = fitted->shift[o] + fitted->scale[o] * out[i * q + o];
    return WT_OK;
}

wt_status wt_fitted_score(wt_context *context, const wt_fitted *fitted, const wt_sets *sets,
                          double *mean_square, double *error) {
    size_t q = fitted->outputs;
    double square = 0, scaled = 0;
    if (sets->outputs != q)
        return wt_fail(context, WT_DATA, "the data has %zu labels a sample, the model %zu",
                       sets->outputs, q);
    wt_arena arena = wt_arena_start(context, "predictions");
    double *predicted = WT_TAKE(&arena, double, sets->samples, q);
    double *wanted = WT_TAKE(&arena, double, sets->samples, q);
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(wt_fitted_predict(context, fitted, sets, predicted));
    wt_fitted_scale_labels(fitted, sets, wanted);
    for (size_t i = 0; i < sets->samples * q; i++) {
        double difference = predicted[i] - sets->y[i];
        square += pow(difference, 2);
        scaled += pow(difference / fitted->scale[i % q], 2);
    }
    double numbers = (double)(sets->samples * q);
    *mean_square = square / numbers;
    *error = wt_over_variance(scaled / numbers, wt_variance(wanted, sets->samples, q, q));
done:
    wt_arena_free(&arena);
    return status;
}
