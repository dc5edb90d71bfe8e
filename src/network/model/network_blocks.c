/* Batches block by block. */
#include <string.h>

#include "network/model/network_kind.h"

void wt_network_close_blocks(void *work) {
    wt_network_pass *pass = work;
    if (pass != NULL)
        wt_arena_free(&pass->arena);
    wt_release(pass);
}

static wt_status open_work(wt_context *context, wt_network *network,
                           const wt_network_blocks *blocks) {
    char *work;
    wt_status status = WT_NEW_ZERO(context, &work, blocks->bytes, blocks->what);
    if (status != WT_OK)
        return status;
    wt_network_pass *pass = (void *)work;
    pass->arena = wt_arena_on(context, blocks->what);
    pass->network = network;
    pass->logits = WT_TAKE_ZERO(&pass->arena, float, blocks->samples, 2);
    blocks->open(work);
    status = pass->arena.status;
    if (status == WT_OK)
        network->work = work;
    else
        wt_network_close_blocks(work);
    return status;
}

wt_status wt_network_start_blocks(wt_context *context, wt_network *network,
                                  const wt_network_blocks *blocks, const float *parameters,
                                  float *gradient, void *out) {
    wt_status status = network->work == NULL ? open_work(context, network, blocks) : WT_OK;
    if (status != WT_OK)
        return status;
    wt_network_pass *pass = network->work;
    pass->context = context;
    pass->parameters = parameters;
    pass->gradient = gradient;
    if (gradient != NULL)
        memset(gradient, 0, network->size * sizeof *gradient);
    memcpy(out, &network->work, sizeof network->work);
    return WT_OK;
}

wt_status wt_network_run_blocks(const wt_network_blocks *blocks, const void *work,
                                const wt_bits *batch, size_t most_errors,
                                wt_network_result *result) {
    const wt_network_pass *pass = work;
    wt_status status = WT_OK;
    while (result->samples < batch->samples && result->samples - result->correct <= most_errors) {
        size_t first = result->samples, left = batch->samples - first;
        size_t count = left < blocks->samples ? left : blocks->samples;
        WT_TRY(blocks->forward(work, batch, first, count));
        wt_network_judge(pass->logits, batch->label + first, count, batch->samples, result);
        if (pass->gradient != NULL)
            WT_TRY(blocks->backward(work, first, count));
    }
    result->loss /= (double)result->samples;
    result->miss /= (double)result->samples;
done:
    return status;
}
