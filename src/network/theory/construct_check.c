/* Every pattern of the relevant bits, against every value of the others. */
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "base/sized.h"
#include "network/theory/construct_readout.h"
#include "wattle/random.h"

enum {
    PATTERN_GRAIN = 8,
    DRAW_GRAIN = 1,
    MOST_ROUNDS = 200 /* of the search for an extreme; a handful is usual */
};
#define ROUNDING 1e-9

typedef struct {
    const wt_construction *construction;
    wt_token_table table;
    bool *relevant; /* (T) */
    size_t patterns;
    double *least, *most; /* (patterns, heads) answers over all values of the other bits */
    double *drawn;        /* (patterns, heads) answers of draw 0 */
    double *worst;        /* (draws) */
    wt_stream stream;
} checker;

typedef struct {
    double weight, moved;
} sums;

/* What the relevant positions and [CLS] add in head h. */
static sums of_pattern(const checker *of, size_t head, size_t pattern) {
    const wt_token_table *table = &of->table;
    size_t s = of->construction->function->bits, cls = wt_token_at(table, head, table->length);
    sums out = {table->weight[cls], table->moved[cls]};
    for (size_t j = 0; j < s; j++) {
        size_t at =
            wt_token_at(table, head, of->construction->relevant[j]) + (pattern >> (s - 1 - j) & 1);
        out.weight += table->weight[at];
        out.moved += table->moved[at];
    }
    return out;
}

/* The largest (sign = 1) or smallest (-1) moved / weight over all values of the other bits. For a
 * ratio r each bit is best where sign (moved - r weight) is larger; the ratio of these bits is no
 * worse than r, and when it is no better, r is the extreme. */
static double extreme(const checker *of, size_t head, sums start, double sign) {
    const wt_token_table *table = &of->table;
    double ratio = start.moved / start.weight;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        sums all = start;
        for (size_t t = 0; t < table->length; t++) {
            if (of->relevant[t])
                continue;
            size_t at = wt_token_at(table, head, t);
            double zero = table->moved[at] - ratio * table->weight[at];
            double one = table->moved[at + 1] - ratio * table->weight[at + 1];
            at += sign * one > sign * zero;
            all.weight += table->weight[at];
            all.moved += table->moved[at];
        }
        double next = all.moved / all.weight;
        if (round > 0 && !(sign * next > sign * ratio))
            break;
        ratio = next;
    }
    return ratio;
}

static wt_status check_patterns(void *argument, size_t begin, size_t end, int worker) {
    const checker *of = argument;
    size_t heads = of->construction->heads;
    (void)worker;
    for (size_t p = begin; p < end; p++)
        for (size_t h = 0; h < heads; h++) {
            sums start = of_pattern(of, h, p);
            of->least[p * heads + h] = extreme(of, h, start, -1);
            of->most[p * heads + h] = extreme(of, h, start, 1);
        }
    return WT_OK;
}

/* fmax passes over NaN, which would hide that weights overflowed. */
static double distance(double answer, double wanted) {
    double error = fabs(answer - wanted);
    return isnan(error) ? INFINITY : error;
}

static double error_at(const checker *of, size_t pattern, size_t head, double answer) {
    return distance(answer, wt_construction_ideal(of->construction, head, pattern));
}

/* What the other positions add in each head for the bits of one draw; `other` (heads). */
static void of_draw(const checker *of, size_t draw, sums *other) {
    const wt_token_table *table = &of->table;
    enum { PIECE = 4096 };
    uint8_t bit[PIECE];
    memset(other, 0, table->heads * sizeof *other);
    for (size_t from = 0; from < table->length; from += PIECE) {
        size_t count = table->length - from < PIECE ? table->length - from : PIECE;
        wt_random_bernoulli(of->stream, draw * table->length + from, count, 0.5, bit);
        for (size_t h = 0; h < table->heads; h++)
            for (size_t t = 0; t < count; t++) {
                size_t at = wt_token_at(table, h, from + t) + bit[t];
                if (of->relevant[from + t])
                    continue;
                other[h].weight += table->weight[at];
                other[h].moved += table->moved[at];
            }
    }
}

static wt_status check_draws(void *argument, size_t begin, size_t end, int worker) {
    const checker *of = argument;
    size_t heads = of->construction->heads;
    sums other[WT_BOOLEAN_MAX_BITS];
    (void)worker;
    for (size_t draw = begin; draw < end; draw++) {
        of_draw(of, draw, other);
        of->worst[draw] = 0;
        for (size_t p = 0; p < of->patterns; p++)
            for (size_t h = 0; h < heads; h++) {
                sums own = of_pattern(of, h, p);
                double answer = (own.moved + other[h].moved) / (own.weight + other[h].weight);
                of->worst[draw] = fmax(of->worst[draw], error_at(of, p, h, answer));
                if (draw == 0)
                    of->drawn[p * heads + h] = answer;
            }
    }
    return WT_OK;
}

/* The largest error of the network on these answers of the heads; `answer` (patterns) is scratch.
 */
static wt_status check_function(wt_context *context, const checker *of, const double *y,
                                double *answer, double *worst) {
    wt_status status = wt_construction_read(context, of->construction, of->patterns, y, answer);
    for (size_t p = 0; status == WT_OK && p < of->patterns; p++)
        *worst = fmax(*worst, distance(answer[p], of->construction->function->value[p]));
    return status;
}

static void sum_up(const checker *of, size_t draws, wt_construction_report *out) {
    size_t heads = of->construction->heads;
    for (size_t p = 0; p < of->patterns; p++)
        for (size_t h = 0; h < heads; h++) {
            size_t at = p * heads + h;
            out->head_error = fmax(out->head_error, error_at(of, p, h, of->least[at]));
            out->head_error = fmax(out->head_error, error_at(of, p, h, of->most[at]));
        }
    for (size_t i = 0; i < draws; i++)
        out->drawn_error = fmax(out->drawn_error, of->worst[i]);
}

wt_status wt_construction_check(wt_context *context, const wt_construction *construction,
                                size_t draws, uint64_t seed, wt_construction_report *out) {
    wt_arena arena = wt_arena_start(context, "answers of the heads");
    size_t heads = construction->heads, patterns = (size_t)1 << construction->function->bits;
    wt_construction_report full = {.promise = construction->gap / 4};
    checker of = {.construction = construction,
                  .patterns = patterns,
                  .relevant = WT_TAKE_ZERO(&arena, bool, construction->length),
                  .least = WT_TAKE(&arena, double, patterns, heads),
                  .most = WT_TAKE(&arena, double, patterns, heads),
                  .drawn = WT_TAKE(&arena, double, patterns, heads),
                  .worst = WT_TAKE(&arena, double, draws),
                  .stream = wt_stream_for(seed, "irrelevant", 0)};
    double *answer = WT_TAKE(&arena, double, patterns);
    wt_status status;
    WT_TRY(wt_sized_check(context, "wt_construction_report", out, sizeof full));
    WT_TRY(wt_token_table_fill(&arena, construction, &of.table));
    for (size_t j = 0; j < construction->function->bits; j++)
        of.relevant[construction->relevant[j]] = true;
    WT_TRY(wt_parallel_for(context, patterns, PATTERN_GRAIN, check_patterns, &of));
    WT_TRY(wt_parallel_for(context, draws, DRAW_GRAIN, check_draws, &of));
    sum_up(&of, draws, &full);
    const double *const answers[] = {of.least, of.most, of.drawn};
    for (size_t i = 0; i < (draws > 0 ? 3 : 2); i++)
        WT_TRY(check_function(context, &of, answers[i], answer, &full.function_error));
    full.kept = full.head_error <= full.promise && full.function_error <= ROUNDING;
    wt_sized_write(out, &full, sizeof full);
done:
    wt_arena_free(&arena);
    return status;
}
