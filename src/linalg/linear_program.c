/* max c^T x over low <= A x <= high by Mehrotra's predictor and corrector. With slacks
 *     s = high - A x,  t = A x - low      and multipliers y, z of the two sides,
 * the best point has A^T (y - z) = c, s y = 0 and t z = 0. From the origin, which is inside, the
 * slacks stay exact; what is driven to 0 is r = c - A^T (y - z) and the products, by steps
 *     A^T D A dx = c - A^T (u / s - v / t),   D = y / s + z / t,
 * u and v being what the products shall become. A step costs one weighted Gram matrix, where
 * the simplex method takes thousands of pivots on the dense rows of a certificate. */
#include "linalg/linear_program.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/linalg.h"

enum { MOST_STEPS = 100 };
/* Of the parts, 1e-14 to 1e-6, by which a diagonal is made larger. */
enum { MOST_DIGITS = 14, LEAST_DIGITS = 6 };
#define CLOSE      1e-6  /* of the gap over the value */
#define SOLVED     1e-8  /* of |r| over |c| */
#define DEPENDENT  1e-13 /* of a column that is a mixture of others, to rounding */
#define TO_THE_END 0.995 /* of the way to the nearest plane */

/* One side of the body. */
typedef struct {
    double *slack, *multiplier;           /* (rows) */
    double *slack_step, *multiplier_step; /* (rows) */
    double *wanted;                       /* (rows): what the products shall become */
} side;

typedef struct {
    wt_context *context;
    const wt_body *body;
    const double *c;
    side up, down;
    wt_arena arena;                  /* holds the arrays */
    double *along;                   /* (rows): A dx */
    double *weight;                  /* (rows) */
    double *piece;                   /* (WT_GRAM_DEPTH, columns): rows of A by roots of weights */
    double *gram, *factor;           /* (columns, columns) */
    double *dx, *residual;           /* (columns) */
    double unit;                     /* the largest slack at the origin: slacks are in this unit */
    double gap, value, left, length; /* s y + t z; of the dual point; |r|; |c| */
} program;

static wt_status make_room(program *job) {
    size_t rows = job->body->rows, columns = job->body->columns;
    double **parts[] = {&job->up.slack,           &job->up.multiplier,   &job->up.slack_step,
                        &job->up.multiplier_step, &job->up.wanted,       &job->down.slack,
                        &job->down.multiplier,    &job->down.slack_step, &job->down.multiplier_step,
                        &job->down.wanted,        &job->along,           &job->weight};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] = WT_TAKE(&job->arena, double, rows);
    job->piece = WT_TAKE(&job->arena, double, WT_GRAM_DEPTH, columns);
    job->gram = WT_TAKE(&job->arena, double, columns, columns);
    job->factor = WT_TAKE(&job->arena, double, columns, columns);
    job->dx = WT_TAKE(&job->arena, double, columns);
    job->residual = WT_TAKE(&job->arena, double, columns);
    return job->arena.status;
}

/* gram = A^T D A, its lower triangle. */
static wt_status weigh(program *job) {
    size_t rows = job->body->rows, n = job->body->columns;
    for (size_t begin = 0; begin < rows; begin += WT_GRAM_DEPTH) {
        size_t count = rows - begin < WT_GRAM_DEPTH ? rows - begin : WT_GRAM_DEPTH;
        for (size_t i = 0; i < count; i++) {
            double root = sqrt(job->weight[begin + i]);
            const double *from = job->body->a + (begin + i) * n;
            for (size_t j = 0; j < n; j++)
                job->piece[i * n + j] = root * from[j];
        }
        WT_PASS(
            wt_gram(job->context, WT_TRANSPOSED, count, n, job->piece, n, begin > 0, job->gram, n));
    }
    return WT_OK;
}

/* Factors the Gram matrix with its diagonal made larger by `more`; *fine is false when that is not
 * positive to working precision. */
static wt_status factor(program *job, double more, bool *fine) {
    size_t n = job->body->columns, failed_at;
    memcpy(job->factor, job->gram, n * n * sizeof *job->factor);
    for (size_t j = 0; j < n; j++)
        job->factor[j * n + j] *= 1 + more;
    WT_PASS(wt_cholesky(job->context, n, job->factor, n, &failed_at));
    *fine = failed_at == 0;
    return WT_OK;
}

/* Near the end weights differ by many orders, and the matrix is positive no more to rounding. A
 * larger diagonal makes the step a little shorter in directions that hardly matter. */
static wt_status factor_surely(program *job, bool *fine) {
    WT_PASS(weigh(job));
    WT_PASS(factor(job, 0, fine));
    for (int digits = MOST_DIGITS; !*fine && digits >= LEAST_DIGITS; digits--)
        WT_PASS(factor(job, pow(10, -digits), fine));
    return WT_OK;
}

/* dx for the products wanted, and A dx. */
static wt_status solve(program *job) {
    size_t rows = job->body->rows, n = job->body->columns;
    wt_context *context = job->context;
    for (size_t i = 0; i < rows; i++)
        job->along[i] =
            job->up.wanted[i] / job->up.slack[i] - job->down.wanted[i] / job->down.slack[i];
    memcpy(job->dx, job->c, n * sizeof *job->dx);
    WT_PASS(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, n, 1, rows, -1, job->body->a, n, job->along,
                    1, 1, job->dx, 1));
    WT_PASS(wt_solve_lower(context, WT_PLAIN, n, 1, job->factor, n, job->dx, 1));
    WT_PASS(wt_solve_lower(context, WT_TRANSPOSED, n, 1, job->factor, n, job->dx, 1));
    return wt_gemm(context, WT_PLAIN, WT_PLAIN, rows, 1, n, 1, job->body->a, n, job->dx, 1, 0,
                   job->along, 1);
}

/* Steps of a side whose slack grows by sign times A dx; the longest part of each that stays
 * inside goes to *primal and *dual where it is shorter. */
static void move_of(const program *job, side *at, double sign, double *primal, double *dual) {
    for (size_t i = 0; i < job->body->rows; i++) {
        double s = at->slack[i], y = at->multiplier[i], ds = sign * job->along[i];
        double dy = (at->wanted[i] - y * ds) / s - y;
        at->slack_step[i] = ds;
        at->multiplier_step[i] = dy;
        if (ds < 0)
            *primal = fmin(*primal, -s / ds);
        if (dy < 0)
            *dual = fmin(*dual, -y / dy);
    }
}

static double product_after(const program *job, const side *at, double primal, double dual) {
    double sum = 0;
    for (size_t i = 0; i < job->body->rows; i++)
        sum += (at->slack[i] + primal * at->slack_step[i]) *
               (at->multiplier[i] + dual * at->multiplier_step[i]);
    return sum;
}

static void aim(const program *job, side *at, double mean, bool corrected) {
    for (size_t i = 0; i < job->body->rows; i++)
        at->wanted[i] = mean - (corrected ? at->slack_step[i] * at->multiplier_step[i] : 0);
}

static void walk(const program *job, side *at, double primal, double dual) {
    for (size_t i = 0; i < job->body->rows; i++) {
        at->slack[i] += primal * at->slack_step[i];
        at->multiplier[i] += dual * at->multiplier_step[i];
    }
}

/* Gap, value and what is left of c. */
static wt_status judge(program *job) {
    const wt_body *body = job->body;
    double square = 0;
    job->gap = job->value = 0;
    for (size_t i = 0; i < body->rows; i++) {
        double y = job->up.multiplier[i], z = job->down.multiplier[i];
        job->gap += job->up.slack[i] * y + job->down.slack[i] * z;
        job->value += (y * body->high[i] - z * body->low[i]) / job->unit;
        job->along[i] = y - z;
    }
    memcpy(job->residual, job->c, body->columns * sizeof *job->residual);
    WT_PASS(wt_gemm(job->context, WT_TRANSPOSED, WT_PLAIN, body->columns, 1, body->rows, -1,
                    body->a, body->columns, job->along, 1, 1, job->residual, 1));
    for (size_t j = 0; j < body->columns; j++)
        square += job->residual[j] * job->residual[j];
    job->left = sqrt(square);
    return WT_OK;
}

/* Whether the columns of A are independent: the part of each that the ones before it do not
 * explain is L_jj^2, of (A^T D A)_jj = sum_i L_ji^2 in all. */
static bool has_end(const program *job) {
    size_t n = job->body->columns;
    for (size_t j = 0; j < n; j++) {
        const double *row = job->factor + j * n;
        double whole = 0;
        for (size_t i = 0; i <= j; i++)
            whole += row[i] * row[i];
        if (row[j] * row[j] <= DEPENDENT * whole)
            return false;
    }
    return true;
}

/* Slacks of the origin. Its multipliers are mean / slack, with the mean that suits the ellipsoid
 * which the slacks make: the body reaches at least as far as that. */
static wt_status begin(program *job, bool *fine) {
    const wt_body *body = job->body;
    double square = 0;
    for (size_t i = 0; i < body->rows; i++) {
        double s = body->high[i] / job->unit, t = -body->low[i] / job->unit;
        job->up.slack[i] = s;
        job->down.slack[i] = t;
        job->weight[i] = 1 / (s * s) + 1 / (t * t);
    }
    aim(job, &job->up, 0, false);
    aim(job, &job->down, 0, false);
    WT_PASS(weigh(job));
    WT_PASS(factor(job, 0, fine));
    *fine = *fine && has_end(job);
    if (!*fine)
        return WT_OK;
    WT_PASS(solve(job));
    for (size_t j = 0; j < body->columns; j++)
        square += job->dx[j] * job->c[j];
    for (size_t i = 0; i < body->rows; i++) {
        job->up.multiplier[i] = sqrt(square) / job->up.slack[i];
        job->down.multiplier[i] = sqrt(square) / job->down.slack[i];
    }
    return WT_OK;
}

/* Predictor and corrector. */
static wt_status step(program *job, bool *fine) {
    double count = 2 * (double)job->body->rows, mean = job->gap / count;
    double primal = 1, dual = 1;
    for (size_t i = 0; i < job->body->rows; i++)
        job->weight[i] =
            job->up.multiplier[i] / job->up.slack[i] + job->down.multiplier[i] / job->down.slack[i];
    WT_PASS(factor_surely(job, fine));
    if (!*fine)
        return WT_OK;
    aim(job, &job->up, 0, false);
    aim(job, &job->down, 0, false);
    WT_PASS(solve(job));
    move_of(job, &job->up, -1, &primal, &dual);
    move_of(job, &job->down, 1, &primal, &dual);
    double after =
        product_after(job, &job->up, primal, dual) + product_after(job, &job->down, primal, dual);
    /* a gap far smaller than r spoils the factor: it waits for r then */
    double part = job->gap <= CLOSE * job->value ? 1 : pow(after / job->gap, 3);
    aim(job, &job->up, part * mean, true);
    aim(job, &job->down, part * mean, true);
    WT_PASS(solve(job));
    primal = dual = 1 / TO_THE_END;
    move_of(job, &job->up, -1, &primal, &dual);
    move_of(job, &job->down, 1, &primal, &dual);
    walk(job, &job->up, TO_THE_END * primal, TO_THE_END * dual);
    walk(job, &job->down, TO_THE_END * primal, TO_THE_END * dual);
    return WT_OK;
}

static wt_status climb(program *job, double *out) {
    bool fine;
    WT_PASS(begin(job, &fine));
    *out = INFINITY;
    if (!fine)
        return WT_OK;
    for (int steps = 0; steps < MOST_STEPS && fine; steps++) {
        WT_PASS(wt_context_check_cancelled(job->context));
        WT_PASS(judge(job));
        if (job->gap <= CLOSE * job->value && job->left <= SOLVED * job->length) {
            *out = job->value * job->unit;
            return WT_OK;
        }
        WT_PASS(step(job, &fine));
    }
    return wt_fail(job->context, WT_INTERNAL,
                   "a linear program of %zu rows came no nearer than %.3g to its end",
                   job->body->rows, job->gap / job->value);
    return WT_OK;
}

wt_status wt_body_reach(wt_context *context, const wt_body *body, const double *direction,
                        double *out) {
    program job = {.context = context,
                   .arena = wt_arena_start(context, "a linear program"),
                   .body = body,
                   .c = direction};
    double square = 0;
    wt_status status = WT_OK;
    *out = 0;
    for (size_t i = 0; i < body->rows; i++) {
        if (!(body->low[i] < 0 && body->high[i] > 0))
            return wt_fail(context, WT_USAGE,
                           "the origin is outside of row %zu of a linear program: %g to %g", i,
                           body->low[i], body->high[i]);
        job.unit = fmax(job.unit, fmax(body->high[i], -body->low[i]));
    }
    for (size_t j = 0; j < body->columns; j++)
        square += direction[j] * direction[j];
    job.length = sqrt(square);
    if (square == 0)
        return WT_OK;
    WT_TRY(make_room(&job));
    WT_TRY(climb(&job, out));
done:
    wt_arena_free(&job.arena);
    return status;
}
