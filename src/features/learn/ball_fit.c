/* The fit on norm balls for a model and sets: features in memory when they fit, else made again
 * for every product. */
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/sized.h"
#include "device/device.h"
#include "features/learn/ball.h"
#include "features/learn/fit_check.h"
#include "features/learn/loss.h"
#include "features/model/fitted.h"

#define SLAB         1024              /* samples whose features are made at a time */
#define MOST_UNASKED ((size_t)4 << 30) /* bytes of features held when there is no budget */

/* Columns of a slab in the order (unit, component) that the solver's blocks have. */
static wt_status features_in_file_order(wt_context *context, const wt_features *features,
                                        const wt_sets *sets, double *out) {
    size_t f = wt_features_count(features), width = features->width, columns = 0;
    double *block = NULL;
    wt_status status;
    columns = wt_features_block_units(features) * width;
    WT_TRY(WT_NEW2(context, &block, sets->samples, columns, "a block of features"));
    for (size_t b = 0; b < wt_features_blocks(features); b++) {
        size_t first, count;
        wt_features_block_at(features, b, &first, &count);
        WT_TRY(wt_features_block(context, features, sets, first, count, block, columns));
        for (size_t i = 0; i < sets->samples; i++)
            for (size_t u = 0; u < count; u++)
                for (size_t j = 0; j < width; j++)
                    out[i * f + (first + u) * width + j] = block[i * columns + j * count + u];
    }
done:
    wt_release(block);
    return status;
}

/* Features made anew for every product. */
typedef struct {
    const wt_features *features;
    const wt_sets *sets;
} streamed;

static wt_status apply(const void *self, wt_context *context, const double *v, size_t q,
                       double *out) {
    const streamed *phi = self;
    double *blocked = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(context, &blocked, wt_features_count(phi->features), q, "value vectors"));
    wt_features_to_block_order(phi->features, v, q, blocked);
    WT_TRY(wt_features_apply(context, phi->features, phi->sets, q, blocked, out));
done:
    wt_release(blocked);
    return status;
}

static wt_status apply_transposed(const void *self, wt_context *context, const double *u, size_t q,
                                  double *out) {
    const streamed *phi = self;
    size_t numbers = wt_features_count(phi->features) * q;
    double *blocked = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &blocked, numbers, "value vectors"));
    WT_TRY(wt_features_project(context, phi->features, phi->sets, q, u, blocked, NULL));
    for (size_t i = 0; i < numbers; i++)
        blocked[i] *= wt_features_norm(phi->features);
    wt_features_to_file_order(phi->features, blocked, q, out);
done:
    wt_release(blocked);
    return status;
}

static wt_status gram(const void *self, wt_context *context, wt_trans trans, double *out) {
    const streamed *phi = self;
    size_t n = phi->sets->samples, f = wt_features_count(phi->features);
    double *slab = NULL;
    wt_status status;
    if (trans == WT_PLAIN) {
        wt_model model = {.spec = phi->features->spec, .features = *phi->features};
        WT_TRY(wt_model_gram(context, &model, phi->sets, out, n));
        for (size_t i = 0; i < n * n; i++)
            out[i] *= i % n <= i / n ? wt_features_norm(phi->features) : 1;
        goto done;
    }
    WT_TRY(WT_NEW2(context, &slab, SLAB, f, "a slab of features"));
    for (size_t begin = 0; begin < n; begin += SLAB) {
        wt_sets part = wt_sets_part(phi->sets, begin, n - begin < SLAB ? n : begin + SLAB);
        WT_TRY(features_in_file_order(context, phi->features, &part, slab));
        WT_TRY(
            wt_gram(context, WT_TRANSPOSED, part.samples, f, slab, f, begin == 0 ? 0 : 1, out, f));
    }
done:
    wt_release(slab);
    return status;
}

/* Whether the features may be held all at a time: half of the budget is for them. */
static bool features_fit(wt_context *context, size_t samples, size_t features) {
    size_t numbers, bytes, budget = wt_context_memory(context);
    return wt_multiply(samples, features, &numbers) &&
           wt_multiply(numbers, sizeof(double), &bytes) &&
           bytes <= (budget > 0 ? budget / 2 : MOST_UNASKED);
}

/* Solves with the operator that fits, into v in file order. */
static wt_status solve(wt_context *context, const wt_features *features, const wt_sets *train,
                       const wt_ball_options *options, double *v, wt_ball_report *result) {
    size_t n = train->samples, f = wt_features_count(features);
    double *phi = NULL;
    streamed remade = {.features = features, .sets = train};
    wt_dense_features held = {.rows = n, .columns = f};
    wt_operator product = {.rows = n,
                           .heads = features->units,
                           .width = features->width,
                           .apply = apply,
                           .apply_transposed = apply_transposed,
                           .gram = gram,
                           .self = &remade};
    wt_status status;
    if (features_fit(context, n, f)) {
        WT_TRY(WT_NEW2(context, &phi, n, f, "features"));
        WT_TRY(features_in_file_order(context, features, train, phi));
        held.phi = phi;
        product = wt_operator_of_dense(&held, features->units);
    }
    WT_TRY(wt_ball_solve(context, &product, train->y, train->outputs, options, v, result));
done:
    wt_release(phi);
    return status;
}

static wt_status mean_loss(wt_context *context, const wt_fitted *fitted, const wt_sets *sets,
                           const wt_ball_options *options, double *out) {
    double *predicted = NULL;
    size_t numbers = sets->samples * sets->outputs;
    wt_status status;
    WT_TRY(WT_NEW(context, &predicted, numbers, "predictions"));
    WT_TRY(wt_loss_check_labels(context, options->loss, sets->y, sets->samples, sets->outputs));
    WT_TRY(wt_fitted_predict(context, fitted, sets, predicted));
    *out = 0;
    for (size_t i = 0; i < numbers; i++)
        *out += wt_loss_value(options->loss, options->huber, sets->y[i], predicted[i]);
    *out /= (double)sets->samples;
done:
    wt_release(predicted);
    return status;
}

wt_status wt_ball_fit(wt_context *context, const wt_ball_options *options,
                      const wt_model_spec *spec, const wt_sets *train, const wt_sets *test,
                      wt_fitted **out, wt_ball_report *result) {
    wt_fitted *fitted = NULL;
    double *v = NULL;
    wt_model_spec model;
    wt_ball_options settings;
    wt_ball_report found = {.test_loss = NAN};
    wt_status status;
    *out = NULL;
    if (wt_context_get_device(context) != NULL)
        WT_TRY(wt_device_refuse(context, "norm balls"));
    WT_TRY(wt_sized_check(context, "wt_ball_report", result, sizeof *result));
    WT_INIT(wt_ball_options, &settings);
    WT_TRY(wt_sized_read(context, "wt_ball_options", options, &settings, sizeof settings));
    WT_TRY(wt_model_spec_read(context, spec, &model));
    if (wt_model_kind_infinite(model.kind)) {
        status = wt_fail(context, WT_USAGE,
                         "%s has no value vectors to bound: take a model with finitely many heads",
                         wt_model_kind_name(model.kind));
        goto done;
    }
    WT_TRY(wt_check_labelled(context, &model, "the training data", train, train->outputs));
    if (test != NULL)
        WT_TRY(wt_check_labelled(context, &model, "the test data", test, train->outputs));
    WT_TRY(WT_NEW_ZERO(context, &fitted, 1, "fitted model"));
    fitted->outputs = train->outputs;
    WT_TRY(wt_model_draw(context, &model, &fitted->model));
    WT_TRY(wt_fitted_standardize(context, NULL, false, fitted));
    size_t numbers = wt_features_count(&fitted->model.features) * train->outputs;
    WT_TRY(WT_NEW_ZERO(context, &v, numbers, "value vectors"));
    WT_TRY(WT_NEW(context, &fitted->v, numbers, "value vectors"));
    WT_TRY(solve(context, &fitted->model.features, train, &settings, v, &found));
    wt_features_to_block_order(&fitted->model.features, v, train->outputs, fitted->v);
    wt_context_grant_time(context);
    if (test != NULL)
        status = mean_loss(context, fitted, test, &settings, &found.test_loss);
    wt_context_revoke_time(context);
    WT_TRY(status);
    wt_sized_write(result, &found, sizeof found);
    *out = fitted;
    fitted = NULL;
done:
    wt_release(v);
    wt_fitted_free(fitted);
    return status;
}
