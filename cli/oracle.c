#define _GNU_SOURCE /* pipe2, SOCK_CLOEXEC */
#include "oracle.h"

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
#include "io/quote.h"

#define LOOK_EVERY 100 /* milliseconds between looks at the clock and the cancel flag */
#define LEAVE      2.0 /* seconds to end by itself once its input is closed */
#define DYING      0.2 /* seconds between closing the output and being gone */

extern char **environ;

static void close_end(int *end) {
    if (*end >= 0)
        close(*end);
    *end = -1;
}

/* Ends of the program's streams in `theirs`. Its input is a socket, for a write to a dead program
 * must be an error here and no signal. */
static wt_status open_streams(cli_oracle *oracle, int theirs[3]) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
        theirs[0] = pair[0];
        oracle->input = pair[1];
        if (pipe2(pair, O_CLOEXEC) == 0) {
            oracle->lines.file = pair[0];
            theirs[1] = pair[1];
            if (pipe2(pair, O_CLOEXEC) == 0) {
                oracle->errors = pair[0];
                theirs[2] = pair[1];
                return WT_OK;
            }
        }
    }
    return wt_fail(oracle->context, WT_IO, "no pipe to the oracle: %s", strerror(errno));
}

static wt_status start(cli_oracle *oracle, const char *command, const int theirs[3]) {
    const char *words[] = {"sh", "-c", command, NULL};
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
        failed = posix_spawnp(&oracle->process, "sh", &actions, &attributes,
                              (char *const *)(uintptr_t)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed == 0)
        return WT_OK;
    oracle->process = -1;
    return wt_fail(oracle->context, WT_UNAVAILABLE, "the oracle does not start: %s",
                   strerror(failed));
}

static void take_errors(cli_oracle *oracle) {
    char piece[512];
    ssize_t got = read(oracle->errors, piece, sizeof piece);
    if (got == 0 || (got < 0 && errno != EINTR))
        close_end(&oracle->errors);
    for (ssize_t i = 0; i < got && oracle->complaint_length + 1 < CLI_COMPLAINT_BYTES; i++)
        oracle->complaint[oracle->complaint_length++] = piece[i];
}

/* Waits for its end, at most so long; false when it lives on. */
static bool reap(cli_oracle *oracle, double seconds, int *how) {
    double end = wt_clock() + seconds;
    pid_t gone;
    while ((gone = waitpid(oracle->process, how, WNOHANG)) == 0 || (gone < 0 && errno == EINTR)) {
        if (wt_clock() > end)
            return false;
        poll(NULL, 0, 1);
    }
    oracle->process = -1;
    return true;
}

/* The first line of what it complained of. */
static const char *complaint(cli_oracle *oracle, char *shown, size_t bytes) {
    char *text = oracle->complaint;
    text[oracle->complaint_length] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return *text == '\0' ? "it says nothing" : wt_quote(text, shown, bytes);
}

/* Its output has ended before an answer. */
static wt_status died(cli_oracle *oracle) {
    char shown[WT_QUOTED_BYTES];
    int how = 0;
    while (oracle->errors >= 0) {
        struct pollfd end = {.fd = oracle->errors, .events = POLLIN};
        if (poll(&end, 1, LOOK_EVERY) <= 0)
            break;
        take_errors(oracle);
    }
    pid_t group = oracle->process;
    bool gone = reap(oracle, DYING, &how);
    if (gone)
        kill(-group, SIGKILL); /* what it started and left */
    const char *words = complaint(oracle, shown, sizeof shown);
    const char *plural = oracle->answers == 1 ? "" : "s";
    if (!gone)
        return wt_fail(oracle->context, WT_UNAVAILABLE,
                       "the oracle closed its output after %zu answer%s: %s", oracle->answers,
                       plural, words);
    if (WIFSIGNALED(how))
        return wt_fail(oracle->context, WT_UNAVAILABLE,
                       "the oracle died of signal %d after %zu answer%s: %s", WTERMSIG(how),
                       oracle->answers, plural, words);
    return wt_fail(oracle->context, WT_UNAVAILABLE,
                   "the oracle ended with exit code %d after %zu answer%s: %s", WEXITSTATUS(how),
                   oracle->answers, plural, words);
}

/* Sends what is left of the question; false when the other end is gone. */
static bool send_some(const cli_oracle *oracle, size_t length, size_t *sent) {
    ssize_t went =
        send(oracle->input, oracle->question + *sent, length - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (went < 0)
        return errno == EAGAIN || errno == EINTR;
    *sent += (size_t)went;
    return true;
}

/* Sends the question of so many bytes and waits for a line. */
static wt_status talk(cli_oracle *oracle, size_t length, const char **line, size_t *line_length) {
    double end = wt_clock() + oracle->seconds;
    size_t sent = 0;
    bool ended = false, deaf = false;
    while (!cli_lines_take(&oracle->lines, false, line, line_length)) {
        struct pollfd ends[] = {
            {.fd = sent < length && !deaf ? oracle->input : -1, .events = POLLOUT},
            {.fd = oracle->lines.file, .events = POLLIN},
            {.fd = oracle->errors, .events = POLLIN}};
        poll(ends, 3, LOOK_EVERY);
        wt_status status = wt_check_cancelled(oracle->context);
        if (status != WT_OK)
            return status;
        if (ends[0].revents != 0)
            deaf = !send_some(oracle, length, &sent);
        if (ends[2].revents != 0)
            take_errors(oracle);
        if (ends[1].revents != 0)
            status = cli_lines_read(oracle->context, &oracle->lines, &ended);
        if (status == WT_DATA)
            return wt_fail(oracle->context, WT_UNAVAILABLE, "the oracle writes without end");
        if (status != WT_OK)
            return status;
        if (ended)
            return died(oracle);
        if (wt_clock() > end)
            return wt_fail(oracle->context, WT_UNAVAILABLE,
                           "the oracle hangs: no answer to question %zu within %g s",
                           oracle->answers + 1, oracle->seconds);
    }
    return WT_OK;
}

static wt_status write_question(cli_oracle *oracle, size_t k, const double *x, size_t *length) {
    size_t bytes = k * (oracle->dim * CLI_NUMBER_BYTES + 4) + 8;
    if (bytes > oracle->question_room) {
        wt_release(oracle->question);
        oracle->question_room = 0;
        wt_status status = WT_NEW(oracle->context, &oracle->question, bytes, "a question");
        if (status != WT_OK)
            return status;
        oracle->question_room = bytes;
    }
    *length = cli_format_matrix(k, oracle->dim, x, oracle->question);
    return WT_OK;
}

/* The answer as *y (*count), to be released. */
static wt_status exchange(cli_oracle *oracle, size_t k, const double *x, size_t *count,
                          double **y) {
    const char *line;
    size_t length;
    wt_status status;
    *y = NULL;
    WT_TRY(write_question(oracle, k, x, &length));
    WT_TRY(talk(oracle, length, &line, &length));
    status = cli_parse_list(oracle->context, line, length, count, y);
    if (status == WT_DATA) {
        char start[41], shown[WT_QUOTED_BYTES], why[WT_MESSAGE_BYTES];
        snprintf(start, sizeof start, "%.*s", (int)(length < 40 ? length : 40), line);
        snprintf(why, sizeof why, "%s", wt_context_message(oracle->context));
        status = wt_fail(oracle->context, WT_UNAVAILABLE,
                         "the oracle's answer %zu is no list of numbers (%s): '%s'",
                         oracle->answers + 1, why, wt_quote(start, shown, sizeof shown));
    }
    WT_TRY(status);
    oracle->answers++;
done:
    oracle->broken = status != WT_OK;
    return status;
}

static wt_status ask_first(cli_oracle *oracle) {
    double *unit = NULL;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(oracle->context, &unit, oracle->dim, "a question"));
    unit[0] = 1;
    WT_TRY(exchange(oracle, 1, unit, &oracle->outputs, &oracle->first));
    if (oracle->outputs == 0)
        status = wt_fail(oracle->context, WT_UNAVAILABLE, "the oracle's answer 1 has no number");
done:
    wt_release(unit);
    return status;
}

wt_status cli_oracle_open(wt_context *context, const char *command, size_t dim, double seconds,
                          cli_oracle *out) {
    int theirs[3] = {-1, -1, -1};
    wt_status status;
    *out = (cli_oracle){.context = context,
                        .seconds = seconds,
                        .dim = dim,
                        .process = -1,
                        .input = -1,
                        .errors = -1,
                        .lines = {.file = -1}};
    WT_TRY(open_streams(out, theirs));
    WT_TRY(start(out, command, theirs));
    for (int stream = 0; stream < 3; stream++)
        close_end(&theirs[stream]);
    WT_TRY(ask_first(out));
done:
    for (int stream = 0; stream < 3; stream++)
        close_end(&theirs[stream]);
    if (status != WT_OK)
        cli_oracle_close(out);
    return status;
}

void cli_oracle_close(cli_oracle *oracle) {
    int how;
    if (oracle->context == NULL)
        return;
    close_end(&oracle->input);
    close_end(&oracle->lines.file);
    close_end(&oracle->errors);
    pid_t group = oracle->process;
    if (group > 0) {
        bool gone = !oracle->broken && reap(oracle, LEAVE, &how);
        kill(-group, SIGKILL);
        if (!gone)
            waitpid(group, &how, 0);
    }
    oracle->process = -1;
    cli_lines_free(&oracle->lines);
    wt_release(oracle->question);
    wt_release(oracle->first);
    oracle->context = NULL;
}

static bool is_first(const cli_oracle *oracle, size_t k, const double *x) {
    for (size_t i = 0; k == 1 && i < oracle->dim; i++)
        if (x[i] != (i == 0 ? 1 : 0))
            return false;
    return k == 1;
}

wt_status cli_oracle_ask(void *user, size_t k, const double *x, double *y) {
    cli_oracle *oracle = user;
    double *answer = NULL;
    size_t count;
    wt_status status = WT_OK;
    if (oracle->first != NULL && is_first(oracle, k, x)) {
        answer = oracle->first;
        oracle->first = NULL;
    } else {
        WT_TRY(exchange(oracle, k, x, &count, &answer));
        if (count != oracle->outputs) {
            status =
                wt_fail(oracle->context, WT_UNAVAILABLE,
                        "the oracle's answer %zu has %zu %s, not %zu as the first", oracle->answers,
                        count, count == 1 ? "number" : "numbers", oracle->outputs);
            goto done;
        }
    }
    memcpy(y, answer, oracle->outputs * sizeof *y);
done:
    wt_release(answer);
    return status;
}
