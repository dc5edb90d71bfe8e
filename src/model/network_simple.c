#include "model/network_simple.h"

#include "base/memory.h"

typedef struct {
    double *parameters, *gradient, *logits, *attention;
} copies;

static void release(copies *at) {
    wt_release(at->parameters);
    wt_release(at->gradient);
    wt_release(at->logits);
    wt_release(at->attention);
}

static wt_status widen(wt_context *context, const wt_network *network, const float *parameters,
                       double **out) {
    wt_status status = WT_NEW(context, out, network->size, "parameters in double");
    for (size_t i = 0; status == WT_OK && i < network->size; i++)
        (*out)[i] = parameters[i];
    return status;
}

static void judge(const wt_bits *batch, const double *logits, double loss,
                  wt_network_result *result) {
    *result = (wt_network_result){.loss = loss, .samples = batch->samples};
    for (size_t i = 0; i < batch->samples; i++)
        result->correct += (logits[2 * i + 1] > logits[2 * i]) == (batch->label[i] == 1);
}

wt_status wt_simple_gradient(wt_context *context, wt_network *network, const float *parameters,
                             const wt_bits *batch, uint64_t seed, uint64_t step, float *gradient,
                             wt_network_result *result) {
    copies at = {0};
    double loss;
    wt_status status;
    (void)seed;
    (void)step;
    WT_TRY(widen(context, network, parameters, &at.parameters));
    WT_TRY(WT_NEW(context, &at.gradient, network->size, "a gradient"));
    WT_TRY(WT_NEW(context, &at.logits, 2 * batch->samples, "logits"));
    WT_TRY(wt_network_plain(context, network, at.parameters, batch, at.logits, &loss, at.gradient,
                            NULL));
    for (size_t i = 0; i < network->size; i++)
        gradient[i] = (float)at.gradient[i];
    judge(batch, at.logits, loss, result);
done:
    release(&at);
    return status;
}

wt_status wt_simple_evaluate(wt_context *context, wt_network *network, const float *parameters,
                             const wt_bits *batch, size_t most_errors, wt_network_result *result) {
    copies at = {0};
    double loss;
    wt_status status;
    (void)most_errors;
    WT_TRY(widen(context, network, parameters, &at.parameters));
    WT_TRY(WT_NEW(context, &at.logits, 2 * batch->samples, "logits"));
    WT_TRY(wt_network_plain(context, network, at.parameters, batch, at.logits, &loss, NULL, NULL));
    judge(batch, at.logits, loss, result);
done:
    release(&at);
    return status;
}

wt_status wt_simple_attention(wt_context *context, wt_network *network, const float *parameters,
                              const wt_bits *batch, float *out) {
    copies at = {0};
    size_t numbers = batch->samples * network->spec.heads * (network->spec.length + 1);
    wt_status status;
    WT_TRY(widen(context, network, parameters, &at.parameters));
    WT_TRY(WT_NEW(context, &at.attention, numbers, "attention weights"));
    WT_TRY(
        wt_network_plain(context, network, at.parameters, batch, NULL, NULL, NULL, at.attention));
    for (size_t i = 0; i < numbers; i++)
        out[i] = (float)at.attention[i];
done:
    release(&at);
    return status;
}

void wt_simple_close(void *work) {
    (void)work;
}
