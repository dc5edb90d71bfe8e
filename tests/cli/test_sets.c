/* draw, fit, predict, score and curve, as a user runs them. */
#define _GNU_SOURCE
#include <jansson.h>
#include <sys/stat.h>

#include "cli/run.h"
#include "features/task/sets.h"
#include "wattle/fit.h"
#include "wattle/io.h"

#define DATA TEST_DATA "/fixtures/sets.npz"
/* As run_refuses, and what is said must be one sentence. */
static void refuses(const char *line, int code, const char *words) {
    const run_result *result = run_refuses(line, code, words);
    if (!run_is_sentence(result->err))
        fail_msg("wattle %s says more than a sentence: %s", line, result->err);
}

static bool same_bytes(const char *a, const char *b) {
    char line[160];
    snprintf(line, sizeof line, "cmp -s %s/%s %s/%s", run_folder, a, run_folder, b);
    return system(line) == 0;
}

static void drawing_on_the_fly_is_drawing_first(void **state) {
    (void)state;
    run_must("draw --target corr-power:2 --dim 4 --keys 3 --n 60 --noise 0.1 --seed 7 -o data.npz");
    run_must("fit data.npz --heads 6 --seed 7 -o a.safetensors");
    run_must("fit --target corr-power:2 --dim 4 --keys 3 --n 60 --noise 0.1 --heads 6 --seed 7 "
             "-o b.safetensors");
    assert_true(same_bytes("a.safetensors", "b.safetensors"));
    run_must("fit data.npz --heads 60 --seed 7 -o a.safetensors"); /* the dual */
    run_must("fit --target corr-power:2 --dim 4 --keys 3 --n 60 --noise 0.1 --heads 60 --seed 7 "
             "-o b.safetensors --threads 3");
    assert_true(same_bytes("a.safetensors", "b.safetensors"));
    run_must("fit data.npz --heads 60 --seed 8 -o b.safetensors");
    assert_false(same_bytes("a.safetensors", "b.safetensors"));
}

static void predictions_and_scores_agree(void **state) {
    run_must("draw --target mean-power:2 --dim 4 --keys 3 --n 40 --seed 3 -o data.npz");
    static const char *const models[] = {"rfa",     "brfa",     "rfmlp",
                                         "rfa-inf", "brfa-inf", "rfmlp-inf"};
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        char line[256];
        snprintf(line, sizeof line,
                 "fit data.npz --model %s --heads 8 --lambda 1e-2 -o model.safetensors --json",
                 models[m]);
        double error = run_number(line, "train_error");
        run_must("predict model.safetensors data.npz -o yhat.npy");
        /* the score of the stored model is the train error of the fit, up to rounding */
        CHECK_NEAR(run_number("score model.safetensors data.npz --json", "relative_error"), error,
                   1e-9);
        char path[96];
        wt_file *file;
        double y[40], yhat[40], square = 0;
        snprintf(path, sizeof path, "%s/yhat.npy", run_folder);
        CHECK_OK(*state, wt_file_open(*state, path, &file));
        assert_int_equal(wt_file_at(file, 0)->count, 40);
        CHECK_OK(*state, wt_file_read(*state, file, wt_file_at(file, 0), yhat));
        wt_file_free(file);
        snprintf(path, sizeof path, "%s/data.npz", run_folder);
        CHECK_OK(*state, wt_file_open(*state, path, &file));
        CHECK_OK(*state, wt_file_read(*state, file, wt_file_find(file, "y"), y));
        wt_file_free(file);
        for (int i = 0; i < 40; i++)
            square += pow(y[i] - yhat[i], 2) / 40;
        CHECK_NEAR(run_number("score model.safetensors data.npz --json", "mean_square"), square,
                   1e-12);
    }
}

/* Labels a model has made are learned the better the smaller lambda is, as far as numbers go. */
static void a_lambda_at_an_end_is_remarked_on(void **state) {
    char path[128];
    wt_sets *sets;
    wt_fitted *fitted;
    run_must("draw --target corr:1 --dim 2 --keys 2 --n 60 --seed 3 -o data.npz");
    run_must("fit data.npz --heads 4 --seed 3 -o model.safetensors");
    snprintf(path, sizeof path, "%s/model.safetensors", run_folder);
    CHECK_OK(*state, wt_fitted_load(*state, path, &fitted));
    snprintf(path, sizeof path, "%s/data.npz", run_folder);
    CHECK_OK(*state, wt_sets_load(*state, path, &sets));
    CHECK_OK(*state, wt_fitted_predict(*state, fitted, sets, wt_sets_y(sets)));
    CHECK_OK(*state, wt_sets_save(*state, sets, path, NULL));
    wt_fitted_free(fitted);
    wt_sets_free(sets);
    static const char words[] = "the chosen lambda is an end of what double precision allows";
#define FIT "fit data.npz --heads 4 --seed 3 "
    CHECK_SAYS(run_in_folder(FIT "--lambda loo"), 0, words);
    CHECK_PRINTS(run_in_folder(FIT "--lambda loo -q"), "(loo, at an end)");
    CHECK_PRINTS(run_in_folder(FIT "--lambda loo --json -q"), words);
    CHECK_PRINTS(run_in_folder(FIT "--lambda loo --json -q"), "\"lambda_at_end\": true");
    assert_true(run_number(FIT "--lambda loo --json", "lambda") < 1e-8);
    CHECK_PRINTS(run_in_folder(FIT "--lambda 1 --json"), "\"lambda_at_end\": false");
    CHECK_PRINTS(run_in_folder(FIT "--lambda 1 --json"), "\"warnings\": []");
#undef FIT
#define CURVE                                                                                      \
    "curve --model rfa --target mean-power:2 --dim 4 --keys 3 --heads 8 --n 8 --reps 2 --test-n "  \
    "9 --lambda loo --lambda-path 1e-12 "
    CHECK_SAYS(run_in_folder(CURVE), 0, words);
    CHECK_SAYS(run_in_folder(CURVE), 0, "of 2 points");
    CHECK_PRINTS(run_in_folder(CURVE "--json -q"), "\"lambda_at_end\": true");
#undef CURVE
}

static void lambda_rules_and_plans_are_told(void **state) {
    (void)state;
    run_must(
        "draw --target mean-power:2 --dim 4 --keys 3 --n 40 --noise 0.05 --seed 3 -o data.npz");
    double lambda = run_number("fit data.npz --heads 30 --lambda loo --json", "lambda");
    double loo = run_number("fit data.npz --heads 30 --lambda loo --json", "loo_error");
    for (double other = 1e-8; other < 20; other *= 10) {
        char line[128];
        snprintf(line, sizeof line, "fit data.npz --heads 30 --lambda %g --json", other);
        /* the chosen one is the least of the path, up to the rounding of the path's powers */
        assert_true(run_number(line, "loo_error") >= loo * (1 - 1e-6));
    }
    assert_true(lambda >= 1e-8 && lambda <= 10);
    assert_int_equal((int)run_number("fit data.npz --heads 30 --lambda min-norm --json", "rank"),
                     40);
    assert_true(run_number("fit data.npz --heads 30 --plan --json", "bytes") > 0);
    assert_non_null(strstr(run_in_folder("fit data.npz --heads 30 --plan")->out, "dual"));
    assert_non_null(strstr(run_in_folder("fit data.npz --heads 3 --plan")->out, "primal"));
    assert_non_null(
        strstr(run_in_folder("fit --target corr:1 --n 99999 --heads 3 --plan")->out, "streamed"));
}

static void balls_are_certified(void **state) {
    (void)state;
    run_must("fit " DATA " --heads 4 --loss absolute --ball 1,2 -o model.safetensors");
    double gap =
        run_number("fit " DATA " --heads 4 --loss huber --ball 1,2 --json", "relative_gap");
    assert_true(gap >= 0 && gap <= 1e-6);
    const run_result *result =
        run_in_folder("fit " DATA " --heads 4 --ball 1,2 --steps 1 --tolerance 1e-14 "
                      "-o no");
    assert_int_equal(result->code, 1);
    assert_non_null(strstr(result->out, "NOT within"));
    refuses("fit " DATA " --heads 4 --ball 1,2 --steps 1 --tolerance 1e-14 -o no", 1, "--steps");
}

static size_t count_lines(const char *name) {
    char path[96];
    snprintf(path, sizeof path, "%s/%s", run_folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t lines = 0;
    for (int c; (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    fclose(file);
    return lines;
}

static void curves_are_tables_and_pictures(void **state) {
    (void)state;
    run_must(
        "curve --model rfa,rfmlp,rfa-inf --target mean-power:2,corr:1 --dim 4 --keys 3 --heads "
        "5,10 "
        "--n 8:32:x2 --reps 2 --test-n 20 --seed 1 -o a.csv --plot a.svg");
    /* (2 + 2 + 1 settings) x 2 targets x 2 repetitions x 3 sizes, and the heading */
    assert_int_equal(count_lines("a.csv"), 5 * 2 * 2 * 3 + 1);
    run_must(
        "curve --model rfa,rfmlp,rfa-inf --target mean-power:2,corr:1 --dim 4 --keys 3 --heads "
        "5,10 "
        "--n 8:32:x2 --reps 2 --test-n 20 --seed 1 -o b.csv --plot b.svg --threads 3");
    assert_true(same_bytes("a.csv", "b.csv"));
    assert_true(same_bytes("a.svg", "b.svg"));
    assert_non_null(
        strstr(run_in_folder("curve --dim 3 --keys 2 --heads 4 --n 4,8 --reps 2 --test-n 9 "
                             "--plot -")
                   ->out,
               "samples n"));
    run_must("curve " DATA " --model rfa,brfa-inf --heads 3 --n 4,8 --reps 2 -o c.csv");
    assert_int_equal(count_lines("c.csv"), 2 * 2 * 2 + 1);
}

/* The mean test error at the largest n of the first curve. */
static double last_mean(const char *line) {
    json_t *all = json_loads(run_in_folder(line)->out, 0, NULL);
    json_t *curve = json_array_get(json_object_get(all, "curves"), 0);
    json_t *summary = json_object_get(curve, "summary");
    json_t *last = json_array_get(summary, json_array_size(summary) - 1);
    double value = json_number_value(json_object_get(last, "mean"));
    json_decref(all);
    return value;
}

static void draws_do_not_depend_on_what_runs_beside(void **state) {
    (void)state;
#define SETTING " --dim 4 --keys 3 --heads 9 --reps 2 --test-n 20 --seed 4 --lambda 1e-2 --json"
    double alone = last_mean("curve --model rfa --target corr:1 --n 24" SETTING);
    assert_true(alone > 0);
    /* rounding only: the factor of a leading block may be cut into other tiles */
    CHECK_NEAR(last_mean("curve --model rfa,brfa --target corr:1,mean-power:2 --n 6,12,24" SETTING),
               alone, 1e-8);
    assert_true(last_mean("curve --model rfa --target corr:1 --n 24,48" SETTING) != alone);
#undef SETTING
}

/* Runs a curve of a million repetitions into part.csv and presses Ctrl-C after the seconds. */
static void interrupt_a_curve(double seconds) {
    pid_t child = run_start("curve --model rfa --target corr:1 --dim 4 --keys 3 --heads 5 "
                            "--n 8:32:x2 --reps 1000000 --test-n 20 -q -o part.csv",
                            -1);
    run_pause(seconds);
    int status = run_end(child, SIGINT);
    if (WIFEXITED(status)) /* else it was not yet listening */
        assert_int_equal(WEXITSTATUS(status), 75);
}

/* The file holds whole cells. A busy machine may not have finished one at first. */
static void interrupted_curves_keep_their_cells(void **state) {
    (void)state;
    char output[96];
    snprintf(output, sizeof output, "%s/part.csv", run_folder);
    for (double seconds = 0.5; access(output, F_OK) != 0; seconds *= 2)
        interrupt_a_curve(seconds);
    assert_true(count_lines("part.csv") > 3);
    assert_int_equal((count_lines("part.csv") - 1) % 3, 0);
}

static void bad_input_is_refused(void **state) {
    (void)state;
    refuses("draw --target mean-powr:2 -o no", 64, "did you mean mean-power:p?");
    refuses("draw --target mean-power:-1 -o no", 64, "whole number");
    refuses("draw --target mean-power:2 --n 0 -o no", 64, "--n");
    refuses("draw --target mean-power:2", 64, "--output");
    refuses("draw --target mean-power:2 --noise -1 -o no", 64, "noise");
    refuses("fit -o no", 64, "neither");
    refuses("fit " DATA " --target corr:1 -o no", 64, "both");
    refuses("fit missing.npz -o no", 66, "missing.npz");
    refuses("fit " TEST_DATA "/fixtures/types.npz -o no", 65, "query");
    refuses("fit " DATA " --lambda -1 -o no", 64, "--lambda: must be 0 or more");
    refuses("fit " DATA " --lambda twelve -o no", 64, "twelve");
    refuses("fit " DATA " --lambda oracle -o no", 64, "test data");
    refuses("fit " DATA " --heads 0 -o no", 64, "--heads");
    refuses("fit " DATA " --ball 0,1 -o no", 64, "K1 and K2");
    refuses("fit " DATA " --ball 1 -o no", 64, "K1,K2");
    refuses("fit " DATA " --loss absolute -o no", 64, "--ball");
    refuses("fit " DATA " --ball 1,1 --lambda 1 -o no", 64, "--lambda");
    refuses("fit " DATA " --model rfa-inf --activation softmax -o no", 64, "softmax");
    refuses("fit " DATA " --model rfa-inf --ball 1,1 -o no", 64, "finitely many");
    refuses("fit " DATA " --mem 1K -o no", 70, "memory budget");
    run_must("draw --target mean-power:2 --dim 5 --keys 3 --n 9 -o other.npz");
    refuses("fit " DATA " --test other.npz -o no", 65, "5 dimensions");
    refuses("predict " TEST_DATA "/fixtures/rfa.safetensors other.npz -o no.npy", 65,
            "5 dimensions");
    refuses("predict " TEST_DATA "/fixtures/layer.safetensors other.npz -o no.npy", 65, "layer");
    refuses("curve " DATA " --n 100 -o no", 64, "100");
    refuses("curve --model rfa,nope -o no", 64, "nope");
    refuses("curve --n 8,4 -o no", 64, "increase");
    refuses("curve --plot no.gif", 64, "no.gif");
    refuses("curve --activation tanh -o no", 64, "tanh");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawing_on_the_fly_is_drawing_first),
        cmocka_unit_test(predictions_and_scores_agree),
        cmocka_unit_test(lambda_rules_and_plans_are_told),
        cmocka_unit_test(a_lambda_at_an_end_is_remarked_on),
        cmocka_unit_test(balls_are_certified),
        cmocka_unit_test(curves_are_tables_and_pictures),
        cmocka_unit_test(draws_do_not_depend_on_what_runs_beside),
        cmocka_unit_test(interrupted_curves_keep_their_cells),
        cmocka_unit_test(bad_input_is_refused),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
