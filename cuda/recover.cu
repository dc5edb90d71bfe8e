/* The engine of recoveries on a GPU: what is asked of it, and the conjugate gradients. */
#include "recover.h"

#include <math.h>
#include <vector>

/* ---- room ------------------------------------------------------------------------------------ */

static size_t start_of(const wt_recover_problem *problem, const size_t *starts, size_t s) {
    return problem->length > 0 ? s * problem->length : starts[s];
}

/* Sides of the padded arrays. */
static void measure(const wt_recover_problem *problem, wt_recover_fit *fit) {
    fit->S = problem->sequences;
    for (size_t s = 0; s < fit->S; s++) {
        size_t rows =
            start_of(problem, problem->row_start, s + 1) - start_of(problem, problem->row_start, s);
        size_t keys =
            start_of(problem, problem->key_start, s + 1) - start_of(problem, problem->key_start, s);
        fit->Q = rows > fit->Q ? rows : fit->Q;
        fit->K = keys > fit->K ? keys : fit->K;
    }
    fit->R = fit->S * fit->Q;
    fit->L = fit->S * fit->K;
    fit->d = problem->dim;
    fit->e = problem->asked;
    fit->p = problem->outputs;
    fit->m = problem->heads;
    fit->rank = problem->rank;
    fit->groups = problem->groups;
    fit->values = problem->values;
    fit->live = problem->rows;
    fit->norm = problem->norm;
    size_t bias = fit->e - fit->d;
    fit->c = fit->m * fit->d + bias;
    fit->n = fit->groups == 0 ? fit->c : fit->m * fit->values + bias;
    fit->numbers = fit->e * fit->m * fit->d + fit->groups * fit->d * fit->values;
}

/* 2 m n k of each product, as counted on the host. */
static void count_work(wt_recover_fit *fit) {
    double R = (double)fit->R, L = (double)fit->L, d = (double)fit->d, e = (double)fit->e;
    double p = (double)fit->p, m = (double)fit->m, K = (double)fit->K, n = (double)fit->n;
    double r = fit->rank > 0 ? (double)fit->rank : d, v = (double)fit->values;
    double g = (double)(fit->groups > 0 ? fit->groups : fit->m), factored = fit->rank > 0 ? 1 : 0;
    fit->place_flops = 2 * R * m * d * e + 4 * R * K * m * d + R * n * n + n * n * n / 3 +
                       2 * 2 * (2 * R * n * p + n * n * p);
    fit->product_flops = 4 * R * m * r * e + factored * 4 * L * g * r * d +
                         (1 + factored) * 4 * R * K * m * r + 4 * R * K * m * p + 4 * R * n * p +
                         2 * n * n * p + 4 * L * (v > 0 ? g : 0) * v * d + 4 * R * K * m * v +
                         4 * R * m * v * p;
}

/* Keys that rows attend to, and their own places; padding attends to none. */
static wt_status load_rows(wt_recover_fit *fit, const wt_recover_problem *problem) {
    std::vector<int> seen(fit->R, 0), own(fit->R, -1);
    for (size_t s = 0; s < fit->S; s++) {
        size_t row = start_of(problem, problem->row_start, s);
        size_t rows = start_of(problem, problem->row_start, s + 1) - row;
        size_t keys =
            start_of(problem, problem->key_start, s + 1) - start_of(problem, problem->key_start, s);
        for (size_t r = 0; r < rows; r++) {
            size_t place = problem->place != NULL ? problem->place[row + r] : keys - rows + r;
            own[s * fit->Q + r] = (int)place;
            seen[s * fit->Q + r] = (int)(problem->causal ? place + 1 : keys);
        }
    }
    CUDA_PASS(fit->seen.load(fit->lane, seen.data(), fit->R, "rows of sequences"));
    CUDA_PASS(fit->own.load(fit->lane, own.data(), fit->R, "rows of sequences"));
    return lane_finish(fit->lane, "rows of sequences"); /* the vectors must outlive the copies */
}

/* Numbers of the problem, (starts[S], width), padded to `most` a sequence. */
static wt_status load_padded(wt_recover_fit *fit, const wt_recover_problem *problem,
                             const size_t *starts, size_t most, size_t width, const double *from,
                             buffer<double> *out) {
    cuda_lane *lane = fit->lane;
    if (problem->length > 0)
        return out->load(lane, from, fit->S * most * width, "tokens");
    buffer<double> close;
    buffer<size_t> start;
    CUDA_PASS(close.load(lane, from, starts[fit->S] * width, "tokens"));
    CUDA_PASS(start.load(lane, starts, fit->S + 1, "tokens"));
    CUDA_PASS(out->take(lane, fit->S * most * width, "tokens"));
    return recover_pad(lane, fit->S, most, width, start.data, close.data, out->data);
}

static wt_status take_place(wt_recover_fit *fit, recover_place *at) {
    cuda_lane *lane = fit->lane;
    CUDA_PASS(at->columns.take(lane, fit->R * fit->n, "attended tokens"));
    CUDA_PASS(at->weights.take(lane, fit->R * fit->m * fit->K, "attention weights"));
    CUDA_PASS(at->factor.take(lane, fit->n * fit->n, "the factor of attended tokens"));
    CUDA_PASS(at->theta.take(lane, fit->numbers, "Theta"));
    CUDA_PASS(at->o.take(lane, fit->n * fit->p, "W"));
    if (fit->groups > 0)
        CUDA_PASS(at->w.take(lane, fit->c * fit->p, "W"));
    CUDA_PASS(at->e.take(lane, fit->R * fit->p, "residuals"));
    /* columns of padding, and rows of factors that are not read, are numbers */
    LANE(cudaMemsetAsync(at->columns.data, 0, fit->R * fit->n * sizeof(double), lane->stream));
    LANE(cudaMemsetAsync(at->factor.data, 0, fit->n * fit->n * sizeof(double), lane->stream));
    return WT_OK;
}

static wt_status take_side(cuda_lane *lane, recover_side *side, bool rests) {
    CUDA_PASS(side->factor.take(lane, side->dim * side->width(), "factors of Theta"));
    if (rests)
        CUDA_PASS(side->now.take(lane, side->tokens * side->width(), "derivatives"));
    return side->move.take(lane, side->tokens * side->width(), "derivatives");
}

/* Unknowns are packed Theta, or the factors group by group: A of its heads, then B; V at the end.
 */
static wt_status take_sides(wt_recover_fit *fit) {
    cuda_lane *lane = fit->lane;
    size_t d = fit->d, e = fit->e, m = fit->m, r = fit->rank;
    recover_side *asked = &fit->asked, *known = &fit->known, *valued = &fit->valued;
    asked->tokens = fit->R;
    asked->dim = e;
    asked->blocks = m;
    asked->columns = r > 0 ? r : d;
    asked->token = fit->query.data;
    known->tokens = fit->L;
    known->dim = d;
    known->blocks = 1;
    known->columns = asked->columns;
    known->token = fit->key.data;
    fit->side = e * m * d;
    if (r == 0)
        return asked->move.take(lane, fit->R * m * d, "derivatives");
    size_t groups = fit->groups > 0 ? fit->groups : m, each = m / groups;
    known->blocks = groups;
    asked->each = each;
    asked->inner = e * r;
    asked->outer = known->outer = (each * e + d) * r;
    known->base = each * e * r;
    fit->side = groups * asked->outer + fit->groups * d * fit->values;
    CUDA_PASS(take_side(lane, asked, true));
    CUDA_PASS(take_side(lane, known, true));
    if (fit->groups == 0)
        return WT_OK;
    valued->tokens = fit->L;
    valued->dim = d;
    valued->blocks = groups;
    valued->columns = fit->values;
    valued->token = fit->key.data;
    valued->base = groups * asked->outer;
    valued->outer = d * fit->values;
    CUDA_PASS(fit->inner.take(lane, fit->R * m * fit->values, "derivatives"));
    return take_side(lane, valued, false);
}

static wt_status take_steps(wt_recover_fit *fit) {
    cuda_lane *lane = fit->lane;
    CUDA_PASS(take_sides(fit));
    CUDA_PASS(fit->value.take(lane, fit->L * fit->m * fit->p, "values of tokens"));
    CUDA_PASS(fit->scores.take(lane, fit->R * fit->m * fit->K, "scores"));
    CUDA_PASS(fit->out.take(lane, fit->R * fit->p, "derivatives"));
    buffer<double> *const vectors[] = {&fit->gradient, &fit->residual, &fit->direction, &fit->step,
                                       &fit->product};
    for (buffer<double> *vector : vectors)
        CUDA_PASS(vector->take(lane, fit->side, "conjugate gradients"));
    if (fit->rank == 0)
        return WT_OK;
    size_t most = fit->rank > fit->values ? fit->rank : fit->values;
    CUDA_PASS(fit->turned.take(lane, fit->e * fit->m * most, "a preconditioner"));
    return fit->solved.take(lane, fit->side, "conjugate gradients");
}

static wt_status open_fit(wt_recover_fit *fit, const wt_recover_problem *problem) {
    cuda_lane *lane = fit->lane;
    measure(problem, fit);
    count_work(fit);
    for (size_t i = 0; i < (problem->still ? 1 : 2); i++) {
        fit->trial = &fit->places[i];
        CUDA_PASS(take_place(fit, fit->trial));
    }
    CUDA_PASS(
        load_padded(fit, problem, problem->key_start, fit->K, fit->d, problem->key, &fit->key));
    CUDA_PASS(
        load_padded(fit, problem, problem->row_start, fit->Q, fit->e, problem->query, &fit->query));
    CUDA_PASS(load_padded(fit, problem, problem->row_start, fit->Q, fit->p, problem->y, &fit->y));
    if (problem->times != NULL)
        CUDA_PASS(
            load_padded(fit, problem, problem->key_start, fit->K, 1, problem->times, &fit->times));
    CUDA_PASS(load_rows(fit, problem));
    CUDA_PASS(fit->spread.take(lane, fit->R * fit->d, "queries"));
    if (fit->groups > 0)
        CUDA_PASS(fit->shared.take(lane, fit->L * fit->groups * fit->values, "shared values"));
    CUDA_PASS(fit->span.take(lane, fit->n * fit->p, "W"));
    if (problem->still)
        return WT_OK;
    if (fit->rank > 0)
        CUDA_PASS(load_padded(fit, problem, problem->row_start, fit->Q, fit->p, problem->signs,
                              &fit->signs));
    CUDA_PASS(take_steps(fit));
    return lane_finish(lane, "the examples"); /* signs are read here alone */
}

static void end(wt_recover_fit *fit) {
    if (fit == NULL)
        return;
    cuda_lane *lane = fit->lane;
    delete fit;
    lane_give(lane);
}

static wt_status begin(wt_context *context, wt_device *device, const wt_recover_problem *problem,
                       wt_recover_fit **out) {
    wt_recover_fit *fit = new wt_recover_fit();
    wt_status status = lane_take(context, device, &fit->lane);
    *out = NULL;
    if (status != WT_OK) {
        delete fit;
        return status;
    }
    status = open_fit(fit, problem);
    if (status == WT_OK)
        *out = fit;
    else
        end(fit);
    return status;
}

/* ---- what is asked --------------------------------------------------------------------------- */

static wt_status up(cuda_lane *lane, double *to, const double *from, size_t count) {
    return lane_check(
        lane,
        cudaMemcpyAsync(to, from, count * sizeof(double), cudaMemcpyHostToDevice, lane->stream),
        "a copy to the GPU");
}

static wt_status evaluate(wt_context *context, wt_recover_fit *fit, const double *theta,
                          double *error) {
    *error = INFINITY;
    CUDA_PASS(lane_enter(context, fit->lane));
    CUDA_PASS(up(fit->lane, fit->trial->theta.data, theta, fit->numbers));
    return recover_evaluate(fit, error);
}

static void accept(wt_recover_fit *fit) {
    recover_place *swap = fit->now;
    fit->now = fit->trial;
    fit->trial = swap;
}

static wt_status dot(wt_recover_fit *fit, const buffer<double> &a, const buffer<double> &b,
                     double *out) {
    cuda_lane *lane = fit->lane;
    LANE(cublasDdot_64(lane->blas, (int64_t)fit->side, a.data, 1, b.data, 1, out));
    return WT_OK;
}

static wt_status linearise(wt_context *context, wt_recover_fit *fit, const double *factors,
                           const double *signs, double *scale) {
    cuda_lane *lane = fit->lane;
    CUDA_PASS(lane_enter(context, lane));
    if (factors != NULL)
        CUDA_PASS(up(lane, fit->product.data, factors, fit->side));
    CUDA_PASS(recover_load(fit, fit->product.data));
    LANE(cudaMemcpyAsync(fit->out.data, fit->now->e.data, fit->R * fit->p * sizeof(double),
                         cudaMemcpyDeviceToDevice, lane->stream));
    if (fit->groups > 0) /* of sides that only products move */
        LANE(cudaMemsetAsync(fit->valued.move.data, 0,
                             fit->L * fit->valued.width() * sizeof(double), lane->stream));
    CUDA_PASS(recover_back(fit, fit->gradient.data));
    CUDA_PASS(up(lane, fit->direction.data, signs, fit->side));
    CUDA_PASS(recover_multiply(fit, fit->direction.data, fit->product.data));
    CUDA_PASS(dot(fit, fit->direction, fit->product, scale));
    *scale /= (double)fit->side;
    return lane_finish(lane, "derivatives");
}

static wt_status axpy(wt_recover_fit *fit, double factor, const buffer<double> &x,
                      buffer<double> *y) {
    cuda_lane *lane = fit->lane;
    LANE(cublasDaxpy_64(lane->blas, (int64_t)fit->side, &factor, x.data, 1, y->data, 1));
    return WT_OK;
}

static wt_status copy(wt_recover_fit *fit, const buffer<double> &from, buffer<double> *to) {
    cuda_lane *lane = fit->lane;
    LANE(cudaMemcpyAsync(to->data, from.data, fit->side * sizeof(double), cudaMemcpyDeviceToDevice,
                         lane->stream));
    return WT_OK;
}

static wt_status sum(wt_context *context, wt_recover_fit *fit, const wt_recover_sums *out) {
    CUDA_PASS(lane_enter(context, fit->lane));
    return recover_sum(fit, out);
}

static wt_status precondition(wt_context *context, wt_recover_fit *fit,
                              const wt_recover_blocks *blocks) {
    CUDA_PASS(lane_enter(context, fit->lane));
    return recover_precondition(fit, blocks);
}

/* *out = M^-1 r, or r itself where there is no M. */
static wt_status solve_residual(wt_recover_fit *fit, double damping, const buffer<double> **out) {
    bool has = fit->size > 0;
    *out = has ? &fit->solved : &fit->residual;
    return has ? recover_solve_blocks(fit, damping, fit->residual.data, fit->solved.data) : WT_OK;
}

/* One iteration; *done where there is no curvature to go by. */
static wt_status iterate(wt_recover_fit *fit, wt_recover_step *step, double *square, bool *done) {
    cuda_lane *lane = fit->lane;
    const buffer<double> *z;
    double curvature, before = *square;
    CUDA_PASS(recover_multiply(fit, fit->direction.data, fit->product.data));
    CUDA_PASS(axpy(fit, step->damping, fit->direction, &fit->product));
    CUDA_PASS(dot(fit, fit->direction, fit->product, &curvature));
    *done = !(curvature > 0);
    if (*done)
        return WT_OK;
    double length = before / curvature;
    CUDA_PASS(axpy(fit, length, fit->direction, &fit->step));
    CUDA_PASS(axpy(fit, -length, fit->product, &fit->residual));
    CUDA_PASS(solve_residual(fit, step->damping, &z));
    CUDA_PASS(dot(fit, fit->residual, *z, square));
    CUDA_PASS(
        recover_turn_direction(lane, fit->side, *square / before, z->data, fit->direction.data));
    step->lengths[step->iterations] = length;
    step->ratios[step->iterations] = *square / before;
    step->iterations++;
    return WT_OK;
}

static wt_status solve(wt_context *context, wt_recover_fit *fit, wt_recover_step *step) {
    cuda_lane *lane = fit->lane;
    const buffer<double> *z;
    double square;
    bool done = false;
    step->iterations = 0;
    step->solved = true;
    CUDA_PASS(lane_enter(context, lane));
    LANE(cudaMemsetAsync(fit->step.data, 0, fit->side * sizeof(double), lane->stream));
    CUDA_PASS(copy(fit, fit->gradient, &fit->residual));
    CUDA_PASS(solve_residual(fit, step->damping, &z));
    CUDA_PASS(copy(fit, *z, &fit->direction));
    CUDA_PASS(dot(fit, fit->residual, *z, &square));
    double wanted = step->tolerance * step->tolerance * square;
    while (!done && step->iterations < step->most && square > wanted) {
        CUDA_PASS(lane->device->services->check_cancelled(context));
        CUDA_PASS(iterate(fit, step, &square, &done));
        if (!done && step->tell != NULL)
            step->tell(step->user, step->iterations);
    }
    return fit->step.store(step->step, fit->side);
}

static wt_status multiply(wt_context *context, wt_recover_fit *fit, const double *direction,
                          double *product) {
    CUDA_PASS(lane_enter(context, fit->lane));
    CUDA_PASS(up(fit->lane, fit->direction.data, direction, fit->side));
    CUDA_PASS(recover_multiply(fit, fit->direction.data, fit->product.data));
    return fit->product.store(product, fit->side);
}

static wt_status gradient(wt_context *context, wt_recover_fit *fit, double *out) {
    CUDA_PASS(lane_enter(context, fit->lane));
    return fit->gradient.store(out, fit->side);
}

static size_t products(const wt_recover_fit *fit) {
    return fit->products;
}

static wt_status read(wt_context *context, wt_recover_fit *fit, double *w) {
    CUDA_PASS(lane_enter(context, fit->lane));
    return (fit->groups > 0 ? fit->now->w : fit->now->o).store(w, fit->c * fit->p);
}

static wt_status sharpness(wt_context *context, wt_recover_fit *fit, double *square, double *own) {
    CUDA_PASS(lane_enter(context, fit->lane));
    return recover_sharpness(fit, square, own);
}

const wt_recover_engine cuda_recover_engine = {
    begin, end,      evaluate, accept,   linearise, sum,      precondition,
    solve, multiply, gradient, products, read,      sharpness};
