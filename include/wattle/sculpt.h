/* Learner `sculpt`: a layer from the rows where all its heads attend alike, and a certificate.
 *
 * The outline is that of Chen and Li, "Provably learning a multi-head attention layer" (arXiv
 * 2402.04084); the details and every constant here are our own. In stages:
 *   1 crude sum   W_S = sum W_i, by regression of sum_a y_a on sum_a x_a
 *   2 patterns    of every row, p = argmin over the simplex |y_a - p^T X W_S|; rows of least
 *                 residual are those where all heads share the pattern p
 *   3 refit       W_S on the accepted rows, of which fewer (x 0.6) are taken each round
 *   4 patterns    again; accepted rows cut slabs |x_a^T Theta (x_b - x_c) - log(p_b / p_c)| <= eta
 *   5 span        the m - 1 eigenvectors of least eigenvalue of the slabs' covariance span the
 *                 differences of the Theta_i, the nearest point of least norm gives the hull
 *   6 net         m-tuples of points of the hull, W by least squares, the best on held-out rows
 * It says so (WT_MISSED) when sum W_i is near 0, when there is no eigen-gap (as a rule for
 * (m - 1)(k - 1) > 3), or when no tuple of the net explains the outputs. */
#ifndef WATTLE_SCULPT_H
#define WATTLE_SCULPT_H

#include "wattle/recover.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A net over more heads would be larger than it is worth; sequences longer than this leave no row
 * where all heads agree. */
#define WT_SCULPT_MAX_HEADS  4
#define WT_SCULPT_MAX_TOKENS 8
#define WT_SCULPT_MAX_VALUES 6

typedef enum wt_sculpt_stage {
    WT_SCULPT_STAGE_NONE,
    WT_SCULPT_STAGE_CRUDE,
    WT_SCULPT_STAGE_PATTERNS,
    WT_SCULPT_STAGE_SPAN,
    WT_SCULPT_STAGE_NET
} wt_sculpt_stage;

/* Stage by stage; NaN where a number was not computed. Errors are relative, in Frobenius norm, and
 * need the teacher. */
struct wt_sculpt_report {
    size_t size;
    wt_sculpt_stage stage; /* the last one that ran to its end */
    /* 1 */
    double crude_explained; /* part of the squares of sum_a y_a that the crude sum explains */
    double crude_error;     /* of W_S */
    /* 2 to 4 */
    size_t rows, accepted;   /* query rows in all, and accepted in the end */
    size_t rounds;           /* of refitting */
    double median_residual;  /* of all rows, over the spread of the tokens' values */
    double largest_residual; /* of an accepted row, the same */
    double sum_error;        /* of W_S after refitting */
    /* 5 */
    size_t slabs;
    size_t value_count; /* of `values` */
    double values[WT_SCULPT_MAX_VALUES];
    double median_value;
    size_t heads;      /* by the gap; 1 when one pattern explains every row; 0 = no gap */
    double gap;        /* value m over value m - 1; NaN for one head */
    double hull_error; /* the largest distance of a true Theta_i from the hull */
    /* 6 */
    size_t net_points, tuples;
    double start_error; /* |y - F(x)| / |y| of the layer given back on held-out rows */
    double seconds;
    double flops; /* as in wt_recover_report, and also where it stopped early */
};

/* The stages, a line each, for reading; and as an object of JSON, null for NaN. Cut to `bytes`;
 * return the length of the whole text, as snprintf does. */
WT_API size_t wt_sculpt_text(const wt_sculpt_report *report, char *buffer, size_t bytes);
WT_API size_t wt_sculpt_json(const wt_sculpt_report *report, char *buffer, size_t bytes);

/* How far from the reported heads a Theta could lie and still fit in all slabs: the width of the
 * convex body K = {Theta: |x_a^T Theta (x_b - x_c) - log(p_b / p_c)| <= eta} over accepted rows,
 * along directions orthogonal to the reported Theta_i, by linear programs. p is read off the rows
 * by the sum of the reported W, and eta by the reported Theta: K holds the reported heads, and the
 * true ones only if they attend alike on those rows, as p says, to within eta. That is not checked,
 * and the margin of eta is a choice: a wrong layer may have a narrow K without the true heads. */
typedef struct wt_certificate_options {
    size_t size;
    double part;       /* rows taken, as a part of all: those of least residual among rows with all
                          p_b in [0.1, 0.9] */
    size_t directions; /* random ones; 0 = a basis of the d^2 - m orthogonal to the span */
    uint64_t seed;     /* of the directions */
    const wt_layer *teacher; /* where known: its heads in the body are counted; NULL = not known */
} wt_certificate_options;

/* 2% of the rows, 64 directions, seed 0, no teacher. */
WT_API void wt_certificate_options_init(wt_certificate_options *options, size_t size);

typedef struct wt_certificate_result {
    size_t size;
    size_t rows, slabs;
    double eta; /* 1.1 times the largest violation of a slab by a reported head; 1e-9 at least */
    size_t directions;
    double theta_size; /* root mean square of |Theta_i|_F */
    /* Half-widths over theta_size, INFINITY where the body has no end; never too small. Per
     * direction: over a basis (directions = 0) the body is up to sqrt(d^2 - m) times as wide in
     * Frobenius norm; random directions bound themselves alone. */
    double median, largest;
    double frobenius_factor;              /* sqrt(d^2 - m) */
    size_t teacher_heads, teacher_inside; /* 0 and 0 without a teacher */
    double seconds;
} wt_certificate_result;

/* WT_MISSED with a sentence when eta is above 1 or there are fewer slabs than unknowns: such a body
 * says nothing. */
WT_API wt_status wt_certificate_compute(wt_context *context, const wt_sequences *data,
                                        const wt_layer *layer,
                                        const wt_certificate_options *options,
                                        wt_certificate_result *result);
/* Whether a Theta (d, d) is in the body of that certificate: the same rows, slabs and refusals. */
WT_API wt_status wt_certificate_contains(wt_context *context, const wt_sequences *data,
                                         const wt_layer *layer,
                                         const wt_certificate_options *options, const double *theta,
                                         bool *out);

WT_API size_t wt_certificate_text(const wt_certificate_result *result, char *buffer, size_t bytes);
WT_API size_t wt_certificate_json(const wt_certificate_result *result, char *buffer, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
