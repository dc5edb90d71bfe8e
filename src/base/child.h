/* An outside program with our ends of its three streams. */
#ifndef WT_BASE_CHILD_H
#define WT_BASE_CHILD_H

#include <sys/types.h>

#include "base/context.h"

/* Milliseconds between looks at the clock and the cancel flag while one waits for a program. */
#define WT_CHILD_LOOK 100

enum { WT_COMPLAINT_BYTES = 400 };

typedef struct wt_child {
    pid_t process;      /* -1 = none, or seen to end */
    pid_t guard;        /* leads its group, and ends it should this process die; -1 = none */
    int life;           /* our end of the guard's pipe: open while we live */
    int input;          /* a socket: a write to a dead program is an error here, and no signal */
    int output, errors; /* pipes; -1 = closed, here and in input */
    char complaint[WT_COMPLAINT_BYTES]; /* the first of what it wrote to its errors */
    size_t complaint_length;
} wt_child;

/* No program: what wt_child_end accepts. */
#define WT_NO_CHILD                                                                                \
    ((wt_child){.process = -1, .guard = -1, .life = -1, .input = -1, .output = -1, .errors = -1})

/* Starts a program, found by PATH, in a group of its own: Ctrl-C is the caller's to handle, and
 * what the program starts ends with it, at the latest when this process ends, by whatever signal.
 * `words` ends with NULL, `name` stands in sentences, `install` tells how to get it (NULL = not
 * known). WT_UNAVAILABLE when it is missing or does not start. */
wt_status wt_child_start(wt_context *context, const char *const *words, const char *name,
                         const char *install, wt_child *out);
/* Sends some of the bytes from *sent on without waiting; false when the program reads no more. */
bool wt_child_send(const wt_child *child, const char *bytes, size_t length, size_t *sent);
/* Reads some of its errors into the complaint, and closes them at their end. */
void wt_child_take_errors(wt_child *child);
/* Closes an end of a stream; -1 is closed already. */
void wt_child_close(int *end);
typedef enum wt_child_state { WT_CHILD_LIVES, WT_CHILD_ENDED, WT_CHILD_LOST } wt_child_state;
/* Waits at most so long for the program to end, *how as of waitpid, and takes its errors meanwhile;
 * what it started and left is killed then. Lost when somebody else in this process has waited for
 * it. */
wt_child_state wt_child_wait(wt_child *child, double seconds, int *how);
/* Closes all ends; kills the program and all it started, if it lives. */
void wt_child_end(wt_child *child);

#endif
