#include "linalg/linear_program.h"

#include <Clp_C_Interface.h>
#include <limits.h>
#include <math.h>

#include "base/memory.h"

struct wt_body {
    Clp_Simplex *model;
    size_t rows, columns;
};

/* What Clp_status says. */
enum { OPTIMAL = 0, NO_POINT = 1, NO_END = 2 };
/* Of a row or column in CLP's basis. */
enum { FREE = 0, BASIC = 1 };

/* Column by column; zeros, half of the entries for Boolean tokens, are left out. */
static wt_status load(wt_context *context, wt_body *body, const double *a, const double *low,
                      const double *high) {
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
            if (a[i * columns + j] != 0) {
                index[kept] = (int)i;
                value[kept++] = a[i * columns + j];
            }
        bounds[j] = -INFINITY;
        bounds[columns + j] = INFINITY;
    }
    start[columns] = kept;
    Clp_loadProblem(body->model, (int)columns, (int)rows, start, index, value, bounds,
                    bounds + columns, NULL, low, high);
done:
    wt_release(start);
    wt_release(index);
    wt_release(value);
    wt_release(bounds);
    return status;
}

wt_status wt_body_open(wt_context *context, size_t rows, size_t columns, const double *a,
                       const double *low, const double *high, wt_body **out) {
    wt_body *body = NULL;
    wt_status status;
    size_t entries;
    *out = NULL;
    if (!wt_multiply(rows, columns, &entries) || entries > INT_MAX)
        return wt_fail(context, WT_USAGE,
                       "a linear program of %zu rows and %zu unknowns is too large", rows, columns);
    WT_TRY(WT_NEW_ZERO(context, &body, 1, "a linear program"));
    body->rows = rows;
    body->columns = columns;
    body->model = Clp_newModel();
    if (body->model == NULL) {
        status = wt_fail(context, WT_MEMORY, "no memory is left for a linear program");
        goto done;
    }
    Clp_setLogLevel(body->model, 0);
    WT_TRY(load(context, body, a, low, high));
    Clp_setOptimizationDirection(body->model, -1);
    *out = body;
    body = NULL;
done:
    wt_body_close(body);
    return status;
}

void wt_body_close(wt_body *body) {
    if (body == NULL)
        return;
    if (body->model != NULL)
        Clp_deleteModel(body->model);
    wt_release(body);
}

/* Back to the origin with all planes out of the basis. From the end of an unrelated direction CLP
 * takes twice the steps, and so the answer does not hang on the calls before. */
static void start_over(wt_body *body) {
    double *at = Clp_primalColumnSolution(body->model);
    for (size_t i = 0; i < body->rows; i++)
        Clp_setRowStatus(body->model, (int)i, BASIC);
    for (size_t j = 0; j < body->columns; j++) {
        Clp_setColumnStatus(body->model, (int)j, FREE);
        at[j] = 0;
    }
}

wt_status wt_body_reach(wt_context *context, wt_body *body, const double *direction, double *out) {
    wt_status status;
    WT_TRY(wt_check_cancelled(context));
    start_over(body);
    Clp_chgObjCoefficients(body->model, direction);
    Clp_primal(body->model, 0);
    switch (Clp_status(body->model)) {
    case OPTIMAL:
        *out = Clp_objectiveValue(body->model);
        break;
    case NO_END:
        *out = INFINITY;
        break;
    case NO_POINT:
        status = wt_fail(context, WT_INTERNAL, "a linear program of %zu rows has no point inside",
                         body->rows);
        break;
    default:
        status =
            wt_fail(context, WT_INTERNAL, "CLP gave up a linear program of %zu rows (status %d)",
                    body->rows, Clp_status(body->model));
    }
done:
    return status;
}
