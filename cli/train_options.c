#include "train_options.h"

#include <math.h>
#include <string.h>

wt_status cli_train_finish(const cli_call *call, wt_train_spec *setting) {
    size_t count;
    const wt_field *fields = wt_train_fields(&count), *field;
    for (size_t i = 0; (field = wt_field_at(fields, count, i)) != NULL; i++) {
        const char *name = wt_field_option(field);
        if (field->only != NULL && cli_given(call, name) &&
            strstr(field->only, setting->model) == NULL)
            return wt_fail(call->context, WT_USAGE, "--%s means nothing to --model %s", name,
                           setting->model);
    }
    if (cli_given(call, "probability") && isnan(setting->probability))
        setting->probability = 0; /* in a sweep that is none */
    setting->seed = call->common.seed;
    return WT_OK;
}
