/* Sets in memory and in files: there and back, parts, and every way in which they can be wrong. */
#define _XOPEN_SOURCE 700
#include "base/memory.h"
#include "features/task/sets.h"
#include "io/files.h"
#include "wattle/io.h"

enum { N = 4, KEYS = 3, DIM = 2 };

static wt_sets make(wt_context *context, size_t outputs, bool masked) {
    wt_sets sets;
    CHECK_OK(context, wt_sets_open(context, N, KEYS, DIM, outputs, masked, &sets));
    for (size_t i = 0; i < N * DIM; i++)
        sets.query[i] = (double)i + 0.1;
    for (size_t i = 0; i < N * KEYS * DIM; i++)
        sets.key[i] = 0.3 - (double)i;
    for (size_t i = 0; i < N * outputs; i++)
        sets.y[i] = (double)i / 3;
    for (size_t i = 0; masked && i < N * KEYS; i++)
        sets.mask[i] = i % KEYS == 0 || i % 4 == 0;
    return sets;
}

static void files_give_the_same_bits_back(void **state) {
    wt_context *context = *state;
    for (size_t outputs = 0; outputs < 3; outputs++)
        for (int masked = 0; masked < 2; masked++) {
            wt_sets sets = make(context, outputs, masked), *back;
            const char *path = file_path("sets.npz");
            double beta[DIM] = {0.6, 0.8};
            CHECK_OK(context, wt_sets_save(context, &sets, path, outputs == 1 ? beta : NULL));
            CHECK_OK(context, wt_sets_load(context, path, &back));
            assert_int_equal(wt_sets_samples(back), N);
            assert_int_equal(wt_sets_keys(back), KEYS);
            assert_int_equal(wt_sets_dim(back), DIM);
            assert_int_equal(wt_sets_outputs(back), outputs);
            assert_memory_equal(sets.query, wt_sets_query(back), N * DIM * sizeof(double));
            assert_memory_equal(sets.key, wt_sets_key(back), N * KEYS * DIM * sizeof(double));
            if (outputs > 0)
                assert_memory_equal(sets.y, wt_sets_y(back), N * outputs * sizeof(double));
            else
                assert_null(wt_sets_y(back));
            if (masked)
                assert_memory_equal(sets.mask, wt_sets_mask(back), N * KEYS);
            else
                assert_null(wt_sets_mask(back));
            wt_file *file;
            CHECK_OK(context, wt_file_open(context, path, &file));
            assert_true((wt_file_find(file, "beta") != NULL) == (outputs == 1));
            if (outputs > 0)
                assert_int_equal(wt_file_find(file, "y")->rank, outputs == 1 ? 1 : 2);
            wt_file_free(file);
            wt_sets_close(&sets);
            wt_sets_free(back);
        }
}

static void borrowed_arrays_stay(void **state) {
    wt_context *context = *state;
    wt_sets sets = make(context, 1, true), *view;
    CHECK_OK(context, wt_sets_borrow(context, N, KEYS, DIM, 1, sets.query, sets.key, sets.mask,
                                     sets.y, &view));
    assert_ptr_equal(wt_sets_key(view), sets.key);
    CHECK_OK(context, wt_sets_check(context, view, "borrowed"));
    wt_sets_free(view);
    CHECK_OK(context, wt_sets_check(context, &sets, "still there"));
    assert_int_equal(
        wt_sets_borrow(context, N, KEYS, DIM, 1, sets.query, sets.key, NULL, NULL, &view),
        WT_USAGE);
    assert_null(view);
    wt_sets_close(&sets);
}

static void parts_are_borrowed_rows(void **state) {
    wt_context *context = *state;
    wt_sets sets = make(context, 2, true), part = wt_sets_part(&sets, 1, 3);
    assert_int_equal(part.samples, 2);
    assert_ptr_equal(part.query, sets.query + DIM);
    assert_ptr_equal(part.key, sets.key + KEYS * DIM);
    assert_ptr_equal(part.mask, sets.mask + KEYS);
    assert_ptr_equal(part.y, sets.y + 2);
    wt_sets_close(&sets);
}

static void what_is_wrong_is_named(void **state) {
    wt_context *context = *state;
    wt_sets sets = make(context, 2, true);
    CHECK_OK(context, wt_sets_check(context, &sets, "it"));
    sets.query[5] = NAN;
    CHECK_FAILS(context, wt_sets_check(context, &sets, "it"), WT_DATA,
                "it: query of sample 2, number 1, is nan");
    sets.query[5] = 0;
    sets.key[KEYS * DIM + 4] = INFINITY;
    CHECK_FAILS(context, wt_sets_check(context, &sets, "it"), WT_DATA,
                "it: keys of sample 1, number 4, is inf");
    sets.key[KEYS * DIM + 4] = 0;
    sets.y[7] = -INFINITY;
    CHECK_FAILS(context, wt_sets_check(context, &sets, "it"), WT_DATA,
                "it: y of sample 3, number 1, is -inf");
    sets.y[7] = 0;
    memset(sets.mask + 2 * KEYS, 0, KEYS);
    CHECK_FAILS(context, wt_sets_check(context, &sets, "it"), WT_DATA,
                "it: sample 2 has every key masked");
    wt_sets empty = sets;
    empty.samples = 0;
    CHECK_FAILS(context, wt_sets_check(context, &empty, "it"), WT_DATA, "it: no samples");
    empty = sets;
    empty.keys = 0;
    CHECK_FAILS(context, wt_sets_check(context, &empty, "it"), WT_DATA, "it: no keys");
    empty = sets;
    empty.dim = 0;
    CHECK_FAILS(context, wt_sets_check(context, &empty, "it"), WT_DATA, "no dimension");
    wt_sets_close(&sets);
}

static void sizes_that_wrap_are_refused(void **state) {
    wt_context *context = *state;
    static const size_t big = (size_t)1 << 40;
    static const struct {
        size_t samples, keys, dim, outputs;
    } cases[] = {{1 << 20, big, 16, 1}, {big, 1 << 20, 1 << 20, 0},   {big, 0, big, 0},
                 {big, 1, 1, big},      {big, 1, 1, (size_t)1 << 24}, {SIZE_MAX, 1, 1, 0}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        wt_sets sets;
        assert_int_equal(wt_sets_open(context, cases[c].samples, cases[c].keys, cases[c].dim,
                                      cases[c].outputs, true, &sets),
                         WT_MEMORY);
        assert_null(sets.query);
    }
}

/* A file of tensors that are wrong in one way. */
typedef struct {
    size_t query[2], keys[3], mask[2], y[2];
    size_t y_rank;
    const char *words;
} wrong;

static void write_wrong(wt_context *context, const char *path, const wrong *shapes, double value) {
    double values[200];
    for (size_t i = 0; i < 200; i++)
        values[i] = value;
    wt_tensor tensors[] = {
        {.name = "query", .rank = 2, .values = values},
        {.name = "keys", .rank = 3, .values = values},
        {.name = "mask", .rank = 2, .values = values},
        {.name = "y", .rank = shapes->y_rank, .values = values},
    };
    memcpy(tensors[0].shape, shapes->query, sizeof shapes->query);
    memcpy(tensors[1].shape, shapes->keys, sizeof shapes->keys);
    memcpy(tensors[2].shape, shapes->mask, sizeof shapes->mask);
    memcpy(tensors[3].shape, shapes->y, sizeof shapes->y);
    CHECK_OK(context, wt_npz_write(context, path, tensors, 4));
}

static void shapes_that_disagree_are_refused(void **state) {
    wt_context *context = *state;
    static const size_t big = (size_t)1 << 45;
    const wrong cases[] = {
        {{4, 2}, {4, 3, 2}, {4, 3}, {4}, 1, NULL}, /* as it should be */
        {{4, 2}, {5, 3, 2}, {4, 3}, {4}, 1, "'query' and 'keys' disagree in the number of samples"},
        {{4, 2}, {4, 3, 3}, {4, 3}, {4}, 1, "'query' and 'keys' disagree in the number of dimen"},
        {{4, 2}, {4, 3, 2}, {5, 3}, {4}, 1, "'query' and 'mask' disagree in the number of samples"},
        {{4, 2}, {4, 3, 2}, {4, 2}, {4}, 1, "'keys' and 'mask' disagree in the number of keys"},
        {{4, 2}, {4, 3, 2}, {4, 3}, {3}, 1, "'query' and 'y' disagree in the number of samples"},
        {{4, 2}, {4, 3, 2}, {4, 3}, {3, 2}, 2, "'query' and 'y' disagree"},
        {{4, 2}, {4, 3, 2}, {4, 3}, {4, 2}, 3, "'y' has 3 dimensions"},
        {{4, 2}, {4, 3, 2}, {4, 3}, {0}, 0, "'y' has 0 dimensions"},
        {{0, 2}, {0, 3, 2}, {0, 3}, {0}, 1, "no samples"},
        {{4, 2}, {4, 0, 2}, {4, 0}, {4}, 1, "no keys"},
        {{4, 0}, {4, 3, 0}, {4, 3}, {4}, 1, "no dimension"},
        {{big, 0}, {big, 0, 0}, {big, 0}, {big, 0}, 2, "no keys"},
    };
    const char *path = file_path("wrong.npz");
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        wt_sets *sets;
        write_wrong(context, path, &cases[c], 1);
        wt_status status = wt_sets_load(context, path, &sets);
        if (cases[c].words == NULL) {
            CHECK_OK(context, status);
            wt_sets_free(sets);
            continue;
        }
        if (status != WT_DATA || strstr(wt_context_message(context), cases[c].words) == NULL)
            fail_msg("case %zu: status %d, '%s'", c, status, wt_context_message(context));
        check_sentence(context, path);
        assert_null(sets);
    }
    /* All zeros mask every key; NaN is no number anywhere, not in a mask either. */
    wt_sets *sets;
    write_wrong(context, path, &cases[0], 0);
    CHECK_FAILS(context, wt_sets_load(context, path, &sets), WT_DATA,
                "sample 0 has every key masked");
    write_wrong(context, path, &cases[0], NAN);
    CHECK_FAILS(context, wt_sets_load(context, path, &sets), WT_DATA, "is nan");
}

static void missing_arrays_are_named(void **state) {
    wt_context *context = *state;
    double values[4 * 3 * 2] = {0};
    const char *path = file_path("missing.npz");
    wt_sets *sets;
    wt_tensor query = {.name = "query", .rank = 2, .shape = {4, 2}, .values = values};
    wt_tensor keys = {.name = "keys", .rank = 3, .shape = {4, 3, 2}, .values = values};
    CHECK_OK(context, wt_npz_write(context, path, &query, 1));
    CHECK_FAILS(context, wt_sets_load(context, path, &sets), WT_DATA, "has no array 'keys'");
    CHECK_OK(context, wt_npz_write(context, path, &keys, 1));
    CHECK_FAILS(context, wt_sets_load(context, path, &sets), WT_DATA,
                "has no array 'query': query (n,d) is expected");
    keys.rank = 2;
    wt_tensor flat[] = {query, keys};
    CHECK_OK(context, wt_npz_write(context, path, flat, 2));
    CHECK_FAILS(context, wt_sets_load(context, path, &sets), WT_DATA,
                "'keys' has 2 dimensions: keys (n,N,d) is expected");
    CHECK_FAILS(context, wt_sets_load(context, file_path("none.npz"), &sets), WT_NO_INPUT,
                "none.npz");
}

/* A mask holds a NaN while everything else is fine. */
static void a_mask_of_nan_is_refused(void **state) {
    wt_context *context = *state;
    double values[24], mask[12];
    for (size_t i = 0; i < 24; i++)
        values[i] = 1;
    for (size_t i = 0; i < 12; i++)
        mask[i] = i == 7 ? NAN : 1;
    wt_tensor tensors[] = {
        {.name = "query", .rank = 2, .shape = {4, 2}, .values = values},
        {.name = "keys", .rank = 3, .shape = {4, 3, 2}, .values = values},
        {.name = "mask", .rank = 2, .shape = {4, 3}, .values = mask},
    };
    const char *path = file_path("mask.npz");
    wt_sets *sets;
    CHECK_OK(context, wt_npz_write(context, path, tensors, 3));
    CHECK_FAILS(context, wt_sets_load(context, path, &sets), WT_DATA, "mask[2,1] is nan");
    check_sentence(context, path);
}

static void failing_allocations_leave_nothing_behind(void **state) {
    wt_context *context = *state;
    wt_sets sets = make(context, 2, true), *back;
    size_t held = wt_context_memory_used(context);
    bool done = false;
    for (long k = 1; !done; k++) {
        assert_true(k < 1000);
        const char *path = file_path("fault.npz");
        atomic_store(&context->allocation_to_fail, k);
        wt_status status = wt_sets_save(context, &sets, path, NULL);
        if (status == WT_OK)
            status = wt_sets_load(context, path, &back);
        done = status == WT_OK;
        if (done)
            wt_sets_free(back);
        else
            assert_int_equal(status, WT_MEMORY);
        assert_int_equal(wt_context_memory_used(context), held);
    }
    atomic_store(&context->allocation_to_fail, 0);
    wt_sets_close(&sets);
    wt_sets_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_give_the_same_bits_back),
        cmocka_unit_test(borrowed_arrays_stay),
        cmocka_unit_test(parts_are_borrowed_rows),
        cmocka_unit_test(what_is_wrong_is_named),
        cmocka_unit_test(sizes_that_wrap_are_refused),
        cmocka_unit_test(shapes_that_disagree_are_refused),
        cmocka_unit_test(missing_arrays_are_named),
        cmocka_unit_test(a_mask_of_nan_is_refused),
        cmocka_unit_test(failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, files_open, files_close);
}
