/* How OpenBLAS is opened: what it finds in the environment, what is left there, who chose its
 * kernels, and the sentences where it cannot be used. */
#define _GNU_SOURCE /* dladdr */
#include "linalg/openblas.h"

#include <dlfcn.h>
#include <pthread.h>

#include "cli/run.h"
#include "linalg/cores.h"
#include "linalg/linalg.h"

extern char **environ;

/* ---- in this process ------------------------------------------------------------------------- */

enum { MOST_VARIABLES = 1000 };

static size_t snapshot(char **out) {
    size_t count = 0;
    for (; environ[count] != NULL; count++) {
        assert_true(count < MOST_VARIABLES);
        out[count] = strdup(environ[count]);
    }
    return count;
}

/* The user's number of threads is back, our core type is gone, all else is where it was. */
static void the_environment_is_restored(void **state) {
    wt_context *context = *state;
    static char *before[MOST_VARIABLES], *after[MOST_VARIABLES];
    wt_blas blas = WT_SIZED(wt_blas);
    unsetenv("OPENBLAS_CORETYPE");
    setenv("OPENBLAS_NUM_THREADS", "7", 1);
    size_t count = snapshot(before);
    CHECK_OK(context, wt_blas_open(context, &blas));
    assert_int_equal(snapshot(after), count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(after[i], before[i]);
        free(before[i]);
        free(after[i]);
    }
    assert_int_equal(wt_openblas.openblas_get_num_threads(), 1);
    assert_non_null(strstr(blas.config, "OpenBLAS"));
    const wt_core *wanted = wt_core_for(wt_cpu_features());
    assert_int_equal(blas.choice,
                     wanted == NULL ? WT_BLAS_CHOICE_LIBRARY : WT_BLAS_CHOICE_PROCESSOR);
    if (wanted != NULL)
        assert_string_equal(blas.best, wanted->name);
}

static void *ask(void *answer) {
    wt_context *context;
    wt_blas *blas = answer;
    *blas = (wt_blas)WT_SIZED(wt_blas);
    assert_int_equal(wt_context_new(&context), WT_OK);
    assert_int_equal(wt_blas_open(context, blas), WT_OK);
    wt_context_free(context);
    return NULL;
}

/* Every thread and context is told the same. */
static void all_are_told_the_same(void **state) {
    wt_blas here = WT_SIZED(wt_blas), there[4];
    pthread_t threads[4];
    CHECK_OK(*state, wt_blas_open(*state, &here));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &there[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_ptr_equal(there[i].core, here.core);
        assert_int_equal(there[i].choice, here.choice);
    }
}

/* ---- the command, with a library that tells what it saw ---------------------------------------
 */

#define FAKE "LD_LIBRARY_PATH=" FAKE_FOLDER

static const run_result *with(const char *line, const char *variable, const char *second) {
    return run_with(line, &(run_setting){.variable = variable, .second_variable = second});
}

static void it_finds_our_choice(void **state) {
    (void)state;
    const wt_core *wanted = wt_core_for(wt_cpu_features());
    char words[100];
    unsetenv("OPENBLAS_NUM_THREADS");
    snprintf(words, sizeof words, "a fake with core type %s and threads 1",
             wanted == NULL ? "none" : wanted->name);
    CHECK_PRINTS(with("--version", FAKE, NULL), words);
    CHECK_PRINTS(with("--version", FAKE, "OPENBLAS_NUM_THREADS=9"), words);
    if (wanted != NULL) /* set to nothing is not set */
        CHECK_PRINTS(with("--version", FAKE, "OPENBLAS_CORETYPE="), words);
}

static void a_users_core_type_is_respected(void **state) {
    (void)state;
    CHECK_PRINTS(with("--version", FAKE, "OPENBLAS_CORETYPE=Prescott"),
                 "a fake with core type Prescott and threads 1");
}

static void a_library_without_threads_is_refused(void **state) {
    (void)state;
    CHECK_SAYS(with("selfcheck --quick", FAKE, "FAKE_PARALLEL=0"), 70,
               "is OpenBLAS built without threads");
    CHECK_PRINTS(with("--version", FAKE, "FAKE_PARALLEL=0"), "no OpenBLAS");
    CHECK_PRINTS(with("--version", FAKE, "FAKE_PARALLEL=2"), "a fake");
}

static void no_library_is_said(void **state) {
    (void)state;
    char path[100], variable[100];
    Dl_info jansson;
    snprintf(path, sizeof path, "%s/libopenblas.so.0", run_folder);
    snprintf(variable, sizeof variable, "LD_LIBRARY_PATH=%s", run_folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    CHECK_SAYS(with("selfcheck --quick", variable, NULL), 69,
               "(Debian's package is libopenblas0-pthread)");
    CHECK_PRINTS(with("--version", variable, NULL), "no OpenBLAS");
    CHECK_PRINTS(with("--version --json", variable, NULL), "\"blas\": null");
    /* a library, but another one */
    assert_int_not_equal(dladdr((void *)(uintptr_t)json_loads, &jansson), 0);
    assert_int_equal(remove(path), 0);
    assert_int_equal(symlink(jansson.dli_fname, path), 0);
    CHECK_SAYS(with("selfcheck --quick", variable, NULL), 69, "is no OpenBLAS with LAPACK");
}

/* ---- the command, with the real one -----------------------------------------------------------
 */

static void check_member(const json_t *all, const char *key, const char *words) {
    const char *found = json_string_value(json_object_get(all, key));
    if (found == NULL || strstr(found, words) == NULL)
        fail_msg("%s is '%s', not '%s'", key, found == NULL ? "null" : found, words);
}

static json_t *selfcheck(const char *variable) {
    const run_result *result = with("selfcheck --quick --json", variable, NULL);
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    if (result->code != 0 || all == NULL)
        fail_msg("%s: exit %d: %s%s", variable, result->code, result->out, result->err);
    return all;
}

/* The oldest kernels compute rightly too, and selfcheck tells how to get rid of them. */
static void poor_kernels_are_told(void **state) {
    (void)state;
    const wt_core *best = wt_core_for(wt_cpu_features());
    if (best == NULL)
        skip();
    json_t *all = selfcheck("OPENBLAS_CORETYPE=Prescott");
    check_member(all, "blas_kernels", "Prescott");
    check_member(all, "blas_kernels_chosen", "set by OPENBLAS_CORETYPE");
    check_member(all, "blas_kernels_best", best->name);
    check_member(all, "blas_remedy", "unset OPENBLAS_CORETYPE");
    json_decref(all);
    CHECK_PRINTS(with("selfcheck --quick", "OPENBLAS_CORETYPE=Prescott", NULL),
                 "kernels   Prescott, set by OPENBLAS_CORETYPE\n          this processor can run");
}

static void kernels_beyond_the_processor_are_refused(void **state) {
    (void)state;
    unsigned features = wt_cpu_features();
    if (features == 0 || wt_core_runs(wt_core_named("SkylakeX"), features))
        skip();
    CHECK_SAYS(with("selfcheck --quick", "OPENBLAS_CORETYPE=SkylakeX", NULL), 78,
               "the SkylakeX kernels of OpenBLAS, which this processor cannot run");
}

static void a_library_loaded_before_is_kept(void **state) {
    (void)state;
    json_t *all = selfcheck("LD_PRELOAD=libopenblas.so.0");
    check_member(all, "blas_kernels_chosen", "loaded before");
    json_decref(all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_is_restored),
        cmocka_unit_test(all_are_told_the_same),
        cmocka_unit_test(it_finds_our_choice),
        cmocka_unit_test(a_users_core_type_is_respected),
        cmocka_unit_test(a_library_without_threads_is_refused),
        cmocka_unit_test(no_library_is_said),
        cmocka_unit_test(poor_kernels_are_told),
        cmocka_unit_test(kernels_beyond_the_processor_are_refused),
        cmocka_unit_test(a_library_loaded_before_is_kept),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
