/* A layer that answers lines. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <poll.h>
#include <stdio.h>

#include "layer/learn/oracle_lines.h"
#include "wattle/oracle.h"

#define LOOK_EVERY 100 /* milliseconds between looks at the cancel flag */

typedef struct {
    wt_context *context;
    const wt_layer *layer;
    wt_oracle_answer_fn answer;
    void *user;
    size_t lines; /* so far */
} server;

/* The last row of F(X) for the matrix of a line, as a line. */
static wt_status answer(const server *work, const char *line, size_t length) {
    wt_context *context = work->context;
    wt_arena arena = wt_arena_start(context, "an answer");
    size_t k, p = wt_layer_outputs(work->layer);
    double *x = NULL;
    wt_status status;
    WT_TRY(wt_oracle_parse_matrix(context, line, length, wt_layer_dim(work->layer), &k, &x));
    double *y = WT_TAKE(&arena, double, k, p);
    char *text = WT_TAKE(&arena, char, p + 1, WT_ORACLE_NUMBER_BYTES);
    WT_TRY(arena.status);
    WT_TRY(wt_layer_forward(context, work->layer, 1, k, x, y));
    const double *last = y + (k - 1) * p;
    for (size_t i = 0; i < p; i++) /* JSON has no word for it */
        if (!isfinite(last[i]))
            WT_TRY(wt_fail(context, WT_DATA,
                           "number %zu of the answer is not finite: the tokens are too large for "
                           "this layer",
                           i));
    WT_TRY(work->answer(work->user, text, wt_oracle_format_list(p, last, text)));
done:
    wt_release(x);
    wt_arena_free(&arena);
    return status;
}

static wt_status answer_line(server *work, const char *line, size_t length) {
    wt_status status = answer(work, line, length);
    work->lines++;
    if (status != WT_DATA)
        return status;
    return wt_fail(work->context, WT_DATA, "line %zu: %s", work->lines,
                   wt_context_message(work->context));
}

wt_status wt_layer_serve(wt_context *context, const wt_layer *layer, int input,
                         wt_oracle_answer_fn take, void *user) {
    server work = {.context = context, .layer = layer, .answer = take, .user = user};
    wt_oracle_lines lines = {.file = input};
    wt_status status = WT_OK;
    for (bool ended = false; !ended;) {
        struct pollfd end = {.fd = input, .events = POLLIN};
        const char *line;
        size_t length;
        int ready = poll(&end, 1, LOOK_EVERY);
        WT_TRY(wt_context_check_cancelled(context));
        if (ready <= 0)
            continue;
        WT_TRY(wt_oracle_lines_read(context, &lines, &ended));
        while (wt_oracle_lines_take(&lines, ended, &line, &length))
            WT_TRY(answer_line(&work, line, length));
    }
done:
    wt_oracle_lines_free(&lines);
    return status;
}
