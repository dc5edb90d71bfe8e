/* The fields of a model, once for all: the library's table, and rows for the experiment. `AT` gives
 * the place of a member in the struct of the table; KIND is WT_FIELD_ONE, or WT_FIELD_LIST where
 * several are compared. */
#ifndef WT_FEATURES_MODEL_MODEL_FIELDS_H
#define WT_FEATURES_MODEL_MODEL_FIELDS_H

#include "base/field.h"
#include "wattle/fit.h"

/* Names of wt_model_kind and of wt_activation, in their order; NULL at the end. */
extern const char *const wt_model_kind_words[];
extern const char *const wt_activation_words[];

/* clang-format off */
#define WT_MODEL_FIELDS(AT, KIND, usual_model)                                                     \
    {"model", KIND(WORD), .fallback = (usual_model), .offset = AT(kind),                           \
     .words = wt_model_kind_words, .letter = "m",                                                  \
     .value = "rfa|brfa|rfmlp|rfa-inf|brfa-inf|rfmlp-inf",                                         \
     .help = "What is fitted: rfa, brfa, rfmlp, or with infinitely many heads rfa-inf, brfa-inf, " \
             "rfmlp-inf."},                                                                        \
    {"heads", KIND(COUNT), .fallback = "1000", .offset = AT(heads), .value = "M", .letter = "M",   \
     .help = "Heads with frozen weights."},                                                        \
    {"width", WT_FIELD_KIND_NATURAL, "0", .offset = AT(width), .value = "P",                       \
     .help = "Neurons of rfmlp; 0 = M(d+1), as many parameters as rfa."},                          \
    {"bias", KIND(REAL), .fallback = "4", .offset = AT(bias), .value = "C", .letter = "c",         \
     .help = "Multiple of the identity added to the weights of brfa."},                            \
    {"activation", KIND(WORD), .fallback = "relu", .offset = AT(activation),                       \
     .words = wt_activation_words, .value = "relu|softmax",                                        \
     .help = "How heads weigh the keys: relu or softmax."}
/* clang-format on */

#endif
