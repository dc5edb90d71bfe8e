/* `wattle bound`: what the theory promises. */
#include <stdio.h>
#include <string.h>

#include "bound.h"
#include "commands.h"

#define FIELD(name) offsetof(cli_bound_values, name)

static const cli_option options[] = {
    {"target", 'T', CLI_TEXT, FIELD(target), "TARGET", NULL,
     "What is to be learned: query-power:p, mean-power:p, corr-power:q, corr:p, corr-cos:p or "
     "mix:g:p:q."},
    {"dim", 'd', CLI_COUNT, FIELD(dim), "D", "16", "Dimension of a token."},
    {"keys", 'N', CLI_COUNT, FIELD(keys), "N", "16", "Keys of a sample."},
    {"heads", 'M', CLI_COUNT, FIELD(heads), "M", "1000", "Heads."},
    {"n", 'n', CLI_COUNT, FIELD(samples), "N", "1000", "Samples; all of them with --data."},
    {"delta", 0, CLI_REAL, FIELD(delta), "P", "0.05",
     "Chance that the bound may fail, above 0 and below 1."},
    {"data", 0, CLI_INPUT, FIELD(data), "FILE", NULL,
     "Measure the complexity of these labels (.npz) in place of the target's own."},
    {"model", 'm', CLI_TEXT, FIELD(model), "MODEL", NULL,
     "rfa, brfa, rfmlp: kernel the complexity is measured with (rfa-inf, brfa-inf or rfmlp-inf); "
     "that of the bound's own model by default. head, transformer: a file (.safetensors) whose own "
     "norms are taken."},
    {"bias", 'c', CLI_REAL, FIELD(bias), "C", "4", "Bias of brfa-inf."},
    {"measure", 0, CLI_NATURAL, FIELD(measure), "N", "2048",
     "Most samples the complexity is measured on, which takes N^2 numbers; 0 = do not."},
    {"tokens", 0, CLI_CHOICE, FIELD(tokens), "sphere|gaussian|boolean", "sphere",
     "Law of the tokens the complexity of --target is measured on."},
    {"token-scale", 0, CLI_REAL, FIELD(token_scale), "A", "0",
     "What tokens are multiplied by: 1 on the sphere, else 1/sqrt(d), unless given."},
    {"norms", 0, CLI_TEXT, FIELD(norms), "LIST", NULL,
     "head: qk21=,v21=,v= and, 1 unless given, x=,cls=,sigma=, and p=, 0, and w= of a learned "
     "read-out, none unless given; several heads with / between them. transformer: "
     "qk21=,qk=,v21=,v=,c21=,c=, w= 1 unless given; several layers with / between them."},
    {"length", 0, CLI_COUNT, FIELD(capacity.length), "T", NULL,
     "Tokens of an input (head, transformer); that of the file with --model."},
    {"samples", 0, CLI_COUNT, FIELD(capacity.samples), "M", "1000", "Samples (head, transformer)."},
    {"depth", 'L', CLI_COUNT, FIELD(depth), "L", "1", "Layers alike (transformer)."},
    {"residual", 0, CLI_FLAG, FIELD(capacity.residual), NULL, NULL,
     "A layer adds to its input: its Lipschitz constant is 1 larger (transformer)."},
    {"epsilon", 0, CLI_REAL, FIELD(capacity.epsilon), "E", "0.1", "Radius of the covering number."},
    {"lipschitz", 0, CLI_REAL, FIELD(capacity.lipschitz), "L", "1",
     "Lipschitz constant of the loss."},
    {"loss-most", 0, CLI_REAL, FIELD(capacity.loss_max), "B", "1", "Largest value of the loss."},
};

/* A new line of theory is a row here and a function in a file of its own. */
static const struct {
    const char *name;
    wt_status (*run)(cli_call *call, const char *kind);
} kinds[] = {
    {"rfa", cli_bound_features},         {"brfa", cli_bound_features},
    {"rfmlp", cli_bound_features},       {"head", cli_bound_capacity},
    {"transformer", cli_bound_capacity},
};

wt_status cli_bound_refuse(const cli_call *call, const char *kind, const char *names) {
    const char *other = cli_first_given(call, names);
    return other == NULL ? WT_OK
                         : wt_fail(call->context, WT_USAGE, "--%s makes no sense for a bound of %s",
                                   other, kind);
}

wt_status cli_bound_take(cli_call *call, const char *option, const char *where, size_t in_file,
                         size_t *value) {
    if (cli_given(call, option) && in_file > 0 && *value != in_file)
        return wt_fail(call->context, WT_USAGE, "--%s is %zu, but %s has %zu", option, *value,
                       where, in_file);
    if (in_file > 0)
        *value = in_file;
    return WT_OK;
}

void cli_bound_list(const char *lead, const char *const *words) {
    for (size_t i = 0; words[i] != NULL; i++)
        cli_print("%s%s%s", i == 0 ? lead : "", words[i], words[i + 1] != NULL ? "; " : ".\n");
}

json_t *cli_bound_words(const char *const *words) {
    size_t count = 0;
    while (words[count] != NULL)
        count++;
    return cli_json_texts(count, words);
}

static wt_status run(cli_call *call) {
    size_t i = 0; /* the parser has found the word among those of the operands */
    while (strcmp(kinds[i].name, call->operands[0]) != 0)
        i++;
    return kinds[i].run(call, kinds[i].name);
}

const cli_command cli_bound = {
    .name = "bound",
    .summary = "compute what the theory promises, beside what can be measured",
    .operands = "rfa|brfa|rfmlp|head|transformer",
    .words = 1,
    .description =
        "Prints the complexity B(f*) of a target, the terms of the bound on the excess risk, the "
        "heads that suffice and the constants that the theory leaves open. A bound is a shape, "
        "not a prediction.\n\n"
        "Beside it stands a measured complexity that needs no constant: y^T K^-1 y by the kernel "
        "of infinitely many heads, which for labels without noise grows with the samples to the "
        "squared norm of the target in the kernel's space.\n\n"
        "head and transformer: the logarithm of the covering number of all heads, or transformers, "
        "of bounded norms, and the shape of the generalisation gap that follows, from --norms or "
        "from the weights of --model. |W|_{2,1} is the sum of the 2-norms of the columns, taken of "
        "W_V and of W_QK^T.",
    .examples = "wattle bound rfa --target mean-power:2 --dim 16 --keys 16 --heads 1000 --n 4096\n"
                "wattle bound brfa --target corr-power:3 --n 1024\n"
                "wattle bound rfa --data data.npz --model brfa-inf --bias 1\n"
                "wattle bound head --norms qk21=16.3,v21=1.42,v=1.42,x=1.42 --dim 1027 --length "
                "1024\n"
                "wattle bound transformer --model model.safetensors --samples 200",
    CLI_OPTIONS(options, cli_bound_values),
    .run = run,
};
