/* `wattle train DATA.npz`: samples of the user's own. */
#define _GNU_SOURCE
#include "cli/run.h"
#include "wattle/io.h"
#include "wattle/random.h"

enum { SAMPLES = 240, LENGTH = 8, FIRST = 2, SECOND = 5 };

#define SMALL "--dim 8 --heads 2 --lr 1e-2 --steps 200 --validate 10 --success 0.95 "

static double bits[SAMPLES * LENGTH], labels[SAMPLES];

/* y is the AND of two bits; both sides as 0 and 1, or as -1 and 1. */
static void draw(bool signs) {
    wt_random_uniform(wt_stream_for(1, "bits", 0), 0, SAMPLES * LENGTH, bits);
    for (size_t i = 0; i < SAMPLES * LENGTH; i++)
        bits[i] = bits[i] < 0.7;
    for (size_t i = 0; i < SAMPLES; i++)
        labels[i] = bits[i * LENGTH + FIRST] * bits[i * LENGTH + SECOND];
    for (size_t i = 0; signs && i < SAMPLES * LENGTH; i++)
        bits[i] = 2 * bits[i] - 1;
    for (size_t i = 0; signs && i < SAMPLES; i++)
        labels[i] = 2 * labels[i] - 1;
}

static void write_file(wt_context *context, const char *name, const char *of_labels, size_t n,
                       size_t label_count) {
    char path[128];
    const wt_tensor tensors[] = {
        {.name = "bits", .rank = 2, .shape = {n, LENGTH}, .values = bits},
        {.name = of_labels, .rank = 1, .shape = {label_count}, .values = labels}};
    snprintf(path, sizeof path, "%s/%s", run_folder, name);
    CHECK_OK(context, wt_npz_write(context, path, tensors, label_count == 0 ? 1 : 2));
}

static json_t *train(const char *line) {
    const run_result *result = run_in_folder(line);
    if (result->code != 0)
        fail_msg("%s: exit %d: %s", line, result->code, result->err);
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(all);
    return all;
}

static double number(const json_t *all, const char *key) {
    return json_number_value(json_object_get(all, key));
}

/* The two kinds of numbers and of names are the same samples. */
static void own_samples_are_learned(void **state) {
    draw(false);
    write_file(*state, "zeros.npz", "labels", SAMPLES, SAMPLES);
    draw(true);
    write_file(*state, "signs.npz", "y", SAMPLES, SAMPLES);
    json_t *zeros = train("train zeros.npz " SMALL "--json -q");
    json_t *signs = train("train signs.npz " SMALL "--json -q -o net.safetensors");
    assert_true(json_is_true(json_object_get(signs, "success")));
    assert_true(number(signs, "test_accuracy") > 0.95);
    assert_true(number(signs, "loss") == number(zeros, "loss"));
    assert_true((size_t)number(signs, "samples") == SAMPLES - SAMPLES / 5);
    assert_true(number(signs, "length") == LENGTH);
    assert_true(json_is_null(json_object_get(signs, "relevant")));
    /* the attention looks where the bits are */
    const json_t *looks = json_object_get(json_object_get(signs, "attention"), "best_positions");
    for (size_t i = 0; i < 2; i++) {
        json_int_t place = json_integer_value(json_array_get(looks, i));
        assert_true(place == FIRST || place == SECOND);
    }
    json_decref(zeros);
    json_decref(signs);
    const run_result *result = run_in_folder("train signs.npz " SMALL);
    assert_int_equal(result->code, 0);
    assert_non_null(strstr(result->out, "looks at "));
    assert_non_null(strstr(result->err, "samples that judge have y = "));
}

/* A trial that was stopped ends with the bits of one that was not, on its own samples alone. */
static void it_goes_on_from_a_checkpoint(void **state) {
    draw(false);
    write_file(*state, "a.npz", "y", SAMPLES, SAMPLES);
    labels[7] = 1 - labels[7];
    write_file(*state, "b.npz", "y", SAMPLES, SAMPLES);
    json_t *whole = train("train a.npz " SMALL "--to-end --json -q");
    run_must("train a.npz " SMALL "--to-end -q --checkpoint c.safetensors");
    json_t *again =
        train("train a.npz " SMALL "--to-end --json -q --checkpoint c.safetensors --resume");
    assert_true(number(again, "test_loss") == number(whole, "test_loss"));
    run_refuses("train b.npz " SMALL "--to-end --checkpoint c.safetensors --resume", 65, "'data'");
    json_decref(whole);
    json_decref(again);
    /* the other file judges, and nothing is held out */
    json_t *other = train("train a.npz --validation b.npz " SMALL "--to-end --json -q");
    assert_true(number(other, "samples") == SAMPLES);
    json_decref(other);
}

static void what_makes_no_sense_is_refused(void **state) {
    wt_context *context = *state;
    draw(false);
    write_file(context, "good.npz", "y", SAMPLES, SAMPLES);
    write_file(context, "short.npz", "y", SAMPLES, SAMPLES - 1);
    write_file(context, "none.npz", "y", SAMPLES, 0);
    bits[100] = 2;
    write_file(context, "two.npz", "y", SAMPLES, SAMPLES);
    bits[100] = -1;
    write_file(context, "mixed.npz", "y", SAMPLES, SAMPLES);
    labels[30] = 0.5;
    bits[100] = 1;
    write_file(context, "half.npz", "y", SAMPLES, SAMPLES);
    static const struct {
        const char *line, *says;
        int code;
    } cases[] = {
        {"train short.npz", "'bits' has 240 samples of 8 bits, 'y' 239", 65},
        {"train none.npz", "no array 'y': y (n) is expected", 65},
        {"train two.npz", "value 100 of 'bits' is 2, neither 0 nor 1", 65},
        {"train mixed.npz", "value 100 of 'bits' is -1, neither 0 nor 1", 65},
        {"train half.npz", "value 30 of 'y' is 0.5, neither 0 nor 1", 65},
        {"train nothing.npz", "nothing.npz", 66},
        {"train good.npz --length 8", "--length exclude each other", 64},
        {"train good.npz --online 10", "--online exclude each other", 64},
        {"train good.npz --test-samples 10", "--test-samples exclude each other", 64},
        {"train good.npz --holdout 0", "none to judge by", 64},
        {"train good.npz --holdout 1", "none to learn from", 64},
        {"train good.npz --holdout 0.005", "2 are the least", 64},
        {"train good.npz --holdout 0.3 --validation good.npz", "exclude each other", 64},
        {"train --holdout 0.3", "needs a data file", 64},
        {"train --validation good.npz", "needs a data file", 64},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_refuses(cases[i].line, cases[i].code, cases[i].says);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_samples_are_learned),
        cmocka_unit_test(it_goes_on_from_a_checkpoint),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, run_open_folder, run_close_folder);
}
