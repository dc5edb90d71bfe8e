#include <math.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/sized.h"
#include "features/task/problem_fields.h"
#include "features/task/sets.h"
#include "features/task/target.h"
#include "linalg/token_law.h"

struct wt_problem {
    wt_problem_spec spec;
    char target_text[WT_TARGET_TEXT]; /* spelled in one way: it keys beta and the noise */
    wt_target target;
    double *beta;
};

/* Samples a chunk of the parallel loop: enough work to be worth a hand-over. */
#define SAMPLES_A_CHUNK 64

static wt_status check_spec(wt_context *context, const wt_problem_spec *spec) {
    if (spec->target == NULL)
        return wt_fail(context, WT_USAGE, "a problem needs a target");
    if (spec->dim == 0 || spec->keys == 0)
        return wt_fail(context, WT_USAGE,
                       "a problem needs dim and keys of 1 or more, not %zu and %zu", spec->dim,
                       spec->keys);
    if (!(spec->noise >= 0) || !isfinite(spec->noise))
        return wt_fail(context, WT_USAGE, "label noise must be 0 or more, not %g", spec->noise);
    if (!(spec->token_scale >= 0) || !isfinite(spec->token_scale))
        return wt_fail(context, WT_USAGE, "the token scale must be above 0, not %g",
                       spec->token_scale);
    return wt_law_check(context, spec->law);
}

#define AT(member) offsetof(wt_problem_spec, member)
static const wt_field fields[] = {WT_PROBLEM_FIELDS(AT, WT_FIELD_ONE, NULL)};
enum { FIELDS = sizeof fields / sizeof *fields };

const wt_field *wt_problem_fields(size_t *count) {
    *count = FIELDS;
    return fields;
}

void wt_problem_spec_init(wt_problem_spec *spec, size_t size) {
    wt_problem_spec all = {0};
    wt_fields_init(fields, FIELDS, &all);
    spec->size = size;
    wt_sized_write(spec, &all, sizeof all);
}

wt_status wt_problem_new(wt_context *context, const wt_problem_spec *given, wt_problem **out) {
    *out = NULL;
    wt_problem *problem = NULL;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &problem, 1, "problem"));
    wt_problem_spec *spec = &problem->spec;
    WT_INIT(wt_problem_spec, spec);
    WT_TRY(wt_sized_read(context, "wt_problem_spec", given, spec, sizeof *spec));
    WT_TRY(check_spec(context, spec));
    if (spec->token_scale == 0)
        spec->token_scale = wt_law_set_scale(spec->law, spec->dim);
    WT_TRY(wt_target_parse(context, spec->target, &problem->target));
    wt_target_spell(&problem->target, problem->target_text);
    spec->target = problem->target_text;
    WT_TRY(WT_NEW(context, &problem->beta, spec->dim, "beta"));
    wt_random_sphere(wt_stream_for(spec->seed, problem->target_text, 0), 0, 1, spec->dim,
                     problem->beta);
    *out = problem;
    problem = NULL;
done:
    wt_problem_free(problem);
    return status;
}

void wt_problem_free(wt_problem *problem) {
    if (problem == NULL)
        return;
    wt_release(problem->beta);
    wt_release(problem);
}

const double *wt_problem_beta(const wt_problem *problem) {
    return problem->beta;
}

const wt_problem_spec *wt_problem_get_spec(const wt_problem *problem) {
    return &problem->spec;
}

typedef struct {
    const wt_problem *problem;
    uint64_t first;
    wt_sets *sets;
    bool tokens; /* draw the tokens too, not the labels alone */
} drawing;

static wt_status draw_chunk(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const drawing *work = argument;
    const wt_problem_spec *spec = &work->problem->spec;
    wt_sets part = wt_sets_part(work->sets, begin, end);
    uint64_t first = work->first + begin;
    if (work->tokens) {
        wt_tokens_draw(spec->law, spec->token_scale, wt_stream_for(spec->seed, "query", 0), first,
                       part.samples, spec->dim, part.query);
        wt_tokens_draw(spec->law, spec->token_scale, wt_stream_for(spec->seed, "keys", 0),
                       first * spec->keys, part.samples * spec->keys, spec->dim, part.key);
    }
    /* The noise goes to y first, the target's value on top. */
    wt_random_normal(wt_stream_for(spec->seed, work->problem->target_text, 1), first, part.samples,
                     part.y);
    for (size_t i = 0; i < part.samples; i++) {
        wt_target_input input = {.keys = spec->keys,
                                 .dim = spec->dim,
                                 .query = part.query + i * spec->dim,
                                 .key = part.key + i * spec->keys * spec->dim,
                                 .beta = work->problem->beta};
        const wt_target *target = &work->problem->target;
        part.y[i] = spec->noise * part.y[i] + target->value(&input, target->parameters);
    }
    return WT_OK;
}

static wt_status fill(wt_context *context, drawing *work) {
    const wt_problem_spec *spec = &work->problem->spec;
    const wt_sets *sets = work->sets;
    if (sets->dim != spec->dim || sets->keys != spec->keys || sets->outputs != 1 ||
        sets->mask != NULL)
        return wt_fail(context, WT_USAGE,
                       "sets of %zu keys, %zu dimensions and %zu outputs do not fit a problem of "
                       "%zu keys, %zu dimensions and 1 output",
                       sets->keys, sets->dim, sets->outputs, spec->keys, spec->dim);
    return wt_parallel_for(context, sets->samples, SAMPLES_A_CHUNK, draw_chunk, work);
}

wt_status wt_problem_draw(wt_context *context, const wt_problem *problem, uint64_t first,
                          wt_sets *sets) {
    return fill(context,
                &(drawing){.problem = problem, .first = first, .sets = sets, .tokens = true});
}

wt_status wt_problem_label(wt_context *context, const wt_problem *problem, uint64_t first,
                           wt_sets *sets) {
    return fill(context, &(drawing){.problem = problem, .first = first, .sets = sets});
}
