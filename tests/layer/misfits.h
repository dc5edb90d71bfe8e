/* Layers that are not of the class, by the plainest code: the outputs of a teacher changed in one
 * of many ways. Tests and bench/recover_misfit.c share the table. */
#ifndef TESTS_LAYER_MISFITS_H
#define TESTS_LAYER_MISFITS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wattle/layer.h"
#include "wattle/random.h"

/* What is changed in a plain attention layer; all zero is the class itself. */
typedef struct misfit {
    const char *name;
    enum misfit_norm { NO_NORM, LAYER_NORM, RMS_NORM } norm; /* of tokens, before everything */
    double stretch, shift; /* tokens x -> (1 + stretch) x + shift */
    bool causal, positions, score_bias, distance, sink, hidden_token, hard, cosine;
    size_t window;                                    /* tokens to each side; 0 = all */
    enum { SOFT, RELU_WEIGHTS, LINEAR_WEIGHTS } kind; /* of attention */
    bool bent_values, gate, after_tanh, after_mlp, token_mlp, residual, constant, extra_head;
} misfit;

static const misfit misfits[] = {
    {.name = "residual", .residual = true},
    {.name = "constant", .constant = true},
    {.name = "extra head", .extra_head = true},
    {.name = "layer norm", .norm = LAYER_NORM},
    {.name = "rms norm", .norm = RMS_NORM},
    {.name = "2x + 1", .stretch = 1, .shift = 1},
    {.name = "causal mask", .causal = true},
    {.name = "window", .window = 1},
    {.name = "positions", .positions = true},
    {.name = "distance bias", .distance = true},
    {.name = "score bias", .score_bias = true},
    {.name = "sink", .sink = true},
    {.name = "hidden token", .hidden_token = true},
    {.name = "hard maximum", .hard = true},
    {.name = "cosine scores", .cosine = true},
    {.name = "relu weights", .kind = RELU_WEIGHTS},
    {.name = "linear weights", .kind = LINEAR_WEIGHTS},
    {.name = "bent values", .bent_values = true},
    {.name = "gate", .gate = true},
    {.name = "tanh after", .after_tanh = true},
    {.name = "mlp after", .after_mlp = true},
    {.name = "token mlp", .token_mlp = true},
};
enum { MISFITS = sizeof misfits / sizeof *misfits };

/* Fixed random numbers of a misfit, by the seed. */
typedef struct misfit_numbers {
    double *positions;  /* (k, d) */
    double *vector;     /* (d) */
    double *in, *back;  /* (d or p, 16), (16, p) */
    double *token_in;   /* (d, 16) */
    double *theta, *w;  /* a head more */
    double *pass, *out; /* (d, p) */
} misfit_numbers;

static double misfit_relu(double x) {
    return x > 0 ? x : 0;
}

static void misfit_normalise(enum misfit_norm norm, size_t d, double *x) {
    double mean = 0, square = 0;
    for (size_t j = 0; norm == LAYER_NORM && j < d; j++)
        mean += x[j] / (double)d;
    for (size_t j = 0; j < d; j++) {
        x[j] -= mean;
        square += x[j] * x[j] / (double)d;
    }
    for (size_t j = 0; j < d; j++)
        x[j] /= sqrt(square + 1e-5);
}

static double misfit_dot(size_t n, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Attention weights (k + hidden) of token a of X (k, d) under Theta (d, d). */
static void misfit_weights(const misfit *what, const misfit_numbers *numbers, size_t k, size_t d,
                           const double *x, const double *theta, size_t a, double *weight) {
    double most = -INFINITY, sum = 0;
    size_t keys = k + what->hidden_token;
    for (size_t b = 0; b < keys; b++) {
        const double *key = b < k ? x + b * d : numbers->vector;
        size_t apart = b > a ? b - a : a - b;
        double score = 0;
        for (size_t u = 0; u < d; u++)
            score += x[a * d + u] * misfit_dot(d, theta + u * d, key);
        if (what->cosine)
            score /=
                sqrt(misfit_dot(d, x + a * d, x + a * d) * misfit_dot(d, key, key)) / (double)d;
        if (what->score_bias)
            score += misfit_dot(d, numbers->vector, key);
        if (what->distance)
            score -= 0.5 * (double)apart;
        bool masked =
            b < k && ((what->causal && b > a) || (what->window > 0 && apart > what->window));
        weight[b] = masked ? -INFINITY : score * (what->hard ? 1e6 : 1);
        most = fmax(most, weight[b]);
    }
    for (size_t b = 0; b < keys; b++) {
        if (what->kind == SOFT)
            weight[b] = exp(weight[b] - most);
        else
            weight[b] =
                (what->kind == RELU_WEIGHTS ? misfit_relu(weight[b]) : weight[b]) / (double)k;
        sum += weight[b];
    }
    sum += what->sink ? exp(-most) : 0;
    for (size_t b = 0; what->kind == SOFT && b < keys; b++)
        weight[b] /= sum;
}

/* y (k, p) of one sequence. */
static void misfit_forward(const misfit *what, const misfit_numbers *numbers, const wt_layer *layer,
                           size_t k, const double *given, double *y) {
    enum { WIDTH = 16 };
    size_t d = layer->dim, p = layer->outputs, heads = layer->heads + what->extra_head;
    double *x = malloc((k + 1) * d * sizeof *x), *weight = malloc((k + 1) * sizeof *weight);
    for (size_t i = 0; i < k * d; i++)
        x[i] = (1 + what->stretch) * given[i] + what->shift +
               (what->positions ? numbers->positions[i] : 0);
    for (size_t a = 0; what->norm != NO_NORM && a < k; a++)
        misfit_normalise(what->norm, d, x + a * d);
    memset(y, 0, k * p * sizeof *y);
    for (size_t i = 0; i < heads; i++)
        for (size_t a = 0; a < k; a++) {
            bool extra = i == layer->heads;
            const double *w = extra ? numbers->w : layer->w + i * d * p;
            misfit_weights(what, numbers, k, d, x,
                           extra ? numbers->theta : layer->theta + i * d * d, a, weight);
            for (size_t b = 0; b < k + what->hidden_token; b++)
                for (size_t j = 0; j < d; j++) {
                    double value = b < k ? x[b * d + j] : numbers->vector[j];
                    value = what->bent_values ? misfit_relu(value) : value;
                    for (size_t c = 0; c < p; c++)
                        y[a * p + c] += weight[b] * value * w[j * p + c];
                }
        }
    for (size_t a = 0; a < k; a++) {
        double *row = y + a * p, hidden[WIDTH] = {0};
        const double *token = x + a * d;
        for (size_t c = 0; c < p; c++) {
            double through = 0;
            for (size_t j = 0; j < d; j++)
                through += token[j] * numbers->pass[j * p + c];
            row[c] *= what->gate ? 1 / (1 + exp(-2 * through)) : 1;
            row[c] += what->residual ? (p == d ? token[c] : through) : 0;
            row[c] += what->constant ? numbers->out[c] : 0;
            row[c] = what->after_tanh ? tanh(row[c]) : row[c];
        }
        size_t inputs = what->after_mlp ? p : d;
        for (size_t h = 0; (what->after_mlp || what->token_mlp) && h < WIDTH; h++) {
            for (size_t j = 0; j < inputs; j++)
                hidden[h] += what->after_mlp ? row[j] * numbers->in[j * WIDTH + h]
                                             : token[j] * numbers->token_in[j * WIDTH + h];
            hidden[h] = misfit_relu(hidden[h]);
        }
        for (size_t c = 0; (what->after_mlp || what->token_mlp) && c < p; c++) {
            row[c] = what->after_mlp ? 0 : row[c];
            for (size_t h = 0; h < WIDTH; h++)
                row[c] += hidden[h] * numbers->back[h * p + c];
        }
    }
    free(x);
    free(weight);
}

static double *misfit_draw(uint64_t seed, const char *name, size_t count, double scale) {
    double *out = malloc((count + 1) * sizeof *out);
    wt_random_normal(wt_stream_for(seed, name, 0), 0, count, out);
    for (size_t i = 0; i < count; i++)
        out[i] *= scale;
    return out;
}

/* Replaces y = F(x) of the data by F + t (G - F), G the changed layer, with t such that the change
 * is `size` of |y|; size 0 = G itself, whatever its size. */
static void misfit_change(const misfit *what, const wt_layer *layer, uint64_t seed, double size,
                          wt_sequences *data) {
    size_t d = layer->dim, p = layer->outputs, k = data->length, each = k * p;
    double square = 0, changed = 0, root = 1 / sqrt((double)d);
    misfit_numbers numbers = {
        .positions = misfit_draw(seed, "positions", k * d, 0.5),
        .vector = misfit_draw(seed, "vector", d, 0.7),
        .in = misfit_draw(seed, "in", p * 16, 1 / sqrt((double)p)),
        .back = misfit_draw(seed, "back", 16 * p, 0.35),
        .token_in = misfit_draw(seed, "token in", d * 16, root),
        .theta = misfit_draw(seed, "misfit theta", d * d, 2 / (double)d),
        .w = misfit_draw(seed, "misfit w", d * p, root),
        .pass = misfit_draw(seed, "pass", d * p, root),
        .out = misfit_draw(seed, "out", p, 1),
    };
    double *other = malloc(data->samples * each * sizeof *other);
    for (size_t s = 0; s < data->samples; s++)
        misfit_forward(what, &numbers, layer, k, data->x + s * k * d, other + s * each);
    for (size_t i = 0; i < data->samples * each; i++) {
        square += data->y[i] * data->y[i];
        changed += (other[i] - data->y[i]) * (other[i] - data->y[i]);
    }
    double part = size > 0 ? size * sqrt(square / changed) : 1;
    for (size_t i = 0; i < data->samples * each; i++)
        data->y[i] += part * (other[i] - data->y[i]);
    free(other);
    double *all[] = {numbers.positions, numbers.vector,   numbers.in,
                     numbers.back,      numbers.token_in, numbers.theta,
                     numbers.w,         numbers.pass,     numbers.out};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* Adds Gaussian noise of `part` of the root mean square of y. */
static void misfit_noise(uint64_t seed, double part, wt_sequences *data) {
    size_t count = data->samples * data->length * data->outputs;
    double square = 0, *noise = misfit_draw(seed, "noise", count, part);
    for (size_t i = 0; i < count; i++)
        square += data->y[i] * data->y[i];
    for (size_t i = 0; i < count; i++)
        data->y[i] += noise[i] * sqrt(square / (double)count);
    free(noise);
}

#endif
