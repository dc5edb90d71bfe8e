#include <stdio.h>

#include "commands.h"
#include "set_options.h"

typedef struct {
    cli_problem problem;
    const char *output;
} values;

static const cli_option options[] = {
    CLI_PROBLEM_OPTIONS(values, problem),
    CLI_PROBLEM_SIZES(values, problem),
    {"output", 'o', CLI_OUTPUT, offsetof(values, output), "FILE", NULL,
     "Where the data goes (.npz): query, keys, y and the target's beta."},
};

static wt_status run(cli_call *call) {
    const values *given = call->values;
    wt_problem *problem = NULL;
    wt_sets sets = {0};
    wt_status status;
    if (given->problem.target == NULL || given->output == NULL) {
        status = wt_fail(call->context, WT_USAGE, "wattle draw needs --target and --output");
        goto done;
    }
    WT_TRY(cli_problem_open(call, &given->problem, &problem));
    WT_TRY(cli_problem_draw(call, problem, 0, given->problem.n, &sets));
    WT_TRY(wt_sets_save(call->context, given->output, &sets, wt_problem_beta(problem)));
    if (call->common.json)
        WT_TRY(cli_emit_json(call, json_pack("{s:s, s:s, s:I, s:I, s:I}", "output", given->output,
                                             "target", given->problem.target, "samples",
                                             (json_int_t)sets.samples, "keys",
                                             (json_int_t)sets.keys, "dim", (json_int_t)sets.dim)));
    else
        printf("%s: %zu samples of %s, %zu keys in %zu dimensions\n", given->output, sets.samples,
               given->problem.target, sets.keys, sets.dim);
done:
    wt_problem_free(problem);
    wt_sets_free(&sets);
    return status;
}

const cli_command cli_draw = {
    .name = "draw",
    .summary = "draw sets of tokens and the labels of a target",
    .operands = "",
    .least = 0,
    .most = 0,
    .description =
        "Draws n samples, each a query token and N key tokens, with the label of a known target "
        "(beta is a random direction on the unit sphere):\n\n"
        "query-power:p is <beta,x0>^p; mean-power:p is (1/N) sum <beta,xi>^p; corr-power:q is "
        "(1/N) sum <x0,xi>^q <beta,xi>; corr:p is (1/N) sum <x0,xi>^p; corr-cos:p is "
        "(1/N) sum cos(<x0,xi>) <beta,xi>^p; mix:g:p:q is (1-g) mean-power:p + g corr-power:q.\n\n"
        "Sample i is the same whatever n is.",
    .examples =
        "wattle draw --target mean-power:2 --dim 16 --keys 16 --n 5000 --seed 1 -o data.npz",
    CLI_OPTIONS(options, values),
    .run = run,
};
