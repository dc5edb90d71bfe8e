/* `wattle bound`: the options of every kind, and the kinds. */
#ifndef CLI_BOUND_H
#define CLI_BOUND_H

#include "command.h"
#include "wattle/capacity.h"

typedef struct cli_bound_values {
    const char *target, *data, *model, *tokens, *norms;
    size_t dim, keys, heads, samples;
    size_t depth;              /* layers of a transformer */
    wt_capacity_spec capacity; /* of head and transformer, without dim and delta */
    uint64_t measure;
    double delta, bias, token_scale;
} cli_bound_values;

/* rfa, brfa and rfmlp. `kind` is the word on the command line. */
wt_status cli_bound_features(cli_call *call, const char *kind);
/* head and transformer. */
wt_status cli_bound_capacity(cli_call *call, const char *kind);

/* WT_USAGE when one of these options was given: they are of another kind. */
wt_status cli_bound_refuse(const cli_call *call, const char *kind, const char *names);

/* Takes the size that a file has, 0 = none; WT_USAGE when the option says another. */
wt_status cli_bound_take(cli_call *call, const char *option, const char *where, size_t in_file,
                         size_t *value);
/* "not specified: one; two." and the end of the line; nothing without words, which end with NULL.
 */
void cli_bound_list(const char *lead, const char *const *words);
json_t *cli_bound_words(const char *const *words);

#endif
