/* Operands: how many a command takes, and the words that may stand first. */
#define _GNU_SOURCE /* memmem */
#include <limits.h>
#include <string.h>

#include "help.h"

void cli_operand_range(const char *operands, int *least, int *most) {
    *least = *most = 0;
    for (const char *at = operands == NULL ? "" : operands; *at != '\0'; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        *least += *at != '[';
        *most = memmem(at, length, "...", 3) != NULL ? INT_MAX : *most + 1;
        at += length;
    }
}

static const char *alternative_at(const void *alternatives, size_t index) {
    static char words[16][32];
    const char *at = alternatives;
    for (size_t i = 0; i <= index && at != NULL; i++)
        at = cli_next_word(at, words[index % 16], sizeof *words);
    return at == NULL ? NULL : words[index % 16];
}

wt_status cli_check_operands(cli_call *call) {
    const cli_command *command = call->command;
    int least, most;
    cli_operand_range(command->operands, &least, &most);
    if (call->operand_count < least)
        return wt_fail(call->context, WT_USAGE, "wattle %s needs %s; see 'wattle help %s'",
                       command->name, command->operands, command->name);
    if (call->operand_count > most)
        return wt_fail(call->context, WT_USAGE, "wattle %s: '%s' is one operand too many",
                       command->name, call->operands[most]);
    if (least == 0 || command->words == 0 ||
        cli_is_alternative(command->operands, call->operands[0]))
        return WT_OK;
    const char *nearest = cli_nearest(call->operands[0], alternative_at, command->operands);
    if (nearest != NULL)
        return wt_fail(call->context, WT_USAGE, "wattle %s: there is no '%s'; did you mean '%s'?",
                       command->name, call->operands[0], nearest);
    return wt_fail(call->context, WT_USAGE,
                   "wattle %s: there is no '%s'; 'wattle help %s' lists them", command->name,
                   call->operands[0], command->name);
}
