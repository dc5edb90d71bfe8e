/* The rule of verdicts, and all claims held against one store. */
#include "lab/claims.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "lab/statistics_fit.h"

enum { MOST_PARTS = 8 }; /* of a claim */

const char *wt_verdict_name(wt_verdict verdict) {
    static const char *const names[] = {"not measured",   "undecided", "reproduced",
                                        "not reproduced", "no test",   "explored"};
    return (size_t)verdict < sizeof names / sizeof *names ? names[verdict] : "?";
}

bool wt_seed_explored(int64_t seed) {
    if (seed < WT_EXPLORING_SEEDS)
        return true;
    for (size_t i = 0; wt_rules_at(i) != wt_rules_now(); i++)
        if (wt_rules_at(i)->seed == (uint64_t)seed)
            return true;
    return false;
}

/* The part as its rival has it. */
static wt_claim_part rival_of(const wt_claim_part *part) {
    const wt_rival *rival = &part->rival;
    wt_claim_part out = *part;
    out.effect = rival->words;
    out.demand = NULL;
    out.experiment = rival->experiment != NULL ? rival->experiment : part->experiment;
    out.where = rival->where != NULL ? rival->where : part->where;
    out.versus = rival->versus != NULL ? rival->versus : part->versus;
    out.x = rival->x != NULL ? rival->x : part->x;
    out.y = rival->y != NULL ? rival->y : part->y;
    out.found = rival->found != NULL ? rival->found : part->found;
    return out;
}

bool wt_evidence_measured(const wt_evidence *evidence) {
    return evidence->cells > 0 && (!isnan(evidence->effect.value) || !isnan(evidence->effect.low));
}

wt_verdict wt_part_verdict(const wt_claim_part *part, const wt_evidence *evidence) {
    if (!wt_evidence_measured(evidence))
        return WT_VERDICT_NOT_MEASURED;
    bool above = evidence->effect.low > part->boundary;
    bool below = evidence->effect.high < part->boundary;
    if (!above && !below) /* also without an interval */
        return WT_VERDICT_UNDECIDED;
    return above == part->above ? WT_VERDICT_REPRODUCED : WT_VERDICT_NOT_REPRODUCED;
}

wt_verdict wt_part_conclude(wt_verdict verdict, wt_verdict rival, bool explored) {
    if (verdict == WT_VERDICT_NOT_MEASURED)
        return verdict;
    if (explored)
        return WT_VERDICT_EXPLORED;
    return verdict == WT_VERDICT_REPRODUCED && rival == WT_VERDICT_REPRODUCED ? WT_VERDICT_NO_TEST
                                                                              : verdict;
}

double wt_part_more(const wt_claim_part *part, const wt_evidence *evidence) {
    const wt_interval *effect = &evidence->effect;
    double away = fabs(effect->value - part->boundary);
    double half =
        effect->value < part->boundary ? effect->high - effect->value : effect->value - effect->low;
    bool open =
        evidence->searched && (effect->value < part->boundary ? effect->high == WT_MAX_EXPONENT
                                                              : effect->low == WT_MIN_EXPONENT);
    return open || !(half > away && away > 0) || isinf(half) ? NAN : (half / away) * (half / away);
}

/* The first of these that a part has is the claim's; else all parts decide. */
wt_verdict wt_claim_verdict(const wt_verdict *verdicts, size_t count) {
    static const wt_verdict first[] = {WT_VERDICT_NOT_REPRODUCED, WT_VERDICT_NO_TEST,
                                       WT_VERDICT_EXPLORED};
    size_t seen[WT_VERDICT_EXPLORED + 1] = {0};
    for (size_t i = 0; i < count; i++)
        seen[verdicts[i]]++;
    if (count == 0 || seen[WT_VERDICT_NOT_MEASURED] == count)
        return WT_VERDICT_NOT_MEASURED;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        if (seen[first[i]] > 0)
            return first[i];
    return seen[WT_VERDICT_REPRODUCED] == count ? WT_VERDICT_REPRODUCED : WT_VERDICT_UNDECIDED;
}

static wt_status want(wt_context *context, wt_results *results, const wt_claim_part *part) {
    const char *const names[] = {part->x,     part->y,        part->size,
                                 part->found, part->attempts, part->demand};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i] != NULL)
            WT_PASS(wt_results_want(context, results, names[i]));
    return WT_OK;
}

wt_status wt_findings_want(wt_context *context, wt_results *results) {
    const wt_claim_part *part;
    for (size_t p = 0; (part = wt_claim_part_at(p)) != NULL; p++) {
        const wt_claim_part rival = rival_of(part);
        WT_PASS(want(context, results, part));
        WT_PASS(want(context, results, &rival));
    }
    return WT_OK;
}

/* Cells with seeds for exploring, of every setting. */
static wt_status count_explored(wt_context *context, const wt_results *results, size_t **out,
                                size_t *all) {
    WT_PASS(WT_NEW_ZERO(context, out, results->setting_count, "claims"));
    for (size_t i = 0; i < results->done.count + results->lost.count; i++) {
        const wt_result *cell = wt_results_cell(results, i);
        wt_results_pass(results, i);
        bool explored = wt_seed_explored(cell->seed);
        (*out)[cell->setting] += explored;
        *all += explored;
    }
    return WT_OK;
}

static bool is_explored(const wt_results *results, const size_t *explored,
                        const wt_claim_part *part) {
    uint32_t experiment = wt_results_experiment(results, part->experiment);
    for (uint32_t i = 0; i < results->setting_count; i++)
        if (explored[i] > 0 && results->settings[i].experiment == experiment &&
            (wt_setting_fits(results, i, part->where) ||
             (part->versus != NULL && wt_setting_fits(results, i, part->versus))))
            return true;
    return false;
}

static wt_status measure_part(wt_context *context, const wt_results *results,
                              const size_t *explored, size_t p, wt_findings *out) {
    const wt_claim_part *part = wt_claim_part_at(p), rival = rival_of(part);
    wt_evidence *measured = &out->evidence[2 * p], *of_rival = measured + 1;
    WT_PASS(wt_context_check_cancelled(context));
    WT_PASS(wt_part_measure(context, results, part, measured));
    WT_PASS(wt_part_measure(context, results, &rival, of_rival));
    wt_verdict against = wt_part_verdict(&rival, of_rival);
    bool seen = is_explored(results, explored, part) || is_explored(results, explored, &rival);
    out->parts[p] = (wt_finding_part){
        .name = part->name != NULL ? part->name : "",
        .effect = part->effect,
        .unit = part->measure->unit,
        .boundary = part->boundary,
        .above = part->above,
        .reason = part->reason,
        .rival = part->rival.words,
        .measured = measured,
        .of_rival = of_rival,
        .verdict = wt_part_conclude(wt_part_verdict(part, measured), against, seen),
        .rival_verdict = against,
        .more = wt_part_more(part, measured)};
    return WT_OK;
}

/* A claim and its parts, from `first` on, which are measured. */
static wt_finding conclude(const wt_claim *claim, const wt_findings *from, size_t first) {
    wt_finding finding = {.claim = claim, .first_part = first};
    wt_verdict verdicts[MOST_PARTS];
    for (size_t p = first; p < from->part_count && finding.part_count < MOST_PARTS &&
                           strcmp(wt_claim_part_at(p)->claim, claim->id) == 0;
         p++)
        verdicts[finding.part_count++] = from->parts[p].verdict;
    finding.verdict = wt_claim_verdict(verdicts, finding.part_count);
    return finding;
}

wt_status wt_findings_measure(wt_context *context, const wt_results *results, wt_findings **out) {
    wt_findings *all = NULL;
    size_t *explored = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(WT_NEW_ZERO(context, &all, 1, "claims"));
    const wt_claim *claims = wt_claim_table(&all->claim_count);
    while (wt_claim_part_at(all->part_count) != NULL)
        all->part_count++;
    all->arena = wt_arena_start(context, "claims");
    all->claims = WT_TAKE_ZERO(&all->arena, wt_finding, all->claim_count);
    all->parts = WT_TAKE_ZERO(&all->arena, wt_finding_part, all->part_count);
    all->evidence = WT_TAKE_ZERO(&all->arena, wt_evidence, all->part_count, 2);
    WT_TRY(all->arena.status);
    WT_TRY(count_explored(context, results, &explored, &all->explored));
    for (size_t p = 0; p < all->part_count; p++)
        WT_TRY(measure_part(context, results, explored, p, all));
    for (size_t c = 0, p = 0; c < all->claim_count; p += all->claims[c++].part_count)
        all->claims[c] = conclude(&claims[c], all, p);
    *out = all;
    all = NULL;
done:
    wt_findings_free(all);
    wt_release(explored);
    return status;
}

void wt_findings_free(wt_findings *findings) {
    if (findings != NULL)
        wt_arena_free(&findings->arena);
    wt_release(findings);
}

const wt_finding *wt_findings_claim_at(const wt_findings *findings, size_t index) {
    return index < findings->claim_count ? &findings->claims[index] : NULL;
}

const wt_finding_part *wt_findings_part_at(const wt_findings *findings, size_t index) {
    return index < findings->part_count ? &findings->parts[index] : NULL;
}

size_t wt_findings_explored(const wt_findings *findings) {
    return findings->explored;
}
