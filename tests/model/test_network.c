/* Networks: golden values, finite differences, layout, bad input. */
#include "wattle/network.h"

#include "base/memory.h"
#include "check.h"
#include "wattle/io.h"
#include "wattle/random.h"

/* Kinds and shapes that every derivative is tried on. */
static const wt_network_spec shapes[] = {
    {.kind = "transformer", .length = 7, .dim = 6, .heads = 3, .hidden = 5},
    {.kind = "transformer", .length = 1, .dim = 1, .heads = 1},
    {.kind = "transformer", .length = 4, .dim = 20, .heads = 1, .hidden = 33},
    {.kind = "head", .length = 6, .dim = 5, .activation = "tanh"},
    {.kind = "head", .length = 3, .dim = 4, .activation = "gelu"},
    {.kind = "head", .length = 5, .dim = 3, .activation = "identity"},
    {.kind = "mlp", .length = 6, .hidden = 7, .activation = "gelu"},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static wt_network *open_network(wt_context *context, const wt_network_spec *spec) {
    wt_network *network;
    CHECK_OK(context, wt_network_open(context, spec, &network));
    return network;
}

static void draw_bits(wt_context *context, size_t samples, size_t length, uint64_t seed,
                      wt_bits *out) {
    CHECK_OK(context, wt_bits_new(context, samples, length, out));
    wt_random_bernoulli(wt_stream_for(seed, "bits", 0), 0, samples * length, 0.6, out->bit);
    wt_random_bernoulli(wt_stream_for(seed, "labels", 0), 0, samples, 0.5, out->label);
}

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

static void read_bits(wt_context *context, const wt_file *file, wt_bits *out) {
    size_t n = 6, length = 12;
    double *bits = read_array(context, file, "bits", n * length);
    double *labels = read_array(context, file, "labels", n);
    CHECK_OK(context, wt_bits_new(context, n, length, out));
    for (size_t i = 0; i < n * length; i++)
        out->bit[i] = bits[i] != 0;
    for (size_t i = 0; i < n; i++)
        out->label[i] = labels[i] != 0;
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
    wt_bits batch;
    wt_file *file;
    size_t count, size = wt_network_size(network);
    const wt_network_tensor *tensors = wt_network_tensors(network, &count);
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
    CHECK_OK(context, wt_network_plain(context, network, parameters, &batch, logits, &loss,
                                       gradient, attention));
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
    wt_bits_free(&batch);
    wt_file_free(file);
    wt_network_free(network);
}

/* Parameters far from the start, so that no term is small. */
static void draw_parameters(wt_context *context, const wt_network *network, double **out) {
    size_t size = wt_network_size(network);
    CHECK_OK(context, WT_NEW(context, out, size, "parameters"));
    wt_random_normal(wt_stream_for(3, "far", 0), 0, size, *out);
    for (size_t i = 0; i < size; i++)
        (*out)[i] *= 0.5;
}

/* (L(p + s) - L(p - s)) / 2s errs by s^2 L'''/6 and by 1e-16 L / s: at s = 1e-5 both are below
 * 1e-8 for derivatives of order 1. */
static void derivatives_are_differences(void **state) {
    wt_context *context = *state;
    for (size_t c = 0; c < SHAPES; c++) {
        wt_network *network = open_network(context, &shapes[c]);
        size_t count, size = wt_network_size(network);
        const wt_network_tensor *tensors = wt_network_tensors(network, &count);
        double *parameters, *gradient, step = 1e-5, loss, above, below;
        wt_bits batch;
        draw_bits(context, 5, shapes[c].length, c, &batch);
        draw_parameters(context, network, &parameters);
        CHECK_OK(context, WT_NEW(context, &gradient, size, "gradient"));
        CHECK_OK(context, wt_network_plain(context, network, parameters, &batch, NULL, &loss,
                                           gradient, NULL));
        for (size_t t = 0; t < count; t++)
            for (size_t i = tensors[t].offset;
                 i < tensors[t].offset + tensors[t].rows * tensors[t].columns; i++) {
                double kept = parameters[i];
                parameters[i] = kept + step;
                CHECK_OK(context, wt_network_plain(context, network, parameters, &batch, NULL,
                                                   &above, NULL, NULL));
                parameters[i] = kept - step;
                CHECK_OK(context, wt_network_plain(context, network, parameters, &batch, NULL,
                                                   &below, NULL, NULL));
                parameters[i] = kept;
                CHECK_NEAR(gradient[i], tensors[t].fixed ? 0 : (above - below) / (2 * step), 1e-8);
            }
        wt_release(parameters);
        wt_release(gradient);
        wt_bits_free(&batch);
        wt_network_free(network);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_values),
        cmocka_unit_test(derivatives_are_differences),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
