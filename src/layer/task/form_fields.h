/* The form of a layer as fields: of a teacher and of a recovery. `AT` gives the place of a member
 * in the struct of the table. */
#ifndef WT_LAYER_TASK_FORM_FIELDS_H
#define WT_LAYER_TASK_FORM_FIELDS_H

#include "base/field.h"
#include "wattle/layer.h"

/* Names of the enums, in their order; they end with NULL. */
extern const char *const wt_layer_masks[], *const wt_layer_norms[];

/* clang-format off */
#define WT_FORM_FIELDS(AT, since_version)                                                          \
    {"bias", WT_FIELD_KIND_FLAG, "no", .offset = AT(bias), .since = (since_version),               \
     .help = "The layer has biases: of queries, which add u_h to the scores of a head, and of "    \
             "values and outputs, which add one c to every output row."},                          \
    {"mask", WT_FIELD_KIND_WORD, "none", .offset = AT(mask), .value = "none|causal",               \
     .words = wt_layer_masks, .since = (since_version),                                            \
     .help = "causal: a token attends to itself and those before it. Padding is told by an array " \
             "lengths (n) or mask (n,k) in the data."},                                            \
    {"residual", WT_FIELD_KIND_FLAG, "no", .offset = AT(residual), .since = (since_version),       \
     .help = "The layer adds its tokens to its outputs."},                                         \
    {"norm", WT_FIELD_KIND_WORD, "none", .offset = AT(norm), .value = "none|layer|rms",            \
     .words = wt_layer_norms, .since = (since_version),                                            \
     .help = "The norm that tokens go through before the layer; its gain and shift are part of "   \
             "Theta, W and the biases."},                                                          \
    {"epsilon", WT_FIELD_KIND_REAL, "1e-5", .offset = AT(epsilon), .value = "E",                   \
     .range = "[0,inf)", .since = (since_version), .help = "What the norm adds under its root."}
/* clang-format on */

#endif
