/* Learning an attention layer from membership queries: the learner chooses the inputs.
 *
 * The layer is F(X) = sum_h softmax(X Theta_h X^T) X W_h; an answer is the last row of F(X), p
 * numbers. One head is found from d^2 + d answers by solving for one logit at a time. Several heads
 * are first found roughly, from answers on a token repeated several times, and then polished by
 * least squares on all answers until what is left is rounding. Layers of other forms, more than 4
 * heads and more than 64 dimensions are recovered from random questions, as wt_layer_recover does
 * it from examples. */
#ifndef WATTLE_QUERY_H
#define WATTLE_QUERY_H

#include "wattle/recover.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WT_QUERY_MAX_HEADS 256
#define WT_QUERY_MAX_DIM   4096

/* Writes the last row of F(x), for x (k, d), to y (p). A status other than WT_OK ends the learner
 * with it. */
typedef wt_status (*wt_query_ask_fn)(void *user, size_t k, const double *x, double *y);

typedef struct wt_query_options {
    size_t size;
    size_t heads;     /* 1 to WT_QUERY_MAX_HEADS; 0 = the least number that explains the answers */
    size_t checks;    /* fresh random queries that judge the result; 0 = none, for one head only */
    size_t restarts;  /* random starts of the polish when the rational ones fail */
    double tolerance; /* relative error of the answers that counts as reached, above 0 */
    uint64_t seed;
    /* What is known of the form, and whether others are tried: as in wt_recover_options. */
    bool bias, residual;
    wt_layer_mask mask; /* the last token sees all: only the layer given back says it */
    wt_layer_norm norm;
    double epsilon;
    size_t rank;
    wt_recover_forms forms;
    size_t questions; /* at most, with the checks, of which there are fewer; 0 = no limit */
} wt_query_options;

/* Heads found by trying, 8 checks, 20 restarts, tolerance 1e-11, seed 0, a plain layer, no limit.
 */
WT_API void wt_query_options_init(wt_query_options *options, size_t size);
/* Its members by name: options of `wattle query`. */
WT_API const wt_field *wt_query_fields(size_t *count);

typedef struct wt_query_report {
    size_t size;
    size_t heads, dim, outputs;
    size_t start_queries;  /* for the first estimate; all there are for one head */
    size_t polish_queries; /* random ones; all there are where nothing else is asked */
    size_t check_queries;
    double
        start_residual;   /* of the first estimate on the queries of the polish; NaN for one head */
    double residual;      /* after the polish; NaN for one head */
    double check_error;   /* on the fresh queries; NaN without them */
    size_t starts, steps; /* starts tried (0 for one head), Gauss-Newton steps in all */
    bool reached;         /* residual and check error are within the tolerance; without
                              checks, not known to be otherwise */
    double flops;         /* counted by shapes, all that the learner did; what the oracle spends on
                             the same context is not in it */
    bool out_of_time;     /* the limit of time ended it: the layer is the best of what was tried */
    bool out_of_questions; /* the same of the limit of questions */
    double tolerance;      /* that counted: of the options, or 16 times the epsilon of float32
                              where all answers are such numbers */
    char form[WT_LAYER_FORM_TEXT]; /* of the layer, in words */
    size_t forms;                  /* that were tried with this many heads */
} wt_query_report;

/* Learns a layer of tokens in R^dim and `outputs` outputs. Errors are relative: the root of the sum
 * of squares over that of the answers. A layer that misses the tolerance is WT_OK with `reached`
 * false. *out is to be freed with wt_layer_free. */
WT_API wt_status wt_layer_query(wt_context *context, wt_query_ask_fn ask, void *user, size_t dim,
                                size_t outputs, const wt_query_options *options, wt_layer **out,
                                wt_query_report *report);

#ifdef __cplusplus
}
#endif
#endif
