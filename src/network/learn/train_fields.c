#include "network/learn/train_fields.h"

#include <math.h>
#include <string.h>

#include "base/sized.h"

static const wt_field fields[] = {WT_TRAIN_RECIPE("300", "1"), WT_TRAIN_TRIAL};
enum { FIELDS = sizeof fields / sizeof *fields };

const wt_field *wt_train_fields(size_t *count) {
    *count = FIELDS;
    return fields;
}

void wt_train_spec_init(wt_train_spec *setting, size_t size) {
    wt_train_spec full = {0};
    wt_fields_init(fields, FIELDS, &full);
    setting->size = size;
    wt_sized_write(setting, &full, sizeof full);
}

void wt_train_spec_settle(wt_train_spec *setting) {
    bool transformer = setting->model != NULL && strcmp(setting->model, "transformer") == 0;
    double *const drops[] = {&setting->embedding_dropout, &setting->attention_dropout,
                             &setting->block_dropout};
    if (setting->online > 0)
        setting->samples = 1; /* not read */
    wt_network_spec recipe;
    WT_INIT(wt_network_spec, &recipe);
    if (isnan(setting->dropout))
        setting->dropout = transformer ? recipe.embedding_drop : 0;
    for (size_t i = 0; i < sizeof drops / sizeof *drops; i++)
        if (isnan(*drops[i]))
            *drops[i] = setting->dropout;
}
