/* The ratio of a family: what the sequences together say beyond what each says alone. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/work.h"
#include "layer/learn/misfit.h"
#include "layer/learn/misfit_parts.h"
#include "linalg/linalg.h"

/* Sequences whose u_s are held at a time. */
enum { BLOCK = 2048 };
/* Normal quantile of a power of 90%. */
#define POWER 1.2816

/* u_s (q, free) of sequences begin .. end-1 of the block. */
static wt_status fill_scores(void *argument, size_t begin, size_t end, int worker) {
    const wt_misfit_work *work = argument;
    const wt_attention *in = &work->rows->in;
    size_t q = work->q, p = work->free, width = work->width;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        size_t s = work->begin + i, last = wt_attention_row(in, s + 1) * width;
        double *u = work->u + i * q * p;
        memset(u, 0, q * p * sizeof *u);
        for (size_t r = wt_attention_row(in, s) * width; r < last; r++)
            for (size_t j = 0; j < q; j++) {
                double z = work->basis[r * q + j];
                for (size_t c = 0; c < p; c++)
                    u[j * p + c] += z * work->e[r * p + c];
            }
    }
    return WT_OK;
}

/* Sums over sequences of u_s, |u_s|^2, |u_s|^4, and |sum u u^T|^2. */
typedef struct {
    double total, squares, fourths, cross;
} sums;

static void add_block(const wt_misfit_work *work, size_t count, double *sum, sums *out) {
    size_t side = work->q * work->free;
    for (size_t i = 0; i < count; i++) {
        double square = 0;
        for (size_t j = 0; j < side; j++) {
            double u = work->u[i * side + j];
            sum[j] += u;
            square += u * u;
        }
        out->squares += square;
        out->fourths += square * square;
    }
}

/* The Gram matrix of the u_s is as large as the smaller of its sides: sequences, or entries. */
static wt_status add_scores(wt_misfit_work *work, sums *out) {
    wt_context *context = work->context;
    size_t side = work->q * work->free, n = work->n;
    bool by_sequence = n <= side;
    size_t block = by_sequence || n < BLOCK ? n : BLOCK, order = by_sequence ? n : side;
    wt_arena arena = wt_arena_start(context, "scores of residuals");
    wt_status status;
    *out = (sums){0};
    double *gram = WT_TAKE_ZERO(&arena, double, order, order);
    double *sum = WT_TAKE_ZERO(&arena, double, side);
    work->u = WT_TAKE(&arena, double, block, side);
    WT_TRY(arena.status);
    wt_work_add(context, wt_work_product(work->R * work->width, work->q, work->free));
    for (work->begin = 0; work->begin < n; work->begin += block) {
        size_t count = n - work->begin < block ? n - work->begin : block;
        WT_TRY(wt_parallel_for(context, count, 16, fill_scores, work));
        add_block(work, count, sum, out);
        WT_TRY(wt_gram(context, by_sequence ? WT_PLAIN : WT_TRANSPOSED, count, side, work->u, side,
                       work->begin == 0 ? 0 : 1, gram, order));
    }
    out->total = wt_vector_squares(side, sum);
    for (size_t i = 0; i < order; i++)
        for (size_t j = 0; j <= i; j++)
            out->cross += (i == j ? 1 : 2) * gram[i * order + j] * gram[i * order + j];
done:
    wt_arena_free(&arena);
    work->u = NULL;
    return status;
}

/* The normal deviate of an F ratio of the given freedoms, by Wilson and Hilferty's cube roots (as
 * Paulson has it): good to a few percent of the chance down to 1e-6. */
double wt_misfit_deviate(double ratio, double top, double bottom) {
    double root = cbrt(ratio), a = 2 / (9 * top), b = 2 / (9 * bottom);
    return (root * (1 - b) - (1 - a)) / sqrt(b * root * root + a);
}

/* The ratio of that deviate. */
static double ratio_of(double z, double top, double bottom) {
    double low = 0, high = 2;
    while (wt_misfit_deviate(high, top, bottom) < z && high < 1e12)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        *(wt_misfit_deviate(middle, top, bottom) < z ? &low : &high) = middle;
    }
    return high;
}

double wt_misfit_chance(double z) {
    return erfc(z / sqrt(2)) / 2;
}

double wt_misfit_critical(double p) {
    double low = 0, high = 40;
    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;
        *(wt_misfit_chance(middle) > p ? &low : &high) = middle;
    }
    return high;
}

/* With H's part in A made up for. */
wt_status wt_misfit_hold(wt_misfit_work *work, double critical, wt_misfit_finding *out) {
    double n = (double)work->n, left = 1 - (double)work->at->spanned / (double)work->R;
    double whole = wt_vector_squares(work->R * work->p, work->e),
           side = (double)(work->q * work->free);
    sums all;
    WT_PASS(add_scores(work, &all));
    double mean = all.squares / n, spread = fmax(all.fourths / n - mean * mean, 0) * n / (n - 1);
    double cross = fmax(all.cross - all.fourths, 0) * n / (n - 1), noise = all.squares / left;
    if (!(noise > 0))
        return WT_OK;
    double top = cross > 0 ? all.squares * all.squares / cross : side;
    double bottom = spread > 0 ? 2 * n * mean * mean / spread : 1e9;
    top = fmin(fmax(top, 1), side);
    bottom = fmax(bottom, 2);
    out->tried = true;
    out->z = wt_misfit_deviate(all.total / noise, top, bottom);
    out->part = (all.total - noise) / whole;
    out->least = noise * (ratio_of(critical + POWER, top, bottom) - 1);
    return WT_OK;
}
