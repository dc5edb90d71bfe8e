/* `wattle bound`: the options of every kind, and the kinds. */
#ifndef CLI_BOUND_H
#define CLI_BOUND_H

#include "command.h"
#include "wattle/capacity.h"

typedef struct cli_bound_values {
    const char *target, *data, *model, *tokens, *norms;
    size_t dim, keys, heads, samples;
    size_t length, inputs, depth; /* of head and transformer: T, m, layers */
    uint64_t measure;
    double delta, bias, token_scale, epsilon, lipschitz, loss_most;
    bool residual;
} cli_bound_values;

/* rfa, brfa and rfmlp. `kind` is the word on the command line. */
wt_status cli_bound_features(cli_call *call, const char *kind);
/* head and transformer. */
wt_status cli_bound_capacity(cli_call *call, const char *kind);

/* WT_USAGE when one of these options was given: they are of another kind. */
wt_status cli_bound_refuse(const cli_call *call, const char *kind, const char *const *names,
                           size_t count);

/* "qk21=8,v21=4,v=2/qk21=6": one group a head, or a layer where `deep`; what a group leaves out is
 * as in the group before it. One group counts `copies` times; a layer has `heads` heads alike. */
wt_status cli_parse_norms(wt_context *context, const char *text, bool deep, size_t copies,
                          size_t heads, wt_model_norms **out);

#endif
