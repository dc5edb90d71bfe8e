/* The same programs by the simplex method of CLP: the judge of the interior points. */
#ifndef WT_LINALG_SIMPLEX_H
#define WT_LINALG_SIMPLEX_H

#include "linalg/linear_program.h"

/* The largest direction . x over the body, of which CLP lets planes be passed by 1e-7; INFINITY
 * when the body has no end there. Takes seconds for some hundred unknowns, and cannot be cancelled
 * meanwhile; CLP's own memory is not on the context's account. */
wt_status wt_simplex_reach(wt_context *context, const wt_body *body, const double *direction,
                           double *out);

#endif
