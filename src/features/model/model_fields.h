/* The fields of a model, once for all: the library's table, and rows for the experiment. `AT` gives
 * the place of a member in the struct of the table. */
#ifndef WT_FEATURES_MODEL_MODEL_FIELDS_H
#define WT_FEATURES_MODEL_MODEL_FIELDS_H

#include "base/field.h"
#include "wattle/fit.h"

/* Names of wt_model_kind and of wt_activation, in their order; NULL at the end. */
extern const char *const wt_model_kind_words[];
extern const char *const wt_activation_words[];

/* clang-format off */
#define WT_MODEL_FIELDS(AT)                                                                        \
    {"model", WT_FIELD_KIND_WORD, "rfa", .offset = AT(kind), .words = wt_model_kind_words,         \
     .value = "rfa|brfa|rfmlp|rfa-inf|brfa-inf|rfmlp-inf", .letter = "m",                          \
     .help = "What is fitted."},                                                                   \
    {"heads", WT_FIELD_KIND_COUNT, "1000", .offset = AT(heads), .value = "M", .letter = "M",       \
     .help = "Heads with frozen weights."},                                                        \
    {"width", WT_FIELD_KIND_NATURAL, "0", .offset = AT(width), .value = "P",                       \
     .help = "Neurons of rfmlp; 0 = M(d+1), as many parameters as rfa."},                          \
    {"bias", WT_FIELD_KIND_REAL, "4", .offset = AT(bias), .value = "C", .letter = "c",             \
     .help = "Multiple of the identity added to the weights of brfa."},                            \
    {"activation", WT_FIELD_KIND_WORD, "relu", .offset = AT(activation),                           \
     .words = wt_activation_words, .value = "relu|softmax", .help = "How heads weigh the keys."}
/* clang-format on */

#endif
