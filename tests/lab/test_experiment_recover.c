/* Cells of `recover`: what they cost is told also where a method gives up; asking; degenerate
 * teachers. */
#include "check.h"

#include <stdlib.h>

#include "lab/experiment.h"

enum { MOST = 32 };

static const wt_experiment *recover(void) {
    return wt_experiment_find("recover");
}

/* The values of "name=text" over the defaults, up to NULL. */
static void fill(wt_value *values, const char *const *keys) {
    const wt_experiment *experiment = recover();
    for (size_t i = 0; i < experiment->parameter_count; i++) {
        const char *text = experiment->parameters[i].fallback;
        for (size_t key = 0; keys[key] != NULL; key++) {
            const char *equals = strchr(keys[key], '=');
            size_t length = (size_t)(equals - keys[key]);
            if (strlen(experiment->parameters[i].name) == length &&
                strncmp(experiment->parameters[i].name, keys[key], length) == 0)
                text = equals + 1;
        }
        values[i] = (wt_value){.text = text};
        if (experiment->parameters[i].kind != WT_FIELD_KIND_WORD)
            values[i] = (wt_value){.number = strcmp(text, "yes") == 0 ? 1 : strtod(text, NULL)};
    }
}

static void run(wt_context *context, uint64_t rep, double *metrics, const char *const *keys) {
    wt_value values[MOST], again[MOST];
    wt_cost cost;
    assert_true(recover()->parameter_count <= MOST && recover()->metric_count <= MOST);
    fill(values, keys);
    CHECK_OK(context, recover()->settle(context, values));
    /* settled values stay as they are: cells that failed are computed again from them */
    memcpy(again, values, sizeof again);
    CHECK_OK(context, recover()->settle(context, again));
    for (size_t i = 0; i < recover()->parameter_count; i++)
        assert_true(values[i].number == again[i].number && values[i].text == again[i].text);
    wt_trial trial = {.values = values, .seed = 5, .rep = rep, .count = 1};
    CHECK_OK(context, recover()->estimate(context, &trial, &cost));
    assert_true(cost.flops > 0 && cost.bytes > 0);
    CHECK_OK(context, recover()->run(context, &trial, metrics));
}

static double metric(const double *metrics, const char *name) {
    for (size_t i = 0; i < recover()->metric_count; i++)
        if (strcmp(recover()->metrics[i], name) == 0)
            return metrics[i];
    fail_msg("no metric '%s'", name);
    return NAN;
}

#define RUN(context, rep, metrics, ...)                                                            \
    run(context, rep, metrics, (const char *const[]){__VA_ARGS__, NULL})

/* d^2 + d questions and 8 checks for one head; least_samples counts unknowns over outputs. */
static void who_asks_finds_the_layer(void **state) {
    double metrics[MOST];
    RUN(*state, 0, metrics, "method=query", "heads=1", "dim=4", "out-dim=2", "samples-ratio=9");
    assert_true(metric(metrics, "success") == 1 && metric(metrics, "recovered") == 1);
    assert_true(metric(metrics, "samples") == 4 * 4 + 4 + 8);
    assert_true(metric(metrics, "least_samples") == 4 * (4 + 2) / 2.0);
    assert_true(metric(metrics, "flops") > 0 && metric(metrics, "test_error") < 1e-9);
    for (uint64_t rep = 0; rep < 3; rep++) {
        RUN(*state, rep, metrics, "method=query", "heads=2", "dim=4", "out-dim=1");
        assert_true(metric(metrics, "success") == 1 && metric(metrics, "starts") >= 1);
        /* no estimate, no polish and no check asks less */
        assert_true(metric(metrics, "samples") >= 2 * 2 * 4 * 4 + 40 + 16 + 8);
    }
}

/* Answers that are no layer's: not found, and yet it tells what was spent. */
static void noise_is_no_layer(void **state) {
    double clean[MOST], noisy[MOST];
    RUN(*state, 0, clean, "method=query", "heads=2", "dim=3", "out-dim=1", "restarts=1");
    RUN(*state, 0, noisy, "method=query", "heads=2", "dim=3", "out-dim=1", "restarts=1",
        "noise=1e-3");
    assert_true(metric(noisy, "success") == 0 && metric(noisy, "recovered") == 0);
    assert_true(metric(noisy, "starts") == 4 + 1);
    assert_true(metric(noisy, "flops") > metric(clean, "flops"));
    assert_true(metric(noisy, "samples") > metric(clean, "samples"));
}

/* The first seed at which sculpt was looked at; nothing random is asserted of others. */
static void sculpt_tells_its_stages(void **state) {
    double metrics[MOST];
    RUN(*state, 0, metrics, "method=sculpt", "heads=2", "dim=6", "length=2", "tokens=gaussian",
        "samples-ratio=200", "restarts=1");
    assert_true(metric(metrics, "success") == 1 && metric(metrics, "sculpted") == 1);
    assert_true(metric(metrics, "span_found") == 1 && metric(metrics, "span_gap") > 8);
    assert_true(metric(metrics, "span_error") > 0 && metric(metrics, "span_error") < 0.3);
    assert_true(metric(metrics, "starts") == 1 && metric(metrics, "accepted_rows") > 0);
    double whole = metric(metrics, "flops");
    static const char *const ways[] = {"degenerate=zero-sum", "degenerate=equal-w"};
    for (size_t i = 0; i < 2; i++) {
        RUN(*state, 0, metrics, "method=sculpt", "heads=2", "dim=6", "length=2", "tokens=gaussian",
            "samples-ratio=200", "restarts=1", ways[i]);
        assert_true(metric(metrics, "success") == 0 && metric(metrics, "recovered") == 0);
        assert_true(metric(metrics, "sculpted") == 0 && metric(metrics, "span_found") == 0);
        assert_true(metric(metrics, "starts") == 0 && metric(metrics, "all_steps") == 0);
        assert_true(metric(metrics, "flops") > 0 && metric(metrics, "flops") < whole);
        assert_true(metric(metrics, "samples") == 200 * 18);
        assert_true(isnan(metric(metrics, "theta_error")));
    }
}

/* Runs to the end that find nothing: costs are those of all starts. */
static void what_was_given_up_has_a_price(void **state) {
    double one[MOST], three[MOST];
    RUN(*state, 1, one, "parity=5", "dim=8", "length=2", "restarts=1", "steps=3");
    RUN(*state, 1, three, "parity=5", "dim=8", "length=2", "restarts=3", "steps=3");
    assert_true(metric(one, "recovered") == 0 && metric(three, "recovered") == 0);
    assert_true(metric(one, "starts") == 1 && metric(three, "starts") == 3);
    assert_true(metric(three, "flops") > metric(one, "flops") && metric(one, "flops") > 0);
    assert_true(metric(three, "all_steps") > metric(one, "all_steps"));
    assert_true(isnan(metric(one, "span_found")));
}

/* Nearly parallel Theta are found all the same where there is no noise. */
static void parallel_heads_are_close(void **state) {
    double metrics[MOST];
    RUN(*state, 0, metrics, "heads=2", "dim=4", "length=4", "samples-ratio=20",
        "degenerate=parallel");
    assert_true(metric(metrics, "success") == 1);
}

static void values_are_refused(void **state) {
    static const struct {
        const char *keys[4], *words;
    } bad[] = {
        {{"method=query", "heads=257", NULL}, "query takes up to 256 heads"},
        {{"method=query", "dim=4097", NULL}, "query takes up to 256 heads in 4096 dimensions"},
        {{"degenerate=very", NULL}, "degenerate: 'very' is none of no|parallel|equal-w"},
        {{"heads=1", "degenerate=zero-sum", NULL}, "a teacher of one head cannot be zero-sum"},
    };
    wt_value values[MOST];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fill(values, bad[i].keys);
        CHECK_FAILS(*state, recover()->settle(*state, values), WT_USAGE, bad[i].words);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_asks_finds_the_layer), cmocka_unit_test(noise_is_no_layer),
        cmocka_unit_test(sculpt_tells_its_stages),  cmocka_unit_test(what_was_given_up_has_a_price),
        cmocka_unit_test(parallel_heads_are_close), cmocka_unit_test(values_are_refused),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
