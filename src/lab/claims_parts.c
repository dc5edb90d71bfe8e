/* What would show each claim, and beside what. Whoever changes a rule here counts up the version in
 * claims_table.c, and draws its seed anew. */
#include "lab/claims.h"

/* Where a bound has no dependence on a size and the obvious rival has its square root, the boundary
 * is half way between the exponents 0 and 1/2. */
#define HALF_WAY 0.25

/* What parts share. */
#define CURVES .experiment = "curve", .y = "test_error"
#define RATIO  CURVES, .x = "n", .measure = &wt_effect_log_ratio
#define LEARNER                                                                                    \
    .experiment = "recover", .measure = &wt_effect_rate, .boundary = 0.9, .above = true,           \
    .reason = "a learner that may fail one time in ten"
#define GAP                                                                                        \
    .measure = &wt_effect_mean_exponent, .experiment = "train", .y = "worst_miss_gap",             \
    .demand = "settled", .where = "model=head ball=qk.two-one=16,v* settle>=0.001",                \
    .rival = {"no balls of values and read-out",                                                   \
              .where = "model=head ball=qk.two-one=16,cls* settle>=0.001"}
/* Cells they choose. */
#define AT_16(model, target) "model=" model " target=" target " dim=16 keys=16 ball=none|"
#define REFINED(tokens, ratio)                                                                     \
    "tokens=" tokens " parity=0 method=refine noise=0 samples-ratio" ratio                         \
    " length>=4 degenerate=no|"
#define PARITIES "parity!=0 dim-ratio=2 method=refine samples-ratio=10"
#define FIRST_KEY                                                                                  \
    {                                                                                              \
        "the first key alone, a target that depends on the order of the keys",                     \
            .where = AT_16("rfa", "first-power:1"), .versus = AT_16("rfmlp", "first-power:1")      \
    }

static const wt_claim_part parts[] = {
    {.claim = "1.1",
     .name = "in n",
     .effect =
         "exponent of n in the test error of rfa on averages of degree 2 in 8 dimensions, from "
         "n = 128 on",
     .boundary = -0.5,
     .reason = "the bound falls like n^-1/2",
     .measure = &wt_effect_exponent,
     CURVES,
     .where = "model=rfa target=mean-power:2 dim=8 keys=8 n>=128 ball=none|",
     .x = "n",
     .rival = {"rfmlp on the same, which the bound does not hold for",
               .where = "model=rfmlp target=mean-power:2 dim=8 keys=8 n>=128 ball=none|"}},
    {.claim = "1.1",
     .name = "in n, in the ball",
     .effect = "the same for the estimator of the theorem, least squares in norm balls",
     .boundary = -0.5,
     .reason = "the bound falls like n^-1/2",
     .measure = &wt_effect_exponent,
     CURVES,
     .where = "model=rfa target=mean-power:2 dim=8 keys=8 n>=128 ball!=none|",
     .x = "n",
     .rival = {"a target that depends on the order of the keys, in the same balls",
               .where = "model=rfa target=first-power:2 dim=8 keys=8 n>=128 ball!=none|"}},
    {.claim = "1.1",
     .name = "in N",
     .effect =
         "exponent of N in the samples that rfa needs to learn all but 30% of the variance of "
         "averages of degree 2",
     .boundary = 0.5,
     .reason = "the bound has no N, and sqrt(N) is what an estimator that counts inputs has",
     .measure = &wt_effect_reach,
     CURVES,
     .where = "model=rfa target=mean-power:2 dim=4 keys>=2 ball=none|",
     .x = "keys",
     .size = "n",
     .level = 0.3,
     .rival = {"rfmlp on the same",
               .where = "model=rfmlp target=mean-power:2 dim=4 keys=1|2|4 ball=none|"}},
    {.claim = "1.2",
     .name = "averages",
     .effect = "log of the test error of rfa over that of rfmlp on averages, on the same draws, at "
               "the largest n",
     .reason = "equal errors",
     RATIO,
     .where = AT_16("rfa", "mean-power:*"),
     .versus = AT_16("rfmlp", "mean-power:*"),
     .rival = FIRST_KEY},
    {.claim = "1.2",
     .name = "correlations",
     .effect = "the same on correlations with the query",
     .reason = "equal errors",
     RATIO,
     .where = AT_16("rfa", "corr-power:*"),
     .versus = AT_16("rfmlp", "corr-power:*"),
     .rival = FIRST_KEY},
    {.claim = "1.3",
     .name = "correlations",
     .effect = "log of the test error of brfa over that of rfa on correlations with the query, on "
               "the same draws, at the largest n",
     .reason = "equal errors",
     RATIO,
     .where = AT_16("brfa", "corr-power:*"),
     .versus = AT_16("rfa", "corr-power:*"),
     .rival = {"averages", .where = AT_16("brfa", "mean-power:*"),
               .versus = AT_16("rfa", "mean-power:*")}},
    {.claim = "1.3",
     .name = "averages",
     .effect = "the same on averages",
     .above = true,
     .reason = "equal errors",
     RATIO,
     .where = AT_16("brfa", "mean-power:*"),
     .versus = AT_16("rfa", "mean-power:*"),
     .rival = {"correlations with the query", .where = AT_16("brfa", "corr-power:*"),
               .versus = AT_16("rfa", "corr-power:*")}},
    {.claim = "1.4",
     .name = "degree",
     .effect = "log of the test error of rfa on averages of degree 4 over that on degree 2, on the "
               "same tokens, at the largest n",
     .boundary = 0.1,
     .above = true,
     .reason = "a tenth more error, so that two that learn nothing are no case of it",
     RATIO,
     .where = AT_16("rfa", "mean-power:4"),
     .versus = AT_16("rfa", "mean-power:2"),
     .rival = {"rfmlp, which learns neither", .where = AT_16("rfmlp", "mean-power:4"),
               .versus = AT_16("rfmlp", "mean-power:2")}},
    {.claim = "1.4",
     .name = "dimension",
     .effect = "exponent of d in the test error of rfa on averages of degree 2, at equal n",
     .boundary = HALF_WAY,
     .above = true,
     .reason = "half way between no dependence on d and sqrt(d)",
     .measure = &wt_effect_exponent,
     CURVES,
     .where = "model=rfa target=mean-power:2 keys=16 n>=512 ball=none|",
     .x = "dim",
     .apart = "width",
     .rival = {"rfmlp, which learns nothing in any dimension",
               .where = "model=rfmlp target=mean-power:2 keys=16 n>=512 ball=none|"}},
    {.claim = "2.1",
     .effect = "share of repetitions in which refine finds the random layers of all settings "
               "exactly, from Boolean tokens and 5 N_min examples or more",
     LEARNER,
     .where = REFINED("boolean", ">=5"),
     .y = "success",
     .rival = {"fewer examples than there are unknowns", .where = REFINED("boolean", "=0.8")}},
    {.claim = "2.2",
     .effect = "share of repetitions in which refine finds the random layers of all settings "
               "exactly, from Gaussian tokens and 5 N_min examples or more",
     LEARNER,
     .where = REFINED("gaussian", ">=5"),
     .y = "success",
     .rival = {"fewer examples than there are unknowns", .where = REFINED("gaussian", "=0.8")}},
    {.claim = "2.3",
     .effect = "the p at which the log of the cost of refine, in counted operations a layer found, "
               "is affine in m^p, on parities of m bits among 2m, from 10 N_min examples",
     .boundary = 0.5,
     .above = true,
     .reason = "half way between a power law (p = 0, log m) and exponential growth (p = 1)",
     .measure = &wt_effect_growth,
     .experiment = "recover",
     .where = PARITIES,
     .x = "parity",
     .y = "flops",
     .found = "recovered",
     .attempts = "starts",
     .apart = "heads",
     .rival = {"random layers of m heads, which are not hard",
               .where = "tokens=boolean parity=0 method=refine noise=0 samples-ratio=5 dim=8 "
                        "degenerate=no|",
               .x = "heads"}},
    {.claim = "2.4",
     .name = "non-degenerate",
     .effect =
         "share of repetitions in which sculpt finds two heads, without any random start, from 100 "
         "N_min examples with Gaussian tokens",
     LEARNER,
     .where =
         "method=sculpt heads=2 length=2 dim=6 samples-ratio=100 tokens=gaussian degenerate=no|",
     .y = "sculpted",
     .rival = {"heads whose W sum to zero, which the assumptions rule out",
               .where = "method=sculpt heads=2 length=2 dim=6 samples-ratio=100 tokens=gaussian "
                        "degenerate=zero-sum"}},
    {.claim = "2.4",
     .name = "cost in d",
     .effect =
         "exponent of d in the counted operations with which sculpt finds two heads, from 100 "
         "N_min examples",
     .boundary = 8,
     .reason = "the fourth power of the d^2 unknowns of a head",
     .measure = &wt_effect_exponent,
     .experiment = "recover",
     .where = "method=sculpt heads=2 length=2 samples-ratio=100 tokens=gaussian degenerate=no|",
     .x = "dim",
     .y = "flops",
     .apart = "heads out-dim",
     .rival = {"refine on parities of m bits among 2m, in m", .where = PARITIES, .x = "parity"}},
    {.claim = "2.4",
     .name = "cost in k",
     .effect = "exponent of the length k in the counted operations that sculpt spends on one head, "
               "from as many sequences",
     .boundary = 4,
     .reason = "what it would cost to look at all pairs of pairs of tokens",
     .measure = &wt_effect_exponent,
     .experiment = "recover",
     .where = "method=sculpt heads=1 dim=6 samples-ratio>=100 tokens=gaussian degenerate=no|",
     .x = "length",
     .y = "flops",
     .apart = "heads samples-ratio",
     .rival = {"refine on parities of m bits among 2m, in m", .where = PARITIES, .x = "parity"}},
    {.claim = "2.4",
     .name = "examples in m",
     .effect =
         "exponent of m in the examples over N_min with which sculpt finds four layers of five",
     .boundary = 2,
     .above = true,
     .reason = "N_min counts unknowns, and so m, already: its cube in all",
     .measure = &wt_effect_threshold_slope,
     .experiment = "recover",
     .where = "method=sculpt dim=6 length=2 samples-ratio!=100 tokens=gaussian degenerate=no|",
     .x = "heads",
     .size = "samples-ratio",
     .y = "sculpted",
     .rival = {"refine, which needs a few times N_min at any m",
               .where =
                   "method=refine dim=6 length=2 parity=0 tokens=gaussian noise=0 degenerate=no|",
               .y = "success"}},
    {.claim = "2.5",
     .effect =
         "share of repetitions in which query finds the random layers of all settings exactly",
     LEARNER,
     .where = "method=query parity=0 noise=0 degenerate=no|",
     .y = "success",
     .rival = {"answers with a noise of one part in a million",
               .where = "method=query parity=0 noise!=0 degenerate=no|"}},
    {.claim = "3.1",
     .name = "promise",
     .effect = "share of repetitions in which all constructed heads keep the promise with their "
               "worst error",
     .boundary = 0.9,
     .above = true,
     .reason = "a promise may not fail; 0.9 is what some forty trials can show",
     .measure = &wt_effect_rate,
     .experiment = "construct",
     .where = "fixed-length=0|",
     .y = "kept",
     .rival = {"the weights that 64 bits need, at every T", .where = "fixed-length=64"}},
    {.claim = "3.1",
     .name = "growth",
     .effect = "the p at which the least strength of the query-key weights that keeps the promise, "
               "found on the built head, is affine in T^p",
     .boundary = HALF_WAY,
     .reason = "half way between log T (p = 0) and sqrt(T) (p = 1/2)",
     .measure = &wt_effect_mean_growth,
     .experiment = "construct",
     .where = "fixed-length=0|",
     .x = "length",
     .y = "least_strength",
     .apart = "position-dim",
     .rival = {"weights 1 + s in place of exp(s) for a score s", .y = "least_linear"}},
    {.claim = "3.2",
     .name = "in m",
     .effect = "exponent of m in the mean over training sets of the worst gap of heads in norm "
               "balls, over two starts or more that all settled",
     .boundary = -HALF_WAY,
     .reason = "half way between no fall and m^-1/2",
     .x = "m",
     GAP},
    {.claim = "3.2",
     .name = "in T",
     .effect = "exponent of T in the same gap",
     .boundary = HALF_WAY,
     .reason = "half way between logarithmic growth (0) and sqrt(T), where capacity counts inputs",
     .x = "length",
     GAP},
    {.claim = "3.3",
     .effect = "the p at which the critical m is affine in T^p",
     .boundary = HALF_WAY,
     .reason = "half way between log T (p = 0) and sqrt(T) (p = 1/2)",
     .measure = &wt_effect_threshold,
     .experiment = "threshold",
     .where = "model=transformer task=and:3",
     .x = "length",
     .size = "m",
     .y = "success",
     .rival = {"a multi-layer perceptron, which has no attention",
               .where = "model=mlp task=and:3"}},
    {.claim = "3.4",
     .effect = "log of the steps the loss takes to fall from 90% to 10% of ln 2 over the steps "
               "before",
     .reason = "a fall as long as the plateau",
     .measure = &wt_effect_mean,
     .experiment = "train",
     .where = "model=transformer task=parity:* online!=0",
     .y = "fall_over_plateau",
     .rival = {"a sparse AND, trained alike", .where = "model=transformer task=and:* online!=0"}},
};

const wt_claim_part *wt_claim_part_at(size_t index) {
    return index < sizeof parts / sizeof *parts ? &parts[index] : NULL;
}
