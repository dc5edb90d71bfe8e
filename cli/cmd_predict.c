/* `wattle predict` and `wattle score`: a fitted model on data. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "set_options.h"
#include "wattle/io.h"
#include "wattle/memory.h"
#include "wattle/output.h"

typedef struct {
    const char *output;
} values;

static const cli_option options[] = {
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE.csv|.npy|-", NULL,
     "Where the predictions go, a line of numbers a sample or an array; printed unless given."},
};

/* Model and data of the two operands. */
static wt_status open_both(cli_call *call, wt_fitted **fitted, wt_sets **sets) {
    WT_PASS(wt_fitted_load(call->context, call->operands[0], fitted));
    return wt_sets_load(call->context, call->operands[1], sets);
}

static wt_status print_json(cli_call *call, const double *y, size_t rows, size_t columns) {
    json_t *list = json_array();
    for (size_t i = 0; i < rows; i++)
        cli_json_add(list, cli_json_reals(columns, y + i * columns));
    return cli_emit(call, "predictions:o", list);
}

static wt_status print_lines(const double *y, size_t rows, size_t columns) {
    for (size_t i = 0; i < rows * columns; i++)
        printf("%.17g%c", y[i], (i + 1) % columns == 0 ? '\n' : ',');
    return WT_OK;
}

static wt_status write_lines(cli_call *call, const char *path, const double *y, size_t rows,
                             size_t columns) {
    wt_output *output = NULL;
    wt_status status;
    WT_TRY(wt_output_open(call->context, path, &output));
    for (size_t i = 0; i < rows * columns; i++)
        WT_TRY(wt_output_print(output, "%.17g%c", y[i], (i + 1) % columns == 0 ? '\n' : ','));
    WT_TRY(wt_output_commit(output));
done:
    wt_output_free(output);
    return status;
}

static wt_status run_predict(cli_call *call) {
    const values *given = call->values;
    wt_fitted *fitted = NULL;
    wt_sets *sets = NULL;
    double *y = NULL;
    wt_status status;
    WT_TRY(open_both(call, &fitted, &sets));
    size_t q = wt_fitted_outputs(fitted), samples = wt_sets_samples(sets);
    WT_TRY(WT_NEW2(call->context, &y, samples, q, "predictions"));
    WT_TRY(wt_fitted_predict(call->context, fitted, sets, y));
    wt_tensor tensor = {.name = "yhat", .rank = q == 1 ? 1 : 2, .shape = {samples, q}, .values = y};
    if (given->output == NULL || strcmp(given->output, "-") == 0)
        WT_TRY(call->common.json ? print_json(call, y, samples, q) : print_lines(y, samples, q));
    else if (cli_has_suffix(given->output, ".csv"))
        WT_TRY(write_lines(call, given->output, y, samples, q));
    else
        WT_TRY(wt_npy_write(call->context, given->output, &tensor));
    if (given->output != NULL && call->common.json)
        WT_TRY(cli_emit(call, "output:s samples:u outputs:u", given->output, samples, q));
done:
    wt_fitted_free(fitted);
    wt_sets_free(sets);
    wt_release(y);
    return status;
}

static wt_status run_score(cli_call *call) {
    wt_fitted *fitted = NULL;
    wt_sets *sets = NULL;
    double square, error;
    wt_status status;
    WT_TRY(open_both(call, &fitted, &sets));
    WT_TRY(wt_fitted_score(call->context, fitted, sets, &square, &error));
    const char *kind = wt_model_kind_name(wt_fitted_get_spec(fitted)->kind);
    if (call->common.json) {
        WT_TRY(cli_emit(call, "model:s samples:u mean_square:r relative_error:r", kind,
                        wt_sets_samples(sets), square, error));
        goto done;
    }
    cli_print_row("model", "%s", kind);
    cli_print_row("samples", "%zu", wt_sets_samples(sets));
    cli_print_number("mean squared error", square);
    cli_print_number("over variance of y", error);
done:
    wt_fitted_free(fitted);
    wt_sets_free(sets);
    return status;
}

const cli_command cli_predict = {
    .name = "predict",
    .summary = "predict with a fitted model",
    .operands = "MODEL.safetensors DATA.npz",
    .description = "Predictions of the model for every sample of the data, which needs no labels.",
    .examples = "wattle predict model.safetensors data.npz -o yhat.npy",
    CLI_OPTIONS(options, values),
    .run = run_predict,
};

const cli_command cli_score = {
    .name = "score",
    .summary = "measure a fitted model on labelled data",
    .operands = "MODEL.safetensors DATA.npz",
    .description = "Mean squared error of the model's predictions, plain and over the variance of "
                   "y in this data.",
    .examples = "wattle score model.safetensors test.npz --json",
    .run = run_score,
};
