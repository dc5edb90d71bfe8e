#include "layer/learn/jacobian.h"

#include "base/parallel.h"
#include "base/work.h"
#include "linalg/backend.h"

#define REAL     double
#define GEMM     wt_gemm
#define ROUTINES real64
#define JACOBIAN wt_jacobian
#define NAME(x)  wt_jacobian_##x
#include "layer/learn/jacobian_products.h"

wt_status wt_jacobian_new(wt_context *context, const wt_projection *at, wt_jacobian *out) {
    *out = (wt_jacobian){.arena = wt_arena_start(context, "derivatives")};
    wt_jacobian_look(out, at);
    wt_status status = make_room(context, at, out);
    if (status != WT_OK)
        wt_jacobian_free(out);
    return status;
}

void wt_jacobian_look(wt_jacobian *jacobian, const wt_projection *at) {
    jacobian->at = at;
    jacobian->weights = at->weights;
    jacobian->w = at->w;
    jacobian->qt = at->qt;
    jacobian->key = at->rows->in.key;
    jacobian->query = at->rows->in.query;
    jacobian->h = at->h;
    jacobian->v = at->v;
    jacobian->o = at->o;
}

void wt_jacobian_free(wt_jacobian *jacobian) {
    wt_arena_free(&jacobian->arena);
    *jacobian = (wt_jacobian){0};
}

double wt_jacobian_flops(const wt_projection *at) {
    const wt_attention *in = &at->rows->in;
    double rows = (double)at->rows->rows, columns = (double)at->columns;
    double d = (double)in->dim, p = (double)at->rows->outputs;
    double pairs = (double)at->starts[in->sequences];
    return 2 * rows * columns * (2 * d + 4 * p) + 8 * pairs * columns;
}
