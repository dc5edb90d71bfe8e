#include "base/parallel.h"

#include <sched.h>

#include "check.h"

enum { ITEMS = 1003, GRAIN = 10, CHUNKS = 101 };

typedef struct {
    wt_context *context;
    atomic_int visits[ITEMS];
    atomic_int begins[CHUNKS]; /* chunks that began where they should */
    atomic_int wrong;
    int threads;
} visit_log;

static wt_status visit(void *argument, size_t begin, size_t end, int worker) {
    visit_log *log = argument;
    size_t wanted = begin + GRAIN < ITEMS ? begin + GRAIN : ITEMS;
    if (begin % GRAIN != 0 || end != wanted || worker < 0 || worker >= log->threads)
        atomic_fetch_add(&log->wrong, 1);
    atomic_fetch_add(&log->begins[begin / GRAIN], 1);
    for (size_t i = begin; i < end; i++)
        atomic_fetch_add(&log->visits[i], 1);
    return WT_OK;
}

static void chunks_are_fixed_and_each_runs_once(void **state) {
    for (int threads = 1; threads <= 4; threads++) {
        visit_log log = {.context = *state, .threads = threads};
        CHECK_OK(*state, wt_context_set_threads(*state, threads));
        CHECK_OK(*state, wt_parallel_for(*state, ITEMS, GRAIN, visit, &log));
        assert_int_equal(atomic_load(&log.wrong), 0);
        for (size_t i = 0; i < ITEMS; i++)
            assert_int_equal(atomic_load(&log.visits[i]), 1);
        for (size_t i = 0; i < CHUNKS; i++)
            assert_int_equal(atomic_load(&log.begins[i]), 1);
    }
}

static wt_status never(void *argument, size_t begin, size_t end, int worker) {
    (void)argument, (void)begin, (void)end, (void)worker;
    return WT_INTERNAL;
}
static size_t items_seen;
static wt_status count_items(void *argument, size_t begin, size_t end, int worker) {
    (void)argument, (void)worker;
    items_seen += end - begin;
    return WT_OK;
}
static void loops_at_their_edges(void **state) {
    CHECK_OK(*state, wt_parallel_for(*state, 0, 0, never, NULL));
    CHECK_FAILS(*state, wt_parallel_for(*state, 5, 0, never, NULL), WT_INTERNAL, "no items");
    /* one chunk when the grain is beyond the count: begin + grain must not wrap around */
    items_seen = 0;
    CHECK_OK(*state, wt_parallel_for(*state, ITEMS, SIZE_MAX, count_items, NULL));
    assert_int_equal(items_seen, ITEMS);
}

/* Sums of numbers of very different sizes: any other order would show. */
typedef struct {
    double parts[CHUNKS];
} sums;
static wt_status add_up(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    double sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += sin((double)i) * exp((double)(i % 37));
    ((sums *)argument)->parts[begin / GRAIN] = sum;
    return WT_OK;
}
static void results_do_not_depend_on_threads(void **state) {
    sums first, other;
    for (int threads = 1; threads <= 4; threads++) {
        CHECK_OK(*state, wt_context_set_threads(*state, threads));
        CHECK_OK(*state,
                 wt_parallel_for(*state, ITEMS, GRAIN, add_up, threads == 1 ? &first : &other));
        if (threads > 1)
            assert_memory_equal(&first, &other, sizeof first);
    }
}

static wt_status fail_some(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    wt_context *context = argument;
    (void)end;
    if (begin == 170 || begin == 420 || begin == 1000)
        return wt_fail(context, begin == 170 ? WT_DATA : WT_IO, "item %zu is bad", begin);
    return WT_OK;
}
static void the_first_failure_by_index_is_told(void **state) {
    for (int threads = 1; threads <= 4; threads++)
        for (int times = 0; times < 50; times++) {
            CHECK_OK(*state, wt_context_set_threads(*state, threads));
            CHECK_FAILS(*state, wt_parallel_for(*state, ITEMS, GRAIN, fail_some, *state), WT_DATA,
                        "item 170 is bad");
        }
    /* and the message is the caller's again */
    CHECK_FAILS(*state, wt_fail(*state, WT_USAGE, "afterwards"), WT_USAGE, "afterwards");
}

/* Inside a chunk another loop runs on the same thread, and may fail too. */
typedef struct {
    wt_context *context;
    int outer_worker;
    bool same_worker;
    size_t count;
    bool fails;
} inner_log;
static wt_status count_inner(void *argument, size_t begin, size_t end, int worker) {
    inner_log *log = argument;
    log->same_worker = log->same_worker && worker == log->outer_worker;
    log->count += end - begin;
    if (log->fails && begin >= 40)
        return wt_fail(log->context, WT_DATA, "inner %zu", begin);
    return WT_OK;
}
typedef struct {
    wt_context *context;
    size_t failing; /* outer item whose inner loop fails */
    atomic_size_t total;
    atomic_int other_worker;
} outer_log;
static wt_status run_inner(void *argument, size_t begin, size_t end, int worker) {
    outer_log *outer = argument;
    (void)end;
    inner_log log = {.context = outer->context,
                     .outer_worker = worker,
                     .same_worker = true,
                     .fails = begin >= outer->failing};
    wt_status status = wt_parallel_for(outer->context, 95, 20, count_inner, &log);
    atomic_fetch_add(&outer->total, log.count);
    atomic_fetch_add(&outer->other_worker, !log.same_worker);
    if (status != WT_OK) {
        /* the sentence of the inner failure can be wrapped here */
        return wt_fail(outer->context, status, "outer %zu: %s", begin,
                       wt_context_message(outer->context));
    }
    return WT_OK;
}
static void loops_may_be_nested(void **state) {
    for (int threads = 1; threads <= 4; threads++) {
        CHECK_OK(*state, wt_context_set_threads(*state, threads));
        outer_log log = {.context = *state, .failing = SIZE_MAX};
        CHECK_OK(*state, wt_parallel_for(*state, 8, 1, run_inner, &log));
        assert_int_equal(atomic_load(&log.total), 8 * 95);
        assert_int_equal(atomic_load(&log.other_worker), 0);
        log.failing = 3;
        CHECK_FAILS(*state, wt_parallel_for(*state, 8, 1, run_inner, &log), WT_DATA,
                    "outer 3: inner 40");
    }
}

typedef struct {
    wt_context *context;
    atomic_size_t ran;
} cancel_log;
static wt_status cancel_at_once(void *argument, size_t begin, size_t end, int worker) {
    cancel_log *log = argument;
    (void)begin, (void)end, (void)worker;
    atomic_fetch_add(&log->ran, 1);
    wt_context_cancel(log->context);
    return WT_OK;
}
static void a_cancelled_loop_stops(void **state) {
    (void)state;
    for (int threads = 1; threads <= 4; threads++) {
        wt_context *context; /* of its own: a cancelled context stays so */
        assert_int_equal(wt_context_new(&context), WT_OK);
        CHECK_OK(context, wt_context_set_threads(context, threads));
        cancel_log log = {.context = context};
        CHECK_FAILS(context, wt_parallel_for(context, 1000, 1, cancel_at_once, &log),
                    WT_INTERRUPTED, "interrupted");
        assert_true(atomic_load(&log.ran) >= 1 && atomic_load(&log.ran) <= (size_t)threads);
        wt_context_free(context);
    }
}

/* A chunk may have a context of its own, with fewer threads than the outer loop. */
static wt_status inner_worker(void *argument, size_t begin, size_t end, int worker) {
    (void)begin, (void)end;
    atomic_fetch_add((atomic_int *)argument, worker == 0 ? 0 : 1);
    return WT_OK;
}
static wt_status own_context(void *argument, size_t begin, size_t end, int worker) {
    (void)begin, (void)end, (void)worker;
    wt_context *context;
    wt_status status = wt_context_new(&context);
    if (status != WT_OK)
        return status;
    status = wt_context_set_threads(context, 1);
    if (status == WT_OK)
        status = wt_parallel_for(context, 3, 1, inner_worker, argument);
    wt_context_free(context);
    return status;
}
/* With several threads it has a team of its own: two chunks meet. */
typedef struct {
    wt_context *context;
    atomic_int here, *met;
    bool fails;
} meeting;
static wt_status meet(void *argument, size_t begin, size_t end, int worker) {
    meeting *at = argument;
    (void)end;
    if (worker < 0 || worker > 1)
        return wt_fail(at->context, WT_INTERNAL, "worker %d of 2", worker);
    if (at->fails)
        return wt_fail(at->context, WT_DATA, "inner %zu", begin);
    atomic_fetch_add(&at->here, 1);
    for (double until = wt_clock() + 60; atomic_load(&at->here) < 2 && wt_clock() < until;)
        sched_yield();
    if (begin == 0 && atomic_load(&at->here) == 2)
        atomic_fetch_add(at->met, 1);
    return WT_OK;
}
typedef struct {
    wt_context *context;
    atomic_int met, other_worker;
    size_t failing;
} meetings;
static wt_status meet_inside(void *argument, size_t begin, size_t end, int worker) {
    meetings *all = argument;
    wt_context *context;
    (void)end;
    WT_PASS(wt_context_new(&context));
    meeting at = {.context = context, .met = &all->met, .fails = begin == all->failing};
    wt_status status = wt_context_set_threads(context, 2);
    if (status == WT_OK)
        status = wt_parallel_for(context, 2, 1, meet, &at);
    if (status == WT_OK) { /* the outer place is back: a loop of the outer context stays here */
        inner_log log = {.context = all->context, .outer_worker = worker, .same_worker = true};
        status = wt_parallel_for(all->context, 5, 1, count_inner, &log);
        atomic_fetch_add(&all->other_worker, !log.same_worker);
    }
    wt_context_free(context);
    return status;
}
static void contexts_of_chunks_may_have_threads(void **state) {
    for (int threads = 2; threads <= 3; threads++) {
        meetings all = {.context = *state, .failing = SIZE_MAX};
        CHECK_OK(*state, wt_context_set_threads(*state, threads));
        CHECK_OK(*state, wt_parallel_for(*state, 20, 1, meet_inside, &all));
        assert_int_equal(atomic_load(&all.met), 20);
        assert_int_equal(atomic_load(&all.other_worker), 0);
        all.failing = 7;
        CHECK_FAILS(*state, wt_parallel_for(*state, 20, 1, meet_inside, &all), WT_DATA, "inner 0");
    }
}

static void workers_stay_below_the_threads_of_their_context(void **state) {
    atomic_int wrong = 0;
    CHECK_OK(*state, wt_context_set_threads(*state, 4));
    CHECK_OK(*state, wt_parallel_for(*state, 200, 1, own_context, &wrong));
    assert_int_equal(atomic_load(&wrong), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_fixed_and_each_runs_once),
        cmocka_unit_test(loops_at_their_edges),
        cmocka_unit_test(results_do_not_depend_on_threads),
        cmocka_unit_test(the_first_failure_by_index_is_told),
        cmocka_unit_test(loops_may_be_nested),
        cmocka_unit_test(contexts_of_chunks_may_have_threads),
        cmocka_unit_test(workers_stay_below_the_threads_of_their_context),
        cmocka_unit_test(a_cancelled_loop_stops),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
