/* Recovering a layer from sequences and its outputs, and comparing two layers.
 *
 * Heads are recovered up to their order; heads with equal Theta only through the sum of their W,
 * heads with W = 0 not at all, and sequences of one token show the sum of all W alone.
 *
 *     wt_recover_options options;
 *     wt_recover_report report = WT_SIZED(wt_recover_report);
 *     wt_layer *layer = NULL;
 *     WT_INIT(wt_recover_options, &options);
 *     options.heads = 2;
 *     wt_layer_recover(context, data, &options, &layer, &report, NULL); */
#ifndef WATTLE_RECOVER_H
#define WATTLE_RECOVER_H

#include "wattle/field.h"
#include "wattle/layer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which form of layer is looked for. */
typedef enum wt_recover_forms {
    WT_RECOVER_FORMS_GIVEN, /* the one that the options give */
    WT_RECOVER_FORMS_AUTO,  /* that, and where it is a misfit others, as the residuals suggest */
} wt_recover_forms;

typedef struct wt_recover_options {
    size_t size;
    size_t heads;            /* m; 0 = find it */
    size_t restarts;         /* random starts at most */
    double holdout;          /* part of the sequences kept for judging, 0 <= holdout < 1 */
    uint64_t seed;           /* of the starts */
    size_t max_steps;        /* of one start; 0 = 200, and 20000 for adam */
    double goal;             /* relative error that counts as exact */
    const wt_layer *start;   /* tried before the random ones, its theta alone; NULL = none */
    bool matrix_free;        /* never form the normal matrix, however small it is */
    const char *method;      /* "auto", "refine", "sculpt" or "adam" */
    const wt_layer *teacher; /* the true layer where it is known: the stages of sculpt then report
                                their true errors; NULL = not known */
    /* The form of the layer, as in wt_layer_form: what is to be found besides Theta and W, and what
     * is known of it. */
    bool bias, residual;
    wt_layer_mask mask;
    wt_layer_norm norm;
    double epsilon; /* of the norm */
    size_t rank;    /* r > 0: Theta_i = A_i B_i^T with A_i of r columns, as W_Q and W_K make it;
                       0 = any */
    wt_recover_forms forms;
    size_t groups; /* G > 0: heads share keys and values in G groups of as many each (grouped
                      queries): Theta_i = A_i B_g^T and W_i = V_g O_i, B_g and V_g of `rank`
                      columns; 0 = no head shares any, and W has any rank */
} wt_recover_options;

/* heads 0, 20 starts, holdout 0.2, seed 0, goal 1e-9, method auto, all else none. */
WT_API void wt_recover_options_init(wt_recover_options *options, size_t size);
/* Its members by name: options of `wattle recover`, keys of the experiment `recover`. */
WT_API const wt_field *wt_recover_fields(size_t *count);

/* A method by its name; NULL for no such name. */
typedef struct wt_recover_method {
    const char *name; /* "auto", "refine", "sculpt", "adam", "query" */
    size_t steps;     /* of a start at most, unless given; 0 = has no such limit */
    bool asks;        /* chooses its inputs, as wt_layer_query does: there are no examples */
} wt_recover_method;
WT_API const wt_recover_method *wt_recover_method_find(const char *name);

/* What a recovery concludes. */
typedef enum wt_recover_verdict {
    WT_RECOVER_VERDICT_NOT_FOUND, /* starts that end apart, too few sequences, none held out */
    WT_RECOVER_VERDICT_MISFIT,    /* not of this class: what is left of y depends on x */
    WT_RECOVER_VERDICT_NOISE,     /* what is left of y passes for noise */
    WT_RECOVER_VERDICT_EXACT,     /* to the goal, or to the rounding of float32 data */
} wt_recover_verdict;
/* "not found", "not of this class", "to the floor of noise", "exact"; "?" for no verdict. */
WT_API const char *wt_recover_verdict_name(wt_recover_verdict verdict);

#define WT_RECOVER_MAX_WARNINGS  8
#define WT_RECOVER_WARNING_BYTES 256

/* What a recovery found; NaN where a number was not computed. Errors are |y - F(x)| / |y|. */
typedef struct wt_recover_report {
    size_t size;
    const char *method;
    wt_recover_verdict verdict;
    bool recovered; /* WT_RECOVER_VERDICT_EXACT or WT_RECOVER_VERDICT_NOISE */
    bool exact;     /* WT_RECOVER_VERDICT_EXACT: train and held-out errors reached the goal */
    double goal;    /* that counted: of the options, or the rounding of float32 data */
    char reason[WT_RECOVER_WARNING_BYTES]; /* of a verdict that is no; empty else */
    /* The test of the residuals; NaN and NULL where it was not made. */
    double misfit_chance;    /* that noise alone leaves so much structure, over all kinds tried */
    double misfit_part;      /* of the residuals' squares that the kind below explains */
    double misfit_visible;   /* over |y|: a misfit of this size would have been seen, 9 in 10 */
    const char *misfit_kind; /* constant, token, heads, norm, causal, ..: docs/recover.md */
    size_t heads;            /* of the layer given back */
    size_t start, starts;    /* which start won, from 0; how many were made */
    const char *start_from;  /* what that start was: random, given or sculpt */
    size_t steps;            /* Gauss-Newton (or Adam) steps over all starts */
    size_t products;         /* products with the Jacobian or its transpose */
    double flops;            /* counted by shapes, all that the call did: no clock, no threads */
    double train_error, holdout_error;
    double condition;      /* of the projected Jacobian; from below for many unknowns */
    double least_examples; /* N_min = max(m d (d + p) / (k p), d^2 / (k (k - 1))) */
    size_t examples;       /* sequences given */
    size_t dim, rank;      /* d, and the dimension of the tokens' span */
    double seconds;
    size_t warnings;
    char warning[WT_RECOVER_MAX_WARNINGS]
                [WT_RECOVER_WARNING_BYTES]; /* sentences on what is identifiable */
    char form[WT_LAYER_FORM_TEXT];          /* of the layer, in words */
    size_t forms;                           /* that were tried */
    bool out_of_time; /* the limit of time ended it: the layer is the best of what was tried */
} wt_recover_report;

/* N_min of the information limit; k = 1 gives infinity. rank = 0: Theta of full rank; else the m
 * d^2 of Theta are m (2 d r - r^2). groups > 0: heads share keys and values, m d r + G (d r - r^2)
 * numbers of Theta and G (d r - r^2) + m r p of W. */
WT_API double wt_recover_least_examples(size_t heads, size_t dim, size_t outputs, size_t length,
                                        size_t rank, size_t groups);

/* What the method `sculpt` did, stage by stage: wattle/sculpt.h. */
typedef struct wt_sculpt_report wt_sculpt_report;

/* Recovers a layer by options->method, which must not be one that asks:
 *   refine  variable projection and Levenberg-Marquardt from small random starts
 *   adam    the baseline: Theta and W by Adam's method, its step chosen from a short trial of
 * several sculpt  refines from the start that its stages give; WT_MISSED where they give none auto
 * refines; where its first random starts fail and the data is such that sculpt may work (few heads
 * on few tokens, whole sequences, many examples), sculpt is asked for a start from the sequences
 * that are not held out A run to the end without success is WT_OK with `recovered` false, and the
 * best layer found in *out (to be freed with wt_layer_free). report->method is the method that won.
 * `stages` may be NULL; its stage is WT_SCULPT_STAGE_NONE where sculpt was not asked, or refused at
 * once. */
WT_API wt_status wt_layer_recover(wt_context *context, const wt_sequences *data,
                                  const wt_recover_options *options, wt_layer **out,
                                  wt_recover_report *report, wt_sculpt_report *stages);

#define WT_COMPARE_UNMATCHED ((size_t)-1)
/* A head of layer a and the one of layer b it is matched with. */
typedef struct wt_head_match {
    size_t a, b;                 /* from 0, after merging; WT_COMPARE_UNMATCHED = none */
    double theta_error, w_error; /* Frobenius, over the norm in a; NaN for an unmatched head */
} wt_head_match;
#define WT_COMPARE_LENGTHS 3
typedef struct wt_comparison {
    size_t size;
    size_t heads_a, heads_b; /* after duplicates are merged and zero heads dropped */
    size_t matches;          /* rows of `match` */
    wt_head_match *match;
    double theta_error, w_error; /* the largest; infinite when a head is left over */
    size_t length[WT_COMPARE_LENGTHS];
    double distance[WT_COMPARE_LENGTHS]; /* |F_a - F_b| / |F_a| on fresh sequences */
    double c_error;                      /* of what is added to all outputs, over its norm in a */
    size_t dim, rank; /* d, and the directions that tokens have: heads are compared there alone */
    bool off_origin;  /* and those tokens lie on a plane that does not go through 0 */
    double data_output, data_difference; /* root mean squares of F_a and F_a - F_b on the data; NaN
                                            without */
} wt_comparison;
typedef struct wt_compare_options {
    size_t size;
    double token_scale;       /* of the fresh Gaussian sequences */
    uint64_t seed;            /* of them */
    const wt_sequences *data; /* compare what these sequences show; NULL = what any tokens do */
} wt_compare_options;
/* Scale 1, seed 0, no data. */
WT_API void wt_compare_options_init(wt_compare_options *options, size_t size);
/* Heads matched by the Hungarian method on the squared distances of Theta (with u) and W. What no
 * output shows is left out before: parts along directions that no token has, as (1, .., 1) after a
 * LayerNorm, and, where the data's tokens lie on a plane off 0, what the plane's offset adds to all
 * scores of a row, or moves between W and c. So two layers that are the same function have errors
 * of 0. *out is to be freed with wt_comparison_free. */
WT_API wt_status wt_layer_compare(wt_context *context, const wt_layer *a, const wt_layer *b,
                                  const wt_compare_options *options, wt_comparison *out);
/* Frees what the comparison holds; accepts NULL and one that was never filled in. */
WT_API void wt_comparison_free(wt_comparison *comparison);

#ifdef __cplusplus
}
#endif
#endif
