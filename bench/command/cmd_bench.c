#include <string.h>

#include "bench.h"
#include "commands.h"

static const struct {
    const char *name;
    wt_status (*run)(cli_call *call, const cli_bench_values *values);
} benches[] = {
    {"linalg", cli_bench_linalg},   {"blas", cli_bench_blas},   {"curve", cli_bench_curve},
    {"recover", cli_bench_recover}, {"train", cli_bench_train}, {"workers", cli_bench_workers},
    {"device", cli_bench_device},
};

static wt_status run(cli_call *call) {
    size_t i = 0; /* the parser has found the word among those of the operands */
    while (strcmp(benches[i].name, call->operands[0]) != 0)
        i++;
    const cli_bench_values *values = call->values;
    if (benches[i].run != cli_bench_device && strcmp(values->device, "host") != 0)
        return wt_fail(call->context, WT_USAGE, "bench %s measures the host; --device goes with %s",
                       benches[i].name, "bench device");
    WT_PASS(cli_choose_device(call, values->device));
    return benches[i].run(call, values);
}

static const cli_option options[] = {
    {"n", 'n', CLI_COUNT, offsetof(cli_bench_values, n), "N", "4096",
     "Size of the problem: the order of the matrices, the largest sample size, the largest "
     "dimension of bench recover and workers, the bits of bench train (there 300 by default)."},
    {"repeats", 0, CLI_COUNT, offsetof(cli_bench_values, repeats), "R", "5",
     "How often each measurement is made; the best counts, beside a peer the mean."},
    {"export", 0, CLI_OUTPUT, offsetof(cli_bench_values, export), "FILE.npz", NULL,
     "Data, weights and test errors of bench curve (.npz), for another program to repeat."},
    {"samples", 0, CLI_COUNT, offsetof(cli_bench_values, samples), "M", "100",
     "Samples a step of bench train."},
    {"peer", 0, CLI_TEXT, offsetof(cli_bench_values, peer), "COMMAND", NULL,
     "A shell command that trains the same and prints '... ms/step', its mean; run beside bench "
     "train and set beside our mean."},
    CLI_DEVICE(offsetof(cli_bench_values, device)),
};

const cli_command cli_bench = {
    .name = "bench",
    .summary = "measure how fast the library is on this machine",
    .operands = "linalg|blas|curve|recover|train|workers|device",
    .words = 1,
    .description =
        "linalg: every operation of the linear algebra beside the same operation as one "
        "BLAS or LAPACK call on one thread, and beside the machine's GEMM rate, all measured in "
        "the same run, in turn.\n\n"
        "'of T x one' is the rate over threads times the one-thread rate of the same call, 'of T "
        "x GEMM' the same for GEMM in the same precision. 'limit' says what bounds the operation "
        "from below: its arithmetic at the GEMM rate of all threads, or its least traffic (inputs "
        "read once, outputs written once) at the measured rate of copying memory.\n\n"
        "blas: the GEMM rate on one thread with the kernels of OpenBLAS that are chosen by "
        "what the processor can do, beside every core type it can run, set by hand, each in a "
        "process of its own.\n\n"
        "curve: one repetition of the learning curve of the paper, as reconstructed, step "
        "by step, beside the "
        "GEMM rate, and the Gram matrix of infinitely many heads. bench/curve runs it beside a "
        "NumPy script on the same data.\n\n"
        "recover: refine on random teachers of growing dimension, its rate beside GEMM, "
        "the examples used beside the information limit N_min, and Adam on the same data.\n\n"
        "train: a training step of the published sparse-AND recipe with all dropout and "
        "without that of token vectors, and judging 10,000 samples, on one thread and on all, "
        "beside the GEMM rate and the limits of arithmetic and traffic. bench/peers/and_train.py "
        "is a peer for --peer, in PyTorch.\n\n"
        "workers: small layers recovered by 1, 2, 4 and so on workers at a time, up to "
        "--threads, and what each worker past the first adds, beside what it adds to "
        "products of small matrices.\n\n"
        "device: a repetition of the same learning curve as the command runs it, drawing "
        "included, on the host or on a GPU (--device), alone and among many; the median. bench/gpu "
        "sets it beside PyTorch on the same GPU.",
    .examples =
        "wattle bench linalg\nwattle bench linalg --n 1024 --threads 1 --json\n"
        "wattle bench blas --repeats 2\nwattle bench curve\nwattle bench recover --repeats 1\n"
        "wattle bench train\n"
        "wattle bench workers --threads 2 --n 8\n"
        "wattle bench device --device cuda\n"
        "wattle bench train --peer 'python3 bench/peers/and_train.py 300 100 20'",
    CLI_OPTIONS(options, cli_bench_values),
    .run = run,
};
