#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "network/task/boolean.h"
#include "wattle/random.h"

enum {
    GRAIN = 64,   /* samples of a chunk */
    PIECE = 1024, /* random words taken at a time */
};

static wt_status check_spec(wt_context *context, const wt_sparse_spec *spec, size_t s) {
    if (spec->length < s)
        return wt_fail(context, WT_USAGE, "%zu bits cannot hold the %zu relevant ones of %s",
                       spec->length, s, spec->function);
    if (!(spec->noise >= 0 && spec->noise < 0.5))
        return wt_fail(context, WT_USAGE, "label noise must be at least 0 and below 1/2, not %g",
                       spec->noise);
    if (!isnan(spec->probability) && !(spec->probability >= 0 && spec->probability <= 1))
        return wt_fail(context, WT_USAGE, "the probability of a one must be in [0, 1], not %g",
                       spec->probability);
    if (spec->relevant != NULL && spec->relevant_count != s)
        return wt_fail(context, WT_USAGE, "%s has %zu relevant bits, but %zu positions are given",
                       spec->function, s, spec->relevant_count);
    return WT_OK;
}

static wt_status set_relevant(wt_context *context, const wt_sparse_spec *spec,
                              wt_sparse_task *task) {
    size_t s = task->function->bits;
    if (spec->relevant == NULL)
        return wt_random_subset(context, wt_stream_for(spec->seed, "relevant", 0), spec->length, s,
                                task->relevant);
    for (size_t i = 0; i < s; i++) {
        task->relevant[i] = spec->relevant[i];
        if (spec->relevant[i] >= spec->length)
            return wt_fail(context, WT_USAGE, "relevant position %zu is not below the length %zu",
                           spec->relevant[i], spec->length);
        for (size_t j = 0; j < i; j++)
            if (spec->relevant[j] == spec->relevant[i])
                return wt_fail(context, WT_USAGE, "relevant position %zu is given twice",
                               spec->relevant[i]);
    }
    return WT_OK;
}

void wt_sparse_spec_init(wt_sparse_spec *spec, size_t size) {
    const wt_sparse_spec full = {.function = "and:3", .length = 300, .probability = NAN};
    spec->size = size;
    wt_sized_write(spec, &full, sizeof full);
}

wt_status wt_sparse_task_new(wt_context *context, const wt_sparse_spec *given,
                             wt_sparse_task **out) {
    wt_sparse_spec spec;
    wt_sparse_task *task = NULL;
    wt_status status;
    *out = NULL;
    WT_INIT(wt_sparse_spec, &spec);
    WT_TRY(wt_sized_read(context, "wt_sparse_spec", given, &spec, sizeof spec));
    WT_TRY(WT_NEW_ZERO(context, &task, 1, "a task"));
    task->length = spec.length;
    task->noise = spec.noise;
    task->seed = spec.seed;
    WT_TRY(wt_boolean_new(context, spec.function, &task->function));
    WT_TRY(check_spec(context, &spec, task->function->bits));
    WT_TRY(set_relevant(context, &spec, task));
    task->probability =
        isnan(spec.probability) ? wt_boolean_balance(task->function) : spec.probability;
    *out = task;
    task = NULL;
done:
    wt_sparse_task_free(task);
    return status;
}

void wt_sparse_task_free(wt_sparse_task *task) {
    if (task == NULL)
        return;
    wt_boolean_free(task->function);
    wt_release(task);
}

const wt_boolean *wt_sparse_task_function(const wt_sparse_task *task) {
    return task->function;
}

const size_t *wt_sparse_task_relevant(const wt_sparse_task *task) {
    return task->relevant;
}

double wt_sparse_task_probability(const wt_sparse_task *task) {
    return task->probability;
}

uint8_t wt_sparse_task_label(const wt_sparse_task *task, const uint8_t *bit) {
    size_t row = 0;
    for (size_t i = 0; i < task->function->bits; i++)
        row = 2 * row + bit[task->relevant[i]];
    return task->function->value[row];
}

uint64_t wt_sparse_task_threshold(const wt_sparse_task *task) {
    return (uint64_t)llround(ldexp(task->probability, 32));
}

typedef struct {
    const wt_sparse_task *task;
    wt_bits *out;
    wt_stream inputs, flips;
    uint64_t first;
    bool noisy;
} draw_job;

static void draw_inputs(const draw_job *job, size_t begin, size_t end) {
    size_t length = job->out->length, words = (length + 1) / 2;
    uint64_t threshold = wt_sparse_task_threshold(job->task), word[PIECE];
    for (size_t i = begin; i < end; i++) {
        uint8_t *bit = job->out->bit + i * length;
        for (size_t at = 0; at < words; at += PIECE) {
            size_t count = words - at < PIECE ? words - at : PIECE;
            wt_random_words(job->inputs, (job->first + i) * words + at, count, word);
            for (size_t w = 0; w < count; w++) {
                size_t t = 2 * (at + w);
                bit[t] = (word[w] & UINT32_MAX) < threshold;
                if (t + 1 < length)
                    bit[t + 1] = word[w] >> 32 < threshold;
            }
        }
    }
}

static wt_status draw_chunk(void *argument, size_t begin, size_t end, int worker) {
    const draw_job *job = argument;
    (void)worker;
    draw_inputs(job, begin, end);
    uint8_t flip[GRAIN] = {0};
    if (job->noisy && job->task->noise > 0)
        wt_random_bernoulli(job->flips, job->first + begin, end - begin, job->task->noise, flip);
    for (size_t i = begin; i < end; i++)
        job->out->label[i] =
            wt_sparse_task_label(job->task, job->out->bit + i * job->out->length) ^ flip[i - begin];
    return WT_OK;
}

wt_status wt_sparse_task_draw_from(wt_context *context, const wt_sparse_task *task,
                                   wt_stream inputs, wt_stream flips, uint64_t first, bool noisy,
                                   wt_bits *out) {
    draw_job job = {
        .task = task, .out = out, .inputs = inputs, .flips = flips, .first = first, .noisy = noisy};
    return wt_parallel_for(context, out->samples, GRAIN, draw_chunk, &job);
}

wt_status wt_sparse_task_draw(wt_context *context, const wt_sparse_task *task, const char *purpose,
                              uint64_t first, bool noisy, wt_bits *out) {
    if (out->length != task->length)
        return wt_fail(context, WT_USAGE, "samples of %zu bits asked of a task of %zu", out->length,
                       task->length);
    return wt_sparse_task_draw_from(context, task, wt_stream_for(task->seed, purpose, 0),
                                    wt_stream_for(task->seed, purpose, 1), first, noisy, out);
}
