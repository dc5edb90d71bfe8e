#include "linalg/simplex.h"

#include <Clp_C_Interface.h>
#include <limits.h>
#include <math.h>

#include "base/memory.h"

/* What Clp_status says. */
enum { OPTIMAL = 0, NO_END = 2 };

/* Column by column; zeros, half of the entries for Boolean tokens, are left out. */
static wt_status load(wt_context *context, Clp_Simplex *model, const wt_body *body,
                      const double *direction) {
    size_t rows = body->rows, columns = body->columns;
    CoinBigIndex *start = NULL, kept = 0;
    int *index = NULL;
    double *value = NULL, *bounds = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &start, columns + 1, "a linear program"));
    WT_TRY(WT_NEW(context, &index, rows * columns, "a linear program"));
    WT_TRY(WT_NEW(context, &value, rows * columns, "a linear program"));
    WT_TRY(WT_NEW(context, &bounds, 2 * columns, "a linear program"));
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
done:
    wt_release(start);
    wt_release(index);
    wt_release(value);
    wt_release(bounds);
    return status;
}

wt_status wt_simplex_reach(wt_context *context, const wt_body *body, const double *direction,
                           double *out) {
    size_t entries;
    wt_status status;
    if (!wt_multiply(body->rows, body->columns, &entries) || entries > INT_MAX)
        return wt_fail(context, WT_USAGE,
                       "a linear program of %zu rows and %zu unknowns is too large for CLP",
                       body->rows, body->columns);
    Clp_Simplex *model = Clp_newModel();
    if (model == NULL)
        return wt_fail(context, WT_MEMORY, "no memory is left for a linear program");
    Clp_setLogLevel(model, 0);
    WT_TRY(load(context, model, body, direction));
    Clp_setOptimizationDirection(model, -1);
    Clp_primal(model, 0);
    if (Clp_status(model) == OPTIMAL)
        *out = Clp_objectiveValue(model);
    else if (Clp_status(model) == NO_END)
        *out = INFINITY;
    else
        status =
            wt_fail(context, WT_INTERNAL, "CLP gave up a linear program of %zu rows (status %d)",
                    body->rows, Clp_status(model));
done:
    Clp_deleteModel(model);
    return status;
}
