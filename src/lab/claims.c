#include "lab/claims.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* Where a bound has no dependence on a size and the obvious rival has its square root, the boundary
 * is half way between the exponents 0 and 1/2. */
#define HALF_WAY 0.25

static const wt_paper papers[] = {
    {"1", "Random-feature attention", "Fu, Guo, Bai, Mei",
     "What can a single attention layer learn? A study through the random features lens",
     "arXiv 2307.11353, NeurIPS 2023"},
    {"2", "Learning a multi-head attention layer", "Chen, Li",
     "Provably learning a multi-head attention layer", "arXiv 2402.04084, STOC 2025"},
    {"3", "Sparse variable creation", "Edelman, Goel, Kakade, Zhang",
     "Inductive biases and variable creation in self-attention mechanisms",
     "arXiv 2110.10090, ICML 2022"},
};

static const wt_claim claims[] = {
    {"1.1", "averages at rate sqrt(B/n), without N",
     "Random-feature attention learns averages of functions of (query, key) pairs with excess "
     "risk of order sqrt(B/n): there is no number of keys N in the bound.",
     "stated by the paper's abstract"},
    {"1.2", "fewer samples than an MLP",
     "It needs fewer samples than the random-feature MLP on targets that do not depend on the "
     "order of the keys.",
     "stated by the paper's abstract"},
    {"1.3", "a bias helps on correlations only",
     "A query-key law with non-zero mean (BRFA) needs fewer samples than the zero-mean one (RFA) "
     "on correlation targets; on plain averages it is no better.",
     "first half stated by the abstract, second reconstructed from memory"},
    {"1.4", "samples against complexity",
     "Samples trade against the complexity of the target: its degree p, the dimension d.",
     "stated by the paper's abstract"},
    {"2.1", "layers learned, Boolean tokens",
     "A non-degenerate multi-head layer is learned from random Boolean examples.",
     "stated by the paper's abstract; our learner, `refine`, is another one than the paper's"},
    {"2.2", "layers learned, Gaussian tokens", "The same for Gaussian inputs.",
     "stated by public summaries; our learner, `refine`, is another one than the paper's"},
    {"2.3", "hard instances cost exponentially",
     "On hard instances (parities) the cost grows exponentially with the number of heads.",
     "stated by the paper's abstract as a lower bound; the instances are ours"},
    {"3.1", "a head represents sparse functions",
     "One attention head of bounded norm represents an s-sparse function with the promised "
     "error.",
     "stated by the paper"},
    {"3.2", "gap like sqrt(log T / m)",
     "At fixed norms the generalisation gap grows like sqrt(log T / m).",
     "stated by the paper as an upper bound"},
    {"3.3", "samples for AND like log T",
     "The samples m(T) needed to learn a sparse AND grow like log T.",
     "stated by the paper, which plots 18 points"},
    {"3.4", "parity: a plateau, then a fall",
     "Trained on parity, the loss stays on a plateau and then falls abruptly.",
     "stated by the paper"},
};

static const wt_claim_part parts[] = {
    {.claim = "1.1",
     .name = "in n",
     .effect = "exponent of n in the test error of rfa on averages of degree 2, from where half of "
               "the variance is learned: above it the bound says nothing",
     .unit = "exponent",
     .boundary = -0.5,
     .reason = "the bound falls like n^-1/2",
     .measure = wt_effect_exponent,
     .experiment = "curve",
     .where = "model=rfa target=mean-power:2",
     .x = "n",
     .y = "test_error",
     .ceiling = 0.5},
    {.claim = "1.1",
     .name = "in N",
     .effect = "exponent of N in the test error of rfa on averages of degree 2, at equal n",
     .unit = "exponent",
     .boundary = HALF_WAY,
     .reason = "half way between no N and sqrt(N), which the MLP's bound has at this degree",
     .measure = wt_effect_exponent,
     .experiment = "curve",
     .where = "model=rfa target=mean-power:2",
     .x = "keys",
     .y = "test_error"},
    {.claim = "1.2",
     .name = "averages",
     .effect = "log of the test error of rfa over that of rfmlp on averages, on the same draws, at "
               "the largest n",
     .unit = "log ratio",
     .reason = "equal errors",
     .measure = wt_effect_log_ratio,
     .experiment = "curve",
     .where = "model=rfa target=mean-power:*",
     .versus = "model=rfmlp target=mean-power:*",
     .x = "n",
     .y = "test_error"},
    {.claim = "1.2",
     .name = "correlations",
     .effect = "the same on correlations with the query",
     .unit = "log ratio",
     .reason = "equal errors",
     .measure = wt_effect_log_ratio,
     .experiment = "curve",
     .where = "model=rfa target=corr-power:*",
     .versus = "model=rfmlp target=corr-power:*",
     .x = "n",
     .y = "test_error"},
    {.claim = "1.3",
     .name = "correlations",
     .effect = "log of the test error of brfa over that of rfa on correlations with the query, on "
               "the same draws, at the largest n",
     .unit = "log ratio",
     .reason = "equal errors",
     .measure = wt_effect_log_ratio,
     .experiment = "curve",
     .where = "model=brfa target=corr-power:*",
     .versus = "model=rfa target=corr-power:*",
     .x = "n",
     .y = "test_error"},
    {.claim = "1.3",
     .name = "averages",
     .effect = "the same on averages",
     .unit = "log ratio",
     .above = true,
     .reason = "equal errors",
     .measure = wt_effect_log_ratio,
     .experiment = "curve",
     .where = "model=brfa target=mean-power:*",
     .versus = "model=rfa target=mean-power:*",
     .x = "n",
     .y = "test_error"},
    {.claim = "1.4",
     .name = "degree",
     .effect = "log of the test error of rfa on averages of degree 4 over that on degree 2, on the "
               "same tokens, at the largest n",
     .unit = "log ratio",
     .above = true,
     .reason = "equal errors",
     .measure = wt_effect_log_ratio,
     .experiment = "curve",
     .where = "model=rfa target=mean-power:4",
     .versus = "model=rfa target=mean-power:2",
     .x = "n",
     .y = "test_error"},
    {.claim = "1.4",
     .name = "dimension",
     .effect = "exponent of d in the test error of rfa on averages of degree 2, at equal n",
     .unit = "exponent",
     .above = true,
     .reason = "no dependence on d",
     .measure = wt_effect_exponent,
     .experiment = "curve",
     .where = "model=rfa target=mean-power:2",
     .x = "dim",
     .y = "test_error"},
    {.claim = "2.1",
     .effect = "share of repetitions in which refine finds the random layers of all settings "
               "exactly, from Boolean tokens and 5 N_min examples or more",
     .unit = "rate",
     .boundary = 0.9,
     .above = true,
     .reason = "a learner that may fail one time in ten",
     .measure = wt_effect_rate,
     .experiment = "recover",
     .where = "tokens=boolean parity=0 method=refine noise=0 samples-ratio>=5",
     .y = "success"},
    {.claim = "2.2",
     .effect = "share of repetitions in which refine finds the random layers of all settings "
               "exactly, from Gaussian tokens and 5 N_min examples or more",
     .unit = "rate",
     .boundary = 0.9,
     .above = true,
     .reason = "a learner that may fail one time in ten",
     .measure = wt_effect_rate,
     .experiment = "recover",
     .where = "tokens=gaussian parity=0 method=refine noise=0 samples-ratio>=5",
     .y = "success"},
    {.claim = "2.3",
     .effect = "the p at which the log of the cost (all steps of refine over layers found) is "
               "affine in m^p, on parities of m bits among 2m",
     .unit = "exponent",
     .boundary = 0.5,
     .above = true,
     .reason = "half way between a power law (p = 0, log m) and exponential growth (p = 1)",
     .measure = wt_effect_growth,
     .experiment = "recover",
     .where = "parity!=0 dim-ratio=2 method=refine",
     .x = "parity",
     .y = "all_steps",
     .found = "recovered",
     .apart = "heads"},
    {.claim = "3.1",
     .effect = "share of repetitions in which all constructed heads keep the promise with their "
               "worst error",
     .unit = "rate",
     .boundary = 0.9,
     .above = true,
     .reason = "a promise may not fail; 0.9 is what some forty trials can show",
     .measure = wt_effect_rate,
     .experiment = "construct",
     .y = "kept"},
    {.claim = "3.2",
     .name = "in m",
     .effect = "exponent of m in the mean generalisation gap of a head in a norm ball",
     .unit = "exponent",
     .boundary = -HALF_WAY,
     .reason = "half way between no fall and m^-1/2",
     .measure = wt_effect_mean_exponent,
     .experiment = "train",
     .where = "model=head ball!=none",
     .x = "m",
     .y = "gap"},
    {.claim = "3.2",
     .name = "in T",
     .effect = "exponent of T in the same gap",
     .unit = "exponent",
     .boundary = HALF_WAY,
     .reason = "half way between logarithmic growth (0) and sqrt(T), where capacity counts inputs",
     .measure = wt_effect_mean_exponent,
     .experiment = "train",
     .where = "model=head ball!=none",
     .x = "length",
     .y = "gap"},
    {.claim = "3.3",
     .effect = "the p at which the critical m is affine in T^p",
     .unit = "exponent",
     .boundary = HALF_WAY,
     .reason = "half way between log T (p = 0) and sqrt(T) (p = 1/2)",
     .measure = wt_effect_threshold,
     .experiment = "threshold",
     .where = "model=transformer task=and:3",
     .x = "length",
     .size = "m",
     .y = "success"},
    {.claim = "3.4",
     .effect = "log of the steps the loss takes to fall from 90% to 10% of ln 2 over the steps "
               "before",
     .unit = "log ratio",
     .reason = "a fall as long as the plateau",
     .measure = wt_effect_mean,
     .experiment = "train",
     .where = "model=transformer task=parity:* online!=0",
     .y = "fall_over_plateau"},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

const wt_paper *wt_paper_at(size_t index) {
    return index < COUNT(papers) ? &papers[index] : NULL;
}

const wt_claim *wt_claim_at(size_t index) {
    return index < COUNT(claims) ? &claims[index] : NULL;
}

const wt_claim_part *wt_claim_part_at(size_t index) {
    return index < COUNT(parts) ? &parts[index] : NULL;
}

const char *wt_verdict_name(wt_verdict verdict) {
    static const char *const names[] = {"not measured", "undecided", "reproduced",
                                        "not reproduced"};
    return names[verdict];
}

wt_verdict wt_part_verdict(const wt_claim_part *part, const wt_evidence *evidence) {
    if (evidence->cells == 0 || (isnan(evidence->effect.value) && isnan(evidence->effect.low)))
        return WT_NOT_MEASURED;
    bool above = evidence->effect.low > part->boundary;
    bool below = evidence->effect.high < part->boundary;
    if (!above && !below) /* also without an interval */
        return WT_UNDECIDED;
    return above == part->above ? WT_REPRODUCED : WT_NOT_REPRODUCED;
}

wt_verdict wt_claim_verdict(const wt_verdict *verdicts, size_t count) {
    size_t seen[4] = {0};
    for (size_t i = 0; i < count; i++)
        seen[verdicts[i]]++;
    if (count == 0 || seen[WT_NOT_MEASURED] == count)
        return WT_NOT_MEASURED;
    if (seen[WT_NOT_REPRODUCED] > 0)
        return WT_NOT_REPRODUCED;
    return seen[WT_REPRODUCED] == count ? WT_REPRODUCED : WT_UNDECIDED;
}

wt_status wt_findings_want(wt_context *context, wt_results *results) {
    wt_status status = WT_OK;
    for (size_t p = 0; p < COUNT(parts); p++) {
        const char *const names[] = {parts[p].x, parts[p].y, parts[p].size, parts[p].found};
        for (size_t i = 0; i < COUNT(names); i++)
            if (names[i] != NULL)
                WT_TRY(wt_results_want(context, results, names[i]));
    }
done:
    return status;
}

wt_status wt_findings_measure(wt_context *context, const wt_results *results, wt_findings *out) {
    wt_status status;
    *out = (wt_findings){.claim_count = COUNT(claims), .part_count = COUNT(parts)};
    WT_TRY(WT_NEW_ZERO(context, &out->claims, COUNT(claims), "claims"));
    WT_TRY(WT_NEW_ZERO(context, &out->parts, COUNT(parts), "claims"));
    WT_TRY(WT_NEW_ZERO(context, &out->part_verdicts, COUNT(parts), "claims"));
    for (size_t p = 0; p < COUNT(parts); p++) {
        WT_TRY(wt_check_cancelled(context));
        WT_TRY(parts[p].measure(context, results, &parts[p], &out->parts[p]));
        out->part_verdicts[p] = wt_part_verdict(&parts[p], &out->parts[p]);
    }
    for (size_t c = 0, p = 0; c < COUNT(claims); c++) {
        wt_finding *finding = &out->claims[c];
        *finding = (wt_finding){.claim = &claims[c], .first_part = p};
        for (; p < COUNT(parts) && strcmp(parts[p].claim, claims[c].id) == 0; p++)
            finding->part_count++;
        finding->verdict =
            wt_claim_verdict(out->part_verdicts + finding->first_part, finding->part_count);
    }
done:
    return status;
}

void wt_findings_free(wt_findings *findings) {
    wt_release(findings->claims);
    wt_release(findings->parts);
    wt_release(findings->part_verdicts);
    *findings = (wt_findings){0};
}
