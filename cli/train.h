/* What `wattle train` shows of a trial. */
#ifndef CLI_TRAIN_H
#define CLI_TRAIN_H

#include "command.h"
#include "wattle/train.h"

typedef struct cli_trial {
    const wt_train_spec *setting;
    const wt_trainer *trainer;
    wt_train_result result;
    wt_train_measure measure;
    const char *output; /* the model file that was written; NULL = none */
} cli_trial;

void cli_train_print(const cli_trial *trial);
wt_status cli_train_emit(cli_call *call, const cli_trial *trial);
/* Losses and accuracies against steps, and where the [CLS] row looks. */
wt_status cli_train_draw(cli_call *call, const cli_trial *trial, const char *path);

#endif
