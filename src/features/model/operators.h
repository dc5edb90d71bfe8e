/* What solvers ask of a model: its Gram matrix and products with its feature matrix, all made from
 * blocks of features that are thrown away at once. Phi is n x f, f = units * width in block order;
 * the kernel is K = Phi Phi^T / units, which tends to the infinite-head kernel. */
#ifndef WT_FEATURES_MODEL_OPERATORS_H
#define WT_FEATURES_MODEL_OPERATORS_H

#include "features/model/features.h"

/* A model as solvers see it: random features, or a kernel without any. */
typedef struct wt_model {
    wt_model_spec spec;
    wt_features features; /* weights NULL for the infinite kinds */
} wt_model;

wt_status wt_model_draw(wt_context *context, const wt_model_spec *spec, wt_model *out);
void wt_model_free(wt_model *model);

/* Lower triangle of K (n x n), in double. */
wt_status wt_model_gram(wt_context *context, const wt_model *model, const wt_sets *sets, double *k,
                        size_t stride);
/* Room for features that several of the calls below share: fresh memory costs more than the
 * features that go into it. */
typedef struct wt_feature_room {
    double *block; /* some blocks in double, or twice as many in float */
    double *kept;  /* all features in double, block after block, each (n, its columns); NULL where
                      they do not fit, and are made again */
    bool filled;   /* `kept` holds the features */
} wt_feature_room;
/* Features are kept where they fit half of what the memory budget leaves, or 2 GiB without one. */
wt_status wt_feature_room_open(wt_context *context, const wt_features *features, size_t samples,
                               wt_feature_room *out);
void wt_feature_room_free(wt_feature_room *room);

/* The lower triangle of K in float throughout: twice as fast, off by about 1e-6 of the diagonal.
 * Random features only. Fills what the room keeps. */
wt_status wt_features_gram_float(wt_context *context, const wt_features *features,
                                 const wt_sets *sets, wt_feature_room *room, float *k,
                                 size_t stride);

/* V (f, columns) = Phi^T A / units and, where F is not NULL, F (n, columns) = Phi V: one walk over
 * the features. This and the next two run where the context says (wattle/device.h). */
wt_status wt_features_project(wt_context *context, const wt_features *features, const wt_sets *sets,
                              size_t columns, const double *a, double *v, double *f);
/* F (n, columns) = Phi V. */
wt_status wt_features_apply(wt_context *context, const wt_features *features, const wt_sets *sets,
                            size_t columns, const double *v, double *f);

/* Predictions F (samples, columns): Phi V from value vectors (f, columns) for random features,
 * K(sets, train) A from dual weights (n, columns) for kernels. */
wt_status wt_model_predict(wt_context *context, const wt_model *model, const wt_sets *train,
                           size_t columns, const double *weights, const wt_sets *sets, double *f);

/* On the host, whatever the context says. `room` may be NULL, and so may `orders` (columns): else
 * column c of A and F has orders[c] rows, ascending, and what is below them is neither read nor
 * written but for zeros in F. */
wt_status wt_features_project_host(wt_context *context, const wt_features *features,
                                   const wt_sets *sets, wt_feature_room *room, size_t columns,
                                   const size_t *orders, const double *a, double *v, double *f);
wt_status wt_model_predict_host(wt_context *context, const wt_model *model, const wt_sets *train,
                                size_t columns, const double *weights, const wt_sets *sets,
                                double *f);

#endif
