/* `wattle serve-layer`: a layer that answers, the other end of `wattle query`. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "layer_options.h"
#include "wattle/oracle.h"

typedef struct {
    cli_layer_values layer;
} values;

static const cli_option options[] = {CLI_LAYER_OPTIONS(values), CLI_LAYER_HEADS(values)};

static wt_status write_line(void *user, const char *line, size_t count) {
    cli_call *call = user;
    if (fwrite(line, 1, count, stdout) != count || fflush(stdout) != 0)
        return wt_fail(call->context, WT_IO, "standard output could not be written");
    return WT_OK;
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    wt_layer *layer = NULL;
    int lines = STDIN_FILENO;
    wt_status status;
    /* One question is little work, and who asks has the other processors. */
    if (call->common.threads == 0)
        WT_TRY(wt_context_set_threads(call->context, 1));
    WT_TRY(cli_layer_check(call, &given->layer, 1));
    WT_TRY(cli_layer_open(call, &given->layer, call->operands[0], 0, &layer));
    if (call->operand_count > 1)
        lines = open(call->operands[1], O_RDONLY | O_CLOEXEC);
    if (lines < 0)
        WT_TRY(wt_fail(call->context, WT_NO_INPUT, "%s: %s", call->operands[1], strerror(errno)));
    WT_TRY(wt_layer_serve(call->context, layer, lines, write_line, call));
done:
    if (lines > STDIN_FILENO)
        close(lines);
    wt_layer_free(layer);
    return status;
}

const cli_command cli_serve_layer = {
    .name = "serve-layer",
    .summary = "answer questions about a layer, one line each",
    .operands = "LAYER.safetensors [LINES]",
    .waits = true,
    .description =
        "Reads lines from standard input, or from the file LINES: each a JSON matrix of k rows of "
        "d numbers, the tokens X. Answers each at once with a line: the last row of F(X), a JSON "
        "list of p numbers. The layer is a file of ours, F(X) = sum_h softmax(X theta_h X^T) X w_h "
        "or another form, or one of a checkpoint.\n\n"
        "A line that is no such matrix, or whose answer is not finite, ends it with exit code 65. "
        "Made to be an oracle of `wattle "
        "query`.",
    .examples = "wattle serve-layer layer.safetensors < questions.txt\n"
                "wattle query --oracle 'wattle serve-layer layer.safetensors' --dim 4",
    CLI_OPTIONS(options, values),
    .run = run,
};
