/* How far a body between pairs of planes reaches, by interior points. */
#ifndef WT_LINALG_LINEAR_PROGRAM_H
#define WT_LINALG_LINEAR_PROGRAM_H

#include "base/context.h"

/* {x in R^columns: low <= A x <= high} with the origin inside, low < 0 < high. All is borrowed. */
typedef struct wt_body {
    size_t rows, columns;
    const double *a; /* (rows, columns) close together */
    const double *low, *high;
} wt_body;

/* The largest direction . x over the body, from above: the value of a dual point, which is feasible
 * to 1e-8 of the direction's length and no more than 1e-6 of itself over the best. INFINITY when
 * the columns of A depend on each other to working precision, for then the body has no end.
 * WT_USAGE when the origin is not inside. */
wt_status wt_body_reach(wt_context *context, const wt_body *body, const double *direction,
                        double *out);

#endif
