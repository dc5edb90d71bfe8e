#include "layer/learn/sculpt_net.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/work.h"
#include "layer/learn/sculpt_tuples.h"
#include "layer/task/vector.h"
#include "wattle/sculpt.h"

/* Rows of each part for every unknown of one output of W. */
enum { ROWS_AN_UNKNOWN = 10, MOST_MOVES = 200 };
/* Points an axis of the net, by m: 33, 18,424 / 49 and 17,550 / 27 tuples / points at most. */
static const size_t POINTS_AN_AXIS[WT_SCULPT_MAX_HEADS + 1] = {0, 1, 33, 7, 3};
/* Half the side of the net, over the length that random heads would have in the hull. */
static const double SIDES[] = {1.25, 3};
#define LAST_STEP 1e-3 /* of the same length */

typedef struct {
    wt_context *context;
    wt_sequences fit, held;
    const double *center, *directions;
    size_t heads, axes, unknowns;
    double length;
    double *at;     /* (heads, axes): coordinates of the best tuple so far */
    double *c;      /* (points, axes) */
    double *theta;  /* (points, d^2) */
    size_t *tuples; /* (tuples, heads) */
    double *w;      /* (heads, d, p) */
    size_t points, count;
    double error;
    wt_arena arena;
} net;

static size_t power(size_t base, size_t exponent) {
    size_t result = 1;
    while (exponent-- > 0)
        result *= base;
    return result;
}

static size_t choose(size_t n, size_t m) {
    size_t result = 1;
    for (size_t i = 0; i < m; i++)
        result = result * (n - i) / (i + 1);
    return result;
}

/* Candidates at all c, and the best of the tuples. */
static wt_status evaluate(net *job, size_t *best, double *error) {
    size_t u = job->unknowns;
    wt_arena arena = wt_arena_start(job->context, "candidate heads");
    wt_candidates candidates;
    wt_status status;
    for (size_t i = 0; i < job->points; i++) {
        double *theta = job->theta + i * u;
        memcpy(theta, job->center, u * sizeof *theta);
        for (size_t axis = 0; axis < job->axes; axis++)
            for (size_t j = 0; j < u; j++)
                theta[j] += job->c[i * job->axes + axis] * job->directions[axis * u + j];
    }
    wt_work_add(job->context, wt_work_product(job->points, u, job->axes));
    WT_TRY(wt_candidates_open(&arena, &job->fit, &job->held, job->points, job->theta, &candidates));
    WT_TRY(wt_candidates_best(job->context, &candidates, job->heads, job->count, job->tuples, best,
                              error, job->w));
done:
    wt_arena_free(&arena);
    return status;
}

/* Keeps the tuple if it is better; returns whether it was. */
static bool keep(net *job, size_t best, double error, double *w) {
    if (!(error < job->error))
        return false;
    job->error = error;
    for (size_t head = 0; head < job->heads; head++)
        memcpy(job->at + head * job->axes,
               job->c + job->tuples[best * job->heads + head] * job->axes,
               job->axes * sizeof *job->at);
    memcpy(w, job->w, job->heads * job->fit.dim * job->fit.outputs * sizeof *w);
    return true;
}

/* A cube of points about the center and all its m-tuples, in order. */
static void spread(net *job, size_t side_points, double half_side) {
    size_t tuple[WT_SCULPT_MAX_HEADS], m = job->heads;
    job->points = power(side_points, job->axes);
    job->count = choose(job->points, m);
    for (size_t i = 0; i < job->points; i++)
        for (size_t axis = 0, rest = i; axis < job->axes; axis++, rest /= side_points)
            job->c[i * job->axes + axis] =
                half_side * (2 * (double)(rest % side_points) / (double)(side_points - 1) - 1);
    for (size_t i = 0; i < m; i++)
        tuple[i] = i;
    for (size_t t = 0; t < job->count; t++) {
        memcpy(job->tuples + t * m, tuple, m * sizeof *tuple);
        size_t last = m;
        while (last > 0 && tuple[last - 1] == job->points - m + last - 1)
            last--;
        if (last == 0)
            break;
        tuple[last - 1]++;
        for (size_t i = last; i < m; i++)
            tuple[i] = tuple[i - 1] + 1;
    }
}

/* The 3^axes points about each head of the best tuple, and the tuples that move one head. */
static void surround(net *job, double step) {
    size_t m = job->heads, around = power(3, job->axes), middle = around / 2;
    job->points = job->count = m * around;
    for (size_t i = 0; i < job->points; i++) {
        size_t head = i / around;
        for (size_t axis = 0, rest = i % around; axis < job->axes; axis++, rest /= 3)
            job->c[i * job->axes + axis] =
                job->at[head * job->axes + axis] + step * ((double)(rest % 3) - 1);
        for (size_t other = 0; other < m; other++)
            job->tuples[i * m + other] = other == head ? i : other * around + middle;
    }
}

static wt_status search(net *job, double *w) {
    size_t m = job->heads, side_points = POINTS_AN_AXIS[m], best;
    double error, step = 0;
    for (size_t s = 0; s < sizeof SIDES / sizeof *SIDES; s++) {
        spread(job, side_points, SIDES[s] * job->length);
        WT_PASS(evaluate(job, &best, &error));
        if (keep(job, best, error, w) && m > 1)
            step = SIDES[s] * job->length / (double)(side_points - 1);
        if (m == 1)
            return WT_OK;
    }
    for (int move = 0; move < MOST_MOVES && step > LAST_STEP * job->length; move++) {
        surround(job, step);
        WT_PASS(evaluate(job, &best, &error));
        if (!keep(job, best, error, w))
            step /= 2;
    }
    return WT_OK;
}

static wt_status allocate(net *job) {
    size_t m = job->heads, p = job->fit.outputs, around = m * power(3, job->axes);
    size_t points = power(POINTS_AN_AXIS[m], job->axes), tuples = choose(points, m);
    points = points > around ? points : around;
    tuples = tuples > around ? tuples : around;
    job->at = WT_TAKE_ZERO(&job->arena, double, m, job->axes);
    job->c = WT_TAKE(&job->arena, double, points, job->axes);
    job->theta = WT_TAKE(&job->arena, double, points, job->unknowns);
    job->tuples = WT_TAKE(&job->arena, size_t, tuples, m);
    job->w = WT_TAKE(&job->arena, double, m, job->fit.dim, p);
    return job->arena.status;
}

/* sqrt(m - 1) |center|: the mean of m independent matrices of equal size is that much nearer to 0
 * than they are to it. Not less than logits of size one ask for. */
static double usual_length(const net *job) {
    size_t count = job->fit.samples * job->fit.length * job->fit.dim;
    double sum = wt_vector_squares(job->unknowns, job->center), tokens = 0;
    for (size_t i = 0; i < count; i++)
        tokens += job->fit.x[i] * job->fit.x[i] / (double)count;
    return sqrt((double)(job->heads - 1)) * fmax(sqrt(sum), tokens > 0 ? 1 / tokens : 0);
}

wt_status wt_net_search(wt_context *context, const wt_sequences *data, const double *center,
                        const double *directions, wt_layer *out, wt_net_result *result) {
    size_t m = out->heads, u = out->dim * out->dim;
    size_t part = ROWS_AN_UNKNOWN * m * data->dim / data->length + 1;
    part = part < data->samples / 2 ? part : data->samples / 2;
    net job = {.context = context,
               .fit = wt_sequences_part(data, 0, part),
               .held = wt_sequences_part(data, data->samples - part, data->samples),
               .center = center,
               .directions = directions,
               .heads = m,
               .axes = m - 1,
               .unknowns = u,
               .error = INFINITY,
               .arena = wt_arena_start(context, "points of a net")};
    wt_status status;
    job.length = usual_length(&job);
    WT_TRY(allocate(&job));
    WT_TRY(search(&job, out->w));
    for (size_t head = 0; head < m; head++)
        for (size_t j = 0; j < u; j++) {
            double value = center[j];
            for (size_t axis = 0; axis < m - 1; axis++)
                value += job.at[head * (m - 1) + axis] * directions[axis * u + j];
            out->theta[head * u + j] = value;
        }
    *result = (wt_net_result){.points = power(POINTS_AN_AXIS[m], m - 1), .error = job.error};
    result->tuples = choose(result->points, m) * (m > 1 ? sizeof SIDES / sizeof *SIDES : 1);
done:
    wt_arena_free(&job.arena);
    return status;
}
