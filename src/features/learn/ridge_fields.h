/* The fields of how lambda is chosen, once for all: of fits, of curves, and rows for the
 * experiment. `AT` gives the place of a member in the struct of the table. */
#ifndef WT_FEATURES_LEARN_RIDGE_FIELDS_H
#define WT_FEATURES_LEARN_RIDGE_FIELDS_H

#include "base/field.h"
#include "wattle/fit.h"

/* clang-format off */
#define WT_LAMBDA_FIELDS(AT)                                                                       \
    {"lambda", WT_FIELD_KIND_CHOICE, "1e-3", .offset = AT(lambda), .letter = "l",                  \
     .value = "loo|gcv|min-norm|oracle", .range = "[0,inf)",                                       \
     .help = "Ridge penalty: a number, or loo, gcv (chosen by leave-one-out or generalised "       \
             "cross-validation), min-norm, oracle (least test error: for replication, not for "    \
             "use)."},                                                                             \
    {"lambda-path", WT_FIELD_LIST(REAL), .fallback = "1e-8:10:x10", .offset = AT(path),            \
     .range = "(0,inf)", .none = "",                                                               \
     .help = "Lambdas tried by loo, gcv and oracle; beyond an end that is best it goes on, a "     \
             "factor of 10 at a time."}
/* clang-format on */

#endif
