/* Checkpoints: one layer written in the names of every scheme is read back as the same layer. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "layer/checkpoints.h"
#include "layer/layers.h"

/* Layers 0 to 11, in an order that is not theirs. */
static void write_scheme(wt_context *context, const wt_scheme *scheme, const char *path,
                         const wt_metadata *notes, size_t count) {
    book to = {.arena = wt_arena_start(context, "tensors")};
    for (size_t i = 0; i < LAYERS; i++) {
        size_t layer = (5 * i + 3) % LAYERS;
        char stem[64];
        snprintf(stem, sizeof stem, "model.block.%zu.layer0.", layer);
        plain numbers = plain_of(layer);
        write_layer(&to, scheme, stem, &numbers);
    }
    CHECK_OK(context, wt_safetensors_write(context, path, to.tensors, to.count, notes, count));
    wt_arena_free(&to.arena);
}

static wt_status open_as(wt_context *context, const char *path, size_t heads, const char *map,
                         wt_checkpoint **out) {
    wt_checkpoint_options options;
    WT_INIT(wt_checkpoint_options, &options);
    options.heads = heads;
    options.map = map;
    return wt_checkpoint_open(context, path, &options, out);
}

/* Sums of a few dozen numbers of order 1 to 100, through exponentials: 1e-9 of outputs of 10. */
static void every_scheme_is_read(void **state) {
    wt_context *context = *state;
    const char *path = in_folder("model.safetensors");
    const wt_metadata notes[] = {{"num_attention_heads", "2"}, {"layer_norm_eps", "0.001"}};
    for (size_t s = 0; s < wt_scheme_count; s++) {
        const wt_scheme *scheme = &wt_schemes[s];
        wt_checkpoint *checkpoint = NULL;
        double x[4 * DIM], z[4 * DIM], y[4 * DIM], wanted[4 * DIM];
        write_scheme(context, scheme, path, notes, 2);
        CHECK_OK(context, open_as(context, path, 0, NULL, &checkpoint));
        assert_string_equal(wt_checkpoint_scheme(checkpoint), scheme->name);
        assert_int_equal(wt_checkpoint_layers(checkpoint), LAYERS);
        wt_random_normal(wt_stream_for(3, "x", 0), 0, 4 * DIM, x);
        for (size_t i = 0; i < 4 * DIM; i++)
            x[i] *= 0.5;
        for (size_t number = 0; number < LAYERS; number += 5)
            for (int folded = 0; folded < 2; folded++) {
                wt_layer *layer = NULL;
                plain numbers = plain_of(number);
                CHECK_OK(context,
                         wt_checkpoint_layer(context, checkpoint, number, folded == 1, &layer));
                wt_layer_normalise(&layer->form, 4, DIM, x, z);
                bool normed = layer->form.norm != WT_LAYER_NORM_NONE;
                assert_int_equal(normed, folded == 1 && scheme->norm != NULL);
                for (size_t i = 0; normed && i < 4 * DIM; i++)
                    z[i] = z[i] * numbers.gain[i % DIM] +
                           (scheme->norm_kind == WT_SCHEME_NORM_LAYER ? numbers.shift[i % DIM] : 0);
                attend(&numbers, scheme, 4, z, wanted);
                CHECK_OK(context, wt_layer_forward(context, layer, 1, 4, x, y));
                for (size_t i = 0; i < 4 * DIM; i++)
                    CHECK_NEAR(y[i], wanted[i], 1e-9);
                wt_layer_free(layer);
            }
        wt_checkpoint_free(checkpoint);
    }
}

/* Two query heads a key head: as if keys and values were written out. */
static void grouped_queries_are_written_out(void **state) {
    wt_context *context = *state;
    const char *path = in_folder("grouped.safetensors");
    size_t row = 0;
    while (strcmp(wt_schemes[row].name, "LLaMA") != 0)
        row++;
    const wt_scheme *llama = &wt_schemes[row];
    plain numbers = plain_of(1);
    book to = {.arena = wt_arena_start(context, "tensors")};
    wt_checkpoint *checkpoint = NULL;
    wt_layer *layer = NULL;
    double narrow_k[DIM * WIDTH], narrow_v[DIM * WIDTH], x[4 * DIM], y[4 * DIM], wanted[4 * DIM];
    for (size_t i = 0; i < DIM; i++)
        for (size_t j = 0; j < WIDTH; j++) {
            narrow_k[i * WIDTH + j] = numbers.k[i * INNER + j];
            narrow_v[i * WIDTH + j] = numbers.v[i * INNER + j];
            numbers.k[i * INNER + WIDTH + j] = numbers.k[i * INNER + j];
            numbers.v[i * INNER + WIDTH + j] = numbers.v[i * INNER + j];
        }
    memset(numbers.bq, 0, sizeof numbers.bq);
    memset(numbers.bv, 0, sizeof numbers.bv);
    memset(numbers.bo, 0, sizeof numbers.bo);
    put_weight(&to, llama, "0.", llama->query, ".weight", DIM, INNER, numbers.q);
    put_weight(&to, llama, "0.", llama->key, ".weight", DIM, WIDTH, narrow_k);
    put_weight(&to, llama, "0.", llama->value, ".weight", DIM, WIDTH, narrow_v);
    put_weight(&to, llama, "0.", llama->output, ".weight", INNER, DIM, numbers.o);
    CHECK_OK(context, wt_safetensors_write(context, path, to.tensors, to.count, NULL, 0));
    CHECK_OK(context, open_as(context, path, HEADS, NULL, &checkpoint));
    CHECK_OK(context, wt_checkpoint_layer(context, checkpoint, 0, false, &layer));
    assert_false(layer->form.bias);
    assert_string_equal(wt_checkpoint_rope(checkpoint), "half-split");
    wt_random_normal(wt_stream_for(3, "x", 0), 0, 4 * DIM, x);
    attend(&numbers, llama, 4, x, wanted);
    CHECK_OK(context, wt_layer_forward(context, layer, 1, 4, x, y));
    for (size_t i = 0; i < 4 * DIM; i++)
        CHECK_NEAR(y[i], wanted[i], 1e-8);
    wt_layer_free(layer);
    wt_checkpoint_free(checkpoint);
    wt_arena_free(&to.arena);
}

static void write_bert(wt_context *context, const char *name) {
    write_scheme(context, &wt_schemes[0], in_folder(name), NULL, 0);
}

/* A folder with an index over two files, and a config. */
static void shards_and_configs_are_found(void **state) {
    wt_context *context = *state;
    wt_checkpoint *checkpoint = NULL;
    wt_layer *layer = NULL;
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("split"));
    assert_int_equal(mkdir(path, 0700), 0);
    book to = {.arena = wt_arena_start(context, "tensors")};
    plain numbers = plain_of(0);
    write_layer(&to, &wt_schemes[0], "encoder.layer.0.", &numbers);
    CHECK_OK(context, wt_safetensors_write(context, in_folder("split/a.safetensors"), to.tensors, 4,
                                           NULL, 0));
    CHECK_OK(context, wt_safetensors_write(context, in_folder("split/b.safetensors"),
                                           to.tensors + 4, to.count - 4, NULL, 0));
    char index[4096] = "{\"weight_map\":{";
    for (size_t i = 0; i < to.count; i++)
        snprintf(index + strlen(index), sizeof index - strlen(index), "%s\"%s\":\"%s\"",
                 i > 0 ? "," : "", to.tensors[i].name, i < 4 ? "a.safetensors" : "b.safetensors");
    strcat(index, "}}");
    write_text("split/model.safetensors.index.json", index);
    write_text("split/config.json", "{\"num_attention_heads\": 2, \"layer_norm_eps\": 1e-12}");
    CHECK_OK(context, open_as(context, path, 0, NULL, &checkpoint));
    assert_int_equal(wt_checkpoint_heads(checkpoint), 2);
    CHECK_OK(context, wt_checkpoint_layer(context, checkpoint, 0, false, &layer));
    assert_int_equal(layer->heads, 2);
    wt_layer_free(layer);
    wt_checkpoint_free(checkpoint);
    wt_arena_free(&to.arena);
}

static void names_can_be_mapped(void **state) {
    wt_context *context = *state;
    static const wt_scheme own = {
        .name = "own", .query = "wq", .key = "wk", .value = "wv", .output = "wo"};
    wt_checkpoint *checkpoint = NULL;
    wt_layer *layer = NULL;
    const char *path = in_folder("own.safetensors");
    const char *map = "q=model.block.{}.layer0.wq,k=model.block.{}.layer0.wk,"
                      "v=model.block.{}.layer0.wv.weight,o=model.block.{}.layer0.wo";
    write_scheme(context, &own, path, NULL, 0);
    CHECK_OK(context, open_as(context, path, HEADS, map, &checkpoint));
    assert_int_equal(wt_checkpoint_layers(checkpoint), LAYERS);
    CHECK_OK(context, wt_checkpoint_layer(context, checkpoint, 11, false, &layer));
    wt_layer_free(layer);
    wt_checkpoint_free(checkpoint);
    CHECK_FAILS(context, open_as(context, path, HEADS, NULL, &checkpoint), WT_DATA,
                "no known scheme of names matches its 96 tensors: "
                "model.block.{}.layer0.wk.bias, model.block.{}.layer0.wk.weight, "
                "model.block.{}.layer0.wo.bias, ");
    CHECK_FAILS(context,
                open_as(context, path, HEADS, "q=a.{}.q,k=a.{}.k,v=a.{}.v,o=a.{}.o", &checkpoint),
                WT_DATA, "--map names none of its 96 tensors: model.block.{}.");
    CHECK_FAILS(context, open_as(context, path, HEADS, "q=a,k=b", &checkpoint), WT_USAGE,
                "has no v=NAME");
    assert_int_equal(open_as(context, path, HEADS, "x=a", &checkpoint), WT_USAGE);
}

/* Parameters of no module have names that nothing ends. */
static void names_may_lack_a_weight(void **state) {
    wt_context *context = *state;
    const char *path = in_folder("parameters.safetensors");
    const plain numbers = plain_of(2);
    double turned[DIM * INNER], x[4 * DIM], y[4 * DIM], wanted[4 * DIM];
    book to = {.arena = wt_arena_start(context, "tensors")};
    wt_checkpoint *checkpoint = NULL;
    wt_layer *layer = NULL;
    const double *weights[] = {numbers.q, numbers.k, numbers.v};
    static const char *const names[] = {"b.0.wq", "b.0.wk", "b.0.wv"};
    for (size_t t = 0; t < 3; t++) {
        for (size_t i = 0; i < DIM * INNER; i++)
            turned[i % INNER * DIM + i / INNER] = weights[t][i];
        put(&to, names[t], INNER, DIM, turned);
    }
    for (size_t i = 0; i < DIM * INNER; i++)
        turned[i % DIM * INNER + i / DIM] = numbers.o[i];
    put(&to, "b.0.wo", DIM, INNER, turned);
    CHECK_OK(context, wt_safetensors_write(context, path, to.tensors, to.count, NULL, 0));
    CHECK_OK(context,
             open_as(context, path, HEADS, "q=b.{}.wq,k=b.{}.wk,v=b.{}.wv,o=b.{}.wo", &checkpoint));
    CHECK_OK(context, wt_checkpoint_layer(context, checkpoint, 0, false, &layer));
    plain bare = numbers;
    memset(bare.bq, 0, sizeof bare.bq);
    memset(bare.bv, 0, sizeof bare.bv);
    memset(bare.bo, 0, sizeof bare.bo);
    wt_random_normal(wt_stream_for(3, "x", 0), 0, 4 * DIM, x);
    attend(&bare, &wt_schemes[0], 4, x, wanted);
    CHECK_OK(context, wt_layer_forward(context, layer, 1, 4, x, y));
    for (size_t i = 0; i < 4 * DIM; i++)
        CHECK_NEAR(y[i], wanted[i], 1e-8); /* outputs of 10, as above */
    wt_layer_free(layer);
    wt_checkpoint_free(checkpoint);
    wt_arena_free(&to.arena);
}

static void what_is_wrong_is_said(void **state) {
    wt_context *context = *state;
    wt_checkpoint *checkpoint = NULL;
    wt_layer *layer = NULL;
    write_bert(context, "bert.safetensors");
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("bert.safetensors"));
    CHECK_OK(context, open_as(context, path, 0, NULL, &checkpoint));
    CHECK_FAILS(context, wt_checkpoint_layer(context, checkpoint, 0, false, &layer), WT_DATA,
                "--heads M");
    wt_checkpoint_free(checkpoint);
    CHECK_OK(context, open_as(context, path, 4, NULL, &checkpoint));
    CHECK_FAILS(context, wt_checkpoint_layer(context, checkpoint, 0, false, &layer), WT_DATA,
                "do not divide among 4 heads");
    wt_checkpoint_free(checkpoint);
    CHECK_OK(context, open_as(context, path, 2, NULL, &checkpoint));
    CHECK_FAILS(context, wt_checkpoint_layer(context, checkpoint, LAYERS, false, &layer), WT_USAGE,
                "no layer 12");
    wt_checkpoint_free(checkpoint);
    assert_int_equal(truncate(path, 5000), 0);
    assert_int_equal(open_as(context, path, 2, NULL, &checkpoint), WT_DATA);
    static const struct {
        const char *index, *words;
        wt_status status;
    } bad[] = {
        {"{}", "no weight_map", WT_DATA},
        {"{\"weight_map\":{\"a\":\"../b.safetensors\"}}", "no file beside it", WT_DATA},
        {"{\"weight_map\":{\"a\":\"/etc/passwd\"}}", "no file beside it", WT_DATA},
        {"{\"weight_map\":{\"a\":\"gone.safetensors\"}}", "which is not there", WT_NO_INPUT},
        {"{\"weight_map\":{\"a\":7}}", "is no text", WT_DATA},
        {"{\"weight_map\":", "line 1", WT_DATA},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text("bad.safetensors.index.json", bad[i].index);
        CHECK_FAILS(context,
                    open_as(context, in_folder("bad.safetensors.index.json"), 2, NULL, &checkpoint),
                    bad[i].status, bad[i].words);
    }
    assert_null(checkpoint);
}

/* A layer exported in the names of a scheme computes what it did; sums of numbers of order 1. */
static void layers_are_exported(void **state) {
    wt_context *context = *state;
    static const char *const kinds[] = {"torch", "bert"};
    const wt_teacher_options made_as = {.size = sizeof made_as,
                                        .heads = 3,
                                        .dim = 6,
                                        .scale = 2,
                                        .rank = 1,
                                        .bias = true,
                                        .epsilon = 1e-5,
                                        .seed = 2};
    wt_layer_export_options options;
    wt_checkpoint_options how;
    wt_layer *layer = NULL, *again = NULL;
    double x[4 * 6], y[4 * 6], wanted[4 * 6];
    size_t rank = 0;
    WT_INIT(wt_layer_export_options, &options);
    WT_INIT(wt_checkpoint_options, &how);
    CHECK_OK(context, wt_layer_teacher(context, &made_as, &layer));
    /* W of rank 2, as values of width 2 make it */
    for (size_t h = 0; h < 3; h++)
        for (size_t i = 2; i < 6; i++)
            for (size_t o = 0; o < 6; o++)
                layer->w[(h * 6 + i) * 6 + o] = (double)i * layer->w[(h * 6 + i % 2) * 6 + o];
    wt_random_normal(wt_stream_for(3, "x", 0), 0, 4 * 6, x);
    CHECK_OK(context, wt_layer_forward(context, layer, 1, 4, x, wanted));
    for (size_t i = 0; i < 2; i++) {
        options.as = kinds[i];
        CHECK_OK(context,
                 wt_layer_export(context, layer, &options, in_folder("out.safetensors"), &rank));
        assert_int_equal(rank, 2);
        CHECK_OK(context,
                 wt_layer_open(context, in_folder("out.safetensors"), &how, 0, false, &again));
        CHECK_OK(context, wt_layer_forward(context, again, 1, 4, x, y));
        for (size_t j = 0; j < 4 * 6; j++)
            CHECK_NEAR(y[j], wanted[j], 1e-10);
        wt_layer_free(again);
    }
    options.rank = 1;
    CHECK_FAILS(context, wt_layer_export(context, layer, &options, in_folder("no"), NULL), WT_DATA,
                "rank 2, above the 1 asked for");
    options.rank = 0;
    /* what a recovery from float32 answers leaves beyond the rank is dropped: outputs are apart by
     * no more than a few times that */
    size_t numbers = 3 * wt_layer_asked(layer) * 6;
    double noise[3 * 7 * 6], exact[3 * 7 * 6];
    assert_true(numbers <= sizeof noise / sizeof *noise);
    memcpy(exact, layer->theta, numbers * sizeof *exact);
    wt_random_normal(wt_stream_for(4, "noise", 0), 0, numbers, noise);
    for (size_t i = 0; i < numbers; i++)
        layer->theta[i] += 1e-7 * noise[i];
    CHECK_OK(context,
             wt_layer_export(context, layer, &options, in_folder("out.safetensors"), &rank));
    assert_int_equal(rank, 2);
    CHECK_OK(context, wt_layer_open(context, in_folder("out.safetensors"), &how, 0, false, &again));
    CHECK_OK(context, wt_layer_forward(context, again, 1, 4, x, y));
    for (size_t j = 0; j < 4 * 6; j++)
        CHECK_NEAR(y[j], wanted[j], 1e-4);
    wt_layer_free(again);
    again = NULL;
    for (size_t i = 0; i < numbers; i++)
        layer->theta[i] += 1e-3 * noise[i];
    CHECK_FAILS(context, wt_layer_export(context, layer, &options, in_folder("no"), NULL), WT_DATA,
                "above the 2");
    for (size_t i = 0; i < numbers; i++)
        layer->theta[i] = exact[i];
    layer->theta[7] += 1;
    CHECK_FAILS(context, wt_layer_export(context, layer, &options, in_folder("no"), NULL), WT_DATA,
                "rank 3, above the 2");
    options.as = "onnx";
    CHECK_FAILS(context, wt_layer_export(context, layer, &options, in_folder("no"), NULL), WT_USAGE,
                "torch or bert");
    wt_layer_free(layer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scheme_is_read),
        cmocka_unit_test(grouped_queries_are_written_out),
        cmocka_unit_test(shards_and_configs_are_found),
        cmocka_unit_test(names_can_be_mapped),
        cmocka_unit_test(names_may_lack_a_weight),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(layers_are_exported),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
