/* The fields of samples of a sparse task, once for all: of training runs, searches and experiments.
 * `AT` gives the place of a member in the struct of the table; KIND is WT_FIELD_ONE, or
 * WT_FIELD_LIST where several are compared. */
#ifndef WT_NETWORK_TASK_TASK_FIELDS_H
#define WT_NETWORK_TASK_TASK_FIELDS_H

#include "base/field.h"

/* clang-format off */
#define WT_TASK_FIELDS(AT, KIND, usual_task, usual_length, usual_samples, samples_letter)          \
    {"task", WT_FIELD_KIND_WORD, (usual_task), .offset = AT(task), .value = "TASK",                \
     .help = "The function: and:3, or:3, majority:3, parity:3 (of so many bits), symmetric: and "  \
             "s + 1 values, table: and 2^s values."},                                              \
    {"length", KIND(COUNT), .fallback = (usual_length), .offset = AT(length), .value = "T",        \
     .letter = "T", .help = "Bits of a sample."},                                                  \
    {"m", KIND(COUNT), .fallback = (usual_samples), .offset = AT(samples), .value = "M",           \
     .option = "samples", .letter = (samples_letter), .help = "Samples of a training set."},       \
    {"probability", WT_FIELD_KIND_REAL, "0", .offset = AT(probability), .value = "P",              \
     .none = "0", .letter = "p", .range = "[0,1]",                                                 \
     .help = "Probability of a one; by default the one that balances the labels."},                \
    {"noise", WT_FIELD_KIND_REAL, "0", .offset = AT(noise), .value = "P", .range = "[0,0.5)",      \
     .help = "Probability that a label is flipped."}
/* clang-format on */

#endif
