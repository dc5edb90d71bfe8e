#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "recover.h"
#include "set_options.h"
#include "wattle/device.h"
#include "wattle/text.h"

static const cli_table tables[] = {CLI_TABLE(cli_recover_values, options, wt_recover_fields, ""),
                                   {0}};
static const cli_option options[] = {
    {"heads", 'm', CLI_TEXT, offsetof(cli_recover_values, heads), "M", "auto",
     "Heads of the layer, or auto: as many as the held-out error asks for."},
    {"matrix-free", 0, CLI_FLAG, offsetof(cli_recover_values, options.matrix_free), NULL, NULL,
     "Conjugate gradients however small the problem is."},
    {"rows", 0, CLI_TEXT, offsetof(cli_recover_values, rows), "all|last", "all",
     "Output rows that are known: of all tokens, or y (n,p) of the last of each sequence."},
    {"missing", 0, CLI_TEXT, offsetof(cli_recover_values, missing), "no|nan", "no",
     "nan: rows of y that have a NaN are missing; otherwise a NaN is refused."},
    {"certificate", 0, CLI_FLAG, offsetof(cli_recover_values, certificate), NULL, NULL,
     "How wide the body of all Theta that agree with the rows is around the heads found. It holds "
     "the true heads if those attend alike on these rows to within the eta printed, which is not "
     "checked."},
    {"directions", 0, CLI_TEXT, offsetof(cli_recover_values, directions), "N", "64",
     "Directions of the certificate, or all: a basis of those orthogonal to the heads."},
    {"part", 0, CLI_REAL, offsetof(cli_recover_values, part), "PART", "0.02",
     "Part of the rows that the certificate takes: those where heads seem to attend alike most."},
    {"teacher", 0, CLI_INPUT, offsetof(cli_recover_values, teacher), "FILE", NULL,
     "The true layer, where it is known: sculpt tells its errors, the certificate whether it holds "
     "the true heads. The recovery itself does not look at it."},
    CLI_LAYER_OPTIONS(cli_recover_values),
    CLI_DEVICE(offsetof(cli_recover_values, device)),
    {"output", 'o', CLI_OUTPUT, offsetof(cli_recover_values, output), "FILE.safetensors", NULL,
     "Where the layer goes; nothing is written when it was not recovered."},
    {"accept", 0, CLI_FLAG, offsetof(cli_recover_values, accept), NULL, NULL,
     "Write the best fit to --output even when it was not recovered. The verdict stands in the "
     "file's metadata, and the exit code is still 1."},
};

/* How the file is to be read. */
static wt_status read_spec(cli_call *call, wt_sequences_spec *out) {
    const cli_recover_values *given = call->values;
    WT_INIT(wt_sequences_spec, out);
    out->last_row = strcmp(given->rows, "last") == 0;
    out->missing = strcmp(given->missing, "nan") == 0;
    if (!out->last_row && strcmp(given->rows, "all") != 0)
        return wt_fail(call->context, WT_USAGE, "--rows is all or last, not '%s'", given->rows);
    if (!out->missing && strcmp(given->missing, "no") != 0)
        return wt_fail(call->context, WT_USAGE, "--missing is no or nan, not '%s'", given->missing);
    return WT_OK;
}

/* The sequences, or a sentence on where they come from when a layer was given in their place. */
static wt_status read_data(cli_call *call, wt_sequences **out) {
    const char *path = call->operands[0];
    wt_sequences_spec spec;
    WT_PASS(read_spec(call, &spec));
    wt_status status = wt_sequences_load_as(call->context, path, &spec, out);
    if (status != WT_DATA || !cli_has_suffix(path, ".safetensors"))
        return status;
    return wt_fail(call->context, WT_DATA,
                   "%s holds no sequences: 'wattle draw --layer %s' draws some of a layer", path,
                   path);
}

static wt_status read_options(cli_call *call) {
    cli_recover_values *given = call->values;
    uint64_t heads = 0;
    if (strcmp(given->heads, "auto") != 0 &&
        (!wt_unsigned_parse(given->heads, &heads) || heads == 0 || heads > 4096))
        return wt_fail(call->context, WT_USAGE,
                       "--heads must be auto or a number of 1 to 4096, not '%s'", given->heads);
    given->options.heads = (size_t)heads;
    given->options.seed = call->common.seed;
    given->layer.heads = (size_t)heads;
    const char *name = cli_first_given(call, "index map fold rope");
    if (given->teacher == NULL && name != NULL)
        return wt_fail(call->context, WT_USAGE, "--%s needs --teacher", name);
    return cli_layer_check(call, &given->layer, 1);
}

static wt_status emit(cli_call *call, const char *output, const wt_recover_report *report) {
    const cli_recover_values *given = call->values;
    json_t *warnings = json_array();
    for (size_t i = 0; i < report->warnings; i++)
        cli_json_add(warnings, json_string(report->warning[i]));
    json_t *object = cli_json(
        "method:s recovered:b exact:b heads:u start:u start_from:s starts:u steps:u products:u "
        "flops:r train_error:r holdout_error:r condition:r examples:u least_examples:r seconds:r "
        "warnings:o output:s verdict:s reason:s goal:r misfit_chance:r misfit_kind:s misfit_part:r "
        "misfit_visible:r rank:u accepted:b form:s forms:u device:s",
        report->method, report->recovered, report->exact, report->heads, report->start,
        report->start_from, report->starts, report->steps, report->products, report->flops,
        report->train_error, report->holdout_error, report->condition, report->examples,
        report->least_examples, report->seconds, warnings, output,
        wt_recover_verdict_name(report->verdict), report->reason[0] == '\0' ? NULL : report->reason,
        report->goal, report->misfit_chance, report->misfit_kind, report->misfit_part,
        report->misfit_visible, report->rank, output != NULL && !report->recovered, report->form,
        report->forms, wt_context_device(call->context));
    return cli_emit_json(call, cli_recover_stages_json(&given->stages, object));
}

static void print(const cli_call *call, const char *output, const wt_recover_report *report) {
    const cli_recover_values *given = call->values;
    const char *device = wt_context_device(call->context);
    cli_print_row("method", "%s", report->method);
    cli_print_row(
        "recovered", "%s, %s%s", report->recovered ? "yes" : "NO",
        wt_recover_verdict_name(report->verdict),
        report->exact && report->goal > given->options.goal ? " (rounding of float32 data)" : "");
    if (report->reason[0] != '\0')
        cli_print_row("reason", "%s", report->reason);
    if (!isnan(report->misfit_chance)) {
        cli_print_row("residuals", "%s (chance under noise %.2g)",
                      report->misfit_kind == NULL ? "pass for noise" : "depend on x",
                      report->misfit_chance);
        cli_print_row("misfit seen from", "%.2g of y", report->misfit_visible);
    }
    cli_print_row("heads", "%zu", report->heads);
    if (strcmp(report->form, "plain") != 0 || report->forms > 1)
        cli_print_row("form", "%s%s", report->form, report->forms > 1 ? " (by trying others)" : "");
    cli_print_number("held-out error", report->holdout_error);
    cli_print_number("train error", report->train_error);
    cli_print_number("condition", report->condition);
    cli_print_row("winning start", "%zu of %zu, %s", report->start + 1, report->starts,
                  report->start_from);
    cli_print_row("steps", "%zu", report->steps);
    if (report->products > 0)
        cli_print_row("products", "%zu", report->products);
    if (isnan(report->least_examples)) /* is for whole sequences of one length */
        cli_print_row("examples", "%zu", report->examples);
    else
        cli_print_row("examples", "%zu (N_min %.0f)", report->examples,
                      ceil(report->least_examples));
    cli_print_row("flops", "%.3g", report->flops);
    cli_print_row("seconds", "%.3g", report->seconds);
    if (strcmp(device, "host") != 0)
        cli_print_row("device", "%s", device);
    if (output != NULL)
        cli_print_row("output", "%s", output);
}

/* The layer, with the verdict on it. */
static wt_status save(cli_call *call, const char *path, const wt_layer *layer,
                      const wt_recover_report *report) {
    char error[32];
    size_t count = report->recovered ? 2 : 4;
    snprintf(error, sizeof error, "%.3g", report->holdout_error);
    const wt_metadata notes[] = {{"verdict", wt_recover_verdict_name(report->verdict)},
                                 {"holdout_error", error},
                                 {"accepted", "the best fit, which was not recovered"},
                                 {"reason", report->reason}};
    return wt_layer_save_noted(call->context, layer, path, notes, count);
}

/* Writes and prints what was found. `refused` is why there is no certificate, or empty: nothing is
 * written then. */
static wt_status tell(cli_call *call, const wt_layer *layer, const wt_recover_report *report,
                      const char *refused) {
    const cli_recover_values *given = call->values;
    bool good = report->recovered && refused[0] == '\0';
    const char *written = good || given->accept ? given->output : NULL;
    wt_status status = WT_OK;
    if (written != NULL)
        WT_TRY(save(call, written, layer, report));
    if (call->common.json)
        WT_TRY(emit(call, written, report));
    else {
        cli_recover_stages_print(&given->stages);
        print(call, written, report);
    }
    if (refused[0] != '\0')
        status = wt_fail(call->context, WT_MISSED, "no certificate: %s", refused);
    if (!report->recovered)
        status = wt_fail(call->context, WT_MISSED,
                         "the layer was not recovered (%s): %s; %s error %.3g after %zu starts",
                         wt_recover_verdict_name(report->verdict), report->reason,
                         isnan(report->holdout_error) ? "train" : "held-out",
                         isnan(report->holdout_error) ? report->train_error : report->holdout_error,
                         report->starts);
done:
    return status;
}

static wt_status run(cli_call *call) {
    cli_recover_values *given = call->values;
    wt_recover_report report = WT_SIZED(wt_recover_report);
    wt_sequences *data = NULL;
    wt_layer *layer = NULL;
    char refused[WT_MESSAGE_BYTES] = "";
    wt_status status;
    given->stages = (cli_recover_stages){.sculpt = WT_SIZED(wt_sculpt_report),
                                         .certificate = WT_SIZED(wt_certificate_result)};
    WT_TRY(cli_choose_device(call, given->device));
    WT_TRY(read_options(call));
    WT_TRY(cli_recover_directions(call, &given->direction_count));
    WT_TRY(read_data(call, &data));
    if (given->teacher != NULL)
        WT_TRY(cli_layer_open(call, &given->layer, given->teacher, 0, &given->truth));
    given->options.teacher = given->truth;
    WT_TRY(cli_recover_run(call, data, &layer, &report));
    if (given->certificate && report.recovered) {
        status = cli_recover_certify(call, data, layer);
        if (status == WT_MISSED ||
            (status == WT_INTERRUPTED && wt_context_out_of_time(call->context)))
            snprintf(refused, sizeof refused, "%s", wt_context_message(call->context));
        else
            WT_TRY(status);
    }
    (void)cli_lift_time(call);
    WT_TRY(tell(call, layer, &report, refused));
done:
    wt_sequences_free(data);
    wt_layer_free(layer);
    wt_layer_free(given->truth);
    return status;
}

const cli_command cli_recover = {
    .name = "recover",
    .summary = "recover an attention layer from its inputs and outputs",
    .operands = "DATA.npz",
    .description =
        "Finds F(X) = sum_i softmax(X Theta_i X^T) X W_i from sequences x (n,k,d) and outputs y "
        "(n,k,p). refine eliminates W by least squares and takes damped Gauss-Newton steps in "
        "Theta from small random starts; sculpt finds its start from the rows where all heads "
        "attend alike, stage by stage; adam is the plain baseline. A certificate bounds, for few "
        "tokens and many examples, how far other Theta that agree with such rows may lie from the "
        "heads found; that the true ones are among them is its assumption.\n\n"
        "The verdict is one of four. exact: the relative error on the fitted and the held-out "
        "sequences reaches the goal (or the rounding of float32, where x or y are such numbers). "
        "to "
        "the floor of noise: what is left of y passes every test for structure in x; the smallest "
        "misfit that would have been seen is printed. not of this class: what is left depends on "
        "x, or a Theta grows without bound; the likeliest explanation is printed. not found: "
        "starts that end apart, or held-out sequences that do not confirm the fit. After the last "
        "two the exit code is 1 and no file is written, unless --accept is given. What cannot be "
        "identified is said in warnings.",
    .examples = "wattle recover data.npz --heads 2 -o layer.safetensors\n"
                "wattle recover data.npz --heads auto --json\n"
                "wattle recover data.npz --method sculpt --certificate",
    .tables = tables,
    CLI_OPTIONS(options, cli_recover_values),
    .run = run,
};
