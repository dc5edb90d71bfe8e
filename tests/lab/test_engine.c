/* The loop under all that runs cells: what is kept, and what a cancelled context leaves. */
#include "lab/engine.h"

#include "base/memory.h"
#include "check.h"

enum { UNITS = 40 };

typedef struct {
    wt_engine engine;
    size_t cancel_at, cancels; /* in which unit, how often */
    size_t fail_at, fail_keep; /* UNITS = none */
    atomic_size_t begun;
    bool kept[UNITS];
    size_t saved, unit;
    double share;
} job;

static wt_status keep(void *user) {
    job *work = user;
    if (work->unit == work->fail_keep)
        return wt_fail(work->engine.context, WT_IO, "unit %zu cannot be kept", work->unit);
    work->kept[work->unit] = true;
    return WT_OK;
}

static wt_status run(void *user, wt_context *context, size_t unit) {
    job *work = user;
    wt_status status = WT_OK;
    atomic_fetch_add(&work->begun, 1);
    if (unit == work->fail_at)
        return wt_fail(context, WT_DATA, "unit %zu is bad", unit);
    for (size_t i = 0; unit == work->cancel_at && i < work->cancels; i++)
        wt_context_cancel(work->engine.context);
    WT_TRY(wt_context_check_cancelled(context)); /* what a long unit asks now and then */
    work->unit = unit;                           /* with one worker */
    WT_TRY(wt_engine_keep(&work->engine, keep, work, 1, (double)unit + 1));
done:
    return status;
}

static wt_status save(void *user) {
    job *work = user;
    work->saved++;
    return wt_context_check_cancelled(work->engine.context); /* nothing keeps it from saving */
}

static job job_of(wt_context *context, bool apart) {
    return (job){.engine = {.context = context,
                            .what = "units",
                            .workers = 1,
                            .apart = apart,
                            .total = UNITS,
                            .cost = UNITS * (UNITS + 1) / 2.0},
                 .cancel_at = UNITS,
                 .fail_at = UNITS,
                 .fail_keep = UNITS};
}

static wt_status run_job(job *work) {
    wt_status status;
    WT_TRY(wt_engine_open(&work->engine));
    status = wt_engine_run(&work->engine, UNITS, run, work);
    status = wt_engine_finish(&work->engine, status, save, work);
    work->share = work->engine.meter.share;
done:
    wt_engine_close(&work->engine);
    return status;
}

static size_t kept_of(const job *work) {
    size_t count = 0;
    for (size_t i = 0; i < UNITS; i++)
        count += work->kept[i];
    return count;
}

static void all_units_run_once(void **state) {
    for (int apart = 0; apart < 2; apart++) {
        job work = job_of(*state, apart);
        CHECK_OK(*state, run_job(&work));
        assert_int_equal(kept_of(&work), UNITS);
        assert_int_equal(atomic_load(&work.begun), UNITS);
        assert_int_equal(work.saved, 1);
        assert_true(work.share == 1);
    }
}

static void one_cancel_finishes_what_is_in_hand(void **state) {
    for (int apart = 0; apart < 2; apart++) {
        job work = job_of(*state, apart);
        work.cancel_at = 5;
        work.cancels = 1;
        CHECK_FAILS(*state, run_job(&work), WT_INTERRUPTED, "interrupted");
        assert_int_equal(kept_of(&work), 6);
        assert_int_equal(work.saved, 1);
        wt_context_resume(*state);
    }
}

static void two_cancels_leave_it(void **state) {
    for (int apart = 0; apart < 2; apart++) {
        job work = job_of(*state, apart);
        work.cancel_at = 5;
        work.cancels = 2;
        CHECK_FAILS(*state, run_job(&work), WT_INTERRUPTED, "interrupted");
        assert_int_equal(kept_of(&work), 5);
        assert_int_equal(work.saved, 1);
        wt_context_resume(*state);
    }
}

static void failures_end_it_and_what_was_kept_is_saved(void **state) {
    job work = job_of(*state, true);
    work.fail_at = 3;
    CHECK_FAILS(*state, run_job(&work), WT_DATA, "unit 3 is bad");
    assert_int_equal(kept_of(&work), 3);
    assert_int_equal(work.saved, 1);
    work = job_of(*state, false);
    work.fail_keep = 7;
    CHECK_FAILS(*state, run_job(&work), WT_IO, "unit 7 cannot be kept");
    assert_int_equal(kept_of(&work), 7);
}

static void too_many_workers_are_refused(void **state) {
    job work = job_of(*state, true);
    work.engine.workers = WT_MAX_THREADS + 1;
    CHECK_FAILS(*state, run_job(&work), WT_USAGE, "at most 1024 workers");
}

static wt_status hold(void *user, wt_context *context, size_t unit) {
    void *block = NULL;
    (void)user;
    (void)unit;
    wt_status status = wt_allocate(context, &block, 600, 1, "a unit");
    wt_release(block);
    return status;
}

/* 600 bytes fit a budget of 1000, and not half of it. */
static void workers_apart_have_their_part_of_the_budget(void **state) {
    wt_context *context = *state;
    wt_engine engine = {.context = context, .what = "units", .workers = 2, .apart = true};
    wt_context_set_memory(context, wt_context_memory_used(context) + 1000);
    CHECK_OK(context, wt_engine_open(&engine));
    CHECK_FAILS(context, wt_engine_run(&engine, 4, hold, NULL), WT_MEMORY, "a unit");
    wt_engine_close(&engine);
    wt_context_set_memory(context, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_units_run_once),
        cmocka_unit_test(one_cancel_finishes_what_is_in_hand),
        cmocka_unit_test(two_cancels_leave_it),
        cmocka_unit_test(failures_end_it_and_what_was_kept_is_saved),
        cmocka_unit_test(too_many_workers_are_refused),
        cmocka_unit_test(workers_apart_have_their_part_of_the_budget),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
