#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "command.h"
#include "version.h"

static const char *command_name_at(const void *from, size_t index) {
    (void)from;
    return cli_commands[index] == NULL ? NULL : cli_commands[index]->name;
}

const cli_command *cli_find_command(const char *name) {
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

json_t *cli_json_real(double value) {
    json_t *number = json_real(value);
    return number == NULL ? json_null() : number;
}

bool cli_json_emitted;

wt_status cli_emit_json(cli_call *call, json_t *object) {
    if (object == NULL)
        return wt_fail(call->context, WT_MEMORY, "no memory for the JSON result");
    cli_json_emitted = true;
    int failed = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(object);
    putchar('\n');
    return failed ? wt_fail(call->context, WT_IO, "the JSON result could not be written") : WT_OK;
}

/* Tests make the k-th allocation or write fail through the environment (see CONTRIBUTING.md). */
static void inject_faults(wt_context *context) {
    int64_t count;
    const char *text = getenv("WATTLE_FAULT_ALLOCATION");
    if (text != NULL && wt_parse_integer(text, &count))
        atomic_store(&context->allocation_to_fail, (long)count);
    text = getenv("WATTLE_FAULT_WRITE");
    if (text != NULL && wt_parse_integer(text, &count))
        atomic_store(&context->write_to_fail, (long)count);
}

static int report(wt_context *context, wt_status status, bool json) {
    cli_terminal_finish();
    /* Buffered output that cannot be written is a failure of its own. */
    if (fflush(stdout) != 0 && status == WT_OK)
        status = wt_fail(context, WT_IO, "standard output could not be written");
    /* A missed goal has printed its result; the sentence is a remark. */
    if (status != WT_OK && json && status != WT_MISSED && !cli_json_emitted) {
        json_t *error = json_pack("{s:s, s:s, s:i}", "error", wt_context_message(context), "status",
                                  wt_status_name(status), "exit", wt_status_exit_code(status));
        if (error != NULL)
            json_dumpf(error, stdout, JSON_INDENT(2));
        json_decref(error);
        putchar('\n');
        fflush(stdout);
    }
    if (status != WT_OK)
        fprintf(stderr, "wattle: %s\n", wt_context_message(context));
    return wt_status_exit_code(status);
}

static wt_status apply_common(cli_call *call) {
    wt_context_set_memory(call->context, call->common.memory);
    if (call->common.threads == 0)
        return WT_OK;
    if (call->common.threads > WT_MAX_THREADS)
        return wt_fail(call->context, WT_USAGE, "--threads: at most %d", WT_MAX_THREADS);
    return wt_context_set_threads(call->context, (int)call->common.threads);
}

/* --json may stand after the word that is wrong. */
static bool wants_json(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0)
            return true;
    return false;
}

static wt_status run_command(wt_context *context, int argc, char **argv) {
    cli_call call = {.context = context, .command = cli_find_command(argv[0])};
    if (call.command == NULL) {
        const char *nearest = cli_nearest(argv[0], command_name_at, NULL);
        if (nearest != NULL)
            return wt_fail(context, WT_USAGE, "unknown command '%s'; did you mean '%s'?", argv[0],
                           nearest);
        return wt_fail(context, WT_USAGE, "unknown command '%s'; 'wattle help' lists them",
                       argv[0]);
    }
    wt_status status;
    WT_TRY(cli_parse(&call, argc, argv));
    if (call.common.help) {
        cli_write_help(stdout, call.command, "text");
        goto done;
    }
    WT_TRY(apply_common(&call));
    cli_terminal_attach(&call);
    WT_TRY(call.command->run(&call));
done:
    cli_call_free(&call);
    return status;
}

int main(int argc, char **argv) {
    wt_context *context;
    if (wt_context_new(&context) != WT_OK) {
        fputs("wattle: no memory to start\n", stderr);
        return wt_status_exit_code(WT_MEMORY);
    }
    inject_faults(context);
    wt_status status = WT_OK;
    bool json = wants_json(argc, argv);
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        cli_write_help(stdout, NULL, "text");
    else if (strcmp(argv[1], "--version") == 0)
        status = cli_write_version(context, json);
    else
        status = run_command(context, argc - 1, argv + 1);
    int code = report(context, status, json);
    wt_context_free(context);
    return code;
}
