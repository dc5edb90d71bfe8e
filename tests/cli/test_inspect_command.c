/* `wattle inspect` on a small layer made here, and on a checkpoint. */
#define _GNU_SOURCE
#include <jansson.h>

#include "cli/run.h"
#include "wattle/io.h"
#include "wattle/random.h"

enum { HEADS = 5, DIM = 48 };

static char folder[] = "/tmp/wattle-inspect-XXXXXX";
static char layer[64];

static const char *line_of(const char *format, const char *name) {
    static char line[256];
    snprintf(line, sizeof line, format, layer, folder, name);
    return line;
}

/* Heads c I + noise with c = 0, 0.1 .. 0.4 and noise of spread 0.1. */
static int make_layer(void **state) {
    static double theta[HEADS * DIM * DIM];
    if (mkdtemp(folder) == NULL || check_open(state) != 0)
        return -1;
    wt_random_normal(wt_stream_for(1, "layer", 0), 0, HEADS * DIM * DIM, theta);
    for (size_t h = 0; h < HEADS; h++)
        for (size_t i = 0; i < DIM * DIM; i++) {
            double *entry = &theta[h * DIM * DIM + i];
            *entry = 0.1 * *entry + (i % (DIM + 1) == 0 ? 0.1 * (double)h : 0);
        }
    snprintf(layer, sizeof layer, "%s/layer.safetensors", folder);
    wt_tensor tensor = {"theta", WT_TYPE_F64, 3, {HEADS, DIM, DIM}, theta};
    return wt_safetensors_write(*state, layer, &tensor, 1, NULL, 0) == WT_OK ? 0 : -1;
}

static int remove_layer(void **state) {
    unlink(layer);
    return rmdir(folder) != 0 ? -1 : check_close(state);
}

static void it_prints_a_line_a_head(void **state) {
    (void)state;
    const run_result *result = run(line_of("inspect %s", ""));
    CHECK_PRINTS(result, "5 heads, d = 48");
    assert_non_null(strstr(result->out, "std errors"));
    for (int h = 0; h < HEADS; h++) {
        char start[16];
        snprintf(start, sizeof start, "\n%4d  ", h);
        assert_non_null(strstr(result->out, start));
    }
}

static void json_has_every_number(void **state) {
    (void)state;
    json_t *all =
        json_loads(run(line_of("inspect --json %s", ""))->out, JSON_REJECT_DUPLICATES, NULL);
    json_t *heads = json_object_get(all, "heads");
    assert_int_equal(json_array_size(heads), HEADS);
    for (size_t h = 0; h < HEADS; h++) {
        json_t *head = json_array_get(heads, h);
        static const char *const keys[] = {"diagonal_mean", "diagonal_spread", "off_mean",
                                           "off_spread",    "standard_errors", "identity",
                                           "spectral",      "identity_share",  "effective_rank",
                                           "frobenius",     "columns_21",      "rows_21"};
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            assert_true(json_is_real(json_object_get(head, keys[k])));
        assert_int_equal(json_integer_value(json_object_get(head, "rank")), DIM);
        /* c sqrt(d) / 0.1, give or take four standard errors and 8% for the spread */
        double wanted = (double)h * sqrt(DIM);
        double got = json_real_value(json_object_get(head, "standard_errors"));
        assert_true(fabs(got - wanted) < 4 + 0.08 * wanted);
    }
    json_decref(all);
}

static void it_draws(void **state) {
    (void)state;
    char path[128];
    snprintf(path, sizeof path, "%s/layer.svg", folder);
    const run_result *result = run(line_of("inspect %s --plot %s/%s", "layer.svg"));
    CHECK_PRINTS(result, "5 heads");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    static char text[4 << 20];
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    unlink(path);
    for (int h = 0; h < HEADS; h++) { /* five heads: the second row of the grid is not full */
        char title[32];
        snprintf(title, sizeof title, "head %d: ", h);
        assert_non_null(strstr(text, title));
    }
    result = run(line_of("inspect %s --plot -", ""));
    CHECK_PRINTS(result, "offset j - i");
    assert_non_null(strstr(result->out, "mean along a diagonal"));
}

#define CHECKPOINT TEST_DATA "/fixtures/llama.safetensors"

static void a_checkpoint_is_one_table(void **state) {
    (void)state;
    char path[128], text[8192];
    const run_result *result = run("inspect " CHECKPOINT " --fold");
    CHECK_PRINTS(result, "names as in LLaMA, 2 layers, 4 heads, d = 4");
    assert_non_null(strstr(result->out, "rotary positions (half-split) are left out"));
    assert_non_null(strstr(result->out, "the gain of the norm before each layer is folded in"));
    assert_non_null(strstr(result->out, "of 4 heads ("));
    assert_non_null(strstr(result->out, "Positive by layer: 0: "));
    result = run("inspect " CHECKPOINT " --layers 0:1 --only 1 --json");
    json_t *all = json_loads(result->out, JSON_REJECT_DUPLICATES, NULL);
    json_t *heads = json_object_get(all, "heads");
    assert_int_equal(json_array_size(heads), 2);
    size_t positive = 0;
    for (size_t i = 0; i < 2; i++) {
        json_t *head = json_array_get(heads, i);
        assert_int_equal(json_integer_value(json_object_get(head, "layer")), i);
        assert_int_equal(json_integer_value(json_object_get(head, "head")), 1);
        assert_int_equal(json_array_size(json_object_get(head, "ov_singular")), 4);
        positive += json_real_value(json_object_get(head, "diagonal_mean")) > 0;
    }
    assert_int_equal(json_integer_value(json_object_get(all, "positive")), positive);
    json_decref(all);
    snprintf(path, sizeof path, "%s/heads.csv", folder);
    CHECK_PRINTS(run(line_of("inspect " CHECKPOINT " -o %2$s/%3$s", "heads.csv")), "4 heads");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    unlink(path);
    assert_int_equal(strncmp(text, "layer,head,dim,rank,diagonal_mean,", 34), 0);
    assert_non_null(strstr(text, "\n1,1,4,2,"));
}

/* Layers of an encoder and of a decoder, numbered in one: the table says which are which. */
static void stacks_are_named(void **state) {
    static const char *const ends[] = {"q", "k", "v", "o"};
    static double values[4 * 4];
    char names[4 * 4][64], path[128], line[256];
    wt_tensor tensors[4 * 4];
    wt_random_normal(wt_stream_for(3, "stacks", 0), 0, 4 * 4, values);
    for (size_t i = 0; i < 4 * 4; i++) {
        snprintf(names[i], sizeof names[i], "%s.block.%zu.layer.0.SelfAttention.%s.weight",
                 i < 8 ? "encoder" : "decoder", i / 4 % 2, ends[i % 4]);
        tensors[i] = (wt_tensor){names[i], WT_TYPE_F64, 2, {4, 4}, values};
    }
    snprintf(path, sizeof path, "%s/t5.safetensors", folder);
    CHECK_OK(*state, wt_safetensors_write(*state, path, tensors, 4 * 4, NULL, 0));
    snprintf(line, sizeof line, "inspect %s --heads 2", path);
    const run_result *result = run(line);
    CHECK_PRINTS(result, "layers 0 to 1: decoder.block.{}.layer.{}.\n");
    assert_non_null(strstr(result->out, "layers 2 to 3: encoder.block.{}.layer.{}.\n"));
    snprintf(line, sizeof line, "inspect %s --heads 2 --json", path);
    json_t *all = json_loads(run(line)->out, JSON_REJECT_DUPLICATES, NULL);
    const json_t *stems = json_object_get(all, "stems");
    assert_int_equal(json_array_size(stems), 4);
    assert_string_equal(json_string_value(json_array_get(stems, 3)), "encoder.block.1.layer.0.");
    json_decref(all);
    assert_null(strstr(run("inspect " TEST_DATA "/fixtures/llama.safetensors")->out, "{}"));
    unlink(path);
}

static void a_checkpoint_is_one_grid(void **state) {
    (void)state;
    const run_result *result = run("inspect " CHECKPOINT " --plot -");
    CHECK_PRINTS(result, "diagonal of the query-key product\n    0 |");
    assert_non_null(strstr(result->out, "its effective rank\n    0 |"));
    CHECK_SAYS(run("inspect " CHECKPOINT " --layers 2"), 64, "no layer 2");
    CHECK_SAYS(run("inspect " CHECKPOINT " --heads 3"), 65, "do not divide among 3 heads");
    CHECK_SAYS(run("inspect " CHECKPOINT " --map q=a{},k=a{}"), 64, "has no v=NAME");
}

static void bad_words_are_refused(void **state) {
    (void)state;
    CHECK_SAYS(run("inspect"), 64, "needs LAYER");
    CHECK_SAYS(run(line_of("inspect %s --plot %s/%s", "layer.bmp")), 64, "layer.bmp");
    CHECK_SAYS(run(line_of("inspect %s --plot %s/%s", "none/layer.svg")), 73, "none/layer.svg");
    CHECK_SAYS(run_with(line_of("inspect %s --plot %s/%s", "layer.svg"),
                        &(run_setting){.variable = "PATH=/tmp/no-such-folder"}),
               69, "gnuplot is not installed: apt-get install gnuplot-nox");
    const run_result *result = run(line_of("inspect %s --json --plot -", ""));
    assert_int_equal(result->code, 64);
    json_t *error = json_loads(result->out, 0, NULL);
    assert_non_null(strstr(json_string_value(json_object_get(error, "error")), "standard output"));
    json_decref(error);
}

static void wrong_files_are_refused(void **state) {
    (void)state;
    CHECK_SAYS(run("inspect /tmp/wattle-no-such-file"), 66, "/tmp/wattle-no-such-file");
    CHECK_SAYS(run("inspect /tmp"), 66, "neither model.safetensors nor its .index.json");
    CHECK_SAYS(run("inspect " TEST_DATA "/fixtures/names.npz"), 65, "no known scheme of names");
    CHECK_SAYS(run("inspect " TEST_DATA "/check.h"), 65, "check.h");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_prints_a_line_a_head),
        cmocka_unit_test(json_has_every_number),
        cmocka_unit_test(it_draws),
        cmocka_unit_test(a_checkpoint_is_one_table),
        cmocka_unit_test(stacks_are_named),
        cmocka_unit_test(a_checkpoint_is_one_grid),
        cmocka_unit_test(bad_words_are_refused),
        cmocka_unit_test(wrong_files_are_refused),
    };
    return cmocka_run_group_tests(tests, make_layer, remove_layer);
}
