/* Arrays that lie in a file from a size on: what is in them, their order, what of them is in
 * memory, and what is said where there is no file to be had. */
#define _GNU_SOURCE
#include "lab/shelf.h"

#include <signal.h>
#include <sys/resource.h>

#include "folder.h"
#include "wattle/random.h"

typedef struct {
    uint64_t key;
    uint32_t number;
    char more[52];
} item;

enum { ITEMS = 300000 }; /* of 64 bytes: 18 MiB */

static int by_key(const void *left, const void *right) {
    const item *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Few keys, so that many are equal. */
static item item_at(size_t index) {
    double share;
    wt_random_uniform(wt_stream_for(3, "item", index), 0, 1, &share);
    item out = {.key = (uint64_t)(share * 1000), .number = (uint32_t)index};
    memset(out.more, (int)(index % 251), sizeof out.more);
    return out;
}

static void fill(wt_context *context, wt_shelf *shelf, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const item next = item_at(i);
        CHECK_OK(context, wt_shelf_add(context, shelf, &next));
    }
    assert_int_equal(shelf->count, count);
}

/* Bytes of this process in memory. */
static size_t held_bytes(void) {
    char line[256];
    size_t kilobytes = 0;
    FILE *status = fopen("/proc/self/smaps_rollup", "r");
    if (status == NULL)
        return 0;
    while (fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "Rss: %zu kB", &kilobytes) == 1)
            break;
    fclose(status);
    return kilobytes * 1024;
}

static void what_is_put_is_there(void **state) {
    const size_t counts[] = {0, 1, 1000, ITEMS};
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int with = 0; with < 2; with++) {
            wt_shelf shelf = {
                .folder = with ? folder : NULL, .what = "items", .size = sizeof(item)};
            fill(*state, &shelf, counts[k]);
            assert_int_equal(shelf.mapped, with && counts[k] == ITEMS);
            for (int pass = 0; pass < 2; pass++, wt_shelf_rest(&shelf))
                for (size_t i = 0; i < counts[k]; i++) {
                    const item wanted = item_at(i);
                    assert_memory_equal((item *)shelf.items + i, &wanted, sizeof wanted);
                }
            wt_shelf_free(&shelf);
        }
}

static void they_are_sorted(void **state) {
    wt_shelf shelf = {.folder = folder, .what = "items", .size = sizeof(item)};
    item *wanted = malloc(ITEMS * sizeof *wanted);
    assert_non_null(wanted);
    for (size_t i = 0; i < ITEMS; i++)
        wanted[i] = item_at(i);
    qsort(wanted, ITEMS, sizeof *wanted, by_key);
    fill(*state, &shelf, ITEMS);
    CHECK_OK(*state, wt_shelf_sort(*state, &shelf, by_key));
    assert_int_equal(shelf.count, ITEMS);
    assert_true(shelf.mapped);
    assert_memory_equal(shelf.items, wanted, ITEMS * sizeof *wanted);
    wt_shelf_free(&shelf);
    free(wanted);
}

/* A walk holds the pages of so many items at most; 4 MiB are for what else happens meanwhile. */
static void few_pages_are_in_memory(void **state) {
    const size_t most = 2 * 0x4000 * sizeof(item) + (4 << 20), before = held_bytes();
    wt_shelf shelf = {.folder = folder, .what = "items", .size = sizeof(item)};
    uint64_t sum = 0;
    fill(*state, &shelf, ITEMS);
    assert_true(ITEMS * sizeof(item) > 2 * most);
    assert_true(held_bytes() < before + most);
    for (size_t i = 0; i < ITEMS; i++) {
        sum += ((item *)shelf.items)[i].number;
        wt_shelf_pass(&shelf, i);
        if (i % 10000 == 0)
            assert_true(held_bytes() < before + most);
    }
    assert_int_equal(sum, (uint64_t)ITEMS * (ITEMS - 1) / 2);
    wt_shelf_free(&shelf);
}

static void what_cannot_be_kept_is_told(void **state) {
    wt_shelf shelf = {.folder = "/nowhere/at all", .what = "items", .size = sizeof(item)};
    struct rlimit limit, small;
    wt_status status = WT_OK;
    for (size_t i = 0; i < ITEMS && status == WT_OK; i++) {
        const item next = item_at(i);
        status = wt_shelf_add(*state, &shelf, &next);
    }
    CHECK_FAILS(*state, status, WT_IO,
                "items cannot be kept in a temporary file in /nowhere/at all (TMPDIR): No such");
    assert_true(shelf.count > 0);
    wt_shelf_free(&shelf);

    /* a limit on files, as a full disk: there is no room, and what is there stays */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){.rlim_cur = 6 << 20, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    shelf = (wt_shelf){.folder = folder, .what = "items", .size = sizeof(item)};
    status = WT_OK;
    for (size_t i = 0; i < ITEMS && status == WT_OK; i++) {
        const item next = item_at(i);
        status = wt_shelf_add(*state, &shelf, &next);
    }
    CHECK_FAILS(*state, status, WT_IO, "items cannot be kept in a temporary file in");
    assert_true(shelf.mapped);
    for (size_t i = 0; i < shelf.count; i++)
        assert_int_equal(((item *)shelf.items)[i].number, i);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    wt_shelf_free(&shelf);
}

int main(void) {
    signal(SIGXFSZ, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_there), cmocka_unit_test(they_are_sorted),
        cmocka_unit_test(few_pages_are_in_memory), cmocka_unit_test(what_cannot_be_kept_is_told)};
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
