/* Claims: what cells fit, what lines they make, what each effect measures on cells with known
 * answers, and the rule of verdicts. */
#include "lab/cells.h"

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

static void cells_are_chosen_by_their_parameters(void **state) {
    add(*state, "curve", "{\"model\":\"rfa\",\"n\":16,\"target\":\"mean-power:2\"}", "{}");
    uint32_t setting = results.cells[0].setting;
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
    assert_non_null(wt_lines_at(&lines, &lines.lines[0], 32, 9, 1));
    assert_null(wt_lines_at(&lines, &lines.lines[0], 32, 8, 1));
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

/* At the largest n that both have in any setting, paired by repetition and target. */
static void ratios_are_paired(void **state) {
    for (int rep = 0; rep < 4; rep++)
        for (int n = 16; n <= 64; n *= 2) {
            add_curve(*state, "rfa", "corr-power:3", 4, n, rep, 1 + rep);
            add_curve(*state, "brfa", "corr-power:3", 4, n, rep, (1 + rep) * (n == 64 ? 0.5 : 3));
        }
    add_curve(*state, "rfa", "corr-power:3", 4, 128, 0, 7); /* no partner */
    add_curve(*state, "rfa", "corr-power:2", 4, 64, 0, 7);  /* nor this */
    add_curve(*state, "rfa", "corr-power:3", 8, 32, 0, 7);  /* a setting that ends before */
    add_curve(*state, "brfa", "corr-power:3", 8, 32, 0, 1);
    wt_evidence evidence = measure(*state, "1.3", "correlations");
    CHECK_NEAR(evidence.effect.value, log(0.5), 1e-13);
    CHECK_NEAR(evidence.effect.low, log(0.5), 1e-12);
    assert_int_equal(evidence.cells, 8);
    assert_int_equal(wt_part_verdict(part_of("1.3", "correlations"), &evidence), WT_REPRODUCED);
    assert_int_equal(measure(*state, "1.3", "averages").cells, 0);
}

/* Two settings on the same draws say no more than one: the interval is that of their means over
 * repetitions. Values that give no number are counted. */
static void settings_of_one_draw_count_once(void **state) {
    static const double off[] = {-0.2, 0.1, 0.3, -0.1};
    for (int rep = 0; rep < 4; rep++)
        for (int degree = 2; degree <= 4; degree += 2) {
            const char *target = degree == 2 ? "mean-power:2" : "mean-power:4";
            add_curve(*state, "rfmlp", target, 4, 64, rep, 1);
            add_curve(*state, "rfa", target, 4, 64, rep, exp(off[rep] - 0.1 * degree));
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
    add_curve(*state, "rfmlp", "mean-power:2", 4, 64, 9, 1);
    add_curve(*state, "rfa", "mean-power:2", 4, 64, 9, 0);
    evidence = measure(*state, "1.2", "averages");
    CHECK_NEAR(evidence.effect.low, wanted.low - 0.3, 1e-13);
    assert_int_equal(evidence.dropped, 1);
}

/* The same for slopes over two numbers of keys, and for means over two lengths, where a run that
 * has no number is counted. */
static void slopes_and_means_count_repetitions(void **state) {
    static const double off[] = {-0.2, 0.1, 0.3};
    wt_interval wanted = wt_mean_interval(off, 3);
    for (int rep = 0; rep < 3; rep++) {
        for (int keys = 4; keys <= 8; keys *= 2)
            for (int n = 64; n <= 256; n *= 2)
                add_curve(*state, "rfa", "mean-power:2", keys, n, rep, pow(n, off[rep] - 0.7));
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
        add_curve(*state, "rfa", "mean-power:2", 4, 64, rep, 0.1 * (1 + rep));
        add_curve(*state, "rfa", "mean-power:4", 4, 64, rep, 0.3 * (1 + rep));
    }
    wt_evidence evidence = measure(*state, "1.4", "degree");
    CHECK_NEAR(evidence.effect.value, log(3), 1e-13);
    assert_int_equal(evidence.cells, 6);
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

/* Settings of one repetition share draws: they are one trial, which fails when one of them does. */
static void trials_are_repetitions(void **state) {
    for (int rep = 0; rep < 10; rep++)
        for (int length = 64; length <= 256; length *= 2) {
            char parameters[64], metrics[32];
            snprintf(parameters, sizeof parameters, "{\"length\":%d,\"rep\":%d}", length, rep);
            snprintf(metrics, sizeof metrics, "{\"kept\":%d}", rep != 3 || length != 128);
            add(*state, "construct", parameters, metrics);
        }
    wt_evidence evidence = measure(*state, "3.1", NULL);
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
        {{.effect = {2, 1.5, 2.5}, .cells = 5}, WT_REPRODUCED, WT_NOT_REPRODUCED},
        {{.effect = {0, -1, 0.9}, .cells = 5}, WT_NOT_REPRODUCED, WT_REPRODUCED},
        {{.effect = {2, 0.5, 3}, .cells = 5}, WT_UNDECIDED, WT_UNDECIDED},
        {{.effect = {2, 1, 3}, .cells = 5}, WT_UNDECIDED, WT_UNDECIDED},
        {{.effect = {2, NAN, NAN}, .cells = 1}, WT_UNDECIDED, WT_UNDECIDED},
        {{.effect = {2, 1.5, INFINITY}, .cells = 5}, WT_REPRODUCED, WT_NOT_REPRODUCED},
        {{.effect = {NAN, -INFINITY, INFINITY}, .cells = 5}, WT_UNDECIDED, WT_UNDECIDED},
        {{.effect = {NAN, NAN, NAN}, .cells = 0}, WT_NOT_MEASURED, WT_NOT_MEASURED},
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
        cmocka_unit_test_setup(settings_of_one_draw_count_once, start_fresh),
        cmocka_unit_test_setup(slopes_and_means_count_repetitions, start_fresh),
        cmocka_unit_test_setup(degrees_are_compared, start_fresh),
        cmocka_unit_test_setup(rates_are_counted, start_fresh),
        cmocka_unit_test_setup(trials_are_repetitions, start_fresh),
        cmocka_unit_test(verdicts_follow_the_rule),
        cmocka_unit_test_setup(the_table_holds_together, start_fresh),
    };
    return cmocka_run_group_tests(tests, check_open, close_all);
}
