/* A folder of its own for a test program, which goes with all that is in it. */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

/* The including file defines _GNU_SOURCE before anything else. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static char folder[] = "/tmp/wattle-test-XXXXXX";

/* Group set-up and tear-down: a context and the folder. */
static inline int open_folder(void **state) {
    return mkdtemp(folder) == NULL ? -1 : check_open(state);
}

static inline int close_folder(void **state) {
    char line[64];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line) == 0 ? check_close(state) : -1;
}

/* Good until the next call. */
static inline const char *in_folder(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static inline void write_bytes(const char *name, const void *bytes, size_t count) {
    FILE *file = fopen(in_folder(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *name, const char *text) {
    write_bytes(name, text, strlen(text));
}

#endif
