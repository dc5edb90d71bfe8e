#include "commands.h"
#include "curve_show.h"
#include "plot.h"
#include "set_options.h"
#include "wattle/memory.h"
#include "wattle/output.h"
#include "wattle/program.h"

typedef struct {
    const char *models, *activations, *output, *plot;
    wt_grid heads, dim, keys, bias, n;
    size_t width, reps, test_samples;
    double holdout;
    cli_lambda lambda;
    wt_problem_spec problem; /* target is a list here */
} values;

static const cli_table tables[] = {CLI_TABLE(values, problem, wt_problem_fields, ""), {0}};
static const cli_option options[] = {
    {"model", 'm', CLI_TEXT, offsetof(values, models), "LIST", "rfa,brfa,rfmlp",
     "Models: rfa, brfa, rfmlp, rfa-inf, brfa-inf, rfmlp-inf, with commas between them."},
    {"dim", 'd', CLI_INTEGERS, offsetof(values, dim), "GRID", "16", "Dimensions of the tokens."},
    {"keys", 'N', CLI_INTEGERS, offsetof(values, keys), "GRID", "16", "Keys a sample."},
    {"heads", 'M', CLI_INTEGERS, offsetof(values, heads), "GRID", "1000",
     "Heads with frozen weights."},
    {"width", 0, CLI_COUNT, offsetof(values, width), "P", NULL,
     "Neurons of rfmlp; by default M(d+1), as many parameters as rfa."},
    {"bias", 'c', CLI_GRID, offsetof(values, bias), "GRID", "4",
     "Multiples of the identity added to the weights of brfa."},
    {"activation", 0, CLI_TEXT, offsetof(values, activations), "LIST", "relu",
     "relu, softmax or relu,softmax."},
    {"n", 'n', CLI_INTEGERS, offsetof(values, n), "GRID", "16:1024:x2", "Training samples."},
    {"reps", 'r', CLI_COUNT, offsetof(values, reps), "R", "5", "Repetitions."},
    {"test-n", 0, CLI_COUNT, offsetof(values, test_samples), "SAMPLES", "1000", "Test samples."},
    {"holdout", 0, CLI_REAL, offsetof(values, holdout), "PART", "0.2",
     "Part of DATA.npz held out as test set, chosen anew in each repetition."},
    CLI_LAMBDA_OPTIONS(values, lambda),
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE", NULL,
     "Where all points go (.csv), one row a model, target, repetition and n."},
    {"plot", 0, CLI_OUTPUT, offsetof(values, plot), "FILE", NULL,
     "Picture (.svg, .pdf, .png; - draws in the terminal)."},
};

static wt_status read_options(cli_call *call, wt_arena *arena, wt_curve_options *out) {
    const values *given = call->values;
    WT_INIT(wt_curve_options, out);
    WT_PASS(cli_counts(call, arena, "n", &given->n, &out->sizes, &out->size_count));
    WT_PASS(cli_counts(call, arena, "heads", &given->heads, &out->heads, &out->head_count));
    WT_PASS(cli_counts(call, arena, "dim", &given->dim, &out->dims, &out->dim_count));
    WT_PASS(cli_counts(call, arena, "keys", &given->keys, &out->keys, &out->key_count));
    out->models = given->models;
    out->activations = given->activations;
    if (given->problem.target != NULL)
        out->targets = given->problem.target;
    out->tokens = wt_law_name(given->problem.law);
    out->token_scale = given->problem.token_scale;
    out->noise = given->problem.noise;
    out->biases = given->bias.values;
    out->bias_count = given->bias.count;
    out->width = given->width;
    out->reps = given->reps;
    out->test_samples = given->test_samples;
    out->holdout = given->holdout;
    out->lambda = given->lambda.lambda;
    out->path = given->lambda.path.values;
    out->path_count = given->lambda.path.count;
    out->output = given->output;
    out->seed = call->common.seed;
    return WT_OK;
}

/* Points whose lambda is an end of what could be tried. */
static void remark_ends(cli_call *call, const wt_curves *curves) {
    size_t reps = wt_curves_reps(curves), sizes = wt_curves_size_count(curves);
    size_t points = wt_curves_count(curves) * reps * sizes, ends = 0;
    for (size_t p = 0; p < points; p++)
        ends += wt_curves_point_at(curves, p / sizes / reps, p / sizes % reps, p % sizes)
                    ->lambda_at_end;
    if (ends > 0)
        wt_remark(call->context, CLI_LAMBDA_AT_END " (%zu of %zu points; lambda_at_end)", ends,
                  points);
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    wt_arena arena = wt_arena_start(call->context, "the options");
    wt_curve_options chosen;
    wt_curves *curves = NULL;
    wt_sets *data = NULL;
    wt_status status;
    WT_TRY(read_options(call, &arena, &chosen));
    WT_TRY(cli_plot_check(call, given->plot));
    WT_TRY(wt_output_check(call->context, given->output));
    if (call->operand_count == 1) {
        if (given->problem.target != NULL)
            WT_TRY(wt_fail(call->context, WT_USAGE, "a data file and --target exclude each other"));
        WT_TRY(wt_sets_load(call->context, call->operands[0], &data));
        if (wt_sets_y(data) == NULL)
            WT_TRY(wt_fail(call->context, WT_DATA, "%s has no labels y", call->operands[0]));
        chosen.data = data;
    }
    WT_TRY(wt_curves_run(call->context, &chosen, &curves));
    remark_ends(call, curves);
    WT_TRY(call->common.json ? curve_emit_json(call, curves, &chosen) : curve_print(curves));
    if (given->plot != NULL)
        WT_TRY(curve_draw(call, curves, given->plot));
done:
    wt_curves_free(curves);
    wt_sets_free(data);
    wt_arena_free(&arena);
    return status;
}

const cli_command cli_curve = {
    .name = "curve",
    .summary = "learning curves of random-feature models",
    .operands = "[DATA.npz]",
    .least = 0,
    .most = 1,
    .description =
        "Test error against the number of samples, for every model and target, with repetitions: "
        "mean and 95% interval (Student's t), the error over that of the first model on the same "
        "draws "
        "(paired log ratios), and the exponent of a power law in n fitted to each repetition.\n\n"
        "A repetition redraws beta, data, test set and weights. Tokens are keyed by seed, "
        "repetition and sample, beta and noise by the target too: models are compared on the same "
        "draws, and the samples of a smaller n are the first of a larger one. A whole curve comes "
        "from one factorisation a lambda. Errors are mean squared errors over the variance of y on "
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
