#include <stdio.h>

#include "commands.h"
#include "layer_options.h"
#include "set_options.h"
#include "wattle/memory.h"

typedef struct {
    wt_problem_spec problem;
    cli_layer_values layer;
    const char *file, *output, *rows, *norm;
    cli_texts add;
    size_t n, length, shortest;
} values;

static const cli_table tables[] = {CLI_TABLE(values, problem, wt_problem_fields, ""), {0}};
static const cli_option options[] = {
    {"n", 'n', CLI_COUNT, offsetof(values, n), "SAMPLES", "1000", "Samples to draw."},
    {"layer", 0, CLI_INPUT, offsetof(values, file), "FILE", NULL,
     "Draw sequences and the outputs of this layer, a file of ours or a checkpoint, instead of a "
     "target's sets."},
    CLI_LAYER_OPTIONS(values),
    CLI_LAYER_HEADS(values),
    {"length", 'k', CLI_COUNT, offsetof(values, length), "K", "4",
     "Tokens a sequence, with --layer."},
    {"shortest", 0, CLI_COUNT, offsetof(values, shortest), "L", NULL,
     "Sequences of L to K tokens, drawn at random, with --layer; all have K unless given."},
    {"tokens-from", 0, CLI_TEXT, offsetof(values, rows), "FILE:NAME", NULL,
     "Tokens are rows of this array (V,d), drawn at random, as of a table of embeddings, instead "
     "of "
     "those of a law; with --layer."},
    {"add", 0, CLI_TEXTS, offsetof(values, add), "FILE:NAME[@ROW]", NULL,
     "With --tokens-from: add to every token the row of its place, or the row ROW, of this array. "
     "May be given several times."},
    {"norm-from", 0, CLI_TEXT, offsetof(values, norm), "FILE:STEM", NULL,
     "With --tokens-from: then a layer norm of every token, with gain STEM.weight and shift "
     "STEM.bias, as BERT has it before its first layer."},
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE.npz", NULL,
     "Where the data goes: query, keys, y and the target's beta; x and y with --layer."},
};

/* What sequences are made of, as it was read. */
typedef struct {
    wt_layer_draw_options how;
    wt_token_rows words, *add;
    double *gain, *shift;
} drawing;

static wt_status read_tables(cli_call *call, size_t dim, drawing *out) {
    const values *given = call->values;
    if (given->rows == NULL)
        return WT_OK;
    WT_PASS(wt_token_rows_load(call->context, given->rows, dim, &out->words));
    WT_PASS(WT_NEW_ZERO(call->context, &out->add, given->add.count, "tables"));
    for (size_t i = 0; i < given->add.count; i++)
        WT_PASS(wt_token_rows_load(call->context, given->add.items[i], dim, &out->add[i]));
    if (given->norm != NULL)
        WT_PASS(wt_token_norm_load(call->context, given->norm, dim, &out->gain, &out->shift));
    out->how.rows = &out->words;
    out->how.add = out->add;
    out->how.add_count = given->add.count;
    out->how.gain = out->gain;
    out->how.shift = out->shift;
    return WT_OK;
}

static void free_tables(const values *given, drawing *from) {
    wt_token_rows_free(&from->words);
    for (size_t i = 0; from->add != NULL && i < given->add.count; i++)
        wt_token_rows_free(&from->add[i]);
    wt_release(from->add);
    wt_release(from->gain);
    wt_release(from->shift);
}

/* Tokens of sequences are not scaled unless asked for: boolean ones are signs. */
static wt_status draw_sequences(cli_call *call) {
    const values *given = call->values;
    const wt_problem_spec *problem = &given->problem;
    drawing from = {0};
    wt_layer *layer = NULL;
    wt_sequences *data = NULL;
    wt_status status;
    WT_TRY(cli_layer_open(call, &given->layer, given->file, 0, &layer));
    WT_INIT(wt_layer_draw_options, &from.how);
    from.how.samples = given->n;
    from.how.length = given->length;
    from.how.shortest = given->shortest;
    from.how.law = problem->law;
    from.how.token_scale = problem->token_scale == 0 ? 1 : problem->token_scale;
    from.how.noise = problem->noise;
    from.how.seed = call->common.seed;
    WT_TRY(read_tables(call, wt_layer_dim(layer), &from));
    WT_TRY(wt_layer_draw_as(call->context, layer, &from.how, &data));
    WT_TRY(wt_sequences_save(call->context, data, given->output));
    if (call->common.json)
        WT_TRY(cli_emit(call, "output:s layer:s samples:u length:u dim:u outputs:u", given->output,
                        given->file, wt_sequences_samples(data), wt_sequences_length(data),
                        wt_sequences_dim(data), wt_sequences_outputs(data)));
    else
        cli_print("%s: %zu sequences of %zu tokens in %zu dimensions, %zu outputs\n", given->output,
                  wt_sequences_samples(data), wt_sequences_length(data), wt_sequences_dim(data),
                  wt_sequences_outputs(data));
done:
    free_tables(given, &from);
    wt_layer_free(layer);
    wt_sequences_free(data);
    return status;
}

static wt_status check_exclusive(cli_call *call) {
    const values *given = call->values;
    if (given->file != NULL)
        WT_PASS(cli_exclude(call, "--layer", "target dim keys"));
    const char *name =
        cli_first_given(call, "length index map fold rope heads shortest tokens-from");
    if (given->file == NULL && name != NULL)
        return wt_fail(call->context, WT_USAGE, "--%s needs --layer", name);
    if (given->shortest > given->length)
        return wt_fail(call->context, WT_USAGE, "--shortest %zu is above --length %zu",
                       given->shortest, given->length);
    if (given->rows != NULL)
        WT_PASS(cli_exclude(call, "--tokens-from", "tokens"));
    else if (given->add.count > 0 || given->norm != NULL)
        return wt_fail(call->context, WT_USAGE, "--%s needs --tokens-from",
                       cli_first_given(call, "add norm-from"));
    return cli_layer_check(call, &given->layer, 1);
}

static wt_status draw_sets(cli_call *call) {
    const values *given = call->values;
    wt_problem *problem = NULL;
    wt_sets *sets = NULL;
    wt_status status;
    WT_TRY(cli_problem_open(call, &given->problem, &problem));
    WT_TRY(cli_problem_draw(call, problem, 0, given->n, &sets));
    WT_TRY(wt_sets_save(call->context, sets, given->output, wt_problem_beta(problem)));
    if (call->common.json)
        WT_TRY(cli_emit(call, "output:s target:s samples:u keys:u dim:u", given->output,
                        given->problem.target, wt_sets_samples(sets), wt_sets_keys(sets),
                        wt_sets_dim(sets)));
    else
        cli_print("%s: %zu samples of %s, %zu keys in %zu dimensions\n", given->output,
                  wt_sets_samples(sets), given->problem.target, wt_sets_keys(sets),
                  wt_sets_dim(sets));
done:
    wt_problem_free(problem);
    wt_sets_free(sets);
    return status;
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    wt_status status = check_exclusive(call);
    if (status != WT_OK)
        return status;
    if ((given->problem.target == NULL && given->file == NULL) || given->output == NULL)
        return wt_fail(call->context, WT_USAGE,
                       "wattle draw needs --target or --layer, and --output");
    return given->file != NULL ? draw_sequences(call) : draw_sets(call);
}

const cli_command cli_draw = {
    .name = "draw",
    .summary = "draw sets of tokens with the labels of a target, or sequences through a layer",
    .description =
        "Draws n samples, each a query token and N key tokens, with the label of a known target "
        "(beta is a random direction on the unit sphere):\n\n"
        "query-power:p is <beta,x0>^p; first-power:p is <beta,x1>^p, of the first key, so that the "
        "order of the keys matters; mean-power:p is (1/N) sum <beta,xi>^p; corr-power:q is (1/N) "
        "sum <x0,xi>^q <beta,xi>; corr:p is (1/N) sum <x0,xi>^p; corr-cos:p is "
        "(1/N) sum cos(<x0,xi>) <beta,xi>^p; mix:g:p:q is (1-g) mean-power:p + g corr-power:q.\n\n"
        "With --layer it draws n sequences of K tokens and the layer's outputs for every token; "
        "tokens are then not scaled unless --token-scale is given. With --tokens-from they are "
        "rows "
        "of an array, so that a layer can be shown what it was trained on: words, and the "
        "positions "
        "and types that are added to them, and the norm after that.\n\n"
        "Sample i is the same whatever n is.",
    .examples =
        "wattle draw --target mean-power:2 --dim 16 --keys 16 --n 5000 --seed 1 -o data.npz\n"
        "wattle draw --layer teacher.safetensors --tokens boolean --length 4 --n 200 -o data.npz\n"
        "wattle draw --layer bert.safetensors --length 16 -o data.npz "
        "--tokens-from bert.safetensors:embeddings.word_embeddings.weight "
        "--add bert.safetensors:embeddings.position_embeddings.weight "
        "--add bert.safetensors:embeddings.token_type_embeddings.weight@0 "
        "--norm-from bert.safetensors:embeddings.LayerNorm",
    .tables = tables,
    CLI_OPTIONS(options, values),
    .run = run,
};
