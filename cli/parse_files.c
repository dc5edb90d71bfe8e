/* The files of a command: names that fit what is written, none of them read and written, and a
 * remark on each that was written. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "wattle/output.h"

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

/* ".csv" of "a/b.csv"; NULL when there is none, as in ".." or "a.b/c". */
static const char *suffix_of(const char *path) {
    const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
    const char *dot = strrchr(name, '.');
    return dot == NULL || dot == name || dot[1] == '\0' ? NULL : dot;
}

/* "FILE.csv|.npy|-": whether a name ends in one of these suffixes. A name without a suffix will do
 * where there is one format alone, and "-", standard output, where it is in the list. */
static wt_status check_name(cli_call *call, const cli_option *option, const char *path) {
    const char *formats = strchr(option->value, '.'), *suffix = suffix_of(path);
    bool several = formats != NULL && strchr(formats, '.') != strrchr(formats, '.');
    bool to_stdout = strcmp(path, "-") == 0, dash = strstr(option->value, "|-") != NULL;
    if (to_stdout && dash && call->common.json)
        return wt_fail(call->context, WT_USAGE,
                       "--json and --%s - both want standard output: give --%s a file",
                       option->name, option->name);
    if (to_stdout && !dash)
        return wt_fail(call->context, WT_USAGE,
                       "--%s: this goes to a file, not to standard output: give a name, %s",
                       option->name, option->value);
    if (to_stdout || formats == NULL || (suffix == NULL && !several))
        return WT_OK;
    for (const char *at = formats; suffix != NULL && at != NULL; at = strchr(at + 1, '.')) {
        size_t length = strcspn(at, "|");
        if (strncmp(at, suffix, length) == 0 && suffix[length] == '\0')
            return WT_OK;
    }
    return wt_fail(call->context, WT_USAGE, "--%s: '%s' does not end in what is written, %.*s",
                   option->name, path, (int)(strlen(formats) - (dash ? 2 : 0)), formats);
}

/* A dry run writes no --output. */
static bool is_dry(cli_call *call) {
    const cli_option *option;
    for (size_t i = 0; (option = cli_option_at(call->command, i)) != NULL; i++)
        if (option->kind == CLI_FLAG && strcmp(option->name, "dry-run") == 0)
            return *(const bool *)cli_value_at(call, i, option);
    return false;
}

static wt_status check_names(cli_call *call) {
    const cli_option *option;
    bool dry = is_dry(call);
    for (size_t i = 0; (option = cli_option_at(call->command, i)) != NULL; i++) {
        const char *path = file_of(call, i, CLI_OUTPUT);
        if (path == NULL)
            continue;
        WT_PASS(check_name(call, option, path));
        if (strchr(option->value, '.') != NULL && strcmp(path, "-") != 0 &&
            !(dry && strcmp(option->name, "output") == 0))
            WT_PASS(wt_output_check(call->context, path));
    }
    return WT_OK;
}

wt_status cli_check_files(cli_call *call) {
    WT_PASS(check_outputs(call));
    WT_PASS(check_inputs(call));
    return check_names(call);
}

bool cli_has_suffix(const char *path, const char *suffix) {
    const char *own = suffix_of(path);
    return own != NULL && strcmp(own, suffix) == 0;
}

void cli_tell_outputs(cli_call *call, bool written) {
    static struct stat before[8];
    char bytes[WT_BYTES_TEXT];
    const cli_option *option;
    for (size_t i = 0, k = 0; (option = cli_option_at(call->command, i)) != NULL && k < 8; i++) {
        struct stat now = {0};
        const char *path = file_of(call, i, CLI_OUTPUT);
        if (path == NULL || (stat(path, &now) != 0 && written))
            continue;
        if (written && S_ISREG(now.st_mode) &&
            (now.st_ino != before[k].st_ino || now.st_size != before[k].st_size ||
             now.st_mtim.tv_sec != before[k].st_mtim.tv_sec ||
             now.st_mtim.tv_nsec != before[k].st_mtim.tv_nsec))
            wt_remark(call->context, "wrote %s (%s)", path,
                      wt_bytes_format((size_t)now.st_size, bytes));
        before[k++] = now;
    }
}
