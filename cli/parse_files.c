/* Files that a command reads and writes must not be one. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"

static bool same_inode(const char *a, const char *b) {
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* The folder of a path into out[PATH_MAX], and the name in it; NULL when the path is too long. */
static const char *split_path(const char *path, char *out) {
    const char *slash = strrchr(path, '/');
    size_t bytes = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    if (bytes + 2 > PATH_MAX)
        return NULL;
    snprintf(out, PATH_MAX, "%.*s.", (int)bytes, path);
    return path + bytes;
}

bool cli_same_file(const char *a, const char *b) {
    char folder_a[PATH_MAX], folder_b[PATH_MAX];
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false; /* standard output has rules of its own */
    if (strcmp(a, b) == 0 || same_inode(a, b))
        return true;
    const char *name_a = split_path(a, folder_a), *name_b = split_path(b, folder_b);
    return name_a != NULL && name_b != NULL && strcmp(name_a, name_b) == 0 &&
           same_inode(folder_a, folder_b);
}

/* The file of an option of that kind; NULL when it is of another, or not given. */
static const char *file_of(cli_call *call, size_t index, cli_kind kind) {
    const cli_option *option = cli_option_at(call->command, index);
    return option->kind == kind ? *(const char **)cli_value_at(call, index, option) : NULL;
}

/* An output in the place of an input would destroy it. */
static wt_status check_inputs(cli_call *call) {
    const cli_command *command = call->command;
    size_t count;
    cli_options_of(command, &count);
    for (size_t i = 0; i < count; i++) {
        const char *output = file_of(call, i, CLI_OUTPUT), *input = NULL;
        if (output == NULL)
            continue;
        for (int j = command->words; j < call->operand_count && input == NULL; j++)
            input = cli_same_file(output, call->operands[j]) ? call->operands[j] : NULL;
        for (size_t j = 0; j < count && input == NULL; j++) {
            const char *other = file_of(call, j, CLI_INPUT);
            input = other != NULL && cli_same_file(output, other) ? other : NULL;
        }
        if (input != NULL)
            return wt_fail(call->context, WT_USAGE,
                           "%s is read, and --%s would be written in its place: give another name",
                           input, cli_option_at(command, i)->name);
    }
    return WT_OK;
}

/* Of two files with one name the later would silently take the place of the earlier. */
static wt_status check_outputs(cli_call *call) {
    size_t count;
    const cli_option *options = cli_options_of(call->command, &count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            const char *first = file_of(call, j, CLI_OUTPUT);
            const char *second = file_of(call, i, CLI_OUTPUT);
            if (first != NULL && second != NULL && cli_same_file(first, second))
                return wt_fail(call->context, WT_USAGE,
                               "--%s and --%s are both to be written to %s: give two names",
                               options[j].name, options[i].name, first);
        }
    return WT_OK;
}

wt_status cli_check_files(cli_call *call) {
    wt_status status = check_outputs(call);
    return status == WT_OK ? check_inputs(call) : status;
}
