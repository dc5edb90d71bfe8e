#include "wattle/oracle.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/text.h"
#include "layer/learn/oracle_lines.h"

#define LEAVE 2.0 /* seconds to end by itself once its input or its output is closed */

struct wt_oracle {
    wt_context *context;
    double seconds; /* for one answer */
    size_t dim, outputs;
    size_t answers; /* so far */
    bool broken;    /* it failed once, and is owed no time to leave */
    wt_child child; /* its output is read through the lines */
    wt_oracle_lines lines;
    char *question;
    size_t question_room;
    double *first; /* the answer to [e_1], asked to learn how many outputs there are */
};

/* The first line of what it complained of. */
static const char *complaint(wt_oracle *oracle, char *shown, size_t bytes) {
    char *text = oracle->child.complaint;
    text[strcspn(text, "\n")] = '\0';
    return *text == '\0' ? "it says nothing" : wt_quote(text, shown, bytes);
}

/* Its output has ended before an answer. */
static wt_status died(wt_oracle *oracle) {
    char shown[WT_QUOTED_BYTES];
    int how = 0;
    bool gone = wt_child_wait(&oracle->child, LEAVE, &how) == WT_CHILD_ENDED;
    const char *words = complaint(oracle, shown, sizeof shown);
    const char *plural = oracle->answers == 1 ? "" : "s";
    if (!gone)
        return wt_fail(oracle->context, WT_UNAVAILABLE,
                       "the oracle closed its output after %zu answer%s: %s", oracle->answers,
                       plural, words);
    if (WIFSIGNALED(how))
        return wt_fail(oracle->context, WT_UNAVAILABLE,
                       "the oracle died of signal %d after %zu answer%s: %s", WTERMSIG(how),
                       oracle->answers, plural, words);
    return wt_fail(oracle->context, WT_UNAVAILABLE,
                   "the oracle ended with exit code %d after %zu answer%s: %s", WEXITSTATUS(how),
                   oracle->answers, plural, words);
}

/* Sends the question of so many bytes and waits for a line. */
static wt_status talk(wt_oracle *oracle, size_t length, const char **line, size_t *line_length) {
    double end = wt_clock() + oracle->seconds;
    size_t sent = 0;
    bool ended = false, deaf = false;
    while (!wt_oracle_lines_take(&oracle->lines, false, line, line_length)) {
        struct pollfd ends[] = {
            {.fd = sent < length && !deaf ? oracle->child.input : -1, .events = POLLOUT},
            {.fd = oracle->child.output, .events = POLLIN},
            {.fd = oracle->child.errors, .events = POLLIN}};
        poll(ends, 3, WT_CHILD_LOOK);
        wt_status status = wt_context_check_cancelled(oracle->context);
        if (status != WT_OK)
            return status;
        if (ends[0].revents != 0)
            deaf = !wt_child_send(&oracle->child, oracle->question, length, &sent);
        if (ends[2].revents != 0)
            wt_child_take_errors(&oracle->child);
        if (ends[1].revents != 0)
            status = wt_oracle_lines_read(oracle->context, &oracle->lines, &ended);
        if (status == WT_DATA)
            return wt_fail(oracle->context, WT_UNAVAILABLE, "the oracle writes without end");
        if (status != WT_OK)
            return status;
        if (ended)
            return died(oracle);
        if (wt_clock() > end)
            return wt_fail(oracle->context, WT_UNAVAILABLE,
                           "the oracle hangs: no answer to question %zu within %g s",
                           oracle->answers + 1, oracle->seconds);
    }
    return WT_OK;
}

static wt_status write_question(wt_oracle *oracle, size_t k, const double *x, size_t *length) {
    size_t bytes = k * (oracle->dim * WT_ORACLE_NUMBER_BYTES + 4) + 8;
    if (bytes > oracle->question_room) {
        wt_release(oracle->question);
        oracle->question_room = 0;
        WT_PASS(WT_NEW(oracle->context, &oracle->question, bytes, "a question"));
        oracle->question_room = bytes;
    }
    *length = wt_oracle_format_matrix(k, oracle->dim, x, oracle->question);
    return WT_OK;
}

/* The answer as *y (*count), to be released. */
static wt_status exchange(wt_oracle *oracle, size_t k, const double *x, size_t *count, double **y) {
    const char *line;
    size_t length;
    wt_status status;
    *y = NULL;
    WT_TRY(write_question(oracle, k, x, &length));
    WT_TRY(talk(oracle, length, &line, &length));
    status = wt_oracle_parse_list(oracle->context, line, length, count, y);
    if (status == WT_DATA) {
        char start[41], shown[WT_QUOTED_BYTES];
        snprintf(start, sizeof start, "%.*s", (int)(length < 40 ? length : 40), line);
        wt_utf8_trim(start);
        status =
            wt_fail(oracle->context, WT_UNAVAILABLE,
                    "the oracle's answer %zu is no list of numbers (%s): '%s'", oracle->answers + 1,
                    wt_context_message(oracle->context), wt_quote(start, shown, sizeof shown));
    }
    WT_TRY(status);
    oracle->answers++;
done:
    oracle->broken = status != WT_OK;
    return status;
}

static wt_status ask_first(wt_oracle *oracle) {
    double *unit = NULL;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(oracle->context, &unit, oracle->dim, "a question"));
    unit[0] = 1;
    WT_TRY(exchange(oracle, 1, unit, &oracle->outputs, &oracle->first));
    if (oracle->outputs == 0)
        status = wt_fail(oracle->context, WT_UNAVAILABLE, "the oracle's answer 1 has no number");
done:
    wt_release(unit);
    return status;
}

wt_status wt_oracle_open(wt_context *context, const char *command, size_t dim, double seconds,
                         wt_oracle **out) {
    const char *const words[] = {"sh", "-c", command, NULL};
    wt_oracle *oracle = NULL;
    wt_status status;
    *out = NULL;
    if (dim == 0 || !(seconds > 0))
        return wt_fail(context, WT_USAGE,
                       "an oracle takes tokens of dimension 1 or more and a time above 0");
    WT_TRY(WT_NEW_ZERO(context, &oracle, 1, "an oracle"));
    *oracle = (wt_oracle){.context = context,
                          .seconds = seconds,
                          .dim = dim,
                          .child = WT_NO_CHILD,
                          .lines = {.file = -1}};
    WT_TRY(wt_child_start(context, words, "the oracle", NULL, &oracle->child));
    oracle->lines.file = oracle->child.output;
    WT_TRY(ask_first(oracle));
    *out = oracle;
    oracle = NULL;
done:
    wt_oracle_free(oracle);
    return status;
}

void wt_oracle_free(wt_oracle *oracle) {
    int how;
    if (oracle == NULL)
        return;
    wt_child_close(&oracle->child.input);
    wt_child_close(&oracle->child.output);
    wt_child_close(&oracle->child.errors);
    if (oracle->child.process > 0 && !oracle->broken)
        (void)wt_child_wait(&oracle->child, LEAVE, &how);
    wt_child_end(&oracle->child);
    wt_oracle_lines_free(&oracle->lines);
    wt_release(oracle->question);
    wt_release(oracle->first);
    wt_release(oracle);
}

size_t wt_oracle_outputs(const wt_oracle *oracle) {
    return oracle->outputs;
}

static bool is_first(const wt_oracle *oracle, size_t k, const double *x) {
    for (size_t i = 0; k == 1 && i < oracle->dim; i++)
        if (x[i] != (i == 0 ? 1 : 0))
            return false;
    return k == 1;
}

wt_status wt_oracle_ask(void *user, size_t k, const double *x, double *y) {
    wt_oracle *oracle = user;
    double *answer = NULL;
    size_t count;
    wt_status status = WT_OK;
    if (oracle->first != NULL && is_first(oracle, k, x)) {
        answer = oracle->first;
        oracle->first = NULL;
    } else {
        WT_TRY(exchange(oracle, k, x, &count, &answer));
        if (count != oracle->outputs) {
            status =
                wt_fail(oracle->context, WT_UNAVAILABLE,
                        "the oracle's answer %zu has %zu %s, not %zu as the first", oracle->answers,
                        count, count == 1 ? "number" : "numbers", oracle->outputs);
            goto done;
        }
    }
    memcpy(y, answer, oracle->outputs * sizeof *y);
done:
    wt_release(answer);
    return status;
}
