/* The fields of a teacher, once for all: the library's table, and rows for the experiment. `AT`
 * gives the place of a member in the struct of the table; `dim_zero` says what a dim of 0 is. */
#ifndef WT_LAYER_TASK_TEACHER_FIELDS_H
#define WT_LAYER_TASK_TEACHER_FIELDS_H

#include "base/field.h"
#include "wattle/layer.h"

/* clang-format off */
#define WT_TEACHER_FIELDS(AT, usual_dim, dim_zero)                                                 \
    {"heads", WT_FIELD_KIND_COUNT, "2", .offset = AT(heads), .value = "M", .letter = "m",          \
     .help = "Heads of the layer."},                                                               \
    {"dim", WT_FIELD_KIND_NATURAL, (usual_dim), .offset = AT(dim), .value = "D", .letter = "d",    \
     .help = "Dimension of the tokens" dim_zero "."},                                              \
    {"out-dim", WT_FIELD_KIND_NATURAL, "0", .offset = AT(outputs), .value = "P", .letter = "p",    \
     .help = "Outputs a token; 0 = the dimension of the tokens."},                                 \
    {"scale", WT_FIELD_KIND_REAL, "2", .offset = AT(scale), .value = "S", .range = "[0,inf)",      \
     .help = "Frobenius norm of every Theta."},                                                    \
    {"rank", WT_FIELD_KIND_NATURAL, "0", .offset = AT(rank), .value = "R", .letter = "r",          \
     .help = "Rank of every Theta; 0 = full."},                                                    \
    {"groups", WT_FIELD_KIND_NATURAL, "0", .offset = AT(groups), .value = "G", .since = 3,         \
     .help = "Key-value heads: heads share keys and values in G groups, W of the rank of Theta; "  \
             "0 = none do, and W is full."},                                                       \
    {"parity", WT_FIELD_KIND_NATURAL, "0", .offset = AT(parity), .value = "N",                     \
     .help = "The hard instance instead: N heads that compute the parity of N bits; 0 = a random " \
             "layer."}
/* clang-format on */

#endif
