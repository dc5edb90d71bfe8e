/* A network, samples, parameters far from the start, and what the plain version in double makes of
 * them: for tests of the float paths. */
#ifndef TESTS_NETWORK_NETWORK_TRIAL_H
#define TESTS_NETWORK_NETWORK_TRIAL_H

#include "network_cases.h"

/* Sums of some thousands of products in float, each of them within 6e-8: a gradient is within 2e-6
 * of its norm at the shapes tried; 1e-5 leaves room for other orders of summation. */
#define TOLERANCE 1e-5

typedef struct {
    wt_network *network;
    wt_bits *batch;
    size_t size;
    double *parameters, *wanted, *logits, loss;
    float *given, *gradient;
} trial;

static inline void open_trial(wt_context *context, const wt_network_spec *spec, size_t samples,
                              double spread, trial *out) {
    out->network = open_network(context, spec);
    out->size = wt_network_size(out->network);
    draw_bits(context, samples, spec->length, 5, &out->batch);
    out->parameters = far_parameters(context, out->network, spread);
    out->given = narrowed(context, out->parameters, out->size);
    CHECK_OK(context, WT_NEW(context, &out->wanted, out->size, "gradient"));
    CHECK_OK(context, WT_NEW(context, &out->gradient, out->size, "gradient"));
    CHECK_OK(context, WT_NEW(context, &out->logits, 2 * samples, "logits"));
    CHECK_OK(context, wt_network_plain(context, out->network, out->parameters, out->batch,
                                       out->logits, &out->loss, out->wanted, NULL));
}

static inline void close_trial(trial *at) {
    wt_release(at->parameters);
    wt_release(at->given);
    wt_release(at->wanted);
    wt_release(at->gradient);
    wt_release(at->logits);
    wt_bits_free(at->batch);
    wt_network_free(at->network);
}

static inline size_t plain_correct(const trial *at) {
    size_t correct = 0;
    for (size_t i = 0; i < at->batch->samples; i++)
        correct += (at->logits[2 * i + 1] > at->logits[2 * i]) == (at->batch->label[i] == 1);
    return correct;
}

/* The mean probability of the wrong label, by its formula. */
static inline double plain_miss(const trial *at) {
    double sum = 0;
    for (size_t i = 0; i < at->batch->samples; i++) {
        uint8_t label = at->batch->label[i];
        sum += 1 / (1 + exp(at->logits[2 * i + label] - at->logits[2 * i + 1 - label]));
    }
    return sum / (double)at->batch->samples;
}

static inline void check_gradient(const trial *at, const wt_network_result *result) {
    double error = 0, norm = 0;
    for (size_t i = 0; i < at->size; i++) {
        error += pow(at->gradient[i] - at->wanted[i], 2);
        norm += pow(at->wanted[i], 2);
    }
    assert_true(norm > 0);
    /* A row of one number has no spread, and its normalisation is 1 / sqrt(1e-5) times rounding. */
    CHECK_NEAR(sqrt(error), 0, TOLERANCE * sqrt(norm) + 1e-7);
    CHECK_NEAR(result->loss, at->loss, TOLERANCE);
    CHECK_NEAR(result->miss, plain_miss(at), TOLERANCE);
    assert_int_equal(result->samples, at->batch->samples);
    assert_int_equal(result->correct, plain_correct(at));
}

#endif
