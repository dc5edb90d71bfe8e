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

#include "base/context.h"
#include "base/descriptor.h"

/* Seconds for the kernel to end what was killed; no wait is without end. */
#define LAST 5.0

extern char **environ;

void wt_child_close(int *end) {
    if (*end >= 0)
        close(*end);
    *end = -1;
}

/* Both ends above the streams; false with errno. */
static bool make_ends(bool two_way, int *one, int *other) {
    int pair[2];
    if ((two_way ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)
                 : pipe2(pair, O_CLOEXEC)) != 0)
        return false;
    *one = wt_descriptor_move(pair[0]);
    *other = wt_descriptor_move(pair[1]);
    return *one >= 0 && *other >= 0;
}

/* Ends of the program's streams in `theirs`, then the guard's; ours in the child. */
enum { STREAMS = 3, GUARD = 3, ENDS };
static wt_status open_streams(wt_context *context, const char *name, wt_child *child,
                              int theirs[ENDS]) {
    if (make_ends(true, &theirs[0], &child->input) &&
        make_ends(false, &child->output, &theirs[1]) &&
        make_ends(false, &child->errors, &theirs[2]) &&
        make_ends(false, &theirs[GUARD], &child->life))
        return WT_OK;
    return wt_fail(context, WT_IO, "no pipe to %s: %s", name, strerror(errno));
}

/* Starts a program with `streams[i]` as its stream i, -1 = closed, in the group, or one of its own
 * where that is 0. Returns the errno of what failed, or 0. */
static int spawn(const char *const *words, const int streams[STREAMS], pid_t group,
                 pid_t *process) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int failed = 0;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setpgroup(&attributes, group);
    for (int stream = 0; stream < STREAMS && failed == 0; stream++)
        failed = streams[stream] < 0
                     ? posix_spawn_file_actions_addclose(&actions, stream)
                     : posix_spawn_file_actions_adddup2(&actions, streams[stream], stream);
    if (failed == 0)
        failed = posix_spawnp(process, words[0], &actions, &attributes,
                              (char *const *)(uintptr_t)words, environ);
    if (failed != 0)
        *process = -1;
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

/* The guard leads the group before the program is in it, and kills it when our end of its pipe is
 * closed, which the kernel does however we end: by SIGKILL too, and with all that the program has
 * started, where a signal at the death of a parent (PR_SET_PDEATHSIG) would reach the program
 * alone, and come when the thread that started it ends. */
static int start_guard(int end, pid_t *out) {
    static const char *const words[] = {"/bin/sh", "-c",
                                        "trap '' HUP INT QUIT TERM; read line; kill -KILL 0", NULL};
    return spawn(words, (const int[STREAMS]){end, -1, -1}, 0, out);
}

wt_status wt_child_start(wt_context *context, const char *const *words, const char *name,
                         const char *install, wt_child *out) {
    int theirs[ENDS] = {-1, -1, -1, -1}, failed;
    wt_status status;
    *out = WT_NO_CHILD;
    WT_TRY(open_streams(context, name, out, theirs));
    failed = start_guard(theirs[GUARD], &out->guard);
    if (failed != 0) {
        status = wt_fail(context, WT_UNAVAILABLE, "no shell to watch over %s: %s", name,
                         strerror(failed));
        goto done;
    }
    failed = spawn(words, theirs, out->guard, &out->process);
    if (install != NULL && (failed == ENOENT || failed == EACCES || failed == ENOTDIR))
        status = wt_fail(context, WT_UNAVAILABLE, "%s is not installed: %s", name, install);
    else if (failed != 0)
        status = wt_fail(context, WT_UNAVAILABLE, "%s does not start: %s", name, strerror(failed));
done:
    for (int end = 0; end < ENDS; end++)
        wt_child_close(&theirs[end]);
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

/* Hears its errors for so long; whether there were any. */
static bool hear(wt_child *child, int milliseconds) {
    struct pollfd errors = {.fd = child->errors, .events = POLLIN}; /* -1: a pause alone */
    bool heard = poll(&errors, 1, milliseconds) > 0;
    if (heard)
        wt_child_take_errors(child);
    return heard;
}

static wt_child_state wait_for(wt_child *child, pid_t process, double seconds, int *how) {
    double end = wt_clock() + seconds;
    pid_t gone;
    while ((gone = waitpid(process, how, WNOHANG)) == 0 || (gone < 0 && errno == EINTR)) {
        if (wt_clock() > end)
            return WT_CHILD_LIVES;
        (void)hear(child, 1);
    }
    return gone > 0 ? WT_CHILD_ENDED : WT_CHILD_LOST;
}

/* Kills the group, and waits for the guard last: until then its number is the group's. */
static void end_group(wt_child *child) {
    int how;
    if (child->guard > 0) {
        kill(-child->guard, SIGKILL);
        (void)wait_for(child, child->guard, LAST, &how);
    }
    child->guard = -1;
    wt_child_close(&child->life);
}

wt_child_state wt_child_wait(wt_child *child, double seconds, int *how) {
    wt_child_state state = wait_for(child, child->process, seconds, how);
    if (state == WT_CHILD_LIVES)
        return state;
    child->process = -1;
    end_group(child);
    while (child->complaint_length + 1 < WT_COMPLAINT_BYTES && hear(child, 0))
        continue; /* what it said last */
    return state;
}

void wt_child_end(wt_child *child) {
    int how;
    wt_child_close(&child->input);
    wt_child_close(&child->output);
    wt_child_close(&child->errors);
    if (child->process > 0) {
        kill(child->process, SIGKILL); /* it may have left its group */
        (void)wait_for(child, child->process, LAST, &how);
    }
    child->process = -1;
    end_group(child);
}
