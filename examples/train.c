/* Trains a small attention network on an AND of three bits among 30, and shows where it looks.
 * cc train.c $(pkg-config --cflags --libs wattle) -o train && ./train */
#include <stdio.h>
#include <stdlib.h>
#include <wattle/wattle.h>

static void must(wt_context *context, wt_status status) {
    if (status == WT_OK)
        return;
    fprintf(stderr, "train: %s\n", wt_context_message(context));
    exit(wt_status_exit_code(status));
}

int main(void) {
    wt_context *context;
    if (wt_context_new(&context) != WT_OK)
        return 1;

    /* The published recipe on a smaller task and network. */
    wt_train_spec setting;
    WT_INIT(wt_train_spec, &setting);
    setting.task = "and:3";
    setting.length = 30;
    setting.samples = 200;
    setting.dim = 16;
    setting.heads = 4;
    setting.rate = 5e-3;
    setting.steps = 500;
    setting.restarts = 3;
    setting.seed = 1;

    wt_trainer *trainer;
    must(context, wt_trainer_new(context, &setting, &trainer));
    must(context, wt_trainer_run(context, trainer, SIZE_MAX));
    wt_train_result result = WT_SIZED(wt_train_result);
    must(context, wt_trainer_result(context, trainer, &result));
    printf("success: %s, at step %zu of run %zu, best accuracy %.4f\n",
           result.success ? "yes" : "no", result.success_step, result.runs, result.best_accuracy);

    wt_train_measure measure = WT_SIZED(wt_train_measure);
    must(context, wt_trainer_measure(context, trainer, 2000, &measure));
    printf("attention on the relevant bits: %.2f over heads, %.2f of head %zu\n", measure.mass,
           measure.best_mass, measure.best_head);
    const wt_sparse_task *task = wt_trainer_task(trainer);
    const size_t *relevant = wt_sparse_task_relevant(task);
    for (size_t i = 0; i < wt_boolean_bits(wt_sparse_task_function(task)); i++)
        printf("position %zu: weight %.3f\n", relevant[i],
               measure.attention[measure.positions + relevant[i]]);

    wt_train_measure_free(&measure);
    wt_trainer_free(trainer);
    wt_context_free(context);
    return 0;
}
