/* `wattle draw --tokens-from`: rows of tables, places, a norm; and sequences of mixed lengths. */
#define _GNU_SOURCE
#include "cli/run.h"
#include "wattle/io.h"
#include "wattle/layer.h"
#include "wattle/random.h"

enum { D = 3, WORDS = 5, PLACES = 4, TYPES = 2, ALL = WORDS + PLACES + TYPES + 2 };
static double rows[ALL][D]; /* words, places, types, gain, shift */

static void write_tables(wt_context *context) {
    wt_random_normal(wt_stream_for(1, "tables", 0), 0, sizeof rows / sizeof **rows, rows[0]);
    const wt_tensor all[] = {
        {.name = "words", .rank = 2, .shape = {WORDS, D}, .values = rows[0]},
        {.name = "places", .rank = 2, .shape = {PLACES, D}, .values = rows[WORDS]},
        {.name = "types", .rank = 2, .shape = {TYPES, D}, .values = rows[WORDS + PLACES]},
        {.name = "norm.weight", .rank = 1, .shape = {D}, .values = rows[ALL - 2]},
        {.name = "norm.bias", .rank = 1, .shape = {D}, .values = rows[ALL - 1]}};
    CHECK_OK(context, wt_safetensors_write(context, run_line("{tmp}/t.safetensors"), all,
                                           sizeof all / sizeof *all, NULL, 0));
}

/* What a token is made of: a word, its place and type 1; then the norm. */
static void make_token(size_t word, size_t place, bool normed, double *out) {
    double mean = 0, square = 0;
    for (size_t j = 0; j < D; j++) {
        out[j] = rows[word][j] + rows[WORDS + place][j] + rows[WORDS + PLACES + 1][j];
        mean += out[j] / D;
    }
    for (size_t j = 0; j < D; j++)
        square += (out[j] - mean) * (out[j] - mean) / D;
    for (size_t j = 0; normed && j < D; j++)
        out[j] = (out[j] - mean) / sqrt(square + 1e-12) * rows[ALL - 2][j] + rows[ALL - 1][j];
}

static size_t word_of(const double *x, size_t place, bool normed) {
    for (size_t word = 0; word < WORDS; word++) {
        double token[D], apart = 0;
        make_token(word, place, normed, token);
        for (size_t j = 0; j < D; j++)
            apart += fabs(token[j] - x[j]);
        if (apart < 1e-13)
            return word;
    }
    fail_msg("a token at place %zu is made of no word", place);
    return 0;
}

#define FROM   "--tokens-from t.safetensors:words "
#define TABLES FROM "--add t.safetensors:places --add t.safetensors:types@1 "

static void tokens_are_rows(void **state) {
    wt_context *context = *state;
    write_tables(context);
    run_must("teacher --heads 2 --dim 3 -o layer.safetensors");
    for (int normed = 0; normed < 2; normed++) {
        wt_sequences *data;
        size_t seen[WORDS] = {0};
        run_must(normed ? "draw --layer layer.safetensors --length 4 --n 60 " TABLES
                          "--norm-from t.safetensors:norm -o d.npz"
                        : "draw --layer layer.safetensors --length 4 --n 60 " TABLES "-o d.npz");
        CHECK_OK(context, wt_sequences_load(context, run_line("{tmp}/d.npz"), &data));
        for (size_t t = 0; t < 240; t++)
            seen[word_of(wt_sequences_x(data) + t * D, t % 4, normed)]++;
        for (size_t word = 0; word < WORDS; word++)
            assert_true(seen[word] > 20); /* of 48 on average, 6 standard deviations below */
        wt_sequences_free(data);
        assert_true(run_number("apply layer.safetensors d.npz --json", "error") < 1e-14);
    }
}

static void lengths_are_mixed(void **state) {
    wt_context *context = *state;
    wt_sequences *data, *more;
    size_t seen[6] = {0};
    run_must("teacher --heads 2 --dim 3 -o layer.safetensors");
    run_must("draw --layer layer.safetensors --length 5 --shortest 3 --n 40 -o d.npz");
    run_must("draw --layer layer.safetensors --length 5 --shortest 3 --n 50 -o e.npz");
    CHECK_OK(context, wt_sequences_load(context, run_line("{tmp}/d.npz"), &data));
    CHECK_OK(context, wt_sequences_load(context, run_line("{tmp}/e.npz"), &more));
    for (size_t s = 0; s < 40; s++) {
        seen[wt_sequences_lengths(data)[s]]++;
        assert_int_equal(wt_sequences_lengths(data)[s], wt_sequences_lengths(more)[s]);
    }
    assert_true(seen[3] > 0 && seen[4] > 0 && seen[5] > 0);
    assert_int_equal(seen[3] + seen[4] + seen[5], 40);
    wt_sequences_free(data);
    wt_sequences_free(more);
    assert_true(run_number("apply layer.safetensors d.npz --json", "error") < 1e-14);
}

static void bad_tables_are_refused(void **state) {
    write_tables(*state);
    run_must("teacher --heads 2 --dim 3 -o layer.safetensors");
    static const struct {
        const char *options;
        int code;
        const char *words;
    } cases[] = {
        {"--tokens-from t.safetensors", 64, "FILE:NAME"},
        {"--tokens-from missing.npz:x", 66, "missing.npz"},
        {"--tokens-from t.safetensors:none", 65, "no array 'none'"},
        {"--tokens-from t.safetensors:norm.bias", 65, "rows of 3"},
        {FROM "--tokens boolean", 64, "exclude"},
        {FROM "--length 5 --add t.safetensors:places", 65, "4 rows for sequences of 5"},
        {FROM "--add t.safetensors:types@2", 65, "no row 2"},
        {FROM "--add t.safetensors:types@x", 64, "no number"},
        {FROM "--norm-from t.safetensors:words", 65, "no array 'words.weight'"},
        {"--add t.safetensors:places", 64, "--add needs --tokens-from"},
        {"--norm-from t.safetensors:norm", 64, "--norm-from needs --tokens-from"},
        {"--shortest 5", 64, "--shortest 5"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line, "draw --layer layer.safetensors -o no.npz %s",
                 cases[i].options);
        run_refuses(line, cases[i].code, cases[i].words);
    }
    run_refuses("draw --target corr:1 --shortest 2 -o no.npz", 64, "--shortest needs --layer");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_rows),
        cmocka_unit_test(lengths_are_mixed),
        cmocka_unit_test(bad_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
