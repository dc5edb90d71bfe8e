#define _GNU_SOURCE /* pipe2, SOCK_CLOEXEC */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/progress.h"

extern char **environ;

void wt_child_close(int *end) {
    if (*end >= 0)
        close(*end);
    *end = -1;
}

/* Ends of the program's streams in `theirs`, ours in the child. */
static wt_status open_streams(wt_context *context, const char *name, wt_child *child,
                              int theirs[3]) {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0) {
        theirs[0] = pair[0];
        child->input = pair[1];
        if (pipe2(pair, O_CLOEXEC) == 0) {
            child->output = pair[0];
            theirs[1] = pair[1];
            if (pipe2(pair, O_CLOEXEC) == 0) {
                child->errors = pair[0];
                theirs[2] = pair[1];
                return WT_OK;
            }
        }
    }
    return wt_fail(context, WT_IO, "no pipe to %s: %s", name, strerror(errno));
}

/* Returns the errno of what failed, or 0. */
static int spawn(const char *const *words, const int theirs[3], pid_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    for (int stream = 0; stream < 3 && failed == 0; stream++)
        failed = posix_spawn_file_actions_adddup2(&actions, theirs[stream], stream);
    if (failed == 0)
        failed = posix_spawnp(process, words[0], &actions, &attributes,
                              (char *const *)(uintptr_t)words, environ);
    if (failed != 0)
        *process = -1;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

wt_status wt_child_start(wt_context *context, const char *const *words, const char *name,
                         const char *install, wt_child *out) {
    int theirs[3] = {-1, -1, -1}, failed;
    wt_status status;
    *out = WT_NO_CHILD;
    WT_TRY(open_streams(context, name, out, theirs));
    failed = spawn(words, theirs, &out->process);
    if (install != NULL && (failed == ENOENT || failed == EACCES || failed == ENOTDIR))
        status = wt_fail(context, WT_UNAVAILABLE, "%s is not installed: %s", name, install);
    else if (failed != 0)
        status = wt_fail(context, WT_UNAVAILABLE, "%s does not start: %s", name, strerror(failed));
done:
    for (int stream = 0; stream < 3; stream++)
        wt_child_close(&theirs[stream]);
    if (status != WT_OK)
        wt_child_end(out);
    return status;
}

bool wt_child_send(const wt_child *child, const char *bytes, size_t length, size_t *sent) {
    ssize_t went = send(child->input, bytes + *sent, length - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (went < 0)
        return errno == EAGAIN || errno == EINTR;
    *sent += (size_t)went;
    return true;
}

void wt_child_take_errors(wt_child *child) {
    char piece[512];
    ssize_t got = read(child->errors, piece, sizeof piece);
    if (got == 0 || (got < 0 && errno != EINTR))
        wt_child_close(&child->errors);
    for (ssize_t i = 0; i < got && child->complaint_length + 1 < WT_COMPLAINT_BYTES; i++)
        child->complaint[child->complaint_length++] = piece[i];
    child->complaint[child->complaint_length] = '\0';
}

wt_child_state wt_child_wait(wt_child *child, double seconds, int *how) {
    double end = wt_clock() + seconds;
    pid_t gone;
    while ((gone = waitpid(child->process, how, WNOHANG)) == 0 || (gone < 0 && errno == EINTR)) {
        if (wt_clock() > end)
            return WT_CHILD_LIVES;
        poll(NULL, 0, 1);
    }
    kill(-child->process, SIGKILL);
    child->process = -1;
    return gone > 0 ? WT_CHILD_ENDED : WT_CHILD_LOST;
}

void wt_child_end(wt_child *child) {
    wt_child_close(&child->input);
    wt_child_close(&child->output);
    wt_child_close(&child->errors);
    if (child->process > 0) {
        kill(-child->process, SIGKILL);
        waitpid(child->process, NULL, 0);
    }
    child->process = -1;
}
