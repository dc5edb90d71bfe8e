/* `wattle report --watch` beside the sweeps that fill its store. */
#define _GNU_SOURCE
#include <poll.h>

#include "cli/sweep_cases.h"

/* The page as it stands, "" for none. */
static const char *page_text(const char *name) {
    static char text[2][1 << 19];
    static unsigned next;
    char *out = text[next++ % 2];
    FILE *file = fopen(path_of(name), "rb");
    size_t bytes = file == NULL ? 0 : fread(out, 1, sizeof text[0] - 1, file);
    if (file != NULL)
        fclose(file);
    out[bytes] = '\0';
    return out;
}

/* Waits until the run says something. */
static void hear(int err) {
    struct pollfd heard = {.fd = err, .events = POLLIN};
    assert_int_equal(poll(&heard, 1, -1), 1);
}

static bool page_says(const char *words) {
    return strstr(page_text("page.html"), words) != NULL;
}

/* From before there is a store: the page follows what two sweeps add, is whole whenever it is
 * looked at, and is in the end that of a plain report. */
static void the_page_follows_the_store(void **state) {
    (void)state;
    char said[RUN_BYTES];
    int err[2];
    assert_int_equal(pipe(err), 0);
    pid_t watch = run_start("report --watch results.db -o page.html", err[1]);
    close(err[1]);
    hear(err[0]); /* that there is no store */
    pid_t sweep = run_start("sweep run spec.ini --store results.db --quiet", -1);
    RUN_UNTIL(watch, page_says("24 cells of <code>results.db</code>"));
    assert_true(page_says("<html lang=\"en\" data-again=\"5\">"));
    assert_true(page_says("</html>"));
    assert_int_equal(waitpid(sweep, NULL, 0), sweep);
    run_must("sweep run spec.ini --set seed=10 --store results.db --quiet");
    RUN_UNTIL(watch, page_says("48 cells of <code>results.db</code>"));
    int how = run_end(watch, SIGINT);
    run_read(err[0], said);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    assert_non_null(strstr(said, "results.db is not there yet; waiting for it"));
    assert_non_null(strstr(said, "page.html: 48 cells, 1 figure"));
    const char *last = page_text("page.html");
    assert_null(strstr(last, "data-again"));
    run_must("report results.db -o page.html");
    assert_string_equal(last, page_text("page.html"));
}

/* Ctrl-C before there is anything to show. */
static void a_store_that_never_comes_is_told(void **state) {
    (void)state;
    char said[RUN_BYTES];
    int err[2];
    assert_int_equal(pipe(err), 0);
    pid_t watch = run_start("report --watch none.db -o none.html", err[1]);
    close(err[1]);
    hear(err[0]); /* it waits */
    int how = run_end(watch, SIGINT);
    run_read(err[0], said);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 66);
    assert_non_null(strstr(said, "none.db: there is no such file"));
    assert_int_equal(access(path_of("none.html"), F_OK), -1);
}

/* What waiting does not mend ends the watch. */
static void a_file_that_is_no_store_is_told(void **state) {
    (void)state;
    CHECK_SAYS(run_in_folder("report --watch spec.ini -o none.html"), 65, "spec.ini");
    run_must("sweep run spec.ini --store some.db --quiet");
    CHECK_SAYS(run_in_folder("report --watch some.db -o none/page.html"), 73, "none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_follows_the_store),
        cmocka_unit_test(a_store_that_never_comes_is_told),
        cmocka_unit_test(a_file_that_is_no_store_is_told),
    };
    return cmocka_run_group_tests(tests, open_sweep, run_close_folder);
}
