/* What ScaLAPACK does is counted at its borders: this object comes before MPI and BLAS in the order
 * that symbols are looked up in, so that calls of theirs come here first and are passed on.
 *
 * Bytes are those of messages sent, and of a collective operation its array, once a rank. Flops are
 * those of BLAS 3: products, rank-k updates, triangular solves and products, local factors. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <string.h>

#include "scalapack.h"
#include "world.h"

#define SEEN __attribute__((visibility("default")))

wt_device_counts mpi_counts;

/* ---- BLAS ------------------------------------------------------------------------------------ */

typedef void (*product)(const char *, const char *, const int *, const int *, const int *,
                        const double *, const double *, const int *, const double *, const int *,
                        const double *, double *, const int *);
typedef void (*update)(const char *, const char *, const int *, const int *, const double *,
                       const double *, const int *, const double *, double *, const int *);
typedef void (*triangle)(const char *, const char *, const char *, const char *, const int *,
                         const int *, const double *, const double *, const int *, double *,
                         const int *);
typedef void (*factor)(const char *, const int *, double *, const int *, int *);

static struct {
    product gemm;
    update syrk;
    triangle trsm, trmm;
    factor potrf;
} real;

SEEN void dgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                 const double *alpha, const double *a, const int *lda, const double *b,
                 const int *ldb, const double *beta, double *c, const int *ldc) {
    mpi_counts.flops += 2.0 * *m * *n * *k;
    real.gemm(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

SEEN void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k,
                 const double *alpha, const double *a, const int *lda, const double *beta,
                 double *c, const int *ldc);
void dsyrk_(const char *uplo, const char *trans, const int *n, const int *k, const double *alpha,
            const double *a, const int *lda, const double *beta, double *c, const int *ldc) {
    mpi_counts.flops += 1.0 * *n * (*n + 1.0) * *k;
    real.syrk(uplo, trans, n, k, alpha, a, lda, beta, c, ldc);
}

static void count_triangle(const char *side, const int *m, const int *n) {
    mpi_counts.flops += 1.0 * *m * *n * (*side == 'L' || *side == 'l' ? *m : *n);
}

SEEN void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag,
                 const int *m, const int *n, const double *alpha, const double *a, const int *lda,
                 double *b, const int *ldb);
void dtrsm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b,
            const int *ldb) {
    count_triangle(side, m, n);
    real.trsm(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);
}

SEEN void dtrmm_(const char *side, const char *uplo, const char *trans, const char *diag,
                 const int *m, const int *n, const double *alpha, const double *a, const int *lda,
                 double *b, const int *ldb);
void dtrmm_(const char *side, const char *uplo, const char *trans, const char *diag, const int *m,
            const int *n, const double *alpha, const double *a, const int *lda, double *b,
            const int *ldb) {
    count_triangle(side, m, n);
    real.trmm(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);
}

SEEN void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info);
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info) {
    mpi_counts.flops += 1.0 / 3 * *n * *n * *n;
    real.potrf(uplo, n, a, lda, info);
}

/* Columns that ScaLAPACK takes at a time in products, 32 of its own accord. */
SEEN int pilaenv_(const int *grid, const char *type);
int pilaenv_(const int *grid, const char *type) {
    (void)grid;
    (void)type;
    return MPI_BLOCK;
}

/* A function of a library that is loaded; conversions to function pointers go past ISO C. */
static bool find(void *library, const char *name, void *out) {
    void *found = dlsym(library, name);
    memcpy(out, &found, sizeof found);
    return found != NULL;
}

wt_status mpi_counts_open(wt_context *context) {
    void *blas = dlopen("libblas.so.3", RTLD_LAZY | RTLD_NOLOAD);
    void *lapack = dlopen("liblapack.so.3", RTLD_LAZY | RTLD_NOLOAD);
    void *ours = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_NOLOAD);
    if (blas == NULL || lapack == NULL || ours == NULL || !find(blas, "dgemm_", &real.gemm) ||
        !find(blas, "dsyrk_", &real.syrk) || !find(blas, "dtrsm_", &real.trsm) ||
        !find(blas, "dtrmm_", &real.trmm) || !find(lapack, "dpotrf_", &real.potrf))
        return mpi_fail(context, WT_UNAVAILABLE,
                        "MPI cannot be used: ScaLAPACK has no libblas.so.3 and liblapack.so.3");
    Dl_info file = {0};
    void *theirs = dlsym(blas, "openblas_get_config");
    if (theirs != NULL && theirs == dlsym(ours, "openblas_get_config"))
        return WT_OK;
    (void)dladdr(dlsym(blas, "dgemm_"), &file);
    return mpi_fail(context, WT_UNAVAILABLE,
                    "MPI cannot be used: ScaLAPACK's BLAS is %s and not the OpenBLAS of this "
                    "library; choose that with 'update-alternatives --config "
                    "libblas.so.3-x86_64-linux-gnu', on every machine",
                    file.dli_fname == NULL ? "another" : file.dli_fname);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void count(int numbers, MPI_Datatype type) {
    int bytes;
    PMPI_Type_size(type, &bytes);
    mpi_counts.bytes += 1.0 * numbers * bytes;
    mpi_counts.messages++;
}

SEEN int MPI_Send(const void *data, int numbers, MPI_Datatype type, int to, int tag, MPI_Comm all) {
    count(numbers, type);
    return PMPI_Send(data, numbers, type, to, tag, all);
}

SEEN int MPI_Isend(const void *data, int numbers, MPI_Datatype type, int to, int tag, MPI_Comm all,
                   MPI_Request *request) {
    count(numbers, type);
    return PMPI_Isend(data, numbers, type, to, tag, all, request);
}

SEEN int MPI_Rsend(const void *data, int numbers, MPI_Datatype type, int to, int tag,
                   MPI_Comm all) {
    count(numbers, type);
    return PMPI_Rsend(data, numbers, type, to, tag, all);
}

SEEN int MPI_Sendrecv(const void *data, int numbers, MPI_Datatype type, int to, int tag, void *in,
                      int in_numbers, MPI_Datatype in_type, int from, int in_tag, MPI_Comm all,
                      MPI_Status *status) {
    count(numbers, type);
    return PMPI_Sendrecv(data, numbers, type, to, tag, in, in_numbers, in_type, from, in_tag, all,
                         status);
}

SEEN int MPI_Bcast(void *data, int numbers, MPI_Datatype type, int root, MPI_Comm all) {
    count(numbers, type);
    return PMPI_Bcast(data, numbers, type, root, all);
}

SEEN int MPI_Reduce(const void *data, void *out, int numbers, MPI_Datatype type, MPI_Op op,
                    int root, MPI_Comm all) {
    count(numbers, type);
    return PMPI_Reduce(data, out, numbers, type, op, root, all);
}

SEEN int MPI_Allreduce(const void *data, void *out, int numbers, MPI_Datatype type, MPI_Op op,
                       MPI_Comm all) {
    count(numbers, type);
    return PMPI_Allreduce(data, out, numbers, type, op, all);
}
