/* The transformer of the published recipe: one pre-LN block, read at [CLS].
 *
 * With x_t = tok_emb[bit t] + pos_emb[t] for t < T and x_T = tok_emb[2] + pos_emb[T] ([CLS]):
 *   1. h_t = LN1 x_t
 *   2. q = h_T wq + bq, k_t = h_t wk + bk, v_t = h_t wv + bv
 *   3. a_h = softmax_t <q_h, k_t,h> / sqrt(d / heads), y_h = sum_t a_h,t v_t,h
 *   4. c = x_T + y wo + bo
 *   5. e = c + gelu(LN2 c w1 + b1) w2 + b2
 *   6. logits = LNf e head
 * Dropout, when training: on x_t, on a_h,t, on what lines 4 and 5 add. */
#ifndef WT_NETWORK_MODEL_TRANSFORMER_H
#define WT_NETWORK_MODEL_TRANSFORMER_H

#include "network/model/network_kind.h"

/* The tensors in their order. */
enum wt_transformer_tensor {
    WT_TOK_EMB, /* (3, d) bit 0, bit 1, [CLS] */
    WT_POS_EMB, /* (T + 1, d) */
    WT_LN1_G,
    WT_LN1_B,
    WT_WQ, /* (d, d); head h has columns h d/heads .. */
    WT_BQ,
    WT_WK,
    WT_BK,
    WT_WV,
    WT_BV,
    WT_WO,
    WT_BO,
    WT_LN2_G,
    WT_LN2_B,
    WT_W1, /* (d, hidden) */
    WT_B1,
    WT_W2, /* (hidden, d) */
    WT_B2,
    WT_LNF_G,
    WT_LNF_B,
    WT_HEAD, /* (d, 2) */
    WT_TRANSFORMER_TENSORS
};

#endif
