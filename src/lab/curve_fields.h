/* Sizes of a learning curve, once for all: the table of curves, and rows for the experiment. `AT`
 * gives the place of a member in the struct of the table; KIND says whether n is a list there. */
#ifndef WT_LAB_CURVE_FIELDS_H
#define WT_LAB_CURVE_FIELDS_H

#include "features/learn/ridge_fields.h"
#include "features/model/model_fields.h"
#include "features/task/problem_fields.h"

/* clang-format off */
#define WT_CURVE_FIELDS(AT, KIND)                                                                  \
    {"n", KIND(COUNT), .fallback = "16:1024:x2", .offset = AT(n), .letter = "n",                   \
     .value = "SAMPLES", .help = "Training samples."},                                             \
    {"test-n", WT_FIELD_KIND_COUNT, "1000", .offset = AT(test_samples), .value = "SAMPLES",        \
     .help = "Test samples."}
/* clang-format on */

#endif
