/* Outputs of a layer: norm, heads, biases, residual connection. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "layer/model/attention.h"
#include "layer/model/layer.h"
#include "layer/task/sequences.h"
#include "linalg/linalg.h"

void wt_layer_normalise(const wt_layer_form *form, size_t n, size_t dim, const double *x,
                        double *z) {
    for (size_t t = 0; t < n; t++, x += dim, z += dim) {
        double mean = 0, square = 0;
        for (size_t j = 0; form->norm == WT_LAYER_NORM_LAYER && j < dim; j++)
            mean += x[j] / (double)dim;
        for (size_t j = 0; j < dim; j++)
            square += (x[j] - mean) * (x[j] - mean) / (double)dim;
        double size = form->norm == WT_LAYER_NORM_NONE ? 1 : sqrt(square + form->epsilon);
        for (size_t j = 0; j < dim; j++)
            z[j] = (x[j] - mean) / size;
    }
}

/* The tokens of some sequences as heads see them: after the norm, without those past the end; a 1
 * after each that asks where there are biases. */
typedef struct {
    wt_attention in;
    size_t *start;       /* (sequences + 1) of tokens; NULL = all are whole */
    double *key, *query; /* NULL = those given will do */
    double *h, *out;
} slab_room;

static wt_status slab_open(const wt_layer *layer, size_t slab, size_t k, bool cut, wt_arena *arena,
                           slab_room *room) {
    size_t d = layer->dim;
    bool own_key = cut || layer->form.norm != WT_LAYER_NORM_NONE;
    *room = (slab_room){0};
    room->h = WT_TAKE(arena, double, slab, k, wt_layer_columns(layer));
    if (cut) {
        room->start = WT_TAKE(arena, size_t, slab + 1);
        room->out = WT_TAKE(arena, double, slab, k, layer->outputs);
    }
    if (own_key)
        room->key = WT_TAKE(arena, double, slab, k, d);
    if (layer->form.bias)
        room->query = WT_TAKE(arena, double, slab, k, d + 1);
    return arena->status;
}

/* Fills the room with n sequences; lengths (n) or NULL. */
static void slab_fill(const wt_layer *layer, size_t n, size_t k, const size_t *lengths,
                      const double *x, slab_room *room) {
    size_t d = layer->dim, tokens = n * k;
    if (lengths != NULL) {
        room->start[0] = 0;
        for (size_t s = 0; s < n; s++) {
            memcpy(room->key + room->start[s] * d, x + s * k * d, lengths[s] * d * sizeof *x);
            room->start[s + 1] = room->start[s] + lengths[s];
        }
        tokens = room->start[n];
        x = room->key;
    }
    if (layer->form.norm != WT_LAYER_NORM_NONE) {
        wt_layer_normalise(&layer->form, tokens, d, x, room->key);
        x = room->key;
    }
    for (size_t t = 0; room->query != NULL && t < tokens; t++) {
        memcpy(room->query + t * (d + 1), x + t * d, d * sizeof *x);
        room->query[t * (d + 1) + d] = 1;
    }
    room->in = (wt_attention){.sequences = n,
                              .dim = d,
                              .length = lengths == NULL ? k : 0,
                              .key_start = room->start,
                              .row_start = room->start,
                              .key = x,
                              .query = room->query != NULL ? room->query : x,
                              .bias = layer->form.bias,
                              .causal = layer->form.mask == WT_LAYER_MASK_CAUSAL};
}

/* Output rows of the room to where they belong; 0 past the end of a sequence. */
static void slab_spread(const slab_room *room, size_t k, size_t p, double *y) {
    for (size_t s = 0; s < room->in.sequences; s++) {
        size_t length = room->start[s + 1] - room->start[s];
        memcpy(y + s * k * p, room->out + room->start[s] * p, length * p * sizeof *y);
        memset(y + (s * k + length) * p, 0, (k - length) * p * sizeof *y);
    }
}

static void add_tokens(size_t n, size_t k, size_t d, const size_t *lengths, const double *x,
                       double *y) {
    for (size_t s = 0; s < n; s++)
        for (size_t j = 0; j < (lengths == NULL ? k : lengths[s]) * d; j++)
            y[s * k * d + j] += x[s * k * d + j];
}

/* lengths (n), or NULL. */
static wt_status forward(wt_context *context, const wt_layer *layer, size_t n, size_t k,
                         const size_t *lengths, const double *x, double *y) {
    size_t slab = k == 0 || k > WT_ATTENTION_TOKENS ? 1 : WT_ATTENTION_TOKENS / k;
    size_t columns = wt_layer_columns(layer), d = layer->dim, p = layer->outputs;
    wt_arena arena = wt_arena_start(context, "attended tokens");
    slab_room room;
    wt_status status = WT_OK;
    if (n == 0 || k == 0)
        return WT_OK;
    slab = slab < n ? slab : n;
    WT_TRY(slab_open(layer, slab, k, lengths != NULL, &arena, &room));
    for (size_t first = 0; first < n; first += slab) {
        size_t count = n - first < slab ? n - first : slab;
        const size_t *cut = lengths == NULL ? NULL : lengths + first;
        double *rows = lengths == NULL ? y + first * k * p : room.out;
        slab_fill(layer, count, k, cut, x + first * k * d, &room);
        WT_TRY(wt_attention_run(context, &room.in, layer->heads, layer->theta, NULL, room.h));
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, wt_attention_rows(&room.in), p, columns, 1,
                       room.h, columns, layer->w, p, 0, rows, p));
        if (lengths != NULL)
            slab_spread(&room, k, p, y + first * k * p);
        if (layer->form.residual)
            add_tokens(count, k, d, cut, x + first * k * d, y + first * k * p);
    }
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_layer_forward(wt_context *context, const wt_layer *layer, size_t n, size_t k,
                           const double *x, double *y) {
    return forward(context, layer, n, k, NULL, x, y);
}

wt_status wt_layer_apply(wt_context *context, const wt_layer *layer, wt_sequences *sequences) {
    if (sequences->dim != layer->dim || sequences->outputs != layer->outputs)
        return wt_fail(context, WT_DATA,
                       "sequences of %zu dimensions and %zu outputs do not fit a layer of %zu and "
                       "%zu",
                       sequences->dim, sequences->outputs, layer->dim, layer->outputs);
    return forward(context, layer, sequences->samples, sequences->length, sequences->lengths,
                   sequences->x, sequences->y);
}
