/* Results as JSON on stdout. */
#include <stdio.h>

#include "command.h"

json_t *cli_json_real(double value) {
    json_t *number = json_real(value);
    return number == NULL ? json_null() : number;
}

bool cli_json_emitted;

wt_status cli_emit_json(cli_call *call, json_t *object) {
    if (object == NULL)
        return wt_fail(call->context, WT_MEMORY, "no memory for the JSON result");
    if (call->command->tables != NULL)
        json_object_set_new(object, "setting", cli_json_setting(call));
    cli_json_emitted = true;
    int failed = json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(object);
    putchar('\n');
    return failed ? wt_fail(call->context, WT_IO, "standard output could not be written") : WT_OK;
}
