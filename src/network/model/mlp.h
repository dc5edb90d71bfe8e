/* The baseline: a multi-layer perceptron on the flattened bits.
 *
 * With z (T) = +1 for a set bit, -1 for a clear one:
 *   1. u1 = act(z w1 + b1)
 *   2. u2 = act(u1 w2 + b2)
 *   3. logits = u2 w3 + b3
 * Dropout, when training: `embedding_drop` on z, `block_drop` on u1 and u2. */
#ifndef WT_NETWORK_MODEL_MLP_H
#define WT_NETWORK_MODEL_MLP_H

#include "network/model/network_kind.h"

enum wt_mlp_tensor { WT_MLP_W1, WT_MLP_B1, WT_MLP_W2, WT_MLP_B2, WT_MLP_W3, WT_MLP_B3 };

#endif
