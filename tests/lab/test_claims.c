/* Claims: what cells fit, what lines they make, what each effect measures on cells with known
 * answers, and the rule of verdicts. */
#include "lab/cells.h"

static void cells_are_chosen_by_their_parameters(void **state) {
    add(*state, "curve", "{\"model\":\"rfa\",\"n\":16,\"target\":\"mean-power:2\"}", "{}");
    uint32_t setting = wt_results_cell(&results, 0)->setting;
    static const char *const fitting[] = {NULL,        "",
                                          "model=rfa", "model=rfa target=mean-power:*",
                                          "n=16",      "model=brfa|rfa",
                                          "n!=17",     "target=*",
                                          "width!=3",  "n>=16 model=rfa",
                                          "n>=2.5"};
    static const char *const others[] = {"model=rf",      "model=rfa n=17", "n!=16",
                                         "target=corr:*", "width=3",        "model",
                                         "n>=17",         "width>=0",       "model>=1"};
    for (size_t i = 0; i < sizeof fitting / sizeof *fitting; i++)
        if (!wt_setting_fits(&results, setting, fitting[i]))
            fail_msg("'%s' does not fit", fitting[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (wt_setting_fits(&results, setting, others[i]))
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
    assert_int_equal(results.done.count, 0);
}

/* Three n and two repetitions of one setting are a line; another setting with one n is none. */
static void cells_make_lines(void **state) {
    for (int rep = 1; rep >= 0; rep--)
        for (int n = 64; n >= 16; n /= 2)
            add_curve(*state, "rfa", "mean-power:2", 8, 4, n, rep, 1.0 / n + rep);
    add_curve(*state, "rfa", "mean-power:2", 8, 8, 16, 0, 1);
    wt_lines lines;
    wt_lines_query query = {.experiment = "curve", .x = "n", .y = "test_error"};
    CHECK_OK(*state, wt_lines_find(*state, &results, &query, &lines));
    assert_int_equal(lines.line_count, 1);
    assert_int_equal(lines.point_count, 6);
    assert_int_equal(lines.lines[0].different_x, 3);
    char shared[256] = "";
    uint32_t name, value;
    for (size_t cursor = 0; wt_line_next(&lines, &lines.lines[0], &cursor, &name, &value);) {
        char words[2][WT_VALUE_TEXT];
        size_t used = strlen(shared);
        snprintf(shared + used, sizeof shared - used, "%s=%s ",
                 wt_text_words(&results, name, words[0], WT_VALUE_TEXT),
                 wt_text_words(&results, value, words[1], WT_VALUE_TEXT));
    }
    assert_string_equal(shared, "bias=0 dim=8 keys=4 model=rfa target=mean-power:2 ");
    for (size_t i = 0; i < 6; i++) {
        CHECK_NEAR(lines.points[i].x, 16 << (i / 2), 0);
        assert_int_equal(lines.points[i].rep, i % 2);
    }
    assert_non_null(wt_lines_at(&lines, &lines.lines[0], 32, 1009, 1));
    assert_null(wt_lines_at(&lines, &lines.lines[0], 32, 8, 1));
    wt_lines_free(&lines);
}

/* Cells that failed are points at 0 where they are asked for, and counted in any case; a setting
 * with no other cells too. */
static void failed_cells_are_seen(void **state) {
    wt_lines_query query = {.experiment = "construct", .y = "kept", .every = true};
    wt_lines lines;
    for (int rep = 0; rep < 3; rep++)
        add(*state, "construct", rep == 0 ? "{\"length\":8,\"rep\":0}" : "{\"length\":8,\"rep\":1}",
            "{\"kept\":1}");
    add_record(*state, "construct", "{\"length\":8,\"rep\":3}", "{}", "no");
    add_record(*state, "construct", "{\"length\":16,\"rep\":3}", "{}", "no");
    CHECK_OK(*state, wt_lines_find(*state, &results, &query, &lines));
    assert_true(lines.point_count == 3 && lines.failed == 2 && lines.line_count == 1);
    wt_lines_free(&lines);
    query.failures = true;
    CHECK_OK(*state, wt_lines_find(*state, &results, &query, &lines));
    assert_true(lines.point_count == 5 && lines.failed == 2 && lines.line_count == 2);
    double sum = 0;
    for (size_t i = 0; i < 5; i++)
        sum += lines.points[i].y;
    CHECK_NEAR(sum, 3, 0);
    wt_lines_free(&lines);
}

/* error = (1 + rep)/4 n^-0.7 d^0.1: both exponents, whatever the factor. What lies outside the
 * range of n that was fixed beforehand, off the line, is left out. */
static void exponents_are_found(void **state) {
    for (int rep = 0; rep < 3; rep++)
        for (int n = 64; n <= 1024; n *= 2)
            add_curve(*state, "rfa", "mean-power:2", 8, 8, n, rep,
                      n == 64 ? 1 : 0.25 * (1 + rep) * pow(n, -0.7));
    wt_evidence evidence = measure(*state, "1.1", "in n");
    CHECK_NEAR(evidence.effect.value, -0.7, 1e-13);
    CHECK_NEAR(evidence.effect.high, -0.7, 1e-12);
    assert_int_equal(evidence.cells, 12);
    assert_int_equal(measure(*state, "1.4", "dimension").cells, 0);
    for (int rep = 0; rep < 3; rep++)
        for (int dim = 4; dim <= 16; dim *= 2)
            add_curve(*state, "rfa", "mean-power:2", dim, 16, 512, rep, 0.25 * pow(dim, 0.4));
    evidence = measure(*state, "1.4", "dimension");
    CHECK_NEAR(evidence.effect.value, 0.4, 1e-13);
    assert_int_equal(wt_part_verdict(part_of("1.4", "dimension"), &evidence),
                     WT_VERDICT_REPRODUCED);
}

/* At the largest n that both have in any setting, paired by repetition and target. */
static void ratios_are_paired(void **state) {
    for (int rep = 0; rep < 4; rep++)
        for (int n = 16; n <= 64; n *= 2) {
            add_curve(*state, "rfa", "corr-power:3", 16, 16, n, rep, 1 + rep);
            add_curve(*state, "brfa", "corr-power:3", 16, 16, n, rep,
                      (1 + rep) * (n == 64 ? 0.5 : 3));
        }
    add_curve(*state, "rfa", "corr-power:3", 16, 16, 128, 0, 7); /* no partner */
    add_curve(*state, "rfa", "corr-power:2", 16, 16, 64, 0, 7);  /* nor this */
    add_curve(*state, "rfa", "corr-power:1", 16, 16, 32, 0, 7);  /* a setting that ends before */
    add_curve(*state, "brfa", "corr-power:1", 16, 16, 32, 0, 1);
    wt_evidence evidence = measure(*state, "1.3", "correlations");
    CHECK_NEAR(evidence.effect.value, log(0.5), 1e-13);
    CHECK_NEAR(evidence.effect.low, log(0.5), 1e-12);
    assert_int_equal(evidence.cells, 8);
    assert_int_equal(wt_part_verdict(part_of("1.3", "correlations"), &evidence),
                     WT_VERDICT_REPRODUCED);
    assert_int_equal(measure(*state, "1.3", "averages").cells, 0);
}

/* Two settings on the same draws say no more than one: the interval is that of their means over
 * repetitions. Values that give no number are counted, and cells that failed. */
static void settings_of_one_draw_count_once(void **state) {
    static const double off[] = {-0.2, 0.1, 0.3, -0.1};
    for (int rep = 0; rep < 4; rep++)
        for (int degree = 2; degree <= 4; degree += 2) {
            const char *target = degree == 2 ? "mean-power:2" : "mean-power:4";
            add_curve(*state, "rfmlp", target, 16, 16, 64, rep, 1);
            add_curve(*state, "rfa", target, 16, 16, 64, rep, exp(off[rep] - 0.1 * degree));
        }
    wt_interval wanted = wt_mean_interval(off, 4); /* and -0.3, the mean of the two degrees */
    wt_evidence evidence = measure(*state, "1.2", "averages");
    CHECK_NEAR(evidence.effect.value, wanted.value - 0.3, 1e-14);
    CHECK_NEAR(evidence.effect.low, wanted.low - 0.3, 1e-13);
    CHECK_NEAR(evidence.effect.high, wanted.high - 0.3, 1e-13);
    assert_int_equal(evidence.cells, 16);
    assert_int_equal(evidence.settings, 2);
    assert_int_equal(evidence.repetitions, 4);
    assert_int_equal(evidence.dropped, 0);
    add_curve(*state, "rfmlp", "mean-power:2", 16, 16, 64, 9, 1);
    add_curve(*state, "rfa", "mean-power:2", 16, 16, 64, 9, 0);
    add_record(*state, "curve",
               "{\"dim\":16,\"keys\":16,\"model\":\"rfa\",\"n\":64,\"rep\":7,"
               "\"target\":\"mean-power:2\"}",
               "{}", "no memory");
    evidence = measure(*state, "1.2", "averages");
    CHECK_NEAR(evidence.effect.low, wanted.low - 0.3, 1e-13);
    assert_int_equal(evidence.dropped, 1);
    assert_int_equal(evidence.failed, 1);
}

/* The same for slopes over two numbers of heads, and for means over two lengths, where a run that
 * has no number is counted. */
static void slopes_and_means_count_repetitions(void **state) {
    static const double off[] = {-0.2, 0.1, 0.3};
    wt_interval wanted = wt_mean_interval(off, 3);
    for (int rep = 0; rep < 3; rep++) {
        for (int heads = 100; heads <= 200; heads *= 2)
            for (int n = 128; n <= 512; n *= 2) {
                char parameters[160], metrics[64];
                snprintf(parameters, sizeof parameters,
                         "{\"dim\":8,\"heads\":%d,\"keys\":8,\"model\":\"rfa\",\"n\":%d,\"rep\":%d,"
                         "\"target\":\"mean-power:2\"}",
                         heads, n, rep);
                snprintf(metrics, sizeof metrics, "{\"test_error\":%.17g}", pow(n, off[rep] - 0.7));
                add(*state, "curve", parameters, metrics);
            }
        for (int length = 10; length <= 15; length += 5) {
            char parameters[128], metrics[64];
            snprintf(parameters, sizeof parameters,
                     "{\"length\":%d,\"model\":\"transformer\",\"online\":9,\"rep\":%d,"
                     "\"task\":\"parity:3\"}",
                     length, rep);
            snprintf(metrics, sizeof metrics, "{\"fall_over_plateau\":%.17g}", off[rep]);
            add(*state, "train", parameters, metrics);
        }
    }
    add(*state, "train",
        "{\"length\":10,\"model\":\"transformer\",\"online\":9,\"rep\":3,\"task\":\"parity:3\"}",
        "{\"fall_over_plateau\":null}");
    wt_evidence slope = measure(*state, "1.1", "in n"), fall = measure(*state, "3.4", NULL);
    CHECK_NEAR(slope.effect.low, wanted.low - 0.7, 1e-12);
    CHECK_NEAR(fall.effect.high, wanted.high, 1e-13);
    assert_true(slope.repetitions == 3 && slope.settings == 2 && slope.dropped == 0);
    assert_true(fall.repetitions == 3 && fall.dropped == 1);
}

/* Degree 4 over degree 2: here the target may differ. */
static void degrees_are_compared(void **state) {
    for (int rep = 0; rep < 3; rep++) {
        add_curve(*state, "rfa", "mean-power:2", 16, 16, 64, rep, 0.1 * (1 + rep));
        add_curve(*state, "rfa", "mean-power:4", 16, 16, 64, rep, 0.3 * (1 + rep));
    }
    wt_evidence evidence = measure(*state, "1.4", "degree");
    CHECK_NEAR(evidence.effect.value, log(3), 1e-13);
    assert_int_equal(evidence.cells, 6);
}

/* error = (N^0.3 n0 / n)^2 falls to the level at n = N^0.3 n0 / sqrt(level), between the points of
 * the grid too, as logs are interpolated. An N that does not reach it opens the interval above. */
static void samples_to_reach_a_level_are_compared(void **state) {
    const wt_claim_part *part = part_of("1.1", "in N");
    for (int rep = 0; rep < 3; rep++)
        for (int keys = 2; keys <= 16; keys *= 2)
            for (int n = 16; n <= 512; n *= 2)
                add_curve(*state, "rfa", "mean-power:2", 4, keys, n, rep,
                          pow(pow(keys, 0.3) * (20 + rep) / n, 2));
    wt_evidence evidence = measure(*state, "1.1", "in N");
    CHECK_NEAR(evidence.effect.value, 0.3, 1e-13);
    CHECK_NEAR(evidence.effect.high, 0.3, 1e-12);
    assert_true(evidence.repetitions == 3 && evidence.censored == 0 && evidence.cells == 72);
    assert_int_equal(wt_part_verdict(part, &evidence), WT_VERDICT_REPRODUCED);
    for (int rep = 0; rep < 3; rep++)
        for (int n = 16; n <= 512; n *= 2)
            add_curve(*state, "rfa", "mean-power:2", 4, 32, n, rep, 0.9);
    evidence = measure(*state, "1.1", "in N");
    assert_true(evidence.effect.high == INFINITY && isfinite(evidence.effect.low));
    assert_true(evidence.effect.value > 0.3 && evidence.censored == 3);
    for (int rep = 0; rep < 3;
         rep++) /* from the first n on, at the least N: the slope may be more */
        for (int n = 16; n <= 512; n *= 2)
            add_curve(*state, "rfa", "mean-power:2", 4, 1, n, rep, 0.1);
    evidence = measure(*state, "1.1", "in N");
    assert_int_equal(evidence.censored, 3); /* N = 1 is not of this claim */
}

/* At 60% all curves are at n = 20, at 30%, the level of the claim, at an n of their own. */
static void the_level_is_that_of_the_claim(void **state) {
    static const double keys[] = {2, 4, 8}, reached[] = {30, 40, 55};
    for (int rep = 0; rep < 3; rep++)
        for (int i = 0; i < 3; i++) {
            add_curve(*state, "rfa", "mean-power:2", 4, (int)keys[i], 10, rep, 0.9);
            add_curve(*state, "rfa", "mean-power:2", 4, (int)keys[i], 20, rep, 0.6);
            add_curve(*state, "rfa", "mean-power:2", 4, (int)keys[i], (int)reached[i], rep, 0.3);
            add_curve(*state, "rfa", "mean-power:2", 4, (int)keys[i], 99, rep, 0.1);
        }
    CHECK_NEAR(measure(*state, "1.1", "in N").effect.value, wt_log_slope(keys, reached, 3), 1e-13);
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
    assert_int_equal(wt_part_verdict(part_of("2.1", NULL), &evidence), WT_VERDICT_UNDECIDED);
}

/* A cell that failed is a repetition without success. */
static void failures_lower_a_rate(void **state) {
    char parameters[64];
    for (int rep = 0; rep < 80; rep++) {
        snprintf(parameters, sizeof parameters, "{\"length\":64,\"rep\":%d}", rep);
        if (rep < 40)
            add(*state, "construct", parameters, "{\"kept\":1}");
        else
            add_record(*state, "construct", parameters, "{}", "refused");
    }
    wt_evidence evidence = measure(*state, "3.1", "promise");
    CHECK_NEAR(evidence.effect.value, 0.5, 1e-15);
    assert_true(evidence.failed == 40 && evidence.repetitions == 80);
    assert_int_equal(wt_part_verdict(part_of("3.1", "promise"), &evidence),
                     WT_VERDICT_NOT_REPRODUCED);
}

/* Settings of one repetition share draws: they are one trial, which fails when one of them does. */
static void trials_are_repetitions(void **state) {
    for (int rep = 0; rep < 10; rep++)
        for (int length = 64; length <= 256; length *= 2) {
            char parameters[64], metrics[32];
            snprintf(parameters, sizeof parameters, "{\"length\":%d,\"rep\":%d}", length, rep);
            snprintf(metrics, sizeof metrics, "{\"kept\":%d}", rep != 3 || length != 128);
            add(*state, "construct", parameters, metrics);
        }
    wt_evidence evidence = measure(*state, "3.1", "promise");
    wt_interval rate = wt_rate_interval(9, 10);
    CHECK_NEAR(evidence.effect.value, 0.9, 1e-15);
    CHECK_NEAR(evidence.effect.low, rate.low, 0);
    CHECK_NEAR(evidence.effect.high, rate.high, 0);
    assert_int_equal(evidence.cells, 30);
    assert_int_equal(evidence.settings, 3);
    assert_int_equal(evidence.repetitions, 10);
}

static void verdicts_follow_the_rule(void **state) {
    (void)state;
    wt_claim_part above = {.boundary = 1, .above = true}, below = {.boundary = 1};
    const struct {
        wt_evidence evidence;
        wt_verdict if_above, if_below;
    } cases[] = {
        {{.effect = {2, 1.5, 2.5}, .cells = 5}, WT_VERDICT_REPRODUCED, WT_VERDICT_NOT_REPRODUCED},
        {{.effect = {0, -1, 0.9}, .cells = 5}, WT_VERDICT_NOT_REPRODUCED, WT_VERDICT_REPRODUCED},
        {{.effect = {2, 0.5, 3}, .cells = 5}, WT_VERDICT_UNDECIDED, WT_VERDICT_UNDECIDED},
        {{.effect = {2, 1, 3}, .cells = 5}, WT_VERDICT_UNDECIDED, WT_VERDICT_UNDECIDED},
        {{.effect = {2, NAN, NAN}, .cells = 1}, WT_VERDICT_UNDECIDED, WT_VERDICT_UNDECIDED},
        {{.effect = {2, 1.5, INFINITY}, .cells = 5},
         WT_VERDICT_REPRODUCED,
         WT_VERDICT_NOT_REPRODUCED},
        {{.effect = {NAN, -INFINITY, INFINITY}, .cells = 5},
         WT_VERDICT_UNDECIDED,
         WT_VERDICT_UNDECIDED},
        {{.effect = {NAN, NAN, NAN}, .cells = 0}, WT_VERDICT_NOT_MEASURED, WT_VERDICT_NOT_MEASURED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(wt_part_verdict(&above, &cases[i].evidence), cases[i].if_above);
        assert_int_equal(wt_part_verdict(&below, &cases[i].evidence), cases[i].if_below);
    }
    const wt_verdict all[] = {WT_VERDICT_REPRODUCED, WT_VERDICT_REPRODUCED, WT_VERDICT_NOT_MEASURED,
                              WT_VERDICT_NOT_MEASURED, WT_VERDICT_NOT_REPRODUCED};
    assert_int_equal(wt_claim_verdict(all, 2), WT_VERDICT_REPRODUCED);
    assert_int_equal(wt_claim_verdict(all, 3), WT_VERDICT_UNDECIDED);
    assert_int_equal(wt_claim_verdict(all, 5), WT_VERDICT_NOT_REPRODUCED);
    assert_int_equal(wt_claim_verdict(all + 2, 2), WT_VERDICT_NOT_MEASURED);
    assert_int_equal(wt_claim_verdict(all, 0), WT_VERDICT_NOT_MEASURED);
}

/* A part that its rival would pass too tests nothing, and cells from before the rule decide
 * nothing; what is not measured stays so. */
static void rivals_and_seeds_take_verdicts_back(void **state) {
    (void)state;
    assert_int_equal(wt_part_conclude(WT_VERDICT_REPRODUCED, WT_VERDICT_NOT_REPRODUCED, false),
                     WT_VERDICT_REPRODUCED);
    assert_int_equal(wt_part_conclude(WT_VERDICT_REPRODUCED, WT_VERDICT_UNDECIDED, false),
                     WT_VERDICT_REPRODUCED);
    assert_int_equal(wt_part_conclude(WT_VERDICT_REPRODUCED, WT_VERDICT_NOT_MEASURED, false),
                     WT_VERDICT_REPRODUCED);
    assert_int_equal(wt_part_conclude(WT_VERDICT_REPRODUCED, WT_VERDICT_REPRODUCED, false),
                     WT_VERDICT_NO_TEST);
    assert_int_equal(wt_part_conclude(WT_VERDICT_NOT_REPRODUCED, WT_VERDICT_REPRODUCED, false),
                     WT_VERDICT_NOT_REPRODUCED);
    assert_int_equal(wt_part_conclude(WT_VERDICT_REPRODUCED, WT_VERDICT_NOT_REPRODUCED, true),
                     WT_VERDICT_EXPLORED);
    assert_int_equal(wt_part_conclude(WT_VERDICT_NOT_MEASURED, WT_VERDICT_REPRODUCED, true),
                     WT_VERDICT_NOT_MEASURED);
    const wt_verdict all[] = {WT_VERDICT_REPRODUCED, WT_VERDICT_NO_TEST, WT_VERDICT_NOT_REPRODUCED,
                              WT_VERDICT_EXPLORED};
    assert_int_equal(wt_claim_verdict(all, 2), WT_VERDICT_NO_TEST);
    assert_int_equal(wt_claim_verdict(all, 3), WT_VERDICT_NOT_REPRODUCED);
    const wt_verdict seen[] = {WT_VERDICT_REPRODUCED, WT_VERDICT_EXPLORED};
    assert_int_equal(wt_claim_verdict(seen, 2), WT_VERDICT_EXPLORED);
    assert_true(wt_seed_explored(1) && wt_seed_explored(999) && wt_seed_explored(-5));
    assert_true(!wt_seed_explored(1000) && !wt_seed_explored((int64_t)wt_rules_now()->seed));
}

/* All of it on a store: the claim holds, the rival fails; then the rival passes too; then a cell
 * has a seed for exploring. */
static void findings_hold_rivals_beside_claims(void **state) {
    const wt_claim_part *part = part_of("1.1", "in n");
    size_t index = 0;
    while (wt_claim_part_at(index) != part)
        index++;
    for (int with = 0; with < 3; with++) {
        start_fresh(state);
        for (int rep = 0; rep < 3; rep++)
            for (int n = 128; n <= 512; n *= 2) {
                add_curve(*state, "rfa", "mean-power:2", 8, 8, n, rep, (1 + 0.1 * rep) / n);
                add_curve(*state, "rfmlp", "mean-power:2", 8, 8, n, rep,
                          (1 + 0.1 * rep) * pow(n, with == 1 ? -0.8 : -0.1));
            }
        if (with == 2)
            ((wt_result *)results.done.items)->seed = 7;
        wt_findings *findings;
        CHECK_OK(*state, wt_findings_measure(*state, &results, &findings));
        static const wt_verdict wanted[] = {WT_VERDICT_REPRODUCED, WT_VERDICT_NO_TEST,
                                            WT_VERDICT_EXPLORED};
        assert_int_equal(findings->parts[index].verdict, wanted[with]);
        assert_int_equal(findings->parts[index].rival_verdict,
                         with == 1 ? WT_VERDICT_REPRODUCED : WT_VERDICT_NOT_REPRODUCED);
        CHECK_NEAR(findings->parts[index].of_rival->effect.value, with == 1 ? -0.8 : -0.1, 1e-13);
        assert_int_equal(wt_findings_explored(findings), with == 2);
        wt_findings_free(findings);
    }
}

/* 2 (1.5, 2.5) beside 2.25: half is twice what it may be, so four times as many will do. */
static void what_would_decide_is_told(void **state) {
    (void)state;
    wt_claim_part part = {.boundary = 2.25};
    wt_evidence evidence = {.effect = {2, 1.5, 2.5}, .cells = 5};
    CHECK_NEAR(wt_part_more(&part, &evidence), 4, 1e-12);
    evidence.effect = (wt_interval){2.5, 1.5, 3};
    CHECK_NEAR(wt_part_more(&part, &evidence), 16, 1e-12);
    evidence.effect.low = -INFINITY;
    assert_true(isnan(wt_part_more(&part, &evidence)));
    evidence.effect = (wt_interval){2.5, 1.5, 3};
    evidence.searched = true; /* 3 is "3 or more" there, on the side away from the boundary */
    CHECK_NEAR(wt_part_more(&part, &evidence), 16, 1e-12);
    evidence.effect = (wt_interval){2, 1.5, 3};
    assert_true(isnan(wt_part_more(&part, &evidence)));
}

/* Every claim has a part, every part a claim, in the same order; a store with nothing measures
 * nothing. */
static void the_table_holds_together(void **state) {
    wt_findings *findings;
    CHECK_OK(*state, wt_findings_measure(*state, &results, &findings));
    size_t parts = 0;
    for (size_t c = 0; c < findings->claim_count; c++) {
        const wt_finding *finding = &findings->claims[c];
        assert_true(finding->part_count > 0);
        assert_int_equal(finding->verdict, WT_VERDICT_NOT_MEASURED);
        for (size_t p = 0; p < finding->part_count; p++) {
            const wt_claim_part *part = wt_claim_part_at(finding->first_part + p);
            assert_string_equal(part->claim, finding->claim->id);
            assert_true((part->name != NULL) == (finding->part_count > 1));
            assert_non_null(part->rival.words);
            const wt_rival *rival = &part->rival; /* another case than the claim's */
            assert_true((rival->where != NULL && strcmp(rival->where, part->where) != 0) ||
                        (rival->y != NULL && strcmp(rival->y, part->y) != 0));
        }
        parts += finding->part_count;
    }
    assert_int_equal(parts, findings->part_count);
    assert_null(wt_claim_part_at(parts));
    wt_findings_free(findings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(cells_are_chosen_by_their_parameters, start_fresh),
        cmocka_unit_test_setup(bad_cells_are_told, start_fresh),
        cmocka_unit_test_setup(cells_make_lines, start_fresh),
        cmocka_unit_test_setup(failed_cells_are_seen, start_fresh),
        cmocka_unit_test_setup(exponents_are_found, start_fresh),
        cmocka_unit_test_setup(ratios_are_paired, start_fresh),
        cmocka_unit_test_setup(settings_of_one_draw_count_once, start_fresh),
        cmocka_unit_test_setup(slopes_and_means_count_repetitions, start_fresh),
        cmocka_unit_test_setup(degrees_are_compared, start_fresh),
        cmocka_unit_test_setup(samples_to_reach_a_level_are_compared, start_fresh),
        cmocka_unit_test_setup(the_level_is_that_of_the_claim, start_fresh),
        cmocka_unit_test_setup(failures_lower_a_rate, start_fresh),
        cmocka_unit_test(rivals_and_seeds_take_verdicts_back),
        cmocka_unit_test(findings_hold_rivals_beside_claims),
        cmocka_unit_test(what_would_decide_is_told),
        cmocka_unit_test_setup(rates_are_counted, start_fresh),
        cmocka_unit_test_setup(trials_are_repetitions, start_fresh),
        cmocka_unit_test(verdicts_follow_the_rule),
        cmocka_unit_test_setup(the_table_holds_together, start_fresh),
    };
    return cmocka_run_group_tests(tests, check_open, close_all);
}
