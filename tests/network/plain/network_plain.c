#include "network/plain/network_plain.h"

#include <math.h>
#include <string.h>

#include "network/model/network_loops.h"

wt_status wt_network_plain(wt_context *context, const wt_network *network, const double *parameters,
                           const wt_bits *batch, double *logits, double *loss, double *gradient,
                           double *attention) {
    wt_network_plain_out out = {logits, loss, gradient, attention};
    if (gradient != NULL)
        memset(gradient, 0, network->size * sizeof *gradient);
    if (loss != NULL)
        *loss = 0;
    wt_status status = network->kind == &wt_kind_transformer
                           ? wt_transformer_plain(context, network, parameters, batch, &out)
                       : network->kind == &wt_kind_head
                           ? wt_head_plain(context, network, parameters, batch, &out)
                           : wt_mlp_plain(context, network, parameters, batch, &out);
    for (size_t i = 0; i < network->tensor_count && gradient != NULL; i++)
        if (network->tensors[i].fixed)
            memset(gradient + network->tensors[i].offset, 0,
                   network->tensors[i].rows * network->tensors[i].columns * sizeof *gradient);
    return status;
}

void wt_plain_linear(size_t n, size_t m, const double *in, const double *w, const double *b,
                     double *out) {
    for (size_t j = 0; j < m; j++) {
        double sum = b == NULL ? 0 : b[j];
        for (size_t i = 0; i < n; i++)
            sum += in[i] * w[i * m + j];
        out[j] = sum;
    }
}

void wt_plain_linear_back(size_t n, size_t m, const double *in, const double *w,
                          const double *d_out, double *d_in, double *d_w, double *d_b) {
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < m; j++) {
            d_in[i] += d_out[j] * w[i * m + j];
            d_w[i * m + j] += in[i] * d_out[j];
        }
    for (size_t j = 0; j < m && d_b != NULL; j++)
        d_b[j] += d_out[j];
}

double wt_plain_norm(size_t n, const double *x, const double *g, const double *b, double *hat,
                     double *out) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean) / (double)n;
    double scale = 1 / sqrt(variance + WT_NORM_EPSILON);
    for (size_t i = 0; i < n; i++) {
        hat[i] = scale * (x[i] - mean);
        out[i] = hat[i] * g[i] + b[i];
    }
    return scale;
}

void wt_plain_norm_back(size_t n, const double *hat, double scale, const double *g,
                        const double *d_out, double *d_x, double *d_g, double *d_b) {
    double mean = 0, along = 0;
    for (size_t i = 0; i < n; i++) {
        mean += d_out[i] * g[i] / (double)n;
        along += d_out[i] * g[i] * hat[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        d_x[i] += scale * (d_out[i] * g[i] - mean - hat[i] * along);
        d_g[i] += d_out[i] * hat[i];
        d_b[i] += d_out[i];
    }
}

void wt_plain_softmax(size_t n, double *a) {
    double most = a[0], sum = 0;
    for (size_t t = 1; t < n; t++)
        most = fmax(most, a[t]);
    for (size_t t = 0; t < n; t++) {
        a[t] = exp(a[t] - most);
        sum += a[t];
    }
    for (size_t t = 0; t < n; t++)
        a[t] /= sum;
}

void wt_plain_softmax_back(size_t n, const double *a, double *d_a) {
    double mean = 0;
    for (size_t t = 0; t < n; t++)
        mean += a[t] * d_a[t];
    for (size_t t = 0; t < n; t++)
        d_a[t] = a[t] * (d_a[t] - mean);
}
