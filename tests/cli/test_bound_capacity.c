/* `wattle bound head|transformer` as a user meets it. */
#define _GNU_SOURCE
#include <jansson.h>

#include "cli/run.h"

#define GOLDEN TEST_DATA "/golden/transformer.npz"
#define HEAD   TEST_DATA "/fixtures/head.safetensors"

/* 32000 log(800000) by hand (tests/network/test_capacity.c). */
static void norms_give_the_capacity(void **state) {
    (void)state;
    const run_result *result =
        run("bound head --norms qk21=4,v21=8,v=4,x=1.5,p=0.5 --dim 8 --length 100");
    static const char *const words[] = {"head: d = 8, T = 100, m = 1000",
                                        "C_F = log(d m T)",
                                        "= 4.3496e+05",
                                        "log N(0.1) <= C_F / epsilon^2 = 4.3496e+07",
                                        "vacuous",
                                        "floor(log T) = 4 (6 to base 2)",
                                        "not specified by the theory: the constant",
                                        "a shape, not a prediction"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        CHECK_PRINTS(result, words[i]);
    json_t *all = run_json("bound head --norms qk21=4,v21=8,v=4,x=1.5,p=0.5 --dim 8 --length 100 "
                           "--json");
    CHECK_NEAR(run_member(all, "capacity"), 32000 * log(800000), 1e-13);
    assert_int_equal(json_array_size(json_object_get(all, "unspecified")), 3);
    assert_int_equal(json_array_size(json_object_get(all, "outside")), 0);
    json_decref(all);
}

/* Three heads: written out, by --heads, and with what is left out as before. */
static void heads_and_layers_are_groups(void **state) {
    (void)state;
    static const char *const lines[] = {
        "bound head --length 9 --json --norms qk21=4,v21=8,v=1 --heads 3",
        "bound head --length 9 --json --norms qk21=4,v21=8,v=1/v=1/qk21=4",
        "bound head --length 9 --json --norms qk21=4,v21=8,v=1/qk21=4,v21=8,v=1/sigma=1"};
    double capacity[3];
    for (size_t i = 0; i < 3; i++) {
        json_t *all = run_json(lines[i]);
        json_t *layer = json_array_get(json_object_get(all, "layers"), 0);
        capacity[i] = run_member(all, "capacity");
        assert_int_equal(json_array_size(json_object_get(layer, "heads")), 3);
        json_decref(all);
    }
    CHECK_NEAR(capacity[0], pow(24, 3) * log(16.0 * 1000 * 9), 1e-13);
    assert_true(capacity[1] == capacity[0] && capacity[2] == capacity[0]);
    json_t *all = run_json("bound transformer --length 9 --json --residual --norms "
                           "qk21=4,qk=1,v21=8,v=1,c21=1,c=1,w=27/qk21=2,qk=0.75,v21=4,v=2");
    json_t *layers = json_object_get(all, "layers");
    assert_int_equal(json_array_size(layers), 2);
    CHECK_NEAR(run_member(json_array_get(layers, 0), "alpha"), 9, 1e-15);
    CHECK_NEAR(run_member(json_array_get(layers, 1), "alpha"), 1, 1e-15);
    json_decref(all);
    CHECK_PRINTS(run("bound transformer --length 9 --depth 2 --heads 2 --norms "
                     "qk21=4,qk=1,v21=8,v=1,c21=1,c=1"),
                 "layer 1 (alpha 1), head 1:");
}

/* Read-outs of norm 1, 10 and 100 scale the functions, and C_F by the square; none is less. */
static void a_read_out_counts(void **state) {
    (void)state;
    static const char *const lines[] = {
        "bound head --norms qk21=1,v21=1,v=1 --length 10 --json",
        "bound head --norms qk21=1,v21=1,v=1,w=1 --length 10 --json",
        "bound head --norms qk21=1,v21=1,v=1,w=10 --length 10 --json",
        "bound head --norms qk21=1,v21=10,v=10,w=1 --length 10 --json"};
    double capacity[4];
    for (size_t i = 0; i < 4; i++) {
        json_t *all = run_json(lines[i]);
        capacity[i] = run_member(all, "capacity");
        assert_int_equal(json_is_null(json_object_get(all, "w")), i == 0);
        json_decref(all);
    }
    assert_true(capacity[0] < capacity[1]);
    CHECK_NEAR(capacity[2], 100 * capacity[1], 1e-13);
    CHECK_NEAR(capacity[3], 100 * capacity[1], 1e-13);
    CHECK_PRINTS(run("bound head --norms qk21=1,v21=1,v=1,w=1 --length 10"),
                 "the read-out: derived");
    CHECK_PRINTS(run("bound head --norms qk21=1,v21=1,v=1 --length 10"), "no read-out");
}

/* Norms of 0 leave one function: nothing is vacuous about a gap of 0 by capacity. */
static void no_capacity_is_not_vacuous(void **state) {
    (void)state;
    const run_result *result = run("bound head --norms qk21=0,v21=0,v=0 --length 100");
    CHECK_PRINTS(result, "(C_F is 0, and so is the limit of the first term)");
    assert_null(strstr(result->out, "vacuous"));
    json_t *all = run_json("bound head --norms qk21=0,v21=0,v=0 --length 100 --json");
    const json_t *gap = json_object_get(all, "gap");
    assert_true(json_is_false(json_object_get(gap, "vacuous")));
    assert_true(run_member(gap, "capacity_term") == 0);
    assert_true(run_member(gap, "sum") == run_member(gap, "confidence_term"));
    json_decref(all);
}

static void models_have_norms_of_their_own(void **state) {
    (void)state;
    CHECK_PRINTS(run("bound head --model " HEAD), "d = 9, T = 6");
    const run_result *result = run("bound transformer --model " GOLDEN " --heads 2");
    CHECK_PRINTS(result, "d = 8, T = 12");
    CHECK_PRINTS(result, "not in the theorem's class: the MLP and its layer norm; the residual");
    json_t *all = run_json("bound transformer --model " GOLDEN " --heads 2 --json");
    assert_int_equal(json_array_size(json_object_get(all, "outside")), 4);
    json_decref(all);
}

static void bad_words_are_refused(void **state) {
    (void)state;
    CHECK_SAYS(run("bound head"), 64, "needs --norms or --model");
    CHECK_SAYS(run("bound head --norms qk21=1,v21=1,v=1 --model " HEAD), 64,
               "--norms and --model exclude each other");
    CHECK_SAYS(run("bound head --norms qk21=1,v21=1,v=1"), 64, "needs --length");
    CHECK_SAYS(run("bound head --norms qk21=1,v21=1 --length 9"), 64, "needs the norm v");
    CHECK_SAYS(run("bound head --norms qk22=1 --length 9"), 64, "did you mean qk21?");
    CHECK_SAYS(run("bound head --norms c21=1 --length 9"), 64, "no norm of a head");
    CHECK_SAYS(run("bound head --norms v --length 9"), 64, "'v' is no norm");
    CHECK_SAYS(run("bound head --norms v=-1 --length 9"), 64, "v must be a number");
    CHECK_SAYS(run("bound head --norms v=1,, --length 9"), 64, "'' is no norm");
    CHECK_SAYS(run("bound head --norms v=2,v21=1,qk21=1 --length 9"), 64, "no matrix has");
    CHECK_SAYS(run("bound head --norms v=1/v=1 --heads 3 --length 9"), 64, "makes no sense");
    CHECK_SAYS(run("bound head --norms v=1 --depth 3 --length 9"), 64, "are of transformers");
    CHECK_SAYS(run("bound head --norms v=1 --target corr:1 --length 9"), 64, "--target makes no");
    CHECK_SAYS(run("bound head --model " HEAD " --length 9"), 64, "the model has 6");
    CHECK_SAYS(run("bound head --model " HEAD " --heads 2"), 64, "itself");
    CHECK_SAYS(run("bound head --model " GOLDEN), 65, "'w_v' is missing");
    CHECK_SAYS(run("bound head --model /tmp/wattle-no-such-file"), 66, "no-such-file");
    CHECK_SAYS(run("bound transformer --model " GOLDEN), 64, "how many heads");
    CHECK_SAYS(run("bound transformer --model " HEAD), 65, "its kind is 'head'");
    CHECK_SAYS(run("bound transformer --norms qk21=1,v21=1,v=1,c21=1,c=1 --depth 2 --length 9"), 64,
               "needs the norm qk");
    CHECK_SAYS(run("bound head --norms qk21=1,v21=1,v=1 --length 9 --epsilon 0"), 64, "epsilon");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_give_the_capacity),
        cmocka_unit_test(heads_and_layers_are_groups),
        cmocka_unit_test(a_read_out_counts),
        cmocka_unit_test(no_capacity_is_not_vacuous),
        cmocka_unit_test(models_have_norms_of_their_own),
        cmocka_unit_test(bad_words_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
