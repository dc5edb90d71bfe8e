/* A setting in words: what model files and checkpoints say of themselves. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "network/learn/trainer.h"

enum { MOST = 40, POSITION_TEXT = 24 };

static wt_status put(wt_context *context, wt_trainer *trainer, const char *key, const char *text) {
    char *copy;
    wt_status status = wt_copy_text(context, &copy, text, "a setting");
    if (status == WT_OK)
        trainer->about[trainer->about_count++] = (wt_metadata){key, copy};
    return status;
}

static wt_status put_count(wt_context *context, wt_trainer *trainer, const char *key,
                           uint64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return put(context, trainer, key, text);
}

static wt_status put_real(wt_context *context, wt_trainer *trainer, const char *key, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.17g", value);
    return put(context, trainer, key, text);
}

/* "5,20,30" */
static wt_status put_relevant(wt_context *context, wt_trainer *trainer) {
    char text[WT_BOOLEAN_MOST_BITS * POSITION_TEXT] = "";
    size_t used = 0;
    for (size_t i = 0; i < trainer->task->function->bits; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, i == 0 ? "%zu" : ",%zu",
                                 trainer->task->relevant[i]);
    return put(context, trainer, "relevant", text);
}

static wt_status put_network(wt_context *context, wt_trainer *trainer) {
    const wt_network_spec *spec = wt_network_spec_of(trainer->network);
    wt_status status;
    WT_TRY(put(context, trainer, "kind", spec->kind));
    WT_TRY(put_count(context, trainer, "length", spec->length));
    WT_TRY(put_count(context, trainer, "dim", spec->dim));
    WT_TRY(put_count(context, trainer, "heads", spec->heads));
    WT_TRY(put_count(context, trainer, "hidden", spec->hidden));
    WT_TRY(put_real(context, trainer, "embedding-drop", spec->embedding_drop));
    WT_TRY(put_real(context, trainer, "attention-drop", spec->attention_drop));
    WT_TRY(put_real(context, trainer, "block-drop", spec->block_drop));
    WT_TRY(put_count(context, trainer, "fixed-positions", spec->fixed_positions));
    WT_TRY(put(context, trainer, "activation", spec->activation == NULL ? "" : spec->activation));
done:
    return status;
}

static wt_status put_task(wt_context *context, wt_trainer *trainer) {
    const wt_train_setting *setting = &trainer->setting;
    wt_status status;
    WT_TRY(put(context, trainer, "task", setting->task.function));
    WT_TRY(put_relevant(context, trainer));
    WT_TRY(put_real(context, trainer, "probability", trainer->task->probability));
    WT_TRY(put_real(context, trainer, "noise", trainer->task->noise));
    WT_TRY(put_count(context, trainer, "samples", setting->online > 0 ? 0 : setting->samples));
    WT_TRY(put_count(context, trainer, "online", setting->online));
    WT_TRY(put_count(context, trainer, "keep-ambiguous", setting->keep_ambiguous));
    WT_TRY(put_count(context, trainer, "seed", setting->seed));
done:
    return status;
}

static wt_status put_method(wt_context *context, wt_trainer *trainer) {
    const wt_train_setting *setting = &trainer->setting;
    bool settles = setting->settle > 0;
    wt_status status;
    WT_TRY(put_real(context, trainer, "lr", setting->rate));
    WT_TRY(put_real(context, trainer, "weight-decay", setting->weight_decay));
    WT_TRY(put_count(context, trainer, "decoupled", setting->decoupled));
    WT_TRY(put_real(context, trainer, "clip", setting->clip));
    WT_TRY(put(context, trainer, "ball", setting->balls == NULL ? "" : setting->balls));
    WT_TRY(put_real(context, trainer, "init-scale", setting->init_scale));
    WT_TRY(put_count(context, trainer, "steps", setting->steps));
    WT_TRY(put_count(context, trainer, "validate", setting->validate));
    WT_TRY(put_count(context, trainer, "validation-samples", setting->validation_samples));
    WT_TRY(put_real(context, trainer, "success", setting->success));
    WT_TRY(put_count(context, trainer, "to-end", setting->to_end));
    WT_TRY(put_count(context, trainer, "hasty", setting->hasty));
    WT_TRY(settles ? put_real(context, trainer, "settle", setting->settle)
                   : put(context, trainer, "settle", ""));
    WT_TRY(put_count(context, trainer, "restarts", setting->restarts));
    WT_TRY(put_real(context, trainer, "loss-mark", setting->loss_mark));
done:
    return status;
}

wt_status wt_train_about(wt_context *context, wt_trainer *trainer) {
    wt_status status;
    WT_TRY(WT_NEW(context, &trainer->about, MOST, "a setting"));
    WT_TRY(put(context, trainer, "wattle", "1"));
    WT_TRY(put_network(context, trainer));
    WT_TRY(put_task(context, trainer));
    WT_TRY(put_method(context, trainer));
done:
    return status;
}
