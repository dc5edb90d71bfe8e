/* Networks: golden values, finite differences, layout, bad input. */
#include "network_cases.h"
#include "wattle/io.h"

/* Values of the named array, or a failed test; the caller releases them. */
static double *read_array(wt_context *context, const wt_file *file, const char *name,
                          size_t wanted) {
    const wt_array *array = wt_file_find(file, name);
    double *values;
    assert_non_null(array);
    assert_int_equal(array->count, wanted);
    CHECK_OK(context, WT_NEW(context, &values, wanted, "values"));
    CHECK_OK(context, wt_file_read(context, file, array, values));
    return values;
}

static void read_bits(wt_context *context, const wt_file *file, wt_bits **out) {
    size_t n = 6, length = 12;
    double *bits = read_array(context, file, "bits", n * length);
    double *labels = read_array(context, file, "labels", n);
    CHECK_OK(context, wt_bits_new(context, n, length, out));
    for (size_t i = 0; i < n * length; i++)
        (*out)->bit[i] = bits[i] != 0;
    for (size_t i = 0; i < n; i++)
        (*out)->label[i] = labels[i] != 0;
    wt_release(bits);
    wt_release(labels);
}

static void check_array(wt_context *context, const wt_file *file, const char *name,
                        const double *got, size_t count) {
    double *wanted = read_array(context, file, name, count);
    for (size_t i = 0; i < count; i++)
        CHECK_NEAR(got[i], wanted[i], 1e-10);
    wt_release(wanted);
}

/* Both sides are double: sums of a few hundred products of numbers of order 1. */
static void golden_values(void **state) {
    wt_context *context = *state;
    wt_network_spec spec = {.kind = "transformer", .length = 12, .dim = 8, .heads = 2};
    wt_network *network = open_network(context, &spec);
    double *parameters, *gradient, logits[12], loss, attention[6 * 2 * 13];
    wt_bits *batch;
    wt_file *file;
    size_t count = network->tensor_count, size = wt_network_size(network);
    const wt_network_tensor *tensors = network->tensors;
    CHECK_OK(context, wt_file_open(context, TEST_DATA "/golden/transformer.npz", &file));
    CHECK_OK(context, WT_NEW(context, &parameters, size, "parameters"));
    CHECK_OK(context, WT_NEW(context, &gradient, size, "gradient"));
    read_bits(context, file, &batch);
    for (size_t i = 0; i < count; i++) {
        size_t numbers = tensors[i].rows * tensors[i].columns;
        double *values = read_array(context, file, tensors[i].name, numbers);
        memcpy(parameters + tensors[i].offset, values, numbers * sizeof *values);
        wt_release(values);
    }
    CHECK_OK(context, wt_network_plain(context, network, parameters, batch, logits, &loss, gradient,
                                       attention));
    check_array(context, file, "logits", logits, 12);
    check_array(context, file, "loss", &loss, 1);
    check_array(context, file, "attention", attention, 6 * 2 * 13);
    for (size_t i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof name, "grad_%s", tensors[i].name);
        check_array(context, file, name, gradient + tensors[i].offset,
                    tensors[i].rows * tensors[i].columns);
    }
    wt_release(parameters);
    wt_release(gradient);
    wt_bits_free(batch);
    wt_file_free(file);
    wt_network_free(network);
}

/* (L(p + s) - L(p - s)) / 2s errs by s^2 L'''/6 and by 1e-16 L / s: at s = 1e-5 both are below
 * 1e-8 for derivatives of order 1. */
static void check_differences(wt_context *context, const wt_network *network,
                              const wt_network_tensor *tensor, const wt_bits *batch,
                              double *parameters, const double *gradient) {
    double step = 1e-5, above, below;
    size_t count = tensor->rows * tensor->columns, stride = count / 12 + 1;
    for (size_t i = tensor->offset; i < tensor->offset + count; i += stride) {
        double kept = parameters[i];
        parameters[i] = kept + step;
        CHECK_OK(context,
                 wt_network_plain(context, network, parameters, batch, NULL, &above, NULL, NULL));
        parameters[i] = kept - step;
        CHECK_OK(context,
                 wt_network_plain(context, network, parameters, batch, NULL, &below, NULL, NULL));
        parameters[i] = kept;
        CHECK_NEAR(gradient[i], tensor->fixed ? 0 : (above - below) / (2 * step), 1e-8);
    }
}

static void derivatives_are_differences(void **state) {
    wt_context *context = *state;
    for (size_t c = 0; c < NETWORK_CASES; c++) {
        wt_network *network = open_network(context, &network_cases[c]);
        size_t count = network->tensor_count, size = wt_network_size(network);
        const wt_network_tensor *tensors = network->tensors;
        double *parameters = far_parameters(context, network, 0.5), *gradient;
        wt_bits *batch;
        draw_bits(context, 3, network_cases[c].length, c, &batch);
        CHECK_OK(context, WT_NEW(context, &gradient, size, "gradient"));
        CHECK_OK(context,
                 wt_network_plain(context, network, parameters, batch, NULL, NULL, gradient, NULL));
        for (size_t t = 0; t < count; t++)
            check_differences(context, network, &tensors[t], batch, parameters, gradient);
        wt_release(parameters);
        wt_release(gradient);
        wt_bits_free(batch);
        wt_network_free(network);
    }
}

/* Tensors follow one another without gaps; what is drawn has the law it should have. */
static void starts_as_the_recipe_says(void **state) {
    wt_context *context = *state;
    wt_network_spec spec;
    WT_INIT(wt_network_spec, &spec);
    spec.fixed_positions = true;
    wt_network *network = open_network(context, &spec);
    size_t count = network->tensor_count, size = wt_network_size(network), at = 0;
    const wt_network_tensor *tensors = network->tensors;
    assert_ptr_equal(wt_network_tensor_at(network, count - 1), &tensors[count - 1]);
    assert_null(wt_network_tensor_at(network, count));
    float *parameters, *again;
    CHECK_OK(context, WT_NEW(context, &parameters, size, "parameters"));
    CHECK_OK(context, WT_NEW(context, &again, size, "parameters"));
    wt_network_draw(network, 9, parameters);
    wt_network_draw(network, 9, again);
    assert_memory_equal(parameters, again, size * sizeof *parameters);
    wt_network_draw(network, 10, again);
    assert_memory_not_equal(parameters, again, size * sizeof *parameters);
    assert_int_equal(wt_network_get_spec(network)->hidden, 256);
    for (size_t t = 0; t < count; t++) {
        size_t numbers = tensors[t].rows * tensors[t].columns;
        double sum = 0, square = 0;
        assert_int_equal(tensors[t].offset, at);
        at += numbers;
        assert_int_equal(tensors[t].fixed, strcmp(tensors[t].name, "pos_emb") == 0);
        for (size_t i = tensors[t].offset; i < at; i++) {
            sum += parameters[i];
            square += (double)parameters[i] * parameters[i];
        }
        if (tensors[t].vector) /* a gain or a bias */
            CHECK_NEAR(sum, strstr(tensors[t].name, "_g") != NULL ? 64 : 0, 0);
        else /* five standard deviations of the mean square of normal numbers */
            CHECK_NEAR(square / (double)numbers, 0.0004, 0.0004 * 5 * sqrt(2 / (double)numbers));
    }
    assert_int_equal(at, size);
    wt_release(parameters);
    wt_release(again);
    wt_network_free(network);
}

/* |symbol + position| <= B_X = 1, and only the four trained tensors may move. */
static void a_head_is_bounded(void **state) {
    wt_context *context = *state;
    wt_network_spec spec = {.kind = "head", .length = 50, .dim = 8, .heads = 3};
    wt_network *network = open_network(context, &spec);
    size_t count = network->tensor_count;
    const wt_network_tensor *tensors = network->tensors;
    float *parameters;
    CHECK_OK(context, WT_NEW(context, &parameters, wt_network_size(network), "parameters"));
    wt_network_draw(network, 1, parameters);
    assert_int_equal(wt_network_get_spec(network)->heads, 1);
    for (size_t t = 0; t < count; t++) {
        bool table =
            strcmp(tensors[t].name, "symbols") == 0 || strcmp(tensors[t].name, "positions") == 0;
        assert_int_equal(tensors[t].fixed, table);
        for (size_t r = 0; table && r < tensors[t].rows; r++) {
            double square = 0;
            for (size_t i = 0; i < 8; i++)
                square += pow(parameters[tensors[t].offset + r * 8 + i], 2);
            CHECK_NEAR(sqrt(square), 0.5, 1e-6); /* float rounding */
        }
    }
    wt_release(parameters);
    wt_network_free(network);
}

static void bad_specs_are_refused(void **state) {
    wt_context *context = *state;
    wt_network *network;
    const struct {
        wt_network_spec spec;
        const char *words;
    } bad[] = {
        {{.kind = "cnn", .length = 3}, "'cnn'"},
        {{.length = 3}, "no network"},
        {{.kind = "transformer", .length = 0, .dim = 4, .heads = 2}, "1 bit or more"},
        {{.kind = "transformer", .length = 3, .dim = 64, .heads = 10}, "10 heads of 64"},
        {{.kind = "transformer", .length = 3, .dim = 64, .heads = 0}, "0 heads"},
        {{.kind = "transformer", .length = 3, .dim = 4, .heads = 2, .activation = "tanh"}, "tanh"},
        {{.kind = "transformer", .length = 3, .dim = 4, .heads = 2, .block_drop = 1}, "block"},
        {{.kind = "transformer", .length = 3, .dim = 4, .heads = 2, .embedding_drop = -0.1},
         "-0.1"},
        {{.kind = "transformer", .length = 3, .dim = 4, .heads = 2, .attention_drop = NAN}, "nan"},
        {{.kind = "head", .length = 3, .dim = 0}, "dimension"},
        {{.kind = "head", .length = 3, .dim = 4, .block_drop = 0.1}, "no dropout"},
        {{.kind = "mlp", .length = 3}, "hidden"},
        {{.kind = "mlp", .length = 3, .hidden = 4, .activation = "softmax"}, "softmax"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        wt_network_spec spec = bad[i].spec;
        spec.size = sizeof spec;
        CHECK_FAILS(context, wt_network_new(context, &spec, &network), WT_USAGE, bad[i].words);
        assert_null(network);
    }
    wt_network_spec huge = {
        .size = sizeof huge, .kind = "mlp", .length = SIZE_MAX / 4, .hidden = SIZE_MAX / 4};
    CHECK_FAILS(context, wt_network_new(context, &huge, &network), WT_MEMORY, "w1");
}

static void bad_batches_are_refused(void **state) {
    wt_context *context = *state;
    wt_network_spec spec = {.kind = "mlp", .length = 3, .hidden = 2};
    wt_network *network = open_network(context, &spec);
    float parameters[64] = {0}, gradient[64];
    wt_network_result result = WT_SIZED(wt_network_result);
    wt_bits *batch;
    draw_bits(context, 4, 3, 1, &batch);
    CHECK_FAILS(context, wt_network_attention(context, network, parameters, batch, gradient),
                WT_USAGE, "does not attend");
    batch->bit[7] = 2;
    CHECK_FAILS(context,
                wt_network_gradient(context, network, parameters, batch, 1, 1, gradient, &result),
                WT_DATA, "0 or 1");
    batch->bit[7] = 1;
    batch->label[1] = 9;
    CHECK_FAILS(context,
                wt_network_evaluate(context, network, parameters, batch, SIZE_MAX, &result),
                WT_DATA, "0 or 1");
    batch->label[1] = 0;
    batch->length = 2;
    CHECK_FAILS(context,
                wt_network_evaluate(context, network, parameters, batch, SIZE_MAX, &result),
                WT_USAGE, "2 bits");
    batch->length = 3;
    batch->samples = 0;
    CHECK_FAILS(context,
                wt_network_evaluate(context, network, parameters, batch, SIZE_MAX, &result),
                WT_USAGE, "1 sample");
    wt_bits_free(batch);
    wt_network_free(network);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_values),
        cmocka_unit_test(derivatives_are_differences),
        cmocka_unit_test(starts_as_the_recipe_says),
        cmocka_unit_test(a_head_is_bounded),
        cmocka_unit_test(bad_specs_are_refused),
        cmocka_unit_test(bad_batches_are_refused),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
