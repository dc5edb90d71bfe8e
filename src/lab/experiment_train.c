/* Training a network on a sparse Boolean function: `train` measures all there is of one trial,
 * `threshold` asks for success alone, so that its validations may end early. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "device/device.h"
#include "lab/experiment.h"
#include "network/learn/fleet.h"
#include "network/learn/train_fields.h"

/* A cell: the setting of a trial, and what `train` alone has beside it. */
typedef struct {
    wt_train_spec train; /* first, as its fields have it */
    size_t test_samples, gap_starts;
    double dim_ratio;
} cell;

static const wt_field threshold_fields[] = {WT_TRAIN_RECIPE("100", "5")};
static const wt_field train_fields[] = {
    WT_TRAIN_RECIPE("100", "1"),
    WT_TRAIN_TRIAL,
    {"test-samples", WT_FIELD_KIND_COUNT, "10000", .offset = offsetof(cell, test_samples),
     .range = "[2,inf)", .help = "Fresh samples that the trained network is measured on."},
    {"dim-ratio", WT_FIELD_KIND_REAL, "0", .offset = offsetof(cell, dim_ratio), .range = "[0,inf)",
     .since = 2, .help = "Width of a token over the length; 0 = as dim says."},
    {"gap-starts", WT_FIELD_KIND_COUNT, "1", .offset = offsetof(cell, gap_starts), .since = 2,
     .help = "worst_miss_gap is the largest of so many runs on the one training set."},
};
enum {
    THRESHOLD_FIELDS = sizeof threshold_fields / sizeof *threshold_fields,
    TRAIN_FIELDS = sizeof train_fields / sizeof *train_fields
};

enum { MOST_DIM = 100000 };
/* clang-format off */
#define METRICS(METRIC)                                                                            \
    METRIC(success) METRIC(runs) METRIC(success_step) METRIC(best_accuracy) METRIC(redrawn)        \
    METRIC(mark_step) METRIC(fall_over_plateau) METRIC(steps_taken) METRIC(loss)                   \
    METRIC(train_loss) METRIC(test_loss) METRIC(test_accuracy) METRIC(gap) METRIC(settled)         \
    METRIC(train_miss) METRIC(miss_gap) METRIC(worst_miss_gap) METRIC(attention_mass)              \
    METRIC(best_attention_mass) METRIC(qk_spectral) METRIC(qk_two_one) METRIC(v_spectral)          \
    METRIC(v_two_one)
/* clang-format on */
enum { METRICS(WT_METRIC_PLACE) TRAIN_METRICS, THRESHOLD_METRICS = METRIC_mark_step };
static const char *const metrics[] = {METRICS(WT_METRIC_NAME)};

/* The cell that the values of a threshold, or of a whole trial, describe. */
static cell cell_of(const wt_field *fields, size_t count, const wt_value *values) {
    cell out = {.gap_starts = 1};
    WT_INIT(wt_train_spec, &out.train);
    wt_fields_set(fields, count, values, &out);
    return out;
}

/* Dropouts by name, and what a head or a perceptron does not have. */
static void settle_network(wt_train_spec *setting) {
    bool transformer = strcmp(setting->model, "transformer") == 0;
    bool head = strcmp(setting->model, "head") == 0;
    wt_train_spec_settle(setting);
    setting->dropout = 0; /* said by the three */
    if (head)
        setting->embedding_dropout = setting->block_dropout = 0;
    if (!transformer) {
        setting->attention_dropout = 0;
        setting->heads = 0;
        setting->fixed_positions = false;
    }
    if (setting->hidden == 0 && !head)
        setting->hidden = 4 * setting->dim;
}

static size_t dim_of(const cell *one) {
    return one->dim_ratio > 0 ? (size_t)fmax(1, round(one->dim_ratio * (double)one->train.length))
                              : one->train.dim;
}

/* Opening a trainer is the whole check, and a wrong value is told before the sweep begins. A short
 * task on one sample will do, as there may be many cells. */
static wt_status check_recipe(wt_context *context, const cell *one) {
    wt_trainer *trainer = NULL;
    wt_train_spec setting = one->train;
    setting.dim = dim_of(one);
    setting.keep_ambiguous = true;
    setting.samples = 1;
    if (setting.length > 2 * WT_BOOLEAN_MAX_BITS)
        setting.length = 2 * WT_BOOLEAN_MAX_BITS;
    wt_status status = wt_trainer_new(context, &setting, &trainer);
    wt_trainer_free(trainer);
    return status;
}

static wt_status settle_threshold(wt_context *context, wt_value *values) {
    cell one = cell_of(threshold_fields, THRESHOLD_FIELDS, values);
    settle_network(&one.train);
    wt_fields_get(threshold_fields, THRESHOLD_FIELDS, &one, values);
    return check_recipe(context, &one);
}

static wt_status settle_train(wt_context *context, wt_value *values) {
    cell one = cell_of(train_fields, TRAIN_FIELDS, values);
    double ratio = one.dim_ratio;
    WT_PASS(wt_fields_check(context, train_fields, TRAIN_FIELDS, &one));
    if (ratio * (double)one.train.length > MOST_DIM)
        WT_PASS(wt_fail(context, WT_USAGE, "dim-ratio must make tokens of at most %d, not %g",
                        MOST_DIM, ratio * (double)one.train.length));
    if (ratio > 0 && strcmp(one.train.model, "head") != 0)
        WT_PASS(
            wt_fail(context, WT_USAGE, "dim-ratio is of model=head, not of %s", one.train.model));
    if (ratio > 0)
        one.train.dim = 1; /* not read */
    settle_network(&one.train);
    WT_PASS(check_recipe(context, &one));
    wt_fields_get(train_fields, TRAIN_FIELDS, &one, values);
    return WT_OK;
}

/* Measured: the rate of a step's products in float over that of a large product in double, with and
 * without dropout of token vectors, and of a head; what projecting a d by d matrix onto its balls
 * takes, in products of d^3 (at d = 16, two balls that meet; without singular values it is nothing
 * beside the step); the runs of a trial that stops at success, for some end early and others take
 * all they may; and the steps of a head that may settle. */
#define RATE_ABSORBED 1.4
#define RATE_TABLES   1.0
#define RATE_HEAD     0.4
#define PROJECTION    3e4
#define RUNS_A_TRIAL  1.5
#define SETTLED_STEPS 1000.0

static wt_cost cost_of(const cell *one, double samples, double steps) {
    const wt_train_spec *setting = &one->train;
    double d = (double)dim_of(one), n = (double)setting->length + 1, tail = 54 * d * d;
    double heads = fmax(1, (double)setting->heads);
    double absorbed = samples * (12 * n * d * heads + 18 * d * d + tail);
    double tables = 12 * n * d * (d + heads) + samples * (6 * n * d + tail);
    double step = setting->embedding_dropout > 0 ? absorbed / RATE_ABSORBED : tables / RATE_TABLES;
    if (strcmp(setting->model, "head") == 0)
        step = samples * (8 * n * d + 6 * d * d) / RATE_HEAD;
    if (setting->balls != NULL && strstr(setting->balls, "spectral") != NULL)
        step += PROJECTION * d * d * d;
    return (wt_cost){.flops = step * steps,
                     .bytes = 4 * (60 * n * d + 500 * d * d) + (samples + 10000) * n};
}

static wt_status estimate_threshold(wt_context *context, const wt_trial *trial, wt_cost *out) {
    (void)context;
    cell one = cell_of(threshold_fields, THRESHOLD_FIELDS, trial->values);
    *out = cost_of(&one, (double)one.train.samples, RUNS_A_TRIAL * (double)one.train.steps);
    return WT_OK;
}

static wt_status estimate_train(wt_context *context, const wt_trial *trial, wt_cost *out) {
    (void)context;
    cell one = cell_of(train_fields, TRAIN_FIELDS, trial->values);
    double steps = (double)one.train.steps;
    if (one.train.settle > 0)
        steps = fmin(steps, SETTLED_STEPS);
    *out = cost_of(&one, fmax((double)one.train.online, (double)one.train.samples),
                   steps * (double)one.gap_starts);
    return WT_OK;
}

static void fill_result(const wt_train_result *result, double *out) {
    out[METRIC_success] = result->success;
    out[METRIC_runs] = (double)result->runs;
    out[METRIC_success_step] = result->success ? (double)result->success_step : NAN;
    out[METRIC_best_accuracy] = result->best_accuracy;
    out[METRIC_redrawn] = (double)result->redrawn;
}

static wt_status run_threshold(wt_context *context, const wt_trial *trial, double *out) {
    cell one = cell_of(threshold_fields, THRESHOLD_FIELDS, trial->values);
    wt_train_result result = WT_SIZED(wt_train_result);
    one.train.hasty = true;
    wt_status status = wt_train_run(context, &one.train, wt_trial_seed(trial), &result);
    if (status == WT_OK)
        fill_result(&result, out);
    return status;
}

/* The largest norms of W_QK and of W_V over the heads. */
static void fill_norms(const wt_train_measure *measure, double *out) {
    for (size_t i = 0; i < measure->norm_count; i++) {
        const wt_train_norm *norm = &measure->norms[i];
        bool qk = strncmp(norm->name, "qk.", 3) == 0 || strcmp(norm->name, "w_qk") == 0;
        bool v = strncmp(norm->name, "v.", 2) == 0 || strcmp(norm->name, "w_v") == 0;
        if (!qk && !v)
            continue;
        double *into = out + (qk ? METRIC_qk_spectral : METRIC_v_spectral);
        into[0] = fmax(into[0], norm->spectral); /* fmax takes NaN for nothing */
        into[1] = fmax(into[1], norm->two_one);
    }
}

/* log of the steps from 90% to 10% of ln 2 over the steps before; NaN where the loss did not fall.
 */
static double fall_over_plateau(const wt_train_result *result) {
    if (result->leave_step == 0 || result->low_step == 0)
        return NAN;
    double fall = fmax(1, (double)result->low_step - (double)result->leave_step);
    return log(fall / (double)result->leave_step);
}

static void fill_measure(const wt_train_measure *measure, double *out) {
    out[METRIC_train_loss] = measure->train_loss;
    out[METRIC_test_loss] = measure->test_loss;
    out[METRIC_test_accuracy] = measure->test_accuracy;
    out[METRIC_gap] = measure->gap;
    out[METRIC_train_miss] = measure->train_miss;
    out[METRIC_miss_gap] = out[METRIC_worst_miss_gap] = measure->test_miss - measure->train_miss;
    out[METRIC_attention_mass] = measure->heads > 0 ? measure->mass : NAN;
    out[METRIC_best_attention_mass] = measure->heads > 0 ? measure->best_mass : NAN;
    fill_norms(measure, out);
}

/* The worst gap of a class, looked for: one more start, whose run may fit the set better. Where
 * labels are coins every network misses half of the fresh ones, so that the worst gap is where the
 * training set is missed least, which is what training looks for. */
static wt_status run_again(wt_context *context, wt_trainer *trainer, size_t test_samples,
                           double *out) {
    wt_train_measure measure = WT_SIZED(wt_train_measure);
    wt_train_result result = WT_SIZED(wt_train_result);
    wt_status status;
    wt_trainer_restart(trainer);
    WT_TRY(wt_trainer_run(context, trainer, SIZE_MAX));
    WT_TRY(wt_trainer_measure(context, trainer, test_samples, &measure));
    out[METRIC_worst_miss_gap] =
        fmax(out[METRIC_worst_miss_gap], measure.test_miss - measure.train_miss);
    WT_TRY(wt_trainer_result(context, trainer, &result));
    out[METRIC_settled] = fmin(out[METRIC_settled], result.settled);
done:
    wt_train_measure_free(&measure);
    return status;
}

/* What became of a trial. */
static wt_status fill_trainer(wt_context *context, wt_trainer *trainer, size_t test_samples,
                              const wt_train_result *result, double *out) {
    wt_train_measure measure = WT_SIZED(wt_train_measure);
    wt_status status = wt_trainer_measure(context, trainer, test_samples, &measure);
    if (status == WT_OK) {
        fill_result(result, out);
        fill_measure(&measure, out);
        out[METRIC_mark_step] = result->mark_step > 0 ? (double)result->mark_step : NAN;
        out[METRIC_fall_over_plateau] = fall_over_plateau(result);
        out[METRIC_steps_taken] = (double)result->steps;
        out[METRIC_settled] = result->settled;
        out[METRIC_loss] = result->loss;
    }
    wt_train_measure_free(&measure);
    return status;
}

static void fill_none(double *out) {
    for (size_t i = 0; i < TRAIN_METRICS; i++)
        out[i] = NAN;
}

static wt_status run_train(wt_context *context, const wt_trial *trial, double *out) {
    cell one = cell_of(train_fields, TRAIN_FIELDS, trial->values);
    wt_trainer *trainer = NULL;
    wt_train_result result = WT_SIZED(wt_train_result);
    wt_status status;
    one.train.dim = dim_of(&one);
    one.train.seed = wt_trial_seed(trial);
    fill_none(out);
    status = wt_trainer_new(context, &one.train, &trainer);
    if (status == WT_MISSED) { /* every training set was ambiguous */
        out[METRIC_success] = out[METRIC_runs] = 0;
        status = WT_OK;
        goto done;
    }
    WT_TRY(status);
    WT_TRY(wt_trainer_run(context, trainer, SIZE_MAX));
    WT_TRY(wt_trainer_result(context, trainer, &result));
    WT_TRY(fill_trainer(context, trainer, one.test_samples, &result, out));
    for (size_t start = 1; start < one.gap_starts; start++)
        WT_TRY(run_again(context, trainer, one.test_samples, out));
done:
    wt_trainer_free(trainer);
    return status;
}

/* ---- fleets ---- */

typedef struct {
    wt_context *context;
    const cell *one;
    bool whole; /* of `train`, not of `threshold` */
    wt_trial_done_fn done;
    void *user;
} telling;

static wt_status tell(void *user, size_t trial, const wt_train_result *result,
                      wt_trainer *trainer) {
    const telling *to = user;
    double found[TRAIN_METRICS];
    fill_none(found);
    if (result == NULL)
        return to->done(to->user, trial, NULL);
    if (!to->whole)
        fill_result(result, found);
    else if (trainer == NULL)
        found[METRIC_success] = found[METRIC_runs] = 0;
    else
        WT_PASS(fill_trainer(to->context, trainer, to->one->test_samples, result, found));
    return to->done(to->user, trial, found);
}

static wt_status run_cells(wt_context *context, cell *one, bool whole, const wt_field *fields,
                           size_t field_count, const wt_trial *trials, size_t count,
                           wt_trial_done_fn done, void *user) {
    telling to = {.context = context, .one = one, .whole = whole, .done = done, .user = user};
    wt_fleet_job job = {
        .setting = &one->train, .count = count, .trainers = whole, .done = tell, .user = &to};
    const wt_fleet_engine *engine;
    wt_fleet_trial *members = NULL;
    wt_status status;
    one->train.dim = dim_of(one);
    WT_TRY(wt_fleet_engine_of(context, &engine));
    WT_TRY(WT_NEW(context, &members, count, "trials of a fleet"));
    for (size_t i = 0; i < count; i++)
        members[i] = (wt_fleet_trial){
            .seed = wt_trial_seed(&trials[i]),
            .samples = cell_of(fields, field_count, trials[i].values).train.samples};
    job.trials = members;
    status = wt_fleet_run(context, wt_context_get_device(context), engine, &job);
done:
    wt_release(members);
    return status;
}

static wt_status run_thresholds(wt_context *context, const wt_trial *trials, size_t count,
                                wt_trial_done_fn done, void *user) {
    cell one = cell_of(threshold_fields, THRESHOLD_FIELDS, trials->values);
    one.train.hasty = true;
    return run_cells(context, &one, false, threshold_fields, THRESHOLD_FIELDS, trials, count, done,
                     user);
}

static wt_status run_trains(wt_context *context, const wt_trial *trials, size_t count,
                            wt_trial_done_fn done, void *user) {
    cell one = cell_of(train_fields, TRAIN_FIELDS, trials->values);
    return run_cells(context, &one, true, train_fields, TRAIN_FIELDS, trials, count, done, user);
}

static bool threshold_fits(const wt_trial *trial) {
    (void)trial;
    return true;
}

/* One trial after another from the same training set is for a trainer. */
static bool train_fits(const wt_trial *trial) {
    return cell_of(train_fields, TRAIN_FIELDS, trial->values).gap_starts == 1;
}

const wt_experiment wt_experiment_train = {
    .name = "train",
    .summary = "a network trained on a sparse Boolean function, and what became of it",
    .result_version = 2,
    .parameters = train_fields,
    .parameter_count = TRAIN_FIELDS,
    .reps = 10,
    .metrics = metrics,
    .metric_count = TRAIN_METRICS,
    .settle = settle_train,
    .estimate = estimate_train,
    .run = run_train,
    .fleet = "m",
    .fits_fleet = train_fits,
    .run_fleet = run_trains,
};

const wt_experiment wt_experiment_threshold = {
    .name = "threshold",
    .summary = "whether a trial at one length and number of samples succeeds",
    .result_version = 2,
    .parameters = threshold_fields,
    .parameter_count = THRESHOLD_FIELDS,
    .reps = 40,
    .metrics = metrics,
    .metric_count = THRESHOLD_METRICS,
    .settle = settle_threshold,
    .estimate = estimate_threshold,
    .run = run_threshold,
    .fleet = "m",
    .fits_fleet = threshold_fits,
    .run_fleet = run_thresholds,
};
