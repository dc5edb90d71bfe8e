/* The search against every tuple tried one by one; invariant numbers are those of search.c. */
#include "check.h"

#include "base/memory.h"
#include "network/task/boolean.h"
#include "wattle/search.h"

enum { MOST = 20000 };

static void draw(wt_context *context, const char *function, size_t length, size_t samples,
                 double noise, uint64_t seed, wt_sparse_task **task, wt_bits **bits) {
    wt_sparse_spec spec = {.size = sizeof(wt_sparse_spec),
                           .function = function,
                           .length = length,
                           .probability = NAN,
                           .noise = noise,
                           .seed = seed};
    CHECK_OK(context, wt_sparse_task_new(context, &spec, task));
    CHECK_OK(context, wt_bits_new(context, samples, length, bits));
    CHECK_OK(context, wt_sparse_task_draw(context, *task, "train", 0, true, *bits));
}

static size_t errors_of(const wt_boolean *function, const wt_bits *bits, const size_t *position) {
    size_t errors = 0;
    for (size_t i = 0; i < bits->samples; i++) {
        size_t row = 0;
        for (size_t j = 0; j < function->bits; j++)
            row = 2 * row + bits->bit[i * bits->length + position[j]];
        errors += function->value[row] != bits->label[i];
    }
    return errors;
}

/* The next tuple of different positions, in the order of reading; false after the last. */
static bool next_tuple(size_t *position, size_t s, size_t length) {
    for (;;) {
        size_t j = s;
        while (j > 0 && position[j - 1] + 1 == length)
            position[--j] = 0;
        if (j == 0)
            return false;
        position[j - 1]++;
        bool different = true;
        for (size_t a = 0; a < s; a++)
            for (size_t b = 0; b < a; b++)
                different &= position[a] != position[b];
        if (different)
            return true;
    }
}

/* Increasing where a and b may change places, for the functions below by their names. */
static bool listed_once(const char *swaps, const size_t *position, size_t s) {
    for (size_t a = 0; a < s; a++)
        for (size_t b = a + 1; b < s; b++)
            if (swaps[a] == swaps[b] && position[a] > position[b])
                return false;
    return true;
}

/* Functions, and which of their bits may change places: those of the same letter. */
static const struct {
    const char *function, *swaps;
} cases[] = {
    {"and:1", "a"},
    {"and:3", "aaa"},
    {"or:2", "aa"},
    {"parity:3", "aaa"},
    {"majority:3", "aaa"},
    {"symmetric:0110", "aaa"},
    {"table:0010", "ab"},
    {"table:00000111", "abb"},
    {"table:01010011", "abc"},
    {"table:0111111101111110", "abbb"},
};
enum { CASES = sizeof cases / sizeof *cases, LENGTH = 8 };

/* Every tuple with the fewest errors (or none) must be there, and nothing else. */
static void compare(const wt_boolean *function, const char *swaps, const wt_bits *bits, bool best,
                    const wt_search_result *found) {
    size_t position[8] = {0}, least = best ? SIZE_MAX : 0, count = 0, s = function->bits;
    static size_t kept[MOST][8];
    position[s - 1] = SIZE_MAX; /* one before the first tuple */
    while (next_tuple(position, s, bits->length)) {
        size_t errors = errors_of(function, bits, position);
        if (!listed_once(swaps, position, s) || errors > least)
            continue;
        if (errors < least)
            count = 0;
        least = errors;
        assert_true(count < MOST);
        memcpy(kept[count++], position, sizeof position);
    }
    assert_int_equal(found->errors, least);
    assert_int_equal(found->found, count);
    assert_true(found->complete);
    for (size_t i = 0; i < count; i++) {
        bool there = false;
        for (size_t k = 0; k < found->found; k++)
            there |= memcmp(found->position + k * s, kept[i], s * sizeof *position) == 0;
        assert_true(there);
    }
}

/* Few samples leave many answers, 30 of them one, and none where a label is flipped. */
static void finds_what_trying_all_finds(void **state) {
    wt_context *context = *state;
    static const size_t samples[] = {3, 9, 30, 70};
    for (size_t c = 0; c < CASES; c++)
        for (size_t m = 0; m < 4; m++) {
            wt_sparse_task *task;
            wt_bits *bits;
            wt_search_result found = WT_SIZED(wt_search_result);
            draw(context, cases[c].function, LENGTH, samples[m], 0, c, &task, &bits);
            CHECK_OK(context, wt_bits_search(context, bits, task->function, MOST, &found));
            assert_true(found.found > 0);
            compare(task->function, cases[c].swaps, bits, false, &found);
            wt_search_result_free(&found);
            bits->label[0] ^= 1;
            CHECK_OK(context, wt_bits_search(context, bits, task->function, MOST, &found));
            compare(task->function, cases[c].swaps, bits, false, &found);
            wt_search_result_free(&found);
            CHECK_OK(context, wt_bits_search_best(context, bits, task->function, MOST, &found));
            compare(task->function, cases[c].swaps, bits, true, &found);
            wt_search_result_free(&found);
            wt_bits_free(bits);
            wt_sparse_task_free(task);
        }
}

static void noise_leaves_the_fewest_errors(void **state) {
    wt_context *context = *state;
    for (size_t c = 0; c < CASES; c++) {
        wt_sparse_task *task;
        wt_bits *bits;
        wt_search_result found = WT_SIZED(wt_search_result);
        draw(context, cases[c].function, LENGTH, 66, 0.2, 40 + c, &task, &bits);
        CHECK_OK(context, wt_bits_search_best(context, bits, task->function, MOST, &found));
        assert_true(found.errors > 0);
        compare(task->function, cases[c].swaps, bits, true, &found);
        wt_search_result_free(&found);
        wt_bits_free(bits);
        wt_sparse_task_free(task);
    }
}

static void stops_at_what_was_asked(void **state) {
    wt_context *context = *state;
    wt_sparse_task *task;
    wt_bits *bits;
    wt_search_result found = WT_SIZED(wt_search_result);
    draw(context, "and:3", 40, 6, 0, 1, &task, &bits);
    CHECK_OK(context, wt_bits_search(context, bits, task->function, 2, &found));
    assert_int_equal(found.found, 2);
    assert_false(found.complete);
    for (size_t k = 0; k < 2; k++)
        assert_int_equal(errors_of(task->function, bits, found.position + 3 * k), 0);
    wt_search_result_free(&found);
    bits->label[0] ^= 1;
    CHECK_OK(context, wt_bits_search_best(context, bits, task->function, 1, &found));
    assert_int_equal(found.found, 1);
    assert_int_equal(errors_of(task->function, bits, found.position), found.errors);
    wt_search_result_free(&found);
    CHECK_FAILS(context, wt_bits_search(context, bits, task->function, 0, &found), WT_USAGE,
                "room for 0");
    bits->length = 2;
    CHECK_FAILS(context, wt_bits_search(context, bits, task->function, 2, &found), WT_USAGE,
                "2 bits");
    bits->length = 40;
    wt_bits_free(bits);
    wt_sparse_task_free(task);
}

/* The published setting: all of 221 million sets are ruled out by looking at a few thousand. */
static void pruning_spares_nearly_all(void **state) {
    wt_context *context = *state;
    static const struct {
        const char *function;
        size_t samples;
        uint64_t most;
    } large[] = {{"and:3", 200, 2000},
                 {"or:3", 200, 2000},
                 {"majority:3", 200, 1000000},
                 {"parity:3", 200, 2000000}};
    for (size_t c = 0; c < 4; c++) {
        wt_sparse_task *task;
        wt_bits *bits;
        wt_search_result found = WT_SIZED(wt_search_result);
        draw(context, large[c].function, 1100, large[c].samples, 0, 3, &task, &bits);
        CHECK_OK(context, wt_bits_search(context, bits, task->function, 2, &found));
        assert_int_equal(found.found, 1);
        assert_true(found.complete);
        assert_memory_equal(found.position, task->relevant, 3 * sizeof *task->relevant);
        assert_true(found.looked >= 3 && found.looked <= large[c].most);
        wt_search_result_free(&found);
        wt_bits_free(bits);
        wt_sparse_task_free(task);
    }
}

static void elimination_finds_parities_of_any_size(void **state) {
    wt_context *context = *state;
    wt_sparse_task *task;
    wt_bits *bits;
    wt_parity_result found = WT_SIZED(wt_parity_result);
    draw(context, "parity:5", 70, 120, 0, 5, &task, &bits);
    CHECK_OK(context, wt_bits_solve_parity(context, bits, &found));
    assert_true(found.consistent && found.least_known);
    assert_int_equal(found.rank, 70);
    assert_int_equal(found.dimension, 0);
    assert_int_equal(found.least, 5);
    assert_int_equal(found.least_count, 1);
    for (size_t j = 0; j < 5; j++)
        assert_int_equal(found.member[task->relevant[j]], 1);
    wt_parity_result_free(&found);
    /* 120 equations of rank 70 do not bear a flipped label, nor do two */
    bits->label[100] ^= 1;
    CHECK_OK(context, wt_bits_solve_parity(context, bits, &found));
    assert_false(found.consistent);
    wt_parity_result_free(&found);
    bits->label[100] ^= 1;
    bits->samples = 20; /* too many sets are right to look at all of them */
    CHECK_OK(context, wt_bits_solve_parity(context, bits, &found));
    assert_int_equal(found.dimension, 50);
    assert_false(found.least_known);
    for (size_t i = 0; i < bits->samples; i++) {
        uint8_t sum = 0;
        for (size_t t = 0; t < 70; t++)
            sum ^= found.member[t] & bits->bit[i * 70 + t];
        assert_int_equal(sum, bits->label[i]);
    }
    wt_parity_result_free(&found);
    bits->samples = 120;
    wt_bits_free(bits);
    wt_sparse_task_free(task);
}

/* All 2^10 sets one by one. */
static void fewest_positions_are_those_of_trying_all(void **state) {
    wt_context *context = *state;
    for (size_t samples = 1; samples < 10; samples += 2) {
        wt_sparse_task *task;
        wt_bits *bits;
        wt_parity_result found = WT_SIZED(wt_parity_result);
        size_t least = SIZE_MAX, count = 0, right = 0;
        draw(context, "parity:4", 10, samples, 0, samples, &task, &bits);
        for (size_t set = 0; set < 1024; set++) {
            size_t size = 0, wrong = 0;
            for (size_t i = 0; i < samples; i++) {
                size_t sum = bits->label[i];
                for (size_t t = 0; t < 10; t++)
                    sum += (set >> t & 1) * bits->bit[i * 10 + t];
                wrong += sum % 2;
            }
            for (size_t t = 0; t < 10; t++)
                size += set >> t & 1;
            right += wrong == 0;
            if (wrong == 0 && size < least) {
                least = size;
                count = 0;
            }
            count += wrong == 0 && size == least;
        }
        CHECK_OK(context, wt_bits_solve_parity(context, bits, &found));
        assert_int_equal((size_t)1 << found.dimension, right);
        assert_int_equal(found.least, least);
        assert_int_equal(found.least_count, count);
        wt_parity_result_free(&found);
        wt_bits_free(bits);
        wt_sparse_task_free(task);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_trying_all_finds),
        cmocka_unit_test(noise_leaves_the_fewest_errors),
        cmocka_unit_test(stops_at_what_was_asked),
        cmocka_unit_test(pruning_spares_nearly_all),
        cmocka_unit_test(elimination_finds_parities_of_any_size),
        cmocka_unit_test(fewest_positions_are_those_of_trying_all),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
