/* The head by its formula, in double, one sample at a time: head.h numbers the lines. */
#include <string.h>

#include "base/memory.h"
#include "network/model/head.h"
#include "network/plain/network_plain.h"

typedef struct {
    size_t T, d, n; /* n = T + 1 */
    const wt_nonlinearity *activation;
    const double *p[WT_HEAD_TENSORS];
    double *g[WT_HEAD_TENSORS];
    const uint8_t *bit;
    double *x, *d_x;         /* (n, d) */
    double *a, *d_a;         /* (n) */
    double *q, *z, *v, *y;   /* (d); v = z w_v */
    double *d_q, *d_z, *d_v; /* (d) */
} pass;

static double forward(pass *at) {
    size_t d = at->d;
    double f = 0;
    for (size_t t = 0; t < at->n; t++)
        for (size_t i = 0; i < d; i++)
            at->x[t * d + i] = t == at->T ? at->p[WT_HEAD_CLS][i]
                                          : at->p[WT_HEAD_SYMBOLS][at->bit[t] * d + i] +
                                                at->p[WT_HEAD_POSITIONS][t * d + i];
    wt_plain_linear(d, d, at->p[WT_HEAD_CLS], at->p[WT_HEAD_QK], NULL, at->q);
    for (size_t t = 0; t < at->n; t++)
        for (size_t i = 0; i < d; i++)
            at->a[t] += at->q[i] * at->x[t * d + i];
    wt_plain_softmax(at->n, at->a);
    wt_plain_linear(at->n, d, at->a, at->x, NULL, at->z);
    wt_plain_linear(d, d, at->z, at->p[WT_HEAD_V], NULL, at->v);
    for (size_t i = 0; i < d; i++) {
        at->y[i] = at->activation->value(at->v[i]);
        f += at->p[WT_HEAD_W][i] * at->y[i];
    }
    return f;
}

static void backward(pass *at, double d_f) {
    size_t d = at->d;
    /* 3. y = act(z w_v), f = <w, y> */
    for (size_t i = 0; i < d; i++) {
        at->g[WT_HEAD_W][i] += d_f * at->y[i];
        at->d_v[i] = d_f * at->p[WT_HEAD_W][i] * at->activation->slope(at->v[i]);
    }
    wt_plain_linear_back(d, d, at->z, at->p[WT_HEAD_V], at->d_v, at->d_z, at->g[WT_HEAD_V], NULL);
    /* 2. a = softmax s, z = X^T a */
    wt_plain_linear_back(at->n, d, at->a, at->x, at->d_z, at->d_a, at->d_x, NULL);
    wt_plain_softmax_back(at->n, at->a, at->d_a);
    /* 1. q = cls w_qk, s_t = <q, x_t> */
    for (size_t t = 0; t < at->n; t++)
        for (size_t i = 0; i < d; i++) {
            at->d_q[i] += at->d_a[t] * at->x[t * d + i];
            at->d_x[t * d + i] += at->d_a[t] * at->q[i];
        }
    wt_plain_linear_back(d, d, at->p[WT_HEAD_CLS], at->p[WT_HEAD_QK], at->d_q, at->g[WT_HEAD_CLS],
                         at->g[WT_HEAD_QK], NULL);
    for (size_t i = 0; i < d; i++)
        at->g[WT_HEAD_CLS][i] += at->d_x[at->T * d + i];
}

static void set_up(pass *at, const wt_network *network, const double *parameters, double *gradient,
                   double *block) {
    size_t d = network->spec.dim, n = network->spec.length + 1;
    double **vectors[] = {&at->q, &at->z, &at->v, &at->y, &at->d_q, &at->d_z, &at->d_v};
    *at = (pass){.T = n - 1, .d = d, .n = n, .activation = network->activation};
    for (size_t i = 0; i < WT_HEAD_TENSORS; i++) {
        at->p[i] = parameters + network->tensors[i].offset;
        at->g[i] = gradient == NULL ? NULL : gradient + network->tensors[i].offset;
    }
    at->x = block;
    at->d_x = at->x + n * d;
    at->a = at->d_x + n * d;
    at->d_a = at->a + n;
    for (size_t i = 0; i < 7; i++)
        *vectors[i] = at->d_a + n + i * d;
}

wt_status wt_head_plain(wt_context *context, const wt_network *network, const double *parameters,
                        const wt_bits *batch, const wt_network_plain_out *out) {
    pass at;
    size_t d = network->spec.dim, n = network->spec.length + 1;
    size_t numbers = 2 * n * (d + 1) + 7 * d;
    double *block = NULL, slope[2], m = (double)batch->samples;
    wt_status status;
    WT_TRY(WT_NEW(context, &block, numbers, "a plain pass"));
    set_up(&at, network, parameters, out->gradient, block);
    for (size_t i = 0; i < batch->samples; i++) {
        memset(block, 0, numbers * sizeof *block);
        at.bit = batch->bit + i * at.T;
        const double logits[2] = {0, forward(&at)};
        double loss = wt_cross_entropy(logits, batch->label[i], slope);
        if (out->loss != NULL)
            *out->loss += loss / m;
        if (out->logits != NULL)
            memcpy(out->logits + 2 * i, logits, sizeof logits);
        if (out->attention != NULL)
            memcpy(out->attention + i * n, at.a, n * sizeof *at.a);
        if (out->gradient != NULL)
            backward(&at, slope[1] / m);
    }
done:
    wt_release(block);
    return status;
}
