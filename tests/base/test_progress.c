#include "base/context.h"

#include "check.h"

static void lines_tell_rate_and_time_left(void **state) {
    (void)state;
    static const struct {
        wt_progress progress;
        const char *line;
    } cases[] = {
        {{"cells", 12, 80, 4, 0, NULL}, "cells 12/80  3/s  ETA 23s"},
        {{"cells", 0, 80, 0, 0, NULL}, "cells 0/80  0/s  ETA ?"},
        {{"cells", 80, 80, 10, 0, NULL}, "cells 80/80  8/s  ETA 0s"},
        {{"cells", 90, 80, 10, 0, NULL}, "cells 90/80  9/s  ETA 0s"},
        {{"samples", 1, 101, 2, 0, NULL}, "samples 1/101  0.5/s  ETA 3m20s"},
        {{"samples", 1, 7501, 1, 0, NULL}, "samples 1/7501  1/s  ETA 2h05m"},
        {{"samples", 1e6, 2e6, 1e6 / 59.6, 0, NULL}, "samples 1000000/2000000  59.6/s  ETA 4h39m"},
        {{"files", 5, 0, 2, 0, NULL}, "files 5  2.5/s"},
        {{"start", 3, 20, 6, 0, "step 7, error 2e-04"}, "start 3/20  step 7, error 2e-04  ETA 34s"},
        {{"questions", 40, 0, 6, 0, "2 heads"}, "questions 40  2 heads"},
        {{"cells", 12, 80, 4, 0.5, NULL}, "cells 12/80  3/s  ETA 4s"},
        {{"trials", 12, 0, 4, 0.25, NULL}, "trials 12  3/s  ETA 12s"},
        {{"cells", 1, 1e30, 1, 0, NULL}, "ETA 277777h46m"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[160];
        wt_progress_format(&cases[i].progress, line, sizeof line);
        if (strstr(line, cases[i].line) == NULL)
            fail_msg("'%s', not '%s'", line, cases[i].line);
    }
    char tiny[6];
    assert_string_equal(wt_progress_format(&cases[0].progress, tiny, sizeof tiny), "cells");
}

typedef struct {
    int calls;
    wt_progress last;
} show_log;
static void count_calls(void *user, const wt_progress *progress) {
    show_log *log = user;
    log->calls++;
    log->last = *progress;
}

static void the_end_is_always_shown_and_most_steps_are_not(void **state) {
    wt_context *context = *state;
    show_log log = {0};
    wt_context_set_progress(context, count_calls, &log);
    double began = wt_clock();
    wt_meter meter = wt_meter_start(context, "cells", 100000);
    for (int i = 1; i <= 100000; i++)
        wt_meter_set(&meter, i);
    double tenths = 10 * (wt_clock() - began);
    assert_true(log.last.done == 100000 && log.last.total == 100000);
    assert_string_equal(log.last.what, "cells");
    assert_true(log.calls >= 1 && log.calls <= tenths + 2); /* the first and the last on top */
    assert_true(log.last.seconds >= 0);
    wt_context_set_progress(context, NULL, NULL);
    wt_meter_set(&meter, 100000);
    wt_meter quiet = wt_meter_start(context, "cells", 1);
    wt_meter_set(&quiet, 1); /* nobody looks: nothing happens */
}

static void copy_line(void *user, const wt_progress *progress) {
    wt_progress_format(progress, user, 160);
}

static void parts_show_where_the_whole_is(void **state) {
    wt_context *context = *state;
    char line[160] = "";
    wt_meter whole = wt_meter_start(context, "cells", 8), part;
    wt_meter_set(&whole, 3);
    wt_context_set_progress(context, copy_line, line);
    context->whole = &whole;
    part = wt_meter_start(context, "step", 50);
    context->progress_shown = 0;
    wt_meter_tell(&part, 20, "loss %.1f", 0.5);
    assert_true(strncmp(line, "cells 3/8  step 20/50, loss 0.5  ETA ", 37) == 0);
    context->progress_shown = 0;
    wt_meter_set(&part, 21);
    assert_true(strncmp(line, "cells 3/8  step 21/50  ETA ", 27) == 0);
    wt_meter_set(&part, 50); /* the end of a part is no more than a step of the whole */
    assert_true(strncmp(line, "cells 3/8  step 21/50  ETA ", 27) == 0);
    context->whole = NULL;
    wt_meter_tell(&part, 50, "loss %.1f", 0.25);
    assert_true(strncmp(line, "step 50/50  loss 0.2  ETA 0s", 28) == 0);
    wt_context_set_progress(context, NULL, NULL);
}

static void the_clock_never_goes_back(void **state) {
    (void)state;
    double before = wt_clock();
    for (int i = 0; i < 1000; i++) {
        double now = wt_clock();
        assert_true(now >= before);
        before = now;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_tell_rate_and_time_left),
        cmocka_unit_test(the_end_is_always_shown_and_most_steps_are_not),
        cmocka_unit_test(parts_show_where_the_whole_is),
        cmocka_unit_test(the_clock_never_goes_back),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
