/* The machine that results are of, in words. */
#include <stdio.h>
#include <string.h>

#include "wattle/device.h"
#include "wattle/program.h"

wt_status wt_context_machine(wt_context *context, char *out) {
    char processor[WT_PROCESSOR_TEXT];
    wt_device_info device = WT_SIZED(wt_device_info);
    WT_PASS(wt_context_device_info(context, &device));
    bool host = strcmp(device.name, "host") == 0;
    snprintf(out, WT_MACHINE_TEXT, "%s, %zu processors%s%s%s%s", wt_machine_processor(processor),
             wt_machine_processors(), host ? "" : ", ", host ? "" : device.name, host ? "" : " ",
             device.product);
    return WT_OK;
}
