/* Tokens drawn from a law, addressable by sample. */
#ifndef WT_LINALG_TOKEN_LAW_H
#define WT_LINALG_TOKEN_LAW_H

#include "wattle/law.h"
#include "wattle/random.h"

/* Names of the laws, in their order; NULL at the end. */
extern const char *const wt_law_words[];
/* WT_USAGE for no law. */
wt_status wt_law_check(wt_context *context, wt_law law);
/* Tokens first .. first+count-1 of the stream as rows of out (count, dim), times scale. */
void wt_tokens_draw(wt_law law, double scale, wt_stream stream, uint64_t first, size_t count,
                    size_t dim, double *out);

#endif
