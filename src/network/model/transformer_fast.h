/* The transformer in float, made for speed. Two ways through the attention, one tail:
 *
 * absorbed  With dropout of token vectors every sample has tokens of its own. Only the [CLS] row is
 *           read, so that with hat_t = LN1 x_t but for gain g and bias b, and per head h
 *             u_h = g wk_h q_h / sqrt(width),  s_t = <u_h, hat_t> + the same for all t,
 *             z_h = sum_t a_t hat_t,           y_h = (g z_h + b sum_t a_t) wv_h + bv sum_t a_t
 *           and no key or value is ever formed. A mean of 0 is taken out of the columns of g wk and
 *           g wv, which changes nothing (hat_t has mean 0) and saves a term on the way back.
 * tables    Without it there are 2 T + 1 vectors: scores, their exponentials and values are formed
 *           once for a step, and a sample picks T + 1 rows of them.
 *
 * Invariants:
 * 1. Samples fall into groups by their number and the shape, every group has sums of its own, and
 * these are added in order: the bits of a gradient do not depend on the number of threads.
 * 2. What is dropped depends on (seed, step, sample, place) alone. A draw of 16 bits is kept when
 * it is below `keep`, and the scale is 65536 / keep: the expectation is exact.
 * 3. Columns that fill rows up to `stride`, heads that fill up to `lanes` and tokens up to `rows`
 *    hold 0 in everything that is summed. */
#ifndef WT_NETWORK_MODEL_TRANSFORMER_FAST_H
#define WT_NETWORK_MODEL_TRANSFORMER_FAST_H

#include "linalg/backend.h"
#include "network/model/network_dropout.h"
#include "network/model/network_loops.h"
#include "network/model/transformer.h"
#include "network/model/transformer_loops.h"

#define WT_TAIL_SAMPLES  32 /* most samples that go through the tail together */
#define WT_SLOTS         4  /* samples whose attention a worker holds between there and back */
#define WT_PICKS         16 /* the same by tables */
#define WT_MOST_GROUPS   16
#define WT_LEAST_A_GROUP 24
#define WT_MOST_FILLING  ((size_t)24 << 20) /* bytes of all groups that belong to no head */

/* Vectors of a tail, (samples, stride) or (samples, hidden_stride); names as in transformer.h, and
 * d_ for the derivative by them. */
typedef struct wt_tail {
    float *y, *x, *c, *c_hat, *m, *e, *e_hat, *w; /* x = x_T after dropout */
    float *f, *u;                                 /* hidden; f becomes the slope of gelu */
    float *c_scale, *e_scale;                     /* (samples) */
    float *logits;                                /* (samples, 2), then the derivative by them */
    float *d_y, *d_c, *d_m, *d_e, *d_w, *d_u;
    uint32_t *words; /* (samples, stride): draws for c, then for e */
} wt_tail;

/* The attention of one sample. */
typedef struct wt_slot {
    uint32_t *index;           /* (rows) of the table */
    uint32_t *words, *a_words; /* draws for tokens and for attention weights */
    float *hat, *scale;        /* (rows, stride), (rows) */
    float *s, *a, *b;          /* (rows, lanes) */
    float *total;              /* (lanes) */
    float *z, *u;              /* (lanes, stride) */
    float *y;                  /* (width, lanes), evaluation */
} wt_slot;

/* The attention of some samples by tables, one after the other: see wt_picked. */
typedef struct wt_picks {
    wt_picked picked[WT_PICKS];
    uint32_t *index, *count; /* (samples, rows); 0, 1, 2 .. */
    uint32_t *words;         /* of one sample */
    float *e, *b;            /* (samples, rows, lanes); e only where the table has no weights */
    float *total, *mean;     /* (samples, lanes) */
    float *y, *d_y;          /* (samples, width, lanes) */
} wt_picks;

typedef struct wt_worker {
    wt_arena arena; /* of all arrays */
    wt_tail tail;
    wt_slot slots[WT_SLOTS];
    wt_picks picks;
    float *p, *along;                     /* (rows, lanes), (rows) */
    float *transposed, *d_z, *d_u;        /* (stride, lanes), (lanes, stride) twice */
    float *more, *mean;                   /* (lanes) */
    float *h, *hat, *hat_scale, *q, *d_q; /* of [CLS]: (slots, stride), hat_scale (slots) */
    float *d_h;                           /* (slots, stride) */
    uint8_t *code;                        /* of evaluation: (T / 4), */
    float *sums;                          /* ((width + 1) lanes) */
} wt_worker;

/* What one group of samples sums up, or all of them. */
typedef struct wt_sums {
    float *rest;            /* parameters from wq on, laid out as they are; wk, bk, wv, bv unused */
    float *norms[6];        /* (stride) ln1_g, ln1_b, ln2_g, ln2_b, lnf_g, lnf_b */
    float *key, *value;     /* (width lanes, stride) by the matrices of the same names */
    float *value_bias;      /* (width lanes) */
    float *cls;             /* (stride) by x_T, tables */
    float *table;           /* (2 T + 1, stride) by the table, absorbed */
    float *scores, *values; /* by the tables of these names, tables */
} wt_sums;

typedef struct wt_transformer_work {
    const wt_network *network;
    const wt_network_loops *common;
    const wt_transformer_loops *loops;
    const wt_routines *blas;
    wt_attention_shape shape;
    wt_row_shape row;
    size_t hidden_stride, table_rows, values_width; /* 2 T + 1; width lanes */
    bool absorbed;                                  /* the way of the sums in hand */
    /* of a step: */
    const float *parameters;
    wt_dropout dropout;
    wt_arena arena;                  /* of the arrays up to `parts` */
    float *live, *norms[6];          /* padded copies of the gains and biases, as in wt_sums */
    float *table;                    /* (2 T + 1, stride) tok_emb + pos_emb, times the scale */
    float *key, *value, *value_bias; /* g wk / sqrt(width), g wv, b wv + bv; as in wt_sums */
    /* of a step, tables: */
    float *hat, *hat_scale;        /* of the table */
    float *scores, *values;        /* (2 T + 1, lanes), (2 T + 1, width lanes) */
    float *weights;                /* (2 T + 1, lanes) exp(score) but for a factor a head, while */
    bool narrow;                   /* no head's scores lie too far apart for that */
    float *h, *q, *u, *transposed; /* of [CLS]: h = LN1 x_T */
    float *d_hat;                  /* (2 T + 1, stride) */
    float *parts;                  /* sums of chunks of the table */
    float *codes;                  /* evaluation: (T / 4, 16, (width + 1) lanes), see there */
    /* groups and workers: */
    size_t groups, group_floats, workers;
    bool groups_absorbed;
    float *group_block;
    wt_sums sums[WT_MOST_GROUPS];
    wt_network_result results[WT_MOST_GROUPS];
    wt_worker *worker;
    bool nested; /* inside another parallel loop: all chunks run on this thread */
} wt_transformer_work;

/* ---- set-up (transformer_work.c) ---- */
wt_status wt_transformer_work_open(wt_context *context, wt_network *network,
                                   wt_transformer_work **out);
void wt_transformer_work_free(void *work);
/* Room for the sums of this many groups and for the context's threads. */
wt_status wt_transformer_reserve(wt_context *context, wt_transformer_work *work, size_t groups,
                                 bool absorbed);
/* Tables and folded matrices for these parameters; token vectors times `scale`. */
void wt_transformer_prepare(wt_transformer_work *work, const float *parameters, float scale);
/* The tensor among the parameters, and its place in a `rest` block. */
const float *wt_transformer_tensor(const wt_transformer_work *work, size_t tensor);
float *wt_transformer_rest(const wt_transformer_work *work, float *rest, size_t tensor);
wt_worker *wt_transformer_worker(wt_transformer_work *work, int worker);

/* ---- the tail (transformer_tail.c): lines 4 to 6 for up to WT_TAIL_SAMPLES samples ---- */
/* From tail.y and tail.x to tail.logits; with dropout once its words are drawn. */
void wt_tail_forward(const wt_transformer_work *work, wt_tail *tail, size_t count, bool drop);
/* There, judged as samples first .. first + count - 1, and back to d_y and d_c = the derivative by
 * x_T; those by parameters into the group's sums. */
void wt_tail_step(wt_transformer_work *work, wt_tail *tail, const wt_bits *batch, size_t first,
                  size_t count, size_t group);

/* ---- one group of samples, begin .. end-1 of the batch ---- */
void wt_transformer_absorbed(wt_transformer_work *work, wt_worker *worker, const wt_bits *batch,
                             size_t begin, size_t end, size_t group);
void wt_transformer_by_tables(wt_transformer_work *work, wt_worker *worker, const wt_bits *batch,
                              size_t begin, size_t end, size_t group);

/* ---- tables (transformer_tables.c) ---- */
#define WT_TABLE_CHUNKS 16 /* at most; a chunk has 64 rows or more */
size_t wt_transformer_part_floats(const wt_transformer_work *work);
/* The rows of the table that a sample's tokens are. */
void wt_transformer_index(const wt_transformer_work *work, const uint8_t *bit, uint32_t *index);
wt_status wt_transformer_fill_tables(wt_context *context, wt_transformer_work *work);
/* From the sums over scores and values to those over key, value and the table. */
wt_status wt_transformer_tables_back(wt_context *context, wt_transformer_work *work, wt_sums *sums,
                                     float *d_table);

/* ---- the public calls ---- */
/* The gradient by the way asked for; only the absorbed one can drop token vectors. */
wt_status wt_transformer_gradient_by(wt_context *context, wt_network *network, bool absorbed,
                                     const wt_dropout *dropout, const float *parameters,
                                     const wt_bits *batch, float *gradient,
                                     wt_network_result *result);
wt_status wt_transformer_gradient(wt_context *context, wt_network *network, const float *parameters,
                                  const wt_bits *batch, uint64_t key, float *gradient,
                                  wt_network_result *result);
wt_status wt_transformer_evaluate(wt_context *context, wt_network *network, const float *parameters,
                                  const wt_bits *batch, size_t max_errors,
                                  wt_network_result *result);
wt_status wt_transformer_attention(wt_context *context, wt_network *network,
                                   const float *parameters, const wt_bits *batch, float *out);

#endif
