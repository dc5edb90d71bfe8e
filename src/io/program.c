#include "io/program.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/context.h"
#include "io/script.h"

#define READ_BYTES  65536
#define OUTPUT_MOST ((size_t)256 << 20) /* no figure is larger */

/* A running program and what came of it. */
typedef struct {
    wt_context *context;
    const wt_program *program;
    wt_child child;
    size_t sent;
    wt_script text;
} running;

static void send_input(running *run) {
    const wt_program *program = run->program;
    bool alive = run->sent == program->input_bytes ||
                 wt_child_send(&run->child, program->input, program->input_bytes, &run->sent);
    if (run->sent == program->input_bytes || !alive)
        wt_child_close(&run->child.input);
}

static wt_status take_output(running *run) {
    wt_script *text = &run->text;
    if (text->length > OUTPUT_MOST)
        return wt_fail(run->context, WT_UNAVAILABLE, "%s writes without end",
                       run->program->words[0]);
    if (!wt_script_room(text, READ_BYTES))
        return text->status;
    ssize_t got = read(run->child.output, text->text + text->length, READ_BYTES);
    if (got > 0)
        text->length += (size_t)got;
    else if (got == 0 || errno != EINTR)
        wt_child_close(&run->child.output);
    return WT_OK;
}

/* Feeds and reads until the program has closed its output. */
static wt_status talk(running *run) {
    double end = wt_clock() + run->program->seconds;
    while (run->child.output >= 0 || run->child.errors >= 0) {
        struct pollfd ends[] = {{.fd = run->child.input, .events = POLLOUT},
                                {.fd = run->child.output, .events = POLLIN},
                                {.fd = run->child.errors, .events = POLLIN}};
        poll(ends, 3, WT_CHILD_LOOK);
        wt_status status = wt_context_check_cancelled(run->context);
        if (status != WT_OK)
            return status;
        if (wt_clock() > end)
            return wt_fail(run->context, WT_UNAVAILABLE, "%s hangs: ended after %g seconds",
                           run->program->words[0], run->program->seconds);
        if (run->child.input >= 0 && ends[0].revents != 0)
            send_input(run);
        if (run->child.output >= 0 && ends[1].revents != 0 && (status = take_output(run)) != WT_OK)
            return status;
        if (run->child.errors >= 0 && ends[2].revents != 0)
            wt_child_take_errors(&run->child);
    }
    return WT_OK;
}

/* The complaint's first line that says something, in one line. gnuplot quotes its input with a
 * caret below before it says what is wrong. */
static const char *first_words(running *run) {
    char *best = NULL;
    for (char *line = run->child.complaint, *next; line != NULL; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        line += strspn(line, " \t^");
        if (*line != '\0' && best == NULL)
            best = line;
        if (strncmp(line, "line ", 5) == 0)
            return line;
    }
    return best == NULL ? "it says nothing" : best;
}

/* Waits for the program, whose streams are closed, and judges how it ended. */
static wt_status finish(running *run) {
    const char *name = run->program->words[0];
    double end = wt_clock() + run->program->seconds;
    wt_child_state state;
    int how = 0;
    do {
        wt_status status = wt_context_check_cancelled(run->context);
        if (status != WT_OK)
            return status;
        state = wt_child_wait(&run->child, 1e-3 * WT_CHILD_LOOK, &how);
    } while (state == WT_CHILD_LIVES && wt_clock() < end);
    if (state == WT_CHILD_LOST)
        return wt_fail(run->context, WT_IO, "%s was lost: nobody knows how it ended", name);
    if (state == WT_CHILD_LIVES)
        return wt_fail(run->context, WT_UNAVAILABLE, "%s hangs: ended after %g seconds", name,
                       run->program->seconds);
    if (WIFSIGNALED(how))
        return wt_fail(run->context, WT_UNAVAILABLE, "%s died of signal %d", name, WTERMSIG(how));
    if (WEXITSTATUS(how) != 0)
        return wt_fail(run->context, WT_UNAVAILABLE, "%s failed: %s", name, first_words(run));
    if (run->sent < run->program->input_bytes)
        return wt_fail(run->context, WT_UNAVAILABLE, "%s stopped reading: %s", name,
                       first_words(run));
    return WT_OK;
}

wt_status wt_program_run(wt_context *context, const wt_program *program, char **out,
                         size_t *bytes) {
    *out = NULL;
    *bytes = 0;
    running run = {
        .context = context, .program = program, .child = WT_NO_CHILD, .text = {.context = context}};
    wt_status status;
    WT_TRY(
        wt_child_start(context, program->words, program->words[0], program->install, &run.child));
    WT_TRY(talk(&run));
    wt_child_close(&run.child.input);
    WT_TRY(finish(&run));
    wt_script_bytes(&run.text, "", 0); /* the 0 at its end */
    WT_TRY(run.text.status);
    *out = run.text.text;
    *bytes = run.text.length;
    run.text.text = NULL;
done:
    wt_child_end(&run.child);
    wt_script_free(&run.text);
    return status;
}
