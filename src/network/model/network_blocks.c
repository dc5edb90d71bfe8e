/* Memory of networks, and batches block by block. */
#include <string.h>

#include "network/model/network_kind.h"

void wt_take_floats(wt_arena *arena, size_t rows, size_t columns, float **const *to, size_t count) {
    enum { ALIGNED = 16 }; /* floats */
    size_t each = wt_product(rows, columns);
    if (!wt_add(each, ALIGNED - 1, &each))
        each = SIZE_MAX;
    each -= each % ALIGNED;
    float *block = WT_TAKE_ZERO(arena, float, count, each);
    for (size_t i = 0; i < count; i++)
        *to[i] = block == NULL ? NULL : block + i * each;
}

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
    pass->arena = wt_arena_start(context, blocks->what);
    pass->network = network;
    WT_TAKE_FLOATS(&pass->arena, blocks->samples, 2, &pass->logits);
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
    WT_PASS(network->work == NULL ? open_work(context, network, blocks) : WT_OK);
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
                                const wt_bits *batch, size_t max_errors,
                                wt_network_result *result) {
    const wt_network_pass *pass = work;
    while (result->samples < batch->samples && result->samples - result->correct <= max_errors) {
        size_t first = result->samples, left = batch->samples - first;
        size_t count = left < blocks->samples ? left : blocks->samples;
        WT_PASS(blocks->forward(work, batch, first, count));
        wt_network_answer(pass->network, pass->logits, first, count);
        wt_network_judge(pass->logits, batch->label + first, count, batch->samples, result);
        if (pass->gradient != NULL)
            WT_PASS(blocks->backward(work, first, count));
    }
    result->loss /= (double)result->samples;
    result->miss /= (double)result->samples;
    return WT_OK;
}
