/* Gradient, evaluation and attention through the plain version, for kinds without a fast path. */
#ifndef WT_MODEL_NETWORK_SIMPLE_H
#define WT_MODEL_NETWORK_SIMPLE_H

#include "model/network_kind.h"

wt_status wt_simple_gradient(wt_context *context, wt_network *network, const float *parameters,
                             const wt_bits *batch, uint64_t seed, uint64_t step, float *gradient,
                             wt_network_result *result);
wt_status wt_simple_evaluate(wt_context *context, wt_network *network, const float *parameters,
                             const wt_bits *batch, size_t most_errors, wt_network_result *result);
wt_status wt_simple_attention(wt_context *context, wt_network *network, const float *parameters,
                              const wt_bits *batch, float *out);
void wt_simple_close(void *work);

#endif
