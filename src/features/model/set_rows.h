/* Models and samples as the engines of device/ridge.h take them. */
#ifndef WT_FEATURES_MODEL_SET_ROWS_H
#define WT_FEATURES_MODEL_SET_ROWS_H

#include "device/ridge.h"
#include "features/model/features.h"
#include "features/model/kernel_side.h"

/* Borrows spec and features. */
wt_ridge_model wt_ridge_model_of(const wt_model_spec *spec, const wt_features *features);

/* Samples in the form that a model needs them in: borrowed tokens, or a side for kernels. */
typedef struct wt_set_rows {
    wt_ridge_rows rows;
    wt_ridge_side view;
    wt_kernel_side side;
} wt_set_rows;
/* To be freed in any case; must not be copied, as rows.side points into it. */
wt_status wt_set_rows_open(wt_context *context, const wt_model_spec *spec, const wt_sets *sets,
                           wt_set_rows *out);
void wt_set_rows_free(wt_set_rows *rows);

#endif
