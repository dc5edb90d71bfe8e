/* The pieces of the plain versions, in double, one row at a time. Every `_back` adds to what it
 * gives, so that branches of the network meet by themselves. */
#ifndef WT_NETWORK_MODEL_NETWORK_PLAIN_H
#define WT_NETWORK_MODEL_NETWORK_PLAIN_H

#include <stddef.h>

#define WT_NORM_EPSILON 1e-5 /* of every layer normalisation */

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
