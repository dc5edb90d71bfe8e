/* The inside of the fleet engine: networks in step, a chunk of them at a time.
 *
 * Every number has one thread that adds it up, in an order that the shape alone decides. So the
 * bits of a network depend neither on the chunk it is in nor on the others there; no float is added
 * atomically. */
#ifndef WATTLE_CUDA_FLEET_H
#define WATTLE_CUDA_FLEET_H

#include <stdint.h>

#include "device/fleet.h"
#include "plugin.h"

enum {
    FLEET_TENSORS = 24,
    FLEET_TILE = 64,
    FLEET_SHARE = 16,
    FLEET_SEGMENT = 32,
    FLEET_LANES = 16
};
enum { DROP_TOKENS, DROP_WEIGHTS, DROP_BLOCKS, DROP_PLACES };
enum { FLEET_KEEP_ALL = 65536 };
enum fleet_kind { FLEET_TRANSFORMER, FLEET_HEAD, FLEET_MLP };
enum fleet_activation { FLEET_RELU, FLEET_GELU, FLEET_TANH, FLEET_IDENTITY };

/* Shapes that kernels are told. */
struct fleet_shape {
    enum fleet_kind kind;
    enum fleet_activation activation;
    int length, n;    /* T, T + 1 */
    int dim, stride;  /* d, and filled up to a multiple of 32 with zeros */
    int heads, width; /* width = d / heads */
    int hidden, wide; /* filled up likewise */
    int table;        /* 2 T + 1 rows that a token can be */
    int tiles;        /* of FLEET_TILE tokens */
    int samples;      /* of a step, at most */
    int segments;     /* of FLEET_SEGMENT samples */
    int rows;         /* of the buffers of a network: samples, or samples that are judged */
    int inputs;       /* stride of an input row of an mlp, of a weights row of a head */
    int drawn;        /* bytes of a fresh sample: T, filled up to a multiple of 4 */
    int64_t size;     /* parameters */
    int64_t offset[FLEET_TENSORS];
    uint32_t keep[DROP_PLACES];
    float scale[DROP_PLACES];
};

/* One network of a call. */
struct fleet_one {
    int slot, samples; /* of a step, or to be judged */
    uint64_t key;      /* of the dropout */
    uint64_t first;    /* sample of the stream */
    float rate, root;  /* rate / (1 - b1^t), 1 / sqrt(1 - b2^t) */
};

/* How a slot's samples are drawn. */
struct fleet_source {
    uint64_t inputs[2], flips[2], judged[2]; /* seed and stream */
    uint64_t threshold;
    double noise;
    int bits, relevant[16];
    int64_t values; /* offset of its labels by row of the truth table */
};

/* Arrays of a chunk: network b of it has the part from b times the number in brackets. */
struct fleet_work {
    /* all of the networks, by slot */
    float *parameters, *first, *second; /* [size] */
    uint8_t *bit, *label;               /* [samples T], [samples] */
    fleet_source *sources;
    uint8_t *values;
    /* of the chunk */
    const fleet_one *ones;
    uint8_t *drawn, *drawn_label; /* [rows drawn], [rows] fresh samples */
    float *gradient;              /* [size] */
    double *loss;                 /* [rows] of every sample */
    uint8_t *right;               /* [rows] */
    double *outcome;              /* [3] loss, correct samples, factor of the gradient */
    float *d_logits;              /* [rows 2] */
    /* rows of `stride` */
    float *x, *h, *hat, *q, *y, *c, *c_hat, *m, *e_hat, *w, *d_w, *d_e, *d_c, *d_m, *d_y, *d_q,
        *d_h, *d_x, *e;
    float *hat_scale, *c_scale, *e_scale; /* [rows] */
    /* rows of `wide` */
    float *f, *u, *d_u;
    /* attention of a transformer: [samples LANES stride] and [samples LANES] */
    float *query, *z, *d_z, *d_query;
    float *total, *most, *sum, *more, *mean;
    float *rows_of;                  /* [tiles TILE 2 stride] what a token can be */
    uint32_t *mask;                  /* [shares masks 32] which numbers of a token are kept */
    float2 *token;                   /* [samples tiles TILE] mean and scale */
    float *scores;                   /* [shares LANES SHARE] */
    float *parts;                    /* [samples tiles LANES stride] of d_query */
    float *d_places;                 /* [segments tiles TILE stride] */
    float *d_symbols;                /* [segments tiles 2 stride] */
    float *key, *value, *value_bias; /* [dim stride], [dim] */
    float *d_key, *d_value, *d_value_bias;
    /* judging by tables */
    float *table_hat, *table_scores,
        *table_values;         /* [table stride], [table LANES], [table stride] */
    float *d_table_scores;     /* [segments tiles 2 TILE LANES] training by tables */
    float *d_table_values;     /* [segments tiles 2 TILE stride] */
    float *d_hat, *d_hat_more; /* [table stride] */
    float *table_sums;         /* [table (LANES + stride)] e and e v */
    float *table_most;         /* [LANES]; NaN: too far apart */
    float *sums;               /* [rows (LANES + stride)] */
    /* mlp, head */
    float *input, *a, *d_a, *d_s;
    float *f1, *u1, *f2, *u2, *d_u1, *d_u2;
};

/* A matrix of every network: rows `ld` apart; by slot it lies among the parameters. */
struct fleet_matrix {
    float *base;
    int64_t each; /* numbers from one network to the next */
    int ld;
    bool by_slot;
};

struct fleet_call {
    fleet_shape shape;
    fleet_work work;
    int count; /* networks of the chunk */
    int most;  /* samples of the network that has most */
    cudaStream_t stream;
};

static inline __device__ int64_t fleet_place(const fleet_matrix &m, const fleet_one *ones, int b) {
    return (m.by_slot ? (int64_t)ones[b].slot : (int64_t)b) * m.each;
}
static inline fleet_matrix fleet_rows(float *base, const fleet_shape &shape, int ld) {
    return fleet_matrix{base, (int64_t)shape.rows * ld, ld, false};
}
static inline fleet_matrix fleet_tensor(const fleet_call &call, int tensor, int ld) {
    return fleet_matrix{call.work.parameters + call.shape.offset[tensor], call.shape.size, ld,
                        true};
}
static inline fleet_matrix fleet_slope(const fleet_call &call, int tensor, int ld) {
    return fleet_matrix{call.work.gradient + call.shape.offset[tensor], call.shape.size, ld, false};
}
/* Columns of d rows in blocks of a warp each. */
static inline dim3 fleet_row_grid(const fleet_call &call, int rows) {
    return dim3((unsigned)((rows + 3) / 4), (unsigned)call.count);
}
enum { FLEET_ROW_THREADS = 128, FLEET_MOST_STRIDE = 128 };

/* ---- products (fleet_product.cu): out (samples, columns) = a (samples, inner) b, b^T;
 * slope (inner, columns) = a^T b over the samples, or over so many rows; fixed orders ---- */
void fleet_product(const fleet_call &call, int rows, int columns, int inner, fleet_matrix a,
                   fleet_matrix b, bool transposed, fleet_matrix out, bool fixed_rows);
void fleet_outer(const fleet_call &call, int inner, int columns, fleet_matrix a, fleet_matrix b,
                 fleet_matrix out, int rows = 0);
/* out_i = sum over samples of a_i, or of a_i b_i where b.base is not NULL; (columns), the first
 * number of out; added to what is there where `add`. */
void fleet_sum_rows(const fleet_call &call, int columns, fleet_matrix a, fleet_matrix b,
                    fleet_matrix out, bool add, int rows = 0);

/* ---- steps, by kind: losses and the gradient into the work ---- */
void fleet_transformer_step(const fleet_call &call);
void fleet_transformer_judge(const fleet_call &call);
void fleet_mlp_step(const fleet_call &call);
void fleet_mlp_judge(const fleet_call &call);
void fleet_head_step(const fleet_call &call);
void fleet_head_judge(const fleet_call &call);
/* What a judgement forms once for these parameters. */
void fleet_transformer_tables(const fleet_call &call);
void fleet_head_tables(const fleet_call &call);

/* ---- a transformer's parts ---- */
void fleet_fold(const fleet_call &call); /* key, value and value_bias */
/* ---- attention without dropout of token vectors (fleet_tables.cu): to y, and from d_y to the
 * gradient of places, symbols, wq, bq, and that of LN1 but for key and value ---- */
void fleet_tables_forward(const fleet_call &call);
void fleet_tables_back(const fleet_call &call);
/* ---- attention (fleet_attend.cu, fleet_attend_back.cu) ---- */
void fleet_attend(const fleet_call &call);
void fleet_attend_back(const fleet_call &call);
/* ---- the rest of a transformer, a row a warp (fleet_tail.cu) ---- */
void fleet_tail_forward(const fleet_call &call, int rows, bool training);
void fleet_tail_back(const fleet_call &call);

/* ---- samples (fleet_draw.cu) into drawn and drawn_label ---- */
void fleet_draw(const fleet_call &call, bool judged);
/* ---- Adam's method (fleet_adam.cu) ---- */
struct fleet_adam {
    float decay, decoupled;
    double clip;
    int ranges;
    int64_t begin[FLEET_TENSORS], end[FLEET_TENSORS];
};
void fleet_update(const fleet_call &call, const fleet_adam &rule);
/* ---- how many of every WT_FLEET_COUNTED rows are right (fleet_adam.cu): [windows] ---- */
void fleet_count(const fleet_call &call, uint32_t *out, int windows, int first_window);

/* ---- memory (fleet_memory.cu) ---- */
/* Bytes of everything by slot and of everything of a chunk; with blocks, the pointers too. */
size_t fleet_slot_bytes(const fleet_shape &shape, size_t networks, char *block, fleet_work *work);
size_t fleet_chunk_bytes(const fleet_shape &shape, size_t networks, char *block, fleet_work *work);

#endif
