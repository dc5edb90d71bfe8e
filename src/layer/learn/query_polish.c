/* Least squares on questions and last rows. For question n with tokens x_b (the last one, x, asks),
 *     P_b = t_b exp(x^T Theta_i x_b) / sum,  t_b how often x_b came,  h_i = sum_b P_b x_b,
 *     y = sum_i W_i^T h_i,   dy^T = x^T dTheta_i C_i W_i,   C_i = sum_b P_b (x_b - h_i)(x_b -
 * h_i)^T. W is eliminated: with Phi = [h_1 .. h_m] (N, m d) = U S V^T, W = V S^-1 U^T Y, and a step
 * in Theta solves (J^T (I - U U^T) J + damping) step = J^T R, output by output. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "base/work.h"
#include "layer/learn/query_parts.h"
#include "linalg/linalg.h"

#define MOST_STEPS    60
#define FIRST_DAMPING 1e-2
#define MOST_DAMPING  1e8
#define GOOD_STEP     0.2 /* of the damping after a step that helped */
#define BAD_STEP      4.0
#define AT_ROUNDING   0.25 /* past the tolerance, a step that leaves more than this is the last */
#define SLOW_STEP     0.99 /* a step that leaves more of the squares is slow */
#define MOST_SLOW     6    /* slow steps in a row */
#define FEW_FLOPS     3e8  /* a step below is over before threads have met */
#define ROW_GRAIN     16

typedef struct {
    const wt_asker *asker;
    size_t m, d, p, rows, columns, unknowns; /* columns = m d, unknowns = m d d */
    double *features;                        /* Phi (rows, columns) */
    double *u, *s, *vt;                      /* of Phi: (rows, columns), (columns), square */
    double *coefficients;                    /* U^T Y (columns, p) */
    double *residual;                        /* (rows, p) */
    double *slopes;                          /* (rows, p, m, d): C_i W_i by output */
    double *jacobian;                        /* of one output, (rows, unknowns) */
    double *projected;                       /* U^T J (columns, unknowns) */
    double *normal, *factor;                 /* (unknowns, unknowns) */
    double *gradient, *step, *trial;         /* (unknowns) */
    double *trial_w;                         /* (columns, p) */
    double *scratch;                         /* (threads, widest + p + d + 1) */
    size_t widest;                           /* tokens of the widest question */
    const double *theta, *w;                 /* at which features and slopes are taken */
    size_t rank;
} polish;

static double *scratch_of(const polish *work, int worker) {
    return work->scratch + (size_t)worker * (work->widest + work->p + work->d);
}

/* P (tokens) and h (d) of one head. */
static void attend(const polish *work, size_t row, size_t head, double *weights, double *h) {
    const wt_asked *asked = &work->asker->asked[row];
    size_t d = work->d, n = asked->tokens;
    const double *x = work->asker->x + asked->first * d, *last = x + (n - 1) * d;
    const double *times = work->asker->times + asked->first;
    const double *theta = work->theta + head * d * d;
    double most = -INFINITY, sum = 0;
    memset(h, 0, d * sizeof *h);
    for (size_t a = 0; a < d; a++)
        for (size_t c = 0; c < d; c++)
            h[c] += last[a] * theta[a * d + c];
    for (size_t b = 0; b < n; b++) {
        weights[b] = 0;
        for (size_t c = 0; c < d; c++)
            weights[b] += h[c] * x[b * d + c];
        most = fmax(most, weights[b]);
    }
    for (size_t b = 0; b < n; b++)
        sum += weights[b] = times[b] * exp(weights[b] - most);
    memset(h, 0, d * sizeof *h);
    for (size_t b = 0; b < n; b++) {
        weights[b] /= sum;
        for (size_t c = 0; c < d; c++)
            h[c] += weights[b] * x[b * d + c];
    }
}

static wt_status fill_features(void *argument, size_t begin, size_t end, int worker) {
    const polish *work = argument;
    double *weights = scratch_of(work, worker);
    for (size_t row = begin; row < end; row++)
        for (size_t i = 0; i < work->m; i++)
            attend(work, row, i, weights, work->features + row * work->columns + i * work->d);
    return WT_OK;
}

static wt_status fill_slopes(void *argument, size_t begin, size_t end, int worker) {
    const polish *work = argument;
    size_t d = work->d, p = work->p, m = work->m;
    double *weights = scratch_of(work, worker), *image = weights + work->widest, *h = image + p;
    memset(work->slopes + begin * p * m * d, 0, (end - begin) * p * m * d * sizeof(double));
    for (size_t row = begin; row < end; row++) {
        const wt_asked *asked = &work->asker->asked[row];
        const double *x = work->asker->x + asked->first * d;
        for (size_t i = 0; i < m; i++) {
            const double *w = work->w + i * d * p;
            attend(work, row, i, weights, h);
            for (size_t b = 0; b < asked->tokens; b++, x += d) {
                memset(image, 0, p * sizeof *image);
                for (size_t c = 0; c < d; c++)
                    for (size_t o = 0; o < p; o++)
                        image[o] += (x[c] - h[c]) * w[c * p + o];
                for (size_t o = 0; o < p; o++)
                    for (size_t c = 0; c < d; c++)
                        work->slopes[((row * p + o) * m + i) * d + c] +=
                            weights[b] * (x[c] - h[c]) * image[o];
            }
            x -= asked->tokens * d;
        }
    }
    return WT_OK;
}

/* Of attend for all heads on all questions. */
static double attend_work(const polish *work) {
    return (double)work->m * (wt_work_product(work->rows, work->d, work->d) +
                              2 * wt_work_product(work->asker->tokens, work->d, 1));
}

/* Of fill_slopes. */
static double slopes_work(const polish *work) {
    return attend_work(work) +
           3.5 * wt_work_product(work->m * work->asker->tokens, work->d, work->p);
}

typedef struct {
    const polish *work;
    size_t output;
} slab;

static wt_status fill_jacobian(void *argument, size_t begin, size_t end, int worker) {
    (void)worker;
    const slab *job = argument;
    const polish *work = job->work;
    size_t d = work->d, m = work->m;
    for (size_t row = begin; row < end; row++) {
        const wt_asked *asked = &work->asker->asked[row];
        const double *last = work->asker->x + (asked->first + asked->tokens - 1) * d;
        const double *slopes = work->slopes + (row * work->p + job->output) * m * d;
        double *to = work->jacobian + row * work->unknowns;
        for (size_t i = 0; i < m; i++)
            for (size_t a = 0; a < d; a++)
                for (size_t c = 0; c < d; c++)
                    *to++ = last[a] * slopes[i * d + c];
    }
    return WT_OK;
}

/* W and the residual that go with theta; *value is the sum of squares left. */
static wt_status evaluate(polish *work, const double *theta, double *w, double *value) {
    wt_context *context = work->asker->context;
    size_t n = work->rows, columns = work->columns, p = work->p;
    wt_status status;
    work->theta = theta;
    WT_TRY(wt_parallel_for(context, n, ROW_GRAIN, fill_features, work));
    wt_work_add(context, attend_work(work));
    WT_TRY(wt_svd(context, n, columns, work->features, columns, work->u, work->s, work->vt));
    WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, columns, p, n, 1, work->u, columns,
                   work->asker->y, p, 0, work->coefficients, p));
    work->rank = 0;
    while (work->rank < columns && work->s[work->rank] > (double)n * DBL_EPSILON * work->s[0])
        work->rank++;
    for (size_t r = 0; r < work->rank; r++)
        for (size_t o = 0; o < p; o++)
            work->coefficients[r * p + o] /= work->s[r];
    WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, columns, p, work->rank, 1, work->vt, columns,
                   work->coefficients, p, 0, w, p));
    memcpy(work->residual, work->asker->y, n * p * sizeof *work->residual);
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, n, p, columns, -1, work->features, columns, w, p, 1,
                   work->residual, p));
    *value = 0;
    for (size_t i = 0; i < n * p; i++)
        *value += work->residual[i] * work->residual[i];
done:
    return status;
}

/* The normal matrix and the gradient at theta and w, after evaluate there. */
static wt_status linearise(polish *work, const double *theta, const double *w) {
    wt_context *context = work->asker->context;
    size_t n = work->rows, columns = work->columns, p = work->p, all = work->unknowns;
    wt_status status;
    work->theta = theta;
    work->w = w;
    WT_TRY(wt_parallel_for(context, n, ROW_GRAIN, fill_slopes, work));
    wt_work_add(context, slopes_work(work) + (double)(n * p) * (double)all);
    for (size_t o = 0; o < p; o++) {
        slab job = {work, o};
        double keep = o == 0 ? 0 : 1;
        WT_TRY(wt_parallel_for(context, n, ROW_GRAIN, fill_jacobian, &job));
        WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, all, 1, n, 1, work->jacobian, all,
                       work->residual + o, p, keep, work->gradient, 1));
        WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, work->rank, all, n, 1, work->u, columns,
                       work->jacobian, all, 0, work->projected, all));
        WT_TRY(wt_gemm(context, WT_PLAIN, WT_PLAIN, n, all, work->rank, -1, work->u, columns,
                       work->projected, all, 1, work->jacobian, all));
        WT_TRY(
            wt_gram(context, WT_TRANSPOSED, n, all, work->jacobian, all, keep, work->normal, all));
    }
done:
    return status;
}

/* The step for a damping, relative to the mean of the diagonal; *good = false when the matrix is
 * not positive. */
static wt_status solve(polish *work, double damping, bool *good) {
    wt_context *context = work->asker->context;
    size_t all = work->unknowns, failed_at;
    double mean = 0;
    wt_status status;
    memcpy(work->factor, work->normal, all * all * sizeof *work->factor);
    for (size_t i = 0; i < all; i++)
        mean += work->normal[i * all + i] / (double)all;
    for (size_t i = 0; i < all; i++)
        work->factor[i * all + i] += damping * mean;
    WT_TRY(wt_cholesky(context, all, work->factor, all, &failed_at));
    *good = failed_at == 0;
    if (!*good)
        goto done;
    memcpy(work->step, work->gradient, all * sizeof *work->step);
    WT_TRY(wt_solve_lower(context, WT_PLAIN, all, 1, work->factor, all, work->step, 1));
    WT_TRY(wt_solve_lower(context, WT_TRANSPOSED, all, 1, work->factor, all, work->step, 1));
done:
    return status;
}

/* Tries dampings, growing, until a step helps. *value is unchanged when none does. */
static wt_status improve(polish *work, wt_layer *heads, double *damping, double *value) {
    wt_status status;
    WT_TRY(linearise(work, heads->theta, heads->w));
    for (; *damping < MOST_DAMPING; *damping *= BAD_STEP) {
        bool good;
        double now;
        WT_TRY(solve(work, *damping, &good));
        if (!good)
            continue;
        for (size_t i = 0; i < work->unknowns; i++)
            work->trial[i] = heads->theta[i] + work->step[i];
        WT_TRY(evaluate(work, work->trial, work->trial_w, &now));
        if (now < *value) {
            memcpy(heads->theta, work->trial, work->unknowns * sizeof *work->trial);
            memcpy(heads->w, work->trial_w, work->columns * work->p * sizeof *work->trial_w);
            *value = now;
            *damping *= GOOD_STEP;
            break;
        }
    }
done:
    return status;
}

static wt_status descend(polish *work, double tolerance, wt_layer *heads, wt_polish_result *out) {
    double scale = 0, value;
    wt_status status;
    for (size_t i = 0; i < work->rows * work->p; i++)
        scale += work->asker->y[i] * work->asker->y[i];
    scale = scale > 0 ? scale : 1;
    WT_TRY(evaluate(work, heads->theta, heads->w, &value));
    out->before = sqrt(value / scale);
    /* A good start needs hardly any damping. */
    double damping = FIRST_DAMPING * fmin(1, fmax(DBL_EPSILON, out->before));
    size_t slow = 0;
    for (out->steps = 0; value > 0 && out->steps < MOST_STEPS && slow < MOST_SLOW; out->steps++) {
        double before = value;
        WT_TRY(improve(work, heads, &damping, &value));
        slow = value > SLOW_STEP * before ? slow + 1 : 0;
        bool reached = sqrt(value / scale) <= tolerance;
        if (value == before || (reached && value > AT_ROUNDING * before))
            break;
    }
    out->after = sqrt(value / scale);
done:
    return status;
}

typedef struct {
    polish *work;
    double tolerance;
    wt_layer *heads;
    wt_polish_result *out;
} descent;

static wt_status descend_alone(void *argument, size_t begin, size_t end, int worker) {
    (void)begin, (void)end, (void)worker;
    const descent *job = argument;
    return descend(job->work, job->tolerance, job->heads, job->out);
}

static wt_status make_room(polish *work) {
    wt_context *context = work->asker->context;
    size_t n = work->rows, columns = work->columns, p = work->p, all = work->unknowns;
    wt_status status;
    for (size_t i = 0; i < n; i++)
        if (work->asker->asked[i].tokens > work->widest)
            work->widest = work->asker->asked[i].tokens;
    WT_TRY(WT_NEW(context, &work->features, n * columns, "features"));
    WT_TRY(WT_NEW(context, &work->u, n * columns, "features"));
    WT_TRY(WT_NEW(context, &work->s, columns, "features"));
    WT_TRY(WT_NEW(context, &work->vt, columns * columns, "features"));
    WT_TRY(WT_NEW(context, &work->coefficients, columns * p, "features"));
    WT_TRY(WT_NEW(context, &work->residual, n * p, "residuals"));
    WT_TRY(WT_NEW(context, &work->slopes, n * p * columns, "slopes"));
    WT_TRY(WT_NEW(context, &work->jacobian, n * all, "the Jacobian"));
    WT_TRY(WT_NEW(context, &work->projected, columns * all, "the Jacobian"));
    WT_TRY(WT_NEW(context, &work->normal, all * all, "the normal matrix"));
    WT_TRY(WT_NEW(context, &work->factor, all * all, "the normal matrix"));
    WT_TRY(WT_NEW(context, &work->gradient, all, "a step"));
    WT_TRY(WT_NEW(context, &work->step, all, "a step"));
    WT_TRY(WT_NEW(context, &work->trial, all, "a step"));
    WT_TRY(WT_NEW(context, &work->trial_w, columns * p, "a step"));
    WT_TRY(WT_NEW(context, &work->scratch,
                  (size_t)wt_context_threads(context) * (work->widest + p + work->d),
                  "a question"));
done:
    return status;
}

wt_status wt_query_polish(const wt_asker *asker, double tolerance, wt_layer *heads,
                          wt_polish_result *out) {
    polish work = {.asker = asker,
                   .m = heads->heads,
                   .d = asker->d,
                   .p = asker->p,
                   .rows = asker->rows,
                   .columns = heads->heads * asker->d,
                   .unknowns = heads->heads * asker->d * asker->d};
    wt_status status;
    WT_TRY(make_room(&work));
    double flops = (double)work.rows * (double)work.p * pow((double)work.unknowns, 2);
    descent job = {&work, tolerance, heads, out};
    if (flops < FEW_FLOPS) /* as one item of a loop, all of it runs on one thread */
        WT_TRY(wt_parallel_for(asker->context, 1, 1, descend_alone, &job));
    else
        WT_TRY(descend(&work, tolerance, heads, out));
done:
    wt_release(work.features);
    wt_release(work.u);
    wt_release(work.s);
    wt_release(work.vt);
    wt_release(work.coefficients);
    wt_release(work.residual);
    wt_release(work.slopes);
    wt_release(work.jacobian);
    wt_release(work.projected);
    wt_release(work.normal);
    wt_release(work.factor);
    wt_release(work.gradient);
    wt_release(work.step);
    wt_release(work.trial);
    wt_release(work.trial_w);
    wt_release(work.scratch);
    return status;
}
