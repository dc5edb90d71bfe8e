#include "base/memory.h"
#include "base/sized.h"

#include "check.h"

static void sizes_are_checked_for_overflow(void **state) {
    size_t product;
    assert_true(wt_multiply(1u << 20, 1u << 20, &product));
    assert_false(wt_multiply(SIZE_MAX / 2, 3, &product));
    double *block;
    CHECK_FAILS(*state, WT_NEW(*state, &block, SIZE_MAX / 4, "rows"), WT_MEMORY, "rows");
    assert_null(block);
}

static void sides_are_multiplied_with_a_check(void **state) {
    double *block;
    CHECK_FAILS(*state, WT_NEW2(*state, &block, SIZE_MAX / 2, 3, "rows"), WT_MEMORY, "rows");
    CHECK_FAILS(*state, WT_NEW3(*state, &block, (size_t)1 << 30, (size_t)1 << 30, 16, "rows"),
                WT_MEMORY, "rows");
    CHECK_OK(*state, WT_NEW2(*state, &block, 3, 4, "rows"));
    wt_release(block);
}

static void an_arena_gives_all_back(void **state) {
    size_t before = wt_context_memory_used(*state);
    wt_arena arena = wt_arena_start(*state, "the pieces");
    double *rows = WT_TAKE(&arena, double, 5, 7);
    char *letters = WT_TAKE_ZERO(&arena, char, 9);
    CHECK_OK(*state, arena.status);
    assert_int_equal((uintptr_t)rows % 64, 0);
    for (size_t i = 0; i < 35; i++)
        rows[i] = 1;
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(letters[i], 0);
    assert_null(WT_TAKE(&arena, double, SIZE_MAX / 2, 3));
    assert_int_equal(arena.status, WT_MEMORY);
    assert_non_null(strstr(wt_context_message(*state), "the pieces"));
    assert_null(WT_TAKE(&arena, char, 1)); /* nothing more after a failure */
    wt_arena_free(&arena);
    wt_arena_free(&(wt_arena){0});
    assert_int_equal(wt_context_memory_used(*state), before);
}

typedef struct {
    size_t size;
    int a, b;
} sized;

static void structs_may_be_older_than_the_library(void **state) {
    sized full = {.a = 1, .b = 2}, given = {.size = offsetof(sized, b), .a = 7, .b = 9};
    CHECK_OK(*state, wt_sized_read(*state, "wt_x", &given, &full, sizeof full));
    assert_int_equal(full.a, 7);
    assert_int_equal(full.b, 2);
    assert_int_equal(full.size, sizeof full);
    full.a = 3;
    wt_sized_write(&given, &full, sizeof full);
    assert_int_equal(given.a, 3);
    assert_int_equal(given.b, 9);
    assert_int_equal(given.size, offsetof(sized, b));
    given.size = 0;
    CHECK_FAILS(*state, wt_sized_read(*state, "wt_x", &given, &full, sizeof full), WT_USAGE,
                "the size of a wt_x is not set");
    given.size = sizeof full + 8;
    CHECK_FAILS(*state, wt_sized_check(*state, "wt_x", &given, sizeof full), WT_USAGE,
                "later version");
}

static void blocks_are_aligned_and_counted(void **state) {
    char *block;
    size_t before = wt_context_memory_used(*state);
    CHECK_OK(*state, WT_NEW_ZERO(*state, &block, 1000, "bytes"));
    assert_int_equal((uintptr_t)block % 64, 0);
    assert_true(wt_context_memory_used(*state) >= before + 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(block[i], 0);
    wt_release(block);
    wt_release(NULL);
    assert_int_equal(wt_context_memory_used(*state), before);
    assert_true(wt_context_memory_peak(*state) >= before + 1000);
}

static void the_budget_is_kept(void **state) {
    char *block;
    wt_context_set_memory(*state, 1 << 20);
    CHECK_FAILS(*state, WT_NEW(*state, &block, 1 << 20, "features"), WT_MEMORY,
                "features needs 1.0 MiB more");
    CHECK_OK(*state, WT_NEW(*state, &block, 1 << 19, "features"));
    wt_release(block);
    wt_context_set_memory(*state, 0);
}

static void the_kth_allocation_fails(void **state) {
    wt_context *context = *state;
    atomic_store(&context->allocation_to_fail, 2);
    char *first, *second, *third;
    CHECK_OK(context, WT_NEW(context, &first, 8, "first"));
    CHECK_FAILS(context, WT_NEW(context, &second, 8, "second"), WT_MEMORY, "no memory for second");
    CHECK_OK(context, WT_NEW(context, &third, 8, "third"));
    wt_release(first);
    wt_release(third);
}

static void blocks_may_outlive_their_context(void **state) {
    (void)state;
    wt_context *context;
    assert_int_equal(wt_context_new(&context), WT_OK);
    char *block;
    CHECK_OK(context, WT_NEW(context, &block, 8, "block"));
    wt_context_free(context);
    block[0] = 1;
    wt_release(block);
}

static void texts_are_copied(void **state) {
    char *copy;
    CHECK_OK(*state, wt_copy_text(*state, &copy, "words", "a name"));
    assert_string_equal(copy, "words");
    wt_release(copy);
    wt_context *context = *state;
    atomic_store(&context->allocation_to_fail, 1);
    CHECK_FAILS(context, wt_copy_text(context, &copy, "words", "a name"), WT_MEMORY, "a name");
    assert_null(copy);
}

static void a_refusal_leaves_the_account_as_it_was(void **state) {
    char *block;
    size_t used = wt_context_memory_used(*state), peak = wt_context_memory_peak(*state);
    wt_context_set_memory(*state, 1 << 10);
    assert_int_equal(wt_context_memory(*state), 1 << 10);
    CHECK_FAILS(*state, WT_NEW(*state, &block, (size_t)1 << 40, "much"), WT_MEMORY, "much needs");
    assert_int_equal(wt_context_memory_used(*state), used);
    assert_int_equal(wt_context_memory_peak(*state), peak);
    wt_context_set_memory(*state, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_checked_for_overflow),
        cmocka_unit_test(sides_are_multiplied_with_a_check),
        cmocka_unit_test(an_arena_gives_all_back),
        cmocka_unit_test(structs_may_be_older_than_the_library),
        cmocka_unit_test(blocks_are_aligned_and_counted),
        cmocka_unit_test(the_budget_is_kept),
        cmocka_unit_test(the_kth_allocation_fails),
        cmocka_unit_test(blocks_may_outlive_their_context),
        cmocka_unit_test(texts_are_copied),
        cmocka_unit_test(a_refusal_leaves_the_account_as_it_was),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
