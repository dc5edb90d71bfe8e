#include "layer/model/heads.h"
#include "layer/task/vector.h"

#include <math.h>
#include <string.h>

double wt_heads_norm(size_t count, const double *a) {
    return sqrt(wt_vector_squares(count, a));
}

double wt_heads_distance(size_t count, const double *a, const double *b) {
    double most = fmax(wt_heads_norm(count, a), wt_heads_norm(count, b));
    return most > 0 ? sqrt(wt_vector_apart(count, a, b)) / most : 0;
}

static void move_head(wt_layer *layer, size_t from, size_t to) {
    size_t theta = wt_layer_theta_size(layer), w = layer->dim * layer->outputs;
    if (from == to)
        return;
    memcpy(layer->theta + to * theta, layer->theta + from * theta, theta * sizeof *layer->theta);
    memcpy(layer->w + to * w, layer->w + from * w, w * sizeof *layer->w);
}

static void merge(double tolerance, wt_layer *layer) {
    size_t theta = wt_layer_theta_size(layer), w = layer->dim * layer->outputs, kept = 0;
    for (size_t i = 0; i < layer->heads; i++) {
        size_t twin = 0;
        while (twin < kept && wt_heads_distance(theta, layer->theta + i * theta,
                                                layer->theta + twin * theta) > tolerance)
            twin++;
        if (twin == kept)
            move_head(layer, i, kept++);
        else
            for (size_t j = 0; j < w; j++)
                layer->w[twin * w + j] += layer->w[i * w + j];
    }
    wt_layer_keep_heads(layer, kept);
}

void wt_heads_tidy(double tolerance, wt_layer *layer) {
    size_t w = layer->dim * layer->outputs, kept = 0;
    double most = 0;
    /* the size of W before twins cancel is the measure of what is nothing */
    for (size_t i = 0; i < layer->heads; i++)
        most = fmax(most, wt_heads_norm(w, layer->w + i * w));
    merge(tolerance, layer);
    for (size_t i = 0; i < layer->heads; i++)
        if (wt_heads_norm(w, layer->w + i * w) > tolerance * most)
            move_head(layer, i, kept++);
    wt_layer_keep_heads(layer, kept == 0 ? 1 : kept);
}
