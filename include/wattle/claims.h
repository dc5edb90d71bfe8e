/* The claims of the three papers, and what the cells of a store say to each.
 *
 *     wt_store_open(context, "results.db", WT_STORE_MODE_READ, &store);
 *     wt_results_load(context, store, &results);
 *     wt_findings_measure(context, results, &findings);
 *     for (size_t i = 0; (claim = wt_findings_claim_at(findings, i)) != NULL; i++)
 *         printf("%s %s\n", claim->claim->id, wt_verdict_name(claim->verdict));
 *
 * Every claim has one or more parts, a part an effect: one number, measured with a 95% interval.
 * The number and the side of the boundary that the claim stands for are in a table, fixed before
 * anything is measured. An interval wholly on the claimed side reproduces the part, one wholly on
 * the other does not, any other leaves it undecided. Beside every part the same is measured on a
 * rival, a case for which the claim is false: a part whose rival would be reproduced too is no
 * test. A claim is reproduced when all of its parts are, and not reproduced when one is not.
 *
 * The table has a version, which is counted up with every change of a rule. What was seen before a
 * rule was written cannot test it: seeds that were used before are for exploring, and cells with
 * them give numbers but no verdicts. */
#ifndef WATTLE_CLAIMS_H
#define WATTLE_CLAIMS_H

#include "wattle/results.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wt_verdict {
    WT_VERDICT_NOT_MEASURED,
    WT_VERDICT_UNDECIDED,
    WT_VERDICT_REPRODUCED,
    WT_VERDICT_NOT_REPRODUCED,
    WT_VERDICT_NO_TEST, /* the rival passes too */
    WT_VERDICT_EXPLORED /* some cells have seeds from before the rule */
} wt_verdict;
/* "reproduced" and the like; "?" for no verdict. */
WT_API const char *wt_verdict_name(wt_verdict verdict);

/* Structs from here on are made by the library and read through pointers. */

/* A version of the rules, and the seed of `wattle reproduce` that was drawn when it was written. */
typedef struct wt_rules {
    int version;
    uint64_t seed;
    const char *date, *change; /* what was changed, in words */
} wt_rules;
/* The versions, oldest first; NULL past the last, which holds. */
WT_API const wt_rules *wt_rules_at(size_t index);
WT_API const wt_rules *wt_rules_now(void);
/* Whether the seed is for exploring: below WT_EXPLORING_SEEDS, or the one of an earlier version. */
#define WT_EXPLORING_SEEDS 1000
WT_API bool wt_seed_explored(int64_t seed);

/* A line of work: the paper that claims 1.x, 2.x or 3.x come from. */
typedef struct wt_paper {
    const char *number;  /* "1" */
    const char *subject; /* "Random-feature attention" */
    const char *authors, *title, *where;
} wt_paper;
/* NULL past the last. */
WT_API const wt_paper *wt_paper_at(size_t index);

typedef struct wt_claim {
    const char *id;       /* "1.1": paper and number */
    const char *title;    /* in a few words */
    const char *sentence; /* what the paper claims */
    const char *source;   /* how we know: stated, or reconstructed from memory */
} wt_claim;

/* What was measured for a part. */
typedef struct wt_evidence {
    wt_interval
        effect;      /* NaN where nothing, or too little, was measured; an end that the cells do
                        not determine is infinite, or the end of the search for a growth exponent */
    size_t cells;    /* that went into it */
    size_t settings; /* different parameters among them, apart from x and the repetition */
    size_t
        repetitions; /* (seed, repetition) that the interval rests on; 0 where cells are trials */
    size_t dropped;  /* repetitions of a setting that bear on it and gave no number */
    size_t failed;   /* cells that bear on it and failed; trials without success in a rate */
    size_t censored; /* x that bound a number from one side alone: lengths whose critical m the grid
                        of m does not hold, sizes at which nothing was found or no level reached */
    bool searched;   /* a growth exponent: -2 means "-2 or less", 3 "3 or more", both for the
                        value and its ends (WT_MIN_EXPONENT, WT_MAX_EXPONENT) */
} wt_evidence;
/* Whether there is a number, or at least an interval, to show. */
WT_API bool wt_evidence_measured(const wt_evidence *evidence);

typedef struct wt_finding_part {
    const char *name;            /* of the part, where there are several; else "" */
    const char *effect;          /* what the number is, in words */
    const char *unit;            /* how it is read: "exponent", "log ratio", "rate" */
    double boundary;             /* between the sides */
    bool above;                  /* the claimed side */
    const char *reason;          /* why the boundary is there */
    const char *rival;           /* the case for which the claim is false, in words */
    const wt_evidence *measured; /* of the claim */
    const wt_evidence *of_rival; /* the same where it is false */
    wt_verdict verdict, rival_verdict;
    double more; /* how many times as many repetitions would bring an undecided interval to one
                    side, if the effect stays what it is; NaN where that is not known */
} wt_finding_part;

typedef struct wt_finding {
    const wt_claim *claim;
    size_t first_part, part_count;
    wt_verdict verdict;
} wt_finding;

/* All claims, measured on one store. */
typedef struct wt_findings wt_findings;
WT_API wt_status wt_findings_measure(wt_context *context, const wt_results *results,
                                     wt_findings **out);
/* Accepts NULL. */
WT_API void wt_findings_free(wt_findings *findings);
/* By their places; NULL past the last. */
WT_API const wt_finding *wt_findings_claim_at(const wt_findings *findings, size_t index);
WT_API const wt_finding_part *wt_findings_part_at(const wt_findings *findings, size_t index);
/* Cells with seeds that are for exploring. */
WT_API size_t wt_findings_explored(const wt_findings *findings);

#ifdef __cplusplus
}
#endif
#endif
