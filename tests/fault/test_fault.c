/* Every command line of commands.txt while the k-th allocation or write fails, for growing k until
 * nothing fails, and on a full disk. A failure must end with a documented exit code, one sentence
 * and no file that is not whole; under the sanitizers also without a leak. */
#define _GNU_SOURCE
#include <dirent.h>
#include <jansson.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "cli/run.h"

enum { LINES = 200, LINE_BYTES = 512, MOST_FAULTS = 100000 };

static char lines[LINES][LINE_BYTES];
static bool line_is_long[LINES];
static size_t line_count;
static char folder[] = "/tmp/wattle-fault-XXXXXX";

static int read_lines(void **state) {
    (void)state;
    FILE *file = fopen(TEST_DATA "/fault/commands.txt", "r");
    if (file == NULL || mkdtemp(folder) == NULL)
        return -1;
    while (line_count < LINES && fgets(lines[line_count], LINE_BYTES, file) != NULL) {
        char *line = lines[line_count];
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0')
            continue;
        line_is_long[line_count] = line[0] == '*';
        if (line_is_long[line_count])
            memmove(line, line + 2, strlen(line + 2) + 1);
        line_count++;
    }
    fclose(file);
    return line_count > 0 ? 0 : -1;
}

/* The line with its placeholders filled in. */
static const char *fill(const char *line, const char *tmp) {
    static char filled[4 * LINE_BYTES];
    size_t used = 0;
    while (*line != '\0') {
        const char *value = NULL;
        size_t length = 1;
        if (strncmp(line, "{tmp}", 5) == 0)
            value = tmp, length = 5;
        else if (strncmp(line, "{data}", 6) == 0)
            value = TEST_DATA, length = 6;
        else if (strncmp(line, "{wattle}", 8) == 0)
            value = WATTLE_COMMAND, length = 8;
        used +=
            (size_t)snprintf(filled + used, sizeof filled - used, "%.*s",
                             value == NULL ? 1 : (int)strlen(value), value == NULL ? line : value);
        assert_true(used < sizeof filled);
        line += length;
    }
    return filled;
}

/* What a run without faults leaves: a failing run may leave the same, whole, or nothing. */
enum { MOST_FILES = 64 };
static struct {
    char name[64];
    uint64_t sum;
} whole[MOST_FILES];
static size_t whole_count;

/* FNV-1a of a file's bytes, less the column "seconds" where a table has one: two runs take unlike
 * times. No text before it has commas. */
static uint64_t sum_of(int folder_handle, const char *name) {
    static const char timed[] = ",seconds";
    FILE *file = fdopen(openat(folder_handle, name, O_RDONLY), "r");
    assert_non_null(file);
    uint64_t sum = 0xcbf29ce484222325u;
    size_t column = 0, commas = 0, matched = 0; /* column: commas before it; 0 = none */
    bool first_line = true;
    for (int byte; (byte = fgetc(file)) != EOF;) {
        commas += byte == ',';
        matched = byte == timed[matched] ? matched + 1 : byte == timed[0];
        if (first_line && column == 0 && matched == strlen(timed))
            column = commas;
        if (column == 0 || commas != column || byte == ',' || byte == '\n')
            sum = (sum ^ (unsigned char)byte) * 0x100000001b3u;
        if (byte == '\n')
            first_line = false, commas = 0;
        if (byte == '\n' || matched == strlen(timed))
            matched = 0;
    }
    fclose(file);
    return sum;
}

static bool is_whole(int folder_handle, const char *name, const char *file) {
    for (size_t i = 0; i < whole_count; i++)
        if (strcmp(whole[i].name, name) == 0)
            return whole[i].sum == sum_of(folder_handle, file);
    return false;
}

/* Removes all that is in the open folder, named with the prefix; how many files were not as a run
 * without faults leaves them. With `learn`, this is such a run. */
static size_t empty_listing(DIR *listing, const char *prefix, bool learn) {
    size_t spoilt = 0;
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        char name[512];
        struct stat about;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(name, sizeof name, "%s%s", prefix, entry->d_name);
        assert_int_equal(fstatat(dirfd(listing), entry->d_name, &about, AT_SYMLINK_NOFOLLOW), 0);
        if (S_ISDIR(about.st_mode)) {
            DIR *inner = fdopendir(openat(dirfd(listing), entry->d_name, O_RDONLY | O_DIRECTORY));
            assert_non_null(inner);
            snprintf(name, sizeof name, "%s/", entry->d_name);
            spoilt += empty_listing(inner, name, learn);
            closedir(inner);
            assert_int_equal(unlinkat(dirfd(listing), entry->d_name, AT_REMOVEDIR), 0);
            continue;
        }
        if (learn) {
            assert_true(whole_count < MOST_FILES);
            snprintf(whole[whole_count].name, sizeof whole->name, "%.63s", name);
            whole[whole_count++].sum = sum_of(dirfd(listing), entry->d_name);
        }
        spoilt += !is_whole(dirfd(listing), name, entry->d_name);
        assert_int_equal(unlinkat(dirfd(listing), entry->d_name, 0), 0);
    }
    return spoilt;
}

static size_t empty_folder(const char *path, bool learn) {
    DIR *listing = opendir(path);
    assert_non_null(listing);
    whole_count = learn ? 0 : whole_count;
    size_t spoilt = empty_listing(listing, "", learn);
    closedir(listing);
    return spoilt;
}

/* A run without faults, to know its files. */
static void run_whole(const char *line) {
    const run_result *result = run(fill(line, folder));
    if (result->code != 0)
        fail_msg("'%s' fails by itself: %s", line, result->err);
    empty_folder(folder, true);
}

/* A code some status has; 1 is left out, for a fault is no missed goal. */
static bool is_documented(int code) {
    for (int status = WT_USAGE; status <= (int)WT_CONFIG; status++)
        if (wt_status_exit_code((wt_status)status) == code)
            return true;
    return false;
}

static void check_failure(const char *line, const char *fault, const run_result *result,
                          const char *tmp) {
    if (result->signal != 0 || !is_documented(result->code))
        fail_msg("'%s' with %s: exit %d, signal %d: %s", line, fault, result->code, result->signal,
                 result->err);
    if (!run_is_sentence(result->err))
        fail_msg("'%s' with %s is no sentence: %s", line, fault, result->err);
    if (empty_folder(tmp, false) != 0)
        fail_msg("'%s' with %s left a file that is not whole", line, fault);
}

/* Each k up to 64, then steps of a sixteenth, as large work makes many allocations. */
static long next_fault(long k, bool is_long) {
    return is_long ? 4 * k : k + 1 + (k > 64 ? k / 16 : 0);
}

static void try_all_faults(const char *variable) {
    for (size_t i = 0; i < line_count; i++) {
        long k = 1;
        run_whole(lines[i]);
        for (;; k = next_fault(k, line_is_long[i])) {
            char fault[64];
            assert_true(k < MOST_FAULTS);
            snprintf(fault, sizeof fault, "%s=%ld", variable, k);
            const run_result *result =
                run_with(fill(lines[i], folder), &(run_setting){.variable = fault});
            if (result->code == 0)
                break;
            check_failure(lines[i], fault, result, folder);
        }
        assert_true(k > 1); /* the fault was felt at least once */
        empty_folder(folder, false);
    }
}

static void allocations_may_fail(void **state) {
    (void)state;
    try_all_faults("WATTLE_FAULT_ALLOCATION");
}

static void writes_may_fail(void **state) {
    (void)state;
    try_all_faults("WATTLE_FAULT_WRITE");
}

/* No file may grow past a page, and stdout has grown so far already. An output that is smaller may
 * be written. */
static void files_may_not_grow(void **state) {
    (void)state;
    if (getenv("WATTLE_TEST_COUNTERS") != NULL)
        skip(); /* a coverage build could not write its counters either */
    enum { PAGE = 4096 };
    char path[64];
    snprintf(path, sizeof path, "/tmp/wattle-fault-stdout-%ld", (long)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < PAGE; i++)
        fputc('\n', file);
    assert_int_equal(fclose(file), 0);
    for (size_t i = 0; i < line_count; i++) {
        run_whole(lines[i]);
        const run_result *result = run_with(
            fill(lines[i], folder), &(run_setting){.stdout_path = path, .file_limit = PAGE});
        if (result->code == 0 && whole_count > 0 && empty_folder(folder, false) == 0)
            continue;
        check_failure(lines[i], "files that cannot grow", result, folder);
        assert_int_equal(result->code, 74);
    }
    unlink(path);
}

/* In a mount namespace of its own, so that nothing outside sees the full disk. */
static int try_full_disk(void) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("full", folder, "tmpfs", 0, "size=4k") != 0)
        return 77;
    char filler[96];
    snprintf(filler, sizeof filler, "%s/filler", folder);
    int file = open(filler, O_WRONLY | O_CREAT, 0600);
    char block[4096] = {0};
    while (file >= 0 && write(file, block, sizeof block) > 0)
        continue;
    close(file);
    char path[96];
    snprintf(path, sizeof path, "%s/stdout", folder);
    for (size_t i = 0; i < line_count; i++) {
        const run_result *result =
            run_with(fill(lines[i], folder), &(run_setting){.stdout_path = path});
        if (result->signal != 0 || (result->code != 74 && result->code != 73) ||
            !run_is_sentence(result->err)) {
            fprintf(stderr, "'%s' on a full disk: exit %d: %s\n", lines[i], result->code,
                    result->err);
            return 1;
        }
    }
    return 0;
}

static void the_disk_may_be_full(void **state) {
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(try_full_disk());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip(); /* mounting needs root; the file limit above covers the rest */
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void every_command_has_a_line(void **state) {
    (void)state;
    json_t *all = json_loads(run("help --json")->out, 0, NULL);
    assert_non_null(all);
    size_t i;
    json_t *command;
    json_array_foreach(json_object_get(all, "commands"), i, command) {
        const char *name = json_string_value(json_object_get(command, "name"));
        bool found = false;
        for (size_t j = 0; j < line_count; j++)
            found = found || (strncmp(lines[j], name, strlen(name)) == 0 &&
                              strchr(" ", lines[j][strlen(name)]) != NULL);
        if (!found)
            fail_msg("tests/fault/commands.txt has no line for 'wattle %s'", name);
    }
    json_decref(all);
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_has_a_line), cmocka_unit_test(allocations_may_fail),
        cmocka_unit_test(writes_may_fail),          cmocka_unit_test(files_may_not_grow),
        cmocka_unit_test(the_disk_may_be_full),
    };
    return cmocka_run_group_tests(tests, read_lines, remove_folder);
}
