#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "commands.h"
#include "recover.h"
#include "set_options.h"

static const cli_option options[] = {
    {"heads", 'm', CLI_TEXT, offsetof(cli_recover_values, heads), "M", "auto",
     "Heads of the layer, or auto: as many as the held-out error asks for."},
    {"method", 0, CLI_TEXT, offsetof(cli_recover_values, method), "METHOD", "auto",
     "auto (refine), refine (variable projection and Gauss-Newton), sculpt (rows where all heads "
     "attend alike, then refine) or adam (the baseline)."},
    {"restarts", 0, CLI_COUNT, offsetof(cli_recover_values, restarts), "R", "20",
     "Random starts at most."},
    {"holdout", 0, CLI_REAL, offsetof(cli_recover_values, holdout), "PART", "0.2",
     "Part of the sequences, drawn by the seed, that judges the fit; the layer is then polished "
     "on all of them."},
    {"steps", 0, CLI_COUNT, offsetof(cli_recover_values, steps), "S", NULL,
     "Steps of a start at most: 200 unless given, 20000 for adam."},
    {"goal", 0, CLI_REAL, offsetof(cli_recover_values, goal), "E", "1e-9",
     "Relative error that counts as exact."},
    {"matrix-free", 0, CLI_FLAG, offsetof(cli_recover_values, matrix_free), NULL, NULL,
     "Conjugate gradients however small the problem is."},
    {"certificate", 0, CLI_FLAG, offsetof(cli_recover_values, certificate), NULL, NULL,
     "With sculpt: how wide the body of all Theta that agree with the rows is around the heads."},
    {"directions", 0, CLI_TEXT, offsetof(cli_recover_values, directions), "N", "64",
     "Directions of the certificate, or all: a basis of those orthogonal to the heads."},
    {"output", 'o', CLI_OUTPUT, offsetof(cli_recover_values, output), "FILE", NULL,
     "Where the layer goes (.safetensors); nothing is written when it was not recovered."},
};

/* A new method is a row here and a function. */
static const struct {
    const char *name;
    wt_status (*run)(cli_call *call, const wt_sequences *data, const wt_recover_options *options,
                     wt_layer *out, wt_recover_report *report);
} methods[] = {
    {"auto", cli_recover_refine},
    {"refine", cli_recover_refine},
    {"sculpt", cli_recover_sculpt},
    {"adam", cli_recover_adam},
};
enum { METHODS = sizeof methods / sizeof *methods };

wt_status cli_recover_refine(cli_call *call, const wt_sequences *data,
                             const wt_recover_options *given, wt_layer *out,
                             wt_recover_report *report) {
    return wt_refine(call->context, data, given, out, report);
}

wt_status cli_recover_adam(cli_call *call, const wt_sequences *data,
                           const wt_recover_options *given, wt_layer *out,
                           wt_recover_report *report) {
    wt_recover_options longer = *given;
    if (!cli_given(call, "steps"))
        longer.most_steps = 20000;
    return wt_adam(call->context, data, &longer, out, report);
}

static wt_status read_options(cli_call *call, wt_recover_options *out) {
    const cli_recover_values *given = call->values;
    uint64_t heads = 0;
    *out = wt_recover_options_default();
    if (strcmp(given->heads, "auto") != 0 &&
        (!wt_parse_unsigned(given->heads, &heads) || heads == 0 || heads > 4096))
        return wt_fail(call->context, WT_USAGE,
                       "--heads must be auto or a number of 1 to 4096, not '%s'", given->heads);
    out->heads = (size_t)heads;
    out->restarts = given->restarts;
    out->holdout = given->holdout;
    out->goal = given->goal;
    out->seed = call->common.seed;
    out->matrix_free = given->matrix_free;
    if (given->steps > 0)
        out->most_steps = given->steps;
    return WT_OK;
}

static wt_status emit(cli_call *call, const char *output, const wt_recover_report *report) {
    json_t *warnings = json_array();
    for (size_t i = 0; i < report->warnings; i++)
        json_array_append_new(warnings, json_string(report->warning[i]));
    json_t *object = json_pack(
        "{s:s, s:b, s:b, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:I, s:o, s:f, "
        "s:o, s:o}",
        "method", report->method, "recovered", report->recovered, "exact", report->exact, "heads",
        (json_int_t)report->heads, "start", (json_int_t)report->start, "starts",
        (json_int_t)report->starts, "steps", (json_int_t)report->steps, "products",
        (json_int_t)report->products, "flops", cli_json_real(report->flops), "train_error",
        cli_json_real(report->train_error), "holdout_error", cli_json_real(report->holdout_error),
        "condition", cli_json_real(report->condition), "examples", (json_int_t)report->examples,
        "least_examples", cli_json_real(report->least_examples), "seconds", report->seconds,
        "warnings", warnings, "output", output == NULL ? json_null() : json_string(output));
    const cli_recover_values *given = call->values;
    return cli_emit_json(call, cli_recover_stages_json(&given->stages, object));
}

static void print(const char *output, const wt_recover_report *report) {
    cli_print_row("method", "%s", report->method);
    cli_print_row("recovered", "%s",
                  report->exact       ? "yes, to rounding"
                  : report->recovered ? "yes, to the floor of the noise"
                                      : "NO");
    cli_print_row("heads", "%zu", report->heads);
    cli_print_number("held-out error", report->holdout_error);
    cli_print_number("train error", report->train_error);
    cli_print_number("condition", report->condition);
    cli_print_row("winning start", "%zu of %zu", report->start + 1, report->starts);
    cli_print_row("steps", "%zu", report->steps);
    if (report->products > 0)
        cli_print_row("products", "%zu", report->products);
    cli_print_row("examples", "%zu (N_min %.0f)", report->examples, ceil(report->least_examples));
    cli_print_row("seconds", "%.3g", report->seconds);
    if (output != NULL)
        cli_print_row("output", "%s", output);
}

static wt_status run(cli_call *call) {
    const cli_recover_values *given = call->values;
    wt_recover_options settings;
    wt_recover_report report;
    wt_sequences data = {0};
    wt_layer layer = {0};
    size_t method = 0;
    wt_status status;
    WT_TRY(read_options(call, &settings));
    while (method < METHODS && strcmp(methods[method].name, given->method) != 0)
        method++;
    if (method == METHODS) {
        status = wt_fail(call->context, WT_USAGE, "unknown method '%s' of recovery", given->method);
        goto done;
    }
    WT_TRY(wt_sequences_load(call->context, call->operands[0], &data));
    WT_TRY(methods[method].run(call, &data, &settings, &layer, &report));
    const char *written = report.recovered ? given->output : NULL;
    if (written != NULL)
        WT_TRY(wt_layer_save(call->context, written, &layer));
    if (call->common.json)
        WT_TRY(emit(call, written, &report));
    else {
        cli_recover_stages_print(&given->stages);
        print(written, &report);
    }
    if (!report.recovered)
        status = wt_fail(
            call->context, WT_MISSED, "the layer was not recovered: %s error %.3g after %zu starts",
            isnan(report.holdout_error) ? "train" : "held-out",
            isnan(report.holdout_error) ? report.train_error : report.holdout_error, report.starts);
done:
    wt_sequences_free(&data);
    wt_layer_free(&layer);
    return status;
}

const cli_command cli_recover = {
    .name = "recover",
    .summary = "recover an attention layer from its inputs and outputs",
    .operands = "DATA.npz",
    .least = 1,
    .most = 1,
    .description =
        "Finds F(X) = sum_i softmax(X Theta_i X^T) X W_i from sequences x (n,k,d) and outputs y "
        "(n,k,p). refine eliminates W by least squares and takes damped Gauss-Newton steps in "
        "Theta from small random starts; sculpt finds its start from the rows where all heads "
        "attend "
        "alike, stage by stage, and can certify the heads; adam is the plain baseline.\n\n"
        "A layer counts as recovered when the relative error on the fitted and the held-out "
        "sequences reaches the goal, or when three starts end at the same floor and the held-out "
        "error is no more than twice the train error (noisy outputs). Otherwise the exit code is 1 "
        "and no file is written. What cannot be identified is said in warnings.",
    .examples = "wattle recover data.npz --heads 2 -o layer.safetensors\n"
                "wattle recover data.npz --heads auto --json\n"
                "wattle recover data.npz --method sculpt --certificate",
    CLI_OPTIONS(options, cli_recover_values),
    .run = run,
};
