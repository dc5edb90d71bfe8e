/* The search for critical sample sizes: which m it asks for, its file, and real trials that do not
 * depend on threads or interruptions. */
#define _GNU_SOURCE
#include "lab/threshold_cases.h"
#include "wattle/random.h"

/* ---- which m ----------------------------------------------------------------------------------
 */

/* Runs the search against a made-up truth: an m succeeds always from `from` on, else never. */
static size_t search_truth(wt_context *context, wt_threshold *threshold, size_t from,
                           size_t *cells) {
    size_t critical, samples;
    *cells = 0;
    while ((samples = wt_threshold_next(threshold, 6, 0, &critical)) != 0) {
        assert_true(samples >= threshold->setting.low && samples <= threshold->setting.high);
        assert_int_equal((samples - threshold->setting.low) % threshold->setting.resolution, 0);
        for (size_t trial = 0; trial < threshold->setting.trials; trial++) {
            assert_null(wt_threshold_find(threshold, 6, samples, trial));
            const wt_threshold_row row = {.length = 6,
                                          .samples = samples,
                                          .trial = trial,
                                          .result = {.success = samples >= from, .runs = 1}};
            CHECK_OK(context, wt_threshold_add(context, threshold, &row));
        }
        (*cells)++;
    }
    return critical;
}

static void every_threshold_is_found(void **state) {
    for (size_t from = 1; from <= 45; from++) {
        wt_threshold_spec setting = tiny();
        wt_threshold *threshold;
        wt_threshold_summary summary = WT_SIZED(wt_threshold_summary);
        size_t cells, wanted = from <= 4 ? 4 : (from + 3) / 4 * 4;
        train.length = 6;
        CHECK_OK(*state, wt_threshold_open(*state, &setting, NULL, &threshold));
        size_t critical = search_truth(*state, threshold, from, &cells);
        assert_true(critical == (wanted > 40 ? 0 : wanted));
        assert_true(cells <= 6); /* 10 grid points: 4 halvings and one neighbour on each side */
        CHECK_OK(*state, wt_threshold_summarise(*state, threshold, &summary));
        const wt_threshold_point *point = &summary.points[0];
        wt_censoring censoring = wanted > 40   ? WT_CENSORING_ABOVE
                                 : wanted == 4 ? WT_CENSORING_BELOW
                                               : WT_CENSORING_NO;
        assert_true(point->censoring == censoring);
        assert_int_equal(point->cells, cells);
        if (point->censoring ==
            WT_CENSORING_NO) /* between the last m that fails and the first that not */
            assert_true(point->fitted.value > (double)wanted - 4 &&
                        point->fitted.value <= (double)wanted);
        else
            assert_true(!isfinite(point->fitted.value));
        assert_int_equal(summary.points[1].cells, 0); /* the other length has no trials yet */
        wt_threshold_summary_free(&summary);
        wt_threshold_free(threshold);
    }
}

/* More around than the grid has: all of it is tried, and nothing else. */
static void around_ends_with_the_grid(void **state) {
    static const size_t arounds[] = {SIZE_MAX, SIZE_MAX / 2, 100000000000000, 10};
    for (size_t i = 0; i < sizeof arounds / sizeof *arounds; i++) {
        wt_threshold_spec setting = tiny();
        wt_threshold *threshold;
        size_t cells;
        setting.around = arounds[i];
        CHECK_OK(*state, wt_threshold_open(*state, &setting, NULL, &threshold));
        assert_int_equal(search_truth(*state, threshold, 20, &cells), 20);
        assert_int_equal(cells, 10);
        wt_threshold_free(threshold);
    }
}

/* The search against so many successes at each point of the grid. */
static void search_table(wt_context *context, wt_threshold *threshold, const size_t *successes) {
    const wt_threshold_spec *setting = &threshold->setting;
    size_t critical, samples;
    while ((samples = wt_threshold_next(threshold, 6, 0, &critical)) != 0) {
        size_t index = (samples - setting->low) / setting->resolution, trial = 0;
        while (wt_threshold_find(threshold, 6, samples, trial) != NULL)
            trial++;
        assert_true(trial < setting->trials);
        const wt_threshold_row row = {.length = 6,
                                      .samples = samples,
                                      .trial = trial,
                                      .result = {.success = trial < successes[index], .runs = 1}};
        CHECK_OK(context, wt_threshold_add(context, threshold, &row));
    }
}

/* The critical m by its definition, from the successes. */
static size_t critical_by_definition(const wt_threshold_summary *summary, const size_t *successes,
                                     size_t need) {
    size_t critical = 0;
    for (size_t i = summary->points[0].cells; i-- > 0;) {
        size_t samples = summary->cells[i].samples;
        if (successes[(samples - 4) / 4] < need)
            break;
        critical = samples;
    }
    return critical;
}

/* 300 tables of 5 trials at 10 m with chances of success that rise: all m around the critical one
 * are tried, and it is fitted as well unless the grid ends. */
static void critical_is_what_it_is_defined_to_be(void **state) {
    wt_threshold_spec setting = tiny();
    for (uint64_t set = 0; set < 300; set++) {
        wt_threshold *threshold;
        wt_threshold_summary summary = WT_SIZED(wt_threshold_summary);
        size_t successes[10] = {0};
        double uniform[50];
        wt_random_uniform(wt_stream_for(4, "table", set), 0, 50, uniform);
        for (size_t i = 0; i < 50; i++) {
            size_t place = i / 5;
            successes[place] += uniform[i] < 0.3 + 0.08 * (double)place;
        }
        CHECK_OK(*state, wt_threshold_open(*state, &setting, NULL, &threshold));
        search_table(*state, threshold, successes);
        CHECK_OK(*state, wt_threshold_summarise(*state, threshold, &summary));
        const wt_threshold_point *point = &summary.points[0];
        assert_int_equal(point->critical, critical_by_definition(&summary, successes, 4));
        assert_int_equal(point->largest, summary.cells[point->cells - 1].samples);
        if (point->censoring == WT_CENSORING_ABOVE)
            assert_int_equal(point->largest, 40);
        for (size_t i = 0; point->critical > 4 && i < 4; i++) { /* one more on each side */
            size_t near = point->critical + 4 * i - 8;
            assert_true(near < 4 || near > 40 || wt_threshold_count(threshold, 6, near).trials > 0);
        }
        if (point->censoring == WT_CENSORING_NO && summary.cells[0].samples > 4)
            assert_true(isfinite(point->fitted.value));
        wt_threshold_summary_free(&summary);
        wt_threshold_free(threshold);
    }
}

/* An m that succeeds by luck below two that do not is not critical; the largest m tried is told,
 * not the end of the range. */
static void luck_below_does_not_count(void **state) {
    static const size_t successes[] = {0, 0, 0, 0, 4, 3, 3, 4, 4, 4, 4, 4}, none[12] = {0};
    wt_threshold_spec setting = tiny();
    wt_threshold *threshold;
    wt_threshold_summary summary = WT_SIZED(wt_threshold_summary);
    setting.low = setting.resolution = 5;
    setting.high = 63;
    setting.trials = 4;
    CHECK_OK(*state, wt_threshold_open(*state, &setting, NULL, &threshold));
    search_table(*state, threshold, successes);
    CHECK_OK(*state, wt_threshold_summarise(*state, threshold, &summary));
    assert_int_equal(summary.points[0].critical, 40);
    assert_true(summary.points[0].fitted.value > 20 && summary.points[0].fitted.value <= 40);
    wt_threshold_summary_free(&summary);
    wt_threshold_free(threshold);
    CHECK_OK(*state, wt_threshold_open(*state, &setting, NULL, &threshold));
    search_table(*state, threshold, none);
    CHECK_OK(*state, wt_threshold_summarise(*state, threshold, &summary));
    assert_true(summary.points[0].censoring == WT_CENSORING_ABOVE);
    assert_int_equal(summary.points[0].largest, 60);
    wt_threshold_summary_free(&summary);
    wt_threshold_free(threshold);
}

/* Of 20 trials at a rate of 0.8 16 successes decide, and 5 failures, at the end of a block of 8. */
static void a_verdict_comes_early(void **state) {
    wt_threshold_spec setting = tiny();
    wt_threshold *threshold;
    setting.trials = 20;
    for (int all = 0; all < 2; all++)
        for (int success = 0; success < 2; success++) {
            setting.all_trials = all == 1;
            CHECK_OK(*state, wt_threshold_open(*state, &setting, NULL, &threshold));
            size_t critical, first = wt_threshold_next(threshold, 6, 0, &critical), needed = 0;
            while (wt_threshold_next(threshold, 6, 0, &critical) == first) {
                const wt_threshold_row row = {.length = 6,
                                              .samples = first,
                                              .trial = needed++,
                                              .result = {.success = success == 1, .runs = 1}};
                CHECK_OK(*state, wt_threshold_add(*state, threshold, &row));
            }
            assert_true(needed == (all ? 20u : success ? 16u : 8u));
            wt_threshold_free(threshold);
        }
}

/* Of trials in hand when a run was stopped those are missing that fail: no block counts that lacks
 * one, in whatever order the others came. */
static void blocks_that_were_left_do_not_count(void **state) {
    static const size_t order[] = {0, 1, 3, 4, 5, 6, 7, 8, 12, 2, 9, 11, 10, 13, 14, 15, 16, 17};
    wt_threshold_spec setting = tiny();
    wt_threshold *threshold;
    setting.trials = 18;
    CHECK_OK(*state, wt_threshold_open(*state, &setting, NULL, &threshold));
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const wt_threshold_row row = {.length = 6,
                                      .samples = 8,
                                      .trial = order[i],
                                      .result = {.success = order[i] != 2, .runs = 1}};
        CHECK_OK(*state, wt_threshold_add(*state, threshold, &row));
        wt_threshold_tally found = wt_threshold_count(threshold, 6, 8);
        size_t wanted = i < 9 ? 0 : i < 15 ? 8 : i < 17 ? 16 : 18; /* 2 ends a block, then 15 */
        assert_int_equal(found.trials, wanted);
        assert_int_equal(found.successes, wanted == 0 ? 0 : wanted - 1);
    }
    wt_threshold_free(threshold);
}

/* ---- real trials ------------------------------------------------------------------------------
 */

static void check_same_rows(const wt_threshold *a, const wt_threshold *b) {
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        const wt_threshold_row *row = &a->rows[i];
        const wt_threshold_row *other = wt_threshold_find(b, row->length, row->samples, row->trial);
        assert_non_null(other);
        assert_int_equal(row->result.success, other->result.success);
        assert_int_equal(row->result.runs, other->result.runs);
        assert_int_equal(row->result.success_step, other->result.success_step);
        assert_true(row->result.runs == 0 ||
                    row->result.best_accuracy == other->result.best_accuracy);
    }
}

static void threads_and_files_change_nothing(void **state) {
    wt_threshold_spec setting = tiny();
    wt_threshold *whole, *other, *resumed;
    int threads = wt_context_threads(*state);
    CHECK_OK(*state, wt_context_set_threads(*state, 1));
    CHECK_OK(*state, wt_threshold_open(*state, &setting, path, &whole));
    CHECK_OK(*state, wt_threshold_run(*state, whole));
    CHECK_OK(*state, wt_context_set_threads(*state, 3));
    CHECK_OK(*state, wt_threshold_open(*state, &setting, NULL, &other));
    CHECK_OK(*state, wt_threshold_run(*state, other));
    check_same_rows(whole, other);
    /* Half of the rows, written and read: the rest is run to the same end. */
    whole->count /= 2;
    CHECK_OK(*state, wt_threshold_write(*state, whole, NULL, 0, path));
    CHECK_FAILS(*state, wt_threshold_open(*state, &setting, path, &resumed), WT_CANNOT_CREATE,
                "one writer at a time");
    wt_threshold_free(whole);
    CHECK_OK(*state, wt_threshold_open(*state, &setting, path, &resumed));
    assert_int_equal(resumed->count, other->count / 2);
    CHECK_OK(*state, wt_threshold_run(*state, resumed));
    check_same_rows(other, resumed);
    wt_threshold_free(resumed);
    CHECK_OK(*state, wt_threshold_open(*state, &setting, path, &resumed));
    check_same_rows(other, resumed);
    CHECK_OK(*state, wt_context_set_threads(*state, threads));
    wt_threshold_free(other);
    wt_threshold_free(resumed);
    assert_int_equal(unlink(path), 0);
}

static void finished_trials_survive_a_cancel(void **state) {
    wt_threshold_spec setting = tiny();
    wt_threshold *threshold, *read;
    wt_context *context = *state;
    const wt_threshold_row row = {.length = 6, .samples = 4, .trial = 0, .result = {.runs = 1}};
    CHECK_OK(context, wt_threshold_open(context, &setting, path, &threshold));
    CHECK_OK(context, wt_threshold_add(context, threshold, &row));
    wt_context_cancel(context);
    assert_int_equal(wt_threshold_run(context, threshold), WT_INTERRUPTED);
    assert_true(wt_context_cancelled(context));
    atomic_store(&context->cancels, 0);
    size_t count = threshold->count;
    wt_threshold_free(threshold);
    CHECK_OK(context, wt_threshold_open(context, &setting, path, &read));
    assert_true(read->count >= 1 && read->count == count);
    wt_threshold_free(read);
    assert_int_equal(unlink(path), 0);
}

/* What a caller gave is copied: it may change between the calls. */
static void the_setting_is_borrowed_for_the_call_only(void **state) {
    size_t own_lengths[] = {6, 10};
    char function[] = "and:2", kind[] = "mlp", own_path[sizeof path];
    wt_threshold_spec setting = tiny();
    wt_threshold *threshold;
    wt_threshold_summary summary = WT_SIZED(wt_threshold_summary);
    memcpy(own_path, path, sizeof path);
    setting.lengths = own_lengths;
    train.task = function;
    train.model = kind;
    CHECK_OK(*state, wt_threshold_open(*state, &setting, own_path, &threshold));
    own_lengths[0] = own_lengths[1] = 0;
    function[0] = kind[0] = own_path[0] = '?';
    CHECK_OK(*state, wt_threshold_run(*state, threshold));
    CHECK_OK(*state, wt_threshold_summarise(*state, threshold, &summary));
    assert_int_equal(summary.points[1].length, 10);
    assert_int_equal(unlink(path), 0);
    wt_threshold_summary_free(&summary);
    wt_threshold_free(threshold);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_threshold_is_found),
        cmocka_unit_test(around_ends_with_the_grid),
        cmocka_unit_test(critical_is_what_it_is_defined_to_be),
        cmocka_unit_test(luck_below_does_not_count),
        cmocka_unit_test(a_verdict_comes_early),
        cmocka_unit_test(blocks_that_were_left_do_not_count),
        cmocka_unit_test(threads_and_files_change_nothing),
        cmocka_unit_test(finished_trials_survive_a_cancel),
        cmocka_unit_test(the_setting_is_borrowed_for_the_call_only),
    };
    return cmocka_run_group_tests(tests, open_path, close_path);
}
