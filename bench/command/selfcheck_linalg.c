/* Checks of the linear algebra: against the plain formula, by defining equations, bit for bit. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "linalg/backend.h"
#include "linalg/linalg.h"
#include "selfcheck.h"
#include "wattle/random.h"

#define EPSILON       0x1p-53
#define EPSILON_FLOAT 0x1p-24

void cli_judge(cli_finding *finding, double error, double tolerance, const char *of) {
    finding->passed = error <= tolerance;
    snprintf(finding->words, sizeof finding->words, "%s %.2g, allowed %.2g", of, error, tolerance);
}

static wt_status draw(wt_context *context, double **out, size_t rows, size_t columns) {
    wt_status status = WT_NEW(context, out, rows * columns, "matrices to check with");
    if (status == WT_OK)
        wt_random_normal(wt_stream_for(0, "selfcheck", columns), 0, rows * columns, *out);
    return status;
}

/* Row i of X times row j of Y, in long double. */
static double plain_product(size_t terms, const double *x, const double *y) {
    long double sum = 0;
    for (size_t p = 0; p < terms; p++)
        sum += (long double)x[p] * (long double)y[p];
    return (double)sum;
}

/* ---- two threads in BLAS at a time ------------------------------------------------------------
 */

enum { RACE_SIZE = 128, RACE_PRODUCTS = 4000, RACE_PAIRS = 4 };

typedef struct {
    const wt_routines *routines;
    const double *a;
    double *wanted, *scratch; /* one a pair, one a worker */
    atomic_size_t wrong;
} race;

static void race_product(const race *job, size_t pair, double *c) {
    const double *a = job->a + pair * RACE_SIZE * RACE_SIZE;
    job->routines->gemm(WT_PLAIN, WT_PLAIN, RACE_SIZE, RACE_SIZE, RACE_SIZE, 1, a, RACE_SIZE,
                        job->a, RACE_SIZE, 0, c, RACE_SIZE);
}

static wt_status race_chunk(void *argument, size_t begin, size_t end, int worker) {
    race *job = argument;
    size_t elements = RACE_SIZE * RACE_SIZE;
    double *c = job->scratch + (size_t)worker * elements;
    for (size_t i = begin; i < end; i++) {
        race_product(job, i % RACE_PAIRS, c);
        if (memcmp(c, job->wanted + i % RACE_PAIRS * elements, elements * sizeof *c) != 0)
            atomic_fetch_add(&job->wrong, 1);
    }
    return WT_OK;
}

wt_status cli_check_blas_race(wt_context *context, cli_finding *finding) {
    int threads = wt_context_threads(context), many = threads < 2 ? 2 : threads;
    const wt_backend *backend;
    double *a = NULL;
    race job = {0};
    wt_status status;
    WT_TRY(wt_backend_open(context, &backend));
    WT_TRY(wt_context_set_threads(context, many));
    WT_TRY(draw(context, &a, (size_t)RACE_PAIRS * RACE_SIZE, RACE_SIZE));
    WT_TRY(draw(context, &job.wanted, (size_t)RACE_PAIRS * RACE_SIZE, RACE_SIZE));
    WT_TRY(draw(context, &job.scratch, (size_t)many * RACE_SIZE, RACE_SIZE));
    job.routines = &backend->real64;
    job.a = a;
    for (size_t pair = 0; pair < RACE_PAIRS; pair++)
        race_product(&job, pair, job.wanted + pair * RACE_SIZE * RACE_SIZE);
    WT_TRY(wt_parallel_for(context, RACE_PRODUCTS, 8, race_chunk, &job));
    finding->passed = atomic_load(&job.wrong) == 0;
    snprintf(finding->words, sizeof finding->words, "%zu of %d products differ on %d threads",
             atomic_load(&job.wrong), RACE_PRODUCTS, many);
done:
    context->threads = threads;
    wt_release(a);
    wt_release(job.wanted);
    wt_release(job.scratch);
    return status;
}

/* ---- Gram, Cholesky, solves -------------------------------------------------------------------
 */

enum { N = 600, DEPTH = 1000, SIDES = 20 };

/* Every entry is a sum of DEPTH products that reaches DEPTH on the diagonal: sqrt(DEPTH) DEPTH eps
 * with random signs of the roundings, and a factor of 4 for the largest of many. */
static double gram_tolerance(double epsilon, double terms) {
    return 4 * epsilon * sqrt(terms) * terms;
}

static double gram_error(const double *a, const double *k) {
    double largest = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t j = i % 7; j <= i; j += 7) /* every seventh entry */
            largest = fmax(largest,
                           fabs(k[i * N + j] - plain_product(DEPTH, a + i * DEPTH, a + j * DEPTH)));
    return largest;
}

wt_status cli_check_gram(wt_context *context, cli_finding *finding) {
    double *a = NULL, *k = NULL;
    wt_status status;
    WT_TRY(draw(context, &a, N, DEPTH));
    WT_TRY(WT_NEW(context, &k, N * N, "matrices to check with"));
    WT_TRY(wt_gram(context, WT_PLAIN, N, DEPTH, a, DEPTH, 0, k, N));
    cli_judge(finding, gram_error(a, k), gram_tolerance(EPSILON, DEPTH), "error");
done:
    wt_release(a);
    wt_release(k);
    return status;
}

wt_status cli_check_gram_float(wt_context *context, cli_finding *finding) {
    double *a = NULL, *k = NULL;
    float *a_float = NULL;
    wt_status status;
    WT_TRY(draw(context, &a, N, DEPTH));
    WT_TRY(WT_NEW(context, &a_float, N * DEPTH, "matrices to check with"));
    WT_TRY(WT_NEW(context, &k, N * N, "matrices to check with"));
    for (size_t i = 0; i < N * DEPTH; i++) {
        a_float[i] = (float)a[i];
        a[i] = (double)a_float[i];
    }
    WT_TRY(wt_gram_float(context, WT_PLAIN, N, DEPTH, a_float, DEPTH, 0, k, N));
    cli_judge(finding, gram_error(a, k), gram_tolerance(EPSILON_FLOAT, WT_GRAM_DEPTH), "error");
done:
    wt_release(a);
    wt_release(a_float);
    wt_release(k);
    return status;
}

/* The lower triangle of A A^T / DEPTH + I and its factor; the caller releases both. */
static wt_status definite_and_factor(wt_context *context, double **definite, double **factor) {
    double *a = NULL;
    size_t failed_at;
    wt_status status;
    WT_TRY(draw(context, &a, N, DEPTH));
    WT_TRY(WT_NEW_ZERO(context, definite, N * N, "matrices to check with"));
    WT_TRY(WT_NEW_ZERO(context, factor, N * N, "matrices to check with"));
    WT_TRY(wt_gram(context, WT_PLAIN, N, DEPTH, a, DEPTH, 0, *definite, N));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++) {
            double *entry = &(*definite)[i * N + j];
            *entry = *entry / DEPTH + (i == j);
            (*factor)[i * N + j] = *entry;
        }
    WT_TRY(wt_cholesky(context, N, *factor, N, &failed_at));
    if (failed_at != 0)
        status =
            wt_fail(context, WT_INTERNAL, "Cholesky of a definite matrix failed at %zu", failed_at);
done:
    wt_release(a);
    return status;
}

/* |L L^T - A|: entries of A are of order 1 and every one is a sum of at most N products, which
 * errs by N eps at the worst. */
wt_status cli_check_cholesky(wt_context *context, cli_finding *finding) {
    double *definite = NULL, *l = NULL, largest = 0;
    wt_status status;
    WT_TRY(definite_and_factor(context, &definite, &l));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j <= i; j++)
            largest = fmax(largest,
                           fabs(plain_product(j + 1, l + i * N, l + j * N) - definite[i * N + j]));
    cli_judge(finding, largest, 4 * N * EPSILON, "residual");
done:
    wt_release(definite);
    wt_release(l);
    return status;
}

/* |A X - B| for L L^T X = B, with |X| and |B| entries of order 1. */
wt_status cli_check_solve(wt_context *context, cli_finding *finding) {
    double *definite = NULL, *l = NULL, *b = NULL, *x = NULL, largest = 0;
    wt_status status;
    WT_TRY(definite_and_factor(context, &definite, &l));
    WT_TRY(wt_mirror_lower(context, N, definite, N));
    WT_TRY(draw(context, &b, N, SIDES));
    WT_TRY(draw(context, &x, N, SIDES));
    WT_TRY(wt_solve_lower(context, WT_PLAIN, N, SIDES, l, N, x, SIDES));
    WT_TRY(wt_solve_lower(context, WT_TRANSPOSED, N, SIDES, l, N, x, SIDES));
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < SIDES; c++) {
            long double sum = -(long double)b[i * SIDES + c];
            for (size_t j = 0; j < N; j++)
                sum += (long double)definite[i * N + j] * (long double)x[j * SIDES + c];
            largest = fmax(largest, fabs((double)sum));
        }
    cli_judge(finding, largest, 4 * N * EPSILON, "residual");
done:
    wt_release(definite);
    wt_release(l);
    wt_release(b);
    wt_release(x);
    return status;
}

/* One block: the definite matrix, its factor, solutions, a product. */
enum { BITS = 3 * N * N + N * SIDES };

static wt_status compute(wt_context *context, double *out) {
    double *definite = NULL, *l = NULL, *x = NULL;
    wt_status status;
    WT_TRY(definite_and_factor(context, &definite, &l));
    WT_TRY(draw(context, &x, N, SIDES));
    WT_TRY(wt_solve_lower(context, WT_PLAIN, N, SIDES, l, N, x, SIDES));
    memcpy(out, definite, N * N * sizeof *out);
    memcpy(out + N * N, l, N * N * sizeof *out);
    memcpy(out + 2 * N * N, x, N * SIDES * sizeof *out);
    WT_TRY(wt_gemm(context, WT_PLAIN, WT_TRANSPOSED, N, N, N, 1, definite, N, l, N, 0,
                   out + 2 * N * N + N * SIDES, N));
done:
    wt_release(definite);
    wt_release(l);
    wt_release(x);
    return status;
}

wt_status cli_check_threads(wt_context *context, cli_finding *finding) {
    int threads = wt_context_threads(context), different = 0;
    double *one = NULL, *many = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &one, BITS, "matrices to check with"));
    WT_TRY(WT_NEW(context, &many, BITS, "matrices to check with"));
    for (int t = 1; t <= 4; t++) {
        WT_TRY(wt_context_set_threads(context, t));
        WT_TRY(compute(context, t == 1 ? one : many));
        different += t > 1 && memcmp(one, many, BITS * sizeof *one) != 0;
    }
    finding->passed = different == 0;
    snprintf(finding->words, sizeof finding->words,
             "%d of 3 runs on 2, 3, 4 threads differ from one thread", different);
done:
    context->threads = threads;
    wt_release(one);
    wt_release(many);
    return status;
}

/* ---- decompositions and projections -----------------------------------------------------------
 */

/* 2 I minus the adjacency of a path has the eigenvalues 2 - 2 cos(pi j / (n + 1)). */
wt_status cli_check_eigenvalues(wt_context *context, cli_finding *finding) {
    enum { ORDER = 100 };
    double *a = NULL, values[ORDER], largest = 0;
    wt_status status;
    WT_TRY(WT_NEW_ZERO(context, &a, ORDER * ORDER, "matrices to check with"));
    for (size_t i = 0; i < ORDER; i++) {
        a[i * ORDER + i] = 2;
        if (i > 0)
            a[i * ORDER + i - 1] = -1;
    }
    WT_TRY(wt_eigen_symmetric(context, ORDER, a, ORDER, true, values));
    for (int j = 0; j < ORDER; j++)
        largest = fmax(largest, fabs(values[j] - 2 + 2 * cos(acos(-1) * (j + 1) / (ORDER + 1))));
    cli_judge(finding, largest, 4 * ORDER * EPSILON, "error");
done:
    wt_release(a);
    return status;
}

/* A = x y^T of rank 1 and b = x: the solution of least norm is y / |y|^2. */
wt_status cli_check_least_squares(wt_context *context, cli_finding *finding) {
    enum { ROWS = 50, COLUMNS = 30 };
    double a[ROWS * COLUMNS], x[ROWS], y[COLUMNS], got[COLUMNS], square, largest = 0;
    wt_random_normal(wt_stream_for(0, "selfcheck", 0), 0, ROWS, x);
    wt_random_normal(wt_stream_for(0, "selfcheck", 1), 0, COLUMNS, y);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            a[i * COLUMNS + j] = x[i] * y[j];
    size_t rank;
    wt_status status =
        wt_least_squares(context, ROWS, COLUMNS, 1, a, COLUMNS, x, 1, -1, got, 1, &rank);
    if (status != WT_OK)
        return status;
    square = plain_product(COLUMNS, y, y);
    for (size_t j = 0; j < COLUMNS; j++)
        largest = fmax(largest, fabs(got[j] - y[j] / square));
    cli_judge(finding, largest, 4 * ROWS * EPSILON, "error");
    finding->passed = finding->passed && rank == 1;
    return WT_OK;
}

/* P is the point of the ball nearest to A when <A - P, P> >= <A - P, Z> for every Z of the ball;
 * judged by the excess for 20 random Z on its sphere. Everything is of order |A|^2 = 600. */
static wt_status projection_excess(wt_context *context, wt_norm_kind kind, double *worst) {
    enum { ROWS = 30, COLUMNS = 20, ELEMENTS = ROWS * COLUMNS };
    double a[ELEMENTS], p[ELEMENTS], z[ELEMENTS], norm, after;
    wt_random_normal(wt_stream_for(0, "project", 0), 0, ELEMENTS, a);
    memcpy(p, a, sizeof p);
    WT_PASS(wt_norm(context, kind, ROWS, COLUMNS, a, COLUMNS, &norm));
    WT_PASS(wt_project(context, kind, norm / 3, ROWS, COLUMNS, p, COLUMNS));
    WT_PASS(wt_norm(context, kind, ROWS, COLUMNS, p, COLUMNS, &after));
    *worst = fmax(*worst, fabs(after - norm / 3));
    for (uint64_t trial = 1; trial <= 20; trial++) {
        double size, excess = 0;
        wt_random_normal(wt_stream_for(0, "project", trial), 0, ELEMENTS, z);
        WT_PASS(wt_norm(context, kind, ROWS, COLUMNS, z, COLUMNS, &size));
        for (size_t i = 0; i < ELEMENTS; i++)
            excess += (a[i] - p[i]) * (norm / 3 / size * z[i] - p[i]);
        *worst = fmax(*worst, excess);
    }
    return WT_OK;
}

wt_status cli_check_projections(wt_context *context, cli_finding *finding) {
    double worst = 0;
    for (int kind = 0; kind < WT_NORM_KINDS; kind++)
        WT_PASS(projection_excess(context, (wt_norm_kind)kind, &worst));
    cli_judge(finding, worst, 100 * 600 * EPSILON, "excess");
    return WT_OK;
}
