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

/* The cells that a part chooses, as lines along its `size`, or else along its x. */
typedef struct wt_sample {
    wt_context *context;
    const wt_claim_part *part;
    wt_lines lines;
    uint32_t
        *draw; /* (points) number of the (seed, repetition), from 0 in the order they are met */
    size_t draws;
    wt_arena arena; /* holds draw, and what an effect needs besides */
} wt_sample;

typedef struct wt_effect {
    const char *unit; /* how it is read: "exponent", "log ratio", "rate" */
    bool every;       /* lines with one x too */
    bool failures;    /* cells that failed are points with y = 0 */
    /* Fills the evidence, which begins with all that the lines say but the effect; no cells are no
     * failure. */
    wt_status (*measure)(wt_sample *sample, wt_evidence *out);
} wt_effect;

/* The same effect where the claim is false; what is NULL is as in the part. */
typedef struct wt_rival {
    const char *words;
    const char *experiment, *where, *versus, *x, *y, *found;
} wt_rival;

struct wt_claim_part {
    const char *claim;        /* "1.3" */
    const char *name;         /* of the part, where there are several: "correlation" */
    const char *effect;       /* what the number is, in words */
    double boundary;          /* between the sides */
    bool above;               /* the claimed side */
    const char *reason;       /* why the boundary is there */
    const wt_effect *measure; /* from the cells that the fields below choose */
    const char *experiment;   /* "curve" */
    const char *where;        /* as wt_setting_fits reads it */
    const char *versus;       /* the other side of a comparison, likewise */
    const char *x, *y;        /* parameter along x, metric */
    const char *demand;       /* metric that is 1 for a cell that counts; not asked of the rival */
    const char *apart;        /* parameters that go with x and part no lines: "heads" */
    const char *size;         /* the m of a threshold, the n that reaches a level */
    double level;             /* of y, to be reached */
    const char *found;        /* 1 where the y of a growth was not spent in vain */
    const char *attempts;     /* that a y was spent on */
    wt_rival rival;
};

/* The tables. Parts are in the order of the claims, NULL past the last. */
const wt_claim *wt_claim_table(size_t *count);
const wt_claim_part *wt_claim_part_at(size_t index);

/* The sample of a part; to be closed in any case. */
wt_status wt_sample_open(wt_context *context, const wt_results *results, const wt_claim_part *part,
                         wt_sample *out);
void wt_sample_close(wt_sample *sample);
/* The other side of a comparison: the cells that fit `versus`, as lines. */
wt_status wt_sample_versus(const wt_sample *sample, wt_lines *out);

/* The effect of a part. */
wt_status wt_part_measure(wt_context *context, const wt_results *results, const wt_claim_part *part,
                          wt_evidence *out);

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

/* The effects of the table. Lines of one (seed, repetition) share draws: their numbers are averaged
 * first, and Student's t is over the repetitions. */
extern const wt_effect
    /* The mean of the slope of log y against log x; */
    wt_effect_exponent,
    /* the slope of the log of the mean y over repetitions against log x, for a y that need not be
     * above 0 each time: repetitions are resampled, and an end of the interval is infinite where
     * more than 2.5% of the resamples have a mean that is not above 0 and so no slope on that side;
     */
    wt_effect_mean_exponent,
    /* the mean of log(y / y of the cells that fit `versus`, on the same draws) at the largest x
     * both have in any setting; */
    wt_effect_log_ratio,
    /* the mean of y, the log of a ratio; */
    wt_effect_mean,
    /* the share of repetitions in which all cells have y = 1, by Clopper and Pearson; */
    wt_effect_rate,
    /* the p at which log cost = a + b x^p with b >= 0 fits best over the x of the line with most
     * cells, p = 0 standing for log x: 1 is exponential growth, 0 a power law. The cost at an x is
     * the price of an attempt, y over `attempts`, over the chance that it finds (`found` is 1 for
     * the last attempt of a run), by greatest likelihood: runs that were given up bound the cost
     * from below; */
    wt_effect_growth,
    /* the p at which the mean y over repetitions is a + b x^p with b >= 0, averaged over lines;
     * repetitions are resampled; */
    wt_effect_mean_growth,
    /* the slope of the log of the `size` at which y falls to `level` against log x, where a size
     * beyond those tried opens the interval on the sides that it could lie on; */
    wt_effect_reach,
    /* the p at which the critical m(T) = a + b T^p is likeliest over T = x, where m(T) is the
     * `size` at which 80% of the trials succeed (y = 1). An m above the grid opens the interval
     * above, so that the growth is never said to be slow for want of samples; one below the grid
     * opens both ends; */
    wt_effect_threshold,
    /* the slope of log m(T) against log T of the same. */
    wt_effect_threshold_slope;

/* The critical sizes of a part, one a T, to be released with wt_release. */
wt_status wt_critical_sizes(wt_context *context, const wt_results *results,
                            const wt_claim_part *part, wt_critical **out, size_t *count);

#endif
