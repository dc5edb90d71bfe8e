/* A plugin whose GPU is the host. FAKE_DEVICE in the environment says what is wrong with it:
 *     version    it was built for another library
 *     driver     there is no driver
 *     die:K      it is lost as the K-th kernel matrix, curve or fit of a layer begins */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features/learn/host.h"
#include "layer/learn/descent_host.h"

#define FAKE_MEMORY ((size_t)1 << 30)

static bool is(const char *fault) {
    const char *set = getenv("FAKE_DEVICE");
    return set != NULL && strcmp(set, fault) == 0;
}

/* ---- an engine that is the host's -------------------------------------------------------------
 */

static atomic_int begun;

/* Room for the numbers is on the account; lost at the K-th. */
static wt_status begin(wt_context *context, wt_device *device, size_t rows, size_t columns,
                       const char *what) {
    const char *set = getenv("FAKE_DEVICE");
    if (set != NULL && strncmp(set, "die:", 4) == 0 &&
        atomic_fetch_add(&begun, 1) + 1 >= atoi(set + 4))
        return device->services->fail(context, WT_UNAVAILABLE, "cuda:0 failed in a product: lost");
    size_t bytes = rows * columns * sizeof(double);
    wt_status status = device->services->hold(context, device, bytes, what);
    if (status == WT_OK)
        device->services->release(device, bytes);
    return status;
}

static wt_status open_kernel(wt_context *context, wt_device *device, const wt_ridge_model *model,
                             const wt_ridge_rows *rows, double *diagonal, wt_ridge_system **out) {
    WT_PASS(begin(context, device, rows->samples, rows->samples, "the kernel matrix"));
    return wt_ridge_host.open_kernel(context, device, model, rows, diagonal, out);
}

static wt_status curve(wt_context *context, wt_device *device, const wt_ridge_model *model,
                       const wt_ridge_rows *rows, double shift, const size_t *orders, size_t count,
                       size_t columns, const double *y, double *alpha, double *v, bool *solved) {
    WT_PASS(begin(context, device, rows->samples, rows->samples, "the kernel matrix"));
    return wt_ridge_host.curve(context, device, model, rows, shift, orders, count, columns, y,
                               alpha, v, solved);
}

static wt_status begin_fit(wt_context *context, wt_device *device,
                           const wt_recover_problem *problem, wt_recover_fit **out) {
    *out = NULL;
    WT_PASS(begin(context, device, problem->rows, 16 * problem->heads * problem->dim,
                  "attended tokens"));
    return wt_recover_host.begin(context, device, problem, out);
}

static wt_ridge_engine engine;
static wt_recover_engine recovering;

static wt_status open_fake(wt_context *context, int index, wt_device *out) {
    if (is("driver"))
        return out->services->fail(context, WT_UNAVAILABLE, "no GPU can be used: no driver");
    if (index > 0)
        return out->services->fail(context, WT_UNAVAILABLE, "this machine has 1 GPU");
    snprintf(out->product, sizeof out->product, "the host in disguise");
    out->memory = FAKE_MEMORY;
    engine = wt_ridge_host;
    engine.open_kernel = open_kernel;
    engine.curve = curve;
    out->ridge = &engine;
    recovering = wt_recover_host;
    recovering.begin = begin_fit;
    out->recover = &recovering;
    return WT_OK;
}

extern wt_device_plugin wattle_device_plugin;
__attribute__((visibility("default")))
wt_device_plugin wattle_device_plugin = {WT_DEVICE_VERSION, open_fake};

__attribute__((constructor)) static void look_around(void) {
    if (is("version"))
        wattle_device_plugin.version = WT_DEVICE_VERSION + 1;
}
