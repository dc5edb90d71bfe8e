/* Which sequences are held out: drawn by the seed, with their outputs and lengths. */
#include "layer/learn/holdout.h"

#include "check.h"
#include "layer/layers.h"

enum { N = 50, K = 3, D = 4, HELD = 10, SIZE = K * D };

/* Every number of a sequence tells which one it is. */
static void number_them(wt_context *context, wt_sequences **data, size_t *lengths) {
    CHECK_OK(context, wt_sequences_new(context, N, K, D, D, data));
    for (size_t i = 0; i < N * SIZE; i++) {
        (*data)->x[i] = (double)i;
        (*data)->y[i] = -(double)i;
        lengths[i / SIZE] = 1 + i / SIZE % K;
    }
}

static void sequences_are_drawn_by_the_seed(void **state) {
    wt_context *context = *state;
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    size_t lengths[N], first_held[2], from_the_end = 0;
    wt_sequences *data;
    number_them(context, &data, lengths);
    CHECK_OK(context, wt_sequences_set_lengths(context, data, lengths));
    for (uint64_t seed = 0; seed < 2; seed++) {
        wt_holdout split;
        bool seen[N] = {false};
        options.seed = seed;
        CHECK_OK(context, wt_holdout_split(context, data, &options, &split));
        for (size_t s = 0; s < N; s++) {
            size_t from = (size_t)split.data->x[s * SIZE] / SIZE;
            assert_false(seen[from]);
            seen[from] = true;
            assert_memory_equal(split.data->x + s * SIZE, data->x + from * SIZE, SIZE * 8);
            assert_memory_equal(split.data->y + s * SIZE, data->y + from * SIZE, SIZE * 8);
            assert_int_equal(split.data->lengths[s], lengths[from]);
            from_the_end += s >= N - HELD && from >= N - HELD;
            /* each part keeps the order of the file */
            if (s > 0 && s != N - HELD)
                assert_true(split.data->x[s * SIZE] > split.data->x[(s - 1) * SIZE]);
        }
        first_held[seed] = (size_t)split.data->x[(N - HELD) * SIZE] / SIZE;
        wt_holdout_free(&split);
    }
    /* of two times 10 drawn from 50, 4 of the last ten on average; 20 if nothing were drawn */
    assert_true(from_the_end < 15);
    assert_int_not_equal(first_held[0], first_held[1]);
    wt_sequences_free(data);
}

static void nothing_held_out_is_nothing_copied(void **state) {
    wt_context *context = *state;
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    size_t lengths[N];
    wt_sequences *data;
    wt_holdout split;
    number_them(context, &data, lengths);
    options.holdout = 0;
    CHECK_OK(context, wt_holdout_split(context, data, &options, &split));
    assert_ptr_equal(split.data->x, data->x);
    assert_null(split.own);
    wt_holdout_free(&split);
    wt_sequences_free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_are_drawn_by_the_seed),
        cmocka_unit_test(nothing_held_out_is_nothing_copied),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
