/* A layer beside the outputs that are known. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layer/task/sequences.h"

/* |y - F(x)| / |y| over the rows of y that are known. */
static double measure(const wt_sequences *data, const wt_sequences *found) {
    size_t k = data->length, p = data->outputs;
    double square = 0, apart = 0;
    for (size_t t = 0; t < data->samples * k; t++) {
        const double *y = data->y + t * p, *f = found->y + t * p;
        if (!wt_sequences_known(data, t / k, t % k))
            continue;
        for (size_t j = 0; j < p; j++) {
            square += y[j] * y[j];
            apart += (y[j] - f[j]) * (y[j] - f[j]);
        }
    }
    return square > 0 ? sqrt(apart / square) : NAN;
}

wt_status wt_layer_evaluate(wt_context *context, const wt_layer *layer, const wt_sequences *data,
                            wt_sequences **out, double *error) {
    size_t n = data->samples, k = data->length, d = data->dim, p = wt_layer_outputs(layer);
    wt_sequences *made = NULL;
    wt_status status;
    *out = NULL;
    *error = NAN;
    if (d != wt_layer_dim(layer))
        WT_TRY(wt_fail(context, WT_DATA, "tokens of %zu dimensions do not fit a layer of %zu", d,
                       wt_layer_dim(layer)));
    if (data->outputs != 0 && data->outputs != p)
        WT_TRY(wt_fail(context, WT_DATA, "y has %zu columns, the layer %zu outputs", data->outputs,
                       p));
    WT_TRY(wt_sequences_new(context, n, k, d, p, &made));
    memcpy(made->x, data->x, n * k * d * sizeof *made->x);
    WT_TRY(wt_sequences_set_lengths(context, made, data->lengths));
    WT_TRY(wt_layer_apply(context, layer, made));
    if (data->outputs != 0)
        *error = measure(data, made);
    *out = made;
    made = NULL;
done:
    wt_sequences_free(made);
    return status;
}
