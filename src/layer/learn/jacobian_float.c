/* The products in float: as good a direction for a step, at twice the speed. */
#include "base/parallel.h"
#include "base/work.h"
#include "layer/learn/jacobian.h"
#include "linalg/backend.h"

#define REAL     float
#define GEMM     wt_gemm_float
#define ROUTINES real32
#define JACOBIAN wt_jacobian_float
#define NAME(x)  wt_jacobian_float_##x
#include "layer/learn/jacobian_products.h"

static void narrow(size_t count, const double *from, float *to) {
    for (size_t i = 0; i < count; i++)
        to[i] = (float)from[i];
}

static size_t weight_count(const wt_projection *at) {
    return at->heads * at->starts[at->rows->in.sequences];
}

wt_status wt_jacobian_float_new(wt_context *context, const wt_projection *at,
                                wt_jacobian_float *out) {
    const wt_rows *rows = at->rows;
    size_t R = rows->rows, d = rows->in.dim;
    size_t keys = wt_attention_key(&rows->in, rows->in.sequences);
    wt_status status;
    *out = (wt_jacobian_float){.arena = wt_arena_start(context, "derivatives in float")};
    out->weights = WT_TAKE(&out->arena, float, weight_count(at));
    out->w = WT_TAKE(&out->arena, float, at->columns, rows->outputs);
    out->qt = WT_TAKE(&out->arena, float, at->spanned, R);
    if (at->groups > 0) {
        out->h = WT_TAKE(&out->arena, float, R, at->columns);
        out->v = WT_TAKE(&out->arena, float, wt_projection_shared(at));
        out->o = WT_TAKE(&out->arena, float, at->spanned, rows->outputs);
    }
    out->key = WT_TAKE(&out->arena, float, keys, d);
    out->query = WT_TAKE(&out->arena, float, R, at->asked);
    WT_TRY(make_room(context, at, out));
    narrow(keys * d, rows->in.key, out->key);
    narrow(R * at->asked, rows->in.query, out->query);
done:
    if (status != WT_OK)
        wt_jacobian_float_free(out);
    return status;
}

void wt_jacobian_float_free(wt_jacobian_float *jacobian) {
    wt_arena_free(&jacobian->arena);
    *jacobian = (wt_jacobian_float){0};
}

void wt_jacobian_float_load(wt_jacobian_float *jacobian, const wt_projection *at) {
    jacobian->at = at;
    narrow(weight_count(at), at->weights, jacobian->weights);
    narrow(at->columns * at->rows->outputs, at->w, jacobian->w);
    narrow(at->spanned * at->rows->rows, at->qt, jacobian->qt);
    if (at->groups == 0)
        return;
    narrow(at->rows->rows * at->columns, at->h, jacobian->h);
    narrow(wt_projection_shared(at), at->v, jacobian->v);
    narrow(at->spanned * at->rows->outputs, at->o, jacobian->o);
}
