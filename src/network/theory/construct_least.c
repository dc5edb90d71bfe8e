/* The least strength that keeps the promise. A head answers sum moved / sum weight, which is at
 * most r for all values of the irrelevant bits when sum (moved - r weight) is at most 0 with each
 * bit chosen for the larger term: one look at each token, and the same for at least r. */
#include <math.h>

#include "base/sized.h"
#include "network/theory/construct_readout.h"

#define MOST_STRENGTH 0x1p40

typedef double (*weigher)(double strength, double score, double largest);

static double exponential(double strength, double score, double largest) {
    return exp(strength * (score - largest));
}

static double linear(double strength, double score, double largest) {
    (void)largest;
    return fmax(0, 1 + strength * score);
}

/* Both values of a bit at `count` positions that are alike. */
typedef struct {
    double score[2], value[2], weight[2], count;
} token;

typedef struct {
    const wt_construction *construction;
    size_t head, patterns;
    token own[WT_BOOLEAN_MAX_BITS + 1]; /* at the relevant positions; [CLS] */
    token *other;                       /* at the others, equal neighbours as one */
    size_t others;
    double largest; /* score */
} searcher;

static token token_at(const double *score, const double *value, size_t position) {
    const double *k = score + 2 * position, *v = value + 2 * position;
    return (token){.score = {k[0], k[1]}, .value = {v[0], v[1]}, .count = 1};
}

static bool is_relevant(const wt_construction *construction, size_t position) {
    for (size_t j = 0; j < construction->function->bits; j++)
        if (construction->relevant[j] == position)
            return true;
    return false;
}

static void add_other(searcher *of, token next) {
    token *last = of->others == 0 ? NULL : &of->other[of->others - 1];
    if (last != NULL && last->score[0] == next.score[0] && last->score[1] == next.score[1] &&
        last->value[0] == next.value[0] && last->value[1] == next.value[1])
        last->count++;
    else
        of->other[of->others++] = next;
}

static void gather(searcher *of, const double *score, const double *value) {
    const wt_construction *construction = of->construction;
    size_t s = construction->function->bits, length = construction->length;
    of->others = 0;
    of->largest = -INFINITY;
    for (size_t i = 0; i < 2 * (length + 1); i++)
        of->largest = fmax(of->largest, score[i]);
    for (size_t j = 0; j < s; j++)
        of->own[j] = token_at(score, value, construction->relevant[j]);
    of->own[s] = token_at(score, value, length);
    for (size_t t = 0; t < length; t++)
        if (!is_relevant(construction, t))
            add_other(of, token_at(score, value, t));
}

static void weigh(const searcher *of, weigher by, double strength, size_t count, token *tokens) {
    for (size_t i = 0; i < count; i++)
        for (size_t b = 0; b < 2; b++)
            tokens[i].weight[b] = by(strength, tokens[i].score[b], of->largest);
}

/* What a bit adds to sign (sum moved - ratio sum weight). */
static double excess(const token *at, size_t bit, double ratio, double sign) {
    return sign * at->weight[bit] * (at->value[bit] - ratio);
}

static double worst_others(const searcher *of, double ratio, double sign) {
    double sum = 0;
    for (size_t i = 0; i < of->others; i++)
        sum += of->other[i].count *
               fmax(excess(&of->other[i], 0, ratio, sign), excess(&of->other[i], 1, ratio, sign));
    return sum;
}

/* Where the tokens of a pattern weigh nothing, the answer does not depend on it: not kept. Nor is
 * it where a sum is NaN. */
static bool pattern_keeps(const searcher *of, size_t pattern, double ratio, double sign,
                          double others) {
    size_t s = of->construction->function->bits;
    double sum = others + excess(&of->own[s], 0, ratio, sign), weight = of->own[s].weight[0];
    for (size_t j = s; j-- > 0; pattern >>= 1) {
        sum += excess(&of->own[j], pattern & 1, ratio, sign);
        weight += of->own[j].weight[pattern & 1];
    }
    return weight > 0 && sum <= 0;
}

/* Whether no answer is more than gamma / 4 above (sign = 1) or below (-1) what it should be. */
static bool side_keeps(const searcher *of, double sign) {
    const wt_construction *construction = of->construction;
    double ratio[WT_BOOLEAN_MAX_BITS + 1], others[WT_BOOLEAN_MAX_BITS + 1];
    for (size_t ones = 0; ones <= wt_construction_told(construction); ones++) {
        ratio[ones] = wt_construction_answer(construction, ones) + sign * construction->gap / 4;
        others[ones] = worst_others(of, ratio[ones], sign);
    }
    for (size_t p = 0; p < of->patterns; p++) {
        size_t ones = wt_construction_ones(construction, of->head, p);
        if (!pattern_keeps(of, p, ratio[ones], sign, others[ones]))
            return false;
    }
    return true;
}

static bool keeps(searcher *of, weigher by, double strength) {
    weigh(of, by, strength, of->construction->function->bits + 1, of->own);
    weigh(of, by, strength, of->others, of->other);
    return side_keeps(of, 1) && side_keeps(of, -1);
}

static double search(searcher *of, weigher by) {
    double low = 0, high = 1;
    if (keeps(of, by, 0))
        return 0;
    for (; !keeps(of, by, high); high *= 2) {
        if (high >= MOST_STRENGTH)
            return INFINITY;
        low = high;
    }
    while (high - low > WT_CONSTRUCTION_LEAST_TOLERANCE * high) {
        double middle = low + (high - low) / 2;
        if (keeps(of, by, middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

wt_status wt_construction_find_least(wt_context *context, const wt_construction *construction,
                                     wt_construction_least *out) {
    wt_arena arena = wt_arena_start(context, "tokens");
    size_t dim = construction->dim, tokens = construction->length + 1;
    double *score = WT_TAKE(&arena, double, 2, tokens), *value = WT_TAKE(&arena, double, 2, tokens);
    searcher of = {.construction = construction,
                   .patterns = (size_t)1 << construction->function->bits,
                   .other = WT_TAKE(&arena, token, construction->length)};
    wt_construction_least full = {0};
    wt_status status;
    WT_TRY(arena.status);
    WT_TRY(wt_sized_check(context, "wt_construction_least", out, sizeof full));
    for (of.head = 0; of.head < construction->heads; of.head++) {
        wt_token_dots(construction, construction->w_k + of.head * dim, score);
        wt_token_dots(construction, construction->w_v + of.head * dim, value);
        gather(&of, score, value);
        full.strength = fmax(full.strength, search(&of, exponential));
        full.linear = fmax(full.linear, search(&of, linear));
    }
    wt_sized_write(out, &full, sizeof full);
done:
    wt_arena_free(&arena);
    return status;
}
