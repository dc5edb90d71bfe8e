/* What all commands that read a layer from a file share: which layer of a checkpoint, and how. */
#ifndef CLI_LAYER_OPTIONS_H
#define CLI_LAYER_OPTIONS_H

#include "command.h"
#include "wattle/checkpoint.h"

typedef struct cli_layer_values {
    cli_counts index;
    size_t heads; /* 0 = as the checkpoint says */
    const char *map, *rope;
    bool fold;
} cli_layer_values;

/* Rows of a table of options for the member `layer` of the command's values. */
/* clang-format off */
#define CLI_LAYER_OPTIONS(type)                                                                    \
    {"index", 0, CLI_COUNTS, offsetof(type, layer.index), "N", NULL,                               \
     "Which layer of a checkpoint, from 0; the first by default."},                                \
    {"map", 0, CLI_TEXT, offsetof(type, layer.map), "q=NAME,..", NULL,                             \
     "Names in a checkpoint of a scheme of one's own, {} for the number of the layer: "            \
     "q=blocks.{}.wq,k=blocks.{}.wk,v=blocks.{}.wv,o=blocks.{}.wo."},                              \
    {"fold", 0, CLI_FLAG, offsetof(type, layer.fold), NULL, NULL,                                  \
     "Make the norm before a checkpoint's layer, with gain and shift, part of the layer; "         \
     "otherwise it is what tokens after that norm meet."},                                         \
    {"rope", 0, CLI_CHOICE, offsetof(type, layer.rope), "refuse|ignore", NULL,                     \
     "ignore: a checkpoint with rotary, relative or other positions in its scores is read as "     \
     "tokens at one place meet it. "                                                               \
     "Otherwise it is refused."}
#define CLI_LAYER_HEADS(type)                                                                      \
    {"heads", 'm', CLI_COUNT, offsetof(type, layer.heads), "M", NULL,                              \
     "Heads of a checkpoint that does not tell."}
/* clang-format on */

/* The layer of a file of ours, or of a checkpoint. `which`: of several files, from 0; each takes
 * its own number of --index, or all the only one. */
wt_status cli_layer_open(cli_call *call, const cli_layer_values *how, const char *path,
                         size_t which, wt_layer **out);
/* WT_USAGE where --index has more numbers than that. */
wt_status cli_layer_check(cli_call *call, const cli_layer_values *how, size_t files);

#endif
