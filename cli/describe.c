/* The help as JSON, for programs that want to know the commands. */
#include "help.h"

static const char *const kind_names[] = {
    [CLI_FLAG] = "flag",     [CLI_TEXT] = "text",         [CLI_CHOICE] = "choice",
    [CLI_INPUT] = "input",   [CLI_OUTPUT] = "output",     [CLI_COUNT] = "count",
    [CLI_NATURAL] = "whole", [CLI_REAL] = "real",         [CLI_BYTES] = "bytes",
    [CLI_GRID] = "grid",     [CLI_INTEGERS] = "integers", [CLI_TEXTS] = "texts"};

static json_t *describe_options(const cli_option *options, size_t count) {
    json_t *all = json_array();
    for (size_t i = 0; i < count; i++) {
        const cli_option *option = &options[i];
        char letter[2] = {option->letter, '\0'};
        /* "s?" is null for NULL; appending NULL fails and leaves the array as it is */
        json_t *one =
            json_pack("{s:s, s:s?, s:s, s:s?, s:s?, s:s}", "name", option->name, "letter",
                      option->letter != 0 ? letter : NULL, "kind", kind_names[option->kind],
                      "value", option->value, "default", option->fallback, "help", option->help);
        if (json_array_append_new(all, one) != 0) {
            json_decref(all);
            return NULL;
        }
    }
    return all;
}

static json_t *describe_command(const cli_command *command) {
    size_t count;
    const cli_option *options = cli_options_of(command, &count);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o}", "name", command->name, "summary",
                     command->summary, "operands", command->operands, "description",
                     command->description, "examples", command->examples, "options",
                     describe_options(options, count));
}

json_t *cli_describe(const cli_command *command) {
    if (command != NULL)
        return describe_command(command);
    json_t *all = json_array();
    for (size_t i = 0; cli_commands[i] != NULL; i++)
        if (json_array_append_new(all, describe_command(cli_commands[i])) != 0) {
            json_decref(all);
            return NULL;
        }
    return json_pack("{s:s, s:o, s:o}", "version", wt_version(), "common_options",
                     describe_options(cli_common_options, cli_common_option_count), "commands",
                     all);
}
