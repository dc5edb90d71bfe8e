/* What every fit asks of its data. */
#ifndef WT_FEATURES_LEARN_FIT_CHECK_H
#define WT_FEATURES_LEARN_FIT_CHECK_H

#include "features/task/sets.h"
#include "wattle/fit.h"

/* Sets in order that fit the model and bear `outputs` labels a sample. */
wt_status wt_check_labelled(wt_context *context, const wt_model_spec *spec, const char *name,
                            const wt_sets *sets, size_t outputs);

#endif
