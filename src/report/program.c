#define _GNU_SOURCE /* pipe2, SOCK_CLOEXEC */
#include "report/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/progress.h"

#define OUTPUT_MOST    ((size_t)256 << 20) /* no figure is larger */
#define COMPLAINT_MOST 400
#define LOOK_EVERY     100 /* milliseconds between looks at the clock and the cancel flag */

extern char **environ;

/* A running program and our ends of its three streams; -1 = closed. */
typedef struct {
    wt_context *context;
    const wt_program *program;
    pid_t process;
    int input, output, errors;
    size_t sent;
    char *text;
    size_t length, room;
    char complaint[COMPLAINT_MOST];
    size_t complaint_length;
} running;

static void close_end(int *end) {
    if (*end >= 0)
        close(*end);
    *end = -1;
}

/* Ends of the program's streams in `theirs`, ours in the run. Its input is a socket, for a write
 * to a dead program must be an error there and no signal to the caller's process. */
static wt_status open_streams(running *run, int theirs[3]) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
        theirs[0] = pair[0];
        run->input = pair[1];
        if (pipe2(pair, O_CLOEXEC) == 0) {
            run->output = pair[0];
            theirs[1] = pair[1];
            if (pipe2(pair, O_CLOEXEC) == 0) {
                run->errors = pair[0];
                theirs[2] = pair[1];
                return WT_OK;
            }
        }
    }
    return wt_fail(run->context, WT_IO, "no pipe to %s: %s", run->program->words[0],
                   strerror(errno));
}

static wt_status start(running *run, const int theirs[3]) {
    const char *name = run->program->words[0];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    /* A group of its own: Ctrl-C is ours to handle, and its children end with it. */
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    int failed = 0;
    for (int stream = 0; stream < 3 && failed == 0; stream++)
        failed = posix_spawn_file_actions_adddup2(&actions, theirs[stream], stream);
    if (failed == 0)
        failed = posix_spawnp(&run->process, name, &actions, &attributes,
                              (char *const *)(uintptr_t)run->program->words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed == 0)
        return WT_OK;
    run->process = -1;
    if (failed == ENOENT || failed == EACCES || failed == ENOTDIR)
        return wt_fail(run->context, WT_UNAVAILABLE, "%s is not installed: %s", name,
                       run->program->install);
    return wt_fail(run->context, WT_UNAVAILABLE, "%s does not start: %s", name, strerror(failed));
}

static void send_input(running *run) {
    size_t left = run->program->input_bytes - run->sent;
    ssize_t sent = left == 0 ? 0
                             : send(run->input, run->program->input + run->sent, left,
                                    MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0)
        run->sent += (size_t)sent;
    bool dead = sent < 0 && errno != EAGAIN && errno != EINTR;
    if (run->sent == run->program->input_bytes || dead)
        close_end(&run->input);
}

static wt_status make_room(running *run) {
    if (run->room - run->length > 65536)
        return WT_OK;
    if (run->length > OUTPUT_MOST)
        return wt_fail(run->context, WT_UNAVAILABLE, "%s writes without end",
                       run->program->words[0]);
    char *larger;
    size_t room = 2 * run->room + 131072;
    wt_status status = WT_NEW(run->context, &larger, room, "the figure");
    if (status != WT_OK)
        return status;
    if (run->length > 0)
        memcpy(larger, run->text, run->length);
    wt_release(run->text);
    run->text = larger;
    run->room = room;
    return WT_OK;
}

static wt_status take_output(running *run) {
    wt_status status = make_room(run);
    if (status != WT_OK)
        return status;
    ssize_t got = read(run->output, run->text + run->length, run->room - run->length - 1);
    if (got > 0)
        run->length += (size_t)got;
    else if (got == 0 || errno != EINTR)
        close_end(&run->output);
    return WT_OK;
}

static void take_errors(running *run) {
    char piece[512];
    ssize_t got = read(run->errors, piece, sizeof piece);
    if (got == 0 || (got < 0 && errno != EINTR))
        close_end(&run->errors);
    for (ssize_t i = 0; i < got && run->complaint_length + 1 < COMPLAINT_MOST; i++)
        run->complaint[run->complaint_length++] = piece[i];
}

/* Feeds and reads until the program has closed its output. */
static wt_status talk(running *run) {
    double end = wt_clock() + run->program->seconds;
    while (run->output >= 0 || run->errors >= 0) {
        struct pollfd ends[] = {{.fd = run->input, .events = POLLOUT},
                                {.fd = run->output, .events = POLLIN},
                                {.fd = run->errors, .events = POLLIN}};
        poll(ends, 3, LOOK_EVERY);
        wt_status status = wt_check_cancelled(run->context);
        if (status != WT_OK)
            return status;
        if (wt_clock() > end)
            return wt_fail(run->context, WT_UNAVAILABLE, "%s hangs: ended after %g seconds",
                           run->program->words[0], run->program->seconds);
        if (run->input >= 0 && ends[0].revents != 0)
            send_input(run);
        if (run->output >= 0 && ends[1].revents != 0 && (status = take_output(run)) != WT_OK)
            return status;
        if (run->errors >= 0 && ends[2].revents != 0)
            take_errors(run);
    }
    return WT_OK;
}

/* The complaint's first line that says something, in one line. gnuplot quotes its input with a
 * caret below before it says what is wrong. */
static const char *first_words(running *run) {
    run->complaint[run->complaint_length] = '\0';
    char *best = NULL;
    for (char *line = run->complaint, *next; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        line += strspn(line, " \t^");
        if (*line != '\0' && best == NULL)
            best = line;
        if (strncmp(line, "line ", 5) == 0)
            return line;
    }
    return best == NULL ? "it says nothing" : best;
}

/* Waits for the program, whose streams are closed, and judges how it ended. */
static wt_status finish(running *run) {
    const char *name = run->program->words[0];
    int how = 0;
    pid_t done;
    double end = wt_clock() + run->program->seconds;
    while ((done = waitpid(run->process, &how, WNOHANG)) == 0 || (done < 0 && errno == EINTR)) {
        if (wt_clock() > end)
            return wt_fail(run->context, WT_UNAVAILABLE, "%s hangs: ended after %g seconds", name,
                           run->program->seconds);
        poll(NULL, 0, 1);
    }
    run->process = -1;
    if (done < 0)
        return wt_fail(run->context, WT_IO, "%s was lost: %s", name, strerror(errno));
    if (WIFSIGNALED(how))
        return wt_fail(run->context, WT_UNAVAILABLE, "%s died of signal %d", name, WTERMSIG(how));
    if (WEXITSTATUS(how) != 0)
        return wt_fail(run->context, WT_UNAVAILABLE, "%s failed: %s", name, first_words(run));
    if (run->sent < run->program->input_bytes)
        return wt_fail(run->context, WT_UNAVAILABLE, "%s stopped reading: %s", name,
                       first_words(run));
    return WT_OK;
}

wt_status wt_program_run(wt_context *context, const wt_program *program, char **out,
                         size_t *bytes) {
    *out = NULL;
    *bytes = 0;
    running run = {.context = context,
                   .program = program,
                   .process = -1,
                   .input = -1,
                   .output = -1,
                   .errors = -1};
    int theirs[3] = {-1, -1, -1};
    wt_status status;
    WT_TRY(make_room(&run));
    WT_TRY(open_streams(&run, theirs));
    WT_TRY(start(&run, theirs));
    for (int stream = 0; stream < 3; stream++)
        close_end(&theirs[stream]);
    WT_TRY(talk(&run));
    close_end(&run.input);
    WT_TRY(finish(&run));
    run.text[run.length] = '\0';
    *out = run.text;
    *bytes = run.length;
    run.text = NULL;
done:
    if (run.process > 0) {
        kill(-run.process, SIGKILL);
        waitpid(run.process, NULL, 0);
    }
    for (int stream = 0; stream < 3; stream++)
        close_end(&theirs[stream]);
    close_end(&run.input);
    close_end(&run.output);
    close_end(&run.errors);
    wt_release(run.text);
    return status;
}
