/* The start: a cell for every pair of a b and a u, members of an orthogonal basis, gives the
 * numbers b^T Theta_h u of all heads, in no order. Heads are matched in two rounds:
 *   1. cells of the same u have the same values u^T W_h, whatever b is;
 *   2. for two different u, logits and values of the cell of their sum are the sums of theirs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "layer/learn/query_parts.h"
#include "layer/task/vector.h"
#include "linalg/linalg.h"
#include "wattle/random.h"

enum { MOST = WT_RATIONAL_HEADS, SCALES = 7, PILOTS = 3, REFLECTIONS = 3 };

typedef struct {
    wt_asker *asker;
    size_t m, d, p;
    double length;        /* of the b and the u */
    double *basis;        /* (d, d), orthonormal rows */
    double *unit, *other; /* (d) */
    double *base;         /* (p): the answer to b alone */
    double *sums;         /* (d, p): the sum of all W_h, from questions of one token */
    double *logits;       /* (d u, d b, m) */
    double *values;       /* (d u, d b, m, p) */
    double *quality;      /* (d u, d b) */
    double *lead;         /* (d u, m, p): the values of a u, its best cell's until matched */
    double *sorted;       /* (d d) */
    double *cell_values;  /* (m, p) */
} start;

/* The next order of 0 .. m-1 in the alphabet of orders; false after the last. */
static bool next_order(size_t m, size_t *order) {
    size_t i = m - 1, j = i;
    while (i > 0 && order[i - 1] > order[i])
        i--;
    if (i == 0)
        return false;
    while (order[j] < order[i - 1])
        j--;
    size_t held = order[i - 1];
    order[i - 1] = order[j];
    order[j] = held;
    for (size_t a = i, b = m - 1; a < b; a++, b--) {
        held = order[a];
        order[a] = order[b];
        order[b] = held;
    }
    return true;
}

static void first_order(size_t m, size_t *order) {
    for (size_t h = 0; h < m; h++)
        order[h] = h;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(size_t count, double *values) {
    qsort(values, count, sizeof *values, by_size);
    return values[count / 2];
}

static double *logits_at(const start *work, size_t u, size_t b) {
    return work->logits + (u * work->d + b) * work->m;
}

static double *values_at(const start *work, size_t u, size_t b) {
    return work->values + (u * work->d + b) * work->m * work->p;
}

/* The answer to b alone, which is linear in b. */
static void set_base(start *work, const double *b) {
    memset(work->base, 0, work->p * sizeof *work->base);
    for (size_t a = 0; a < work->d; a++)
        for (size_t o = 0; o < work->p; o++)
            work->base[o] += b[a] * work->sums[a * work->p + o];
}

static wt_status ask_sums(start *work) {
    for (size_t a = 0; a < work->d; a++) {
        memset(work->unit, 0, work->d * sizeof *work->unit);
        work->unit[a] = 1;
        WT_PASS(wt_asker_keep(work->asker, 1, work->unit, NULL, work->sums + a * work->p));
    }
    return WT_OK;
}

/* The length of b and u at which random cells come apart best, from a few tried at each. */
static wt_status choose_length(start *work, uint64_t seed) {
    double best = -1, logits[MOST];
    size_t d = work->d;
    for (int power = 0; power < SCALES; power++) {
        double length = exp2(power - 1), total = 0;
        for (uint64_t pilot = 0; pilot < PILOTS; pilot++) {
            wt_cell cell = {.logits = logits, .values = work->cell_values};
            wt_random_sphere(wt_stream_for(seed, "query pilot", pilot), 0, 1, d, work->unit);
            wt_random_sphere(wt_stream_for(seed, "query pilot", pilot), 1, 1, d, work->other);
            for (size_t a = 0; a < d; a++) {
                work->unit[a] *= length;
                work->other[a] *= length;
            }
            set_base(work, work->unit);
            WT_PASS(
                wt_query_cell(work->asker, work->m, work->unit, work->other, work->base, &cell));
            total += cell.quality;
        }
        if (total > best) {
            best = total;
            work->length = length;
        }
    }
    return WT_OK;
}

/* The unit vectors at the first try; later, where those had a head that hardly answers to one of
 * them, a rotated basis: a product of random reflections. */
static void choose_basis(start *work, uint64_t seed, size_t attempt) {
    size_t d = work->d;
    memset(work->basis, 0, d * d * sizeof *work->basis);
    for (size_t i = 0; i < d; i++)
        work->basis[i * d + i] = 1;
    for (uint64_t turn = 0; attempt > 0 && turn < REFLECTIONS; turn++) {
        wt_random_sphere(wt_stream_for(seed, "query basis", attempt), turn, 1, d, work->unit);
        for (size_t i = 0; i < d; i++) {
            double along = 0, *row = work->basis + i * d;
            for (size_t a = 0; a < d; a++)
                along += 2 * row[a] * work->unit[a];
            for (size_t a = 0; a < d; a++)
                row[a] -= along * work->unit[a];
        }
    }
}

/* The cell of b = basis j and u = basis i, plus basis `second` when that is another. */
static wt_status ask_cell(start *work, size_t j, size_t i, size_t second, wt_cell *cell) {
    size_t d = work->d;
    for (size_t a = 0; a < d; a++) {
        work->unit[a] = work->length * work->basis[j * d + a];
        work->other[a] = work->length *
                         (work->basis[i * d + a] + (second == i ? 0 : work->basis[second * d + a]));
    }
    set_base(work, work->unit);
    return wt_query_cell(work->asker, work->m, work->unit, work->other, work->base, cell);
}

static wt_status ask_cells(start *work) {
    for (size_t u = 0; u < work->d; u++)
        for (size_t b = 0; b < work->d; b++) {
            wt_cell cell = {.logits = logits_at(work, u, b), .values = values_at(work, u, b)};
            WT_PASS(ask_cell(work, b, u, u, &cell));
            work->quality[u * work->d + b] = cell.quality;
        }
    return WT_OK;
}

/* Puts the heads of (u, b) in the order given: head h is what was order[h]. */
static void reorder(start *work, size_t u, size_t b, const size_t *order) {
    double *logits = logits_at(work, u, b), *values = values_at(work, u, b), held[MOST];
    size_t m = work->m, p = work->p;
    memcpy(held, logits, m * sizeof *held);
    memcpy(work->cell_values, values, m * p * sizeof *values);
    for (size_t h = 0; h < m; h++) {
        logits[h] = held[order[h]];
        memcpy(values + h * p, work->cell_values + order[h] * p, p * sizeof *values);
    }
}

/* Round 1: the cells of one u after its best one; then the median of their values. */
static void match_one(start *work, size_t u) {
    size_t m = work->m, p = work->p, d = work->d, best = 0;
    double *lead = work->lead + u * m * p;
    for (size_t b = 1; b < d; b++)
        if (work->quality[u * d + b] > work->quality[u * d + best])
            best = b;
    memcpy(lead, values_at(work, u, best), m * p * sizeof *lead);
    for (size_t b = 0; b < d; b++) {
        size_t order[MOST], least_order[MOST];
        double least = INFINITY;
        first_order(m, order);
        memcpy(least_order, order, sizeof order);
        do {
            double sum = 0;
            for (size_t h = 0; h < m; h++)
                sum += wt_vector_apart(p, lead + h * p, values_at(work, u, b) + order[h] * p);
            if (sum < least) {
                least = sum;
                memcpy(least_order, order, sizeof order);
            }
        } while (next_order(m, order));
        reorder(work, u, b, least_order);
    }
    for (size_t i = 0; i < m * p; i++) {
        for (size_t b = 0; b < d; b++)
            work->sorted[b] = values_at(work, u, b)[i];
        lead[i] = median(d, work->sorted);
    }
}

/* The b whose cells of two u are both good. */
static size_t shared_b(const start *work, size_t first, size_t second) {
    size_t best = 0;
    double most = -1;
    for (size_t b = 0; b < work->d; b++) {
        double both = fmin(work->quality[first * work->d + b], work->quality[second * work->d + b]);
        if (both > most) {
            most = both;
            best = b;
        }
    }
    return best;
}

/* How far the cell of the sum is from the sums, with the heads of u in one order and those of the
 * sum in another. */
static double mismatch(const start *work, size_t b, size_t first, size_t u, const wt_cell *sum,
                       const size_t *order, const size_t *sum_order) {
    size_t m = work->m, p = work->p;
    const double *a = work->lead + first * m * p, *c = work->lead + u * m * p;
    double total = 0, scale = 0;
    for (size_t i = 0; i < m * p; i++)
        scale += a[i] * a[i] + c[i] * c[i];
    for (size_t h = 0; h < m; h++) {
        size_t s = sum_order[h];
        double logit = logits_at(work, first, b)[h] + logits_at(work, u, b)[order[h]];
        total += fmin(1, pow(sum->logits[s] - logit, 2));
        for (size_t o = 0; o < p; o++)
            total += pow(sum->values[s * p + o] - a[h * p + o] - c[order[h] * p + o], 2) / scale;
    }
    return total;
}

/* Round 2: the heads of u in the order of those of `first`. */
static wt_status match_two(start *work, size_t first, size_t u) {
    size_t m = work->m, p = work->p, b = shared_b(work, first, u);
    size_t order[MOST], sum_order[MOST], least_order[MOST];
    double logits[MOST], least = INFINITY, *sum_values = NULL;
    wt_status status;
    WT_TRY(WT_NEW2(work->asker->context, &sum_values, m, p, "a cell"));
    wt_cell sum = {.logits = logits, .values = sum_values};
    WT_TRY(ask_cell(work, b, first, u, &sum));
    first_order(m, order);
    memcpy(least_order, order, sizeof order);
    do {
        first_order(m, sum_order);
        do {
            double now = mismatch(work, b, first, u, &sum, order, sum_order);
            if (now < least) {
                least = now;
                memcpy(least_order, order, sizeof order);
            }
        } while (next_order(m, sum_order));
    } while (next_order(m, order));
    for (size_t c = 0; c < work->d; c++)
        reorder(work, u, c, least_order);
    double *lead = work->lead + u * m * p;
    memcpy(sum_values, lead, m * p * sizeof *lead);
    for (size_t h = 0; h < m; h++)
        memcpy(lead + h * p, sum_values + least_order[h] * p, p * sizeof *lead);
done:
    wt_release(sum_values);
    return status;
}

/* The u whose cells are best on the whole. */
static size_t best_u(start *work) {
    size_t best = 0;
    double most = -1;
    for (size_t u = 0; u < work->d; u++) {
        memcpy(work->sorted, work->quality + u * work->d, work->d * sizeof *work->sorted);
        double middle = median(work->d, work->sorted);
        if (middle > most) {
            most = middle;
            best = u;
        }
    }
    return best;
}

static wt_status match(start *work) {
    for (size_t u = 0; u < work->d; u++)
        match_one(work, u);
    size_t first = best_u(work);
    for (size_t u = 0; u < work->d; u++)
        if (u != first)
            WT_PASS(match_two(work, first, u));
    return WT_OK;
}

/* From the basis back to coordinates: with B its rows, Theta = B^T (logits) B and W = B^T (values).
 */
static wt_status read_heads(const start *work, wt_layer *out) {
    wt_context *context = work->asker->context;
    size_t m = work->m, d = work->d, p = work->p;
    double area = work->length * work->length;
    wt_arena arena = wt_arena_start(context, "a head");
    wt_status status;
    double *rows = WT_TAKE(&arena, double, d, d + p);
    double *half = WT_TAKE(&arena, double, d, d);
    WT_TRY(arena.status);
    for (size_t h = 0; h < m; h++) {
        double *values = rows + d * d;
        for (size_t u = 0; u < d; u++) {
            for (size_t b = 0; b < d; b++)
                rows[b * d + u] = logits_at(work, u, b)[h] / area;
            for (size_t o = 0; o < p; o++)
                values[u * p + o] = work->lead[(u * m + h) * p + o] / work->length;
        }
        WT_TRY(
            wt_gemm(context, WT_PLAIN, WT_PLAIN, d, d, d, 1, rows, d, work->basis, d, 0, half, d));
        WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, d, d, d, 1, work->basis, d, half, d, 0,
                       out->theta + h * d * d, d));
        WT_TRY(wt_gemm(context, WT_TRANSPOSED, WT_PLAIN, d, p, d, 1, work->basis, d, values, p, 0,
                       out->w + h * d * p, p));
    }
done:
    wt_arena_free(&arena);
    return status;
}

/* Gaussian tokens of this scale have logits of deviation scale^2 |Theta|_F; the norm is judged by
 * the median entry, which stray cells do not move. */
static double token_scale(start *work, const wt_layer *heads) {
    size_t d = work->d, count = d * d;
    double most = 0;
    for (size_t h = 0; h < work->m; h++) {
        for (size_t i = 0; i < count; i++)
            work->sorted[i] = fabs(heads->theta[h * count + i]);
        most = fmax(most, (double)d * median(count, work->sorted) / 0.6745);
    }
    return most > 0 ? fmin(16, fmax(1.0 / 16, sqrt(2 / most))) : 1;
}

wt_status wt_query_start(wt_asker *asker, uint64_t seed, size_t attempt, wt_layer *out,
                         double *scale) {
    size_t d = asker->d, p = asker->p, m = out->heads;
    wt_context *context = asker->context;
    start work = {.asker = asker, .m = m, .d = d, .p = p};
    wt_arena arena = wt_arena_start(context, "the start of a layer");
    wt_status status;
    work.basis = WT_TAKE(&arena, double, d, d);
    work.unit = WT_TAKE(&arena, double, d);
    work.other = WT_TAKE(&arena, double, d);
    work.base = WT_TAKE(&arena, double, p);
    work.sums = WT_TAKE(&arena, double, d, p);
    work.logits = WT_TAKE(&arena, double, d, d, m);
    work.values = WT_TAKE(&arena, double, d, d, m, p);
    work.quality = WT_TAKE(&arena, double, d, d);
    work.lead = WT_TAKE(&arena, double, d, m, p);
    work.sorted = WT_TAKE(&arena, double, d, d);
    work.cell_values = WT_TAKE(&arena, double, m, p);
    WT_TRY(arena.status);
    WT_TRY(ask_sums(&work));
    WT_TRY(choose_length(&work, wt_seed_for(seed, "query pilot", attempt)));
    choose_basis(&work, seed, attempt);
    WT_TRY(ask_cells(&work));
    WT_TRY(match(&work));
    WT_TRY(read_heads(&work, out));
    *scale = token_scale(&work, out);
done:
    wt_arena_free(&arena);
    return status;
}
