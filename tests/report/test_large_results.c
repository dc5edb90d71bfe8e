/* Results too large for memory are those that memory would hold, and sweeps are found for their
 * cells by settings. */
#define _GNU_SOURCE
#include "lab/fill.h"
#include "lab/lines.h"

#include "folder.h"
#include "report/rerun.h"

static const char many[] = "many.db", few[] = "few.db", more[] = "more.db";

/* The second sweep behind the first. */
static wt_status merge(wt_context *context) {
    wt_store *into = NULL, *from = NULL;
    wt_merge_report report = WT_SIZED(wt_merge_report);
    wt_status status;
    WT_TRY(wt_store_open(context, in_folder(few), WT_STORE_MODE_WRITE, &into));
    WT_TRY(wt_store_open(context, in_folder(more), WT_STORE_MODE_READ, &from));
    WT_TRY(wt_store_merge(context, into, from, &report));
done:
    wt_store_free(into);
    wt_store_free(from);
    return status;
}

static int open_stores(void **state) {
    char *const large[] = {"experiment=curve", "model=rfa,brfa", "target=mean-power:2,corr:1",
                           "n=16:256:x2",      "reps=1200",      "seed=1,2"};
    char *const first[] = {"experiment=curve", "target=corr:1", "n=16,32", "reps=3", "seed=1"};
    char *const second[] = {"experiment=curve", "target=corr:1", "n=32,64", "reps=5", "seed=1,2"};
    if (open_folder(state) != 0 || fill_store(*state, in_folder(many), large, 6) != WT_OK ||
        fill_store(*state, in_folder(few), first, 5) != WT_OK ||
        fill_store(*state, in_folder(more), second, 5) != WT_OK)
        return -1;
    return merge(*state) == WT_OK ? 0 : -1;
}

typedef struct {
    wt_context *context;
    wt_results *results;
} adding;

static wt_status add_record(void *user, const wt_record *record) {
    adding *to = user;
    return wt_results_add(to->context, to->results, record);
}

static void check_lines(wt_context *context, const wt_results *a, const wt_results *b,
                        const wt_lines_query *query, bool mapped) {
    wt_lines left, right;
    CHECK_OK(context, wt_lines_find(context, a, query, &left));
    CHECK_OK(context, wt_lines_find(context, b, query, &right));
    assert_int_equal(left.shelf.mapped, mapped);
    assert_false(right.shelf.mapped);
    assert_int_equal(left.line_count, right.line_count);
    assert_int_equal(left.point_count, right.point_count);
    assert_true(left.point_count > 0);
    for (size_t i = 0; i < left.line_count; i++) {
        assert_string_equal(left.lines[i].key, right.lines[i].key);
        assert_int_equal(left.lines[i].first, right.lines[i].first);
        assert_int_equal(left.lines[i].count, right.lines[i].count);
        assert_int_equal(left.lines[i].setting, right.lines[i].setting);
    }
    for (size_t i = 0; i < left.point_count; i++) {
        const wt_line_point *x = &left.points[i], *y = &right.points[i];
        assert_true(x->x == y->x && x->y == y->y && x->seed == y->seed && x->rep == y->rep &&
                    x->line == y->line && x->cell == y->cell && x->setting == y->setting);
    }
    wt_lines_free(&left);
    wt_lines_free(&right);
}

static void they_are_those_of_memory(void **state) {
    const wt_lines_query by_n = {.experiment = "curve", .x = "n", .y = "test_error"};
    const wt_lines_query by_metric = {.experiment = "curve",
                                      .where = "model=rfa",
                                      .x = "train_error",
                                      .y = "test_error",
                                      .apart = "n target",
                                      .every = true};
    wt_results large = {0}, held = {0};
    wt_store *store;
    CHECK_OK(*state, wt_results_read_file(*state, in_folder(many), &large));
    CHECK_OK(*state, wt_store_open(*state, in_folder(many), WT_STORE_MODE_READ, &store));
    adding to = {*state, &held};
    CHECK_OK(*state, wt_store_walk(*state, store, NULL, add_record, &to));
    wt_store_free(store);
    assert_true(large.done.mapped && large.metrics.mapped);
    assert_false(held.done.mapped || held.metrics.mapped);
    assert_int_equal(large.done.count, 2 * 2 * 5 * 1200 * 2);
    assert_int_equal(held.done.count, large.done.count);
    assert_memory_equal(large.done.items, held.done.items, large.done.count * sizeof(wt_result));
    check_lines(*state, &large, &held, &by_n, true);
    check_lines(*state, &large, &held, &by_metric, true);
    wt_results_clear(&large);
    wt_results_clear(&held);
}

/* What the grids of open_stores say, cell by cell. */
static void cells_are_made_by_their_first_sweep(void **state) {
    wt_results results = {0};
    wt_reruns reruns;
    size_t made[2] = {0, 0};
    CHECK_OK(*state, wt_results_read_file(*state, in_folder(few), &results));
    assert_int_equal(results.sweeps.count, 2);
    CHECK_OK(*state, wt_reruns_find(*state, &results, &reruns));
    const uint32_t name = wt_results_name(&results, "n");
    for (size_t i = 0; i < results.done.count; i++) {
        const wt_result *cell = wt_results_cell(&results, i);
        double n = results.texts[wt_setting_value(&results, cell->setting, name)].number;
        bool used[2] = {false, false};
        bool first = n <= 32 && cell->rep < 3 && cell->seed == 1;
        wt_reruns_mark(&reruns, cell->setting, cell->seed, cell->rep, used);
        assert_int_equal(used[0], first);
        assert_int_equal(used[1], !first);
        made[first ? 0 : 1]++;
    }
    assert_int_equal(made[0], 2 * 3);
    assert_int_equal(made[1], 2 * 5 * 2 - 3);
    /* a seed, a repetition beyond theirs */
    bool used[2] = {false, false};
    wt_reruns_mark(&reruns, 0, 3, 0, used);
    wt_reruns_mark(&reruns, 0, 1, 5, used);
    wt_reruns_mark(&reruns, 0, 1, -1, used);
    assert_false(used[0] || used[1]);
    wt_reruns_free(&reruns);
    wt_results_clear(&results);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(they_are_those_of_memory),
                                       cmocka_unit_test(cells_are_made_by_their_first_sweep)};
    return cmocka_run_group_tests(tests, open_stores, close_folder);
}
