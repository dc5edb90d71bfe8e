/* `wattle bench blas`: the kernels we choose beside those that can be set by hand. The rates are
 * those that `wattle selfcheck --json` prints: a library's kernels are chosen once a process. */
#define _DEFAULT_SOURCE /* readlink, strcasecmp */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/memory.h"
#include "bench.h"
#include "io/program.h"
#include "linalg/cores.h"

enum { MOST_ROWS = 32, PATH_BYTES = 4096, SECONDS = 600 };

/* The first is our choice. Rates in GFLOP/s, the best of the repetitions. */
typedef struct {
    const char *asked; /* NULL: nothing, the choice is ours */
    char kernels[64];  /* which ran */
    double real64, real32;
} row;

typedef struct {
    cli_call *call;
    char program[PATH_BYTES];
    row rows[MOST_ROWS];
    size_t count;
} job;

static double rate_of(const json_t *all, const char *key) {
    return json_number_value(json_object_get(json_object_get(all, key), "one_thread"));
}

static wt_status measure(job *work, row *to) {
    wt_context *context = work->call->context;
    char variable[100];
    snprintf(variable, sizeof variable, "OPENBLAS_CORETYPE=%s", to->asked == NULL ? "" : to->asked);
    /* `env -u NAME PROGRAM` or `env NAME=VALUE PROGRAM` */
    const char *const ours[] = {
        "env",     "-u",     "OPENBLAS_CORETYPE", work->program, "selfcheck",
        "--rates", "--json", "--threads",         "1",           NULL};
    const char *const asked[] = {"env",    variable,    work->program, "selfcheck", "--rates",
                                 "--json", "--threads", "1",           NULL};
    const wt_program program = {.words = to->asked == NULL ? ours : asked, .seconds = SECONDS};
    char *text = NULL;
    size_t bytes;
    json_t *all = NULL;
    wt_status status;
    WT_TRY(wt_program_run(context, &program, &text, &bytes));
    all = json_loadb(text, bytes, 0, NULL);
    const char *kernels = json_string_value(json_object_get(all, "blas_kernels"));
    if (kernels == NULL) {
        status = wt_fail(context, WT_INTERNAL, "selfcheck --json told no kernels");
        goto done;
    }
    snprintf(to->kernels, sizeof to->kernels, "%s", kernels);
    to->real64 = fmax(to->real64, rate_of(all, "gemm_gflops"));
    to->real32 = fmax(to->real32, rate_of(all, "gemm_float_gflops"));
done:
    wt_release(text);
    json_decref(all);
    return status;
}

/* A library that does not know a core type runs another one: that row is none. */
static bool counts(const row *at) {
    return at->asked == NULL || strcasecmp(at->asked, at->kernels) == 0;
}

static row best_of(const job *work) {
    row best = {0};
    for (size_t i = 0; i < work->count; i++)
        if (counts(&work->rows[i])) {
            best.real64 = fmax(best.real64, work->rows[i].real64);
            best.real32 = fmax(best.real32, work->rows[i].real32);
        }
    return best;
}

static void print_table(const job *work, size_t repeats) {
    row best = best_of(work);
    char cpu[WT_PROCESSOR_TEXT];
    cli_print("%s: GEMM on one thread in GFLOP/s, as selfcheck measures it; best of %zu.\n\n",
              wt_machine_processor(cpu), repeats);
    cli_print("%-24s %8s %8s %8s %8s\n", "kernels", "double", "of best", "float", "of best");
    for (size_t i = 0; i < work->count; i++) {
        const row *at = &work->rows[i];
        char name[100];
        snprintf(name, sizeof name, at->asked == NULL ? "chosen: %s" : "%s", at->kernels);
        if (counts(at))
            cli_print("%-24s %8.1f %7.0f%% %8.1f %7.0f%%\n", name, at->real64,
                      100 * at->real64 / best.real64, at->real32, 100 * at->real32 / best.real32);
    }
}

static json_t *row_json(const row *at, const row *best) {
    return json_pack("{s:s, s:f, s:f, s:f, s:f}", "kernels", at->kernels, "gemm_gflops", at->real64,
                     "of_best", at->real64 / best->real64, "gemm_float_gflops", at->real32,
                     "of_best_float", at->real32 / best->real32);
}

static wt_status print_json(const job *work) {
    row best = best_of(work);
    char cpu[WT_PROCESSOR_TEXT];
    json_t *list = json_array();
    for (size_t i = 1; i < work->count; i++)
        if (counts(&work->rows[i]))
            json_array_append_new(list, row_json(&work->rows[i], &best));
    return cli_emit_json(work->call, json_pack("{s:s, s:s, s:o, s:o}", "bench", "blas", "cpu",
                                               wt_machine_processor(cpu), "chosen",
                                               row_json(&work->rows[0], &best), "by_hand", list));
}

wt_status cli_bench_blas(cli_call *call, const cli_bench_values *values) {
    unsigned features = wt_cpu_features();
    job work = {.call = call, .count = 1};
    const wt_core *core;
    ssize_t length = readlink("/proc/self/exe", work.program, sizeof work.program - 1);
    if (length < 0)
        return wt_fail(call->context, WT_UNAVAILABLE,
                       "bench blas runs this program again, and /proc does not say where it is");
    for (size_t i = 0; (core = wt_core_at(i)) != NULL && work.count < MOST_ROWS; i++)
        if (wt_core_runs(core, features))
            work.rows[work.count++].asked = core->name;
    wt_meter meter = wt_meter_start(call->context, "runs", (double)(values->repeats * work.count));
    for (size_t r = 0; r < values->repeats; r++)
        for (size_t i = 0; i < work.count; i++) {
            wt_meter_enter(&meter, i == 0 ? "core type in use" : work.rows[i].asked);
            WT_PASS(measure(&work, &work.rows[i]));
            wt_meter_set(&meter, (double)(r * work.count + i + 1));
        }
    if (call->common.json)
        WT_PASS(print_json(&work));
    else
        print_table(&work, values->repeats);
    return WT_OK;
}
