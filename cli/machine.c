#define _DEFAULT_SOURCE /* _SC_PHYS_PAGES */
#include "machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *cli_cpu_model(char *out) {
    snprintf(out, CLI_CPU_TEXT, "unknown processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL)
        return out;
    char line[512];
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL) {
            const char *name = strchr(line, ':') + 1;
            name += strspn(name, " \t");
            snprintf(out, CLI_CPU_TEXT, "%.*s", (int)strcspn(name, "\n"), name);
            break;
        }
    fclose(file);
    return out;
}

size_t cli_processors(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 0 ? 0 : (size_t)count;
}

size_t cli_memory_bytes(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    return pages < 0 || size < 0 ? 0 : (size_t)pages * (size_t)size;
}
