/* Claims on the page: the table of verdicts, and a box each. */
#include <math.h>
#include <string.h>

#include "report/html.h"
#include "report/page.h"

/* Told apart by shape as well as by colour. */
static const struct {
    const char *sign, *style;
} looks[] = {
    [WT_NOT_MEASURED] = {"–", "not-measured"},
    [WT_UNDECIDED] = {"?", "undecided"},
    [WT_REPRODUCED] = {"✓", "reproduced"},
    [WT_NOT_REPRODUCED] = {"✗", "not-reproduced"},
};

static void add_verdict(wt_script *html, wt_verdict verdict) {
    wt_script_add(html, "<span class=\"verdict %s\">%s %s</span>", looks[verdict].style,
                  looks[verdict].sign, wt_verdict_name(verdict));
}

static void add_side(wt_script *html, const wt_claim_part *part) {
    wt_script_add(html, "%s ", part->above ? "above" : "below");
    wt_html_number(html, part->boundary);
}

void wt_page_summary(wt_page *page) {
    wt_script *html = &page->html;
    const wt_findings *findings = page->findings;
    wt_script_add(
        html,
        "<div class=\"scroll\"><table class=\"summary\">\n<thead><tr><th>claim</th><th>verdict</th>"
        "<th>effect, measured (95%% interval)</th><th>claimed</th></tr></thead>\n<tbody>\n");
    for (size_t c = 0; c < findings->claim_count; c++) {
        const wt_finding *finding = &findings->claims[c];
        wt_script_add(html, "<tr><td><a href=\"#claim-%s\">%s</a> ", finding->claim->id,
                      finding->claim->id);
        wt_html_text(html, finding->claim->title);
        wt_script_add(html, "</td><td>");
        add_verdict(html, finding->verdict);
        wt_script_add(html, "</td><td class=\"number\">");
        for (size_t p = finding->first_part; p < finding->first_part + finding->part_count; p++) {
            const wt_claim_part *part = wt_claim_part_at(p);
            wt_script_add(html, "%s", p > finding->first_part ? "<br>" : "");
            wt_script_add(html, "%s%s%s ", part->unit, part->name != NULL ? ", " : "",
                          part->name != NULL ? part->name : "");
            wt_html_interval(html, findings->parts[p].effect);
        }
        wt_script_add(html, "</td><td class=\"number\">");
        for (size_t p = finding->first_part; p < finding->first_part + finding->part_count; p++) {
            wt_script_add(html, "%s", p > finding->first_part ? "<br>" : "");
            add_side(html, wt_claim_part_at(p));
        }
        wt_script_add(html, "</td></tr>\n");
    }
    wt_script_add(html, "</tbody></table></div>\n");
}

/* Interval, boundary and claimed side on one axis, 320 wide. */
static void add_strip(wt_script *html, const wt_claim_part *part, wt_interval effect) {
    double low =
        fmin(part->boundary, fmin(effect.value, isfinite(effect.low) ? effect.low : 1e300));
    double high =
        fmax(part->boundary, fmax(effect.value, isfinite(effect.high) ? effect.high : -1e300));
    double room = high > low ? 0.15 * (high - low) : 1;
    low -= room;
    high += room;
    const double left = 4, width = 312;
    double scale = width / (high - low);
    double edge = left + (part->boundary - low) * scale;
    double from = left + ((isfinite(effect.low) ? effect.low : effect.value) - low) * scale;
    double to = left + ((isfinite(effect.high) ? effect.high : effect.value) - low) * scale;
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
    wt_script_add(html, "<circle class=\"dot\" cx=\"%.1f\" cy=\"12\" r=\"4.5\"/>",
                  left + (effect.value - low) * scale);
    wt_script_add(html, "<text x=\"%.1f\" y=\"33\" text-anchor=\"%s\">", edge, anchor);
    wt_html_number(html, part->boundary);
    wt_script_add(html, "</text>");
    if (side > 110)
        wt_script_add(html, "<text x=\"%.1f\" y=\"33\" text-anchor=\"%s\">claimed side</text>",
                      part->above ? left + width : left, part->above ? "end" : "start");
    wt_script_add(html, "</svg>\n");
}

static void add_part(wt_page *page, size_t index) {
    wt_script *html = &page->html;
    const wt_claim_part *part = wt_claim_part_at(index);
    const wt_evidence *evidence = &page->findings->parts[index];
    wt_script_add(html, "<div class=\"part\"><p>Effect: ");
    wt_html_text(html, part->effect);
    wt_script_add(html, ".</p>\n");
    if (evidence->cells == 0 || isnan(evidence->effect.value)) {
        wt_script_add(html, "<p class=\"soft\">No cells of this store bear on it.</p></div>\n");
        return;
    }
    add_strip(html, part, evidence->effect);
    wt_script_add(html, "<p class=\"measured\">Measured: <strong>");
    wt_html_interval(html, evidence->effect);
    wt_script_add(html, "</strong>");
    if (strcmp(part->unit, "log ratio") == 0) {
        wt_interval log = evidence->effect;
        wt_script_add(html, ", a factor of ");
        wt_html_interval(html, (wt_interval){exp(log.value), exp(log.low), exp(log.high)});
    }
    wt_script_add(html, ", from %zu cells. Claimed: ", evidence->cells);
    add_side(html, part);
    wt_script_add(html, " <span class=\"soft\">(");
    wt_html_text(html, part->reason);
    wt_script_add(html, ")</span>. ");
    add_verdict(html, page->findings->part_verdicts[index]);
    wt_script_add(html, "</p></div>\n");
}

static void add_claim(wt_page *page, const wt_finding *finding) {
    wt_script *html = &page->html;
    wt_script_add(html, "<article class=\"claim\" id=\"claim-%s\"><header><h3>%s ",
                  finding->claim->id, finding->claim->id);
    wt_html_text(html, finding->claim->title);
    wt_script_add(html, "</h3>");
    add_verdict(html, finding->verdict);
    wt_script_add(html, "</header>\n<p>");
    wt_html_text(html, finding->claim->sentence);
    wt_script_add(html, "</p>\n<p class=\"soft\">Source: ");
    wt_html_text(html, finding->claim->source);
    wt_script_add(html, ".</p>\n");
    for (size_t p = 0; p < finding->part_count; p++)
        add_part(page, finding->first_part + p);
    wt_script_add(html, "</article>\n");
}

void wt_page_claims(wt_page *page, const wt_paper *paper) {
    wt_script_add(&page->html, "<div class=\"claims\">\n");
    for (size_t c = 0; c < page->findings->claim_count; c++)
        if (strncmp(page->findings->claims[c].claim->id, paper->number, strlen(paper->number)) == 0)
            add_claim(page, &page->findings->claims[c]);
    wt_script_add(&page->html, "</div>\n");
}
