/* The reach of a body by the simplex method of CLP: the judge of our interior points. */
#ifndef TESTS_LINALG_SIMPLEX_H
#define TESTS_LINALG_SIMPLEX_H

#include <Clp_C_Interface.h>

#include "base/memory.h"
#include "check.h"
#include "linalg/linear_program.h"

/* Column by column; zeros, half of the entries for Boolean tokens, are left out. */
static void simplex_load(wt_context *context, Clp_Simplex *model, const wt_body *body,
                         const double *direction) {
    size_t rows = body->rows, columns = body->columns;
    CoinBigIndex *start, kept = 0;
    int *index;
    double *value, *bounds;
    CHECK_OK(context, WT_NEW(context, &start, columns + 1, "a linear program"));
    CHECK_OK(context, WT_NEW(context, &index, rows * columns, "a linear program"));
    CHECK_OK(context, WT_NEW(context, &value, rows * columns, "a linear program"));
    CHECK_OK(context, WT_NEW(context, &bounds, 2 * columns, "a linear program"));
    for (size_t j = 0; j < columns; j++) {
        start[j] = kept;
        for (size_t i = 0; i < rows; i++)
            if (body->a[i * columns + j] != 0) {
                index[kept] = (int)i;
                value[kept++] = body->a[i * columns + j];
            }
        bounds[j] = -INFINITY;
        bounds[columns + j] = INFINITY;
    }
    start[columns] = kept;
    Clp_loadProblem(model, (int)columns, (int)rows, start, index, value, bounds, bounds + columns,
                    direction, body->low, body->high);
    wt_release(start);
    wt_release(index);
    wt_release(value);
    wt_release(bounds);
}

/* The largest direction . x over the body, of which CLP lets planes be passed by 1e-7; INFINITY
 * when the body has no end there. */
static double simplex_reach(wt_context *context, const wt_body *body, const double *direction) {
    enum { OPTIMAL = 0, NO_END = 2 }; /* what Clp_status says */
    Clp_Simplex *model = Clp_newModel();
    double reach = INFINITY;
    Clp_setLogLevel(model, 0);
    simplex_load(context, model, body, direction);
    Clp_setOptimizationDirection(model, -1);
    Clp_primal(model, 0);
    if (Clp_status(model) == OPTIMAL)
        reach = Clp_objectiveValue(model);
    else if (Clp_status(model) != NO_END)
        fail_msg("CLP gave up a linear program of %zu rows (status %d)", body->rows,
                 Clp_status(model));
    Clp_deleteModel(model);
    return reach;
}

#endif
