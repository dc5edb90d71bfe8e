#include "features/task/samples.h"

wt_samples wt_samples_of_sets(const wt_sets *sets) {
    return (wt_samples){.samples = sets->samples,
                        .keys = sets->keys,
                        .dim = sets->dim,
                        .outputs = sets->outputs,
                        .sets = sets};
}

wt_status wt_samples_of_problem(wt_context *context, const wt_problem *problem, size_t samples,
                                size_t most, wt_samples *out) {
    const wt_problem_spec *spec = wt_problem_get_spec(problem);
    *out = (wt_samples){
        .samples = samples, .keys = spec->keys, .dim = spec->dim, .outputs = 1, .problem = problem};
    size_t held = samples < most ? samples : most;
    return wt_sets_open(context, held, spec->keys, spec->dim, 1, false, &out->buffer);
}

void wt_samples_free(wt_samples *source) {
    if (source != NULL)
        wt_sets_close(&source->buffer);
}

wt_status wt_samples_read(wt_context *context, wt_samples *source, size_t begin, size_t end,
                          wt_sets *out) {
    if (source->sets != NULL) {
        *out = wt_sets_part(source->sets, begin, end);
        return WT_OK;
    }
    *out = wt_sets_part(&source->buffer, 0, end - begin);
    return wt_problem_draw(context, source->problem, begin, out);
}
