/* The promise of the constructions, and that what is checked is what is built-> */
#define _GNU_SOURCE
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "network/model/construction.h"
#include "wattle/io.h"
#include "wattle/random.h"

static const char *const symmetric[] = {NULL,         "and:1",           "symmetric:010",
                                        "majority:3", "symmetric:10110", "parity:5"};
static const char *const general[] = {NULL,
                                      "table:10",
                                      "table:0010",
                                      "table:01010011",
                                      "table:0111010001101110",
                                      "table:01101001110010100011101001011100"};

static wt_construction_spec spec_of(size_t s, size_t length, wt_positions positions, bool one_head,
                                    bool bag) {
    return (wt_construction_spec){
        .size = sizeof(wt_construction_spec),
        .function = one_head ? symmetric[s] : general[s],
        .length = length,
        .positions = positions,
        .heads = one_head ? WT_CONSTRUCTION_HEADS_ONE : WT_CONSTRUCTION_HEADS_EACH,
        .tokens = bag ? WT_CONSTRUCTION_TOKENS_BAG : WT_CONSTRUCTION_TOKENS_SUM,
        .seed = 10 * s + length};
}

static void keeps(wt_context *context, const wt_construction_spec *spec, size_t draws) {
    wt_construction *built;
    wt_construction_report report = WT_SIZED(wt_construction_report);
    CHECK_OK(context, wt_construction_new(context, spec, &built));
    CHECK_OK(context, wt_construction_check(context, built, draws, 1, &report));
    /* no draw is worse than the worst; 1e-12 for sums taken in another order */
    if (!report.kept || report.drawn_error > report.head_error + 1e-12)
        fail_msg("%s, T = %zu, positions %d, %zu heads, bag %d: head %g (drawn %g) of %g, function "
                 "%g",
                 spec->function, spec->length, (int)spec->positions, built->heads,
                 (int)spec->tokens, report.head_error, report.drawn_error, report.promise,
                 report.function_error);
    wt_construction_free(built);
}

static void promises_are_kept(void **state) {
    wt_context *context = *state;
    static const size_t lengths[] = {7, 300};
    for (size_t s = 1; s <= 5; s++)
        for (size_t l = 0; l < 2; l++)
            for (int positions = 0; positions < 3; positions++)
                for (int kind = 0; kind < 4; kind++) {
                    wt_construction_spec spec =
                        spec_of(s, lengths[l], (wt_positions)positions, kind % 2 == 0, kind >= 2);
                    keeps(context, &spec, 5);
                }
}

static void promises_are_kept_at_4096_positions(void **state) {
    wt_context *context = *state;
    for (size_t s = 1; s <= 5; s += 2)
        for (int positions = 0; positions < 3; positions++)
            for (int kind = 0; kind < 4; kind++) {
                wt_construction_spec spec =
                    spec_of(s, 4096, (wt_positions)positions, kind % 2 == 0, kind >= 2);
                keeps(context, &spec, 2);
            }
}

/* The numbers of the published weights at s = 3: R = log(8 T / gamma), and errors derived by hand.
 * With unit vectors 1 position of e^R = 768 and T - 3 + 1 of weight 1 the worst answer is that of
 * one pattern against all others: (2 (T - 3) + 1) / (3 e^R + T - 2). Rounding: 1e-12. */
static void strength_and_error_are_those_of_the_formula(void **state) {
    wt_context *context = *state;
    static const size_t lengths[] = {64, 1024};
    static const double strengths[] = {6.64, 9.42}, errors[] = {0.052, 0.054};
    for (size_t i = 0; i < 2; i++) {
        double length = (double)lengths[i];
        wt_construction_spec spec = spec_of(3, lengths[i], WT_POSITIONS_BASIS, true, false);
        wt_construction *built;
        wt_construction_report report = WT_SIZED(wt_construction_report);
        wt_construction_summary norms = WT_SIZED(wt_construction_summary);
        CHECK_OK(context, wt_construction_new(context, &spec, &built));
        CHECK_OK(context, wt_construction_check(context, built, 20, 3, &report));
        CHECK_NEAR(built->strength, log(12 * length), 1e-15);
        CHECK_NEAR(built->strength, strengths[i], 0.005);
        CHECK_NEAR(report.head_error, (2 * (length - 3) + 1) / (36 * length + length - 2), 1e-12);
        CHECK_NEAR(report.head_error, errors[i], 0.0005);
        CHECK_NEAR(report.promise, 1.0 / 6, 1e-15);
        CHECK_OK(context, wt_construction_summarise(context, built, &norms));
        CHECK_NEAR(norms.qk21, log(12 * length) * sqrt(3), 1e-13);
        CHECK_NEAR(norms.v21, sqrt(2), 1e-15);
        CHECK_NEAR(norms.v, sqrt(2), 1e-15);
        CHECK_NEAR(norms.x, sqrt(2), 1e-15);
        CHECK_NEAR(norms.cls, 1, 1e-15);
        wt_construction_free(built);
    }
}

/* Softmax and network by their formulas, token by token. */
static double plain_head(const wt_construction *of, size_t head, const uint8_t *bit) {
    double weight = 0, moved = 0, most = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t t = 0; t <= of->length; t++) {
            double query = 0, key = 0, value = 0;
            for (size_t i = 0; i < of->dim; i++) {
                double v = t == of->length        ? of->cls[i]
                           : of->position == NULL ? (double)(i == t)
                                                  : of->position[t * of->dim + i];
                double x = t == of->length ? v
                           : of->bag       ? bit[t] * v
                                           : v + of->symbol[bit[t] * of->dim + i];
                query += of->w_q[head * of->dim + i] * of->cls[i];
                key += of->w_k[head * of->dim + i] * x;
                value += of->w_v[head * of->dim + i] * x;
            }
            if (pass == 0) {
                most = fmax(most, query * key);
                continue;
            }
            weight += exp(query * key - most);
            moved += exp(query * key - most) * value;
        }
    return moved / weight;
}

static double plain_network(const wt_construction *of, const double *y) {
    double out = of->b3[0];
    for (size_t j = 0; j < of->width2; j++) {
        double two = of->b2[j];
        for (size_t i = 0; i < of->width1; i++) {
            double one = of->b1[i];
            for (size_t h = 0; h < of->heads; h++)
                one += y[h] * of->w1[h * of->width1 + i];
            two += fmax(one, 0) * of->w2[i * of->width2 + j];
        }
        out += fmax(two, 0) * of->w3[j];
    }
    return out;
}

/* The check is over all inputs at T = 9: no input is worse, and one is as bad. Rounding of sums of
 * ten terms: 1e-13; of a network of slopes 1/2a = 3: 1e-12. */
static void the_worst_input_is_found(void **state) {
    wt_context *context = *state;
    enum { LENGTH = 9, ALL = 1 << LENGTH };
    for (int positions = 0; positions < 3; positions++)
        for (int kind = 0; kind < 4; kind++) {
            wt_construction_spec spec =
                spec_of(3, LENGTH, (wt_positions)positions, kind % 2 == 0, kind >= 2);
            wt_construction *built;
            wt_construction_report report = WT_SIZED(wt_construction_report);
            wt_bits *bits;
            static double head[ALL * 3], out[ALL];
            double worst = 0;
            CHECK_OK(context, wt_construction_new(context, &spec, &built));
            CHECK_OK(context, wt_construction_check(context, built, 3, 1, &report));
            CHECK_OK(context, wt_bits_new(context, ALL, LENGTH, &bits));
            for (size_t i = 0; i < ALL * LENGTH; i++)
                bits->bit[i] = i / LENGTH >> (i % LENGTH) & 1;
            CHECK_OK(context, wt_construction_run(context, built, bits, head, out));
            for (size_t i = 0; i < ALL; i++) {
                size_t row = 0;
                for (size_t j = 0; j < 3; j++)
                    row = 2 * row + bits->bit[i * LENGTH + built->relevant[j]];
                for (size_t h = 0; h < built->heads; h++) {
                    double y = head[i * built->heads + h];
                    worst = fmax(worst, fabs(y - wt_construction_ideal(built, h, row)));
                    CHECK_NEAR(y, plain_head(built, h, bits->bit + i * LENGTH), 1e-13);
                }
                CHECK_NEAR(out[i], built->function->value[row], 1e-9);
                if (i % 37 == 0)
                    CHECK_NEAR(out[i], plain_network(built, head + i * built->heads), 1e-12);
            }
            CHECK_NEAR(report.head_error, worst, 1e-13);
            wt_bits_free(bits);
            wt_construction_free(built);
        }
}

/* 1 on its own, 0 on the other anchors: least squares of a few unit vectors, 1e-12. */
static void random_heads_are_dual_vectors(void **state) {
    wt_context *context = *state;
    wt_construction_spec spec = spec_of(3, 200, WT_POSITIONS_RANDOM, false, false);
    wt_construction *built;
    spec.position_dim = 128;
    CHECK_OK(context, wt_construction_new(context, &spec, &built));
    assert_int_equal(built->dim, 128);
    for (size_t h = 0; h < 3; h++) {
        for (size_t j = 0; j < 3; j++) {
            double product = 0;
            for (size_t i = 0; i < 128; i++)
                product += built->w_k[h * 128 + i] * built->position[built->relevant[j] * 128 + i];
            CHECK_NEAR(product, j == h ? 1 : 0, 1e-12);
        }
        double zero = 0, one = 0, cls = 0;
        for (size_t i = 0; i < 128; i++) {
            zero += built->w_v[h * 128 + i] * built->symbol[i];
            one += built->w_v[h * 128 + i] * built->symbol[128 + i];
            cls += built->w_v[h * 128 + i] * built->cls[i];
        }
        CHECK_NEAR(zero, 1, 1e-12);
        CHECK_NEAR(one, -1, 1e-12);
        CHECK_NEAR(cls, 0, 1e-12);
    }
    assert_true(built->overlap > 0 && built->overlap < 1);
    wt_construction_free(built);
}

/* Weights that are wrong must be seen to be. */
static void a_broken_promise_is_seen(void **state) {
    wt_context *context = *state;
    wt_construction_spec spec = spec_of(3, 64, WT_POSITIONS_BASIS, true, false);
    wt_construction *built;
    wt_construction_report report = WT_SIZED(wt_construction_report);
    CHECK_OK(context, wt_construction_new(context, &spec, &built));
    for (size_t i = 0; i < built->dim; i++)
        built->w_q[i] *= 0.5;
    CHECK_OK(context, wt_construction_check(context, built, 2, 1, &report));
    assert_false(report.kept);
    assert_true(report.head_error > report.promise && report.function_error > 0.1);
    for (size_t i = 0; i < built->dim; i++) {
        built->w_q[i] *= 1e300;
        built->w_k[i] *= 1e300;
    }
    CHECK_OK(context, wt_construction_check(context, built, 2, 1, &report));
    assert_false(report.kept);
    wt_construction_free(built);
}

/* The least strengths by hand. With unit vectors, of told = s (or 1) bits that weigh w and T - told
 * + 1 tokens of weight 1, the worst answer is off by (2 (T - told) + 1) / (told w + T - told + 1),
 * as above, [CLS] among the latter; the others of a head of its own stand for any bits, so that it
 * is the same. That is gamma / 4 = 1 / (2 told) at
 *     w = 4 (T - told) + 2 - (T - told + 1) / told,
 * which is e^R, or 1 + R. A bag's [CLS] weighs w and has value -s: with all s ones the answer is 0
 * and nothing leaks; for r ones the error is (s - r) / (r + 1) - (s - r) w / ((r + 1) w + T - r),
 * the largest of which is at r = 0: s (T / (w + T)), to be 1 / (4 s). */
static void the_least_strength_is_that_by_hand(void **state) {
    wt_context *context = *state;
    static const size_t lengths[] = {64, 1024, 4096};
    for (size_t s = 1; s <= 5; s++)
        for (size_t l = 0; l < 3; l++)
            for (int kind = 0; kind < 4; kind++) {
                wt_construction_spec spec = spec_of(
                    s, lengths[l], kind % 2 == 0 ? WT_POSITIONS_BASIS : WT_POSITIONS_TRAINED,
                    kind != 1, kind == 3);
                double told = spec.heads == WT_CONSTRUCTION_HEADS_ONE ? (double)s : 1,
                       rest = (double)lengths[l] - told;
                double weight = spec.tokens == WT_CONSTRUCTION_TOKENS_BAG
                                    ? (double)lengths[l] * (4 * told * told - 1)
                                    : 4 * rest + 2 - (rest + 1) / told;
                wt_construction *built;
                wt_construction_least least = WT_SIZED(wt_construction_least);
                CHECK_OK(context, wt_construction_new(context, &spec, &built));
                CHECK_OK(context, wt_construction_find_least(context, built, &least));
                if (fabs(least.strength / log(weight) - 1) > 1e-6 ||
                    fabs(least.linear / (weight - 1) - 1) > 1e-6)
                    fail_msg("%s, T = %zu, kind %d: %.9g for %.9g, linear %.9g for %.9g",
                             spec.function, spec.length, kind, least.strength, log(weight),
                             least.linear, weight - 1);
                wt_construction_free(built);
            }
}

/* Whether the promise is kept with strength R, by the check of all inputs. */
static bool kept_at(wt_context *context, wt_construction *built, double strength) {
    wt_construction_report report = WT_SIZED(wt_construction_report);
    wt_construction_set_strength(built, strength);
    assert_true(built->strength == strength);
    CHECK_OK(context, wt_construction_check(context, built, 1, 1, &report));
    return report.kept;
}

/* Of every kind of head: the check of all inputs says the same, from there on and below. */
static void the_least_strength_is_where_the_check_turns(void **state) {
    wt_context *context = *state;
    for (size_t s = 1; s <= 5; s += 2)
        for (int positions = 0; positions < 3; positions++)
            for (int kind = 0; kind < 4; kind++) {
                wt_construction_spec spec =
                    spec_of(s, 200, (wt_positions)positions, kind % 2 == 0, kind >= 2);
                wt_construction *built;
                wt_construction_least least = WT_SIZED(wt_construction_least);
                CHECK_OK(context, wt_construction_new(context, &spec, &built));
                CHECK_OK(context, wt_construction_find_least(context, built, &least));
                double below = least.strength * (1 - WT_CONSTRUCTION_LEAST_TOLERANCE);
                assert_true(least.strength <= built->strength);
                assert_true(kept_at(context, built, least.strength));
                assert_false(kept_at(context, built, below));
                for (int i = 1; i <= 20; i++)
                    if (kept_at(context, built, least.strength * i / 10) != (i >= 10))
                        fail_msg("%s, positions %d, kind %d: R %g is the least, not so at %g",
                                 spec.function, positions, kind, least.strength,
                                 least.strength * i / 10);
                wt_construction_free(built);
            }
}

/* What was built with another strength needs the same. Where the promise is kept with no attention
 * at all (T = s = 1: off by 1/2, to be 1/2), that is 0; where an irrelevant position scores more
 * than a relevant one, nothing helps, nor where no token has any weight. */
static void the_least_strength_is_of_the_head_alone(void **state) {
    wt_context *context = *state;
    wt_construction_spec spec = spec_of(3, 100, WT_POSITIONS_RANDOM, true, false);
    wt_construction *built;
    wt_construction_least least = WT_SIZED(wt_construction_least),
                          again = WT_SIZED(wt_construction_least);
    CHECK_OK(context, wt_construction_new(context, &spec, &built));
    CHECK_OK(context, wt_construction_find_least(context, built, &least));
    wt_construction_set_strength(built, 0.1);
    CHECK_OK(context, wt_construction_find_least(context, built, &again));
    assert_true(again.strength == least.strength && again.linear == least.linear);
    for (size_t i = 0; i < built->dim; i++)
        built->w_k[i] = -built->w_k[i];
    CHECK_OK(context, wt_construction_find_least(context, built, &least));
    assert_true(isinf(least.strength) && isinf(least.linear));
    wt_construction_free(built);
    spec = spec_of(1, 1, WT_POSITIONS_BASIS, true, false);
    CHECK_OK(context, wt_construction_new(context, &spec, &built));
    CHECK_OK(context, wt_construction_find_least(context, built, &least));
    assert_true(least.strength == 0 && least.linear == 0);
    wt_construction_free(built);
    spec = spec_of(2, 2, WT_POSITIONS_BASIS, true, false);
    CHECK_OK(context, wt_construction_new(context, &spec, &built));
    for (size_t i = 0; i < built->dim; i++)
        built->w_k[i] = -1;
    CHECK_OK(context, wt_construction_find_least(context, built, &least));
    assert_true(isinf(least.strength) && isinf(least.linear));
    wt_construction_free(built);
}

static void sizes_are_those_of_the_notes(void **state) {
    wt_context *context = *state;
    for (size_t s = 1; s <= 5; s++) {
        wt_construction_spec spec = spec_of(s, 30, WT_POSITIONS_BASIS, true, false);
        wt_construction *built;
        CHECK_OK(context, wt_construction_new(context, &spec, &built));
        assert_int_equal(built->dim, 33);
        assert_int_equal(built->width1, 4 * (s + 1));
        assert_int_equal(built->width2, 2 * (s + 1));
        wt_construction_free(built);
        spec = spec_of(s, 30, WT_POSITIONS_TRAINED, false, true);
        CHECK_OK(context, wt_construction_new(context, &spec, &built));
        assert_int_equal(built->dim, s + 1);
        assert_int_equal(built->width1, 4 * s << s);
        assert_int_equal(built->width2, 2 << s);
        wt_construction_free(built);
    }
}

static void files_come_back(void **state) {
    wt_context *context = *state;
    for (int kind = 0; kind < 4; kind++) {
        char path[] = "/tmp/wattle-construct-XXXXXX";
        wt_construction_spec spec = spec_of(
            3, 20, kind == 0 ? WT_POSITIONS_BASIS : WT_POSITIONS_RANDOM, kind % 2 == 0, kind >= 2);
        wt_construction *built, *loaded;
        wt_construction_report before = WT_SIZED(wt_construction_report),
                               after = WT_SIZED(wt_construction_report);
        int file = mkstemp(path);
        assert_true(file >= 0);
        close(file);
        CHECK_OK(context, wt_construction_new(context, &spec, &built));
        CHECK_OK(context, wt_construction_check(context, built, 4, 2, &before));
        CHECK_OK(context, wt_construction_save(context, built, path));
        CHECK_OK(context, wt_construction_load(context, path, &loaded));
        CHECK_OK(context, wt_construction_check(context, loaded, 4, 2, &after));
        unlink(path);
        /* the same numbers in the same order, but for unit vectors, which are now multiplied out */
        CHECK_NEAR(after.head_error, before.head_error, 1e-14);
        CHECK_NEAR(after.drawn_error, before.drawn_error, 1e-14);
        assert_true(after.kept);
        assert_memory_equal(loaded->relevant, built->relevant, 3 * sizeof *built->relevant);
        assert_memory_equal(loaded->w2, built->w2,
                            built->width1 * built->width2 * sizeof *built->w2);
        wt_construction_free(built);
        wt_construction_free(loaded);
    }
}

/* Files that say one thing and hold another. */
static void bad_files_are_refused(void **state) {
    wt_context *context = *state;
    char path[] = "/tmp/wattle-construct-XXXXXX";
    static const char *const words[] = {"function", "relevant", "tokens", "strength", "kind"};
    static const struct {
        const char *value[5], *says;
    } cases[] = {
        {{"and:2", "0,1", "sum", "1", "head"}, NULL},
        {{"and", "0,1", "sum", "1", "head"}, "no function"},
        {{"and:3", "0,1", "sum", "1", "head"}, "no s relevant positions"},
        {{"and:2", "0,9", "sum", "1", "head"}, "not different ones of its length"},
        {{"and:2", "1,1", "sum", "1", "head"}, "not different ones of its length"},
        {{"and:2", "x", "sum", "1", "head"}, "no s relevant positions"},
        {{"and:2", "0,1", "heap", "1", "head"}, "neither 'sum' nor 'bag'"},
        {{"and:2", "0,1", "sum", "nan", "head"}, "no number 'strength'"},
        {{"and:2", "0,1", "sum", "1", "layer"}, "kind is not 'head'"},
        {{"table:0010", "0,1", "sum", "1", "head"}, "heads do not fit"},
    };
    double numbers[64] = {0};
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (size_t c = 0; c <= sizeof cases / sizeof *cases; c++) {
        bool last = c == sizeof cases / sizeof *cases; /* a number that is none */
        const wt_tensor tensors[] = {
            {.name = "w_q", .rank = 3, .shape = {1, 3, 1}, .values = numbers},
            {.name = "w_k", .rank = 3, .shape = {1, 3, 1}, .values = numbers},
            {.name = "w_v", .rank = 3, .shape = {1, 3, 1}, .values = numbers},
            {.name = "positions", .rank = 2, .shape = {4, 3}, .values = numbers},
            {.name = "symbols", .rank = 2, .shape = {2, 3}, .values = numbers},
            {.name = "cls", .rank = 1, .shape = {3}, .values = numbers},
            {.name = "w1", .rank = 2, .shape = {1, 5}, .values = numbers},
            {.name = "b1", .rank = 1, .shape = {5}, .values = numbers},
            {.name = "w2", .rank = 2, .shape = {5, 2}, .values = numbers},
            {.name = "b2", .rank = 1, .shape = {2}, .values = numbers},
            {.name = "w3", .rank = 2, .shape = {2, 1}, .values = numbers},
            {.name = "b3", .rank = 1, .shape = {1}, .values = numbers}};
        wt_metadata metadata[6] = {{"overlap", "0"}};
        wt_construction *loaded;
        for (size_t i = 0; i < 5; i++)
            metadata[i + 1] = (wt_metadata){words[i], cases[last ? 0 : c].value[i]};
        numbers[0] = last ? NAN : 0;
        CHECK_OK(context, wt_safetensors_write(context, path, tensors, 12, metadata, 6));
        const char *says = last ? "is nan" : cases[c].says;
        if (says != NULL) {
            CHECK_FAILS(context, wt_construction_load(context, path, &loaded), WT_DATA, says);
            continue;
        }
        CHECK_OK(context, wt_construction_load(context, path, &loaded));
        CHECK_NEAR(loaded->gap, 1, 1e-15);
        wt_construction_free(loaded);
        CHECK_OK(context, wt_safetensors_write(context, path, tensors, 11, metadata, 6));
        CHECK_FAILS(context, wt_construction_load(context, path, &loaded), WT_DATA,
                    "array 'b3' is missing");
    }
    unlink(path);
}

static void what_makes_no_sense_is_refused(void **state) {
    wt_context *context = *state;
    wt_construction *built;
    wt_construction_spec spec = spec_of(5, 4096, WT_POSITIONS_RANDOM, true, false);
    spec.position_dim = 16;
    CHECK_FAILS(context, wt_construction_new(context, &spec, &built), WT_USAGE, "overlap too much");
    spec.position_dim = 7;
    CHECK_FAILS(context, wt_construction_new(context, &spec, &built), WT_USAGE,
                "7 dimensions cannot hold the 8 vectors");
    spec.function = "table:0010";
    CHECK_FAILS(context, wt_construction_new(context, &spec, &built), WT_USAGE, "not symmetric");
    spec.heads = WT_CONSTRUCTION_HEADS_EACH;
    spec.function = "and:9";
    CHECK_FAILS(context, wt_construction_new(context, &spec, &built), WT_USAGE,
                "s may be 8 at most");
    spec.function = "and:3";
    spec.length = 2;
    CHECK_FAILS(context, wt_construction_new(context, &spec, &built), WT_USAGE,
                "2 bits cannot hold");
    CHECK_FAILS(context,
                wt_construction_load(context, TEST_DATA "/fixtures/layer.safetensors", &built),
                WT_DATA, "is no construction");
    CHECK_FAILS(context, wt_construction_load(context, "/tmp/wattle-no-such-file", &built),
                WT_NO_INPUT, "no-such-file");
}

static void threads_do_not_change_the_report(void **state) {
    wt_context *context = *state;
    wt_construction_spec spec = spec_of(5, 100, WT_POSITIONS_RANDOM, false, false);
    wt_construction_report report[2] = {WT_SIZED(wt_construction_report),
                                        WT_SIZED(wt_construction_report)};
    for (int i = 0; i < 2; i++) {
        wt_construction *built;
        CHECK_OK(context, wt_context_set_threads(context, 1 + 3 * i));
        CHECK_OK(context, wt_construction_new(context, &spec, &built));
        CHECK_OK(context, wt_construction_check(context, built, 9, 2, &report[i]));
        wt_construction_free(built);
    }
    assert_true(report[0].head_error == report[1].head_error);
    assert_true(report[0].drawn_error == report[1].drawn_error);
    assert_true(report[0].function_error == report[1].function_error);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises_are_kept),
        cmocka_unit_test(promises_are_kept_at_4096_positions),
        cmocka_unit_test(strength_and_error_are_those_of_the_formula),
        cmocka_unit_test(the_worst_input_is_found),
        cmocka_unit_test(random_heads_are_dual_vectors),
        cmocka_unit_test(a_broken_promise_is_seen),
        cmocka_unit_test(the_least_strength_is_that_by_hand),
        cmocka_unit_test(the_least_strength_is_where_the_check_turns),
        cmocka_unit_test(the_least_strength_is_of_the_head_alone),
        cmocka_unit_test(sizes_are_those_of_the_notes),
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(threads_do_not_change_the_report),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
