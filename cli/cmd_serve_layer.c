/* `wattle serve-layer`: a layer that answers, the other end of `wattle query`. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "lines.h"
#include "wattle/layer.h"
#include "wattle/memory.h"

#define LOOK_EVERY 100 /* milliseconds between looks at the cancel flag */

typedef struct {
    cli_call *call;
    wt_layer *layer;
    cli_lines lines;
    size_t answered;
} server;

/* The last row of F(X) for the matrix of a line, as a line. */
static wt_status answer(server *work, const char *line, size_t length) {
    wt_context *context = work->call->context;
    size_t k, p = wt_layer_outputs(work->layer);
    double *x = NULL, *y = NULL;
    char *text = NULL;
    wt_status status;
    WT_TRY(cli_parse_matrix(context, line, length, wt_layer_dim(work->layer), &k, &x));
    WT_TRY(wt_allocate(context, &y, k, p * sizeof *y, "an answer"));
    WT_TRY(WT_NEW(context, &text, p * CLI_NUMBER_BYTES + 4, "an answer"));
    WT_TRY(wt_layer_forward(context, work->layer, 1, k, x, y));
    for (size_t i = 0; i < p; i++) /* JSON has no word for it */
        if (!isfinite(y[(k - 1) * p + i])) {
            status = wt_fail(context, WT_DATA,
                             "number %zu of the answer is not finite: the tokens are too large "
                             "for this layer",
                             i);
            goto done;
        }
    size_t bytes = cli_format_list(p, y + (k - 1) * p, text);
    if (fwrite(text, 1, bytes, stdout) != bytes || fflush(stdout) != 0)
        status = wt_fail(context, WT_IO, "standard output could not be written");
done:
    wt_release(x);
    wt_release(y);
    wt_release(text);
    return status;
}

static wt_status answer_line(server *work, const char *line, size_t length) {
    wt_context *context = work->call->context;
    wt_status status = answer(work, line, length);
    work->answered++;
    if (status != WT_DATA)
        return status;
    char why[WT_MESSAGE_BYTES];
    snprintf(why, sizeof why, "%s", wt_context_message(context));
    return wt_fail(context, WT_DATA, "line %zu: %s", work->answered, why);
}

/* Answers until the lines end. */
static wt_status serve(server *work) {
    wt_context *context = work->call->context;
    wt_status status = WT_OK;
    for (bool ended = false; !ended;) {
        struct pollfd end = {.fd = work->lines.file, .events = POLLIN};
        const char *line;
        size_t length;
        int ready = poll(&end, 1, LOOK_EVERY);
        WT_TRY(wt_check_cancelled(context));
        if (ready <= 0)
            continue;
        WT_TRY(cli_lines_read(context, &work->lines, &ended));
        while (cli_lines_take(&work->lines, ended, &line, &length))
            WT_TRY(answer_line(work, line, length));
    }
done:
    return status;
}

static wt_status run(cli_call *call) {
    server work = {.call = call, .lines = {.file = STDIN_FILENO}};
    wt_status status;
    /* One question is little work, and who asks has the other processors. */
    if (call->common.threads == 0)
        WT_TRY(wt_context_set_threads(call->context, 1));
    WT_TRY(wt_layer_load(call->context, call->operands[0], &work.layer));
    if (call->operand_count > 1) {
        work.lines.file = open(call->operands[1], O_RDONLY | O_CLOEXEC);
        if (work.lines.file < 0) {
            status =
                wt_fail(call->context, WT_NO_INPUT, "%s: %s", call->operands[1], strerror(errno));
            goto done;
        }
    }
    WT_TRY(serve(&work));
done:
    if (work.lines.file > STDIN_FILENO)
        close(work.lines.file);
    cli_lines_free(&work.lines);
    wt_layer_free(work.layer);
    return status;
}

const cli_command cli_serve_layer = {
    .name = "serve-layer",
    .summary = "answer questions about a layer, one line each",
    .operands = "LAYER.safetensors [LINES]",
    .least = 1,
    .most = 2,
    .description =
        "Reads lines from standard input, or from the file LINES: each a JSON matrix of k rows of "
        "d numbers, the tokens X. Answers each at once with a line: the last row of F(X), a JSON "
        "list of p numbers. F(X) = sum_h softmax(X theta_h X^T) X w_h with theta (m,d,d) and w "
        "(m,d,p) of the layer.\n\n"
        "A line that is no such matrix, or whose answer is not finite, ends it with exit code 65. "
        "Made to be an oracle of `wattle "
        "query`.",
    .examples = "wattle serve-layer layer.safetensors < questions.txt\n"
                "wattle query --oracle 'wattle serve-layer layer.safetensors' --dim 4",
    .run = run,
};
