/* Completion: shells ask the program itself what fits, by `wattle --complete WORD..`. */
#include <stdio.h>
#include <string.h>

#include "help.h"

/* ---- the scripts: the words of the line up to the cursor go out, offers come back ------------ */

static const char bash[] =
    "# bash completion of wattle, written by 'wattle help --completion bash'\n"
    "_wattle() {\n"
    "    local offered word=${COMP_WORDS[COMP_CWORD]}\n"
    "    mapfile -t offered < <(\"${COMP_WORDS[0]}\" --complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
    "2>/dev/null)\n"
    "    COMPREPLY=(\"${offered[@]%%$'\\t'*}\")\n"
    "    if [ \"${offered[0]}\" = files ]; then\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"${word#=}\")\n"
    "    fi\n"
    "}\n"
    "complete -F _wattle wattle\n";

/* Sourced by hand it registers itself; found through fpath it is the function's body. */
static const char zsh[] =
    "#compdef wattle\n"
    "# zsh completion of wattle, written by 'wattle help --completion zsh'\n"
    "_wattle() {\n"
    "    local -a offered\n"
    "    offered=(\"${(@f)$($words[1] --complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)}\")\n"
    "    if [[ $offered[1] == files ]]; then\n"
    "        compset -P '--*='\n"
    "        _files\n"
    "    else\n"
    "        offered=(\"${(@)${(@)offered:#}/$'\\t'/:}\")\n"
    "        _describe wattle offered\n"
    "    fi\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _wattle ]; then\n"
    "    _wattle \"$@\"\n"
    "else\n"
    "    compdef _wattle wattle\n"
    "fi\n";

static const char fish[] =
    "# fish completion of wattle, written by 'wattle help --completion fish'\n"
    "function __wattle_offers\n"
    "    set -l line (commandline -opc)\n"
    "    set -l word (commandline -ct)\n"
    "    set -l offered (wattle --complete $line[2..-1] \"$word\" 2>/dev/null)\n"
    "    if test \"$offered[1]\" = files\n"
    "        __fish_complete_path \"$word\"\n"
    "    else if set -q offered[1]\n"
    "        printf '%s\\n' $offered\n"
    "    end\n"
    "end\n"
    "complete -c wattle -f -a '(__wattle_offers)'\n";

void cli_write_completion(FILE *out, const char *shell) {
    fputs(strcmp(shell, "bash") == 0 ? bash : strcmp(shell, "zsh") == 0 ? zsh : fish, out);
}

/* ---- the offers: one a line, a tab and what it is; or the word files ------------------------- */

/* `lead` and the candidate, where they begin as the word does. */
static void offer(const char *word, const char *lead, const char *candidate, const char *about) {
    size_t length = strlen(lead);
    if (strncmp(word, lead, length) == 0 &&
        strncmp(word + length, candidate, strlen(word + length)) == 0) {
        const char *const parts[] = {lead, candidate, "\t", about, "\n"};
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            fputs(parts[i], stdout);
    }
}

static void offer_commands(const char *word) {
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        offer(word, "", cli_commands[i]->name, cli_commands[i]->summary);
}

static void offer_alternatives(const char *word, const char *lead, const char *alternatives) {
    char one[64];
    for (const char *at = alternatives; (at = cli_next_word(at, one, sizeof one)) != NULL;)
        offer(word, lead, one, "");
}

/* `lead` is "--option=" where the value is part of the word. */
static void offer_value(const cli_option *option, const char *word, const char *lead) {
    if (option->kind == CLI_CHOICE)
        offer_alternatives(word, lead, option->value);
    else if (option->kind == CLI_INPUT || option->kind == CLI_OUTPUT)
        puts("files");
}

static void offer_operand(const cli_command *command, const char *word, size_t index) {
    const char *operands = command->operands == NULL ? "" : command->operands;
    if (index < (size_t)command->words && strstr(operands, "COMMAND") != NULL)
        offer_commands(word);
    else if (index < (size_t)command->words)
        offer_alternatives(word, "", operands);
    else if (command->words == 0 ? *operands != '\0' : strchr(operands, ' ') != NULL)
        puts("files");
}

/* The option with a value that a word is, "--name" or "-x"; NULL for others. */
static const cli_option *valued(const cli_command *command, const char *word) {
    const cli_option *option;
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++)
        if (option->kind != CLI_FLAG && word[0] == '-' &&
            ((word[1] == '-' && strcmp(word + 2, option->name) == 0) ||
             (word[1] == option->letter && word[1] != '\0' && word[2] == '\0')))
            return option;
    return NULL;
}

void cli_complete(int count, char **words) {
    const char *word = count > 0 ? words[count - 1] : "", *equals = strchr(word, '=');
    if (count < 2) {
        offer_commands(word);
        offer(word, "", "--help", "show help");
        offer(word, "", "--version", "show what is built in");
        return;
    }
    const cli_command *command = cli_find_command(words[0]);
    if (command == NULL)
        return;
    /* bash makes three words of --option=value */
    bool apart = strcmp(word, "=") == 0 || strcmp(words[count - 2], "=") == 0;
    const char *before = words[count - (apart && *word != '=' && count > 2 ? 3 : 2)];
    const cli_option *option = valued(command, before);
    char lead[80] = "";
    if (option == NULL && equals != NULL) {
        snprintf(lead, sizeof lead, "%.*s", (int)(equals - word), word);
        option = valued(command, lead);
        snprintf(lead, sizeof lead, "%.*s", (int)(equals - word) + 1, word);
    }
    if (option != NULL) {
        offer_value(option, apart && *word == '=' ? "" : word, lead);
    } else if (word[0] == '-') {
        for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++)
            offer(word, "--", option->name, option->help);
    } else {
        size_t index = 0;
        for (int i = 1; i + 1 < count; i++)
            if (words[i][0] != '-')
                index++;
            else if (valued(command, words[i]) != NULL)
                i++;
        offer_operand(command, word, index);
    }
}
