/* What a config says of a layer beside its names: scale, mask, norm, heads of a part, and what no
 * layer of ours has. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "folder.h"
#include "layer/checkpoints.h"
#include "layer/layers.h"

static const wt_scheme *scheme_named(const char *name) {
    for (size_t i = 0; i < wt_scheme_count; i++)
        if (strcmp(wt_schemes[i].name, name) == 0)
            return &wt_schemes[i];
    fail_msg("there is no scheme %s", name);
    return NULL;
}

/* One layer at each of two stems, the second with number 1, and perhaps another tensor. */
static void write_two(wt_context *context, const wt_scheme *scheme, const char *const *stems,
                      const char *more, const char *config) {
    book to = {.arena = wt_arena_start(context, "tensors")};
    for (size_t i = 0; i < 2 && stems[i] != NULL; i++) {
        plain numbers = plain_of(i);
        write_layer(&to, scheme, stems[i], &numbers);
    }
    if (more != NULL)
        put(&to, more, 1, DIM, plain_of(3).gain);
    CHECK_OK(context, wt_safetensors_write(context, in_folder("model.safetensors"), to.tensors,
                                           to.count, NULL, 0));
    write_text("config.json", config);
    wt_arena_free(&to.arena);
}

static wt_status open_it(wt_context *context, wt_checkpoint **out) {
    wt_checkpoint_options options;
    WT_INIT(wt_checkpoint_options, &options);
    return wt_checkpoint_open(context, in_folder("model.safetensors"), &options, out);
}

typedef enum { NO_NORM, LAYER, RMS } norm_kind;

/* What layer `index`, of numbers `number`, must compute. */
typedef struct {
    const char *scheme, *stems[2], *config;
    size_t index, number, heads;
    double scale; /* 0 = 1 / sqrt(width) */
    bool causal;
    norm_kind norm; /* that is folded */
    double gain;    /* added to the stored one */
    double epsilon;
} expectation;

#define TWO(first, second)                                                                         \
    { first, second }

static const expectation cases[] = {
    {"GPT-2", TWO("h.0.", "h.1."), "{\"n_head\":2,\"scale_attn_by_inverse_layer_idx\":true}", 1, 1,
     2, 0.5 / 1.7320508075688772, true, LAYER, 0, 1e-5},
    {"GPT-2", TWO("h.0.", "h.1."), "{\"n_head\":2,\"scale_attn_weights\":false}", 1, 1, 2, 1, true,
     LAYER, 0, 1e-5},
    {"LLaMA", TWO("m.0.", "m.1."),
     "{\"num_attention_heads\":2,\"query_pre_attn_scalar\":16,\"model_type\":\"gemma2\","
     "\"rms_norm_eps\":0.01}",
     0, 0, 2, 0.25, true, RMS, 1, 0.01},
    {"LLaMA", TWO("m.0.", "m.1."), "{\"num_attention_heads\":2,\"attention_multiplier\":0.125}", 0,
     0, 2, 0.125, true, RMS, 0, 1e-5},
    {"LLaMA", TWO("m.0.", "m.1."),
     "{\"num_attention_heads\":2,\"model_type\":\"cohere\",\"layer_norm_eps\":0.1}", 0, 0, 2, 0,
     true, LAYER, 0, 0.1},
    {"T5", TWO("decoder.block.0.layer.0.", "encoder.block.0.layer.0."), "{\"num_heads\":2}", 0, 0,
     2, 1, true, RMS, 0, 1e-5},
    {"T5", TWO("decoder.block.0.layer.0.", "encoder.block.0.layer.0."), "{\"num_heads\":2}", 1, 1,
     2, 1, false, RMS, 0, 1e-5},
    {"Whisper", TWO("model.decoder.layers.0.", "model.encoder.layers.0."),
     "{\"model_type\":\"whisper\",\"encoder_attention_heads\":2,\"decoder_attention_heads\":3}", 0,
     0, 3, 0, true, LAYER, 0, 1e-5},
    {"Whisper", TWO("model.decoder.layers.0.", "model.encoder.layers.0."),
     "{\"model_type\":\"whisper\",\"encoder_attention_heads\":2,\"decoder_attention_heads\":3}", 1,
     1, 2, 0, false, LAYER, 0, 1e-5},
    {"Whisper", TWO("decoder.layers.0.", NULL),
     "{\"model_type\":\"bart\",\"decoder_attention_heads\":2}", 0, 0, 2, 0, true, NO_NORM, 0, 0},
    {"Whisper", TWO("model.decoder.layers.0.", NULL),
     "{\"model_type\":\"opt\",\"num_attention_heads\":2,\"do_layer_norm_before\":false}", 0, 0, 2,
     0, true, NO_NORM, 0, 0},
    {"Whisper", TWO("text_model.encoder.layers.0.", "vision_model.encoder.layers.0."),
     "{\"model_type\":\"clip\",\"text_config\":{\"num_attention_heads\":3},"
     "\"vision_config\":{\"num_attention_heads\":2}}",
     0, 0, 3, 0, true, LAYER, 0, 1e-5},
    {"Whisper", TWO("text_model.encoder.layers.0.", "vision_model.encoder.layers.0."),
     "{\"model_type\":\"clip\",\"text_config\":{\"num_attention_heads\":3},"
     "\"vision_config\":{\"num_attention_heads\":2}}",
     1, 1, 2, 0, false, LAYER, 0, 1e-5},
    {"Whisper", TWO("model.decoder.layers.0.", NULL),
     "{\"model_type\":\"detr\",\"decoder_attention_heads\":2}", 0, 0, 2, 0, false, NO_NORM, 0, 0},
    {"BERT", TWO("encoder.layer.0.", NULL), "{\"num_attention_heads\":2,\"is_decoder\":true}", 0, 0,
     2, 0, true, NO_NORM, 0, 0},
    {"BERT", TWO("encoder.layer.0.", NULL), "{\"num_attention_heads\":2,\"is_decoder\":false}", 0,
     0, 2, 0, false, NO_NORM, 0, 0},
};

/* Tokens as the norm that is folded makes them. */
static void normalise(const expectation *of, const plain *numbers, bool shift, size_t k,
                      double *x) {
    for (size_t t = 0; t < k && of->norm != NO_NORM; t++) {
        double *token = x + t * DIM, mean = 0, square = 0;
        for (size_t i = 0; i < DIM && of->norm == LAYER; i++)
            mean += token[i] / DIM;
        for (size_t i = 0; i < DIM; i++)
            square += (token[i] - mean) * (token[i] - mean) / DIM;
        for (size_t i = 0; i < DIM; i++)
            token[i] =
                (token[i] - mean) / sqrt(square + of->epsilon) * (numbers->gain[i] + of->gain) +
                (shift ? numbers->shift[i] : 0);
    }
}

/* Sums of a few dozen numbers of order 1 to 100, through exponentials: 1e-9 of outputs of 10. */
static void layers_are_as_configs_say(void **state) {
    wt_context *context = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const expectation *of = &cases[i];
        const wt_scheme *scheme = scheme_named(of->scheme);
        const plain numbers = plain_of(of->number);
        double x[4 * DIM], y[4 * DIM], wanted[4 * DIM];
        write_two(context, scheme, of->stems, NULL, of->config);
        for (int folded = 0; folded < 2; folded++) {
            wt_checkpoint *checkpoint = NULL;
            wt_layer *layer = NULL;
            CHECK_OK(context, open_it(context, &checkpoint));
            CHECK_OK(context,
                     wt_checkpoint_layer(context, checkpoint, of->index, folded == 1, &layer));
            assert_int_equal(layer->form.norm != WT_LAYER_NORM_NONE,
                             folded == 1 && of->norm != NO_NORM);
            wt_random_normal(wt_stream_for(3, "x", 0), 0, 4 * DIM, x);
            for (size_t j = 0; j < 4 * DIM; j++)
                x[j] *= 0.5;
            CHECK_OK(context, wt_layer_forward(context, layer, 1, 4, x, y));
            if (folded == 1)
                normalise(of, &numbers, scheme->norm_kind == WT_SCHEME_NORM_LAYER, 4, x);
            double width = (double)INNER / (double)of->heads;
            attend_as(&numbers, of->heads, of->scale > 0 ? of->scale : 1 / sqrt(width), of->causal,
                      4, x, wanted);
            for (size_t j = 0; j < 4 * DIM; j++)
                CHECK_NEAR(y[j], wanted[j], 1e-9);
            wt_layer_free(layer);
            wt_checkpoint_free(checkpoint);
        }
    }
}

/* A norm that has a shift is a layer norm, though most of the scheme are RMS norms. */
static void a_shift_makes_a_layer_norm(void **state) {
    wt_context *context = *state;
    static const char *const stems[] = {"m.0.", NULL};
    wt_checkpoint *checkpoint = NULL;
    wt_layer *layer = NULL;
    write_two(context, scheme_named("LLaMA"), stems, "m.0.input_layernorm.bias",
              "{\"num_attention_heads\":2,\"norm_epsilon\":0.25}");
    CHECK_OK(context, open_it(context, &checkpoint));
    CHECK_OK(context, wt_checkpoint_layer(context, checkpoint, 0, true, &layer));
    assert_int_equal(layer->form.norm, WT_LAYER_NORM_LAYER);
    CHECK_NEAR(layer->form.epsilon, 0.25, 0);
    wt_layer_free(layer);
    wt_checkpoint_free(checkpoint);
}

/* What no layer of ours has is never left out without a word: positions on demand alone, other
 * things not at all. */
static void what_is_beyond_is_refused(void **state) {
    wt_context *context = *state;
    static const struct {
        const char *scheme, *tensor, *config, *words;
        bool positions;
    } beyond[] = {
        {"LLaMA", "m.0.self_attn.q_norm.weight", "{}", "norms of queries and keys", false},
        {"LLaMA", NULL, "{\"attn_logit_softcapping\":50.0}", "a soft cap on scores", false},
        {"LLaMA", NULL, "{\"clip_qkv\":8}", "a clip of", false},
        {"LLaMA", NULL, "{\"use_qk_norm\":true}", "norms of queries", false},
        {"LLaMA", "m.0.self_attn.sinks", "{}", "sinks", false},
        {"LLaMA", NULL, "{}", "rotary positions", true},
        {"PyTorch", "m.0.bias_k", "{}", "token", false},
        {"timm", "m.0.attn.q_bias", "{}", "biases under other names", false},
        {"timm", "m.0.attn.rel_pos_h", "{}", "relative positions", true},
        {"T5", "m.0.SelfAttention.relative_attention_bias.weight", "{}", "relative positions",
         true},
        {"BERT", NULL, "{\"position_embedding_type\":\"relative_key\"}", "'relative_key'", true},
        {"BERT", "m.0.attention.self.distance_embedding.weight", "{}", "relative positions", true},
        {"BERT", NULL, "{\"position_embedding_type\":\"rotary\"}", "'rotary'", true},
        {"BERT", NULL, "{\"alibi\":true}", "ALiBi", true},
        {"BERT", NULL, "{\"model_type\":\"roformer\"}", "rotary positions", true},
        {"BERT", NULL, "{\"attention_type\":\"block_sparse\"}", "'block_sparse'", false},
        {"Whisper", NULL, "{\"model_type\":\"detr\"}", "added to queries and keys", true},
    };
    static const char *const stems[] = {"m.0.", NULL};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        wt_checkpoint_options options;
        wt_checkpoint *checkpoint = NULL;
        wt_layer *layer = NULL;
        char path[128];
        snprintf(path, sizeof path, "%s", in_folder("model.safetensors"));
        write_two(context, scheme_named(beyond[i].scheme), stems, beyond[i].tensor,
                  beyond[i].config);
        WT_INIT(wt_checkpoint_options, &options);
        options.heads = 2;
        CHECK_FAILS(context, wt_layer_open(context, path, &options, 0, false, &layer), WT_DATA,
                    beyond[i].words);
        options.ignore_rope = true;
        wt_status status = wt_layer_open(context, path, &options, 0, false, &layer);
        assert_int_equal(status, beyond[i].positions ? WT_OK : WT_DATA);
        wt_layer_free(layer);
        CHECK_OK(context, wt_checkpoint_open(context, path, &options, &checkpoint));
        assert_non_null(strstr(wt_checkpoint_left_out(checkpoint), beyond[i].words));
        wt_checkpoint_free(checkpoint);
    }
    /* what changes nothing, or is not so, is nothing */
    static const char *const fine[] = {
        "{\"num_attention_heads\":2,\"position_embedding_type\":\"absolute\",\"alibi\":false}",
        "{\"num_attention_heads\":2,\"attn_logit_softcapping\":null,\"clip_qkv\":null}",
        "{\"num_attention_heads\":2,\"attention_type\":\"original_full\",\"use_qk_norm\":false}"};
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        wt_checkpoint *checkpoint = NULL;
        write_two(context, scheme_named("BERT"), stems, NULL, fine[i]);
        CHECK_OK(context, open_it(context, &checkpoint));
        assert_null(wt_checkpoint_left_out(checkpoint));
        wt_checkpoint_free(checkpoint);
    }
}

static void scales_that_lie_are_refused(void **state) {
    wt_context *context = *state;
    static const char *const stems[] = {"m.0.", NULL};
    static const struct {
        const char *config, *words;
    } lies[] = {{"{\"query_pre_attn_scalar\":0}", "query_pre_attn_scalar is 0"},
                {"{\"attention_multiplier\":-1}", "attention_multiplier is -1"},
                {"{\"attention_multiplier\":\"1\"}", "no number for attention_multiplier"},
                {"{\"decoder_attention_heads\":0}", "decoder_attention_heads is 0"}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        static const char *const decoder[] = {"decoder.0.", NULL};
        wt_checkpoint *checkpoint = NULL;
        write_two(context, scheme_named("LLaMA"), i == 3 ? decoder : stems, NULL, lies[i].config);
        CHECK_FAILS(context, open_it(context, &checkpoint), WT_DATA, lies[i].words);
    }
}

/* Of two stacks in different names the larger is read; cross-attention is no layer. */
static void other_layers_are_left_out(void **state) {
    wt_context *context = *state;
    book to = {.arena = wt_arena_start(context, "tensors")};
    wt_checkpoint *checkpoint = NULL;
    plain numbers = plain_of(0);
    write_layer(&to, scheme_named("BERT"), "a.0.", &numbers);
    write_layer(&to, scheme_named("PyTorch"), "m.0.self_attn.", &numbers);
    write_layer(&to, scheme_named("PyTorch"), "m.0.multihead_attn.", &numbers);
    write_layer(&to, scheme_named("PyTorch"), "m.1.self_attn.", &numbers);
    write_layer(&to, scheme_named("PyTorch"), "m.1.multihead_attn.", &numbers);
    CHECK_OK(context, wt_safetensors_write(context, in_folder("model.safetensors"), to.tensors,
                                           to.count, NULL, 0));
    write_text("config.json", "{}");
    CHECK_OK(context, open_it(context, &checkpoint));
    assert_string_equal(wt_checkpoint_scheme(checkpoint), "PyTorch");
    assert_int_equal(wt_checkpoint_layers(checkpoint), 2);
    assert_string_equal(wt_checkpoint_stem(checkpoint, 1), "m.1.self_attn.");
    wt_checkpoint_free(checkpoint);
    wt_arena_free(&to.arena);
}

/* Keys and values of dimensions of their own have matrices of their own. */
static void other_keys_are_said(void **state) {
    wt_context *context = *state;
    book to = {.arena = wt_arena_start(context, "tensors")};
    wt_checkpoint *checkpoint = NULL;
    put(&to, "q_proj_weight", DIM, DIM, plain_of(0).q);
    CHECK_OK(context, wt_safetensors_write(context, in_folder("model.safetensors"), to.tensors,
                                           to.count, NULL, 0));
    CHECK_FAILS(context, open_it(context, &checkpoint), WT_DATA, "dimensions of their own");
    wt_arena_free(&to.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_as_configs_say), cmocka_unit_test(a_shift_makes_a_layer_norm),
        cmocka_unit_test(what_is_beyond_is_refused), cmocka_unit_test(scales_that_lie_are_refused),
        cmocka_unit_test(other_layers_are_left_out), cmocka_unit_test(other_keys_are_said),
    };
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
