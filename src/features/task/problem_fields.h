/* The fields of a problem, once for all: the library's table, and rows for the experiment. `AT`
 * gives the place of a member in the struct of the table; KIND is WT_FIELD_ONE, or WT_FIELD_LIST
 * where several are compared. */
#ifndef WT_FEATURES_TASK_PROBLEM_FIELDS_H
#define WT_FEATURES_TASK_PROBLEM_FIELDS_H

#include "base/field.h"
#include "linalg/token_law.h"
#include "wattle/sets.h"

/* clang-format off */
#define WT_PROBLEM_FIELDS(AT, KIND, usual_target)                                                  \
    {"target", KIND(WORD), .fallback = (usual_target), .offset = AT(target), .value = "TARGET",    \
     .help = "What is to be learned: query-power:p, first-power:p, mean-power:p, corr-power:q, "   \
             "corr:p, corr-cos:p or mix:g:p:q."},                                                  \
    {"tokens", WT_FIELD_KIND_WORD, "sphere", .offset = AT(law), .words = wt_law_words,             \
     .value = "sphere|gaussian|boolean", .help = "Law of the tokens."},                            \
    {"token-scale", WT_FIELD_KIND_REAL, "0", .offset = AT(token_scale), .value = "A",              \
     .help = "Tokens are multiplied by this; 0 = 1 for the sphere, 1/sqrt(d) for the others."},    \
    {"noise", WT_FIELD_KIND_REAL, "0", .offset = AT(noise), .value = "S", .range = "[0,inf)",      \
     .help = "Standard deviation of Gaussian label noise."},                                       \
    {"dim", KIND(COUNT), .fallback = "16", .offset = AT(dim), .value = "D", .letter = "d",         \
     .help = "Dimension of the tokens."},                                                          \
    {"keys", KIND(COUNT), .fallback = "16", .offset = AT(keys), .value = "N", .letter = "N",       \
     .help = "Keys a sample."}
/* clang-format on */

#endif
