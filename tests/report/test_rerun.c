/* What was run, as the page tells it. */
#include "check.h"
#include "report/rerun.h"

static wt_results results;

static int open_cells(void **state) {
    static const char *const parameters[] = {"{\"flag\":true,\"mixed\":\"loo\",\"n\":8}",
                                             "{\"flag\":false,\"mixed\":0.5,\"n\":16}",
                                             "{\"flag\":true,\"mixed\":0.25,\"n\":8}"};
    if (check_open(state) != 0)
        return -1;
    for (size_t i = 0; i < 3; i++) {
        char hash[WT_HASH_TEXT];
        snprintf(hash, sizeof hash, "%064zx", i);
        wt_record record = {.hash = hash,
                            .experiment = "recover",
                            .parameters = parameters[i],
                            .message = "",
                            .metrics = "{}",
                            .version = "",
                            .machine = "",
                            .finished_date = ""};
        if (wt_results_add(*state, &results, &record) != WT_OK)
            return -1;
    }
    return 0;
}

static int close_cells(void **state) {
    wt_results_clear(&results);
    return check_close(state);
}

static void check_values(wt_context *context, const char *name, size_t count, const char *words) {
    wt_script out = {.context = context};
    assert_int_equal(wt_rerun_values(&out, &results, wt_results_experiment(&results, "recover"),
                                     wt_results_name(&results, name)),
                     count);
    assert_string_equal(out.text, words);
    wt_script_free(&out);
}

static void all_values_are_told_apart(void **state) {
    check_values(*state, "flag", 2, "no, yes");
    check_values(*state, "n", 2, "8, 16");
    check_values(*state, "mixed", 3, "0.25, 0.5, loo");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_values_are_told_apart)};
    return cmocka_run_group_tests(tests, open_cells, close_cells);
}
