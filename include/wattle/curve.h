/* Learning curves of random-feature models, with repetitions, intervals and rates: what
 * `wattle curve` does.
 *
 *     wt_curve_options options;
 *     wt_curves *curves;
 *     WT_INIT(wt_curve_options, &options);
 *     options.kind = "rfa,brfa";
 *     options.target = "mean-power:2";
 *     wt_curves_run(context, &options, &curves);
 *     for (size_t i = 0; i < wt_curves_count(curves); i++)
 *         printf("%s: n^%g\n", wt_curves_line_at(curves, i)->model,
 *                wt_curves_line_at(curves, i)->rate.value);
 *     wt_curves_free(curves);
 *
 * A repetition redraws the target's direction, data, test set and weights from (seed, repetition).
 * Models and targets see the same draws, and the samples of a smaller n are the first of a larger
 * one; all targets and n of a model come from one factorisation per lambda. */
#ifndef WATTLE_CURVE_H
#define WATTLE_CURVE_H

#include "wattle/fit.h"
#include "wattle/statistics.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Lists are texts: words with commas between them, numbers also as grids ("16:1024:x2"). Every
 * combination is run; what means nothing to a model (the heads of an infinite one, the bias of rfa)
 * stays at its first value. Nothing is kept of the caller's texts after the call. */
typedef struct wt_curve_options {
    size_t size;
    const char *kind; /* list: rfa, brfa, rfmlp, rfa-inf, brfa-inf, rfmlp-inf */
    const char *heads,
        *bias; /* lists; bias: multiples of the identity added to the weights of brfa */
    const char *activation; /* list: relu, softmax */
    size_t width;           /* neurons of rfmlp; 0 = heads (dim + 1) */
    const char *target;     /* list; not read with data, as dim and keys */
    const char *dim, *keys; /* lists */
    wt_law law;             /* of the tokens */
    double token_scale;     /* 0 = 1 for the sphere, 1/sqrt(d) for the others */
    double noise;           /* standard deviation of the label noise */
    const char *n;          /* list: training samples, increasing */
    size_t reps;
    size_t test_samples; /* test samples of a drawn problem */
    const wt_sets *data; /* the user's own, with labels; NULL = drawn */
    double holdout;      /* part of the data held out as test set, chosen anew each repetition */
    wt_value lambda;     /* as in wt_ridge_spec, and its path */
    const char *path;
    const char *output; /* CSV file of all points (docs/formats.md), also of a run that was
                           interrupted, which leaves what is needed to go on beside it, in
                           OUTPUT.part; NULL = none */
    uint64_t seed;
} wt_curve_options;

/* What `wattle curve` takes: rfa, brfa and rfmlp on three targets, n from 16 to 1024, 5
 * repetitions. */
WT_API void wt_curve_options_init(wt_curve_options *options, size_t size);
/* Its members by name: options of `wattle curve`. */
WT_API const wt_field *wt_curve_fields(size_t *count);

typedef struct wt_curves wt_curves;

/* Cells, which are repetitions of a model, run one after the other. When the context is cancelled
 * the one that was begun is finished, unless it is cancelled twice; *out is then NULL and the
 * finished ones are in the output. The same call goes on from them, also after a kill. */
WT_API wt_status wt_curves_run(wt_context *context, const wt_curve_options *options,
                               wt_curves **out);
WT_API void wt_curves_free(wt_curves *curves);

/* One curve: a model with its sizes on a target. */
typedef struct wt_curve_line {
    const char *model, *target, *activation; /* activation "" where it has no meaning */
    size_t dim, keys, heads;                 /* heads 0 for the infinite kinds */
    double bias;                             /* NaN where it has no meaning */
    wt_interval rate; /* r of error ~ n^r: slopes of the repetitions' log-log lines */
} wt_curve_line;

/* Over the repetitions at one n. */
typedef struct wt_curve_summary {
    size_t n;
    wt_interval error;      /* test error, mean */
    wt_interval over_first; /* over that of the first model on the same draws: the exponential of
                               the paired log ratios; NaN for the first model itself */
} wt_curve_summary;

/* Curves, and of each repetitions and n. What the functions below point to belongs to the curves;
 * NULL for an index past the end. */
WT_API size_t wt_curves_count(const wt_curves *curves);
WT_API size_t wt_curves_reps(const wt_curves *curves);
WT_API size_t wt_curves_size_count(const wt_curves *curves);
WT_API const wt_curve_line *wt_curves_line_at(const wt_curves *curves, size_t line);
WT_API const wt_curve_summary *wt_curves_summary_at(const wt_curves *curves, size_t line,
                                                    size_t size);
WT_API const wt_curve_point *wt_curves_point_at(const wt_curves *curves, size_t line, size_t rep,
                                                size_t size);

/* "rfa", or "rfa M=100" where heads and the like vary over the curves, into out[WT_CURVE_NAME];
 * returns out. The size with the letter `apart` (M, d or N) is left out, 0 = none. */
#define WT_CURVE_NAME 96
WT_API const char *wt_curves_name(const wt_curves *curves, const wt_curve_line *line, char apart,
                                  char *out);

#ifdef __cplusplus
}
#endif
#endif
