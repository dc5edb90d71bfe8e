/* A directory of its own for a test program, and files in it as plain bytes. */
#ifndef TESTS_IO_FILES_H
#define TESTS_IO_FILES_H

/* The including file defines _XOPEN_SOURCE 700 before anything else. */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "io/file.h"

#define FIXTURE(name) TEST_DATA "/fixtures/" name

static char test_directory[64];

/* Group set-up and tear-down: a context and an empty directory that anyone may enter. */
static inline int files_open(void **state) {
    snprintf(test_directory, sizeof test_directory, "/tmp/wattle-test-XXXXXX");
    if (mkdtemp(test_directory) == NULL || chmod(test_directory, 0755) != 0)
        return -1;
    return check_open(state);
}

/* Entries of the directory but "." and "..". */
static inline size_t files_left(void) {
    DIR *directory = opendir(test_directory);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(directory);
    return count;
}

static inline const char *file_path(const char *name) {
    static char paths[4][512]; /* a few at a time */
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", test_directory, name);
    return path;
}

static inline void files_clear(void) {
    DIR *directory = opendir(test_directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove(file_path(entry->d_name));
    closedir(directory);
}

static inline int files_close(void **state) {
    files_clear();
    rmdir(test_directory);
    return check_close(state);
}

/* All bytes of a file, to be freed. */
static inline uint8_t *file_bytes(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("%s cannot be opened", path);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *content = malloc(*bytes + 1);
    assert_non_null(content);
    assert_int_equal(fread(content, 1, *bytes, file), *bytes);
    fclose(file);
    return content;
}

static inline const char *file_make(const char *name, const void *content, size_t bytes) {
    const char *path = file_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, bytes, file), bytes);
    fclose(file);
    return path;
}

/* Opens and reads all values of all arrays; what `wattle info` does. */
static inline wt_status read_all(wt_context *context, const char *path) {
    wt_file *file;
    wt_status status = wt_file_open(context, path, &file);
    for (size_t i = 0; status == WT_OK && i < wt_file_count(file); i++) {
        wt_summary summary = WT_SIZED(wt_summary);
        status = wt_file_summarise(context, file, wt_file_at(file, i), &summary);
    }
    wt_file_free(file);
    return status;
}

/* A sentence: one line that names the file, with something after the name. */
static inline void check_sentence(wt_context *context, const char *path) {
    const char *message = wt_context_message(context);
    if (strstr(message, path) == NULL || strchr(message, '\n') != NULL ||
        strlen(message) < strlen(path) + 8)
        fail_msg("'%s' is no sentence about %s", message, path);
}

#endif
