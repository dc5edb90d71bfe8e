/* What a construction's heads make of each token, once for all inputs. */
#ifndef WT_NETWORK_MODEL_CONSTRUCTION_H
#define WT_NETWORK_MODEL_CONSTRUCTION_H

#include "base/context.h"
#include "wattle/construct.h"

/* Softmax weights before they are divided by their sum, and the same times the token's value: a
 * head answers sum moved / sum weight. Position T is [CLS], the same for both bits. */
typedef struct wt_token_table {
    size_t heads, length;
    double *weight, *moved; /* (heads, T + 1, 2) */
} wt_token_table;

wt_status wt_token_table_new(wt_context *context, const wt_construction *construction,
                             wt_token_table *out);
void wt_token_table_free(wt_token_table *table);

/* <w, x_t> for both bits at every position, then twice <w, x_cls>: out (T + 1, 2). */
void wt_token_dots(const wt_construction *construction, const double *w, double *out);

/* Entries of head h, position t: two, one a bit. */
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

/* Memory for all but the positions, symbols and [CLS]; heads, dim and widths are set. */
wt_status wt_construction_room(wt_context *context, wt_construction *construction);

#endif
