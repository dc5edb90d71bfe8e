/* Each operation of the linear algebra, and the one BLAS or LAPACK call that does the same. */
#include <string.h>

#include "bench_linalg.h"

static wt_status gemm(cli_bench_matrices *on) {
    return wt_gemm(on->context, WT_PLAIN, WT_TRANSPOSED, on->n, on->n, on->sides, 1, on->a, on->n,
                   on->a, on->n, 0, on->work, on->n);
}
static void gemm_single(cli_bench_matrices *on) {
    on->backend->real64.gemm(WT_PLAIN, WT_TRANSPOSED, on->n, on->n, on->sides, 1, on->a, on->n,
                             on->a, on->n, 0, on->work, on->n);
}
static wt_status gemm_float(cli_bench_matrices *on) {
    return wt_gemm_float(on->context, WT_PLAIN, WT_TRANSPOSED, on->n, on->n, on->sides, 1,
                         on->a_float, on->n, on->a_float, on->n, 0, on->work_float, on->n);
}
static void gemm_float_single(cli_bench_matrices *on) {
    on->backend->real32.gemm(WT_PLAIN, WT_TRANSPOSED, on->n, on->n, on->sides, 1, on->a_float,
                             on->n, on->a_float, on->n, 0, on->work_float, on->n);
}

static wt_status gram(cli_bench_matrices *on) {
    return wt_gram(on->context, WT_PLAIN, on->n, on->n, on->a, on->n, 0, on->work, on->n);
}
static void gram_single(cli_bench_matrices *on) {
    on->backend->real64.syrk(WT_PLAIN, on->n, on->n, 1, on->a, on->n, 0, on->work, on->n);
}
static wt_status gram_float(cli_bench_matrices *on) {
    return wt_gram_float(on->context, WT_PLAIN, on->n, on->n, on->a_float, on->n, 0, on->work,
                         on->n);
}
static void gram_float_single(cli_bench_matrices *on) {
    on->backend->real32.syrk(WT_PLAIN, on->n, on->n, 1, on->a_float, on->n, 0, on->work_float,
                             on->n);
}

void cli_bench_restore(cli_bench_matrices *on) {
    memcpy(on->work, on->definite, on->n * on->n * sizeof *on->work);
}
static void restore_definite_float(cli_bench_matrices *on) {
    for (size_t i = 0; i < on->n * on->n; i++)
        on->work_float[i] = (float)on->definite[i];
}
static wt_status must_be_definite(cli_bench_matrices *on, wt_status status, size_t failed_at) {
    if (status == WT_OK && failed_at != 0)
        return wt_fail(on->context, WT_INTERNAL, "Cholesky of a definite matrix failed at %zu",
                       failed_at);
    return status;
}
wt_status cli_bench_cholesky(cli_bench_matrices *on) {
    size_t failed_at;
    wt_status status = wt_cholesky(on->context, on->n, on->work, on->n, &failed_at);
    return must_be_definite(on, status, failed_at);
}
static void cholesky_single(cli_bench_matrices *on) {
    on->backend->real64.potrf(on->n, on->work, on->n);
}
static wt_status cholesky_float(cli_bench_matrices *on) {
    size_t failed_at;
    wt_status status = wt_cholesky_float(on->context, on->n, on->work_float, on->n, &failed_at);
    return must_be_definite(on, status, failed_at);
}
static void cholesky_float_single(cli_bench_matrices *on) {
    on->backend->real32.potrf(on->n, on->work_float, on->n);
}

static void restore_sides(cli_bench_matrices *on) {
    memcpy(on->work, on->a, on->n * on->n * sizeof *on->work);
}
static wt_status solve_many(cli_bench_matrices *on) {
    return wt_solve_lower(on->context, WT_PLAIN, on->n, on->sides, on->factor, on->n, on->work,
                          on->n);
}
static void solve_many_single(cli_bench_matrices *on) {
    on->backend->real64.trsm_left(WT_PLAIN, on->n, on->sides, on->factor, on->n, on->work, on->n);
}
static wt_status solve_one(cli_bench_matrices *on) {
    return wt_solve_lower(on->context, WT_PLAIN, on->n, 1, on->factor, on->n, on->work, 1);
}
static void solve_one_single(cli_bench_matrices *on) {
    on->backend->real64.trsm_left(WT_PLAIN, on->n, 1, on->factor, on->n, on->work, 1);
}

static wt_status eigenvalues(cli_bench_matrices *on) {
    return wt_eigen_symmetric(on->context, on->small, on->work, on->n, false, on->values);
}
static wt_status singular_values(cli_bench_matrices *on) {
    return wt_svd(on->context, on->small, on->small, on->a, on->n, NULL, on->values, NULL);
}
static wt_status least_squares(cli_bench_matrices *on) {
    size_t rank;
    return wt_least_squares(on->context, 2 * on->small, on->small, 1, on->a, on->n, on->definite,
                            on->n, -1, on->work, 1, &rank);
}

static cli_bench_cost cost_of_gemm(const cli_bench_matrices *on) {
    double n = (double)on->n, k = (double)on->sides;
    return (cli_bench_cost){2 * n * n * k, 2 * n * k + n * n};
}
static cli_bench_cost cost_of_gram(const cli_bench_matrices *on) {
    double n = (double)on->n;
    return (cli_bench_cost){n * n * n, n * n + n * n / 2};
}
static cli_bench_cost cost_of_cholesky(const cli_bench_matrices *on) {
    double n = (double)on->n;
    return (cli_bench_cost){n * n * n / 3, n * n};
}
static cli_bench_cost cost_of_solve_many(const cli_bench_matrices *on) {
    double n = (double)on->n, k = (double)on->sides;
    return (cli_bench_cost){n * n * k, n * n / 2 + 2 * n * k};
}
static cli_bench_cost cost_of_solve_one(const cli_bench_matrices *on) {
    double n = (double)on->n;
    return (cli_bench_cost){n * n, n * n / 2 + 2 * n};
}
/* Of the decompositions the reduction to a band of two is counted, which is most of the work. */
static cli_bench_cost cost_of_eigenvalues(const cli_bench_matrices *on) {
    double n = (double)on->small;
    return (cli_bench_cost){4 * n * n * n / 3, n * n / 2};
}
static cli_bench_cost cost_of_singular_values(const cli_bench_matrices *on) {
    double n = (double)on->small;
    return (cli_bench_cost){8 * n * n * n / 3, n * n};
}
static cli_bench_cost cost_of_least_squares(const cli_bench_matrices *on) {
    double n = (double)on->small;
    return (cli_bench_cost){8 * n * n * n - 4 * n * n * n / 3, 2 * n * n};
}

const cli_bench_operation cli_bench_operations[CLI_BENCH_OPERATIONS] = {
    {"gemm", false, NULL, gemm, gemm_single, cost_of_gemm},
    {"gemm float", true, NULL, gemm_float, gemm_float_single, cost_of_gemm},
    {"gram", false, NULL, gram, gram_single, cost_of_gram},
    {"gram float", true, NULL, gram_float, gram_float_single, cost_of_gram},
    {"cholesky", false, cli_bench_restore, cli_bench_cholesky, cholesky_single, cost_of_cholesky},
    {"cholesky float", true, restore_definite_float, cholesky_float, cholesky_float_single,
     cost_of_cholesky},
    {"solve n/4 columns", false, restore_sides, solve_many, solve_many_single, cost_of_solve_many},
    {"solve 1 column", false, restore_sides, solve_one, solve_one_single, cost_of_solve_one},
    {"eigenvalues n/4", false, cli_bench_restore, eigenvalues, NULL, cost_of_eigenvalues},
    {"singular values n/4", false, NULL, singular_values, NULL, cost_of_singular_values},
    {"least squares n/4", false, NULL, least_squares, NULL, cost_of_least_squares},
};
