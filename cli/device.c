#include "wattle/device.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "wattle/text.h"

wt_status cli_choose_device(cli_call *call, const char *name) {
    WT_PASS(wt_context_set_device(call->context, name));
    const char *device = wt_context_device(call->context);
    if (!call->common.verbose || strcmp(name, device) == 0)
        return WT_OK;
    if (strcmp(device, "host") == 0)
        wt_remark(call->context, "running on the host: %s", wt_context_message(call->context));
    else
        wt_remark(call->context, "running on %s", device);
    return WT_OK;
}

wt_status cli_foresee_device(cli_call *call, const char *name) {
    wt_status status = cli_choose_device(call, name);
    if (status != WT_UNAVAILABLE)
        return status;
    wt_remark(call->context, "it could not run here: %s", wt_context_message(call->context));
    return WT_OK;
}

void cli_remark_device(cli_call *call) {
    wt_device_info info = WT_SIZED(wt_device_info);
    char held[WT_BYTES_TEXT];
    if (wt_context_device_info(call->context, &info) == WT_OK && info.ranks > 0)
        wt_remark(
            call->context,
            "%s: at most %.6g flop a rank, %.6g bytes sent in %.6g messages, %s held by rank 0",
            info.product, info.flops, info.bytes, info.messages, wt_bytes_format(info.peak, held));
}

/* Whether the words name the device. */
static bool runs_on_ranks(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--device=mpi") == 0 ||
            (strcmp(argv[i], "--device") == 0 && i + 1 < argc && strcmp(argv[i + 1], "mpi") == 0))
            return true;
    return false;
}

int64_t cli_rank(int argc, char **argv) {
    static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK"};
    int64_t rank = 0;
    for (size_t i = 0; i < 2 && rank == 0 && runs_on_ranks(argc, argv); i++) {
        const char *text = getenv(variables[i]);
        if (text == NULL || !wt_integer_parse(text, &rank))
            rank = 0;
    }
    return rank;
}
