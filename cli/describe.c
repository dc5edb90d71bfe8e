/* The help as JSON, for programs that want to know the commands. */
#include "help.h"

static const char *const kind_names[] = {
    [CLI_FLAG] = "flag",       [CLI_TEXT] = "text",     [CLI_CHOICE] = "choice",
    [CLI_INPUT] = "input",     [CLI_OUTPUT] = "output", [CLI_COUNT] = "count",
    [CLI_NATURAL] = "whole",   [CLI_REAL] = "real",     [CLI_BYTES] = "bytes",
    [CLI_SECONDS] = "seconds", [CLI_GRID] = "grid",     [CLI_COUNTS] = "integers",
    [CLI_TEXTS] = "texts"};

static json_t *describe_options(const cli_option *options, size_t count) {
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        const cli_option *option = &options[i];
        char letter[2] = {option->letter, '\0'};
        json_t *one = cli_json("name:s letter:s kind:s value:s default:s help:s", option->name,
                               option->letter != 0 ? letter : NULL, kind_names[option->kind],
                               option->value, option->fallback, option->help);
        cli_json_add(all, one);
    }
    return all;
}

static json_t *describe_command(const cli_command *command) {
    size_t count;
    const cli_option *options = cli_options_of(command, &count);
    return cli_json("name:s summary:s operands:s description:s examples:s options:o", command->name,
                    command->summary, command->operands == NULL ? "" : command->operands,
                    command->description, command->examples, describe_options(options, count));
}

json_t *cli_describe(const cli_command *command) {
    if (command != NULL)
        return describe_command(command);
    json_t *all = json_array();
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        cli_json_add(all, describe_command(cli_commands[i]));
    return cli_json("version:s common_options:o commands:o", wt_version(),
                    describe_options(cli_common_options, cli_common_option_count), all);
}
