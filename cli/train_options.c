#include "train_options.h"

#include <math.h>
#include <string.h>

/* The dropout of one place: its own option, else that of all, else the recipe's. */
static double dropout(const cli_call *call, const cli_recipe *options, const char *name,
                      double own) {
    bool transformer = strcmp(options->model, "transformer") == 0;
    if (cli_given(call, name))
        return own;
    if (cli_given(call, "dropout"))
        return options->dropout;
    wt_network_spec recipe;
    WT_INIT(wt_network_spec, &recipe);
    return transformer ? recipe.embedding_drop : 0;
}

wt_train_setting cli_train_setting(const cli_call *call, const cli_recipe *options, size_t length,
                                   size_t samples) {
    wt_train_setting out = wt_train_setting_default();
    out.task.function = options->task;
    out.task.length = length;
    out.task.probability = cli_given(call, "probability") ? options->probability : NAN;
    out.task.noise = options->noise;
    out.samples = samples;
    out.keep_ambiguous = options->keep_ambiguous;
    out.network = (wt_network_spec){
        .kind = options->model,
        .dim = options->dim,
        .heads = options->heads,
        .hidden = options->hidden,
        .embedding_drop = dropout(call, options, "embedding-dropout", options->embedding_dropout),
        .attention_drop = dropout(call, options, "attention-dropout", options->attention_dropout),
        .block_drop = dropout(call, options, "block-dropout", options->block_dropout),
        .fixed_positions = options->fixed_positions,
        .activation = options->activation};
    out.rate = options->rate;
    out.weight_decay = options->weight_decay;
    out.decoupled = options->decoupled;
    out.clip = options->clip;
    out.balls = options->balls;
    out.init_scale = options->init_scale;
    out.steps = options->steps;
    out.validate = options->validate;
    out.validation_samples = options->validation_samples;
    out.success = options->success;
    out.seed = call->common.seed;
    return out;
}

wt_status cli_train_check(const cli_call *call, const cli_recipe *options) {
    static const struct {
        const char *option, *models; /* those it means something to */
    } rows[] = {{"heads", "transformer"},
                {"hidden", "transformer mlp"},
                {"activation", "head mlp"},
                {"fixed-positions", "transformer"},
                {"attention-dropout", "transformer head"}}; /* a head refuses it by itself */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (cli_given(call, rows[i].option) && strstr(rows[i].models, options->model) == NULL)
            return wt_fail(call->context, WT_USAGE, "--%s means nothing to --model %s",
                           rows[i].option, options->model);
    return WT_OK;
}
