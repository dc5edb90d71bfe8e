#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "layer/task/form_fields.h"

const char *const wt_layer_masks[] = {"none", "causal", NULL};
const char *const wt_layer_norms[] = {"none", "layer", "rms", NULL};

void wt_layer_form_init(wt_layer_form *form, size_t size) {
    const wt_layer_form full = {.epsilon = 1e-5};
    form->size = size;
    wt_sized_write(form, &full, sizeof full);
}

const char *wt_layer_form_print(const wt_layer_form *form, char *out) {
    static const char *const norms[] = {"", ", layer norm", ", rms norm"};
    snprintf(out, WT_LAYER_FORM_TEXT, "%s%s%s%s", form->bias ? ", bias" : "",
             form->mask == WT_LAYER_MASK_CAUSAL ? ", causal" : "",
             form->residual ? ", residual" : "", norms[form->norm]);
    if (out[0] == '\0')
        snprintf(out, WT_LAYER_FORM_TEXT, "  plain");
    memmove(out, out + 2, strlen(out + 2) + 1);
    return out;
}
