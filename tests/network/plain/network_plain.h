/* The networks in double, one sample at a time, every quantity by its formula: what the fast paths
 * are held against. */
#ifndef TESTS_NETWORK_PLAIN_H
#define TESTS_NETWORK_PLAIN_H

#include "network/model/network_kind.h"

/* Dropout off. Any of logits (samples, 2), loss, gradient (size) and attention (samples, heads,
 * T + 1) may be NULL. */
wt_status wt_network_plain(wt_context *context, const wt_network *network, const double *parameters,
                           const wt_bits *batch, double *logits, double *loss, double *gradient,
                           double *attention);

typedef struct wt_network_plain_out {
    double *logits, *loss, *gradient, *attention;
} wt_network_plain_out;

/* Of one kind each; gradient and loss are added to. */
wt_status wt_transformer_plain(wt_context *context, const wt_network *network,
                               const double *parameters, const wt_bits *batch,
                               const wt_network_plain_out *out);
wt_status wt_head_plain(wt_context *context, const wt_network *network, const double *parameters,
                        const wt_bits *batch, const wt_network_plain_out *out);
wt_status wt_mlp_plain(wt_context *context, const wt_network *network, const double *parameters,
                       const wt_bits *batch, const wt_network_plain_out *out);

/* The pieces. Every `_back` adds to what it gives, so that branches of the network meet by
 * themselves. */

/* out (m) = in (n) w (n, m) + b (m); b may be NULL */
void wt_plain_linear(size_t n, size_t m, const double *in, const double *w, const double *b,
                     double *out);
/* d_in = d_out w^T, d_w = in^T d_out, d_b = d_out */
void wt_plain_linear_back(size_t n, size_t m, const double *in, const double *w,
                          const double *d_out, double *d_in, double *d_w, double *d_b);

/* hat = (x - mean) / sqrt(variance + epsilon), out = hat g + b; returns 1 / sqrt(..) */
double wt_plain_norm(size_t n, const double *x, const double *g, const double *b, double *hat,
                     double *out);
/* With s = d_out g: d_x = scale (s - mean(s) - hat mean(s hat)), d_g = d_out hat, d_b = d_out */
void wt_plain_norm_back(size_t n, const double *hat, double scale, const double *g,
                        const double *d_out, double *d_x, double *d_g, double *d_b);

/* a = exp(a) / sum exp(a) over n numbers that lie together */
void wt_plain_softmax(size_t n, double *a);
/* d_s = a (d_a - sum a d_a), written over d_a */
void wt_plain_softmax_back(size_t n, const double *a, double *d_a);

#endif
