/* Training a network on a sparse Boolean function: `train` measures all there is of one trial,
 * `threshold` asks for success alone, so that its validations may end early. */
#include <math.h>
#include <string.h>

#include "lab/experiment.h"
#include "wattle/train.h"

enum {
    TASK,
    LENGTH,
    SAMPLES,
    PROBABILITY,
    NOISE,
    KEEP_AMBIGUOUS,
    MODEL,
    DIM,
    HEADS,
    HIDDEN,
    ACTIVATION,
    FIXED_POSITIONS,
    DROPOUT,
    EMBEDDING_DROPOUT,
    ATTENTION_DROPOUT,
    BLOCK_DROPOUT,
    RATE,
    WEIGHT_DECAY,
    DECOUPLED,
    CLIP,
    BALL,
    INIT_SCALE,
    STEPS,
    VALIDATE,
    VALIDATION_SAMPLES,
    SUCCESS,
    RESTARTS,
    THRESHOLD_PARAMETERS, /* the rest is of `train` alone */
    ONLINE = THRESHOLD_PARAMETERS,
    TO_END,
    LOSS_MARK,
    TEST_SAMPLES,
    DIM_RATIO,
    SETTLE,
    GAP_STARTS,
    TRAIN_PARAMETERS
};

/* clang-format off */
#define RECIPE(restarts)                                                                           \
    [TASK] = {"task", WT_FIELD_KIND_WORD, "and:3", .help = "the function, as for wattle train"},            \
    [LENGTH] = {"length", WT_FIELD_KIND_COUNT, "100", .help = "bits of a sample"},                          \
    [SAMPLES] = {"m", WT_FIELD_KIND_COUNT, "100", .help = "samples of the training set: --samples"},        \
    [PROBABILITY] = {"probability", WT_FIELD_KIND_REAL, "0", .help = "of a one; 0 = balanced labels"},      \
    [NOISE] = {"noise", WT_FIELD_KIND_REAL, "0", .help = "probability that a training label is turned"},    \
    [KEEP_AMBIGUOUS] = {"keep-ambiguous", WT_FIELD_KIND_FLAG, "no",                                 \
                        .help = "keep sets of an and that fit a second one"},                              \
    [MODEL] = {"model", WT_FIELD_KIND_WORD, "transformer", .help = "transformer, head or mlp"},             \
    [DIM] = {"dim", WT_FIELD_KIND_COUNT, "64", .help = "width of a token"},                                 \
    [HEADS] = {"heads", WT_FIELD_KIND_NATURAL, "16", .help = "heads of the transformer"},                   \
    [HIDDEN] = {"hidden", WT_FIELD_KIND_NATURAL, "0", .help = "width of the hidden layer; 0 = 4 dim"},      \
    [ACTIVATION] = {"activation", WT_FIELD_KIND_WORD, "own", .help = "of head and mlp; own = the usual"},   \
    [FIXED_POSITIONS] = {"fixed-positions", WT_FIELD_KIND_FLAG, "no",                               \
                         .help = "the transformer's positional table stays as drawn"},                     \
    [DROPOUT] = {"dropout", WT_FIELD_KIND_REAL, "-1",                                               \
                 .help = "everywhere; -1 = 0.1 in a transformer, 0 in an mlp"},                            \
    [EMBEDDING_DROPOUT] = {"embedding-dropout", WT_FIELD_KIND_REAL, "-1",                           \
                           .help = "of token vectors; -1 = dropout"},                                      \
    [ATTENTION_DROPOUT] = {"attention-dropout", WT_FIELD_KIND_REAL, "-1",                           \
                           .help = "of attention weights; -1 = dropout"},                                  \
    [BLOCK_DROPOUT] = {"block-dropout", WT_FIELD_KIND_REAL, "-1",                                   \
                       .help = "of what a block adds; -1 = dropout"},                                      \
    [RATE] = {"lr", WT_FIELD_KIND_REAL, "1e-3", .help = "learning rate of Adam's method"},                  \
    [WEIGHT_DECAY] = {"weight-decay", WT_FIELD_KIND_REAL, "1e-4", .help = "as L2 in the gradient"},         \
    [DECOUPLED] = {"decoupled", WT_FIELD_KIND_FLAG, "no", .help = "take the decay from the parameters"},    \
    [CLIP] = {"clip", WT_FIELD_KIND_REAL, "1", .help = "most length of the gradient; 0 = any"},             \
    [BALL] = {"ball", WT_FIELD_KIND_TEXT, "none", .help = "hard norm balls: qk.two-one=8,v.spectral=2"},    \
    [INIT_SCALE] = {"init-scale", WT_FIELD_KIND_REAL, "1", .help = "trained matrices start times this"},    \
    [STEPS] = {"steps", WT_FIELD_KIND_COUNT, "1000", .help = "steps of a run"},                             \
    [VALIDATE] = {"validate", WT_FIELD_KIND_COUNT, "10", .help = "steps between validations"},              \
    [VALIDATION_SAMPLES] = {"validation-samples", WT_FIELD_KIND_COUNT, "10000",                     \
                            .help = "fresh samples of a validation"},                                      \
    [SUCCESS] = {"success-accuracy", WT_FIELD_KIND_REAL, "0.99", .help = "validation accuracy to pass"},    \
    [RESTARTS] = {"restarts", WT_FIELD_KIND_COUNT, restarts, .help = "runs at most"}
/* clang-format on */

static const wt_field threshold_parameters[THRESHOLD_PARAMETERS] = {RECIPE("5")};
static const wt_field train_parameters[TRAIN_PARAMETERS] = {
    RECIPE("1"),
    [ONLINE] = {"online", WT_FIELD_KIND_NATURAL, "0",
                .help = "fresh samples a step in place of a training set; 0 = none"},
    [TO_END] = {"to-end", WT_FIELD_KIND_FLAG, "no", .help = "take all steps, also after a success"},
    [LOSS_MARK] = {"loss-mark", WT_FIELD_KIND_REAL, "0.35",
                   .help = "mark_step is the first below it"},
    [TEST_SAMPLES] = {"test-samples", WT_FIELD_KIND_COUNT, "10000",
                      .help = "fresh samples measured on"},
    [DIM_RATIO] = {"dim-ratio", WT_FIELD_KIND_REAL, "0",
                   .help = "width of a token over the length; 0 = as dim says", .since = 2},
    [SETTLE] =
        {"settle", WT_FIELD_KIND_REAL, "0",
         .help = "end a run whose second half gained less than this part of the loss's fall below "
                 "ln 2; 0 = take all steps",
         .since = 2},
    [GAP_STARTS] = {"gap-starts", WT_FIELD_KIND_COUNT, "1",
                    .help = "worst_miss_gap is the largest of so many runs on the one training set",
                    .since = 2},
};

enum { MOST_DIM = 100000 };
enum { M_SUCCESS, M_RUNS, M_SUCCESS_STEP, M_BEST_ACCURACY, M_REDRAWN, THRESHOLD_METRICS };
enum {
    M_MARK_STEP = THRESHOLD_METRICS,
    M_FALL,
    M_STEPS,
    M_LOSS,
    M_TRAIN_LOSS,
    M_TEST_LOSS,
    M_TEST_ACCURACY,
    M_GAP,
    M_SETTLED,
    M_TRAIN_MISS,
    M_MISS_GAP,
    M_WORST_MISS_GAP,
    M_MASS,
    M_BEST_MASS,
    M_QK_SPECTRAL,
    M_QK_TWO_ONE,
    M_V_SPECTRAL,
    M_V_TWO_ONE,
    TRAIN_METRICS
};
static const char *const metrics[TRAIN_METRICS] = {[M_SUCCESS] = "success",
                                                   [M_RUNS] = "runs",
                                                   [M_SUCCESS_STEP] = "success_step",
                                                   [M_BEST_ACCURACY] = "best_accuracy",
                                                   [M_REDRAWN] = "redrawn",
                                                   [M_MARK_STEP] = "mark_step",
                                                   [M_FALL] = "fall_over_plateau",
                                                   [M_STEPS] = "steps_taken",
                                                   [M_LOSS] = "loss",
                                                   [M_TRAIN_LOSS] = "train_loss",
                                                   [M_TEST_LOSS] = "test_loss",
                                                   [M_TEST_ACCURACY] = "test_accuracy",
                                                   [M_GAP] = "gap",
                                                   [M_SETTLED] = "settled",
                                                   [M_TRAIN_MISS] = "train_miss",
                                                   [M_MISS_GAP] = "miss_gap",
                                                   [M_WORST_MISS_GAP] = "worst_miss_gap",
                                                   [M_MASS] = "attention_mass",
                                                   [M_BEST_MASS] = "best_attention_mass",
                                                   [M_QK_SPECTRAL] = "qk_spectral",
                                                   [M_QK_TWO_ONE] = "qk_two_one",
                                                   [M_V_SPECTRAL] = "v_spectral",
                                                   [M_V_TWO_ONE] = "v_two_one"};

static size_t count_of(const wt_value *values, size_t parameter) {
    return (size_t)values[parameter].number;
}

static wt_train_setting recipe_of(const wt_value *values) {
    wt_train_setting out = wt_train_setting_default();
    const char *activation = values[ACTIVATION].text, *balls = values[BALL].text;
    double probability = values[PROBABILITY].number;
    out.task.function = values[TASK].text;
    out.task.length = count_of(values, LENGTH);
    out.task.probability = probability == 0 ? NAN : probability;
    out.task.noise = values[NOISE].number;
    out.samples = count_of(values, SAMPLES);
    out.keep_ambiguous = values[KEEP_AMBIGUOUS].number != 0;
    out.network =
        (wt_network_spec){.kind = values[MODEL].text,
                          .length = out.task.length,
                          .dim = count_of(values, DIM),
                          .heads = count_of(values, HEADS),
                          .hidden = count_of(values, HIDDEN),
                          .embedding_drop = values[EMBEDDING_DROPOUT].number,
                          .attention_drop = values[ATTENTION_DROPOUT].number,
                          .block_drop = values[BLOCK_DROPOUT].number,
                          .fixed_positions = values[FIXED_POSITIONS].number != 0,
                          .activation = strcmp(activation, "own") == 0 ? NULL : activation};
    out.rate = values[RATE].number;
    out.weight_decay = values[WEIGHT_DECAY].number;
    out.decoupled = values[DECOUPLED].number != 0;
    out.clip = values[CLIP].number;
    out.balls = strcmp(balls, "none") == 0 ? NULL : balls;
    out.init_scale = values[INIT_SCALE].number;
    out.steps = count_of(values, STEPS);
    out.validate = count_of(values, VALIDATE);
    out.validation_samples = count_of(values, VALIDATION_SAMPLES);
    out.success = values[SUCCESS].number;
    out.restarts = count_of(values, RESTARTS);
    return out;
}

/* Dropouts by name, and what a head or a perceptron does not have. */
static void settle_network(wt_value *values) {
    bool transformer = strcmp(values[MODEL].text, "transformer") == 0;
    bool head = strcmp(values[MODEL].text, "head") == 0;
    wt_network_spec recipe;
    WT_INIT(wt_network_spec, &recipe);
    if (values[DROPOUT].number < 0)
        values[DROPOUT].number = transformer ? recipe.embedding_drop : 0;
    for (size_t i = EMBEDDING_DROPOUT; i <= BLOCK_DROPOUT; i++) {
        if (values[i].number < 0)
            values[i].number = values[DROPOUT].number;
        if (head || (i == ATTENTION_DROPOUT && !transformer))
            values[i].number = 0;
    }
    values[DROPOUT].number = 0; /* said by the three */
    if (!transformer)
        values[HEADS].number = values[FIXED_POSITIONS].number = 0;
    if (values[HIDDEN].number == 0 && !head)
        values[HIDDEN].number = 4 * values[DIM].number;
}

/* Opening a trainer is the whole check, and a wrong value is told before the sweep begins. A short
 * task on one sample will do, as there may be many cells. */
static wt_status check_recipe(wt_context *context, wt_train_setting setting) {
    wt_trainer *trainer = NULL;
    setting.keep_ambiguous = true;
    setting.samples = 1;
    if (setting.task.length > 2 * WT_BOOLEAN_MOST_BITS)
        setting.task.length = 2 * WT_BOOLEAN_MOST_BITS;
    wt_status status = wt_trainer_open(context, &setting, &trainer);
    wt_trainer_free(trainer);
    return status;
}

static wt_status settle_threshold(wt_context *context, wt_value *values) {
    settle_network(values);
    return check_recipe(context, recipe_of(values));
}

static double dim_of(const wt_value *values) {
    double ratio = values[DIM_RATIO].number;
    return ratio > 0 ? fmax(1, round(ratio * values[LENGTH].number)) : values[DIM].number;
}

static wt_train_setting whole_recipe_of(const wt_value *values) {
    wt_train_setting out = recipe_of(values);
    out.network.dim = (size_t)dim_of(values);
    out.online = count_of(values, ONLINE);
    out.to_end = values[TO_END].number != 0;
    out.loss_mark = values[LOSS_MARK].number;
    out.settle = values[SETTLE].number;
    return out;
}

static wt_status settle_train(wt_context *context, wt_value *values) {
    double ratio = values[DIM_RATIO].number;
    if (values[TEST_SAMPLES].number < 2)
        return wt_fail(context, WT_USAGE, "test-samples must be 2 or more, not %g",
                       values[TEST_SAMPLES].number);
    if (values[ONLINE].number > 0)
        values[SAMPLES].number = 1;
    if (ratio < 0 || ratio * values[LENGTH].number > MOST_DIM)
        return wt_fail(context, WT_USAGE,
                       "dim-ratio must be 0 or more and make tokens of at most %d, not %g",
                       MOST_DIM, ratio);
    if (ratio > 0 && strcmp(values[MODEL].text, "head") != 0)
        return wt_fail(context, WT_USAGE, "dim-ratio is of model=head, not of %s",
                       values[MODEL].text);
    if (ratio > 0)
        values[DIM].number = 1; /* not read */
    settle_network(values);
    return check_recipe(context, whole_recipe_of(values));
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

static wt_cost cost_of(const wt_value *values, double d, double samples, double steps) {
    double n = values[LENGTH].number + 1, tail = 54 * d * d;
    double heads = fmax(1, values[HEADS].number);
    double drop = values[EMBEDDING_DROPOUT].number < 0 ? values[DROPOUT].number
                                                       : values[EMBEDDING_DROPOUT].number;
    double absorbed = samples * (12 * n * d * heads + 18 * d * d + tail);
    double tables = 12 * n * d * (d + heads) + samples * (6 * n * d + tail);
    double step = drop > 0 ? absorbed / RATE_ABSORBED : tables / RATE_TABLES;
    if (strcmp(values[MODEL].text, "head") == 0)
        step = samples * (8 * n * d + 6 * d * d) / RATE_HEAD;
    if (strstr(values[BALL].text, "spectral") != NULL)
        step += PROJECTION * d * d * d;
    return (wt_cost){.flops = step * steps,
                     .bytes = 4 * (60 * n * d + 500 * d * d) + (samples + 10000) * n};
}

static wt_status estimate_threshold(wt_context *context, const wt_trial *trial, wt_cost *out) {
    (void)context;
    *out = cost_of(trial->values, trial->values[DIM].number, trial->values[SAMPLES].number,
                   RUNS_A_TRIAL * trial->values[STEPS].number);
    return WT_OK;
}

static wt_status estimate_train(wt_context *context, const wt_trial *trial, wt_cost *out) {
    (void)context;
    const wt_value *values = trial->values;
    double steps = values[STEPS].number;
    if (values[SETTLE].number > 0)
        steps = fmin(steps, SETTLED_STEPS);
    *out = cost_of(values, dim_of(values), fmax(values[ONLINE].number, values[SAMPLES].number),
                   steps * values[GAP_STARTS].number);
    return WT_OK;
}

static void fill_result(const wt_train_result *result, double *out) {
    out[M_SUCCESS] = result->success;
    out[M_RUNS] = (double)result->runs;
    out[M_SUCCESS_STEP] = result->success ? (double)result->success_step : NAN;
    out[M_BEST_ACCURACY] = result->best_accuracy;
    out[M_REDRAWN] = (double)result->redrawn;
}

static wt_status run_threshold(wt_context *context, const wt_trial *trial, double *out) {
    wt_train_setting setting = recipe_of(trial->values);
    wt_train_result result = WT_SIZED(wt_train_result);
    setting.hasty = true;
    wt_status status = wt_train_setting_run(context, &setting, wt_trial_seed(trial), &result);
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
        double *into = out + (qk ? M_QK_SPECTRAL : M_V_SPECTRAL);
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
    out[M_TRAIN_LOSS] = measure->train_loss;
    out[M_TEST_LOSS] = measure->test_loss;
    out[M_TEST_ACCURACY] = measure->test_accuracy;
    out[M_GAP] = measure->gap;
    out[M_TRAIN_MISS] = measure->train_miss;
    out[M_MISS_GAP] = out[M_WORST_MISS_GAP] = measure->test_miss - measure->train_miss;
    out[M_MASS] = measure->heads > 0 ? measure->mass : NAN;
    out[M_BEST_MASS] = measure->heads > 0 ? measure->best_mass : NAN;
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
    out[M_WORST_MISS_GAP] = fmax(out[M_WORST_MISS_GAP], measure.test_miss - measure.train_miss);
    WT_TRY(wt_trainer_result(context, trainer, &result));
    out[M_SETTLED] = fmin(out[M_SETTLED], result.settled);
done:
    wt_train_measure_free(&measure);
    return status;
}

static wt_status run_train(wt_context *context, const wt_trial *trial, double *out) {
    const wt_value *values = trial->values;
    wt_train_setting setting = whole_recipe_of(values);
    wt_trainer *trainer = NULL;
    wt_train_measure measure = WT_SIZED(wt_train_measure);
    wt_train_result result = WT_SIZED(wt_train_result);
    wt_status status;
    setting.seed = wt_trial_seed(trial);
    for (size_t i = 0; i < TRAIN_METRICS; i++)
        out[i] = NAN;
    status = wt_trainer_open(context, &setting, &trainer);
    if (status == WT_MISSED) { /* every training set was ambiguous */
        out[M_SUCCESS] = out[M_RUNS] = 0;
        status = WT_OK;
        goto done;
    }
    WT_TRY(status);
    WT_TRY(wt_trainer_run(context, trainer, SIZE_MAX));
    WT_TRY(wt_trainer_measure(context, trainer, count_of(values, TEST_SAMPLES), &measure));
    WT_TRY(wt_trainer_result(context, trainer, &result));
    fill_result(&result, out);
    fill_measure(&measure, out);
    out[M_MARK_STEP] = result.mark_step > 0 ? (double)result.mark_step : NAN;
    out[M_FALL] = fall_over_plateau(&result);
    out[M_STEPS] = (double)result.steps;
    out[M_SETTLED] = result.settled;
    out[M_LOSS] = result.loss;
    for (size_t start = 1; start < count_of(values, GAP_STARTS); start++)
        WT_TRY(run_again(context, trainer, count_of(values, TEST_SAMPLES), out));
done:
    wt_train_measure_free(&measure);
    wt_trainer_free(trainer);
    return status;
}

const wt_experiment wt_experiment_train = {
    .name = "train",
    .summary = "a network trained on a sparse Boolean function, and what became of it",
    .result_version = 2,
    .parameters = train_parameters,
    .parameter_count = TRAIN_PARAMETERS,
    .reps = 10,
    .metrics = metrics,
    .metric_count = TRAIN_METRICS,
    .settle = settle_train,
    .estimate = estimate_train,
    .run = run_train,
};

const wt_experiment wt_experiment_threshold = {
    .name = "threshold",
    .summary = "whether a trial at one length and number of samples succeeds",
    .result_version = 2,
    .parameters = threshold_parameters,
    .parameter_count = THRESHOLD_PARAMETERS,
    .reps = 40,
    .metrics = metrics,
    .metric_count = THRESHOLD_METRICS,
    .settle = settle_threshold,
    .estimate = estimate_threshold,
    .run = run_threshold,
};
