/* Checkpoints that are cut off, lie or are hostile: one sentence each. And one of 100 GB. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder.h"
#include "wattle/checkpoint.h"

enum { DIM = 4, HEADER = 8192 };

/* The tensors of a layer of BERT with one head, and what may be written in place of one's entry. */
static const struct {
    const char *name;
    size_t rank;
} bert[] = {
    {"self.query.weight", 2},   {"self.query.bias", 1},   {"self.key.weight", 2},
    {"self.key.bias", 1},       {"self.value.weight", 2}, {"self.value.bias", 1},
    {"output.dense.weight", 2}, {"output.dense.bias", 1},
};
enum { TENSORS = sizeof bert / sizeof *bert };

/* A header, with its length before it, and so many zeros. */
static void write_raw(const char *file, const char *header, size_t values) {
    size_t length = strlen(header);
    uint8_t *bytes = calloc(8 + length + values, 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(length >> 8 * i);
    for (size_t i = 0; i < length; i++)
        bytes[8 + i] = (uint8_t)header[i];
    write_bytes(file, bytes, 8 + length + values);
    free(bytes);
}

/* All tensors but `without`, zeros of float32; `entry` in place of that of the queries. */
static void write_bert(const char *file, const char *metadata, const char *without,
                       const char *entry) {
    char header[HEADER];
    size_t at = 0, used = (size_t)snprintf(header, sizeof header, "{\"__metadata__\":%s", metadata);
    for (size_t i = 0; i < TENSORS; i++) {
        size_t bytes = 4 * (bert[i].rank == 2 ? DIM * DIM : DIM);
        if (without != NULL && strcmp(bert[i].name, without) == 0)
            continue;
        used += (size_t)snprintf(header + used, sizeof header - used,
                                 ",\"encoder.layer.0.attention.%s\":", bert[i].name);
        if (i == 0 && entry != NULL)
            used += (size_t)snprintf(header + used, sizeof header - used, "%s", entry);
        else
            used +=
                (size_t)snprintf(header + used, sizeof header - used,
                                 "{\"dtype\":\"F32\",\"shape\":[%s4],\"data_offsets\":[%zu,%zu]}",
                                 bert[i].rank == 2 ? "4," : "", at, at + bytes);
        at += bytes;
    }
    assert_true(used + 2 < sizeof header);
    strcat(header, "}");
    write_raw(file, header, at);
}

/* Layer 0 of a file, with the heads given or, for 0, as it tells. */
static wt_status read_layer(wt_context *context, const char *path, size_t heads) {
    wt_checkpoint_options options;
    wt_layer *layer = NULL;
    WT_INIT(wt_checkpoint_options, &options);
    options.heads = heads;
    wt_status status = wt_layer_open(context, path, &options, 0, false, &layer);
    assert_true((status == WT_OK) == (layer != NULL));
    wt_layer_free(layer);
    return status;
}

#define ONE_HEAD "{\"num_attention_heads\":\"1\"}"

static void cut_at_every_length(void **state) {
    wt_context *context = *state;
    struct stat about;
    write_bert("whole.safetensors", ONE_HEAD, NULL, NULL);
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("whole.safetensors"));
    CHECK_OK(context, read_layer(context, path, 0));
    assert_int_equal(stat(path, &about), 0);
    for (off_t length = about.st_size - 1; length >= 0; length--) {
        assert_int_equal(truncate(path, length), 0);
        assert_int_equal(read_layer(context, path, 0), WT_DATA);
        assert_non_null(strstr(wt_context_message(context), "whole.safetensors"));
    }
}

/* A bias of four that is missing is no bias of zeros; where none is there none is missed. Whisper's
 * keys and Qwen's outputs have none by their design. */
static void a_missing_bias_is_said(void **state) {
    wt_context *context = *state;
    for (size_t i = 1; i < TENSORS; i += 2) {
        write_bert("b.safetensors", ONE_HEAD, bert[i].name, NULL);
        CHECK_FAILS(context, read_layer(context, in_folder("b.safetensors"), 0), WT_DATA,
                    "has no bias, but others");
    }
    static const struct {
        const char *output, *biased;
        wt_status status;
    } cases[] = {
        {"out_proj", "q_proj v_proj out_proj", WT_OK},
        {"out_proj", "q_proj k_proj v_proj", WT_DATA},
        {"o_proj", "q_proj k_proj v_proj", WT_OK},
        {"o_proj", "q_proj v_proj", WT_DATA},
        {"o_proj", "o_proj", WT_OK},
        {"o_proj", "", WT_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *names[] = {"q_proj", "k_proj", "v_proj", cases[i].output};
        char header[HEADER] = "{\"__metadata__\":" ONE_HEAD;
        size_t at = 0;
        for (size_t j = 0; j < 8; j++) {
            size_t bytes = j % 2 == 0 ? 4 * DIM * DIM : 4 * DIM, used = strlen(header);
            if (j % 2 == 1 && strstr(cases[i].biased, names[j / 2]) == NULL)
                continue;
            snprintf(header + used, sizeof header - used,
                     ",\"l.0.self_attn.%s.%s\":{\"dtype\":\"F32\",\"shape\":[%s4],"
                     "\"data_offsets\":[%zu,%zu]}",
                     names[j / 2], j % 2 == 0 ? "weight" : "bias", j % 2 == 0 ? "4," : "", at,
                     at + bytes);
            at += bytes;
        }
        strcat(header, "}");
        write_raw("b.safetensors", header, at);
        wt_checkpoint_options options;
        wt_layer *layer = NULL;
        WT_INIT(wt_checkpoint_options, &options);
        options.ignore_rope = true;
        assert_int_equal(
            wt_layer_open(context, in_folder("b.safetensors"), &options, 0, false, &layer),
            cases[i].status);
        wt_layer_free(layer);
    }
}

static void configs_that_lie_are_refused(void **state) {
    wt_context *context = *state;
    static const struct {
        const char *config, *words;
    } cases[] = {
        {"{\"num_attention_heads\":0}", "num_attention_heads is 0"},
        {"{\"num_attention_heads\":-2}", "is -2"},
        {"{\"num_attention_heads\":1.5}", "is 1.5"},
        {"{\"num_attention_heads\":1e300}", "is 1e+300"},
        {"{\"num_attention_heads\":3}", "do not divide among 3 heads"},
        {"{\"num_attention_heads\":\"2\"}", "no number for num_attention_heads"},
        {"{\"n_head\":[2]}", "no number for n_head"},
        {"{\"n_head\":{\"of\":2}}", "no number for n_head"},
        {"{\"n_head\":true}", "no number for n_head"},
        {"{\"n_head\":null}", "--heads M"},
        {"{\"text_config\":{\"n_head\":2}}", "--heads M"},
        {"{\"n_head\":2,\"num_key_value_heads\":1}", "1 key-value heads, but"},
        {"{\"n_head\":2,\"head_dim\":3}", "heads have width 3"},
        {"{\"n_head\":2,\"layer_norm_eps\":-1}", "-1 is added"},
        {"{\"n_head\":2,\"layer_norm_eps\":\"small\"}", "no number for layer_norm_eps"},
        {"{\"n_head\":2,\"n_head\":1}", "duplicate"},
        {"{\"n_head\":\xff}", "config.json: line 1"},
        {"{\"n_head\":2", "config.json: line 1"},
        {"", "config.json: line 1"},
    };
    write_bert("model.safetensors", "{}", NULL, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text("config.json", cases[i].config);
        CHECK_FAILS(context, read_layer(context, in_folder("model.safetensors"), 0), WT_DATA,
                    cases[i].words);
    }
    write_text("config.json", "{\"n_head\":2,\"num_key_value_heads\":null,\"head_dim\":2}");
    CHECK_OK(context, read_layer(context, in_folder("model.safetensors"), 0));
    write_text("config.json", "{\"n_head\":2,\"num_key_value_heads\":1,\"head_dim\":3}");
    CHECK_OK(context, read_layer(context, in_folder("model.safetensors"), 1));
    write_text("config.json", "{\"n_head\":\"many\"}");
    CHECK_OK(context, read_layer(context, in_folder("model.safetensors"), 2));
    assert_int_equal(unlink(in_folder("config.json")), 0);
    write_bert("model.safetensors", "{\"num_attention_heads\":\"many\"}", NULL, NULL);
    CHECK_FAILS(context, read_layer(context, in_folder("model.safetensors"), 0), WT_DATA,
                "no number for num_attention_heads");
}

static void hostile_entries_are_refused(void **state) {
    wt_context *context = *state;
#define ENTRY(type, shape, offsets)                                                                \
    "{\"dtype\":\"" type "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"
    static const struct {
        const char *entry, *words;
    } cases[] = {
        {ENTRY("F32", "[1099511627776,1099511627776]", "[0,64]"), "overflows"},
        {ENTRY("F32", "[1000000000000000000]", "[0,64]"), "shape and type ask for"},
        {ENTRY("F32", "[18446744073709551616,1]", "[0,64]"), "too big integer"},
        {ENTRY("F32", "[-4,-4]", "[0,64]"), "no whole number"},
        {ENTRY("F32", "\"4,4\"", "[0,64]"), "no list"},
        {ENTRY("F32", "[1,1,1,1,1,1,1,4,4]", "[0,64]"), "at most 8"},
        {ENTRY("F32", "[2,2,4]", "[0,64]"), "3 dimensions"},
        {ENTRY("F32", "[2,8]", "[0,64]"), "are for 8, 4 and 4 dimensions"},
        {ENTRY("I32", "[4,4]", "[0,64]"), "whole numbers (I32)"},
        {ENTRY("F8_E4M3", "[8,8]", "[0,64]"), "type 'F8_E4M3'"},
        {ENTRY("F32", "[4,4]", "[64,0]"), "do not lie within"},
        {ENTRY("F32", "[4,4]", "[1000000,1000064]"), "do not lie within"},
        {ENTRY("F32", "[4,4]", "[16,80]"), "hole"},
        {ENTRY("F32", "[4,4]", "[0.0,64.0]"), "not two whole numbers"},
        {ENTRY("F32", "[0,4]", "[0,0]"), "hole"},
        {"{\"shape\":[4,4]}", "not made of dtype"},
        {"7", "not made of dtype"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_bert("h.safetensors", ONE_HEAD, NULL, cases[i].entry);
        CHECK_FAILS(context, read_layer(context, in_folder("h.safetensors"), 0), WT_DATA,
                    cases[i].words);
    }
    static const char *const headers[] = {"{}", "[]",      "{\"__metadata__\":{}}",
                                          "",   "{\"a\":", "{\"\xff\":{}}"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        write_raw("h.safetensors", headers[i], 0);
        assert_int_equal(read_layer(context, in_folder("h.safetensors"), 0), WT_DATA);
    }
}

/* An index that is its own shard, and one whose shard is an index. */
static void an_index_is_no_shard(void **state) {
    wt_context *context = *state;
#define MAP(file)                                                                                  \
    "{\"weight_map\":{\"l.attention.self.query.weight\":\"" file "\","                             \
    "\"l.attention.output.dense.weight\":\"" file "\"}}"
    write_text("a.safetensors.index.json", MAP("a.safetensors.index.json"));
    CHECK_FAILS(context, read_layer(context, in_folder("a.safetensors.index.json"), 1), WT_DATA,
                "is not npy, npz or safetensors");
    write_text("b.safetensors.index.json", MAP("a.safetensors.index.json"));
    CHECK_FAILS(context, read_layer(context, in_folder("b.safetensors.index.json"), 1), WT_DATA,
                "is not npy, npz or safetensors");
    assert_int_equal(mkdir(in_folder("c"), 0700), 0);
    write_text("c.safetensors.index.json", MAP("c"));
    CHECK_FAILS(context, read_layer(context, in_folder("c.safetensors.index.json"), 1), WT_NO_INPUT,
                "which is not there");
}

/* A table of words of 100 GB, no part of which is on the disk, before a layer of 320 numbers:
 * within a budget of 1 MiB. */
static void of_a_large_file_one_layer_is_read(void **state) {
    wt_context *context = *state;
    const size_t words = 6250000000, table = words * DIM * 4;
    char header[HEADER], path[128];
    size_t at = table, used;
    used = (size_t)snprintf(header, sizeof header,
                            "{\"__metadata__\":" ONE_HEAD ",\"words\":{\"dtype\":\"F32\",\"shape\":"
                            "[%zu,4],\"data_offsets\":[0,%zu]}",
                            words, table);
    for (size_t i = 0; i < TENSORS; i++) {
        size_t bytes = 4 * (bert[i].rank == 2 ? DIM * DIM : DIM);
        used += (size_t)snprintf(header + used, sizeof header - used,
                                 ",\"encoder.layer.0.attention.%s\":{\"dtype\":\"F32\",\"shape\":"
                                 "[%s4],\"data_offsets\":[%zu,%zu]}",
                                 bert[i].name, bert[i].rank == 2 ? "4," : "", at, at + bytes);
        at += bytes;
    }
    strcat(header, "}");
    write_raw("large.safetensors", header, 0);
    snprintf(path, sizeof path, "%s", in_folder("large.safetensors"));
    if (truncate(path, (off_t)(8 + strlen(header) + at)) != 0)
        skip(); /* a file system without such files */
    wt_context_set_memory(context, 1 << 20);
    wt_status status = read_layer(context, path, 0);
    wt_context_set_memory(context, 0);
    CHECK_OK(context, status);
    assert_true(wt_context_memory_peak(context) < 1 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_at_every_length),
        cmocka_unit_test(a_missing_bias_is_said),
        cmocka_unit_test(configs_that_lie_are_refused),
        cmocka_unit_test(hostile_entries_are_refused),
        cmocka_unit_test(an_index_is_no_shard),
        cmocka_unit_test(of_a_large_file_one_layer_is_read),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
