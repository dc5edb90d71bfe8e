/* Products A B^T of thin factors, looked at without being formed: O(d r^2) in place of d^3. */
#ifndef WT_LAYER_MODEL_FACTORED_H
#define WT_LAYER_MODEL_FACTORED_H

#include "base/memory.h"
#include "layer/model/products.h"

typedef struct wt_factored {
    size_t rows, columns, width; /* of A B^T; r */
    size_t left, right;          /* min(rows, r), min(columns, r) */
    double *a, *b;               /* (rows, r), (columns, r): the caller's to fill */
    double *u_a, *u_b;           /* (rows, left), (columns, right) with orthonormal columns */
    double *core;                /* (left, right): A B^T = u_a core u_b^T */
    double *singular;            /* min(left, right), of A B^T */
    double *room;                /* max(rows, columns, r) x max(left, right, r) */
    double *s_a, *s_b, *v_a, *v_b;
} wt_factored;

/* All memory is of the arena, whose status tells. */
wt_factored wt_factored_new(wt_arena *arena, size_t rows, size_t columns, size_t width);
/* u_a, u_b, core and singular, from a and b. */
wt_status wt_factored_split(wt_context *context, wt_factored *of);
/* What wt_products_inspect says of theta = A B^T, rows = columns; after the split. */
wt_status wt_factored_inspect(wt_context *context, wt_factored *of, double rounding,
                              wt_head_summary *out);

#endif
