/* What the learners of recovery share: checks before, warnings after. */
#ifndef WT_LAYER_LEARN_RECOVERY_H
#define WT_LAYER_LEARN_RECOVERY_H

#include <float.h>

#include "base/parallel.h"
#include "layer/learn/rows.h"
#include "layer/model/layer.h"
#include "wattle/sculpt.h"

/* Numbers that m heads have: Theta, of rank r where that is not 0, and W; with keys and values that
 * they share in groups, where there are such. */
double wt_recover_unknowns(size_t heads, size_t dim, size_t outputs, size_t rank, size_t groups);
/* Output rows that W can follow whatever Theta is. */
size_t wt_recover_followed(const wt_recover_options *options, size_t heads, size_t dim);
/* The form that the options ask for. */
wt_layer_form wt_recover_form(const wt_recover_options *options);
/* How many sequences are fitted; wt_holdout_split chooses the rest. */
size_t wt_recover_train_samples(const wt_sequences *data, const wt_recover_options *options);
/* Output rows of those. */
size_t wt_recover_train_rows(const wt_sequences *data, const wt_recover_options *options);
double wt_recover_mean_square(const wt_sequences *data);
/* What a layer computed in float32 throughout may be off by: 16 times its epsilon. */
#define WT_RECOVER_SINGLE_GOAL (16 * (double)FLT_EPSILON)
/* Whether all numbers are float32 ones. */
bool wt_recover_is_single(size_t count, const double *x);
/* The relative error that counts as exact: the goal, or more where the numbers are float32 ones.
 * What its arithmetic leaves where all of x and y are; what rounding leaves where one of them is.
 */
double wt_recover_goal(const wt_sequences *data, const wt_recover_options *options);
/* |y - F(x)| / |y| of a layer over rows. */
wt_status wt_recover_error(wt_context *context, const wt_layer *layer, const wt_rows *rows,
                           double *out);

/* Runs the body once (items 0 .. 1), on one thread where its loops, of so many flops each, are too
 * short to be shared. */
wt_status wt_recover_share(wt_context *context, double flops, wt_body_fn body, void *argument);
/* The same for passes over the rows of a recovery. */
wt_status wt_recover_run(wt_context *context, const wt_sequences *data,
                         const wt_recover_options *options, wt_body_fn body, void *argument);

/* Checks data and options, clears the report, and warns of what can be seen beforehand. */
wt_status wt_recover_begin(wt_context *context, const char *method, const wt_sequences *data,
                           const wt_recover_options *options, wt_recover_report *report);
/* WT_DATA where W alone can follow all rows of the data, in the coordinates that heads are found
 * in. */
wt_status wt_recover_check_rows(wt_context *context, const wt_sequences *data,
                                const wt_recover_options *options);
/* Merges duplicate heads where m was to be found, and warns of what cannot be identified. columns:
 * of the outputs that Theta was fitted to, all or a sketch. */
void wt_recover_end(wt_context *context, const wt_sequences *data,
                    const wt_recover_options *options, size_t columns, wt_layer *layer,
                    wt_recover_report *report);

/* Where a better start may come from once random ones have failed. */
typedef struct wt_rescue {
    /* A layer of so many heads (0 = as many as there are) in *out, to be freed; NULL, and WT_OK,
     * when there is none. `fitted` are the sequences that are not held out. */
    wt_status (*start)(void *user, const wt_sequences *fitted, size_t heads, wt_layer **out);
    void *user;
    const char *name; /* of such a start */
} wt_rescue;
/* Checks and reads what a caller of the library gave: report and options. Steps that are not said
 * become those of the method; NULL = the one the options name. */
wt_status wt_recover_open(wt_context *context, const char *method, const wt_recover_options *given,
                          const wt_recover_report *report, wt_recover_options *options);
/* A learner on what wt_recover_open reads; its report goes to the caller's. */
typedef wt_status wt_recover_learner(wt_context *context, const wt_sequences *data,
                                     const wt_recover_options *options, wt_layer **out,
                                     wt_recover_report *report);
wt_status wt_recover_call(wt_context *context, const char *method, wt_recover_learner *learner,
                          const wt_sequences *data, const wt_recover_options *given, wt_layer **out,
                          wt_recover_report *report);
/* wt_refine on what wt_recover_open read, with a rescue that is asked once at most; NULL = none. */
wt_status wt_refine_rescued(wt_context *context, const wt_sequences *data,
                            const wt_recover_options *options, const wt_rescue *rescue,
                            wt_layer **out, wt_recover_report *report);
/* The learners behind wt_layer_recover, as they are called without it. max_steps counts Adam's
 * steps. */
wt_status wt_refine(wt_context *context, const wt_sequences *data,
                    const wt_recover_options *options, wt_layer **out, wt_recover_report *report);
wt_status wt_adam(wt_context *context, const wt_sequences *data, const wt_recover_options *options,
                  wt_layer **out, wt_recover_report *report);

typedef struct wt_sculpt_options {
    size_t size;
    size_t heads;            /* m; 0 = by the eigen-gap */
    double slabs;            /* wanted for every unknown of Theta, 2 or more */
    const wt_layer *teacher; /* where known: the report gives true errors; NULL = not known */
} wt_sculpt_options;

/* heads 0, 3 slabs an unknown, no teacher. */
void wt_sculpt_options_init(wt_sculpt_options *options, size_t size);

/* A layer to start refining from, in *out (to be freed with wt_layer_free). When it cannot work:
 * WT_MISSED with a sentence, *out NULL, and the report up to the stage that stopped. */
wt_status wt_sculpt(wt_context *context, const wt_sequences *data, const wt_sculpt_options *options,
                    wt_layer **out, wt_sculpt_report *report);

/* A method, as wt_layer_recover calls it. */
typedef wt_status wt_recover_run_fn(wt_context *context, const wt_sequences *data,
                                    const wt_recover_options *options, wt_layer **out,
                                    wt_recover_report *report, wt_sculpt_report *stages);
/* A method with the form that the options give or, where they say so, with others until one is no
 * misfit; fills in the form of the report. */
wt_status wt_recover_as_formed(wt_context *context, wt_recover_run_fn *run,
                               const wt_sequences *data, const wt_recover_options *options,
                               wt_layer **out, wt_recover_report *report, wt_sculpt_report *stages);

/* The method `auto`, on the same. */
wt_status wt_recover_auto(wt_context *context, const wt_sequences *data,
                          const wt_recover_options *options, wt_layer **out,
                          wt_recover_report *report, wt_sculpt_report *stages);

#endif
