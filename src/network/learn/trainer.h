/* The inside of a trainer. */
#ifndef WT_NETWORK_LEARN_TRAINER_H
#define WT_NETWORK_LEARN_TRAINER_H

#include "base/context.h"
#include "base/memory.h"
#include "linalg/linalg.h"
#include "network/model/network_kind.h"
#include "wattle/io.h"
#include "wattle/train.h"

/* Parts of the block of parameters that Adam may touch. */
typedef struct wt_train_range {
    size_t begin, end;
} wt_train_range;

#define WT_LOG_2 0.69314718055994530942 /* the loss of a coin */

/* Marks of the training loss: 90% of ln 2, the setting's, 10% of ln 2. */
enum { WT_TRAIN_MARKS = 3 };
/* Samples of a validation that are drawn at a time. */
enum { WT_TRAIN_PIECE = 512 };

/* How far a trial has come: what a checkpoint holds, beside parameters and moments. */
typedef struct wt_train_state {
    size_t run, step;             /* step: updates done in this run */
    double loss, accuracy;        /* of the last step */
    size_t marks[WT_TRAIN_MARKS]; /* of this run: first steps below the marks, 0 = none */
    wt_train_point *history;
    size_t points, room;
    bool ended;
    size_t redrawn; /* ambiguous training sets */
} wt_train_state;

typedef struct wt_train_group wt_train_group;

struct wt_trainer {
    wt_train_spec setting; /* its texts are not kept: see `about` */
    wt_metadata *about;    /* the setting in words, for files; values are blocks of their own */
    size_t about_count;
    wt_sparse_task *task; /* NULL where the samples are the caller's */
    wt_bits *held;        /* of the caller's samples those that judge; NULL = drawn */
    wt_network *network;
    wt_arena arena; /* of the arrays up to `groups` */
    size_t size;    /* of the parameters, as of the gradient and both moments */
    float *parameters, *gradient, *first, *second;
    float *before;          /* (3 size) parameters and moments before a step under balls */
    wt_train_range *ranges; /* trained parameters, in increasing order */
    size_t range_count;
    wt_train_group *groups; /* matrices in balls */
    size_t group_count;
    wt_bits *batch; /* the training set, or this step's samples */
    wt_bits *piece; /* of a validation */
    wt_train_state state;

    double seconds;
    wt_meter meter;
    double metered_from; /* steps of all runs that were made before */
    bool metered;
};

/* The setting in words into trainer->about. */
wt_status wt_train_about(wt_context *context, wt_trainer *trainer);

/* The checked setting of a caller, with all defaults filled in. */
wt_status wt_train_spec_read(wt_context *context, const wt_train_spec *given, wt_train_spec *out);
wt_status wt_train_task_open(wt_context *context, const wt_train_spec *setting,
                             wt_sparse_task **out);
wt_status wt_train_network_open(wt_context *context, const wt_train_spec *setting,
                                wt_network **out);
/* Parts of the block that are trained: room for as many as there are tensors. Returns how many. */
size_t wt_train_ranges(const wt_network *network, wt_train_range *out);

/* The training set of a task, ambiguous ones redrawn and counted; room for an online batch. */
wt_status wt_train_set_open(wt_context *context, const wt_train_spec *setting,
                            const wt_sparse_task *task, wt_bits **out, size_t *redrawn);
/* The caller's samples, and the setting as they have it. */
wt_status wt_train_set_take(wt_context *context, wt_trainer *trainer, const wt_bits *train,
                            const wt_bits *held);
/* Samples first, first + 1, .. of a purpose, or of those held out, over and over. */
wt_status wt_train_draw(wt_context *context, const wt_trainer *trainer, const char *purpose,
                        uint64_t first, bool noisy, wt_bits *bits);
/* A number for files: another where a sample is. */
uint64_t wt_train_set_mark(const wt_trainer *trainer);

/* ---- the course of a trial (train_state.c), whoever takes its steps ---- */
/* A new run, before its first step. */
void wt_train_state_begin(wt_train_state *state);
/* One step more, and what it measured. */
void wt_train_state_step(const wt_train_spec *setting, wt_train_state *state, double loss,
                         double accuracy);
/* Steps that may be taken before the next validation: 0 where one is due. */
size_t wt_train_state_free_steps(const wt_train_spec *setting, const wt_train_state *state);
/* One more point of the history; a failure leaves the state as it was. */
wt_status wt_train_state_add(wt_context *context, wt_train_state *state, double accuracy);
/* After a validation: whether a new run is to begin. Sets `ended`. */
bool wt_train_state_conclude(const wt_train_spec *setting, wt_train_state *state);
void wt_train_state_result(const wt_train_spec *setting, const wt_train_state *state,
                           wt_train_result *out);

/* A validation in progress: fresh samples, piece by piece. */
typedef struct wt_train_validation {
    size_t judged, correct; /* samples so far */
    size_t allowed;         /* errors; SIZE_MAX = any */
    size_t asked;           /* samples of all pieces so far */
} wt_train_validation;
wt_train_validation wt_train_validation_start(const wt_train_spec *setting);
/* How many samples the next piece has, 0 = none, and at how many errors in it judging may end. */
size_t wt_train_validation_next(const wt_train_spec *setting, const wt_train_state *state,
                                wt_train_validation *validation, size_t *max_errors);

/* The parameters that a run of this number starts from. */
void wt_train_start(const wt_train_spec *setting, const wt_network *network, size_t run,
                    float *parameters);

/* Parameters of this run's start, moments cleared; its first step begins in the balls. */
void wt_train_begin_run(wt_trainer *trainer);
/* One update; a failure leaves the trainer as it was. */
wt_status wt_train_step(wt_context *context, wt_trainer *trainer);
/* One more point of the history; a failure leaves the trainer as it was. */
wt_status wt_train_validate(wt_context *context, wt_trainer *trainer);

/* wt_trainer_run on the context's device; `show` is called after every call of its engine. */
typedef void (*wt_trainer_show_fn)(wt_trainer *trainer);
wt_status wt_trainer_run_device(wt_context *context, wt_trainer *trainer, size_t max_steps,
                                wt_trainer_show_fn show);

/* Clips the gradient to the length (0 = any), then one step of Adam's method, number `step` from 1,
 * on parameters, first and second moments. */
typedef struct wt_adam_rule {
    double rate, weight_decay, clip;
    bool decoupled;
    size_t step;
} wt_adam_rule;
wt_status wt_adam_update(wt_context *context, const wt_adam_rule *rule,
                         const wt_train_range *ranges, size_t range_count, const float *gradient,
                         float *parameters, float *first, float *second);

/* Balls. */
wt_status wt_train_balls_open(wt_context *context, wt_trainer *trainer, const char *text);
wt_status wt_train_project(wt_context *context, wt_trainer *trainer);

/* A matrix of the network in double: `rows` x `columns`, rows close together, as norms take it. */
typedef struct wt_train_matrix {
    char name[WT_TRAIN_NAME];
    bool product;    /* W_Q W_K^T / sqrt(width) of a head, else a part of one tensor */
    bool transposed; /* the tensor's transpose is what is meant */
    size_t rows, columns;
    size_t offset, stride; /* of the part, or of W_Q's */
    size_t other;          /* of W_K's part */
    size_t width;          /* of a head */
} wt_train_matrix;
/* How many matrices the name means in this network (0 = none: no such name), and the index-th. */
size_t wt_train_matrix_count(const wt_trainer *trainer, const char *name);
wt_train_matrix wt_train_matrix_at(const wt_trainer *trainer, const char *name, size_t index);
/* The numbers into out (rows, columns). */
wt_status wt_train_matrix_load(wt_context *context, const wt_trainer *trainer,
                               const wt_train_matrix *matrix, double *out);
/* Changes the parameters so that the matrix is `values`; a product through W_Q alone. */
wt_status wt_train_matrix_store(wt_context *context, wt_trainer *trainer,
                                const wt_train_matrix *matrix, const double *values);

#endif
