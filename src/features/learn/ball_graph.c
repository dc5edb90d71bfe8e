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
    bool transposed = graph->trans == WT_TRANSPOSED;
    memset(e, 0, graph->gram.n * count * sizeof *e);
    for (size_t j = 0; j < count; j++)
        e[(first + j) * count + j] = 1;
    WT_PASS((transposed ? phi->apply : phi->apply_transposed)(phi->self, context, e, count, t));
    WT_PASS((transposed ? phi->apply_transposed : phi->apply)(phi->self, context, t, count, b));
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i <= first + j; i++)
            graph->gram.values[(first + j) * graph->gram.n + i] = b[i * count + j];
    return WT_OK;
}

static wt_status gram_by_products(wt_context *context, const wt_graph *graph) {
    size_t columns = graph->phi->heads * graph->phi->width, order = graph->gram.n;
    size_t other = graph->trans == WT_TRANSPOSED ? graph->phi->rows : columns,
           width = COLUMNS_AT_A_TIME;
    wt_arena arena = wt_arena_start(context, "columns of the Gram matrix");
    double *e = WT_TAKE(&arena, double, order, width), *b = WT_TAKE(&arena, double, order, width);
    double *t = WT_TAKE(&arena, double, other, width);
    wt_status status;
    WT_TRY(arena.status);
    for (size_t first = 0; first < order; first += width) {
        WT_TRY(wt_context_check_cancelled(context));
        size_t count = order - first < width ? order - first : width;
        WT_TRY(gram_columns(context, graph, first, count, e, t, b));
    }
done:
    wt_arena_free(&arena);
    return status;
}

wt_status wt_graph_open(wt_context *context, const wt_operator *phi, size_t q, wt_graph *graph) {
    size_t columns = phi->heads * phi->width;
    bool plain = phi->rows <= columns;
    *graph = (wt_graph){.phi = phi, .trans = plain ? WT_PLAIN : WT_TRANSPOSED};
    WT_PASS(wt_shifted_new(context, plain ? phi->rows : columns, "the Gram matrix of the features",
                           &graph->gram));
    WT_PASS(WT_NEW2(context, &graph->work, graph->gram.n, q, "a right-hand side"));
    if (phi->gram != NULL)
        WT_PASS(phi->gram(phi->self, context, graph->trans, graph->gram.values));
    else
        WT_PASS(gram_by_products(context, graph));
    WT_PASS(wt_shifted_keep(context, &graph->gram));
    graph->trace = wt_shifted_trace(&graph->gram, graph->gram.n);
    if (!isfinite(graph->trace))
        return wt_fail(context, WT_DATA,
                       "the features are not finite, or so large that their squares are not");
    return WT_OK;
}

void wt_graph_close(wt_graph *graph) {
    wt_shifted_free(&graph->gram);
    wt_release(graph->work);
}

wt_status wt_graph_factor(wt_context *context, wt_graph *graph, double tau) {
    size_t failed_at;
    graph->tau = tau;
    graph->factorisations++;
    WT_PASS(wt_shifted_factor(context, &graph->gram, tau, graph->gram.n, &failed_at));
    if (failed_at != 0)
        return wt_fail(context, WT_INTERNAL,
                       "the Gram matrix plus %g lost its positivity at row %zu of %zu", tau,
                       failed_at, graph->gram.n);
    return WT_OK;
}

static wt_status solve(wt_context *context, const wt_graph *graph, size_t q) {
    return wt_shifted_solve(context, &graph->gram, graph->gram.n, q, graph->work, q);
}

/* h = (Phi Phi^T + tau I)^-1 (d - Phi c), v = c + Phi^T h, f = d - tau h. room (M w, q). */
static wt_status project_plain(wt_context *context, const wt_graph *graph, size_t q, double *c,
                               double *d, double *room) {
    const wt_operator *phi = graph->phi;
    double *h = graph->work;
    size_t columns = phi->heads * phi->width;
    WT_PASS(phi->apply(phi->self, context, c, q, h));
    for (size_t i = 0; i < phi->rows * q; i++)
        h[i] = d[i] - h[i];
    WT_PASS(solve(context, graph, q));
    WT_PASS(phi->apply_transposed(phi->self, context, h, q, room));
    for (size_t j = 0; j < columns * q; j++)
        c[j] += room[j];
    for (size_t i = 0; i < phi->rows * q; i++)
        d[i] -= graph->tau * h[i];
    return WT_OK;
}

/* v = (Phi^T Phi + tau I)^-1 (tau c + Phi^T d), f = Phi v. */
static wt_status project_transposed(wt_context *context, const wt_graph *graph, size_t q, double *c,
                                    double *d) {
    const wt_operator *phi = graph->phi;
    double *h = graph->work;
    size_t columns = phi->heads * phi->width;
    WT_PASS(phi->apply_transposed(phi->self, context, d, q, h));
    for (size_t j = 0; j < columns * q; j++)
        h[j] += graph->tau * c[j];
    WT_PASS(solve(context, graph, q));
    memcpy(c, h, columns * q * sizeof *c);
    return phi->apply(phi->self, context, c, q, d);
}

wt_status wt_graph_project(wt_context *context, wt_graph *graph, size_t q, double *c, double *d,
                           double *room) {
    graph->passes += 2;
    return graph->trans == WT_PLAIN ? project_plain(context, graph, q, c, d, room)
                                    : project_transposed(context, graph, q, c, d);
}
