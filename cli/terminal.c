/* The person in front of the screen: remarks and progress on stderr, Ctrl-C.
 *
 * A thread of its own looks after the progress: the library tells how far it has come when it can,
 * and a long product or a slow disk is no reason to be silent. On a terminal it is one line, which
 * is wiped before anything else is printed; elsewhere a plain line now and then. */
#define _GNU_SOURCE /* fopencookie */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "wattle/program.h"

#define REDRAW_EVERY 1.0
#define USUAL_WIDTH  80
#define WATCH_STACK  ((size_t)256 << 10)

double cli_terminal_plain_every = 10;

static _Atomic(wt_context *) interrupted_context;
bool cli_goes_on;

/* All of it under the lock, once the thread runs. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    pthread_t thread;
    bool watched;  /* there is a thread */
    bool over;     /* and it is to end */
    bool terminal; /* stderr is one */
    bool shown;    /* a line is on the screen */
    bool live;     /* `now` is of work that goes on */
    const char *command;
    double began, due; /* by wt_clock: the command; the next plain line */
    wt_progress now;
    double heard; /* when, by wt_clock */
    char what[64], detail[160];
} screen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void on_interrupt(int number) {
    static volatile sig_atomic_t times;
    wt_context *context = atomic_load(&interrupted_context);
    if (context != NULL)
        wt_context_cancel(context);
    if (++times == 2 && number != SIGUSR1)
        signal(number, SIG_DFL);
}

/* The first Ctrl-C asks the work to stop at a safe place, the second not to finish what is in hand;
 * the third ends the program. SIGUSR1, by which a scheduler tells that the time is nearly over,
 * asks in the same way and never ends it. */
static void catch_interrupts(wt_context *context) {
    atomic_store(&interrupted_context, context);
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
}

static void wipe(void) {
    if (screen.shown)
        fputs("\r\033[K", stderr);
    screen.shown = false;
}

/* What is known, as of now. */
static void spell(char *line, size_t bytes) {
    wt_progress now = screen.now;
    now.seconds += wt_clock() - screen.heard;
    if (screen.live)
        wt_progress_format(&now, line, bytes);
    else
        snprintf(line, bytes, "%s", screen.command);
}

/* "wattle: 1:20  cells 3/9  0.15/s  ETA 40s", after so many minutes and seconds. */
static void write_plain(void) {
    double now = wt_clock();
    char line[320];
    if (screen.terminal || now < screen.due)
        return;
    long seconds = (long)fmin(now - screen.began, 1e9);
    screen.due = now + cli_terminal_plain_every;
    spell(line, sizeof line);
    fprintf(stderr, "wattle: %ld:%02ld  %s\n", seconds / 60, seconds % 60, line);
}

/* In one row: the end of a longer line could not be wiped. */
static void draw(void) {
    struct winsize size = {0};
    char line[320];
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        size.ws_col = USUAL_WIDTH;
    spell(line, sizeof line);
    fprintf(stderr, "\r\033[K%.*s", size.ws_col - 1, line);
    screen.shown = true;
}

static void show_remark(void *user, const char *sentence) {
    (void)user;
    pthread_mutex_lock(&screen.lock);
    wipe();
    fprintf(stderr, "wattle: %s\n", sentence);
    pthread_mutex_unlock(&screen.lock);
}

static void hear(void *user, const wt_progress *progress) {
    (void)user;
    pthread_mutex_lock(&screen.lock);
    snprintf(screen.what, sizeof screen.what, "%s", progress->what);
    snprintf(screen.detail, sizeof screen.detail, "%s",
             progress->detail == NULL ? "" : progress->detail);
    screen.now = *progress;
    screen.now.what = screen.what;
    screen.now.detail = progress->detail == NULL ? NULL : screen.detail;
    screen.heard = wt_clock();
    screen.live = true;
    write_plain();
    if (screen.terminal)
        draw();
    if (progress->total > 0 && progress->done >= progress->total) { /* what follows is other work */
        wipe();
        screen.live = false;
    }
    pthread_mutex_unlock(&screen.lock);
}

static void *watch(void *unused) {
    pthread_mutex_lock(&screen.lock);
    while (!screen.over) {
        double due = screen.terminal ? wt_clock() + REDRAW_EVERY : screen.due;
        struct timespec until = {.tv_sec = (time_t)due};
        until.tv_nsec = (long)(1e9 * (due - (double)until.tv_sec));
        if (pthread_cond_timedwait(&screen.ended, &screen.lock, &until) != ETIMEDOUT)
            continue;
        write_plain();
        if (screen.terminal && screen.live && wt_clock() - screen.heard >= REDRAW_EVERY)
            draw();
    }
    pthread_mutex_unlock(&screen.lock);
    return unused;
}

/* Signals are for the thread that works. Where no thread can be had, lines come as the library
 * tells of its work. */
static void start_watching(void) {
    sigset_t all, before;
    pthread_condattr_t by_clock;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, WATCH_STACK);
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&screen.ended, &by_clock);
    pthread_condattr_destroy(&by_clock);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    screen.over = false;
    screen.watched = pthread_create(&screen.thread, &small, watch, NULL) == 0;
    pthread_attr_destroy(&small);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static ssize_t write_result(void *unused, const char *bytes, size_t count) {
    (void)unused;
    cli_terminal_finish();
    size_t done = 0;
    for (ssize_t more = 1; done < count && more > 0; done += more > 0 ? (size_t)more : 0)
        more = write(STDOUT_FILENO, bytes + done, count - done);
    return (ssize_t)done;
}

/* Results on the same screen: whoever prints them, the line of progress is wiped first. */
static void guard_results(void) {
    if (!screen.terminal || !isatty(STDOUT_FILENO))
        return;
    FILE *guarded = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_result});
    if (guarded == NULL)
        return;
    setvbuf(guarded, NULL, _IOLBF, BUFSIZ);
    stdout = guarded;
}

void cli_terminal_attach(cli_call *call) {
    catch_interrupts(call->context);
    if (call->common.quiet)
        return;
    wt_context_set_log(call->context, show_remark, NULL);
    if (call->command->waits)
        return;
    screen.terminal = isatty(STDERR_FILENO);
    screen.command = call->command->name;
    screen.began = wt_clock();
    screen.due = screen.began + cli_terminal_plain_every;
    wt_context_set_progress(call->context, hear, NULL);
    guard_results();
    start_watching();
}

bool cli_lift_time(cli_call *call) {
    bool over = wt_context_out_of_time(call->context);
    (void)wt_context_set_time_limit(call->context, 0);
    return over;
}

void cli_terminal_finish(void) {
    pthread_mutex_lock(&screen.lock);
    wipe();
    screen.live = false;
    pthread_mutex_unlock(&screen.lock);
}

void cli_terminal_detach(void) {
    atomic_store(&interrupted_context, NULL);
    cli_terminal_finish();
    if (!screen.watched)
        return;
    pthread_mutex_lock(&screen.lock);
    screen.over = true;
    pthread_cond_signal(&screen.ended);
    pthread_mutex_unlock(&screen.lock);
    pthread_join(screen.thread, NULL);
    pthread_cond_destroy(&screen.ended);
    screen.watched = false;
}
