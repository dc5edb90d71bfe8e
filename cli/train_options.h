/* What `train` and `threshold` do with the fields of a training run. */
#ifndef CLI_TRAIN_OPTIONS_H
#define CLI_TRAIN_OPTIONS_H

#include "command.h"
#include "wattle/train.h"

/* Completes the setting that the options have filled. WT_USAGE for an option that was given and
 * means nothing to the model. */
wt_status cli_train_finish(const cli_call *call, wt_train_spec *setting);

#endif
