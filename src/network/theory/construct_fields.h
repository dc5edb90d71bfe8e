/* The fields of a construction, once for all: the library's table, and rows for the experiment.
 * Offsets are those of wt_construction_spec, which stands first in a struct that has more. */
#ifndef WT_NETWORK_THEORY_CONSTRUCT_FIELDS_H
#define WT_NETWORK_THEORY_CONSTRUCT_FIELDS_H

#include "base/field.h"
#include "wattle/construct.h"

/* Words of the enumerations, in their order; NULL at the end. */
extern const char *const wt_positions_words[];
extern const char *const wt_construction_heads_words[];
extern const char *const wt_construction_tokens_words[];

/* clang-format off */
#define WT_CONSTRUCT_ROW(row_name, row_kind, row_fallback, member)                                 \
    .name = (row_name), .kind = WT_FIELD_KIND_##row_kind, .fallback = (row_fallback),              \
    .offset = offsetof(wt_construction_spec, member)

#define WT_CONSTRUCT_FIELDS                                                                        \
    {WT_CONSTRUCT_ROW("function", WORD, "and:3", function), .value = "FUNCTION", .letter = "f",    \
     .help = "symmetric:0001 (s + 1 values by the number of ones), table:01101001 (2^s values, "   \
             "the first relevant bit most significant), and:s, or:s, majority:s or parity:s."},    \
    {WT_CONSTRUCT_ROW("length", COUNT, "1024", length), .value = "T", .letter = "T",               \
     .help = "Bits of an input."},                                                                 \
    {WT_CONSTRUCT_ROW("positions", WORD, "basis", positions), .words = wt_positions_words,         \
     .value = "basis|random|trained",                                                              \
     .help = "Vectors of the positions: unit vectors, random ones, or one vector at all relevant " \
             "positions (a head each) and nothing elsewhere."},                                    \
    {WT_CONSTRUCT_ROW("position-dim", NATURAL, "0", position_dim), .value = "D",                   \
     .help = "Dimension of random positions; 0 = 8 (s + 1) log T, and 64 at least."},              \
    {WT_CONSTRUCT_ROW("heads", WORD, "auto", heads), .words = wt_construction_heads_words,         \
     .value = "s|one|auto",                                                                        \
     .help = "One head for symmetric functions, s for any; auto: one where it will do."},          \
    {WT_CONSTRUCT_ROW("tokens", WORD, "sum", tokens), .words = wt_construction_tokens_words,       \
     .value = "sum|bag",                                                                           \
     .help = "sum: position plus the symbol of the bit; bag: the position where the bit is 1, "    \
             "nothing where it is 0."}
/* clang-format on */

#endif
