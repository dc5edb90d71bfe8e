#include "commands.h"
#include "curve_show.h"
#include "plot.h"
#include "set_options.h"
#include "wattle/program.h"

typedef struct {
    wt_curve_options curve;
    const char *plot, *device;
} values;

static const cli_table tables[] = {CLI_TABLE(values, curve, wt_curve_fields, ""), {0}};
static const cli_option options[] = {
    {"output", 'o', CLI_OUTPUT, offsetof(values, curve.output), "FILE.csv", NULL,
     "Where all points go, one row a model, target, repetition and n."},
    {"plot", 0, CLI_OUTPUT, offsetof(values, plot), "FILE.svg|.pdf|.png|-", NULL,
     "Picture; - draws in the terminal."},
    CLI_DEVICE(offsetof(values, device)),
};

/* Points whose lambda is an end of what could be tried. */
static void remark_ends(cli_call *call, const wt_curves *curves) {
    size_t reps = wt_curves_reps(curves), sizes = wt_curves_size_count(curves);
    size_t points = wt_curves_count(curves) * reps * sizes, ends = 0;
    for (size_t p = 0; p < points; p++)
        ends += wt_curves_point_at(curves, p / sizes / reps, p / sizes % reps, p % sizes)
                    ->lambda_at_end;
    if (ends > 0)
        wt_remark(call->context, WT_LAMBDA_AT_END " (%zu of %zu points; lambda_at_end)", ends,
                  points);
}

static wt_status run(cli_call *call) {
    values *given = call->values;
    wt_curve_options *chosen = &given->curve;
    wt_curves *curves = NULL;
    wt_sets *data = NULL;
    wt_status status;
    chosen->seed = call->common.seed;
    cli_goes_on = chosen->output != NULL;
    WT_TRY(cli_choose_device(call, given->device));
    if (call->operand_count == 1) {
        if (cli_given(call, "target"))
            WT_TRY(wt_fail(call->context, WT_USAGE, "a data file and --target exclude each other"));
        WT_TRY(wt_sets_load(call->context, call->operands[0], &data));
        if (wt_sets_y(data) == NULL)
            WT_TRY(wt_fail(call->context, WT_DATA, "%s has no labels: y (n) or (n,q) is expected",
                           call->operands[0]));
        chosen->data = data;
    }
    WT_TRY(wt_curves_run(call->context, chosen, &curves));
    remark_ends(call, curves);
    WT_TRY(call->common.json ? curve_emit_json(call, curves, chosen) : curve_print(curves));
    if (given->plot != NULL)
        WT_TRY(curve_draw(call, curves, given->plot));
done:
    wt_curves_free(curves);
    wt_sets_free(data);
    return status;
}

const cli_command cli_curve = {
    .name = "curve",
    .summary = "learning curves of random-feature models",
    .operands = "[DATA.npz]",
    .description =
        "Test error against the number of samples, for every model and target, with repetitions: "
        "mean and 95% interval (Student's t), the error over that of the first model on the same "
        "draws "
        "(paired log ratios), and the exponent of a power law in n fitted to each repetition.\n\n"
        "A repetition redraws beta, data, test set and weights. Tokens are keyed by seed, "
        "repetition and sample, beta and noise by the target too: models are compared on the same "
        "draws, and the samples of a smaller n are the first of a larger one. Up to as "
        "many samples as features a whole curve comes from one factorisation a lambda; beyond that "
        "the "
        "normal matrix (features x features) takes over, and the samples are no limit. Errors are "
        "mean squared errors over the variance of y on "
        "the same set.\n\n"
        "With DATA.npz the curve is of your own data, a part of it held out. Grids over --heads, "
        "--dim, --keys and --bias run every combination; with a single n the picture is drawn "
        "against the size that varies.\n\n"
        "A run with -o that is interrupted, or killed, goes on when the same command is given "
        "again, from OUTPUT.part beside the table, which goes when the table is complete.",
    .examples = "wattle curve --model rfa,brfa,rfmlp --n 16:4096:x2 --lambda loo -o curve.csv "
                "--plot curve.svg\n"
                "wattle curve --target mean-power:2 --heads 10:1000:x10 --n 512 --plot -\n"
                "wattle curve data.npz --model rfa,rfa-inf --n 16:256:x2",
    .tables = tables,
    CLI_OPTIONS(options, values),
    .run = run,
};
