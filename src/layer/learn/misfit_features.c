#include "layer/learn/misfit_features.h"

#include <math.h>
#include <string.h>

static double dot(size_t n, const double *a, const double *b) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* out (d) = sum_b weight_b x_b. */
static void mix(const wt_feature_row *row, const double *weight, double *out) {
    memset(out, 0, row->d * sizeof *out);
    for (size_t b = 0; b < row->k; b++)
        for (size_t j = 0; j < row->d; j++)
            out[j] += weight[b] * row->keys[b * row->d + j];
}

static void softmax(size_t n, double *score) {
    double most = -INFINITY, sum = 0;
    for (size_t b = 0; b < n; b++)
        most = fmax(most, score[b]);
    for (size_t b = 0; b < n; b++)
        sum += score[b] = exp(score[b] - most);
    for (size_t b = 0; b < n; b++)
        score[b] /= sum;
}

static const double *key(const wt_feature_row *row, size_t b) {
    return row->keys + b * row->d;
}

static const double *direction(const wt_feature_row *row, size_t i) {
    return row->random + i % WT_FEATURE_DIRECTIONS * row->d;
}

/* Mean square and mean of the entries of a token, in units of the tokens' size. */
static double size_of(const wt_feature_row *row, const double *x) {
    return dot(row->d, x, x) / ((double)row->d * row->unit * row->unit);
}
static double center_of(const wt_feature_row *row, const double *x) {
    double sum = 0;
    for (size_t j = 0; j < row->d; j++)
        sum += x[j];
    return sum / ((double)row->d * row->unit);
}

static size_t one(size_t d, size_t m, size_t p) {
    (void)d, (void)m, (void)p;
    return 1;
}
static void fill_constant(const wt_feature_row *row, double *z) {
    (void)row;
    z[0] = 1;
}

static size_t a_token(size_t d, size_t m, size_t p) {
    (void)m, (void)p;
    return d;
}
static void fill_token(const wt_feature_row *row, double *z) {
    memcpy(z, row->x, row->d * sizeof *z);
}
static void fill_mean(const wt_feature_row *row, double *z) {
    memcpy(z, row->mean, row->d * sizeof *z);
}

/* Other heads: two random ones, and one that looks for tokens like its own. */
static size_t three_tokens(size_t d, size_t m, size_t p) {
    (void)m, (void)p;
    return 3 * d;
}
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
            row->spare[b] = dot(d, asked, key(row, b));
        softmax(row->k, row->spare);
        mix(row, row->spare, z + i * d);
    }
}

/* What another function of the scores would do: a temperature, a sink, a sum without softmax. */
static size_t three_heads(size_t d, size_t m, size_t p) {
    (void)p;
    return 3 * m * d;
}
static void fill_softmax(const wt_feature_row *row, double *z) {
    size_t d = row->d, k = row->k;
    for (size_t i = 0; i < row->m; i++) {
        const double *a = row->a + i * k, *score = row->score + i * k;
        double *out = z + 3 * i * d, mean = dot(k, a, score), flat = 0, most = -INFINITY, sum = 0;
        for (size_t b = 0; b < k; b++) {
            row->spare[b] = a[b] * (score[b] - mean);
            flat += score[b] / (double)k;
            most = fmax(most, score[b]);
        }
        mix(row, row->spare, out);
        for (size_t b = 0; b < k; b++)
            sum += exp(score[b] - most);
        double partition = most + log(sum / (double)k);
        for (size_t j = 0; j < d; j++)
            out[d + j] = row->h[i * d + j] * partition;
        for (size_t b = 0; b < k; b++)
            row->spare[b] = (score[b] - flat) / (double)k;
        mix(row, row->spare, out + 2 * d);
    }
}

/* The same scores, sharper and flatter. */
static size_t two_heads(size_t d, size_t m, size_t p) {
    (void)p;
    return 2 * m * d;
}
static void fill_sharp(const wt_feature_row *row, double *z) {
    static const double factors[] = {4, 0.25};
    for (size_t i = 0; i < row->m; i++)
        for (size_t t = 0; t < 2; t++) {
            for (size_t b = 0; b < row->k; b++)
                row->spare[b] = factors[t] * row->score[i * row->k + b];
            softmax(row->k, row->spare);
            mix(row, row->spare, z + (2 * i + t) * row->d);
        }
}

/* Terms that may be missing in the scores of a head: with W as fitted, a term g_b changes the
 * outputs by W_i^T sum_b A_ib (g_b - mean of g) x_b. */
enum { OWN_TERMS = 17, BIASES = 6, TERMS = OWN_TERMS + BIASES };
static double term(const wt_feature_row *row, size_t t, size_t b, double score) {
    const double *x = key(row, b);
    double apart = fabs((double)b - (double)row->at);
    switch (t) {
    case 0:
        return size_of(row, x);
    case 1:
        return size_of(row, x) * score;
    case 2:
        return size_of(row, row->x) * score;
    case 3:
        return fabs(score) * score;
    case 4:
        return (double)b / (double)row->k;
    case 5:
        return apart / (double)row->k;
    case 6:
        return b > row->at;
    case 7:
        return b == row->at;
    case 8:
        return apart == 1;
    case 9:
        return b == 0;
    case 10:
        return apart / (double)row->k * score;
    case 11:
        return dot(row->d, row->mean, x) / (row->unit * row->unit);
    case 12:
        return score * score;
    case 13:
        return center_of(row, x) * score;
    case 14:
        return center_of(row, row->x) * score;
    case 15:
        return pow(center_of(row, x), 2) * score;
    case 16:
        return pow(center_of(row, row->x), 2) * score;
    default:
        return dot(row->d, direction(row, t - OWN_TERMS), x);
    }
}
static size_t all_terms(size_t d, size_t m, size_t p) {
    (void)d, (void)p;
    return m * TERMS;
}
/* z (p, m count) at head i and number t: W_i^T sum_b weight_b x_b, weight in row->spare. */
static void add_term(const wt_feature_row *row, size_t i, size_t t, size_t count, double *z) {
    size_t d = row->d, p = row->p, columns = row->m * count;
    double *moved = row->spare + row->k; /* (d) */
    mix(row, row->spare, moved);
    for (size_t j = 0; j < d; j++)
        for (size_t c = 0; c < p; c++)
            z[c * columns + i * count + t] += moved[j] * row->w[(i * d + j) * p + c];
}
static void fill_scores(const wt_feature_row *row, double *z) {
    size_t k = row->k;
    memset(z, 0, row->p * row->m * TERMS * sizeof *z);
    for (size_t i = 0; i < row->m; i++)
        for (size_t t = 0; t < TERMS; t++) {
            const double *a = row->a + i * k;
            double mean = 0;
            for (size_t b = 0; b < k; b++) {
                row->spare[b] = term(row, t, b, row->score[i * k + b]);
                mean += a[b] * row->spare[b];
            }
            for (size_t b = 0; b < k; b++)
                row->spare[b] = a[b] * (row->spare[b] - mean);
            add_term(row, i, t, TERMS, z);
        }
}

/* Factors that may be missing before the values of a head, with W as fitted. */
enum { FACTORS = 8 };
static double factor(const wt_feature_row *row, size_t t, size_t b) {
    const double *x = t % 2 == 0 ? key(row, b) : row->x;
    double place = (double)b / (double)row->k, own = (double)row->at / (double)row->k;
    switch (t / 2) {
    case 0:
        return size_of(row, x);
    case 1:
        return center_of(row, x);
    case 2:
        return pow(center_of(row, x), 2);
    default:
        return t % 2 == 0 ? place : own;
    }
}
static size_t all_factors(size_t d, size_t m, size_t p) {
    (void)d, (void)p;
    return m * FACTORS;
}
static void fill_factors(const wt_feature_row *row, double *z) {
    memset(z, 0, row->p * row->m * FACTORS * sizeof *z);
    for (size_t i = 0; i < row->m; i++)
        for (size_t t = 0; t < FACTORS; t++) {
            for (size_t b = 0; b < row->k; b++)
                row->spare[b] = row->a[i * row->k + b] * factor(row, t, b);
            add_term(row, i, t, FACTORS, z);
        }
}

/* Each output times the token along some directions, on its own. */
enum { GATES = 8 };
static size_t gate_columns(size_t d, size_t m, size_t p) {
    (void)m;
    return (d < GATES ? d : GATES) * (p < GATES ? p : GATES);
}
static void fill_gates(const wt_feature_row *row, double *z) {
    size_t ways = row->d < GATES ? row->d : GATES, gated = row->p < GATES ? row->p : GATES;
    memset(z, 0, row->p * ways * gated * sizeof *z);
    for (size_t c = 0; c < gated; c++)
        for (size_t j = 0; j < ways; j++)
            z[c * ways * gated + c * ways + j] =
                row->f[c] *
                (row->d <= GATES ? row->x[j] / row->unit : dot(row->d, direction(row, j), row->x));
}

/* Sizes and means of tokens, of one's own and of those attended to. */
static size_t norm_columns(size_t d, size_t m, size_t p) {
    (void)p;
    return 3 + 2 * d + m * (2 * d + 1);
}
static void fill_norm(const wt_feature_row *row, double *z) {
    size_t d = row->d, k = row->k;
    double size = size_of(row, row->x), center = center_of(row, row->x);
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
            row->spare[b] = a[b] * size_of(row, key(row, b));
        mix(row, row->spare, out);
        for (size_t b = 0; b < k; b++) {
            double mean = center_of(row, key(row, b));
            row->spare[b] = a[b] * mean * mean;
            out[2 * d] += a[b] * mean;
        }
        mix(row, row->spare, out + d);
    }
}

/* The same heads, looking back only; the mean of the tokens so far. */
static size_t heads_and_token(size_t d, size_t m, size_t p) {
    (void)p;
    return (m + 1) * d;
}
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
        mix(row, row->spare, z + i * d);
    }
}

/* The place of the token, and of those attended to. */
enum { PLACES = 8 };
static size_t place_columns(size_t d, size_t m, size_t p) {
    (void)p;
    return PLACES + d + m * 2 * d;
}
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
        mix(row, row->spare, out);
        for (size_t b = 0; b < k; b++)
            row->spare[b] = a[b] * fabs((double)b - (double)row->at) / (double)k;
        mix(row, row->spare, out + d);
    }
}

static size_t four_tokens(size_t d, size_t m, size_t p) {
    (void)m, (void)p;
    return 4 * d;
}
static void fill_window(const wt_feature_row *row, double *z) {
    size_t d = row->d;
    memset(z, 0, 4 * d * sizeof *z);
    if (row->at > 0)
        memcpy(z, key(row, row->at - 1), d * sizeof *z);
    if (row->at + 1 < row->k)
        memcpy(z + d, key(row, row->at + 1), d * sizeof *z);
    memcpy(z + 2 * d, key(row, 0), d * sizeof *z);
    memcpy(z + 3 * d, key(row, row->k - 1), d * sizeof *z);
}

/* Powers of the fitted outputs: what comes after the layer (the test of Ramsey). */
static size_t three_outputs(size_t d, size_t m, size_t p) {
    (void)d, (void)m;
    return 3 * p;
}
static void fill_after(const wt_feature_row *row, double *z) {
    double square = dot(row->p, row->f, row->f) / (double)row->p;
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
static size_t two_bends(size_t d, size_t m, size_t p) {
    (void)m, (void)p;
    return 2 * bends(d);
}

/* Functions of the token alone, as an MLP beside the layer would have. */
static void fill_function(const wt_feature_row *row, double *z) {
    size_t d = row->d, count = bends(d);
    for (size_t j = 0; j < count; j++) {
        double u = dot(d, direction(row, 2 * j), row->x),
               v = dot(d, direction(row, 2 * j + 1), row->x);
        z[j] = relu(u + (j % 2 == 0 ? 0 : 0.5));
        z[count + j] = u * v;
    }
}

/* Products of the token with what it attends to, and with the mean. */
static void fill_gate(const wt_feature_row *row, double *z) {
    size_t d = row->d, count = bends(d);
    for (size_t j = 0; j < count; j++) {
        double u = dot(d, direction(row, 3 * j), row->x);
        z[j] = u * dot(d, direction(row, 3 * j + 1), row->h + j % row->m * d);
        z[count + j] = u * dot(d, direction(row, 3 * j), row->mean);
    }
}

/* Values that bend before they are attended to. */
static void fill_values(const wt_feature_row *row, double *z) {
    size_t d = row->d, k = row->k, count = bends(d);
    memset(z, 0, 2 * count * sizeof *z);
    for (size_t j = 0; j < count; j++)
        for (size_t b = 0; b < k; b++) {
            double a = row->a[j % row->m * k + b], u = dot(d, direction(row, j), key(row, b));
            z[j] += a * relu(u);
            z[count + j] += a * u * u;
        }
}

/* Weights that are no softmax: sums over all tokens of products and of cut scores. */
static size_t heads_and_two(size_t d, size_t m, size_t p) {
    (void)p;
    return (m + 2) * d;
}
static void fill_sums(const wt_feature_row *row, double *z) {
    size_t d = row->d, k = row->k;
    for (size_t i = 0; i < row->m + 2; i++) {
        for (size_t b = 0; b < k; b++) {
            double like =
                dot(d, row->x, key(row, b)) / (row->unit * row->unit * sqrt((double)d) * (double)k);
            row->spare[b] = i < row->m    ? relu(row->score[i * k + b]) / (double)k
                            : i == row->m ? like
                                          : like * fabs(like) * (double)k;
        }
        mix(row, row->spare, z + i * d);
    }
}

/* Bends of everything at once. */
static void fill_mixed(const wt_feature_row *row, double *z) {
    size_t d = row->d, count = 2 * bends(d);
    for (size_t j = 0; j < count; j++)
        z[j] = relu(dot(d, direction(row, 5 * j), row->x) +
                    dot(d, direction(row, 5 * j + 1), row->h + j % row->m * d) +
                    dot(d, direction(row, 5 * j + 2), row->mean));
}

const wt_feature_family wt_feature_families[] = {
    {"constant", "a constant is left: biases?", one, fill_constant, false},
    {"token", "the token itself is left: a residual connection?", a_token, fill_token, false},
    {"mean", "the mean of the tokens is left: more heads?", a_token, fill_mean, false},
    {"heads", "what other heads would attend to is left: more heads?", three_tokens, fill_heads,
     false},
    {"softmax", "another function of the scores is left: no softmax, a sink, a temperature?",
     three_heads, fill_softmax, false},
    {"sharp", "sharper or flatter heads are left: more heads, another temperature, a maximum?",
     two_heads, fill_sharp, false},
    {"scores", "a term of the scores is left: biases, distances, a mask, a norm before the layer?",
     all_terms, fill_scores, true},
    {"factors", "a factor of the values is left: a norm before the layer, positions?", all_factors,
     fill_factors, true},
    {"gates", "outputs times the token are left: a gate?", gate_columns, fill_gates, true},
    {"norm", "the size of tokens matters: a norm before the layer?", norm_columns, fill_norm,
     false},
    {"causal", "later tokens do not matter: a causal mask?", heads_and_token, fill_causal, false},
    {"place", "the place in the sequence matters: positions?", place_columns, fill_place, false},
    {"window", "certain neighbours matter: a window, a first token of its own?", four_tokens,
     fill_window, false},
    {"after", "powers of the outputs are left: an activation or another layer after it?",
     three_outputs, fill_after, false},
    {"function", "a function of the token alone is left: an MLP beside the layer?", two_bends,
     fill_function, false},
    {"gate", "products of the token and what it attends to are left: a gate?", two_bends, fill_gate,
     false},
    {"values", "bent values are left: values that are no linear function of the tokens?", two_bends,
     fill_values, false},
    {"sums", "sums over all tokens are left: weights that are no softmax?", heads_and_two,
     fill_sums, false},
    {"mixed", "a bent function of token, attended tokens and mean is left", two_bends, fill_mixed,
     false},
};
const size_t wt_feature_family_count = sizeof wt_feature_families / sizeof *wt_feature_families;
