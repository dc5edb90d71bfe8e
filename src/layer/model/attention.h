/* The inside of a layer: attention weights and attended tokens of every head, by matrix products.
 *
 * Sequence s has keys X_s (l_s, d) and query rows among its tokens; all keys lie one after the
 * other in `key` (L, d), all queries in `query` (R, e). For head i and query row r of sequence s:
 *   A_ri = softmax(q_r^T Theta_i X_s^T)  (l_s),   h_ri = X_s^T A_ri  (d)
 * Theta_i is (e, d): e = d, and q_r a token, or, with biases, e = d + 1 and q_r = [token, 1]. A
 * causal row attends to the keys up to its own place; the weights of the others are 0. */
#ifndef WT_LAYER_MODEL_ATTENTION_H
#define WT_LAYER_MODEL_ATTENTION_H

#include "base/context.h"

/* Tokens that a step of a forward pass takes at a time. */
#define WT_ATTENTION_TOKENS 8192

typedef struct wt_attention {
    size_t sequences, dim;
    size_t length;           /* of every sequence; 0 = key_start says */
    const size_t *key_start; /* (sequences + 1), read when length is 0 */
    const size_t *row_start; /* (sequences + 1), the same for queries */
    const double *key;       /* (L, d) */
    const double *query;     /* (R, e); the keys where every token asks */
    const double *times;     /* (L): how often a key comes; NULL = every key once */
    const size_t *place;     /* (R): of the token that asks, from 0; NULL = the last tokens ask */
    bool bias;               /* e = d + 1 */
    bool causal;
} wt_attention;

static inline size_t wt_attention_query_dim(const wt_attention *in) {
    return in->dim + in->bias;
}
/* Columns of h: attended tokens of all heads, and with biases a 1. */
static inline size_t wt_attention_columns(const wt_attention *in, size_t heads) {
    return heads * in->dim + in->bias;
}

/* n sequences of k tokens that all ask. */
wt_attention wt_attention_of(size_t n, size_t k, size_t dim, const double *x);

static inline size_t wt_attention_key(const wt_attention *in, size_t sequence) {
    return in->length > 0 ? sequence * in->length : in->key_start[sequence];
}
static inline size_t wt_attention_row(const wt_attention *in, size_t sequence) {
    return in->length > 0 ? sequence * in->length : in->row_start[sequence];
}
static inline size_t wt_attention_rows(const wt_attention *in) {
    return wt_attention_row(in, in->sequences);
}
/* The place of the token that asks in row r of a sequence. */
static inline size_t wt_attention_place(const wt_attention *in, size_t sequence, size_t r) {
    return in->place != NULL ? in->place[r]
                             : wt_attention_key(in, sequence + 1) - wt_attention_key(in, sequence) -
                                   (wt_attention_row(in, sequence + 1) - r);
}
/* The keys that row r of a sequence attends to: so many from the first. */
static inline size_t wt_attention_seen(const wt_attention *in, size_t sequence, size_t r) {
    return in->causal ? wt_attention_place(in, sequence, r) + 1
                      : wt_attention_key(in, sequence + 1) - wt_attention_key(in, sequence);
}
/* Where the weights of a sequence's rows start in an array of all of them: rows before it times
 * their keys, for one head. `starts` (sequences + 1) is filled; returns the total. */
size_t wt_attention_weight_starts(const wt_attention *in, size_t *starts);
/* Sequences a chunk of a parallel loop. */
size_t wt_attention_grain(const wt_attention *in);

/* h (R, columns): h_ri in columns i d .. i d + d - 1 of row r. weights, where not NULL, get A: for
 * sequence s with q_s rows, m blocks (q_s, l_s) from m * starts[s] on. */
wt_status wt_attention_run(wt_context *context, const wt_attention *in, size_t heads,
                           const double *theta, double *weights, double *h);

#endif
