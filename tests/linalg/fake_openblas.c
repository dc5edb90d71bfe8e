/* Says what an OpenBLAS would say, and in its config what it found in the environment as it was
 * loaded. FAKE_PARALLEL in the environment is what it was built for. */
#include <stdio.h>
#include <stdlib.h>

#define STUB(name)                                                                                 \
    void name(void);                                                                               \
    void name(void) {                                                                              \
        abort();                                                                                   \
    }

STUB(cblas_dgemm)
STUB(cblas_dgemv)
STUB(cblas_dsyrk)
STUB(cblas_dtrsm)
STUB(cblas_dtrsv)
STUB(cblas_sgemm)
STUB(cblas_sgemv)
STUB(cblas_ssyrk)
STUB(cblas_strsm)
STUB(cblas_strsv)
STUB(dpotrf_)
STUB(spotrf_)
STUB(dsyevd_)
STUB(dgesdd_)
STUB(dgelsd_)

static char config[200], core[64];
static int parallel = 1;

__attribute__((constructor)) static void look_around(void) {
    const char *type = getenv("OPENBLAS_CORETYPE"), *threads = getenv("OPENBLAS_NUM_THREADS");
    const char *built_for = getenv("FAKE_PARALLEL");
    snprintf(config, sizeof config, "a fake with core type %s and threads %s",
             type == NULL ? "none" : type, threads == NULL ? "none" : threads);
    snprintf(core, sizeof core, "%s", type == NULL ? "Prescott" : type);
    if (built_for != NULL)
        parallel = atoi(built_for);
}

char *openblas_get_config(void);
char *openblas_get_config(void) {
    return config;
}
char *openblas_get_corename(void);
char *openblas_get_corename(void) {
    return core;
}
int openblas_get_parallel(void);
int openblas_get_parallel(void) {
    return parallel;
}
int openblas_get_num_threads(void);
int openblas_get_num_threads(void) {
    return 1;
}
void openblas_set_num_threads(int threads);
void openblas_set_num_threads(int threads) {
    (void)threads;
}
