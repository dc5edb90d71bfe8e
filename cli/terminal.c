/* The person in front of the screen: remarks and progress on stderr, Ctrl-C. */
#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "command.h"
#include "wattle/program.h"

#define PLAIN_EVERY 10.0 /* seconds between progress lines when stderr is no terminal */

static _Atomic(wt_context *) interrupted_context;
static bool line_shown;

static void on_interrupt(int number) {
    static volatile sig_atomic_t times;
    wt_context *context = atomic_load(&interrupted_context);
    if (context != NULL)
        wt_context_cancel(context);
    if (++times == 2)
        signal(number, SIG_DFL);
}

/* The first Ctrl-C asks the work to stop at a safe place, the second not to finish what is in hand;
 * the third ends the program. */
static void catch_interrupts(wt_context *context) {
    atomic_store(&interrupted_context, context);
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static void show_remark(void *user, const char *sentence) {
    (void)user;
    cli_terminal_finish();
    fprintf(stderr, "wattle: %s\n", sentence);
}

static void show_on_terminal(void *user, const wt_progress *progress) {
    (void)user;
    char line[160];
    fprintf(stderr, "\r\033[K%s", wt_progress_format(progress, line, sizeof line));
    line_shown = true;
    if (progress->total > 0 && progress->done >= progress->total)
        cli_terminal_finish();
}

static void show_plain(void *user, const wt_progress *progress) {
    double *last = user;
    double now = wt_clock();
    if (progress->seconds < PLAIN_EVERY || now - *last < PLAIN_EVERY)
        return;
    *last = now;
    char line[160];
    fprintf(stderr, "wattle: %s\n", wt_progress_format(progress, line, sizeof line));
}

void cli_terminal_attach(cli_call *call) {
    static double last_plain_line;
    catch_interrupts(call->context);
    if (call->common.quiet)
        return;
    wt_context_set_log(call->context, show_remark, NULL);
    if (isatty(STDERR_FILENO))
        wt_context_set_progress(call->context, show_on_terminal, NULL);
    else
        wt_context_set_progress(call->context, show_plain, &last_plain_line);
}

void cli_terminal_finish(void) {
    if (line_shown)
        fputs("\r\033[K", stderr);
    line_shown = false;
}

void cli_terminal_detach(void) {
    atomic_store(&interrupted_context, NULL);
}
