/* A layer as a black box: asking an outside program, and answering as one.
 *
 * A question is a line with a JSON matrix, k rows of d numbers: the tokens X. The answer is a line
 * with a JSON list: the p numbers of the last row of F(X).
 *
 *     wt_oracle *oracle;
 *     WT_TRY(wt_oracle_open(context, "./black-box", 8, 30, &oracle));
 *     WT_TRY(wt_layer_query(context, wt_oracle_ask, oracle, 8, wt_oracle_outputs(oracle), ..)); */
#ifndef WATTLE_ORACLE_H
#define WATTLE_ORACLE_H

#include "wattle/layer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A program that answers questions. */
typedef struct wt_oracle wt_oracle;

/* Starts `sh -c command` and asks for the answer to the first unit vector of R^dim, which gives the
 * number of outputs. One answer may take `seconds` at most. A program that dies, hangs or answers
 * with anything else is WT_UNAVAILABLE, here and in wt_oracle_ask. The context must outlive the
 * oracle. */
WT_API wt_status wt_oracle_open(wt_context *context, const char *command, size_t dim,
                                double seconds, wt_oracle **out);
/* Ends the program and all it started. Accepts NULL. */
WT_API void wt_oracle_free(wt_oracle *oracle);
/* How many numbers an answer has. */
WT_API size_t wt_oracle_outputs(const wt_oracle *oracle);
/* A wt_query_ask_fn: y (p) for x (k, d); `oracle` is a wt_oracle. The first unit vector, asked
 * first, is not asked twice. */
WT_API wt_status wt_oracle_ask(void *oracle, size_t k, const double *x, double *y);

/* Takes an answer: `count` bytes, the end of the line among them. A status other than WT_OK ends
 * wt_layer_serve with it. */
typedef wt_status (*wt_oracle_answer_fn)(void *user, const char *line, size_t count);
/* The layer answers the lines that come from the descriptor `input` until they end. A line that is
 * no matrix of its tokens, or whose answer is not finite, is WT_DATA. */
WT_API wt_status wt_layer_serve(wt_context *context, const wt_layer *layer, int input,
                                wt_oracle_answer_fn answer, void *user);

#ifdef __cplusplus
}
#endif
#endif
