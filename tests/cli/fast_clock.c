/* Loaded before the command (LD_PRELOAD): its clock of intervals runs a million times too fast, so
 * that all it does takes long, on any machine. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *out) {
    long code = syscall(SYS_clock_gettime, clock, out);
    if (code == 0 && clock == CLOCK_MONOTONIC) {
        out->tv_sec = 1000000 * out->tv_sec + out->tv_nsec / 1000;
        out->tv_nsec = out->tv_nsec % 1000 * 1000000;
    }
    return (int)code;
}
