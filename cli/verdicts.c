#include "verdicts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/statistics_fit.h"
#include "report/chart.h"
#include "wattle/output.h"

enum { WORDS = 128 };

/* A number of the effect: growth exponents at an end of their search may lie beyond it. */
static const char *spell_number(const wt_evidence *evidence, double value,
                                char out[WT_EXPONENT_TEXT]) {
    if (evidence->searched)
        return wt_exponent_words(value, out);
    snprintf(out, WT_EXPONENT_TEXT, isnan(value) ? "?" : "%.3g", value);
    return out;
}

static const char *spell(const wt_evidence *evidence, char out[WORDS]) {
    wt_interval effect = evidence->effect;
    char texts[3][WT_EXPONENT_TEXT];
    if (!wt_evidence_measured(evidence))
        snprintf(out, WORDS, "-");
    else if (isnan(effect.low))
        snprintf(out, WORDS, "%s", spell_number(evidence, effect.value, texts[0]));
    else
        snprintf(out, WORDS, "%s (%s, %s)", spell_number(evidence, effect.value, texts[0]),
                 spell_number(evidence, effect.low, texts[1]),
                 spell_number(evidence, effect.high, texts[2]));
    return out;
}

void cli_verdicts_print(const wt_findings *findings) {
    char measured[WORDS], rival[WORDS], name[64], side[32];
    cli_print("%-6s %-15s %-28s %-30s %-12s %s\n", "claim", "verdict", "effect",
              "measured (95% interval)", "claimed", "rival");
    for (size_t c = 0; c < findings->claim_count; c++) {
        const wt_finding *finding = &findings->claims[c];
        for (size_t p = finding->first_part; p < finding->first_part + finding->part_count; p++) {
            const wt_claim_part *part = wt_claim_part_at(p);
            snprintf(name, sizeof name, "%s%s%s", part->unit, part->name != NULL ? ", " : "",
                     part->name != NULL ? part->name : "");
            snprintf(side, sizeof side, "%s %g", part->above ? "above" : "below", part->boundary);
            cli_print("%-6s %-15s %-28s %-30s %-12s %s\n", finding->claim->id,
                      wt_verdict_name(findings->part_verdicts[p]), name,
                      spell(&findings->parts[p], measured), side,
                      spell(&findings->rivals[p], rival));
        }
    }
}

static json_t *rival_json(const wt_findings *findings, size_t p) {
    const wt_evidence *evidence = &findings->rivals[p];
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:I, s:I}", "rival", wt_claim_part_at(p)->rival.words, "verdict",
        wt_verdict_name(findings->rival_verdicts[p]), "value",
        cli_json_real(evidence->effect.value), "low", cli_json_real(evidence->effect.low), "high",
        cli_json_real(evidence->effect.high), "cells", (json_int_t)evidence->cells, "failed",
        (json_int_t)evidence->failed);
}

static json_t *part_json(const wt_findings *findings, size_t p) {
    const wt_claim_part *part = wt_claim_part_at(p);
    const wt_evidence *evidence = &findings->parts[p];
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:f, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o}",
        "part", part->name != NULL ? part->name : "", "effect", part->effect, "unit", part->unit,
        "verdict", wt_verdict_name(findings->part_verdicts[p]), "value",
        cli_json_real(evidence->effect.value), "low", cli_json_real(evidence->effect.low), "high",
        cli_json_real(evidence->effect.high), "boundary", part->boundary, "claimed",
        part->above ? "above" : "below", "cells", (json_int_t)evidence->cells, "settings",
        (json_int_t)evidence->settings, "repetitions", (json_int_t)evidence->repetitions, "dropped",
        (json_int_t)evidence->dropped, "censored", (json_int_t)evidence->censored, "failed",
        (json_int_t)evidence->failed, "more", cli_json_real(wt_part_more(part, evidence)), "rival",
        rival_json(findings, p));
}

json_t *cli_verdicts_json(const wt_findings *findings) {
    json_t *claims = json_array();
    for (size_t c = 0; c < findings->claim_count; c++) {
        const wt_finding *finding = &findings->claims[c];
        json_t *parts = json_array();
        for (size_t p = 0; p < finding->part_count; p++)
            json_array_append_new(parts, part_json(findings, finding->first_part + p));
        json_array_append_new(claims, json_pack("{s:s, s:s, s:s, s:o}", "claim", finding->claim->id,
                                                "sentence", finding->claim->sentence, "verdict",
                                                wt_verdict_name(finding->verdict), "parts", parts));
    }
    return claims;
}

static wt_status show(cli_call *call, const wt_results *results, const wt_findings *findings,
                      const wt_report_summary *summary, const char *output, json_t *more) {
    size_t cells = results->count + results->failed;
    if (!call->common.json) {
        cli_verdicts_print(findings);
        cli_print("\nrules of version %d", wt_rules_now()->version);
        if (findings->explored > 0)
            cli_print("; %zu cells have seeds that are for exploring, and decide nothing",
                      findings->explored);
        cli_print("\n%s: %zu cells, %zu figure%s%s%s%s\n", output, cells, summary->figures,
                  summary->figures == 1 ? "" : "s", summary->drawn ? "" : " as tables alone (",
                  summary->why, summary->drawn ? "" : ")");
        return WT_OK;
    }
    json_t *object =
        json_pack("{s:i, s:I, s:s, s:I, s:I, s:b, s:o}", "rules", wt_rules_now()->version,
                  "explored_cells", (json_int_t)findings->explored, "output", output, "cells",
                  (json_int_t)cells, "figures", (json_int_t)summary->figures, "drawn",
                  summary->drawn, "claims", cli_verdicts_json(findings));
    if (more != NULL && object != NULL)
        json_object_update(object, more);
    return cli_emit_json(call, object);
}

wt_status cli_report_make(cli_call *call, const char *store, const char *output, json_t *more) {
    wt_context *context = call->context;
    wt_results results = {0};
    wt_findings findings = {0};
    wt_report_summary summary;
    wt_status status;
    WT_TRY(wt_output_try(context, output)); /* before the folder of figures is made */
    WT_TRY(wt_findings_want(context, &results));
    WT_TRY(wt_charts_want(context, &results));
    WT_TRY(wt_results_load(context, store, &results));
    WT_TRY(wt_findings_measure(context, &results, &findings));
    WT_TRY(wt_report_write(context, &results, &findings, store, output, &summary));
    WT_TRY(show(call, &results, &findings, &summary, output, more));
done:
    json_decref(more);
    wt_findings_free(&findings);
    wt_results_free(&results);
    return status;
}
