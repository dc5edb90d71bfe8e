#include "layer/learn/misfit_features.h"

#include <math.h>
#include <string.h>

static void softmax(size_t n, double *score) {
    double most = -INFINITY, sum = 0;
    for (size_t b = 0; b < n; b++)
        most = fmax(most, score[b]);
    for (size_t b = 0; b < n; b++)
        sum += score[b] = exp(score[b] - most);
    for (size_t b = 0; b < n; b++)
        score[b] /= sum;
}

static void fill_constant(const wt_feature_row *row, double *z) {
    (void)row;
    z[0] = 1;
}

static void fill_token(const wt_feature_row *row, double *z) {
    memcpy(z, row->x, row->d * sizeof *z);
}
static void fill_mean(const wt_feature_row *row, double *z) {
    memcpy(z, row->mean, row->d * sizeof *z);
}

/* Other heads: two random ones, and one that looks for tokens like its own. */
static void fill_heads(const wt_feature_row *row, double *z) {
    size_t d = row->d;
    double *asked = row->spare + row->k; /* (d): x^T Theta */
    for (size_t i = 0; i < 3; i++) {
        memset(asked, 0, d * sizeof *asked);
        for (size_t u = 0; i < 2 && u < d; u++)
            for (size_t j = 0; j < d; j++)
                asked[j] += row->x[u] * row->theta[(i * d + u) * d + j];
        for (size_t j = 0; i == 2 && j < d; j++)
            asked[j] = row->x[j] / (row->unit * row->unit * sqrt((double)d));
        for (size_t b = 0; b < row->k; b++)
            row->spare[b] = wt_vector_dot(d, asked, wt_feature_key(row, b));
        softmax(row->k, row->spare);
        wt_feature_mix(row, row->spare, z + i * d);
    }
}

/* What another function of the scores would do: a temperature, a sink, a sum without softmax. */
static void fill_softmax(const wt_feature_row *row, double *z) {
    size_t d = row->d, k = row->k;
    for (size_t i = 0; i < row->m; i++) {
        const double *a = row->a + i * k, *score = row->score + i * k;
        double *out = z + 3 * i * d, mean = wt_vector_dot(k, a, score), flat = 0, most = -INFINITY,
               sum = 0;
        for (size_t b = 0; b < k; b++) {
            row->spare[b] = a[b] * (score[b] - mean);
            flat += score[b] / (double)k;
            most = fmax(most, score[b]);
        }
        wt_feature_mix(row, row->spare, out);
        for (size_t b = 0; b < k; b++)
            sum += exp(score[b] - most);
        double partition = most + log(sum / (double)k);
        for (size_t j = 0; j < d; j++)
            out[d + j] = row->h[i * d + j] * partition;
        for (size_t b = 0; b < k; b++)
            row->spare[b] = (score[b] - flat) / (double)k;
        wt_feature_mix(row, row->spare, out + 2 * d);
    }
}

/* The same scores, sharper and flatter. */
static void fill_sharp(const wt_feature_row *row, double *z) {
    static const double factors[] = {4, 0.25};
    for (size_t i = 0; i < row->m; i++)
        for (size_t t = 0; t < 2; t++) {
            for (size_t b = 0; b < row->k; b++)
                row->spare[b] = factors[t] * row->score[i * row->k + b];
            softmax(row->k, row->spare);
            wt_feature_mix(row, row->spare, z + (2 * i + t) * row->d);
        }
}

/* Sizes and means of tokens, of one's own and of those attended to. */
static void fill_norm(const wt_feature_row *row, double *z) {
    size_t d = row->d, k = row->k;
    double size = wt_feature_size(row, row->x), center = wt_feature_center(row, row->x);
    z[0] = size;
    z[1] = center;
    z[2] = center * center;
    for (size_t j = 0; j < d; j++) {
        z[3 + j] = size * row->x[j];
        z[3 + d + j] = center * center * row->x[j];
    }
    for (size_t i = 0; i < row->m; i++) {
        const double *a = row->a + i * k;
        double *out = z + 3 + 2 * d + i * (2 * d + 1);
        out[2 * d] = 0;
        for (size_t b = 0; b < k; b++)
            row->spare[b] = a[b] * wt_feature_size(row, wt_feature_key(row, b));
        wt_feature_mix(row, row->spare, out);
        for (size_t b = 0; b < k; b++) {
            double mean = wt_feature_center(row, wt_feature_key(row, b));
            row->spare[b] = a[b] * mean * mean;
            out[2 * d] += a[b] * mean;
        }
        wt_feature_mix(row, row->spare, out + d);
    }
}

/* The same heads, looking back only; the mean of the tokens so far. */
static void fill_causal(const wt_feature_row *row, double *z) {
    size_t d = row->d, k = row->k;
    for (size_t i = 0; i <= row->m; i++) {
        double sum = 0;
        for (size_t b = 0; b < k; b++) {
            row->spare[b] = b > row->at ? 0 : (i < row->m ? row->a[i * k + b] : 1);
            sum += row->spare[b];
        }
        for (size_t b = 0; b < k; b++)
            row->spare[b] /= sum > 0 ? sum : 1;
        wt_feature_mix(row, row->spare, z + i * d);
    }
}

/* The place of the token, and of those attended to. */
enum { PLACES = 8 };
static void fill_place(const wt_feature_row *row, double *z) {
    size_t d = row->d, k = row->k;
    double place = (double)row->at / (double)k;
    for (size_t i = 0; i < PLACES; i++)
        z[i] = row->at == i || (i + 1 == PLACES && row->at > i);
    for (size_t j = 0; j < d; j++)
        z[PLACES + j] = place * row->x[j];
    for (size_t i = 0; i < row->m; i++) {
        const double *a = row->a + i * k;
        double *out = z + PLACES + d + 2 * i * d;
        for (size_t b = 0; b < k; b++)
            row->spare[b] = a[b] * (double)b / (double)k;
        wt_feature_mix(row, row->spare, out);
        for (size_t b = 0; b < k; b++)
            row->spare[b] = a[b] * fabs((double)b - (double)row->at) / (double)k;
        wt_feature_mix(row, row->spare, out + d);
    }
}

static void fill_window(const wt_feature_row *row, double *z) {
    size_t d = row->d;
    memset(z, 0, 4 * d * sizeof *z);
    if (row->at > 0)
        memcpy(z, wt_feature_key(row, row->at - 1), d * sizeof *z);
    if (row->at + 1 < row->k)
        memcpy(z + d, wt_feature_key(row, row->at + 1), d * sizeof *z);
    memcpy(z + 2 * d, wt_feature_key(row, 0), d * sizeof *z);
    memcpy(z + 3 * d, wt_feature_key(row, row->k - 1), d * sizeof *z);
}

/* Powers of the fitted outputs: what comes after the layer (the test of Ramsey). */
static void fill_after(const wt_feature_row *row, double *z) {
    double square = wt_vector_dot(row->p, row->f, row->f) / (double)row->p;
    for (size_t j = 0; j < row->p; j++) {
        double f = row->f[j];
        z[3 * j] = f * f;
        z[3 * j + 1] = f * f * f / (1 + f * f);
        z[3 * j + 2] = f * square;
    }
}

static double relu(double x) {
    return x > 0 ? x : 0;
}

/* Random directions that a family bends along. */
static size_t bends(size_t d) {
    return d < WT_FEATURE_DIRECTIONS / 3 ? d : WT_FEATURE_DIRECTIONS / 3;
}

/* Functions of the token alone, as an MLP beside the layer would have. */
static void fill_function(const wt_feature_row *row, double *z) {
    size_t d = row->d, count = bends(d);
    for (size_t j = 0; j < count; j++) {
        double u = wt_vector_dot(d, wt_feature_direction(row, 2 * j), row->x),
               v = wt_vector_dot(d, wt_feature_direction(row, 2 * j + 1), row->x);
        z[j] = relu(u + (j % 2 == 0 ? 0 : 0.5));
        z[count + j] = u * v;
    }
}

/* Products of the token with what it attends to, and with the mean. */
static void fill_gate(const wt_feature_row *row, double *z) {
    size_t d = row->d, count = bends(d);
    for (size_t j = 0; j < count; j++) {
        double u = wt_vector_dot(d, wt_feature_direction(row, 3 * j), row->x);
        z[j] = u * wt_vector_dot(d, wt_feature_direction(row, 3 * j + 1), row->h + j % row->m * d);
        z[count + j] = u * wt_vector_dot(d, wt_feature_direction(row, 3 * j), row->mean);
    }
}

/* Values that bend before they are attended to. */
static void fill_values(const wt_feature_row *row, double *z) {
    size_t d = row->d, k = row->k, count = bends(d);
    memset(z, 0, 2 * count * sizeof *z);
    for (size_t j = 0; j < count; j++)
        for (size_t b = 0; b < k; b++) {
            double a = row->a[j % row->m * k + b],
                   u = wt_vector_dot(d, wt_feature_direction(row, j), wt_feature_key(row, b));
            z[j] += a * relu(u);
            z[count + j] += a * u * u;
        }
}

/* Weights that are no softmax: sums over all tokens of products and of cut scores. */
static void fill_sums(const wt_feature_row *row, double *z) {
    size_t d = row->d, k = row->k;
    for (size_t i = 0; i < row->m + 2; i++) {
        for (size_t b = 0; b < k; b++) {
            double like = wt_vector_dot(d, row->x, wt_feature_key(row, b)) /
                          (row->unit * row->unit * sqrt((double)d) * (double)k);
            row->spare[b] = i < row->m    ? relu(row->score[i * k + b]) / (double)k
                            : i == row->m ? like
                                          : like * fabs(like) * (double)k;
        }
        wt_feature_mix(row, row->spare, z + i * d);
    }
}

/* Bends of everything at once. */
static void fill_mixed(const wt_feature_row *row, double *z) {
    size_t d = row->d, count = 2 * bends(d);
    for (size_t j = 0; j < count; j++)
        z[j] =
            relu(wt_vector_dot(d, wt_feature_direction(row, 5 * j), row->x) +
                 wt_vector_dot(d, wt_feature_direction(row, 5 * j + 1), row->h + j % row->m * d) +
                 wt_vector_dot(d, wt_feature_direction(row, 5 * j + 2), row->mean));
}

const wt_feature_family wt_feature_families[] = {
    {"constant", "a constant is left: biases?", fill_constant, .one = 1},
    {"token", "the token itself is left: a residual connection?", fill_token, .token = 1},
    {"mean", "the mean of the tokens is left: more heads?", fill_mean, .token = 1},
    {"heads", "what other heads would attend to is left: more heads?", fill_heads, .token = 3},
    {"softmax", "another function of the scores is left: no softmax, a sink, a temperature?",
     fill_softmax, .attended = 3},
    {"sharp", "sharper or flatter heads are left: more heads, another temperature, a maximum?",
     fill_sharp, .attended = 2},
    {"scores", "a term of the scores is left: biases, distances, a mask, a norm before the layer?",
     wt_feature_scores, .head = WT_FEATURE_TERMS, .by_output = true},
    {"factors", "a factor of the values is left: a norm before the layer, positions?",
     wt_feature_factors, .head = WT_FEATURE_FACTORS, .by_output = true},
    {"gates", "outputs times the token are left: a gate?", wt_feature_gates, .gates = 1,
     .by_output = true},
    {"norm", "the size of tokens matters: a norm before the layer?", fill_norm, .one = 3,
     .token = 2, .head = 1, .attended = 2},
    {"causal", "later tokens do not matter: a causal mask?", fill_causal, .token = 1,
     .attended = 1},
    {"place", "the place in the sequence matters: positions?", fill_place, .one = PLACES,
     .token = 1, .attended = 2},
    {"window", "certain neighbours matter: a window, a first token of its own?", fill_window,
     .token = 4},
    {"after", "powers of the outputs are left: an activation or another layer after it?",
     fill_after, .output = 3},
    {"function", "a function of the token alone is left: an MLP beside the layer?", fill_function,
     .bends = 2},
    {"gate", "products of the token and what it attends to are left: a gate?", fill_gate,
     .bends = 2},
    {"values", "bent values are left: values that are no linear function of the tokens?",
     fill_values, .bends = 2},
    {"sums", "sums over all tokens are left: weights that are no softmax?", fill_sums, .token = 2,
     .attended = 1},
    {"mixed", "a bent function of token, attended tokens and mean is left", fill_mixed, .bends = 2},
};

size_t wt_feature_columns(const wt_feature_family *family, size_t d, size_t m, size_t p) {
    return family->one + family->token * d + family->head * m + family->attended * m * d +
           family->output * p + family->bends * bends(d) +
           family->gates * wt_feature_gated(d) * wt_feature_gated(p);
}

const size_t wt_feature_family_count = sizeof wt_feature_families / sizeof *wt_feature_families;
