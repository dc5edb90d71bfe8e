/* Dropout: the draws, where they go, and their expectation; GELU and exp in float. */
#include <Random123/philox.h>

#include "network/model/network_dropout.h"
#include "network/model/transformer.h"
#include "network/plain/network_plain.h"
#include "network_cases.h"

/* Word w of a sample's draws at a place, as network_loops.h says. */
static uint32_t word_of(uint64_t key, uint32_t sample, uint32_t place, size_t w) {
    size_t lane = w % 16, v = w % 64 / 16, batch = w / 64;
    philox4x32_ctr_t counter = {{(uint32_t)(16 * batch + lane), sample, 0, place}};
    philox4x32_key_t two = {{(uint32_t)key, (uint32_t)(key >> 32)}};
    return philox4x32(counter, two).v[v];
}

static void words_are_philox(void **state) {
    size_t versions;
    const wt_loops_version *able = wt_loops_able(&versions);
    uint32_t got[5 * WT_WORDS];
    const uint32_t counter[3] = {77, 0, 1};
    (void)state;
    for (size_t v = 0; v < versions; v++) {
        able[v].network->words(0xfedcba9876543210U, counter, 5, got);
        for (size_t w = 0; w < 5 * WT_WORDS; w++)
            assert_int_equal(got[w], word_of(0xfedcba9876543210U, 77, 1, w));
    }
}

/* 65536 / keep is the scale, so that a mean over draws is the number itself. Kept numbers out of N
 * have a relative deviation of sqrt(p / (1 - p) / N) about their mean: five of these. */
static void expectation_is_exact(void **state) {
    const wt_network_spec spec = {.embedding_drop = 0.1, .attention_drop = 0.5, .block_drop = 0.9};
    const double drops[] = {0.1, 0.5, 0.9};
    const wt_network_loops *loops = wt_loops_best()->network;
    enum { STEPS = 3000, NUMBERS = 96 };
    double sum[NUMBERS], all;
    float x[NUMBERS];
    uint32_t words[2 * WT_WORDS];
    (void)state;
    assert_true(wt_dropout_words(NUMBERS) <= sizeof words / sizeof *words);
    for (int place = 0; place < WT_DROP_PLACES; place++) {
        memset(sum, 0, sizeof sum);
        all = 0;
        for (uint64_t step = 0; step < STEPS; step++) {
            wt_dropout dropout = wt_dropout_for(&spec, wt_dropout_key(11, step));
            CHECK_NEAR((double)dropout.keep[place] * dropout.scale[place], 65536, 0.01);
            CHECK_NEAR(dropout.keep[place], (1 - drops[place]) * 65536, 0.5);
            wt_dropout_draw(&dropout, loops, 5, (enum wt_drop_place)place, NUMBERS, words);
            for (size_t i = 0; i < NUMBERS; i++)
                x[i] = 1;
            loops->drop(NUMBERS, words, dropout.keep[place], dropout.scale[place], x);
            for (size_t i = 0; i < NUMBERS; i++)
                sum[i] += x[i];
        }
        double deviation = sqrt(drops[place] / (1 - drops[place]) / STEPS);
        for (size_t i = 0; i < NUMBERS; i++) {
            CHECK_NEAR(sum[i] / STEPS, 1, 5 * deviation);
            all += sum[i] / STEPS / NUMBERS;
        }
        CHECK_NEAR(all, 1, 5 * deviation / sqrt(NUMBERS));
    }
}

/* An mlp whose units are all open is linear in every mask of inputs and of units, and for logits z
 * of 0.05 the derivative by b3[1], p - label with p = 1/2 + z/4 within z^3/48 = 3e-6, is linear
 * too: its mean over masks is the derivative without any. */
static void a_linear_network_has_the_mean(void **state) {
    wt_context *context = *state;
    wt_network_spec spec = {.kind = "mlp", .length = 16, .hidden = 32};
    wt_network *plain = open_network(context, &spec), *network;
    enum { STEPS = 4000 };
    size_t size = wt_network_size(plain);
    const wt_network_tensor *tensors = plain->tensors;
    double *parameters = far_parameters(context, plain, 0.01), *exact, sum = 0, square = 0;
    float *given, *gradient;
    wt_network_result result = WT_SIZED(wt_network_result);
    wt_bits *batch;
    spec.embedding_drop = 0.3;
    spec.block_drop = 0.2;
    network = open_network(context, &spec);
    draw_bits(context, 2, 16, 3, &batch);
    for (size_t t = 1; t <= 3; t += 2) /* b1 and b2 hold every unit open, */
        for (size_t i = 0; i < tensors[t].columns; i++)
            parameters[tensors[t].offset + i] = 1;
    for (size_t i = tensors[4].offset; i < size; i++) /* and w3 and b3 keep logits small */
        parameters[i] *= 0.1;
    given = narrowed(context, parameters, size);
    gradient = narrowed(context, parameters, size);
    CHECK_OK(context, WT_NEW(context, &exact, size, "gradient"));
    CHECK_OK(context, wt_network_plain(context, plain, parameters, batch, NULL, NULL, exact, NULL));
    for (uint64_t step = 0; step < STEPS; step++) {
        CHECK_OK(context,
                 wt_network_gradient(context, network, given, batch, 1, step, gradient, &result));
        sum += gradient[size - 1];
        square += pow(gradient[size - 1], 2);
    }
    double mean = sum / STEPS, deviation = sqrt((square / STEPS - mean * mean) / STEPS);
    assert_true(deviation > 0 && deviation < 1e-4);
    CHECK_NEAR(mean, exact[size - 1], 5 * deviation + 3e-6);
    wt_release(parameters);
    wt_release(exact);
    wt_release(given);
    wt_release(gradient);
    wt_bits_free(batch);
    wt_network_free(plain);
    wt_network_free(network);
}

/* ---- the transformer with its masks, in double, number by number ---- */

enum { T = 11, D = 12, HEADS = 3, HIDDEN = 10, SAMPLES = 6, STRIDE = 32, HEAD_LANES = 16 };
static const wt_network_spec masked = {.kind = "transformer",
                                       .length = T,
                                       .dim = D,
                                       .heads = HEADS,
                                       .hidden = HIDDEN,
                                       .attention_drop = 0.3,
                                       .block_drop = 0.25};

/* What number i of a row of draws is multiplied by; `word` is where the row begins. */
static double row_mask(const wt_dropout *dropout, size_t sample, int place, size_t word, size_t i) {
    uint32_t bits =
        word_of(dropout->key, (uint32_t)sample, (uint32_t)place, word + i / 32 * 16 + i % 16);
    uint32_t draw = i / 16 % 2 == 0 ? bits & 0xffffU : bits >> 16;
    return draw < dropout->keep[place] ? 65536.0 / dropout->keep[place] : 0;
}

static double weight_mask(const wt_dropout *dropout, size_t sample, size_t t, size_t head) {
    uint32_t bits =
        word_of(dropout->key, (uint32_t)sample, WT_DROP_WEIGHTS, t / 2 * HEAD_LANES + head);
    uint32_t draw = t % 2 == 0 ? bits & 0xffffU : bits >> 16;
    return draw < dropout->keep[WT_DROP_WEIGHTS] ? 65536.0 / dropout->keep[WT_DROP_WEIGHTS] : 0;
}

static void masked_attention(const wt_dropout *dropout, const double *const *p, size_t sample,
                             double h[T + 1][D], double y[D]) {
    double q[D], k[T + 1][D], v[T + 1][D], a[T + 1];
    size_t width = D / HEADS;
    wt_plain_linear(D, D, h[T], p[WT_WQ], p[WT_BQ], q);
    for (size_t t = 0; t <= T; t++) {
        wt_plain_linear(D, D, h[t], p[WT_WK], p[WT_BK], k[t]);
        wt_plain_linear(D, D, h[t], p[WT_WV], p[WT_BV], v[t]);
    }
    for (size_t head = 0; head < HEADS; head++) {
        for (size_t t = 0; t <= T; t++) {
            a[t] = 0;
            for (size_t i = head * width; i < (head + 1) * width; i++)
                a[t] += q[i] * k[t][i] / sqrt((double)width);
        }
        wt_plain_softmax(T + 1, a);
        for (size_t i = head * width; i < (head + 1) * width; i++) {
            y[i] = 0;
            for (size_t t = 0; t <= T; t++)
                y[i] += a[t] * weight_mask(dropout, sample, t, head) * v[t][i];
        }
    }
}

static double masked_loss(const wt_dropout *dropout, const double *const *p, size_t sample,
                          const uint8_t *bit, uint8_t label) {
    double x[T + 1][D], h[T + 1][D], hat[D], y[D], c[D], m[D], e[D], w[D], f[HIDDEN], logits[2];
    double slope[2];
    for (size_t t = 0; t <= T; t++) {
        for (size_t i = 0; i < D; i++)
            x[t][i] =
                (p[WT_TOK_EMB][(size_t)(t < T ? bit[t] : 2) * D + i] + p[WT_POS_EMB][t * D + i]) *
                row_mask(dropout, sample, WT_DROP_TOKENS, t * STRIDE / 2, i);
        wt_plain_norm(D, x[t], p[WT_LN1_G], p[WT_LN1_B], hat, h[t]);
    }
    masked_attention(dropout, p, sample, h, y);
    wt_plain_linear(D, D, y, p[WT_WO], p[WT_BO], c);
    for (size_t i = 0; i < D; i++)
        c[i] = x[T][i] + c[i] * row_mask(dropout, sample, WT_DROP_BLOCKS, 0, i);
    wt_plain_norm(D, c, p[WT_LN2_G], p[WT_LN2_B], hat, m);
    wt_plain_linear(D, HIDDEN, m, p[WT_W1], p[WT_B1], f);
    for (size_t i = 0; i < HIDDEN; i++)
        f[i] = wt_nonlinearity_find("gelu")->value(f[i]);
    wt_plain_linear(HIDDEN, D, f, p[WT_W2], p[WT_B2], e);
    for (size_t i = 0; i < D; i++)
        e[i] = c[i] + e[i] * row_mask(dropout, sample, WT_DROP_BLOCKS, STRIDE / 2, i);
    wt_plain_norm(D, e, p[WT_LNF_G], p[WT_LNF_B], hat, w);
    wt_plain_linear(D, 2, w, p[WT_HEAD], NULL, logits);
    return wt_cross_entropy(logits, label, slope);
}

static double masked_mean(const wt_network *network, const wt_dropout *dropout,
                          const double *parameters, const wt_bits *batch) {
    const double *p[WT_TRANSFORMER_TENSORS];
    double loss = 0;
    for (size_t t = 0; t < WT_TRANSFORMER_TENSORS; t++)
        p[t] = parameters + network->tensors[t].offset;
    for (size_t i = 0; i < SAMPLES; i++)
        loss += masked_loss(dropout, p, i, batch->bit + i * T, batch->label[i]) / SAMPLES;
    return loss;
}

/* Loss and slopes along a random direction of every tensor, with the same masks. The float path is
 * within 1e-5 of the gradient's norm (test_network_float.c); differences in double add 1e-9. */
static void masks_go_where_they_belong(void **state) {
    wt_context *context = *state;
    for (int tokens = 0; tokens < 2; tokens++) { /* by tables, then absorbed */
        wt_network_spec spec = masked;
        spec.embedding_drop = tokens == 0 ? 0 : 0.2;
        wt_network *network = open_network(context, &spec);
        size_t size = wt_network_size(network);
        wt_dropout dropout = wt_dropout_for(&spec, wt_dropout_key(21, 4));
        double *parameters = far_parameters(context, network, 0.4), *moved, norm = 0;
        float *given = narrowed(context, parameters, size), *gradient;
        wt_network_result result = WT_SIZED(wt_network_result);
        wt_bits *batch;
        draw_bits(context, SAMPLES, T, 8, &batch);
        CHECK_OK(context, WT_NEW(context, &gradient, size, "gradient"));
        CHECK_OK(context, WT_NEW(context, &moved, size, "parameters"));
        CHECK_OK(context,
                 wt_network_gradient(context, network, given, batch, 21, 4, gradient, &result));
        CHECK_NEAR(result.loss, masked_mean(network, &dropout, parameters, batch), 1e-5);
        for (size_t i = 0; i < size; i++)
            norm += pow(gradient[i], 2);
        for (size_t t = 0; t < WT_TRANSFORMER_TENSORS; t++) {
            const wt_network_tensor *tensor = &network->tensors[t];
            size_t count = tensor->rows * tensor->columns;
            double direction[T * D + D + D * HIDDEN], along = 0, loss[2], length = 0;
            assert_true(count <= sizeof direction / sizeof *direction);
            wt_random_normal(wt_stream_for(2, "direction", t), 0, count, direction);
            for (size_t i = 0; i < count; i++) {
                along += direction[i] * gradient[tensor->offset + i];
                length += direction[i] * direction[i];
            }
            for (int side = 0; side < 2; side++) {
                memcpy(moved, parameters, size * sizeof *moved);
                for (size_t i = 0; i < count; i++)
                    moved[tensor->offset + i] += (side == 0 ? -1e-5 : 1e-5) * direction[i];
                loss[side] = masked_mean(network, &dropout, moved, batch);
            }
            CHECK_NEAR(along, (loss[1] - loss[0]) / 2e-5, 1e-5 * sqrt(norm * length) + 1e-7);
        }
        wt_release(parameters);
        wt_release(moved);
        wt_release(given);
        wt_release(gradient);
        wt_bits_free(batch);
        wt_network_free(network);
    }
}

/* The accuracy that network_lanes.h states. */
static void gelu_is_as_good_as_it_says(void **state) {
    size_t versions;
    const wt_loops_version *able = wt_loops_able(&versions);
    const wt_nonlinearity *gelu = wt_nonlinearity_find("gelu");
    enum { POINTS = 4096, MIDDLE = POINTS / 2 };
    static float f[POINTS], u[POINTS];
    (void)state;
    for (size_t v = 0; v < versions; v++) {
        for (int i = 0; i < POINTS; i++)
            f[i] = (float)(i - MIDDLE) * (30.0F / POINTS);
        able[v].network->gelu(POINTS, f, u);
        for (int i = 0; i < POINTS; i++) {
            double x = (float)(i - MIDDLE) * (30.0F / POINTS);
            CHECK_NEAR(u[i], gelu->value(x), 4e-7 * (1 + fabs(x)));
            CHECK_NEAR(f[i], gelu->slope(x), 4e-7 * (1 + fabs(x)));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_philox),
        cmocka_unit_test(expectation_is_exact),
        cmocka_unit_test(a_linear_network_has_the_mean),
        cmocka_unit_test(masks_go_where_they_belong),
        cmocka_unit_test(gelu_is_as_good_as_it_says),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
