/* Verdicts of a recovery: noise passes, whatever it does within a sequence; layers that are not of
 * the class do not, and neither does what nothing confirms. */
#include "check.h"
#include "layer/layers.h"
#include "layer/learn/recovery.h"
#include "layer/misfits.h"
#include "wattle/recover.h"

typedef struct {
    wt_layer *teacher, *layer;
    wt_sequences *data;
    wt_recover_options options;
    wt_recover_report report;
} trial;

/* Examples of a teacher of two heads in 8 dimensions, at about 10 N_min. */
static trial begin(wt_context *context, wt_law law, size_t n, uint64_t seed) {
    trial t = {.report = WT_SIZED(wt_recover_report)};
    WT_INIT(wt_recover_options, &t.options);
    CHECK_OK(context, make_teacher(context, 2, 8, 8, 2, 0, seed, &t.teacher));
    CHECK_OK(context, wt_sequences_new(context, n, 4, 8, 8, &t.data));
    CHECK_OK(context, wt_layer_draw(context, t.teacher, law, 1, 0, seed, 0, t.data));
    t.options.heads = 2;
    t.options.restarts = 8;
    t.options.seed = seed;
    return t;
}

static void run(wt_context *context, trial *t) {
    CHECK_OK(context, wt_refine(context, t->data, &t->options, &t->layer, &t->report));
}

static void end(trial *t) {
    wt_layer_free(t->teacher);
    wt_layer_free(t->layer);
    wt_sequences_free(t->data);
}

/* Noise of one number a row, a sequence or an entry: the units of the test are sequences, so that
 * none of them is structure in x. */
static void noise_passes(void **state) {
    wt_context *context = *state;
    for (size_t kind = 0; kind < 3; kind++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            trial t = begin(context, WT_LAW_GAUSSIAN, 80, seed);
            size_t count = 80 * 4 * 8, step = kind == 0 ? 1 : kind == 1 ? 8 : 32;
            double *noise = misfit_draw(seed, "noise", count, 0.1);
            for (size_t i = 0; i < count; i++)
                t.data->y[i] += noise[i / step];
            free(noise);
            run(context, &t);
            if (t.report.verdict != WT_RECOVER_VERDICT_NOISE)
                fail_msg("noise %zu, seed %d: %s, %s", kind, (int)seed,
                         wt_recover_verdict_name(t.report.verdict), t.report.reason);
            assert_true(t.report.misfit_visible > 0 &&
                        t.report.misfit_visible < t.report.train_error);
            end(&t);
        }
}

/* A tenth of y from another kind of layer, no noise: never a yes. */
static void misfits_are_no_noise(void **state) {
    wt_context *context = *state;
    for (size_t i = 0; i < MISFITS; i++) {
        trial t = begin(context, WT_LAW_GAUSSIAN, 80, 7 + i);
        misfit_change(&misfits[i], t.teacher, i, 0.1, t.data);
        run(context, &t);
        if (t.report.recovered || t.report.reason[0] == '\0')
            fail_msg("%s: %s (%s), chance %g", misfits[i].name,
                     wt_recover_verdict_name(t.report.verdict), t.report.reason,
                     t.report.misfit_chance);
        end(&t);
    }
}

/* What is simple is named. */
static void simple_misfits_are_explained(void **state) {
    static const struct {
        const char *name, *kind, *words;
    } cases[] = {{"residual", "token", "residual connection"},
                 {"constant", "constant", "biases"},
                 {"causal mask", "causal", "causal mask"},
                 {"distance bias", "scores", "distances"},
                 {"tanh after", "after", "activation"}};
    wt_context *context = *state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t i = 0; i < MISFITS; i++) {
            if (strcmp(misfits[i].name, cases[c].name) != 0)
                continue;
            trial t = begin(context, WT_LAW_GAUSSIAN, 200, 3);
            misfit_change(&misfits[i], t.teacher, 3, 0.1, t.data);
            misfit_noise(3, 0.01, t.data);
            run(context, &t);
            assert_int_equal(t.report.verdict, WT_RECOVER_VERDICT_MISFIT);
            assert_string_equal(t.report.misfit_kind, cases[c].kind);
            assert_non_null(strstr(t.report.reason, cases[c].words));
            end(&t);
        }
}

/* Five copies of twenty inputs: a misfit that shows nowhere else shows beside their spread, and
 * noise alone is not taken for one. */
static void repeated_inputs_measure_noise(void **state) {
    wt_context *context = *state;
    for (int wrong = 0; wrong < 2; wrong++) {
        trial t = begin(context, WT_LAW_GAUSSIAN, 100, 5);
        size_t x = 4 * 8, y = 4 * 8;
        for (size_t s = 20; s < 100; s++)
            memcpy(t.data->x + s * x, t.data->x + s % 20 * x, x * sizeof *t.data->x);
        CHECK_OK(context, wt_layer_forward(context, t.teacher, 100, 4, t.data->x, t.data->y));
        /* a number of its own for every input and entry */
        double *any = misfit_draw(9, "any", 20 * y, 0.1);
        for (size_t s = 0; wrong && s < 100; s++)
            for (size_t i = 0; i < y; i++)
                t.data->y[s * y + i] += any[s % 20 * y + i];
        free(any);
        misfit_noise(5, 0.01, t.data);
        run(context, &t);
        assert_int_equal(t.report.verdict,
                         wrong ? WT_RECOVER_VERDICT_MISFIT : WT_RECOVER_VERDICT_NOISE);
        if (wrong)
            assert_non_null(t.report.misfit_kind);
        end(&t);
    }
}

/* A residual connection is the limit of Theta = t I where all tokens are of one length. */
static void theta_without_bound_is_a_misfit(void **state) {
    wt_context *context = *state;
    trial t = begin(context, WT_LAW_BOOLEAN, 120, 1);
    for (size_t i = 0; i < 120 * 4 * 8; i++)
        t.data->y[i] += t.data->x[i];
    t.options.heads = 3;
    run(context, &t);
    assert_false(t.report.recovered);
    assert_non_null(strstr(t.report.reason, "residual connection"));
    end(&t);
}

static void what_nothing_confirms_is_no_yes(void **state) {
    wt_context *context = *state;
    trial t = begin(context, WT_LAW_GAUSSIAN, 80, 1);
    t.options.holdout = 0;
    run(context, &t);
    assert_true(t.report.train_error < 1e-9);
    assert_int_equal(t.report.verdict, WT_RECOVER_VERDICT_NOT_FOUND);
    assert_non_null(strstr(t.report.reason, "held out"));
    end(&t);
    /* random outputs of few sequences */
    for (uint64_t seed = 1; seed <= 40; seed++) {
        size_t n = 2 + seed % 4, d = 2 + seed % 3;
        wt_sequences *data;
        wt_layer *layer = NULL;
        wt_recover_report report = WT_SIZED(wt_recover_report);
        wt_recover_options options;
        WT_INIT(wt_recover_options, &options);
        CHECK_OK(context, wt_sequences_new(context, n, 6, d, 2, &data));
        wt_random_normal(wt_stream_for(seed, "x", 0), 0, n * 6 * d, data->x);
        wt_random_normal(wt_stream_for(seed, "y", 0), 0, n * 6 * 2, data->y);
        options.heads = 1;
        CHECK_OK(context, wt_refine(context, data, &options, &layer, &report));
        if (report.recovered)
            fail_msg("seed %d: random outputs are %s", (int)seed,
                     wt_recover_verdict_name(report.verdict));
        wt_layer_free(layer);
        wt_sequences_free(data);
    }
}

static void empty_outputs_are_refused(void **state) {
    wt_context *context = *state;
    trial t = begin(context, WT_LAW_GAUSSIAN, 40, 1);
    for (size_t i = 0; i < 40 * 4 * 8; i++)
        t.data->y[i] = (double)(i % 8);
    CHECK_FAILS(context, wt_refine(context, t.data, &t.options, &t.layer, &t.report), WT_DATA,
                "constant");
    memset(t.data->y, 0, 40 * 4 * 8 * sizeof *t.data->y);
    CHECK_FAILS(context, wt_refine(context, t.data, &t.options, &t.layer, &t.report), WT_DATA,
                "0 everywhere");
    CHECK_FAILS(context, wt_adam(context, t.data, &t.options, &t.layer, &t.report), WT_DATA,
                "0 everywhere");
    end(&t);
}

/* Tokens in five of eight dimensions: the layer comes back as it acts on them, and is 0 where no
 * token goes. Float32 data ends at the rounding of float32. */
static void invisible_parts_are_zero(void **state) {
    wt_context *context = *state;
    for (int single = 0; single < 2; single++) {
        trial t = begin(context, WT_LAW_GAUSSIAN, 80, 2);
        double *span = misfit_draw(2, "span", 3 * 8, 1);
        for (size_t token = 0; token < 80 * 4; token++) {
            double *x = t.data->x + token * 8;
            for (size_t j = 5; j < 8; j++) {
                x[j] = 0;
                for (size_t i = 0; i < 5; i++)
                    x[j] += x[i] * span[(j - 5) * 8 + i] / 4;
            }
            for (size_t j = 0; single && j < 8; j++)
                x[j] = (float)x[j];
        }
        CHECK_OK(context, wt_layer_forward(context, t.teacher, 80, 4, t.data->x, t.data->y));
        for (size_t i = 0; single && i < 80 * 4 * 8; i++)
            t.data->y[i] = (float)t.data->y[i];
        run(context, &t);
        assert_int_equal(t.report.verdict, WT_RECOVER_VERDICT_EXACT);
        assert_int_equal(t.report.rank, 5);
        assert_true(t.report.warnings > 0 && strstr(t.report.warning[0], "5 of 8") != NULL);
        assert_true((t.report.goal > 1e-9) == (single != 0));
        /* v with x^T v = 0 for every token: e_5 - sum of the combination it is made of */
        double v[8] = {0}, most = 0;
        for (size_t i = 0; i < 5; i++)
            v[i] = -span[i] / 4;
        v[5] = 1;
        for (size_t h = 0; h < 2; h++)
            for (size_t j = 0; j < 8; j++) {
                double sum = 0;
                for (size_t i = 0; i < 8; i++)
                    sum += v[i] * t.layer->theta[h * 64 + i * 8 + j];
                most = fmax(most, fabs(sum));
            }
        assert_true(most < (single ? 1e-5 : 1e-12)); /* rounding of the span */
        free(span);
        end(&t);
    }
}

/* Examples of which one side was written as float32: no layer leaves less than its rounding, nor do
 * more heads. Tokens that float32 holds as they are were not rounded. */
static void rounding_of_one_side_is_exact(void **state) {
    wt_context *context = *state;
    for (int side = 0; side < 2; side++) {
        trial t = begin(context, WT_LAW_GAUSSIAN, 80, 2);
        double *rounded = side == 0 ? t.data->y : t.data->x;
        for (size_t i = 0; i < 80 * 4 * 8; i++)
            rounded[i] = (float)rounded[i];
        t.options.heads = 0;
        run(context, &t);
        assert_int_equal(t.report.verdict, WT_RECOVER_VERDICT_EXACT);
        assert_int_equal(t.report.heads, 2);
        assert_true(t.report.goal > 1e-7 && t.report.goal < 1e-6);
        assert_true(t.report.holdout_error > 1e-9);
        end(&t);
    }
    trial t = begin(context, WT_LAW_BOOLEAN, 80, 2);
    run(context, &t);
    assert_true(t.report.goal == 1e-9);
    end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_passes),
        cmocka_unit_test(misfits_are_no_noise),
        cmocka_unit_test(simple_misfits_are_explained),
        cmocka_unit_test(repeated_inputs_measure_noise),
        cmocka_unit_test(theta_without_bound_is_a_misfit),
        cmocka_unit_test(what_nothing_confirms_is_no_yes),
        cmocka_unit_test(empty_outputs_are_refused),
        cmocka_unit_test(invisible_parts_are_zero),
        cmocka_unit_test(rounding_of_one_side_is_exact),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
