/* What needs no features: Theta without bound, and inputs that are repeated. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layer/learn/misfit.h"
#include "layer/learn/misfit_parts.h"

/* Means over rows of sum_b A_b^2 and of A at the token itself. */
static void sharpness(const wt_projection *at, size_t head, double *square, double *own) {
    const wt_attention *in = &at->rows->in;
    *square = *own = 0;
    for (size_t s = 0; s < in->sequences; s++) {
        size_t k = wt_attention_key(in, s + 1) - wt_attention_key(in, s),
               first = wt_attention_row(in, s);
        size_t count = wt_attention_row(in, s + 1) - first;
        const double *a = at->weights + at->heads * at->starts[s] + head * count * k;
        for (size_t r = 0; r < count; r++) {
            *square += wt_vector_squares(k, a + r * k);
            *own += a[r * k + wt_attention_place(in, s, first + r)];
        }
    }
    *square /= (double)at->rows->rows;
    *own /= (double)at->rows->rows;
}

wt_status wt_misfit_unbounded(wt_context *context, wt_projection *at, double allowed, size_t *head,
                              bool *itself) {
    const double sharp = 0.9;
    size_t d = at->rows->in.dim, columns = at->width;
    double square, own;
    bool moved = false;
    *itself = false;
    for (*head = 0; *head < at->heads; ++*head) {
        sharpness(at, *head, &square, &own);
        if (square < sharp)
            continue;
        for (size_t factor = 0; factor < 2; factor++) {
            for (size_t u = 0; u < at->asked; u++)
                for (size_t v = 0; v < d; v++)
                    at->theta[u * columns + *head * d + v] *= factor == 0 ? 2 : 0.5;
            if (factor == 0) {
                WT_PASS(wt_projection_evaluate(context, at));
                moved = true;
            }
        }
        if (at->error <= allowed) {
            *itself = own > sharp;
            break;
        }
    }
    if (moved)
        WT_PASS(wt_projection_evaluate(context, at));
    return WT_OK;
}

/* A sequence and where its keys and rows are, to be sorted by its tokens. */
typedef struct {
    const double *key;
    size_t numbers, first, rows;
} sequence;

static int by_tokens(const void *a, const void *b) {
    const sequence *one = a, *other = b;
    if (one->numbers != other->numbers)
        return one->numbers < other->numbers ? -1 : 1;
    int order = memcmp(one->key, other->key, one->numbers * sizeof *one->key);
    return order != 0 ? order : (one->first > other->first) - (one->first < other->first);
}

static bool alike(const sequence *a, const sequence *b) {
    return a->numbers == b->numbers && a->rows == b->rows &&
           memcmp(a->key, b->key, a->numbers * sizeof *a->key) == 0;
}

/* Squares of the residuals of `count` equal sequences off their mean. */
static double spread_of(const wt_projection *at, const sequence *group, size_t count) {
    size_t numbers = group->rows * at->rows->outputs;
    double sum = 0;
    for (size_t i = 0; i < numbers; i++) {
        double mean = 0;
        for (size_t g = 0; g < count; g++)
            mean += at->e[group[g].first * at->rows->outputs + i] / (double)count;
        for (size_t g = 0; g < count; g++) {
            double off = at->e[group[g].first * at->rows->outputs + i] - mean;
            sum += off * off;
        }
    }
    return sum;
}

/* Outputs that are the same to rounding have no noise that repeats could show. */
#define NO_SPREAD 1e-24

wt_status wt_misfit_repeats(wt_context *context, const wt_projection *at, double unknowns,
                            wt_misfit *out) {
    const wt_attention *in = &at->rows->in;
    size_t n = in->sequences, p = at->rows->outputs, repeated = 0, distinct_rows = 0;
    double spread = 0, whole = wt_vector_squares(at->rows->rows * p, at->e);
    sequence *all = NULL;
    wt_status status;
    WT_TRY(WT_NEW(context, &all, n, "sequences"));
    for (size_t s = 0; s < n; s++) {
        size_t key = wt_attention_key(in, s), row = wt_attention_row(in, s);
        all[s] = (sequence){.key = in->key + key * in->dim,
                            .numbers = (wt_attention_key(in, s + 1) - key) * in->dim,
                            .first = row,
                            .rows = wt_attention_row(in, s + 1) - row};
    }
    qsort(all, n, sizeof *all, by_tokens);
    for (size_t s = 0, next; s < n; s = next) {
        for (next = s + 1; next < n && alike(&all[s], &all[next]); next++)
            repeated++;
        distinct_rows += all[s].rows;
        spread += spread_of(at, all + s, next - s);
    }
    /* noise may be one number a sequence and output: no more than those count */
    double each = (double)at->rows->rows / (double)n, bottom = (double)(repeated * p);
    double numbers = (double)(distinct_rows * p) - unknowns, top = numbers / each;
    if (repeated < 3 || top < 1)
        goto done;
    double noise = spread / ((double)repeated * each * (double)p);
    double square = at->rows->norm * at->rows->norm;
    double chance = spread <= NO_SPREAD * square
                        ? 0
                        : wt_misfit_chance(wt_misfit_deviate(
                              fmax(whole - spread, 0) / (numbers * noise), top, bottom));
    out->blind = false;
    if (!(chance < WT_MISFIT_LEVEL) || (out->p < WT_MISFIT_LEVEL && out->kind != NULL))
        goto done;
    out->p = chance;
    out->kind = "repeats";
    out->words = "equal inputs differ by less than what is left: it is no noise";
    out->part = (whole - spread) / whole;
done:
    wt_release(all);
    return status;
}
