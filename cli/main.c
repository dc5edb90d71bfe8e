#define _GNU_SOURCE /* O_PATH */
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "color.h"
#include "help.h"
#include "version.h"
#include "wattle/program.h"
#include "wattle/text.h"

/* A variable that tests set (see CONTRIBUTING.md); 0 when it is no number. */
static long fault(const char *variable) {
    int64_t count = 0;
    const char *text = getenv(variable);
    return text != NULL && wt_integer_parse(text, &count) ? (long)count : 0;
}

/* Whether all of the result arrived; an earlier write may have failed before the last one. */
static bool stdout_is_written(wt_context *context) {
    bool flushed = fflush(stdout) == 0;
    return flushed && !ferror(stdout) && !cli_print_lost && !wt_context_write_fails(context);
}

static int exit_code(wt_status status) {
    return status == WT_INTERRUPTED && !cli_goes_on ? CLI_EXIT_CANCELLED
                                                    : wt_status_exit_code(status);
}

static void write_json_error(wt_context *context, wt_status status) {
    json_t *error = json_pack("{s:s, s:s, s:i}", "error", wt_context_message(context), "status",
                              wt_status_name(status), "exit", exit_code(status));
    if (error != NULL)
        json_dumpf(error, stdout, JSON_INDENT(2));
    json_decref(error);
    putchar('\n');
    fflush(stdout);
}

/* What went wrong here is rank 0's to say. Where it went wrong there too, mpirun has ended this
 * process before it speaks. */
#define SECONDS_OF_SILENCE 3

static int report(wt_context *context, wt_status status, bool json, int64_t rank) {
    cli_terminal_finish();
    if (rank > 0 && status != WT_OK)
        sleep(SECONDS_OF_SILENCE);
    if (!stdout_is_written(context) && (status == WT_OK || status == WT_MISSED))
        status = wt_fail(context, WT_IO, "standard output could not be written");
    /* A missed goal has printed its result; the sentence is a remark. */
    if (status != WT_OK && json && status != WT_MISSED && !cli_json_emitted)
        write_json_error(context, status);
    if (status != WT_OK) {
        char who[32] = "";
        if (rank > 0)
            snprintf(who, sizeof who, " rank %" PRId64 ":", rank);
        cli_color_write(stderr, CLI_RED, "wattle:");
        fprintf(stderr, "%s %s\n", who, wt_context_message(context));
    }
    return exit_code(status);
}

/* What --verbose adds at the end. */
static void remark_cost(const cli_call *call, double began) {
    char held[WT_BYTES_TEXT], process[WT_BYTES_TEXT];
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    wt_remark(call->context, "took %.3g s on up to %d threads, held at most %s (process %s)",
              wt_clock() - began, wt_context_threads(call->context),
              wt_bytes_format(wt_context_memory_peak(call->context), held),
              wt_bytes_format((size_t)usage.ru_maxrss * 1024, process));
}

/* Memory that was given back is kept for the next repetition: to touch a fresh page costs more than
 * to fill it. Under --mem, and of large layers one after the other, it goes back to the system. */
static void keep_memory(void) {
    (void)mallopt(M_MMAP_MAX, 0);
    (void)mallopt(M_TRIM_THRESHOLD, -1);
}

static wt_status apply_common(cli_call *call) {
    if (call->common.memory == 0 && !call->command->lean)
        keep_memory();
    wt_context_set_memory(call->context, call->common.memory);
    WT_PASS(wt_context_set_time_limit(call->context, call->common.time));
    if (call->common.threads == 0)
        return WT_OK;
    if (call->common.threads > WT_MAX_THREADS)
        return wt_fail(call->context, WT_USAGE, "--threads: at most %d", WT_MAX_THREADS);
    return wt_context_set_threads(call->context, (int)call->common.threads);
}

static wt_status run_command(wt_context *context, int argc, char **argv, bool *json) {
    double began = wt_clock();
    cli_call call = {.context = context, .command = cli_find_command(argv[0])};
    if (call.command == NULL)
        return cli_unknown_command(context, argv[0]);
    wt_status status;
    status = cli_parse(&call, argc, argv);
    if (call.common.color != NULL)
        cli_color_choose(call.common.color);
    WT_TRY(status);
    *json = call.common.json;
    WT_TRY(apply_common(&call));
    if (call.common.help) {
        cli_write_help(stdout, call.command, "text");
        goto done;
    }
    call.common.quiet |= cli_rank(argc, argv) > 0;
    cli_terminal_attach(&call);
    cli_tell_outputs(&call, false);
    status = call.command->run(&call);
    if (status == WT_INTERRUPTED && !cli_goes_on && wt_context_out_of_time(context))
        status = wt_fail(context, WT_MISSED, "the time is over, and there is no result yet");
    cli_tell_outputs(&call, true);
done:
    if (call.common.verbose) {
        remark_cost(&call, began);
        cli_remark_device(&call);
    }
    cli_terminal_detach();
    cli_call_free(&call);
    return status;
}

/* `wattle --help ...` is `wattle help ...`; `wattle --version` stands alone, with --json at most.
 */
static wt_status run_words(wt_context *context, int argc, char **argv, bool *json) {
    static char help[] = "help";
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        char *alone[] = {help, NULL};
        if (argc < 2)
            return run_command(context, 1, alone, json);
        argv[1] = help;
    }
    if (strcmp(argv[1], "--complete") == 0) {
        cli_complete(argc - 2, argv + 2);
        return WT_OK;
    }
    bool version = strcmp(argv[1], "--version") == 0;
    if (version && (argc == 2 || (argc == 3 && *json)))
        return cli_write_version(context, *json);
    if (version)
        return wt_fail(context, WT_USAGE, "--version takes no more words than --json, not '%s'",
                       argv[2]);
    if (argv[1][0] == '-')
        return wt_fail(context, WT_USAGE,
                       "'%s' comes before any command; write 'wattle COMMAND [options] [files]', "
                       "'wattle --help' or 'wattle --version'",
                       argv[1]);
    return run_command(context, argc - 1, argv + 1, json);
}

/* --json may stand after the word that is wrong. */
static bool wants_json(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

/* A stream that is closed would be the number of the next file opened, by us or a library, and
 * words meant for the stream would go into that file. Its place is taken by what can neither be
 * read nor written, so that the stream fails as a closed one does. */
static bool keep_streams(void) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 && open("/", O_PATH) != stream)
            return false;
    return true;
}

int main(int argc, char **argv) {
    wt_context *context;
    if (!keep_streams())
        return wt_status_exit_code(WT_INTERNAL); /* there is nowhere to say so */
    if (wt_context_new(&context) != WT_OK) {
        fputs("wattle: no memory to start\n", stderr);
        return wt_status_exit_code(WT_MEMORY);
    }
    wt_context_set_faults(context, fault("WATTLE_FAULT_ALLOCATION"), fault("WATTLE_FAULT_WRITE"));
    signal(SIGXFSZ, SIG_IGN); /* a write past the file size limit fails with a sentence instead */
    bool json = wants_json(argc, argv);
    wt_status status = run_words(context, argc, argv, &json);
    int code = report(context, status, json, cli_rank(argc, argv));
    wt_context_free(context);
    return code;
}
