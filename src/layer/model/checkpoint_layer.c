/* A layer of a checkpoint: query and key matrices become Theta, value and output matrices W. */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sized.h"
#include "io/checkpoint.h"
#include "layer/model/layer.h"
#include "linalg/linalg.h"

/* Theta_h = scale Q_h K_h^T, u_h = scale K_h b_q, W_h = V_h O_h, c = b_o + sum b_v O_h. Biases of
 * keys add the same to all scores of a row: they are not even read. */
static wt_status multiply(wt_context *context, const wt_attention_tensors *from, wt_layer *out) {
    size_t d = from->dim, r = from->width, p = from->outputs, m = from->heads;
    size_t queries = m * r, keys = from->key_heads * r, e = wt_layer_asked(out);
    double *c = wt_layer_c(out);
    for (size_t j = 0; c != NULL && j < p; j++)
        c[j] = from->output_bias == NULL ? 0 : from->output_bias[j];
    for (size_t h = 0; h < m; h++) {
        size_t shared = h / (m / from->key_heads) * r;
        double *theta = out->theta + h * e * d;
        const double *key = from->key + shared, *output = from->output + h * r * p;
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, d, d, r, from->scale, from->query + h * r,
                        queries, key, keys, 0, theta, d));
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, d, p, r, 1, from->value + shared, keys, output,
                        p, 0, out->w + h * d * p, p));
        if (c == NULL)
            continue;
        memset(theta + d * d, 0, d * sizeof *theta);
        if (from->query_bias != NULL)
            WT_PASS(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, 1, d, r, from->scale,
                            from->query_bias + h * r, r, key, keys, 0, theta + d * d, d));
        if (from->value_bias != NULL)
            WT_PASS(wt_gemm(context, WT_PLAIN, WT_PLAIN, 1, p, r, 1, from->value_bias + shared, r,
                            output, p, 1, c, p));
    }
    return WT_OK;
}

/* Tokens g z + s in place of z: Theta = G Theta G, u = G (u + Theta^T s), W = G W, c += s^T sum W.
 */
static void fold(const wt_attention_tensors *from, wt_layer *out) {
    size_t d = out->dim, p = out->outputs, e = wt_layer_asked(out);
    double *c = wt_layer_c(out);
    for (size_t h = 0; h < out->heads; h++) {
        double *theta = out->theta + h * e * d, *w = out->w + h * d * p, *u = theta + d * d;
        for (size_t j = 0; from->shift != NULL && j < d * d; j++)
            u[j % d] += from->shift[j / d] * theta[j];
        for (size_t j = 0; from->shift != NULL && j < d * p; j++)
            c[j % p] += from->shift[j / p] * w[j];
        for (size_t j = 0; j < e * d; j++)
            theta[j] *= (j < d * d ? from->gain[j / d] : 1) * from->gain[j % d];
        for (size_t j = 0; j < d * p; j++)
            w[j] *= from->gain[j / p];
    }
}

wt_status wt_checkpoint_layer(wt_context *context, wt_checkpoint *checkpoint, size_t layer,
                              bool folded, wt_layer **out) {
    wt_attention_tensors from = {0};
    wt_layer *made = NULL;
    wt_layer_form form;
    wt_status status;
    *out = NULL;
    WT_INIT(wt_layer_form, &form);
    WT_TRY(wt_checkpoint_read(context, checkpoint, layer, &from));
    folded = folded && from.gain != NULL;
    form.bias = from.query_bias != NULL || from.value_bias != NULL || from.output_bias != NULL ||
                (folded && from.shift != NULL);
    form.mask = from.causal ? WT_LAYER_MASK_CAUSAL : WT_LAYER_MASK_NONE;
    if (folded) {
        form.norm = from.norm == WT_SCHEME_NORM_RMS ? WT_LAYER_NORM_RMS : WT_LAYER_NORM_LAYER;
        form.epsilon = from.epsilon;
    }
    WT_TRY(wt_layer_new_form(context, from.heads, from.dim, from.outputs, &form, &made));
    WT_TRY(multiply(context, &from, made));
    if (folded)
        fold(&from, made);
    *out = made;
    made = NULL;
done:
    wt_attention_tensors_free(&from);
    wt_layer_free(made);
    return status;
}

/* What a layer of ours cannot have is refused; positions are left out on demand, as they add the
 * same to all scores of tokens at one place. */
static wt_status check_beyond(wt_context *context, const wt_checkpoint *checkpoint,
                              const char *path, bool ignore) {
    if (checkpoint->beyond != NULL)
        return wt_fail(context, WT_DATA, "%s has %s, which no layer here has", path,
                       checkpoint->beyond);
    if (checkpoint->positions_there && !ignore)
        return wt_fail(context, WT_DATA,
                       "%s has %s, which no layer here has: --rope ignore reads it as tokens at "
                       "one place meet it",
                       path, checkpoint->positions);
    if (checkpoint->positions != NULL && !ignore)
        wt_remark(context,
                  "%s has names of models with %s: it is read as tokens at one place meet it", path,
                  checkpoint->positions);
    if (checkpoint->window > 0)
        wt_remark(context,
                  "%s: by its config tokens attend to the last %g at most; its layers are read "
                  "without that",
                  path, checkpoint->window);
    return WT_OK;
}

wt_status wt_layer_open(wt_context *context, const char *path, const wt_checkpoint_options *given,
                        size_t index, bool folded, wt_layer **out) {
    wt_checkpoint_options options = {0};
    wt_checkpoint *checkpoint = NULL;
    struct stat about;
    wt_file *file = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_sized_read(context, "wt_checkpoint_options", given, &options, sizeof options));
    size_t length = strlen(path);
    bool single = stat(path, &about) != 0 || !S_ISDIR(about.st_mode);
    if (single && !(length > 5 && strcmp(path + length - 5, ".json") == 0)) {
        WT_TRY(wt_file_open(context, path, &file));
        if (wt_file_find(file, "theta") != NULL || wt_file_find(file, "w") != NULL) {
            if (index > 0)
                WT_TRY(wt_fail(context, WT_USAGE, "%s is one layer: there is no layer %zu in it",
                               path, index));
            WT_TRY(wt_layer_load(context, path, out));
            goto done;
        }
    }
    WT_TRY(wt_checkpoint_open(context, path, &options, &checkpoint));
    WT_TRY(check_beyond(context, checkpoint, path, options.ignore_rope));
    WT_TRY(wt_checkpoint_layer(context, checkpoint, index, folded, out));
done:
    wt_file_free(file);
    wt_checkpoint_free(checkpoint);
    return status;
}
