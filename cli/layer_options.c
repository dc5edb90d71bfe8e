#include "layer_options.h"

#include <string.h>

wt_status cli_layer_check(cli_call *call, const cli_layer_values *how, size_t files) {
    if (how->index.count > files)
        return wt_fail(call->context, WT_USAGE, "--index has %zu numbers for %zu file%s",
                       how->index.count, files, files == 1 ? "" : "s");
    return WT_OK;
}

wt_status cli_layer_open(cli_call *call, const cli_layer_values *how, const char *path,
                         size_t which, wt_layer **out) {
    wt_checkpoint_options options;
    WT_INIT(wt_checkpoint_options, &options);
    options.heads = how->heads;
    options.map = how->map;
    options.ignore_rope = how->rope != NULL && strcmp(how->rope, "ignore") == 0;
    size_t index = how->index.count == 0   ? 0
                   : how->index.count == 1 ? how->index.values[0]
                                           : how->index.values[which];
    return wt_layer_open(call->context, path, &options, index, how->fold, out);
}
