/* Groups dealt out to tasks: every one to one of them, about the same work each, and the same from
 * a file. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "lab/deal.h"

enum { UNITS = 1000, TASKS = 7 };

static wt_context *open_context(void) {
    wt_context *context;
    assert_int_equal(wt_context_new(&context), WT_OK);
    return context;
}

/* Largest first, each to the least: no task has more than 4/3 of the best there is, which is at
 * least the mean and the largest unit. */
static void work_is_balanced(void **state) {
    (void)state;
    wt_context *context = open_context();
    double costs[UNITS], loads[TASKS], sums[TASKS] = {0}, total = 0, largest = 0;
    uint32_t task[UNITS];
    for (size_t i = 0; i < UNITS; i++) {
        costs[i] = pow(1.01, (double)(i * 389 % UNITS));
        total += costs[i];
        largest = fmax(largest, costs[i]);
    }
    CHECK_OK(context, wt_deal_balance(context, costs, UNITS, TASKS, task, loads));
    for (size_t i = 0; i < UNITS; i++) {
        assert_true(task[i] < TASKS);
        sums[task[i]] += costs[i];
    }
    for (size_t t = 0; t < TASKS; t++) {
        assert_true(fabs(sums[t] - loads[t]) <= 1e-9 * total); /* sums in another order */
        assert_true(loads[t] <= 4.0 / 3 * fmax(total / TASKS, largest));
    }
    wt_context_free(context);
}

static void what_costs_nobody_knows_is_counted(void **state) {
    (void)state;
    wt_context *context = open_context();
    double costs[] = {1e9, NAN, 1, 1, 1, 1}, loads[3];
    uint32_t task[6];
    CHECK_OK(context, wt_deal_balance(context, costs, 6, 3, task, loads));
    for (size_t t = 0; t < 3; t++)
        assert_true(loads[t] == 2);
    wt_context_free(context);
}

static void spell(char name[WT_HASH_TEXT], size_t number) {
    snprintf(name, WT_HASH_TEXT, "%064zx", number * 2654435761u);
}

static void a_file_deals_the_same(void **state) {
    (void)state;
    wt_context *context = open_context();
    wt_deal deal = {0}, again = {0};
    char path[] = "/tmp/wattle-deal-XXXXXX", name[WT_HASH_TEXT];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (size_t i = 0; i < UNITS; i++) {
        spell(name, i);
        CHECK_OK(context, wt_deal_add(context, &deal, name, 1 + i % TASKS));
    }
    spell(name, 3); /* dealt again, in a later round */
    CHECK_OK(context, wt_deal_add(context, &deal, name, 100));
    CHECK_OK(context, wt_deal_write(context, &deal, path));
    CHECK_OK(context, wt_deal_read(context, path, &again));
    assert_int_equal(again.count, UNITS + 1);
    for (size_t i = 0; i < UNITS; i++) {
        spell(name, i);
        assert_int_equal(wt_deal_task(&again, name), i == 3 ? 100 : 1 + i % TASKS);
        assert_true(wt_deal_has(&again, name, 1 + i % TASKS));
        assert_false(wt_deal_has(&again, name, 2 + i % TASKS));
    }
    spell(name, UNITS);
    assert_int_equal(wt_deal_task(&again, name), 0);
    wt_deal_free(&deal);
    wt_deal_free(&again);
    unlink(path);
    wt_context_free(context);
}

static void other_files_are_refused(void **state) {
    (void)state;
    wt_context *context = open_context();
    char path[] = "/tmp/wattle-deal-XXXXXX", good[WT_HASH_TEXT], text[128];
    int file = mkstemp(path);
    assert_true(file >= 0);
    spell(good, 1);
    const char *const forms[] = {"%s\n",    "0 %s\n",  "-1 %s\n", "1 %s",
                                 "1  %s\n", "1 %s0\n", "a %s\n",  " 1 %s\n"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        wt_deal deal = {0};
        const char *at = strchr(forms[i], '%');
        int used =
            snprintf(text, sizeof text, "%.*s%s%s", (int)(at - forms[i]), forms[i], good, at + 2);
        assert_int_equal(ftruncate(file, 0), 0);
        assert_int_equal(pwrite(file, text, (size_t)used, 0), used);
        CHECK_FAILS(context, wt_deal_read(context, path, &deal), WT_DATA, "no list of groups");
        wt_deal_free(&deal);
    }
    close(file);
    unlink(path);
    wt_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_balanced),
        cmocka_unit_test(what_costs_nobody_knows_is_counted),
        cmocka_unit_test(a_file_deals_the_same),
        cmocka_unit_test(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
