/* The table of commands: a new one is a row here and a file beside this one. */
#include "commands.h"

const cli_command *const cli_commands[] = {
    &cli_draw,    &cli_fit,       &cli_predict,   &cli_score,   &cli_curve,       &cli_bound,
    &cli_teacher, &cli_recover,   &cli_compare,   &cli_query,   &cli_serve_layer, &cli_apply,
    &cli_export,  &cli_train,     &cli_threshold, &cli_search,  &cli_construct,   &cli_sweep,
    &cli_report,  &cli_reproduce, &cli_info,      &cli_inspect, &cli_bench,       &cli_selfcheck,
    &cli_help,    NULL,
};
