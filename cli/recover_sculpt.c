/* The stages of sculpt, and the certificate of what was found by whatever method. */
#include <stdio.h>
#include <string.h>

#include "recover.h"
#include "wattle/memory.h"
#include "wattle/text.h"

enum { TEXT_BYTES = 4096 };

wt_status cli_recover_directions(cli_call *call, size_t *out) {
    const char *text = ((const cli_recover_values *)call->values)->directions;
    uint64_t count = 0;
    if (strcmp(text, "all") != 0 &&
        (!wt_unsigned_parse(text, &count) || count == 0 || count > 1000000))
        return wt_fail(call->context, WT_USAGE,
                       "--directions must be all or a number of 1 to 1000000, not '%s'", text);
    *out = (size_t)count;
    return WT_OK;
}

json_t *cli_recover_stages_json(const cli_recover_stages *stages, json_t *object) {
    char text[TEXT_BYTES];
    if (stages->sculpted) {
        wt_sculpt_json(&stages->sculpt, text, sizeof text);
        cli_json_put(object, "sculpt", json_loads(text, 0, NULL));
    }
    if (stages->certified) {
        wt_certificate_json(&stages->certificate, text, sizeof text);
        cli_json_put(object, "certificate", json_loads(text, 0, NULL));
    }
    return object;
}

void cli_recover_stages_print(const cli_recover_stages *stages) {
    char text[TEXT_BYTES];
    if (stages->sculpted) {
        wt_sculpt_text(&stages->sculpt, text, sizeof text);
        cli_print("%s", text);
    }
    if (stages->certified) {
        wt_certificate_text(&stages->certificate, text, sizeof text);
        cli_print("%s", text);
    }
}

/* What there is to show of a sculpting that stops here with the sentence it has. */
static wt_status show_and_stop(cli_call *call, const cli_recover_stages *stages) {
    char sentence[WT_MESSAGE_BYTES];
    snprintf(sentence, sizeof sentence, "%s", wt_context_message(call->context));
    if (!call->common.json) {
        cli_recover_stages_print(stages);
        return WT_MISSED;
    }
    json_t *object = cli_json("method:s recovered:b reason:s", "sculpt", false, sentence);
    wt_status written = cli_emit_json(call, cli_recover_stages_json(stages, object));
    return written != WT_OK ? written : wt_fail(call->context, WT_MISSED, "%s", sentence);
}

wt_status cli_recover_run(cli_call *call, const wt_sequences *data, wt_layer **out,
                          wt_recover_report *report) {
    cli_recover_values *values = call->values;
    cli_recover_stages *stages = &values->stages;
    wt_status status =
        wt_layer_recover(call->context, data, &values->options, out, report, &stages->sculpt);
    stages->sculpted = stages->sculpt.stage != WT_SCULPT_STAGE_NONE;
    return status == WT_MISSED ? show_and_stop(call, stages) : status;
}

wt_status cli_recover_certify(cli_call *call, const wt_sequences *data, const wt_layer *layer) {
    cli_recover_values *values = call->values;
    wt_certificate_options options;
    WT_INIT(wt_certificate_options, &options);
    options.directions = values->direction_count;
    options.part = values->part;
    options.seed = call->common.seed;
    options.teacher = values->truth;
    WT_PASS(
        wt_certificate_compute(call->context, data, layer, &options, &values->stages.certificate));
    values->stages.certified = true;
    return WT_OK;
}
