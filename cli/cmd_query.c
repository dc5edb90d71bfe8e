/* `wattle query`: a layer learned from a program that answers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "set_options.h"
#include "wattle/oracle.h"
#include "wattle/query.h"
#include "wattle/text.h"

typedef struct {
    wt_query_options options;
    const char *oracle, *heads, *output;
    size_t dim;
    double timeout;
} values;

static const cli_table tables[] = {CLI_TABLE(values, options, wt_query_fields, ""), {0}};
static const cli_option options[] = {
    {"oracle", 0, CLI_TEXT, offsetof(values, oracle), "CMD", NULL,
     "Program that answers, run by sh -c: a line with a JSON matrix (k rows of d numbers) comes "
     "in, a line with the p numbers of the last row of F(X) goes out."},
    {"dim", 'd', CLI_COUNT, offsetof(values, dim), "D", NULL, "Dimension of the tokens."},
    {"heads", 'm', CLI_TEXT, offsetof(values, heads), "H", "auto",
     "Heads of the layer; auto tries 1, 2.. until the answers are explained."},
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE.safetensors", NULL,
     "Where the layer goes; not written when the goal is missed."},
    {"timeout", 0, CLI_REAL, offsetof(values, timeout), "SECONDS", "30",
     "How long one answer may take."},
};

static wt_status read_options(cli_call *call) {
    values *given = call->values;
    uint64_t heads = 0;
    if (given->oracle == NULL)
        return wt_fail(call->context, WT_USAGE, "query needs --oracle, a command that answers");
    if (given->dim == 0)
        return wt_fail(call->context, WT_USAGE, "query needs --dim, the dimension of the tokens");
    if (!(given->timeout > 0))
        return wt_fail(call->context, WT_USAGE, "--timeout must be above 0, not %g",
                       given->timeout);
    if (strcmp(given->heads, "auto") != 0 &&
        (!wt_unsigned_parse(given->heads, &heads) || heads == 0 || heads > WT_QUERY_MAX_HEADS))
        return wt_fail(call->context, WT_USAGE, "--heads: '%s' is neither auto nor 1 to %d",
                       given->heads, WT_QUERY_MAX_HEADS);
    given->options.heads = (size_t)heads;
    given->options.seed = call->common.seed;
    return WT_OK;
}

static wt_status print(cli_call *call, const wt_query_report *report) {
    const values *given = call->values;
    size_t all = report->start_queries + report->polish_queries + report->check_queries;
    const char *written = report->reached ? given->output : NULL;
    /* Without fresh questions nobody knows. */
    bool known = report->check_queries > 0 || !report->reached;
    if (call->common.json)
        return cli_emit(call,
                        "heads:u dim:u outputs:u recovered:o queries:u start_queries:u "
                        "polish_queries:u check_queries:u start_residual:r residual:r "
                        "check_error:r starts:u steps:u output:s flops:r form:s forms:u "
                        "tolerance:r out_of_questions:b",
                        report->heads, report->dim, report->outputs,
                        known ? json_boolean(report->reached) : json_null(), all,
                        report->start_queries, report->polish_queries, report->check_queries,
                        report->start_residual, report->residual, report->check_error,
                        report->starts, report->steps, written, report->flops, report->form,
                        report->forms, report->tolerance, report->out_of_questions);
    cli_print_row("layer", "%zu %s, d = %zu, p = %zu", report->heads,
                  report->heads == 1 ? "head" : "heads", report->dim, report->outputs);
    if (report->form[0] != '\0' && (strcmp(report->form, "plain") != 0 || report->forms > 1))
        cli_print_row("form", "%s%s", report->form, report->forms > 1 ? " (by trying others)" : "");
    cli_print_row("recovered", "%s%s",
                  !known            ? "not checked"
                  : report->reached ? "yes"
                                    : "no",
                  report->tolerance > given->options.tolerance ? " (answers in float32)" : "");
    cli_print_row("queries", "%zu: %zu to start, %zu to polish, %zu to check", all,
                  report->start_queries, report->polish_queries, report->check_queries);
    if (report->starts > 0) {
        cli_print_number("residual at the start", report->start_residual);
        cli_print_number("residual", report->residual);
        cli_print_row("polish", "%zu %s, %zu steps", report->starts,
                      report->starts == 1 ? "start" : "starts", report->steps);
    }
    cli_print_number("error on fresh ones", report->check_error);
    cli_print_row("flops", "%.3g", report->flops);
    return WT_OK;
}

/* The sentence of a layer that is not written. */
static wt_status miss(const cli_call *call, const wt_query_report *report) {
    const char *why = report->out_of_time        ? "the time is over: "
                      : report->out_of_questions ? "the questions are used up: "
                                                 : "";
    bool one = report->heads == 1;
    if (isnan(report->check_error) && !(report->residual > report->tolerance))
        return wt_fail(call->context, WT_MISSED,
                       "%s%zu %s not checked by fresh questions; no layer is written", why,
                       report->heads, one ? "head was" : "heads were");
    return wt_fail(
        call->context, WT_MISSED,
        "%s%zu %s not explain the answers: relative error %.3g, not %g; no layer is written", why,
        report->heads, one ? "head does" : "heads do", fmax(report->check_error, report->residual),
        report->tolerance);
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    wt_query_report report = WT_SIZED(wt_query_report);
    wt_oracle *oracle = NULL;
    wt_layer *layer = NULL;
    wt_status status;
    WT_TRY(read_options(call));
    WT_TRY(wt_oracle_open(call->context, given->oracle, given->dim, given->timeout, &oracle));
    status = wt_layer_query(call->context, wt_oracle_ask, oracle, given->dim,
                            wt_oracle_outputs(oracle), &given->options, &layer, &report);
    if (status == WT_OK)
        (void)cli_lift_time(call);
    if (status == WT_MISSED)
        (void)print(call, &report); /* the sentence on the context says why */
    WT_TRY(status);
    if (report.reached && given->output != NULL)
        WT_TRY(wt_layer_save(call->context, layer, given->output));
    WT_TRY(print(call, &report));
    if (!report.reached)
        status = miss(call, &report);
done:
    wt_oracle_free(oracle);
    wt_layer_free(layer);
    return status;
}

const cli_command cli_query = {
    .name = "query",
    .summary = "learn an attention layer from a program that answers",
    .description =
        "Learns F(X) = sum_h softmax(X theta_h X^T) X w_h from a black box that gives the last row "
        "of F(X) for any X asked. One head takes d^2 + d questions and is exact to rounding. "
        "Several heads are taken apart by repeated tokens, which is a rough start, and polished "
        "by least squares on all answers and on random questions until what is left is rounding. "
        "Fresh questions judge the result. Answers that are all float32 numbers are explained to "
        "the rounding of such.\n\n"
        "Layers with biases, a residual connection or a norm before them, of given rank, of more "
        "than 4 heads or of more than 64 dimensions are recovered from random questions: about "
        "four "
        "times as many as they have unknowns over outputs, of 2 to 4 tokens, or longer ones where "
        "those show too few scores.\n\n"
        "Exit code 1 and no file when the answers are not explained; 69 when the oracle dies, "
        "hangs or answers rubbish.",
    .examples =
        "wattle query --oracle 'wattle serve-layer teacher.safetensors' --dim 8 -o "
        "layer.safetensors\n"
        "wattle query --oracle ./black-box --dim 16 --heads 3 --timeout 5 --json\n"
        "wattle query --oracle ./black-box --dim 16 --heads 6 --bias --residual --norm layer",
    .tables = tables,
    CLI_OPTIONS(options, values),
    .run = run,
};
