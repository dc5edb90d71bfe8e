/* The inside of a construction, and what its heads make of each token. */
#ifndef WT_NETWORK_MODEL_CONSTRUCTION_H
#define WT_NETWORK_MODEL_CONSTRUCTION_H

#include "base/memory.h"
#include "network/task/boolean.h"
#include "wattle/construct.h"

struct wt_construction {
    wt_arena arena; /* of the arrays */
    wt_boolean *function;
    size_t length, dim, heads; /* T, d, 1 or s */
    size_t relevant[WT_BOOLEAN_MAX_BITS];
    bool bag;
    double *position;         /* (T, d); NULL = row t is the unit vector t */
    double *symbol;           /* (2, d) e_0 and e_1; NULL for a bag */
    double *cls;              /* (d) */
    double *w_q, *w_k, *w_v;  /* (heads, d) */
    size_t width1, width2;    /* of the network that reads the heads */
    double *w1, *b1;          /* (heads, width1), (width1) */
    double *w2, *b2;          /* (width1, width2), (width2) */
    double *w3, *b3;          /* (width2), (1) */
    double gap;               /* gamma */
    double strength, overlap; /* the largest R and rho of a head */
};

/* An empty one; its arrays come from its arena. */
wt_status wt_construction_room(wt_context *context, wt_construction **out);
/* The usual dimension of random positions. */
size_t wt_construction_random_dim(size_t bits, size_t length);
/* What head h should answer for row r of the truth table. */
double wt_construction_ideal(const wt_construction *construction, size_t head, size_t row);

/* Softmax weights before they are divided by their sum, and the same times the token's value: a
 * head answers sum moved / sum weight. Position T is [CLS], the same for both bits. */
typedef struct wt_token_table {
    size_t heads, length;
    double *weight, *moved; /* (heads, T + 1, 2) */
} wt_token_table;

/* Its arrays are of the arena. */
wt_status wt_token_table_fill(wt_arena *arena, const wt_construction *construction,
                              wt_token_table *out);

/* <w, x_t> for both bits at every position, then twice <w, x_cls>: out (T + 1, 2). */
void wt_token_dots(const wt_construction *construction, const double *w, double *out);

/* Entries of head h, position t: two, one for each bit. */
static inline size_t wt_token_at(const wt_token_table *table, size_t head, size_t position) {
    return 2 * (head * (table->length + 1) + position);
}

/* The network's answers (rows) to those of the heads, y (rows, heads). */
wt_status wt_construction_read(wt_context *context, const wt_construction *construction,
                               size_t rows, const double *y, double *out);

/* Of how many relevant bits a head tells the ones; how many ones these are in row r of the truth
 * table; and what a head should answer then. */
size_t wt_construction_told(const wt_construction *construction);
size_t wt_construction_ones(const wt_construction *construction, size_t head, size_t row);
double wt_construction_answer(const wt_construction *construction, size_t ones);

/* gamma: the smallest gap between two ideal answers of a head. Heads and function are set. */
double wt_construction_gap(const wt_construction *construction);

/* <w, v_t> */
double wt_construction_dot(const wt_construction *construction, size_t position, const double *w);

#endif
