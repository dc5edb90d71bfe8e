/* `refine` with the number of heads given: its starts, and what is concluded from them. */
#ifndef WT_LAYER_LEARN_REFINE_PARTS_H
#define WT_LAYER_LEARN_REFINE_PARTS_H

#include "layer/learn/descent.h"
#include "layer/learn/misfit.h"
#include "layer/learn/recovery.h"

typedef struct wt_refinement {
    wt_context *context;
    const wt_sequences *data;
    const wt_recover_options *options;
    const wt_rescue *rescue; /* NULL = none, or asked already */
    wt_layer *rescued;
    size_t heads, train_samples;
    double square; /* mean square of the tokens' entries */
    wt_rows train, held;
    size_t fitted_rows; /* that starts are made on */
    wt_descent descent;
    double *best;      /* packed Theta, and V where heads share values */
    double best_error; /* on the train rows */
    double best_held;  /* on the held-out ones; NaN when there are none */
    size_t best_start, same, starts;
    const char *from, *best_from; /* what the start in hand, and the best, was */
    double goal;                  /* that counts as exact */
    bool reached;                 /* by the best start, unless held-out sequences say otherwise */
    bool tested;                  /* the residuals of the best floor */
    wt_misfit misfit;
    double *settled; /* packed Theta of that floor, polished on all sequences */
    double settled_error;
    bool late;        /* the time is over: the best so far must do */
    wt_meter meter;   /* starts */
    char phase[48];   /* "3 heads, start 2" */
    size_t unbounded; /* a head whose Theta wants to be infinite, or `heads` */
    bool itself;      /* it attends to the token itself */
    wt_layer *out;
    wt_recover_report *report;
} wt_refinement;

/* Starts until it is decided, and the layer; adds to the report's counts. */
wt_status wt_refine_heads(wt_context *context, const wt_sequences *data,
                          const wt_recover_options *options, size_t heads, const wt_rescue *rescue,
                          wt_layer **out, wt_recover_report *report);

/* Columns of the outputs that Theta of so many heads is fitted to. */
size_t wt_refine_columns(const wt_sequences *data, const wt_recover_options *options, size_t heads);

/* Starts whose errors agree make a floor from so many on. */
enum { WT_REFINE_FLOOR = 3 };
/* Unknowns that the rows determine: Theta and W. */
double wt_refine_unknowns(const wt_refinement *work);
/* Whether more starts would change nothing. */
bool wt_refine_decided(const wt_refinement *work);
/* The verdict, what the test of the residuals says, and why where it is no. */
void wt_refine_conclude(const wt_refinement *work, wt_recover_report *report);

#endif
