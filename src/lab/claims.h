/* The table of claims from within: how every effect is measured. wattle/claims.h tells what claims,
 * parts, rivals and verdicts are. */
#ifndef WT_LAB_CLAIMS_H
#define WT_LAB_CLAIMS_H

#include "base/memory.h"
#include "lab/lines.h"
#include "lab/statistics_threshold.h"
#include "wattle/claims.h"

#define WT_CLAIM_SEED 1 /* of all bootstraps: reports are the same bytes each time */

typedef struct wt_claim_part wt_claim_part;
/* Fills the evidence from the cells; no cells are no failure. */
typedef wt_status (*wt_effect_fn)(wt_context *context, const wt_results *results,
                                  const wt_claim_part *part, wt_evidence *out);

/* The same effect where the claim is false; what is NULL is as in the part. */
typedef struct wt_rival {
    const char *words;
    const char *experiment, *where, *versus, *x, *y, *found;
} wt_rival;

struct wt_claim_part {
    const char *claim;      /* "1.3" */
    const char *name;       /* of the part, where there are several: "correlation" */
    const char *effect;     /* what the number is, in words */
    const char *unit;       /* how it is read: "exponent", "log ratio", "rate" */
    double boundary;        /* between the sides */
    bool above;             /* the claimed side */
    const char *reason;     /* why the boundary is there */
    wt_effect_fn measure;   /* from the cells that the fields below choose */
    const char *experiment; /* "curve" */
    const char *where;      /* as wt_setting_fits reads it */
    const char *versus;     /* the other side of a comparison, likewise */
    const char *x, *y;      /* parameter along x, metric */
    const char *demand;     /* metric that is 1 for a cell that counts; not asked of the rival */
    const char *apart;      /* parameters that go with x and part no lines: "heads" */
    const char *size;       /* the m of a threshold, the n that reaches a level */
    double level;           /* of y, to be reached */
    const char *found;      /* 1 where the y of a growth was not spent in vain */
    const char *attempts;   /* that a y was spent on */
    wt_rival rival;
};

/* The tables. Parts are in the order of the claims, NULL past the last. */
const wt_claim *wt_claim_table(size_t *count);
const wt_claim_part *wt_claim_part_at(size_t index);

/* The lines of a part along `x`. */
wt_lines_query wt_part_query(const wt_claim_part *part, const char *x);
/* What the lines say of the evidence: cells, settings, those left out, those that failed. */
wt_evidence wt_part_evidence(const wt_lines *lines);

/* The part as its rival has it. */
wt_claim_part wt_part_rival(const wt_claim_part *part);

/* Which side of the boundary the interval is on. */
wt_verdict wt_part_verdict(const wt_claim_part *part, const wt_evidence *evidence);
/* What that comes to beside its rival's, and where seeds were used before. */
wt_verdict wt_part_conclude(wt_verdict verdict, wt_verdict rival, bool explored);
/* How many times as many repetitions would bring an undecided interval to one side, if the effect
 * stays what it is; NaN where that cannot be told. */
double wt_part_more(const wt_claim_part *part, const wt_evidence *evidence);
/* Of a claim from those of its parts. */
wt_verdict wt_claim_verdict(const wt_verdict *parts, size_t count);

struct wt_findings {
    wt_arena arena; /* holds what follows */
    size_t claim_count, part_count, explored;
    wt_finding *claims;
    wt_finding_part *parts;
    wt_evidence *evidence; /* (parts, 2): of the claim, of its rival */
};

/* The metrics that claims are about, for wt_results_want. */
wt_status wt_findings_want(wt_context *context, wt_results *results);

/* Numbers the draws of the points from 0, by their first, into of[count]; how many there are. */
wt_status wt_number_draws(wt_context *context, const wt_line_point *points, size_t count,
                          uint32_t *of, size_t *draws);

/* The effects of the table. Lines of one (seed, repetition) share draws: their numbers are averaged
 * first, and Student's t is over the repetitions.
 * The mean of the slope of log y against log x; */
wt_status wt_effect_exponent(wt_context *context, const wt_results *results,
                             const wt_claim_part *part, wt_evidence *out);
/* the slope of the log of the mean y over repetitions against log x, for a y that need not be above
 * 0 each time: repetitions are resampled, and an end of the interval is infinite where more than
 * 2.5% of the resamples have a mean that is not above 0 and so no slope on that side; */
wt_status wt_effect_mean_exponent(wt_context *context, const wt_results *results,
                                  const wt_claim_part *part, wt_evidence *out);
/* the mean of log(y / y of the cells that fit `versus`, on the same draws) at the largest x both
 * have in any setting; */
wt_status wt_effect_log_ratio(wt_context *context, const wt_results *results,
                              const wt_claim_part *part, wt_evidence *out);
/* the mean of y; */
wt_status wt_effect_mean(wt_context *context, const wt_results *results, const wt_claim_part *part,
                         wt_evidence *out);
/* the share of repetitions in which all cells have y = 1, by Clopper and Pearson; */
wt_status wt_effect_rate(wt_context *context, const wt_results *results, const wt_claim_part *part,
                         wt_evidence *out);
/* the p at which log cost = a + b x^p with b >= 0 fits best over the x of the line with most cells,
 * p = 0 standing for log x: 1 is exponential growth, 0 a power law. The cost at an x is the price
 * of an attempt, y over `attempts`, over the chance that it finds (`found` is 1 for the last
 * attempt of a run), by greatest likelihood: runs that were given up bound the cost from below; */
wt_status wt_effect_growth(wt_context *context, const wt_results *results,
                           const wt_claim_part *part, wt_evidence *out);
/* the p at which the mean y over repetitions is a + b x^p with b >= 0, averaged over lines;
 * repetitions are resampled; */
wt_status wt_effect_mean_growth(wt_context *context, const wt_results *results,
                                const wt_claim_part *part, wt_evidence *out);
/* the slope of the log of the `size` at which y falls to `level` against log x, where a size beyond
 * those tried opens the interval on the sides that it could lie on; */
wt_status wt_effect_reach(wt_context *context, const wt_results *results, const wt_claim_part *part,
                          wt_evidence *out);
/* the p at which the critical m(T) = a + b T^p is likeliest over T = x, where m(T) is the `size` at
 * which 80% of the trials succeed (y = 1). An m above the grid opens the interval above, so that
 * the growth is never said to be slow for want of samples; one below the grid opens both ends. */
wt_status wt_effect_threshold(wt_context *context, const wt_results *results,
                              const wt_claim_part *part, wt_evidence *out);

/* the slope of log m(T) against log T of the same; */
wt_status wt_effect_threshold_slope(wt_context *context, const wt_results *results,
                                    const wt_claim_part *part, wt_evidence *out);

/* The critical sizes such a claim is made of, one a T, to be released with wt_release, and how many
 * cells failed, which may be NULL. */
wt_status wt_critical_sizes(wt_context *context, const wt_results *results,
                            const wt_claim_part *part, wt_critical **out, size_t *count,
                            size_t *failed);

#endif
