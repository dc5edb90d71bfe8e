/* A part of a model in use: three heads of MiniLM's first layer, with their biases, in F16. What it
 * should give was computed by NumPy: fixtures/make_minilm.py. */
#define _GNU_SOURCE
#include <jansson.h>

#include "cli/run.h"

#define MINILM  TEST_DATA "/fixtures/minilm.safetensors"
#define OUTPUTS TEST_DATA "/fixtures/minilm.npz"
#define WORDS                                                                                      \
    " --tokens-from " MINILM ":embeddings.word_embeddings.weight"                                  \
    " --add " MINILM ":embeddings.position_embeddings.weight"                                      \
    " --add " MINILM ":embeddings.token_type_embeddings.weight@0"                                  \
    " --norm-from " MINILM ":embeddings.LayerNorm "

/* As make_minilm.py prints them. */
static const struct {
    const char *name;
    double of[3];
} numbers[] = {
    {"diagonal_mean", {-0.00428894794804, -0.0118576195602, 0.0519211718334}},
    {"standard_errors", {-11.1658142302, -23.711565145, 32.0390469037}},
    {"spectral", {0.869108628643, 1.04102443854, 5.97240822771}},
    {"effective_rank", {29.0597458589, 29.7936349823, 16.1864566636}},
    {"rows_21", {55.8855657431, 72.6552192531, 231.325966626}},
    {"ov_spectral", {0.992386653753, 0.928213624007, 0.613727148715}},
};

/* 12 digits are printed; cancelling in the diagonal costs two or three of the 16 there are. */
static void heads_are_as_numpy_has_them(void **state) {
    (void)state;
    const run_result *result = run_in_folder("inspect " MINILM " --json");
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    assert_string_equal(json_string_value(json_object_get(all, "scheme")), "BERT");
    assert_int_equal(json_integer_value(json_object_get(all, "positive")), 1);
    assert_int_equal(json_integer_value(json_object_get(all, "below_two")), 2);
    const json_t *heads = json_object_get(all, "heads");
    assert_int_equal(json_array_size(heads), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *head = json_array_get(heads, i);
        assert_int_equal(json_integer_value(json_object_get(head, "rank")), 32);
        for (size_t j = 0; j < sizeof numbers / sizeof *numbers; j++) {
            double wanted = numbers[j].of[i];
            CHECK_NEAR(json_number_value(json_object_get(head, numbers[j].name)), wanted,
                       1e-10 * fabs(wanted));
        }
    }
    json_decref(all);
}

/* Sums of 384 products of order 1 in double. */
static void outputs_are_as_numpy_has_them(void **state) {
    (void)state;
    assert_true(run_number("apply " MINILM " " OUTPUTS " --json", "error") < 1e-13);
    run_must("draw --layer " MINILM WORDS "--length 6 -n 4 -o words.npz");
    assert_true(run_number("apply " MINILM " words.npz --json", "error") < 1e-13);
    /* a norm with a shift: its tokens lie on a plane, and others are told from them */
    run_must("draw --layer " MINILM " --tokens gaussian --length 6 -n 4 -o any.npz");
    assert_true(run_number("compare " MINILM " " MINILM " --data words.npz --json", "visible") <
                384);
    assert_true(run_number("compare " MINILM " " MINILM " --json", "theta_error") == 0);
}

/* Factored again, in either names, it is the same function: rounding of the factors in double. */
static void exports_are_the_same_function(void **state) {
    (void)state;
    static const char *const names[] = {"torch", "bert"};
    for (size_t i = 0; i < 2; i++) {
        char line[256];
        snprintf(line, sizeof line, "export " MINILM " --as %s -o out.safetensors", names[i]);
        run_must(line);
        assert_true(run_number("apply out.safetensors " OUTPUTS " --heads 3 --json", "error") <
                    1e-12);
        assert_true(run_number("compare " MINILM " out.safetensors --heads 3 --json",
                               "theta_error") < 1e-12);
    }
    run_refuses("export " MINILM " --rank 31 -o no.safetensors", 65, "rank 32, above the 31");
}

/* Heads that are kept are those of the layer, in the order that is asked for; c is that of all. */
static void heads_are_kept(void **state) {
    (void)state;
    run_must("export " MINILM " --as wattle --only 2,0 -o two.safetensors");
    run_must("export " MINILM " --as wattle -o all.safetensors");
    assert_true(run_number("export two.safetensors --as wattle --only 1 -o one.safetensors --json",
                           "heads") == 1);
    assert_true(run_number("compare " MINILM " all.safetensors --json", "theta_error") == 0);
    const run_result *result = run_in_folder("inspect two.safetensors --json");
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    const json_t *heads = json_object_get(all, "heads");
    assert_int_equal(json_array_size(heads), 2);
    for (size_t i = 0; i < 2; i++) {
        double wanted = numbers[2].of[2 - 2 * i];
        assert_string_equal(numbers[2].name, "spectral");
        CHECK_NEAR(json_number_value(json_object_get(json_array_get(heads, i), "spectral")), wanted,
                   1e-10 * wanted);
    }
    json_decref(all);
    run_refuses("export " MINILM " --as wattle --only 3 -o no.safetensors", 64,
                "heads 0 to 2, no head 3");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_as_numpy_has_them),
        cmocka_unit_test(outputs_are_as_numpy_has_them),
        cmocka_unit_test(exports_are_the_same_function),
        cmocka_unit_test(heads_are_kept),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
