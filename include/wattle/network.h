/* Networks on sequences of bits: the transformer block of the published recipe, the theorem's
 * single head, and a multi-layer perceptron. Loss, derivatives and what attention looks at.
 *
 * A network is read at one place, a trainable token [CLS] behind the T bits, and answers two logits
 * (label 0, label 1); the loss is the mean cross-entropy. All parameters lie in one block of
 * `wt_network_size` numbers, tensor after tensor, row-major; matrices act on the right: q = h wq.
 */
#ifndef WATTLE_NETWORK_H
#define WATTLE_NETWORK_H

#include "wattle/boolean.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_network_spec {
    size_t size;
    const char *kind;      /* "transformer", "head", "mlp" */
    size_t length;         /* T, without [CLS] */
    size_t dim;            /* d: width of a token (mlp: read only for hidden = 0) */
    size_t heads;          /* divides dim (transformer; head: always 1, mlp: none) */
    size_t hidden;         /* width of the MLP, of both layers of an mlp; 0 = 4 dim; head: dim */
    double embedding_drop; /* dropout probabilities, 0 <= p < 1: of token vectors (mlp: inputs), */
    double attention_drop; /* of attention weights (mlp: not read), */
    double block_drop;     /* of what a block adds (mlp: hidden units); a head takes none of them */
    bool fixed_positions;  /* the positional table stays as drawn */
    const char *activation; /* head: "relu", "gelu", "tanh", "identity"; mlp: "relu", "gelu";
                             * transformer: "gelu"; NULL = the first of these */
} wt_network_spec;

/* The published recipe: transformer, d = 64, 16 heads, all dropouts 0.1. */
WT_API void wt_network_spec_init(wt_network_spec *spec, size_t size);

typedef struct wt_network_tensor {
    const char *name; /* as in model files: "tok_emb", "wq" .. */
    size_t rows, columns;
    bool vector;   /* a vector of `columns` numbers, rows = 1 */
    size_t offset; /* in the block of parameters */
    bool fixed;    /* stays as drawn: its gradient is 0, and training must leave it alone */
} wt_network_tensor;

/* A network's shapes and its working memory. One thread of calls at a time. */
typedef struct wt_network wt_network;

WT_API wt_status wt_network_new(wt_context *context, const wt_network_spec *spec, wt_network **out);
WT_API void wt_network_free(wt_network *network);
/* With all defaults filled in. */
WT_API const wt_network_spec *wt_network_get_spec(const wt_network *network);
/* How many numbers the parameters are. */
WT_API size_t wt_network_size(const wt_network *network);
/* NULL when there are not so many. */
WT_API const wt_network_tensor *wt_network_tensor_at(const wt_network *network, size_t index);

/* A model file of `wattle train`, without its dropouts; *parameters are to be freed with
 * wt_release. */
WT_API wt_status wt_network_load(wt_context *context, const char *path, wt_network **out,
                                 float **parameters);

/* Whether the file is one of those: of a network, and not of a layer. */
WT_API bool wt_network_in_file(wt_context *context, const char *path);

/* Parameters as the recipe draws them, by the seed. */
WT_API void wt_network_draw(const wt_network *network, uint64_t seed, float *parameters);

typedef struct wt_network_result {
    size_t size;
    double loss;    /* mean over the samples judged */
    double miss;    /* mean probability of the wrong label: a loss in [0, 1] */
    size_t correct; /* of them */
    size_t samples; /* judged */
} wt_network_result;

/* Mean loss of the batch and its gradient at the parameters, with dropout masks keyed by (seed,
 * step): the same for every number of threads. */
WT_API wt_status wt_network_gradient(wt_context *context, wt_network *network,
                                     const float *parameters, const wt_bits *batch, uint64_t seed,
                                     uint64_t step, float *gradient, wt_network_result *result);

/* The same without dropout and derivatives. Samples are judged in order, in rounds that do not
 * depend on the threads; no further round begins once more than `max_errors` samples are wrong
 * (SIZE_MAX: judge all). */
WT_API wt_status wt_network_evaluate(wt_context *context, wt_network *network,
                                     const float *parameters, const wt_bits *batch,
                                     size_t max_errors, wt_network_result *result);

/* The probability of label 1 of every sample, out (samples); labels are not looked at. */
WT_API wt_status wt_network_predict(wt_context *context, wt_network *network,
                                    const float *parameters, const wt_bits *batch, float *out);

/* Attention weights of the [CLS] row without dropout: out (samples, heads, T + 1). WT_USAGE for a
 * kind that has none. */
WT_API wt_status wt_network_attention(wt_context *context, wt_network *network,
                                      const float *parameters, const wt_bits *batch, float *out);

#ifdef __cplusplus
}
#endif
#endif
