#include "features/model/set_rows.h"

#include "device/device.h"
#include "features/model/kernel.h"

wt_ridge_model wt_ridge_model_of(const wt_model_spec *spec, const wt_features *features) {
    if (wt_model_kind_infinite(spec->kind))
        return (wt_ridge_model){.spec = spec, .norm = 1};
    return (wt_ridge_model){.spec = spec,
                            .units = features->units,
                            .width = features->width,
                            .inputs = features->inputs,
                            .block = wt_features_block_units(features),
                            .norm = wt_features_norm(features),
                            .weights = features->weights};
}

wt_status wt_set_rows_open(wt_context *context, const wt_model_spec *spec, const wt_sets *sets,
                           wt_set_rows *out) {
    *out = (wt_set_rows){.rows = {.samples = sets->samples,
                                  .keys = sets->keys,
                                  .dim = sets->dim,
                                  .query = sets->query,
                                  .key = sets->key,
                                  .mask = sets->mask}};
    if (!wt_model_kind_infinite(spec->kind))
        return wt_model_check_sets(context, spec, "the data", sets);
    if (wt_context_get_device(context) == NULL)
        return WT_OK; /* kernels of the host are made of tokens */
    WT_PASS(wt_kernel_check(context, spec, sets, sets));
    WT_PASS(wt_kernel_side_open(context, spec, sets, &out->side));
    out->view = (wt_ridge_side){.query_width = out->side.query_width,
                                .key_width = out->side.key_width,
                                .query = out->side.query,
                                .query_length = out->side.query_length,
                                .start = out->side.start,
                                .key = out->side.key,
                                .weight = out->side.weight,
                                .mean = out->side.mean};
    out->rows.side = &out->view;
    return WT_OK;
}

void wt_set_rows_free(wt_set_rows *rows) {
    wt_kernel_side_free(&rows->side);
    *rows = (wt_set_rows){0};
}
