/* Claims on the page: the table of verdicts, and a box each. */
#include <math.h>
#include <string.h>

#include "lab/statistics_fit.h"
#include "report/html.h"
#include "report/page.h"

/* Told apart by shape as well as by colour. */
static const struct {
    const char *sign, *style;
} looks[] = {
    [WT_VERDICT_NOT_MEASURED] = {"–", "not-measured"},
    [WT_VERDICT_UNDECIDED] = {"?", "undecided"},
    [WT_VERDICT_REPRODUCED] = {"✓", "reproduced"},
    [WT_VERDICT_NOT_REPRODUCED] = {"✗", "not-reproduced"},
    [WT_VERDICT_NO_TEST] = {"=", "no-test"},
    [WT_VERDICT_EXPLORED] = {"…", "explored"},
};

static void add_verdict(wt_script *html, wt_verdict verdict) {
    wt_script_add(html, "<span class=\"verdict %s\">%s %s</span>", looks[verdict].style,
                  looks[verdict].sign, wt_verdict_name(verdict));
}

static void add_side(wt_script *html, const wt_finding_part *part) {
    wt_html_add(html, "%s %n", part->above ? "above" : "below", part->boundary);
}

static void add_number(wt_script *html, const wt_evidence *evidence, double value) {
    if (isnan(value))
        wt_script_add(html, "?");
    else
        wt_html_number(html, value);
    if (evidence->searched && value == WT_MIN_EXPONENT)
        wt_script_add(html, " or less");
    if (evidence->searched && value == WT_MAX_EXPONENT)
        wt_script_add(html, " or more");
}

/* "0.31 (0.28, 0.34)"; exponents at an end of their search may lie beyond it. */
static void add_effect(wt_script *html, const wt_evidence *evidence) {
    add_number(html, evidence, evidence->effect.value);
    if (isnan(evidence->effect.low))
        return;
    wt_script_add(html, " <small>(");
    add_number(html, evidence, evidence->effect.low);
    wt_script_add(html, ", ");
    add_number(html, evidence, evidence->effect.high);
    wt_script_add(html, ")</small>");
}

static void add_measured(wt_script *html, const wt_evidence *evidence) {
    if (wt_evidence_measured(evidence))
        add_effect(html, evidence);
    else
        wt_script_add(html, "–");
}

static bool has_cells(const wt_page *page, const wt_finding *finding) {
    for (size_t p = finding->first_part; p < finding->first_part + finding->part_count; p++) {
        const wt_claim_part *rule = wt_claim_part_at(p);
        if (wt_evidence_measured(wt_findings_part_at(page->findings, p)->measured) ||
            wt_results_fitting(page->results, rule->experiment, rule->where, rule->versus) > 0)
            return true;
    }
    return false;
}

wt_status wt_page_find_claims(wt_page *page) {
    size_t count = page->findings->claim_count;
    page->bears = WT_TAKE(&page->arena, bool, count);
    for (size_t c = 0; c < count && page->bears != NULL; c++)
        page->bears[c] = has_cells(page, &page->findings->claims[c]);
    return page->arena.status;
}

/* Whether claim c is shown among those of the paper. */
static bool is_shown(const wt_page *page, const wt_paper *paper, size_t c) {
    const char *id = page->findings->claims[c].claim->id;
    return page->bears[c] &&
           (paper == NULL || strncmp(id, paper->number, strlen(paper->number)) == 0);
}

bool wt_page_has_claims(const wt_page *page, const wt_paper *paper) {
    for (size_t c = 0; c < page->findings->claim_count; c++)
        if (is_shown(page, paper, c))
            return true;
    return false;
}

void wt_page_no_claims(wt_page *page) {
    wt_script *html = &page->html;
    size_t told = 0;
    for (size_t c = 0; c < page->findings->claim_count; c++)
        if (!page->bears[c])
            wt_html_add(
                html, "%s%s",
                told++ == 0
                    ? "<p class=\"soft\">No cells of this store bear on the papers&#39; claims "
                    : ", ",
                page->findings->claims[c].claim->id);
    if (told > 0)
        wt_script_add(html, ": <code>wattle reproduce</code> measures them.</p>\n");
}

void wt_page_summary(wt_page *page) {
    wt_script *html = &page->html;
    const wt_findings *findings = page->findings;
    wt_script_add(
        html,
        "<div class=\"scroll\"><table class=\"summary\">\n<thead><tr><th>claim</th><th>verdict</th>"
        "<th>effect, measured (95%% interval)</th><th>claimed</th><th>rival</th></tr></thead>\n"
        "<tbody>\n");
    for (size_t c = 0; c < findings->claim_count; c++) {
        const wt_finding *finding = &findings->claims[c];
        if (!page->bears[c])
            continue;
        wt_html_add(html, "<tr><td><a href=\"#claim-%s\">%s</a> %p</td><td>", finding->claim->id,
                    finding->claim->id, finding->claim->title);
        add_verdict(html, finding->verdict);
        wt_script_add(html, "</td><td class=\"number\">");
        const wt_finding_part *parts = findings->parts + finding->first_part;
        for (size_t p = 0; p < finding->part_count; p++) {
            wt_script_add(html, "%s%s%s%s ", p > 0 ? "<br>" : "", parts[p].unit,
                          parts[p].name[0] != '\0' ? ", " : "", parts[p].name);
            add_measured(html, parts[p].measured);
        }
        wt_script_add(html, "</td><td class=\"number\">");
        for (size_t p = 0; p < finding->part_count; p++) {
            wt_script_add(html, "%s", p > 0 ? "<br>" : "");
            add_side(html, &parts[p]);
        }
        wt_script_add(html, "</td><td class=\"number\">");
        for (size_t p = 0; p < finding->part_count; p++) {
            wt_script_add(html, "%s", p > 0 ? "<br>" : "");
            add_measured(html, parts[p].of_rival);
        }
        wt_script_add(html, "</td></tr>\n");
    }
    wt_script_add(html, "</tbody></table></div>\n");
    wt_script_add(html, "<p class=\"soft\">Rules of version %d, of %s. ", wt_rules_now()->version,
                  wt_rules_now()->date);
    if (findings->explored > 0)
        wt_script_add(html,
                      "%zu cells have seeds below %d, or of earlier versions, which are for "
                      "exploring: what rests on them has numbers and no verdict.",
                      findings->explored, WT_EXPLORING_SEEDS);
    wt_script_add(html, "</p>\n");
}

/* Interval, boundary and claimed side on one axis, 320 wide. */
static void add_strip(wt_script *html, const wt_finding_part *part) {
    const wt_evidence *evidence = part->measured;
    wt_interval effect = evidence->effect;
    double low = part->boundary, high = part->boundary;
    const double shown[] = {effect.value, effect.low, effect.high};
    for (size_t i = 0; i < 3; i++)
        if (isfinite(shown[i])) {
            low = fmin(low, shown[i]);
            high = fmax(high, shown[i]);
        }
    double room = high > low ? 0.15 * (high - low) : 1;
    low -= room;
    high += room;
    const double left = 4, width = 312;
    double scale = width / (high - low);
    double edge = left + (part->boundary - low) * scale;
    /* An end that is not told, or that may lie beyond the search, goes to the end of the axis. */
    if (evidence->searched && effect.low == WT_MIN_EXPONENT)
        effect.low = -INFINITY;
    if (evidence->searched && effect.high == WT_MAX_EXPONENT)
        effect.high = INFINITY;
    double from = isnan(effect.low) ? NAN : left + fmax(effect.low - low, 0) * scale;
    double to = isnan(effect.high) ? NAN : left + fmin((effect.high - low) * scale, width);
    /* The boundary's number stands on the other side, where that has room for it. */
    double side = part->above ? left + width - edge : edge - left;
    const char *anchor = width - side < 40 ? "middle" : part->above ? "end" : "start";
    wt_script_add(html, "<svg class=\"strip\" viewBox=\"0 0 320 36\" aria-hidden=\"true\">");
    wt_script_add(html, "<rect class=\"side\" x=\"%.1f\" y=\"2\" width=\"%.1f\" height=\"20\"/>",
                  part->above ? edge : left, side);
    wt_script_add(html, "<line class=\"axis\" x1=\"%.0f\" y1=\"12\" x2=\"%.0f\" y2=\"12\"/>", left,
                  left + width);
    wt_script_add(html, "<line class=\"edge\" x1=\"%.1f\" y1=\"2\" x2=\"%.1f\" y2=\"22\"/>", edge,
                  edge);
    if (to > from)
        wt_script_add(html, "<line class=\"bar\" x1=\"%.1f\" y1=\"12\" x2=\"%.1f\" y2=\"12\"/>",
                      from, to);
    if (isfinite(effect.value))
        wt_script_add(html, "<circle class=\"dot\" cx=\"%.1f\" cy=\"12\" r=\"4.5\"/>",
                      left + (effect.value - low) * scale);
    wt_script_add(html, "<text x=\"%.1f\" y=\"33\" text-anchor=\"%s\">", edge, anchor);
    wt_html_add(html, "%n</text>", part->boundary);
    if (side > 110)
        wt_script_add(html, "<text x=\"%.1f\" y=\"33\" text-anchor=\"%s\">claimed side</text>",
                      part->above ? left + width : left, part->above ? "end" : "start");
    wt_script_add(html, "</svg>\n");
}

/* What cells that are there do not suffice for. */
static void add_want(wt_script *html, const wt_claim_part *part) {
    if (part->measure == &wt_effect_log_ratio)
        wt_script_add(html, "both sides of the ratio on the same draws");
    else if (part->measure == &wt_effect_mean)
        wt_script_add(html, "a run with a value of <code>%s</code>", part->y);
    else if (part->measure == &wt_effect_growth || part->measure == &wt_effect_mean_growth ||
             part->measure == &wt_effect_threshold)
        wt_script_add(html, "three different <code>%s</code> at one setting", part->x);
    else if (part->measure == &wt_effect_exponent || part->measure == &wt_effect_mean_exponent ||
             part->measure == &wt_effect_reach || part->measure == &wt_effect_threshold_slope)
        wt_script_add(html, "two different <code>%s</code> at one setting", part->x);
    else
        wt_script_add(html, "a value of <code>%s</code>", part->y);
}

static void add_lack(wt_page *page, const wt_claim_part *part) {
    wt_script *html = &page->html;
    size_t cells = wt_results_fitting(page->results, part->experiment, part->where, part->versus);
    if (cells == 0) {
        wt_script_add(html, "<p class=\"soft\">No cells of this store bear on it.</p></div>\n");
        return;
    }
    wt_script_add(html, "<p class=\"soft\">%zu cells, too few for this effect: it needs ", cells);
    add_want(html, part);
    wt_script_add(html, ".</p></div>\n");
}

/* "from 40 cells: 2 settings pooled, 5 repetitions, 1 left out that gave no number". */
static void add_basis(wt_script *html, const wt_claim_part *part, const wt_evidence *evidence) {
    wt_script_add(html, ", from %zu cells", evidence->cells);
    if (evidence->settings > 1)
        wt_script_add(html, " of %zu settings, pooled", evidence->settings);
    if (evidence->repetitions > 0)
        wt_script_add(html, ", %zu repetitions", evidence->repetitions);
    if (evidence->dropped > 0)
        wt_script_add(html, ", %zu more left out that gave no number", evidence->dropped);
    if (evidence->censored > 0)
        wt_script_add(html,
                      part->measure == &wt_effect_growth ? ", %zu sizes where nothing was found"
                      : part->measure == &wt_effect_reach
                          ? ", %zu crossings outside the grid"
                          : ", %zu lengths whose critical size is not in the grid",
                      evidence->censored);
    if (evidence->failed > 0)
        wt_script_add(html, ", %zu cells that failed%s", evidence->failed,
                      part->measure == &wt_effect_rate || part->measure == &wt_effect_threshold ||
                              part->measure == &wt_effect_threshold_slope
                          ? " and count as no success"
                          : "");
}

/* What would decide it. */
static void add_more(wt_script *html, const wt_finding_part *part) {
    if (part->verdict != WT_VERDICT_UNDECIDED)
        return;
    if (isnan(part->measured->effect.low))
        wt_script_add(html,
                      "<p class=\"soft\">One repetition has no spread: it takes more of them to "
                      "have an interval.</p>\n");
    else if (isnan(part->more))
        wt_script_add(html, "<p class=\"soft\">Repetitions alone would not decide it: the interval "
                            "is open.</p>\n");
    else
        wt_script_add(html,
                      "<p class=\"soft\">%.0f cells in place of %zu, in further repetitions, would "
                      "decide it if the effect stays what it is.</p>\n",
                      ceil(part->more * (double)part->measured->cells), part->measured->cells);
}

/* The same test where the claim is false. */
static void add_rival(wt_script *html, const wt_finding_part *part, const wt_claim_part *rule) {
    static const char *const words[] = {[WT_VERDICT_NOT_MEASURED] = "was not measured",
                                        [WT_VERDICT_UNDECIDED] = "does not pass",
                                        [WT_VERDICT_REPRODUCED] = "passes as well: this is no test",
                                        [WT_VERDICT_NOT_REPRODUCED] = "fails"};
    wt_html_add(html, "<p class=\"rival\">Rival: %p", part->rival);
    if (wt_evidence_measured(part->of_rival)) {
        wt_script_add(html, ": <strong>");
        add_effect(html, part->of_rival);
        wt_script_add(html, "</strong>");
        add_basis(html, rule, part->of_rival);
    }
    wt_script_add(html, ". It %s.</p>\n", words[part->rival_verdict]);
}

static void add_part(wt_page *page, size_t index) {
    wt_script *html = &page->html;
    const wt_claim_part *rule = wt_claim_part_at(index);
    const wt_finding_part *part = wt_findings_part_at(page->findings, index);
    const wt_evidence *evidence = part->measured;
    wt_html_add(html, "<div class=\"part\"><p>Effect: %p.</p>\n", part->effect);
    if (!wt_evidence_measured(evidence)) {
        add_lack(page, rule);
        return;
    }
    add_strip(html, part);
    wt_script_add(html, "<p class=\"measured\">Measured: <strong>");
    add_effect(html, evidence);
    wt_script_add(html, "</strong>");
    if (strcmp(part->unit, "log ratio") == 0) {
        wt_interval log = evidence->effect;
        wt_script_add(html, ", a factor of ");
        wt_html_interval(html, (wt_interval){exp(log.value), exp(log.low), exp(log.high)});
    }
    add_basis(html, rule, evidence);
    wt_script_add(html, ". Claimed: ");
    add_side(html, part);
    wt_html_add(html, " <span class=\"soft\">(%p)</span>. ", part->reason);
    add_verdict(html, part->verdict);
    wt_script_add(html, "</p>\n");
    add_more(html, part);
    add_rival(html, part, rule);
    wt_script_add(html, "</div>\n");
}

static void add_claim(wt_page *page, const wt_finding *finding) {
    wt_script *html = &page->html;
    const wt_claim *claim = finding->claim;
    wt_html_add(html, "<article class=\"claim\" id=\"claim-%s\"><header><h3>%s %p</h3>", claim->id,
                claim->id, claim->title);
    add_verdict(html, finding->verdict);
    wt_html_add(html, "</header>\n<p>%p</p>\n<p class=\"soft\">Source: %p.</p>\n", claim->sentence,
                claim->source);
    for (size_t p = 0; p < finding->part_count; p++)
        add_part(page, finding->first_part + p);
    wt_script_add(html, "</article>\n");
}

void wt_page_claims(wt_page *page, const wt_paper *paper) {
    wt_script_add(&page->html, "<div class=\"claims\">\n");
    for (size_t c = 0; c < page->findings->claim_count; c++)
        if (is_shown(page, paper, c))
            add_claim(page, &page->findings->claims[c]);
    wt_script_add(&page->html, "</div>\n");
}
