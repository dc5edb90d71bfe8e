/* Query-key products from a file. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/types.h"
#include "layer/model/products.h"
#include "linalg/linalg.h"
#include "wattle/io.h"

static wt_status refuse(wt_context *context, const wt_file *file, const char *why) {
    char path[WT_QUOTED_BYTES];
    return wt_fail(context, WT_DATA, "%s: %s", wt_quote(wt_file_path(file), path, sizeof path),
                   why);
}

/* The array as (heads, rows, columns), read and checked; released by the caller. */
typedef struct {
    size_t heads, rows, columns;
    double *values;
    double rounding;
} stack;

static wt_status read_stack(wt_context *context, const wt_file *file, const wt_array *array,
                            stack *out) {
    char name[WT_QUOTED_BYTES], path[WT_QUOTED_BYTES];
    wt_quote(array->name, name, sizeof name);
    wt_quote(wt_file_path(file), path, sizeof path);
    if (array->rank < 2 || array->rank > 3 || array->count == 0)
        return wt_fail(context, WT_DATA,
                       "%s: %s has %zu dimensions and %zu numbers, not a matrix "
                       "a head",
                       path, name, array->rank, array->count);
    const size_t *shape = array->shape + array->rank - 2;
    *out = (stack){.heads = array->rank == 3 ? array->shape[0] : 1,
                   .rows = shape[0],
                   .columns = shape[1],
                   .rounding = wt_type_rounding(array->type)};
    WT_PASS(WT_NEW(context, &out->values, array->count, name));
    WT_PASS(wt_file_read(context, file, array, out->values));
    char what[2 * WT_QUOTED_BYTES + 2];
    snprintf(what, sizeof what, "%s: %s", path, name);
    return wt_values_check_finite(context, what, out->values, array->rank, array->shape);
}

static wt_status take_square(wt_context *context, const wt_file *file, const wt_array *array,
                             wt_products *out) {
    stack whole = {0};
    wt_status status;
    WT_TRY(read_stack(context, file, array, &whole));
    if (whole.rows != whole.columns) {
        char path[WT_QUOTED_BYTES];
        WT_TRY(wt_fail(context, WT_DATA, "%s: %s is %zu by %zu a head, not square",
                       wt_quote(wt_file_path(file), path, sizeof path), array->name, whole.rows,
                       whole.columns));
    }
    *out = (wt_products){
        .heads = whole.heads, .dim = whole.rows, .theta = whole.values, .rounding = whole.rounding};
    whole.values = NULL;
done:
    wt_release(whole.values);
    return status;
}

/* theta_h = Q_h K_h^T; matrices act on the right: q = x Q. */
static wt_status multiply_pair(wt_context *context, const wt_file *file, const wt_array *query,
                               const wt_array *key, wt_products *out) {
    stack q = {0}, k = {0};
    wt_status status;
    WT_TRY(read_stack(context, file, query, &q));
    WT_TRY(read_stack(context, file, key, &k));
    if (q.heads != k.heads || q.rows != k.rows || q.columns != k.columns)
        WT_TRY(refuse(context, file, "w_q and w_k have different shapes"));
    size_t d = q.rows, r = q.columns, square, all;
    if (!wt_multiply(d, d, &square) || !wt_multiply(square, q.heads, &all))
        WT_TRY(refuse(context, file, "the products of w_q and w_k are beyond any memory"));
    WT_TRY(WT_NEW(context, &out->theta, all, "query-key products"));
    for (size_t h = 0; h < q.heads; h++)
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, d, d, r, 1, q.values + h * d * r, r,
                       k.values + h * d * r, r, 0, out->theta + h * square, d));
    out->heads = q.heads;
    out->dim = d;
    out->rounding = fmax(q.rounding, k.rounding);
done:
    wt_release(q.values);
    wt_release(k.values);
    return status;
}

/* `w` (m,d,p) of a layer; what else bears that name is none of it. */
static wt_status take_w(wt_context *context, const wt_file *file, wt_products *out) {
    const wt_array *array = wt_file_find(file, "w");
    stack whole = {0};
    if (array == NULL || array->rank != 3 || array->shape[0] != out->heads ||
        array->shape[1] != out->dim || array->shape[2] == 0)
        return WT_OK;
    wt_status status = read_stack(context, file, array, &whole);
    out->w = whole.values;
    out->outputs = whole.columns;
    return status;
}

wt_status wt_products_load(wt_context *context, const char *path, wt_products **out) {
    wt_products *made = NULL;
    wt_file *file = NULL;
    wt_status status;
    *out = NULL;
    WT_TRY(wt_file_open(context, path, &file));
    WT_TRY(WT_NEW_ZERO(context, &made, 1, "query-key products"));
    const wt_array *square = wt_file_find(file, "theta");
    if (square == NULL)
        square = wt_file_find(file, "w_qk");
    if (square == NULL && strcmp(wt_file_format(file), "npy") == 0)
        square = wt_file_at(file, 0);
    const wt_array *query = wt_file_find(file, "w_q"), *key = wt_file_find(file, "w_k");
    if (square != NULL) {
        WT_TRY(take_square(context, file, square, made));
        if (strcmp(square->name, "theta") == 0)
            WT_TRY(take_w(context, file, made));
    } else if (query != NULL && key != NULL) {
        WT_TRY(multiply_pair(context, file, query, key, made));
    } else {
        WT_TRY(refuse(
            context, file,
            "holds no layer: theta (m,d,d), w_qk (m,d,d), or w_q and w_k (m,d,k) is expected"));
    }
    *out = made;
    made = NULL;
done:
    wt_file_free(file);
    wt_products_free(made);
    return status;
}

void wt_products_free(wt_products *products) {
    if (products == NULL)
        return;
    wt_release(products->theta);
    wt_release(products->w);
    wt_release(products);
}

size_t wt_products_heads(const wt_products *products) {
    return products->heads;
}

size_t wt_products_dim(const wt_products *products) {
    return products->dim;
}

const double *wt_products_theta(const wt_products *products) {
    return products->theta;
}
