/* Models of sets and how they are fitted: ridge regression, least loss in norm balls, learning
 * curves; predictions, scores and files of fitted models.
 *
 * Random features with frozen weights, and their limits of infinitely many heads. With x~ = [x; 1]:
 *   rfa    f = sum_m (1/N) sum_i relu(x~0^T W_m x~i) <v_m, x~i>, entries of W_m N(0, 1/4)
 *   brfa   the same with W_m + c [I_d 0; 0 0]
 *   rfmlp  f = sum_p relu(<w_p, [x0; x1; ..; xN; 1]>) v_p, entries of w_p N(0, 1/(N+2))
 * and softmax over i may take the place of (1/N) relu in the first two.
 *
 *     wt_model_spec model;
 *     wt_ridge_options ridge;
 *     wt_fit_report report = WT_SIZED(wt_fit_report);
 *     WT_INIT(wt_model_spec, &model);
 *     WT_INIT(wt_ridge_options, &ridge);
 *     model.dim = model.keys = 8;
 *     ridge.rule = WT_LAMBDA_LOO;
 *     wt_ridge_fit(context, &ridge, &model, train, NULL, &fitted, &report);
 *     wt_fitted_predict(context, fitted, test, predicted); */
#ifndef WATTLE_FIT_H
#define WATTLE_FIT_H

#include "wattle/sets.h"
#include "wattle/text.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- models ---------------------------------------------------------------------------------- */

typedef enum wt_model_kind {
    WT_MODEL_KIND_RFA,
    WT_MODEL_KIND_BRFA,
    WT_MODEL_KIND_RFMLP,
    WT_MODEL_KIND_RFA_INF,
    WT_MODEL_KIND_BRFA_INF,
    WT_MODEL_KIND_RFMLP_INF
} wt_model_kind;
/* "rfa", "brfa-inf" and so on; WT_USAGE for another word, "?" for no kind. */
WT_API wt_status wt_model_kind_parse(wt_context *context, const char *word, wt_model_kind *out);
WT_API const char *wt_model_kind_name(wt_model_kind kind);
/* Whether it is a limit of infinitely many heads: a kernel, not features. */
WT_API bool wt_model_kind_infinite(wt_model_kind kind);

typedef enum wt_activation { WT_ACTIVATION_RELU, WT_ACTIVATION_SOFTMAX } wt_activation;
/* "relu", "softmax"; WT_USAGE for another word, "?" for none of them. */
WT_API wt_status wt_activation_parse(wt_context *context, const char *word, wt_activation *out);
WT_API const char *wt_activation_name(wt_activation activation);

typedef struct wt_model_spec {
    size_t size;
    wt_model_kind kind;
    wt_activation activation; /* of rfa and brfa */
    size_t heads;             /* M; not read for the infinite kinds */
    size_t width;             /* P of rfmlp; 0 = M(d+1), as many parameters as rfa */
    double bias;              /* c of brfa and brfa-inf */
    size_t dim;               /* d */
    size_t keys;              /* N; decides shapes for rfmlp and rfmlp-inf alone */
    uint64_t seed;            /* of the frozen weights */
} wt_model_spec;
/* rfa with relu, 1000 heads, bias 4, seed 0. dim and keys must be set. */
WT_API void wt_model_spec_init(wt_model_spec *spec, size_t size);
/* Its members by name: options of `wattle fit`, keys of the experiment `curve`. */
WT_API const wt_field *wt_model_fields(size_t *count);
/* The check that every call with a specification makes. */
WT_API wt_status wt_model_spec_check(wt_context *context, const wt_model_spec *spec);

/* ---- fitted models --------------------------------------------------------------------------- */

typedef struct wt_fitted wt_fitted;
WT_API void wt_fitted_free(wt_fitted *fitted);
/* Predictions for every sample into out (samples, outputs). */
WT_API wt_status wt_fitted_predict(wt_context *context, const wt_fitted *fitted,
                                   const wt_sets *sets, double *out);
WT_API size_t wt_fitted_outputs(const wt_fitted *fitted);
WT_API const wt_model_spec *wt_fitted_get_spec(const wt_fitted *fitted);
/* Mean squared error and the same over the variance of y, all outputs together; each output in
 * units of its training deviation, for the second, where labels were standardised. */
WT_API wt_status wt_fitted_score(wt_context *context, const wt_fitted *fitted, const wt_sets *sets,
                                 double *mean_square, double *error);
/* Writes or reads a .safetensors file, as docs/formats.md describes. A file of another kind or a
 * later version is WT_DATA. */
WT_API wt_status wt_fitted_save(wt_context *context, const wt_fitted *fitted, const char *path);
WT_API wt_status wt_fitted_load(wt_context *context, const char *path, wt_fitted **out);

/* ---- ridge regression ------------------------------------------------------------------------ */

/* Minimise over v  sum_i |y_i - f(x_i)|^2 + lambda * M * sum_m |v_m|^2  (P in place of M for
 * rfmlp). With Phi the features and K = Phi Phi^T / M: alpha = (K + lambda I)^-1 y and v = Phi^T
 * alpha / M; as M grows K tends to the infinite-head kernel, so that one lambda means the same at
 * every M.
 *
 * Errors are mean squared errors over the variance of y on the same set: 0 is perfect, 1 is no
 * better than the mean, NaN where y does not vary. With several outputs both are taken over all of
 * them, in the units of the fit. */

/* How lambda is found. */
typedef enum wt_lambda {
    WT_LAMBDA_FIXED,
    WT_LAMBDA_LOO,      /* least exact leave-one-out error on the path */
    WT_LAMBDA_GCV,      /* least generalised cross-validation on the path */
    WT_LAMBDA_MIN_NORM, /* lambda -> 0: of all best fits the one of least norm */
    WT_LAMBDA_ORACLE    /* least test error on the path: for replication, not for use */
} wt_lambda;
/* "fixed", "loo" and so on; "?" for no rule. */
WT_API const char *wt_lambda_name(wt_lambda rule);

typedef enum wt_solver { WT_SOLVER_AUTO, WT_SOLVER_DUAL, WT_SOLVER_PRIMAL } wt_solver;

/* Where an end of the path has the least score, lambdas beyond it are tried, a factor of 10 at a
 * time, while one lowers the score by a thousandth; downward no further than a thousand times the
 * rounding of trace(K). `lambda_at_end` in what follows says that the chosen lambda is an end even
 * so: no lambda beyond it could be tried, and a better one may lie there.
 *
 * The leave-one-out error is that of n refits, each on the n - 1 other samples; with `standardize`
 * each of them takes mean and deviation from its own samples. */
typedef struct wt_ridge_options {
    size_t size;
    wt_lambda rule;
    double lambda;      /* of the fixed rule; 0 is the minimum norm */
    const double *path; /* of loo, gcv and oracle; increasing; NULL = 1e-8, 1e-7 .. 10 */
    size_t path_count;
    bool standardize; /* fit (y - mean) / deviation, and undo it in predictions */
    wt_solver solver; /* auto: the dual when n <= features, else the primal */
} wt_ridge_options;
/* Lambda 1e-3, labels as they are, solver auto. */
WT_API void wt_ridge_options_init(wt_ridge_options *ridge, size_t size);

/* The same as it is written: options of `wattle fit`. */
typedef struct wt_ridge_spec {
    size_t size;
    wt_value lambda;  /* a number, or "loo", "gcv", "min-norm", "oracle" */
    const char *path; /* a grid: "1e-8:10:x10"; NULL = that one */
    bool standardize;
    wt_solver solver;
} wt_ridge_spec;
WT_API void wt_ridge_spec_init(wt_ridge_spec *spec, size_t size);
/* Its members by name; lambda and its path are keys of the experiment `curve` too. */
WT_API const wt_field *wt_ridge_fields(size_t *count);
/* What is written, judged and read. out->path lies in *path, to be freed in any case. */
WT_API wt_status wt_ridge_spec_read(wt_context *context, const wt_ridge_spec *spec,
                                    wt_ridge_options *out, wt_grid *path);

/* The remark on a lambda at an end. */
#define WT_LAMBDA_AT_END                                                                           \
    "the chosen lambda is an end of what double precision allows: a better one may lie beyond; "   \
    "compare min-norm"

/* What a fit found; NaN where a number was not computed. */
typedef struct wt_fit_report {
    size_t size;
    const char *route; /* "dual", "primal", "streamed" */
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
    bool out_of_time; /* not all lambdas were tried: this is the best of those that were */
} wt_fit_report;

/* Fits the model drawn from `spec` to the sets. `test` (with labels) may be NULL, except for the
 * oracle rule. *out is to be freed with wt_fitted_free. */
WT_API wt_status wt_ridge_fit(wt_context *context, const wt_ridge_options *ridge,
                              const wt_model_spec *spec, const wt_sets *train, const wt_sets *test,
                              wt_fitted **out, wt_fit_report *report);
/* The same on samples 0 .. samples-1 of a problem, drawn as they are needed and never all held at
 * a time when the primal is solved; the same bits as drawing them first. */
WT_API wt_status wt_ridge_fit_problem(wt_context *context, const wt_ridge_options *ridge,
                                      const wt_model_spec *spec, const wt_problem *problem,
                                      size_t samples, const wt_sets *test, wt_fitted **out,
                                      wt_fit_report *report);

/* What a fit of this size will take. */
typedef struct wt_fit_cost {
    size_t size;
    const char *route; /* as in wt_fit_report */
    size_t samples, features;
    double flops, bytes;
} wt_fit_cost;
/* `drawn`: the samples come from a problem. */
WT_API wt_status wt_ridge_cost(wt_context *context, const wt_ridge_options *ridge,
                               const wt_model_spec *spec, size_t samples, size_t outputs,
                               bool drawn, wt_fit_cost *out);

/* One point of a learning curve; closed, as it is an element of arrays. */
typedef struct wt_curve_point {
    size_t n;
    double lambda;
    double test_error, train_error, loo_error; /* NaN where not computed */
    bool lambda_at_end;
} wt_curve_point;

/* Errors of a model after the first n training samples, for every n of `sizes` (increasing): up to
 * as many as features from one factorisation of the kernel matrix per lambda, beyond that from one
 * normal matrix that grows from size to size (ridge->solver says otherwise). train_y (n, columns)
 * and test_y hold `targets` problems side by side, columns / targets outputs each; points is
 * (targets, sizes). */
WT_API wt_status wt_ridge_curve(wt_context *context, const wt_ridge_options *ridge,
                                const wt_model_spec *spec, const wt_sets *train,
                                const double *train_y, const wt_sets *test, const double *test_y,
                                size_t columns, size_t targets, const size_t *sizes, size_t count,
                                wt_curve_point *points);

/* ---- norm balls ------------------------------------------------------------------------------ */

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
    size_t size;
    wt_loss loss;
    double huber;     /* delta of the Huber loss, above 0; read for that loss alone */
    double k1, k2;    /* above 0; one of them may be infinite */
    double tolerance; /* above 0: the gap wanted, as a part of P(0) */
    size_t max_steps; /* 1 or more */
} wt_ball_options;
/* Square loss, delta 1, tolerance 1e-6, 20,000 steps; K1 and K2 are 0 and must be set. */
WT_API void wt_ball_options_init(wt_ball_options *options, size_t size);

typedef struct wt_ball_report {
    size_t size;
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
    double test_loss;             /* mean loss on the test set; NaN without one */
} wt_ball_report;

/* The theorem's estimator: minimise P(v) = (1/n) sum_i sum_o loss(y_io, f_io) over value vectors
 * with sum_m |v_m| <= K1 and sum_m |v_m|^2 <= K2 / M, with a duality gap as certificate. Random
 * features only. Running out of steps is WT_OK with `reached` false. `test` may be NULL. */
WT_API wt_status wt_ball_fit(wt_context *context, const wt_ball_options *options,
                             const wt_model_spec *spec, const wt_sets *train, const wt_sets *test,
                             wt_fitted **out, wt_ball_report *result);

#ifdef __cplusplus
}
#endif
#endif
