#define _GNU_SOURCE /* F_OFD_SETLK */
#include "io/beside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/memory.h"
#include "base/text.h"
#include "wattle/random.h"

enum { NAME_BYTES = 64, SLOTS = 10000, SWEPT = 8, TRIES = 100, SHOWN_BYTES = 256 };

size_t wt_directory_bytes(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* The directory of the target with room for a name; *name is where that goes. */
static wt_status new_path(wt_context *context, const char *target, char **out, char **name) {
    size_t directory = wt_directory_bytes(target);
    WT_PASS(WT_NEW(context, out, directory + NAME_BYTES, "the path of a file"));
    memcpy(*out, target, directory);
    *name = *out + directory;
    return WT_OK;
}

static uint64_t hash_of(const char *target) {
    return wt_seed_for(0, target + wt_directory_bytes(target), 0);
}

static bool lock(int file) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(file, F_OFD_SETLK, &whole) == 0;
}

static bool lock_is_held(int reason) {
    return reason == EAGAIN || reason == EACCES;
}

/* Whether the open file has a name still: who had the lock before may have removed it. */
static bool is_there(int file) {
    struct stat about;
    return fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink > 0;
}

/* Whether it has that name: it may be a target by now, and the name a live run's. */
static bool is_named(int file, const char *path) {
    struct stat here, there;
    return fstat(file, &here) == 0 && S_ISREG(here.st_mode) && lstat(path, &there) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* Removes the file if nobody holds it; whether the name is free then. While we have the lock, no
 * other run of ours takes the name for another file. */
static bool sweep(const char *path) {
    int file = wt_descriptor_move(open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file < 0)
        return errno == ENOENT;
    bool gone = lock(file) && is_named(file, path) && unlink(path) == 0;
    close(file);
    return gone;
}

/* A new file of that name with the lock on it; -1 with errno, which is EEXIST when it is taken. */
static int make_new(const char *path) {
    for (int i = 0; i < TRIES; i++) {
        int file = wt_descriptor_move(open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
        if (file < 0 && errno != EEXIST)
            return -1;
        if (file < 0 && !sweep(path))
            break;
        if (file < 0)
            continue;
        /* Before it had the lock it looked like one that was left. Where the file system has no
         * locks nobody gets one, and nothing is taken for left. */
        bool held = lock(file) || !lock_is_held(errno);
        if (held && is_there(file))
            return file;
        close(file);
    }
    errno = EEXIST;
    return -1;
}

static void name_slot(char *name, const char *target, int slot) {
    snprintf(name, NAME_BYTES, ".wattle-%016" PRIx64 "-%d.tmp", hash_of(target), slot);
}

wt_status wt_beside_temporary(wt_context *context, const char *target, char **path, int *file) {
    char *name;
    int mine = 0;
    *path = NULL;
    *file = -1;
    WT_PASS(new_path(context, target, path, &name));
    for (; mine < SLOTS; mine++) { /* each is that of a live run, or free */
        name_slot(name, target, mine);
        *file = make_new(*path);
        if (*file >= 0 || errno != EEXIST)
            break;
    }
    if (*file < 0) {
        int reason = errno;
        wt_release(*path);
        *path = NULL;
        errno = reason;
        return WT_OK;
    }
    for (int slot = mine + 1; slot < SWEPT; slot++) {
        name_slot(name, target, slot);
        (void)sweep(*path);
    }
    name_slot(name, target, mine);
    return WT_OK;
}

struct wt_lock {
    int file;
    char *path;
};

/* Opens and locks the file of that name, new or left by a run that was killed. */
static int take(const char *path) {
    for (int i = 0; i < TRIES; i++) {
        int file = wt_descriptor_move(
            open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666));
        if (file < 0)
            return -1;
        bool held = lock(file);
        int reason = held || !lock_is_held(errno) ? errno : EAGAIN;
        if (held && is_there(file))
            return file;
        close(file);
        errno = reason;
        if (!held)
            return -1;
    }
    errno = EEXIST;
    return -1;
}

static wt_status fail_hold(wt_context *context, const char *target, const char *path) {
    char shown[SHOWN_BYTES], beside[SHOWN_BYTES];
    int reason = errno;
    wt_quote(target, shown, sizeof shown);
    if (reason == EAGAIN)
        return wt_fail(context, WT_CANNOT_CREATE,
                       "%s: another run is writing to it; it has one writer at a time", shown);
    return wt_fail(context, WT_CANNOT_CREATE, "%s: its lock %s cannot be taken: %s", shown,
                   wt_quote(path, beside, sizeof beside), strerror(reason));
}

wt_status wt_lock_open(wt_context *context, const char *target, wt_lock **out) {
    wt_lock *hold = NULL;
    char *real = NULL, *name;
    wt_status status;
    *out = NULL;
    WT_TRY(WT_NEW_ZERO(context, &hold, 1, "a lock"));
    hold->file = -1;
    real = realpath(target, NULL); /* a link and what it leads to are one */
    const char *found = real == NULL ? target : real;
    WT_TRY(new_path(context, found, &hold->path, &name));
    snprintf(name, NAME_BYTES, ".wattle-%016" PRIx64 ".lock", hash_of(found));
    hold->file = take(hold->path);
    if (hold->file < 0) {
        status = fail_hold(context, target, hold->path);
        goto done;
    }
    *out = hold;
    hold = NULL;
done:
    free(real);
    wt_lock_free(hold);
    return status;
}

void wt_lock_free(wt_lock *hold) {
    if (hold == NULL)
        return;
    if (hold->file >= 0) {
        unlink(hold->path); /* before the lock goes: afterwards it may be another's */
        close(hold->file);
    }
    wt_release(hold->path);
    wt_release(hold);
}
