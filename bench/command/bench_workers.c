/* `wattle bench workers`: small layers recovered by several workers at a time, as a sweep does,
 * beside one worker. Locks and memory that they share show as time that they wait or spend more. So
 * does a machine whose processors slow down together: products of small matrices, a worker each,
 * tell what it leaves them. */
#include <stdio.h>
#include <time.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "bench.h"
#include "layer/learn/recovery.h"
#include "linalg/linalg.h"
#include "wattle/random.h"
#include "wattle/recover.h"

/* Boolean sequences, p = d; n is 5 N_min. `layers`: how many a worker recovers, for about half a
 * second.
 */
static const struct {
    size_t heads, dim, length, n, layers;
} cases[] = {{4, 8, 4, 80, 8}, {4, 16, 4, 160, 2}};
enum { CASES = sizeof cases / sizeof *cases, MOST_ROWS = 16 };
enum { ORDER = 192, PRODUCTS = 40, BATCHES = 8 }; /* batches of so many products a worker */

/* The best of the repetitions, by wall time. */
typedef struct {
    int workers;
    double seconds, processor; /* a layer, over all workers: wall and processor time */
    double product;            /* a batch of products, over all workers */
} row;

typedef struct {
    cli_call *call;
    size_t at; /* the case in hand */
    row rows[CASES][MOST_ROWS];
    size_t row_count;
} job;

/* Items: layers. */
static wt_status recover_some(void *argument, size_t begin, size_t end, int worker) {
    const job *work = argument;
    wt_context *context = work->call->context;
    size_t d = cases[work->at].dim;
    wt_status status = WT_OK;
    (void)worker;
    for (size_t i = begin; status == WT_OK && i < end; i++) {
        /* every worker of a run gets the same layers */
        uint64_t seed = work->call->common.seed + i % cases[work->at].layers;
        const wt_teacher_options made_as = {.size = sizeof made_as,
                                            .heads = cases[work->at].heads,
                                            .dim = d,
                                            .scale = 2,
                                            .seed = seed};
        wt_recover_options options;
        WT_INIT(wt_recover_options, &options);
        wt_layer *teacher = NULL, *layer = NULL;
        wt_sequences *data = NULL;
        wt_recover_report report = WT_SIZED(wt_recover_report);
        options.heads = cases[work->at].heads;
        options.seed = seed;
        WT_TRY(wt_layer_teacher(context, &made_as, &teacher));
        WT_TRY(wt_sequences_new(context, cases[work->at].n, cases[work->at].length, d, d, &data));
        WT_TRY(wt_layer_draw(context, teacher, WT_LAW_BOOLEAN, 1, 0, seed, 0, data));
        WT_TRY(wt_refine(context, data, &options, &layer, &report));
    done:
        wt_layer_free(teacher);
        wt_layer_free(layer);
        wt_sequences_free(data);
    }
    return status;
}

/* Items: batches of products. */
static wt_status multiply_some(void *argument, size_t begin, size_t end, int worker) {
    const job *work = argument;
    wt_context *context = work->call->context;
    double *a = NULL;
    wt_status status;
    (void)worker;
    WT_TRY(WT_NEW3(context, &a, 3, ORDER, ORDER, "small matrices"));
    wt_random_normal(wt_stream_for(0, "product", 0), 0, 3 * ORDER * ORDER, a);
    for (size_t i = begin * PRODUCTS; i < end * PRODUCTS; i++)
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, ORDER, ORDER, ORDER, 1, a, ORDER,
                       a + ORDER * ORDER, ORDER, 0, a + 2 * ORDER * ORDER, ORDER));
done:
    wt_release(a);
    return status;
}

static wt_status time_products(job *work, row *to) {
    size_t batches = BATCHES * (size_t)to->workers;
    double start = wt_clock();
    WT_PASS(wt_parallel_for(work->call->context, batches, 1, multiply_some, work));
    double seconds = (wt_clock() - start) / (double)batches;
    if (to->product == 0 || seconds < to->product)
        to->product = seconds;
    return WT_OK;
}

static wt_status time_row(job *work, row *to) {
    wt_context *context = work->call->context;
    size_t layers = cases[work->at].layers * (size_t)to->workers;
    WT_PASS(wt_context_set_threads(context, to->workers));
    double start = wt_clock();
    clock_t processor = clock();
    WT_PASS(wt_parallel_for(context, layers, 1, recover_some, work));
    double seconds = (wt_clock() - start) / (double)layers;
    if (to->seconds == 0 || seconds < to->seconds) {
        to->seconds = seconds;
        to->processor = (double)(clock() - processor) / CLOCKS_PER_SEC / (double)layers;
    }
    return time_products(work, to);
}

/* What each worker past the first adds, as a part of the first. */
static double of_extra(int workers, double one, double all) {
    return (one / all - 1) / (workers - 1);
}

static void print_table(const job *work, size_t repeats) {
    printf(
        "refine on Boolean sequences of random teachers, p = d, a layer a worker at a time; best "
        "of %zu.\n"
        "'extra' is what each worker past the first adds, of the first; 'GEMM' the same for "
        "products "
        "of\nmatrices of order %d, a worker each: what the machine leaves; 'processor' the time a "
        "layer takes over all workers.\n\n",
        repeats, ORDER);
    cli_print("%3s %3s %3s %8s %10s %9s %7s %7s %13s\n", "d", "m", "k", "workers", "layers/s",
              "speed-up", "extra", "GEMM", "processor ms");
    for (size_t c = 0; c < CASES; c++)
        for (size_t i = 0; i < work->row_count && work->rows[c][0].seconds > 0; i++) {
            const row *one = &work->rows[c][0], *at = &work->rows[c][i];
            printf("%3zu %3zu %3zu %8d %10.1f %9.2f ", cases[c].dim, cases[c].heads,
                   cases[c].length, at->workers, 1 / at->seconds, one->seconds / at->seconds);
            if (at->workers > 1)
                printf("%7.2f %7.2f", of_extra(at->workers, one->seconds, at->seconds),
                       of_extra(at->workers, one->product, at->product));
            else
                cli_print("%7s %7s", "-", "-");
            printf(" %13.2f\n", 1e3 * at->processor);
        }
}

static json_t *extra_json(int workers, double one, double all) {
    return workers > 1 ? cli_json_real(of_extra(workers, one, all)) : json_null();
}

static wt_status print_json(const job *work) {
    json_t *list = json_array();
    for (size_t c = 0; c < CASES; c++)
        for (size_t i = 0; i < work->row_count && work->rows[c][0].seconds > 0; i++) {
            const row *one = &work->rows[c][0], *at = &work->rows[c][i];
            json_array_append_new(
                list,
                json_pack("{s:I, s:I, s:I, s:I, s:i, s:f, s:f, s:o, s:o, s:f}", "dim",
                          (json_int_t)cases[c].dim, "heads", (json_int_t)cases[c].heads, "length",
                          (json_int_t)cases[c].length, "examples", (json_int_t)cases[c].n,
                          "workers", at->workers, "layers_per_second", 1 / at->seconds, "speed_up",
                          one->seconds / at->seconds, "of_extra_worker",
                          extra_json(at->workers, one->seconds, at->seconds),
                          "gemm_of_extra_worker",
                          extra_json(at->workers, one->product, at->product), "processor_ms",
                          1e3 * at->processor));
        }
    return cli_emit_json(work->call, json_pack("{s:s, s:o}", "bench", "workers", "rows", list));
}

wt_status cli_bench_workers(cli_call *call, const cli_bench_values *given) {
    int threads = wt_context_threads(call->context);
    job work = {.call = call};
    wt_status status = WT_OK;
    /* 1, 2, 4 ... and all */
    for (int workers = 1; work.row_count + 1 < MOST_ROWS && workers < threads; workers *= 2)
        work.rows[0][work.row_count++].workers = workers;
    work.rows[0][work.row_count++].workers = threads;
    for (size_t c = 1; c < CASES; c++)
        for (size_t i = 0; i < work.row_count; i++)
            work.rows[c][i].workers = work.rows[0][i].workers;
    wt_meter meter = wt_meter_start(call->context, "rounds", (double)given->repeats);
    for (size_t r = 0; r < given->repeats; r++, wt_meter_set(&meter, (double)r))
        for (work.at = 0; work.at < CASES; work.at++)
            for (size_t i = 0; cases[work.at].dim <= given->n && i < work.row_count; i++) {
                wt_meter_tell(&meter, (double)r, "d = %zu, %d workers", cases[work.at].dim,
                              work.rows[work.at][i].workers);
                WT_TRY(time_row(&work, &work.rows[work.at][i]));
            }
    if (call->common.json)
        WT_TRY(print_json(&work));
    else
        print_table(&work, given->repeats);
done:
    call->context->threads = threads;
    return status;
}
