/* The library in a program whose standard streams are closed: what the program writes to a stream
 * goes into no file of ours. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/descriptor.h"
#include "check.h"
#include "io/output.h"
#include "io/source.h"
#include "lab/store.h"

static char folder[] = "/tmp/wattle-descriptors-XXXXXX";

static int open_folder(void **state) {
    return mkdtemp(folder) == NULL ? -1 : check_open(state);
}
static int close_folder(void **state) {
    char line[64];
    snprintf(line, sizeof line, "rm -rf %s", folder);
    return system(line) == 0 ? check_close(state) : -1;
}

static const char *in_folder(const char *name) {
    static char path[2][128];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

/* What a careless program does. */
static void write_to_streams(void) {
    static const char words[] = "progress: 3 of 8, and some words more\n";
    for (int stream = 0; stream < 3; stream++)
        if (write(stream, words, sizeof words) < 0)
            continue;
}

static bool try_store(wt_context *context) {
    wt_store *store = NULL;
    if (wt_store_open(context, in_folder("r.db"), WT_STORE_MODE_CREATE, &store) != WT_OK)
        return false;
    write_to_streams();
    wt_store_free(store);
    bool fine = wt_store_open(context, in_folder("r.db"), WT_STORE_MODE_READ, &store) == WT_OK;
    wt_store_free(store);
    return fine && unlink(in_folder("r.db")) == 0;
}

static bool try_output(wt_context *context) {
    wt_output *output = NULL;
    wt_source source = {.file = -1};
    char text[16] = "";
    if (wt_output_open(context, in_folder("text"), &output) != WT_OK)
        return false;
    write_to_streams();
    bool fine = wt_output_print(output, "eight by\n") == WT_OK && wt_output_commit(output) == WT_OK;
    wt_output_free(output);
    fine = fine && wt_source_open(context, in_folder("text"), &source) == WT_OK &&
           source.file > 2 && wt_source_read(&source, 0, text, sizeof text) == 9 &&
           strcmp(text, "eight by\n") == 0;
    wt_source_close(&source);
    return fine && unlink(in_folder("text")) == 0;
}

static bool try_child(wt_context *context) {
    static const char *const words[] = {"sh", "-c", "cat; echo said >&2", NULL};
    wt_child child;
    size_t sent = 0;
    int how = 0;
    char text[16] = "";
    if (wt_child_start(context, words, "cat", NULL, &child) != WT_OK)
        return false;
    bool fine = child.input > 2 && child.output > 2 && child.errors > 2 && child.life > 2 &&
                wt_child_send(&child, "to and fro", 10, &sent) && sent == 10;
    wt_child_close(&child.input);
    for (ssize_t got = 1, all = 0; got > 0 && all < 10; all += got)
        got = read(child.output, text + all, sizeof text - 1 - (size_t)all);
    fine = fine && wt_child_wait(&child, 60, &how) == WT_CHILD_ENDED && how == 0 &&
           strcmp(text, "to and fro") == 0 && strcmp(child.complaint, "said\n") == 0;
    wt_child_end(&child);
    return fine;
}

static void no_file_has_the_number_of_a_stream(void **state) {
    static bool (*const tries[])(wt_context *) = {try_store, try_output, try_child};
    for (unsigned closed = 0; closed < 8; closed++)
        for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
            int result;
            fflush(NULL);
            pid_t child = fork();
            assert_true(child >= 0);
            if (child == 0) {
                int nowhere = open("/dev/null", O_RDWR);
                for (int stream = 0; stream < 3; stream++)
                    if ((closed >> stream & 1) != 0)
                        close(stream);
                    else
                        dup2(nowhere, stream);
                _exit(tries[i](*state) ? 0 : 1);
            }
            assert_int_equal(waitpid(child, &result, 0), child);
            if (!WIFEXITED(result) || WEXITSTATUS(result) != 0)
                fail_msg("closed %u: try %zu fails", closed, i);
        }
}

static void files_are_moved_above_the_streams(void **state) {
    (void)state;
    int high = open("/dev/null", O_RDONLY);
    assert_true(high > 2);
    assert_int_equal(wt_descriptor_move(high), high);
    assert_int_equal(wt_descriptor_move(-1), -1);
    int kept = dup(0);
    assert_int_equal(dup2(high, 0), 0);
    int moved = wt_descriptor_move(0);
    assert_true(moved > 2 && (fcntl(moved, F_GETFD) & FD_CLOEXEC) != 0);
    assert_int_equal(fcntl(0, F_GETFD), -1);
    assert_int_equal(dup2(kept, 0), 0);
    close(kept);
    close(moved);
    close(high);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_file_has_the_number_of_a_stream),
        cmocka_unit_test(files_are_moved_above_the_streams),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
