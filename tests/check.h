/* What every test program needs: cmocka, a context, comparison with a stated tolerance. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

/* cmocka.h needs the four before it. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"

/* A context a test group, as cmocka's setup and teardown. */
static inline int check_open(void **state) {
    return wt_context_new((wt_context **)state) == WT_OK ? 0 : -1;
}
static inline int check_close(void **state) {
    wt_context *context = *state;
    size_t left = wt_context_memory_used(context);
    wt_context_free(context);
    if (left != 0)
        fprintf(stderr, "%zu bytes were never released\n", left);
    return left == 0 ? 0 : -1;
}

/* The call must succeed; else its sentence is shown. */
#define CHECK_OK(context, call)                                                                    \
    do {                                                                                           \
        wt_status check_status = (call);                                                           \
        if (check_status != WT_OK)                                                                 \
            fail_msg("%s: %s", #call, wt_context_message(context));                                \
    } while (0)

/* The call must fail with the status and a sentence that holds the words. */
#define CHECK_FAILS(context, call, wanted, words)                                                  \
    do {                                                                                           \
        assert_int_equal(call, wanted);                                                            \
        if (strstr(wt_context_message(context), words) == NULL)                                    \
            fail_msg("'%s' does not say '%s'", wt_context_message(context), words);                \
    } while (0)

/* |got - wanted| <= tolerance * max(1, |wanted|) */
#define CHECK_NEAR(got, wanted, tolerance)                                                         \
    do {                                                                                           \
        double check_got = (got), check_wanted = (wanted);                                         \
        if (!(fabs(check_got - check_wanted) <= (tolerance)*fmax(1, fabs(check_wanted))))          \
            fail_msg("%s = %.17g, not %.17g within %g", #got, check_got, check_wanted,             \
                     (double)(tolerance));                                                         \
    } while (0)

#endif
