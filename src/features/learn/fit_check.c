#include "features/learn/fit_check.h"

#include "features/model/features.h"

wt_status wt_check_labelled(wt_context *context, const wt_model_spec *spec, const char *name,
                            const wt_sets *sets, size_t outputs) {
    WT_PASS(wt_sets_check(context, sets, name));
    WT_PASS(wt_model_check_sets(context, spec, name, sets));
    if (sets->y == NULL)
        return wt_fail(context, WT_DATA, "%s has no labels: y (n) or (n,q) is expected", name);
    if (sets->outputs != outputs)
        return wt_fail(context, WT_DATA, "%s has %zu labels a sample where %zu were fitted", name,
                       sets->outputs, outputs);
    return WT_OK;
}
