/* The method: v and f = Phi v are pulled to and fro between two places where the problem is easy
 * (alternating directions, with over-relaxation).
 *
 *   1. (c, d) = the pair on the graph f = Phi v nearest to (point - pull_v / rho_v,
 *      fit - slope / rho_f): one solve with Gram + tau I, tau = rho_v / rho_f.
 *   2. point = the nearest in the set to the relaxed c + pull_v / rho_v;
 *      fit = the proximal point of the loss at the relaxed d + slope / rho_f, sample by sample.
 *   3. pull_v and slope take up what is left over.
 *
 * `point` is always in the set and `slope` always a slope of the loss, so that every few steps they
 * give an objective and a lower bound. Random features are badly conditioned, which hurts gradients
 * but not the solve: against accelerated projected gradients with restarts and steps 1 / L, to a
 * gap of 1e-6 at n = 500, M = 100, w = 17, this took 2 to 77 times fewer passes over Phi for square
 * and Huber loss and about as many for logistic; and it takes a loss with kinks as it does the
 * others. */
#include "features/learn/ball.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/sized.h"
#include "features/learn/ball_graph.h"
#include "features/learn/ball_set.h"

#define RELAXATION 1.6
enum { STEPS_A_CHECK = 10, STEPS_BEFORE_BALANCING = 20 };

typedef struct {
    wt_arena arena; /* holds the arrays */
    const wt_operator *phi;
    const double *y;
    const wt_ball_options *options;
    wt_ball ball;
    size_t q, parameters, labels; /* M w q, n q */
    wt_graph graph;
    double *point, *pull, *c, *room; /* (M w, q) */
    double *fit, *slope, *d, *f;     /* (n, q) */
    double *norms;                   /* (2, M) */
    double rho_v, rho_f;
    /* Squares of: what keeps the two places apart, what the last step moved. */
    double apart_v, apart_f, moved_v, moved_f;
    size_t next_balance;
} solver;

void wt_ball_options_init(wt_ball_options *options, size_t size) {
    wt_ball_options all = {
        .loss = WT_LOSS_SQUARE, .huber = 1, .tolerance = 1e-6, .max_steps = 20000};
    options->size = size;
    wt_sized_write(options, &all, sizeof all);
}

static wt_status check_options(wt_context *context, const wt_ball_options *options) {
    if (!(options->k1 > 0) || !(options->k2 > 0))
        return wt_fail(context, WT_USAGE, "K1 and K2 must be above 0, not %g and %g", options->k1,
                       options->k2);
    if (isinf(options->k1) && isinf(options->k2))
        return wt_fail(context, WT_USAGE, "one of K1 and K2 must be finite");
    if (!(options->tolerance > 0) || isinf(options->tolerance))
        return wt_fail(context, WT_USAGE, "the tolerance must be above 0 and finite, not %g",
                       options->tolerance);
    if (options->loss == WT_LOSS_HUBER && (!(options->huber > 0) || isinf(options->huber)))
        return wt_fail(context, WT_USAGE, "the Huber loss needs a delta above 0 and finite, not %g",
                       options->huber);
    if (options->max_steps == 0)
        return wt_fail(context, WT_USAGE, "a fit needs 1 step or more");
    return WT_OK;
}

static wt_status check_input(wt_context *context, const solver *job, const double *v) {
    const wt_operator *phi = job->phi;
    if (phi->rows == 0 || phi->heads == 0 || phi->width == 0 || job->q == 0)
        return wt_fail(context, WT_USAGE,
                       "a fit needs samples, heads, width and outputs, not %zu, %zu, %zu and %zu",
                       phi->rows, phi->heads, phi->width, job->q);
    for (size_t j = 0; j < job->parameters; j++)
        if (!isfinite(v[j]))
            return wt_fail(context, WT_DATA, "the start: number %zu is %g", j, v[j]);
    return wt_loss_check_labels(context, job->options->loss, job->y, phi->rows, job->q);
}

static wt_status allocate(solver *job) {
    double **const of_parameters[] = {&job->point, &job->pull, &job->c, &job->room};
    double **const of_labels[] = {&job->fit, &job->slope, &job->d, &job->f};
    for (size_t i = 0; i < 4; i++) {
        *of_parameters[i] = WT_TAKE(&job->arena, double, job->parameters);
        *of_labels[i] = WT_TAKE(&job->arena, double, job->labels);
    }
    job->norms = WT_TAKE(&job->arena, double, 2, job->ball.heads);
    return job->arena.status;
}

/* (1/n) sum loss(y, f); f = NULL is zero. */
static double risk(const solver *job, const double *f) {
    double sum = 0;
    for (size_t i = 0; i < job->labels; i++)
        sum +=
            wt_loss_value(job->options->loss, job->options->huber, job->y[i], f != NULL ? f[i] : 0);
    return sum / (double)job->phi->rows;
}

/* D of the clipped slopes in job->d, with Phi^T of them in job->room. */
static double lower_bound(const solver *job) {
    double sum =
        wt_ball_support(&job->ball, job->parameters / job->ball.heads, job->room, job->norms);
    for (size_t i = 0; i < job->labels; i++)
        sum += wt_loss_conjugate(job->options->loss, job->options->huber, job->y[i], job->d[i]);
    return -sum / (double)job->phi->rows;
}

/* Objective at the point and bound at the slopes; keeps the better of each, and the point in v. */
static wt_status certify(wt_context *context, solver *job, double *v, wt_ball_report *out) {
    const wt_operator *phi = job->phi;
    WT_PASS(phi->apply(phi->self, context, job->point, job->q, job->f));
    for (size_t i = 0; i < job->labels; i++)
        job->d[i] =
            wt_loss_clip_slope(job->options->loss, job->options->huber, job->y[i], job->slope[i]);
    WT_PASS(phi->apply_transposed(phi->self, context, job->d, job->q, job->room));
    job->graph.passes += 2;
    double objective = risk(job, job->f), bound = lower_bound(job);
    if (!isfinite(objective) || isnan(bound))
        return wt_fail(context, WT_DATA, "the features are not finite, or too large to fit with");
    if (objective < out->objective) {
        out->objective = objective;
        memcpy(v, job->point, job->parameters * sizeof *v);
    }
    out->lower_bound = fmax(out->lower_bound, bound);
    out->gap = fmax(out->objective - out->lower_bound, 0); /* below 0 by rounding alone */
    out->relative_gap = out->gap / out->objective_at_zero;
    out->reached = out->relative_gap <= job->options->tolerance;
    return WT_OK;
}

/* The start, with the slopes of the loss there. For the smooth losses they give the gap of the
 * start itself, so that a start that is good enough is seen to be. */
static wt_status begin(wt_context *context, solver *job, double *v, wt_ball_report *out) {
    const wt_operator *phi = job->phi;
    size_t block = job->parameters / job->ball.heads;
    memcpy(job->point, v, job->parameters * sizeof *v);
    wt_ball_project(&job->ball, block, job->point, job->norms);
    WT_PASS(phi->apply(phi->self, context, job->point, job->q, job->fit));
    job->graph.passes++;
    for (size_t i = 0; i < job->labels; i++)
        job->slope[i] =
            wt_loss_slope(job->options->loss, job->options->huber, job->y[i], job->fit[i]);
    WT_PASS(certify(context, job, v, out));
    for (size_t j = 0; j < job->parameters; j++)
        job->pull[j] = -job->room[j];
    return WT_OK;
}

/* How much a slope of the loss changes with a prediction, for predictions the size of y. */
static double typical_curvature(const solver *job) {
    double squares = 0;
    for (size_t i = 0; i < job->labels; i++)
        squares += job->y[i] * job->y[i];
    double size = sqrt(squares / (double)job->labels);
    switch (job->options->loss) {
    case WT_LOSS_ABSOLUTE:
        return 2 / size;
    case WT_LOSS_HUBER:
        return fmin(1, 2 * job->options->huber / size);
    case WT_LOSS_SQUARE:
    case WT_LOSS_LOGISTIC:
        break;
    }
    return 1;
}

static wt_status open_graph(wt_context *context, solver *job) {
    size_t passes = job->graph.passes;
    WT_PASS(wt_graph_open(context, job->phi, job->q, &job->graph));
    job->graph.passes = passes;
    job->rho_f = typical_curvature(job);
    job->rho_v = 1e-3 * job->graph.trace * job->rho_f;
    return wt_graph_factor(context, &job->graph, job->rho_v / job->rho_f);
}

static double squared(double x) {
    return x * x;
}

static void move_point(solver *job) {
    double rho = job->rho_v;
    for (size_t j = 0; j < job->parameters; j++)
        job->room[j] =
            RELAXATION * job->c[j] + (1 - RELAXATION) * job->point[j] + job->pull[j] / rho;
    wt_ball_project(&job->ball, job->parameters / job->ball.heads, job->room, job->norms);
    job->apart_v = job->moved_v = 0;
    for (size_t j = 0; j < job->parameters; j++) {
        double relaxed = RELAXATION * job->c[j] + (1 - RELAXATION) * job->point[j];
        job->pull[j] += rho * (relaxed - job->room[j]);
        job->apart_v += squared(job->c[j] - job->room[j]);
        job->moved_v += squared(job->point[j] - job->room[j]);
        job->point[j] = job->room[j];
    }
}

static void move_fit(solver *job) {
    double rho = job->rho_f;
    job->apart_f = job->moved_f = 0;
    for (size_t i = 0; i < job->labels; i++) {
        double relaxed = RELAXATION * job->d[i] + (1 - RELAXATION) * job->fit[i];
        double next = wt_loss_proximal(job->options->loss, job->options->huber, job->y[i], 1 / rho,
                                       relaxed + job->slope[i] / rho);
        job->slope[i] += rho * (relaxed - next);
        job->apart_f += squared(job->d[i] - next);
        job->moved_f += squared(job->fit[i] - next);
        job->fit[i] = next;
    }
}

static wt_status step(wt_context *context, solver *job) {
    for (size_t j = 0; j < job->parameters; j++)
        job->c[j] = job->point[j] - job->pull[j] / job->rho_v;
    for (size_t i = 0; i < job->labels; i++)
        job->d[i] = job->fit[i] - job->slope[i] / job->rho_f;
    WT_PASS(wt_graph_project(context, &job->graph, job->q, job->c, job->d, job->room));
    move_point(job);
    move_fit(job);
    return WT_OK;
}

/* The weight of a place grows where the two stay apart and shrinks where the steps are long. */
static double balanced(double rho, double apart, double moved) {
    double ratio = sqrt(apart / fmax(moved, DBL_MIN));
    if (ratio >= 0.5 && ratio <= 2)
        return rho;
    return rho * fmin(fmax(ratio, 0.2), 5);
}

/* Ever more rarely, for the method is sure to converge only while its weights rest. */
static wt_status balance(wt_context *context, solver *job, size_t steps) {
    if (steps < job->next_balance)
        return WT_OK;
    job->next_balance =
        steps + (steps / 4 > STEPS_BEFORE_BALANCING ? steps / 4 : STEPS_BEFORE_BALANCING);
    job->rho_f = balanced(job->rho_f, job->apart_f, job->moved_f);
    job->rho_v = balanced(job->rho_v, job->apart_v, job->moved_v);
    /* Within what a factor in double precision bears. */
    double unit = job->graph.trace * job->rho_f;
    job->rho_v = fmin(fmax(job->rho_v, 1e-10 * unit), 1e3 * unit);
    double tau = job->rho_v / job->rho_f;
    return tau == job->graph.tau ? WT_OK : wt_graph_factor(context, &job->graph, tau);
}

static wt_status iterate(wt_context *context, solver *job, double *v, wt_ball_report *out) {
    wt_meter meter = wt_meter_start(context, "steps", 0);
    wt_meter_enter(&meter, "factor");
    WT_PASS(open_graph(context, job));
    job->next_balance = STEPS_BEFORE_BALANCING;
    while (!out->reached && out->steps < job->options->max_steps) {
        WT_PASS(wt_context_check_cancelled(context));
        WT_PASS(step(context, job));
        meter.phase = NULL;
        wt_meter_tell(&meter, (double)++out->steps, "gap %.1e, wanted %.1e", out->relative_gap,
                      job->options->tolerance);
        if (out->steps % STEPS_A_CHECK != 0 && out->steps < job->options->max_steps)
            continue;
        WT_PASS(certify(context, job, v, out));
        if (!out->reached)
            WT_PASS(balance(context, job, out->steps));
    }
    return WT_OK;
}

static void describe(const solver *job, const double *v, wt_ball_report *out) {
    size_t heads = job->ball.heads;
    wt_block_norms(heads, job->parameters / heads, v, job->norms);
    for (size_t m = 0; m < heads; m++) {
        out->sum_norms += job->norms[m];
        out->m_sum_squares += (double)heads * job->norms[m] * job->norms[m];
    }
    out->sum_binds = out->sum_norms >= (1 - 1e-6) * job->options->k1;
    out->squares_bind = out->m_sum_squares >= (1 - 1e-6) * job->options->k2;
    out->passes = job->graph.passes;
    out->factorisations = job->graph.factorisations;
}

wt_status wt_ball_solve(wt_context *context, const wt_operator *phi, const double *y, size_t q,
                        const wt_ball_options *options, double *v, wt_ball_report *out) {
    solver job = {.arena = wt_arena_start(context, "value vectors and predictions"),
                  .phi = phi,
                  .y = y,
                  .options = options,
                  .q = q};
    size_t columns;
    *out = (wt_ball_report){
        .objective = INFINITY, .lower_bound = -INFINITY, .gap = INFINITY, .test_loss = NAN};
    wt_status status;
    WT_TRY(check_options(context, options));
    if (!wt_multiply(phi->heads, phi->width, &columns) ||
        !wt_multiply(columns, q, &job.parameters) || !wt_multiply(phi->rows, q, &job.labels))
        return wt_fail(context, WT_MEMORY, "%zu heads of width %zu are beyond any memory",
                       phi->heads, phi->width);
    WT_TRY(check_input(context, &job, v));
    job.ball = wt_ball_of(options->k1, options->k2, phi->heads);
    WT_TRY(allocate(&job));
    out->objective_at_zero = risk(&job, NULL);
    if (out->objective_at_zero == 0) { /* all labels are zero, and no loss is below zero */
        memset(v, 0, job.parameters * sizeof *v);
        out->objective = out->lower_bound = out->gap = 0;
        out->reached = true;
    } else {
        WT_TRY(begin(context, &job, v, out));
        if (!out->reached)
            status = iterate(context, &job, v, out);
        if (!wt_context_end_of_time(context, status))
            WT_TRY(status);
        status = WT_OK;
    }
    describe(&job, v, out);
done:
    wt_graph_close(&job.graph);
    wt_arena_free(&job.arena);
    return status;
}
