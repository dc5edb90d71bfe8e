/* Time that is over when the progress says some words, on any machine. */
#ifndef TESTS_LATE_H
#define TESTS_LATE_H

#include "check.h"

typedef struct {
    wt_context *context;
    const char *words;
    bool said;
} late_mark;

static inline void late_look(void *user, const wt_progress *progress) {
    late_mark *mark = user;
    char line[320];
    wt_progress_format(progress, line, sizeof line);
    if (mark->said || strstr(line, mark->words) == NULL)
        return;
    mark->said = true;
    assert_int_equal(wt_context_set_time_limit(mark->context, 1e-9), WT_OK);
}

static inline late_mark *late_when(wt_context *context, const char *words) {
    static late_mark mark;
    mark = (late_mark){.context = context, .words = words};
    wt_context_set_progress(context, late_look, &mark);
    return &mark;
}

/* The words were said, and the context is as before. */
static inline void late_end(late_mark *mark) {
    assert_true(mark->said);
    assert_true(wt_context_out_of_time(mark->context));
    wt_context_set_progress(mark->context, NULL, NULL);
    assert_int_equal(wt_context_set_time_limit(mark->context, 0), WT_OK);
    assert_false(wt_context_out_of_time(mark->context));
}

#endif
