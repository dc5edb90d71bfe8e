/* What needs no features: inputs that are repeated. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "layer/learn/misfit.h"
#include "layer/learn/misfit_parts.h"

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
