/* A plugin whose GPU is the host. FAKE_DEVICE in the environment says what is wrong with it:
 *     version    it was built for another library
 *     driver     there is no driver */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"

#define FAKE_MEMORY ((size_t)1 << 30)

static bool is(const char *fault) {
    const char *set = getenv("FAKE_DEVICE");
    return set != NULL && strcmp(set, fault) == 0;
}

static wt_status open_fake(wt_context *context, int index, wt_device *out) {
    if (is("driver"))
        return out->services->fail(context, WT_UNAVAILABLE, "no GPU can be used: no driver");
    if (index > 0)
        return out->services->fail(context, WT_UNAVAILABLE, "this machine has 1 GPU");
    snprintf(out->product, sizeof out->product, "the host in disguise");
    out->memory = FAKE_MEMORY;
    return WT_OK;
}

extern wt_device_plugin wattle_device_plugin;
__attribute__((visibility("default")))
wt_device_plugin wattle_device_plugin = {WT_DEVICE_VERSION, open_fake};

__attribute__((constructor)) static void look_around(void) {
    if (is("version"))
        wattle_device_plugin.version = WT_DEVICE_VERSION + 1;
}
