/* Random features before any data: the two orders they are kept in, the law of their weights, and
 * what is refused. */
#include "features/plain_features.h"
#include "specs.h"

static void orders_are_inverse_to_each_other(void **state) {
    wt_context *context = *state;
    wt_model_spec spec = {MODEL(RFA), .heads = 700, .dim = 4, .keys = 1};
    wt_features features;
    CHECK_OK(context, wt_features_shape(context, &spec, &features));
    assert_true(wt_features_blocks(&features) > 2);
    size_t f = wt_features_count(&features);
    double *file = doubles(context, 2 * f), *block = doubles(context, 2 * f);
    double *back = doubles(context, 2 * f);
    for (size_t i = 0; i < 2 * f; i++)
        file[i] = (double)i;
    wt_features_to_block_order(&features, file, 2, block);
    wt_features_to_file_order(&features, block, 2, back);
    assert_memory_equal(file, back, 2 * f * sizeof *file);
    /* Feature j of unit u of the second block. */
    size_t first, count, j = 3, u = 5;
    wt_features_block_at(&features, 1, &first, &count);
    assert_true(block[2 * (first * features.width + j * count + u)] ==
                (double)(2 * ((first + u) * features.width + j)));
    wt_release(file);
    wt_release(block);
    wt_release(back);
}

/* Entries of W have variance 1/4, of w 1/(N+2): with 20,000 of them or more the sample variance is
 * within 5 standard errors, sqrt(2/n) each; the mean likewise. */
static void weights_have_their_law(void **state) {
    wt_context *context = *state;
    static const wt_model_spec specs[] = {
        {MODEL(RFA), .heads = 1000, .dim = 6, .keys = 3, .seed = 4},
        {MODEL(RFMLP), .heads = 200, .dim = 6, .keys = 3, .seed = 4}};
    for (size_t s = 0; s < 2; s++) {
        wt_features features;
        CHECK_OK(context, wt_features_draw(context, &specs[s], &features));
        double n = (double)(features.units * features.inputs), mean = 0, square = 0;
        double variance = s == 0 ? 0.25 : 1.0 / 5;
        assert_true(n >= 20000);
        for (size_t i = 0; i < (size_t)n; i++) {
            mean += features.weights[i] / n;
            square += features.weights[i] * features.weights[i] / n;
        }
        CHECK_BELOW(fabs(mean) / sqrt(variance / n), 5, "mean of weights %zu", s);
        CHECK_BELOW(fabs(square / variance - 1) / sqrt(2 / n), 5, "variance of weights %zu", s);
        wt_features_free(&features);
    }
}

/* rfa and brfa of a seed differ by the bias alone; more heads add to the same ones. */
static void weights_are_paired_and_nested(void **state) {
    wt_context *context = *state;
    enum { DIM = 3, SIDE = DIM + 1 };
    wt_model_spec spec = {MODEL(RFA), .heads = 6, .dim = DIM, .keys = 3, .seed = 4};
    wt_features rfa, brfa, more;
    CHECK_OK(context, wt_features_draw(context, &spec, &rfa));
    spec.kind = WT_MODEL_KIND_BRFA;
    spec.bias = 2.5;
    CHECK_OK(context, wt_features_draw(context, &spec, &brfa));
    spec.heads = 40;
    CHECK_OK(context, wt_features_draw(context, &spec, &more));
    for (size_t i = 0; i < 6 * SIDE * SIDE; i++) {
        size_t row = i / SIDE % SIDE, column = i % SIDE;
        assert_true(brfa.weights[i] == rfa.weights[i] + (row == column && row < DIM ? 2.5 : 0.0));
        assert_true(brfa.weights[i] == more.weights[i]);
    }
    wt_features_free(&rfa);
    wt_features_free(&brfa);
    wt_features_free(&more);
}

static void bad_specifications_are_refused(void **state) {
    wt_context *context = *state;
    static const struct {
        wt_model_spec spec;
        wt_status status;
        const char *words;
    } cases[] = {
        {{MODEL(RFA), .heads = 0, .dim = 2, .keys = 2}, WT_USAGE, "rfa needs 1 head or more"},
        {{MODEL(RFMLP), .heads = 0, .dim = 2, .keys = 2}, WT_USAGE, "1 head or more"},
        {{MODEL(BRFA), .heads = 2, .dim = 0, .keys = 2}, WT_USAGE, "1 dimension or more"},
        {{MODEL(BRFA), .heads = 2, .dim = 2, .keys = 0}, WT_USAGE, "1 key or more"},
        {{MODEL(BRFA), .heads = 2, .dim = 2, .keys = 2, .bias = NAN}, WT_USAGE, "finite"},
        {{MODEL(RFA_INF), .dim = 2, .keys = 2, .activation = WT_ACTIVATION_SOFTMAX},
         WT_USAGE,
         "no closed form with softmax"},
        {{MODEL(RFMLP), .heads = 2, .dim = 2, .keys = 2, .activation = WT_ACTIVATION_SOFTMAX},
         WT_USAGE,
         "no softmax"},
        {{MODEL(RFA), .heads = SIZE_MAX / 2, .dim = 9, .keys = 2}, WT_MEMORY, "too many"},
        {{MODEL(RFA), .heads = 1, .dim = SIZE_MAX, .keys = 2}, WT_MEMORY, "too many"},
        {{MODEL(RFA), .heads = 1, .dim = SIZE_MAX / 2, .keys = 2}, WT_MEMORY, "too many"},
        {{MODEL(RFMLP), .heads = SIZE_MAX / 2, .dim = 9, .keys = 2}, WT_MEMORY, "too many"},
        {{MODEL(RFMLP), .heads = 1, .dim = 9, .keys = SIZE_MAX}, WT_MEMORY, "too many"},
        {{MODEL(RFMLP), .heads = 1, .dim = SIZE_MAX, .keys = 1}, WT_MEMORY, "too many"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wt_features features;
        wt_status status = wt_features_draw(context, &cases[i].spec, &features);
        if (status != cases[i].status ||
            strstr(wt_context_message(context), cases[i].words) == NULL)
            fail_msg("case %zu: status %d, '%s'", i, status, wt_context_message(context));
    }
    wt_model_kind kind;
    CHECK_OK(context, wt_model_kind_parse(context, "brfa-inf", &kind));
    assert_int_equal(kind, WT_MODEL_KIND_BRFA_INF);
    CHECK_FAILS(context, wt_model_kind_parse(context, "rfq", &kind), WT_USAGE,
                "there is no model 'rfq'");
}

static void sets_of_another_shape_are_refused(void **state) {
    wt_context *context = *state;
    wt_model_spec spec = {MODEL(RFMLP), .heads = 2, .dim = 3, .keys = 4};
    wt_features features;
    CHECK_OK(context, wt_features_draw(context, &spec, &features));
    wt_sets other_dim = draw_sets(context, 1, 2, 4, 2, 0, false);
    wt_sets other_keys = draw_sets(context, 1, 2, 5, 3, 0, false);
    double out[2 * 8];
    CHECK_FAILS(context, wt_features_block(context, &features, &other_dim, 0, 8, out, 8), WT_DATA,
                "tokens of 2 dimensions, the model wants 3");
    CHECK_FAILS(context, wt_features_block(context, &features, &other_keys, 0, 8, out, 8), WT_DATA,
                "5 keys a sample, rfmlp wants 4");
    wt_sets_close(&other_dim);
    wt_sets_close(&other_keys);
    wt_features_free(&features);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_inverse_to_each_other),
        cmocka_unit_test(weights_have_their_law),
        cmocka_unit_test(weights_are_paired_and_nested),
        cmocka_unit_test(bad_specifications_are_refused),
        cmocka_unit_test(sets_of_another_shape_are_refused),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
