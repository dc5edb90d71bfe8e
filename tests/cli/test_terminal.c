/* Progress, remarks and Ctrl-C as a person meets them, with stderr on a pseudo-terminal or a file.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/context.h"
#include "check.h"
#include "command.h"

#define END_MARK "<end>"

/* Until something more is said: bytes in the pipe that stderr is. */
static void wait_for_words(void) {
    int before = 0, now = 0;
    ioctl(STDERR_FILENO, FIONREAD, &before);
    for (now = before; now == before; usleep(1000))
        ioctl(STDERR_FILENO, FIONREAD, &now);
}

/* Some work with a remark, progress and a result, as a command would do it. */
static void work(bool quiet) {
    wt_context *context;
    bool plain = !isatty(STDERR_FILENO) && !quiet;
    if (wt_context_new(&context) != WT_OK)
        exit(1);
    static const cli_command command = {.name = "work"};
    cli_call call = {.context = context, .command = &command, .common = {.quiet = quiet}};
    cli_terminal_plain_every = 0.01;
    cli_terminal_attach(&call);
    if (plain)
        wait_for_words();
    wt_meter meter = wt_meter_start(context, "cells", 4);
    wt_meter_set(&meter, 2);
    wt_remark(context, "a remark");
    if (context->progress != NULL)
        context->progress(context->progress_user,
                          &(wt_progress){"start", 3, 9, 20, 0, "step 7, error 2e-04"});
    if (plain)
        wait_for_words();
    printf("a %s\n", "result");
    fflush(stdout);
    wt_meter_set(&meter, 4);
    cli_terminal_detach();
    wt_context_free(context);
}

/* Runs the work with stderr on the open file; what came out of `from` lands in `text`. */
static void run_work(int to, int from, bool quiet, char *text, size_t bytes) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(to, STDERR_FILENO);
        dup2(to, STDOUT_FILENO);
        work(quiet);
        exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    /* a terminal delivers late: read until a mark of our own arrives */
    assert_int_equal(write(to, END_MARK, sizeof END_MARK - 1), sizeof END_MARK - 1);
    size_t length = 0;
    char *mark = NULL;
    while (mark == NULL && length + 1 < bytes) {
        ssize_t more = read(from, text + length, bytes - 1 - length);
        assert_true(more > 0);
        length += (size_t)more;
        text[length] = '\0';
        mark = strstr(text, END_MARK);
    }
    assert_non_null(mark);
    *mark = '\0';
}

static void a_terminal_gets_a_line_that_moves(void **state) {
    (void)state;
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        skip();
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    char text[1024];
    run_work(terminal, master, false, text, sizeof text);
    assert_non_null(strstr(text, "\r\033[Kcells 2/4"));
    assert_non_null(strstr(text, "\r\033[Kwattle: a remark"));
    assert_non_null(strstr(text, "\r\033[Kstart 3/9  step 7, error 2e-04  ETA 40s"));
    /* which is gone before a result is printed */
    assert_non_null(strstr(text, "ETA 40s\r\033[Ka result\r\n"));
    assert_non_null(strstr(text, "\r\033[Kcells 4/4"));
    /* and it is wiped at the end */
    assert_string_equal(text + strlen(text) - 4, "\r\033[K");
    run_work(terminal, master, true, text, sizeof text);
    assert_string_equal(text, "a result\r\n");
    close(terminal);
    close(master);
}

static void a_file_gets_plain_lines_only(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    static char text[1 << 16];
    run_work(ends[1], ends[0], false, text, sizeof text);
    /* work that tells nothing, and work that does */
    assert_true(strncmp(text, "wattle: 0:00  work\n", 19) == 0);
    assert_non_null(strstr(text, "\nwattle: a remark\n"));
    assert_non_null(strstr(text, "\nwattle: 0:00  start 3/9  step 7, error 2e-04  ETA 40s\n"));
    assert_non_null(strstr(text, "\na result\n"));
    assert_null(strchr(text, '\033'));
    run_work(ends[1], ends[0], true, text, sizeof text);
    assert_string_equal(text, "a result\n");
    close(ends[0]);
    close(ends[1]);
}

static void the_first_interrupt_cancels(void **state) {
    wt_context *context = *state;
    static const cli_command command = {.name = "work"};
    cli_call call = {.context = context, .command = &command, .common = {.quiet = true}};
    cli_terminal_attach(&call);
    assert_false(wt_context_cancelled(context));
    raise(SIGINT);
    assert_true(wt_context_cancelled(context));
    CHECK_FAILS(context, wt_context_check_cancelled(context), WT_INTERRUPTED, "interrupted");
    /* the second asks for more haste; the third would end the program: the default is back */
    struct sigaction action;
    raise(SIGINT);
    sigaction(SIGINT, NULL, &action);
    assert_true(action.sa_handler == SIG_DFL);
    cli_terminal_detach();
    signal(SIGTERM, SIG_DFL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_gets_a_line_that_moves),
        cmocka_unit_test(a_file_gets_plain_lines_only),
        cmocka_unit_test(the_first_interrupt_cancels),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
