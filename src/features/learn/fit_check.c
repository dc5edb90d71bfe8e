#include "features/learn/fit_check.h"

#include "features/model/features.h"

wt_status wt_check_labelled(wt_context *context, const wt_model_spec *spec, const char *name,
                            const wt_sets *sets, size_t outputs) {
    wt_status status = wt_sets_check(context, sets, name);
    if (status == WT_OK)
        status = wt_model_check_sets(context, spec, name, sets);
    if (status == WT_OK && sets->y == NULL)
        status = wt_fail(context, WT_DATA, "%s has no labels y", name);
    if (status == WT_OK && sets->outputs != outputs)
        status = wt_fail(context, WT_DATA, "%s has %zu labels a sample where %zu were fitted", name,
                         sets->outputs, outputs);
    return status;
}
