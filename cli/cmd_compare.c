#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "layer_options.h"
#include "wattle/recover.h"

typedef struct {
    cli_layer_values layer;
    double token_scale;
    const char *data;
} values;

typedef struct {
    wt_layer *layer[2];
    char form[2][WT_LAYER_FORM_TEXT]; /* in words */
} pair;

static const cli_option options[] = {
    CLI_LAYER_OPTIONS(values),
    CLI_LAYER_HEADS(values),
    {"token-scale", 0, CLI_REAL, offsetof(values, token_scale), "A", "1",
     "Fresh Gaussian tokens are multiplied by this."},
    {"data", 0, CLI_INPUT, offsetof(values, data), "FILE", NULL,
     "Sequences x (.npz): heads are compared in what these tokens show of them, and the outputs "
     "on these sequences too."},
};

static json_t *head_number(size_t head) {
    return head == WT_COMPARE_UNMATCHED ? json_null() : json_integer((json_int_t)head);
}

static wt_status emit(cli_call *call, const wt_comparison *all, const pair *both) {
    json_t *heads = json_array(), *distances = json_array();
    for (size_t i = 0; i < all->matches; i++)
        cli_json_add(heads, cli_json("a:o b:o theta_error:r w_error:r",
                                     head_number(all->match[i].a), head_number(all->match[i].b),
                                     all->match[i].theta_error, all->match[i].w_error));
    for (size_t i = 0; i < WT_COMPARE_LENGTHS; i++)
        cli_json_add(distances, cli_json("length:u distance:r", all->length[i], all->distance[i]));
    json_t *object =
        cli_json("heads_a:u heads_b:u theta_error:r w_error:r heads:o function:o form_a:s form_b:s "
                 "c_error:r dim:u visible:u off_origin:b",
                 all->heads_a, all->heads_b, all->theta_error, all->w_error, heads, distances,
                 both->form[0], both->form[1], all->c_error, all->dim, all->rank, all->off_origin);
    if (!isnan(all->data_output))
        json_object_update_new(object, cli_json("data_output:r data_difference:r", all->data_output,
                                                all->data_difference));
    return cli_emit_json(call, object);
}

static void print_head(size_t head) {
    if (head == WT_COMPARE_UNMATCHED)
        cli_print("%6s", "-");
    else
        printf("%6zu", head);
}

static void print_invisible(const cli_call *call, const wt_comparison *all) {
    const values *given = call->values;
    if (all->rank == all->dim)
        return;
    cli_print("\ninvisible, and left out: Theta, u and W along %zu of %zu directions, which %s\n",
              all->dim - all->rank, all->dim,
              given->data != NULL ? "no token of the data has" : "the norm takes out");
    if (all->off_origin)
        cli_print("invisible too: tokens lie on a plane off 0; what its offset adds to all scores "
                  "of a row, and whether W or c adds it to the outputs\n");
}

static void print(const cli_call *call, const wt_comparison *all, const pair *both) {
    cli_print("%s: %zu heads, %s: %zu heads, duplicates merged and zero heads dropped\n\n",
              call->operands[0], all->heads_a, call->operands[1], all->heads_b);
    if (strcmp(both->form[0], both->form[1]) != 0)
        cli_print("forms: %s, and %s\n\n", both->form[0], both->form[1]);
    cli_print("%6s%6s %12s %12s\n", "a", "b", "theta error", "w error");
    for (size_t i = 0; i < all->matches; i++) {
        print_head(all->match[i].a);
        print_head(all->match[i].b);
        if (all->match[i].a == WT_COMPARE_UNMATCHED || all->match[i].b == WT_COMPARE_UNMATCHED)
            cli_print(" %12s %12s\n", "-", "-");
        else
            printf(" %12.3e %12.3e\n", all->match[i].theta_error, all->match[i].w_error);
    }
    if (all->c_error != 0)
        printf("\nwhat is added to all outputs: error %.3e\n", all->c_error);
    print_invisible(call, all);
    putchar('\n');
    for (size_t i = 0; i < WT_COMPARE_LENGTHS; i++)
        printf("function distance, %2zu tokens: %.3e\n", all->length[i], all->distance[i]);
    if (!isnan(all->data_output))
        printf("on the data: outputs %.3e, apart by %.3e (root mean squares)\n", all->data_output,
               all->data_difference);
}

static wt_status open_layer(cli_call *call, size_t which, pair *out) {
    const values *given = call->values;
    wt_layer_form form = WT_SIZED(wt_layer_form);
    WT_PASS(cli_layer_open(call, &given->layer, call->operands[which], which, &out->layer[which]));
    WT_PASS(wt_layer_get_form(call->context, out->layer[which], &form));
    wt_layer_form_print(&form, out->form[which]);
    return WT_OK;
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    pair both = {0};
    wt_comparison all = WT_SIZED(wt_comparison);
    wt_compare_options how;
    wt_sequences *data = NULL;
    wt_status status;
    WT_INIT(wt_compare_options, &how);
    WT_TRY(cli_layer_check(call, &given->layer, 2));
    WT_TRY(open_layer(call, 0, &both));
    WT_TRY(open_layer(call, 1, &both));
    if (given->data != NULL)
        WT_TRY(wt_sequences_load(call->context, given->data, &data));
    how.token_scale = given->token_scale;
    how.seed = call->common.seed;
    how.data = data;
    WT_TRY(wt_layer_compare(call->context, both.layer[0], both.layer[1], &how, &all));
    if (call->common.json)
        WT_TRY(emit(call, &all, &both));
    else
        print(call, &all, &both);
done:
    wt_layer_free(both.layer[0]);
    wt_layer_free(both.layer[1]);
    wt_sequences_free(data);
    wt_comparison_free(&all);
    return status;
}

const cli_command cli_compare = {
    .name = "compare",
    .summary = "compare the heads and outputs of two attention layers",
    .operands = "A.safetensors B.safetensors",
    .description =
        "Heads of equal Theta are merged and heads with W = 0 dropped; the rest are matched so "
        "that the sum of squared distances is least (the Hungarian method). Errors are Frobenius "
        "norms over the norm in A, of Theta with the biases of its queries. What no output shows "
        "is left out first: a layer norm hides one direction, tokens of --data may leave more out, "
        "and where they lie on a plane off 0 its offset is hidden too. So two files that are the "
        "same function have errors of 0. The function distance is |F_A - F_B| / |F_A| on fresh "
        "Gaussian "
        "sequences of several lengths.",
    .examples = "wattle compare teacher.safetensors layer.safetensors\n"
                "wattle compare teacher.safetensors layer.safetensors --data fresh.npz --json",
    CLI_OPTIONS(options, values),
    .run = run,
};
