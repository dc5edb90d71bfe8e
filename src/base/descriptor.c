#define _POSIX_C_SOURCE 200809L
#include "base/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int wt_descriptor_move(int file) {
    if (file < 0 || file > STDERR_FILENO)
        return file;
    int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int reason = errno;
    close(file);
    errno = reason;
    return moved;
}
