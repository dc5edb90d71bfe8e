/* Linear programs over a body between pairs of planes, one body and many directions. */
#ifndef WT_LINALG_LINEAR_PROGRAM_H
#define WT_LINALG_LINEAR_PROGRAM_H

#include "base/context.h"

/* {x in R^columns: low <= A x <= high}, held by CLP, whose memory is not on the context's account.
 * All calls on one thread. */
typedef struct wt_body wt_body;

/* A (rows, columns) close together; all is copied. */
wt_status wt_body_open(wt_context *context, size_t rows, size_t columns, const double *a,
                       const double *low, const double *high, wt_body **out);
/* Accepts NULL. */
void wt_body_close(wt_body *body);

/* The largest direction . x over the body, to CLP's tolerance of 1e-7 in the rows; INFINITY when
 * the body is not bounded that way. An empty body, or a program that CLP gives up, is WT_INTERNAL.
 * The search starts at the origin, and is shortest when that is inside. */
wt_status wt_body_reach(wt_context *context, wt_body *body, const double *direction, double *out);

#endif
