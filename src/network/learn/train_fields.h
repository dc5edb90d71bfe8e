/* The fields of a training run, once for all: the library's table, and rows for the experiments.
 * Offsets are those of wt_train_spec, which stands first in a struct that has more. */
#ifndef WT_NETWORK_LEARN_TRAIN_FIELDS_H
#define WT_NETWORK_LEARN_TRAIN_FIELDS_H

#include "network/task/task_fields.h"
#include "wattle/train.h"

/* clang-format off */
#define WT_TRAIN_ROW(row_name, row_kind, row_fallback, member)                                     \
    .name = (row_name), .kind = WT_FIELD_KIND_##row_kind, .fallback = (row_fallback),              \
    .offset = offsetof(wt_train_spec, member)
#define WT_TRAIN_AT(member) offsetof(wt_train_spec, member)

/* What a trial of a threshold has too. */
#define WT_TRAIN_RECIPE(usual_length, usual_restarts)                                              \
    WT_TASK_FIELDS(WT_TRAIN_AT, WT_FIELD_ONE, "and:3", usual_length, "100", "n"),                  \
    {WT_TRAIN_ROW("keep-ambiguous", FLAG, "no", keep_ambiguous),                                   \
     .help = "Train on sets of an and that a second and explains too; by default they are drawn "  \
             "anew."},                                                                             \
    {WT_TRAIN_ROW("model", WORD, "transformer", model), .value = "transformer|head|mlp",           \
     .letter = "m",                                                                                \
     .help = "The network: the published block, the theorem's single head, or a perceptron on "    \
             "the bits."},                                                                         \
    {WT_TRAIN_ROW("dim", COUNT, "64", dim), .value = "D", .letter = "d",                           \
     .help = "Width of a token."},                                                                 \
    {WT_TRAIN_ROW("heads", NATURAL, "16", heads), .value = "H", .letter = "H",                     \
     .only = "transformer", .help = "Heads of the transformer; they divide the width."},           \
    {WT_TRAIN_ROW("hidden", NATURAL, "0", hidden), .value = "W", .only = "transformer mlp",        \
     .help = "Width of the hidden layer of transformer or mlp; 0 = 4 times the width of a "        \
             "token."},                                                                            \
    {WT_TRAIN_ROW("activation", WORD, "own", activation), .value = "NAME", .none = "own",          \
     .only = "head mlp", .help = "head: relu, gelu, tanh or identity; mlp: relu or gelu; by "      \
                                 "default the first of them."},                                    \
    {WT_TRAIN_ROW("fixed-positions", FLAG, "no", fixed_positions), .only = "transformer",          \
     .help = "The transformer's positional table stays as drawn."},                                \
    {WT_TRAIN_ROW("dropout", REAL, "-1", dropout), .value = "P", .none = "-1", .range = "[0,1)",   \
     .help = "All dropouts: the three of the transformer, 0.1 by default, or those of inputs and " \
             "hidden layers of the mlp, 0 by default; a head has none."},                          \
    {WT_TRAIN_ROW("embedding-dropout", REAL, "-1", embedding_dropout), .value = "P",               \
     .none = "-1", .range = "[0,1)", .file = "embedding-drop",                                     \
     .help = "That of token vectors, or of the mlp's inputs; without it a step of the "            \
             "transformer is several times faster."},                                              \
    {WT_TRAIN_ROW("attention-dropout", REAL, "-1", attention_dropout), .value = "P",               \
     .none = "-1", .range = "[0,1)", .file = "attention-drop", .only = "transformer head",         \
     .help = "That of attention weights (transformer)."},                                          \
    {WT_TRAIN_ROW("block-dropout", REAL, "-1", block_dropout), .value = "P", .none = "-1",         \
     .range = "[0,1)", .file = "block-drop",                                                       \
     .help = "That of what attention and MLP add, or of the mlp's hidden layers."},                \
    {WT_TRAIN_ROW("lr", REAL, "1e-3", rate), .value = "R", .range = "(0,inf)",                     \
     .help = "Learning rate of Adam's method."},                                                   \
    {WT_TRAIN_ROW("weight-decay", REAL, "1e-4", weight_decay), .value = "L", .range = "[0,inf)",   \
     .help = "Decay of all parameters, as L2 in the gradient."},                                   \
    {WT_TRAIN_ROW("decoupled", FLAG, "no", decoupled),                                             \
     .help = "Take the decay, times the learning rate, from the parameters instead."},             \
    {WT_TRAIN_ROW("clip", REAL, "1", clip), .value = "C", .range = "[0,inf)",                      \
     .help = "Most length of the gradient; 0 = any."},                                             \
    {WT_TRAIN_ROW("ball", TEXT, "none", balls), .value = "LIST", .none = "none",                   \
     .help = "Hard norm balls, matrix.norm=radius with commas between them, by exact projection "  \
             "after every step. Norms: spectral, frobenius, two-one. Matrices: qk and v (of "      \
             "every head), o, mlp1, mlp2, readout, w, or a tensor's name."},                       \
    {WT_TRAIN_ROW("init-scale", REAL, "1", init_scale), .value = "A", .range = "[0,inf)",          \
     .help = "Trained matrices start times this."},                                                \
    {WT_TRAIN_ROW("steps", COUNT, "1000", steps), .value = "S", .help = "Steps of a run."},        \
    {WT_TRAIN_ROW("validate", COUNT, "10", validate), .value = "S",                                \
     .help = "Steps from one validation to the next."},                                            \
    {WT_TRAIN_ROW("validation-samples", COUNT, "10000", validation_samples), .value = "N",         \
     .help = "Fresh samples of a validation."},                                                    \
    {WT_TRAIN_ROW("success-accuracy", REAL, "0.99", success), .option = "success", .value = "A",   \
     .range = "(0,1]", .help = "Validation accuracy that a run must pass to succeed, which ends "  \
                               "it; 1 must be met."},                                              \
    {WT_TRAIN_ROW("restarts", COUNT, usual_restarts, restarts), .value = "R", .letter = "r",       \
     .help = "Runs at most, each from a start of its own on the same training set."}

/* What is of one trial alone. */
#define WT_TRAIN_TRIAL                                                                             \
    {WT_TRAIN_ROW("online", NATURAL, "0", online), .value = "B",                                   \
     .help = "Train on so many fresh samples every step instead of a training set; 0 = none."},    \
    {WT_TRAIN_ROW("to-end", FLAG, "no", to_end),                                                   \
     .help = "Take all steps: success is told and is no goal."},                                   \
    {WT_TRAIN_ROW("loss-mark", REAL, "0.35", loss_mark), .value = "L",                             \
     .help = "The first step with a smaller training loss is told."},                              \
    {WT_TRAIN_ROW("settle", REAL, "0", settle), .value = "P", .range = "[0,inf)", .since = 2,      \
     .help = "End a run whose second half gained less than this part of the loss's fall below "    \
             "ln 2; 0 = take all steps."}
/* clang-format on */

/* Dropouts that are not said become those that are meant; samples that are not read become 1. */
void wt_train_spec_settle(wt_train_spec *setting);

#endif
