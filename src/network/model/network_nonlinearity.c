/* Nonlinearities in double, and the loss. */
#include <math.h>
#include <string.h>

#include "linalg/normal_law.h"
#include "network/model/network_kind.h"

static double relu(double x) {
    return x <= 0 ? 0 : x; /* NaN stays */
}
static double relu_slope(double x) {
    return x > 0 ? 1 : 0;
}
/* The exact form: x P(X <= x), X normal. */
static double gelu(double x) {
    return x * wt_normal_cdf(x);
}
static double gelu_slope(double x) {
    return wt_normal_cdf(x) + x * wt_normal_density(x);
}
static double tanh_slope(double x) {
    double y = tanh(x);
    return 1 - y * y;
}
static double identity(double x) {
    return x;
}
static double one(double x) {
    (void)x;
    return 1;
}

static const wt_nonlinearity activations[] = {{"relu", relu, relu_slope},
                                              {"gelu", gelu, gelu_slope},
                                              {"tanh", tanh, tanh_slope},
                                              {"identity", identity, one}};

const wt_nonlinearity *wt_nonlinearity_find(const char *name) {
    for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
        if (strcmp(activations[i].name, name) == 0)
            return &activations[i];
    return NULL;
}

/* With margin z = logit of the other label - logit of the label: log(1 + exp z), computed from
 * exp(-|z|) so that neither end overflows. */
double wt_cross_entropy(const double logits[2], uint8_t label, double slope[2]) {
    double z = logits[1 - label] - logits[label], small = exp(-fabs(z));
    double other = z > 0 ? 1 / (1 + small) : small / (1 + small); /* P(the other label) */
    slope[label] = -other;
    slope[1 - label] = other;
    return (z > 0 ? z : 0) + log1p(small);
}

void wt_network_answer(const wt_network *network, const float *logits, size_t first, size_t count) {
    for (size_t i = 0; network->answers != NULL && i < count; i++)
        network->answers[first + i] = 1 / (1 + expf(logits[2 * i] - logits[2 * i + 1]));
}

void wt_network_judge(float *logits, const uint8_t *label, size_t count, size_t samples,
                      wt_network_result *result) {
    for (size_t i = 0; i < count; i++) {
        float *out = logits + 2 * i;
        double slope[2];
        const double pair[2] = {out[0], out[1]};
        result->correct += (pair[1] > pair[0]) == (label[i] == 1);
        result->loss += wt_cross_entropy(pair, label[i], slope);
        result->miss += slope[1 - label[i]];
        for (int j = 0; j < 2; j++)
            out[j] = (float)(slope[j] / (double)samples);
    }
    result->samples += count;
}
