/* Tokens that are rows of arrays, as a table of embeddings has them. */
#ifndef WT_LAYER_TASK_TOKEN_ROWS_H
#define WT_LAYER_TASK_TOKEN_ROWS_H

#include "wattle/layer.h"

/* Fills x by the rows, the additions and the norm of the options. */
wt_status wt_token_rows_draw(wt_context *context, const wt_layer_draw_options *options,
                             wt_sequences *out);

#endif
