/* Claims: what cells fit, what lines they make, what each effect measures on cells with known
 * answers, and the rule of verdicts. */
#include "lab/claims.h"

#include "base/memory.h"
#include "check.h"

static wt_results results;
static size_t serial;

static int close_all(void **state) {
    wt_results_free(&results);
    return check_close(state);
}

static int start_fresh(void **state) {
    (void)state;
    wt_results_free(&results);
    return 0;
}

static void add(wt_context *context, const char *experiment, const char *parameters,
                const char *metrics) {
    char hash[WT_HASH_TEXT];
    snprintf(hash, sizeof hash, "%064zx", serial++);
    wt_record record = {.hash = hash,
                        .experiment = experiment,
                        .parameters = parameters,
                        .seed = 9,
                        .result_version = 1,
                        .message = "",
                        .metrics = metrics,
                        .version = "0.1.0",
                        .machine = "here",
                        .finished_date = "2026-01-31T12:00:00Z"};
    CHECK_OK(context, wt_results_add(context, &results, &record));
}

static void add_curve(wt_context *context, const char *model, const char *target, int keys, int n,
                      int rep, double error) {
    char parameters[256], metrics[64];
    snprintf(parameters, sizeof parameters,
             "{\"bias\":%d,\"dim\":8,\"keys\":%d,\"model\":\"%s\",\"n\":%d,\"rep\":%d,"
             "\"target\":\"%s\"}",
             strcmp(model, "brfa") == 0 ? 4 : 0, keys, model, n, rep, target);
    snprintf(metrics, sizeof metrics, "{\"test_error\":%.17g}", error);
    add(context, "curve", parameters, metrics);
}

static const wt_claim_part *part_of(const char *claim, const char *name) {
    const wt_claim_part *part;
    for (size_t i = 0; (part = wt_claim_part_at(i)) != NULL; i++)
        if (strcmp(part->claim, claim) == 0 &&
            (name == NULL || (part->name != NULL && strcmp(part->name, name) == 0)))
            return part;
    fail_msg("there is no claim %s", claim);
    return NULL;
}

static wt_evidence measure(wt_context *context, const char *claim, const char *name) {
    const wt_claim_part *part = part_of(claim, name);
    wt_evidence evidence;
    CHECK_OK(context, part->measure(context, &results, part, &evidence));
    return evidence;
}

static void cells_are_chosen_by_their_parameters(void **state) {
    add(*state, "curve", "{\"model\":\"rfa\",\"n\":16,\"target\":\"mean-power:2\"}", "{}");
    const wt_result *cell = &results.cells[0];
    static const char *const fitting[] = {
        NULL,    "",         "model=rfa", "model=rfa target=mean-power:*", "n=16", "model=brfa|rfa",
        "n!=17", "target=*", "width!=3"};
    static const char *const others[] = {"model=rf",      "model=rfa n=17", "n!=16",
                                         "target=corr:*", "width=3",        "model"};
    for (size_t i = 0; i < sizeof fitting / sizeof *fitting; i++)
        if (!wt_result_fits(cell, fitting[i]))
            fail_msg("'%s' does not fit", fitting[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (wt_result_fits(cell, others[i]))
            fail_msg("'%s' fits", others[i]);
}

static void bad_cells_are_told(void **state) {
    wt_record record = {.hash = "abc",
                        .experiment = "curve",
                        .parameters = "[1]",
                        .message = "",
                        .metrics = "{}",
                        .version = "",
                        .machine = "",
                        .finished_date = ""};
    CHECK_FAILS(*state, wt_results_add(*state, &results, &record), WT_DATA,
                "cell abc: the parameters are no JSON object");
    record.parameters = "{}";
    record.metrics = "{";
    CHECK_FAILS(*state, wt_results_add(*state, &results, &record), WT_DATA, "the metrics are no");
    assert_int_equal(results.count, 0);
}

/* Three n and two repetitions of one setting are a line; another setting with one n is none. */
static void cells_make_lines(void **state) {
    for (int rep = 1; rep >= 0; rep--)
        for (int n = 64; n >= 16; n /= 2)
            add_curve(*state, "rfa", "mean-power:2", 4, n, rep, 1.0 / n + rep);
    add_curve(*state, "rfa", "mean-power:2", 8, 16, 0, 1);
    wt_lines lines;
    wt_lines_query query = {.experiment = "curve", .x = "n", .y = "test_error"};
    CHECK_OK(*state, wt_lines_find(*state, &results, &query, &lines));
    assert_int_equal(lines.line_count, 1);
    assert_int_equal(lines.point_count, 6);
    assert_int_equal(lines.lines[0].different_x, 3);
    assert_string_equal(lines.lines[0].key,
                        "{\"bias\":0,\"dim\":8,\"keys\":4,\"model\":\"rfa\",\"target\":"
                        "\"mean-power:2\"}");
    for (size_t i = 0; i < 6; i++) {
        CHECK_NEAR(lines.points[i].x, 16 << (i / 2), 0);
        assert_int_equal(lines.points[i].rep, i % 2);
    }
    assert_non_null(wt_lines_at(&lines, lines.lines[0].key, 32, 9, 1));
    assert_null(wt_lines_at(&lines, lines.lines[0].key, 32, 8, 1));
    wt_lines_free(&lines);
}

/* error = (1 + rep)/4 n^-0.7 N^0.1: both exponents, whatever the factor. A first point above half
 * of the variance, off the line, is left out. */
static void exponents_are_found(void **state) {
    for (int rep = 0; rep < 3; rep++)
        for (int n = 16; n <= 256; n *= 2)
            for (int keys = 2; keys <= 8; keys *= 2)
                add_curve(*state, "rfa", "mean-power:2", keys, n, rep,
                          n == 16 ? 1 : 0.25 * (1 + rep) * pow(n, -0.7) * pow(keys, 0.1));
    wt_evidence evidence = measure(*state, "1.1", "in n");
    CHECK_NEAR(evidence.effect.value, -0.7, 1e-13);
    CHECK_NEAR(evidence.effect.high, -0.7, 1e-12);
    assert_int_equal(evidence.cells, 36);
    evidence = measure(*state, "1.1", "in N");
    CHECK_NEAR(evidence.effect.value, 0.1 * 4 / 5, 1e-13); /* of five n one has no N in it */
    assert_int_equal(wt_part_verdict(part_of("1.1", "in N"), &evidence), WT_REPRODUCED);
    assert_int_equal(measure(*state, "1.4", "dimension").cells, 0);
}

/* At the largest n that both have, paired by repetition and target. */
static void ratios_are_paired(void **state) {
    for (int rep = 0; rep < 4; rep++)
        for (int n = 16; n <= 64; n *= 2) {
            add_curve(*state, "rfa", "corr-power:3", 4, n, rep, 1 + rep);
            add_curve(*state, "brfa", "corr-power:3", 4, n, rep, (1 + rep) * (n == 64 ? 0.5 : 3));
        }
    add_curve(*state, "rfa", "corr-power:3", 4, 128, 0, 7); /* no partner */
    add_curve(*state, "rfa", "corr-power:2", 4, 64, 0, 7);  /* nor this */
    wt_evidence evidence = measure(*state, "1.3", "correlations");
    CHECK_NEAR(evidence.effect.value, log(0.5), 1e-13);
    CHECK_NEAR(evidence.effect.low, log(0.5), 1e-12);
    assert_int_equal(evidence.cells, 8);
    assert_int_equal(wt_part_verdict(part_of("1.3", "correlations"), &evidence), WT_REPRODUCED);
    assert_int_equal(measure(*state, "1.3", "averages").cells, 0);
}

/* Degree 4 over degree 2: here the target may differ. */
static void degrees_are_compared(void **state) {
    for (int rep = 0; rep < 3; rep++) {
        add_curve(*state, "rfa", "mean-power:2", 4, 64, rep, 0.1 * (1 + rep));
        add_curve(*state, "rfa", "mean-power:4", 4, 64, rep, 0.3 * (1 + rep));
    }
    wt_evidence evidence = measure(*state, "1.4", "degree");
    CHECK_NEAR(evidence.effect.value, log(3), 1e-13);
    assert_int_equal(evidence.cells, 6);
}

static void add_recover(wt_context *context, const char *tokens, int parity, int rep, int success,
                        double steps) {
    char parameters[256], metrics[64];
    snprintf(parameters, sizeof parameters,
             "{\"dim\":8,\"heads\":%d,\"method\":\"refine\",\"noise\":0,\"parity\":%d,\"rep\":%d,"
             "\"samples-ratio\":5,\"tokens\":\"%s\"}",
             parity > 0 ? parity : 2, parity, rep, tokens);
    snprintf(metrics, sizeof metrics, "{\"all_steps\":%.17g,\"success\":%d}", steps, success);
    add(context, "recover", parameters, metrics);
}

static void rates_are_counted(void **state) {
    for (int rep = 0; rep < 50; rep++)
        add_recover(*state, "boolean", 0, rep, rep > 0, 9);
    add_recover(*state, "gaussian", 0, 0, 0, 9);
    add_recover(*state, "boolean", 3, 0, 0, 9);
    wt_evidence evidence = measure(*state, "2.1", NULL);
    wt_interval rate = wt_rate_interval(49, 50);
    CHECK_NEAR(evidence.effect.value, 0.98, 1e-15);
    CHECK_NEAR(evidence.effect.low, rate.low, 0);
    assert_int_equal(evidence.cells, 50);
    /* 49 of 50 leaves 0.894 possible. */
    assert_int_equal(wt_part_verdict(part_of("2.1", NULL), &evidence), WT_UNDECIDED);
}

/* Cost 2^m and cost m^2, each give or take a factor that repetitions share evenly. */
static void growth_is_told_from_a_power_law(void **state) {
    for (int bits = 1; bits <= 6; bits++)
        for (int rep = 0; rep < 4; rep++)
            add_recover(*state, "boolean", bits, rep, 1,
                        pow(2, bits) * (1 + 0.01 * (rep % 2 == 0 ? rep : -rep)));
    wt_evidence evidence = measure(*state, "2.3", NULL);
    /* the factors are within 3%, the cost grows by 2^5 */
    CHECK_NEAR(evidence.effect.value, 1, 0.05);
    assert_true(evidence.effect.low > 0.8 && evidence.effect.high < 1.2);
    assert_int_equal(wt_part_verdict(part_of("2.3", NULL), &evidence), WT_REPRODUCED);
    start_fresh(state);
    for (int bits = 1; bits <= 6; bits++)
        for (int rep = 0; rep < 4; rep++)
            add_recover(*state, "boolean", bits, rep, 1,
                        pow(bits, 2) * (1 + 0.01 * (rep % 2 == 0 ? rep : -rep)));
    evidence = measure(*state, "2.3", NULL);
    CHECK_NEAR(evidence.effect.value, 0, 0.05);
    assert_int_equal(wt_part_verdict(part_of("2.3", NULL), &evidence), WT_NOT_REPRODUCED);
}

/* Trials at m = 10, 20 .. 120 for five T: none succeed below m(T), all from there on, 40 each. */
static void add_trials(wt_context *context, double (*critical)(double)) {
    static const int lengths[] = {100, 200, 400, 800, 1600};
    for (size_t i = 0; i < 5; i++)
        for (int m = 10; m <= 120; m += 10)
            for (int rep = 0; rep < 40; rep++) {
                char parameters[256], metrics[64];
                snprintf(parameters, sizeof parameters,
                         "{\"length\":%d,\"model\":\"transformer\",\"rep\":%d,\"m\":%d,"
                         "\"task\":\"and:3\"}",
                         lengths[i], rep, m);
                snprintf(metrics, sizeof metrics, "{\"success\":%d}", m >= critical(lengths[i]));
                add(context, "threshold", parameters, metrics);
            }
}

static double critical_log(double length) {
    return 20 + 25 * log2(length / 100);
}

static double critical_linear(double length) {
    return length / 16;
}

/* The critical m is known to a step of the grid, 10, which is what the tolerance allows for. */
static void thresholds_grow(void **state) {
    wt_critical *sizes;
    size_t count;
    add_trials(*state, critical_log);
    CHECK_OK(*state,
             wt_critical_sizes(*state, &results, part_of("3.3", NULL), &sizes, &count, NULL));
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        assert_true(fabs(sizes[i].m.value - critical_log(sizes[i].x)) <= 10);
        assert_true(sizes[i].m.low <= sizes[i].m.value && sizes[i].m.value <= sizes[i].m.high);
        assert_int_equal(sizes[i].trials, 12 * 40);
    }
    wt_release(sizes);
    wt_evidence evidence = measure(*state, "3.3", NULL);
    assert_true(fabs(evidence.effect.value) < 0.2);
    assert_int_equal(wt_part_verdict(part_of("3.3", NULL), &evidence), WT_REPRODUCED);
    start_fresh(state);
    add_trials(*state, critical_linear);
    evidence = measure(*state, "3.3", NULL);
    assert_true(evidence.effect.low > 0.5 && evidence.effect.value < 1.5);
    assert_int_equal(wt_part_verdict(part_of("3.3", NULL), &evidence), WT_NOT_REPRODUCED);
}

static void verdicts_follow_the_rule(void **state) {
    (void)state;
    wt_claim_part above = {.boundary = 1, .above = true}, below = {.boundary = 1};
    const struct {
        wt_evidence evidence;
        wt_verdict if_above, if_below;
    } cases[] = {
        {{{2, 1.5, 2.5}, 5}, WT_REPRODUCED, WT_NOT_REPRODUCED},
        {{{0, -1, 0.9}, 5}, WT_NOT_REPRODUCED, WT_REPRODUCED},
        {{{2, 0.5, 3}, 5}, WT_UNDECIDED, WT_UNDECIDED},
        {{{2, 1, 3}, 5}, WT_UNDECIDED, WT_UNDECIDED},
        {{{2, NAN, NAN}, 1}, WT_UNDECIDED, WT_UNDECIDED},
        {{{2, 1.5, INFINITY}, 5}, WT_REPRODUCED, WT_NOT_REPRODUCED},
        {{{NAN, NAN, NAN}, 0}, WT_NOT_MEASURED, WT_NOT_MEASURED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(wt_part_verdict(&above, &cases[i].evidence), cases[i].if_above);
        assert_int_equal(wt_part_verdict(&below, &cases[i].evidence), cases[i].if_below);
    }
    const wt_verdict all[] = {WT_REPRODUCED, WT_REPRODUCED, WT_NOT_MEASURED, WT_NOT_MEASURED,
                              WT_NOT_REPRODUCED};
    assert_int_equal(wt_claim_verdict(all, 2), WT_REPRODUCED);
    assert_int_equal(wt_claim_verdict(all, 3), WT_UNDECIDED);
    assert_int_equal(wt_claim_verdict(all, 5), WT_NOT_REPRODUCED);
    assert_int_equal(wt_claim_verdict(all + 2, 2), WT_NOT_MEASURED);
    assert_int_equal(wt_claim_verdict(all, 0), WT_NOT_MEASURED);
}

/* Every claim has a part, every part a claim, in the same order; a store with nothing measures
 * nothing. */
static void the_table_holds_together(void **state) {
    wt_findings findings;
    CHECK_OK(*state, wt_findings_measure(*state, &results, &findings));
    size_t parts = 0;
    for (size_t c = 0; c < findings.claim_count; c++) {
        const wt_finding *finding = &findings.claims[c];
        assert_true(finding->part_count > 0);
        assert_int_equal(finding->verdict, WT_NOT_MEASURED);
        for (size_t p = 0; p < finding->part_count; p++) {
            const wt_claim_part *part = wt_claim_part_at(finding->first_part + p);
            assert_string_equal(part->claim, finding->claim->id);
            assert_true((part->name != NULL) == (finding->part_count > 1));
        }
        parts += finding->part_count;
    }
    assert_int_equal(parts, findings.part_count);
    assert_null(wt_claim_part_at(parts));
    wt_findings_free(&findings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(cells_are_chosen_by_their_parameters, start_fresh),
        cmocka_unit_test_setup(bad_cells_are_told, start_fresh),
        cmocka_unit_test_setup(cells_make_lines, start_fresh),
        cmocka_unit_test_setup(exponents_are_found, start_fresh),
        cmocka_unit_test_setup(ratios_are_paired, start_fresh),
        cmocka_unit_test_setup(degrees_are_compared, start_fresh),
        cmocka_unit_test_setup(rates_are_counted, start_fresh),
        cmocka_unit_test_setup(growth_is_told_from_a_power_law, start_fresh),
        cmocka_unit_test_setup(thresholds_grow, start_fresh),
        cmocka_unit_test(verdicts_follow_the_rule),
        cmocka_unit_test_setup(the_table_holds_together, start_fresh),
    };
    return cmocka_run_group_tests(tests, check_open, close_all);
}
