/* What is claimed, what would show it, and beside what. Whoever changes a rule here counts up the
 * version below, and draws its seed anew. */
#include "lab/claims.h"

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
    {"2.4", "sculpting learns what is not degenerate",
     "Sculpting a convex body around the attention matrices finds the layer when it is "
     "non-degenerate, in time polynomial in the dimension and the length, with examples that grow "
     "fast with the number of heads.",
     "the algorithm is stated by the paper, its stages reconstructed; the numbers are ours"},
    {"2.5", "asking finds a layer exactly",
     "A layer that answers any question is found exactly from few answers.", "ours"},
    {"3.1", "a head represents sparse functions",
     "One attention head represents an s-sparse function with the promised error, and the norm of "
     "its query-key weights need grow like log T alone.",
     "stated by the paper"},
    {"3.2", "gap at most like sqrt(log T / m)",
     "At fixed norms the generalisation gap grows in T no faster than sqrt(log T), and falls in m "
     "at least as fast as sqrt(1 / m).",
     "stated by the paper as an upper bound"},
    {"3.3", "samples for AND like log T",
     "The samples m(T) needed to learn a sparse AND grow like log T.",
     "stated by the paper, which plots 18 points"},
    {"3.4", "parity: a plateau, then a fall",
     "Trained on parity, the loss stays on a plateau and then falls abruptly.",
     "stated by the paper"},
};

/* Seeds are drawn, not chosen: by od -An -N2 -tu2 /dev/urandom, when the rules were done. */
static const wt_rules rules[] = {
    {1, 1, "2026-10", "effects, boundaries and sides of eleven claims"},
    {2, 25222, "2026-11",
     "a rival for every part; failed cells count; 1.1 in n over a fixed range, in the theorem's "
     "ball too, and in N by samples needed; 2.3 by a likelihood with censoring, in operations; 3.1 "
     "by the least strength; 3.2 by the worst gap, trained to a criterion; 3.3 by a likelihood; "
     "claims for sculpt and query"},
    {3, 57041, "2026-11",
     "2.3 from 10 N_min examples: from 5 the layer of one bit was not determined in 3 runs of 15; "
     "2.4 cost in d by its exponent"},
    {4, 37761, "2026-11",
     "3.1 growth with random positions; 3.2 widened by the fewest repetitions at any size; 2.4 "
     "costs "
     "of all runs; cells of rivals must be fresh too"},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

const wt_paper *wt_paper_at(size_t index) {
    return index < COUNT(papers) ? &papers[index] : NULL;
}

const wt_claim *wt_claim_table(size_t *count) {
    *count = COUNT(claims);
    return claims;
}

const wt_rules *wt_rules_at(size_t index) {
    return index < COUNT(rules) ? &rules[index] : NULL;
}

const wt_rules *wt_rules_now(void) {
    return &rules[COUNT(rules) - 1];
}
