/* Writing and reading when things break; the numbers are the invariants in src/io/output.h. */
#define _XOPEN_SOURCE 700
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "files.h"
#include "io/output.h"

enum { MANY = 30000 };
static double many[MANY];
static const wt_tensor tensors[] = {{"x", WT_TYPE_F64, 2, {100, 300}, many},
                                    {"y", WT_TYPE_F32, 0, {0}, many}};
static const wt_metadata metadata[] = {{"kind", "layer"}};

static wt_status write_npy(wt_context *context, const char *path) {
    return wt_npy_write(context, path, &tensors[0]);
}
static wt_status write_npz(wt_context *context, const char *path) {
    return wt_npz_write(context, path, tensors, 2);
}
static wt_status write_safetensors(wt_context *context, const char *path) {
    return wt_safetensors_write(context, path, tensors, 2, metadata, 1);
}
static wt_status write_text(wt_context *context, const char *path) {
    wt_output *output = NULL;
    wt_status status;
    WT_TRY(wt_output_open(context, path, &output));
    for (int i = 0; i < 20000; i++)
        WT_TRY(wt_output_print(output, "%d,%g\n", i, i / 8.0));
    WT_TRY(wt_output_print(output, "%2000s\n", "wide"));
    WT_TRY(wt_output_commit(output));
done:
    wt_output_free(output);
    return status;
}

static wt_status (*const writers[])(wt_context *, const char *) = {write_npy, write_npz,
                                                                   write_safetensors, write_text};
enum { WRITERS = sizeof writers / sizeof *writers };
static const char *const readables[] = {FIXTURE("fortran.npy"), FIXTURE("deflated.npz"),
                                        FIXTURE("types.safetensors")};

static void check_old_content(const char *path) {
    size_t bytes;
    uint8_t *content = file_bytes(path, &bytes);
    assert_int_equal(bytes, 3);
    assert_memory_equal(content, "old", 3);
    free(content);
}

/* Invariants 1 and 2 for the k-th event of one kind, k = 1, 2, ... until nothing fails, with an old
 * target in the way or without. Returns how many events there were. */
static long check_each_failure(wt_context *context, atomic_long *counter, size_t which, bool old,
                               wt_status wanted) {
    const char *path = file_path("target");
    for (long k = 1;; k++) {
        files_clear();
        if (old)
            file_make("target", "old", 3);
        size_t before = wt_context_memory_used(context);
        atomic_store(counter, k);
        wt_status status = writers[which](context, path);
        bool reached = atomic_load(counter) == 0;
        atomic_store(counter, 0);
        assert_int_equal(wt_context_memory_used(context), before);
        assert_int_equal(files_left(), status == WT_OK || old ? 1 : 0);
        if (!reached) {
            assert_int_equal(status, WT_OK);
            return k - 1;
        }
        assert_int_equal(status, wanted);
        assert_true(strlen(wt_context_message(context)) > 10);
        if (old)
            check_old_content(path);
    }
}

static void every_write_fails_once(void **state) {
    wt_context *context = *state;
    for (size_t i = 0; i < 2 * WRITERS; i++) {
        long events =
            check_each_failure(context, &context->write_to_fail, i / 2, i % 2 == 1, WT_IO);
        assert_true(events >= 5); /* some blocks, the flush to the disk and the new name */
    }
}

static void every_allocation_of_the_writers_fails_once(void **state) {
    wt_context *context = *state;
    for (size_t i = 0; i < 2 * WRITERS; i++) {
        long events =
            check_each_failure(context, &context->allocation_to_fail, i / 2, i % 2 == 1, WT_MEMORY);
        assert_true(events >= 3); /* the output and two paths */
    }
}

static void every_allocation_of_the_readers_fails_once(void **state) {
    wt_context *context = *state;
    for (size_t i = 0; i < sizeof readables / sizeof *readables; i++) {
        long k = 0;
        wt_status status;
        do {
            size_t before = wt_context_memory_used(context);
            atomic_store(&context->allocation_to_fail, ++k);
            status = read_all(context, readables[i]);
            assert_int_equal(wt_context_memory_used(context), before);
            assert_true(status == WT_OK || status == WT_MEMORY);
        } while (atomic_load(&context->allocation_to_fail) == 0);
        assert_int_equal(status, WT_OK);
        atomic_store(&context->allocation_to_fail, 0);
        assert_true(k > 6);
    }
}

/* A full disk, by the largest file a process may write. SIGXFSZ keeps its default, which kills. */
static void full_disk(void **state) {
    const char *path = file_path("target");
    for (size_t i = 0; i < WRITERS; i++) {
        files_clear();
        file_make("target", "old", 3);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct rlimit limit = {100000, 100000};
            signal(SIGXFSZ, SIG_DFL);
            bool said = setrlimit(RLIMIT_FSIZE, &limit) == 0 && writers[i](*state, path) == WT_IO &&
                        strstr(wt_context_message(*state), "File too large") != NULL;
            _exit(said ? 0 : 1);
        }
        int result;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFEXITED(result));
        assert_int_equal(WEXITSTATUS(result), 0);
        assert_int_equal(files_left(), 1);
        check_old_content(path);
    }
}

static void cancelled_writing_leaves_nothing(void **state) {
    (void)state;
    wt_context *context;
    files_clear();
    assert_int_equal(wt_context_new(&context), WT_OK);
    wt_context_cancel(context);
    CHECK_FAILS(context, write_npy(context, file_path("target")), WT_INTERRUPTED, "interrupted");
    assert_int_equal(files_left(), 0);
    wt_context_free(context);
}

static void targets_that_cannot_be(void **state) {
    files_clear();
    CHECK_FAILS(*state, write_npy(*state, file_path("none/target")), WT_CANNOT_CREATE,
                "target: cannot be created: No such file");
    CHECK_FAILS(*state, write_npy(*state, test_directory), WT_CANNOT_CREATE, "it is a directory");
    CHECK_FAILS(*state, write_npy(*state, "/dev/null"), WT_CANNOT_CREATE, "not a regular file");
    CHECK_FAILS(*state, write_npy(*state, ""), WT_CANNOT_CREATE, "cannot be created");
    assert_int_equal(symlink("nowhere", file_path("dangling")), 0);
    CHECK_FAILS(*state, write_npy(*state, file_path("dangling")), WT_CANNOT_CREATE,
                "a symbolic link to nothing");
    assert_int_equal(files_left(), 1);
}

/* Root may write anything, so that a child gives up its rights first. */
static void targets_without_permission(void **state) {
    files_clear();
    const char *path = file_make("target", "old", 3);
    assert_int_equal(chmod(path, 0444), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(2);
        bool said = write_npy(*state, path) == WT_CANNOT_CREATE &&
                    write_npy(*state, file_path("new")) ==
                        (access(test_directory, W_OK) == 0 ? WT_OK : WT_CANNOT_CREATE);
        _exit(said ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == 2) {
        print_message("skipped: root here cannot give up its rights\n");
        skip();
    }
    assert_int_equal(WEXITSTATUS(result), 0);
    check_old_content(path);
}

static void links_are_followed_and_permissions_kept(void **state) {
    files_clear();
    const char *path = file_make("target", "old", 3);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("target", file_path("link")), 0);
    CHECK_OK(*state, write_npy(*state, file_path("link")));
    struct stat about;
    assert_int_equal(lstat(file_path("link"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    CHECK_OK(*state, read_all(*state, path));
    assert_int_equal(files_left(), 2);
}

static void new_files_have_usual_permissions(void **state) {
    files_clear();
    mode_t mask = umask(027);
    CHECK_OK(*state, write_npy(*state, file_path("new")));
    umask(mask);
    struct stat about;
    assert_int_equal(stat(file_path("new"), &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
}

static void a_path_without_a_directory(void **state) {
    files_clear();
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(test_directory), 0);
    CHECK_OK(*state, write_npz(*state, "plain.npz"));
    CHECK_OK(*state, read_all(*state, "plain.npz"));
    assert_int_equal(files_left(), 1);
    assert_int_equal(chdir(before), 0);
}

static void text_arrives_whole(void **state) {
    files_clear();
    CHECK_OK(*state, write_text(*state, file_path("text")));
    size_t bytes;
    uint8_t *content = file_bytes(file_path("text"), &bytes);
    content[bytes] = '\0';
    assert_non_null(strstr((char *)content, "\n19999,2499.88\n"));
    assert_string_equal((char *)content + bytes - 6, " wide\n");
    assert_int_equal(strlen(strrchr((char *)content, '8')), 2 + 2001); /* "8\n", then the line */
    free(content);
}

typedef struct {
    size_t bytes;
    bool right;
} poured;

static wt_status take_block(void *user, const void *bytes, size_t count) {
    poured *all = user;
    const uint8_t *block = bytes;
    for (size_t i = 0; i < count; i++)
        all->right &= block[i] == (all->bytes + i) % 251;
    all->bytes += count;
    return WT_OK;
}

static wt_status spool_bytes(wt_context *context, const char *directory, size_t bytes,
                             poured *out) {
    wt_output *output = NULL;
    wt_status status;
    *out = (poured){.right = true};
    WT_TRY(wt_output_spool(context, directory, &output));
    for (size_t i = 0; i < bytes; i++) {
        uint8_t byte = (uint8_t)(i % 251);
        WT_TRY(wt_output_write(output, &byte, 1));
    }
    assert_int_equal(files_left(), 0); /* it has no name */
    WT_TRY(wt_output_walk(output, take_block, out));
done:
    wt_output_free(output);
    return status;
}

static void a_spool_gives_back_what_was_written(void **state) {
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 400000}; /* a block is 65536 */
    wt_context *context = *state;
    poured got;
    files_clear();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        CHECK_OK(context, spool_bytes(context, test_directory, sizes[i], &got));
        assert_int_equal(got.bytes, sizes[i]);
        assert_true(got.right);
    }
    /* what is little needs no file */
    CHECK_OK(context, spool_bytes(context, "/none", 100, &got));
    CHECK_FAILS(context, spool_bytes(context, "/none", 400000, &got), WT_IO,
                "/none: could not be written past byte 0: No such file or directory; it was to hold"
                " what is printed (TMPDIR");
    assert_int_equal(got.bytes, 0);
    for (long k = 1; k <= 6; k++) {
        atomic_store(&context->write_to_fail, k);
        CHECK_FAILS(context, spool_bytes(context, test_directory, 400000, &got), WT_IO, "written");
        assert_int_equal(got.bytes, 0);
    }
    atomic_store(&context->write_to_fail, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_spool_gives_back_what_was_written),
        cmocka_unit_test(every_write_fails_once),
        cmocka_unit_test(every_allocation_of_the_writers_fails_once),
        cmocka_unit_test(every_allocation_of_the_readers_fails_once),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(cancelled_writing_leaves_nothing),
        cmocka_unit_test(targets_that_cannot_be),
        cmocka_unit_test(targets_without_permission),
        cmocka_unit_test(links_are_followed_and_permissions_kept),
        cmocka_unit_test(new_files_have_usual_permissions),
        cmocka_unit_test(a_path_without_a_directory),
        cmocka_unit_test(text_arrives_whole),
    };
    return cmocka_run_group_tests(tests, files_open, files_close);
}
