/* The table behind wt_network: a kind of network is one row and the functions it names. */
#ifndef WT_NETWORK_MODEL_NETWORK_KIND_H
#define WT_NETWORK_MODEL_NETWORK_KIND_H

#include "base/memory.h"
#include "network/task/boolean.h"
#include "wattle/network.h"

#define WT_NETWORK_TENSORS 24 /* most tensors a kind has */

/* How a tensor starts: all numbers `fill`, or N(0, spread^2), or rows of norm `radius`. */
typedef struct wt_network_law {
    double fill, spread, radius;
} wt_network_law;

/* A nonlinearity in double; the float paths have their own code for the names they take. */
typedef struct wt_nonlinearity {
    const char *name;
    double (*value)(double x);
    double (*slope)(double x);
} wt_nonlinearity;

typedef struct wt_network_kind wt_network_kind;

struct wt_network {
    const wt_network_kind *kind;
    const wt_nonlinearity *activation;
    wt_network_spec spec; /* with all defaults filled in */
    size_t tensor_count, size;
    wt_network_tensor tensors[WT_NETWORK_TENSORS];
    wt_network_law laws[WT_NETWORK_TENSORS];
    void *work;     /* of the kind; grows to the largest batch seen */
    float *answers; /* (samples of a batch) probabilities of label 1, filled while it is judged;
                       NULL = nobody asks */
};

struct wt_network_kind {
    const char *name;
    const char *const *activations; /* the first is the kind's own; ends with NULL */

    /* Checks the spec, fills its defaults in and adds the tensors. */
    wt_status (*layout)(wt_context *context, wt_network *network);

    /* As the public functions; the batch is checked, `gradient` is the whole block. */
    wt_status (*gradient)(wt_context *context, wt_network *network, const float *parameters,
                          const wt_bits *batch, uint64_t key, float *gradient,
                          wt_network_result *result);
    wt_status (*evaluate)(wt_context *context, wt_network *network, const float *parameters,
                          const wt_bits *batch, size_t max_errors, wt_network_result *result);
    wt_status (*attention)(wt_context *context, wt_network *network, const float *parameters,
                           const wt_bits *batch, float *out); /* NULL: it does not attend */

    void (*close)(void *work); /* accepts NULL */
};

extern const wt_network_kind wt_kind_transformer, wt_kind_head, wt_kind_mlp;

/* For layout: the next tensor of the block. A vector has rows = 0. */
wt_status wt_network_add(wt_context *context, wt_network *network, const char *name, size_t rows,
                         size_t columns, wt_network_law law, bool fixed);

/* wt_network_gradient with the key of a step's dropout: wt_dropout_key(seed, step). */
wt_status wt_network_gradient_keyed(wt_context *context, wt_network *network,
                                    const float *parameters, const wt_bits *batch, uint64_t key,
                                    float *gradient, wt_network_result *result);

/* NULL when there is none of that name. */
const wt_nonlinearity *wt_nonlinearity_find(const char *name);

/* Cross-entropy of two logits against the label, and its slope by each of them. */
double wt_cross_entropy(const double logits[2], uint8_t label, double slope[2]);

/* Adds `count` samples with these logits (count, 2) to the result, their losses as sums; the logits
 * become the derivative by them of the mean loss of `samples`. */
void wt_network_judge(float *logits, const uint8_t *label, size_t count, size_t samples,
                      wt_network_result *result);

/* To be called before: keeps what these logits of samples first .. first + count - 1 answer. */
void wt_network_answer(const wt_network *network, const float *logits, size_t first, size_t count);

/* One block of the arena for several arrays of rows x columns floats, cleared and aligned, into the
 * pointers at `to`: WT_TAKE_FLOATS(&arena, samples, width, &at->x, &at->y). */
void wt_take_floats(wt_arena *arena, size_t rows, size_t columns, float **const *to, size_t count);
#define WT_TAKE_FLOATS(arena, rows, columns, ...)                                                  \
    wt_take_floats(arena, rows, columns, (float **const[]){__VA_ARGS__},                           \
                   sizeof((float **const[]){__VA_ARGS__}) / sizeof(float **))

/* A kind that takes its samples block by block. Its work begins with this. */
typedef struct wt_network_pass {
    wt_arena arena; /* of the arrays */
    wt_context *context;
    const wt_network *network;
    const float *parameters;
    float *gradient; /* NULL: only judge */
    float *logits;   /* (block, 2), then the derivative by them */
} wt_network_pass;
typedef struct wt_network_blocks {
    size_t samples;   /* of a block */
    size_t bytes;     /* of the work */
    const char *what; /* the work is, in words */
    void (*open)(
        void *work); /* sizes, and arrays from the arena, whose status is looked at later */
    /* One block's way to the logits, and back from the derivative by them. */
    wt_status (*forward)(const void *work, const wt_bits *batch, size_t first, size_t count);
    wt_status (*backward)(const void *work, size_t first, size_t count);
} wt_network_blocks;

/* The network's work into the pointer at `out`, opened the first time, for these parameters. */
wt_status wt_network_start_blocks(wt_context *context, wt_network *network,
                                  const wt_network_blocks *blocks, const float *parameters,
                                  float *gradient, void *out);
/* The whole batch, as wt_network_evaluate; back through every block where there is a gradient. */
wt_status wt_network_run_blocks(const wt_network_blocks *blocks, const void *work,
                                const wt_bits *batch, size_t max_errors, wt_network_result *result);
/* Accepts NULL. */
void wt_network_close_blocks(void *work);

static inline const float *wt_pass_tensor(const wt_network_pass *pass, size_t index) {
    return pass->parameters + pass->network->tensors[index].offset;
}
static inline float *wt_pass_slope(const wt_network_pass *pass, size_t index) {
    return pass->gradient + pass->network->tensors[index].offset;
}

#endif
