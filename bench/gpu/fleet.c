/* Fleets on a GPU: milliseconds a network for a step and a judgement, beside what the chip allows.
 * usage: bench_fleet [FOLDER-OF-THE-PLUGIN [JOB]]
 * The peer is bench/peers/and_train.py, run on the same machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "network/learn/fleet_parts.h"

enum { TIMES = 5, MOST = 512 };

/* Of one H200: products in float outside the tensor units, and memory. */
#define RATE  67e12
#define BYTES 4.8e12

typedef struct {
    const char *name, *model;
    size_t length, samples, networks, steps, judged; /* judged: 0 = steps are timed */
    double tokens;                                   /* dropout of token vectors */
} job;

static const job jobs[] = {
    {"step, all dropout", "transformer", 300, 100, 256, 10, 0, 0.1},
    {"step, no embedding dropout", "transformer", 300, 100, 256, 10, 0, 0},
    {"judging 10,000", "transformer", 300, 100, 256, 0, 10000, 0.1},
    {"judging 512", "transformer", 300, 100, 256, 0, 512, 0.1},
    {"step, all dropout, T = 1100", "transformer", 1100, 200, 64, 5, 0, 0.1},
    {"step of 64", "transformer", 300, 100, 64, 10, 0, 0.1},
    {"step of one", "transformer", 300, 100, 1, 10, 0, 0.1},
    {"step of perceptrons", "mlp", 300, 100, 256, 10, 0, 0},
    {"judging 10,000 by perceptrons", "mlp", 300, 100, 256, 0, 10000, 0},
    {"step of heads", "head", 300, 100, 256, 10, 0, 0},
};
enum { JOBS = sizeof jobs / sizeof *jobs };

/* Flops that the way taken needs, and bytes that must go through memory: parameters and moments,
 * there and back, and the training set. */
static void limits(const job *of, size_t size, double *flops, double *bytes) {
    double n = (double)of->length + 1, d = 64, heads = 16, m = (double)of->samples;
    double tail = 2 * (2 * d * d + 8 * d * d), judged = (double)of->judged;
    *bytes = 7.0 * 4 * (double)size + m * n;
    *flops = m * (12 * n * d * heads + 18 * d * d + 3 * tail);
    if (of->tokens == 0) /* scores and values of 2 n vectors, once */
        *flops = 12 * n * d * (d + heads) + m * (6 * n * (d + heads) + 3 * tail);
    if (strcmp(of->model, "mlp") == 0)
        *flops = m * 6 * (n * 4 * d + 16 * d * d);
    if (strcmp(of->model, "head") == 0)
        *flops = m * 6 * (n * d + d * d);
    if (of->judged > 0) {
        *bytes = 4.0 * (double)size;
        *flops = strcmp(of->model, "mlp") == 0 ? judged * 2 * (n * 4 * d + 16 * d * d)
                                               : judged * (n / 4 * (d + heads) + tail);
    }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static wt_status open_all(wt_context *context, const job *of, wt_train_spec *setting,
                          wt_fleet_crew *crew) {
    size_t slots[MOST];
    wt_train_spec given;
    WT_INIT(wt_train_spec, &given);
    given.model = of->model;
    given.length = of->length;
    given.samples = of->samples;
    given.validate = 100000;
    given.steps = 100000;
    if (strcmp(of->model, "transformer") == 0)
        given.embedding_dropout = of->tokens;
    WT_PASS(wt_train_spec_read(context, &given, setting));
    crew->device = wt_context_get_device(context);
    crew->engine = crew->device->fleet;
    WT_PASS(wt_fleet_open(context, crew, setting, of->samples, of->networks));
    for (size_t slot = 0; slot < crew->slots; slot++) {
        wt_fleet_member *one = &crew->members[slot];
        one->setting = *setting;
        one->setting.seed = slot;
        one->live = true;
        slots[slot] = slot;
        WT_PASS(wt_train_task_open(context, &one->setting, &one->task));
        WT_PASS(
            wt_train_set_open(context, &one->setting, one->task, &one->set, &one->state.redrawn));
        WT_PASS(wt_fleet_give(crew, slot, &one->setting, one->task, one->set));
    }
    return wt_fleet_put_starts(crew, slots, crew->slots);
}

static wt_status run_once(wt_context *context, const job *of, wt_fleet_crew *crew,
                          uint32_t *counts) {
    size_t count = wt_fleet_list(crew), taken;
    if (of->judged == 0)
        return wt_fleet_steps(crew, count, of->steps, &taken);
    for (size_t i = 0; i < count; i++)
        crew->orders[i] = (wt_fleet_order){.slot = i, .first = 0};
    return crew->engine->judge(context, crew->fleet, count, crew->orders, of->judged, counts);
}

static wt_status run_job(wt_context *context, const job *of) {
    wt_fleet_crew crew = {.slots = 0};
    wt_train_spec setting;
    uint32_t *counts = NULL;
    double seconds[TIMES], flops, bytes;
    wt_status status;
    WT_TRY(open_all(context, of, &setting, &crew));
    WT_TRY(WT_NEW2(context, &counts, crew.slots, of->judged / WT_FLEET_COUNTED + 1, "counts"));
    WT_TRY(run_once(context, of, &crew, counts));
    for (size_t i = 0; i < TIMES; i++) {
        double began = wt_clock();
        WT_TRY(run_once(context, of, &crew, counts));
        seconds[i] = wt_clock() - began;
    }
    qsort(seconds, TIMES, sizeof *seconds, compare);
    double each = (double)(crew.slots * (of->judged > 0 ? 1 : of->steps));
    double median = seconds[TIMES / 2] / each * 1e3;
    limits(of, crew.network->size, &flops, &bytes);
    printf("%-32s T %5zu m %4zu fleet %4zu  %8.4f ms a network (%.4f to %.4f); limits: %.4f by "
           "%.0f Mflop, %.4f by %.1f MB\n",
           of->name, of->length, of->samples, crew.slots, median, seconds[0] / each * 1e3,
           seconds[TIMES - 1] / each * 1e3, flops / RATE * 1e3, flops / 1e6, bytes / BYTES * 1e3,
           bytes / 1e6);
    fflush(stdout);
done:
    wt_release(counts);
    wt_fleet_close(&crew);
    return status;
}

int main(int count, char **arguments) {
    wt_context *context;
    wt_status status;
    if (wt_context_new(&context) != WT_OK)
        return 1;
    wt_device_look_in(count > 1 ? arguments[1] : NULL);
    status = wt_context_set_device(context, "cuda");
    for (size_t i = 0; status == WT_OK && i < JOBS; i++)
        if (count < 3 || strtoul(arguments[2], NULL, 10) == i)
            status = run_job(context, &jobs[i]);
    if (status != WT_OK)
        fprintf(stderr, "bench_fleet: %s\n", wt_context_message(context));
    wt_context_free(context);
    return status == WT_OK ? 0 : 1;
}
