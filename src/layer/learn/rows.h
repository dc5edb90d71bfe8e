/* The output rows of sequences that a recovery fits: who asks, whom, and what came out. */
#ifndef WT_LAYER_LEARN_ROWS_H
#define WT_LAYER_LEARN_ROWS_H

#include "base/memory.h"
#include "layer/model/attention.h"
#include "layer/task/sequences.h"
#include "wattle/recover.h"

typedef struct wt_rows {
    wt_attention in;
    size_t rows, outputs; /* R, p */
    const double *y;      /* (R, p) */
    double norm;          /* |y|; 1 when all y are 0 */
    size_t *sequence_of;  /* (R): the sequence a row asks in */
    wt_arena arena;       /* of sequence_of, and of all that had to be picked */
} wt_rows;

/* The known output rows of sequences begin .. end-1, with biases and mask as the options say. The
 * data is borrowed. */
wt_status wt_rows_make(wt_context *context, const wt_sequences *data,
                       const wt_recover_options *options, size_t begin, size_t end, wt_rows *out);
void wt_rows_free(wt_rows *rows);
/* The norm and sequence_of of rows that have all else. */
wt_status wt_rows_measure(wt_rows *rows);

/* Replaces y by y S for an S (p, columns) with orthonormal columns, drawn by the seed. */
wt_status wt_rows_sketch(wt_context *context, wt_rows *rows, size_t columns, uint64_t seed);

#endif
