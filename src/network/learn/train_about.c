/* A setting in words: what model files and checkpoints say of themselves. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "network/learn/train_fields.h"
#include "network/learn/trainer.h"

enum { POSITION_TEXT = 24 };

/* In the order of the files. What is no field has a function of its own. */
static const char *const names[] = {"model",
                                    "length",
                                    "dim",
                                    "heads",
                                    "hidden",
                                    "embedding-dropout",
                                    "attention-dropout",
                                    "block-dropout",
                                    "fixed-positions",
                                    "activation",
                                    "task",
                                    "relevant",
                                    "probability",
                                    "noise",
                                    "samples",
                                    "online",
                                    "keep-ambiguous",
                                    "seed",
                                    "lr",
                                    "weight-decay",
                                    "decoupled",
                                    "clip",
                                    "ball",
                                    "init-scale",
                                    "steps",
                                    "validate",
                                    "validation-samples",
                                    "success",
                                    "to-end",
                                    "hasty",
                                    "settle",
                                    "restarts",
                                    "loss-mark"};
enum { NAMES = sizeof names / sizeof *names };

static wt_status put(wt_context *context, wt_trainer *trainer, const char *key, const char *text) {
    char *copy;
    wt_status status = wt_copy_text(context, &copy, text, "a setting");
    if (status == WT_OK)
        trainer->about[trainer->about_count++] = (wt_metadata){key, copy};
    return status;
}

static wt_status put_field(wt_context *context, wt_trainer *trainer, const wt_field *field,
                           const wt_train_spec *setting) {
    const char *option = wt_field_option(field);
    wt_value value = wt_field_get(field, setting);
    char text[WT_FIELD_TEXT];
    bool none = value.text != NULL && field->none != NULL && strcmp(value.text, field->none) == 0;
    bool later = field->since > 0 && value.number == wt_field_usual(field).number;
    snprintf(text, sizeof text, "%.17g", value.number);
    return put(context, trainer, strcmp(option, "model") == 0 ? "kind" : option,
               none || later        ? ""
               : value.text != NULL ? value.text
                                    : text);
}

/* "5,20,30" */
static wt_status put_relevant(wt_context *context, wt_trainer *trainer) {
    char text[WT_BOOLEAN_MAX_BITS * POSITION_TEXT] = "";
    size_t used = 0;
    for (size_t i = 0; trainer->task != NULL && i < trainer->task->function->bits; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, i == 0 ? "%zu" : ",%zu",
                                 trainer->task->relevant[i]);
    return put(context, trainer, "relevant", text);
}

/* What task and network have made of the setting: "0 = the usual" is told as the usual. */
static wt_train_spec as_opened(const wt_trainer *trainer) {
    const wt_network_spec *spec = wt_network_get_spec(trainer->network);
    wt_train_spec out = trainer->setting;
    if (trainer->task != NULL)
        out.probability = trainer->task->probability;
    else
        out.task = "";
    out.samples = out.online > 0 ? 0 : out.samples;
    out.dim = spec->dim;
    out.heads = spec->heads;
    out.hidden = spec->hidden;
    out.activation = spec->activation;
    return out;
}

wt_status wt_train_about(wt_context *context, wt_trainer *trainer) {
    const wt_train_spec setting = as_opened(trainer);
    size_t count;
    const wt_field *fields = wt_train_fields(&count);
    char seed[WT_FIELD_TEXT], mark[32];
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)setting.seed);
    WT_PASS(WT_NEW(context, &trainer->about, NAMES + 2, "a setting"));
    WT_PASS(put(context, trainer, "wattle", "1"));
    for (size_t i = 0; i < NAMES; i++) {
        const wt_field *field = wt_field_find(fields, count, names[i]);
        if (field != NULL)
            WT_PASS(put_field(context, trainer, field, &setting));
        else if (strcmp(names[i], "relevant") == 0)
            WT_PASS(put_relevant(context, trainer));
        else if (strcmp(names[i], "seed") == 0)
            WT_PASS(put(context, trainer, "seed", seed));
        else
            WT_PASS(put(context, trainer, "hasty", setting.hasty ? "1" : "0"));
    }
    if (trainer->held == NULL)
        return WT_OK;
    snprintf(mark, sizeof mark, "%016llx", (unsigned long long)wt_train_set_mark(trainer));
    return put(context, trainer, "data", mark);
}
