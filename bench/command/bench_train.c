/* `wattle bench train`: a training step of the published recipe, beside the machine's GEMM rate
 * and, where the user has one, beside another program's. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "bench.h"
#include "io/program.h"
#include "linalg/linalg.h"
#include "network/learn/trainer.h"
#include "wattle/network.h"

enum {
    LENGTH = 300, /* of the reference, as are the samples */
    SAMPLES = 100,
    STEPS = 20, /* a repetition */
    VALIDATION = 10000,
    GEMM_SIDE = 512, /* a few milliseconds, as a step: other programs disturb both alike */
    GEMM_TURNS = 30,
    COPIED = 1 << 22, /* floats */
    LARGE_LENGTH = 1100,
    LARGE_SAMPLES = 200,
    MOST_TIMES = 4096,
    PEER_SECONDS = 600,
};
#define REFERENCE_MS 143.0
#define REFERENCE                                                                                  \
    "PyTorch 1.13 in eager mode on 2 cores, T = 300, m = 100, dropout everywhere; measured once, " \
    "not in this run"

/* What is timed. */
typedef enum { ALL_DROPOUT, NO_EMBEDDING_DROPOUT, EVALUATION, EARLY_STOP, WORKS } work_kind;
static const char *const names[WORKS] = {"step, all dropout", "step, no embedding dropout",
                                         "evaluate 10^4 samples",
                                         "the same, stopped at 100 errors"};
static const char *const keys[WORKS] = {"step", "step_without_embedding_dropout", "evaluate",
                                        "evaluate_stopped"};

typedef struct {
    double best, median, mean; /* seconds */
    size_t judged;             /* samples of the last run */
} row;

/* Rates on one thread, and on all. */
typedef struct {
    double gemm, copy; /* flops and bytes a second */
    row rows[WORKS];
} column;

typedef struct {
    cli_call *call;
    const cli_bench_values *given;
    size_t length, samples;
    wt_network_spec spec;
    wt_bits *batch, *validation;
    column columns[2];
    int threads[2];
    size_t count; /* of columns: 1 when there is one thread */
    double large_bytes, peer_ms;
    size_t size;
} job;

static const wt_network_result nothing = WT_SIZED(wt_network_result);

static wt_status draw(job *work, size_t length, size_t samples, wt_bits **batch, wt_bits **held) {
    wt_context *context = work->call->context;
    wt_sparse_spec spec;
    wt_sparse_task *task = NULL;
    wt_status status;
    WT_INIT(wt_sparse_spec, &spec);
    spec.length = length;
    spec.seed = work->call->common.seed;
    WT_TRY(wt_sparse_task_new(context, &spec, &task));
    WT_TRY(wt_bits_new(context, samples, length, batch));
    WT_TRY(wt_bits_new(context, VALIDATION, length, held));
    WT_TRY(wt_sparse_task_draw(context, task, "train", 0, false, *batch));
    WT_TRY(wt_sparse_task_draw(context, task, "validate", 0, false, *held));
done:
    wt_sparse_task_free(task);
    return status;
}

/* A network with its parameters and Adam's moments. */
typedef struct {
    wt_network *network;
    float *parameters, *gradient, *first, *second;
    size_t size;
} trial;

static wt_status open_trial(job *work, size_t length, bool embedding_drop, trial *out) {
    wt_context *context = work->call->context;
    wt_network_spec spec = work->spec;
    *out = (trial){0};
    spec.length = length;
    spec.embedding_drop = embedding_drop ? spec.embedding_drop : 0;
    WT_PASS(wt_network_new(context, &spec, &out->network));
    out->size = wt_network_size(out->network);
    WT_PASS(WT_NEW(context, &out->parameters, out->size, "parameters"));
    WT_PASS(WT_NEW(context, &out->gradient, out->size, "a gradient"));
    WT_PASS(WT_NEW_ZERO(context, &out->first, out->size, "moments"));
    WT_PASS(WT_NEW_ZERO(context, &out->second, out->size, "moments"));
    wt_network_draw(out->network, work->call->common.seed, out->parameters);
    return WT_OK;
}

static void close_trial(trial *at) {
    wt_network_free(at->network);
    wt_release(at->parameters);
    wt_release(at->gradient);
    wt_release(at->first);
    wt_release(at->second);
}

/* A step is not done without it; the recipe's rate, decay and clip. */
static wt_status update(wt_context *context, trial *at, size_t step) {
    const wt_adam_rule rule = {.rate = 1e-3, .weight_decay = 1e-4, .clip = 1, .step = step};
    const wt_train_range all = {0, at->size};
    return wt_adam_update(context, &rule, &all, 1, at->gradient, at->parameters, at->first,
                          at->second);
}

static wt_status do_once(job *work, work_kind kind, trial *at, size_t step, size_t *judged) {
    wt_context *context = work->call->context;
    wt_network_result result = nothing;
    wt_status status;
    if (kind == EVALUATION || kind == EARLY_STOP)
        status = wt_network_evaluate(context, at->network, at->parameters, work->validation,
                                     kind == EVALUATION ? SIZE_MAX : VALIDATION / 100, &result);
    else
        status = wt_network_gradient(context, at->network, at->parameters, work->batch,
                                     work->call->common.seed, step, at->gradient, &result);
    if (status == WT_OK && kind <= NO_EMBEDDING_DROPOUT)
        status = update(context, at, step);
    *judged = result.samples;
    return status;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static wt_status time_work(job *work, work_kind kind, row *out) {
    double times[MOST_TIMES] = {0};
    size_t each = kind <= NO_EMBEDDING_DROPOUT ? STEPS : 2, count = each * work->given->repeats;
    trial at;
    wt_status status;
    count = count < MOST_TIMES ? count : MOST_TIMES;
    WT_TRY(open_trial(work, work->length, kind == ALL_DROPOUT, &at));
    WT_TRY(do_once(work, kind, &at, 1, &out->judged)); /* touches the memory */
    for (size_t i = 0; i < count; i++) {
        double start = wt_clock();
        WT_TRY(do_once(work, kind, &at, i + 2, &out->judged));
        times[i] = wt_clock() - start;
        out->mean += times[i] / (double)count;
    }
    qsort(times, count, sizeof *times, by_size);
    out->best = times[0];
    out->median = times[count / 2];
    work->size = at.size;
done:
    close_trial(&at);
    return status;
}

/* Products and sums as our paths do them: transformer.h and transformer_fast.h. */
static double flops_of(const job *work, work_kind kind, const row *one) {
    double d = (double)work->spec.dim, heads = (double)work->spec.heads, hidden = 4 * d;
    double n = (double)work->length + 1, m = (double)work->samples, rows = 2 * n - 1;
    double tail = 2 * (d * d + 2 * d * hidden);
    if (kind == ALL_DROPOUT) /* 6 products with the tokens, 9 of d x d beside the tail */
        return m * (12 * n * d * heads + 18 * d * d + 3 * tail);
    double tables = 2 * rows * d * (d + heads);
    if (kind == NO_EMBEDDING_DROPOUT)
        return 3 * tables + m * (6 * n * d + 3 * tail);
    return tables + (double)one->judged * (n / 4 * (d + heads) + tail);
}

/* Numbers read and written once: parameters, gradient, moments, bits. */
static double bytes_of(const job *work, work_kind kind, const row *one) {
    double size = (double)work->size, length = (double)work->length;
    if (kind <= NO_EMBEDDING_DROPOUT)
        return 4 * 8 * size + (double)work->samples * length;
    return 4 * size + (double)one->judged * length;
}

typedef struct {
    float *to;
    const float *from;
} copying;

static wt_status copy_chunk(void *argument, size_t begin, size_t end, int worker) {
    const copying *run = argument;
    (void)worker;
    memcpy(run->to + begin, run->from + begin, (end - begin) * sizeof *run->to);
    return WT_OK;
}

static wt_status time_machine(job *work, column *out) {
    wt_context *context = work->call->context;
    size_t side = GEMM_SIDE;
    float *a = NULL, *c = NULL;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &a, COPIED, "memory to measure with"));
    WT_TRY(WT_NEW_ZERO(context, &c, COPIED, "memory to measure with"));
    for (int turn = 0; turn < GEMM_TURNS; turn++) {
        double start = wt_clock();
        WT_TRY(wt_gemm_float(context, WT_PLAIN, WT_PLAIN, side, side, side, 1, a, side, a, side, 0,
                             c, side));
        out->gemm = fmax(out->gemm, 2 * pow(GEMM_SIDE, 3) / (wt_clock() - start));
        copying run = {c, a};
        start = wt_clock();
        WT_TRY(wt_parallel_for(context, COPIED, COPIED / 64, copy_chunk, &run));
        out->copy = fmax(out->copy, 8.0 * COPIED / (wt_clock() - start));
    }
done:
    wt_release(a);
    wt_release(c);
    return status;
}

static wt_status time_column(job *work, size_t index) {
    column *to = &work->columns[index];
    WT_PASS(wt_context_set_threads(work->call->context, work->threads[index]));
    WT_PASS(time_machine(work, to));
    for (int kind = 0; kind < WORKS; kind++)
        WT_PASS(time_work(work, (work_kind)kind, &to->rows[kind]));
    return WT_OK;
}

/* All that a trial holds at the largest published size: bits, parameters, moments, work. */
static wt_status weigh(job *work) {
    wt_context *context = work->call->context;
    size_t before = wt_context_memory_used(context);
    wt_bits *batch = NULL, *held = NULL;
    wt_network_result result = nothing;
    trial at = {0};
    wt_status status;
    WT_TRY(draw(work, LARGE_LENGTH, LARGE_SAMPLES, &batch, &held));
    WT_TRY(open_trial(work, LARGE_LENGTH, true, &at));
    WT_TRY(
        wt_network_gradient(context, at.network, at.parameters, batch, 1, 1, at.gradient, &result));
    WT_TRY(
        wt_network_evaluate(context, at.network, at.parameters, held, VALIDATION / 100, &result));
    work->large_bytes = (double)(wt_context_memory_used(context) - before);
done:
    close_trial(&at);
    wt_bits_free(batch);
    wt_bits_free(held);
    return status;
}

/* The number before "ms/step" in what the peer prints, its mean over steps. */
static wt_status run_peer(job *work) {
    wt_context *context = work->call->context;
    const char *const words[] = {"sh", "-c", work->given->peer, NULL};
    wt_program program = {.words = words, .install = "a shell", .seconds = PEER_SECONDS};
    char *text = NULL, *end;
    size_t bytes;
    wt_status status;
    WT_TRY(wt_program_run(context, &program, &text, &bytes));
    char *unit = strstr(text, " ms/step"), *number = unit;
    while (number != NULL && number > text && strchr("0123456789.", number[-1]) != NULL)
        number--;
    work->peer_ms = number == NULL || number == unit ? 0 : strtod(number, &end);
    if (!(work->peer_ms > 0))
        status =
            wt_fail(context, WT_UNAVAILABLE, "'%s' printed no '... ms/step'", work->given->peer);
done:
    wt_release(text);
    return status;
}

static bool as_reference(const job *work) {
    return work->length == LENGTH && work->samples == SAMPLES;
}

/* A peer prints its mean over steps, and the reference is taken as one: ours beside them. */
static void print_row(const job *work, const column *at, int threads, work_kind kind) {
    const row *one = &at->rows[kind];
    double flops = flops_of(work, kind, one), rate = flops / one->best;
    double flops_ms = 1e3 * flops / at->gemm, bytes_ms = 1e3 * bytes_of(work, kind, one) / at->copy;
    cli_print("%-32s %3d %9.3f %9.3f %9.3f %8.1f %7.0f%% %9.3f %9.3f", names[kind], threads,
              1e3 * one->best, 1e3 * one->median, 1e3 * one->mean, 1e-9 * rate,
              100 * rate / at->gemm, flops_ms, bytes_ms);
    if (kind <= NO_EMBEDDING_DROPOUT && as_reference(work))
        printf(" %8.0fx", 1e-3 * REFERENCE_MS / one->mean);
    else
        cli_print(" %9s", "-");
    if (work->peer_ms > 0 && kind <= NO_EMBEDDING_DROPOUT)
        printf(" %7.0fx", 1e-3 * work->peer_ms / one->mean);
    printf("\n");
}

static void print_table(const job *work) {
    printf(
        "and:3, T = %zu, m = %zu, d = %zu, %zu heads; a step is the gradient and Adam's update.\n"
        "Limits: the arithmetic at the GEMM rate (float, same run, same threads), the least "
        "traffic at the rate of copying.\n",
        work->length, work->samples, work->spec.dim, work->spec.heads);
    for (size_t c = 0; c < work->count; c++)
        cli_print("%d thread%s: GEMM %.1f GFLOP/s, copying %.1f GB/s\n", work->threads[c],
                  work->threads[c] == 1 ? "" : "s", 1e-9 * work->columns[c].gemm,
                  1e-9 * work->columns[c].copy);
    cli_print("\n%-32s %3s %9s %9s %9s %8s %8s %9s %9s %9s", "", "thr", "best ms", "median", "mean",
              "GFLOP/s", "of GEMM", "flops ms", "bytes ms", "reference");
    cli_print(work->peer_ms > 0 ? " %8s\n" : "%s\n", work->peer_ms > 0 ? "peer" : "");
    for (int kind = 0; kind < WORKS; kind++)
        for (size_t c = 0; c < work->count; c++)
            print_row(work, &work->columns[c], work->threads[c], (work_kind)kind);
    cli_print("\nGFLOP/s and of GEMM are by the best; times of others are over the mean.\n"
              "reference: %.0f ms a step: %s.\n",
              REFERENCE_MS, REFERENCE);
    if (work->peer_ms > 0)
        printf("peer: %.2f ms a step, the mean it printed in this run.\n", work->peer_ms);
    printf("a trial at T = %d, m = %d with all dropout holds %.1f MB, %d validation samples "
           "included.\n",
           LARGE_LENGTH, LARGE_SAMPLES, 1e-6 * work->large_bytes, VALIDATION);
}

static json_t *column_json(const job *work, size_t index) {
    const column *at = &work->columns[index];
    json_t *object =
        json_pack("{s:i, s:f, s:f}", "threads", work->threads[index], "gemm_float_gflops",
                  1e-9 * at->gemm, "copy_gbytes_per_second", 1e-9 * at->copy);
    for (int kind = 0; kind < WORKS; kind++) {
        const row *one = &at->rows[kind];
        double flops = flops_of(work, (work_kind)kind, one);
        json_object_set_new(object, keys[kind],
                            json_pack("{s:f, s:f, s:f, s:I, s:f, s:f, s:f}", "best_ms",
                                      1e3 * one->best, "median_ms", 1e3 * one->median, "mean_ms",
                                      1e3 * one->mean, "judged", (json_int_t)one->judged, "flops",
                                      flops, "bytes", bytes_of(work, (work_kind)kind, one),
                                      "gflops", 1e-9 * flops / one->best));
    }
    return object;
}

static wt_status print_json(const job *work) {
    json_t *list = json_array();
    for (size_t c = 0; c < work->count; c++)
        json_array_append_new(list, column_json(work, c));
    return cli_emit_json(
        work->call, json_pack("{s:I, s:I, s:o, s:f, s:s, s:o, s:f}", "length",
                              (json_int_t)work->length, "samples", (json_int_t)work->samples,
                              "runs", list, "reference_ms", REFERENCE_MS, "reference", REFERENCE,
                              "peer_ms", cli_json_real(work->peer_ms > 0 ? work->peer_ms : NAN),
                              "trial_bytes", work->large_bytes));
}

wt_status cli_bench_train(cli_call *call, const cli_bench_values *given) {
    job work = {.call = call, .given = given, .count = 1, .threads = {1, 1}};
    int threads = wt_context_threads(call->context);
    wt_status status;
    work.length = cli_given(call, "n") ? given->n : LENGTH;
    work.samples = given->samples;
    WT_INIT(wt_network_spec, &work.spec);
    if (threads > 1) {
        work.count = 2;
        work.threads[1] = threads;
    }
    WT_TRY(draw(&work, work.length, work.samples, &work.batch, &work.validation));
    wt_meter meter = wt_meter_start(call->context, "columns", (double)work.count);
    for (size_t c = 0; c < work.count; c++, wt_meter_set(&meter, (double)c)) {
        wt_meter_enter(&meter, work.threads[c] == 1 ? "one thread" : "all threads");
        WT_TRY(time_column(&work, c));
    }
    if (given->peer != NULL)
        WT_TRY(run_peer(&work));
    WT_TRY(weigh(&work));
    if (call->common.json)
        WT_TRY(print_json(&work));
    else
        print_table(&work);
done:
    wt_bits_free(work.batch);
    wt_bits_free(work.validation);
    return status;
}
