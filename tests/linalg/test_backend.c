/* The BLAS beneath: held to one thread, of a flavour that several threads may enter. */
#define _POSIX_C_SOURCE 200809L /* barriers */
#include "linalg/backend.h"

#include <pthread.h>

#include "linalg/openblas.h"
#include "reference.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

/* All products together. The sanitizers watch our code and not OpenBLAS, whose fault this test
 * is after, so that their build is content with as many as selfcheck makes. */
#ifdef SANITIZED
#define PRODUCTS 4000
#else
#define PRODUCTS 20000
#endif
enum { THREADS = 2, SIZE = 128, PAIRS = 8 };

static void one_thread_a_call(void **state) {
    const wt_backend *backend;
    CHECK_OK(*state, wt_backend_open(*state, &backend));
    assert_string_equal(backend->name, "OpenBLAS");
    assert_int_equal(wt_openblas.openblas_get_num_threads(), 1);
    assert_int_not_equal(wt_openblas.openblas_get_parallel(), 0);
}

static void the_serial_flavour_is_refused(void **state) {
    CHECK_FAILS(*state, wt_openblas_check_flavour(*state, 0, "OpenBLAS 0.0"), WT_INTERNAL,
                "the BLAS in use (OpenBLAS 0.0) is OpenBLAS built without threads");
    CHECK_OK(*state, wt_openblas_check_flavour(*state, 1, "OpenBLAS 0.0"));
    CHECK_OK(*state, wt_openblas_check_flavour(*state, 2, "OpenBLAS 0.0"));
}

typedef struct {
    const wt_routines *routines;
    const double *a, *b, *wanted; /* PAIRS matrices each */
    pthread_barrier_t *start;
    size_t wrong;
    double c[SIZE * SIZE];
} runner;

static void multiply(const runner *run, size_t pair, double *c) {
    size_t at = pair * SIZE * SIZE;
    run->routines->gemm(WT_PLAIN, WT_PLAIN, SIZE, SIZE, SIZE, 1, run->a + at, SIZE, run->b + at,
                        SIZE, 0, c, SIZE);
}

static void *race(void *argument) {
    runner *run = argument;
    pthread_barrier_wait(run->start);
    for (size_t i = 0; i < PRODUCTS / THREADS; i++) {
        multiply(run, i % PAIRS, run->c);
        run->wrong += memcmp(run->c, run->wanted + i % PAIRS * SIZE * SIZE, sizeof run->c) != 0;
    }
    return NULL;
}

static void two_threads_do_not_disturb_each_other(void **state) {
    wt_context *context = *state;
    const wt_backend *backend;
    CHECK_OK(context, wt_backend_open(context, &backend));
    double *a = draw(context, "a", PAIRS * SIZE, SIZE), *b = draw(context, "b", PAIRS * SIZE, SIZE);
    double *wanted = draw(context, "wanted", PAIRS * SIZE, SIZE);
    runner *runners;
    pthread_barrier_t start;
    pthread_t threads[THREADS];
    CHECK_OK(context, WT_NEW_ZERO(context, &runners, THREADS, "runners"));
    assert_int_equal(pthread_barrier_init(&start, NULL, THREADS), 0);
    for (size_t t = 0; t < THREADS; t++) {
        runners[t].routines = &backend->real64;
        runners[t].a = a;
        runners[t].b = b;
        runners[t].wanted = wanted;
        runners[t].start = &start;
    }
    for (size_t pair = 0; pair < PAIRS; pair++)
        multiply(&runners[0], pair, wanted + pair * SIZE * SIZE);
    for (size_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, race, &runners[t]), 0);
    for (size_t t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    for (size_t t = 0; t < THREADS; t++)
        assert_int_equal(runners[t].wrong, 0);
    pthread_barrier_destroy(&start);
    wt_release(a);
    wt_release(b);
    wt_release(wanted);
    wt_release(runners);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread_a_call),
        cmocka_unit_test(the_serial_flavour_is_refused),
        cmocka_unit_test(two_threads_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
