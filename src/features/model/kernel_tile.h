/* One tile of a kernel matrix at a time: samples of one side against samples of the other. */
#ifndef WT_FEATURES_MODEL_KERNEL_TILE_H
#define WT_FEATURES_MODEL_KERNEL_TILE_H

#include "features/model/kernel_rows.h"
#include "features/model/kernel_side.h"
#include "linalg/backend.h"

typedef struct wt_kernel_tile {
    wt_model_kind kind;
    const wt_kernel_side *a, *b;
    bool lower; /* only entries with row >= column are wanted */
    double *out;
    size_t stride;
    size_t block;          /* samples on either side of a tile */
    size_t a_room, b_room; /* at least the keys they have together */
    double mlp_inputs;     /* N + 2, one over the variance of the weights of rfmlp-inf */
    const wt_routines *blas;
    const wt_kernel_loops *loops;
} wt_kernel_tile;

/* Samples on either side of a tile, for sets of at most `keys` keys: by the shape alone. */
size_t wt_kernel_block(wt_model_kind kind, size_t keys);

/* Numbers of scratch space one tile at a time takes. */
size_t wt_kernel_tile_numbers(const wt_kernel_tile *tile);

/* Entries (a0 .. a1-1, b0 .. b1-1) of the matrix, both at most `block` samples. */
void wt_kernel_tile_attention(const wt_kernel_tile *tile, size_t a0, size_t a1, size_t b0,
                              size_t b1, double *scratch);
void wt_kernel_tile_mlp(const wt_kernel_tile *tile, size_t a0, size_t a1, size_t b0, size_t b1,
                        double *scratch);

#endif
