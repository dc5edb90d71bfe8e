/* How often `recover` says yes, to layers of the class under noise and to others: a CSV line a
 * run. usage: recover_misfit noise|misfit|power RUNS FIRST_SEED [THREADS [FIRST_CASE]]
 *   scripts/recover-misfit builds and runs it and makes the tables of docs/recover.md. */
#include <stdio.h>

#include "base/parallel.h"
#include "layer/layers.h"
#include "layer/learn/recovery.h"
#include "layer/misfits.h"
#include "wattle/recover.h"
#include "wattle/wattle.h"

enum { LINE = 512 };

static const struct {
    size_t heads, dim, outputs, length;
    wt_law law;
} shapes[] = {
    {1, 8, 8, 4, WT_LAW_GAUSSIAN}, {2, 8, 8, 4, WT_LAW_BOOLEAN},   {2, 8, 8, 4, WT_LAW_GAUSSIAN},
    {2, 8, 8, 8, WT_LAW_SPHERE},   {3, 8, 4, 4, WT_LAW_GAUSSIAN},  {2, 6, 1, 4, WT_LAW_BOOLEAN},
    {4, 8, 8, 4, WT_LAW_GAUSSIAN}, {2, 12, 12, 6, WT_LAW_BOOLEAN}, {2, 16, 16, 8, WT_LAW_GAUSSIAN},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };
static const double ratios[] = {5, 10, 25};
static const double misfit_sizes[] = {0.01, 0.03, 0.1, 0.3, 0};
static const double noises[] = {1e-6, 1e-4, 1e-2, 0.1, 0.3};
/* misfit under noise, for the curve of power */
static const double mixed_noises[] = {0.01, 0.1, 0.3};

typedef struct {
    uint64_t first; /* seed */
    size_t begin;   /* case */
    const char *mode;
    char (*lines)[LINE];
} job;

static void fail(const wt_context *context) {
    fprintf(stderr, "recover_misfit: %s\n", wt_context_message(context));
    exit(70);
}

static void one(wt_context *context, const job *work, size_t index) {
    size_t at = work->begin + index, turn = at;
    uint64_t seed = work->first + at;
    size_t s = turn % SHAPES;
    turn /= SHAPES;
    double ratio = ratios[turn % 3], size = 0, noise = 0;
    turn /= 3;
    const misfit *what = NULL;
    if (strcmp(work->mode, "noise") == 0)
        noise = noises[turn % 5];
    else {
        what = &misfits[at % MISFITS];
        /* tokens of one length do not see these: the token MLP stands in */
        if (shapes[s].law != WT_LAW_GAUSSIAN && (what->cosine || what->norm == RMS_NORM))
            what = &misfits[MISFITS - 1];
        size = misfit_sizes[turn % 5];
        turn /= 5;
        if (strcmp(work->mode, "power") == 0)
            noise = mixed_noises[turn % 3];
    }
    wt_layer *teacher = NULL, *layer = NULL;
    wt_sequences *data = NULL;
    wt_recover_options options;
    WT_INIT(wt_recover_options, &options);
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_law law = shapes[s].law;
    double least = wt_recover_least_examples(shapes[s].heads, shapes[s].dim, shapes[s].outputs,
                                             shapes[s].length, 0, 0);
    size_t n = (size_t)ceil(ratio * least);
    /* tokens on the sphere are short: their Theta are larger in turn */
    double token = law == WT_LAW_SPHERE ? sqrt((double)shapes[s].dim) : 1;
    if (make_teacher(context, shapes[s].heads, shapes[s].dim, shapes[s].outputs, 2, 0, seed,
                     &teacher) != WT_OK ||
        wt_sequences_new(context, n, shapes[s].length, shapes[s].dim, shapes[s].outputs, &data) !=
            WT_OK ||
        wt_layer_draw(context, teacher, law, token, 0, seed, 0, data) != WT_OK)
        fail(context);
    if (what != NULL)
        misfit_change(what, teacher, seed, size, data);
    if (noise > 0)
        misfit_noise(seed, noise, data);
    options.heads = shapes[s].heads;
    options.seed = seed;
    if (wt_refine(context, data, &options, &layer, &report) != WT_OK)
        fail(context);
    snprintf(
        work->lines[index], LINE,
        "%s,%s,%g,%g,%zu,%zu,%zu,%zu,%d,%g,%zu,%llu,%s,%.4g,%.4g,%.4g,%s,%.3g,%.4g,%.4g,%zu,%.3g",
        work->mode, what == NULL ? "none" : what->name, size, noise, shapes[s].heads, shapes[s].dim,
        shapes[s].outputs, shapes[s].length, (int)law, ratio, n, (unsigned long long)seed,
        wt_recover_verdict_name(report.verdict), report.train_error, report.holdout_error,
        report.misfit_chance, report.misfit_kind == NULL ? "" : report.misfit_kind,
        report.misfit_part, report.misfit_visible, report.condition, report.starts, report.seconds);
    wt_layer_free(teacher);
    wt_layer_free(layer);
    wt_sequences_free(data);
}

static wt_status some(void *argument, size_t begin, size_t end, int worker) {
    void **both = argument;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        one(both[0], both[1], i);
    return WT_OK;
}

int main(int argc, char **argv) {
    wt_context *context;
    if (argc < 4 || wt_context_new(&context) != WT_OK) {
        fprintf(
            stderr,
            "usage: recover_misfit noise|misfit|power RUNS FIRST_SEED [THREADS [FIRST_CASE]]\n");
        return 64;
    }
    size_t runs = strtoul(argv[2], NULL, 10);
    job work = {.first = strtoull(argv[3], NULL, 10), .mode = argv[1]};
    work.lines = calloc(runs, sizeof *work.lines);
    if (work.lines == NULL || (argc > 4 && wt_context_set_threads(context, atoi(argv[4])) != WT_OK))
        fail(context);
    work.begin = argc > 5 ? strtoul(argv[5], NULL, 10) : 0;
    void *both[] = {context, &work};
    if (wt_parallel_for(context, runs, 1, some, both) != WT_OK)
        fail(context);
    printf("mode,misfit,size,noise,heads,dim,outputs,length,law,ratio,n,seed,verdict,train_error,"
           "holdout_error,misfit_chance,misfit_kind,misfit_part,misfit_visible,condition,starts,"
           "seconds\n");
    for (size_t i = 0; i < runs; i++)
        puts(work.lines[i]);
    free(work.lines);
    wt_context_free(context);
    return 0;
}
