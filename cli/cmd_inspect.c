/* `wattle inspect`: the query-key products of a layer, head by head. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "inspect_figure.h"
#include "plot.h"
#include "wattle/inspect.h"
#include "wattle/memory.h"
#include "wattle/text.h"

typedef struct {
    const char *plot;
} values;

static const cli_option options[] = {
    {"plot", 'p', CLI_OUTPUT, offsetof(values, plot), "FILE.svg|.pdf|.png|-", NULL,
     "Draw the products and their means along the diagonals into FILE; - "
     "draws the means in the terminal."},
};

/* The columns of the table and the keys of the JSON object of a head. */
static const struct {
    const char *key, *heading;
    size_t offset;
    int width, digits;
} columns[] = {
    {"diagonal_mean", "diagonal", offsetof(wt_head_summary, diagonal_mean), 9, 4},
    {"diagonal_spread", "spread", offsetof(wt_head_summary, diagonal_spread), 9, 3},
    {"off_mean", "off it", offsetof(wt_head_summary, off_mean), 10, 3},
    {"off_spread", "spread", offsetof(wt_head_summary, off_spread), 9, 3},
    {"standard_errors", "std errors", offsetof(wt_head_summary, standard_errors), 10, 4},
    {"identity", NULL, offsetof(wt_head_summary, identity), 0, 0},
    {"identity_share", "c I share", offsetof(wt_head_summary, identity_share), 9, 3},
    {"effective_rank", "eff. rank", offsetof(wt_head_summary, effective_rank), 9, 4},
    {"spectral", "spectral", offsetof(wt_head_summary, spectral), 9, 4},
    {"frobenius", "Frobenius", offsetof(wt_head_summary, frobenius), 9, 4},
    {"columns_21", "(2,1)", offsetof(wt_head_summary, columns_21), 7, 4},
    {"rows_21", "(2,1) of T", offsetof(wt_head_summary, rows_21), 10, 4},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static double number_at(const wt_head_summary *head, size_t column) {
    return *(const double *)(const void *)((const char *)head + columns[column].offset);
}

static void print_table(const wt_products *products, const wt_head_summary *heads,
                        const char *path) {
    char shown[WT_QUOTED_BYTES];
    cli_print("%s: %zu %s, d = %zu\n\nhead", wt_quote(path, shown, sizeof shown),
              wt_products_heads(products), wt_products_heads(products) == 1 ? "head" : "heads",
              wt_products_dim(products));
    for (size_t k = 0; k < COLUMNS; k++)
        if (columns[k].heading != NULL)
            cli_print("  %*s", columns[k].width, columns[k].heading);
    printf("  rank\n");
    for (size_t h = 0; h < wt_products_heads(products); h++) {
        printf("%4zu", h);
        for (size_t k = 0; k < COLUMNS; k++) {
            double number = number_at(&heads[h], k);
            if (columns[k].heading != NULL && isfinite(number))
                printf("  %*.*g", columns[k].width, columns[k].digits, number);
            else if (columns[k].heading != NULL)
                cli_print("  %*s", columns[k].width, isinf(number) ? "inf" : "-");
        }
        printf("  %4zu\n", heads[h].rank);
    }
    printf("\nstd errors: the diagonal's mean over (spread off it) / sqrt(d)\n"
           "c I share:  part of the squares explained by the nearest c I; c is the diagonal's "
           "mean\n"
           "eff. rank:  (sum s)^2 / sum s^2 of the singular values s\n"
           "(2,1):      sum of the 2-norms of the columns (keys); of T: of the rows (queries)\n");
}

static wt_status emit(cli_call *call, const wt_products *products, const wt_head_summary *heads,
                      const char *path) {
    char shown[WT_QUOTED_BYTES];
    json_t *list = json_array();
    for (size_t h = 0; h < wt_products_heads(products); h++) {
        json_t *head = json_object();
        for (size_t k = 0; k < COLUMNS; k++)
            cli_json_put(head, columns[k].key, cli_json_real(number_at(&heads[h], k)));
        cli_json_put(head, "rank", json_integer((json_int_t)heads[h].rank));
        cli_json_add(list, head);
    }
    return cli_emit(call, "file:s dim:u head_count:u heads:o",
                    wt_utf8_valid(path) ? path : wt_quote(path, shown, sizeof shown),
                    wt_products_dim(products), wt_products_heads(products), list);
}

static wt_status run(cli_call *call) {
    const values *options_given = call->values;
    const char *path = call->operands[0], *plot = options_given->plot;
    wt_products *products = NULL;
    wt_head_summary *heads = NULL;
    wt_status status;
    WT_TRY(wt_products_load(call->context, path, &products));
    WT_TRY(WT_NEW(call->context, &heads, wt_products_heads(products), "the heads' numbers"));
    for (size_t h = 0; h < wt_products_heads(products); h++) {
        heads[h].size = sizeof heads[h];
        WT_TRY(wt_products_inspect(call->context, products, h, &heads[h]));
    }
    if (call->common.json)
        WT_TRY(emit(call, products, heads, path));
    else
        print_table(products, heads, path);
    if (plot != NULL)
        WT_TRY(cli_inspect_plot(call, products, heads, plot));
done:
    wt_release(heads);
    wt_products_free(products);
    return status;
}

const cli_command cli_inspect = {
    .name = "inspect",
    .summary = "show what the query-key products of a layer look like",
    .operands = "LAYER",
    .description =
        "For every head of a layer (theta, w_qk, or w_q and w_k of a .safetensors, .npz or .npy "
        "file): the mean of the diagonal of theta and the mean and spread off it, how many "
        "standard errors the diagonal lies from zero, the nearest multiple of the identity, "
        "ranks and norms.\n\n"
        "A diagonal that stands out is the reason for random features with a bias (brfa): a "
        "query then looks for keys like itself.",
    .examples = "wattle inspect layer.safetensors\n"
                "wattle inspect layer.safetensors --json\n"
                "wattle inspect layer.safetensors --plot layer.svg",
    CLI_OPTIONS(options, values),
    .run = run,
};
