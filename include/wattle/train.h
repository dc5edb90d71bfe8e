/* Training networks on sparse Boolean functions by Adam's method, one trial at a time.
 *
 * A trial draws a task (which positions matter), a training set and up to `restarts` runs on it,
 * each from its own start and with its own dropout; it succeeds when a validation on fresh samples
 * passes `success`. Everything is keyed by the setting's seed: the same setting gives the same bits
 * for every number of threads, in one go or stopped and resumed.
 *
 *     wt_train_spec setting;
 *     WT_INIT(wt_train_spec, &setting);
 *     setting.task = "and:2";
 *     setting.length = 30;
 *     wt_trainer *trainer;
 *     wt_trainer_new(context, &setting, &trainer);
 *     wt_trainer_run(context, trainer, SIZE_MAX);
 *     wt_train_result result = WT_SIZED(wt_train_result);
 *     wt_trainer_result(context, trainer, &result); */
#ifndef WATTLE_TRAIN_H
#define WATTLE_TRAIN_H

#include "wattle/field.h"
#include "wattle/network.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wt_train_spec {
    size_t size; /* of this struct, as the caller knows it */

    const char *task;       /* the function, as wt_boolean_new reads it */
    size_t length;          /* T */
    const size_t *relevant; /* (relevant_count) positions; NULL = drawn */
    size_t relevant_count;
    double probability; /* of a one; NaN = balanced labels */
    double noise;       /* probability that a label is flipped */

    const char *model; /* "transformer", "head", "mlp": as in wt_network_spec, which explains */
    size_t dim, heads, hidden;
    const char *activation;
    double dropout; /* of all places that are NaN below; NaN = 0.1 for a transformer, else 0 */
    double embedding_dropout, attention_dropout, block_dropout;

    size_t samples; /* m: a fixed training set, all of it in every step; */
    size_t online;  /* or, when not 0, so many fresh samples for each step */

    double rate;         /* of Adam, with betas 0.9 and 0.999 and epsilon 1e-8 */
    double weight_decay; /* L2: added to the gradient of all parameters that are trained */
    double clip;         /* most length of the gradient, before the decay; 0 = any */
    const char *balls;   /* "qk.two-one=8,v.spectral=2": hard balls, see below; NULL = none */
    double init_scale;   /* the matrices that are trained start times this */

    size_t steps;              /* of a run */
    size_t validate;           /* steps from one validation to the next; also after the last step */
    size_t validation_samples; /* fresh ones each time, without label noise */
    double success;   /* accuracy of a validation that must be passed, in (0, 1]; 1 = met */
    double settle;    /* a run ends once it has settled, see below; 0 = never */
    size_t restarts;  /* runs at most */
    double loss_mark; /* the first step with a smaller loss is reported: mark_step */
    uint64_t seed;

    bool fixed_positions; /* of the network: the positional table stays as drawn */
    bool keep_ambiguous;  /* else noiseless sets that fit a second and are drawn anew */
    bool decoupled;       /* the decay is taken from the parameters, times the rate, instead */
    bool to_end;          /* go on after a success */
    bool hasty;           /* a validation ends as soon as it can neither succeed nor be the best */
} wt_train_spec;

/* The published recipe: and:3 of 300 bits, 100 samples, Adam at 1e-3 with decay 1e-4 and clip 1,
 * 1000 steps, a validation on 10^4 samples every 10, success above 0.99, one run. */
WT_API void wt_train_spec_init(wt_train_spec *setting, size_t size);
/* Its members by name: what `wattle train` takes as options and the experiment `train` as keys. */
WT_API const wt_field *wt_train_fields(size_t *count);

/* Settled: at a validation, the second half of the run's steps has lowered the training loss by
 * less than `settle` times its fall below ln 2, the loss of guessing. So twice the steps gain next
 * to nothing, whatever the rate of the steps. A loss that never was below ln 2 has not settled; a
 * plateau after a small fall passes for the end once it is half of the run. It needs a training set
 * and no dropout: the loss of a step is then that of the set, at the step's beginning. */

/* Balls: matrix.norm=radius with commas between them. Norms: spectral, frobenius, two-one (the sum
 * of the 2-norms of the columns). Matrices: any tensor of the network by its name, and
 *   qk  head: W_QK; transformer: W_Q^h W_K^h^T / sqrt(width) of every head by itself. two-one is of
 *       the transpose, so the sum of the norms of the rows, as in the theorem
 *   v   head: W_V; transformer: W_V^h, the columns of wv that are one head's, of every head
 *   o, mlp1, mlp2, readout   transformer: wo, w1, w2, head
 * After every step (and at the start) a matrix is replaced by the nearest one in its ball, in the
 * Frobenius norm, exactly; several balls of one matrix by the nearest in all of them. Of a product
 * W_Q is changed so that the product is the nearest. Parameters are floats: a norm may be over
 * its radius by 1e-6 of it. */

/* A trial in progress. One thread of calls at a time. */
typedef struct wt_trainer wt_trainer;

/* Checks the setting, draws task, training set and start. WT_MISSED when every one of 1000 training
 * sets was ambiguous. */
WT_API wt_status wt_trainer_new(wt_context *context, const wt_train_spec *setting,
                                wt_trainer **out);
/* On samples of the caller's own, which are copied: `train` is the training set, `held` judges it,
 * in validations and as test samples; 2 or more of as many bits each. Of the setting, what a task
 * is made of has no say: task, length, relevant, probability, noise, samples, validation_samples;
 * online must be 0. A checkpoint of other samples is refused. */
WT_API wt_status wt_trainer_new_on(wt_context *context, const wt_train_spec *setting,
                                   const wt_bits *train, const wt_bits *held, wt_trainer **out);
WT_API void wt_trainer_free(wt_trainer *trainer);

/* Goes on until the trial has ended or `max_steps` more steps are done. After WT_INTERRUPTED the
 * trainer is where its last whole step left it and may go on. */
WT_API wt_status wt_trainer_run(wt_context *context, wt_trainer *trainer, size_t max_steps);
WT_API bool wt_trainer_ended(const wt_trainer *trainer);
/* One run more, from a start of its own on the same training set, after the trial has ended: it is
 * the run that one more restart would have had. A state saved after that is of no setting. */
WT_API void wt_trainer_restart(wt_trainer *trainer);

/* To the end, with the state in a file (NULL = nowhere): after every so many steps, at the end, and
 * when it is stopped, which is WT_INTERRUPTED. To resume is to go on from the file first, with the
 * bits of a trial that was never stopped; else a file that exists is refused. One run at a time
 * writes to a file. Without one, a trial whose time is over is WT_OK and has not ended. */
WT_API wt_status wt_trainer_run_kept(wt_context *context, wt_trainer *trainer, const char *path,
                                     size_t every, bool resume);
/* A remark where always to give one label has an accuracy above 1/2; of the caller's own samples
 * always. */
WT_API void wt_trainer_remark_balance(wt_context *context, const wt_trainer *trainer);

/* What a validation measured. */
typedef struct wt_train_point {
    size_t run, step;
    double loss, train_accuracy; /* of the last step's batch, with dropout */
    double validation_accuracy;  /* of the samples judged: all, or until it could not succeed */
} wt_train_point;
WT_API const wt_train_point *wt_trainer_history(const wt_trainer *trainer, size_t *count);

typedef struct wt_train_result {
    size_t size;
    bool success;
    size_t runs;          /* begun; 0 when there was no training set without ambiguity */
    size_t success_step;  /* of the first success, 0 = none */
    size_t mark_step;     /* of the last run: the first whose loss was below loss_mark, 0 = none; */
    size_t leave_step;    /* below 90% of ln 2, where a plateau ends; */
    size_t low_step;      /* below 10% of ln 2 */
    size_t steps;         /* of the last run */
    bool settled;         /* the last run has */
    double best_accuracy; /* of all validations; NaN before any */
    double loss, train_accuracy; /* of the last step */
    size_t redrawn;              /* ambiguous training sets */
    double seconds;              /* spent in wt_trainer_run by this process */
} wt_train_result;
WT_API wt_status wt_trainer_result(wt_context *context, const wt_trainer *trainer,
                                   wt_train_result *out);

WT_API const wt_network *wt_trainer_network(const wt_trainer *trainer);
WT_API const float *wt_trainer_parameters(const wt_trainer *trainer);
WT_API const wt_sparse_task *wt_trainer_task(const wt_trainer *trainer); /* NULL on own samples */

/* A whole trial, with this seed in place of the setting's. */
WT_API wt_status wt_train_run(wt_context *context, const wt_train_spec *setting, uint64_t seed,
                              wt_train_result *out);

/* The state in a file, so that a run can be resumed with the same bits: parameters, Adam's moments,
 * step, history, and the setting. Loading is WT_DATA when the file is of another setting, shape or
 * device, and says what differs; the trainer is unchanged then. */
WT_API wt_status wt_trainer_save(wt_context *context, const wt_trainer *trainer, const char *path);
WT_API wt_status wt_trainer_load(wt_context *context, wt_trainer *trainer, const char *path);

/* The network as a model file: its tensors by name; kind and setting in the metadata. */
WT_API wt_status wt_trainer_save_model(wt_context *context, const wt_trainer *trainer,
                                       const char *path);

#define WT_TRAIN_NAME 32

typedef struct wt_train_norm {
    char name[WT_TRAIN_NAME]; /* of a tensor, or "qk.3", "v.3" of head 3 */
    size_t rows, columns;
    double spectral, frobenius, two_one; /* as the balls take them */
} wt_train_norm;

/* What became of the network, without dropout. */
typedef struct wt_train_measure {
    size_t size;
    double train_loss, train_accuracy; /* of the training set; NaN online */
    double test_loss, test_accuracy;   /* of fresh samples under the same noise */
    double gap, gap_low, gap_high;     /* test minus train loss; 95% by the test samples drawn */
    double train_miss, test_miss;      /* mean probability of the wrong label: a bounded loss */
    size_t norm_count;
    wt_train_norm *norms;
    size_t heads;           /* 0 for a network without attention: the rest is unset */
    size_t positions;       /* T + 1, [CLS] last */
    double mass, best_mass; /* attention on the relevant positions: mean over samples and heads; of
                               the head that has most; NaN on samples of the caller's own */
    size_t best_head;       /* there the one with most on a single position */
    double *attention;      /* (2, T + 1) mean over samples: of all heads; of the best head */
} wt_train_measure;

/* `test_samples` of at least 2; on samples of the caller's own those held out, whatever it is. To
 * be freed with wt_train_measure_free. */
WT_API wt_status wt_trainer_measure(wt_context *context, wt_trainer *trainer, size_t test_samples,
                                    wt_train_measure *out);
WT_API void wt_train_measure_free(wt_train_measure *measure);

#ifdef __cplusplus
}
#endif
#endif
