/* The perceptron by its formula, in double, one sample at a time: mlp.h numbers the lines. */
#include <string.h>

#include "base/memory.h"
#include "network/model/mlp.h"
#include "network/plain/network_plain.h"

typedef struct {
    size_t T, hidden;
    const wt_nonlinearity *activation;
    const double *p[WT_MLP_B3 + 1];
    double *g[WT_MLP_B3 + 1];
    double *z, *d_z;                   /* (T) */
    double *f1, *u1, *f2, *u2;         /* (hidden) before the activation and after */
    double *d_f1, *d_u1, *d_f2, *d_u2; /* (hidden) */
} pass;

static void forward(pass *at, double logits[2]) {
    wt_plain_linear(at->T, at->hidden, at->z, at->p[WT_MLP_W1], at->p[WT_MLP_B1], at->f1);
    for (size_t i = 0; i < at->hidden; i++)
        at->u1[i] = at->activation->value(at->f1[i]);
    wt_plain_linear(at->hidden, at->hidden, at->u1, at->p[WT_MLP_W2], at->p[WT_MLP_B2], at->f2);
    for (size_t i = 0; i < at->hidden; i++)
        at->u2[i] = at->activation->value(at->f2[i]);
    wt_plain_linear(at->hidden, 2, at->u2, at->p[WT_MLP_W3], at->p[WT_MLP_B3], logits);
}

static void backward(pass *at, const double d_logits[2]) {
    /* 3. logits = u2 w3 + b3 */
    wt_plain_linear_back(at->hidden, 2, at->u2, at->p[WT_MLP_W3], d_logits, at->d_u2,
                         at->g[WT_MLP_W3], at->g[WT_MLP_B3]);
    /* 2. u2 = act(u1 w2 + b2) */
    for (size_t i = 0; i < at->hidden; i++)
        at->d_f2[i] = at->d_u2[i] * at->activation->slope(at->f2[i]);
    wt_plain_linear_back(at->hidden, at->hidden, at->u1, at->p[WT_MLP_W2], at->d_f2, at->d_u1,
                         at->g[WT_MLP_W2], at->g[WT_MLP_B2]);
    /* 1. u1 = act(z w1 + b1) */
    for (size_t i = 0; i < at->hidden; i++)
        at->d_f1[i] = at->d_u1[i] * at->activation->slope(at->f1[i]);
    wt_plain_linear_back(at->T, at->hidden, at->z, at->p[WT_MLP_W1], at->d_f1, at->d_z,
                         at->g[WT_MLP_W1], at->g[WT_MLP_B1]);
}

static void set_up(pass *at, const wt_network *network, const double *parameters, double *gradient,
                   double *block) {
    size_t hidden = network->spec.hidden;
    double **vectors[] = {&at->f1,   &at->u1,   &at->f2,   &at->u2,
                          &at->d_f1, &at->d_u1, &at->d_f2, &at->d_u2};
    *at = (pass){.T = network->spec.length, .hidden = hidden, .activation = network->activation};
    for (size_t i = 0; i <= WT_MLP_B3; i++) {
        at->p[i] = parameters + network->tensors[i].offset;
        at->g[i] = gradient == NULL ? NULL : gradient + network->tensors[i].offset;
    }
    at->z = block;
    at->d_z = block + at->T;
    for (size_t i = 0; i < 8; i++)
        *vectors[i] = block + 2 * at->T + i * hidden;
}

wt_status wt_mlp_plain(wt_context *context, const wt_network *network, const double *parameters,
                       const wt_bits *batch, const wt_network_plain_out *out) {
    pass at;
    double *block = NULL, logits[2], slope[2], m = (double)batch->samples;
    size_t numbers = 2 * network->spec.length + 8 * network->spec.hidden;
    wt_status status;
    WT_TRY(WT_NEW(context, &block, numbers, "a plain pass"));
    set_up(&at, network, parameters, out->gradient, block);
    for (size_t i = 0; i < batch->samples; i++) {
        memset(block, 0, numbers * sizeof *block);
        for (size_t t = 0; t < at.T; t++)
            at.z[t] = batch->bit[i * at.T + t] == 1 ? 1 : -1;
        forward(&at, logits);
        double loss = wt_cross_entropy(logits, batch->label[i], slope);
        if (out->loss != NULL)
            *out->loss += loss / m;
        if (out->logits != NULL)
            memcpy(out->logits + 2 * i, logits, sizeof logits);
        const double d_logits[2] = {slope[0] / m, slope[1] / m};
        if (out->gradient != NULL)
            backward(&at, d_logits);
    }
done:
    wt_release(block);
    return status;
}
