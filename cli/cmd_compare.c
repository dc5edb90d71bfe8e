#include <math.h>
#include <stdio.h>

#include "commands.h"
#include "layer_options.h"
#include "wattle/memory.h"
#include "wattle/recover.h"

typedef struct {
    cli_layer_values layer;
    double token_scale;
    const char *data;
} values;

/* Outputs of both layers on given sequences: root mean squares over the numbers of the outputs. */
typedef struct {
    bool there;
    double output, difference; /* of F_A, and of F_A - F_B */
} on_data;

static const cli_option options[] = {
    CLI_LAYER_OPTIONS(values),
    CLI_LAYER_HEADS(values),
    {"token-scale", 0, CLI_REAL, offsetof(values, token_scale), "A", "1",
     "Fresh Gaussian tokens are multiplied by this."},
    {"data", 0, CLI_INPUT, offsetof(values, data), "FILE", NULL,
     "Sequences x (.npz) to compare the outputs on too, as root mean squares."},
};

static json_t *head_number(size_t head) {
    return head == WT_COMPARE_UNMATCHED ? json_null() : json_integer((json_int_t)head);
}

static wt_status measure(cli_call *call, const wt_layer *a, const wt_layer *b, on_data *out) {
    const values *given = call->values;
    wt_context *context = call->context;
    wt_sequences *data = NULL;
    size_t d = wt_layer_dim(a);
    double *of_a = NULL, *of_b = NULL, square = 0, apart = 0;
    wt_status status = WT_OK;
    if (given->data == NULL)
        goto done;
    WT_TRY(wt_sequences_load(context, given->data, &data));
    if (wt_sequences_dim(data) != d)
        WT_TRY(wt_fail(context, WT_DATA, "%s: tokens of %zu dimensions do not fit layers of %zu",
                       given->data, wt_sequences_dim(data), d));
    size_t n = wt_sequences_samples(data), k = wt_sequences_length(data), p = wt_layer_outputs(a);
    size_t count = n * k * p;
    WT_TRY(WT_NEW3(context, &of_a, n, k, p, "outputs"));
    WT_TRY(WT_NEW3(context, &of_b, n, k, p, "outputs"));
    WT_TRY(wt_layer_forward(context, a, n, k, wt_sequences_x(data), of_a));
    WT_TRY(wt_layer_forward(context, b, n, k, wt_sequences_x(data), of_b));
    for (size_t i = 0; i < count; i++) {
        square += of_a[i] * of_a[i];
        apart += (of_a[i] - of_b[i]) * (of_a[i] - of_b[i]);
    }
    *out = (on_data){.there = true,
                     .output = sqrt(square / (double)count),
                     .difference = sqrt(apart / (double)count)};
done:
    wt_sequences_free(data);
    wt_release(of_a);
    wt_release(of_b);
    return status;
}

static wt_status emit(cli_call *call, const wt_comparison *all, const on_data *data) {
    json_t *heads = json_array(), *distances = json_array();
    for (size_t i = 0; i < all->matches; i++)
        cli_json_add(heads, cli_json("a:o b:o theta_error:r w_error:r",
                                     head_number(all->match[i].a), head_number(all->match[i].b),
                                     all->match[i].theta_error, all->match[i].w_error));
    for (size_t i = 0; i < WT_COMPARE_LENGTHS; i++)
        cli_json_add(distances, cli_json("length:u distance:r", all->length[i], all->distance[i]));
    json_t *object =
        cli_json("heads_a:u heads_b:u theta_error:r w_error:r heads:o function:o", all->heads_a,
                 all->heads_b, all->theta_error, all->w_error, heads, distances);
    if (data->there)
        json_object_update_new(
            object, cli_json("data_output:r data_difference:r", data->output, data->difference));
    return cli_emit_json(call, object);
}

static void print_head(size_t head) {
    if (head == WT_COMPARE_UNMATCHED)
        cli_print("%6s", "-");
    else
        printf("%6zu", head);
}

static void print(const cli_call *call, const wt_comparison *all, const on_data *data) {
    cli_print("%s: %zu heads, %s: %zu heads, duplicates merged and zero heads dropped\n\n",
              call->operands[0], all->heads_a, call->operands[1], all->heads_b);
    cli_print("%6s%6s %12s %12s\n", "a", "b", "theta error", "w error");
    for (size_t i = 0; i < all->matches; i++) {
        print_head(all->match[i].a);
        print_head(all->match[i].b);
        if (all->match[i].a == WT_COMPARE_UNMATCHED || all->match[i].b == WT_COMPARE_UNMATCHED)
            cli_print(" %12s %12s\n", "-", "-");
        else
            printf(" %12.3e %12.3e\n", all->match[i].theta_error, all->match[i].w_error);
    }
    putchar('\n');
    for (size_t i = 0; i < WT_COMPARE_LENGTHS; i++)
        printf("function distance, %2zu tokens: %.3e\n", all->length[i], all->distance[i]);
    if (data->there)
        printf("on the data: outputs %.3e, apart by %.3e (root mean squares)\n", data->output,
               data->difference);
}

static wt_status run(cli_call *call) {
    const values *given = call->values;
    wt_layer *a = NULL, *b = NULL;
    wt_comparison all = WT_SIZED(wt_comparison);
    on_data data = {0};
    wt_status status;
    WT_TRY(cli_layer_check(call, &given->layer, 2));
    WT_TRY(cli_layer_open(call, &given->layer, call->operands[0], 0, &a));
    WT_TRY(cli_layer_open(call, &given->layer, call->operands[1], 1, &b));
    WT_TRY(wt_layer_compare(call->context, a, b, given->token_scale, call->common.seed, &all));
    WT_TRY(measure(call, a, b, &data));
    if (call->common.json)
        WT_TRY(emit(call, &all, &data));
    else
        print(call, &all, &data);
done:
    wt_layer_free(a);
    wt_layer_free(b);
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
        "norms over the norm in A. The function distance is |F_A - F_B| / |F_A| on fresh Gaussian "
        "sequences of several lengths.",
    .examples = "wattle compare teacher.safetensors layer.safetensors\n"
                "wattle compare teacher.safetensors layer.safetensors --data fresh.npz --json",
    CLI_OPTIONS(options, values),
    .run = run,
};
