/* Completion scripts for bash, zsh and fish from the table of commands. */
#include <stdio.h>
#include <string.h>

#include "help.h"

enum { WORD_BYTES = 64 };

/* Inside single quotes of a shell; `special` are characters the completion system wants escaped. */
static void write_quoted(FILE *out, const char *text, const char *special) {
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr(special, *text) != NULL)
            fprintf(out, "\\%c", *text);
        else
            fputc(*text == '\n' ? ' ' : *text, out);
    }
}

/* "relu softmax" of "relu|softmax". */
static void write_words(FILE *out, const char *alternatives) {
    char word[WORD_BYTES];
    const char *gap = "";
    for (const char *at = alternatives; (at = cli_next_word(at, word, sizeof word)) != NULL;) {
        fprintf(out, "%s%s", gap, word);
        gap = " ";
    }
}

static void write_command_names(FILE *out) {
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        fprintf(out, "%s%s", i == 0 ? "" : " ", cli_commands[i]->name);
}

static bool offers_words(const cli_command *command) {
    cli_offer offer = cli_operand_offer(command);
    return offer == CLI_OFFER_COMMANDS || offer == CLI_OFFER_WORDS;
}

static void write_operand_words(FILE *out, const cli_command *command) {
    if (cli_operand_offer(command) == CLI_OFFER_COMMANDS)
        write_command_names(out);
    else
        write_words(out, command->operands);
}

static bool is_file(const cli_option *option) {
    return option->kind == CLI_INPUT || option->kind == CLI_OUTPUT;
}

/* ---- bash --------------------------------------------------------------------------------- */

static const char bash_head[] =
    "# bash completion of wattle, written by 'wattle help --completion bash'\n"
    "_wattle_files() {\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    mapfile -t COMPREPLY < <(compgen -f -- \"$1\")\n"
    "}\n"
    "_wattle_words() {\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$2\" -- \"$1\")\n"
    "}\n"
    "_wattle() {\n"
    "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
    "    COMPREPLY=()\n"
    "    # --option=value comes as three words, the value last or not there yet\n"
    "    if [ \"$word\" = = ]; then\n"
    "        word=\n"
    "    elif [ \"$before\" = = ]; then\n"
    "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    fi\n";

/* The branch for the word after an option with a value. */
static void write_bash_value(FILE *out, const cli_option *option) {
    fputs("        ", out);
    if (option->letter != 0)
        fprintf(out, "-%c|", option->letter);
    fprintf(out, "--%s) ", option->name);
    if (option->kind == CLI_CHOICE) {
        fputs("_wattle_words \"$word\" '", out);
        write_words(out, option->value);
        fputs("'; ", out);
    } else if (is_file(option)) {
        fputs("_wattle_files \"$word\"; ", out);
    }
    fputs("return ;;\n", out);
}

static void write_bash_operands(FILE *out, const cli_command *command) {
    if (cli_operand_offer(command) == CLI_OFFER_FILES)
        fputs("        _wattle_files \"$word\"\n", out);
    if (offers_words(command)) {
        fputs("        _wattle_words \"$word\" '", out);
        write_operand_words(out, command);
        fputs("'\n", out);
    }
}

static void write_bash_command(FILE *out, const cli_command *command) {
    const cli_option *option;
    fprintf(out, "    %s)\n        case $before in\n", command->name);
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++)
        if (option->kind != CLI_FLAG)
            write_bash_value(out, option);
    fputs("        esac\n        if [ \"${word:0:1}\" = - ]; then\n"
          "            _wattle_words \"$word\" '",
          out);
    for (size_t i = 0; (option = cli_option_at(command, i)) != NULL; i++)
        fprintf(out, "%s--%s", i == 0 ? "" : " ", option->name);
    fputs("'\n            return\n        fi\n", out);
    write_bash_operands(out, command);
    fputs("        ;;\n", out);
}

static void write_bash(FILE *out) {
    fputs(bash_head, out);
    fputs("    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        _wattle_words \"$word\" '", out);
    write_command_names(out);
    fputs(" --help --version'\n        return\n    fi\n    case ${COMP_WORDS[1]} in\n", out);
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        write_bash_command(out, cli_commands[i]);
    fputs("    esac\n}\ncomplete -F _wattle wattle\n", out);
}

/* ---- zsh ---------------------------------------------------------------------------------- */

/* One spec of _arguments: '--name=[help]:value:action'. */
static void write_zsh_spec(FILE *out, const cli_option *option, bool is_short) {
    fputs("            '", out);
    if (is_short)
        fprintf(out, "-%c", option->letter);
    else
        fprintf(out, "--%s", option->name);
    if (option->kind != CLI_FLAG)
        fputc(is_short ? '+' : '=', out);
    fputc('[', out);
    write_quoted(out, option->help, "[]:");
    fputc(']', out);
    if (option->kind != CLI_FLAG) {
        fputc(':', out);
        write_quoted(out, option->name, ":");
        fputc(':', out);
    }
    if (option->kind == CLI_CHOICE) {
        fputc('(', out);
        write_words(out, option->value);
        fputc(')', out);
    } else if (is_file(option)) {
        fputs("_files", out);
    }
    fputs("' \\\n", out);
}

static void write_zsh_operands(FILE *out, const cli_command *command) {
    cli_offer offer = cli_operand_offer(command);
    fputs("            ", out);
    if (offer == CLI_OFFER_FILES)
        fputs("'*:file:_files'", out);
    if (offers_words(command)) {
        fputs("'*:word:(", out);
        write_operand_words(out, command);
        fputs(")'", out);
    }
    fputs(offer == CLI_OFFER_NOTHING ? "'*: :'\n" : "\n", out);
}

static void write_zsh(FILE *out) {
    fputs("#compdef wattle\n# zsh completion of wattle, written by 'wattle help --completion zsh'\n"
          "_wattle() {\n    local -a commands\n    commands=(\n",
          out);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        fprintf(out, "        '%s:", cli_commands[i]->name);
        write_quoted(out, cli_commands[i]->summary, ":");
        fputs("'\n", out);
    }
    fputs("    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n"
          "        _arguments '--help[show help]' '--version[show what is built in]'\n"
          "        return\n    fi\n    shift words\n    (( CURRENT-- ))\n    case $words[1] in\n",
          out);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const cli_option *option;
        fprintf(out, "    %s)\n        _arguments -s \\\n", cli_commands[i]->name);
        for (size_t j = 0; (option = cli_option_at(cli_commands[i], j)) != NULL; j++) {
            write_zsh_spec(out, option, false);
            if (option->letter != 0)
                write_zsh_spec(out, option, true);
        }
        write_zsh_operands(out, cli_commands[i]);
        fputs("        ;;\n", out);
    }
    /* Sourced by hand it registers itself; found through fpath it is the function's body. */
    fputs("    esac\n}\nif [ \"$funcstack[1]\" = _wattle ]; then\n    _wattle \"$@\"\n"
          "else\n    compdef _wattle wattle\nfi\n",
          out);
}

/* ---- fish --------------------------------------------------------------------------------- */

static void write_fish_option(FILE *out, const cli_command *command, const cli_option *option) {
    fprintf(out, "complete -c wattle -n '__fish_seen_subcommand_from %s' -l %s", command->name,
            option->name);
    if (option->letter != 0)
        fprintf(out, " -s %c", option->letter);
    if (is_file(option))
        fputs(" -r -F", out);
    else if (option->kind != CLI_FLAG)
        fputs(" -x", out);
    if (option->kind == CLI_CHOICE) {
        fputs(" -a '", out);
        write_words(out, option->value);
        fputc('\'', out);
    }
    fputs(" -d '", out);
    write_quoted(out, option->help, "\\");
    fputs("'\n", out);
}

static void write_fish_operands(FILE *out, const cli_command *command) {
    fprintf(out, "complete -c wattle -n '__fish_seen_subcommand_from %s' %s", command->name,
            cli_operand_offer(command) == CLI_OFFER_FILES ? "-F" : "-f");
    if (offers_words(command)) {
        fputs(" -a '", out);
        write_operand_words(out, command);
        fputc('\'', out);
    }
    fputc('\n', out);
}

static void write_fish(FILE *out) {
    fputs("# fish completion of wattle, written by 'wattle help --completion fish'\n"
          "complete -c wattle -n __fish_use_subcommand -f -l help -d 'Show help'\n"
          "complete -c wattle -n __fish_use_subcommand -f -l version -d 'Show what is built in'\n",
          out);
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        const cli_command *command = cli_commands[i];
        fprintf(out, "complete -c wattle -n __fish_use_subcommand -f -a %s -d '", command->name);
        write_quoted(out, command->summary, "\\");
        fputs("'\n", out);
        const cli_option *option;
        for (size_t j = 0; (option = cli_option_at(command, j)) != NULL; j++)
            write_fish_option(out, command, option);
        write_fish_operands(out, command);
    }
}

void cli_write_completion(FILE *out, const char *shell) {
    static const struct {
        const char *shell;
        void (*write)(FILE *out);
    } writers[] = {{"bash", write_bash}, {"zsh", write_zsh}, {"fish", write_fish}};
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (strcmp(writers[i].shell, shell) == 0)
            writers[i].write(out);
}
