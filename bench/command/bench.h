/* The benches of `wattle bench`: a new one is a row of the table in cmd_bench.c and a file. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "command.h"

typedef struct cli_bench_values {
    size_t n, repeats;
    const char *export; /* of bench curve; NULL = nothing */
    size_t samples;     /* of bench train, */
    const char *peer;   /* and a command to run beside it; NULL = none */
    const char *device;
} cli_bench_values;

/* Each prints its result itself, as a table or as one JSON object. */
wt_status cli_bench_linalg(cli_call *call, const cli_bench_values *values);
wt_status cli_bench_blas(cli_call *call, const cli_bench_values *values);
wt_status cli_bench_workers(cli_call *call, const cli_bench_values *values);
wt_status cli_bench_device(cli_call *call, const cli_bench_values *values);
wt_status cli_bench_curve(cli_call *call, const cli_bench_values *values);
wt_status cli_bench_recover(cli_call *call, const cli_bench_values *values);
wt_status cli_bench_train(cli_call *call, const cli_bench_values *values);

#endif
