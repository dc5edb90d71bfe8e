#include "wattle/device.h"

#include <string.h>

#include "command.h"

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
