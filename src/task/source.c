#include "task/source.h"

wt_source wt_source_sets(const wt_sets *sets) {
    return (wt_source){.samples = sets->samples,
                       .keys = sets->keys,
                       .dim = sets->dim,
                       .outputs = sets->outputs,
                       .sets = sets};
}

wt_status wt_source_problem(wt_context *context, const wt_problem *problem, size_t samples,
                            size_t most, wt_source *out) {
    const wt_problem_spec *spec = wt_problem_get_spec(problem);
    *out = (wt_source){
        .samples = samples, .keys = spec->keys, .dim = spec->dim, .outputs = 1, .problem = problem};
    size_t held = samples < most ? samples : most;
    return wt_sets_new(context, held, spec->keys, spec->dim, 1, false, &out->buffer);
}

void wt_source_free(wt_source *source) {
    if (source != NULL)
        wt_sets_free(&source->buffer);
}

wt_status wt_source_read(wt_context *context, wt_source *source, size_t begin, size_t end,
                         wt_sets *out) {
    if (source->sets != NULL) {
        *out = wt_sets_part(source->sets, begin, end);
        return WT_OK;
    }
    *out = wt_sets_part(&source->buffer, 0, end - begin);
    return wt_problem_draw(context, source->problem, begin, out);
}
