/* Words against NumPy, then the laws built on them. All seeds are fixed, so a bound that holds once
 * holds always; bounds are set where a right generator fails about once in 10^5 seeds. */
#include "wattle/random.h"

#include <stdlib.h>

#include "check.h"

enum { MANY = 200000 };

/* numpy.random.Philox(key=[seed, stream]); advance(first / 4); random_raw() */
static const struct {
    uint64_t seed, stream, first, words[6];
} numpy_words[] = {
    {0x0u,
     0x0u,
     0x0u,
     {0x02f4ba6408e4d89bu, 0x3dd62b0b9ca8c5b2u, 0x1c8667a55d902e79u, 0x907d7a052fd5b4dcu,
      0x809bf322883987c3u, 0x471128b9e807f7ddu}},
    {0x1u,
     0x0u,
     0x0u,
     {0x4db6a27b756282dfu, 0xd944fa03babe0e2fu, 0x27f872e577060d32u, 0x07f697696a0482a2u,
      0xe677fe4bbd0452ecu, 0x0d543dba56d1e799u}},
    {0x0u,
     0x1u,
     0x0u,
     {0xd037f8c3f9a1d176u, 0xc057419b4c210765u, 0xabf13115117b0065u, 0x7bae035dea6ea5c0u,
      0xb487ac82e7ddd46fu, 0x45e81edba7c59426u}},
    {0x3039u,
     0x10932u,
     0x3u,
     {0x35ffee5f1622955du, 0x42fc03d178af2fa6u, 0xa8e10d0d0b99af72u, 0xfa9aa7c8fd6140dcu,
      0xd2aa98d531571cdfu, 0xb58afec66f886da5u}},
    {0xffffffffffffffffu,
     0xffffffffffffffffu,
     0x0u,
     {0x6d46cc0e71f0be7eu, 0x924ea1693f9a8bc0u, 0xfdc35f0198c91181u, 0xb4a311f17aa6568du,
      0x67e12c1eff8de57eu, 0x6877618422b87b0eu}},
    {0x7u,
     0xbu,
     0xfffffffeu,
     {0x53a32225bf252936u, 0x7d4d6e0a982da7b7u, 0x30df7df7089e2be5u, 0xc97bf35022f392b9u,
      0xdd147805ee6c12acu, 0x037f825ea39adf9cu}},
    {0x7u,
     0xbu,
     0x3fffffffdu,
     {0xb2c198225cc18721u, 0x1c6c220c3d7caa95u, 0x0bc414985c312c48u, 0x4150734de2042d73u,
      0x038c8e1e96b86bd5u, 0x93c4a7eb4bd11fc8u}},
    {0x2au,
     0x8000000000000000u,
     0x7fffffffffffffffu,
     {0xfa62367387ee4147u, 0xd5c2f4f4eccf470cu, 0xdc5023f9f0b5b8ecu, 0x10a2908eaed26f23u,
      0x068f47f5f269feebu, 0x6ea35b86b131e1fdu}},
    {0x3u,
     0x5u,
     0xfffffffffffffffau,
     {0x7efccd1c5b69078fu, 0x25d36b4b28eb2aa3u, 0xfc738a2665fbe885u, 0xc88546187763d053u,
      0x0846028ae602498au, 0xe3c6f7ccb806e418u}},
};

static void words_are_those_of_numpy(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof numpy_words / sizeof *numpy_words; i++) {
        uint64_t words[6];
        wt_stream stream = {numpy_words[i].seed, numpy_words[i].stream};
        wt_random_words(stream, numpy_words[i].first, 6, words);
        assert_memory_equal(words, numpy_words[i].words, sizeof words);
    }
}

/* A draw of any law as doubles, so that one loop tests all. */
typedef void (*draw_fn)(wt_stream stream, uint64_t first, size_t count, double *out);
static void draw_bernoulli(wt_stream stream, uint64_t first, size_t count, double *out) {
    uint8_t bits[64];
    assert_true(count <= sizeof bits);
    wt_random_bernoulli(stream, first, count, 0.3, bits);
    for (size_t i = 0; i < count; i++)
        out[i] = bits[i];
}
static void draw_first_coordinates(wt_stream stream, uint64_t first, size_t count, double *out) {
    double vectors[64 * 3];
    wt_random_sphere(stream, first, count, 3, vectors);
    for (size_t i = 0; i < count; i++)
        out[i] = vectors[3 * i] + 2 * vectors[3 * i + 1] + 4 * vectors[3 * i + 2];
}

static void any_part_can_be_drawn_alone(void **state) {
    (void)state;
    static const draw_fn laws[] = {wt_random_uniform, wt_random_normal, wt_random_sign,
                                   draw_bernoulli, draw_first_coordinates};
    wt_stream stream = wt_stream_for(5, "parts", 1);
    uint64_t starts[] = {0, 1, 1023, ((uint64_t)1 << 32) - 7};
    for (size_t law = 0; law < sizeof laws / sizeof *laws; law++)
        for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
            double whole[37], part[37];
            laws[law](stream, starts[s], 37, whole);
            for (size_t cut = 0; cut <= 37; cut++) {
                laws[law](stream, starts[s], cut, part);
                laws[law](stream, starts[s] + cut, 37 - cut, part + cut);
                assert_memory_equal(whole, part, sizeof whole);
            }
        }
}

/* Longer than the batches inside. */
static void long_draws_equal_short_ones(void **state) {
    (void)state;
    wt_stream stream = {3, 4};
    double *whole = calloc(1001, sizeof *whole), one;
    assert_non_null(whole);
    wt_random_normal(stream, 13, 1001, whole);
    for (size_t i = 0; i < 1001; i++) {
        wt_random_normal(stream, 13 + i, 1, &one);
        assert_memory_equal(&one, &whole[i], sizeof one);
    }
    free(whole);
}

static void formulas_are_as_documented(void **state) {
    (void)state;
    wt_stream stream = {1, 2};
    uint64_t words[8];
    double uniform[8], normal[8], signs[8];
    uint8_t bits[8];
    wt_random_words(stream, 0, 8, words);
    wt_random_uniform(stream, 0, 8, uniform);
    wt_random_normal(stream, 0, 8, normal);
    wt_random_sign(stream, 0, 8, signs);
    wt_random_bernoulli(stream, 0, 8, 0.5, bits);
    for (int i = 0; i < 8; i++) {
        assert_true(uniform[i] == (double)(words[i] >> 11) / 9007199254740992.0);
        assert_true(signs[i] == (words[i] >> 63 ? -1 : 1));
        assert_int_equal(bits[i], uniform[i] < 0.5);
    }
    /* sine and cosine may differ from libm's separate ones in the last place */
    for (int i = 0; i < 8; i += 2) {
        double radius = sqrt(-2 * log(1 - uniform[i])), angle = 2 * acos(-1) * uniform[i + 1];
        CHECK_NEAR(normal[i], radius * cos(angle), 1e-14);
        CHECK_NEAR(normal[i + 1], radius * sin(angle), 1e-14);
    }
}

static int by_size(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}
static double uniform_law(double x) {
    return x;
}
static double normal_law(double x) {
    return 0.5 * erfc(-x / sqrt(2));
}

/* Kolmogorov and Smirnov: sqrt(n) sup |F_n - F| is above 2.5 with probability 2 exp(-2 2.5^2),
 * about 7e-6. */
static void check_law(double *values, size_t count, double (*law)(double)) {
    qsort(values, count, sizeof *values, by_size);
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        double expected = law(values[i]);
        most = fmax(most, fmax(expected - (double)i / (double)count,
                               (double)(i + 1) / (double)count - expected));
    }
    CHECK_NEAR(sqrt((double)count) * most, 0, 2.5);
}

static void uniform_and_normal_have_their_laws(void **state) {
    (void)state;
    double *values = calloc(MANY, sizeof *values);
    assert_non_null(values);
    wt_random_uniform(wt_stream_for(11, "uniform", 0), 0, MANY, values);
    for (size_t i = 0; i < MANY; i++)
        assert_true(values[i] >= 0 && values[i] < 1);
    check_law(values, MANY, uniform_law);
    wt_random_normal(wt_stream_for(11, "normal", 0), 0, MANY, values);
    double mean = 0, square = 0, fourth = 0, neighbours = 0;
    for (size_t i = 0; i < MANY; i++) {
        mean += values[i] / MANY;
        square += values[i] * values[i] / MANY;
        fourth += pow(values[i], 4) / MANY;
        if (i > 0)
            neighbours += values[i] * values[i - 1] / MANY;
    }
    /* 4.5 standard deviations: those of the four are 1, sqrt 2, sqrt 96 and 1, by sqrt(n) */
    double deviation = 4.5 / sqrt(MANY);
    CHECK_NEAR(mean, 0, deviation);
    CHECK_NEAR(square - 1, 0, deviation * sqrt(2));
    CHECK_NEAR(fourth - 3, 0, deviation * sqrt(96));
    CHECK_NEAR(neighbours, 0, deviation);
    check_law(values, MANY, normal_law);
    free(values);
}

static void signs_and_bits_have_their_means(void **state) {
    (void)state;
    double *signs = calloc(MANY, sizeof *signs), sum = 0;
    uint8_t *bits = calloc(MANY, 1);
    assert_true(signs != NULL && bits != NULL);
    wt_random_sign(wt_stream_for(12, "sign", 0), 0, MANY, signs);
    wt_random_bernoulli(wt_stream_for(12, "bit", 0), 0, MANY, 0.2, bits);
    double ones = 0;
    for (size_t i = 0; i < MANY; i++) {
        assert_true(fabs(signs[i]) == 1);
        sum += signs[i];
        ones += bits[i];
    }
    /* 4.5 standard deviations */
    CHECK_NEAR(sum / MANY, 0, 4.5 / sqrt(MANY));
    CHECK_NEAR(ones / MANY - 0.2, 0, 4.5 * sqrt(0.2 * 0.8 / MANY));
    wt_random_bernoulli(wt_stream_for(12, "bit", 0), 0, MANY, 0, bits);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(bits[i], 0);
    wt_random_bernoulli(wt_stream_for(12, "bit", 0), 0, MANY, 1, bits);
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(bits[i], 1);
    free(signs);
    free(bits);
}

/* On the sphere of R^3 each coordinate is uniform on [-1, 1] (Archimedes). */
static void sphere_vectors_are_uniform(void **state) {
    (void)state;
    enum { VECTORS = 50000 };
    double *vectors = calloc(3 * VECTORS, sizeof *vectors);
    double *heights = calloc(VECTORS, sizeof *heights);
    assert_true(vectors != NULL && heights != NULL);
    wt_random_sphere(wt_stream_for(13, "sphere", 0), 0, VECTORS, 3, vectors);
    for (size_t j = 0; j < 3; j++) {
        for (size_t i = 0; i < VECTORS; i++) {
            const double *v = vectors + 3 * i;
            /* a square root and a division away from 1: a few roundings */
            CHECK_NEAR(v[0] * v[0] + v[1] * v[1] + v[2] * v[2], 1, 1e-15);
            heights[i] = (v[j] + 1) / 2;
        }
        check_law(heights, VECTORS, uniform_law);
    }
    double one[2];
    wt_random_sphere(wt_stream_for(13, "line", 0), 0, 2, 1, one);
    assert_true(fabs(one[0]) == 1 && fabs(one[1]) == 1);
    free(vectors);
    free(heights);
}

/* Chi-square with f degrees of freedom by Wilson and Hilferty: (x/f)^(1/3) is nearly normal. */
static void check_even(const size_t *counts, size_t cells, size_t draws) {
    double expected = (double)draws / (double)cells, chi = 0;
    for (size_t i = 0; i < cells; i++)
        chi += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
    double f = (double)cells - 1;
    double deviate = (cbrt(chi / f) - (1 - 2 / (9 * f))) / sqrt(2 / (9 * f));
    CHECK_NEAR(deviate, 0, 4.5); /* too even is as wrong as too uneven */
}

static void permutations_are_equally_likely(void **state) {
    (void)state;
    enum { DRAWS = 60000, ITEMS = 5, CELLS = 120 };
    size_t counts[CELLS] = {0};
    for (size_t draw = 0; draw < DRAWS; draw++) {
        size_t order[ITEMS], code = 0;
        wt_random_permutation(wt_stream_for(14, "permutation", draw), ITEMS, order);
        unsigned seen = 0;
        for (size_t i = 0; i < ITEMS; i++) {
            seen |= 1u << order[i];
            size_t below = 0; /* Lehmer code: how many later ones are smaller */
            for (size_t j = i + 1; j < ITEMS; j++)
                below += order[j] < order[i];
            code = code * (ITEMS - i) + below;
        }
        assert_int_equal(seen, (1u << ITEMS) - 1);
        counts[code]++;
    }
    check_even(counts, CELLS, DRAWS);
    size_t one = 9;
    wt_random_permutation(wt_stream_for(14, "one", 0), 1, &one);
    assert_int_equal(one, 0);
    wt_random_permutation(wt_stream_for(14, "none", 0), 0, NULL);
}

static void subsets_are_equally_likely(void **state) {
    enum { DRAWS = 50000, ITEMS = 7, CHOSEN = 3, CELLS = 35 };
    size_t counts[1 << ITEMS] = {0}, packed[CELLS] = {0}, cells = 0;
    for (size_t draw = 0; draw < DRAWS; draw++) {
        size_t chosen[CHOSEN];
        CHECK_OK(*state, wt_random_subset(*state, wt_stream_for(15, "subset", draw), ITEMS, CHOSEN,
                                          chosen));
        assert_true(chosen[0] < chosen[1] && chosen[1] < chosen[2] && chosen[2] < ITEMS);
        counts[1u << chosen[0] | 1u << chosen[1] | 1u << chosen[2]]++;
    }
    for (size_t i = 0; i < 1 << ITEMS; i++)
        if (counts[i] > 0) {
            assert_true(cells < CELLS);
            packed[cells++] = counts[i];
        }
    assert_int_equal(cells, CELLS);
    check_even(packed, CELLS, DRAWS);
}

static void subsets_at_their_edges(void **state) {
    size_t all[50];
    wt_stream stream = {1, 1};
    CHECK_OK(*state, wt_random_subset(*state, stream, 50, 50, all));
    for (size_t i = 0; i < 50; i++)
        assert_int_equal(all[i], i);
    CHECK_OK(*state, wt_random_subset(*state, stream, 50, 0, NULL));
    CHECK_FAILS(*state, wt_random_subset(*state, stream, 3, 4, all), WT_USAGE,
                "cannot choose 4 different numbers of 3");
}

/* Streams of different purposes, indexes or seeds share no word, and are not shifted copies. */
static void streams_are_told_apart(void **state) {
    (void)state;
    wt_stream streams[] = {wt_stream_for(1, "query", 0), wt_stream_for(1, "query", 1),
                           wt_stream_for(1, "keys", 0),  wt_stream_for(2, "query", 0),
                           wt_stream_for(1, "", 0),      wt_stream_for(1, "querz", 0)};
    enum { STREAMS = sizeof streams / sizeof *streams, WORDS = 64 };
    uint64_t words[STREAMS][WORDS];
    for (size_t i = 0; i < STREAMS; i++)
        wt_random_words(streams[i], 0, WORDS, words[i]);
    for (size_t i = 0; i < STREAMS; i++)
        for (size_t j = 0; j < i; j++)
            for (size_t k = 0; k < WORDS * WORDS; k++)
                assert_true(words[i][k / WORDS] != words[j][k % WORDS]);
    assert_true(wt_seed_for(1, "rep", 3) == wt_seed_for(1, "rep", 3));
    assert_true(wt_seed_for(1, "rep", 3) != wt_seed_for(1, "rep", 4));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_those_of_numpy),
        cmocka_unit_test(any_part_can_be_drawn_alone),
        cmocka_unit_test(long_draws_equal_short_ones),
        cmocka_unit_test(formulas_are_as_documented),
        cmocka_unit_test(uniform_and_normal_have_their_laws),
        cmocka_unit_test(signs_and_bits_have_their_means),
        cmocka_unit_test(sphere_vectors_are_uniform),
        cmocka_unit_test(permutations_are_equally_likely),
        cmocka_unit_test(subsets_are_equally_likely),
        cmocka_unit_test(subsets_at_their_edges),
        cmocka_unit_test(streams_are_told_apart),
    };
    return cmocka_run_group_tests(tests, check_open, check_close);
}
