/* `wattle train`: one trial. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "plot.h"
#include "train.h"
#include "train_options.h"
#include "wattle/memory.h"

typedef struct {
    wt_train_spec train;
    size_t test_samples, checkpoint_every;
    cli_counts relevant;
    double holdout;
    bool resume;
    const char *validation, *checkpoint, *output, *plot, *device;
} values;

static const cli_table tables[] = {CLI_TABLE(values, train, wt_train_fields, ""), {0}};
static const cli_option options[] = {
    {"relevant", 0, CLI_COUNTS, offsetof(values, relevant), "LIST", NULL,
     "Positions of the bits that matter, from 0; drawn by default."},
    {"holdout", 0, CLI_REAL, offsetof(values, holdout), "PART", "0.2",
     "With a data file: the part of its samples, drawn by --seed, that judge instead of being "
     "learned from."},
    {"validation", 0, CLI_INPUT, offsetof(values, validation), "FILE", NULL,
     "With a data file: another of the same kind, whose samples judge; nothing is held out then."},
    {"test-samples", 0, CLI_COUNT, offsetof(values, test_samples), "N", "10000",
     "Fresh samples that the trained network is measured on."},
    {"checkpoint", 0, CLI_OUTPUT, offsetof(values, checkpoint), "FILE.safetensors", NULL,
     "Where the state is kept, for --resume; a file that exists is not replaced "
     "without it, nor one that another run is at work on."},
    {"checkpoint-every", 0, CLI_COUNT, offsetof(values, checkpoint_every), "S", "100",
     "Steps from one checkpoint to the next; also at the end and at Ctrl-C."},
    {"resume", 0, CLI_FLAG, offsetof(values, resume), NULL, NULL,
     "Go on from the checkpoint, with the bits of a trial that was never stopped."},
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE.safetensors", NULL,
     "Where the network goes; not written without success, but for --to-end."},
    {"plot", 0, CLI_OUTPUT, offsetof(values, plot), "FILE.svg|.pdf|.png|-", NULL,
     "Picture; - draws in the terminal."},
    CLI_DEVICE(offsetof(values, device)),
};

/* Options of samples that are drawn must not be lost on a file, nor the other way round. */
static wt_status check_source(cli_call *call) {
    static const char of_tasks[] = "task length relevant probability noise keep-ambiguous samples "
                                   "online test-samples validation-samples";
    static const char *const of_files[] = {"holdout", "validation"};
    if (call->operand_count == 1 && cli_given(call, "validation"))
        WT_PASS(cli_exclude(call, "--validation", "holdout"));
    if (call->operand_count == 1)
        return cli_exclude(call, "a data file", of_tasks);
    for (size_t i = 0; i < 2; i++)
        if (cli_given(call, of_files[i]))
            return wt_fail(call->context, WT_USAGE, "--%s needs a data file", of_files[i]);
    return WT_OK;
}

static wt_status check_options(cli_call *call) {
    values *given = call->values;
    WT_PASS(check_source(call));
    if (given->resume && given->checkpoint == NULL)
        return wt_fail(call->context, WT_USAGE, "--resume needs --checkpoint FILE");
    if (cli_given(call, "checkpoint-every") && given->checkpoint == NULL)
        return wt_fail(call->context, WT_USAGE, "--checkpoint-every needs --checkpoint FILE");
    if (given->train.online > 0 && cli_given(call, "samples"))
        return wt_fail(call->context, WT_USAGE, "--samples and --online exclude each other");
    if (given->test_samples < 2)
        return wt_fail(call->context, WT_USAGE, "--test-samples must be 2 or more, not %zu",
                       given->test_samples);
    return cli_train_finish(call, &given->train);
}

/* A file that fails in the end loses no result: the table is printed all the same. */
static wt_status show(cli_call *call, cli_trial *trial) {
    const values *given = call->values;
    bool ended = wt_trainer_ended(trial->trainer);
    bool reached = trial->result.success || (given->train.to_end && ended);
    wt_status status = WT_OK, saved = WT_OK;
    if (reached && given->output != NULL) {
        saved = wt_trainer_save_model(call->context, trial->trainer, given->output);
        trial->output = saved == WT_OK ? given->output : NULL;
    }
    if (call->common.json)
        WT_TRY(cli_train_emit(call, trial));
    else
        cli_train_print(trial);
    WT_TRY(saved);
    if (given->plot != NULL)
        WT_TRY(cli_train_draw(call, trial, given->plot));
    if (!reached)
        status =
            wt_fail(call->context, WT_MISSED,
                    "%sno validation passed %g: the best accuracy of %zu run%s was %.4f",
                    ended ? "" : "the time is over: ", trial->setting->success, trial->result.runs,
                    trial->result.runs == 1 ? "" : "s", trial->result.best_accuracy);
done:
    return status;
}

/* The samples of the file, and a trainer on them. */
static wt_status open_file(cli_call *call, wt_trainer **out) {
    values *given = call->values;
    wt_bits *all = NULL, *train = NULL, *held = NULL;
    wt_status status;
    WT_TRY(wt_bits_load(call->context, call->operands[0], &all));
    if (given->validation != NULL)
        WT_TRY(wt_bits_load(call->context, given->validation, &held));
    else
        WT_TRY(wt_bits_split(call->context, all, given->holdout, call->common.seed, &train, &held));
    WT_TRY(wt_trainer_new_on(call->context, &given->train, train != NULL ? train : all, held, out));
    given->train.length = wt_bits_length(held);
    given->train.samples = wt_bits_samples(train != NULL ? train : all);
done:
    wt_bits_free(all);
    wt_bits_free(train);
    wt_bits_free(held);
    return status;
}

static wt_status open_trainer(cli_call *call, wt_trainer **out) {
    const values *given = call->values;
    if (call->operand_count == 1)
        return open_file(call, out);
    return wt_trainer_new(call->context, &given->train, out);
}

static wt_status run(cli_call *call) {
    values *given = call->values;
    wt_trainer *trainer = NULL;
    cli_trial trial = {.setting = &given->train,
                       .result = WT_SIZED(wt_train_result),
                       .measure = WT_SIZED(wt_train_measure)};
    wt_status status;
    cli_goes_on = given->checkpoint != NULL;
    WT_TRY(cli_choose_device(call, given->device));
    WT_TRY(check_options(call));
    given->train.relevant = given->relevant.values;
    given->train.relevant_count = given->relevant.count;
    WT_TRY(open_trainer(call, &trainer));
    wt_trainer_remark_balance(call->context, trainer);
    WT_TRY(wt_trainer_run_kept(call->context, trainer, given->checkpoint, given->checkpoint_every,
                               given->resume));
    (void)cli_lift_time(call);
    trial.trainer = trainer;
    WT_TRY(wt_trainer_result(call->context, trainer, &trial.result));
    WT_TRY(wt_trainer_measure(call->context, trainer, given->test_samples, &trial.measure));
    WT_TRY(show(call, &trial));
done:
    wt_train_measure_free(&trial.measure);
    wt_trainer_free(trainer);
    return status;
}

const cli_command cli_train = {
    .name = "train",
    .summary = "train an attention network on a sparse Boolean function",
    .operands = "[DATA.npz]",
    .description =
        "Learns a function of a few bits among --length, at positions that are drawn, from "
        "--samples samples, all of them in every step, or from fresh ones (--online). The defaults "
        "are "
        "the published recipe: one pre-norm block of width 64 with 16 heads, read at a trainable "
        "token [CLS], dropout 0.1, Adam at 1e-3. A run succeeds when a validation on fresh samples "
        "passes --success; without success the exit code is 1 and no network is written, but the "
        "picture of --plot and the state of --checkpoint are. With --to-end there is no goal. "
        "Labels of training and test samples are flipped with probability --noise; validations are "
        "clean.\n\n"
        "With a data file it learns from samples of yours: bits (n,T) and y (n), each all 0 or 1, "
        "or "
        "all -1 or 1. A part of them (--holdout), or another file (--validation), judges: it takes "
        "the place of fresh samples in validations and at the end. Which bits matter is not known "
        "there; told are the positions that the attention looks at most.\n\n"
        "Told at the end, without dropout: training and test loss and their difference with a 95% "
        "interval by the test samples, how much of the attention lies on the bits that matter "
        "(mean over samples and heads, and of the best head), and the norms of every matrix. "
        "two-one is the sum of the 2-norms of the columns; that of W_QK is of its transpose.\n\n"
        "--model head is the theorem's own object, w^T sigma(W_V^T X^T softmax(X W_QK^T x_cls)): "
        "symbols and positions stay as drawn.\n\n"
        "--ball keeps matrices in norm balls: qk.two-one=8 is W_QK of the head, or W_Q W_K^T / "
        "sqrt(width) of each head of the transformer; v.spectral=2 its W_V; o, mlp1, mlp2 and "
        "readout are wo, w1, w2 and head of the transformer, and every tensor goes by its name in "
        "the model file too.",
    .examples = "wattle train data.npz --holdout 0.3 -o network.safetensors\n"
                "wattle train --task and:3 --length 300 --samples 100 --seed 1 --plot run.svg\n"
                "wattle train --task parity:3 --length 10 --online 2048 --steps 2000\n"
                "wattle train --samples 60 --checkpoint run.safetensors --restarts 5\n"
                "wattle train --samples 60 --checkpoint run.safetensors --restarts 5 --resume\n"
                "wattle train --model head --dim 16 --length 50 --to-end "
                "--ball qk.two-one=8,v.two-one=4,v.spectral=2,w.frobenius=1",
    .tables = tables,
    CLI_OPTIONS(options, values),
    .run = run,
};
