#include "layer/learn/descent_host.h"

#include <string.h>

#include "base/memory.h"
#include "layer/learn/normal_matrix.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"

/* Unknowns up to which the normal matrix is always formed, and may be. */
#define DENSE_ALWAYS 150
#define DENSE_MOST   2000

wt_status wt_recover_engine_of(wt_context *context, const wt_recover_engine **out) {
    const wt_device *device = wt_context_get_device(context);
    *out = device == NULL ? &wt_recover_host : device->recover;
    return *out != NULL ? WT_OK : wt_device_refuse(context, "recoveries");
}

wt_recover_problem wt_recover_problem_of(const wt_rows *rows, size_t heads) {
    const wt_attention *in = &rows->in;
    return (wt_recover_problem){.sequences = in->sequences,
                                .rows = rows->rows,
                                .keys = wt_attention_key(in, in->sequences),
                                .dim = in->dim,
                                .asked = wt_attention_query_dim(in),
                                .outputs = rows->outputs,
                                .heads = heads,
                                .length = in->length,
                                .key_start = in->key_start,
                                .row_start = in->row_start,
                                .place = in->place,
                                .times = in->times,
                                .key = in->key,
                                .query = in->query,
                                .y = rows->y,
                                .norm = rows->norm,
                                .causal = in->causal};
}

static wt_status rows_of(wt_context *context, const wt_recover_problem *problem, wt_rows *out) {
    *out = (wt_rows){.in = {.sequences = problem->sequences,
                            .dim = problem->dim,
                            .length = problem->length,
                            .key_start = problem->key_start,
                            .row_start = problem->row_start,
                            .key = problem->key,
                            .query = problem->query,
                            .times = problem->times,
                            .place = problem->place,
                            .bias = problem->asked > problem->dim,
                            .causal = problem->causal},
                     .rows = problem->rows,
                     .outputs = problem->outputs,
                     .y = problem->y,
                     .arena = wt_arena_start(context, "rows of sequences")};
    return wt_rows_measure(out);
}

static bool dense_is_cheaper(const wt_projection *at, size_t side, size_t products) {
    return side <= DENSE_ALWAYS ||
           (side <= DENSE_MOST && wt_normal_flops(at) < (double)products * wt_jacobian_flops(at));
}

static wt_status take_matrix(wt_recover_fit *fit) {
    fit->normal = WT_TAKE(&fit->arena, double, fit->side, fit->side);
    fit->factor = WT_TAKE(&fit->arena, double, fit->side, fit->side);
    WT_PASS(fit->arena.status);
    fit->matrix_free = fit->dear = false;
    return WT_OK;
}

/* What steps need beside the places. */
static wt_status make_room(wt_context *context, const wt_recover_problem *problem,
                           wt_recover_fit *fit) {
    size_t thetas = problem->asked * problem->heads * problem->dim, side = thetas;
    bool factored = problem->rank > 0;
    fit->may_form = !factored && problem->products > 0;
    fit->matrix_free = !fit->may_form || !dense_is_cheaper(fit->now, side, problem->products);
    if (factored) {
        WT_PASS(wt_factors_new(context, fit->now, problem->rank, &fit->factors));
        side = fit->factors.count;
        fit->solved = WT_TAKE(&fit->arena, double, side);
        fit->turned = WT_TAKE(&fit->arena, double, 2, problem->asked, problem->rank);
        fit->wide = WT_TAKE(&fit->arena, double, thetas + wt_projection_shared(fit->now));
    }
    fit->side = side;
    WT_PASS(wt_jacobian_new(context, fit->now, &fit->jacobian));
    fit->gradient = WT_TAKE(&fit->arena, double, side);
    if (fit->matrix_free) {
        fit->residual = WT_TAKE(&fit->arena, double, side);
        fit->direction = WT_TAKE(&fit->arena, double, side);
        fit->product = WT_TAKE(&fit->arena, double, side);
    } else {
        WT_PASS(take_matrix(fit));
    }
    if (fit->matrix_free && !factored) {
        fit->narrow_in = WT_TAKE(&fit->arena, float, side);
        fit->narrow_out = WT_TAKE(&fit->arena, float, side);
    }
    WT_PASS(fit->arena.status);
    if (factored)
        return wt_tangent_new(context, fit->now, &fit->factors, problem->signs, &fit->tangent);
    return fit->matrix_free ? wt_jacobian_float_new(context, fit->now, &fit->narrow) : WT_OK;
}

static void end(wt_recover_fit *fit) {
    if (fit == NULL)
        return;
    for (size_t i = 0; i < 2; i++)
        wt_projection_free(&fit->places[i]);
    wt_jacobian_free(&fit->jacobian);
    wt_jacobian_float_free(&fit->narrow);
    wt_tangent_free(&fit->tangent);
    wt_factors_free(&fit->factors);
    wt_rows_free(&fit->rows);
    wt_arena_free(&fit->arena);
    wt_release(fit);
}

static wt_status begin(wt_context *context, wt_device *device, const wt_recover_problem *problem,
                       wt_recover_fit **out) {
    wt_recover_fit *fit = NULL;
    wt_status status;
    (void)device;
    *out = NULL;
    WT_TRY(WT_NEW_ZERO(context, &fit, 1, "a fit"));
    fit->arena = wt_arena_start(context, "steps of a descent");
    fit->now = fit->trial = &fit->places[0];
    WT_TRY(rows_of(context, problem, &fit->rows));
    for (size_t i = 0; i < (problem->still ? 1 : 2); i++) {
        WT_TRY(wt_projection_new_grouped(context, &fit->rows, problem->heads, problem->groups,
                                         problem->values, &fit->places[i]));
        fit->trial = &fit->places[i];
        fit->trial->quick = problem->rank > 0 && !problem->still;
    }
    if (!problem->still)
        WT_TRY(make_room(context, problem, fit));
    *out = fit;
    fit = NULL;
done:
    end(fit);
    return status;
}

static wt_status evaluate(wt_context *context, wt_recover_fit *fit, const double *theta,
                          double *error) {
    const wt_projection *trial = fit->trial;
    size_t numbers = trial->asked * trial->width + wt_projection_shared(trial);
    memcpy(fit->trial->theta, theta, numbers * sizeof *theta);
    wt_status status = wt_projection_evaluate(context, fit->trial);
    *error = fit->trial->error;
    return status;
}

static void accept(wt_recover_fit *fit) {
    wt_projection *swap = fit->now;
    fit->now = fit->trial;
    fit->trial = swap;
}

const wt_projection *wt_recover_host_place(const wt_recover_fit *fit) {
    return fit->now;
}

/* The matrix, or what stands for it, and the gradient. */
static wt_status linearise(wt_context *context, wt_recover_fit *fit, const double *factors,
                           const double *signs, double *scale) {
    const wt_projection *now = fit->now;
    size_t side = fit->side;
    if (fit->dear)
        WT_PASS(take_matrix(fit));
    wt_jacobian_look(&fit->jacobian, now);
    if (fit->factors.rank > 0) {
        memcpy(fit->factors.now, factors, fit->factors.count * sizeof *factors);
        WT_PASS(wt_jacobian_transposed(context, &fit->jacobian, now->e, fit->wide));
        WT_PASS(wt_factors_pull(context, &fit->factors, fit->wide, fit->gradient));
        WT_PASS(wt_tangent_load(context, &fit->tangent, now));
    } else {
        WT_PASS(wt_jacobian_transposed(context, &fit->jacobian, now->e, fit->gradient));
        if (fit->matrix_free)
            wt_jacobian_float_load(&fit->narrow, now);
    }
    *scale = 0;
    if (fit->matrix_free) {
        WT_PASS(wt_host_multiply(context, fit, signs, fit->product));
        *scale = wt_vector_dot(side, signs, fit->product) / (double)side;
        return WT_OK;
    }
    WT_PASS(wt_normal_form(context, now, fit->normal));
    for (size_t i = 0; i < side; i++)
        *scale += fit->normal[i * side + i] / (double)side;
    return WT_OK;
}

/* Of the heads of a group that share values. */
static wt_status sum_values(wt_context *context, const wt_projection *at, size_t group,
                            const wt_recover_sums *out) {
    size_t d = at->rows->in.dim, v = at->values, p = at->rows->outputs;
    size_t each = at->heads / at->groups;
    double *valued = out->valued + group * d * d, *shared = out->shared + group * v * v;
    for (size_t i = 0; i < each; i++) {
        size_t head = group * each + i;
        const double *o = at->o + head * v * p;
        WT_PASS(wt_gram(context, WT_TRANSPOSED, at->rows->rows, d, at->h + head * d, at->columns,
                        i == 0 ? 0 : 1, valued, d));
        WT_PASS(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, v, v, p, 1 / (double)each, o, p, o, p,
                        i == 0 ? 0 : 1, shared, v));
    }
    return wt_mirror_lower(context, d, valued, d);
}

static wt_status sum(wt_context *context, wt_recover_fit *fit, const wt_recover_sums *out) {
    WT_PASS(wt_tangent_curvature(context, &fit->tangent, out->known));
    for (size_t g = 0; g < fit->now->groups; g++)
        WT_PASS(sum_values(context, fit->now, g, out));
    return WT_OK;
}

static wt_status precondition(wt_context *context, wt_recover_fit *fit,
                              const wt_recover_blocks *blocks) {
    (void)context;
    fit->blocks = blocks;
    return WT_OK;
}

static wt_status solve(wt_context *context, wt_recover_fit *fit, wt_recover_step *step) {
    size_t side = fit->side, failed;
    step->iterations = 0;
    step->solved = true;
    if (fit->matrix_free) {
        WT_PASS(wt_host_solve_free(context, fit, step));
        fit->dear = fit->may_form && dense_is_cheaper(fit->now, side, step->iterations);
        return WT_OK;
    }
    memcpy(fit->factor, fit->normal, side * side * sizeof *fit->factor);
    for (size_t i = 0; i < side; i++)
        fit->factor[i * side + i] += step->damping;
    WT_PASS(wt_cholesky(context, side, fit->factor, side, &failed));
    step->solved = failed == 0;
    if (!step->solved)
        return WT_OK;
    memcpy(step->step, fit->gradient, side * sizeof *step->step);
    WT_PASS(wt_solve_lower(context, WT_PLAIN, side, 1, fit->factor, side, step->step, 1));
    return wt_solve_lower(context, WT_TRANSPOSED, side, 1, fit->factor, side, step->step, 1);
}

/* By the matrix where it was formed. */
static wt_status multiply(wt_context *context, wt_recover_fit *fit, const double *direction,
                          double *product) {
    size_t side = fit->side;
    if (fit->matrix_free)
        return wt_host_multiply(context, fit, direction, product);
    for (size_t i = 0; i < side; i++) {
        product[i] = 0;
        for (size_t j = 0; j < side; j++)
            product[i] += fit->normal[i >= j ? i * side + j : j * side + i] * direction[j];
    }
    return WT_OK;
}

static wt_status gradient(wt_context *context, wt_recover_fit *fit, double *out) {
    (void)context;
    memcpy(out, fit->gradient, fit->side * sizeof *out);
    return WT_OK;
}

static size_t products(const wt_recover_fit *fit) {
    return fit->products;
}

static wt_status read(wt_context *context, wt_recover_fit *fit, double *w) {
    (void)context;
    memcpy(w, fit->now->w, fit->now->columns * fit->rows.outputs * sizeof *w);
    return WT_OK;
}

static wt_status sharpness(wt_context *context, wt_recover_fit *fit, double *square, double *own) {
    const wt_projection *at = fit->now;
    const wt_attention *in = &fit->rows.in;
    (void)context;
    for (size_t head = 0; head < at->heads; head++) {
        square[head] = own[head] = 0;
        for (size_t s = 0; s < in->sequences; s++) {
            size_t k = wt_attention_key(in, s + 1) - wt_attention_key(in, s);
            size_t first = wt_attention_row(in, s), count = wt_attention_row(in, s + 1) - first;
            const double *a = at->weights + at->heads * at->starts[s] + head * count * k;
            for (size_t r = 0; r < count; r++) {
                square[head] += wt_vector_squares(k, a + r * k);
                own[head] += a[r * k + wt_attention_place(in, s, first + r)];
            }
        }
        square[head] /= (double)fit->rows.rows;
        own[head] /= (double)fit->rows.rows;
    }
    return WT_OK;
}

const wt_recover_engine wt_recover_host = {
    .begin = begin,
    .end = end,
    .evaluate = evaluate,
    .accept = accept,
    .linearise = linearise,
    .sum = sum,
    .precondition = precondition,
    .solve = solve,
    .multiply = multiply,
    .gradient = gradient,
    .products = products,
    .read = read,
    .sharpness = sharpness,
};
