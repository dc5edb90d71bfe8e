/* Tokens that are rows of arrays, as an embedding table has them. */
#ifndef CLI_DRAW_ROWS_H
#define CLI_DRAW_ROWS_H

#include "command.h"
#include "wattle/layer.h"

/* Fills x with rows of the array that "FILE:NAME" names, each drawn by the seed, the same whatever
 * n is; then adds, for every "FILE:NAME" of `add`, the row of a token's place, or, for
 * "FILE:NAME@ROW", that row; and multiplies all by the scale. */
wt_status cli_draw_rows(cli_call *call, const char *from, const cli_texts *add, double scale,
                        wt_sequences *out);
/* A layer norm of every token, with the gain STEM.weight and the shift STEM.bias of "FILE:STEM". */
wt_status cli_normalise(cli_call *call, const char *norm, wt_sequences *out);

#endif
