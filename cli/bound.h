/* `wattle bound`: the options of every kind, and the kinds. */
#ifndef CLI_BOUND_H
#define CLI_BOUND_H

#include "command.h"

typedef struct cli_bound_values {
    const char *target, *data, *model, *tokens;
    size_t dim, keys, heads, samples;
    uint64_t measure;
    double delta, bias, token_scale;
} cli_bound_values;

/* rfa, brfa and rfmlp. `kind` is the word on the command line. */
wt_status cli_bound_features(cli_call *call, const char *kind);

#endif
