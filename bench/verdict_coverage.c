/* How often intervals hold the truth, and how often a verdict is reached: a CSV line a case.
 * usage: verdict_coverage PART|all SETS SEED [THREADS]
 *   scripts/verdict-coverage builds the arguments. A part is a function in the table at the end: it
 *   makes one data set of one of its cases from a stream of random numbers, and an interval. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "lab/claims.h"
#include "lab/statistics_fit.h"
#include "lab/statistics_threshold.h"
#include "wattle/random.h"
#include "wattle/wattle.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define RATE         0.8 /* of the critical m */

/* One data set: what is true, what was found. */
typedef struct {
    char law[48], design[80];
    size_t trials;       /* or repetitions */
    double truth, scale; /* lengths are told over the scale; 0 = 1 */
    double boundary;     /* of the verdict; NaN = none */
    wt_interval found;
} outcome;

/* Makes a data set of a case; false when there are no more cases. */
typedef bool simulate(wt_context *context, size_t which, wt_stream stream, outcome *out);

static void must(wt_context *context, wt_status status) {
    if (status != WT_OK) {
        fprintf(stderr, "verdict_coverage: %s\n", wt_context_message(context));
        exit(70);
    }
}

/* ---- laws of success --------------------------------------------------------------------------
 */

typedef enum { LOGIT, PROBIT, CLOGLOG, LOGLOG, RAMP, BENT, MIXED } link_name;

/* Success by F(x), x of about the scale of a logit, but for a part of the trials that fail at any
 * m. */
typedef struct {
    const char *name;
    link_name link;
    double lapse;
} law;

static double success(link_name link, double x) {
    switch (link) {
    case LOGIT:
        return 1 / (1 + exp(-x));
    case PROBIT:
        return erfc(-x / 1.7 / sqrt(2)) / 2;
    case CLOGLOG:
        return -expm1(-exp(x / 1.3));
    case LOGLOG:
        return exp(-exp(-x / 1.3));
    case RAMP:
        return fmax(0, fmin(1, 0.5 + x / 5));
    case BENT: /* neither this nor the next is of the fitted family */
        return (success(RAMP, x) + success(CLOGLOG, x)) / 2;
    default: /* half of the tasks are steep */
        return (success(LOGIT, x) + success(LOGIT, 3 * x)) / 2;
    }
}

/* The x at which F is `chance`. */
static double place_of(link_name link, double chance) {
    double low = -20, high = 20;
    for (int i = 0; i < 60; i++)
        *(success(link, (low + high) / 2) < chance ? &low : &high) = (low + high) / 2;
    return low;
}

/* Trials of a law of this steepness that is RATE at `critical`, from place *at of the stream on. */
static void draw_trials(const law *of, double steepness, double critical, size_t trials,
                        wt_stream stream, uint64_t *at, wt_trials *points, size_t count) {
    double centre = place_of(of->link, RATE / (1 - of->lapse)), uniform[64];
    for (size_t i = 0; i < count; i++) {
        double x = centre + steepness * log(points[i].m / critical);
        double chance = (1 - of->lapse) * success(of->link, x);
        points[i].count = trials;
        points[i].successes = 0;
        wt_random_uniform(stream, *at, trials, uniform);
        for (size_t t = 0; t < trials; t++)
            points[i].successes += uniform[t] < chance;
        *at += trials;
    }
}

/* The m of a grid; returns how many. */
enum { MOST_POINTS = 40 };
static size_t set_points(const double *m, wt_trials *out) {
    size_t count = 0;
    for (; m[count] > 0; count++)
        out[count] = (wt_trials){.m = m[count]};
    return count;
}

static const double by_tens[] = {20,  30,  40,  50,  60,  70,  80,  90,  100, 110,
                                 120, 130, 140, 150, 160, 170, 180, 190, 200, 0};
static const double by_quarters[] = {15, 19, 23, 29, 37, 46, 57, 72, 89, 112, 140, 175, 0};
static const double quick_sizes[] = {15, 20, 25, 30, 40, 50, 65, 80, 0};

/* ---- critical: the interval of a critical m ---------------------------------------------------
 *
 * The truth lies anywhere in the middle of the grid, evenly in log m. */

static bool critical(wt_context *context, size_t which, wt_stream stream, outcome *out) {
    static const law laws[] = {{"logistic", LOGIT, 0},
                               {"probit", PROBIT, 0},
                               {"cloglog", CLOGLOG, 0},
                               {"loglog", LOGLOG, 0},
                               {"ramp", RAMP, 0},
                               {"bent", BENT, 0},
                               {"mixed", MIXED, 0},
                               {"logistic to 95%", LOGIT, 0.05},
                               {"logistic to 90%", LOGIT, 0.1},
                               {"cloglog to 95%", CLOGLOG, 0.05}};
    static const double steepnesses[] = {4, 7, 10, 30};
    static const struct {
        const char *name;
        const double *m;
        double low, high;
        size_t trials;
    } designs[] = {{"m 20:200:10", by_tens, 45, 120, 10},
                   {"m 20:200:10", by_tens, 45, 120, 40},
                   {"m 15:175:x1.25", by_quarters, 28, 90, 20},
                   {"m 15:175:x1.25", by_quarters, 28, 90, 40},
                   {"m 15..80", quick_sizes, 28, 60, 10}};
    enum { LAWS = COUNT(laws), STEEPNESSES = COUNT(steepnesses), DESIGNS = COUNT(designs) };
    if (which >= (size_t)LAWS * STEEPNESSES * DESIGNS)
        return false;
    size_t d = which / LAWS / STEEPNESSES, l = which / STEEPNESSES % LAWS, s = which % STEEPNESSES;
    wt_trials points[MOST_POINTS];
    size_t count = set_points(designs[d].m, points);
    double uniform;
    uint64_t at = 1;
    wt_random_uniform(stream, 0, 1, &uniform);
    double truth = designs[d].low * pow(designs[d].high / designs[d].low, uniform);
    draw_trials(&laws[l], steepnesses[s], truth, designs[d].trials, stream, &at, points, count);
    *out = (outcome){.trials = designs[d].trials, .truth = truth, .scale = truth, .boundary = NAN};
    snprintf(out->law, sizeof out->law, "%s steepness %g", laws[l].name, steepnesses[s]);
    snprintf(out->design, sizeof out->design, "%s", designs[d].name);
    must(context, wt_threshold_fit(context, points, count, RATE, &out->found, NULL));
    return true;
}

/* ---- growth: the exponent of critical m, and the verdict of 3.3 -------------------------------
 *
 * m(T) through two points by a law: log T (T^0), T^1/4 at the boundary, sqrt T. */

enum { MOST_LENGTHS = 24 };

/* T, and the grid of m for short ones and from a T on. */
typedef struct {
    const char *name;
    const double *lengths, *m, *m_long;
    double long_from;
} growth_design;

static const double quick_lengths[] = {25, 50, 100, 200, 0};
static const double eights[] = {8, 16, 32, 64, 128, 256, 0};
static const double doubled[] = {25, 50, 100, 200, 400, 800, 1600, 0};
static const double published[] = {100, 150, 200, 250, 300, 350, 400,  450,  500, 550,
                                   600, 650, 700, 750, 800, 900, 1000, 1100, 0};
static const double short_sizes[] = {8, 10, 13, 16, 20, 25, 31, 39, 49, 61, 76, 95, 0};
static const double long_sizes[] = {25, 31, 39, 49, 61, 76, 95, 119, 149, 186, 0};
static const double all_sizes[] = {8, 10, 13, 16, 20, 25, 31, 39, 49, 61, 76, 95, 119, 149, 186, 0};

static const growth_design few = {"T 25:200:x2; m 15..80", quick_lengths, quick_sizes, NULL, 0};
static const growth_design wider = {"T 8:256:x2; m 8:95:x1.25", eights, short_sizes, NULL, 0};
static const growth_design as_published = {"T 100:800:50 900:1100:100; m 20:200:10", published,
                                           by_tens, NULL, 0};
static const growth_design wide = {"T 25:1600:x2; m 8:186:x1.25", doubled, all_sizes, NULL, 0};
static const growth_design in_two = {"T 25:1600:x2; m 8:95:x1.25; from T 200 m 25:186:x1.25",
                                     doubled, short_sizes, long_sizes, 200};

/* What the laws of growth go through: T and m of quick trials, of the published points, and of
 * trials with the published recipe. */
typedef struct {
    double first[2], last[2];
} anchors;
static const anchors quick_points = {{25, 34}, {200, 64}};
static const anchors published_points = {{100, 48}, {1100, 114}};
static const anchors our_points = {{25, 17}, {1600, 93}};

static const law usual = {"logistic to 97%", LOGIT, 0.03};
static const law lossy = {"logistic to 90%", LOGIT, 0.1};
static const law skewed = {"cloglog", CLOGLOG, 0};

static bool growth(wt_context *context, size_t which, wt_stream stream, outcome *out) {
    static const struct {
        const growth_design *design;
        const anchors *through;
        size_t trials;
        const law *success;
        double steepness;
    } cases[] = {
        {&few, &quick_points, 10, &usual, 6},   {&wider, &quick_points, 10, &usual, 6},
        {&wider, &quick_points, 40, &usual, 6}, {&as_published, &published_points, 40, &usual, 6},
        {&wide, &our_points, 40, &usual, 6},    {&in_two, &our_points, 25, &usual, 6},
        {&in_two, &our_points, 40, &usual, 6},  {&in_two, &our_points, 40, &lossy, 4},
        {&in_two, &our_points, 40, &skewed, 10}};
    static const double exponents[] = {0, 0.25, 0.5};
    if (which >= COUNT(cases) * COUNT(exponents))
        return false;
    size_t c = which / COUNT(exponents), count = 0;
    const growth_design *of = cases[c].design;
    const double *first = cases[c].through->first, *last = cases[c].through->last;
    wt_critical sizes[MOST_LENGTHS];
    uint64_t at = 0;
    double p = exponents[which % COUNT(exponents)], length = log(last[0] / first[0]);
    *out = (outcome){.trials = cases[c].trials, .truth = p, .boundary = 0.25};
    for (; of->lengths[count] > 0; count++) {
        double here = log(of->lengths[count] / first[0]);
        double share = p == 0 ? here / length : expm1(p * here) / expm1(p * length);
        double m = first[1] + (last[1] - first[1]) * share;
        bool is_long = of->m_long != NULL && of->lengths[count] >= of->long_from;
        wt_trials points[MOST_POINTS];
        size_t grid = set_points(is_long ? of->m_long : of->m, points);
        draw_trials(cases[c].success, cases[c].steepness, m, cases[c].trials, stream, &at, points,
                    grid);
        must(context,
             wt_critical_fit(context, of->lengths[count], points, grid, RATE, &sizes[count]));
    }
    must(context, wt_critical_growth(context, sizes, count, &out->found));
    snprintf(out->law, sizeof out->law, "T^%g; %s steepness %g", p, cases[c].success->name,
             cases[c].steepness);
    snprintf(out->design, sizeof out->design, "%s", of->name);
    return true;
}

/* ---- repetitions ------------------------------------------------------------------------------
 */

/* Log ratios, exponents and means over repetitions: one standard deviation from the boundary, with
 * errors that are normal or have one long tail. */
static bool student(wt_context *context, size_t which, wt_stream stream, outcome *out) {
    static const size_t repetitions[] = {4, 5, 10, 20};
    double values[20];
    (void)context;
    if (which >= 2 * COUNT(repetitions))
        return false;
    bool tail = which >= COUNT(repetitions);
    size_t count = repetitions[which % COUNT(repetitions)];
    wt_random_normal(stream, 0, count, values);
    for (size_t i = 0; i < count; i++) /* exp(z) has mean exp(1/2), deviation 2.16 */
        values[i] = (tail ? (exp(values[i]) - exp(0.5)) / 2.161 : values[i]) - 1;
    *out = (outcome){
        .trials = count, .truth = -1, .boundary = 0, .found = wt_mean_interval(values, count)};
    snprintf(out->law, sizeof out->law, tail ? "lognormal" : "normal");
    snprintf(out->design, sizeof out->design, "one deviation below the boundary");
    return true;
}

static bool rate(wt_context *context, size_t which, wt_stream stream, outcome *out) {
    static const double rates[] = {1, 0.99, 0.97, 0.9, 0.8};
    static const size_t trials[] = {40, 100};
    double uniform[100];
    size_t successes = 0;
    (void)context;
    if (which >= COUNT(rates) * COUNT(trials))
        return false;
    double truth = rates[which % COUNT(rates)];
    size_t count = trials[which / COUNT(rates)];
    wt_random_uniform(stream, 0, count, uniform);
    for (size_t i = 0; i < count; i++)
        successes += uniform[i] < truth;
    *out = (outcome){.trials = count,
                     .truth = truth,
                     .boundary = 0.9,
                     .found = wt_rate_interval(successes, count)};
    snprintf(out->law, sizeof out->law, "rate %g", truth);
    snprintf(out->design, sizeof out->design, "Clopper and Pearson");
    return true;
}

/* ---- claims on cells --------------------------------------------------------------------------
 */

static const wt_claim_part *part_of(const char *claim, const char *name) {
    const wt_claim_part *part;
    for (size_t i = 0; (part = wt_claim_part_at(i)) != NULL; i++)
        if (strcmp(part->claim, claim) == 0 &&
            (name == NULL || (part->name != NULL && strcmp(part->name, name) == 0)))
            return part;
    fprintf(stderr, "verdict_coverage: there is no claim %s\n", claim);
    exit(70);
}

static void add_cell(wt_context *context, wt_results *results, const char *experiment,
                     const char *parameters, const char *metrics) {
    char hash[WT_HASH_TEXT];
    snprintf(hash, sizeof hash, "%064zx", results->done.count);
    wt_record record = {.hash = hash,
                        .experiment = experiment,
                        .parameters = parameters,
                        .seed = WT_EXPLORING_SEEDS,
                        .result_version = 1,
                        .message = "",
                        .metrics = metrics,
                        .version = "",
                        .machine = "",
                        .finished_date = ""};
    must(context, wt_results_add(context, results, &record));
}

static wt_interval measure(wt_context *context, wt_results *results, const wt_claim_part *part) {
    wt_evidence evidence;
    must(context, wt_part_measure(context, results, part, &evidence));
    wt_results_clear(results);
    return evidence.effect;
}

/* Exponents of mean gaps, 3.2: errors of a fifth of a gap, as worst gaps of one training set have
 * about. */
static bool gaps(wt_context *context, size_t which, wt_stream stream, outcome *out) {
    static const double exponents[] = {-0.5, -0.25, 0};
    static const size_t repetitions[] = {3, 6, 10, 20};
    double normal[20 * 4];
    if (which >= COUNT(exponents) * COUNT(repetitions))
        return false;
    double truth = exponents[which % COUNT(exponents)];
    size_t reps = repetitions[which / COUNT(exponents)];
    wt_results results = {0};
    wt_random_normal(stream, 0, 4 * reps, normal);
    for (size_t i = 0; i < 4 * reps; i++) {
        char parameters[160], metrics[80];
        int m = 25 << i % 4;
        snprintf(parameters, sizeof parameters,
                 "{\"ball\":\"qk.two-one=16,v\",\"m\":%d,\"model\":\"head\",\"rep\":%zu,"
                 "\"settle\":0.02}",
                 m, i / 4);
        snprintf(metrics, sizeof metrics, "{\"settled\":1,\"worst_miss_gap\":%.17g}",
                 pow(m, truth) * (1 + 0.2 * normal[i]));
        add_cell(context, &results, "train", parameters, metrics);
    }
    const wt_claim_part *part = part_of("3.2", "in m");
    *out = (outcome){.trials = reps,
                     .truth = truth,
                     .boundary = part->boundary,
                     .found = measure(context, &results, part)};
    snprintf(out->law, sizeof out->law, "m^%g", truth);
    snprintf(out->design, sizeof out->design, "m = 25:200:x2, errors of 20%%");
    return true;
}

/* Costs with runs that are given up, 2.3: chances of an attempt fall like factor^-(m-1) or
 * m^-power, and differ between runs by a factor of e^(+-0.5), as data sets do; prices grow like
 * m^2. */
static bool costs(wt_context *context, size_t which, wt_stream stream, outcome *out) {
    static const struct {
        const char *law;
        bool exponential;
        double base, price; /* that grows like m^price */
    } laws[] = {{"cost 4^m", true, 4, 0},
                {"cost 8^m", true, 8, 0},
                {"cost m^2 8^m", true, 8, 2},
                {"cost m^4", false, 2, 2}};
    static const struct {
        int bits;
        size_t runs;
    } designs[] = {{3, 15}, {4, 20}, {5, 20}};
    enum { MOST = 100 };
    double normal[20], uniform[20], x[5], y[5];
    if (which >= COUNT(laws) * COUNT(designs))
        return false;
    size_t kind = which % COUNT(laws), design = which / COUNT(laws), runs = designs[design].runs;
    wt_results results = {0};
    for (int m = 1; m <= designs[design].bits; m++) {
        double fall =
            laws[kind].exponential ? (m - 1) * log(laws[kind].base) : laws[kind].base * log(m);
        x[m - 1] = m;
        y[m - 1] = laws[kind].price * log(m) + fall;
        wt_random_normal(stream, (uint64_t)m * 1000, runs, normal);
        wt_random_uniform(stream, (uint64_t)m * 1000 + 500, runs, uniform);
        for (size_t run = 0; run < runs; run++) {
            double chance = fmin(1, exp(-fall + (m > 1 ? 0.5 * normal[run] : 0)));
            double needed = chance == 1 ? 1 : floor(log(1 - uniform[run]) / log1p(-chance)) + 1;
            bool found = needed <= MOST;
            char parameters[200], metrics[128];
            snprintf(parameters, sizeof parameters,
                     "{\"dim-ratio\":2,\"heads\":%d,\"method\":\"refine\",\"parity\":%d,\"rep\":%"
                     "zu,\"samples-ratio\":10}",
                     m, m, run);
            snprintf(metrics, sizeof metrics, "{\"flops\":%.17g,\"recovered\":%d,\"starts\":%.0f}",
                     pow(m, laws[kind].price) * fmin(needed, MOST) * (1 + 0.1 * normal[run]), found,
                     fmin(needed, MOST));
            add_cell(context, &results, "recover", parameters, metrics);
        }
    }
    const wt_claim_part *part = part_of("2.3", NULL);
    *out = (outcome){.trials = runs,
                     .truth = wt_growth_exponent(x, y, (size_t)designs[design].bits),
                     .boundary = part->boundary,
                     .found = measure(context, &results, part)};
    snprintf(out->law, sizeof out->law, "%s", laws[kind].law);
    snprintf(out->design, sizeof out->design, "m = 1:%d, at most 100 starts", designs[design].bits);
    return true;
}

/* Samples to reach a level, 1.1 in N: curves that fall like n^-1.5 with errors of 10% a point. */
static bool reach(wt_context *context, size_t which, wt_stream stream, outcome *out) {
    static const double exponents[] = {0, 0.5, 1};
    static const size_t repetitions[] = {5, 10, 20};
    enum { KEYS = 4, SIZES = 6 };
    double normal[20 * KEYS * SIZES], own[20];
    if (which >= COUNT(exponents) * COUNT(repetitions))
        return false;
    double truth = exponents[which % COUNT(exponents)];
    size_t reps = repetitions[which / COUNT(exponents)], at = 0;
    wt_results results = {0};
    wt_random_normal(stream, 0, reps * KEYS * SIZES, normal);
    wt_random_normal(stream, 100000, reps, own);
    for (size_t rep = 0; rep < reps; rep++)
        for (int key = 0; key < KEYS; key++)
            for (int size = 0; size < SIZES; size++, at++) {
                char parameters[160], metrics[64];
                double keys = 2 << key, n = 16 << size;
                double needed = 60 * exp(0.2 * own[rep]) * pow(keys / 6, truth);
                snprintf(parameters, sizeof parameters,
                         "{\"dim\":4,\"keys\":%g,\"model\":\"rfa\",\"n\":%g,\"rep\":%zu,"
                         "\"target\":\"mean-power:2\"}",
                         keys, n, rep);
                snprintf(metrics, sizeof metrics, "{\"test_error\":%.17g}",
                         0.3 * pow(needed / n, 1.5) * exp(0.1 * normal[at]));
                add_cell(context, &results, "curve", parameters, metrics);
            }
    const wt_claim_part *part = part_of("1.1", "in N");
    *out = (outcome){.trials = reps,
                     .truth = truth,
                     .boundary = part->boundary,
                     .found = measure(context, &results, part)};
    snprintf(out->law, sizeof out->law, "samples N^%g", truth);
    snprintf(out->design, sizeof out->design, "N = 2:16:x2, n = 16:512:x2");
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    simulate *make;
} parts[] = {{"student", student}, {"rate", rate},         {"gaps", gaps},    {"costs", costs},
             {"reach", reach},     {"critical", critical}, {"growth", growth}};

typedef struct {
    wt_context *context;
    size_t part, which;
    uint64_t seed;
    outcome *outcomes;
} job;

static wt_status some(void *argument, size_t begin, size_t end, int worker) {
    job *work = argument;
    (void)worker;
    uint64_t seed = wt_seed_for(work->seed, parts[work->part].name, work->which);
    for (size_t set = begin; set < end; set++)
        parts[work->part].make(work->context, work->which, wt_stream_for(seed, "set", set),
                               &work->outcomes[set]);
    return WT_OK;
}

static int ascending(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static void tell(const char *part, const outcome *outcomes, size_t sets, double *lengths) {
    size_t low = 0, high = 0, below = 0, above = 0;
    for (size_t set = 0; set < sets; set++) {
        const outcome *of = &outcomes[set];
        low += of->truth > of->found.high;
        high += of->truth < of->found.low;
        below += of->found.high < of->boundary;
        above += of->found.low > of->boundary;
        double length = (of->found.high - of->found.low) / (of->scale > 0 ? of->scale : 1);
        lengths[set] = isnan(length) ? INFINITY : length;
    }
    qsort(lengths, sets, sizeof *lengths, ascending);
    double all = (double)sets;
    printf("%s,\"%s\",\"%s\",%zu,%zu,%.4g,%.4g,%.4g,%.3g,", part, outcomes->law, outcomes->design,
           outcomes->trials, sets, 1 - (double)(low + high) / all, (double)low / all,
           (double)high / all, lengths[sets / 2]);
    if (!isnan(outcomes->boundary))
        printf("%g,%.4g,%.4g\n", outcomes->boundary, (double)below / all, (double)above / all);
    else
        puts(",,");
    fflush(stdout);
}

int main(int argc, char **argv) {
    wt_context *context;
    if (argc < 4 || wt_context_new(&context) != WT_OK) {
        fprintf(stderr, "usage: verdict_coverage PART|all SETS SEED [THREADS]\n");
        return 64;
    }
    size_t sets = strtoul(argv[2], NULL, 10), ran = 0;
    if (sets == 0) {
        fprintf(stderr, "verdict_coverage: SETS must be 1 or more, not %s\n", argv[2]);
        return 64;
    }
    outcome *outcomes = NULL, spare;
    double *lengths = NULL;
    must(context, WT_NEW(context, &outcomes, sets, "outcomes"));
    must(context, WT_NEW(context, &lengths, sets, "lengths"));
    if (argc > 4)
        must(context, wt_context_set_threads(context, atoi(argv[4])));
    printf("part,law,design,trials,sets,coverage,too_low,too_high,median_length,boundary,"
           "below,above\n");
    for (size_t part = 0; part < COUNT(parts); part++) {
        if (strcmp(argv[1], "all") != 0 && strcmp(argv[1], parts[part].name) != 0)
            continue;
        wt_stream none = wt_stream_for(0, "case", 0);
        job work = {context, part, 0, strtoull(argv[3], NULL, 10), outcomes};
        for (; parts[part].make(context, work.which, none, &spare); work.which++, ran++) {
            must(context, wt_parallel_for(context, sets, 1, some, &work));
            tell(parts[part].name, outcomes, sets, lengths);
        }
    }
    wt_release(outcomes);
    wt_release(lengths);
    wt_context_free(context);
    if (ran == 0) {
        fprintf(stderr, "verdict_coverage: there is no part \"%s\"\n", argv[1]);
        return 64;
    }
    return 0;
}
