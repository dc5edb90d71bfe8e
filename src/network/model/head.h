/* The theorem's object: one head with a scalar read-out, logits (0, f).
 *
 * Rows of X (T + 1, d): x_t = symbols[bit t] + positions[t] for t < T, and x_T = cls.
 *   1. q = cls w_qk, s_t = <q, x_t>        (w_qk is one matrix: s = X w_qk^T cls)
 *   2. a = softmax s, z = X^T a
 *   3. y = act(z w_v), f = <w, y>
 * Trained: w_qk, w_v, w, cls. Symbols and positions stay as drawn, both of norm 1/2, so that
 * |x_t| <= 1 = B_X. There is no dropout. */
#ifndef WT_NETWORK_MODEL_HEAD_H
#define WT_NETWORK_MODEL_HEAD_H

#include "network/model/network_kind.h"

enum wt_head_tensor {
    WT_HEAD_QK, /* (d, d) */
    WT_HEAD_V,  /* (d, d) */
    WT_HEAD_W,  /* (d) */
    WT_HEAD_CLS,
    WT_HEAD_SYMBOLS,   /* (2, d) */
    WT_HEAD_POSITIONS, /* (T, d) */
    WT_HEAD_TENSORS
};

#endif
