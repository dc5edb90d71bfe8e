/* The operations that `wattle bench linalg` measures. */
#ifndef CLI_BENCH_LINALG_H
#define CLI_BENCH_LINALG_H

#include "linalg/backend.h"

/* Matrices are n x n by rows, `sides` = n/4 the terms of GEMM and the columns of a solve, `small`
 * = n/4 the order of the decompositions. */
typedef struct {
    wt_context *context;
    const wt_backend *backend;
    wt_blas blas;
    size_t n, sides, small;
    double *a, *definite, *factor, *work, *values;
    float *a_float, *work_float;
} cli_bench_matrices;

/* What an operation must do at the least. */
typedef struct {
    double flops;
    double elements; /* of the matrices read once and written once */
} cli_bench_cost;

typedef struct {
    const char *name;
    bool is_float;
    void (*restore)(
        cli_bench_matrices *on); /* the input, before each run; NULL: nothing is spoilt */
    wt_status (*ours)(cli_bench_matrices *on);
    void (*single)(
        cli_bench_matrices *on); /* the same by one BLAS or LAPACK call; NULL: ours is that call */
    cli_bench_cost (*cost)(const cli_bench_matrices *on);
} cli_bench_operation;

/* GEMM in double and in float are the first two. */
enum { CLI_BENCH_OPERATIONS = 11 };
extern const cli_bench_operation cli_bench_operations[CLI_BENCH_OPERATIONS];

/* The same matrix for every repetition; WT_INTERNAL if it turns out not to be definite. */
void cli_bench_restore(cli_bench_matrices *on);
wt_status cli_bench_cholesky(cli_bench_matrices *on);

#endif
