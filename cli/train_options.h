/* Options that `train` and `threshold` share: the task, the network, the recipe. A command embeds
 * the struct in its values and the rows in its table. */
#ifndef CLI_TRAIN_OPTIONS_H
#define CLI_TRAIN_OPTIONS_H

#include "command.h"
#include "wattle/train.h"

typedef struct cli_recipe {
    const char *task, *model, *activation, *balls;
    double probability, noise;
    bool keep_ambiguous, fixed_positions, decoupled;
    size_t dim, heads, hidden;
    double dropout, embedding_dropout, attention_dropout, block_dropout;
    double rate, weight_decay, clip, init_scale;
    size_t steps, validate, validation_samples;
    double success;
} cli_recipe;

/* clang-format off */
#define CLI_TRAIN_FIELD(type, member, name) offsetof(type, member.name)
#define CLI_TRAIN_OPTIONS(type, member)                                                            \
    {"task", 0, CLI_TEXT, CLI_TRAIN_FIELD(type, member, task), "TASK", "and:3",                    \
     "The function: and:3, or:3, majority:3, parity:3 (of so many bits), symmetric: and s + 1 "    \
     "values, table: and 2^s values."},                                                            \
    {"probability", 0, CLI_REAL, CLI_TRAIN_FIELD(type, member, probability), "P", NULL,            \
     "Probability of a one; by default the one that balances the labels."},                        \
    {"noise", 0, CLI_REAL, CLI_TRAIN_FIELD(type, member, noise), "P", "0",                         \
     "Probability that a label is turned, of training and test samples; validations are clean."},  \
    {"keep-ambiguous", 0, CLI_FLAG, CLI_TRAIN_FIELD(type, member, keep_ambiguous), NULL, NULL,     \
     "Train on sets of an and that a second and explains too; by default they are drawn anew."},   \
    {"model", 'm', CLI_CHOICE, CLI_TRAIN_FIELD(type, member, model), "transformer|head|mlp",       \
     "transformer", "The network: the published block, the theorem's single head, or a "           \
     "perceptron on the bits."},                                                                   \
    {"dim", 'd', CLI_COUNT, CLI_TRAIN_FIELD(type, member, dim), "D", "64", "Width of a token."},   \
    {"heads", 'H', CLI_COUNT, CLI_TRAIN_FIELD(type, member, heads), "H", "16",                     \
     "Heads of the transformer; they divide the width."},                                          \
    {"hidden", 0, CLI_COUNT, CLI_TRAIN_FIELD(type, member, hidden), "W", NULL,                     \
     "Width of the hidden layer of transformer or mlp; 4 times --dim by default."},                \
    {"activation", 0, CLI_TEXT, CLI_TRAIN_FIELD(type, member, activation), "NAME", NULL,           \
     "head: relu, gelu, tanh or identity; mlp: relu or gelu."},                                    \
    {"fixed-positions", 0, CLI_FLAG, CLI_TRAIN_FIELD(type, member, fixed_positions), NULL, NULL,   \
     "The transformer's positional table stays as drawn."},                                        \
    {"dropout", 0, CLI_REAL, CLI_TRAIN_FIELD(type, member, dropout), "P", NULL,                    \
     "All dropouts: the three of the transformer, 0.1 by default, or those of inputs and hidden "  \
     "layers of the mlp, 0 by default; a head has none."},                                         \
    {"embedding-dropout", 0, CLI_REAL, CLI_TRAIN_FIELD(type, member, embedding_dropout), "P",      \
     NULL, "That of token vectors, or of the mlp's inputs; without it a step of the transformer "  \
     "is several times faster."},                                                                  \
    {"attention-dropout", 0, CLI_REAL, CLI_TRAIN_FIELD(type, member, attention_dropout), "P",      \
     NULL, "That of attention weights (transformer)."},                                            \
    {"block-dropout", 0, CLI_REAL, CLI_TRAIN_FIELD(type, member, block_dropout), "P", NULL,        \
     "That of what attention and MLP add, or of the mlp's hidden layers."},                        \
    {"lr", 0, CLI_REAL, CLI_TRAIN_FIELD(type, member, rate), "R", "1e-3",                          \
     "Learning rate of Adam's method."},                                                           \
    {"weight-decay", 0, CLI_REAL, CLI_TRAIN_FIELD(type, member, weight_decay), "L", "1e-4",        \
     "Decay of all parameters, as L2 in the gradient."},                                           \
    {"decoupled", 0, CLI_FLAG, CLI_TRAIN_FIELD(type, member, decoupled), NULL, NULL,               \
     "Take the decay, times the learning rate, from the parameters instead."},                     \
    {"clip", 0, CLI_REAL, CLI_TRAIN_FIELD(type, member, clip), "C", "1",                           \
     "Most length of the gradient; 0 = any."},                                                     \
    {"ball", 0, CLI_TEXT, CLI_TRAIN_FIELD(type, member, balls), "LIST", NULL,                      \
     "Hard norm balls, matrix.norm=radius with commas between them, by exact projection after "    \
     "every step. Norms: spectral, frobenius, two-one. Matrices: qk and v (of every head), o, "    \
     "mlp1, mlp2, readout, w, or a tensor's name."},                                               \
    {"init-scale", 0, CLI_REAL, CLI_TRAIN_FIELD(type, member, init_scale), "A", "1",               \
     "Trained matrices start times this."},                                                        \
    {"steps", 0, CLI_COUNT, CLI_TRAIN_FIELD(type, member, steps), "S", "1000", "Steps of a run."}, \
    {"validate", 0, CLI_COUNT, CLI_TRAIN_FIELD(type, member, validate), "S", "10",                 \
     "Steps from one validation to the next."},                                                    \
    {"validation-samples", 0, CLI_COUNT, CLI_TRAIN_FIELD(type, member, validation_samples), "N",   \
     "10000", "Fresh samples of a validation."},                                                   \
    {"success", 0, CLI_REAL, CLI_TRAIN_FIELD(type, member, success), "A", "0.99",                  \
     "Validation accuracy that a run must pass to succeed, which ends it; 1 must be met."}
/* clang-format on */

/* The setting these options describe, on the given length and samples; texts stay the call's. */
wt_train_setting cli_train_setting(const cli_call *call, const cli_recipe *options, size_t length,
                                   size_t samples);
/* WT_USAGE for an option that was given and means nothing to the model. */
wt_status cli_train_check(const cli_call *call, const cli_recipe *options);

#endif
