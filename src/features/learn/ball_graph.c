#include "features/learn/ball_graph.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { COLUMNS_AT_A_TIME = 64 };

/* Columns first .. first+count-1 of the Gram matrix, as B = A (A^T E) with E those columns of the
 * identity; written as rows, for the matrix is symmetric. e, b (order, count); t (other, count). */
static wt_status gram_columns(wt_context *context, const wt_graph *graph, size_t first,
                              size_t count, double *e, double *t, double *b) {
    const wt_operator *phi = graph->phi;
    bool turned = graph->turn == WT_TRANSPOSED;
    memset(e, 0, graph->order * count * sizeof *e);
    for (size_t j = 0; j < count; j++)
        e[(first + j) * count + j] = 1;
    wt_status status;
    WT_TRY((turned ? phi->apply : phi->apply_transposed)(phi->self, context, e, count, t));
    WT_TRY((turned ? phi->apply_transposed : phi->apply)(phi->self, context, t, count, b));
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i <= first + j; i++)
            graph->matrix[(first + j) * graph->order + i] = b[i * count + j];
done:
    return status;
}

static wt_status gram_by_products(wt_context *context, const wt_graph *graph) {
    size_t columns = graph->phi->heads * graph->phi->width, order = graph->order;
    size_t other = graph->turn == WT_TRANSPOSED ? graph->phi->rows : columns,
           width = COLUMNS_AT_A_TIME;
    double *e = NULL, *t = NULL, *b = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &e, order * width, "columns of the identity"));
    WT_TRY(WT_NEW(context, &b, order * width, "columns of the Gram matrix"));
    WT_TRY(WT_NEW(context, &t, other * width, "products with columns of the identity"));
    for (size_t first = 0; first < order; first += width) {
        WT_TRY(wt_check_cancelled(context));
        size_t count = order - first < width ? order - first : width;
        WT_TRY(gram_columns(context, graph, first, count, e, t, b));
    }
done:
    wt_release(e);
    wt_release(b);
    wt_release(t);
    return status;
}

wt_status wt_graph_open(wt_context *context, const wt_operator *phi, size_t q, wt_graph *graph) {
    size_t columns = phi->heads * phi->width, elements;
    bool plain = phi->rows <= columns;
    *graph = (wt_graph){
        .phi = phi, .turn = plain ? WT_PLAIN : WT_TRANSPOSED, .order = plain ? phi->rows : columns};
    wt_status status;
    if (!wt_multiply(graph->order, graph->order, &elements))
        return wt_fail(context, WT_MEMORY, "a Gram matrix of order %zu is beyond any memory",
                       graph->order);
    WT_TRY(WT_NEW(context, &graph->matrix, elements, "the Gram matrix of the features"));
    WT_TRY(WT_NEW(context, &graph->diagonal, graph->order, "the diagonal of the Gram matrix"));
    WT_TRY(WT_NEW(context, &graph->work, graph->order * q, "a right-hand side"));
    if (phi->gram != NULL)
        WT_TRY(phi->gram(phi->self, context, graph->turn, graph->matrix));
    else
        WT_TRY(gram_by_products(context, graph));
    WT_TRY(wt_mirror_lower(context, graph->order, graph->matrix, graph->order));
    for (size_t i = 0; i < graph->order; i++) {
        graph->diagonal[i] = graph->matrix[i * graph->order + i];
        graph->trace += graph->diagonal[i];
    }
    if (!isfinite(graph->trace))
        status = wt_fail(context, WT_DATA,
                         "the features are not finite, or so large that their squares are not");
done:
    return status;
}

void wt_graph_close(wt_graph *graph) {
    wt_release(graph->matrix);
    wt_release(graph->diagonal);
    wt_release(graph->work);
}

/* Brings the Gram matrix back below the diagonal, a square of a size the caches hold at a time. */
static void restore_lower(const wt_graph *graph) {
    enum { SQUARE = 64 };
    size_t n = graph->order;
    double *a = graph->matrix;
    for (size_t row = 0; row < n; row += SQUARE)
        for (size_t column = 0; column <= row; column += SQUARE)
            for (size_t i = row; i < n && i < row + SQUARE; i++)
                for (size_t j = column; j < i && j < column + SQUARE; j++)
                    a[i * n + j] = a[j * n + i];
}

wt_status wt_graph_factor(wt_context *context, wt_graph *graph, double tau) {
    size_t failed_at;
    restore_lower(graph);
    for (size_t i = 0; i < graph->order; i++)
        graph->matrix[i * graph->order + i] = graph->diagonal[i] + tau;
    graph->tau = tau;
    graph->factorisations++;
    wt_status status = wt_cholesky(context, graph->order, graph->matrix, graph->order, &failed_at);
    if (status == WT_OK && failed_at != 0)
        status = wt_fail(context, WT_INTERNAL,
                         "the Gram matrix plus %g lost its positivity at row %zu of %zu", tau,
                         failed_at, graph->order);
    return status;
}

static wt_status solve(wt_context *context, const wt_graph *graph, size_t q) {
    wt_status status;
    WT_TRY(wt_solve_lower(context, WT_PLAIN, graph->order, q, graph->matrix, graph->order,
                          graph->work, q));
    WT_TRY(wt_solve_lower(context, WT_TRANSPOSED, graph->order, q, graph->matrix, graph->order,
                          graph->work, q));
done:
    return status;
}

/* h = (Phi Phi^T + tau I)^-1 (d - Phi c), v = c + Phi^T h, f = d - tau h. room (M w, q). */
static wt_status project_plain(wt_context *context, const wt_graph *graph, size_t q, double *c,
                               double *d, double *room) {
    const wt_operator *phi = graph->phi;
    double *h = graph->work;
    size_t columns = phi->heads * phi->width;
    wt_status status;
    WT_TRY(phi->apply(phi->self, context, c, q, h));
    for (size_t i = 0; i < phi->rows * q; i++)
        h[i] = d[i] - h[i];
    WT_TRY(solve(context, graph, q));
    WT_TRY(phi->apply_transposed(phi->self, context, h, q, room));
    for (size_t j = 0; j < columns * q; j++)
        c[j] += room[j];
    for (size_t i = 0; i < phi->rows * q; i++)
        d[i] -= graph->tau * h[i];
done:
    return status;
}

/* v = (Phi^T Phi + tau I)^-1 (tau c + Phi^T d), f = Phi v. */
static wt_status project_turned(wt_context *context, const wt_graph *graph, size_t q, double *c,
                                double *d) {
    const wt_operator *phi = graph->phi;
    double *h = graph->work;
    size_t columns = phi->heads * phi->width;
    wt_status status;
    WT_TRY(phi->apply_transposed(phi->self, context, d, q, h));
    for (size_t j = 0; j < columns * q; j++)
        h[j] += graph->tau * c[j];
    WT_TRY(solve(context, graph, q));
    memcpy(c, h, columns * q * sizeof *c);
    WT_TRY(phi->apply(phi->self, context, c, q, d));
done:
    return status;
}

wt_status wt_graph_project(wt_context *context, wt_graph *graph, size_t q, double *c, double *d,
                           double *room) {
    graph->passes += 2;
    return graph->turn == WT_PLAIN ? project_plain(context, graph, q, c, d, room)
                                   : project_turned(context, graph, q, c, d);
}
