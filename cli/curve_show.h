/* The ways learning curves are shown. */
#ifndef CLI_CURVE_SHOW_H
#define CLI_CURVE_SHOW_H

#include "command.h"
#include "wattle/curve.h"

wt_status curve_print(const wt_curves *curves);
wt_status curve_emit_json(cli_call *call, const wt_curves *curves, const wt_curve_options *options);
wt_status curve_draw(cli_call *call, const wt_curves *curves, const char *path);

#endif
