#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "command.h"

extern const cli_command cli_apply;
extern const cli_command cli_bench;
extern const cli_command cli_bound;
extern const cli_command cli_compare;
extern const cli_command cli_construct;
extern const cli_command cli_curve;
extern const cli_command cli_draw;
extern const cli_command cli_export;
extern const cli_command cli_fit;
extern const cli_command cli_help;
extern const cli_command cli_info;
extern const cli_command cli_inspect;
extern const cli_command cli_predict;
extern const cli_command cli_query;
extern const cli_command cli_recover;
extern const cli_command cli_report;
extern const cli_command cli_reproduce;
extern const cli_command cli_score;
extern const cli_command cli_search;
extern const cli_command cli_selfcheck;
extern const cli_command cli_serve_layer;
extern const cli_command cli_sweep;
extern const cli_command cli_teacher;
extern const cli_command cli_threshold;
extern const cli_command cli_train;

#endif
