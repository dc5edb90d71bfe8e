/* `wattle inspect`: the query-key products of a layer, or of all layers of a checkpoint. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "inspect_figure.h"
#include "plot.h"
#include "wattle/inspect.h"
#include "wattle/memory.h"
#include "wattle/output.h"
#include "wattle/statistics.h"
#include "wattle/text.h"

typedef struct {
    cli_counts layers, only;
    size_t heads;
    const char *map, *plot, *output;
    bool fold;
} values;

static const cli_option options[] = {
    {"layers", 0, CLI_COUNTS, offsetof(values, layers), "LIST", NULL,
     "Layers of a checkpoint to look at, from 0 on: 0:5, or 0,3. All of them unless given."},
    {"only", 0, CLI_COUNTS, offsetof(values, only), "LIST", NULL,
     "Heads of each layer to look at, from 0 on."},
    {"heads", 'm', CLI_COUNT, offsetof(values, heads), "M", NULL,
     "Heads of a layer of a checkpoint, where neither a config.json beside it nor its metadata "
     "tells."},
    {"map", 0, CLI_TEXT, offsetof(values, map), "q=NAME,k=..,v=..,o=..", NULL,
     "Names of a checkpoint's tensors where they follow no known scheme, {} for the number of the "
     "layer: q=blocks.{}.wq,k=blocks.{}.wk,v=blocks.{}.wv,o=blocks.{}.wo."},
    {"fold", 0, CLI_FLAG, offsetof(values, fold), NULL, NULL,
     "Multiply the gain of the norm before a layer into its matrices."},
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE.csv", NULL,
     "Write all numbers, a line a head."},
    {"plot", 'p', CLI_OUTPUT, offsetof(values, plot), "FILE.svg|.pdf|.png|-", NULL,
     "Draw into FILE: of one layer the products and their means along the diagonals, of a "
     "checkpoint a grid of layers and heads. - draws in the terminal."},
};

/* All that the loops below are about. */
typedef struct {
    const wt_inspection *from;
    size_t count;
    wt_head_summary *heads;
    bool layers, ov; /* whether there are layers with numbers; values and outputs */
} table;

/* The columns of the table and the keys of the JSON object of a head; those of a layer alone have
 * no room in the table of a checkpoint. */
static const struct {
    const char *key, *heading;
    size_t offset;
    int width, digits;
    bool alone, ov;
} columns[] = {
    {"diagonal_mean", "diagonal", offsetof(wt_head_summary, diagonal_mean), 10, 4, 0, 0},
    {"diagonal_spread", "spread", offsetof(wt_head_summary, diagonal_spread), 9, 3, 1, 0},
    {"off_mean", "off it", offsetof(wt_head_summary, off_mean), 10, 3, 1, 0},
    {"off_spread", "spread", offsetof(wt_head_summary, off_spread), 9, 3, 0, 0},
    {"standard_errors", "std errors", offsetof(wt_head_summary, standard_errors), 10, 4, 0, 0},
    {"identity", NULL, offsetof(wt_head_summary, identity), 0, 0, 0, 0},
    {"identity_share", "c I share", offsetof(wt_head_summary, identity_share), 9, 3, 0, 0},
    {"effective_rank", "eff. rank", offsetof(wt_head_summary, effective_rank), 9, 4, 0, 0},
    {"spectral", "spectral", offsetof(wt_head_summary, spectral), 9, 4, 0, 0},
    {"frobenius", "Frobenius", offsetof(wt_head_summary, frobenius), 9, 4, 0, 0},
    {"columns_21", "(2,1)", offsetof(wt_head_summary, columns_21), 7, 4, 0, 0},
    {"rows_21", "(2,1) of T", offsetof(wt_head_summary, rows_21), 10, 4, 1, 0},
    {"symmetric", "symmetric", offsetof(wt_head_summary, symmetric), 9, 3, 0, 0},
    {"ov_effective_rank", "OV rank", offsetof(wt_head_summary, ov_effective_rank), 7, 4, 0, 1},
    {"ov_spectral", "OV spectral", offsetof(wt_head_summary, ov_singular), 11, 4, 0, 1},
    {"ov_frobenius", NULL, offsetof(wt_head_summary, ov_frobenius), 0, 0, 0, 1},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static double number_at(const wt_head_summary *head, size_t column) {
    return *(const double *)(const void *)((const char *)head + columns[column].offset);
}

static bool is_shown(const table *all, size_t k) {
    return columns[k].heading != NULL && !(columns[k].alone && all->layers) &&
           !(columns[k].ov && !all->ov);
}

/* How many diagonals are positive, and how many lie two standard errors from zero. */
typedef struct {
    size_t positive, above, below;
    wt_interval rate;
} signs;

static signs count_signs(const wt_head_summary *heads, size_t count) {
    signs out = {0};
    for (size_t i = 0; i < count; i++) {
        out.positive += heads[i].diagonal_mean > 0;
        out.above += heads[i].standard_errors > 2;
        out.below += heads[i].standard_errors < -2;
    }
    out.rate = wt_rate_interval(out.positive, count);
    return out;
}

static void print_head(const table *all, const wt_head_summary *head) {
    if (all->layers)
        cli_print("%5zu  ", head->layer);
    cli_print("%4zu", head->head);
    for (size_t k = 0; k < COLUMNS; k++) {
        double number = number_at(head, k);
        if (is_shown(all, k) && isfinite(number))
            cli_print("  %*.*g", columns[k].width, columns[k].digits, number);
        else if (is_shown(all, k))
            cli_print("  %*s", columns[k].width, isinf(number) ? "inf" : "-");
    }
    cli_print("  %4zu\n", head->rank);
}

static void print_signs(const table *all) {
    signs of = count_signs(all->heads, all->count);
    cli_print(
        "\nThe diagonal is positive in %zu of %zu %s (%.2f, 95%% interval %.2f to %.2f were heads "
        "independent draws),\nmore than 2 standard errors above zero in %zu, below in %zu.\n",
        of.positive, all->count, all->count == 1 ? "head" : "heads", of.rate.value, of.rate.low,
        of.rate.high, of.above, of.below);
    if (!all->layers)
        return;
    cli_print("Positive by layer:");
    for (size_t i = 0, next; i < all->count; i = next) {
        for (next = i; next < all->count && all->heads[next].layer == all->heads[i].layer; next++)
            ;
        cli_print("%s %zu: %zu/%zu", i > 0 ? "," : "", all->heads[i].layer,
                  count_signs(all->heads + i, next - i).positive, next - i);
    }
    cli_print("\n");
}

/* A stem with {} for its numbers: encoder.layer.{}. of encoder.layer.11. */
static const char *pattern_of(const char *stem, char *out, size_t bytes) {
    size_t used = 0;
    for (size_t i = 0; stem[i] != '\0' && used + 3 < bytes; i++) {
        bool digit = stem[i] >= '0' && stem[i] <= '9';
        if (digit && used > 0 && out[used - 1] == '}')
            continue;
        used += (size_t)snprintf(out + used, bytes - used, digit ? "{}" : "%c", stem[i]);
    }
    out[used] = '\0';
    return out;
}

/* Which layers are which, where they are not all of one stack. */
static void print_stacks(const wt_inspection *from) {
    size_t layers = wt_inspection_layers(from);
    char shown[WT_QUOTED_BYTES], one[512], other[512];
    if (wt_inspection_stem(from, 0) == NULL)
        return;
    for (size_t i = 0, next; i < layers; i = next) {
        pattern_of(wt_inspection_stem(from, i), one, sizeof one);
        for (next = i + 1; next < layers; next++)
            if (strcmp(one, pattern_of(wt_inspection_stem(from, next), other, sizeof other)) != 0)
                break;
        if (i > 0 || next < layers)
            cli_print("layers %zu to %zu: %s\n", i, next - 1, wt_quote(one, shown, sizeof shown));
    }
}

static void print_table(const table *all, const char *path) {
    char shown[WT_QUOTED_BYTES];
    const char *rope = wt_inspection_rope(all->from), *left_out = wt_inspection_left_out(all->from);
    cli_print("%s: ", wt_quote(path, shown, sizeof shown));
    if (all->layers)
        cli_print("names as in %s, %zu %s, ", wt_inspection_scheme(all->from),
                  wt_inspection_layers(all->from),
                  wt_inspection_layers(all->from) == 1 ? "layer" : "layers");
    cli_print("%zu %s, d = %zu\n", all->count, all->count == 1 ? "head" : "heads",
              all->heads[0].dim);
    print_stacks(all->from);
    if (rope != NULL)
        cli_print("rotary positions (%s) are left out: tokens at one place\n", rope);
    if (left_out != NULL && strcmp(left_out, "rotary positions") != 0)
        cli_print("left out: %s\n", left_out);
    if (wt_inspection_folded(all->from))
        cli_print("the gain of the norm before each layer is folded in\n");
    cli_print("\n%shead", all->layers ? "layer  " : "");
    for (size_t k = 0; k < COLUMNS; k++)
        if (is_shown(all, k))
            cli_print("  %*s", columns[k].width, columns[k].heading);
    cli_print("  rank\n");
    for (size_t i = 0; i < all->count; i++)
        print_head(all, &all->heads[i]);
    print_signs(all);
    cli_print("\nstd errors: the diagonal's mean over (spread off it) / sqrt(d)\n"
              "c I share:  part of the squares explained by the nearest c I; c is the diagonal's "
              "mean\n"
              "eff. rank:  (sum s)^2 / sum s^2 of the singular values s\n"
              "(2,1):      sum of the 2-norms of the columns (keys)%s\n"
              "symmetric:  part of the squares in the symmetric part; 1/2 for independent entries\n"
              "%s",
              all->layers ? "" : "; of T: of the rows (queries)",
              all->ov ? "OV:         the same of values times outputs\n" : "");
}

static json_t *json_head(const wt_head_summary *head) {
    json_t *object = cli_json("layer:u head:u dim:u", head->layer, head->head, head->dim);
    for (size_t k = 0; k < COLUMNS; k++)
        cli_json_put(object, columns[k].key, cli_json_real(number_at(head, k)));
    cli_json_put(object, "rank", json_integer((json_int_t)head->rank));
    cli_json_put(object, "singular", cli_json_reals(WT_SINGULAR_SHOWN, head->singular));
    cli_json_put(object, "ov_singular", cli_json_reals(WT_SINGULAR_SHOWN, head->ov_singular));
    return object;
}

static wt_status emit(cli_call *call, const table *all, const char *path) {
    char shown[WT_QUOTED_BYTES];
    signs of = count_signs(all->heads, all->count);
    json_t *list = json_array();
    for (size_t i = 0; i < all->count; i++)
        cli_json_add(list, json_head(&all->heads[i]));
    json_t *stems = json_array();
    for (size_t i = 0; i < wt_inspection_layers(all->from); i++)
        if (wt_inspection_stem(all->from, i) != NULL)
            cli_json_add(stems, json_string(wt_inspection_stem(all->from, i)));
    return cli_emit(
        call,
        "file:s dim:u head_count:u heads:o scheme:s layers:u rope:s folded:b positive:u "
        "positive_rate:r positive_low:r positive_high:r above_two:u below_two:u stems:o "
        "left_out:s",
        wt_utf8_valid(path) ? path : wt_quote(path, shown, sizeof shown), all->heads[0].dim,
        all->count, list, wt_inspection_scheme(all->from), wt_inspection_layers(all->from),
        wt_inspection_rope(all->from), wt_inspection_folded(all->from), of.positive, of.rate.value,
        of.rate.low, of.rate.high, of.above, of.below, stems, wt_inspection_left_out(all->from));
}

/* Numbers that do not exist are empty. */
static void write_number(wt_output *output, double number) {
    if (isfinite(number))
        wt_output_print(output, ",%.17g", number);
    else
        wt_output_print(output, ",");
}

static wt_status write_csv(wt_context *context, const table *all, const char *path) {
    wt_output *output = NULL;
    wt_status status;
    WT_TRY(wt_output_open(context, path, &output));
    wt_output_print(output, "layer,head,dim,rank");
    for (size_t k = 0; k < COLUMNS; k++)
        wt_output_print(output, ",%s", columns[k].key);
    for (size_t k = 0; k < 2 * WT_SINGULAR_SHOWN; k++)
        wt_output_print(output, ",%ssingular_%zu", k < WT_SINGULAR_SHOWN ? "" : "ov_",
                        k % WT_SINGULAR_SHOWN + 1);
    for (size_t i = 0; i < all->count; i++) {
        const wt_head_summary *head = &all->heads[i];
        wt_output_print(output, "\n%zu,%zu,%zu,%zu", head->layer, head->head, head->dim,
                        head->rank);
        for (size_t k = 0; k < COLUMNS; k++)
            write_number(output, number_at(head, k));
        for (size_t k = 0; k < WT_SINGULAR_SHOWN; k++)
            write_number(output, head->singular[k]);
        for (size_t k = 0; k < WT_SINGULAR_SHOWN; k++)
            write_number(output, head->ov_singular[k]);
    }
    wt_output_print(output, "\n");
    WT_TRY(wt_output_commit(output));
done:
    wt_output_free(output);
    return status;
}

static wt_status look(cli_call *call, const char *path, wt_inspection **from, table *out) {
    const values *given = call->values;
    wt_inspect_options how;
    WT_INIT(wt_inspect_options, &how);
    how.heads = given->heads;
    how.map = given->map;
    how.fold = given->fold;
    how.layers = given->layers.values;
    how.layer_count = given->layers.count;
    how.only = given->only.values;
    how.only_count = given->only.count;
    WT_PASS(wt_inspection_open(call->context, path, &how, from));
    if (given->fold && !wt_inspection_folded(*from))
        wt_remark(call->context, "there is no norm before its layers: nothing is folded");
    *out = (table){.from = *from,
                   .count = wt_inspection_count(*from),
                   .layers = wt_inspection_products(*from) == NULL};
    WT_PASS(WT_NEW(call->context, &out->heads, out->count, "the heads' numbers"));
    for (size_t i = 0; i < out->count; i++) {
        out->heads[i].size = sizeof *out->heads;
        WT_PASS(wt_inspection_at(call->context, *from, i, &out->heads[i]));
        out->ov = out->ov || !isnan(out->heads[i].ov_frobenius);
    }
    return WT_OK;
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    const char *path = call->operands[0];
    wt_inspection *from = NULL;
    table all = {0};
    wt_status status;
    WT_TRY(look(call, path, &from, &all));
    if (call->common.json)
        WT_TRY(emit(call, &all, path));
    else
        print_table(&all, path);
    if (given->output != NULL)
        WT_TRY(write_csv(call->context, &all, given->output));
    if (given->plot != NULL)
        WT_TRY(all.layers ? cli_inspect_plot_grid(call, all.heads, all.count, given->plot)
                          : cli_inspect_plot(call, wt_inspection_products(from), all.heads,
                                             all.count, given->plot));
done:
    wt_release(all.heads);
    wt_inspection_free(from);
    return status;
}

const cli_command cli_inspect = {
    .name = "inspect",
    .summary = "show what the query-key products of a layer, or of a checkpoint, look like",
    .operands = "LAYER",
    .lean = true,
    .description =
        "For every head of a layer (theta, w_qk, or w_q and w_k of a .safetensors, .npz or .npy "
        "file), or of all layers of a checkpoint (.safetensors, its .index.json, or their folder; "
        "docs/checkpoints.md lists the names that are known): the mean of the diagonal of theta "
        "and the mean and spread off it, how many standard errors the diagonal lies from zero, "
        "the nearest multiple of the identity, ranks, norms, the part of the symmetric part, and "
        "the singular values of values times outputs. The last line says in how many heads the "
        "diagonal is positive.\n\n"
        "A diagonal that stands out is the reason for random features with a bias (brfa): a "
        "query then looks for keys like itself.\n\n"
        "Checkpoints are read one layer at a time, and theta = Q K^T is never formed. Rotary "
        "positions are left out: theta is that of a query and a key at one place.",
    .examples = "wattle inspect layer.safetensors --plot layer.svg\n"
                "wattle inspect model.safetensors --fold --plot heads.svg -o heads.csv\n"
                "wattle inspect model.safetensors --layers 0:5 --only 0,3 --json",
    CLI_OPTIONS(options, values),
    .run = run,
};
