#include "features/model/operators.h"

#include <string.h>

#include "base/memory.h"
#include "device/device.h"
#include "features/model/kernel.h"
#include "features/model/set_rows.h"
#include "linalg/backend.h"
#include "linalg/thin.h"

wt_status wt_model_draw(wt_context *context, const wt_model_spec *spec, wt_model *out) {
    *out = (wt_model){.spec = *spec};
    if (wt_model_kind_infinite(spec->kind))
        return wt_model_check(context, spec);
    return wt_features_draw(context, spec, &out->features);
}

void wt_model_free(wt_model *model) {
    if (model == NULL)
        return;
    wt_features_free(&model->features);
    *model = (wt_model){0};
}

/* Divides the lower triangle by the number of units. */
static void normalise(const wt_features *features, size_t n, double *k, size_t stride) {
    double scale = 1 / wt_features_norm(features);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            k[i * stride + j] *= scale;
}

static wt_status features_gram(wt_context *context, const wt_features *features,
                               const wt_sets *sets, double *k, size_t stride) {
    double *block = NULL;
    wt_status status;
    size_t n = sets->samples, columns = wt_features_block_columns(features);
    wt_meter meter = wt_meter_start(context, "heads", (double)features->units);
    WT_TRY(WT_NEW2(context, &block, n, columns, "a block of features"));
    for (size_t b = 0; b < wt_features_blocks(features); b++) {
        size_t first, count;
        wt_features_block_at(features, b, &first, &count);
        WT_TRY(wt_features_block(context, features, sets, first, count, block, columns));
        WT_TRY(wt_gram(context, WT_PLAIN, n, count * features->width, block, columns,
                       b == 0 ? 0 : 1, k, stride));
        wt_meter_set(&meter, (double)(first + count));
    }
    normalise(features, n, k, stride);
done:
    wt_release(block);
    return status;
}

/* Blocks of features that enter a float Gram matrix side by side: every entry of K is read and
 * written once for all of them. */
#define FLOAT_BLOCKS 8
#define MOST_KEPT    ((size_t)2 << 30) /* bytes of features when there is no budget */

static bool worth_keeping(wt_context *context, size_t samples, size_t features) {
    size_t bytes, budget = wt_context_memory(context), used = wt_context_memory_used(context);
    size_t room = budget == 0 ? MOST_KEPT : budget > used ? (budget - used) / 2 : 0;
    return wt_multiply(samples, features, &bytes) && wt_multiply(bytes, sizeof(double), &bytes) &&
           bytes <= room;
}

wt_status wt_feature_room_open(wt_context *context, const wt_features *features, size_t samples,
                               wt_feature_room *out) {
    size_t all = wt_features_count(features);
    *out = (wt_feature_room){0};
    WT_PASS(WT_NEW3(context, &out->block, samples, wt_features_block_columns(features),
                    FLOAT_BLOCKS / 2, "blocks of features"));
    /* Keeping them only saves time: without the memory the work goes on. */
    if (worth_keeping(context, samples, all))
        (void)WT_NEW2(context, &out->kept, samples, all, "features");
    return WT_OK;
}

void wt_feature_room_free(wt_feature_room *room) {
    wt_release(room->block);
    wt_release(room->kept);
    *room = (wt_feature_room){0};
}

wt_status wt_features_gram_float(wt_context *context, const wt_features *features,
                                 const wt_sets *sets, wt_feature_room *room, float *k,
                                 size_t stride) {
    float *slab = (float *)room->block;
    size_t n = sets->samples, columns = FLOAT_BLOCKS * wt_features_block_columns(features);
    size_t blocks = wt_features_blocks(features);
    for (size_t b = 0; b < blocks; b += FLOAT_BLOCKS) {
        size_t filled = 0;
        for (size_t i = b; i < b + FLOAT_BLOCKS && i < blocks; i++) {
            size_t first, count;
            wt_features_block_at(features, i, &first, &count);
            double *kept = room->kept == NULL ? NULL : room->kept + n * first * features->width;
            WT_PASS(wt_features_block_float(context, features, sets, first, count, slab + filled,
                                            columns, kept));
            filled += count * features->width;
        }
        WT_PASS(wt_gram_single(context, n, filled, 1 / (float)wt_features_norm(features), slab,
                               columns, b == 0 ? 0 : 1, k, stride));
    }
    room->filled = room->kept != NULL;
    return WT_OK;
}

wt_status wt_model_gram(wt_context *context, const wt_model *model, const wt_sets *sets, double *k,
                        size_t stride) {
    if (wt_model_kind_infinite(model->spec.kind))
        return wt_kernel_gram(context, &model->spec, sets, k, stride);
    return features_gram(context, &model->features, sets, k, stride);
}

wt_status wt_features_project_host(wt_context *context, const wt_features *features,
                                   const wt_sets *sets, wt_feature_room *room, size_t columns,
                                   const size_t *orders, const double *a, double *v, double *f) {
    double *own = NULL, scale = 1 / wt_features_norm(features);
    size_t n = sets->samples;
    wt_status status = WT_OK;
    if (room == NULL)
        WT_TRY(
            WT_NEW2(context, &own, n, wt_features_block_columns(features), "a block of features"));
    if (f != NULL)
        memset(f, 0, n * columns * sizeof *f);
    for (size_t b = 0; b < wt_features_blocks(features); b++) {
        size_t first, count;
        wt_features_block_at(features, b, &first, &count);
        size_t width = count * features->width;
        double *block = own;
        bool kept = room != NULL && room->filled;
        if (room != NULL)
            block = kept ? room->kept + n * first * features->width : room->block;
        if (!kept)
            WT_TRY(wt_features_block(context, features, sets, first, count, block, width));
        WT_TRY(wt_thin_project(context, n, width, columns, scale, block, width, orders, a,
                               v + first * features->width * columns, f));
    }
done:
    wt_release(own);
    return status;
}

static wt_status features_apply(wt_context *context, const wt_features *features,
                                const wt_sets *sets, size_t columns, const double *v, double *f) {
    double *block = NULL;
    wt_status status;
    size_t n = sets->samples, stride = wt_features_block_columns(features);
    WT_TRY(WT_NEW2(context, &block, n, stride, "a block of features"));
    for (size_t b = 0; b < wt_features_blocks(features); b++) {
        size_t first, count;
        wt_features_block_at(features, b, &first, &count);
        WT_TRY(wt_features_block(context, features, sets, first, count, block, stride));
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, n, columns, count * features->width, 1, block,
                       stride, v + first * features->width * columns, columns, b == 0 ? 0 : 1, f,
                       columns));
    }
done:
    wt_release(block);
    return status;
}

#define KERNEL_ROWS 512 /* samples predicted at a time from a kernel */

static wt_status kernel_apply(wt_context *context, const wt_model_spec *spec, const wt_sets *train,
                              size_t columns, const double *alpha, const wt_sets *sets,
                              double *out) {
    size_t n = train->samples;
    size_t most = sets->samples < KERNEL_ROWS ? sets->samples : KERNEL_ROWS;
    double *k = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(context, &k, most, n, "kernel rows"));
    for (size_t begin = 0; begin < sets->samples; begin += most) {
        size_t rows = sets->samples - begin < most ? sets->samples - begin : most;
        wt_sets part = wt_sets_part(sets, begin, begin + rows);
        WT_TRY(wt_kernel_matrix(context, spec, &part, train, k, n));
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, rows, columns, n, 1, k, n, alpha, columns, 0,
                       out + begin * columns, columns));
    }
done:
    wt_release(k);
    return status;
}

wt_status wt_model_predict_host(wt_context *context, const wt_model *model, const wt_sets *train,
                                size_t columns, const double *weights, const wt_sets *sets,
                                double *f) {
    if (wt_model_kind_infinite(model->spec.kind))
        return kernel_apply(context, &model->spec, train, columns, weights, sets, f);
    return features_apply(context, &model->features, sets, columns, weights, f);
}

/* ---- where the context says ------------------------------------------------------------------ */

static wt_status engine_of(wt_context *context, const wt_ridge_engine **out) {
    *out = wt_context_get_device(context)->ridge;
    return *out != NULL ? WT_OK : wt_device_refuse(context, "ridge");
}

wt_status wt_features_project(wt_context *context, const wt_features *features, const wt_sets *sets,
                              size_t columns, const double *a, double *v, double *f) {
    wt_device *device = wt_context_get_device(context);
    wt_ridge_model view = wt_ridge_model_of(&features->spec, features);
    const wt_ridge_engine *engine;
    wt_set_rows rows = {0};
    wt_status status;
    if (device == NULL)
        return wt_features_project_host(context, features, sets, NULL, columns, NULL, a, v, f);
    WT_TRY(engine_of(context, &engine));
    WT_TRY(wt_set_rows_open(context, &features->spec, sets, &rows));
    WT_TRY(engine->project(context, device, &view, &rows.rows, columns, a, v, f));
done:
    wt_set_rows_free(&rows);
    return status;
}

wt_status wt_model_predict(wt_context *context, const wt_model *model, const wt_sets *train,
                           size_t columns, const double *weights, const wt_sets *sets, double *f) {
    wt_device *device = wt_context_get_device(context);
    wt_ridge_model view = wt_ridge_model_of(&model->spec, &model->features);
    const wt_ridge_engine *engine;
    wt_set_rows learned = {0}, rows = {0};
    bool kernel = wt_model_kind_infinite(model->spec.kind);
    wt_status status;
    if (device == NULL)
        return wt_model_predict_host(context, model, train, columns, weights, sets, f);
    WT_TRY(engine_of(context, &engine));
    if (kernel)
        WT_TRY(wt_set_rows_open(context, &model->spec, train, &learned));
    WT_TRY(wt_set_rows_open(context, &model->spec, sets, &rows));
    WT_TRY(engine->predict(context, device, &view, kernel ? &learned.rows : NULL, columns, weights,
                           &rows.rows, f));
done:
    wt_set_rows_free(&learned);
    wt_set_rows_free(&rows);
    return status;
}

wt_status wt_features_apply(wt_context *context, const wt_features *features, const wt_sets *sets,
                            size_t columns, const double *v, double *f) {
    wt_model model = {.spec = features->spec, .features = *features};
    /* no kernel, so that what was learned from is not read: any sets will do */
    return wt_model_predict(context, &model, sets, columns, v, sets, f);
}
