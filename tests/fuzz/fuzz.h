/* What the fuzz targets share: the bytes are opened as a file and all values are walked.
 *
 * Beside crashes, leaks and sanitizer findings these must hold: a failure is WT_DATA with a
 * sentence in one line of UTF-8, and the memory the library asks for stays within MOST_MEMORY. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H
#define _GNU_SOURCE /* memfd_create */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/context.h"
#include "base/text.h"
#include "io/file.h"

#define MOST_MEMORY (64 << 20)
#define MOST_VALUES (4 << 20) /* walked in one run: a small archive may inflate to very many */

#define FUZZ_REQUIRE(condition, message)                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "broken: %s: %s\n", #condition, message);                              \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static inline wt_status fuzz_walk(wt_context *context, const wt_file *file) {
    size_t values = 0;
    wt_status status = WT_OK;
    for (size_t i = 0; status == WT_OK && i < wt_file_count(file); i++) {
        const wt_array *array = wt_file_at(file, i);
        wt_summary summary = WT_SIZED(wt_summary);
        FUZZ_REQUIRE(wt_file_find(file, array->name) == array, array->name);
        FUZZ_REQUIRE(wt_utf8_valid(array->name), "name");
        if (array->count > MOST_VALUES - values)
            continue;
        values += array->count;
        status = wt_file_summarise(context, file, array, &summary);
        if (status == WT_OK)
            FUZZ_REQUIRE(summary.finite + summary.nan + summary.inf == array->count, array->name);
    }
    return status;
}

/* Reading in C order exercises the transposition of Fortran order as well. */
static inline void fuzz_read(wt_context *context, const wt_file *file) {
    for (size_t i = 0; i < wt_file_count(file); i++) {
        const wt_array *array = wt_file_at(file, i);
        if (array->count > 1 << 16)
            continue;
        double *values = malloc((array->count + 1) * sizeof *values);
        FUZZ_REQUIRE(values != NULL, "no memory");
        wt_status status = wt_file_read(context, file, array, values);
        FUZZ_REQUIRE(status == WT_OK || status == WT_DATA, wt_context_message(context));
        free(values);
    }
}

static inline int fuzz_file(const char *format, const uint8_t *data, size_t bytes) {
    wt_context *context;
    if (wt_context_new(&context) != WT_OK)
        return 0;
    char path[64];
    int memory = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_REQUIRE(memory >= 0 && write(memory, data, bytes) == (ssize_t)bytes, "no file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    wt_file *file;
    wt_status status = wt_file_open(context, path, &file);
    if (status == WT_OK && strcmp(wt_file_format(file), format) == 0) {
        status = fuzz_walk(context, file);
        if (status == WT_OK)
            fuzz_read(context, file);
    }
    wt_file_free(file);
    close(memory);
    const char *message = wt_context_message(context);
    FUZZ_REQUIRE(status == WT_OK || status == WT_DATA, message);
    FUZZ_REQUIRE(status == WT_OK || strncmp(message, path, strlen(path)) == 0, message);
    FUZZ_REQUIRE(strchr(message, '\n') == NULL && wt_utf8_valid(message), message);
    FUZZ_REQUIRE(wt_context_memory_used(context) == 0, "memory is left");
    FUZZ_REQUIRE(wt_context_memory_peak(context) <= MOST_MEMORY, "memory");
    wt_context_free(context);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#endif
