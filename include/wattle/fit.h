/* Fitting the value vectors of a model: ridge regression and its learning curves.
 *
 * Ridge: minimise over v  sum_i |y_i - f(x_i)|^2 + lambda * M * sum_m |v_m|^2  (P in place of M for
 * rfmlp). With Phi the features and K = Phi Phi^T / M: alpha = (K + lambda I)^-1 y and
 * v = Phi^T alpha / M; as M grows K tends to the infinite-head kernel, so that one lambda means the
 * same at every M.
 *
 * Errors are mean squared errors over the variance of y on the same set: 0 is perfect, 1 is no
 * better than the mean, NaN where y does not vary. With several outputs both are taken over all of
 * them, in the units of the fit. */
#ifndef WATTLE_FIT_H
#define WATTLE_FIT_H

#include "wattle/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wt_lambda_rule {
    WT_LAMBDA_FIXED,
    WT_LAMBDA_LOO,      /* least exact leave-one-out error on the path */
    WT_LAMBDA_GCV,      /* least generalised cross-validation on the path */
    WT_LAMBDA_MIN_NORM, /* lambda -> 0: of all best fits the one of least norm */
    WT_LAMBDA_ORACLE    /* least test error on the path: for replication, not for use */
} wt_lambda_rule;

typedef enum wt_solver { WT_SOLVER_AUTO, WT_SOLVER_DUAL, WT_SOLVER_PRIMAL } wt_solver;

typedef struct wt_ridge {
    wt_lambda_rule rule;
    double lambda;      /* of the fixed rule; 0 is the minimum norm */
    const double *path; /* of loo, gcv and oracle; increasing; NULL = 1e-8, 1e-7 .. 10; see below */
    size_t path_count;
    bool standardize; /* fit (y - mean) / deviation, and undo it in predictions */
    wt_solver solver; /* auto: the dual when n <= features, else the primal */
} wt_ridge;

/* Where an end of the path has the least score, lambdas beyond it are tried, a factor of 10 at a
 * time, while one lowers the score by a thousandth; downward no further than a thousand times the
 * rounding of trace(K). `lambda_at_end` in what follows says that the chosen lambda is an end even
 * so: no lambda beyond it could be tried, and a better one may lie there.
 *
 * The leave-one-out error is that of n refits, each on the n - 1 other samples; with `standardize`
 * each of them takes mean and deviation from its own samples. */

/* "1e-3", "loo", "gcv", "min-norm" or "oracle" into rule and lambda. */
WT_API wt_status wt_lambda_parse(wt_context *context, const char *text, wt_ridge *out);
/* "fixed", "loo" and so on; "?" for no rule. */
WT_API const char *wt_lambda_rule_name(wt_lambda_rule rule);

/* What a fit found; NaN where a number was not computed. */
typedef struct wt_fit_report {
    const char *path; /* "dual", "primal", "streamed" */
    size_t samples, features, outputs;
    double lambda;
    double train_error, loo_error, test_error;
    double sum_norms;     /* sum_m |v_m| */
    double m_sum_squares; /* M sum_m |v_m|^2 */
    double freedom;       /* effective rank: trace of K (K + lambda I)^-1 */
    size_t rank;          /* numerical rank where eigenvalues were taken, else 0 */
    double condition;     /* of K + lambda I (dual), or of its primal twin */
    double seconds;
    size_t bytes; /* most memory held at a time */
    bool lambda_at_end;
} wt_fit_report;

/* Fits the model drawn from `spec` to the sets. `test` (with labels) may be NULL, except for the
 * oracle rule. *out is to be freed with wt_fitted_free. */
WT_API wt_status wt_fit_ridge(wt_context *context, const wt_model_spec *spec, const wt_sets *train,
                              const wt_sets *test, const wt_ridge *ridge, wt_fitted **out,
                              wt_fit_report *report);
/* The same on samples 0 .. samples-1 of a problem, drawn as they are needed and never all held at
 * a time when the primal is solved; the same bits as drawing them first. */
WT_API wt_status wt_fit_ridge_problem(wt_context *context, const wt_model_spec *spec,
                                      const wt_problem *problem, size_t samples,
                                      const wt_sets *test, const wt_ridge *ridge, wt_fitted **out,
                                      wt_fit_report *report);

/* What a fit of this size will take. */
typedef struct wt_fit_plan {
    const char *path;
    size_t samples, features;
    double flops, bytes;
} wt_fit_plan;
/* `drawn`: the samples come from a problem. */
WT_API wt_status wt_fit_plan_make(wt_context *context, const wt_model_spec *spec, size_t samples,
                                  size_t outputs, bool drawn, const wt_ridge *ridge,
                                  wt_fit_plan *out);

/* Losses of one label and one prediction:
 *   square    (y - f)^2
 *   absolute  |y - f|
 *   huber     r^2 / 2 for r = |y - f| <= delta, else delta (r - delta / 2)
 *   logistic  log(1 + exp(-y f)), labels y = -1 or +1 */
typedef enum wt_loss { WT_LOSS_SQUARE, WT_LOSS_ABSOLUTE, WT_LOSS_HUBER, WT_LOSS_LOGISTIC } wt_loss;

/* "square", "absolute", "huber", "logistic"; WT_USAGE for another word, "?" for no loss. */
WT_API wt_status wt_loss_parse(wt_context *context, const char *word, wt_loss *out);
WT_API const char *wt_loss_name(wt_loss loss);

typedef struct wt_ball_options {
    wt_loss loss;
    double huber;      /* delta of the Huber loss, above 0; read for that loss alone */
    double k1, k2;     /* above 0; one of them may be infinite */
    double tolerance;  /* above 0: the gap wanted, as a part of P(0) */
    size_t most_steps; /* 1 or more */
} wt_ball_options;

/* Square loss, delta 1, tolerance 1e-6, 20,000 steps; K1 and K2 are 0 and must be set. */
WT_API wt_ball_options wt_ball_options_default(void);

typedef struct wt_ball_result {
    double objective;             /* P(v) */
    double objective_at_zero;     /* P(0) */
    double lower_bound;           /* the largest D(s) seen: min P is no less */
    double gap;                   /* objective - lower_bound, 0 or more */
    double relative_gap;          /* gap / P(0) */
    size_t steps;                 /* of the method */
    size_t passes;                /* products with Phi or its transpose */
    size_t factorisations;        /* of the Gram matrix */
    double sum_norms;             /* sum_m |v_m|, at most K1 */
    double m_sum_squares;         /* M sum_m |v_m|^2, at most K2 */
    bool sum_binds, squares_bind; /* whether v is on the boundary, to 1e-6 relative */
    bool reached;                 /* relative_gap <= tolerance */
} wt_ball_result;

/* The theorem's estimator: minimise (1/n) sum_i sum_o loss(y_io, f_io) over value vectors with
 * sum_m |v_m| <= K1 and sum_m |v_m|^2 <= K2 / M, with a duality gap as certificate. Random features
 * only. Running out of steps is WT_OK with `reached` false. *test_loss is the mean loss on `test`,
 * NaN without it. */
WT_API wt_status wt_fit_in_ball(wt_context *context, const wt_model_spec *spec,
                                const wt_sets *train, const wt_sets *test,
                                const wt_ball_options *options, wt_fitted **out,
                                wt_ball_result *result, double *test_loss);

/* One point of a learning curve. */
typedef struct wt_curve_point {
    size_t n;
    double lambda;
    double test_error, train_error, loo_error; /* NaN where not computed */
    bool lambda_at_end;
} wt_curve_point;

/* Errors of a model after the first n training samples, for every n of `sizes` (increasing), from
 * one factorisation a lambda. train_y (n, columns) and test_y hold `targets` problems side by
 * side, columns / targets outputs each; points is (targets, sizes). */
WT_API wt_status wt_learning_curve(wt_context *context, const wt_model_spec *spec,
                                   const wt_sets *train, const double *train_y, const wt_sets *test,
                                   const double *test_y, size_t columns, size_t targets,
                                   const size_t *sizes, size_t size_count, const wt_ridge *ridge,
                                   wt_curve_point *points);

#ifdef __cplusplus
}
#endif
#endif
