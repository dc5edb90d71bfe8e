#include "verdicts.h"

#include <math.h>
#include <stdio.h>

#include "wattle/report.h"

enum { WORDS = 128 };

/* A number of the effect: growth exponents at an end of their search may lie beyond it. */
static const char *spell_number(const wt_evidence *evidence, double value,
                                char out[WT_EXPONENT_TEXT]) {
    if (evidence->searched)
        return wt_exponent_format(value, out);
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

/* One line a part: claim, verdict, effect with its interval, claimed side. */
static void print_verdicts(const wt_findings *findings) {
    char measured[WORDS], rival[WORDS], name[64], side[32];
    const wt_finding *finding;
    cli_print("%-6s %-15s %-28s %-30s %-12s %s\n", "claim", "verdict", "effect",
              "measured (95% interval)", "claimed", "rival");
    for (size_t c = 0; (finding = wt_findings_claim_at(findings, c)) != NULL; c++)
        for (size_t p = 0; p < finding->part_count; p++) {
            const wt_finding_part *part = wt_findings_part_at(findings, finding->first_part + p);
            snprintf(name, sizeof name, "%s%s%s", part->unit, part->name[0] != '\0' ? ", " : "",
                     part->name);
            snprintf(side, sizeof side, "%s %g", part->above ? "above" : "below", part->boundary);
            cli_print("%-6s %-15s %-28s %-30s %-12s %s\n", finding->claim->id,
                      wt_verdict_name(part->verdict), name, spell(part->measured, measured), side,
                      spell(part->of_rival, rival));
        }
}

static bool any_measured(const wt_findings *findings) {
    const wt_finding_part *part;
    for (size_t p = 0; (part = wt_findings_part_at(findings, p)) != NULL; p++)
        if (wt_evidence_measured(part->measured))
            return true;
    return false;
}

/* Verdicts, unless the store is a sweep of the user's own that no claim is about; then the page. */
static void print_page(const wt_findings *findings, const wt_report_summary *summary,
                       const char *output) {
    size_t explored = wt_findings_explored(findings);
    if (any_measured(findings)) {
        print_verdicts(findings);
        cli_print("\nrules of version %d", wt_rules_now()->version);
        if (explored > 0)
            cli_print("; %zu cells have seeds that are for exploring, and decide nothing",
                      explored);
        cli_print("\n");
    }
    cli_print("%s: %zu cells, %zu figure%s%s%s%s\n", output, summary->cells, summary->figures,
              summary->figures == 1 ? "" : "s", summary->drawn ? "" : ", none for paper (",
              summary->why, summary->drawn ? "" : ")");
}

static json_t *rival_json(const wt_finding_part *part) {
    const wt_evidence *evidence = part->of_rival;
    return cli_json("rival:s verdict:s value:r low:r high:r cells:u failed:u", part->rival,
                    wt_verdict_name(part->rival_verdict), evidence->effect.value,
                    evidence->effect.low, evidence->effect.high, evidence->cells, evidence->failed);
}

static json_t *part_json(const wt_finding_part *part) {
    const wt_evidence *evidence = part->measured;
    return cli_json(
        "part:s effect:s unit:s verdict:s value:r low:r high:r boundary:r claimed:s cells:u "
        "settings:u repetitions:u dropped:u censored:u failed:u more:r rival:o",
        part->name, part->effect, part->unit, wt_verdict_name(part->verdict),
        evidence->effect.value, evidence->effect.low, evidence->effect.high, part->boundary,
        part->above ? "above" : "below", evidence->cells, evidence->settings, evidence->repetitions,
        evidence->dropped, evidence->censored, evidence->failed, part->more, rival_json(part));
}

static json_t *verdicts_json(const wt_findings *findings) {
    json_t *claims = json_array();
    const wt_finding *finding;
    for (size_t c = 0; (finding = wt_findings_claim_at(findings, c)) != NULL; c++) {
        json_t *parts = json_array();
        for (size_t p = 0; p < finding->part_count; p++)
            cli_json_add(parts, part_json(wt_findings_part_at(findings, finding->first_part + p)));
        cli_json_add(claims,
                     cli_json("claim:s sentence:s verdict:s parts:o", finding->claim->id,
                              finding->claim->sentence, wt_verdict_name(finding->verdict), parts));
    }
    return claims;
}

static wt_status show(cli_call *call, const wt_findings *findings, const wt_report_summary *summary,
                      const char *output, json_t *more) {
    if (!call->common.json) {
        print_page(findings, summary, output);
        return WT_OK;
    }
    json_t *object =
        cli_json("rules:u explored_cells:u output:s cells:u figures:u drawn:b claims:o",
                 (uint64_t)wt_rules_now()->version, wt_findings_explored(findings), output,
                 summary->cells, summary->figures, summary->drawn, verdicts_json(findings));
    if (more != NULL && object != NULL)
        json_object_update(object, more);
    return cli_emit_json(call, object);
}

wt_status cli_report_make(cli_call *call, const char *store, const char *output,
                          const wt_report_options *options, bool watch, json_t *more) {
    wt_findings *findings = NULL;
    wt_report_summary summary = WT_SIZED(wt_report_summary);
    wt_status status = (watch ? wt_report_watch : wt_report_write)(call->context, store, output,
                                                                   options, &findings, &summary);
    if (status == WT_OK)
        status = show(call, findings, &summary, output, more);
    json_decref(more);
    wt_findings_free(findings);
    return status;
}
