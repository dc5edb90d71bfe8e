/* What this machine is, in words. */
#define _DEFAULT_SOURCE /* _SC_PHYS_PAGES */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "wattle/program.h"

const char *wt_machine_processor(char *out) {
    char text[4096] = "";
    int file = wt_descriptor_move(open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC));
    ssize_t count = file < 0 ? 0 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[count > 0 ? count : 0] = '\0';
    const char *name = strstr(text, "model name"), *colon = name == NULL ? NULL : strchr(name, ':');
    snprintf(out, WT_PROCESSOR_TEXT, "unknown processor");
    if (colon == NULL)
        return out;
    name = colon + 1 + strspn(colon + 1, " \t");
    snprintf(out, WT_PROCESSOR_TEXT, "%.*s", (int)strcspn(name, "\n"), name);
    return out;
}

size_t wt_machine_processors(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 0 ? 0 : (size_t)count;
}

size_t wt_machine_memory(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    return pages < 0 || size < 0 ? 0 : (size_t)pages * (size_t)size;
}
