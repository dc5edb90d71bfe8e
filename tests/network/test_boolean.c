#include "check.h"

#include <math.h>
#include <string.h>

#include "network/task/boolean.h"

static void functions_are_their_tables(void **state) {
    wt_context *context = *state;
    static const struct {
        const char *text, *table;
        bool symmetric;
    } cases[] = {
        {"and:3", "00000001", true},          {"or:2", "0111", true},
        {"majority:3", "00010111", true},     {"parity:3", "01101001", true},
        {"symmetric:0001", "00000001", true}, {"table:0010", "0010", false},
        {"majority:2", "0001", true},         {"and:1", "01", true},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        wt_boolean *function;
        CHECK_OK(context, wt_boolean_new(context, cases[c].text, &function));
        assert_int_equal((size_t)1 << function->bits, strlen(cases[c].table));
        for (size_t row = 0; row < (size_t)1 << function->bits; row++)
            assert_int_equal(function->value[row], cases[c].table[row] == '1');
        assert_int_equal(function->symmetric, cases[c].symmetric);
        wt_boolean_free(function);
    }
    static const char *const wrong[] = {"and",     "and:",    "and:0",       "and:17",
                                        "table:0", "nand:2",  "table:011",   "table:01x0",
                                        "table:",  "and:3.5", "symmetric:2", "symmetric:1"};
    for (size_t c = 0; c < sizeof wrong / sizeof *wrong; c++) {
        wt_boolean *function;
        assert_int_equal(wt_boolean_new(context, wrong[c], &function), WT_USAGE);
        assert_non_null(strstr(wt_context_message(context), wrong[c]));
    }
}

/* Closed forms: and 2^(-1/s), or 1 - 2^(-1/s), symmetric laws 1/2. Bisection ends at the last bit
 * of a sum of a few powers: 1e-14 leaves a hundred roundings. */
static void balance_is_where_ones_are_half(void **state) {
    wt_context *context = *state;
    static const struct {
        const char *text;
        double probability;
    } cases[] = {{"and:3", 0.79370052598409974},
                 {"or:3", 0.20629947401590026},
                 {"parity:4", 0.5},
                 {"majority:5", 0.5},
                 {"table:0010", 0.5},
                 {"table:0000", 0.5}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        wt_boolean *function;
        CHECK_OK(context, wt_boolean_new(context, cases[c].text, &function));
        CHECK_NEAR(wt_boolean_balance(function), cases[c].probability, 1e-14);
        wt_boolean_free(function);
    }
}

static void samples_depend_on_their_index_alone(void **state) {
    wt_context *context = *state;
    wt_sparse_task *task;
    wt_sparse_spec spec = {.size = sizeof(wt_sparse_spec),
                           .function = "and:3",
                           .length = 21,
                           .probability = NAN,
                           .seed = 5};
    CHECK_OK(context, wt_sparse_task_new(context, &spec, &task));
    wt_bits *all, *part;
    CHECK_OK(context, wt_bits_new(context, 200, 21, &all));
    CHECK_OK(context, wt_bits_new(context, 3, 21, &part));
    CHECK_OK(context, wt_sparse_task_draw(context, task, "train", 0, true, all));
    CHECK_OK(context, wt_sparse_task_draw(context, task, "train", 150, true, part));
    assert_memory_equal(all->bit + 150 * 21, part->bit, 3 * 21);
    assert_memory_equal(all->label + 150, part->label, 3);
    CHECK_OK(context, wt_sparse_task_draw(context, task, "validate", 150, true, part));
    assert_memory_not_equal(all->bit + 150 * 21, part->bit, 3 * 21);
    for (size_t i = 0; i < all->samples; i++) {
        const uint8_t *bit = all->bit + i * 21;
        assert_int_equal(all->label[i],
                         bit[task->relevant[0]] & bit[task->relevant[1]] & bit[task->relevant[2]]);
    }
    wt_bits_free(all);
    wt_bits_free(part);
    wt_sparse_task_free(task);
}

/* 20,000 samples: five standard errors of a rate r are 5 sqrt(r (1-r) / 20,000) < 0.018. */
static void rates_are_as_asked(void **state) {
    enum { N = 20000, T = 8 };
    wt_context *context = *state;
    const size_t relevant[] = {6, 1, 3};
    wt_sparse_task *task;
    wt_sparse_spec spec = {.size = sizeof(wt_sparse_spec),
                           .function = "and:3",
                           .length = T,
                           .relevant = relevant,
                           .relevant_count = 3,
                           .probability = NAN,
                           .noise = 0.1,
                           .seed = 7};
    CHECK_OK(context, wt_sparse_task_new(context, &spec, &task));
    wt_bits *bits;
    CHECK_OK(context, wt_bits_new(context, N, T, &bits));
    CHECK_OK(context, wt_sparse_task_draw(context, task, "train", 0, true, bits));
    double one[T] = {0}, flipped = 0, positive = 0;
    for (size_t i = 0; i < N; i++) {
        for (size_t t = 0; t < T; t++)
            one[t] += bits->bit[i * T + t];
        uint8_t clean = wt_sparse_task_label(task, bits->bit + i * T);
        positive += clean;
        flipped += clean != bits->label[i];
    }
    for (size_t t = 0; t < T; t++)
        CHECK_NEAR(one[t] / N, 0.7937, 0.018);
    CHECK_NEAR(positive / N, 0.5, 0.018);
    CHECK_NEAR(flipped / N, 0.1, 0.018);
    wt_bits_free(bits);
    wt_sparse_task_free(task);
}

static void wrong_tasks_are_refused(void **state) {
    wt_context *context = *state;
    const size_t twice[] = {1, 1, 2}, far[] = {1, 2, 9};
    const wt_sparse_spec wrong[] = {
        {.function = "and:3", .length = 2, .probability = NAN},
        {.function = "and:3", .length = 9, .probability = 1.5},
        {.function = "and:3", .length = 9, .probability = NAN, .noise = 0.5},
        {.function = "and:3",
         .length = 9,
         .probability = NAN,
         .relevant = twice,
         .relevant_count = 3},
        {.function = "and:3",
         .length = 9,
         .probability = NAN,
         .relevant = far,
         .relevant_count = 3},
        {.function = "and:3",
         .length = 9,
         .probability = NAN,
         .relevant = far,
         .relevant_count = 2},
    };
    for (size_t c = 0; c < sizeof wrong / sizeof *wrong; c++) {
        wt_sparse_task *task;
        wt_sparse_spec spec = wrong[c];
        CHECK_FAILS(context, wt_sparse_task_new(context, &spec, &task), WT_USAGE, "size");
        spec.size = sizeof spec;
        assert_int_equal(wt_sparse_task_new(context, &spec, &task), WT_USAGE);
        assert_null(strstr(wt_context_message(context), "size"));
    }
    /* a caller that knew less: the rest is as in a spec that was initialised */
    wt_sparse_task *task;
    wt_sparse_spec spec;
    wt_sparse_spec_init(&spec, offsetof(wt_sparse_spec, probability));
    spec.length = 9;
    spec.probability = spec.noise = 7;
    CHECK_OK(context, wt_sparse_task_new(context, &spec, &task));
    CHECK_NEAR(wt_sparse_task_probability(task), pow(0.5, 1.0 / 3), 1e-14);
    wt_sparse_task_free(task);
}

static void numbers_become_bits(void **state) {
    wt_context *context = *state;
    const double bits[] = {-1, 1, 1, -1, 1, -1}, labels[] = {1, 0}, mixed[] = {0, 1, -1, 0, 1, 1};
    wt_bits *made;
    CHECK_OK(context, wt_bits_new_from(context, 2, 3, bits, labels, &made));
    assert_memory_equal(wt_bits_sample(made, 0), ((uint8_t[]){0, 1, 1, 0, 1, 0}), 6);
    assert_memory_equal(wt_bits_labels(made), ((uint8_t[]){1, 0}), 2);
    wt_bits_free(made);
    CHECK_OK(context, wt_bits_new_from(context, 3, 2, bits, NULL, &made));
    assert_memory_equal(wt_bits_labels(made), ((uint8_t[]){0, 0, 0}), 3);
    wt_bits_free(made);
    CHECK_FAILS(context, wt_bits_new_from(context, 2, 3, mixed, labels, &made), WT_DATA,
                "value 2 of 'bits' is -1, neither 0 nor 1");
    assert_null(made);
    CHECK_FAILS(context, wt_bits_new_from(context, 2, 3, bits, (double[]){0, NAN}, &made), WT_DATA,
                "value 1 of 'y'");
    CHECK_FAILS(context, wt_bits_new_from(context, 0, 3, bits, NULL, &made), WT_USAGE, "none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_their_tables),
        cmocka_unit_test(balance_is_where_ones_are_half),
        cmocka_unit_test(samples_depend_on_their_index_alone),
        cmocka_unit_test(rates_are_as_asked),
        cmocka_unit_test(wrong_tasks_are_refused),
        cmocka_unit_test(numbers_become_bits),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
