/* The transformer by its formula, in double, one sample at a time: transformer.h numbers the lines
 * of the forward pass, and the backward pass quotes them. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "network/model/transformer.h"
#include "network/plain/network_plain.h"

typedef struct {
    size_t T, d, heads, hidden, n; /* n = T + 1 tokens */
    const wt_nonlinearity *activation;
    const double *p[WT_TRANSFORMER_TENSORS]; /* parameters and their derivatives, */
    double *g[WT_TRANSFORMER_TENSORS];       /* tensor by tensor */
    const uint8_t *bit;                      /* (T) of the sample */
    /* forward: */
    double *x, *hat, *h, *k, *v;               /* (n, d) */
    double *scale;                             /* (n) of LN1 */
    double *a;                                 /* (heads, n) */
    double *q, *y, *c, *c_hat, *m, *e, *e_hat; /* (d) */
    double *f, *u, *w;                         /* (hidden) before gelu, after; (d) LNf e */
    double c_scale, e_scale;                   /* of LN2, LNf */
    /* backward, the derivative by each: */
    double *d_x, *d_h, *d_k, *d_v;             /* (n, d) */
    double *d_a;                               /* (n) of one head */
    double *d_q, *d_y, *d_c, *d_m, *d_e, *d_w; /* (d) */
    double *d_f, *d_u;                         /* (hidden) */
} pass;

/* Cuts the scratch block up; with block = NULL only counts. */
static size_t cut(pass *at, double *block) {
    size_t wide = at->n * at->d, used = 0;
    struct {
        double **to;
        size_t count;
    } parts[] = {
        {&at->x, wide},
        {&at->hat, wide},
        {&at->h, wide},
        {&at->k, wide},
        {&at->v, wide},
        {&at->scale, at->n},
        {&at->a, at->heads * at->n},
        {&at->q, at->d},
        {&at->y, at->d},
        {&at->c, at->d},
        {&at->c_hat, at->d},
        {&at->m, at->d},
        {&at->e, at->d},
        {&at->e_hat, at->d},
        {&at->f, at->hidden},
        {&at->u, at->hidden},
        {&at->w, at->d},
        {&at->d_x, wide},
        {&at->d_h, wide},
        {&at->d_k, wide},
        {&at->d_v, wide},
        {&at->d_a, at->n},
        {&at->d_q, at->d},
        {&at->d_y, at->d},
        {&at->d_c, at->d},
        {&at->d_m, at->d},
        {&at->d_e, at->d},
        {&at->d_w, at->d},
        {&at->d_f, at->hidden},
        {&at->d_u, at->hidden},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (block != NULL)
            *parts[i].to = block + used;
        used += parts[i].count;
    }
    return used;
}

/* Lines 1 and 2. */
static void embed(pass *at) {
    size_t d = at->d;
    for (size_t t = 0; t < at->n; t++) {
        const double *symbol = at->p[WT_TOK_EMB] + (t < at->T ? at->bit[t] : 2) * d;
        for (size_t i = 0; i < d; i++)
            at->x[t * d + i] = symbol[i] + at->p[WT_POS_EMB][t * d + i];
        at->scale[t] = wt_plain_norm(d, at->x + t * d, at->p[WT_LN1_G], at->p[WT_LN1_B],
                                     at->hat + t * d, at->h + t * d);
        wt_plain_linear(d, d, at->h + t * d, at->p[WT_WK], at->p[WT_BK], at->k + t * d);
        wt_plain_linear(d, d, at->h + t * d, at->p[WT_WV], at->p[WT_BV], at->v + t * d);
    }
    wt_plain_linear(d, d, at->h + at->T * d, at->p[WT_WQ], at->p[WT_BQ], at->q);
}

/* Line 3. */
static void attend(pass *at) {
    size_t d = at->d, width = d / at->heads;
    memset(at->y, 0, d * sizeof *at->y);
    for (size_t h = 0; h < at->heads; h++) {
        double *a = at->a + h * at->n;
        for (size_t t = 0; t < at->n; t++) {
            a[t] = 0;
            for (size_t i = h * width; i < (h + 1) * width; i++)
                a[t] += at->q[i] * at->k[t * d + i] / sqrt((double)width);
        }
        wt_plain_softmax(at->n, a);
        for (size_t t = 0; t < at->n; t++)
            for (size_t i = h * width; i < (h + 1) * width; i++)
                at->y[i] += a[t] * at->v[t * d + i];
    }
}

/* Lines 4 to 6. */
static void answer(pass *at, double logits[2]) {
    size_t d = at->d;
    wt_plain_linear(d, d, at->y, at->p[WT_WO], at->p[WT_BO], at->c);
    for (size_t i = 0; i < d; i++)
        at->c[i] += at->x[at->T * d + i];
    at->c_scale = wt_plain_norm(d, at->c, at->p[WT_LN2_G], at->p[WT_LN2_B], at->c_hat, at->m);
    wt_plain_linear(d, at->hidden, at->m, at->p[WT_W1], at->p[WT_B1], at->f);
    for (size_t i = 0; i < at->hidden; i++)
        at->u[i] = at->activation->value(at->f[i]);
    wt_plain_linear(at->hidden, d, at->u, at->p[WT_W2], at->p[WT_B2], at->e);
    for (size_t i = 0; i < d; i++)
        at->e[i] += at->c[i];
    at->e_scale = wt_plain_norm(d, at->e, at->p[WT_LNF_G], at->p[WT_LNF_B], at->e_hat, at->w);
    wt_plain_linear(d, 2, at->w, at->p[WT_HEAD], NULL, logits);
}

static void answer_back(pass *at, const double d_logits[2]) {
    size_t d = at->d;
    /* 6. logits = LNf e head */
    wt_plain_linear_back(d, 2, at->w, at->p[WT_HEAD], d_logits, at->d_w, at->g[WT_HEAD], NULL);
    wt_plain_norm_back(d, at->e_hat, at->e_scale, at->p[WT_LNF_G], at->d_w, at->d_e,
                       at->g[WT_LNF_G], at->g[WT_LNF_B]);
    /* 5. e = c + gelu(LN2 c w1 + b1) w2 + b2 */
    memcpy(at->d_c, at->d_e, d * sizeof *at->d_c);
    wt_plain_linear_back(at->hidden, d, at->u, at->p[WT_W2], at->d_e, at->d_u, at->g[WT_W2],
                         at->g[WT_B2]);
    for (size_t i = 0; i < at->hidden; i++)
        at->d_f[i] = at->d_u[i] * at->activation->slope(at->f[i]);
    wt_plain_linear_back(d, at->hidden, at->m, at->p[WT_W1], at->d_f, at->d_m, at->g[WT_W1],
                         at->g[WT_B1]);
    wt_plain_norm_back(d, at->c_hat, at->c_scale, at->p[WT_LN2_G], at->d_m, at->d_c,
                       at->g[WT_LN2_G], at->g[WT_LN2_B]);
    /* 4. c = x_T + y wo + bo */
    memcpy(at->d_x + at->T * d, at->d_c, d * sizeof *at->d_x);
    wt_plain_linear_back(d, d, at->y, at->p[WT_WO], at->d_c, at->d_y, at->g[WT_WO], at->g[WT_BO]);
}

static void attend_back(pass *at) {
    size_t d = at->d, width = d / at->heads;
    for (size_t h = 0; h < at->heads; h++) {
        const double *a = at->a + h * at->n;
        /* 3. y_h = sum_t a_h,t v_t,h */
        for (size_t t = 0; t < at->n; t++) {
            at->d_a[t] = 0;
            for (size_t i = h * width; i < (h + 1) * width; i++) {
                at->d_a[t] += at->d_y[i] * at->v[t * d + i];
                at->d_v[t * d + i] = a[t] * at->d_y[i];
            }
        }
        /* 3. a_h = softmax_t <q_h, k_t,h> / sqrt(width) */
        wt_plain_softmax_back(at->n, a, at->d_a);
        for (size_t t = 0; t < at->n; t++)
            for (size_t i = h * width; i < (h + 1) * width; i++) {
                at->d_q[i] += at->d_a[t] * at->k[t * d + i] / sqrt((double)width);
                at->d_k[t * d + i] = at->d_a[t] * at->q[i] / sqrt((double)width);
            }
    }
}

static void embed_back(pass *at) {
    size_t d = at->d;
    /* 2. q = h_T wq + bq, k_t = h_t wk + bk, v_t = h_t wv + bv */
    wt_plain_linear_back(d, d, at->h + at->T * d, at->p[WT_WQ], at->d_q, at->d_h + at->T * d,
                         at->g[WT_WQ], at->g[WT_BQ]);
    for (size_t t = 0; t < at->n; t++) {
        wt_plain_linear_back(d, d, at->h + t * d, at->p[WT_WK], at->d_k + t * d, at->d_h + t * d,
                             at->g[WT_WK], at->g[WT_BK]);
        wt_plain_linear_back(d, d, at->h + t * d, at->p[WT_WV], at->d_v + t * d, at->d_h + t * d,
                             at->g[WT_WV], at->g[WT_BV]);
        /* 1. h_t = LN1 x_t */
        wt_plain_norm_back(d, at->hat + t * d, at->scale[t], at->p[WT_LN1_G], at->d_h + t * d,
                           at->d_x + t * d, at->g[WT_LN1_G], at->g[WT_LN1_B]);
        /* x_t = tok_emb[..] + pos_emb[t] */
        double *symbol = at->g[WT_TOK_EMB] + (t < at->T ? at->bit[t] : 2) * d;
        for (size_t i = 0; i < d; i++) {
            symbol[i] += at->d_x[t * d + i];
            at->g[WT_POS_EMB][t * d + i] += at->d_x[t * d + i];
        }
    }
}

static void set_up(pass *at, const wt_network *network, const double *parameters,
                   double *gradient) {
    const wt_network_spec *spec = &network->spec;
    *at = (pass){.T = spec->length,
                 .n = spec->length + 1,
                 .d = spec->dim,
                 .heads = spec->heads,
                 .hidden = spec->hidden,
                 .activation = network->activation};
    for (size_t i = 0; i < WT_TRANSFORMER_TENSORS; i++) {
        at->p[i] = parameters + network->tensors[i].offset;
        at->g[i] = gradient == NULL ? NULL : gradient + network->tensors[i].offset;
    }
}

wt_status wt_transformer_plain(wt_context *context, const wt_network *network,
                               const double *parameters, const wt_bits *batch,
                               const wt_network_plain_out *out) {
    pass at;
    double *block = NULL, logits[2], slope[2], m = (double)batch->samples;
    size_t numbers;
    wt_status status;
    set_up(&at, network, parameters, out->gradient);
    numbers = cut(&at, NULL);
    WT_TRY(WT_NEW(context, &block, numbers, "a plain pass"));
    cut(&at, block);
    for (size_t i = 0; i < batch->samples; i++) {
        memset(block, 0, numbers * sizeof *block);
        at.bit = batch->bit + i * at.T;
        embed(&at);
        attend(&at);
        answer(&at, logits);
        double loss = wt_cross_entropy(logits, batch->label[i], slope);
        if (out->loss != NULL)
            *out->loss += loss / m;
        if (out->logits != NULL)
            memcpy(out->logits + 2 * i, logits, sizeof logits);
        if (out->attention != NULL)
            memcpy(out->attention + i * at.heads * at.n, at.a, at.heads * at.n * sizeof *at.a);
        if (out->gradient == NULL)
            continue;
        const double d_logits[2] = {slope[0] / m, slope[1] / m};
        answer_back(&at, d_logits);
        attend_back(&at);
        embed_back(&at);
    }
done:
    wt_release(block);
    return status;
}
