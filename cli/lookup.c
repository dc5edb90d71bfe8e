/* Finding commands and options by name, and the name that was probably meant. */
#include <string.h>

#include "command.h"
#include "wattle/text.h"

const cli_command *cli_find_command(const char *name) {
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

const cli_option *cli_option_at(const cli_command *command, size_t index) {
    size_t own = command == NULL ? 0 : command->option_count;
    if (index < own)
        return &command->options[index];
    return index - own < cli_common_option_count ? &cli_common_options[index - own] : NULL;
}

bool cli_given(const cli_call *call, const char *name) {
    const cli_option *option;
    for (size_t i = 0; (option = cli_option_at(call->command, i)) != NULL; i++)
        if (strcmp(option->name, name) == 0)
            return call->given[i];
    return false;
}

/* Slips between the word and the name; a beginning of the name counts as one. */
static size_t slips(const char *word, const char *name) {
    size_t length = strlen(word);
    return length >= 2 && strncmp(word, name, length) == 0 ? 1 : wt_edit_distance(word, name);
}

const char *cli_nearest(const char *word, cli_candidate_fn next, const void *from) {
    const char *best = NULL;
    size_t least = strlen(word) / 3 + 2; /* more slips than that make another word */
    const char *name;
    for (size_t i = 0; (name = next(from, i)) != NULL; i++) {
        size_t distance = slips(word, name);
        if (distance < least) {
            least = distance;
            best = name;
        }
    }
    return best;
}

static const char *command_name_at(const void *from, size_t index) {
    (void)from;
    return cli_commands[index] == NULL ? NULL : cli_commands[index]->name;
}

wt_status cli_unknown_command(wt_context *context, const char *name) {
    const char *nearest = cli_nearest(name, command_name_at, NULL);
    if (nearest != NULL)
        return wt_fail(context, WT_USAGE, "unknown command '%s'; did you mean '%s'?", name,
                       nearest);
    return wt_fail(context, WT_USAGE, "unknown command '%s'; 'wattle help' lists them", name);
}
